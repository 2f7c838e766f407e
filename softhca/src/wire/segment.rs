//! Segments: several packets of one message as one frame, on a wire that carries them between devices of this kind
//! ([`Wire::segment_bytes`](super::Wire::segment_bytes)). They save the work for each packet. A capture
//! needs the packets, and splits the segment.
//!
//! A segment looks like one packet that begins where its first packet begins and ends where its last one ends, with
//! the payload of all. Its PSN is that of the first. All packets but the last have a payload of the path MTU.

use super::frame::Frame;
use crate::packet::{Headers, Opcode, Packet, Place, Tail};

/// PSNs are numbers of 24 bits.
const PSN: u32 = 0x00ff_ffff;

/// The opcode of packet `index` of a segment of `count` that looks like a packet of `opcode`.
fn part(opcode: Opcode, index: u16, count: u16) -> Option<Opcode> {
    let whole = opcode.place();
    let place = Place::of(whole.begins() && index == 0, whole.ends() && index + 1 == count);
    let tail = if place.ends() { opcode.tail() } else { Tail::None };
    Opcode::of(opcode.transport(), opcode.operation(), place, tail)
}

/// The path MTU of a segment of `count` packets, two at least, with `payload` bytes of payload in all. MTUs are powers
/// of two, so there is one only.
fn mtu(payload: usize, count: u16) -> usize {
    payload.div_ceil(usize::from(count)).next_power_of_two()
}

/// The packets that `frame` stands for. One that is no segment, or no valid one, comes back as it is.
pub(crate) fn split(frame: Frame) -> Vec<Frame> {
    let count = frame.packets;
    let Some(packet) = Packet::of(&frame.packet, count).ok().filter(|_| count > 1) else { return vec![frame] };
    let mtu = mtu(packet.payload.len(), count);
    let chunks = packet.payload.chunks(mtu.max(1));
    let packets = (0..count).zip(chunks).map(|(index, payload)| {
        let mut draft = one(&packet.headers, index, count)?.build(payload.len()).ok()?;
        draft.payload_mut().copy_from_slice(payload);
        Some(Frame::new(frame.route, draft.finish()))
    });
    packets.collect::<Option<Vec<_>>>().unwrap_or_else(|| vec![frame])
}

/// The headers of packet `index` of a segment with `headers`.
fn one(headers: &Headers, index: u16, count: u16) -> Option<Headers> {
    let mut one = *headers;
    let (begins, ends) = (index == 0, index + 1 == count);
    one.bth.opcode = part(headers.bth.opcode, index, count)?;
    one.bth.psn = headers.bth.psn.wrapping_add(index.into()) & PSN;
    one.bth.solicited &= ends;
    one.bth.ack_request &= ends;
    one.reth = headers.reth.filter(|_| begins);
    one.aeth = headers.aeth.filter(|_| one.bth.opcode.place() != Place::Middle);
    one.imm = headers.imm.filter(|_| ends);
    one.ieth = headers.ieth.filter(|_| ends);
    Some(one)
}

/// The size of a frame: how many packets it stands for, and their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    opcode: Option<Opcode>,
    bytes: usize,
    packets: u16,
}

impl Size {
    /// That of `frame`.
    pub(crate) fn of(frame: &Frame) -> Self {
        let opcode = if frame.packets > 1 { frame.packet.first().and_then(|&code| Opcode::new(code)) } else { None };
        Self { opcode, bytes: frame.packet.len(), packets: frame.packets }
    }

    /// How many packets.
    pub(crate) fn packets(self) -> u16 {
        self.packets
    }

    /// Calls `each` with the bytes of each packet.
    #[inline]
    pub(crate) fn for_each(self, mut each: impl FnMut(usize)) {
        match self.opcode {
            None => each(self.bytes),
            Some(opcode) => self.for_each_of_segment(opcode, &mut each),
        }
    }

    fn for_each_of_segment(self, opcode: Opcode, each: &mut dyn FnMut(usize)) {
        let count = self.packets;
        let mut left = self.bytes.saturating_sub(opcode.header_bytes());
        let mtu = mtu(left, count);
        for index in 0..count {
            let payload = left.min(mtu);
            left -= payload;
            each(part(opcode, index, count).map_or(0, Opcode::header_bytes) + payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Transport;
    use crate::packet::{Aeth, AethSyndrome, Bth, Carries as C, DcEth, Ieth, ImmDt, Operation, Reth, XrcEth};
    use crate::wire::test_frames;

    /// A segment of `count` packets of `mtu` bytes and `last` in the last one.
    fn segment(opcode: Opcode, mtu: usize, count: u16, last: usize) -> Frame {
        let carries = opcode.carries();
        let has = |header| carries.has(header);
        let mut headers = Headers::new(Bth {
            opcode,
            solicited: true,
            migrated: true,
            pkey: 0xffff,
            dest_qp: 0x41,
            ack_request: true,
            psn: 0xff_fffe,
        });
        headers.dc = has(C::DC).then_some(DcEth { source: 7, connection: 8 });
        headers.xrc = has(C::XRC).then_some(XrcEth(9));
        headers.reth = has(C::RETH).then_some(Reth { addr: 1, rkey: 2, len: 3 });
        headers.aeth = has(C::AETH).then_some(Aeth { syndrome: AethSyndrome::Ack(31), msn: 4 });
        headers.imm = has(C::IMM).then_some(ImmDt(5));
        headers.ieth = has(C::IETH).then_some(Ieth(6));
        let len = mtu * (usize::from(count) - 1) + last;
        let mut draft = headers.build_segment(len, count).unwrap();
        draft.payload_mut().iter_mut().enumerate().for_each(|(at, byte)| *byte = (at / 7) as u8);
        Frame { packets: count, ..Frame::new(test_frames::frame(1, 2, 0).route, draft.finish()) }
    }

    #[test]
    fn a_segment_is_split_into_the_packets_of_a_message() {
        use Transport::{Dc, Rc, Uc, Xrc};
        let mut checked = 0;
        for transport in [Rc, Uc, Xrc, Dc] {
            for operation in [Operation::Send, Operation::Write, Operation::ReadResponse] {
                for place in [Place::First, Place::Middle, Place::Last, Place::Only] {
                    for tail in [Tail::None, Tail::Immediate, Tail::Invalidate] {
                        let Some(opcode) = Opcode::of(transport, operation, place, tail) else { continue };
                        for (mtu, count, last) in [(256, 2, 1), (256, 255, 256), (1024, 3, 1021), (4096, 16, 4096)] {
                            check(opcode, mtu, count, last);
                            checked += 1;
                        }
                    }
                }
            }
        }
        assert!(checked > 200, "{checked}");
    }

    fn check(opcode: Opcode, mtu: usize, count: u16, last: usize) {
        let whole = segment(opcode, mtu, count, last);
        let data = Packet::of(&whole.packet, count).unwrap().payload.to_vec();
        let mut lengths = Vec::new();
        Size::of(&whole).for_each(|bytes| lengths.push(bytes));
        let packets = split(whole);
        assert_eq!(packets.iter().map(|frame| frame.packet.len()).collect::<Vec<_>>(), lengths, "{opcode:?}");
        let parsed: Vec<_> = packets.iter().map(|frame| Packet::parse(&frame.packet).unwrap()).collect();
        assert_eq!(parsed.iter().flat_map(|packet| packet.payload).copied().collect::<Vec<_>>(), data);
        assert_eq!((parsed.len(), parsed[0].payload.len()), (count.into(), mtu));
        for (index, packet) in parsed.iter().enumerate() {
            let bth = &packet.headers.bth;
            assert_eq!(bth.psn, (0xff_fffe + index as u32) & 0xff_ffff);
            let is_last = index + 1 == parsed.len();
            assert_eq!((bth.ack_request, bth.solicited), (is_last, is_last));
            assert_eq!(bth.opcode.place().begins(), opcode.place().begins() && index == 0);
            assert_eq!(bth.opcode.place().ends(), opcode.place().ends() && is_last);
        }
    }

    #[test]
    fn a_packet_is_no_segment() {
        let frame = test_frames::numbered(1, 2, 77, 5);
        let mut lengths = Vec::new();
        Size::of(&frame).for_each(|bytes| lengths.push(bytes));
        assert_eq!(lengths, [frame.packet.len()]);
        assert_eq!(split(frame.clone()), [frame]);
    }

    #[test]
    fn what_is_no_valid_segment_stays_whole() {
        let good = segment(Opcode::of(Transport::Rc, Operation::Write, Place::Only, Tail::None).unwrap(), 256, 3, 4);
        for (packets, len) in [(3, 20), (3, 0), (200, good.packet.len())] {
            let bad = Frame { packets, packet: good.packet[..len].to_vec(), ..good.clone() };
            let parts = split(bad.clone());
            assert!(parts == [bad] || parts.iter().all(|frame| frame.packets == 1), "{packets} {len}");
        }
    }
}

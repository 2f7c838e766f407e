//! Raw frames of the port to itself.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::sync::OnceLock;

use blueflame::cq::Cqe;
use blueflame::cq::compressed::{ChecksumStride, Strided};
use blueflame::cq::mode::PollMode;
use blueflame::flow::Flow;
use blueflame::queue::Received;
use blueflame::queue::striding::{FrameBytes, Strides};
use blueflame::transport::RawPacket;
use blueflame::verbs::device::{Gid, RateLimit};
use blueflame::verbs::ethernet::{FlowRule, FrameReceiver, OwnedStridingWq, OwnedWq};
use blueflame::verbs::{self, Access, Buffer, Cq, Owned, OwnedCq, Pool, QueuePair};
use blueflame::{CompletionQueue, WrId, wqe};

use super::check::Check;
use super::found::{Failure, Seen, ensure, same};
use super::lab::{Lab, pattern};
use crate::need::Need;

const FRAMES: &[Need] = &[Need::Ethernet, Need::Link, Need::NetRaw];

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "ethernet.frames",
        title: "frames of 60 to 1514 bytes to the port's own address, by a flow rule",
        fault: "Frames do not leave, or the NIC does not loop frames to their own port (some drivers and switches of \
                the host block it), or the rule does not match.",
        needs: FRAMES,
        run: frames,
    },
    Check {
        id: "ethernet.sessions",
        title: "several frames in one WQE: sessions of 2 to 61 frames",
        fault: "Enhanced multi-packet WQEs of some length fail: which one is in the text. Shorter sessions may work.",
        needs: &[Need::Ethernet, Need::Link, Need::NetRaw, Need::MultiPacket],
        run: sessions,
    },
    Check {
        id: "ethernet.large_send",
        title: "a large send (TSO) is cut into frames",
        fault: "The NIC cuts segments elsewhere, or headers of the segments are wrong.",
        needs: &[Need::Ethernet, Need::Link, Need::NetRaw, Need::LargeSend],
        run: large_send,
    },
    Check {
        id: "ethernet.striding",
        title: "a striding receive queue, with buffers that end in fillers",
        fault: "Frames in strides are misplaced or get lost, or fillers at a buffer's end are miscounted.",
        needs: &[Need::Ethernet, Need::Link, Need::NetRaw, Need::Striding],
        run: |lab| striding(lab, lab.device().completion_queue(completions()).build()?),
    },
    Check {
        id: "ethernet.striding_compressed",
        title: "a striding receive queue with compressed CQEs (checksum and stride)",
        fault: "As ethernet.striding: the stride's index in mini-CQEs is not where it is expected.",
        needs: &[Need::Ethernet, Need::Link, Need::NetRaw, Need::Striding, Need::ByChecksum],
        run: |lab| {
            let builder = lab.device().completion_queue(completions()).compressed::<Strided<ChecksumStride>>();
            striding(lab, builder.build()?)
        },
    },
];

/// Bytes of the longest frame on a port with an MTU of 1500, without its check sequence.
const LONGEST: usize = 1514;
const SLOT: usize = 2048;
const RECEIVES: usize = 64;
/// Bytes of Ethernet's header.
const HEADER: usize = 14;
/// Bytes of the headers of Ethernet, IPv4 and UDP.
const HEADERS: usize = HEADER + 20 + 8;
/// Addresses for documentation (RFC 5737), so that no rule takes the host's own traffic.
const FROM: [u8; 4] = [192, 0, 2, 1];
const TO: [u8; 4] = [192, 0, 2, 2];

/// The address of the port. Its first GID contains it (RFC 4291, appendix A).
fn station(lab: &Lab) -> Result<[u8; 6], Failure> {
    let entry = lab.device().gid(lab.subject.port.number, 0)?.ok_or("the port has no GID")?;
    match entry.gid {
        Gid([0xfe, 0x80, .., a, b, c, 0xff, 0xfe, d, e, f]) => Ok([a ^ 2, b, c, d, e, f]),
        other => {
            let interface = lab.device().interface(&lab.subject.port)?;
            let interface = interface.ok_or_else(|| format!("no MAC address is in the first GID, {other}"))?;
            Ok(interface.mac()?)
        }
    }
}

/// A port of UDP and TCP that no other process of this machine has: the kernel keeps it for a socket, which is never
/// used. So each doctor receives its own frames alone, although all go to the one address of the port.
fn own_port() -> Result<u16, Failure> {
    static SOCKET: OnceLock<UdpSocket> = OnceLock::new();
    if SOCKET.get().is_none() {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        // Another thread's socket is as good.
        let _ = SOCKET.set(socket);
    }
    let socket = SOCKET.get().ok_or("no socket")?;
    Ok(socket.local_addr()?.port())
}

/// The frames of this process.
pub(crate) struct Frames {
    station: [u8; 6],
    port: u16,
}

impl Frames {
    /// From the port to itself.
    pub(crate) fn new(lab: &Lab) -> Result<Self, Failure> {
        Ok(Self { station: station(lab)?, port: own_port()? })
    }

    /// The rule that takes them, and no other frames.
    pub(crate) fn flow(&self) -> Flow {
        Flow::udp(IpAddr::from(TO), self.port).destination_mac(self.station)
    }

    /// The rule that takes frames of [`Self::tcp`].
    pub(crate) fn tcp_flow(&self) -> Flow {
        Flow::tcp(IpAddr::from(TO), self.port).destination_mac(self.station)
    }

    /// The address of the port, and the port of UDP and TCP.
    pub(crate) fn place(&self) -> ([u8; 6], u16) {
        (self.station, self.port)
    }

    /// The frame with a TCP header, without the TCP checksum.
    pub(crate) fn tcp(&self, number: u32, bytes: usize) -> Vec<u8> {
        const PROTOCOL: usize = HEADER + 9;
        let mut frame = self.frame(number, bytes);
        frame[PROTOCOL] = 6;
        frame[HEADER + 10..HEADER + 12].fill(0);
        let checksum = !(sum(&frame[HEADER..HEADER + 20], 0) as u16);
        frame[HEADER + 10..HEADER + 12].copy_from_slice(&checksum.to_be_bytes());
        // Behind the ports: sequence number, length of the header, ACK.
        let tcp = &mut frame[HEADER + 20..HEADER + 40];
        tcp[4..].fill(0);
        tcp[4..8].copy_from_slice(&number.to_be_bytes());
        tcp[12..14].copy_from_slice(&[0x50, 0x10]);
        frame
    }

    /// A frame of `bytes` bytes: headers, its number, and bytes that the number decides.
    pub(crate) fn frame(&self, number: u32, bytes: usize) -> Vec<u8> {
        let mut frame = [&self.station[..], &self.station, &[0x08, 0x00]].concat();
        // IPv4: version, length of the header, time to live, UDP.
        let mut ip = [0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        ip[2..4].copy_from_slice(&((bytes - HEADER) as u16).to_be_bytes());
        ip[12..16].copy_from_slice(&FROM);
        ip[16..20].copy_from_slice(&TO);
        let checksum = !(sum(&ip, 0) as u16);
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        frame.extend(ip);
        // UDP: without a checksum.
        frame.extend([self.port.to_be_bytes(), self.port.to_be_bytes()].concat());
        frame.extend(((bytes - HEADER - 20) as u16).to_be_bytes());
        frame.extend([0, 0]);
        frame.extend(number.to_be_bytes());
        frame.extend(pattern(number, bytes - HEADERS - 4));
        frame
    }
}

/// Sends frames.
pub(crate) struct Sender {
    pair: QueuePair<RawPacket>,
    cq: OwnedCq,
    memory: Buffer,
}

impl Sender {
    pub(crate) fn new(lab: &Lab) -> Result<Self, Failure> {
        let cq = lab.device().completion_queue(256).build()?;
        let builder = lab.pd().queue_pair::<RawPacket>(&cq, &cq).sends(128).no_receives().inline(64);
        let mut pair = builder.build()?;
        pair.activate(&lab.subject.port)?;
        Ok(Self { pair, cq, memory: lab.memory(RECEIVES * SLOT)? })
    }

    /// Sets the rate of its frames, or removes it.
    pub(crate) fn set_rate(&mut self, limit: Option<RateLimit>) -> Result<(), verbs::Error> {
        self.pair.set_rate_limit(limit)
    }

    /// Sends frames by one doorbell, and waits until they have left. The first 18 bytes are in the WQE, as older
    /// devices need them.
    pub(crate) fn send(&mut self, lab: &Lab, frames: &[Vec<u8>]) -> Result<(), Failure> {
        let mut batch = self.pair.sq.batch();
        for (n, frame) in frames.iter().enumerate() {
            let (headers, rest) = frame.split_first_chunk::<18>().ok_or("too short a frame")?;
            let last = n + 1 == frames.len();
            let request = wqe::frame().inline_headers(headers);
            if rest.len() <= 64 && n % 2 == 0 {
                batch.push(&request.inline_slice(rest).signaled_if(last, WrId(n as u64)))?;
            } else {
                self.memory.write(n * SLOT, rest);
                let rest = self.memory.sge_of(n * SLOT..n * SLOT + rest.len());
                // SAFETY: the memory is registered longer than the queue lives, and is written again when the frames
                // have left.
                unsafe { batch.push_unchecked(&request.gather([rest]).signaled_if(last, WrId(n as u64))) }?;
            }
        }
        batch.ring_doorbell();
        let Self { pair, cq, .. } = self;
        lab.completion("frames that leave", cq, |cqe| pair.sq.complete(cqe))?;
        Ok(())
    }
}

/// Receives the frames of a flow. The rule goes before the queue.
pub(crate) struct Receiver {
    _rule: FlowRule,
    queue: OwnedWq<Box<Buffer>>,
    cq: OwnedCq,
}

impl Receiver {
    pub(crate) fn new(lab: &Lab, flow: &Flow) -> Result<Self, Failure> {
        let cq = lab.device().completion_queue(2 * RECEIVES as u32).build()?;
        let mut queue = lab.pd().work_queue(&cq).receives(RECEIVES as u32).build()?;
        let receiver = FrameReceiver::direct(lab.pd(), queue.handle())?;
        let rule = receiver.steer(flow)?;
        let bytes = RECEIVES * SLOT;
        for buffer in Pool::new(lab.pd(), bytes, Access::LOCAL_WRITE)?.take(bytes)?.chunks(SLOT) {
            queue.post(Box::new(buffer)).map_err(|refused| refused.error.to_string())?;
        }
        Ok(Self { _rule: rule, queue, cq })
    }

    /// The next frame, and its tag.
    pub(crate) fn next(&mut self, lab: &Lab) -> Result<(Vec<u8>, u32), Failure> {
        self.next_of(lab, |cqe| cqe.flow_tag())
    }

    /// The next frame, and a part of its completion.
    pub(crate) fn next_of<T>(&mut self, lab: &Lab, part: impl Fn(&Cqe<'_>) -> T) -> Result<(Vec<u8>, T), Failure> {
        let Self { queue, cq, .. } = self;
        let (Received { buffer, bytes, .. }, found) =
            lab.completion("a frame", cq, |cqe| queue.complete(cqe).map(|received| (received, part(cqe))))?;
        let frame = buffer.to_vec(0..bytes as usize);
        queue.post(buffer).map_err(|refused| refused.error.to_string())?;
        Ok((frame, found))
    }
}

fn frames(lab: &Lab) -> Result<Seen, Failure> {
    const TAG: u32 = 0x12_3456;
    let own = Frames::new(lab)?;
    let mut receiver = Receiver::new(lab, &own.flow().flow_tag(TAG))?;
    let mut sender = Sender::new(lab)?;
    let mut number = 0;
    for lens in [[60, 61, 64, 82].as_slice(), &[128, 512, 1000, LONGEST], &[60; 32]] {
        let frames: Vec<_> = (number..).zip(lens).map(|(number, &len)| own.frame(number, len)).collect();
        number += frames.len() as u32;
        sender.send(lab, &frames)?;
        for sent in &frames {
            let (arrived, tag) = receiver.next(lab)?;
            same("a frame", sent, &arrived)?;
            ensure(tag == TAG, || format!("flow tag {tag:#x}, not {TAG:#x}"))?;
        }
    }
    Ok(Seen::new("40 frames, inline and from memory, each with the tag of its rule"))
}

fn sessions(lab: &Lab) -> Result<Seen, Failure> {
    let own = Frames::new(lab)?;
    let mut receiver = Receiver::new(lab, &own.flow())?;
    let mut cq = lab.device().completion_queue(256).build()?;
    let builder = lab.pd().queue_pair::<RawPacket<0>>(&cq, &cq).sends(128).no_receives();
    let mut pair = builder.build()?;
    pair.activate(&lab.subject.port)?;
    let mut memory = lab.memory(64 * 128)?;
    let mut number = 0;
    for count in [2_usize, 4, 8, 16, 31, 32, 33, 57, 58, 59, 60, 61] {
        let frames: Vec<_> = (0..count as u32).map(|n| own.frame(number + n, 60 + n as usize % 3)).collect();
        number += count as u32;
        for (n, frame) in frames.iter().enumerate() {
            memory.write(n * 128, frame);
        }
        let mut batch = pair.sq.batch();
        let mut session = batch.session(&wqe::frame().signaled(WrId(100)))?;
        for (n, frame) in frames.iter().enumerate() {
            // SAFETY: the memory is registered longer than the queue lives, and is written again when the frames have
            // left.
            unsafe { session.gather_unchecked(memory.sge_of(n * 128..n * 128 + frame.len())) }
                .map_err(|error| format!("frame {n} of {count}: {error}"))?;
        }
        session.close();
        batch.ring_doorbell();
        let left = lab
            .completion("the one completion of a session", &mut cq, |cqe| pair.sq.complete(cqe))
            .map_err(|error| format!("a session of {count} frames: {error}"))?;
        let left = left.wr_ids().len();
        ensure(left == count, || format!("{left} frames left, not {count}"))?;
        for sent in &frames {
            let (arrived, _) = receiver.next(lab).map_err(|error| format!("a session of {count} frames: {error}"))?;
            same(&format!("a frame of a session of {count}"), sent, &arrived)?;
        }
    }
    Ok(Seen::new("sessions of 2, 4, 8, 16, 31 to 33 and 57 to 61 frames, one completion each"))
}

fn large_send(lab: &Lab) -> Result<Seen, Failure> {
    const SEGMENT: usize = 1000;
    const PAYLOAD: usize = 4500;
    const HEADERS: usize = HEADER + 20 + 20;
    let Frames { station, port } = Frames::new(lab)?;
    let mut receiver = Receiver::new(lab, &Flow::tcp(IpAddr::from(TO), port).destination_mac(station))?;
    let mut sender = Sender::new(lab)?;
    let mut headers = [0; HEADERS];
    headers[..6].copy_from_slice(&station);
    headers[6..12].copy_from_slice(&station);
    headers[12..14].copy_from_slice(&[0x08, 0x00]);
    // IPv4: version, length of the header, time to live, TCP, addresses.
    headers[14] = 0x45;
    headers[16..18].copy_from_slice(&((40 + PAYLOAD) as u16).to_be_bytes());
    headers[22..24].copy_from_slice(&[64, 6]);
    headers[26..30].copy_from_slice(&FROM);
    headers[30..34].copy_from_slice(&TO);
    // TCP: ports, sequence number, length of the header, ACK.
    headers[34..36].copy_from_slice(&[0x12, 0x34]);
    headers[36..38].copy_from_slice(&port.to_be_bytes());
    headers[38..42].copy_from_slice(&1_000_000_u32.to_be_bytes());
    headers[46..48].copy_from_slice(&[0x50, 0x10]);
    let data = pattern(8, PAYLOAD);
    sender.memory.write(0, &data);
    let request = wqe::frame()
        .inline_headers(&headers)
        .l3_checksum()
        .l4_checksum()
        .large(SEGMENT as u16)
        .gather([sender.memory.sge_of(0..PAYLOAD)]);
    // SAFETY: the memory is registered longer than the queue lives, and left alone until the completion.
    unsafe { sender.pair.sq.post_unchecked(&request.signaled(WrId(1))) }?;
    let Sender { pair, cq, .. } = &mut sender;
    lab.completion("the large send", cq, |cqe| pair.sq.complete(cqe))?;
    let mut sequence = 1_000_000;
    for segment in data.chunks(SEGMENT) {
        let (arrived, _) = receiver.next(lab)?;
        let (found, payload) = arrived.split_at_checked(HEADERS).ok_or("a frame without headers")?;
        same("a segment", segment, payload)?;
        let total = (40 + segment.len()) as u16;
        ensure(found[16..18] == total.to_be_bytes(), || {
            format!("a total length of {:x?}, not {total:#x}", &found[16..18])
        })?;
        ensure(found[38..42] == u32::to_be_bytes(sequence), || {
            format!("sequence {:x?}, not {sequence:#x}", &found[38..42])
        })?;
        ensure(sum(&found[14..34], 0) == 0xffff, || "the sum of an IP header is wrong".into())?;
        let pseudo = sum(&found[26..34], 6 + (20 + segment.len() as u32));
        ensure(sum(&arrived[34..], pseudo) == 0xffff, || "the sum of a TCP segment is wrong".into())?;
        sequence += segment.len() as u32;
    }
    Ok(Seen::new("4500 bytes left as five segments, with lengths, sequence numbers and checksums of their own"))
}

/// The one's complement sum of 16-bit words (RFC 1071), on top of `before`.
fn sum(bytes: &[u8], before: u32) -> u32 {
    let words = bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)])));
    let mut sum = words.fold(before, |sum, word| sum + word);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

/// WQEs that are posted at a time, and buffers.
const POSTED: u32 = 2;
const BUFFERS: usize = 3;
/// log2 of the strides of a buffer and of a stride's bytes.
const STRIDES: (u8, u8) = (9, 6);

fn completions() -> u32 {
    POSTED << STRIDES.0
}

fn striding<M: PollMode>(lab: &Lab, mut cq: Owned<CompletionQueue<M>, Cq>) -> Result<Seen, Failure> {
    const COUNT: u32 = 400;
    const BURST: u32 = 8;
    let own = Frames::new(lab)?;
    let strides = Strides::new(STRIDES.0, STRIDES.1)?.two_byte_shift(true);
    let bytes = BUFFERS * strides.wqe_bytes() as usize;
    let memory = Pool::new(lab.pd(), bytes, Access::LOCAL_WRITE)?.take(bytes)?;
    let mut queue: OwnedStridingWq =
        lab.pd().work_queue(&cq).receives(POSTED).striding(memory.strided(strides)?).build()?;
    let receiver = FrameReceiver::direct(lab.pd(), queue.handle())?;
    let _rule = receiver.steer(&own.flow())?;
    let mut sender = Sender::new(lab)?;
    // One to 24 strides, so that no buffer ends with a frame for long.
    let len = |number: u32| 60 + (number as usize * 173) % 1455;
    let (mut next, mut fillers) = (0, 0);
    for first in (0..COUNT).step_by(BURST as usize) {
        let frames: Vec<_> = (first..first + BURST).map(|number| own.frame(number, len(number))).collect();
        sender.send(lab, &frames)?;
        lab.until("frames in strides", || {
            cq.try_poll_with(8, |cqe| -> Result<(), Failure> {
                let frame = queue.receive(&cqe)?;
                cqe.check()?;
                let Some(frame) = frame else {
                    fillers += 1;
                    return Ok(());
                };
                let sent = frames.get((next - first) as usize).ok_or("more frames than were sent")?;
                same(&format!("frame {next}"), sent, &bytes_of(&frame))?;
                next += 1;
                Ok(())
            })?;
            queue.refill();
            Ok((next == first + BURST).then_some(()))
        })?;
    }
    ensure(fillers > 0, || "no buffer ended with strides that no frame has".into())?;
    Ok(Seen::new("400 frames of 60 to 1514 bytes in strides of 64").figure("fillers", fillers))
}

fn bytes_of(frame: &FrameBytes) -> Vec<u8> {
    let mut bytes = vec![0; frame.len()];
    frame.read(0, &mut bytes);
    bytes
}

//! Frames of tunnels in strides.
//!
//! The tunnels of frames in strides belong here, those of other work queues in `tests/raw_receive`.

use blueflame::cq::compressed::{ChecksumStride, Hash, MiniFormat, Strided};
use blueflame::cq::cqe::{L3Header, L4Header};
use blueflame::cq::mode::PollMode;
use blueflame::flow::Flow;
use blueflame::queue::striding::FrameBytes;
use blueflame::verbs::ethernet::FrameReceiver;

use crate::frames::possible;
use crate::lab::Lab;
use crate::on_device::wait_for;

const STATION: [u8; 6] = [2, 0, 0x5e, 0, 0x53, 2];
/// To [`STATION`], without an EtherType.
const ETHERNET: [u8; 12] = [2, 0, 0x5e, 0, 0x53, 2, 2, 0, 0x5e, 0, 0x53, 9];
/// IPv4 with UDP, which has no checksum. The words of the header add up to 4686 with the carry: 4500, 0020, 4000, 4011,
/// c0a8, 0001, c0a8, 0002.
const INNER: [u8; 32] = [
    0x45, 0, 0, 32, 0, 0, 0x40, 0, 64, 17, 0xb9, 0x79, 192, 168, 0, 1, 192, 168, 0, 2, //
    0, 7, 0, 9, 0, 12, 0, 0, 1, 2, 3, 4,
];
/// The header of IPv4 in front of an IPv4 packet (RFC 2003). Its words add up to d93b: 4500, 0034, 4000, 4004, 0a00,
/// 0001, 0a00, 0002.
const OUTER_V4: [u8; 20] = [0x45, 0, 0, 52, 0, 0, 0x40, 0, 64, 4, 0x26, 0xc4, 10, 0, 0, 1, 10, 0, 0, 2];
/// That of IPv6 (RFC 2473).
const OUTER_V6: [u8; 40] = {
    let mut header = [0x20; 40];
    (header[0], header[1], header[2], header[3]) = (0x60, 0, 0, 0);
    (header[4], header[5], header[6], header[7]) = (0, 32, 4, 64);
    header
};

/// The tag, the tunnel, and the innermost headers that the device has found right.
type Found = (u32, Option<L3Header>, L3Header, L4Header, bool, bool);

fn found(frame: &FrameBytes) -> Found {
    let verdicts = frame.verdicts();
    let headers = (verdicts.l3_header(), verdicts.l4_header());
    (frame.flow_tag(), frame.tunnel(), headers.0, headers.1, verdicts.l3_ok(), verdicts.l4_ok())
}

/// Frames in runs, so that their completions can be compressed, and the findings in each.
fn frames(tag: u32, looks_inside: bool) -> Vec<(Vec<u8>, Found)> {
    let v4 = [&ETHERNET, &[8, 0][..], &OUTER_V4, &INNER].concat();
    let v6 = [&ETHERNET, &[0x86, 0xdd][..], &OUTER_V6, &INNER].concat();
    let plain = [&ETHERNET, &[8, 0][..], &INNER, &[0; 14]].concat();
    let inner = |tunnel| (tag, tunnel, L3Header::Ipv4, L4Header::Udp, true, true);
    let outer = |l3, is_ok| (tag, None, l3, L4Header::None, is_ok, false);
    let kinds = match looks_inside {
        true => [(v4, inner(Some(L3Header::Ipv4))), (v6, inner(Some(L3Header::Ipv6))), (plain, inner(None))],
        false => [(v4, outer(L3Header::Ipv4, true)), (v6, outer(L3Header::Ipv6, true)), (plain, inner(None))],
    };
    kinds.into_iter().flat_map(|kind| std::iter::repeat_n(kind, 5)).collect()
}

/// Sends the frames to receivers that look into tunnels and to others, and takes them in both ways.
fn look<M: PollMode>(lab: &mut Lab<M>) {
    // The tag has the highest bit that there is, beside which the frame keeps its tunnel.
    for (tag, looks_inside) in [(0, true), (0x80_0001, true), (0xff_fff0, false)] {
        let make = if looks_inside { FrameReceiver::into_tunnels } else { FrameReceiver::direct };
        let receiver = make(&lab.pd, lab.rq.handle()).expect("a receiver");
        let flow = Flow::mac(STATION);
        let flow = if tag == 0 { flow } else { flow.flow_tag(tag) };
        let _rule = receiver.steer(&flow).expect("a rule");
        let frames = frames(tag, looks_inside);
        for with_completions in [true, false] {
            lab.sender.send_bytes(frames.iter().map(|(bytes, _)| bytes));
            let (mut seen, cq, rq) = (Vec::new(), &mut lab.cq, &mut lab.rq);
            let mut take = |frame: &FrameBytes| {
                let mut bytes = vec![0; frame.len()];
                frame.read(0, &mut bytes);
                seen.push((bytes, found(frame)));
                seen.len() == frames.len()
            };
            wait_for("the completions", || {
                let mut is_last = false;
                if with_completions {
                    cq.poll_with(16, |cqe| {
                        let frame = rq.receive(&cqe).expect("the next strides");
                        is_last |= frame.is_some_and(|frame| take(&frame));
                    });
                } else {
                    rq.poll_with(cq, 16, |frame| is_last |= take(&frame)).expect("the next strides");
                }
                rq.refill();
                is_last.then_some(())
            });
            assert_eq!(seen, frames, "{looks_inside} {with_completions}");
        }
    }
}

#[test]
fn frames_tell_of_tunnels() {
    for strides in possible() {
        look(&mut Lab::new((4, 4), strides));
    }
}

/// All completions of a session share the title's word of their tunnel.
#[test]
fn frames_of_compressed_completions_tell_of_tunnels() {
    fn compressed<F: MiniFormat>() {
        for strides in possible() {
            look(&mut Lab::with((4, 4), strides, |device, cqes| {
                device.completion_queue(cqes).compressed::<F>().build().expect("a CQ")
            }));
        }
    }
    compressed::<ChecksumStride>();
    compressed::<Strided<Hash>>();
}

//! Which completions have a place in a session, and which have CQEs of their own.
//!
//! Members of sessions belong here, the bytes of sessions in `tests.rs`.

use super::super::super::completion::{InCqe, ReceiveKind, ReceivedTag, TagReport};
use super::*;

const FORMATS: [MiniFormat; 5] =
    [MiniFormat::Hash, MiniFormat::Checksum, MiniFormat::FlowTag, MiniFormat::ChecksumStride, MiniFormat::Headers];
/// The first count of bytes that does not leave the highest byte of the field free.
const LONG: u32 = 1 << 24;

/// The ring of a CQ of the basic layout after these completions of one step, and that of a CQ which compresses none.
fn rings(format: MiniFormat, cqe_bytes: u32, all: &[Completion]) -> [Vec<u8>; 2] {
    [Some(CqCompression { format, enhanced: false }), None].map(|compression| {
        let (mut cq, memory) = compressing(false, format);
        (cq.context.compression, cq.context.cqe_bytes) = (compression, cqe_bytes);
        for c in all {
            assert_eq!(write(&mut cq, &memory, c), None);
        }
        assert_eq!(cq.settle(CQN, &memory, Duration::ZERO), None);
        memory.bytes().to_vec()
    })
}

/// Two in a row of the same queue.
fn two(completion: impl Fn(u16) -> Completion) -> [Completion; 2] {
    [8, 9].map(completion)
}

fn request(qpn: u32, wqe_counter: u16, byte_cnt: u32) -> Completion {
    Completion::Request { qpn, uidx: 0, opcode: 0x10, wqe_counter, byte_cnt, inline: None }
}

fn receive(kind: ReceiveKind, wqe_counter: u16, byte_cnt: u32, inline: Option<Vec<u8>>) -> Completion {
    Completion::Receive {
        qpn: 5,
        uidx: 6,
        kind,
        wqe_counter,
        byte_cnt,
        imm: 0x1234_5600,
        solicited: false,
        source: None,
        inline: inline.map(InCqe::from_vec),
    }
}

fn failed(wqe_counter: u16) -> Completion {
    let syndrome = Syndrome::WrFlush;
    let (requester, strides) = (true, None);
    Completion::Error {
        qpn: 1,
        uidx: 0,
        requester,
        opcode: 8,
        wqe_counter,
        strides,
        syndrome,
        vendor_syndrome: 0,
        hardware_syndrome: 0,
    }
}

fn tag(wqe_counter: u16, message: Option<ReceivedTag>) -> Completion {
    Completion::Tag { qpn: 5, uidx: 6, wqe_counter, report: TagReport { message, ..TagReport::default() } }
}

#[test]
fn what_a_mini_cqe_has_no_room_for_has_cqes_of_its_own() {
    let message = ReceivedTag { kind: ReceiveKind::Send, byte_cnt: 8, imm: 0, solicited: false, inline: None };
    let send = |wqe_counter, byte_cnt, inline| receive(ReceiveKind::Send, wqe_counter, byte_cnt, inline);
    for format in FORMATS {
        for (cqe_bytes, all) in [
            (64, two(failed)),
            (64, two(|n| send(n, 16, Some(vec![0x77; 16])))),
            (128, two(|n| send(n, 64, Some(vec![0x77; 64])))),
            (64, two(|n| tag(n, None))),
            (64, two(|n| tag(n, Some(message.clone())))),
            // Mini-CQEs of requests have no QPN.
            (64, [request(1, 8, 0), request(2, 9, 0)]),
        ] {
            let [compressed, whole] = rings(format, cqe_bytes, &all);
            assert_eq!(compressed, whole, "{format:?}: {all:?}");
        }
    }
    // The tag's highest byte takes the place of the highest byte of the count.
    let all = two(|n| send(n, LONG, None));
    let [compressed, whole] = rings(MiniFormat::FlowTag, 64, &all);
    assert_eq!(compressed, whole);
}

#[test]
fn successes_of_a_queue_are_one_session() {
    use ReceiveKind::{Send, SendImm, SendInval, WriteImm};
    for format in FORMATS {
        for byte_cnt in [64, LONG] {
            let receives = [WriteImm, Send, SendImm, SendInval].map(|kind| two(|n| receive(kind, n, byte_cnt, None)));
            let requests = two(|n| request(1, n, byte_cnt));
            for (opcode, all) in [requests].into_iter().chain(receives).enumerate() {
                if format == MiniFormat::FlowTag && byte_cnt == LONG && opcode != 0 {
                    continue;
                }
                let [ring, _] = rings(format, 64, &all);
                let title = [ring[47], ring[63]];
                assert_eq!(title, [2, (opcode as u8) << 4 | 0x0c], "{format:?}: {all:?}");
                assert_eq!([&ring[68..72], &ring[76..80]], [&byte_cnt.to_be_bytes()[..]; 2], "{format:?}: {all:?}");
            }
        }
    }
}

/// DPDK `drivers/net/mlx5/mlx5_rxtx_vec_sse.h`, `rxq_cq_decompress_v`: bytes 0, 1 and 4 of a mini-CQE are the tag's.
#[test]
fn frames_of_several_tags_are_one_session() {
    let frames = [0x11_2233, 0x44_5566].map(|flow_tag| {
        let info = FrameInfo { flow_tag, ..Default::default() };
        Completion::Frame { rqn: 5, uidx: 6, wqe_counter: 8, byte_cnt: 0x100, strides: None, info }
    });
    let [ring, _] = rings(MiniFormat::FlowTag, 64, &frames);
    assert_eq!(ring[63], 0x2c);
    assert_eq!(ring[64..80], [0x22, 0x33, 0, 8, 0x11, 0, 1, 0, 0x55, 0x66, 0, 8, 0x44, 0, 1, 0]);
}

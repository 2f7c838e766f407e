//! WQEs as bytes, from the structs of rdma-core's `mlx5dv.h`, against their expected decoding.

mod cross_channel;
mod formats;
mod frames;

use super::opcode::SHAPES;
use super::*;
use crate::config::LinkLayer;
use crate::context::{InlineHeaders, PathGrh, SqContext, TimestampFormat, Transport};
use crate::memory::ArrayMemory;
use crate::memory::test_memory::BASE;
use crate::packet::{self, Masked, Operation};
use smallvec::smallvec;

const QPN: u32 = 0x00ab_cdef;
/// 4 WQEBBs.
const SQ: SqContext = SqContext {
    buf: BASE,
    log_size: 2,
    inline_headers: InlineHeaders::None,
    multi_packet: true,
    software_parser: true,
    is_recordless: false,
};

fn put_wqe(memory: &ArrayMemory, index: u16, wqe: &[u8]) {
    for (i, &byte) in wqe.iter().enumerate() {
        memory.put((usize::from(index) * 64 + i) % 256, &[byte]);
    }
}

/// Puts `wqe` at `index` and fetches it, with all its WQEBBs announced.
fn fetch_at(index: u16, wqe: &[u8], transport: Transport) -> Result<SendWqe, WqeFault> {
    let memory = ArrayMemory::filled(BASE, 256, 0xa5);
    put_wqe(&memory, index, wqe);
    let producer = index.wrapping_add(wqe.len().div_ceil(64).min(4) as u16);
    fetch(&SQ, QPN, (transport, false), index, producer, Source::Ring(&memory))
}

/// Control segment of a WQE at index 0 with a CQ update, followed by `segments`; DS is filled in.
fn wqe(opcode: u8, segments: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, opcode, 0xab, 0xcd, 0xef, 0, 0, 0, 0, 0x08, 0, 0, 0, 0];
    bytes.extend(segments.concat());
    assert_eq!(bytes.len() % 16, 0);
    bytes[7] = (bytes.len() / 16) as u8;
    bytes
}

/// [`wqe`] with an opcode modifier.
fn modified(opcode: u8, opmod: u8, segments: &[&[u8]]) -> Vec<u8> {
    let mut bytes = wqe(opcode, segments);
    bytes[0] = opmod;
    bytes
}

const RADDR: [u8; 16] = [0, 0, 0x7f, 0xff, 0x12, 0x34, 0x56, 0x78, 0x00, 0x18, 0x07, 0x01, 0, 0, 0, 0];
const REMOTE: Remote = Remote { addr: 0x7fff_1234_5678, rkey: 0x0018_0701 };
const DATA: [u8; 16] = [0, 0, 1, 0, 0, 0x18, 9, 2, 0, 0, 0x55, 0x55, 0xaa, 0xaa, 0xbb, 0xbb];
const DATA_SEG: DataSeg = DataSeg { len: 256, lkey: 0x0018_0902, addr: 0x5555_aaaa_bbbb };

fn fault(wqe: &[u8], transport: Transport) -> WqeFault {
    fetch_at(0, wqe, transport).unwrap_err()
}

#[test]
fn write_imm_with_every_flag() {
    let mut bytes = wqe(0x09, &[&RADDR, &DATA, &DATA]);
    bytes[11] = 0x8a; // fence 4, CQ update, solicited
    bytes[12..16].copy_from_slice(&[0xde, 0xad, 0xbe, 0xef]);
    let expected = SendWqe {
        index: 0,
        wqebbs: 1,
        opcode: 0x09,
        op: SendOp::WriteImm(REMOTE),
        umr: None,
        target: None,
        stream: 0,
        srqn: None,
        headers: Vec::new(),
        payload: Payload::Segs(smallvec![DATA_SEG; 2]),
        signaled: true,
        first_error_only: false,
        solicited: true,
        fence: Fence::Full,
        imm: 0xdead_beef,
    };
    assert_eq!(fetch_at(0, &bytes, Transport::Rc), Ok(expected));
}

#[test]
fn every_opcode() {
    let atomic = [0, 0, 0, 0, 0, 0, 0, 5, 0x10, 0, 0, 0, 0, 0, 0, 7];
    let result = [0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0x10, 0];
    let cases: [(Vec<u8>, SendOp); 8] = [
        (wqe(0x00, &[]), SendOp::Nop),
        (wqe(0x0a, &[&DATA]), SendOp::Send(None)),
        (wqe(0x0b, &[&DATA]), SendOp::SendImm(None)),
        (wqe(0x01, &[&DATA]), SendOp::SendInval),
        (wqe(0x08, &[&RADDR, &DATA]), SendOp::Write(REMOTE)),
        (wqe(0x10, &[&RADDR, &DATA]), SendOp::Read(REMOTE)),
        (
            wqe(0x11, &[&RADDR, &atomic, &result]),
            SendOp::CompareSwap { remote: REMOTE, compare: 0x1000_0000_0000_0007, swap: 5 },
        ),
        (wqe(0x12, &[&RADDR, &atomic, &result]), SendOp::FetchAdd { remote: REMOTE, add: 5 }),
    ];
    for (bytes, op) in cases {
        let found = fetch_at(0, &bytes, Transport::Rc).unwrap();
        assert_eq!(found.op, op);
        assert_eq!((found.opcode, found.wqebbs), (bytes[3], 1));
    }
}

/// Values, then masks (UCX `src/uct/ib/mlx5/ib_mlx5.h`); the opcode modifier says how long each is.
#[test]
fn masked_atomics_are_of_the_size_that_the_modifier_says() {
    let with = |opcode, opmod, operands: &[u8], bytes| {
        let result = [0, 0, 0, bytes, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0x10, 0];
        modified(opcode, opmod, &[&RADDR, operands, &result])
    };
    let operands: Vec<u8> = (0x11..0x31).collect();
    let extended = |wqe: &[u8]| match fetch_at(0, wqe, Transport::Rc).unwrap().op {
        SendOp::Extended(REMOTE, extended) => (extended.width.bytes(), extended.masked),
        op => panic!("{op:?}"),
    };
    let [swap, compare, swap_mask, compare_mask] = [0x1112_1314, 0x1516_1718, 0x191a_1b1c, 0x1d1e_1f20];
    let swapped = Masked::Swap { compare, compare_mask, swap, swap_mask };
    assert_eq!(extended(&with(0x14, 8, &operands[..16], 4)), (4, swapped));
    assert_eq!(extended(&with(0x15, 8, &operands[..16], 4)), (4, Masked::Add { add: swap, boundary: compare }));
    let [swap, compare, swap_mask, compare_mask] =
        [0x1112_1314_1516_1718, 0x191a_1b1c_1d1e_1f20, 0x2122_2324_2526_2728, 0x292a_2b2c_2d2e_2f30];
    let swapped = Masked::Swap { compare, compare_mask, swap, swap_mask };
    assert_eq!(extended(&with(0x14, 9, &operands, 8)), (8, swapped));
    assert_eq!(extended(&with(0x15, 9, &operands[..16], 8)), (8, Masked::Add { add: swap, boundary: compare }));
    // Of 16 bytes the first word is the high half (MLNX_OFED 4, libmlx5 `src/qp.c`, `ext_cmp_swp`).
    let wide: Vec<u8> = (0x11..0x51).collect();
    let at = |n: usize| u128::from_be_bytes(wide[16 * n..16 * n + 16].try_into().unwrap());
    let [swap, compare, swap_mask, compare_mask] = [0, 1, 2, 3].map(at);
    let aligned = |mut wqe: Vec<u8>| {
        wqe[23] = 0;
        match fetch_at(0, &wqe, Transport::Rc).unwrap().op {
            SendOp::Extended(_, extended) => (extended.width.bytes(), extended.masked),
            op => panic!("{op:?}"),
        }
    };
    let swapped = Masked::Swap { compare, compare_mask, swap, swap_mask };
    assert_eq!(aligned(with(0x14, 10, &wide, 16)), (16, swapped));
    assert_eq!(aligned(with(0x15, 10, &wide[..32], 16)), (16, Masked::Add { add: swap, boundary: compare }));
    // Other sizes, and opcodes with only one size.
    for (opcode, opmod) in [(0x14, 0), (0x14, 7), (0x15, 11), (0x15, 0x18), (0x11, 9), (0x12, 8)] {
        let expected = WqeFault::BadOpmod { opcode, opmod };
        assert_eq!(fault(&with(opcode, opmod, &operands[..16], 8), Transport::Rc), expected);
    }
    let expected = WqeFault::AtomicLength { found: 8, bytes: 4 };
    assert_eq!(fault(&with(0x15, 8, &operands[..16], 8), Transport::Rc), expected);
    let mut four = with(0x14, 8, &operands[..16], 4);
    four[23] = 2;
    assert!(fetch_at(0, &four, Transport::Rc).is_ok(), "the responder looks at the alignment");
    let transport = Transport::Uc;
    assert_eq!(fault(&with(0x14, 8, &operands, 4), transport), WqeFault::WrongTransport { opcode: 0x14, transport });
}

#[test]
fn transports_have_their_opcodes() {
    for opcode in [0x10, 0x11, 0x12] {
        let wqe = wqe(opcode, &[&RADDR, &DATA]);
        for transport in [Transport::Uc, Transport::Ud] {
            assert_eq!(fault(&wqe, transport), WqeFault::WrongTransport { opcode, transport });
        }
    }
    for opcode in [0x01, 0x08, 0x09] {
        for transport in [Transport::Ud, Transport::RawPacket] {
            assert_eq!(fault(&wqe(opcode, &[&RADDR]), transport), WqeFault::WrongTransport { opcode, transport });
        }
    }
    let (opcode, transport) = (0x01, Transport::Uc);
    assert_eq!(fault(&wqe(opcode, &[&DATA]), transport), WqeFault::WrongTransport { opcode, transport });
    assert_eq!(
        fault(&wqe(0x0e, &[&DATA]), Transport::Rc),
        WqeFault::WrongTransport { opcode: 0x0e, transport: Transport::Rc }
    );
    for opcode in [0x1b, 0x26, 0xff] {
        assert_eq!(fault(&wqe(opcode, &[]), Transport::Rc), WqeFault::UnknownOpcode(opcode));
    }
}

/// A transport's WQEs may request only operations that its packets can carry, and all of those; raw packets have none.
#[test]
fn every_opcode_has_its_packets_and_no_other_transport_has() {
    for shape in SHAPES {
        let (operation, tail) = match shape.opcode {
            opcode::SEND => (Operation::Send, packet::Tail::None),
            opcode::SEND_IMM => (Operation::Send, packet::Tail::Immediate),
            opcode::SEND_INVAL => (Operation::Send, packet::Tail::Invalidate),
            opcode::RDMA_WRITE => (Operation::Write, packet::Tail::None),
            opcode::RDMA_WRITE_IMM => (Operation::Write, packet::Tail::Immediate),
            opcode::RDMA_READ => (Operation::ReadRequest, packet::Tail::None),
            opcode::ATOMIC_CS => (Operation::CompareSwap, packet::Tail::None),
            opcode::ATOMIC_FA => (Operation::FetchAdd, packet::Tail::None),
            opcode::ATOMIC_MASKED_CS | opcode::ATOMIC_MASKED_FA => (Operation::ExtendedAtomic, packet::Tail::None),
            _ => continue,
        };
        for transport in [Transport::Rc, Transport::Uc, Transport::Ud] {
            let packets = packet::Opcode::of(transport, operation, packet::Place::Only, tail).is_some();
            assert_eq!(shape.transports.contains(&transport), packets, "{:#04x} on {transport:?}", shape.opcode);
        }
    }
}

#[test]
fn inline_data_wraps_at_the_end_of_the_ring() {
    let data: Vec<u8> = (1..=100).collect();
    let mut bytes = wqe(0x08, &[&RADDR, &[0x80, 0, 0, 100], &data, &[0xee; 8]]);
    bytes[1..3].copy_from_slice(&[0xff, 0xff]);
    assert_eq!(bytes[7], 9);
    let memory = ArrayMemory::filled(BASE, 256, 0xa5);
    put_wqe(&memory, 0xffff, &bytes);
    let found = fetch(&SQ, QPN, (Transport::Uc, false), 0xffff, 2, Source::Ring(&memory)).unwrap();
    assert_eq!((found.index, found.wqebbs), (0xffff, 3));
    assert_eq!(found.payload, Payload::Inline(data));
}

#[test]
fn lengths() {
    // A byte count of 0 is 2 GiB.
    let zero = [&[0, 0, 0, 0], &DATA[4..]].concat();
    let found = fetch_at(0, &wqe(0x0a, &[&zero]), Transport::Rc).unwrap();
    assert_eq!(found.payload.len(), 1 << 31);
    // Without segments a WQE is a message of 0 bytes, as with an inline segment of length 0.
    let empty_inline = [0x80, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    assert_eq!(fetch_at(0, &wqe(0x0a, &[]), Transport::Rc).unwrap().payload, Payload::default());
    let found = fetch_at(0, &wqe(0x0a, &[&empty_inline]), Transport::Rc).unwrap();
    assert_eq!(found.payload, Payload::Inline(vec![]));
    // 12 bytes fill the segment, 13 need another DS.
    let mut inline = [0x80, 0, 0, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    assert!(fetch_at(0, &wqe(0x0a, &[&inline]), Transport::Rc).is_ok());
    inline[3] = 13;
    let expected = WqeFault::InlineTooLong { at: 16, len: 13, room: 12 };
    assert_eq!(fault(&wqe(0x0a, &[&inline]), Transport::Rc), expected);
    inline[..4].copy_from_slice(&[0xff; 4]);
    let expected = WqeFault::InlineTooLong { at: 16, len: 0x7fff_ffff, room: 12 };
    assert_eq!(fault(&wqe(0x0a, &[&inline]), Transport::Rc), expected);
    inline[..4].copy_from_slice(&[0x80, 0, 0, 1]);
    assert_eq!(fault(&wqe(0x10, &[&RADDR, &inline]), Transport::Rc), WqeFault::InlineResult { at: 32 });
}

/// As UCX's `uct_rc_mlx5_txqp_dptr_post_iov` builds them: an inline segment with its own header, then its user's data.
#[test]
fn a_payload_is_empty_without_bytes() {
    let inline = |bytes: &[u8]| Part::Inline(bytes.to_vec());
    for (payload, is_empty) in [
        (Payload::default(), true),
        (Payload::Segs(smallvec![DATA_SEG]), false),
        (Payload::Inline(vec![]), true),
        (Payload::Inline(vec![0]), false),
        (Payload::Mixed(vec![inline(&[]), inline(&[])]), true),
        (Payload::Mixed(vec![inline(&[]), inline(&[0])]), false),
    ] {
        assert_eq!(payload.is_empty(), is_empty, "{payload:?}");
    }
}

#[test]
fn data_may_be_inline_in_part() {
    let short = [0x80, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    let long: Vec<u8> = [0x80, 0, 0, 13].into_iter().chain(1..=28).collect();
    let (two, thirteen) = (Part::Inline(vec![1, 2]), Part::Inline((1..=13).collect()));
    let data = Part::Seg(DATA_SEG);
    let cases: [(&[&[u8]], Vec<Part>); 4] = [
        (&[&short, &DATA, &DATA], vec![two.clone(), data.clone(), data.clone()]),
        (&[&DATA, &short], vec![data.clone(), two.clone()]),
        (&[&long, &short], vec![thirteen.clone(), two.clone()]),
        (&[&long, &DATA, &short], vec![thirteen, data, two]),
    ];
    for (segments, parts) in cases {
        let found = fetch_at(0, &wqe(0x0a, segments), Transport::Rc).unwrap();
        assert_eq!(found.payload, Payload::Mixed(parts));
    }
    let mut last = short;
    last[3] = 13;
    let expected = WqeFault::InlineTooLong { at: 32, len: 13, room: 12 };
    assert_eq!(fault(&wqe(0x0a, &[&DATA, &last]), Transport::Rc), expected);
}

#[test]
fn the_control_segment_is_checked() {
    let good = wqe(0x0a, &[&DATA]);
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        fault(&bytes, Transport::Rc)
    };
    assert_eq!(with(0, 1), WqeFault::BadOpmod { opcode: 0x0a, opmod: 1 });
    assert_eq!(with(2, 9), WqeFault::WrongIndex { found: 9, expected: 0 });
    assert_eq!(with(6, 0xee), WqeFault::WrongQpn { found: 0x00ab_cdee, expected: QPN });
    for ds in [0, 64, 0xff] {
        assert_eq!(with(7, ds), WqeFault::BadDs(ds));
    }
    assert_eq!(with(7, 5), WqeFault::PastProducer { index: 0, wqebbs: 2, announced: 1 });
    for bad in [0x01, 0x10, 0x0c, 0xa0, 0xc0, 0xe0] {
        assert_eq!(with(11, bad), WqeFault::BadFlags(bad));
    }
    let mut signed = good.clone();
    signed[8..11].fill(0x5a);
    let both = [&signed, &good].map(|bytes| fetch_at(0, bytes, Transport::Rc));
    assert_eq!(both[0], both[1], "no QP has signatures, nor streams but of DC");
    for (byte, fence) in [(0x28, Fence::Small), (0x48, Fence::Full), (0x68, Fence::Strong), (0x04, Fence::None)] {
        let mut bytes = good.clone();
        bytes[11] = byte;
        let found = fetch_at(0, &bytes, Transport::Rc).unwrap();
        assert_eq!((found.fence, found.signaled), (fence, byte & 0x0c == 8));
        assert_eq!(found.first_error_only, byte & 0x0c == 4);
    }
}

#[test]
fn the_other_segments_are_checked() {
    let mut raddr = RADDR;
    raddr[12..].fill(0x77);
    let found = fetch_at(0, &wqe(0x08, &[&raddr]), Transport::Rc).unwrap();
    assert_eq!(found.op, SendOp::Write(REMOTE), "a reserved word");
    let missing = |segment, needs, has| WqeFault::MissingSegment { segment, needs, has };
    assert_eq!(fault(&wqe(0x08, &[]), Transport::Rc), missing("remote address", 32, 16));
    assert_eq!(fault(&wqe(0x11, &[&RADDR]), Transport::Rc), missing("atomic", 48, 32));
    assert_eq!(fault(&wqe(0x0a, &[]), Transport::Ud), missing("address vector", 32, 16));
    assert_eq!(fault(&wqe(0x11, &[&RADDR, &[0; 16]]), Transport::Rc), WqeFault::AtomicLength { found: 0, bytes: 8 });
    assert_eq!(
        fault(&wqe(0x12, &[&RADDR, &[0; 16], &DATA]), Transport::Rc),
        WqeFault::AtomicLength { found: 256, bytes: 8 }
    );
}

#[test]
fn address_vectors() {
    #[rustfmt::skip]
    let mut long = [
        0x11, 0x11, 0x11, 0x11, 0, 0, 0, 0, // qkey, reserved
        0x80, 0x12, 0x34, 0x56, 0x35, 0x83, 0xab, 0xcd, // extended | QPN, stat_rate_sl, fl_mlid, rlid
        0, 0, 0, 0, 2, 3, 4, 5, 6, 7, 0x1c, 0x40, // reserved, rmac, tclass, hop_limit
        0x40, 0x9a, 0xbc, 0xde, // GRH, GID index 9, flow label 0xabcde
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
    ];
    let grh = PathGrh {
        dgid: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        sgid_index: 9,
        flow_label: 0xa_bcde,
        hop_limit: 0x40,
        traffic_class: 0x1c,
    };
    let vector = AddressVector {
        dest_qpn: 0x12_3456,
        stat_rate_sl: 0x35,
        src_path_bits: 3,
        rlid: 0xabcd,
        grh_present: true,
        grh,
        dmac: [2, 3, 4, 5, 6, 7],
    };
    let address = UdAddress { qkey: 0x1111_1111, vector };
    let found = fetch_at(0, &wqe(0x0a, &[&long, &DATA]), Transport::Ud).unwrap();
    assert_eq!((found.op, found.wqebbs), (SendOp::Send(Some(address)), 2));
    let ib = vector.path(LinkLayer::InfiniBand);
    assert_eq!((ib.dlid, ib.sl, ib.grh), (0xabcd, 5, Some(grh)));
    let eth = AddressVector { grh_present: false, ..vector }.path(LinkLayer::Ethernet);
    assert_eq!((eth.dlid, eth.sl, eth.grh), (0, 2, Some(grh)));

    let mut short = long[..16].to_vec();
    short[8] = 0;
    let found = fetch_at(0, &wqe(0x0b, &[&short, &DATA]), Transport::Ud).unwrap();
    let SendOp::SendImm(Some(address)) = found.op else { panic!("{found:?}") };
    let AddressVector { grh_present, rlid, dest_qpn, .. } = address.vector;
    assert_eq!((grh_present, rlid, dest_qpn), (false, 0xabcd, 0x12_3456));
    assert_eq!(found.payload, Payload::Segs(smallvec![DATA_SEG]));

    for at in [4, 16] {
        let mut stale = long;
        stale[at..at + 4].fill(0x77);
        let again = fetch_at(0, &wqe(0x0a, &[&stale, &DATA]), Transport::Ud).unwrap();
        assert_eq!(again, fetch_at(0, &wqe(0x0a, &[&long, &DATA]), Transport::Ud).unwrap(), "a reserved word");
    }

    // Each WQE of a DCI names a target, with a key of 64 bits.
    long[..8].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let target = DcTarget { access_key: 0x0102_0304_0506_0708, vector };
    let found = fetch_at(0, &wqe(0x0a, &[&long, &DATA]), Transport::Dc).unwrap();
    assert_eq!((found.op, found.target), (SendOp::Send(None), Some(Box::new(target))));
    short[..8].copy_from_slice(&long[..8]);
    let found = fetch_at(0, &wqe(0x10, &[&short, &RADDR, &DATA]), Transport::Dc).unwrap();
    let target = found.target.unwrap();
    assert_eq!(found.op, SendOp::Read(REMOTE));
    assert_eq!(
        (target.access_key, target.vector.dest_qpn, target.vector.rlid),
        (0x0102_0304_0506_0708, 0x12_3456, 0xabcd)
    );
    assert_eq!(fetch_at(0, &wqe(0x00, &[]), Transport::Dc).unwrap().target, None, "a NOP goes nowhere");
    let mut stream = wqe(0x0a, &[&short, &DATA]);
    stream[9..11].copy_from_slice(&[0x12, 0x34]);
    let without = fetch_at(0, &wqe(0x0a, &[&short, &DATA]), Transport::Dc).unwrap();
    assert_eq!(fetch_at(0, &stream, Transport::Dc), Ok(SendWqe { stream: 0x1234, ..without }));
    let missing = WqeFault::MissingSegment { segment: "address vector", needs: 32, has: 16 };
    assert_eq!(fault(&wqe(0x0a, &[]), Transport::Dc), missing);
}

#[test]
fn indices_and_rings() {
    let memory = ArrayMemory::filled(BASE, 256, 0);
    let overrun = WqeFault::Overrun { index: 3, producer: 8, ahead: 5, entries: 4 };
    assert_eq!(fetch(&SQ, QPN, (Transport::Rc, false), 3, 8, Source::Ring(&memory)), Err(overrun));
    let gone = SqContext { buf: BASE + 200, ..SQ };
    assert!(matches!(fetch(&gone, QPN, (Transport::Rc, false), 1, 2, Source::Ring(&memory)), Err(WqeFault::Dma(_))));
}

#[test]
fn any_bytes_are_an_answer() {
    // A xorshift generator: the same bytes in each run, on each machine.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let memory = ArrayMemory::filled(BASE, 256, 0);
    let mut decoded = 0;
    for round in 0..50_000 {
        let mut ring: Vec<u8> = (0..256).map(|_| random() as u8).collect();
        let index = random() as u16;
        let at = usize::from(index % 4) * 64;
        // Mostly a believable control segment, or nothing but the index check would be reached.
        if round % 8 != 0 {
            let opcode = SHAPES[random() as usize % SHAPES.len()].opcode;
            ring[at..at + 4].copy_from_slice(&[0, (index >> 8) as u8, index as u8, opcode]);
            ring[at + 4..at + 8].copy_from_slice(&[0xab, 0xcd, 0xef, random() as u8 & 0x1f]);
            ring[at + 8..at + 12].copy_from_slice(&[0, 0, 0, random() as u8 & 0x8e]);
            ring[at + 28..at + 32].fill(0);
        }
        memory.put(0, &ring);
        for transport in
            [Transport::Rc, Transport::Uc, Transport::Ud, Transport::Dc, Transport::Xrc, Transport::RawPacket]
        {
            let announced = 1 + random() as u16 % 5;
            match fetch(&SQ, QPN, (transport, false), index, index.wrapping_add(announced), Source::Ring(&memory)) {
                Ok(found) => {
                    decoded += 1;
                    assert!(found.wqebbs >= 1 && found.wqebbs <= announced && found.wqebbs <= 4);
                }
                Err(fault) => assert!(!fault.to_string().is_empty()),
            }
        }
    }
    assert!(decoded > 3000, "{decoded} WQEs decoded: the test does not reach what it is for");
}

#[test]
fn a_copy_has_three_segments_and_no_peer() {
    let metadata = [0, 0, 0, 0, 0, 0x18, 0x0b, 4, 0, 0, 0x66, 0x66, 0x77, 0x77, 0x88, 0xc0];
    let to = [0, 0, 1, 0, 0, 0x18, 0x0a, 3, 0, 0, 0x11, 0x11, 0x22, 0x22, 0x33, 0x33];
    let copy = |segments: &[&[u8]]| {
        let mut bytes = modified(0x2f, 1, segments);
        // Bytes that libmlx5 leaves there.
        bytes[12..16].fill(0xa5);
        bytes
    };
    let good = copy(&[&metadata, &DATA, &to]);
    let expected = Memcpy {
        scratch_lkey: 0x0018_0b04,
        scratch_addr: 0x6666_7777_88c0,
        from: DATA_SEG,
        to: DataSeg { len: 256, lkey: 0x0018_0a03, addr: 0x1111_2222_3333 },
    };
    for transport in [Transport::Rc, Transport::Dc] {
        let found = fetch_at(0, &good, transport).unwrap();
        assert_eq!((found.op, found.target, found.payload.len()), (SendOp::Memcpy(expected), None, 0));
    }
    for transport in [Transport::Uc, Transport::Ud, Transport::Xrc, Transport::RawPacket, Transport::RegUmr] {
        assert_eq!(fault(&good, transport), WqeFault::WrongTransport { opcode: 0x2f, transport });
    }
    for opmod in [0, 2, 3, 8, 9, 0x81] {
        let mut bad = good.clone();
        bad[0] = opmod;
        assert_eq!(fault(&bad, Transport::Rc), WqeFault::BadOpmod { opcode: 0x2f, opmod });
    }
    let mut controlled = metadata;
    controlled[3] = 1;
    let reserved = WqeFault::Reserved { field: "MMO control", at: 16, value: 1 };
    assert_eq!(fault(&copy(&[&controlled, &DATA, &to]), Transport::Rc), reserved);
    let mut short = to;
    short[3] = 1;
    let lengths = WqeFault::MemcpyLength { from: 256, to: 257 };
    assert_eq!(fault(&copy(&[&metadata, &DATA, &short]), Transport::Rc), lengths);
    let mut inline = to;
    inline[0] = 0x80;
    assert_eq!(fault(&copy(&[&metadata, &DATA, &inline]), Transport::Rc), WqeFault::InlineResult { at: 48 });
    let missing = |segment, needs, has| WqeFault::MissingSegment { segment, needs, has };
    assert_eq!(fault(&copy(&[&metadata, &DATA]), Transport::Rc), missing("destination", 64, 48));
    assert_eq!(fault(&copy(&[&metadata]), Transport::Rc), missing("source", 48, 32));
    assert_eq!(fault(&copy(&[]), Transport::Rc), missing("MMO metadata", 32, 16));
    assert_eq!(fault(&copy(&[&metadata, &DATA, &to, &DATA]), Transport::Rc), WqeFault::Trailing(16));
}

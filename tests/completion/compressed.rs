//! Packed completions: bytes worked out by hand from the layouts of Linux, DPDK and UCX, and a packer of these tests'
//! own against what is unpacked.

use std::collections::VecDeque;

use blueflame::cq::compressed::{
    Basic, Checksum, ChecksumStride, Enhanced, FlowTag, Hash, Headers, Layout, MiniFormat,
};
use blueflame::cq::mode::{Compressed, OncePerCall, Publishing};
use blueflame::cq::{CompletionQueue, CqeError, CqeView, Side, Source};
use blueflame::types::Qpn;
use proptest::prelude::*;

use crate::device::{Device, put16, put32};

/// What these tests know of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Completion {
    /// 0 requester, 2 responder.
    opcode: u8,
    len: u32,
    hash: u32,
    hash_type: u8,
    sum: u16,
    headers: u8,
    tag: u32,
    counter: u16,
    request: u8,
    uidx: u32,
}

fn read<S: Source>(cqe: &CqeView<S>, headers: u8) -> Completion {
    let hash = cqe.rx_hash();
    Completion {
        opcode: match cqe.check().expect("success") {
            Side::Requester => 0,
            Side::Responder => 2,
        },
        len: cqe.byte_len(),
        hash: hash.map_or(0, |hash| hash.value),
        hash_type: hash.map_or(0, |hash| hash.kind),
        sum: cqe.packet_sum(),
        headers: if cqe.vlan().is_some() { headers | 1 } else { headers & !1 },
        tag: cqe.flow_tag(),
        counter: cqe.wqe_counter(),
        request: cqe.request_opcode(),
        uidx: cqe.uidx(),
    }
}

/// The number of layer 3 and 4 headers, from what the view makes of it.
fn headers_of<S: Source>(cqe: &CqeView<S>) -> u8 {
    use blueflame::cq::cqe::{L3Header, L4Header};
    let l3 = match cqe.l3_header() {
        L3Header::None => 0,
        L3Header::Ipv6 => 1,
        L3Header::Ipv4 => 2,
        L3Header::Unknown => 3,
    };
    let l4 = match cqe.l4_header() {
        L4Header::None => 0,
        L4Header::Tcp => 1,
        L4Header::Udp => 2,
        L4Header::TcpAckNoData => 3,
        L4Header::TcpAckAndData => 4,
        L4Header::Unknown(value) => value,
    };
    l4 << 4 | l3 << 2
}

fn write(cqe: &mut [u8], c: &Completion) {
    cqe[..62].fill(0xa5);
    put32(cqe, 12, c.hash);
    cqe[16] = c.hash_type;
    put16(cqe, 20, c.sum);
    cqe[29] = c.headers;
    put32(cqe, 32, c.uidx);
    put32(cqe, 44, c.len);
    put32(cqe, 56, u32::from(c.request) << 24 | c.tag);
    put16(cqe, 60, c.counter);
}

/// A mini-CQE of format `format` (and 4 for headers), by DPDK's structure.
fn mini(format: u8, c: &Completion) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[4..].copy_from_slice(&c.len.to_be_bytes());
    if c.opcode == 0 {
        bytes[..2].copy_from_slice(&c.counter.to_be_bytes());
        bytes[2] = c.request;
        return bytes;
    }
    match format {
        0 => bytes[..4].copy_from_slice(&c.hash.to_be_bytes()),
        1 | 3 => bytes[..2].copy_from_slice(&c.sum.to_be_bytes()),
        2 => {
            let [_, high, middle, low] = c.tag.to_be_bytes();
            (bytes[0], bytes[1], bytes[4]) = (middle, low, high);
        }
        _ => bytes[0] = c.headers,
    }
    if matches!(format, 2..=4) {
        bytes[2..4].copy_from_slice(&c.counter.to_be_bytes());
    }
    bytes
}

/// What is left of completion `c` of a session after `title` when it is packed by this format.
fn left(format: u8, title: &Completion, n: usize, c: &Completion) -> Completion {
    if c.opcode == 0 {
        return Completion { len: c.len, counter: c.counter, request: c.request, ..*title };
    }
    let own = |is: bool, value: u32| if is { value } else { 0 };
    let counter = if matches!(format, 2..=4) { c.counter } else { title.counter.wrapping_add(n as u16) };
    Completion {
        len: if format == 2 { c.len & 0xff_ffff } else { c.len },
        hash: own(format == 0, c.hash),
        hash_type: own(format == 0, title.hash_type.into()) as u8,
        sum: own(matches!(format, 1 | 3), c.sum.into()) as u16,
        tag: if format == 2 { c.tag } else { title.tag },
        headers: if format == 4 { c.headers } else { title.headers },
        counter,
        ..*title
    }
}

/// The device's side: writes sessions into the ring.
struct Packer {
    device: Device,
    enhanced: bool,
    format: u8,
    /// What was written and not polled.
    expected: VecDeque<Result<Completion, ()>>,
    /// The last CQE of the enhanced layout that can be a title, and how many were packed with it.
    title: Option<(Completion, usize)>,
}

impl Packer {
    fn new(cqe_cnt: u32, cqe_size: u32, pi: u32, enhanced: bool, format: u8) -> Self {
        let mut device = Device::new(cqe_cnt, cqe_size, pi);
        if enhanced {
            for slot in 0..cqe_cnt {
                device.cqe(slot)[62..].copy_from_slice(&[0xff, 0xf0]);
            }
        }
        Self { device, enhanced, format, expected: VecDeque::new(), title: None }
    }

    fn slot(&mut self, ahead: u32) -> &mut [u8] {
        let slot = (self.device.pi + u64::from(ahead)) % u64::from(self.device.cqe_cnt);
        self.device.cqe(slot as u32)
    }

    /// The last two bytes of a CQE of this pass.
    fn end(&self, op_own: u8) -> [u8; 2] {
        let pass = self.device.pi / u64::from(self.device.cqe_cnt);
        [if self.enhanced { pass as u8 } else { 0x5a }, op_own | (pass & 1) as u8]
    }

    fn plain(&mut self, c: &Completion) {
        let end = self.end(c.opcode << 4);
        let cqe = self.slot(0);
        write(cqe, c);
        cqe[62..].copy_from_slice(&end);
        self.device.pi += 1;
        self.expected.push_back(Ok(*c));
        self.title = Some((*c, 0));
    }

    fn session(&mut self, all: &[Completion]) {
        if self.enhanced {
            let mut all = all;
            if self.title.is_none_or(|(title, _)| (title.opcode, title.tag) != (all[0].opcode, all[0].tag)) {
                self.plain(&all[0]);
                all = &all[1..];
            }
            return all.chunks(7).for_each(|block| self.block(block));
        }
        if all.len() == 1 {
            return self.plain(&all[0]);
        }
        for (n, array) in all.chunks(8).enumerate() {
            let format = self.format;
            let slot = self.slot(if n == 0 { 1 } else { n as u32 * 8 });
            for (n, c) in array.iter().enumerate() {
                slot[n * 8..][..8].copy_from_slice(&mini(format, c));
            }
        }
        let end = self.end(all[0].opcode << 4 | 0xc);
        let count = all.len() as u32;
        let cqe = self.slot(0);
        write(cqe, &all[0]);
        put32(cqe, 44, count);
        cqe[62..].copy_from_slice(&end);
        self.device.pi += u64::from(count);
        // What the title's own mini-CQE does not tell, the title does.
        let whole = left(self.format, &all[0], 0, &all[0]);
        let told = Completion { hash: all[0].hash, hash_type: all[0].hash_type, sum: all[0].sum, ..whole };
        self.expected.push_back(Ok(told));
        self.expected.extend((1..).zip(&all[1..]).map(|(n, c)| Ok(left(self.format, &all[0], n, c))));
    }

    fn block(&mut self, block: &[Completion]) {
        let (title, before) = self.title.expect("a title");
        let end = self.end(((block.len() - 1) as u8) << 4 | 0xc);
        let format = self.format;
        let cqe = self.slot(0);
        for (n, c) in block.iter().enumerate() {
            cqe[n * 8..][..8].copy_from_slice(&mini(format, c));
        }
        cqe[62..].copy_from_slice(&end);
        self.device.pi += block.len() as u64;
        let packed = (before + 1..).zip(block).map(|(n, c)| Ok(left(format, &title, n, c)));
        self.expected.extend(packed);
        self.title = Some((title, before + block.len()));
    }

    fn queue<F: MiniFormat, L: Layout>(&mut self) -> CompletionQueue<Compressed<F, L>> {
        // SAFETY: the test writes completions of this format.
        unsafe { self.device.queue::<blueflame::cq::mode::Standard>().compressed() }
    }

    /// Polls at most `max`, and compares.
    fn poll<M: Publishing>(&mut self, cq: &mut CompletionQueue<M>, max: usize) -> usize {
        let expected = &mut self.expected;
        let found = cq.poll_with(max, |cqe| {
            let found = cqe.check().map(|_| read(&cqe, headers_of(&cqe))).map_err(drop);
            let copied = cqe.copy();
            assert_eq!(found, copied.check().map(|_| read(&copied, headers_of(&copied))).map_err(drop));
            assert_eq!(Some(found), expected.pop_front());
        });
        assert!(found == max || self.expected.is_empty(), "{:?} are left", self.expected);
        found
    }
}

fn completion(n: u32) -> Completion {
    Completion {
        opcode: 2,
        len: 0x01_0203 + n,
        hash: 0x1122_3344 + n,
        hash_type: 0x44,
        sum: 0x5566 + n as u16,
        headers: 0x2c,
        tag: 0xaa_bbcc,
        counter: 0xfffe_u16.wrapping_add(n as u16),
        request: 0,
        uidx: 0x12_3456,
    }
}

/// Linux `include/linux/mlx5/device.h`, `struct mlx5_mini_cqe8`, `MLX5_MINI_CQE_ARRAY_SIZE`;
/// `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_read_title_slot`, `mlx5e_read_mini_arr_slot` (title, title
/// + 1, title + 8), `mlx5e_decompress_cqe`: byte by byte.
#[test]
fn basic_as_linux_reads_it() {
    let mut device = Device::new(16, 64, 0);
    // SAFETY: the test writes completions of this format.
    let mut cq = unsafe { device.queue::<blueflame::cq::mode::Standard>().compressed::<Checksum, Basic>() };
    let mut title = [0; 64];
    title[16] = 0x44;
    title[20..22].copy_from_slice(&[0xee, 0xee]);
    title[29] = 0x28;
    title[44..48].copy_from_slice(&[0, 0, 0, 9]);
    title[56..60].copy_from_slice(&[0, 0, 0, 7]);
    title[60..64].copy_from_slice(&[0x12, 0x34, 0, 0x2c]);
    device.cqe(0).copy_from_slice(&title);
    for n in 0..8 {
        device.cqe(1)[n * 8..][..8].copy_from_slice(&[0xc0, n as u8, 0, 0, 0, 0, 0x05, n as u8]);
    }
    device.cqe(8)[..8].copy_from_slice(&[0xc0, 8, 0, 0, 0, 0, 0x05, 8]);
    let mut found = Vec::new();
    assert_eq!(cq.poll_with(16, |cqe| found.push((cqe.packet_sum(), cqe.byte_len(), cqe.wqe_counter()))), 9);
    let expected: Vec<_> = (0..9).map(|n| (0xc000 + n, 0x500 + u32::from(n), 0x1234 + n)).collect();
    assert_eq!(found, expected);
    assert_eq!(device.record_words()[0], 9);
    // What the device has left out passes for no completion, whatever the pass.
    assert!((1..9).all(|slot| device.cqe(slot)[63] == 0xf0));
}

/// Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_rx_cq_process_enhanced_cqe_comp`, `wq.h`
/// `mlx5_cqwq_get_cqe_enahnced_comp`, `device.h` `get_cqe_enhanced_num_mini_cqes`; UCX `ib_mlx5.c`,
/// `uct_ib_mlx5_iface_cqe_unzip_init` (the index goes on from block to block): byte by byte.
#[test]
fn enhanced_as_linux_and_ucx_read_it() {
    let mut packer = Packer::new(16, 64, 0, true, 0);
    let mut cq = packer.queue::<Hash, Enhanced>();
    let device = &mut packer.device;
    device.cqe(0).fill(0);
    device.cqe(0)[60..].copy_from_slice(&[0xff, 0xff, 0, 0x20]);
    for (slot, count) in [(1, 7u8), (8, 2)] {
        for n in 0..count {
            let at = usize::from(n) * 8;
            device.cqe(slot)[at..at + 8].copy_from_slice(&[0xaa, 0xbb, 0xcc, n, 0, 0, count, n]);
        }
        device.cqe(slot)[62..].copy_from_slice(&[0, (count - 1) << 4 | 0xc]);
    }
    let mut found = Vec::new();
    cq.poll_with(16, |cqe| found.push((cqe.byte_len(), cqe.wqe_counter())));
    let lengths = [0, 0x700, 0x701, 0x702, 0x703, 0x704, 0x705, 0x706, 0x200, 0x201];
    let expected: Vec<_> = lengths.into_iter().zip((0..).map(|n| 0xffff_u16.wrapping_add(n))).collect();
    assert_eq!(found, expected);
}

/// DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_mini_cqe8` and `MLX5_CQE_RESP_FORMAT_*`;
/// `drivers/net/mlx5/mlx5_rx.c`, `rxq_cq_to_mbuf`; `MLX5_LEN_WITH_MARK_MASK` of `mlx5_defs.h`: each format, one
/// mini-CQE of known bytes.
#[test]
fn formats_as_dpdk_reads_them() {
    fn second<F: MiniFormat>() -> (u32, Option<u32>, u16, u8, u32, u16) {
        let mut device = Device::new(4, 64, 0);
        // SAFETY: the test writes completions of this format.
        let mut cq = unsafe { device.queue::<blueflame::cq::mode::Standard>().compressed::<F, Basic>() };
        device.cqe(0).fill(0);
        device.cqe(0)[16] = 0x44;
        device.cqe(0)[29] = 0x14;
        device.cqe(0)[47] = 2;
        device.cqe(0)[57..61].copy_from_slice(&[9, 9, 9, 0]);
        device.cqe(0)[61..].copy_from_slice(&[0x40, 0, 0x2c]);
        device.cqe(1)[8..16].copy_from_slice(&[0x11, 0x28, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]);
        assert!(cq.poll().is_some());
        let cqe = cq.poll().expect("the second");
        let hash = cqe.rx_hash().map(|hash| hash.value);
        (cqe.byte_len(), hash, cqe.packet_sum(), headers_of(&cqe), cqe.flow_tag(), cqe.wqe_counter())
    }
    assert_eq!(second::<Hash>(), (0x5566_7788, Some(0x1128_3344), 0, 0x14, 0x09_0909, 0x41));
    assert_eq!(second::<Checksum>(), (0x5566_7788, None, 0x1128, 0x14, 0x09_0909, 0x41));
    assert_eq!(second::<FlowTag>(), (0x66_7788, None, 0, 0x14, 0x55_1128, 0x3344));
    assert_eq!(second::<ChecksumStride>(), (0x5566_7788, None, 0x1128, 0x14, 0x09_0909, 0x3344));
    // The byte of the headers, 0x11: TCP, no header of layer 3, a VLAN tag.
    assert_eq!(second::<Headers>(), (0x5566_7788, None, 0, 0x10, 0x09_0909, 0x3344));
}

/// Two mini-CQEs of the headers' format as bytes: header byte, reserved byte, index of the stride, number of bytes.
/// DPDK has the header byte first in `drivers/net/mlx5/mlx5_rxtx_vec_sse.h`, `rxq_cq_decompress_v` (bytes 0 and 8 of a
/// pair of mini-CQEs), and in `struct mlx5_mini_cqe8` since its commit 5654f38eba8, which says that the two bytes were
/// swapped before.
#[test]
fn the_first_byte_has_the_headers() {
    let mut device = Device::new(4, 64, 0);
    // SAFETY: the test writes completions of this format.
    let mut cq = unsafe { device.queue::<blueflame::cq::mode::Standard>().compressed::<Headers, Basic>() };
    device.cqe(0).fill(0);
    device.cqe(0)[47] = 2;
    device.cqe(0)[61..].copy_from_slice(&[0x40, 0, 0x2c]);
    device.cqe(1)[..16].copy_from_slice(&[
        0x29, 0x14, 0x00, 0x07, 0x00, 0x00, 0x00, 0x40, // UDP by IPv4, a VLAN tag; stride 7; 64 bytes
        0x14, 0x29, 0x00, 0x08, 0x00, 0x00, 0x05, 0xee, // TCP by IPv6, no tag; stride 8; 1,518 bytes
    ]);
    let mut next = || {
        let cqe = cq.poll().expect("a completion");
        (headers_of(&cqe), cqe.vlan().is_some(), cqe.wqe_counter(), cqe.byte_len())
    };
    assert_eq!(next(), (0x28, true, 7, 64));
    assert_eq!(next(), (0x14, false, 8, 1518));
}

/// What a test does with a queue.
type Steps = Box<dyn FnMut(&mut Packer, Step) -> usize>;

/// Each format and layout, as a number and as types.
fn with<R>(
    enhanced: bool,
    format: u8,
    packer: &mut Packer,
    mut run: impl FnMut(&mut Packer, &mut dyn FnMut(&mut Packer, Step) -> usize) -> R,
) -> R {
    fn steps<F: MiniFormat + 'static, L: Layout + 'static>(packer: &mut Packer) -> Steps {
        let mut cq = packer.queue::<F, L>();
        Box::new(move |packer, step| match step {
            Step::Poll(max) => packer.poll(&mut cq, max),
            Step::Forget(tag) => {
                let before = packer.expected.len();
                // The device packs no more of a queue pair that is gone.
                packer.title = packer.title.filter(|(title, _)| title.tag != tag);
                packer.expected.retain(|c| c.is_ok_and(|c| c.tag != tag));
                let removed = cq.forget(Qpn::truncate(tag));
                assert_eq!(removed, before - packer.expected.len());
                removed
            }
        })
    }
    let mut steps = match (enhanced, format) {
        (false, 0) => steps::<Hash, Basic>(packer),
        (false, 1) => steps::<Checksum, Basic>(packer),
        (false, 2) => steps::<FlowTag, Basic>(packer),
        (false, 3) => steps::<ChecksumStride, Basic>(packer),
        (false, _) => steps::<Headers, Basic>(packer),
        (true, 0) => steps::<Hash, Enhanced>(packer),
        (true, 1) => steps::<Checksum, Enhanced>(packer),
        (true, 2) => steps::<FlowTag, Enhanced>(packer),
        (true, 3) => steps::<ChecksumStride, Enhanced>(packer),
        (true, _) => steps::<Headers, Enhanced>(packer),
    };
    run(packer, &mut *steps)
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Poll(usize),
    Forget(u32),
}

/// What the device writes, and what is polled.
#[derive(Clone, Debug)]
enum Move {
    /// So many completions like each other, of this opcode and tag.
    Write {
        count: usize,
        opcode: u8,
        tag: u32,
    },
    Step(Step),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let tag = 1..4u32;
    let one = prop_oneof![
        4 => (1..40usize, prop_oneof![Just(0u8), Just(2), Just(2), Just(2)], tag.clone())
            .prop_map(|(count, opcode, tag)| Move::Write { count, opcode, tag }),
        4 => (1..20usize).prop_map(|max| Move::Step(Step::Poll(max))),
        1 => tag.prop_map(|tag| Move::Step(Step::Forget(tag))),
    ];
    prop::collection::vec(one, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Sessions of any length, in rings of any size, across the ring's end and that of the index, unpacked in pieces of
    /// any size, with completions of one queue pair taken out at any time.
    #[test]
    fn what_was_packed_is_unpacked(
        (enhanced, format, wide) in any::<(bool, u8, bool)>(),
        log_cqes in 0..6u32,
        first in prop_oneof![Just(0u32), Just(0x00ff_fff0), 0..0x0100_0000u32],
        moves in moves(),
    ) {
        let (format, cqes) = (format % 5, 1 << log_cqes);
        // The number of a pass has 8 bits, and begins at 0.
        let first = if enhanced { 0 } else { first };
        let mut packer = Packer::new(cqes, if wide { 128 } else { 64 }, first, enhanced, format);
        with(enhanced, format, &mut packer, |packer, step| {
            for (n, next) in moves.iter().enumerate() {
                match *next {
                    Move::Write { count, opcode, tag } => {
                        // Completions of a session that is half polled are not given back.
                        let told = u64::from(packer.device.record_words()[0]);
                        let told = if told == u64::from(crate::device::POISON) { u64::from(first) } else { told };
                        let written = (packer.device.pi as u32).wrapping_sub(told as u32) & 0x00ff_ffff;
                        let count = count.min((cqes - written) as usize);
                        if count != 0 {
                            let all: Vec<_> = (0..count as u32).map(|i| Completion {
                                opcode, tag,
                                request: if opcode == 0 { i as u8 } else { 0 },
                                ..completion(n as u32 * 100 + i)
                            }).collect();
                            packer.session(&all);
                        }
                    }
                    Move::Step(to) => {
                        step(packer, to);
                    }
                }
            }
            step(packer, Step::Poll(1000));
        });
        prop_assert!(packer.expected.is_empty());
    }

    /// Any bytes: polling ends, and each completion is a value.
    #[test]
    fn any_bytes_are_completions_or_errors(
        (enhanced, wide) in any::<(bool, bool)>(),
        log_cqes in 0..5u32,
        bytes in prop::collection::vec(any::<[u8; 64]>(), 0..16),
        ends in prop::collection::vec(prop_oneof![Just(0x2cu8), Just(0x2d), Just(0x6c), Just(0xfc), Just(0x0c), any::<u8>()], 16),
        counts in prop::collection::vec(prop_oneof![0..40u32, any::<u32>()], 16),
    ) {
        let cqes = 1u32 << log_cqes;
        let mut packer = Packer::new(cqes, if wide { 128 } else { 64 }, 0, enhanced, 0);
        let mut cq = if enhanced { Any::Enhanced(packer.queue()) } else { Any::Basic(packer.queue()) };
        for (slot, bytes) in (0..cqes).zip(&bytes) {
            let (end, count) = (ends[slot as usize], counts[slot as usize]);
            let cqe = packer.device.cqe(slot);
            cqe.copy_from_slice(bytes);
            put32(cqe, 44, count);
            cqe[62..].copy_from_slice(&[0, end]);
        }
        let found = cq.poll(100 * cqes as usize);
        // What is polled of sessions is marked; what is not was valid in one pass of two, or of 256, and a session goes
        // on into the next.
        prop_assert!(found <= 2 * cqes as usize, "{} of {}", found, cqes);
        cq.forget();
    }
}

enum Any {
    Basic(CompletionQueue<Compressed<Hash, Basic>>),
    Enhanced(CompletionQueue<Compressed<Hash, Enhanced>>),
}

impl Any {
    fn poll(&mut self, max: usize) -> usize {
        match self {
            Self::Basic(cq) => cq.poll_with(max, |cqe| drop(format!("{cqe:?}"))),
            Self::Enhanced(cq) => cq.poll_with(max, |cqe| drop(format!("{cqe:?}"))),
        }
    }

    fn forget(&mut self) {
        match self {
            Self::Basic(cq) => cq.forget(Qpn::truncate(1)),
            Self::Enhanced(cq) => cq.forget(Qpn::truncate(1)),
        };
    }
}

#[test]
fn what_cannot_be_unpacked_is_an_error_for_each_completion_lost() {
    // Basic: no completions, one, more than the ring has; a title that is an error's.
    for (count, op_own, lost) in
        [(0, 0x2c, 1), (1, 0x2c, 1), (9, 0x2c, 1), (u32::MAX, 0x2c, 1), (3, 0xec, 3), (3, 0x6c, 3)]
    {
        let mut device = Device::new(8, 64, 0);
        // SAFETY: the test writes completions of this format.
        let mut cq = unsafe { device.queue::<blueflame::cq::mode::Standard>().compressed::<Hash, Basic>() };
        device.complete(op_own, |cqe| put32(cqe, 44, count));
        let mut found = Vec::new();
        cq.poll_with(100, |cqe| found.push((cqe.check(), cqe.byte_len())));
        assert_eq!(found, vec![(Err(CqeError::Compressed), count); lost], "{count} {op_own:#x}");
        assert_eq!(device.record_words()[0], lost as u32);
    }
    // Enhanced: no title before, a title that failed, more mini-CQEs than there is room for.
    for (title, op_own, lost) in [(None, 0x6c, 7), (Some(0xe0), 0x1c, 2), (Some(0x20), 0x7c, 1), (Some(0x20), 0xec, 1)]
    {
        let mut packer = Packer::new(16, 64, 0, true, 0);
        let mut cq = packer.queue::<Hash, Enhanced>();
        for op_own in title.into_iter().chain([op_own]) {
            let end = packer.end(op_own);
            packer.slot(0)[62..].copy_from_slice(&end);
            packer.device.pi += 1;
        }
        let mut found = Vec::new();
        cq.poll_with(100, |cqe| found.push(cqe.check()));
        found.drain(..usize::from(title.is_some()));
        assert_eq!(found, vec![Err(CqeError::Compressed); lost], "{title:?} {op_own:#x}");
    }
}

#[test]
fn what_is_packed_with_a_completion_taken_out_is_lost() {
    let mut packer = Packer::new(16, 64, 0, true, 0);
    let mut cq = packer.queue::<Hash, Enhanced>();
    let [other, title, packed] = [0, 1, 2].map(completion);
    packer.plain(&Completion { tag: 1, ..other });
    packer.plain(&Completion { tag: 2, ..title });
    assert_eq!(cq.forget(Qpn::truncate(2)), 1);
    packer.block(&[packed]);
    packer.plain(&Completion { tag: 3, ..other });
    let mut found = Vec::new();
    cq.poll_with(9, |cqe| found.push((cqe.check(), cqe.qpn().get())));
    assert_eq!(
        (found[0], found[1].0, found[2]),
        ((Ok(Side::Responder), 1), Err(CqeError::Compressed), (Ok(Side::Responder), 3))
    );
}

#[test]
fn places_are_given_back_with_the_whole_session() {
    let mut packer = Packer::new(16, 64, 0, false, 0);
    let mut cq = packer.queue::<Hash, Basic>();
    let all: Vec<_> = (0..10).map(completion).collect();
    packer.session(&all);
    for n in 0..10 {
        assert_eq!(packer.poll(&mut cq, 1), 1);
        assert_eq!(packer.device.record_words()[0], if n < 9 { crate::device::POISON } else { 10 });
    }
    let mut cq = cq.with_mode::<OncePerCall<Compressed<Hash>>>();
    packer.session(&all[..3]);
    packer.poll(&mut cq, 2);
    assert_eq!((cq.consumer_index().get(), packer.device.record_words()[0]), (12, 10));
    packer.poll(&mut cq, 2);
    assert_eq!(packer.device.record_words()[0], 13);
}

#[test]
fn a_panic_loses_one_completion_of_a_session() {
    let mut packer = Packer::new(16, 64, 0, true, 1);
    let mut cq = packer.queue::<Checksum, Enhanced>();
    packer.session(&(0..5).map(completion).collect::<Vec<_>>());
    packer.poll(&mut cq, 2);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cq.poll_with(9, |_| {
            if true {
                panic!("of the test")
            }
        })
    }));
    assert!(panic.is_err());
    packer.expected.pop_front();
    assert_eq!(packer.poll(&mut cq, 9), 2);
}

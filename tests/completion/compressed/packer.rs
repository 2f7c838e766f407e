//! A packer of these tests' own, from the layouts of Linux, DPDK and UCX, and the completions that it expects.

use std::collections::VecDeque;

use blueflame::cq::compressed::MiniFormat;
use blueflame::cq::mode::{Compressed, PollMode};
use blueflame::cq::{CompletionQueue, CqeView, Side, Source};

use crate::device::{Device, put16, put32};

/// A completion, as these tests know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Completion {
    /// 0 requester, 2 responder.
    pub(super) opcode: u8,
    pub(super) len: u32,
    pub(super) hash: u32,
    pub(super) hash_type: u8,
    pub(super) sum: u16,
    pub(super) headers: u8,
    pub(super) tag: u32,
    pub(super) counter: u16,
    pub(super) request: u8,
    pub(super) uidx: u32,
}

pub(super) fn read<S: Source>(cqe: &CqeView<S>, headers: u8) -> Completion {
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

/// The number of layer 3 and 4 headers, from the view's values.
pub(super) fn headers_of<S: Source>(cqe: &CqeView<S>) -> u8 {
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

pub(super) fn write(cqe: &mut [u8], c: &Completion) {
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
pub(super) fn mini(format: u8, c: &Completion) -> [u8; 8] {
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

/// The fields that completion `c` of a session after `title` keeps in this format.
pub(super) fn left(format: u8, title: &Completion, n: usize, c: &Completion) -> Completion {
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
pub(super) struct Packer {
    pub(super) device: Device,
    pub(super) enhanced: bool,
    pub(super) format: u8,
    /// Completions that were written and not polled.
    pub(super) expected: VecDeque<Result<Completion, ()>>,
    /// The last CQE of the enhanced layout that can be a title, and how many were compressed with it.
    pub(super) title: Option<(Completion, usize)>,
}

impl Packer {
    pub(super) fn new(cqe_cnt: u32, cqe_size: u32, pi: u32, enhanced: bool, format: u8) -> Self {
        let mut device = Device::new(cqe_cnt, cqe_size, pi);
        if enhanced {
            for slot in 0..cqe_cnt {
                device.cqe(slot)[62..].copy_from_slice(&[0xff, 0xf0]);
            }
        }
        Self { device, enhanced, format, expected: VecDeque::new(), title: None }
    }

    pub(super) fn slot(&mut self, ahead: u32) -> &mut [u8] {
        let slot = (self.device.pi + u64::from(ahead)) % u64::from(self.device.cqe_cnt);
        self.device.cqe(slot as u32)
    }

    /// The last two bytes of a CQE of this pass.
    pub(super) fn end(&self, op_own: u8) -> [u8; 2] {
        let pass = self.device.pi / u64::from(self.device.cqe_cnt);
        [if self.enhanced { pass as u8 } else { 0x5a }, op_own | (pass & 1) as u8]
    }

    pub(super) fn plain(&mut self, c: &Completion) {
        let end = self.end(c.opcode << 4);
        let cqe = self.slot(0);
        write(cqe, c);
        cqe[62..].copy_from_slice(&end);
        self.device.pi += 1;
        self.expected.push_back(Ok(*c));
        self.title = Some((*c, 0));
    }

    pub(super) fn session(&mut self, all: &[Completion]) {
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
        // The title tells the fields that its mini-CQE lacks.
        let whole = left(self.format, &all[0], 0, &all[0]);
        let told = Completion { hash: all[0].hash, hash_type: all[0].hash_type, sum: all[0].sum, ..whole };
        self.expected.push_back(Ok(told));
        self.expected.extend((1..).zip(&all[1..]).map(|(n, c)| Ok(left(self.format, &all[0], n, c))));
    }

    pub(super) fn block(&mut self, block: &[Completion]) {
        let (title, before) = self.title.expect("a title");
        let end = self.end(((block.len() - 1) as u8) << 4 | 0xc);
        let format = self.format;
        let cqe = self.slot(0);
        for (n, c) in block.iter().enumerate() {
            cqe[n * 8..][..8].copy_from_slice(&mini(format, c));
        }
        cqe[62..].copy_from_slice(&end);
        self.device.pi += block.len() as u64;
        let rest = (before + 1..).zip(block).map(|(n, c)| Ok(left(format, &title, n, c)));
        self.expected.extend(rest);
        self.title = Some((title, before + block.len()));
    }

    pub(super) fn queue<F: MiniFormat, const ENHANCED: bool>(&mut self) -> CompletionQueue<Compressed<F, ENHANCED>> {
        // SAFETY: the test writes completions of this format.
        unsafe { self.device.queue::<blueflame::cq::mode::Standard>().compressed() }
    }

    /// Polls at most `max`, and compares.
    pub(super) fn poll<M: PollMode>(&mut self, cq: &mut CompletionQueue<M>, max: usize) -> usize {
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

pub(super) fn completion(n: u32) -> Completion {
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

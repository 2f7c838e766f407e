//! The device's side of a completion queue.

use std::ptr::NonNull;

use blueflame::cq::CompletionQueue;
use blueflame::cq::mode::PollMode;
use blueflame::cq::setup::CqParts;
use blueflame::types::{CqCi, Cqn};

/// One 64-byte line, so that buffers are aligned as a page would be.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
pub(crate) struct Line([u8; 128]);

/// The device's side of a completion queue: it writes CQEs and looks at record and doorbell.
pub(crate) struct Device {
    pub(crate) ring: Box<[Line]>,
    record: Box<[u64; 1]>,
    pub(crate) uar: Box<[u64; 8]>,
    pub(crate) cqe_cnt: u32,
    pub(crate) cqe_size: u32,
    /// CQEs written, ever.
    pub(crate) pi: u64,
}

impl Device {
    pub(crate) fn new(cqe_cnt: u32, cqe_size: u32, pi: u32) -> Self {
        let mut device = Self {
            ring: vec![Line([0xa5; 128]); ((cqe_cnt * cqe_size) as usize).div_ceil(128)].into(),
            record: Box::new([0xa5a5_a5a5_a5a5_a5a5]),
            uar: Box::new([0xa5a5_a5a5_a5a5_a5a5; 8]),
            cqe_cnt,
            cqe_size,
            pi: u64::from(pi),
        };
        // An entry never written is marked so; the others are as the pass that wrote them left them.
        for slot in 0..cqe_cnt {
            let last = (pi / cqe_cnt * cqe_cnt + slot).wrapping_sub(if slot < pi % cqe_cnt { 0 } else { cqe_cnt });
            device.cqe(slot)[63] = if last > pi { 0xf0 } else { ((last / cqe_cnt) & 1) as u8 };
        }
        device
    }

    pub(crate) fn parts(&mut self) -> CqParts {
        CqParts {
            buf: NonNull::from(&mut self.ring[0]).cast(),
            cqe_cnt: self.cqe_cnt,
            cqe_size: self.cqe_size,
            dbrec: NonNull::from(&mut self.record[0]).cast(),
            cq_uar: NonNull::from(&mut self.uar[0]).cast(),
            cqn: Cqn::new(0x00ab_cdef).unwrap(),
            ci: CqCi::truncate(self.pi as u32),
        }
    }

    pub(crate) fn queue<M: PollMode<Compression = ()>>(&mut self) -> CompletionQueue<M> {
        // SAFETY: the memory lives in boxes that outlive the queue in every test, and nothing else polls; the tests
        // write no more CQEs than there is room for.
        unsafe { CompletionQueue::from_parts(self.parts()).unwrap().with_mode_unchecked() }
    }

    /// The 64 bytes of fields in a slot, through a pointer as the device has it.
    pub(crate) fn cqe(&mut self, slot: u32) -> &mut [u8] {
        self.half_cqe(slot * self.cqe_size + self.cqe_size - 64)
    }

    pub(crate) fn first_half(&mut self, slot: u32) -> &mut [u8] {
        assert_eq!(self.cqe_size, 128);
        self.half_cqe(slot * self.cqe_size)
    }

    /// 64 bytes of the ring, `at` bytes from its start.
    fn half_cqe(&mut self, at: u32) -> &mut [u8] {
        assert!(at + 64 <= self.cqe_cnt * self.cqe_size, "{at} is past the ring");
        let bytes = self.ring.as_mut_ptr().cast::<u8>();
        // SAFETY: inside of the ring, as asserted; the queue under test holds no references.
        unsafe { std::slice::from_raw_parts_mut(bytes.add(at as usize), 64) }
    }

    /// Writes a CQE: opcode and format from `op_own`, owner bit as the pass demands.
    pub(crate) fn complete(&mut self, op_own: u8, fields: impl FnOnce(&mut [u8])) {
        let (slot, owner) = ((self.pi % u64::from(self.cqe_cnt)) as u32, (self.pi / u64::from(self.cqe_cnt)) & 1);
        let cqe = self.cqe(slot);
        fields(cqe);
        cqe[63] = op_own & !1 | owner as u8;
        self.pi += 1;
    }

    pub(crate) fn record_words(&self) -> [u32; 2] {
        let bytes = self.record[0].to_ne_bytes();
        [u32::from_be_bytes(bytes[..4].try_into().unwrap()), u32::from_be_bytes(bytes[4..].try_into().unwrap())]
    }
}

pub(crate) const POISON: u32 = 0xa5a5_a5a5;

pub(crate) fn put32(cqe: &mut [u8], at: usize, value: u32) {
    cqe[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

pub(crate) fn put16(cqe: &mut [u8], at: usize, value: u16) {
    cqe[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Completion `n` of a series: a requester's, with every field different.
pub(crate) fn nth(device: &mut Device, n: u32) {
    device.complete(0x00, |cqe| {
        put32(cqe, 44, n);
        put32(cqe, 56, 0x0a00_0000 | n & 0x00ff_ffff);
        put16(cqe, 60, n as u16);
    });
}

//! The memory of a queue, and its expected contents.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::Sge;
use blueflame::queue::recv::RqParts;
use blueflame::types::Lkey;
use proptest::prelude::*;

pub(crate) const QPN: u32 = 0x12_3456;
/// An entry of a WQE. `u128` alone has 8-byte alignment on some CPUs of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct Entry(u128);

pub(crate) const POISON: Entry = Entry(0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5);

/// The memory of a queue: ring, doorbell record, private tags.
pub(crate) struct Memory<T> {
    pub(crate) ring: Vec<Entry>,
    pub(crate) record: Box<[u32; 2]>,
    shadow: Box<[MaybeUninit<T>]>,
    pub(crate) stride: usize,
}

impl<T> Memory<T> {
    pub(crate) fn new(wqe_cnt: u32, stride: u32, shadow_len: u32) -> Self {
        Self {
            ring: vec![POISON; (wqe_cnt * stride / 16) as usize],
            record: Box::new([0xa5a5_a5a5; 2]),
            shadow: Box::new_uninit_slice(shadow_len as usize),
            stride: stride as usize,
        }
    }

    pub(crate) fn wqe_cnt(&self) -> u32 {
        (self.ring.len() * 16 / self.stride) as u32
    }

    pub(crate) fn buf(&mut self) -> NonNull<u8> {
        NonNull::new(self.ring.as_mut_ptr()).unwrap().cast()
    }

    pub(crate) fn record(&mut self) -> NonNull<u32> {
        NonNull::from(&mut self.record[0])
    }

    pub(crate) fn shadow(&mut self) -> NonNull<MaybeUninit<T>> {
        NonNull::new(self.shadow.as_mut_ptr()).unwrap()
    }

    /// The bytes of one WQE, as the device would fetch them.
    pub(crate) fn wqe(&self, index: usize) -> Vec<u8> {
        // SAFETY: a plain copy of the ring's bytes; the queue under test is not running.
        let bytes = unsafe {
            std::slice::from_raw_parts(self.ring.as_ptr().cast::<u8>(), std::mem::size_of_val(&self.ring[..]))
        };
        bytes[index * self.stride..][..self.stride].to_vec()
    }

    pub(crate) fn counter(&self) -> u32 {
        // SAFETY: the record is a live word; volatile because the queue writes it through a pointer.
        u32::from_be(unsafe { (&raw const self.record[0]).read_volatile() })
    }
}

pub(crate) fn recv_memory(wqe_cnt: u32, stride: u32) -> Memory<u64> {
    Memory::new(wqe_cnt, stride, RqParts::shadow_words(wqe_cnt))
}

pub(crate) fn sge(addr: u64, bytes: u32, lkey: u32) -> Sge {
    Sge { addr, length: bytes, lkey: Lkey(lkey) }
}

/// libmlx5's bytes for these entries in a WQE of `max`, on poisoned memory (`providers/mlx5/qp.c`).
pub(crate) fn expected(entries: &[Sge], max: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries.iter().filter(|entry| entry.length != 0) {
        bytes.extend(entry.length.to_be_bytes());
        bytes.extend(entry.lkey.0.to_be_bytes());
        bytes.extend(entry.addr.to_be_bytes());
    }
    if bytes.len() < max * 16 {
        bytes.extend([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    bytes.resize(max * 16, 0xa5);
    bytes
}

/// The operations on a queue.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A batch of this many requests of these entry lengths; told to the device, or dropped.
    Post(Vec<Vec<u32>>, bool),
    /// A completion, of the posted request chosen by the number or (shared queue) of any WQE index.
    Complete(u16),
    Hostile(u16),
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let lengths = prop::collection::vec(prop_oneof![Just(0), 1_u32..0x8000_0000], 0..=4);
    let step = prop_oneof![
        (prop::collection::vec(lengths, 0..5), prop::bool::weighted(0.8))
            .prop_map(|(list, ring)| Step::Post(list, ring)),
        any::<u16>().prop_map(Step::Complete),
        any::<u16>().prop_map(Step::Hostile),
    ];
    prop::collection::vec(step, 0..80)
}

pub(crate) fn entries(id: u64, lengths: &[u32]) -> Vec<Sge> {
    lengths.iter().enumerate().map(|(i, bytes)| sge(id << 8 | i as u64, *bytes, id as u32)).collect()
}

//! The doorbell alone: record, barriers and register, against bare stores.
//!
//! Memory stands for the NIC, so this says nothing about what a store to a real register costs: see `common`.
mod common;

use std::hint::black_box;

use blueflame::arch;
use blueflame::db::{DoorbellRecord, ExclusiveRegister, FlushMode, Half, OneFence, Register};
use criterion::Criterion;

use common::compare::{Group, criterion};
use common::floor::FloorSq;
use common::rig::{ENTRIES, HALF_BYTES, SendRig};

fn main() {
    let mut criterion = criterion();
    both_modes(
        &mut criterion,
        ["doorbell/8 bytes, two fences", "doorbell/8 bytes, one fence"],
        HALF_BYTES,
        Store::Eight,
    );
    let names = ["doorbell/no BlueFlame, two fences", "doorbell/no BlueFlame, one fence"];
    both_modes(&mut criterion, names, 0, Store::Eight);
    let names = ["doorbell/64-byte copy, two fences", "doorbell/64-byte copy, one fence"];
    both_modes(&mut criterion, names, HALF_BYTES, Store::Line);
    let names = ["doorbell/128-byte copy from ring, two fences", "doorbell/128-byte copy from ring, one fence"];
    both_modes(&mut criterion, names, HALF_BYTES, Store::Ring(2));
    let names = ["doorbell/256-byte copy from ring, two fences", "doorbell/256-byte copy from ring, one fence"];
    both_modes(&mut criterion, names, HALF_BYTES, Store::Ring(4));
    criterion.final_summary();
}

/// What is stored to the register.
#[derive(Clone, Copy)]
enum Store {
    /// 8 bytes.
    Eight,
    /// 64 bytes, out of CPU registers.
    Line,
    /// So many WQEBBs, out of the ring.
    Ring(usize),
}

fn both_modes(criterion: &mut Criterion, [two, one]: [&str; 2], half_bytes: u32, store: Store) {
    let (floor, rung) = (SendRig::new(half_bytes), SendRig::new(half_bytes));
    compare::<true, _>(criterion, two, floor, rung, rung.exclusive(), store);
    let (floor, rung) = (SendRig::new(half_bytes), SendRig::new(half_bytes));
    compare::<false, _>(criterion, one, floor, rung, rung.exclusive().with_mode::<OneFence>(), store);
}

fn compare<const FLUSH: bool, F: FlushMode>(
    criterion: &mut Criterion,
    name: &str,
    floor: SendRig,
    rung: SendRig,
    register: ExclusiveRegister<F>,
    store: Store,
) {
    let group = Group::new(name, 1);
    let stores = (move || floor.snapshot(), move || rung.snapshot());
    // Each arm a closure of its own, so that the choice is made once and not in the loop.
    match store {
        Store::Eight => group
            .case("floor", stores.0, bare(floor, |sq, n| sq.eight::<FLUSH>(n)))
            // SAFETY: there is no device.
            .case("crate", stores.1, ring(rung, register, |half, n| unsafe { half.write(n) })),
        Store::Line => group
            .case("floor", stores.0, bare(floor, |sq, n| sq.copy_words::<FLUSH>(&line(n))))
            // SAFETY: there is no device, and a half has 256 bytes.
            .case("crate", stores.1, ring(rung, register, |half, n| unsafe { half.copy(&line(n)) })),
        Store::Ring(wqebbs) => {
            group.case("floor", stores.0, bare(floor, move |sq, _| sq.copy_ring::<FLUSH>(wqebbs))).case(
                "crate",
                stores.1,
                ring(rung, register, move |half, _| {
                    // SAFETY: there is no device, a half has 256 bytes, and the ring has more.
                    unsafe { half.copy_from_ring(rung.ring, ENTRIES, 0, wqebbs) }
                }),
            )
        }
    }
    .measure(criterion);
}

/// Records and rings so many times, on a floor.
fn bare(rig: SendRig, mut ring: impl FnMut(&mut FloorSq, u64)) -> impl FnMut(u64) -> u64 {
    let mut sq = FloorSq::new(&rig);
    move |operations| {
        let sq = black_box(&mut sq);
        for n in 0..operations {
            sq.advance();
            sq.record();
            ring(sq, n);
        }
        0
    }
}

/// Records and rings so many times, by the crate.
fn ring<F: FlushMode>(
    rig: SendRig,
    mut register: ExclusiveRegister<F>,
    mut store: impl FnMut(Half<'_>, u64),
) -> impl FnMut(u64) -> u64 {
    // SAFETY: the record stays, and nothing else stores to it.
    let mut record = unsafe { DoorbellRecord::send(rig.dbrec) };
    let mut pi = 0u16;
    move |operations| {
        let (register, record, pi) = black_box((&mut register, &mut record, &mut pi));
        for n in 0..operations {
            *pi = pi.wrapping_add(1);
            arch::to_device();
            // SAFETY: no device looks at this memory.
            unsafe { record.store(*pi) };
            register.ring(|half| store(half, n));
        }
        0
    }
}

/// A line that differs from the one before.
#[inline(always)]
fn line(n: u64) -> [u64; 8] {
    std::array::from_fn(|i| n ^ i as u64)
}

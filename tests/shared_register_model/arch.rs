//! CPUs with write-combining buffers, and a device.

use std::cell::RefCell;

use crate::fault::{self, Fault};

/// A doorbell: the half's address, and its word.
pub(crate) type Rung = (usize, u64);

thread_local! {
    /// The stores of each CPU that it has not flushed. (The model's threads are one of the system's.)
    static BUFFERS: RefCell<[Vec<Rung>; 3]> = const { RefCell::new([Vec::new(), Vec::new(), Vec::new()]) };
    /// The device's view.
    static SEEN: RefCell<Vec<Rung>> = const { RefCell::new(Vec::new()) };
}

loom::thread_local! {
    static CPU: std::cell::Cell<usize> = std::cell::Cell::new(0);
}

pub(crate) fn run_on(cpu: usize) {
    CPU.with(|own| own.set(cpu));
}

/// The device's view, before anything happens.
pub(crate) fn power_cycle() -> Vec<Rung> {
    BUFFERS.with_borrow_mut(|buffers| buffers.iter_mut().for_each(Vec::clear));
    SEEN.take()
}

pub(crate) fn buffered() -> usize {
    BUFFERS.with_borrow(|buffers| buffers.iter().map(Vec::len).sum())
}

fn drain() {
    crate::sync::others_may_run();
    let rung = BUFFERS.with_borrow_mut(|buffers| std::mem::take(&mut buffers[CPU.with(std::cell::Cell::get)]));
    SEEN.with_borrow_mut(|seen| seen.extend(rung));
}

pub(crate) fn mmio_flush_writes() {
    if !fault::is(Fault::Flush) {
        drain();
    }
}

pub(crate) fn mmio_wc_start() {
    drain();
}

pub(crate) fn mmio_wc_hint() {}

/// # Safety
/// That of the crate's function: the place may be written. This one writes nothing.
pub(crate) unsafe fn mmio_write64(half: *mut u64, word: u64) {
    crate::sync::others_may_run();
    BUFFERS.with_borrow_mut(|buffers| buffers[CPU.with(std::cell::Cell::get)].push((half.addr(), word)));
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide;

impl Wide {
    fn first_word(self) -> u64 {
        unreachable!("the model copies words");
    }
}

mod ds {
    pub(crate) trait HeldDs: Copy {}
    impl HeldDs for super::Wide {}
}

#[path = "../ring_model/arch/copy.rs"]
#[expect(dead_code, reason = "this model copies words alone")]
mod block;

pub(crate) mod copy;

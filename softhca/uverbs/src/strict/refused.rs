//! Instructions that strict mode has left out, on their way from the handler to a reporter.

use iced_x86::{Instruction, Mnemonic};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Instructions that are kept until they are taken; more are only counted.
const KEPT: usize = 64;

/// Mnemonic, and one more in bits 31:16 so that no entry is 0; offset in the page in bits 15:0; UAR page in bits 63:32.
static REFUSED: [AtomicU64; KEPT] = [const { AtomicU64::new(0) }; KEPT];
/// Instructions left out so far.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Of those, how many were taken.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// `instruction` was left out: it was to access byte `offset` of UAR page `uar`. May be called in a signal handler.
pub(super) fn add(instruction: &Instruction, uar: u32, offset: usize) {
    let entry = u64::from(uar) << 32 | (instruction.mnemonic() as u64 + 1) << 16 | offset as u64 & 0xffff;
    if let Some(place) = REFUSED.get(COUNT.fetch_add(1, Ordering::Relaxed)) {
        place.store(entry, Ordering::Release);
    }
}

/// The instructions left out since the last call, in words.
pub(crate) fn take() -> Vec<String> {
    let mut found = Vec::new();
    // One that is being added is taken by a later call.
    let next = || REFUSED.get(TAKEN.load(Ordering::Relaxed)).map(|place| place.load(Ordering::Acquire));
    while let Some(entry) = next().filter(|&entry| entry != 0) {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        let mnemonic = Mnemonic::values().nth((entry >> 16 & 0xffff) as usize - 1).unwrap_or_default();
        let name = format!("{mnemonic:?}").to_lowercase();
        let (uar, offset) = (entry >> 32, entry & 0xffff);
        found.push(format!("UAR page {uar:#x}: {name} at {offset:#x} is no plain store, and was not executed"));
    }
    found
}

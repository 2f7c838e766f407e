//! The memory that program and device share: each word is an atomic of loom. Places of objects belong here.

use std::cell::RefCell;
use std::rc::Rc;

use loom::sync::atomic::{AtomicU32, Ordering};

/// Bytes of the shared memory, which lend their addresses only.
#[repr(align(4096))]
struct Bytes([u8; WORDS * 4]);
static BYTES: Bytes = Bytes([0; WORDS * 4]);

/// Words of all objects. Each object begins at one of the places below.
const WORDS: usize = 256;
/// The register's two halves, of 64 bytes.
pub(crate) const REGISTER: usize = 0;
pub(crate) const HALF: usize = 16;
/// The completion queue: up to 4 CQEs.
pub(crate) const CQ: usize = 32;
/// The ring after a resize: 2 CQEs.
pub(crate) const NEW_CQ: usize = 96;
/// The send ring: 2 WQEBBs.
pub(crate) const SEND: usize = 128;
/// The shared receive queue: up to 3 WQEs of 32 bytes.
pub(crate) const SHARED: usize = 160;
/// The records: of the completion queue, of the queue pair, of the shared receive queue.
pub(crate) const CQ_RECORD: usize = 192;
pub(crate) const QP_RECORD: usize = 194;
pub(crate) const SHARED_RECORD: usize = 196;
/// A command to the device, and its answer.
pub(crate) const COMMAND: usize = 198;
pub(crate) const ANSWER: usize = 199;
/// The UAR page: arming writes 0x20 bytes behind its start.
pub(crate) const UAR: usize = 200;
pub(crate) const ARM: usize = UAR + 8;
/// A word of data for each buffer.
pub(crate) const DATA: usize = 240;

type Words = Rc<[AtomicU32]>;

thread_local! {
    /// The words of the schedule that runs. (The model's threads are one of the system's.)
    static MEMORY: RefCell<Option<Words>> = const { RefCell::new(None) };
}

/// Memory of zeros.
pub(crate) fn power_cycle() {
    let words = (0..WORDS).map(|_| AtomicU32::new(0)).collect();
    MEMORY.set(Some(words));
}

fn words() -> Words {
    MEMORY.with_borrow(|words| words.clone()).expect("powered")
}

/// The address of a word.
pub(crate) fn address(word: usize) -> *mut u32 {
    assert!(word < WORDS);
    (&raw const BYTES.0).cast::<u32>().cast_mut().wrapping_add(word)
}

/// The offset of an address, if it is there.
pub(crate) fn offset<T>(place: *const T) -> Option<usize> {
    place.addr().checked_sub(BYTES.0.as_ptr().addr()).filter(|offset| *offset < WORDS * 4)
}

/// A load of one word.
pub(crate) fn load(word: usize) -> u32 {
    words()[word].load(Ordering::Relaxed)
}

/// A store of one word.
pub(crate) fn store(word: usize, value: u32) {
    words()[word].store(value, Ordering::Relaxed);
}

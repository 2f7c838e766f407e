//! Buffers that requests name, and their contents.

use std::cell::RefCell;

use blueflame::verbs::memory::PoolBuffer;
use blueflame::verbs::{Access, Buffer, BufferPool, Pool, ProtectionDomain};
use blueflame_fuzz_targets::ownership::{BYTES, WORDS};

/// Registered memory of an open device.
pub(crate) struct Memory {
    pool: BufferPool,
    /// The memory that WRITEs and READs name.
    windows: RefCell<Pool>,
}

impl Memory {
    pub(crate) fn new(pd: &ProtectionDomain) -> Self {
        let pool = BufferPool::new(pd, BYTES as u32, Access::ALL).expect("a pool");
        let windows = RefCell::new(Pool::new(pd, 1 << 20, Access::ALL).expect("a pool"));
        Self { pool, windows }
    }

    pub(crate) fn page(&self) -> PoolBuffer {
        self.pool.take().expect("memory")
    }

    /// The memory of one case that WRITEs and READs name.
    pub(crate) fn window(&self, words: [u64; WORDS]) -> Buffer {
        let mut window = self.windows.borrow_mut().take(BYTES).expect("room for all cases");
        window.write(0, words.map(u64::to_ne_bytes).as_flattened());
        window
    }
}

pub(crate) fn fill(words: [u64; WORDS], page: &mut PoolBuffer) {
    page.write(words.map(u64::to_ne_bytes).as_flattened());
}

pub(crate) fn words(page: &PoolBuffer) -> [u64; WORDS] {
    let mut bytes = [0; BYTES];
    page.read(&mut bytes);
    of_bytes(&bytes)
}

pub(crate) fn words_of_window(window: &Buffer) -> [u64; WORDS] {
    let mut bytes = [0; BYTES];
    window.read(0, &mut bytes);
    of_bytes(&bytes)
}

fn of_bytes(bytes: &[u8; BYTES]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
    }
    words
}

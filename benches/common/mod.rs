//! What the benchmarks share: memory that stands for a NIC, messages, floors, and how they are compared.
//!
//! **No figure from here is a NIC's.** Ring, doorbell record and register are ordinary write-back memory of this process. A
//! real register is device memory, mapped write-combining; what a store to it, or a flush of it, costs is not in these
//! figures. And nanoseconds drift with the machine's other work. What counts is the ratio of a case to its floor, measured
//! in turns in one run of one program.

#![expect(dead_code, reason = "each benchmark uses its own part of this")]

pub(crate) mod compare;
pub(crate) mod floor;
pub(crate) mod rig;

/// What the benchmarks post.
#[derive(Clone, Copy)]
pub(crate) struct Message {
    /// Where to in the peer's memory.
    pub(crate) addr: u64,
    /// The peer's key.
    pub(crate) rkey: u32,
    /// The bytes, when inline.
    pub(crate) payload: [u8; 8],
    /// The bytes' place in memory of this side, when not.
    pub(crate) local: u64,
    /// Its key.
    pub(crate) lkey: u32,
    /// How many bytes there.
    pub(crate) bytes: u32,
}

/// Messages to post in turn, so that nothing about one is known ahead and moved out of a loop.
pub(crate) struct Messages([Message; Self::COUNT as usize]);

impl Messages {
    const COUNT: u64 = 16;

    /// Different ones; always the same.
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|i| {
            let n = i as u64 + 1;
            Message {
                addr: 0x7f01_0203_0400 * n,
                rkey: 0x0018_0700 + i as u32,
                payload: (n * 0x0102_0304_0506_0708).to_ne_bytes(),
                local: 0x5501_0203_4000 * n,
                lkey: 0x0019_0800 + i as u32,
                bytes: 4096 + i as u32,
            }
        }))
    }

    /// The message for the `n`th post.
    #[inline(always)]
    pub(crate) fn get(&self, n: u64) -> &Message {
        &self.0[(n % Self::COUNT) as usize]
    }
}

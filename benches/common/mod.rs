//! Code that the benchmarks share: queues of a device that completes at once, contestants, and their comparison.
//!
//! Every contestant has its own queue pair and completion queue, made by libibverbs and libmlx5 on the software device,
//! all of one size. Floors store into these rings by hand, this crate's queues are made over them, and libmlx5 uses
//! them itself. The device works only when it is told to (`softhca-run --sink`), so nothing else runs while the clock
//! does. [`contest`] describes the timed operations.
//!
//! **No figure from here is a NIC's.** Register pages of the software device are ordinary write-back memory. A real
//! register is device memory, mapped write-combining; these figures do not include the cost of a store to it, or of a
//! flush of it. Besides, nanoseconds drift with the machine's other work. Compare the ratio of one case to another,
//! measured in turns in one run of one program.

#![expect(dead_code, reason = "each benchmark uses its own part of this")]

pub(crate) mod clock;
pub(crate) mod cold;
pub(crate) mod contest;
pub(crate) mod cpus;
pub(crate) mod floor;
pub(crate) mod floor_cq;
pub(crate) mod floor_frames;
pub(crate) mod frames;
pub(crate) mod libmlx5;
pub(crate) mod many;
pub(crate) mod ours;
pub(crate) mod record;
pub(crate) mod rig;
pub(crate) mod rounds;
pub(crate) mod striding;

/// A message that the benchmarks post.
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

/// The only ones.
pub(crate) static MESSAGES: Messages = Messages::new();

impl Messages {
    const COUNT: u64 = 16;

    const fn new() -> Self {
        let mut messages =
            [Message { addr: 0, rkey: 0, payload: [0; 8], local: 0, lkey: 0, bytes: 0 }; Self::COUNT as usize];
        let mut i = 0;
        while i < messages.len() {
            let n = i as u64 + 1;
            messages[i] = Message {
                addr: 0x7f01_0203_0400 * n,
                rkey: 0x0018_0700 + i as u32,
                payload: (n * 0x0102_0304_0506_0708).to_ne_bytes(),
                local: 0x5501_0203_4000 * n,
                lkey: 0x0019_0800 + i as u32,
                bytes: 4096 + i as u32,
            };
            i += 1;
        }
        Self(messages)
    }

    /// The message for the `n`th post.
    #[inline(always)]
    pub(crate) fn get(&self, n: u64) -> &Message {
        &self.0[(n % Self::COUNT) as usize]
    }
}

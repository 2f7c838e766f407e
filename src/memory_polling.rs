//! Memory polling: waiting for a peer's WRITE by polling its last byte. It uses no completion and no receive: this
//! side's CPU only loads one byte again and again. It is the method of perftest's `ib_write_lat`.
//!
//! ```text
//!   peer                              this side
//!   wqe::write(slot).inline(message)  while !slot.arrived(flag) {}     the last byte is the flag
//!       message | flag        ----->  slot.read(0, &mut message)       then the bytes before it
//! ```
//!
//! This module knows no queue and no device, only memory that a device writes.
//!
//! # Which bytes are in order
//!
//! | this side sees | does it see this, too? | promised by |
//! |---|---|---|
//! | the completion of a SEND, or of a WRITE with immediate data | that message, and all WRITEs before it on the queue pair | IBTA: always |
//! | the result of an atomic | all WRITEs before it on the queue pair | IBTA; NVIDIA, "Out-of-Order Data Placement" |
//! | a WRITE with [`Fence::Strong`](crate::wqe::Fence::Strong) | all WRITEs before it on the queue pair: it begins when they are acknowledged | UCX `uct_rc_mlx5_iface_fence`, its flag for PUTs |
//! | the last byte of a WRITE | the bytes before it, of the same WRITE | `ibv_query_qp_data_in_order`, if it says so (`verbs::Qp::writes_in_order`) |
//! | the last byte of a WRITE | an earlier WRITE of the same queue pair | no promise |
//! | the last byte of a WRITE | a WRITE of another queue pair | no promise |
//!
//! InfiniBand by itself promises the first line only. This module relies on the second. It holds when
//! - **the NIC places the bytes of one message in ascending order**. mlx5 does as long as it takes packets in order. It
//!   does not with out-of-order data placement (adaptive routing; MLNX_OFED's variable
//!   `MLX5_RELAXED_PACKET_ORDERING_ON`). NVIDIA's documentation says that a WRITE's buffer is then valid only after a
//!   completion or a later atomic;
//! - **PCIe keeps the order of the writes**. The memory is registered without `IBV_ACCESS_RELAXED_ORDERING`
//!   (`verbs::Access::RELAXED_ORDERING`; `ibv_reg_mr(3)`: "writes … reach memory in an arbitrary order"). The firmware
//!   is not configured to relax all writes (`PCI_WR_ORDERING` of `mlxconfig`, in tuning guides for AMD EPYC). perftest
//!   clears the flag for `ib_write_lat` for this reason (`src/write_lat.c`, `disable_pcir`). UCX sets the flag on AMD
//!   EPYC (`src/ucs/arch/cpu.h`, `ucs_cpu_model_prefer_relaxed_order`): do not poll memory that UCX has registered;
//! - **the CPU's side of PCIe keeps it**. libibverbs assumes so on x86. It answers "no" on every other CPU, "since most
//!   non-x86 platforms are known to be" out of order (rdma-core `libibverbs/verbs.c`, `ibv_query_qp_data_in_order`). No
//!   CPU barrier can restore an order that the bus has changed;
//! - **the CPU loads the flag first**. [`PolledMemory::arrived`] puts [`from_device`](crate::arch::from_device) behind
//!   the load that saw the flag, as polling a CQE does. On x86 that stops the compiler only; on aarch64 it is
//!   `dmb oshld`.
//!
//! `ibv_query_qp_data_in_order(3)` answers for the first and the third of these, for one queue pair in RTS. "No" means
//! "not promised"; some devices and kernels answer "no" although it works. Without that promise, there is no
//! [`InOrder`]. Then use a row of the table that holds always, such as WRITE with immediate data. Or put a checksum into
//! the message, or rely on measurements of the machine, as perftest does ([`InOrder::assumed`]).
//!
//! `softhca-run --faults place=500` places half of the packets of WRITEs after later ones. Programs that rely on an
//! order which nobody promises fail there.
//!
//! All of this applies to a CPU that reads ordinary memory. It does not cover the memory of a GPU or persistence.
//!
//! # The protocol
//!
//! - The flag of a message differs from the flag before it, and from the memory's first contents: use a counter, as in
//!   `ib_write_lat`. The memory registered for the peer starts cleared, and the first flag is 1.
//! - The peer does not write the next message to the same place before it knows that this one was read: it waits for
//!   an answer, or uses a ring of places in turn.
//! - Message and flag are one WRITE.
//!
//! ```
//! # use core::{num::NonZeroUsize, ptr::NonNull};
//! use blueflame::memory_polling::PolledMemory;
//!
//! # let mut memory = [0_u8; 64];
//! # memory[63] = 1;
//! # let registered = NonNull::from(&mut memory).cast::<u8>();
//! // SAFETY: 64 bytes that stay, which a device writes and nobody else.
//! let place = unsafe { PolledMemory::from_raw(registered, NonZeroUsize::new(64).unwrap()) };
//! let flag = 1;
//! while !place.arrived(flag) {
//!     core::hint::spin_loop();
//! }
//! let mut message = [0; 63];
//! place.read(0, &mut message)?;
//! # Ok::<(), blueflame::memory_polling::OutsideMessage>(())
//! ```
use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroUsize;
use core::ptr::NonNull;

use crate::arch;
use crate::shared_copy::copy_out;

/// A promise about a queue pair: the bytes of each of its peer's WRITEs become visible in ascending order, so the last
/// byte announces the others. `verbs::Buffer::polled` asks for it. `verbs::Qp::writes_in_order` gives it, if the device
/// promises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InOrder(());

impl InOrder {
    /// The device has promised it.
    #[cfg(feature = "verbs")]
    pub(crate) const fn promised() -> Self {
        Self(())
    }

    /// You assume it: you have measured this machine, as perftest does, or something else tells whether the message is
    /// whole, for example a checksum in it.
    #[must_use]
    pub const fn assumed() -> Self {
        Self(())
    }
}

/// A place in memory where a peer's messages of one length arrive. The last byte of each message is a flag.
///
/// `verbs::Buffer::polled` makes it of registered memory, [`from_raw`](Self::from_raw) of any memory. It borrows the
/// memory, and any number of them may look at the same bytes.
#[derive(Clone, Copy)]
pub struct PolledMemory<'m> {
    start: NonNull<u8>,
    /// Bytes before the flag.
    payload: usize,
    memory: PhantomData<&'m ()>,
}

// SAFETY: loads of memory that `from_raw` was promised; a device may write it at any time anyway.
unsafe impl Send for PolledMemory<'_> {}
// SAFETY: only loads of memory, which any number of threads may do at once.
unsafe impl Sync for PolledMemory<'_> {}

impl<'m> PolledMemory<'m> {
    /// The `len` bytes at `start`, of which the last is the flag.
    ///
    /// # Safety
    /// For `'m` they are valid for reads, and written by devices or by atomic stores only: no reference to them is
    /// written through.
    #[must_use]
    pub const unsafe fn from_raw(start: NonNull<u8>, len: NonZeroUsize) -> Self {
        Self { start, payload: len.get() - 1, memory: PhantomData }
    }

    /// Bytes of a message, the flag not counted.
    #[must_use]
    pub const fn payload_len(&self) -> usize {
        self.payload
    }

    /// The last byte as it is now. It says nothing about the bytes before it; use [`arrived`](Self::arrived) for them.
    #[inline(always)]
    #[must_use]
    pub fn flag(&self) -> u8 {
        // SAFETY: `from_raw` was promised one more byte than the payload has; volatile, for a device writes it.
        unsafe { self.start.add(self.payload).read_volatile() }
    }

    /// Whether the message with this flag has arrived. If so, loads after this call see that message, within the
    /// limits that the [module](self#which-bytes-are-in-order) states. It costs one load and one comparison, and the
    /// barrier only if the message has arrived.
    #[inline(always)]
    #[must_use]
    pub fn arrived(&self, flag: u8) -> bool {
        if self.flag() != flag {
            return false;
        }
        arch::from_device();
        true
    }

    /// Copies the message's bytes from `offset` on into `out`. It loads each byte once. So bytes that you have checked
    /// in `out` do not change, even if the device writes to the memory meanwhile.
    ///
    /// # Errors
    /// [`OutsideMessage`] if the range leaves the message; the flag is not part of it. `out` is then unchanged.
    #[inline]
    pub fn read(&self, offset: usize, out: &mut [u8]) -> Result<(), OutsideMessage> {
        if offset > self.payload || out.len() > self.payload - offset {
            return Err(OutsideMessage { offset, len: out.len(), payload_len: self.payload });
        }
        // SAFETY: inside of the message; `out` is a reference, which no device writes.
        unsafe { copy_out(self.start.as_ptr().wrapping_add(offset), out) };
        Ok(())
    }
}

/// [`PolledMemory::read`] was asked for bytes outside the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutsideMessage {
    /// The first byte asked for.
    pub offset: usize,
    /// Bytes asked for.
    pub len: usize,
    /// Bytes of a message ([`PolledMemory::payload_len`]).
    pub payload_len: usize,
}

impl fmt::Display for OutsideMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes from {} of a message of {}", self.len, self.offset, self.payload_len)
    }
}

impl core::error::Error for OutsideMessage {}

impl fmt::Debug for PolledMemory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolledMemory").field("start", &self.start).field("payload", &self.payload).finish()
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};
    use std::string::ToString;
    use std::thread;
    use std::vec;

    use super::*;

    fn of(memory: &[AtomicU8]) -> PolledMemory<'_> {
        let len = NonZeroUsize::new(memory.len()).expect("not empty");
        // SAFETY: atomics, borrowed for as long, and stored to as such.
        unsafe { PolledMemory::from_raw(NonNull::from(memory).cast(), len) }
    }

    fn memory<const N: usize>() -> [AtomicU8; N] {
        core::array::from_fn(|_| AtomicU8::new(0))
    }

    #[test]
    fn the_flag_is_the_last_byte_and_not_the_messages() {
        let memory = memory::<8>();
        let place = of(&memory);
        assert_eq!((place.payload_len(), place.flag(), place.arrived(1)), (7, 0, false));
        for (i, byte) in memory.iter().enumerate() {
            byte.store(i as u8 + 10, Ordering::Relaxed);
        }
        assert!(place.arrived(17) && !place.arrived(16));
        let mut out = [0; 3];
        place.read(4, &mut out).expect("three bytes from the fifth of seven");
        assert_eq!(out, [14, 15, 16]);
        place.read(7, &mut []).expect("none");
    }

    #[test]
    fn what_is_outside_of_the_message_is_refused() {
        let memory = memory::<8>();
        for (offset, len) in [(4, 4), (8, 0), (0, 8), (usize::MAX, 2)] {
            let mut out = vec![0xa5; len];
            let error = OutsideMessage { offset, len, payload_len: 7 };
            assert_eq!(of(&memory).read(offset, &mut out), Err(error));
            assert_eq!(out, vec![0xa5; len]);
        }
        assert_eq!(
            of(&memory).read(4, &mut [0; 4]).expect_err("the flag").to_string(),
            "4 bytes from 4 of a message of 7"
        );
    }

    #[test]
    fn another_thread_plays_the_device() {
        let memory = memory::<33>();
        let place = of(&memory);
        let answered = AtomicU32::new(0);
        let flag_of = |round: u32| (round % 255) as u8 + 1;
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..5000 {
                    while answered.load(Ordering::Acquire) != round {
                        thread::yield_now();
                    }
                    memory[..32].iter().for_each(|byte| byte.store(flag_of(round) ^ 0x5a, Ordering::Relaxed));
                    memory[32].store(flag_of(round), Ordering::Release);
                }
            });
            for round in 0..5000 {
                while !place.arrived(flag_of(round)) {
                    thread::yield_now();
                }
                let mut message = [0; 32];
                place.read(0, &mut message).expect("all of it");
                assert_eq!(message, [flag_of(round) ^ 0x5a; 32]);
                answered.store(round + 1, Ordering::Release);
            }
        });
    }
}

//! A word of memory that a WAIT compares with a value. Knows no queue.
use crate::layout::{Be32, Be64};
use crate::types::Lkey;
use crate::wqe::cross_channel::clock::WaitError;
use crate::wqe::data::Named;
use crate::wqe::request::Request;
use crate::wqe::seg::{CompletionMode, WaitSeg, WaitValueSeg};
use crate::wqe::table::WaitData;

/// Comparisons of the request's value with the word, in this order (DPDK `drivers/common/mlx5/mlx5_prm.h`,
/// `MLX5_WAIT_COND_*`). NVIDIA's ldo waits for at least a threshold by an inverted `BIGGER` (`ldo_dev_hangup_trigger`).
const EQUAL: u32 = 1;
const BIGGER: u32 = 2;
const SMALLER: u32 = 3;
/// Waits until the comparison does not hold.
const INVERT: u32 = 0x10;

/// Bytes of the word, and its alignment (UCC `src/components/tl/mlx5/tl_mlx5_wqe.c`, `ucc_tl_mlx5_post_wait_on_data`;
/// NVIDIA's post-wait-on-data-wqe `src/post_wod_wqe.c`, `post_wod_wqe`).
const WORD_BYTES: u64 = 8;

/// The condition on a word of memory that ends a WAIT. The word is a big-endian number of 64 bits. If the CPU stores it
/// in its own order, give values and [`bits`](Self::bits) as [`u64::to_be`] has them; of such a word, only
/// [`equals`](Self::equals) and [`differs`](Self::differs) make sense on a little-endian CPU.
///
/// The device also has cyclic comparisons. They are missing here, because sources differ: DPDK's clock compares by the
/// distance, but NVIDIA's post-wait-on-data-wqe says "signed" (`include/post_wod_wqe.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordCondition {
    operation: u32,
    value: u64,
    mask: u64,
}

impl WordCondition {
    const fn of(operation: u32, value: u64) -> Self {
        Self { operation, value, mask: u64::MAX }
    }

    /// The word is `value`.
    #[must_use]
    pub const fn equals(value: u64) -> Self {
        Self::of(EQUAL, value)
    }

    /// The word is not `value`.
    #[must_use]
    pub const fn differs(value: u64) -> Self {
        Self::of(EQUAL | INVERT, value)
    }

    /// The word is less than `value`, unsigned.
    #[must_use]
    pub const fn is_less_than(value: u64) -> Self {
        Self::of(BIGGER, value)
    }

    /// The word is `value` or more, unsigned.
    #[must_use]
    pub const fn is_at_least(value: u64) -> Self {
        Self::of(BIGGER | INVERT, value)
    }

    /// The word is more than `value`, unsigned.
    #[must_use]
    pub const fn is_more_than(value: u64) -> Self {
        Self::of(SMALLER, value)
    }

    /// The word is `value` or less, unsigned.
    #[must_use]
    pub const fn is_at_most(value: u64) -> Self {
        Self::of(SMALLER | INVERT, value)
    }

    /// The same condition on these bits of the word and of the value alone; the others count as 0.
    #[must_use]
    pub const fn bits(self, mask: u64) -> Self {
        Self { mask, ..self }
    }
}

/// Waits until the 8 bytes at `addr`, behind the key `lkey` of this side, meet the condition. The requests behind this
/// one do not begin before that. `addr` is a multiple of 8. The request names memory: post it by the `unsafe` methods.
///
/// Anyone may write the word: this CPU, a peer by WRITE or atomic, or another device. Give the first request behind
/// this one a [`Fence`](crate::wqe::Fence), as UCC does (`test/gtest/tl/mlx5/test_tl_mlx5_wqe.cc`, `waitOnDataWqe`).
/// Memory behind a key without the right to be read, or no longer registered, fails the request.
///
/// Devices that support it report it (`cmd_hca_cap.wait_on_data`, ConnectX-7 and later; `Context::wait_on_data` of
/// `blueflame-devx` asks). Others fail the request. The queue pair need not be a master. The public sources are those
/// of UCC (`src/components/tl/mlx5/tl_mlx5_wqe.c`, `ucc_tl_mlx5_post_wait_on_data`) and NVIDIA's post-wait-on-data-wqe
/// (`src/post_wod_wqe.c`), both on reliable connections.
///
/// It asks for no completion unless you request one, and has the mode
/// [`OnFirstError`](crate::wqe::CompletionMode::OnFirstError), as ldo gives it (`ldo_dev_activation_a2a_comp`).
///
/// ```
/// use blueflame::wqe::cross_channel::WordCondition;
/// use blueflame::wqe::{self, Fence};
/// use blueflame::{Remote, SendQueue, Sge, WrId, transport};
///
/// /// Sends a page when `counter` is at least 4, without a CPU in between.
/// fn send_when_complete(
///     sq: &mut SendQueue<transport::Rc>,
///     counter: Sge,
///     page: Sge,
///     to: Remote,
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     let wait = wqe::wait_for_word(counter.addr, counter.lkey, WordCondition::is_at_least(4))?;
///     let mut batch = sq.batch();
///     // SAFETY: both stay registered until the second request is done.
///     unsafe {
///         batch.push_unchecked(&wait)?;
///         batch.push_unchecked(&wqe::write(to).gather([page]).fence(Fence::SmallAndReads).signaled(WrId(1)))?;
///     }
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::wqe::{self, cross_channel::WordCondition};
/// # use blueflame::{Lkey, SendQueue, transport};
/// # fn wait(sq: &mut SendQueue<transport::Rc>, addr: u64, lkey: Lkey) {
/// let wait = wqe::wait_for_word(addr, lkey, WordCondition::equals(1)).unwrap();
/// let _ = sq.post(&wait); // it names memory
/// # }
/// ```
///
/// # Errors
/// [`WaitError::Misaligned`]: `addr` is not a multiple of 8.
#[doc(alias = "MLX5_OPC_MOD_WAIT_DATA")]
#[inline(always)]
pub fn wait_for_word(
    addr: u64,
    lkey: Lkey,
    until: WordCondition,
) -> Result<Request<'static, WaitData, Named>, WaitError> {
    // The lowest bits of the address are the action while the condition does not hold: 0 waits.
    if addr % WORD_BYTES != 0 {
        return Err(WaitError::misaligned(addr, WORD_BYTES));
    }
    let WordCondition { operation, value, mask } = until;
    let segment = WaitSeg { operation: Be32::new(operation), lkey: Be32::new(lkey.0), va: Be64::new(addr) };
    let operands = WaitValueSeg { value: Be64::new(value), mask: Be64::new(mask) };
    Ok(Request::new([segment.into(), operands.into()]).completion(CompletionMode::OnFirstError))
}

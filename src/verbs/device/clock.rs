//! The device's clock, and the page by which the kernel relates its cycles to the time.

use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering, fence};
use core::time::Duration;
use std::sync::Arc;

use blueflame_sys as sys;
use memmap2::{MmapOptions, MmapRaw};

use crate::cq::cqe::ClockInfo;
use crate::verbs::device::open::{Context, query_mlx5};
use crate::verbs::error::{failed, in_range};
use crate::verbs::{Device, Error};

/// The shift of the clock's page, in errors.
const SHIFT: &str = "shift of the clock's page";
/// The error where the kernel does not map the device's clock to this process.
pub(in crate::verbs) const NOT_MAPPED: Error =
    Error::Unsupported { what: "reading the device's clock in this process" };
/// How the page is named when it is mapped (`MLX5_IB_MMAP_CLOCK_INFO`, version 1; libmlx5 `mlx5.c`,
/// `mlx5_map_clock_info`): bits 15:8 of the offset in pages.
const MMAP_COMMAND: u64 = 7;
const MMAP_COMMAND_SHIFT: u32 = 8;
/// Where the real time is, in words behind the counter: both are in the page of the initialization segment that the
/// kernel maps (Linux `include/linux/mlx5/device.h`, `struct mlx5_init_seg`, `internal_timer_h` and `real_time_h`).
const REAL_TIME: usize = 16;
/// `struct mlx5_ib_clock_info` (Linux `include/uapi/rdma/mlx5-abi.h`) as 32-bit words of this machine's byte order.
const WORDS: usize = 14;
/// The word that tells of changes: odd while the kernel writes, and another after.
const SIGN: usize = 0;
/// `MLX5_IB_CLOCK_INFO_KERNEL_UPDATING`.
const UPDATING: u32 = 1;
/// How many times to read a page that changes during the read. The kernel writes a few words, with a lock that nothing
/// interrupts.
const ATTEMPTS: u32 = 1000;

/// A device's clock: it converts the timestamps of completions to times. Reading it takes a few loads and no system
/// call.
///
/// ```no_run
/// # use blueflame::verbs::{Device, OwnedCq};
/// # fn times(device: &Device, cq: &mut OwnedCq) -> Result<(), Box<dyn std::error::Error>> {
/// let clock = device.clock()?;
/// // Good for `clock.update_period()` at least: for all completions of this poll.
/// let info = clock.info()?;
/// cq.poll_with(16, |cqe| println!("{} ns since 1970", info.nanoseconds(cqe.timestamp())));
/// # Ok(())
/// # }
/// ```
///
/// Use it for completions of queues with free-running timestamps. Timestamps of
/// [`real_time`](crate::verbs::CqBuilder::real_time) queues already contain the time:
/// [`real_time_nanoseconds`](crate::cq::cqe::real_time_nanoseconds).
#[doc(alias = "mlx5dv_get_clock_info")]
pub struct Clock {
    page: MmapRaw,
    /// The clock itself: 64 bits, big endian, in a page that libmlx5 has mapped.
    counter: Option<NonNull<u32>>,
    update_period: Duration,
    /// Whether completions can have real time.
    pub(in crate::verbs) has_real_time: bool,
    pub(in crate::verbs) context: Arc<Context>,
}

// SAFETY: both pages are only read, by atomic and volatile loads, and mapped as long as this lives.
unsafe impl Send for Clock {}
// SAFETY: both pages are only read, by atomic and volatile loads, which any number of threads may do.
unsafe impl Sync for Clock {}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("info", &self.info()).field("cycles", &self.cycles()).finish_non_exhaustive()
    }
}

/// The clock of a queue's timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timestamps {
    /// Cycles: of queues that complete to a [`free_running`](crate::verbs::CqBuilder::free_running) queue.
    FreeRunning,
    /// Seconds and nanoseconds: of queues that complete to a [`real_time`](crate::verbs::CqBuilder::real_time) queue.
    RealTime,
}

impl Device {
    /// The device's clock: maps the page by which the kernel tells the time.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where there is no such page, as on functions whose clock the kernel does not keep; a
    /// failed call.
    pub fn clock(&self) -> Result<Clock, Error> {
        let context = &self.context;
        // SAFETY: the device is open, and libmlx5's.
        let mlx5 = unsafe { query_mlx5(context.raw()) }?;
        if mlx5.comp_mask & sys::MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE == 0 {
            return Err(Error::Unsupported { what: "the time of the device's clock" });
        }
        let mapped = mlx5.comp_mask & sys::MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK != 0;
        // SAFETY: plain call.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page_bytes = usize::try_from(page_bytes).unwrap_or(4096);
        let offset = (MMAP_COMMAND << MMAP_COMMAND_SHIFT) * page_bytes as u64;
        // SAFETY: the context is open; its descriptor is written once.
        let descriptor = unsafe { (*context.raw()).cmd_fd };
        let page = MmapOptions::new()
            .offset(offset)
            .len(page_bytes)
            .map_raw_read_only(descriptor)
            .map_err(|error| Error::from(failed("mmap of the clock's page", &error)))?;
        Ok(Clock {
            page,
            counter: NonNull::new(mlx5.hca_core_clock.cast()).filter(|_| mapped),
            update_period: Duration::from_nanos(mlx5.max_clock_info_update_nsec),
            has_real_time: mlx5.flags & sys::MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS != 0,
            context: Arc::clone(context),
        })
    }
}

impl Clock {
    /// The kernel's latest parameters for converting timestamps to times.
    ///
    /// # Errors
    /// [`Error::ClockUpdating`], after a bounded number of loads. [`Error::OutOfRange`]: the page has a shift that is
    /// too large for 64 bits.
    #[inline]
    pub fn info(&self) -> Result<ClockInfo, Error> {
        let page = self.page.as_mut_ptr().cast::<u32>();
        read(|word| {
            // SAFETY: the page has more words, is aligned, and mapped as long as `self`; its writer stores words, too.
            // It is mapped for reading only, where only relaxed loads are sure to be loads (`core::sync::atomic`,
            // "Atomic accesses to read-only memory").
            let loaded = unsafe { AtomicU32::from_ptr(page.add(word)) }.load(Ordering::Relaxed);
            fence(Ordering::Acquire);
            loaded
        })
    }

    /// How long an [`info`](Self::info) is good for, at least (`overflow_period`, which `mlx5dv_query_device` calls
    /// `max_clock_info_update_nsec`).
    #[must_use]
    pub fn update_period(&self) -> Duration {
        self.update_period
    }

    /// The clock's current value, in the form of timestamps: a load from the device, over PCIe. `None` where the kernel
    /// does not map it (`ibv_query_rt_values_ex`).
    #[doc(alias = "ibv_query_rt_values_ex")]
    #[must_use]
    pub fn cycles(&self) -> Option<u64> {
        self.register(0)
    }

    /// The device's real time, in the form of [`real_time`](crate::verbs::CqBuilder::real_time) timestamps.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the kernel does not map the clock; [`Error::NoRealTime`].
    pub fn real_time(&self) -> Result<u64, Error> {
        match self.register(REAL_TIME).ok_or(NOT_MAPPED)? {
            0 => Err(Error::NoRealTime),
            time => Ok(time),
        }
    }

    /// Two words of the page of registers, `at` words behind the counter.
    fn register(&self, at: usize) -> Option<u64> {
        let counter = self.counter?;
        // SAFETY: libmlx5's mapping, as long as the context is open, of a page that begins with the counter; volatile:
        // these are registers.
        let word = |n| u32::from_be(unsafe { counter.add(at + n).read_volatile() });
        // libmlx5 reads it this way, too (`mlx5_read_clock`): if the upper half advanced meanwhile, the lower one may
        // belong to either value.
        let (mut high, mut low, again) = (word(0), word(1), word(0));
        if high != again {
            (high, low) = (again, word(1));
        }
        Some(u64::from(high) << 32 | u64::from(low))
    }

    /// The time now, by the device: [`cycles`](Self::cycles) by [`info`](Self::info).
    ///
    /// # Errors
    /// As [`Self::info`]. `Ok(None)` where the clock is not mapped.
    pub fn now(&self) -> Result<Option<u64>, Error> {
        let info = self.info()?;
        Ok(self.cycles().map(|cycles| info.nanoseconds(cycles)))
    }
}

/// Reads a page until the read is consistent. `load` loads a word, and its fence keeps the words in order.
///
/// rdma-core's `_mlx5dv_get_clock_info` (`providers/mlx5/mlx5.c`) does the same, and does not end if the sign keeps
/// changing.
#[inline]
fn read(load: impl Fn(usize) -> u32) -> Result<ClockInfo, Error> {
    for _ in 0..ATTEMPTS {
        let sign = load(SIGN);
        if sign & UPDATING == 0 {
            let words: [u32; WORDS] = core::array::from_fn(&load);
            if load(SIGN) == sign {
                return info(&words);
            }
        }
        core::hint::spin_loop();
    }
    Err(Error::ClockUpdating { attempts: ATTEMPTS })
}

/// Decodes a whole page: after the sign and a reserved word come `nsec`, `cycles`, `frac`, `mult`, `shift`, `mask`.
fn info(words: &[u32; WORDS]) -> Result<ClockInfo, Error> {
    let wide = |at: usize| {
        let [a, b] = [words[at], words[at + 1]].map(u32::to_ne_bytes);
        u64::from_ne_bytes([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]])
    };
    let shift = words[9];
    in_range(SHIFT, shift.into(), 0..=63)?;
    Ok(ClockInfo { nsec: wide(2), last_cycles: wide(4), frac: wide(6), mult: words[8], shift, mask: wide(10) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::{Cell, RefCell};
    use proptest::prelude::*;

    /// A page that says `n` wherever it can.
    fn page(sign: u32, n: u32) -> [u32; WORDS] {
        let mut words = [n; WORDS];
        words[SIGN] = sign;
        words
    }

    fn is_whole(info: ClockInfo) -> bool {
        let n = info.mult;
        let wide = u64::from(n) << 32 | u64::from(n);
        info == ClockInfo { nsec: wide, last_cycles: wide, frac: wide, mult: n, shift: n, mask: wide }
    }

    /// A writer that does `steps` of its stores between any two loads, from load `first` on, as often as it likes.
    fn against_a_writer(first: usize, steps: usize, updates: u32) -> Result<ClockInfo, Error> {
        let (loads, done) = (Cell::new(0), Cell::new(0));
        let page = RefCell::new(page(4, 1));
        read(|word| {
            if loads.replace(loads.get() + 1) >= first {
                for _ in 0..steps {
                    let step = done.replace(done.get() + 1);
                    let (update, at) = ((step / (WORDS + 1)) as u32, step % (WORDS + 1));
                    if update < updates {
                        let mut page = page.borrow_mut();
                        match at {
                            0 => page[SIGN] |= UPDATING,
                            WORDS => page[SIGN] += 1,
                            word => page[word] = 2 + update % 50,
                        }
                    }
                }
            }
            page.borrow()[word]
        })
    }

    #[test]
    fn what_is_torn_is_read_again() {
        for first in 0..40 {
            for steps in 1..=2 * WORDS {
                let info = against_a_writer(first, steps, 3).expect("it ends");
                assert!(is_whole(info), "from load {first}, {steps} steps: {info:?}");
            }
        }
    }

    #[test]
    fn a_page_that_never_stays_is_an_error() {
        for steps in [1, 3, 7, WORDS + 1] {
            assert_eq!(
                against_a_writer(0, steps, u32::MAX),
                Err(Error::ClockUpdating { attempts: ATTEMPTS }),
                "{steps}"
            );
        }
        assert_eq!(read(|word| page(5, 1)[word]), Err(Error::ClockUpdating { attempts: ATTEMPTS }));
        assert_eq!(read(|word| page(2, 64)[word]), Err(Error::OutOfRange { what: SHIFT, value: 64, min: 0, max: 63 }));
        assert_eq!(read(|word| page(2, 63)[word]).map(|info| info.shift), Ok(63));
    }

    proptest! {
        #[test]
        fn any_page_gives_times_or_an_error(words: [u32; WORDS], shift in prop_oneof![0_u32..70, any::<u32>()], stamp: u64) {
            let mut words = words;
            words[9] = shift;
            let found = read(|word| words[word]);
            if words[SIGN] & UPDATING != 0 {
                prop_assert_eq!(found, Err(Error::ClockUpdating { attempts: ATTEMPTS }));
            } else if shift > 63 {
                prop_assert_eq!(found, Err(Error::OutOfRange { what: SHIFT, value: shift.into(), min: 0, max: 63 }));
            } else {
                // Any time, in bounded work.
                let _ = found.expect("a whole page").nanoseconds(stamp);
            }
        }
    }
}

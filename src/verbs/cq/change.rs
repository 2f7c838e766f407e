//! Changes of completion queues in use: their size, and when they send events.

use core::ptr::NonNull;

use blueflame_sys as sys;
use memmap2::{Advice, MmapMut, MmapOptions};

use crate::cq::CompletionQueue;
use crate::cq::mode::PollMode;
use crate::cq::setup::mark_unwritten;
use crate::verbs::cq::queue::{Cq, Moved, OBJECT, OwnedCq};
use crate::verbs::cq::resize;
use crate::verbs::error::{failed, in_range, zero};
use crate::verbs::event::event;
use crate::verbs::{CallError, Error};

/// The largest `cqc.cq_period`, in microseconds (Linux `include/linux/mlx5/cq.h`, `MLX5_MAX_CQ_PERIOD`).
const MAX_PERIOD: u64 = 0xfff;
/// The most CQEs to ask for: one less than those of the largest ring, half of the values of a 24-bit consumer index.
/// Below it, the bytes of a ring fit in 32 bits. The device may say a larger number.
const MAX_CQES: u32 = (1 << 23) - 1;
/// `IBV_CQ_ATTR_MODERATE`.
const ATTR_MODERATE: u32 = 1;

/// An unwritten ring.
fn ring(cqes: u32, cqe_bytes: u32) -> Result<MmapMut, CallError> {
    let bytes = cqes as usize * cqe_bytes as usize;
    let mut memory = MmapOptions::new().len(bytes).map_anon().map_err(|error| failed("mmap", &error))?;
    // A child that writes a page must not leave this process with the copy. `Area` does the same with rings.
    memory.advise(Advice::DontFork).map_err(|error| failed("madvise", &error))?;
    // SAFETY: as many bytes were just mapped, for nobody else.
    unsafe { mark_unwritten(start(&mut memory), cqes, cqe_bytes) };
    Ok(memory)
}

fn start(memory: &mut MmapMut) -> NonNull<u8> {
    // SAFETY: a mapping is not at address 0.
    unsafe { NonNull::new_unchecked(memory.as_mut_ptr()) }
}

impl<M: PollMode<Compression = ()>> OwnedCq<M> {
    /// Changes the queue's room to at least `cqes` completions, more or fewer than before, but not fewer than its
    /// queues may have waiting. Queue pairs may complete there meanwhile. Unpolled completions stay. The new ring lies
    /// in pages of this process, wherever the old one was.
    ///
    /// ```no_run
    /// # use blueflame::verbs::{Device, Error};
    /// # fn grow(device: &Device) -> Result<(), Error> {
    /// let mut cq = device.completion_queue(100).build()?;
    /// assert_eq!(cq.capacity(), 128);
    /// cq.resize(1000)?;
    /// assert_eq!(cq.capacity(), 1024);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It uses the command of `ibv_resize_cq`, but for a queue that this crate polls. A queue of compressed completions
    /// cannot be resized; the types rule it out.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::MixedUp`]; [`Error::CqRoom`]; [`Error::Unsupported`] for an adopted queue, and
    /// on devices (`cq_resize`) and kernels (before 5.0) that cannot resize; a failed call, for example when more
    /// completions wait than the new room holds. In these cases nothing has changed. [`Error::Parts`] if the device has
    /// not moved to the new ring as it should: completions are lost, and the queue keeps both rings.
    #[doc(alias = "ibv_resize_cq")]
    pub fn resize(&mut self, cqes: u32) -> Result<(), Error> {
        const WHAT: &str = "resizing the completion queue";
        if !self.is_whole() {
            return Err(Error::MixedUp { object: OBJECT });
        }
        let cq = self.handle().clone();
        let Some(context) = cq.context() else { return Err(Error::Unsupported { what: "resizing an adopted queue" }) };
        in_range("CQEs", cqes.into(), 1..=context.attr().max_cqe.min(MAX_CQES).into())?;
        let cqes = (cqes + 1).next_power_of_two();
        if cqes == self.capacity() {
            return Ok(());
        }
        // A smaller room counts before the device moves, a larger one after. One place stays free.
        let resize = |room| cq.room().resize(room).map_err(|error| cq.too_small(error));
        resize(self.room().min(cqes - 1))?;
        let result = cq.moves(|parts| {
            let mut memory = ring(cqes, parts.cqe_size)?;
            let buf = start(&mut memory);
            // Before the device moves there: it does not move back.
            self.check_ring(buf, cqes).map_err(|error| Error::Parts { object: OBJECT, why: error.to_string() })?;
            // SAFETY: the queue is alive, and of libmlx5; the memory is its handle's until it is destroyed, or moves
            // again.
            let moved = unsafe { resize::resize_cq(cq.as_raw(), buf.as_ptr(), cqes, parts.cqe_size as u16) };
            let made = moved.map_err(|error| Error::from(error).unsupported(WHAT))?;
            // SAFETY: the queue is whole, and the handle gets the new ring. The handle keeps the old one, too, if this
            // fails.
            let carried = unsafe {
                // SAFETY: the device writes there from now on, as the command says; the old ring is there as long as
                // the handle has it.
                self.change_ring(|queue: &mut CompletionQueue<M>| queue.carry_over(buf, cqes))
            };
            event!(DEBUG, "completion queue resized", cqn = cq.cqn().get(), cqes, made, carried = ?carried);
            let result = match carried {
                Ok(_) if made == cqes => Ok(()),
                Ok(_) => Err(format!("a ring of {made} CQEs instead of {cqes}")),
                Err(error) => Err(error.to_string()),
            };
            let result = result.map_err(|why| Error::Parts { object: OBJECT, why });
            Ok(Moved { buf, cqe_cnt: cqes, memory, result })
        });
        // The room of whichever ring the queue is in now.
        resize(self.room())?;
        result
    }
}

impl Cq {
    /// From now on, an event waits for `completions` since the one before, or for `microseconds` (4095 at most;
    /// `ibv_modify_cq`). Queues begin with 0 and 0. If either is 0, `softhca` does not hold events back. For a
    /// NIC, no public source has this case.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::Unsupported`] if the device cannot (`cq_moderation`); a failed call.
    #[doc(alias = "ibv_modify_cq")]
    pub fn set_moderation(&self, completions: u16, microseconds: u16) -> Result<(), Error> {
        in_range("microseconds of moderation", microseconds.into(), 0..=MAX_PERIOD)?;
        let moderate = sys::ibv_moderate_cq { cq_count: completions, cq_period: microseconds };
        let mut attr = sys::ibv_modify_cq_attr { attr_mask: ATTR_MODERATE, moderate };
        // SAFETY: the queue is alive; the attributes live until the call returns.
        let returned = unsafe { sys::ibv_modify_cq(self.as_raw(), &raw mut attr) };
        zero("ibv_modify_cq", returned).map_err(|error| Error::from(error).unsupported("moderation of events"))
    }
}

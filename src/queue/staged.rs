use super::put::Put;
use super::send::SendQueue;
use super::send_error::PostError;
use super::slot::Index;
use crate::arch::Packed;
use crate::db::Register;
use crate::transport::Transport;
use crate::types::{DS_BYTES, Wqebbs};
use crate::wqe::{LINE_UNITS, NoLocalMemory, WorkRequest};

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Puts a request that names no memory of this side into the ring, and does everything except ring the doorbell, so that
    /// only that is left at the critical moment: [`Staged::ring_doorbell`].
    ///
    /// ```
    /// # use blueflame::{Remote, db::Register, queue::{PostError, SendQueue}, transport, types::WrId, wqe};
    /// fn order<R: Register>(sq: &mut SendQueue<transport::Rc, R>, to: Remote, go: impl Fn() -> bool) -> Result<(), PostError> {
    ///     let shot = sq.stage(&wqe::write(to).inline(b"an order").signaled(WrId(1)))?;
    ///     while !go() {}
    ///     shot.ring_doorbell();
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    #[inline]
    pub fn stage<W: WorkRequest<T> + NoLocalMemory>(&mut self, request: &W) -> Result<Staged<'_, T, R>, PostError> {
        // SAFETY: the request names no memory.
        unsafe { self.stage_unchecked(request) }
    }

    /// Stages any request as [`stage`](Self::stage) does.
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    ///
    /// # Safety
    /// As for [`post_unchecked`](Self::post_unchecked), from the time the shot is rung.
    #[inline]
    pub unsafe fn stage_unchecked<W: WorkRequest<T>>(&mut self, request: &W) -> Result<Staged<'_, T, R>, PostError> {
        let start = self.index();
        let put = self.put(start, request)?;
        let one_block = put.wqebbs() == Wqebbs(1) && self.rings_by_blueflame(put);
        Ok(Staged { sq: self, start, end: start.add(put.wqebbs()), one_block, put })
    }
}

/// A request in the ring that only needs its doorbell. Dropping it takes it back.
#[derive(Debug)]
#[must_use = "a staged request that is dropped without `ring_doorbell` is not posted"]
pub struct Staged<'q, T: Transport, R: Register> {
    sq: &'q mut SendQueue<T, R>,
    start: Index,
    /// Index of the next WQEBB.
    end: Index,
    /// Whether the doorbell is one WQEBB.
    one_block: bool,
    put: Put,
}

impl<T: Transport, R: Register> Staged<'_, T, R> {
    /// Publishes the request and rings, by BlueFlame where [`post`](SendQueue::post) would.
    #[inline]
    pub fn ring_doorbell(self) {
        let Self { sq, start, end, one_block, put } = self;
        // SAFETY: put, then published, and `stage_unchecked`'s caller vouches for the memory it names.
        unsafe { sq.publish(end) };
        if one_block {
            let wqebb = sq.wqebb(sq.slot(start));
            // SAFETY: the four units of a WQEBB of the ring. Sixteen bytes at a time, as these stores are no longer on their
            // way.
            let line: [Packed; LINE_UNITS] =
                core::array::from_fn(|i| unsafe { Packed::load(wqebb.byte_add(i * DS_BYTES)) });
            // SAFETY: published; `one_block` says that the register has a block.
            sq.register().ring_doorbell(|half| unsafe { half.copy_packed(1, |_| line) });
        } else {
            // SAFETY: published, the only request, and starts at `start`.
            unsafe { sq.ring_other(start, put) };
        }
    }
}

use super::send::{Put, SendQueue};
use super::send_error::PostError;
use super::slot::Index;
use crate::arch::Packed;
use crate::db::Register;
use crate::types::{DS_BYTES, Wqebbs};
use crate::wqe::{LINE_UNITS, Transport, WorkRequest};

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Puts a request into the ring and stops just short of the doorbell, for a moment when only that shall be left to
    /// do: encoding, checks and the stores to the ring are done now, [`Staged::ring`] tells the device.
    ///
    /// ```
    /// # use blueflame::{db::Register, queue::{PostError, SendQueue}, types::WrId, wqe::{Rc, Remote, Write}};
    /// fn order<R: Register>(sq: &mut SendQueue<Rc, R>, to: Remote, go: impl Fn() -> bool) -> Result<(), PostError> {
    ///     // SAFETY: (inline data names no memory)
    ///     let shot = unsafe { sq.stage(&Write::to(to).inline(b"an order").signaled(WrId(1)))? };
    ///     while !go() {}
    ///     shot.ring();
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    ///
    /// # Safety
    /// As for [`post`](Self::post), from the time the shot is rung.
    #[inline]
    pub unsafe fn stage<W: WorkRequest<T>>(&mut self, request: &W) -> Result<Staged<'_, T, R>, PostError> {
        let pi = self.index();
        let put = self.put(pi, request)?;
        let line = self.line(put.slot());
        let one_block = put.wqebbs() == Wqebbs(1) && self.rings_by_blueflame(&put);
        Ok(Staged { line, end: pi.add(put.wqebbs()), one_block, put, sq: self })
    }

    /// A WQEBB read back from the ring.
    fn line(&self, slot: super::slot::Slot) -> [Packed; LINE_UNITS] {
        let place = self.wqebb(slot);
        // SAFETY: the four units of a WQEBB of the ring.
        core::array::from_fn(|i| unsafe { Packed::load(place.byte_add(i * DS_BYTES)) })
    }
}

/// A request in the ring that only needs its doorbell. Dropping it takes it back.
///
/// It is kept here, too, so that the copy to BlueFlame needs nothing of the ring. A request of more than one WQEBB is read
/// back from there.
#[derive(Debug)]
#[must_use = "a staged request that is dropped without `ring` is not posted"]
pub struct Staged<'q, T: Transport, R: Register> {
    sq: &'q mut SendQueue<T, R>,
    /// The first WQEBB.
    line: [Packed; LINE_UNITS],
    /// Index of the next WQEBB.
    end: Index,
    /// Whether the doorbell is `line`.
    one_block: bool,
    put: Put,
}

impl<T: Transport, R: Register> Staged<'_, T, R> {
    /// Publishes the request and rings, by BlueFlame where [`post`](SendQueue::post) would.
    #[inline]
    pub fn ring(self) {
        // SAFETY: put, then published, and `stage`'s caller vouches for the memory it names. `one_block` says that the
        // register has a block.
        unsafe {
            self.sq.publish(self.end);
            if self.one_block {
                self.sq.register().ring(|half| half.copy_packed(1, |_| self.line));
            } else {
                self.sq.ring_other(self.put);
            }
        }
    }
}

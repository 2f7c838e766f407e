//! Staged requests: in the ring before the moment when their doorbell is rung. Knows no operation.
use crate::arch::copy::BlockCopy;
use crate::arch::ds::HeldDs;
use crate::db::Register;
use crate::queue::send::error::PostError;
use crate::queue::send::place::{Index, WqeInRing};
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
use crate::types::{DS_BYTES, WQEBB_DS};
use crate::wqe::data::{Data, NoLocalMemory};
use crate::wqe::{Erased, Request, SupportedOn};

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Puts a request that names no memory of this side into the ring, and does everything except ring the doorbell.
    /// Only [`Staged::ring_doorbell`] is left at the critical moment.
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
    pub fn stage<O: SupportedOn<T>, D: NoLocalMemory>(
        &mut self,
        request: &Request<'_, O, D>,
    ) -> Result<Staged<'_, T, R>, PostError> {
        // SAFETY: the request names no memory.
        unsafe { self.stage_unchecked(request) }
    }

    /// Stages any request as [`stage`](Self::stage) does.
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    ///
    /// # Safety
    /// The conditions of [`post_unchecked`](Self::post_unchecked), from the time the shot is rung.
    #[inline]
    pub unsafe fn stage_unchecked<O: SupportedOn<T>, D: Data>(
        &mut self,
        request: &Request<'_, O, D>,
    ) -> Result<Staged<'_, T, R>, PostError> {
        let () = O::FITS;
        let start = self.pi;
        self.put_request(start, request, |sq, wqe| Staged::new(sq, start, wqe))
    }

    /// Stages any request that was chosen at run time.
    ///
    /// # Errors
    /// The errors of [`post_erased`](Self::post_erased), except those about memory.
    ///
    /// # Safety
    /// As for [`stage_unchecked`](Self::stage_unchecked).
    #[inline]
    pub unsafe fn stage_erased_unchecked(&mut self, request: &Erased<'_>) -> Result<Staged<'_, T, R>, PostError> {
        if !request.is_supported_on::<T>() {
            return Err(PostError::NotSupported);
        }
        let start = self.pi;
        let wqe = self.put_long(start, &request.untyped, request.shape)?;
        Ok(Staged::new(self, start, wqe))
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
    /// Whether the doorbell is a BlueFlame copy of one WQEBB: found out before the critical moment.
    one_wqebb: bool,
    wqe: WqeInRing,
}

impl<'q, T: Transport, R: Register> Staged<'q, T, R> {
    /// A request that lies in the ring at `start`.
    #[inline(always)]
    fn new(sq: &'q mut SendQueue<T, R>, start: Index, wqe: WqeInRing) -> Self {
        let one_wqebb = sq.blueflame.carry_one_in_ring(wqe);
        Self { sq, start, end: start.add(wqe.wqebbs()), one_wqebb, wqe }
    }

    /// Publishes the request and rings, by BlueFlame where [`post`](SendQueue::post) would.
    #[inline]
    pub fn ring_doorbell(self) {
        let Self { sq, start, end, one_wqebb, wqe } = self;
        // SAFETY: put, then published, and `stage_unchecked`'s caller vouches for the memory it names.
        unsafe { sq.publish(end) };
        if one_wqebb {
            let wqebb = sq.ring.wqebb(sq.ring.place(start));
            // SAFETY: the four DS of a WQEBB of the ring. The loads have sixteen bytes: a wide load of recent word
            // stores would wait until they reach the cache, but the request was staged before.
            let copied: [<R::Copy as BlockCopy>::Held; WQEBB_DS] =
                core::array::from_fn(|i| unsafe { HeldDs::load(wqebb.byte_add(i * DS_BYTES)) });
            // SAFETY: published; `one_wqebb` says that BlueFlame takes it.
            sq.register.ring_doorbell(|half| unsafe { half.copy_held(&copied) });
        } else {
            // SAFETY: published, the only request, and starts at `start`.
            unsafe { sq.ring_lone(start, wqe) };
        }
    }
}

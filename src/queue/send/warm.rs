//! Preparing the CPU for a request that comes at an unknown moment. Knows no operation.
use crate::arch;
use crate::db::Register;
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
use crate::types::Wqebbs;
use crate::wqe::data::Data;
use crate::wqe::{Request, SupportedOn};

/// Bytes of a cache line: 64 on x86-64 and on most AArch64 CPUs. Where lines are longer, some hints are repeated.
const LINE: usize = 64;

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Fetches what posting `request` next will use, and changes nothing: the lines and TLB entries of the ring, of the
    /// queue's records, of the doorbell record, and of the request or of its frame. The queue itself is read by this
    /// call.
    ///
    /// For queues that wait long between requests, while other work uses the caches. Call it now and then from the loop
    /// that waits for the signal. The instructions of the post and the predictions of its branches come only by
    /// executing it, on a [rehearsal](Self::rehearsal).
    ///
    /// ```
    /// use blueflame::queue::SendQueue;
    /// use blueflame::wqe::{Request, operations::Write};
    /// use blueflame::{PostError, db::Register, transport};
    ///
    /// fn wait_and_post<R: Register>(
    ///     sq: &mut SendQueue<transport::Rc, R>,
    ///     order: &Request<'static, Write>,
    ///     mut signal: impl FnMut() -> Option<[u8; 32]>,
    /// ) -> Result<(), PostError> {
    ///     loop {
    ///         if let Some(data) = signal() {
    ///             return sq.post(&order.inline(&data));
    ///         }
    ///         sq.warm(order);
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn warm<O: SupportedOn<T>, D: Data>(&self, request: &Request<'_, O, D>) {
        let mut at = self.pi;
        for _ in 0..request.wqebbs().0 {
            let place = self.ring.place(at);
            arch::prefetch_write(self.ring.wqebb(place).as_ptr());
            arch::prefetch_write(self.ring.record(place).as_ptr());
            at = at.add(Wqebbs(1));
        }
        arch::prefetch_write(self.doorbell_record.as_ptr());
        let (kept, bytes) = request.kept_at();
        for line in 0..bytes.div_ceil(LINE) {
            arch::prefetch_read(kept.wrapping_add(line * LINE));
        }
    }
}

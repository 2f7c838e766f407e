//! Preparing the CPU for a shot that comes at an unknown moment. Knows no operation.
use crate::arch;
use crate::db::Register;
use crate::queue::send::place::places::Places as _;
use crate::queue::send::queue::SendQueue;
use crate::queue::send::shot::Shot;
use crate::queue::send::template::Template;
use crate::transport::Transport;
use crate::types::Wqebbs;

/// Bytes of a cache line: 64 on x86-64 and on most AArch64 CPUs. Where lines are longer, some hints are repeated.
const LINE: usize = 64;

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Fetches what firing `shot` next will use, and changes nothing: the lines and TLB entries of the ring, of the
    /// queue's records, of the doorbell record and of the template. The queue itself is read by this call.
    ///
    /// For queues that wait long between shots, while other work uses the caches. Call it now and then from the loop
    /// that waits for the signal. The instructions of the shot and the predictions of its branches come only by
    /// executing it, on a [rehearsal](Self::rehearsal).
    ///
    /// ```
    /// use blueflame::queue::{SendQueue, Template};
    /// use blueflame::wqe::operations::Write;
    /// use blueflame::wqe::template::InlineLen;
    /// use blueflame::{PostError, db::Register, transport};
    ///
    /// fn wait_and_fire<R: Register>(
    ///     sq: &mut SendQueue<transport::Rc, R>,
    ///     order: &Template<Write, InlineLen<32>>,
    ///     mut signal: impl FnMut() -> Option<[u8; 32]>,
    /// ) -> Result<(), PostError> {
    ///     loop {
    ///         if let Some(data) = signal() {
    ///             return sq.fire(order, &data);
    ///         }
    ///         sq.warm(order);
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn warm<S: Shot>(&self, shot: &S) {
        let mut at = self.pi;
        for _ in 0..const { Template::<S::Operation, S::Payload>::DS.wqebbs().0 } {
            let place = self.place(at);
            arch::prefetch_write(self.wqebb(place).as_ptr());
            arch::prefetch_write(self.record(place).as_ptr());
            at = at.add(Wqebbs(1));
        }
        arch::prefetch_write(self.db.as_ptr());
        let template: *const Template<S::Operation, S::Payload> = shot.template();
        for line in 0..const { size_of::<Template<S::Operation, S::Payload>>().div_ceil(LINE) } {
            arch::prefetch_read(template.cast::<u8>().wrapping_add(line * LINE));
        }
    }
}

//! Going on with a queue where another program has left it. Knows requests by their size only.
use core::ptr::NonNull;

use volatile::VolatilePtr;

use crate::db::{DoorbellRecord, Register};
use crate::queue::send::parts::{SqParts, WqeRecord};
use crate::queue::send::place::Index;
use crate::queue::send::queue::SendQueue;
use crate::setup::SetupError;
use crate::transport::Transport;
use crate::types::{Ds, Qpn, SqPi, Wqebbs, WrId};
use crate::wqe::CtrlSeg;

/// The bits of a control segment's first word that say where the WQE lies: index and queue pair.
const WHERE: u64 = CtrlSeg::index(0xffff) | CtrlSeg::qpn(Qpn::truncate(Qpn::MAX));

impl SqParts {
    /// These parts, with the index that the doorbell record has: the end of what was posted. A WQE after it was not
    /// posted, even if its bytes lie in the ring.
    ///
    /// # Safety
    /// [`dbrec`](Self::dbrec) is the record of the send queue, two words valid for reads and aligned to 4 bytes.
    /// Nothing writes it meanwhile.
    #[must_use]
    pub unsafe fn recorded(self) -> Self {
        // SAFETY: the caller promises the record.
        let record = unsafe { DoorbellRecord::send(self.dbrec) };
        Self { pi: SqPi(record.load()), ..self }
    }
}

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Makes a queue of the parts of one that is in use: a program has posted to it, and has ended, perhaps in the
    /// middle of a post. Requests from `oldest` to `parts.pi` ([`SqParts::recorded`]) are outstanding. Their
    /// completions retire them, as if this queue had posted them.
    ///
    /// The other program's memory is gone, so the sizes of these requests come from the ring, and their identifiers are
    /// their indices: the [`WrId`] of each is the index of its first WQEBB, 0 to 65535. A multi-packet WQE counts as
    /// one frame.
    ///
    /// The doorbell is rung again, without BlueFlame: the other program may have stored the record and not rung. A
    /// device that has seen the requests finds nothing new in the record.
    ///
    /// An `oldest` that is too old does no harm: the next completion takes all requests before it back. Until then the
    /// queue has less room. If each request is one WQEBB and has a completion, which a completion queue of their own
    /// gets, then `oldest` is its consumer index ([`CqParts::recorded`](crate::cq::setup::CqParts::recorded)), plus the
    /// index of the first request.
    ///
    /// # Errors
    /// Parts that no send queue has. [`SetupError::OutOfRange`]: more WQEBBs are outstanding than the ring has.
    /// [`SetupError::NotAWqe`]: no WQE of this queue pair begins at an index where one must begin. The device has not
    /// been told anything then.
    ///
    /// # Safety
    /// The conditions of [`from_parts`](Self::from_parts) hold, except that requests are outstanding:
    /// - all requests before `oldest` have completed, and the device will not write another completion of them;
    /// - the memory that outstanding requests name stays registered and alive until they complete, and nothing else
    ///   uses it against [`post_unchecked`](Self::post_unchecked)'s conditions;
    /// - the program that has posted them does not run any more.
    pub unsafe fn resume(parts: SqParts, register: R, oldest: SqPi) -> Result<Self, SetupError> {
        // SAFETY: the caller promises it. That nothing is outstanding holds until `pi`, which goes back to `oldest`.
        let mut queue = unsafe { Self::from_parts(parts, register) }?;
        let (end, first) = (queue.pi, Index::new(oldest));
        let outstanding = end.since(first).0.into();
        let ring = queue.capacity().0.into();
        SetupError::check_range("outstanding WQEBBs of a send queue", outstanding, 0, ring)?;
        let mut next = first;
        let mut last_word = None;
        while next != end {
            let (word, wqebbs) = queue.found(next, end)?;
            let record = WqeRecord::of_frames(WrId(next.bits().into()), wqebbs, 1);
            // SAFETY: one of the shadow.
            unsafe { queue.ring.record(queue.ring.place(next)).write(record) };
            last_word = Some(word);
            next = next.add(wqebbs);
        }
        queue.end = first.add(queue.depth());
        if let Some(word) = last_word {
            // SAFETY: the WQEs before the record's index are complete, because the other program has stored it after
            // them. The caller promises that the memory which they name is valid.
            queue.register.ring_doorbell(|half| unsafe { half.write(word) });
        }
        Ok(queue)
    }

    /// The first word of the WQE that begins at `at`, and its WQEBBs, which end at `end` or before.
    fn found(&self, at: Index, end: Index) -> Result<(u64, Wqebbs), SetupError> {
        let place: NonNull<u64> = self.ring.wqebb(self.ring.place(at));
        // SAFETY: inside of the ring that `from_parts`' caller promises. The device may write there, as it should not.
        let word = unsafe { VolatilePtr::new(place) }.read();
        let ds = word.to_ne_bytes()[7] & Ds::MAX;
        let wqebbs = Ds(ds).wqebbs();
        let is_here = word & WHERE == self.ring.first_word(at) && ds != 0 && wqebbs <= end.since(at);
        if is_here {
            Ok((word, wqebbs))
        } else {
            Err(SetupError::NotAWqe { index: at.get().0, first_word: u64::from_be(word) })
        }
    }
}

//! Send queues that no device reads: they bring the code of a shot, and the predictions of its branches, into the CPU.
//! Knows no operation.
use core::fmt;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::arch::copy::BlockCopy;
use crate::cq::{CqId, Origin};
use crate::db::{DoorbellRecord, ExclusiveRegister, FlushMode, Register};
use crate::queue::send::parts::WqeRecord;
use crate::queue::send::place::SendRing;
use crate::queue::send::place::{Index, WqebbPlace};
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
use crate::types::{SqPi, WQEBB_BYTES, Wqebbs};

/// WQEBBs of a rehearsal's ring: room for the largest requests.
const WQEBBS: u32 = 64;
/// Bytes of a page, which holds both halves of the largest register.
const PAGE: usize = 4096;

/// The memory of a [rehearsal](SendQueue::rehearsal): a ring, its records, a doorbell record and a page in place of the
/// register's. 12 KiB.
///
/// It stays as long as the program, because a queue over it can be moved anywhere:
///
/// ```
/// use blueflame::queue::send::RehearsalMemory;
///
/// let memory: &'static mut RehearsalMemory = Box::leak(Box::new(RehearsalMemory::new()));
/// ```
#[repr(C, align(4096))]
pub struct RehearsalMemory {
    register: [u8; PAGE],
    ring: [u8; WQEBBS as usize * WQEBB_BYTES],
    records: MaybeUninit<[WqeRecord; WQEBBS as usize]>,
    doorbell: [u32; 2],
}

impl RehearsalMemory {
    /// The memory of one rehearsal.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            register: [0; PAGE],
            ring: [0; WQEBBS as usize * WQEBB_BYTES],
            records: MaybeUninit::zeroed(),
            doorbell: [0; 2],
        }
    }
}

impl Default for RehearsalMemory {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RehearsalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RehearsalMemory").finish_non_exhaustive()
    }
}

/// The queue is a device's, and no rehearsal: only completions take its requests back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotARehearsal;

impl fmt::Display for NotARehearsal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a device has this send queue: only completions take its requests back")
    }
}

impl core::error::Error for NotARehearsal {}

impl<T: Transport, F: FlushMode, C: BlockCopy> SendQueue<T, ExclusiveRegister<F, C>> {
    /// A queue of the same type, limits and BlueFlame policy that no device reads.
    ///
    /// The first shot after a pause is slow because its instructions and its branches are strange to the CPU.
    /// [`warm`](Self::warm) fetches the memory of a shot, but not these. They come by executing the very function that
    /// will fire: give it a rehearsal in place of the queue. Post to the rehearsal what you like. It stores to
    /// `memory`, executes the same barriers, and sends nothing. [`end_rehearsal`](Self::end_rehearsal) makes room
    /// again.
    ///
    /// A function that the compiler inlines in two places exists twice, so mark the function `#[inline(never)]`:
    ///
    /// ```
    /// use blueflame::queue::{SendQueue, send::RehearsalMemory};
    /// use blueflame::wqe::{Request, operations::Write};
    /// use blueflame::{PostError, transport};
    ///
    /// #[inline(never)]
    /// fn fire(
    ///     sq: &mut SendQueue<transport::Rc>,
    ///     order: &Request<'static, Write>,
    ///     data: &[u8; 32],
    /// ) -> Result<(), PostError> {
    ///     sq.post(&order.inline(data))
    /// }
    ///
    /// fn wait_and_fire(
    ///     sq: &mut SendQueue<transport::Rc>,
    ///     order: &Request<'static, Write>,
    ///     mut signal: impl FnMut() -> Option<[u8; 32]>,
    /// ) -> Result<(), Box<dyn std::error::Error>> {
    ///     let mut rehearsal = sq.rehearsal(Box::leak(Box::new(RehearsalMemory::new())));
    ///     loop {
    ///         if let Some(data) = signal() {
    ///             return Ok(fire(sq, order, &data)?);
    ///         }
    ///         sq.warm(order);
    ///         fire(&mut rehearsal, order, &[0; 32])?;
    ///         rehearsal.end_rehearsal()?;
    ///     }
    /// }
    /// ```
    ///
    /// The rehearsal takes no completion: its requests are those of no completion queue.
    ///
    /// # Panics
    /// On s390x, after `arch::enable_pci_instructions`: register stores reach no memory then.
    #[must_use]
    pub fn rehearsal(&self, memory: &'static mut RehearsalMemory) -> Self {
        #[cfg(target_arch = "s390x")]
        assert!(!crate::arch::pci_instructions(), "PCI instructions do not store to memory: no rehearsal");
        // SAFETY: the reference ends here, so the memory is this queue's alone, as long as the program runs. The parts
        // are valid for writes and have the sizes that the ring, the records and the register need. They are aligned,
        // because the whole is aligned to a page and each part's size is a multiple of the next part's alignment.
        let (register, start, shadow, doorbell_record) = unsafe {
            (
                self.register.elsewhere(NonNull::from(&mut memory.register).cast()),
                NonNull::from(&mut memory.ring).cast(),
                NonNull::from(&mut memory.records).cast(),
                DoorbellRecord::send(NonNull::from(&mut memory.doorbell).cast()),
            )
        };
        Self {
            ring: SendRing { start, shadow, mask: WqebbPlace::mask(WQEBBS), ..self.ring },
            doorbell_record,
            blueflame: self.blueflame.within(register.size()),
            register,
            origin: Origin::new(CqId::REHEARSAL, self.qpn()),
            pi: Index::new(SqPi(0)),
            end: Index::new(SqPi(WQEBBS as u16)),
            depth: WQEBBS,
            most: Wqebbs(WQEBBS as u16),
            ..*self
        }
    }

    /// Takes back all requests of a [rehearsal](Self::rehearsal), which has its whole room again.
    ///
    /// # Errors
    /// [`NotARehearsal`]; the queue is unchanged then.
    #[inline]
    pub fn end_rehearsal(&mut self) -> Result<Wqebbs, NotARehearsal> {
        if self.origin.cq() != CqId::REHEARSAL {
            return Err(NotARehearsal);
        }
        let end = self.pi.add(Wqebbs(self.depth as u16));
        let freed = end.since(self.end);
        self.end = end;
        Ok(freed)
    }
}

//! Memory for queues: page-aligned, private, zeroed, and kept until the program ends.
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ptr::NonNull;

use blueflame::SendQueue;
use blueflame::cq::CqParts;
use blueflame::db::{ExclusiveRegister, RegisterParts, SharedRegister};
use blueflame::queue::{SqParts, WqeRecord};
use blueflame::types::{CqCi, Cqn, Qpn, SqPi};
use blueflame::wqe::Rc;

/// The queue pair's number.
pub(crate) const QPN: u32 = 0x0001_86a5;
/// WQEBBs of a send ring, CQEs of a completion ring: 16 KiB, so that a ring stays in the first-level cache.
pub(crate) const ENTRIES: usize = 256;
/// Bytes of a WQEBB, and of a CQE.
pub(crate) const ENTRY_BYTES: usize = 64;
/// Bytes in one half of a register with BlueFlame, as ConnectX has it.
pub(crate) const HALF_BYTES: u32 = 256;

const PAGE_BYTES: usize = 4096;
/// Where in a UAR page the first register is.
const REGISTER_OFFSET: usize = 0x800;

/// `bytes` of zeroed memory on pages of its own. Never freed: it outlives every queue made on it.
fn pages(bytes: usize) -> NonNull<u8> {
    let layout = Layout::from_size_align(bytes.next_multiple_of(PAGE_BYTES), PAGE_BYTES).expect("a size");
    // SAFETY: no benchmark asks for zero bytes.
    NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Memory of one send queue and its register.
#[derive(Clone, Copy)]
pub(crate) struct SendRig {
    /// [`ENTRIES`] WQEBBs.
    pub(crate) ring: NonNull<u64>,
    /// Two words: receive, send.
    pub(crate) dbrec: NonNull<u32>,
    uar: NonNull<u8>,
    /// Bytes in one half of the register, or 0.
    pub(crate) half_bytes: u32,
}

impl SendRig {
    /// Memory with nothing in it. `half_bytes` is [`HALF_BYTES`], or 0 for a register without BlueFlame.
    pub(crate) fn new(half_bytes: u32) -> Self {
        let ring = pages(ENTRIES * ENTRY_BYTES).cast();
        Self { ring, dbrec: pages(PAGE_BYTES).cast(), uar: pages(PAGE_BYTES), half_bytes }
    }

    /// The register's first half.
    pub(crate) fn register(&self) -> NonNull<u64> {
        // SAFETY: inside of the page.
        unsafe { self.uar.add(REGISTER_OFFSET) }.cast()
    }

    fn register_parts(&self) -> RegisterParts {
        RegisterParts { reg: self.register().cast(), size: self.half_bytes }
    }

    /// The register for one queue.
    pub(crate) fn exclusive(&self) -> ExclusiveRegister {
        // SAFETY: the halves are inside of the page, which stays; each rig is used for one queue or one floor.
        unsafe { ExclusiveRegister::from_parts(self.register_parts()) }.expect("a register")
    }

    /// The register for several queues.
    pub(crate) fn shared(&self) -> &'static SharedRegister {
        // SAFETY: as in `exclusive`.
        Box::leak(Box::new(unsafe { SharedRegister::from_parts(self.register_parts()) }.expect("a register")))
    }

    /// The queue on this memory; make one.
    pub(crate) fn queue<R: blueflame::db::Register>(&self, register: R) -> SendQueue<Rc, R> {
        let parts = SqParts {
            ring: self.ring.cast(),
            wqebbs: ENTRIES as u32,
            dbrec: self.dbrec,
            qpn: Qpn::new(QPN).expect("24 bits"),
            max_inline: 220,
            max_sge: 16,
            signal_all: false,
            pi: SqPi(0),
            shadow: pages(ENTRIES * size_of::<WqeRecord>()).cast(),
        };
        // SAFETY: ring, record and shadow are as large as said and stay; nothing else stores to them while the queue does,
        // and there is no device.
        unsafe { SendQueue::from_parts(parts, register) }.expect("a queue")
    }

    /// All that was stored: ring, record, register.
    pub(crate) fn snapshot(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let parts = [(self.ring.cast(), ENTRIES * ENTRY_BYTES), (self.dbrec.cast(), 8), (self.uar, PAGE_BYTES)];
        for (start, len) in parts {
            // SAFETY: memory that stays, initialised, and no queue works while this looks.
            bytes.extend((0..len).map(|at| unsafe { start.add(at).read_volatile() }));
        }
        bytes
    }
}

/// Memory of one completion queue, full of completions of the first pass over the ring.
#[derive(Clone, Copy)]
pub(crate) struct CqRig {
    /// [`ENTRIES`] CQEs.
    pub(crate) ring: NonNull<u8>,
    /// Two words: consumer index, arm request.
    pub(crate) dbrec: NonNull<u32>,
    uar: NonNull<u8>,
}

impl CqRig {
    /// A ring where every request has completed.
    pub(crate) fn full() -> Self {
        let rig = Self { ring: pages(ENTRIES * ENTRY_BYTES), dbrec: pages(PAGE_BYTES).cast(), uar: pages(PAGE_BYTES) };
        for n in 0..ENTRIES {
            let mut cqe = [0; ENTRY_BYTES];
            // The bytes of `struct mlx5_cqe64` that polling looks at; requester (opcode 0), of owner bit 0.
            cqe[44..48].copy_from_slice(&(8 + n as u32).to_be_bytes());
            cqe[56..60].copy_from_slice(&(0x08 << 24 | QPN).to_be_bytes());
            cqe[60..62].copy_from_slice(&(n as u16).to_be_bytes());
            rig.write(n, &cqe);
        }
        rig
    }

    /// A ring where nothing has completed.
    pub(crate) fn empty() -> Self {
        let rig = Self::full();
        for n in 0..ENTRIES {
            let mut cqe = [0; ENTRY_BYTES];
            cqe[63] = 0xf0;
            rig.write(n, &cqe);
        }
        rig
    }

    fn write(&self, n: usize, cqe: &[u8; ENTRY_BYTES]) {
        assert!(n < ENTRIES);
        // SAFETY: inside of the ring; no queue polls while a ring is made.
        unsafe { self.ring.cast::<[u8; ENTRY_BYTES]>().add(n).write(*cqe) };
    }

    /// The parts of a queue on this memory that nobody has polled.
    pub(crate) fn parts(&self) -> CqParts {
        CqParts {
            buf: self.ring,
            cqe_cnt: ENTRIES as u32,
            cqe_size: ENTRY_BYTES as u32,
            dbrec: self.dbrec,
            cq_uar: self.uar,
            cqn: Cqn::new(1).expect("24 bits"),
            ci: CqCi::truncate(0),
        }
    }

    /// The doorbell record.
    pub(crate) fn snapshot(&self) -> Vec<u8> {
        // SAFETY: memory that stays, and no queue polls while this looks.
        unsafe { self.dbrec.cast::<[u8; 8]>().read_volatile() }.to_vec()
    }
}

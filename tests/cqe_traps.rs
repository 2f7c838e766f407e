//! A device that writes a CQE between any two loads of a poll.
//!
//! The ring's page is closed, so each access to it traps. The handler plays the device, opens the page, lets one
//! instruction run (single step) and closes the page again. So the test writes the CQE's fields just before the k-th
//! access, and its owner byte just before any later one, for all k: no thread has to win a race. Polling may return
//! nothing, or the whole new CQE. A poll that loads a field too early, before the owner byte, returns the field's old
//! value and fails here.
//!
//! The order of the loads of a poll belongs here. The meaning of a CQE belongs in `tests/completion`.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use blueflame::cq::mode::{Conservative, PollMode, Prefetch, Standard};
use blueflame::cq::setup::CqParts;
use blueflame::cq::{CollapsedQueue, CompletionQueue};
use blueflame::types::{CqCi, Cqn};
use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

const PAGE: usize = 4096;
const CQES: u32 = 4;
/// Offsets in a CQE's last 64 bytes: the length, the queue pair, the index of the WQE, the signature and the owner byte.
const BYTE_COUNT: usize = 44;
const QPN: usize = 56;
const WQE_COUNTER: usize = 60;
const SIGNATURE: usize = 62;
const OP_OWN: usize = 63;
/// The trap flag: stop after the next instruction.
const TF: i64 = 1 << 8;

#[repr(align(4096))]
struct Page(UnsafeCell<[u8; PAGE]>);

// SAFETY: only the thread that holds `TURN` touches a page; its handlers run on that thread.
unsafe impl Sync for Page {}

static RING: Page = Page(UnsafeCell::new([0; PAGE]));
/// One test at a time: handlers belong to the process.
static TURN: Mutex<()> = Mutex::new(());
/// Accesses so far.
static ACCESSES: AtomicUsize = AtomicUsize::new(0);
/// The access before which the device writes the fields, and that before which it writes the owner byte.
static FIELDS_AT: AtomicUsize = AtomicUsize::new(0);
static OWNER_AT: AtomicUsize = AtomicUsize::new(0);
/// Whether the index of the WQE comes with the owner byte, and not with the fields.
static TAIL_AT_ONCE: AtomicBool = AtomicBool::new(false);
/// Where the 64 bytes with the fields begin.
static FIELDS: AtomicUsize = AtomicUsize::new(0);

fn protect(to: i32) {
    // SAFETY: the page is this program's, and what runs meanwhile does not mind.
    assert_eq!(unsafe { libc::mprotect(RING.0.get().cast(), PAGE, to) }, 0);
}

/// The device's turn, if it is: the fields but for the owner byte, or that byte.
fn device() {
    let n = ACCESSES.fetch_add(1, Ordering::Relaxed) + 1;
    // SAFETY: inside of the page, which is open.
    let cqe = unsafe { RING.0.get().cast::<u8>().add(FIELDS.load(Ordering::Relaxed)) };
    let put = |at: usize, bytes: &[u8]| {
        // SAFETY: inside of the 64 bytes.
        bytes.iter().zip(at..).for_each(|(byte, at)| unsafe { cqe.add(at).write_volatile(*byte) });
    };
    let put_index = || {
        put(WQE_COUNTER, &0x1234_u16.to_be_bytes());
        put(SIGNATURE, &[0]);
    };
    let tail_at_once = TAIL_AT_ONCE.load(Ordering::Relaxed);
    if n == FIELDS_AT.load(Ordering::Relaxed) {
        put(0, &[0; WQE_COUNTER]);
        put(BYTE_COUNT, &0x0102_0304_u32.to_be_bytes());
        put(QPN, &0x00ab_cdef_u32.to_be_bytes());
        if !tail_at_once {
            put_index();
        }
    }
    if n == OWNER_AT.load(Ordering::Relaxed) {
        if tail_at_once {
            put_index();
        }
        // A requester's completion, of the first pass over the ring.
        put(OP_OWN, &[0]);
    }
}

extern "C" fn on_access(_: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's, for this handler's life; it is for SIGSEGV.
    let (address, context) = unsafe { ((*info).si_addr() as usize, &mut *context.cast::<libc::ucontext_t>()) };
    if address.wrapping_sub(RING.0.get() as usize) >= PAGE {
        // Not ours: come again, and die of it.
        // SAFETY: the default action for a signal.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        return;
    }
    protect(libc::PROT_READ | libc::PROT_WRITE);
    device();
    context.uc_mcontext.gregs[libc::REG_EFL as usize] |= TF;
}

extern "C" fn on_step(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's, for this handler's life; it is for SIGTRAP.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    protect(libc::PROT_NONE);
    context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !TF;
}

/// A polled completion: the index of its WQE, the queue pair, the length.
type Seen = (u16, u32, u32);
const NEW: Seen = (0x1234, 0x00ab_cdef, 0x0102_0304);

/// Calls `poll` with the parts of a ring of CQEs of `size` bytes, and a device that acts before these accesses of
/// [`trapped`]. Says how many accesses there were.
fn polled(size: u32, [fields_at, owner_at]: [usize; 2], poll: Poll) -> (Option<Seen>, usize) {
    let mut record = [0_u64; 1];
    let mut uar = [0_u64; 8];
    // SAFETY: nobody else has the page, which is open.
    let ring = unsafe { &mut *RING.0.get() };
    // Old bytes, owned by the device: the first pass' owner bit is 0.
    ring.fill(0xa5);
    ring.chunks_exact_mut(size as usize).for_each(|cqe| cqe[size as usize - 1] = 0xf1);
    ACCESSES.store(0, Ordering::Relaxed);
    FIELDS_AT.store(fields_at, Ordering::Relaxed);
    OWNER_AT.store(owner_at, Ordering::Relaxed);
    FIELDS.store(size as usize - 64, Ordering::Relaxed);
    let parts = CqParts {
        buf: NonNull::new(RING.0.get().cast()).unwrap(),
        cqe_cnt: CQES,
        cqe_size: size,
        dbrec: NonNull::from(&mut record).cast(),
        cq_uar: NonNull::from(&mut uar).cast(),
        cqn: Cqn::new(1).unwrap(),
        ci: CqCi::new(0).unwrap(),
    };
    (poll(parts), ACCESSES.load(Ordering::Relaxed))
}

/// Makes a queue and polls it once.
type Poll = fn(CqParts) -> Option<Seen>;

/// What `poll` returns; each of its accesses to the ring traps.
fn trapped(poll: impl FnOnce() -> Option<Seen>) -> Option<Seen> {
    protect(libc::PROT_NONE);
    let seen = poll();
    protect(libc::PROT_READ | libc::PROT_WRITE);
    seen
}

/// Every place of the two writes between the loads of a poll.
fn every_place(tail_at_once: bool, poll: Poll) {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    TAIL_AT_ONCE.store(tail_at_once, Ordering::Relaxed);
    let install = |signal, handler| {
        let action = SigAction::new(SigHandler::SigAction(handler), SaFlags::SA_SIGINFO, SigSet::empty());
        // SAFETY: the handlers touch what is meant for them, and call what signal handlers may.
        unsafe { sigaction(signal, &action) }.unwrap()
    };
    let before = [install(Signal::SIGSEGV, on_access), install(Signal::SIGTRAP, on_step)];
    for size in [64, 128] {
        let (seen, accesses) = polled(size, [usize::MAX; 2], poll);
        assert_eq!((seen, accesses), (None, 1), "an empty ring of {size}-byte CQEs: one load, of the owner byte");
        let (seen, accesses) = polled(size, [1, 1], poll);
        assert_eq!(seen, Some(NEW));
        assert!(accesses >= 3, "{accesses} accesses: were they seen?");
        for owner_at in 1..=accesses + 1 {
            for fields_at in 1..=owner_at {
                let (seen, _) = polled(size, [fields_at, owner_at], poll);
                assert!(
                    seen.is_none() || seen == Some(NEW),
                    "{size}-byte CQEs, fields written before access {fields_at}, owner before {owner_at}: {seen:x?}"
                );
            }
        }
    }
    for (signal, action) in [Signal::SIGSEGV, Signal::SIGTRAP].into_iter().zip(before) {
        // SAFETY: the earlier handler.
        unsafe { sigaction(signal, &action) }.unwrap();
    }
}

fn queue<M: PollMode<Compression = ()>>(parts: CqParts) -> CompletionQueue<M> {
    // SAFETY: the parts outlive the queue, and nothing else uses them but the device that is played here.
    unsafe { CompletionQueue::from_parts(parts).unwrap().with_mode_unchecked::<M>() }
}

fn copied<M: PollMode<Compression = ()>>(parts: CqParts) -> Option<Seen> {
    let mut cq = queue::<M>(parts);
    trapped(|| {
        let cqe = cq.poll()?;
        Some((cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len()))
    })
}

fn in_place<M: PollMode<Compression = ()>>(parts: CqParts) -> Option<Seen> {
    let mut cq = queue::<M>(parts);
    trapped(|| {
        let mut seen = None;
        cq.poll_with(1, |cqe| seen = Some((cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len())));
        seen
    })
}

fn latest(parts: CqParts) -> Option<Seen> {
    // SAFETY: as in `queue`.
    let mut cq = unsafe { CollapsedQueue::from_parts(parts) }.unwrap();
    trapped(|| {
        let cqe = cq.poll()?;
        Some((cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len()))
    })
}

#[test]
fn poll_copies_nothing_before_the_owner_byte_says_so() {
    every_place(false, copied::<Standard>);
    every_place(false, copied::<Conservative>);
}

#[test]
fn poll_with_lends_nothing_before_the_owner_byte_says_so() {
    every_place(false, in_place::<Standard>);
    every_place(false, in_place::<Conservative>);
    every_place(false, in_place::<Prefetch>);
}

/// There the last four bytes say that a completion is new, so the device writes them at once.
#[test]
fn a_collapsed_queue_copies_nothing_before_its_last_bytes_are_new() {
    every_place(true, latest);
}

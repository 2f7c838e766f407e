//! The handlers of strict mode, and those of the program, which get all other signals.

use super::refused;
use super::stack;
use super::stepping::{Next, STEPPING, Stepping};
use super::store::{self, Store};
use super::trapped::Trapped;
use super::watched;
use crate::process::{Errno, forked, guarded, real};
use libc::{c_int, c_void, siginfo_t};
use softhca::uar::UAR_PAGE_BYTES;
use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Bit of the flags register that makes the CPU trap after the next instruction.
const TRAP_FLAG: i64 = 0x100;

/// The signals that are ours.
const SIGNALS: [c_int; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGTRAP];

/// The program's actions for them, in several copies for readers: handlers read without a lock. A reader has the
/// actions of its beginning, unless they change seven times before it is done.
struct Actions {
    remembered: [UnsafeCell<[libc::sigaction; SIGNALS.len()]>; 8],
    /// How often they have changed.
    changes: AtomicUsize,
    /// The process in which a thread is changing them, or 0. A thread that was doing so when this process was forked is
    /// not in it.
    changing: AtomicU32,
}

// SAFETY: only the thread that changes them writes, in a copy without readers; see above.
unsafe impl Sync for Actions {}

static PROGRAMS: Actions = Actions {
    // SAFETY: integers and a pointer that is an integer, for all of which zero is valid: the default action.
    remembered: [const { UnsafeCell::new(unsafe { std::mem::zeroed() }) }; 8],
    changes: AtomicUsize::new(0),
    changing: AtomicU32::new(0),
};
/// The program's actions are remembered, in place of being installed.
static REMEMBERED: AtomicBool = AtomicBool::new(false);
/// The handlers are ours.
static TAKEN_OVER: AtomicBool = AtomicBool::new(false);

impl Actions {
    fn latest(&self) -> [libc::sigaction; SIGNALS.len()] {
        let place = &self.remembered[self.changes.load(Ordering::Acquire) % self.remembered.len()];
        // SAFETY: valid, and not being written; see above.
        unsafe { place.get().read_volatile() }
    }

    /// Has `change` make new ones of them, alone. Programs call this in their handlers, too: so none runs meanwhile.
    fn change<T>(&self, change: impl FnOnce(&mut [libc::sigaction; SIGNALS.len()]) -> T) -> T {
        // SAFETY: sets of integers, and this thread's mask, which is restored.
        let before = unsafe {
            let [mut all, mut before]: [libc::sigset_t; 2] = std::mem::zeroed();
            libc::sigfillset(&mut all);
            real::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            before
        };
        let here = std::process::id();
        while let Err(process) = self.changing.compare_exchange(0, here, Ordering::Acquire, Ordering::Relaxed) {
            let is_gone = process != here && process != 0;
            if is_gone && self.changing.compare_exchange(process, here, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                break;
            }
            // SAFETY: takes no arguments; allowed in signal handlers.
            unsafe { libc::sched_yield() };
        }
        let mut actions = self.latest();
        let made = change(&mut actions);
        let next = self.changes.load(Ordering::Relaxed).wrapping_add(1);
        // SAFETY: no other thread writes, and readers use other copies.
        unsafe { self.remembered[next % self.remembered.len()].get().write_volatile(actions) };
        self.changes.store(next, Ordering::Release);
        self.changing.store(0, Ordering::Release);
        // SAFETY: a set of integers; the call restores this thread's mask.
        unsafe { real::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
        made
    }
}

/// Bits of those that no thread of this process blocks. None where nobody has loaded the object before the program.
static NEVER_BLOCKED: AtomicU64 = AtomicU64::new(0);

/// Runs when the object is loaded, before the program and its threads block signals. It also corrects the signals that
/// the process was started with.
#[used]
#[cfg_attr(not(test), unsafe(link_section = ".init_array"))]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    let set = |name: &CStr, off: &CStr| {
        // SAFETY: a string that ends with a zero byte; no other thread of the program runs yet.
        let value = unsafe { libc::getenv(name.as_ptr()) };
        // SAFETY: not null, so a string that ends with a zero byte.
        !value.is_null() && unsafe { CStr::from_ptr(value) } != off
    };
    // In any mode, the device reaches memory that the program may have unmapped, also on threads of the program.
    let faults = bit(libc::SIGSEGV) | bit(libc::SIGBUS);
    let stores = set(c"SOFTHCA_STRICT", c"0") || set(c"SOFTHCA_VFIO", c"0");
    NEVER_BLOCKED.store(if stores { faults | bit(libc::SIGTRAP) } else { faults }, Ordering::Relaxed);
    // SAFETY: sets of integers, and this thread's mask.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        real::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &mut mask);
        real::pthread_sigmask(libc::SIG_SETMASK, &without_ours(mask), std::ptr::null_mut());
    }
}

/// Which of ours a signal is.
fn place(signal: c_int) -> Option<usize> {
    SIGNALS.iter().position(|&ours| ours == signal)
}

/// Watches the mapping of `bytes` bytes at `program`, pages from `index` on, which does not permit stores from now on.
/// Stores to it ring `trapped`.
pub(crate) fn watch(trapped: &'static Trapped, program: usize, bytes: usize, index: u32) -> Result<(), Errno> {
    // The decoder makes its tables when it is first used, and handlers may not allocate.
    const NOP: [u8; 15] = [0x90; 15];
    // SAFETY: an array of instructions.
    unsafe { store::decode(NOP.as_ptr().expose_provenance()) };
    take_over()?;
    watched::add(trapped, program, bytes, index).inspect_err(|_| {
        log::error!("stores to {} mappings at most can be watched", watched::MAX_MAPPINGS);
    })
}

/// Knows the mapping of a page that permits stores: the child of a fork does not get it, and is told so when it stores
/// to it.
pub(crate) fn know(trapped: &'static Trapped, program: usize, index: u32) {
    // In a full table the child is told nothing, but ends as well.
    let _ = watched::add(trapped, program, UAR_PAGE_BYTES, index);
}

/// Installs our handlers; the program's actions from before are kept. From then on, guarded accesses are safe.
pub(crate) fn take_over() -> Result<(), Errno> {
    if TAKEN_OVER.load(Ordering::Acquire) {
        return Ok(());
    }
    PROGRAMS.change(|programs| {
        if REMEMBERED.load(Ordering::Acquire) {
            return Ok(());
        }
        stack::make()?;
        for (signal, program) in SIGNALS.into_iter().zip(programs) {
            // SAFETY: valid to be written.
            if unsafe { real::sigaction(signal, std::ptr::null(), program) } != 0 {
                return Err(Errno::last());
            }
        }
        // Changes by the program wait from here on until this is done.
        REMEMBERED.store(true, Ordering::Release);
        Ok(())
    })?;
    // Not before: handlers find the program's actions from the beginning.
    SIGNALS.into_iter().try_for_each(install)?;
    TAKEN_OVER.store(true, Ordering::Release);
    Ok(())
}

fn install(signal: c_int) -> Result<(), Errno> {
    // SAFETY: all zeros are a valid action, completed below.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void) = handle;
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // A handler of the program that rings a doorbell would raise a signal that is blocked here, and the kernel would
    // end the program.
    // SAFETY: changes a local of ours.
    unsafe { libc::sigfillset(&mut action.sa_mask) };
    // SAFETY: a valid action.
    match unsafe { real::sigaction(signal, &action, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(Errno::last()),
    }
}

/// The program's `sigaction` for a signal that is ours: remembered instead of installed. `false` if it is not ours.
///
/// # Safety
/// Pointers are null or valid, as for `sigaction`.
pub(crate) unsafe fn exchange_action(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> bool {
    let Some(place) = place(signal).filter(|_| REMEMBERED.load(Ordering::Acquire)) else { return false };
    // SAFETY: by the caller's promise.
    let new = unsafe { new.as_ref() }.copied();
    let before = match new {
        Some(new) => PROGRAMS.change(|programs| std::mem::replace(&mut programs[place], new)),
        None => PROGRAMS.latest()[place],
    };
    if !old.is_null() {
        // SAFETY: not null, so valid: the caller promises one of the two.
        unsafe { *old = before };
    }
    true
}

/// A signal that has come, and the work that remains on the stack that it came on.
struct Visit<'a> {
    signal: c_int,
    about: &'a siginfo_t,
    interrupted: &'a mut libc::ucontext_t,
    /// The program's handler, which is next, and the signals that are blocked in it.
    next: Option<(Handler, libc::sigset_t)>,
}

/// A handler of the program's.
enum Handler {
    Plain(extern "C-unwind" fn(c_int)),
    /// With SA_SIGINFO.
    Informed(extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void)),
}

/// Handler of the signals. Little is done here: the stack may be small. Handlers of the program may unwind it, or jump
/// away.
extern "C-unwind" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: saved and restored for the code that was interrupted; the location is always valid.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the kernel's, for a handler with SA_SIGINFO.
    let (about, interrupted) = unsafe { (&*info, &mut *context.cast::<libc::ucontext_t>()) };
    let mut visit = Visit { signal, about, interrupted, next: None };
    stack::on_our_own(receive, &mut visit);
    if let Some((handler, mask)) = visit.next {
        // Not before: signals that are delivered from here on may have the stack that we have left.
        // SAFETY: a set of integers, and the calling thread's mask; the kernel restores that when our handler returns.
        unsafe { real::pthread_sigmask(libc::SIG_SETMASK, &mask, std::ptr::null_mut()) };
        match handler {
            Handler::Plain(handler) => handler(signal),
            Handler::Informed(handler) => handler(signal, info, context),
        }
    }
    // SAFETY: the location of this thread's errno is always valid.
    unsafe { *libc::__errno_location() = errno };
}

/// Handles a signal if it is ours; the program gets others.
extern "C" fn receive(visit: &mut Visit<'_>) {
    let Visit { signal, about, interrupted, next } = visit;
    let ours = STEPPING.with(|stepping| {
        // SAFETY: of this thread alone, and no handler interrupts this one: all signals are blocked in it.
        let stepping = unsafe { &mut *stepping.get() };
        let ours = match *signal {
            libc::SIGTRAP => trap(stepping, about, interrupted),
            _ => fault(stepping, about, interrupted),
        };
        stepping.next = interrupted.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        ours
    });
    if !ours {
        *next = chain(*signal, about, interrupted);
    }
}

/// SIGSEGV or SIGBUS: an access to a watched page, or a guarded one?
fn fault(stepping: &mut Stepping, info: &siginfo_t, context: &mut libc::ucontext_t) -> bool {
    let at = &mut context.uc_mcontext.gregs[libc::REG_RIP as usize];
    if info.si_code > 0 {
        if let Some(after) = guarded::after_fault(*at as usize) {
            *at = after as i64;
            return true;
        }
    }
    // A redirected store failed: its source is not mapped, or is in a watched page itself.
    let redirected = stepping.restore(&mut context.uc_mcontext.gregs).is_some();
    // Signals that a process has sent have a code of 0 or less, and no address.
    let page = if info.si_code > 0 {
        // SAFETY: SIGSEGV's information has an address.
        watched::find(unsafe { info.si_addr() } as usize)
    } else {
        None
    };
    if page.is_some_and(|page| page.is_parents()) {
        forked::tell();
    }
    let registers = &mut context.uc_mcontext.gregs;
    let address = registers[libc::REG_RIP as usize] as usize;
    if let Some(page) = page.filter(watched::Page::traps) {
        // SAFETY: the CPU was about to execute the instruction.
        let instruction = unsafe { store::decode(address) };
        let store = Store::of(&instruction, registers).filter(|_| !redirected);
        if let Some((store, offset)) = store.and_then(|store| Some((store, page.offset_of(&store)?))) {
            stepping.redirect(page, offset, store, registers);
            begin(stepping, context);
            return true;
        }
        if !instruction.is_invalid() {
            // SAFETY: a page was found by the address, so the signal's information has one.
            let offset = unsafe { info.si_addr() } as usize % UAR_PAGE_BYTES;
            refused::add(&instruction, page.index(), offset);
            registers[libc::REG_RIP as usize] = instruction.next_ip() as i64;
            return true;
        }
    }
    if stepping.is_stepped {
        // The program's own fault, in the middle of a doorbell: the stores so far count.
        finish(stepping, context);
    }
    false
}

/// Begins the stepping of a thread, or goes on with it: after the next instruction it traps. No handler of the program
/// may run before.
fn begin(stepping: &mut Stepping, context: &mut libc::ucontext_t) {
    const FLAGS: usize = libc::REG_EFL as usize;
    if !stepping.is_stepped {
        stepping.is_stepped = true;
        stepping.was_stepped = context.uc_mcontext.gregs[FLAGS] & TRAP_FLAG != 0;
        stepping.blocked = exchange_mask(context, ALL_BUT_OURS);
    }
    context.uc_mcontext.gregs[FLAGS] |= TRAP_FLAG;
}

/// SIGTRAP: the end of a step?
fn trap(stepping: &mut Stepping, info: &siginfo_t, context: &mut libc::ucontext_t) -> bool {
    if !stepping.is_stepped {
        return false;
    }
    // SAFETY: the handler that had the thread stepped noted the instruction to which it returned.
    if !unsafe { ends_step(info.si_code, stepping.next) } {
        // A breakpoint of the program's own, or a signal that a process has sent: the next instruction is the same as
        // before, after the program's handler.
        stepping.restore(&mut context.uc_mcontext.gregs);
        finish(stepping, context);
        return false;
    }
    stepping.collect(&mut context.uc_mcontext.gregs);
    let instruction = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    if stepping.advance(instruction) == Next::Run {
        finish(stepping, context);
    }
    true
}

/// Whether a trap with this code is the end of a step of the instruction at `at`.
///
/// # Safety
/// The CPU has executed that instruction, or is about to.
unsafe fn ends_step(code: c_int, at: usize) -> bool {
    match code {
        libc::TRAP_TRACE => true,
        // The CPU has given no reason (Linux, `arch/x86/kernel/traps.c`, `exc_debug_user`: DR6 is 0). That is so with
        // INT1. On a virtual machine it was also seen at the end of a step, once in millions.
        // SAFETY: the caller promises that the CPU has executed the instruction at `at`, or is about to.
        libc::TRAP_BRKPT => !store::is_int1(&unsafe { store::decode(at) }),
        _ => false,
    }
}

/// Ends the stepping of a thread.
fn finish(stepping: &mut Stepping, context: &mut libc::ucontext_t) {
    stepping.flush();
    stepping.is_stepped = false;
    exchange_mask(context, stepping.blocked);
    if !stepping.was_stepped {
        context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP_FLAG;
    }
}

/// Bits of signals in the kernel's masks.
const fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// All signals but ours.
const ALL_BUT_OURS: u64 = !(bit(SIGNALS[0]) | bit(SIGNALS[1]) | bit(SIGNALS[2]));

/// Makes the thread block the signals of `mask` after the handler. Returns the signals that it would have blocked.
///
/// The kernel's mask has 64 bits. libc declares more, and where those would be the kernel has put the signal's
/// information.
fn exchange_mask(context: &mut libc::ucontext_t, mask: u64) -> u64 {
    let place = (&raw mut context.uc_sigmask).cast::<u64>();
    // SAFETY: the first 64 bits of a local of the kernel's, aligned as such.
    unsafe { place.replace(mask) }
}

/// `set` without the signals that are needed: the kernel ends a program that has a fault while it blocks them.
pub(crate) fn without_ours(mut set: libc::sigset_t) -> libc::sigset_t {
    let never = NEVER_BLOCKED.load(Ordering::Relaxed);
    for signal in SIGNALS.into_iter().filter(|&signal| never & bit(signal) != 0) {
        // SAFETY: changes a local of ours.
        unsafe { libc::sigdelset(&mut set, signal) };
    }
    set
}

/// Performs the program's action for a signal that is not ours. A handler is called afterwards.
fn chain(signal: c_int, info: &siginfo_t, context: &libc::ucontext_t) -> Option<(Handler, libc::sigset_t)> {
    let place = place(signal)?;
    let action = PROGRAMS.latest()[place];
    // By a process, or a timer.
    let is_sent = info.si_code <= 0;
    let handler = match action.sa_sigaction {
        libc::SIG_IGN if is_sent => return None,
        // A signal raised by the CPU cannot be ignored: the kernel behaves in the same way.
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: installs the default action, which ends the process when the instruction is tried again.
            unsafe { real::signal(signal, libc::SIG_DFL) };
            // A trap does not repeat itself, and a sent signal does not either.
            if signal == libc::SIGTRAP || is_sent {
                // SAFETY: raises the signal that was just taken from us.
                unsafe { libc::raise(signal) };
            }
            return None;
        }
        // SAFETY: the program has installed this as a handler with SA_SIGINFO.
        handler if action.sa_flags & libc::SA_SIGINFO != 0 => unsafe {
            Handler::Informed(std::mem::transmute::<usize, extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void)>(
                handler,
            ))
        },
        // SAFETY: the program has installed this as a handler without SA_SIGINFO.
        handler => unsafe { Handler::Plain(std::mem::transmute::<usize, extern "C-unwind" fn(c_int)>(handler)) },
    };
    if action.sa_flags & libc::SA_RESETHAND != 0 {
        PROGRAMS.change(|programs| programs[place].sa_sigaction = libc::SIG_DFL);
    }
    Some((handler, blocked_in(&action, signal, context)))
}

/// The signals that are blocked in a handler of the program: those that were, and those that its action says.
fn blocked_in(action: &libc::sigaction, signal: c_int, context: &libc::ucontext_t) -> libc::sigset_t {
    // SAFETY: sets of integers; the kernel's has 64 bits.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        (&raw mut mask).cast::<u64>().write((&raw const context.uc_sigmask).cast::<u64>().read());
        for other in 1..=libc::SIGRTMAX() {
            let wanted = libc::sigismember(&action.sa_mask, other) == 1;
            if wanted || other == signal && action.sa_flags & libc::SA_NODEFER == 0 {
                libc::sigaddset(&mut mask, other);
            }
        }
        mask
    }
}

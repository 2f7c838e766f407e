//! Polls of completion queues: libmlx5's, and a step of the device when there was no completion.
//!
//! libibverbs calls the driver's `poll_cq` through a pointer in each context. `ibv_open_device` and
//! `mlx5dv_open_device` replace the pointer here. The new function calls the driver's first. Completion queues that a
//! program reads by itself, or by `ibv_start_poll`, are served by the device's thread, and by yields (`yields.rs`).

use crate::context::{Context, device_file};
use crate::device::Polled;
use crate::process::provider::{self, Function};
use crate::process::{Errno, lock, uncancelled};
use libc::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// `ibv_context` of libibverbs' `verbs.h`, as far as it is used here: the ABI of `IBVERBS_1.1`.
#[repr(C)]
struct IbvContext {
    device: *mut c_void,
    /// Before `poll_cq` in `ibv_context_ops`.
    before: [*mut c_void; 11],
    poll_cq: Option<PollCq>,
    /// After it.
    after: [*mut c_void; 20],
    cmd_fd: c_int,
}

/// The beginning of `ibv_cq`.
#[repr(C)]
struct IbvCq {
    context: *mut IbvContext,
}

type PollCq = unsafe extern "C" fn(cq: *mut IbvCq, entries: c_int, completions: *mut c_void) -> c_int;

/// A context whose polls step a device.
struct Hooked {
    /// The driver's.
    poll_cq: PollCq,
    device: &'static Polled,
    /// Its device file, which its end closes.
    file: Weak<Context>,
}

/// The longest time from one poll of a loop to the next. After its last poll, a program may wait for a message in
/// memory, which the device's thread has to bring.
const INTERVAL: Duration = Duration::from_micros(3);

/// Contexts that can be hooked at a time; polls of others step no device.
const PLACES: usize = 64;

/// A context, and the data that belong to it. Both are null, or the data come from a [`Box`].
struct Place {
    context: AtomicPtr<IbvContext>,
    hooked: AtomicPtr<Hooked>,
}

static HOOKED: [Place; PLACES] =
    [const { Place { context: AtomicPtr::new(std::ptr::null_mut()), hooked: AtomicPtr::new(std::ptr::null_mut()) } };
        PLACES];

/// Held while boxes of [`HOOKED`] come and go. Polls do without it.
pub(super) static CHANGES: Mutex<()> = Mutex::new(());

/// Has polls of `context` step its device, if it is one of ours.
///
/// # Safety
/// Null, or a context that was just opened, and that no other thread knows.
unsafe fn hook(context: *mut IbvContext) {
    // SAFETY: the caller promises null, or a context that was just opened, and that no other thread knows.
    let Some(opened) = (unsafe { context.as_mut() }) else { return };
    let Some(poll_cq) = opened.poll_cq else { return };
    let Some(file) = device_file::find(opened.cmd_fd) else { return };
    let Some(device) = file.hca.polled else { return };
    let _changes = lock(&CHANGES);
    HOOKED.iter().filter(|place| is_closed(place)).for_each(|place| drop(taken_out(place)));
    // Closed just now past this object, at the same address.
    drop(place_of(context).and_then(taken_out));
    let Some(place) = place_of(std::ptr::null_mut()) else { return };
    let hooked = Hooked { poll_cq, device, file: Arc::downgrade(&file) };
    place.hooked.store(Box::into_raw(Box::new(hooked)), Ordering::Release);
    place.context.store(context, Ordering::Release);
    opened.poll_cq = Some(polled);
}

/// Whether the context of a place was closed past this object. Under [`CHANGES`].
fn is_closed(place: &Place) -> bool {
    // SAFETY: null, or a box, which only the holder of the lock frees.
    let hooked = unsafe { place.hooked.load(Ordering::Acquire).as_ref() };
    hooked.is_some_and(|hooked| hooked.file.strong_count() == 0)
}

/// Ends what [`hook`] began. The next context may have the same address.
///
/// # Safety
/// Null, or a context that no thread polls any more.
unsafe fn unhook(context: *mut IbvContext) {
    // SAFETY: the caller promises null, or a context that no thread polls any more.
    let Some(opened) = (unsafe { context.as_mut() }) else { return };
    let _changes = lock(&CHANGES);
    if let Some(hooked) = place_of(context).and_then(taken_out) {
        opened.poll_cq = Some(hooked.poll_cq);
    }
}

/// Frees a place, of a context that no thread polls. Under [`CHANGES`].
fn taken_out(place: &Place) -> Option<Box<Hooked>> {
    place.context.store(std::ptr::null_mut(), Ordering::Release);
    let hooked = place.hooked.swap(std::ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: null, or made by `hook` and taken out once.
    (!hooked.is_null()).then(|| unsafe { Box::from_raw(hooked) })
}

/// The place of a context; for null, a free one.
fn place_of(context: *mut IbvContext) -> Option<&'static Place> {
    HOOKED.iter().find(|place| place.context.load(Ordering::Acquire) == context)
}

/// Polls as the driver does. Without a completion, steps the device and polls again. It polls also after a step without
/// work, because the device's thread may have written a completion since the first poll. A caller that is told of none
/// looks at events next. If one of these ends the connection, the caller destroys the queue pair, and libmlx5 drops the
/// completion (libfabric's `vrb_ep_close`).
unsafe extern "C" fn polled(cq: *mut IbvCq, entries: c_int, completions: *mut c_void) -> c_int {
    // SAFETY: libibverbs' inline function calls this for a CQ of a hooked context.
    let context = unsafe { (*cq).context };
    let hooked = place_of(context).map_or(std::ptr::null_mut(), |place| place.hooked.load(Ordering::Acquire));
    // SAFETY: null, or a box that lives until its context is closed, which a program does not do while it polls.
    let Some(hooked) = (unsafe { hooked.as_ref() }) else { return -1 };
    // SAFETY: the driver's function for this CQ, with the caller's arguments.
    let poll = || unsafe { (hooked.poll_cq)(cq, entries, completions) };
    poll_around(poll, || stepped(hooked.device, INTERVAL))
}

/// Polls; without a completion, steps and polls again.
fn poll_around(poll: impl Fn() -> c_int, step: impl FnOnce()) -> c_int {
    match poll() {
        0 => {
            step();
            poll()
        }
        found => found,
    }
}

/// Steps the device on a thread of the program, which sees no trace of it: neither `errno`, nor its own cancellation,
/// which would leave the device locked.
pub(super) fn stepped(device: &Polled, interval: Duration) {
    let errno = Errno::last();
    uncancelled(|| device.step(interval));
    errno.set();
}

const OPEN: Function = Function { name: c"ibv_open_device", beside: c"ibv_node_type_str" };
const OPEN_MLX5: Function = Function { name: c"mlx5dv_open_device", beside: c"mlx5dv_query_device" };
const CLOSE: Function = Function { name: c"ibv_close_device", beside: c"ibv_node_type_str" };

/// Opens a device. Polls of a context of ours step the device.
///
/// # Safety
/// The conditions of libibverbs' function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn ibv_open_device(device: *mut c_void) -> *mut c_void {
    let next = provider::definition(device as u64, &OPEN);
    if next.is_null() {
        Errno::ENOSYS.set();
        return next;
    }
    // SAFETY: libibverbs' function of this name has this type.
    let next: unsafe extern "C" fn(*mut c_void) -> *mut c_void = unsafe { std::mem::transmute(next) };
    // SAFETY: the argument is passed on from the caller; the result is a new context or null.
    unsafe {
        let context = next(device);
        hook(context.cast());
        context
    }
}

/// Opens a device with mlx5's own attributes. Polls of a context of ours step the device.
///
/// # Safety
/// The conditions of libmlx5's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn mlx5dv_open_device(device: *mut c_void, attributes: *mut c_void) -> *mut c_void {
    let next = provider::definition(device as u64, &OPEN_MLX5);
    if next.is_null() {
        Errno::ENOSYS.set();
        return next;
    }
    // SAFETY: libmlx5's function of this name has this type.
    let next: unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void = unsafe { std::mem::transmute(next) };
    // SAFETY: arguments are passed on from the caller; the result is a new context or null.
    unsafe {
        let context = next(device, attributes);
        hook(context.cast());
        context
    }
}

/// Closes a context, whose polls stepped a device until now.
///
/// # Safety
/// The conditions of libibverbs' function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn ibv_close_device(context: *mut c_void) -> c_int {
    // SAFETY: null, or the caller's context.
    let device = unsafe { context.cast::<IbvContext>().as_ref() }.map_or(0, |context| context.device as u64);
    let next = provider::definition(device, &CLOSE);
    if next.is_null() {
        return libc::ENOSYS;
    }
    // SAFETY: null, or the caller's context.
    unsafe { unhook(context.cast()) };
    // SAFETY: libibverbs' function of this name has this type.
    let next: unsafe extern "C" fn(*mut c_void) -> c_int = unsafe { std::mem::transmute(next) };
    // SAFETY: the argument is passed on from the caller.
    unsafe { next(context) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn completions_of_the_devices_thread_are_found() {
        let completions = Cell::new(0);
        let poll = || completions.get();
        assert_eq!(poll_around(poll, || {}), 0);
        // This step does no work: the device's thread does it at the same time.
        assert_eq!(poll_around(poll, || completions.set(1)), 1);
        assert_eq!(poll_around(poll, || unreachable!("there is a completion")), 1);
    }
}

//! Calls of libibverbs that write a queue pair's state (`ibv_qp::state`) without a lock of their own: `ibv_modify_qp`
//! and `ibv_query_qp`. This program has functions of these names, which notice calls that overlap.
//!
//! Calls from several threads belong here, the states themselves in `tests/lifecycle`.
//!
//! Needs an mlx5 device. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --
//! ```

#![cfg(feature = "verbs")]

mod linked_ibverbs;

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use blueflame::transport::Rc;
use blueflame::verbs::QpState;
use blueflame_sys as sys;

use on_device::device;

/// All calls, those under way, and those that began while another was.
static ALL: AtomicU32 = AtomicU32::new(0);
static CALLS: AtomicU32 = AtomicU32::new(0);
static OVERLAPS: AtomicU32 = AtomicU32::new(0);

/// Calls libibverbs' function.
fn noticed<R>(call: impl FnOnce() -> R) -> R {
    ALL.fetch_add(1, Ordering::SeqCst);
    if CALLS.fetch_add(1, Ordering::SeqCst) != 0 {
        OVERLAPS.fetch_add(1, Ordering::SeqCst);
    }
    // So that other threads come to their calls.
    thread::sleep(Duration::from_millis(1));
    let returned = call();
    CALLS.fetch_sub(1, Ordering::SeqCst);
    returned
}

/// The function that this program's stands before.
fn next(name: &CStr) -> *mut c_void {
    // SAFETY: looks a name up among the loaded objects.
    let symbol = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    assert!(!symbol.is_null(), "no {name:?}");
    symbol
}

type Modify = unsafe extern "C" fn(*mut sys::ibv_qp, *mut sys::ibv_qp_attr, c_int) -> c_int;
type Query = unsafe extern "C" fn(*mut sys::ibv_qp, *mut sys::ibv_qp_attr, c_int, *mut sys::ibv_qp_init_attr) -> c_int;

// SAFETY: as libibverbs' function of this name, which it calls.
#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_modify_qp(qp: *mut sys::ibv_qp, attr: *mut sys::ibv_qp_attr, mask: c_int) -> c_int {
    // SAFETY: libibverbs' function has this type. The caller promises valid arguments.
    noticed(|| unsafe { std::mem::transmute::<*mut c_void, Modify>(next(c"ibv_modify_qp"))(qp, attr, mask) })
}

// SAFETY: as libibverbs' function of this name, which it calls.
#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_query_qp(
    qp: *mut sys::ibv_qp,
    attr: *mut sys::ibv_qp_attr,
    mask: c_int,
    init: *mut sys::ibv_qp_init_attr,
) -> c_int {
    // SAFETY: the function is of this type, and the caller promises its arguments.
    noticed(|| unsafe { std::mem::transmute::<*mut c_void, Query>(next(c"ibv_query_qp"))(qp, attr, mask, init) })
}

#[test]
fn a_query_waits_for_a_change_of_state() {
    let device = device();
    let path = device.path(1, None).expect("a path");
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(512).build().expect("a CQ");
    let pair = pd.queue_pair::<Rc>(&cq, &cq).build().expect("a queue pair");
    pair.qp.to_init(&path).expect("INIT");
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..50 {
                pair.qp.to_error().expect("ERR");
                // Refused, so that the crate itself asks for the state.
                pair.qp.to_init(&path).expect_err("not from ERR");
            }
        });
        for _ in 0..50 {
            assert!([QpState::Init, QpState::Error].contains(&pair.qp.state().expect("queried")));
        }
    });
    assert!(ALL.load(Ordering::SeqCst) >= 150, "the crate calls other functions than this program's");
    assert_eq!(OVERLAPS.load(Ordering::SeqCst), 0, "calls overlap");
}

//! Objects that cannot be destroyed, and moves that fail: the memory that the device may still write stays mapped.
//!
//! The software device refuses a command where a test asks it to (`softhca_refuse`).
//!
//! Leaks belong here, orderly ends in `tests/lifecycle/teardown.rs`.

use std::ffi::{c_int, c_void};

use blueflame::transport::Rc;
use blueflame::types::DcKey;
use blueflame::types::WrId;
use blueflame::verbs::{Device, Error, OwnedCq};
use blueflame::wqe;

use crate::end::connected;
use crate::on_device::{device, wait_for};

/// The kernel refuses this thread's next command.
fn refuse_next_command() {
    refuse_command(1);
}

/// The kernel refuses this thread's `nth` command from now on.
pub(crate) fn refuse_command(nth: u64) {
    // SAFETY: looks a name up among the loaded objects.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"softhca_refuse".as_ptr()) };
    assert!(!symbol.is_null(), "no softhca_refuse: run this by ./run test, or under softhca-run");
    // SAFETY: the preloaded object's function of this name is of this type.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(u64, c_int)>(symbol)(nth, libc::EIO) };
}

/// Pages of this crate's own: a queue begins on libmlx5's, and moves.
fn on_own_pages(device: &Device) -> OwnedCq {
    let mut cq = device.completion_queue(8).build().expect("a CQ");
    cq.resize(2000).expect("resized");
    cq
}

/// Whether the ring at `address` is as a new one is: there, and never written.
fn is_there(address: usize) -> bool {
    let mut present = [0_u8];
    // SAFETY: asks for one page, by its address.
    let asked = unsafe { libc::mincore(std::ptr::without_provenance_mut(address), 4096, present.as_mut_ptr()) };
    // Other threads may have mapped other memory there: of zeros.
    // SAFETY: mapped; the first CQE's last byte.
    asked == 0 && unsafe { std::ptr::with_exposed_provenance::<u8>(address + 63).read_volatile() } == 0xf0
}

#[test]
fn the_ring_of_a_completion_queue_that_cannot_be_destroyed_stays() {
    let device = device();
    let cq = on_own_pages(&device);
    let ring = cq.ring_addr();
    assert!(is_there(ring));
    refuse_next_command();
    drop(cq);
    assert!(is_there(ring), "the device still has the queue, and its ring is gone");
}

#[test]
fn what_a_queue_pair_uses_that_cannot_be_destroyed_stays() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = on_own_pages(&device);
    let ring = cq.ring_addr();
    let pair = pd.queue_pair::<Rc>(&cq, &cq).build().expect("a queue pair");
    refuse_next_command();
    drop(pair);
    drop(cq);
    assert!(is_there(ring), "the device still has the queue pair, and the ring of its completions is gone");
}

#[test]
fn what_a_target_uses_that_cannot_be_destroyed_stays() {
    let device = device();
    let (path, pd) = (device.path(1, None).expect("a path"), device.protection_domain().expect("a PD"));
    let (cq, srq) = (on_own_pages(&device), pd.shared_recv_queue(8, 1).expect("an SRQ"));
    let ring = cq.ring_addr();
    let target = pd.target(&cq, srq.handle()).build(&path, DcKey(1)).expect("a target");
    refuse_next_command();
    drop(target);
    drop((srq, cq));
    assert!(is_there(ring), "the device still has the target, and the ring of its completions is gone");
}

#[test]
fn both_rings_stay_if_a_move_goes_wrong() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, b) = connected::<Rc>(&device, &pd);
    a.cq.resize(2000).expect("on pages of this crate's own");
    a.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(7)));
    let ring = a.cq.ring_addr();
    // The queue began anew with the CQE that ended its first ring: the completion has the index 1.
    let op_own = std::ptr::with_exposed_provenance_mut::<u8>(ring + 64 + 63);
    // SAFETY: in the ring, which is there as long as the queue.
    wait_for("a completion", || (unsafe { op_own.read_volatile() } != 0xf0).then_some(()));
    // A device that takes a completion back, so that the queue does not find the end of the ring.
    // SAFETY: in the ring, which is there as long as the queue; the queue reads it whatever it is.
    unsafe { op_own.write_volatile(0xf0) };
    let error = a.cq.resize(100).expect_err("the ring has no end");
    assert!(matches!(error, Error::Parts { object: "completion queue", .. }), "{error}");
    assert_ne!(a.cq.ring_addr(), ring);
    assert!(is_there(ring), "the device may be writing to the ring that is gone");
    assert_eq!(a.cq.poll().map(|_| ()), None);
}

/// The kernel refuses a channel of another open by itself; so does the software device.
#[test]
fn a_channel_of_another_open_is_none() {
    let (device, other) = (device(), device());
    let (own, foreign) =
        (device.completion_channel().expect("a channel"), other.completion_channel().expect("another's"));
    let create = |channel: &blueflame::verbs::CompletionChannel| {
        // SAFETY: context and channel are alive.
        unsafe { blueflame_sys::ibv_create_cq(device.as_raw(), 8, std::ptr::null_mut(), channel.as_raw(), 0) }
    };
    assert!(create(&foreign).is_null());
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EBADF));
    let cq = create(&own);
    assert!(!cq.is_null());
    // SAFETY: just made, and used by nothing.
    assert_eq!(unsafe { blueflame_sys::ibv_destroy_cq(cq) }, 0);
}

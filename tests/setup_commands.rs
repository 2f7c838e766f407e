//! The number of commands that set-up gives the device: the same as with hand-written calls of libibverbs and libmlx5.
//!
//! Counts of commands belong here. Their results belong in `tests/verbs`.
//!
//! A command is a system call, and most also cost work in the NIC's firmware. The software device counts them:
//!
//! ```text
//! softhca-run --
//! ```

#![cfg(feature = "verbs")]

#[path = "../devx/benches/setup/bare.rs"]
mod bare;

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use blueflame::types::Psn;
use blueflame::verbs::{Cq, OwnedCq, Path, ProtectionDomain, QueuePair};
use blueflame::wqe::{self, EncodeError, Sge};
use blueflame::{Lkey, PostError, transport};
use blueflame_sys as sys;

use bare::{Bare, Domain, Shape};

use on_device::device;

const SHAPE: Shape = Shape { sends: 16, receives: 16, inline: 28 };
const PSN: Psn = Psn::truncate(1);

/// How many commands this thread has given to the software device.
fn commands() -> u64 {
    // SAFETY: looks a name up among the loaded objects.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"softhca_commands".as_ptr()) };
    assert!(!symbol.is_null(), "no softhca_commands: run this by ./run, or under softhca-run");
    // SAFETY: the preloaded object's function of this name is of this type.
    unsafe { std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> u64>(symbol)() }
}

/// The result of `f`, and the number of its commands.
fn counted<T>(f: impl FnOnce() -> T) -> (T, u64) {
    let before = commands();
    let made = f();
    (made, commands() - before)
}

fn build(pd: &ProtectionDomain, cq: &OwnedCq, shape: Shape) -> QueuePair<transport::Rc> {
    let builder = pd.queue_pair(cq, cq).sends(shape.sends).receives(shape.receives);
    builder.inline(shape.inline).build().expect("a queue pair")
}

fn connect_to_itself(pair: &mut QueuePair<transport::Rc>, path: &Path) {
    let itself = pair.qp.endpoint_with(path, PSN);
    pair.connect(path, &itself, &itself).expect("RTS");
}

/// Makes and destroys `count` queue pairs. libmlx5 then has registers for the next ones: it maps them two at a time,
/// and keeps them.
fn map_registers(pd: &ProtectionDomain, cq: &Cq, count: usize) {
    drop((0..count).map(|_| Bare::new(&Domain::new(pd), cq, SHAPE)).collect::<Vec<_>>());
}

#[test]
fn a_queue_pair_takes_the_commands_of_the_bare_calls_and_no_more() {
    let device = device();
    let (path, pd) = (device.path(1, None).expect("a path"), device.protection_domain().expect("a PD"));
    let cq = device.completion_queue(4095).build().expect("a CQ");
    let handle = cq.handle();
    for count in [1, 64] {
        map_registers(&pd, handle, count);
        let (mut bare, making) =
            counted(|| (0..count).map(|_| Bare::new(&Domain::new(&pd), handle, SHAPE)).collect::<Vec<_>>());
        let ((), connecting) = counted(|| bare.iter_mut().for_each(|bare| bare.connect(&path, PSN)));
        let ((), destroying) = counted(|| drop(bare));
        assert_eq!((making, connecting, destroying), (count as u64, 3 * count as u64, count as u64), "by hand");

        let (mut pairs, made) = counted(|| (0..count).map(|_| build(&pd, &cq, SHAPE)).collect::<Vec<_>>());
        let ((), connected) = counted(|| {
            pairs.iter_mut().for_each(|pair| connect_to_itself(pair, &path));
        });
        let ((), destroyed) = counted(|| drop(pairs));
        assert_eq!((made, connected, destroyed), (making, connecting, destroying), "{count} queue pairs");
    }
}

#[test]
fn queues_take_one_command_each() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (cq, made) = counted(|| device.completion_queue(4095).build().expect("a CQ"));
    assert_eq!(made, 1, "a completion queue");
    let (srq, made) = counted(|| pd.shared_recv_queue(16, 1).expect("an SRQ"));
    assert_eq!(made, 1, "a shared receive queue");
    let domain = pd.thread_domain().expect("a thread domain");
    let build = || pd.queue_pair::<transport::Rc>(&cq, &cq).shared_recv_queue(srq.handle()).build_in(&domain);
    let (_pair, made) = counted(|| build().expect("a queue pair"));
    assert_eq!(made, 1, "a queue pair in a thread domain");
}

#[test]
fn asking_what_the_device_can_do_takes_no_command() {
    let device = device();
    let (attr, commands) = counted(|| device.attr().clone());
    assert_eq!(commands, 0);
    assert!(attr.max_qp_wr > 0 && attr.ports > 0, "{attr:?}");
}

/// The builder takes the queue pair's properties from the answer of the call that makes it, and does not query them.
#[test]
fn a_queue_pair_has_what_a_query_tells() {
    let device = device();
    let (path, pd) = (device.path(1, None).expect("a path"), device.protection_domain().expect("a PD"));
    let cq = device.completion_queue(4095).build().expect("a CQ");
    for sge in [1, 2, 5, 20] {
        for inline in [0, 1, 28, 29, 100, 500] {
            let builder = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(5).receives(3);
            let mut pair = builder.send_sge(sge).recv_sge(2).inline(inline).build().expect("a queue pair");
            let (mut attr, mut init) = (sys::ibv_qp_attr::ZERO, sys::ibv_qp_init_attr::ZERO);
            let mask = (sys::IBV_QP_CAP | sys::IBV_QP_STATE).cast_signed();
            // SAFETY: the queue pair is alive, both structures are ours.
            assert_eq!(unsafe { sys::ibv_query_qp(pair.qp.as_raw(), &raw mut attr, mask, &raw mut init) }, 0);
            assert_eq!((init.sq_sig_all, attr.qp_state), (0, sys::IBV_QPS_RESET));

            connect_to_itself(&mut pair, &path);
            let bytes = [0; 2000];
            let past = &bytes[..init.cap.max_inline_data as usize + 1];
            let too_long = EncodeError::InlineTooLong { bytes: past.len(), limit: init.cap.max_inline_data };
            assert_eq!(pair.sq.post(&wqe::send().inline_slice(past)), Err(PostError::Encode(too_long)));
            let sges = [Sge { addr: 0, length: 1, lkey: Lkey(0) }; 64];
            let past = &sges[..init.cap.max_send_sge as usize + 1];
            let too_many = EncodeError::TooManySges { count: past.len(), limit: init.cap.max_send_sge };
            // SAFETY: not posted.
            let refused = unsafe { pair.sq.post_unchecked(&wqe::send().gather_slice(past)) };
            assert_eq!(refused, Err(PostError::Encode(too_many)));
        }
    }
}

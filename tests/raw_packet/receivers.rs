//! A receiver of frames is the only receiver of its completion queue.
//!
//! Tests of this rule belong here, traffic of receivers in `frames.rs`.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use blueflame::cq::setup::ReceiverError;
use blueflame::queue::tags::TagListSizes;
use blueflame::transport::{self, InlineLayers};
use blueflame::types::DcKey;
use blueflame::verbs::adopt::adopt_qp_shared;
use blueflame::verbs::{Device, Error, OwnedCq, ProtectionDomain};
use blueflame_sys as sys;

use crate::{Frames, device, pair};

fn refused<T>(made: Result<T, Error>) -> ReceiverError {
    match made {
        Err(Error::Receivers { error, .. }) => error,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("made"),
    }
}

/// The object that a call made, or its error.
type Made = Result<Box<dyn Any>, Error>;

/// Each object that receives on a completion queue, made there.
fn others(device: &Device, pd: &ProtectionDomain, cq: &OwnedCq) -> Vec<(&'static str, Made)> {
    fn made<T: 'static>(made: Result<T, Error>) -> Made {
        made.map(|it| Box::new(it) as _)
    }
    let srq = pd.shared_recv_queue(16, 1).expect("a shared receive queue");
    let path = device.path(1, None).expect("a path");
    let domain = device.xrc_domain().expect("an XRC domain");
    let rc = || pd.queue_pair::<transport::Rc>(cq, cq);
    let mut all = vec![
        ("RC", made(rc().build())),
        ("UD", made(pd.queue_pair::<transport::Ud>(cq, cq).build())),
        ("RC, shared receives", made(rc().shared_recv_queue(srq.handle()).build())),
        ("target", made(pd.target(cq, srq.handle()).build(&path, DcKey(1)))),
        ("XRC shared receives", made(pd.xrc_shared_recv_queue(&domain, cq.handle(), 16, 1))),
    ];
    if device.tag_matching().expect("attributes").is_some() {
        all.push(("list of tags", made(pd.tag_matching(cq, &path, &TagListSizes::DEFAULT))));
    }
    all
}

#[test]
fn a_receiver_of_frames_is_the_only_receiver() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let [cq, other] = [(); 2].map(|()| device.completion_queue(2048).build().expect("a CQ"));
    let raw = pair(&pd, &cq);
    // Nothing else receives there.
    let alone = ReceiverError { flow_tags: true, receivers: 1 };
    assert_eq!(refused(pd.queue_pair::<Frames>(&cq, &cq).build()), alone);
    for (name, made) in others(&device, &pd, &cq) {
        let alone = ReceiverError { flow_tags: false, receivers: 1 };
        assert_eq!(refused(made), alone, "{name}");
    }
    let text = refused(pd.queue_pair::<transport::Rc>(&other, &cq).build()).to_string();
    assert!(text.contains("must be the only one"), "{text}");
    // Sends may complete there, and receives elsewhere.
    let sends = pd.queue_pair::<transport::Rc>(&cq, &other).build().expect("receives elsewhere");
    let none = pd.queue_pair::<transport::Rc>(&cq, &cq).no_receives().build().expect("no receives");
    let quiet = pd.queue_pair::<Frames>(&cq, &cq).no_receives().build().expect("no receives");
    drop((none, quiet));
    let elsewhere = ReceiverError { flow_tags: true, receivers: 1 };
    assert_eq!(refused(pd.queue_pair::<Frames>(&cq, &other).build()), elsewhere);
    drop(sends);

    // The other way around, once it is gone: handles count, too.
    let handle = raw.qp.clone();
    drop(raw);
    assert_eq!(refused(pd.queue_pair::<transport::Rc>(&cq, &cq).build()).receivers, 1);
    drop(handle);
    let count = others(&device, &pd, &cq).len();
    for n in 0..count {
        let (name, made) = others(&device, &pd, &cq).swap_remove(n);
        let made = match made {
            Ok(made) => made,
            // libmlx5 makes none on this port, so nothing is counted.
            Err(Error::Call(_)) if name == "list of tags" => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        let error = refused(pd.queue_pair::<Frames>(&cq, &cq).build());
        assert!(error.flow_tags && error.receivers >= 1, "{name}: {error}");
        drop(made);
        drop(pair(&pd, &cq));
    }
    let pairs = [(); 3].map(|()| pd.queue_pair::<transport::Rc>(&cq, &cq).build().expect("numbers tell them apart"));
    let error = refused(pd.queue_pair::<Frames>(&other, &cq).build());
    assert_eq!(error, ReceiverError { flow_tags: true, receivers: 3 });
    assert!(error.to_string().contains("3 receivers"), "{error}");
    drop(pairs);
}

/// The rule covers a receiver that something else made, once it is adopted.
#[test]
fn an_adopted_receiver_of_frames_is_the_only_receiver() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(2048).build().expect("a CQ");
    let mut attr = sys::ibv_qp_init_attr::ZERO;
    (attr.send_cq, attr.recv_cq) = (cq.handle().as_raw(), cq.handle().as_raw());
    attr.qp_type = sys::IBV_QPT_RAW_PACKET;
    attr.cap = sys::ibv_qp_cap { max_send_wr: 4, max_recv_wr: 4, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };
    // SAFETY: the domain and the completion queue are alive.
    let raw = NonNull::new(unsafe { sys::ibv_create_qp(pd.as_raw(), &raw mut attr) }).expect("a queue pair");
    // SAFETY: just made, and destroyed below; nothing else uses it.
    let adopt = || unsafe { adopt_qp_shared::<Frames>(raw) };
    // SAFETY: just made, and destroyed below; nothing else uses it.
    let without_headers = unsafe { adopt_qp_shared::<transport::RawPacket<0>>(raw) };
    match device.inline_layers().expect("the kernel has DevX") {
        InlineLayers::None => drop(without_headers.expect("adopted")),
        needs => {
            let refused = Error::InlineLayers { has: InlineLayers::None, needs };
            assert_eq!(without_headers.map(drop), Err(refused));
        }
    }
    let adopted = adopt().expect("adopted");
    assert_eq!(refused(pd.queue_pair::<transport::Rc>(&cq, &cq).build()).receivers, 1);
    drop(adopted);
    let first = pd.queue_pair::<transport::Rc>(&cq, &cq).build().expect("nothing receives there");
    let Err(Error::Receivers { cqn, error }) = adopt() else { panic!("another receives there") };
    assert_eq!((cqn, error), (cq.handle().cqn(), ReceiverError { flow_tags: true, receivers: 1 }));
    drop(first);
    // SAFETY: the queues over it are gone.
    assert_eq!(unsafe { sys::ibv_destroy_qp(raw.as_ptr()) }, 0);
}

/// The kernel refuses this thread's `nth` command from now on; 0: none.
fn refuse_command(nth: u64) {
    // SAFETY: looks a name up among the loaded objects.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"softhca_refuse".as_ptr()) };
    assert!(!symbol.is_null(), "no softhca_refuse: run this by ./run test, or under softhca-run");
    // SAFETY: the preloaded object's function of this name is of this type.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(u64, c_int)>(symbol)(nth, libc::EIO) };
}

/// The rule covers a target that could be neither finished nor destroyed.
#[test]
fn a_target_that_cannot_go_still_receives() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(2048).build().expect("a CQ");
    let srq = pd.shared_recv_queue(16, 1).expect("a shared receive queue");
    let mut path = device.path(1, None).expect("a path");
    // There is no such GID, so the third command fails, which moves the target to RTR.
    path.sgid.as_mut().expect("a GID").index = u8::MAX;
    // And the fourth one, which destroys it.
    refuse_command(4);
    let made = pd.target(&cq, srq.handle()).build(&path, DcKey(1)).map(drop);
    refuse_command(0);
    assert!(matches!(&made, Err(Error::Call(error)) if error.call == "ibv_modify_qp to RTR"), "{made:?}");
    let there = ReceiverError { flow_tags: true, receivers: 1 };
    assert_eq!(refused(pd.queue_pair::<Frames>(&cq, &cq).build()), there);
}

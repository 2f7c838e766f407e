//! Options that both ends of a connection agree on (ECE). The software device has version 1, and no option of it.
//!
//! The crate's calls belong here, how the firmware chooses in `softhca/src/firmware/commands/qp_tests.rs`.

use blueflame::transport;
use blueflame::types::Psn;
use blueflame::verbs::{Ece, Endpoint, Error};
use blueflame_sys as sys;

use crate::end::{End, connected};
use crate::on_device::device;

const VERSION_1: Ece = Ece { vendor_id: Ece::MELLANOX, options: 0x1000_0000 };

/// What libibverbs says of a queue pair.
fn by_libibverbs(end: &End) -> u32 {
    let mut ece = sys::ibv_ece::ZERO;
    // SAFETY: the queue pair is alive, the structure ours.
    assert_eq!(unsafe { sys::ibv_query_ece(end.pair.qp.as_raw(), &raw mut ece) }, 0);
    assert_eq!((ece.vendor_id, ece.comp_mask), (Ece::MELLANOX, 0));
    ece.options
}

#[test]
fn endpoints_tell_the_options_and_connecting_enables_the_common_ones() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let (a, b) = connected(&device, &pd);
    assert_eq!((a.pair.qp.ece(), b.pair.qp.ece()), (Some(VERSION_1), Some(VERSION_1)));
    assert_eq!((by_libibverbs(&a), by_libibverbs(&b)), (0x1000_0000, 0x1000_0000));

    let enabled = |peers: Option<Ece>| {
        let (mut a, b) = (End::<transport::Rc>::new(&device, &pd), End::<transport::Rc>::new(&device, &pd));
        let at_b = b.pair.qp.endpoint(&path);
        assert_eq!(at_b.ece, Some(VERSION_1));
        a.connect(&path, 1, &Endpoint { ece: peers, ..at_b });
        assert_eq!(a.pair.qp.ece().map_or(0, |ece| ece.options), by_libibverbs(&a));
        a.pair.qp.ece()
    };
    assert_eq!(enabled(Some(Ece { options: 0x1000_0007, ..VERSION_1 })), Some(VERSION_1), "a peer with more");
    assert_eq!(enabled(Some(Ece { options: 7, ..VERSION_1 })), None, "a peer of another version");
    assert_eq!(enabled(Some(Ece { vendor_id: 0x8086, ..VERSION_1 })), Some(VERSION_1), "of another vendor: not asked");
    assert_eq!(enabled(None), Some(VERSION_1), "a peer that does not tell: not asked");
}

#[test]
fn other_options_are_asked_for_with_the_next_state_change() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let path = device.path(1, None).expect("a path");
    let mut a = End::<transport::Rc>::new(&device, &pd);
    let qp = a.pair.qp.clone();
    let Err(Error::Call(error)) = qp.set_ece(Ece { vendor_id: 0x8086, ..VERSION_1 }) else { panic!("accepted") };
    assert_eq!((error.call, error.errno), ("ibv_set_ece", libc::EINVAL));
    qp.set_ece(Ece { options: 0x1000_0007, ..VERSION_1 }).expect("set");
    assert_eq!((qp.ece(), qp.endpoint(&path).ece), (None, None), "not known before the device has answered");
    qp.to_init(&path).expect("INIT");
    assert_eq!(qp.ece(), Some(VERSION_1));

    // By libibverbs, as programs do that connect with librdmacm.
    let mut ece = sys::ibv_ece { vendor_id: Ece::MELLANOX, options: 7, comp_mask: 0 };
    // SAFETY: the queue pair is alive, the structure ours.
    assert_eq!(unsafe { sys::ibv_set_ece(qp.as_raw(), &raw mut ece) }, 0);
    let itself = Endpoint { ece: None, ..qp.endpoint_with(&path, Psn::truncate(3)) };
    a.pair.connect(&path, &itself, &itself).expect("connect");
    assert_eq!((qp.ece(), by_libibverbs(&a)), (None, 0), "version 0 asks for nothing");
}

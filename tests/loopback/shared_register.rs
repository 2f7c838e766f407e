//! Several queues on one register, in turn and from two threads.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};

use blueflame::db::{Register, SharedRegister};
use blueflame::types::WrId;
use blueflame::{transport, wqe};
use softhca::embedded::{Buffer, ConnectOptions, EmbeddedDevice, RegisterOptions};

use crate::common::{End, Shape, register, remote};

/// Two queue pairs that share a register, each connected to itself.
fn pair_on_one_register<'a>(
    hca: &mut EmbeddedDevice,
    place: &'a mut Option<SharedRegister>,
) -> [(End<transport::Rc, &'a SharedRegister>, Buffer); 2] {
    let shape = Shape::default();
    let mut shared = None;
    let first = End::<transport::Rc, _>::with_register(hca, &shape, |qp| {
        // SAFETY: the only value made of this register; it is shared by reference.
        let made = &*place.insert(unsafe { SharedRegister::from_parts(register(qp)) }.expect("a register"));
        *shared.insert(made)
    });
    let shape = Shape { register: RegisterOptions::SharedWith(first.qpn), ..shape };
    let second = End::<transport::Rc, _>::with_register(hca, &shape, |_| shared.expect("the first one's register"));
    [first, second].map(|end| {
        hca.connect_to(end.qpn, &hca.endpoint(end.qpn), &ConnectOptions::default()).expect("a connection");
        (end, hca.buffer(256).expect("memory"))
    })
}

fn post<R: Register>(end: &mut End<transport::Rc, R>, window: &Buffer, n: u64) {
    let mut bytes = [0; 28];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    bytes[20..].copy_from_slice(&n.to_be_bytes());
    end.sq.post(&wqe::write(remote(window, 0)).inline(&bytes).signaled(WrId(n))).expect("room");
}

fn check<R: Register>(end: &mut End<transport::Rc, R>, window: &Buffer, n: u64) {
    let cqe = end.cq.poll().expect("a completion");
    cqe.check().expect("success");
    assert_eq!(end.sq.retire(&cqe).expect("outstanding").wr_id, WrId(n));
    assert_eq!(window.to_vec(0, 8), n.to_be_bytes());
    assert_eq!(window.to_vec(20, 8), n.to_be_bytes());
    assert!(end.cq.poll().is_none());
}

#[test]
fn in_turn() {
    let mut hca = EmbeddedDevice::standalone().expect("a device");
    let mut place = None;
    let mut ends = pair_on_one_register(&mut hca, &mut place);
    for n in 0..1000 {
        let (end, window) = &mut ends[(n % 3 == 0) as usize];
        post(end, window, n);
        assert!(hca.run_until_idle());
        check(end, window, n);
        assert_eq!(hca.complaints(), []);
    }
}

/// Both threads ring at the same time; the device looks when both have, and each half must hold one whole WQE.
#[test]
fn from_two_threads() {
    let mut hca = EmbeddedDevice::standalone().expect("a device");
    let mut place = None;
    let mut ends = pair_on_one_register(&mut hca, &mut place);
    for n in 0..1000 {
        let ready = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for (end, window) in &mut ends {
                scope.spawn(|| {
                    // Spinning, so that both go on in the same moment.
                    ready.fetch_add(1, Ordering::AcqRel);
                    while ready.load(Ordering::Acquire) < 2 {
                        spin_loop();
                    }
                    post(end, window, n);
                });
            }
        });
        assert!(hca.run_until_idle());
        assert_eq!(hca.complaints(), []);
        for (end, window) in &mut ends {
            check(end, window, n);
        }
    }
}

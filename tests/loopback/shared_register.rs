//! Several queues on one register, in turn and from two threads.
//!
//! Deliveries belong here, the register's model in `tests/shared_register_model`.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};

use blueflame::db::{Register, SharedRegister};
use blueflame::types::WrId;
use blueflame::{transport, wqe};
use blueflame_testkit::{Buffer, ConnectOptions, Device, End, RegisterOptions, Shape, register};

/// Two queue pairs that share a register, each connected to itself.
fn pair_on_one_register<'a>(
    hca: &Device,
    place: &'a mut Option<SharedRegister>,
) -> [(End<transport::Rc, &'a SharedRegister>, Buffer); 2] {
    let shape = Shape::SMALL;
    let mut shared = None;
    // SAFETY: the register is the queue pair's, and this the only value made of it; it is shared by reference.
    let first = unsafe {
        End::<transport::Rc, _>::with_register(hca, &shape, |qp| {
            let made = &*place.insert(SharedRegister::from_parts(register(qp))?);
            Ok(*shared.insert(made))
        })
    }
    .expect("an end");
    let shape = Shape { register: RegisterOptions::SharedWith(first.parts().qpn), ..shape };
    let ring_by = |_: &_| Ok(shared.expect("the first one's register"));
    // SAFETY: the register is the queue pair's, too.
    let second = unsafe { End::<transport::Rc, _>::with_register(hca, &shape, ring_by) }.expect("an end");
    [first, second].map(|end| {
        end.connect(&end.endpoint(), &ConnectOptions::default()).expect("a connection");
        (end, hca.buffer(256).expect("memory"))
    })
}

fn post<R: Register>(end: &mut End<transport::Rc, R>, window: &Buffer, n: u64) {
    let mut bytes = [0; 28];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    bytes[20..].copy_from_slice(&n.to_be_bytes());
    end.sq.post(&wqe::write(window.remote()).inline(&bytes).signaled(WrId(n))).expect("room");
}

fn check<R: Register>(end: &mut End<transport::Rc, R>, window: &Buffer, n: u64) {
    let cqe = end.cq.poll().expect("a completion");
    cqe.check().expect("success");
    assert_eq!(end.sq.retire(&cqe).expect("outstanding").wr_id, WrId(n));
    assert_eq!(window.to_vec(..8), n.to_be_bytes());
    assert_eq!(window.to_vec(20..28), n.to_be_bytes());
    assert!(end.cq.poll().is_none());
}

#[test]
fn in_turn() {
    let hca = Device::standalone().expect("a device");
    let mut place = None;
    let mut ends = pair_on_one_register(&hca, &mut place);
    for n in 0..1000 {
        let (end, window) = &mut ends[(n % 3 == 0) as usize];
        post(end, window, n);
        hca.run_until_idle().expect("an end");
        check(end, window, n);
        assert_eq!(hca.complaints(), []);
    }
}

/// Both threads ring at the same time; the device looks when both have, and each half must hold one whole WQE.
#[test]
fn from_two_threads() {
    let hca = Device::standalone().expect("a device");
    let mut place = None;
    let mut ends = pair_on_one_register(&hca, &mut place);
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
        hca.run_until_idle().expect("an end");
        assert_eq!(hca.complaints(), []);
        for (end, window) in &mut ends {
            check(end, window, n);
        }
    }
}

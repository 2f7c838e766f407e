//! Queue pairs and completion queues of other libraries.
//!
//! Adopted queues belong here, adopted contexts, domains and channels in `foreign.rs`.

use std::ptr::{NonNull, null_mut};

use blueflame::cq::{CqeError, Side};
use blueflame::types::{Psn, WrId};
use blueflame::verbs::adopt::{adopt_cq, adopt_qp};
use blueflame::verbs::{Device, Error, OwnedCq, Path, ProtectionDomain, QpState, QueuePair};
use blueflame::{transport, wqe};
use blueflame_sys as sys;

use crate::end::End;
use crate::on_device::{device, wait_for};

/// As other libraries make them: plain verbs, no flags.
struct Plain {
    cq: NonNull<sys::ibv_cq>,
    qp: NonNull<sys::ibv_qp>,
}

impl Plain {
    fn new(device: &Device, pd: &ProtectionDomain) -> Self {
        // SAFETY: the context is open; a completion queue without channel or context.
        let cq =
            NonNull::new(unsafe { sys::ibv_create_cq(device.as_raw(), 32, null_mut(), null_mut(), 0) }).expect("a CQ");
        let mut attr = sys::ibv_qp_init_attr::ZERO;
        (attr.send_cq, attr.recv_cq) = (cq.as_ptr(), cq.as_ptr());
        attr.qp_type = sys::IBV_QPT_RC;
        attr.sq_sig_all = 1;
        attr.cap =
            sys::ibv_qp_cap { max_send_wr: 8, max_recv_wr: 8, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };
        // SAFETY: the domain and the queue are alive.
        let qp = NonNull::new(unsafe { sys::ibv_create_qp(pd.as_raw(), &raw mut attr) }).expect("a QP");
        Self { cq, qp }
    }

    /// The requests that the other library's own queue would take at a time.
    fn max_send_wr(&self) -> u32 {
        // SAFETY: integers and null pointers.
        let (mut attr, mut init) = (sys::ibv_qp_attr::ZERO, sys::ibv_qp_init_attr::ZERO);
        let mask = sys::IBV_QP_CAP as i32;
        // SAFETY: the queue pair is alive, both structures are ours.
        assert_eq!(unsafe { sys::ibv_query_qp(self.qp.as_ptr(), &raw mut attr, mask, &raw mut init) }, 0);
        init.cap.max_send_wr
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        // SAFETY: the adopting queues and handles are gone, and left both to their owner.
        unsafe {
            assert_eq!(sys::ibv_destroy_qp(self.qp.as_ptr()), 0);
            assert_eq!(sys::ibv_destroy_cq(self.cq.as_ptr()), 0);
        }
    }
}

fn adopt(plain: &Plain) -> (QueuePair<transport::Rc>, OwnedCq) {
    // SAFETY: alive to the end of the test, posted to, polled and rung for by nobody else. The completion queue first:
    // only completions of a queue that the queue pair finds are its own.
    let cq = unsafe { adopt_cq(plain.cq) }.expect("adopt");
    // SAFETY: alive to the end of the test, posted to, polled and rung for by nobody else.
    (unsafe { adopt_qp(plain.qp) }.expect("adopt"), cq)
}

fn connect(path: &Path, a: &mut End, pair: &mut QueuePair<transport::Rc>) {
    let (at_a, at_b) = (a.pair.qp.endpoint_with(path, Psn::truncate(1)), pair.qp.endpoint_with(path, Psn::truncate(2)));
    a.connect(path, 1, &at_b);
    pair.qp.to_init(path).expect("INIT");
    pair.connect(path, &at_b, &at_a).expect("connect");
}

#[test]
fn data_in_a_cqe_is_never_taken_for_data_in_the_buffer() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let plain = Plain::new(&device, &pd);
    let mut a = End::<transport::Rc>::new(&device, &pd);
    let (mut pair, mut cq) = adopt(&plain);
    connect(&device.path(1, None).expect("a path"), &mut a, &mut pair);
    let qpn = pair.qp.qpn();
    let mut seen_in_cqe = 0;
    for len in [0_usize, 1, 31, 32, 33, 48] {
        a.buffer.fill(0xa5);
        // SAFETY: looked at when the receive has completed.
        unsafe { pair.rq.post_unchecked(WrId(9), &[a.buffer.sge()]) }.expect("room");
        let message: Vec<u8> = (1..=len as u8).collect();
        a.pair.sq.post(&wqe::send().inline_slice(&message[..]).signaled(WrId(1))).expect("room");
        wait_for("the send", || a.cq.poll().map(|cqe| a.pair.sq.retire(&cqe).expect("outstanding")));
        wait_for("the receive", || {
            let cqe = cq.poll()?;
            let mut bytes = vec![0; len];
            match cqe.check() {
                Ok(side) => {
                    assert_eq!(side, Side::Responder);
                    a.buffer.read(0, &mut bytes);
                }
                Err(error) => {
                    assert_eq!(error, CqeError::DataInCqe { side: Side::Responder, qpn });
                    assert_eq!(cqe.copy_inline(&mut bytes), Ok(len));
                    seen_in_cqe += 1;
                }
            }
            assert_eq!((bytes, cqe.byte_len() as usize), (message.clone(), len));
            assert_eq!(pair.rq.retire(&cqe), Ok(WrId(9)));
            Some(())
        });
    }
    assert!(seen_in_cqe >= 3, "libmlx5 asks for it unless told otherwise");
    // libmlx5 asks for a READ's data in the CQE as well, if all requests are signalled.
    a.buffer.write(100, b"read by the adopted");
    // SAFETY: looked at when the READ has completed.
    unsafe { pair.sq.post_unchecked(&wqe::read(a.buffer.remote().at(100)).scatter([a.buffer.sge_of(0..4)])) }
        .expect("room");
    let mut bytes = [0; 4];
    wait_for("the READ", || {
        let cqe = cq.poll()?;
        match cqe.check() {
            Ok(side) => {
                assert_eq!(side, Side::Requester);
                a.buffer.read(0, &mut bytes);
            }
            Err(error) => {
                assert_eq!(error, CqeError::DataInCqe { side: Side::Requester, qpn });
                cqe.copy_inline(&mut bytes).expect("the data");
            }
        }
        pair.sq.retire(&cqe).expect("outstanding");
        Some(())
    });
    assert_eq!(&bytes, b"read");
}

#[test]
fn objects_are_adopted_once_as_what_they_are() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let plain = Plain::new(&device, &pd);
    // SAFETY: alive, and not posted to.
    let wrong = unsafe { adopt_qp::<transport::Uc>(plain.qp) }.expect_err("an RC queue pair as UC");
    assert_eq!(wrong.to_string(), "the queue pair is of type RC, and was adopted as UC");
    let (pair, cq) = adopt(&plain);
    let (qpn, cqn) = (pair.qp.qpn().get(), cq.handle().cqn().get());
    // SAFETY: refused.
    let (qp_twice, cq_twice) =
        unsafe { (adopt_qp::<transport::Rc>(plain.qp).expect_err("twice"), adopt_cq(plain.cq).expect_err("twice")) };
    assert_eq!(qp_twice, Error::Taken { object: "queue pair", number: qpn });
    assert_eq!(cq_twice, Error::Taken { object: "completion queue", number: cqn });
    assert!(qp_twice.to_string().contains(&format!("{qpn:#x} has a queue of this crate already")), "{qp_twice}");
    // Nor may those be adopted that this crate has made.
    let own = End::<transport::Rc>::new(&device, &pd);
    let (qp, made) = (own.pair.qp.as_raw(), own.cq.handle().as_raw());
    // SAFETY: refused.
    let refused = unsafe {
        (
            adopt_qp::<transport::Rc>(NonNull::new(qp).expect("a QP")).err(),
            adopt_cq(NonNull::new(made).expect("a CQ")).err(),
        )
    };
    assert!(matches!(refused, (Some(Error::Taken { .. }), Some(Error::Taken { .. }))), "{refused:?}");
    // Given back, they can be adopted again.
    drop((pair, cq));
    drop(adopt(&plain));
}

#[test]
fn an_adopted_queue_takes_what_its_library_would_and_opens_when_somebody_else_connects_it() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let plain = Plain::new(&device, &pd);
    let (mut pair, cq) = adopt(&plain);
    assert_eq!(pair.sq.depth().0, 0, "it is in RESET");
    // As librdmacm does it: by the raw queue pair.
    let path = device.path(1, None).expect("a path");
    let other = Plain::new(&device, &pd);
    {
        // SAFETY: alive, and nobody else's.
        let mut other = unsafe { adopt_qp::<transport::Rc>(other.qp) }.expect("adopt");
        let at_other = other.qp.endpoint_with(&path, Psn::truncate(5));
        pair.qp.to_init(&path).expect("INIT");
        pair.qp.to_rtr(&path, &at_other).expect("RTR");
        let itself = pair.qp.endpoint_with(&path, Psn::truncate(6));
        other.qp.to_init(&path).expect("INIT");
        other.connect(&path, &at_other, &itself).expect("connect");
    }
    let mut attr = sys::ibv_qp_attr::ZERO;
    attr.qp_state = sys::IBV_QPS_RTS;
    (attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.sq_psn, attr.max_rd_atomic) = (14, 7, 7, 6, 1);
    let mask = sys::IBV_QP_STATE
        | sys::IBV_QP_SQ_PSN
        | sys::IBV_QP_TIMEOUT
        | sys::IBV_QP_RETRY_CNT
        | sys::IBV_QP_RNR_RETRY
        | sys::IBV_QP_MAX_QP_RD_ATOMIC;
    // SAFETY: the queue pair is alive.
    assert_eq!(unsafe { sys::ibv_modify_qp(plain.qp.as_ptr(), &raw mut attr, mask as i32) }, 0);
    assert_eq!(pair.sq.depth().0, 0, "nobody has told the queue");
    assert_eq!(pair.refresh(), Ok(QpState::ReadyToSend));
    assert_eq!(u32::from(pair.sq.depth().0), plain.max_send_wr());
    // One that is ready already is open from the start.
    drop((pair, cq));
    let (pair, _cq) = adopt(&plain);
    assert_eq!(u32::from(pair.sq.depth().0), plain.max_send_wr());
}

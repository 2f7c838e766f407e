//! The data path in one page: WRITE a message into the peer's memory, READ it back, check.
//!
//! `cargo run --example quickstart --no-default-features` needs no NIC and no system package: the device is a software mlx5 in
//! this process. With a NIC, `blueflame::verbs` makes the queues instead, and everything after "post" stays the same.

use std::{error::Error, mem::MaybeUninit, ptr::NonNull};

use blueflame::cq::{CompletionQueue, CqParts};
use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::queue::{SendQueue, SqParts, WqeRecord};
use blueflame::types::{CqCi, Cqn, Lkey, Qpn, Rkey, SqPi, WrId};
use blueflame::{Remote, Sge, transport, wqe};
use softhca::embedded::{ConnectOptions, CqOptions, EmbeddedDevice, QpOptions};

fn main() -> Result<(), Box<dyn Error>> {
    // A device, and on it: a completion queue, two queue pairs connected to each other, registered memory for each.
    let mut hca = EmbeddedDevice::standalone()?;
    let cq = hca.create_cq(CqOptions::new(16))?;
    let (qp, peer) = (hca.create_qp(QpOptions::rc(cq.cqn))?, hca.create_qp(QpOptions::rc(cq.cqn))?);
    hca.connect_own(qp.qpn, peer.qpn, &ConnectOptions::default())?;
    let (ours, theirs) = (hca.buffer(4096)?, hca.buffer(4096)?);

    // The device's rings, doorbell records and doorbell register become our queues.
    let mut shadow = [MaybeUninit::<WqeRecord>::uninit(); 64];
    let sq = SqParts {
        ring: qp.sq.buf,
        wqebbs: qp.sq.wqe_cnt,
        dbrec: qp.dbrec,
        qpn: Qpn::truncate(qp.qpn),
        max_inline: 64,
        max_sge: 4,
        signal_all: false,
        pi: SqPi(0),
        shadow: NonNull::from(&mut shadow).cast(),
    };
    let (buf, cqe_cnt, cqe_size, dbrec, cq_uar) = (cq.buf, cq.cqe_cnt, cq.cqe_size, cq.dbrec, cq.cq_uar);
    let cq = CqParts { buf, cqe_cnt, cqe_size, dbrec, cq_uar, cqn: Cqn::truncate(cq.cqn), ci: CqCi::truncate(0) };
    // SAFETY: the parts are a new queue pair's and a new completion queue's, and `hca` and `shadow` outlive both queues.
    let (mut sq, mut cq) = unsafe {
        let register = ExclusiveRegister::from_parts(RegisterParts { reg: qp.bf_reg, size: qp.bf_size })?;
        (
            SendQueue::<transport::Rc>::from_parts(sq, register)?,
            CompletionQueue::<blueflame::cq::Standard>::from_parts(cq)?,
        )
    };

    // Post two requests. The bytes to write travel inside the first; the second begins when the first is done.
    let remote = Remote { addr: theirs.addr(), rkey: Rkey(theirs.rkey()) };
    let local = Sge { addr: ours.addr(), length: 14, lkey: Lkey(ours.lkey()) };
    sq.post(&wqe::write(remote).inline(b"hello, device!").signaled(WrId(1)))?;
    // SAFETY: `ours` stays registered, and is looked at when the READ has completed.
    unsafe { sq.post_unchecked(&wqe::read(remote).scatter([local]).signaled(WrId(2)))? };
    hca.run_until_idle();
    while let Some(cqe) = cq.poll() {
        cqe.check()?;
        println!("request {:?} is done", sq.retire(&cqe)?.wr_id);
    }
    assert_eq!((theirs.to_vec(0, 14), ours.to_vec(0, 14)), (b"hello, device!".to_vec(), b"hello, device!".to_vec()));
    println!("verified: written there, and read back");
    Ok(())
}

//! Requests that fail: real failures, and every possible syndrome.
//!
//! Failures belong here, fields of good CQEs in `extended.rs`.

use blueflame::cq::WcStatus;
use blueflame::types::{Lkey, Rkey};
use blueflame::{Remote, Sge, transport};
use blueflame_testkit::request::{Data, Kind, Wr};

use crate::completions;
use crate::post::{self, Way};
use crate::twin::{Twins, wait};
use crate::verbs::{Fabric, Geometry, PolledCq};

/// Vendor syndrome and syndrome in an error CQE's last 64 bytes (rdma-core `providers/mlx5/mlx5dv.h`, `mlx5_err_cqe`).
const SYNDROMES: usize = 54;

/// Overwrites the syndrome of 256 flushed completions with each value, and compares the readings.
fn every_syndrome(cq: &mut PolledCq) {
    wait("flushed requests", || cq.is_written(255).then_some(())).expect("256 CQEs");
    for syndrome in 0..=255_u8 {
        cq.patch(syndrome.into(), SYNDROMES, &[syndrome.wrapping_mul(7), syndrome]);
    }
    for syndrome in 0..=255_u8 {
        let (mut cqe, wc) = cq.poll().expect("written");
        assert_eq!(cqe.bytes[cqe.size - 64 + SYNDROMES + 1], syndrome);
        let completion =
            completions::agree(&mut cqe, &wc).unwrap_or_else(|why| panic!("syndrome {syndrome:#x}: {why}"));
        assert_eq!(completion.vendor_err, Some(syndrome.wrapping_mul(7).into()));
        assert_eq!(wc.wr_id, u64::from(syndrome));
    }
}

#[test]
fn every_syndrome_has_one_status() {
    let fabric = Fabric::new();
    for cqe_bytes in [64, 128] {
        let geometry = Geometry { sends: 512, receives: 512, cqe_bytes, ..Geometry::default() };
        let mut twins = Twins::<transport::Rc>::new(&fabric, &geometry, cqe_bytes == 64);
        let list: Vec<_> = (0..256).map(|id| (id, vec![fabric.buffer.sge_of(0..64)])).collect();
        twins.receive(&list).expect("equal");
        twins.theirs.handle.to_error().expect("ERR");
        every_syndrome(&mut twins.theirs.recv_cq);
        let remote = Remote { addr: fabric.buffer.addr(), rkey: fabric.buffer.rkey() };
        let list: Vec<_> = (0..256).map(|id| Wr::new(Kind::Write(remote), Data::Sges(Vec::new()), id)).collect();
        post::send(twins.theirs.raw.raw, Way::PostSend, &list, 1, &[]);
        every_syndrome(&mut twins.theirs.send_cq);
    }
}

/// Real failures. A request that the responder refuses ends as flushed here: connected to itself, the queue pair goes
/// to the error state before the refusal comes back.
#[test]
fn failures_have_the_same_status() {
    let fabric = Fabric::new();
    let good = fabric.buffer.sge_of(0..256);
    let remote = Remote { addr: fabric.buffer.addr() + 4096, rkey: fabric.buffer.rkey() };
    let bad_remote = Remote { rkey: Rkey(0xdead_be00), ..remote };
    let bad_local = Sge { lkey: Lkey(0xdead_be00), ..good };
    let receive_short = vec![(99, vec![fabric.buffer.sge_of(0..16)])];
    type Case = (&'static str, Kind, Sge, Vec<post::Receive>, WcStatus, Option<WcStatus>);
    let cases: [Case; 3] = [
        ("WRITE, bad rkey", Kind::Write(bad_remote), good, vec![], WcStatus::WrFlushErr, None),
        ("WRITE, bad lkey", Kind::Write(remote), bad_local, vec![], WcStatus::LocProtErr, None),
        ("SEND, short receive", Kind::Send, good, receive_short, WcStatus::WrFlushErr, Some(WcStatus::LocLenErr)),
    ];
    for (name, kind, sge, receives, status, responder) in cases {
        let mut twins = Twins::<transport::Rc>::new(&fabric, &Geometry::default(), false);
        if !receives.is_empty() {
            twins.receive(&receives).expect("equal");
        }
        let failing = Wr::new(kind, Data::Sges(vec![sge]), 1);
        let flushed = Wr::new(Kind::Write(remote), Data::Sges(vec![good]), 2);
        twins.send(Way::PostSend, true, &[failing, flushed]).unwrap_or_else(|why| panic!("{name}: {why}"));
        let mut next = || twins.send_completion().unwrap_or_else(|why| panic!("{name}: {why}")).status;
        assert_eq!([next(), next()], [status as u32, WcStatus::WrFlushErr as u32], "{name}");
        if let Some(status) = responder {
            let completion = twins.recv_completion().unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(completion.status, status as u32, "{name}");
        }
    }
}

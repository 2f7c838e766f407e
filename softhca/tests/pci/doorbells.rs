//! UAR pages: stores to them ring doorbells, as long as a driver has the interface.
//!
//! UAR pages belong here, the initialization segment in `registers.rs`.

use crate::driver::*;
use softhca::complaint::Complaint;
use softhca::context::{CqContext, QpContext, SqContext, Transport};

/// Doorbells of the page's first register: its two halves.
const HALVES: [u64; 2] = [0x800, 0x900];

/// A queue pair; its number, and that of its UAR page.
pub(crate) fn queue_pair(driver: &mut Driver) -> (u32, u32) {
    let uar = word(&driver.run(ALLOC_UAR, 0, 0x10, 0x10).expect("a UAR page"), 8);
    let pd = word(&driver.run(ALLOC_PD, 0, 0x10, 0x10).expect("a PD"), 8);
    let device = driver.function.device();
    let cq = CqContext::new(OBJECTS, 4, OBJECTS + 0x1000, uar);
    let cqn = device.create_cq(cq).expect("a CQ");
    let qp = QpContext {
        pd,
        send_cqn: cqn,
        recv_cqn: cqn,
        sq: Some(SqContext { buf: OBJECTS + 0x2000, log_size: 4, ..SqContext::default() }),
        dbr: OBJECTS + 0x1040,
        uar,
        ..QpContext::new(Transport::Rc)
    };
    (device.create_qp(qp).expect("a QP"), uar)
}

/// Rings: the first 8 bytes of a NOP of index `index`.
fn ring(driver: &mut Driver, (qpn, uar): (u32, u32), half: u64, index: u8) {
    let [_, a, b, c] = qpn.to_be_bytes();
    driver.function.write(u64::from(uar) * 4096 + half, &[0, 0, index, 0, a, b, c, 1]);
}

#[test]
fn each_store_is_seen_and_halves_need_not_take_turns() {
    let mut driver = Driver::initialized();
    let queue = queue_pair(&mut driver);
    for (index, half) in [0, 0, 1, 1, 0].map(|half| HALVES[half]).into_iter().enumerate() {
        ring(&mut driver, queue, half, index as u8);
        let complaints = driver.function.device().complaints();
        // It is seen, since the queue pair cannot send yet.
        let seen = complaints.iter().any(|complaint| matches!(complaint, Complaint::NotReadyToSend { .. }));
        assert!(seen, "{complaints:?}");
        let turns = complaints.iter().any(|complaint| matches!(complaint, Complaint::SameHalf { .. }));
        assert!(!turns, "{complaints:?}");
    }
    // Eight bytes across two pages are no doorbell of either.
    let across = [&[0; 4], &queue.0.to_be_bytes()[..]].concat();
    driver.function.write(u64::from(queue.1) * 4096 + 0xffc, &across);
    let complaints = driver.function.device().complaints();
    assert!(complaints.iter().all(|complaint| matches!(complaint, Complaint::NotADoorbell { .. })), "{complaints:?}");
    assert_eq!(complaints.len(), 2);
}

#[test]
fn nobody_hears_doorbells_without_a_driver() {
    let mut driver = Driver::initialized();
    let queue = queue_pair(&mut driver);
    let low = driver.load(QUEUE_LOW);
    driver.store(QUEUE_LOW, low & 0xffff_f000 | 1 << 8);
    ring(&mut driver, queue, HALVES[0], 0);
    assert_eq!(driver.function.device().complaints(), []);
}

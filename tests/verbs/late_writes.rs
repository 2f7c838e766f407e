//! WRITEs whose packets come to memory out of order: who polls the last byte is told, and other announcements hold.
//!
//! The order of a WRITE's bytes belongs here, all else that WRITEs do in `messages.rs`.

use blueflame::WrId;
use blueflame::cq::Side;
use blueflame::memory_polling::InOrder;
use blueflame::transport::Rc;
use blueflame::wqe::{self, Fence};

use crate::end::{End, connected};
use crate::on_device::{device, wait_for};

/// Several packets.
const LEN: usize = 40_000;
const ROUNDS: u8 = 200;

/// A message of one value, and so is its flag.
fn fill(near: &mut End<Rc>, value: u8) {
    near.buffer.write(0, &[value; LEN]);
}

/// How many messages are not whole when they are announced, which `announce` sends and waits for. Each also has a WRITE
/// of the whole message before it.
fn broken(announce: impl Fn(&mut End<Rc>, &mut End<Rc>, u8)) -> usize {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut near, mut far) = connected::<Rc>(&device, &pd);
    let broken = (1..=ROUNDS).filter(|&round| {
        fill(&mut near, round);
        announce(&mut near, &mut far, round);
        let is_whole = far.bytes(LEN).iter().all(|&byte| byte == round);
        near.completion();
        !is_whole
    });
    broken.count()
}

#[test]
fn the_last_byte_announces_a_write_if_the_device_promises_it() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let is_promised = connected::<Rc>(&device, &pd).0.pair.qp.writes_in_order().is_some();
    let found = broken(|near, far, round| {
        let from = near.buffer.sge_of(0..LEN);
        near.post(&wqe::write(far.buffer.remote()).gather([from]).signaled(WrId(1)));
        let place = far.buffer.polled(0..LEN, InOrder::assumed());
        wait_for("the flag", || place.arrived(round).then_some(()));
    });
    assert_eq!(found == 0, is_promised || !cfg!(target_arch = "x86_64"), "{found} of {ROUNDS} were not whole");
}

#[test]
fn the_completion_of_a_receive_announces_it_always() {
    let by_immediate = broken(|near, far, _| {
        far.post_receive(2);
        let from = near.buffer.sge_of(0..LEN);
        near.post(&wqe::write(far.buffer.remote()).gather([from]).imm(7).signaled(WrId(1)));
        assert_eq!(far.completion(), (Side::Responder, WrId(2), LEN as u32));
    });
    let by_send = broken(|near, far, _| {
        let sge = far.buffer.sge_of(LEN..LEN + 8);
        // SAFETY: the buffer lives as long as the queue.
        unsafe { far.pair.rq.post_unchecked(WrId(2), &[sge]) }.expect("room");
        let from = near.buffer.sge_of(0..LEN);
        near.post(&wqe::write(far.buffer.remote()).gather([from]));
        near.post(&wqe::send().inline(b"there").signaled(WrId(1)));
        assert_eq!(far.completion(), (Side::Responder, WrId(2), 5));
    });
    assert_eq!((by_immediate, by_send), (0, 0));
}

#[test]
fn a_write_that_waits_and_an_atomic_announce_it_always() {
    let by_write = broken(|near, far, round| {
        let from = near.buffer.sge_of(0..LEN);
        near.post(&wqe::write(far.buffer.remote()).gather([from]));
        let flag = [round];
        let write = wqe::write(far.buffer.remote().at(LEN as u64)).inline(&flag);
        near.post(&write.fence(Fence::Strong).signaled(WrId(1)));
        let place = far.buffer.polled(LEN..LEN + 1, InOrder::assumed());
        wait_for("the flag", || place.arrived(round).then_some(()));
    });
    let by_atomic = broken(|near, far, round| {
        let from = near.buffer.sge_of(0..LEN);
        near.post(&wqe::write(far.buffer.remote()).gather([from]));
        let (at, key) = (near.buffer.addr() + LEN as u64, near.buffer.lkey());
        near.post(&wqe::fetch_add(far.buffer.remote().at(LEN as u64), 1).result(at, key).signaled(WrId(1)));
        let place = far.buffer.polled(LEN..LEN + 1, InOrder::assumed());
        wait_for("the count", || place.arrived(round).then_some(()));
    });
    assert_eq!((by_write, by_atomic), (0, 0));
}

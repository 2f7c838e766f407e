//! Completions of a queue pair that is gone.
//!
//! Removed completions belong here, retired requests in `tests/send_queue/retire.rs`.

use blueflame::cq::Side;
use blueflame::cq::mode::{NoOverrun, PollMode, Publish, Standard};
use blueflame::cq::setup::Whose;
use blueflame::types::Qpn;
use proptest::prelude::*;

use crate::device::{Device, POISON, put16, put32};

/// Completion `n` of a series, of queue pair `qpn`: every byte of it different, but for the number.
fn of_qp(device: &mut Device, qpn: u32, n: u32) {
    if device.cqe_size == 128 {
        let slot = (device.pi % u64::from(device.cqe_cnt)) as u32;
        device.first_half(slot).fill(n as u8);
    }
    device.complete(0x00, |cqe| {
        cqe[..56].fill(n as u8);
        put32(cqe, 56, 0x0a00_0000 | qpn);
        put16(cqe, 60, n as u16);
    });
}

const GONE: u32 = 0x11;
const STAYS: u32 = 0x22;

/// `kinds[n]` tells whether completion `n` belongs to the destroyed queue pair. All are in the ring, then it is
/// forgotten.
fn forgotten<M: PollMode<Compression = ()>>(cqe_size: u32, start: u32, kinds: &[bool]) {
    let cqe_cnt = kinds.len().next_power_of_two() as u32;
    let mut device = Device::new(cqe_cnt, cqe_size, start);
    let mut cq = device.queue::<M>();
    for (n, &gone) in kinds.iter().enumerate() {
        of_qp(&mut device, if gone { GONE } else { STAYS }, n as u32);
    }
    let mut lent = Vec::new();
    let removed = cq.forget_with(Qpn::truncate(GONE), |cqe| {
        assert_eq!((cqe.qpn().get(), cqe.check()), (GONE, Ok(Side::Requester)));
        lent.push(usize::from(cqe.wqe_counter()));
    });
    let (gone, stay): (Vec<_>, Vec<_>) = (0..kinds.len()).partition(|&n| kinds[n]);
    assert_eq!(removed, gone.len());
    lent.reverse();
    assert_eq!(lent, gone, "each one, the newest first");
    let ci = start.wrapping_add(removed as u32) & 0x00ff_ffff;
    assert_eq!(cq.consumer_index().get(), ci);
    let published = if M::PUBLISH != Publish::Never && removed != 0 { ci } else { POISON };
    assert_eq!(device.record_words(), [published, POISON]);
    let mut seen = Vec::new();
    // One more that the device writes afterwards, where it goes on.
    let after = kinds.len() < cqe_cnt as usize || removed != 0;
    if after {
        of_qp(&mut device, GONE, kinds.len() as u32);
    }
    cq.poll_with(usize::MAX, |cqe| {
        let n = cqe.wqe_counter();
        assert_eq!(cqe.timestamp(), u64::from_be_bytes([n as u8; 8]));
        assert_eq!(cqe.byte_len(), u32::from_be_bytes([n as u8; 4]));
        seen.push(usize::from(n));
    });
    let expected: Vec<_> = stay.into_iter().chain(after.then_some(kinds.len())).collect();
    assert_eq!(seen, expected, "the others, in order");
    assert_eq!(cq.forget(Qpn::truncate(GONE)), 0);
    assert_eq!(cq.poll_with(usize::MAX, |_| ()), 0);
}

proptest! {
    #[test]
    fn completions_of_a_queue_pair_that_is_gone_are_removed(
        wide: bool,
        start in prop::sample::select(vec![0, 5, 8, 0x007f_fffb, 0x00ff_fff9, 0x00ff_ffff]),
        kinds in prop::collection::vec(prop::bool::ANY, 1..17),
    ) {
        let cqe_size = if wide { 128 } else { 64 };
        forgotten::<Standard>(cqe_size, start, &kinds);
        forgotten::<NoOverrun>(cqe_size, start, &kinds);
    }
}

#[test]
fn messages_in_a_completion_move_with_it() {
    let mut device = Device::new(4, 128, 3);
    let mut cq = device.queue::<Standard>();
    of_qp(&mut device, GONE, 1);
    let slot = (device.pi % 4) as u32;
    device.first_half(slot).copy_from_slice(&std::array::from_fn::<u8, 64, _>(|i| i as u8));
    device.complete(2 << 4 | 8, |cqe| {
        put32(cqe, 44, 64);
        put32(cqe, 56, STAYS);
    });
    of_qp(&mut device, GONE, 2);
    assert_eq!(cq.forget(Qpn::truncate(GONE)), 2);
    let mut message = [0; 64];
    cq.poll_with(4, |cqe| assert_eq!(cqe.copy_inline(&mut message), Ok(64)));
    assert_eq!(message, std::array::from_fn(|i| i as u8));
}

/// Of frames, sends have numbers, and receives have flow tags that can be the same.
#[test]
fn sends_and_receives_of_one_number_are_told_apart() {
    /// A send, a receive, a send and a receive with errors; messages in the completion of a receive, and of a READ.
    const OP_OWN: [u8; 6] = [0x00, 0x20, 0xd0, 0xe0, 0x24, 0x04];
    let told = |whose: Whose, gone: &[u16]| {
        let mut device = Device::new(8, 64, 5);
        let mut cq = device.queue::<Standard>();
        assert!(!cq.holds(whose));
        for (n, op_own) in OP_OWN.into_iter().enumerate() {
            device.complete(op_own, |cqe| {
                put32(cqe, 56, GONE);
                put16(cqe, 60, n as u16);
            });
        }
        assert!(cq.holds(whose));
        let mut forgotten = Vec::new();
        assert_eq!(cq.forget_with(whose, |cqe| forgotten.push(cqe.wqe_counter())), gone.len());
        forgotten.reverse();
        assert_eq!((&*forgotten, cq.holds(whose)), (gone, false), "{whose:?}");
        let mut stay = Vec::new();
        cq.poll_with(8, |cqe| stay.push(cqe.wqe_counter()));
        assert_eq!(stay, (0..6).filter(|n| !gone.contains(n)).collect::<Vec<_>>(), "{whose:?}");
    };
    told(Whose::Number(Qpn::truncate(GONE)), &[0, 1, 2, 3, 4, 5]);
    told(Whose::Sends(Qpn::truncate(GONE)), &[0, 2, 5]);
    told(Whose::Receives, &[1, 3, 4]);
}

#[test]
fn a_panic_while_forgetting_forgets_the_rest() {
    let mut device = Device::new(8, 64, 6);
    let mut cq = device.queue::<Standard>();
    for (n, qpn) in [STAYS, GONE, STAYS, GONE, STAYS].into_iter().enumerate() {
        of_qp(&mut device, qpn, n as u32);
    }
    let forget = std::panic::AssertUnwindSafe(|| cq.forget_with(Qpn::truncate(GONE), |_| panic!("on purpose")));
    assert!(std::panic::catch_unwind(forget).is_err());
    let mut seen = Vec::new();
    cq.poll_with(8, |cqe| seen.push(cqe.wqe_counter()));
    assert_eq!(seen, [0, 2, 4]);
}

proptest! {
    /// With any bytes in the ring, forgetting ends. It removes the completions of that number that polling would find.
    #[test]
    fn forgetting_among_any_bytes(
        wide: bool,
        ci in 0_u32..0x0100_0000,
        lines in prop::collection::vec(prop::array::uniform32(0_u8..), 8),
        op_own in prop::collection::vec(0_u8.., 8),
        qpns in prop::collection::vec(0x10_u32..0x13, 8),
    ) {
        let mut device = Device::new(8, if wide { 128 } else { 64 }, ci);
        let mut cq = device.queue::<Standard>();
        let mut copy = Device::new(8, device.cqe_size, ci);
        let mut other = copy.queue::<NoOverrun>();
        for slot in 0..8 {
            let cqe = device.cqe(slot);
            cqe[..32].copy_from_slice(&lines[slot as usize]);
            put32(cqe, 56, qpns[slot as usize]);
            cqe[63] = op_own[slot as usize];
        }
        let mut all = Vec::new();
        copy.ring.copy_from_slice(&device.ring);
        other.poll_with(8, |cqe| all.push((cqe.qpn().get(), cqe.timestamp(), cqe.opcode(), cqe.wqe_counter())));
        let (gone, stay): (Vec<_>, Vec<_>) = all.into_iter().partition(|&(qpn, ..)| qpn == GONE);
        prop_assert_eq!(cq.forget(Qpn::truncate(GONE)), gone.len());
        let mut seen = Vec::new();
        cq.poll_with(stay.len(), |cqe| seen.push((cqe.qpn().get(), cqe.timestamp(), cqe.opcode(), cqe.wqe_counter())));
        prop_assert_eq!(seen, stay);
    }
}

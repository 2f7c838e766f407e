//! Prepared requests, posted hundreds of times, and staged ones.
//!
//! Prepared requests belong here, single requests in `operations.rs`.

use blueflame::queue::PostError;
use blueflame::types::{Wqebbs, WrId};
use blueflame::wqe::EncodeError;
use blueflame::{Remote, Sge, transport, wqe};
use blueflame_testkit::{ConnectOptions, Device, End, Shape, connect, run_until_idle};

/// Posts `N` bytes at a time and looks at each where it arrives.
fn post<const N: usize>(sq_wqebbs: u32, posts: u32) {
    let (a, b) = Device::pair().expect("two devices");
    let shape = Shape { sq_wqebbs, ..Shape::SMALL };
    let mut near = End::<transport::Rc>::new(&a, &shape).expect("an end");
    let far = End::<transport::Rc>::new(&b, &shape).expect("an end");
    connect(&near, &far, &ConnectOptions::default()).expect("connected");
    let window = b.buffer(4096).expect("memory");
    let to: Remote = window.remote().at(64);
    let mut write = near.sq.prepare::<_, _, N, 0>(&wqe::write(to).signaled(WrId(0))).expect("within the limits");
    for n in 0..posts {
        let payload: [u8; N] = core::array::from_fn(|i| (n as usize * 31 + i) as u8);
        write = write.wr_id(WrId(u64::from(n)));
        near.sq.post(&write.inline(&payload)).expect("room");
        run_until_idle(&[&a, &b]).expect("an end");
        let cqe = near.cq.poll().expect("a completion");
        cqe.check().expect("success");
        assert_eq!(near.sq.retire(&cqe).expect("outstanding").wr_id, WrId(u64::from(n)));
        assert_eq!(window.to_vec(64..64 + N), payload);
        assert_eq!(a.complaints(), []);
    }
    assert_eq!(near.cq.poll_with(8, |_| ()), 0);
}

#[test]
fn of_every_kind_of_size() {
    post::<0>(1, 300);
    post::<1>(1, 300);
    post::<8>(2, 300);
    post::<28>(1, 300);
    post::<29>(4, 300);
    post::<200>(4, 300);
    post::<220>(8, 300);
}

/// A request that is prepared for an entry: READs of different places of this side's memory.
#[test]
fn of_an_entry() {
    let (a, b) = Device::pair().expect("two devices");
    let shape = Shape { sq_wqebbs: 2, ..Shape::SMALL };
    let mut near = End::<transport::Rc>::new(&a, &shape).expect("an end");
    let far = End::<transport::Rc>::new(&b, &shape).expect("an end");
    connect(&near, &far, &ConnectOptions::default()).expect("connected");
    let (local, mut window) = (a.buffer(4096).expect("memory"), b.buffer(4096).expect("memory"));
    window.write(64, b"what the peer has");
    let read = wqe::read(window.remote().at(64)).signaled(WrId(5));
    let read = near.sq.prepare::<_, _, 0, 1>(&read).expect("within the limits");
    for n in 0..50_u64 {
        let entry = Sge { addr: local.addr() + 32 * n, length: 17, lkey: local.lkey() };
        // SAFETY: the entry is registered memory, which is looked at when the READ has completed.
        unsafe { near.sq.post_unchecked(&read.scatter([entry])) }.expect("room");
        run_until_idle(&[&a, &b]).expect("an end");
        let cqe = near.cq.poll().expect("a completion");
        cqe.check().expect("success");
        assert_eq!(near.sq.retire(&cqe).expect("outstanding").wr_id, WrId(5));
        assert_eq!(local.to_vec(32 * n as usize..32 * n as usize + 17), b"what the peer has");
        assert_eq!(a.complaints(), []);
    }
}

/// Staged requests reach the device when they are rung, and not before.
#[test]
fn staged() {
    let (a, b) = Device::pair().expect("two devices");
    let mut near = End::<transport::Rc>::new(&a, &Shape::SMALL).expect("an end");
    let far = End::<transport::Rc>::new(&b, &Shape::SMALL).expect("an end");
    connect(&near, &far, &ConnectOptions::default()).expect("connected");
    let window = b.buffer(4096).expect("memory");
    for n in 0..100_u8 {
        // One WQEBB, and three.
        let (short, long) = ([n; 12], [n; 130]);
        let to = wqe::write(window.remote()).signaled(WrId(u64::from(n)));
        let staged = if n % 2 == 0 { near.sq.stage(&to.inline(&short)) } else { near.sq.stage(&to.inline(&long)) };
        let staged = staged.expect("room");
        run_until_idle(&[&a, &b]).expect("an end");
        assert!(near.cq.poll().is_none(), "nobody has rung");
        if n % 5 == 0 {
            drop(staged);
            continue;
        }
        staged.ring_doorbell();
        run_until_idle(&[&a, &b]).expect("an end");
        let cqe = near.cq.poll().expect("a completion");
        cqe.check().expect("success");
        assert_eq!(near.sq.retire(&cqe).expect("outstanding").wr_id, WrId(u64::from(n)));
        let bytes = if n % 2 == 0 { 12 } else { 130 };
        assert_eq!(window.to_vec(..bytes), vec![n; bytes]);
        assert_eq!(a.complaints(), []);
    }
}

#[test]
fn a_full_ring_and_a_limit_are_named() {
    let hca = Device::standalone().expect("a device");
    let shape = Shape { sq_wqebbs: 1, max_inline: 16, ..Shape::SMALL };
    let mut end = End::<transport::Rc>::new(&hca, &shape).expect("an end");
    let too_long = EncodeError::InlineTooLong { bytes: 17, limit: 16 };
    assert_eq!(end.sq.prepare::<_, _, 17, 0>(&wqe::send()).err(), Some(too_long));
    let send = end.sq.prepare::<_, _, 16, 0>(&wqe::send()).expect("within the limits");
    end.sq.post(&send.inline(&[1; 16])).expect("room");
    assert!(matches!(end.sq.post(&send.inline(&[2; 16])), Err(PostError::Full { .. })));

    // Two WQEBBs, where one is free.
    let mut end = End::<transport::Rc>::new(&hca, &Shape { sq_wqebbs: 2, ..Shape::SMALL }).expect("an end");
    let send = end.sq.prepare::<_, _, 60, 0>(&wqe::send()).expect("within the limits");
    end.sq.post(&wqe::nop()).expect("room");
    assert_eq!(end.sq.post(&send.inline(&[1; 60])), Err(PostError::Full { needed: Wqebbs(2), free: Wqebbs(1) }));
    assert_eq!(end.sq.free(), Wqebbs(1));
}

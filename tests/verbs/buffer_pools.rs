//! Pools that grow, and queues that own their buffers.
//!
//! Pools belong here, single registrations in `regions.rs`.

use std::num::NonZeroUsize;

use blueflame::cq::Side;
use blueflame::queue::OwningSendQueue;
use blueflame::transport::Rc;
use blueflame::verbs::memory::PoolBuffer;
use blueflame::verbs::{Access, BufferPool, Error};
use blueflame::wqe;

use crate::end::connected;
use crate::on_device::device;

#[test]
fn buffers_come_and_go_and_are_made_when_needed() {
    let pd = device().protection_domain().expect("a PD");
    let pool = BufferPool::new(&pd, 100_000, Access::LOCAL_WRITE).expect("a pool");
    let first = pool.made();
    assert!((1..=21).contains(&first) && pool.taken() == 0, "{first}");
    let mut held: Vec<PoolBuffer> = (0..first).map(|_| pool.take_made().expect("made")).collect();
    assert!(pool.take_made().is_none(), "which makes none");
    held.push(pool.take().expect("a second slab"));
    assert!(pool.made() > first && pool.taken() == first + 1);
    let mut places: Vec<_> = held.iter().map(|buffer| buffer.addr()).collect();
    places.sort_unstable();
    assert!(places.windows(2).all(|pair| pair[0] + 100_000 <= pair[1]), "{places:x?}");
    assert!(places.iter().all(|place| place % 128 == 0));
    // The last returned buffer is taken first. The memory stays while buffers of it are in use.
    let last = held.pop().expect("one");
    let place = last.addr();
    drop(last);
    let mut last = pool.take().expect("made");
    assert_eq!(last.addr(), place);
    drop(pool);
    drop(held);
    assert_eq!(last.write(b"still here"), 10);
    let mut bytes = [0; 10];
    assert_eq!((last.read(&mut bytes), &bytes), (10, b"still here"));
}

#[test]
fn a_pool_is_bounded() {
    let pd = device().protection_domain().expect("a PD");
    let pool = BufferPool::new(&pd, 1 << 20, Access::LOCAL_READ).expect("a pool");
    let pool = pool.limit(NonZeroUsize::new(3).expect("three"));
    let held: Vec<_> = (0..3).map(|_| pool.take().expect("within the limit")).collect();
    let error = pool.take().expect_err("past it");
    assert_eq!(error, Error::OutOfRange { what: "buffers of a pool", value: 4, min: 0, max: 3 });
    assert_eq!((pool.made(), pool.taken(), held.len()), (3, 3, 3));
    drop(held);
    assert_eq!((pool.taken(), pool.take().is_ok()), (0, true));
    for bytes in [0, 1 << 31] {
        let error = BufferPool::new(&pd, bytes, Access::LOCAL_READ).expect_err("no such buffers");
        assert!(matches!(error, Error::OutOfRange { value, .. } if value == u64::from(bytes)), "{error}");
    }
}

#[test]
fn completions_give_buffers_back() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (a, b) = connected::<Rc>(&device, &pd);
    let sends = BufferPool::new(&pd, 4096, Access::LOCAL_READ).expect("a pool");
    let receives = BufferPool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool");
    let mut sq = OwningSendQueue::<_, PoolBuffer>::new(a.pair.sq).map_err(drop).expect("empty");
    let mut rq = b.pair.rq.posting::<PoolBuffer>().expect("empty");
    let (mut near, mut far) = (a.cq, b.cq);
    for round in 0..300_u32 {
        rq.post(receives.take().expect("made")).map_err(|refused| refused.error).expect("room");
        let mut buffer = sends.take().expect("made");
        let message: Vec<u8> = (0..round * 13 % 4096).map(|i| (i + round) as u8).collect();
        buffer.write(&message);
        sq.gather(wqe::send(), buffer, message.len() as u32).map_err(|refused| refused.error).expect("room");
        assert_eq!((sends.taken(), receives.taken()), (1, 1), "the queues have them");
        let (mut sent, mut received) = (false, None);
        while !sent || received.is_none() {
            near.poll_with(1, |cqe| {
                assert_eq!(cqe.check(), Ok(Side::Requester));
                sent = sq.retire(&cqe).expect("posted").is_some();
            });
            far.poll_with(1, |cqe| {
                assert_eq!((cqe.check(), cqe.byte_len() as usize), (Ok(Side::Responder), message.len()));
                received = Some(rq.retire(&cqe).expect("posted"));
            });
        }
        let mut bytes = vec![0; message.len()];
        received.expect("a message").read(&mut bytes);
        assert_eq!(bytes, message);
        assert_eq!((sends.taken(), receives.taken()), (0, 0));
    }
    // A buffer that a queue is dropped with is never handed out again, and its memory stays.
    sq.gather(wqe::send(), sends.take().expect("made"), 8).map_err(|refused| refused.error).expect("room");
    drop(sq);
    assert_eq!(sends.taken(), 1);
}

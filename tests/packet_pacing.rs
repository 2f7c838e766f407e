//! Rates of raw packet queue pairs: libibverbs and libmlx5 as installed, and the time that frames take.
//!
//! Rates of verbs' queues belong here; those of the device alone, by a clock of the test, in
//! `softhca/tests/ethernet/pacing.rs`.
//!
//! Needs an mlx5 device with an Ethernet port, and `CAP_NET_RAW`. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --link ethernet --
//! softhca-run --link infiniband -- no_rates
//! ```

#![cfg(feature = "verbs")]

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::time::{Duration, Instant};

use blueflame::transport::RawPacket;
use blueflame::types::WrId;
use blueflame::verbs::device::{RateLimit, RateLimits};
use blueflame::verbs::{CallError, Device, Error, OwnedCq, QueuePair};
use blueflame::wqe;

use on_device::{device, wait_for};

fn pair(device: &Device, cq: &OwnedCq) -> QueuePair<RawPacket> {
    let pd = device.protection_domain().expect("a PD");
    pd.queue_pair(cq, cq).sends(64).no_receives().inline(200).build().expect("a raw packet queue pair")
}

/// Sends `frames` frames of 125 bytes to a documentation address (RFC 7042, 2.1.2). Returns the time until all have
/// completed.
fn send(pair: &mut QueuePair<RawPacket>, cq: &mut OwnedCq, frames: u64) -> Duration {
    let headers: [u8; 18] = [0, 0, 0x5e, 0, 0x53, 1, 0, 0, 0x5e, 0, 0x53, 2, 0x81, 0, 0, 1, 0x88, 0xb5];
    let begin = Instant::now();
    for id in 0..frames {
        let frame = wqe::frame().inline_headers(&headers).inline(&[0x5a; 107]);
        pair.sq.post(&frame.signaled(WrId(id))).expect("room");
    }
    for id in 0..frames {
        let done = wait_for("a completion", || {
            let cqe = cq.poll()?;
            cqe.check().expect("success");
            Some(pair.sq.retire(&cqe).expect("outstanding"))
        });
        assert_eq!(done.wr_id, WrId(id));
    }
    begin.elapsed()
}

/// The errno of a failed call.
fn errno(result: Result<(), Error>) -> i32 {
    match result {
        Err(Error::Call(CallError { errno, .. })) => errno,
        other => panic!("{other:?}"),
    }
}

/// At 1 Mbit/s, a frame of 125 bytes takes a millisecond. The first one leaves at once.
#[test]
fn frames_take_the_time_of_their_rate() {
    let device = device();
    let mut cq = device.completion_queue(64).build().expect("a CQ");
    let mut pair = pair(&device, &cq);
    pair.activate(&device.port(1).expect("port 1")).expect("ready to send");
    pair.set_rate_limit(Some(RateLimit::kilobits(1000))).expect("a rate");
    assert!(send(&mut pair, &mut cq, 21) >= Duration::from_millis(20));
    // Ten of them are a burst: the eleventh waits for the time of one.
    std::thread::sleep(Duration::from_millis(20));
    pair.set_rate_limit(Some(RateLimit::kilobits(100).burst(1250).typical_frame(125))).expect("a rate with a burst");
    let burst = send(&mut pair, &mut cq, 11);
    assert!(burst >= Duration::from_millis(10), "{burst:?}");
    // Eleven at 100 kbit/s without a burst.
    std::thread::sleep(Duration::from_millis(120));
    pair.set_rate_limit(Some(RateLimit::kilobits(100))).expect("another rate");
    let single = send(&mut pair, &mut cq, 11);
    assert!(single >= Duration::from_millis(100), "{single:?}");
    // The quickest of some rounds, as the machine may have something else to do.
    pair.set_rate_limit(None).expect("no rate");
    let rounds = (0..20).map(|_| send(&mut pair, &mut cq, 11));
    let quickest = rounds.min().expect("some rounds");
    assert!(quickest < Duration::from_millis(100), "{quickest:?}");
}

#[test]
fn rates_have_the_ranges_and_the_times_of_the_kernel() {
    let device = device();
    let limits = device.attr().rate_limits;
    assert_eq!(limits, Some(RateLimits { min: 1, max: 100_000_000 }));
    let mut cq = device.completion_queue(64).build().expect("a CQ");
    let mut pair = pair(&device, &cq);
    // Not before the queue pair is ready to send.
    assert_eq!(errno(pair.set_rate_limit(Some(RateLimit::kilobits(1000)))), libc::EINVAL);
    pair.activate(&device.port(1).expect("port 1")).expect("ready to send");
    for rate in [0, 100_000_001] {
        let error =
            Error::OutOfRange { what: "rate of a send queue, in kbit/s", value: rate.into(), min: 1, max: 100_000_000 };
        assert_eq!(pair.set_rate_limit(Some(RateLimit::kilobits(rate))), Err(error));
    }
    pair.set_rate_limit(Some(RateLimit::kilobits(1000))).expect("a rate");
    // A reset takes it away.
    let begin = Instant::now();
    pair.reset(&mut [&mut cq], |_| ()).expect("RESET");
    pair.activate(&device.port(1).expect("port 1")).expect("ready to send again");
    pair.set_rate_limit(None).expect("no rate");
    assert!(begin.elapsed() < Duration::from_secs(60));
}

/// Queue pairs of equal rates share an entry of the device's table, which has 127; the entry is free with the last one.
#[test]
fn the_table_of_rates_has_an_end() {
    let device = device();
    let cq = device.completion_queue(128 * 65).build().expect("a CQ");
    let port = device.port(1).expect("port 1");
    let mut pairs = Vec::new();
    for rate in 0..127 {
        let mut pair = pair(&device, &cq);
        pair.activate(&port).expect("ready to send");
        match pair.set_rate_limit(Some(RateLimit::kilobits(5_000_000 + rate))) {
            Ok(()) => pairs.push(pair),
            // Another test has a rate at this moment.
            full => assert!(errno(full) == libc::ENOSPC && pairs.len() > 100),
        }
    }
    let mut more = pair(&device, &cq);
    more.activate(&port).expect("ready to send");
    assert_eq!(errno(more.set_rate_limit(Some(RateLimit::kilobits(6_000_000)))), libc::ENOSPC);
    more.set_rate_limit(Some(RateLimit::kilobits(5_000_000))).expect("a rate that is there");
    drop(pairs.pop());
    more.set_rate_limit(Some(RateLimit::kilobits(6_000_000))).expect("an entry is free");
}

/// Queues of frames need an Ethernet port.
#[test]
fn no_rates_without_ethernet() {
    let device = device();
    if std::env::var("SOFTHCA_LINK").is_ok_and(|link| link != "ethernet") {
        assert_eq!(device.attr().rate_limits, None);
    }
}

//! Prepared requests: one that is posted many times, and one that is staged before the critical moment.

use std::hint;
use std::time::{Duration, Instant};

use blueflame::verbs::Device;
use blueflame::{WrId, wqe};
use howto::Failure;

const ORDERS: u64 = 8;
/// Bytes of an order.
const BYTES: usize = 32;

/// The order with this number.
fn order(n: u64) -> [u8; BYTES] {
    [n as u8; BYTES]
}

/// The event that orders wait for: here a time, in a program a packet of the market.
fn critical_moment() {
    let moment = Instant::now() + Duration::from_micros(100);
    while Instant::now() < moment {
        hint::spin_loop();
    }
}

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let pd = device.protection_domain()?;
    let (mut near, far) = howto::connected(&pd)?;
    let to = far.buffer.remote();
    let sq = &mut near.pair.sq;

    // ANCHOR: prepare
    // Put together once, for 32 bytes of each post, and no entries.
    let write = sq.prepare::<_, _, BYTES, 0>(&wqe::write(to))?;
    for n in 0..ORDERS {
        // Each has its own place in the peer's memory. The last one asks for a completion.
        let write = write.at(to.at(BYTES as u64 * n)).signaled_if(n + 1 == ORDERS, WrId(n));
        sq.post(&write.inline(&order(n)))?;
    }
    // ANCHOR_END: prepare
    // The completion of the last one completes those before it.
    assert_eq!(near.sent()?, WrId(ORDERS - 1));

    // ANCHOR: stage
    let last = order(ORDERS);
    let request = wqe::write(to.at(BYTES as u64 * ORDERS)).inline(&last).signaled(WrId(ORDERS));
    let staged = near.pair.sq.stage(&request)?;
    critical_moment();
    // Only the doorbell is left to do. Dropping `staged` instead would take the request back.
    staged.ring_doorbell();
    // ANCHOR_END: stage
    assert_eq!(near.sent()?, WrId(ORDERS));

    let arrived = far.buffer.to_vec(0..BYTES * (ORDERS as usize + 1));
    assert!((0..=ORDERS).zip(arrived.chunks(BYTES)).all(|(n, bytes)| bytes == order(n)));
    println!("{ORDERS} prepared orders and a staged one have arrived");
    Ok(())
}

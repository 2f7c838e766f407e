//! The gateway against an exchange on the software device.
//!
//! Behaviour of the gateway belongs here. The crate's own behaviour belongs in `tests` of the workspace.

use blueflame::{Remote, Rkey, transport};
use blueflame_testkit::{self as testkit, Pair, Shape};
use order_gateway::{Gateway, GatewayError, Order};

const PLACES: usize = 64;

fn order(id: u64) -> Order {
    Order { id, price: 10_000 + id as u32, quantity: 7 }
}

#[test]
fn orders_arrive_each_at_its_place() {
    let mut pair = testkit::connected_pair::<transport::Rc>().expect("a pair");
    let exchange = pair.far.buffer(PLACES * Order::BYTES).expect("memory");
    let mut gateway = Gateway::new(exchange.remote(), PLACES as u64);
    for id in 0..10 {
        gateway.submit(&mut pair.near.sq, &order(id)).expect("room");
    }
    // Nothing happens before the test lets it.
    assert_eq!(gateway.poll(&mut pair.near.cq, &mut pair.near.sq), Ok(0));
    pair.run_until_idle().expect("an end");
    assert_eq!(gateway.poll(&mut pair.near.cq, &mut pair.near.sq), Ok(10));
    for id in 0..10 {
        let place = id as usize * Order::BYTES;
        assert_eq!(exchange.to_vec(place..place + Order::BYTES), order(id).to_bytes());
    }
    // The device also watches the driver: it reports mistakes with which a real device would silently go wrong.
    assert_eq!(pair.complaints(), []);
}

#[test]
fn a_busy_gateway_says_so_and_goes_on() {
    let shape = Shape { sq_wqebbs: 4, ..Shape::default() };
    let mut pair = Pair::<transport::Rc>::builder().near(shape).connect().expect("a pair");
    let exchange = pair.far.buffer(PLACES * Order::BYTES).expect("memory");
    let mut gateway = Gateway::new(exchange.remote(), PLACES as u64);
    let (mut id, mut busy) = (0, 0);
    while id < 100 {
        match gateway.submit(&mut pair.near.sq, &order(id)) {
            Ok(()) => id += 1,
            Err(GatewayError::Busy) => {
                busy += 1;
                pair.run_until_idle().expect("an end");
                gateway.poll(&mut pair.near.cq, &mut pair.near.sq).expect("good completions");
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(busy, 24, "the queue holds four");
    pair.run_until_idle().expect("an end");
    assert_eq!(gateway.poll(&mut pair.near.cq, &mut pair.near.sq), Ok(100));
    // The ring has come round: order 99 is where order 35 was.
    assert_eq!(exchange.to_vec(35 * Order::BYTES..36 * Order::BYTES), order(99).to_bytes());
}

#[test]
fn a_bad_network_loses_no_order() {
    // A fifth of all packets is lost. The retries take no time: the device's clock runs when nothing else is left to
    // do.
    let faults = "drop=200,dup=50,reorder=50,seed=7".parse().expect("faults");
    let mut pair = Pair::<transport::Rc>::builder().faults(faults).connect().expect("a pair");
    let exchange = pair.far.buffer(PLACES * Order::BYTES).expect("memory");
    let mut gateway = Gateway::new(exchange.remote(), PLACES as u64);
    for id in 0..32 {
        gateway.submit(&mut pair.near.sq, &order(id)).expect("room");
        pair.run_until_idle().expect("an end");
    }
    assert_eq!(gateway.poll(&mut pair.near.cq, &mut pair.near.sq), Ok(32));
    assert_eq!(exchange.to_vec(31 * Order::BYTES..32 * Order::BYTES), order(31).to_bytes());
}

#[test]
fn an_order_that_the_exchange_refuses_is_named() {
    let mut pair = testkit::connected_pair::<transport::Rc>().expect("a pair");
    let exchange = pair.far.buffer(PLACES * Order::BYTES).expect("memory");
    // The exchange has given another key.
    let Remote { addr, rkey } = exchange.remote();
    let mut gateway = Gateway::new(Remote { addr, rkey: Rkey(rkey.0 ^ 0x5a) }, PLACES as u64);
    gateway.submit(&mut pair.near.sq, &order(41)).expect("room");
    gateway.submit(&mut pair.near.sq, &order(42)).expect("room");
    pair.run_until_idle().expect("an end");
    let refused = gateway.poll(&mut pair.near.cq, &mut pair.near.sq).expect_err("a wrong key");
    assert!(matches!(refused, GatewayError::Refused { id: 41, .. }), "{refused}");
    assert!(refused.to_string().contains("IBV_WC_REM_ACCESS_ERR"), "{refused}");
    // The connection is lost, and the requests behind the order are flushed.
    let flushed = gateway.poll(&mut pair.near.cq, &mut pair.near.sq).expect_err("flushed");
    assert!(matches!(flushed, GatewayError::Refused { id: 42, .. }), "{flushed}");
    assert_eq!(exchange.to_vec(..16), [0; 16]);
}

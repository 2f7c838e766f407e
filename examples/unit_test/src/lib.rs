//! A small crate like one that uses blueflame: it writes orders into an exchange's memory by RDMA, over queues that its
//! caller makes. `tests/orders.rs` makes them on the software device, with `blueflame-testkit` as a dev-dependency:
//! `cargo test` needs no NIC, no driver and no libibverbs.

use std::fmt;

use blueflame::cq::CqeError;
use blueflame::{CompleteError, CompletionQueue, PostError, Remote, RetireError, SendQueue, WrId, transport, wqe};

/// An order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The exchange's name for the order.
    pub id: u64,
    /// In ticks.
    pub price: u32,
    /// How many.
    pub quantity: u32,
}

impl Order {
    /// Bytes of an order, and of a place in the exchange's memory.
    pub const BYTES: usize = 16;

    /// As it lies in the exchange's memory.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.id.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.price.to_be_bytes());
        bytes[12..].copy_from_slice(&self.quantity.to_be_bytes());
        bytes
    }
}

/// Writes orders to the places of the exchange's ring, one after the other.
#[derive(Debug)]
pub struct Gateway {
    ring: Remote,
    places: u64,
    written: u64,
    acknowledged: u64,
}

/// Why an order, or a completion, was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatewayError {
    /// Too many are on their way: call [`Gateway::poll`], and submit it again.
    Busy,
    /// The queue does not take it for another reason.
    Post(PostError),
    /// The exchange's NIC has refused this order.
    Refused {
        /// Its number.
        id: u64,
        /// Why.
        why: CqeError,
    },
    /// A completion of something else.
    Retire(RetireError),
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("too many orders are on their way"),
            Self::Post(error) => error.fmt(f),
            Self::Refused { id, why } => write!(f, "order {id}: {why}"),
            Self::Retire(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GatewayError {}

impl Gateway {
    /// A gateway to a ring of `places` places.
    ///
    /// # Panics
    /// If `places` is zero.
    #[must_use]
    pub fn new(ring: Remote, places: u64) -> Self {
        assert!(places > 0, "a ring of no places");
        Self { ring, places, written: 0, acknowledged: 0 }
    }

    /// Sends an order to the next place.
    ///
    /// # Errors
    /// [`GatewayError::Busy`], [`GatewayError::Post`]; the order has not been sent then.
    pub fn submit(&mut self, sq: &mut SendQueue<transport::Rc>, order: &Order) -> Result<(), GatewayError> {
        let place = self.ring.at(self.written % self.places * Order::BYTES as u64);
        match sq.post(&wqe::write(place).inline(&order.to_bytes()).signaled(WrId(order.id))) {
            Ok(()) => self.written += 1,
            Err(PostError::Full { .. }) => return Err(GatewayError::Busy),
            Err(error) => return Err(GatewayError::Post(error)),
        }
        Ok(())
    }

    /// Takes completions in. How many orders the exchange has, in all.
    ///
    /// # Errors
    /// [`GatewayError::Refused`] for the first order that failed; those behind it are for the next call.
    pub fn poll(&mut self, cq: &mut CompletionQueue, sq: &mut SendQueue<transport::Rc>) -> Result<u64, GatewayError> {
        cq.try_poll_with(usize::MAX, |cqe| {
            sq.complete(&cqe).map_err(|error| match error {
                CompleteError::Failed { done, error: why } => GatewayError::Refused { id: done.wr_id.0, why },
                CompleteError::Foreign(error) => GatewayError::Retire(error),
            })?;
            self.acknowledged += 1;
            Ok(())
        })?;
        Ok(self.acknowledged)
    }
}

//! UDP datagrams and TCP segments as frames: made once, changed for each post, with checksums that stay right; and
//! the payload of received ones. Knows no device.
//!
//! ```
//! use blueflame::packet::{Host, Packet, PacketError, Udp4};
//! use blueflame::transport::RawPacket;
//! # use blueflame::{PostError, SendQueue};
//!
//! # fn send(sq: &mut SendQueue<RawPacket>) -> Result<(), Box<dyn core::error::Error>> {
//! let here = Host { mac: [2, 0, 0x5e, 0, 0x53, 1], socket: "192.0.2.1:4000".parse()? };
//! let mut order = Packet::<Udp4, 98>::new(&here, &Host::group("239.1.2.3:5001".parse()?)?);
//! order.set_payload(b"order 000 of this day")?;
//! sq.post(&order.request())?;
//! // The next one: three bytes of the payload, and the checksums by these three bytes.
//! order.set_part(6, b"001")?;
//! sq.post(&order.request())?;
//! # Ok(())
//! # }
//! ```

mod error;
mod kind;
mod lanes;
#[expect(clippy::module_inception, reason = "the concept of this module")]
mod packet;
mod parse;
mod sum;

pub use error::PacketError;
pub use kind::{Kind, Tagged, Tcp, Tcp4, Tcp6, Udp, Udp4, Udp6};
pub use packet::{Host, Packet};
pub use parse::{Parsed, parse};

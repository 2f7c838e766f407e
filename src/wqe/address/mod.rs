//! Destinations of requests on queues without a peer of their own: datagrams, dynamic connections, XRC.
pub(super) mod seg;
pub(super) mod to;
pub(super) mod vector;
pub(super) mod xrc;

pub use to::{Destination, To};
pub use vector::{AddressVector, CompactAv, DcStream, FullAv, GlobalRoute, StaticRate};

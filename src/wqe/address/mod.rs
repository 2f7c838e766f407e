//! Destinations of requests on queues without a peer of their own: datagrams, dynamic connections, XRC.
pub(super) mod destination;
pub(super) mod vector;

pub use destination::Destination;
pub use vector::{AddressVector, CompactAv, DcStream, FullAv, GlobalRoute, StaticRate};

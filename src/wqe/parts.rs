//! For code that is generic over requests: the bounds that requests' methods place on their parts. Hidden, because no
//! other code needs the names.
pub use super::encryption::SignedAndEncrypted;
pub use super::ethernet::InlineHeaders;
pub use super::formatted::{Formats, Formatted, KeyList};
pub use super::key_list::{Interleaved, Pieces, PiecesAt, Unchanged};
pub use super::memcpy::Copied;
pub use super::operation::{Carries, Fetches, HasRemote, Operation, Scatters};
pub use super::payload::{AtomicResult, Empty, EntryList, Inline, InlineBytes, InlineThen, Payload, Registered};
pub use super::signature::SignatureFormat;
pub use super::tag::TagBuffer;
pub use super::window::Piece;

//! For code that is generic over requests: the bounds that requests' methods place on their parts. Hidden, because no
//! other code needs the names.
pub use super::formats::encryption::SignedAndEncrypted;
pub use super::formats::formatted::{Formats, Formatted, KeyList};
pub use super::formats::signature::SignatureFormat;
pub use super::keys::list::{Interleaved, Pieces, PiecesAt, Unchanged};
pub use super::keys::window::Piece;
pub use super::operations::copy::Copied;
pub use super::operations::frame::InlineHeaders;
pub use super::operations::frame_options::FrameOptions;
pub use super::operations::service::{Carries, Fetches, HasRemote, Operation, Scatters};
pub use super::payload::{AtomicResult, Empty, EntryList, Inline, InlineBytes, InlineThen, Payload, Registered};
pub use super::tags::entry::{Listed, TagBuffer};

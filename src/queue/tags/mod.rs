//! Lists of tagged buffers: their entries, events and errors.
pub(super) mod entries;
pub(super) mod error;
pub(super) mod matching;

pub use entries::TagRecord;
pub use error::TagError;
pub use matching::TagEvent;

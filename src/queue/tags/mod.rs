//! Lists of tagged buffers: their entries, events and errors.
pub(super) mod entries;
pub(super) mod error;
pub(super) mod matching;
mod sizes;

pub use entries::TagRecord;
pub use error::TagError;
pub use matching::TagEvent;
pub use sizes::TagListSizes;

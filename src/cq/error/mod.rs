//! Errors of completions: status, syndromes, and their meaning.
pub(super) mod advice;
pub(super) mod completion;
pub(super) mod status;
pub(super) mod vendor;

pub use completion::InlineError;
pub use status::KnownSyndrome;
pub use vendor::vendor_advice;

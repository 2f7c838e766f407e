//! Memory keys that commands have made.

/// A memory key.
#[derive(Debug)]
pub(crate) struct MkeyRecord {
    /// Its context, as the driver gave it.
    pub(crate) context: Vec<u8>,
}

//! Frames that come back in.

/// A frame that a queue of this device has sent, on its way back in.
#[derive(Debug)]
pub(super) struct Looped {
    /// Of the send queue, if it has one.
    pub(super) transport_domain: Option<u32>,
    pub(super) bytes: Vec<u8>,
}

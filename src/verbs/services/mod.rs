//! The states of queue pairs of other services than connections, and the receiving ends of DC and XRC.
pub(super) mod datagram;
pub(super) mod dct;
pub(super) mod raw_packet;
pub(super) mod xrc_target;

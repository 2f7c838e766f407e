//! What the device does for Ethernet frames (`MLX5_CAP_ETHERNET_OFFLOADS`).

use super::row::{capability_set, is_ethernet};

capability_set! {
    /// Offloads.
    per_protocol_networking_offload_caps: 0x100 bytes, set 1, if is_ethernet;
    CSUM_CAP: 0x0, 1 = |_| 1;
    // No headers are needed inline (`MLX5_CAP_INLINE_MODE_NOT_REQUIRED`).
    WQE_INLINE_MODE: 0x12, 2 = |_| 2;
}

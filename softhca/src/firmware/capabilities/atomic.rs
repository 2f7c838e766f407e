//! Atomics (`MLX5_CAP_ATOMIC`).

use super::row::capability_set;
use crate::context::EXTENDED_ATOMICS;

/// Compare and swap, fetch and add; both masked.
const OPERATIONS: u64 = 0xf;
/// Of masked ones; the others are of 8 bytes always.
const SIZES: u64 = EXTENDED_ATOMICS as u64;

capability_set! {
    /// Atomics. The mode is the driver's choice (`QUERY_HCA_CAP` fills it in); 1 is possible.
    atomic_caps: 0x100 bytes, set 3, if |_| true;
    ATOMIC_REQ_8B_ENDIANNESS_MODE: 0x40, 2 = |_| 1;
    SUPPORTED_ATOMIC_REQ_8B_ENDIANNESS_MODE_1: 0x46, 1 = |_| 1;
    ATOMIC_OPERATIONS: 0x90, 16 = |_| OPERATIONS;
    ATOMIC_SIZE_QP: 0xb0, 16 = |_| SIZES;
    ATOMIC_SIZE_DC: 0xd0, 16 = |_| SIZES;
}

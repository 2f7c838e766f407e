//! RoCE (`MLX5_CAP_ROCE`).

use super::row::{capability_set, is_ethernet, timestamps};

/// IPv4 and IPv6 (`MLX5_ROCE_L3_TYPE_IPV4_CAP`, `MLX5_ROCE_L3_TYPE_IPV6_CAP`).
const L3_TYPES: u64 = 6;
/// RoCE v1 and v2 (`MLX5_ROCE_VERSION_1_CAP`, `MLX5_ROCE_VERSION_2_CAP`).
const VERSIONS: u64 = 5;
/// UDP port of RoCE v2.
const DEST_UDP_PORT: u64 = 4791;
/// Least UDP port that a path can be sent from; the wire has none, so that all do.
const LEAST_SOURCE_UDP_PORT: u64 = 0xc000;
/// Entries of a port's table, as on a ConnectX-5: paths name one by 8 bits.
pub(crate) const ADDRESSES: u8 = 255;

capability_set! {
    /// RoCE.
    roce_cap: 0x100 bytes, set 4, if is_ethernet;
    FL_RC_QP_WHEN_ROCE_ENABLED: 0x6, 1 = |_| 1;
    QP_TS_FORMAT: 0x1e, 2 = timestamps;
    L3_TYPE: 0x8c, 4 = |_| L3_TYPES;
    ROCE_VERSION: 0x98, 8 = |_| VERSIONS;
    R_ROCE_DEST_UDP_PORT: 0xb0, 16 = |_| DEST_UDP_PORT;
    R_ROCE_MAX_SRC_UDP_PORT: 0xc0, 16 = |_| 0xffff;
    R_ROCE_MIN_SRC_UDP_PORT: 0xd0, 16 = |_| LEAST_SOURCE_UDP_PORT;
    ROCE_ADDRESS_TABLE_SIZE: 0xf0, 16 = |_| ADDRESSES.into();
}

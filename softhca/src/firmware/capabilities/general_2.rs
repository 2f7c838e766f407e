//! More general capabilities (`MLX5_CAP_GENERAL_2`).

use super::row::capability_set;

capability_set! {
    /// More general capabilities. None of them is there yet.
    cmd_hca_cap_2: 0x100 bytes, set 0x20, if |_| true;
}

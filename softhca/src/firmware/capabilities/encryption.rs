//! Encryption (`MLX5_CAP_CRYPTO`). Keys of encryption come in plain text: there are no credentials, and no keys to
//! unwrap others with.

use super::row::capability_set;
use crate::crypto::{LOG_MAX_DEKS, is_there};

capability_set! {
    /// Encryption.
    crypto_caps: 0x100 bytes, set 0x1a, if |c| is_there(c.generation);
    LOG_MAX_NUM_DEKS: 0x2b, 5 = |_| LOG_MAX_DEKS.into();
}

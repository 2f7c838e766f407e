//! Headers of dynamic connections, of this device's own making: neither the IBTA nor NVIDIA has published how they look
//! on the wire.
//!
//! ```text
//!  DCI                                                        DCT
//!   │ ── Connect: access key, MTU, lifetime ─────────────────> │  a connection of its own for this DCI
//!   │ <───────────────────── Accept: the connection's number ─ │  (or a NAK: the access key is wrong)
//!   │ ── requests of RC, each with that number ──────────────> │
//!   │ <──────────────────── ACKs, NAKs and answers of RC ───── │
//!   │ ── Disconnect ─────────────────────────────────────────> │  the connection is gone
//! ```
//!
//! The target chooses the number, so that a late copy of a packet of an earlier connection is never taken for one of
//! this. PSNs run on from connection to connection; Connect has that of the first request.

use super::headers::be24;

/// Which connection a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DcEth {
    /// QPN of the DCI, or number of the DCT, that sends it, 24 bits.
    pub source: u32,
    /// The target's number of the connection; of Connect and its answers the number of the attempt, which the DCI has
    /// chosen.
    pub connection: u32,
}

impl DcEth {
    pub(super) fn to_bytes(self) -> [u8; 8] {
        let [s0, s1, s2] = be24(self.source);
        let [c0, c1, c2, c3] = self.connection.to_be_bytes();
        [0, s0, s1, s2, c0, c1, c2, c3]
    }

    pub(super) fn from_bytes([_, s0, s1, s2, c0, c1, c2, c3]: [u8; 8]) -> Self {
        Self { source: u32::from_be_bytes([0, s0, s1, s2]), connection: u32::from_be_bytes([c0, c1, c2, c3]) }
    }
}

/// The request of a DCI to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectEth {
    /// The DCT's access key.
    pub access_key: u64,
    /// log2 of the MTU in bytes, which counts in both directions: 8 to 12.
    pub log_mtu: u8,
    /// The target may drop a connection without packets after 4.096 us * 2^this; 0 to 31.
    pub lifetime: u8,
}

impl ConnectEth {
    pub(super) fn to_bytes(self) -> [u8; 12] {
        let [k0, k1, k2, k3, k4, k5, k6, k7] = self.access_key.to_be_bytes();
        [k0, k1, k2, k3, k4, k5, k6, k7, self.log_mtu, self.lifetime & 31, 0, 0]
    }

    pub(super) fn from_bytes([k0, k1, k2, k3, k4, k5, k6, k7, log_mtu, lifetime, _, _]: [u8; 12]) -> Self {
        let access_key = u64::from_be_bytes([k0, k1, k2, k3, k4, k5, k6, k7]);
        Self { access_key, log_mtu, lifetime: lifetime & 31 }
    }
}

/// The connection that a target has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptEth {
    /// Number of the connection, for the requests to name.
    pub connection: u32,
}

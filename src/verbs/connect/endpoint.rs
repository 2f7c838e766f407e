//! Endpoints: where a queue pair can be reached. Two peers exchange them; this module does not know how.

use core::fmt;
use std::hash::{BuildHasher, RandomState};

use crate::encoding::{DecodeError, sized, version, zeros};
use crate::types::{Psn, Qpn};
use crate::verbs::device::{Gid, GidType, LinkLayer, Mtu};
use crate::verbs::{Ece, Error};

/// Where a queue pair can be reached. Two peers exchange endpoints by another way before they can connect: over a
/// stream, by [`connect_over`](crate::verbs::QueuePair::connect_over); otherwise as [`Endpoint::to_bytes`], or by serde
/// (feature `serde`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Endpoint {
    /// LID of the port; 0 on Ethernet.
    pub lid: u16,
    /// GID of the port; zero for "reach me by my LID".
    pub gid: Gid,
    /// How packets with the GID are carried; without a GID, the protocol of the port. Both sides must have the same,
    /// and [`connect`](crate::verbs::QueuePair::connect) checks it. `None`: the peer did not tell, so `connect` checks
    /// nothing.
    pub gid_type: Option<GidType>,
    /// Number of the queue pair.
    pub qpn: Qpn,
    /// The first packet it will send has this number.
    pub psn: Psn,
    /// Path MTU its port has in force. The lesser of both sides' is used.
    pub mtu: Mtu,
    /// The options it can agree on. `None`: none, or the peer did not tell.
    pub ece: Option<Ece>,
}

/// The name of an endpoint in error texts.
const WHAT: &str = "endpoint";

impl Endpoint {
    /// Bytes of [`to_bytes`](Self::to_bytes).
    pub const BYTES: usize = 40;

    const VERSION: u8 = 1;

    /// The endpoint as bytes to tell the peer, big endian:
    ///
    /// | offset | bytes | field |
    /// |---|---|---|
    /// | 0 | 1 | version: 1 |
    /// | 1 | 1 | type of the GID: 0 not told, else `ibv_gid_type` + 1 |
    /// | 2 | 1 | path MTU: `ibv_mtu`, 1 (256 bytes) to 5 (4096 bytes) |
    /// | 3 | 1 | zero |
    /// | 4 | 2 | LID |
    /// | 6 | 2 | zero |
    /// | 8 | 4 | number of the queue pair, 24 bits |
    /// | 12 | 4 | first PSN, 24 bits |
    /// | 16 | 16 | GID |
    /// | 32 | 4 | vendor of the options ([`Ece::vendor_id`]); 0 without options |
    /// | 36 | 4 | [`Ece::options`] |
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0] = Self::VERSION;
        bytes[1] = self.gid_type.and_then(|kind| u8::try_from(kind.to_raw()).ok()?.checked_add(1)).unwrap_or(0);
        bytes[2] = self.mtu as u8;
        bytes[4..6].copy_from_slice(&self.lid.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.qpn.get().to_be_bytes());
        bytes[12..16].copy_from_slice(&self.psn.get().to_be_bytes());
        bytes[16..32].copy_from_slice(&self.gid.0);
        if let Some(ece) = self.ece.filter(|ece| ece.vendor_id != 0) {
            bytes[32..36].copy_from_slice(&ece.vendor_id.to_be_bytes());
            bytes[36..].copy_from_slice(&ece.options.to_be_bytes());
        }
        bytes
    }

    /// The endpoint that a peer told by [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`DecodeError`]: another length than [`Self::BYTES`], another version, a number of more than 24 bits, an unknown
    /// MTU, reserved bytes that are not zero.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let bytes: [u8; Self::BYTES] = sized(WHAT, bytes)?;
        version(WHAT, bytes[0], Self::VERSION)?;
        zeros(WHAT, &[bytes[3], bytes[6], bytes[7]])?;
        let number = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let bad = |field, value: u32| DecodeError::Value { what: WHAT, field, value: value.into() };
        let mut gid = [0; 16];
        gid.copy_from_slice(&bytes[16..32]);
        let ece = Ece { vendor_id: number(32), options: number(36) };
        if ece.vendor_id == 0 {
            zeros(WHAT, &bytes[36..])?;
        }
        Ok(Self {
            lid: u16::from_be_bytes([bytes[4], bytes[5]]),
            gid: Gid(gid),
            gid_type: bytes[1].checked_sub(1).map(|raw| GidType::from_raw(raw.into())),
            qpn: Qpn::new(number(8)).ok_or(bad("queue pair number", number(8)))?,
            psn: Psn::new(number(12)).ok_or(bad("PSN", number(12)))?,
            mtu: Mtu::from_raw(bytes[2].into()).ok_or(bad("path MTU", bytes[2].into()))?,
            ece: (ece.vendor_id != 0).then_some(ece),
        })
    }
}

impl Endpoint {
    /// Refuses a peer whose packets have another format than this side's: no packet would ever arrive, and no error
    /// would say why.
    ///
    /// # Errors
    /// [`Error::Mismatch`].
    pub(in crate::verbs) fn check_reach(&self, remote: &Self) -> Result<(), Error> {
        remote.check_reached_from(self.gid_type, self.gid)
    }

    /// [Checks the reach](Self::check_reach) from a side with that GID.
    pub(in crate::verbs) fn check_reached_from(&self, gid_type: Option<GidType>, gid: Gid) -> Result<(), Error> {
        let differ = |what, local: &dyn fmt::Display, remote: &dyn fmt::Display| {
            Err(Error::Mismatch { what, local: local.to_string(), remote: remote.to_string() })
        };
        let (Some(ours), Some(theirs)) = (gid_type, self.gid_type) else { return Ok(()) };
        match (ours.link_layer(), theirs.link_layer()) {
            (Some(here), Some(there)) if here != there => differ("link layers", &here, &there),
            _ if ours != theirs => differ("GID types", &ours, &theirs),
            // A RoCE packet has an IPv4 header or an IPv6 header (perftest, `ctx_check_gid_compatibility`).
            (Some(LinkLayer::Ethernet), _) if gid.is_ipv4() != self.gid.is_ipv4() => {
                differ("GIDs' address families", &gid.family(), &self.gid.family())
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "queue pair {:#x} at ", self.qpn.get())?;
        match (self.gid.is_zero(), self.gid_type) {
            (true, _) => write!(f, "LID {:#x}", self.lid)?,
            (false, Some(kind)) => write!(f, "GID {} ({kind})", self.gid)?,
            (false, None) => write!(f, "GID {}", self.gid)?,
        }
        write!(f, ", path MTU {}", self.mtu.bytes())
    }
}

impl Psn {
    /// A random number. If a connection begins at the same PSN as an earlier one of the same two queue pair numbers, it
    /// might take late packets of the earlier one for its own. `ibv_rc_pingpong` and perftest choose at random as well.
    #[must_use]
    pub fn random() -> Self {
        // Each value gets a new key from the operating system's randomness.
        Self::truncate(RandomState::new().hash_one(0) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint {
            lid: 0x0102,
            gid: Gid([0xa0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
            gid_type: Some(GidType::RoceV2),
            qpn: Qpn::truncate(0x11_2233),
            psn: Psn::truncate(0xff_fffe),
            mtu: Mtu::B4096,
            ece: Some(Ece { vendor_id: Ece::MELLANOX, options: 0x1000_0002 }),
        }
    }

    #[test]
    fn an_endpoint_has_these_bytes() {
        let mut bytes = vec![1, 3, 5, 0, 1, 2, 0, 0, 0, 0x11, 0x22, 0x33, 0, 0xff, 0xff, 0xfe, 0xa0];
        bytes.extend(1..=15);
        bytes.extend([0, 0, 0x15, 0xb3, 0x10, 0, 0, 2]);
        assert_eq!(endpoint().to_bytes()[..], bytes);
        assert_eq!(Endpoint::from_bytes(&bytes), Ok(endpoint()));
    }

    #[test]
    fn every_field_survives() {
        let kinds = [None, Some(GidType::Ib), Some(GidType::RoceV1), Some(GidType::RoceV2), Some(GidType::Other(254))];
        for gid_type in kinds {
            for mtu in Mtu::ALL {
                let endpoint = Endpoint { gid_type, mtu, ..endpoint() };
                assert_eq!(Endpoint::from_bytes(&endpoint.to_bytes()), Ok(endpoint));
            }
        }
        for options in [0, 1, u32::MAX] {
            let endpoint = Endpoint { ece: Some(Ece { vendor_id: 1, options }), ..endpoint() };
            assert_eq!(Endpoint::from_bytes(&endpoint.to_bytes()), Ok(endpoint));
        }
        let nobodys = Endpoint { ece: Some(Ece { vendor_id: 0, options: 1 }), ..endpoint() };
        assert_eq!(Endpoint::from_bytes(&nobodys.to_bytes()), Ok(Endpoint { ece: None, ..nobodys }));
        let unknown = Endpoint { gid_type: Some(GidType::Other(255)), ..endpoint() };
        assert_eq!(Endpoint::from_bytes(&unknown.to_bytes()), Ok(Endpoint { gid_type: None, ..unknown }));
    }

    #[test]
    fn bytes_of_others_are_refused() {
        let good = endpoint().to_bytes();
        let with = |at: usize, byte: u8| {
            let mut bytes = good;
            bytes[at] = byte;
            Endpoint::from_bytes(&bytes)
        };
        let value = |field, value| Err(DecodeError::Value { what: WHAT, field, value });
        for len in [0, 39, 41] {
            assert_eq!(Endpoint::from_bytes(&vec![1; len]), Err(DecodeError::Length { what: WHAT, is: len, must: 40 }));
        }
        assert_eq!(with(0, 0), Err(DecodeError::Version { what: WHAT, is: 0, known: 1 }));
        assert_eq!(with(2, 0), value("path MTU", 0));
        assert_eq!(with(2, 6), value("path MTU", 6));
        assert_eq!(with(8, 1), value("queue pair number", 0x0111_2233));
        assert_eq!(with(12, 0x80), value("PSN", 0x80ff_fffe));
        for at in [3, 6, 7] {
            assert_eq!(with(at, 9), value("reserved part", 9));
        }
        let mut nobodys = Endpoint { ece: None, ..endpoint() }.to_bytes();
        nobodys[39] = 9;
        assert_eq!(Endpoint::from_bytes(&nobodys), value("reserved part", 9));
        let text = with(12, 0x80).expect_err("too large").to_string();
        assert_eq!(text, "the endpoint is invalid: its PSN is 0x80fffffe");
    }

    #[cfg(feature = "serde")]
    #[test]
    fn serde_has_it_as_people_write_it() {
        let gid = Gid([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1]);
        let text = concat!(
            r#"{"lid":258,"gid":"::ffff:10.0.0.1","gid_type":"RoceV2","qpn":1122867,"psn":16777214,"mtu":4096,"#,
            r#""ece":{"vendor_id":5555,"options":268435458}}"#
        );
        let endpoint = Endpoint { gid, ..endpoint() };
        assert_eq!(serde_json::to_string(&endpoint).expect("text"), text);
        assert_eq!(serde_json::from_str::<Endpoint>(text).expect("an endpoint"), endpoint);
        let untold =
            serde_json::from_str::<Endpoint>(&text.replace(r#""gid_type":"RoceV2","#, "")).expect("an endpoint");
        assert_eq!(untold.gid_type, None);
        let error =
            serde_json::from_str::<Endpoint>(&text.replace("4096", "1500")).expect_err("no such MTU").to_string();
        assert!(error.starts_with("a path MTU of 1500 bytes: it must be 256, 512"), "{error}");
    }

    #[test]
    fn random_numbers_differ() {
        let all: std::collections::BTreeSet<u32> = (0..16).map(|_| Psn::random().get()).collect();
        // The chance that sixteen numbers of 24 bits are three values at most is below 1e-90.
        assert!(all.len() > 3, "{all:x?}");
    }
}

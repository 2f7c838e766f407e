//! Ports and their addresses: LIDs on InfiniBand, GIDs on both link layers.

use core::fmt;
use std::net::Ipv6Addr;

use blueflame_sys as sys;

use crate::verbs::error::{has_port, zero};
use crate::verbs::link::{LinkLayer, PortState};
use crate::verbs::{Device, Error};

/// `IBV_LINK_LAYER_ETHERNET`, of an enumeration without a name.
const IBV_LINK_LAYER_ETHERNET: u8 = 2;

/// `IBV_QPF_GRH_REQUIRED` of `verbs.h`, also of an enumeration without a name.
const IBV_QPF_GRH_REQUIRED: u8 = 1 << 0;

/// Path MTU: payload bytes of one packet (IBTA vol. 1, 7.7.7).
#[doc(alias = "ibv_mtu")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "u32", into = "u32"))]
#[repr(u32)]
pub enum Mtu {
    /// 256 bytes.
    B256 = sys::IBV_MTU_256,
    /// 512 bytes.
    B512 = sys::IBV_MTU_512,
    /// 1024 bytes.
    B1024 = sys::IBV_MTU_1024,
    /// 2048 bytes.
    B2048 = sys::IBV_MTU_2048,
    /// 4096 bytes.
    B4096 = sys::IBV_MTU_4096,
}

impl Mtu {
    /// All of them, ascending.
    pub const ALL: [Self; 5] = [Self::B256, Self::B512, Self::B1024, Self::B2048, Self::B4096];

    /// Bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        128 << self as u32
    }

    /// The MTU of this many bytes, if there is one.
    #[must_use]
    pub fn from_bytes(bytes: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|mtu| mtu.bytes() == bytes)
    }

    pub(in crate::verbs) fn from_raw(raw: sys::ibv_mtu) -> Option<Self> {
        Self::ALL.into_iter().find(|mtu| *mtu as u32 == raw)
    }
}

/// Bytes.
impl From<Mtu> for u32 {
    fn from(mtu: Mtu) -> Self {
        mtu.bytes()
    }
}

/// Bytes: 256, 512, 1024, 2048 or 4096.
impl TryFrom<u32> for Mtu {
    type Error = Error;

    fn try_from(bytes: u32) -> Result<Self, Error> {
        Self::from_bytes(bytes).ok_or(Error::PathMtu { bytes })
    }
}

/// A port as `ibv_query_port` describes it.
#[doc(alias("ibv_port_attr", "ibv_query_port"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Number, from 1.
    pub number: u8,
    /// Link state.
    pub state: PortState,
    /// Link layer.
    pub link_layer: LinkLayer,
    /// The MTU in force.
    pub active_mtu: Mtu,
    /// The largest MTU.
    pub max_mtu: Mtu,
    /// Local identifier; 0 on Ethernet.
    pub lid: u16,
    /// Entries of the GID table.
    pub gid_tbl_len: u32,
    /// Longest message, bytes.
    pub max_msg_sz: u32,
    /// Every packet must have a GRH, hence a GID, even within the subnet (`IBV_QPF_GRH_REQUIRED`): virtual InfiniBand
    /// ports.
    pub grh_required: bool,
}

/// Global identifier: an IPv6 address; on RoCE also an IPv4 one mapped into it (IBTA vol. 1, 4.1.1; annex A17).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Ipv6Addr", into = "Ipv6Addr")
)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// Whether it is all zero, which stands for "none" in the endpoints that peers exchange.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.0 == [0; 16]
    }

    /// Whether it is an IPv4 address mapped into IPv6.
    #[must_use]
    pub fn is_ipv4(self) -> bool {
        Ipv6Addr::from(self.0).to_ipv4_mapped().is_some()
    }

    /// The name of this kind of address in messages.
    pub(in crate::verbs) fn family(self) -> &'static str {
        if self.is_ipv4() { "IPv4" } else { "IPv6" }
    }

    /// Whether it is link-local (fe80::/10, RFC 4291, 2.5.6).
    fn is_link_local(self) -> bool {
        Ipv6Addr::from(self.0).is_unicast_link_local()
    }
}

impl From<Gid> for Ipv6Addr {
    fn from(gid: Gid) -> Self {
        Self::from(gid.0)
    }
}

impl From<Ipv6Addr> for Gid {
    fn from(address: Ipv6Addr) -> Self {
        Self(address.octets())
    }
}

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ipv6Addr::from(self.0).fmt(f)
    }
}

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How packets with a GID are carried.
#[doc(alias = "ibv_gid_type")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum GidType {
    /// InfiniBand.
    Ib,
    /// RoCE v1: a GRH directly in an Ethernet frame.
    RoceV1,
    /// RoCE v2: UDP port 4791.
    RoceV2,
    /// Any other value of `ibv_gid_type`.
    Other(u32),
}

impl GidType {
    /// The type with this number in `ibv_gid_type`.
    pub(in crate::verbs) fn from_raw(raw: u32) -> Self {
        match raw {
            sys::IBV_GID_TYPE_IB => Self::Ib,
            sys::IBV_GID_TYPE_ROCE_V1 => Self::RoceV1,
            sys::IBV_GID_TYPE_ROCE_V2 => Self::RoceV2,
            other => Self::Other(other),
        }
    }

    /// Its number of `ibv_gid_type`.
    pub(in crate::verbs) fn to_raw(self) -> u32 {
        match self {
            Self::Ib => sys::IBV_GID_TYPE_IB,
            Self::RoceV1 => sys::IBV_GID_TYPE_ROCE_V1,
            Self::RoceV2 => sys::IBV_GID_TYPE_ROCE_V2,
            Self::Other(raw) => raw,
        }
    }

    /// The link layer that carries such packets, if it is known.
    #[must_use]
    pub fn link_layer(self) -> Option<LinkLayer> {
        match self {
            Self::Ib => Some(LinkLayer::InfiniBand),
            Self::RoceV1 | Self::RoceV2 => Some(LinkLayer::Ethernet),
            Self::Other(_) => None,
        }
    }
}

impl fmt::Display for GidType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ib => "InfiniBand",
            Self::RoceV1 => "RoCE v1",
            Self::RoceV2 => "RoCE v2",
            Self::Other(raw) => return write!(f, "GID type {raw}"),
        })
    }
}

/// An entry of a port's GID table.
#[doc(alias = "ibv_gid_entry")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GidEntry {
    /// Place in the table.
    pub index: u8,
    /// The GID.
    pub gid: Gid,
    /// How it is carried.
    pub kind: GidType,
}

impl Device {
    /// A port's state.
    ///
    /// # Errors
    /// [`Error::NoPort`], or a failed call.
    pub fn port(&self, number: u8) -> Result<Port, Error> {
        has_port(number, self.attr().ports)?;
        // SAFETY: the context is open.
        let attr = unsafe { query(self.context.raw(), number) }?;
        let mtu = |raw| Mtu::from_raw(raw).unwrap_or(Mtu::B256);
        Ok(Port {
            number,
            state: PortState::from_raw(attr.state),
            // 0 is "unspecified", which drivers older than RoCE give for InfiniBand (`rdma_port_get_link_layer`).
            link_layer: if attr.link_layer == IBV_LINK_LAYER_ETHERNET {
                LinkLayer::Ethernet
            } else {
                LinkLayer::InfiniBand
            },
            active_mtu: mtu(attr.active_mtu),
            max_mtu: mtu(attr.max_mtu),
            lid: attr.lid,
            gid_tbl_len: u32::try_from(attr.gid_tbl_len).unwrap_or(0),
            max_msg_sz: attr.max_msg_sz,
            grh_required: attr.flags & IBV_QPF_GRH_REQUIRED != 0,
        })
    }

    /// One entry of a port's GID table; `None` if it is empty.
    ///
    /// # Errors
    /// A failed call, for instance for an index beyond the table.
    #[doc(alias = "ibv_query_gid_ex")]
    pub fn gid(&self, port: u8, index: u8) -> Result<Option<GidEntry>, Error> {
        let Some(entry) = self.gid_entry(port, index)? else { return Ok(None) };
        // SAFETY: every view of the union is sixteen bytes without padding.
        let gid = Gid(unsafe { entry.gid.raw });
        let kind = GidType::from_raw(entry.gid_type);
        Ok((!gid.is_zero()).then_some(GidEntry { index, gid, kind }))
    }

    /// The GID's entry, as libibverbs reports it.
    pub(in crate::verbs) fn gid_entry(&self, port: u8, index: u8) -> Result<Option<sys::ibv_gid_entry>, Error> {
        let mut entry = sys::ibv_gid_entry {
            gid: sys::ibv_gid { raw: [0; 16] },
            gid_index: 0,
            port_num: 0,
            gid_type: 0,
            ndev_ifindex: 0,
        };
        // SAFETY: the context is open, the entry ours and of the size given.
        let returned =
            unsafe { sys::ibv_query_gid_ex(self.context.raw(), port.into(), index.into(), &raw mut entry, 0) };
        match zero("ibv_query_gid_ex", returned) {
            Err(error) if error.errno == libc::ENODATA => Ok(None),
            result => result.map(|()| Some(entry)).map_err(Error::from),
        }
    }

    /// The entries of a port's GID table that are in use, by index.
    ///
    /// # Errors
    /// A failed call.
    #[doc(alias = "ibv_query_gid_table")]
    pub fn gids(&self, port: &Port) -> Result<Vec<GidEntry>, Error> {
        let mut entries = Vec::new();
        // Path records name the source GID by eight bits (`ibv_global_route::sgid_index`).
        for index in 0..=u8::MAX {
            if u32::from(index) >= port.gid_tbl_len {
                break;
            }
            entries.extend(self.gid(port.number, index)?);
        }
        Ok(entries)
    }

    /// The default GID. On InfiniBand, it is the first. On Ethernet, the table is searched for the kinds listed here,
    /// in this order, and the first GID of the first kind found is used. UCX chooses likewise
    /// (`src/uct/ib/base/ib_device.c`, `roce_prio` of `uct_ib_device_select_gid`). perftest prefers IPv4, then
    /// addresses that are not link-local, then RoCE v2 (`src/perftest_communication.c`, `compute_gid_score`). It can
    /// differ where an address has RoCE v1 only, or is of IPv4 and link-local.
    /// 1. RoCE v2, IPv4
    /// 2. RoCE v2, IPv6, global
    /// 3. RoCE v2, IPv6, link-local
    /// 4. RoCE v1, in the same order
    ///
    /// # Errors
    /// If the table is empty: [`Error::PortNotActive`] if the port carries no data, which empties it on Ethernet, else
    /// [`Error::NoGid`]. Or a failed call.
    pub fn default_gid(&self, port: &Port) -> Result<GidEntry, Error> {
        best_gid(&self.gids(port)?, port.link_layer).ok_or(match port.state {
            PortState::Active => Error::NoGid { port: port.number },
            state => Error::PortNotActive { port: port.number, state },
        })
    }
}

/// # Safety
/// The context is open.
unsafe fn query(context: *mut sys::ibv_context, number: u8) -> Result<sys::ibv_port_attr, Error> {
    let mut attr = sys::ibv_port_attr::ZERO;
    // SAFETY: the caller vouches for the context; the structure is ours.
    zero("ibv_query_port", unsafe { sys::ibv_query_port(context, number, &raw mut attr) })?;
    Ok(attr)
}

/// The state of a port.
///
/// # Safety
/// The context is open.
pub(in crate::verbs) unsafe fn port_state(context: *mut sys::ibv_context, number: u8) -> Result<PortState, Error> {
    // SAFETY: the caller promises that the context is open.
    Ok(PortState::from_raw(unsafe { query(context, number) }?.state))
}

/// The entry [`Device::default_gid`] chooses.
fn best_gid(entries: &[GidEntry], link_layer: LinkLayer) -> Option<GidEntry> {
    match link_layer {
        LinkLayer::InfiniBand => entries.first().copied(),
        LinkLayer::Ethernet => entries.iter().copied().min_by_key(|entry| {
            (entry.kind != GidType::RoceV2, entry.gid.is_link_local(), !entry.gid.is_ipv4(), entry.index)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(index: u8, gid: &str, kind: GidType) -> GidEntry {
        let address: Ipv6Addr = gid.parse().expect("test data");
        GidEntry { index, gid: Gid(address.octets()), kind }
    }

    #[test]
    fn roce_prefers_v2_then_routable_then_ipv4() {
        let table = [
            entry(0, "fe80::1", GidType::RoceV1),
            entry(1, "fe80::1", GidType::RoceV2),
            entry(2, "::ffff:10.0.0.1", GidType::RoceV1),
            entry(3, "2001:db8::1", GidType::RoceV2),
            entry(4, "::ffff:10.0.0.1", GidType::RoceV2),
        ];
        let best = |n: usize| best_gid(&table[..n], LinkLayer::Ethernet).map(|entry| entry.index);
        assert_eq!(
            [best(0), best(1), best(2), best(3), best(4), best(5)].map(|b| b.map_or(-1, i32::from)),
            [-1, 0, 1, 1, 3, 4]
        );
        assert_eq!(best_gid(&table, LinkLayer::InfiniBand).map(|entry| entry.index), Some(0));
    }

    #[test]
    fn mtu_counts_bytes() {
        assert_eq!(Mtu::ALL.map(Mtu::bytes), [256, 512, 1024, 2048, 4096]);
        assert_eq!(Mtu::from_bytes(2048), Some(Mtu::B2048));
        assert_eq!(Mtu::from_bytes(1500), None);
    }
}

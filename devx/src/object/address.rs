//! The path to a peer, in a queue pair's context.

use core::ptr::NonNull;

use blueflame::types::Qpn;
use blueflame::verbs::device::{GidType, LinkLayer};
use blueflame::verbs::{CallError, Device, Endpoint, Path};
use blueflame_sys as sys;

use crate::cmd::Ads;
use crate::error::Error;
use crate::memory::last;

/// Fills in the way from `path` to `remote`, for queue pair `local`. On Ethernet this resolves the peer's MAC address
/// by a call of the kernel.
///
/// Linux fills in the same fields when verbs moves a queue pair to RTR (`drivers/infiniband/hw/mlx5/qp.c`,
/// `mlx5_set_path`).
pub(super) fn fill(ads: &mut Ads, device: &Device, path: &Path, local: Qpn, remote: &Endpoint) -> Result<(), Error> {
    let mut attr = path.address(remote)?;
    if path.port.link_layer == LinkLayer::Ethernet {
        let mac = mac_of(device, &mut attr)?;
        ads.set_rmac_47_32(u16::from_be_bytes([mac[0], mac[1]]))
            .set_rmac_31_0(u32::from_be_bytes([mac[2], mac[3], mac[4], mac[5]]))
            .set_eth_prio(attr.sl & 7);
        if path.gid_type() == Some(GidType::RoceV2) {
            ads.set_udp_sport(udp_source_port(local, remote.qpn)).set_dscp(attr.grh.traffic_class >> 2);
        }
    } else {
        ads.set_rlid(attr.dlid).set_mlid(attr.src_path_bits & 0x7f).set_grh(attr.is_global != 0).set_sl(attr.sl);
    }
    if attr.is_global != 0 {
        ads.set_src_addr_index(attr.grh.sgid_index)
            .set_hop_limit(attr.grh.hop_limit)
            .set_tclass(attr.grh.traffic_class)
            .set_flow_label(attr.grh.flow_label);
        *ads.rgid_rip_mut() = remote.gid.0;
    }
    ads.set_vhca_port_num(path.port.number);
    Ok(())
}

/// An address handle, destroyed when dropped.
struct AddressHandle(NonNull<sys::ibv_ah>);

impl Drop for AddressHandle {
    fn drop(&mut self) {
        // SAFETY: from `ibv_create_ah`, destroyed once.
        unsafe { sys::ibv_destroy_ah(self.0.as_ptr()) };
    }
}

/// The MAC address behind a GID. The kernel resolves it for an address handle; UCX obtains it in the same way.
fn mac_of(device: &Device, attr: &mut sys::ibv_ah_attr) -> Result<[u8; 6], Error> {
    let pd = device.protection_domain()?;
    // SAFETY: the domain is alive, the attributes are ours.
    let raw = NonNull::new(unsafe { sys::ibv_create_ah(pd.as_raw(), attr) }).ok_or_else(|| last("ibv_create_ah"))?;
    let handle = AddressHandle(raw);
    let mut out = sys::mlx5dv_ah { av: core::ptr::null_mut(), comp_mask: 0 };
    let pair = sys::mlx5dv_pair { r#in: handle.0.as_ptr(), out: &raw mut out };
    let mut asked = sys::mlx5dv_obj { ah: pair, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the handle is alive, and libmlx5's, as its context is; the answer is ours.
    let errno = unsafe { sys::mlx5dv_init_obj(&raw mut asked, sys::MLX5DV_OBJ_AH) };
    let Some(vector) = NonNull::new(out.av).filter(|_| errno == 0) else {
        return Err(CallError { call: "mlx5dv_init_obj (AH)", errno }.into());
    };
    // SAFETY: a part of the address handle, which is alive; any bytes are a value.
    Ok(unsafe { vector.as_ref() }.rmac)
}

/// The UDP source port that Linux gives RoCE v2 packets between two queue pairs without a flow label: 14 bits of a
/// hash, so that switches spread connections (`include/rdma/ib_verbs.h`, `rdma_calc_flow_label`,
/// `rdma_flow_label_to_udp_sport`).
fn udp_source_port(local: Qpn, remote: Qpn) -> u16 {
    /// The first of the dynamic ports.
    const LEAST: u16 = 0xc000;
    let product = u64::from(local.get()) * u64::from(remote.get());
    let folded = product ^ product >> 20;
    let label = ((folded ^ folded >> 40) & 0xf_ffff) as u32;
    ((label ^ label >> 14) & 0x3fff) as u16 | LEAST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_ports_are_dynamic_and_differ() {
        let port = |a, b| udp_source_port(Qpn::truncate(a), Qpn::truncate(b));
        // By hand after Linux: 0x123 * 0x456 = 0x4edc2, of which the upper 6 of 20 bits (0x13) fold onto the lower 14
        // (0x2dc2).
        assert_eq!(port(0x123, 0x456), 0xedd1);
        assert_eq!(port(0x123, 0x456), port(0x456, 0x123));
        assert_ne!(port(0x123, 0x456), port(0x123, 0x457));
        assert!(port(0xff_ffff, 0xff_ffff) >= 0xc000);
    }
}

//! A context's address path, and the device's.

use super::layouts::ads;
use crate::config::{GidType, LinkLayer, PortConfig};
use crate::context::{Path, PathGrh};
use crate::firmware::layout::{View, ViewMut};
use crate::firmware::status::{Refusal, Status};

/// Of packets in force loopback. They meet no router.
const HOP_LIMIT: u8 = 64;

/// The path along which a connected QP on `port` sends.
pub(super) fn read(view: View<'_>, port: &PortConfig) -> Result<Path, Refusal> {
    if view.flag(ads::FL) {
        return loopback(port);
    }
    let sgid_index = view.get(ads::SRC_ADDR_INDEX) as u8;
    let ethernet = port.link == LinkLayer::Ethernet;
    let mut grh = PathGrh {
        dgid: view.bytes(ads::RGID_RIP),
        sgid_index,
        flow_label: view.get32(ads::FLOW_LABEL),
        hop_limit: view.get(ads::HOP_LIMIT) as u8,
        traffic_class: view.get(ads::TCLASS) as u8,
    };
    if !ethernet {
        let grh = view.flag(ads::GRH).then_some(grh);
        return Ok(Path {
            dlid: view.get(ads::RLID) as u16,
            sl: view.get(ads::SL) as u8,
            src_path_bits: view.get(ads::MLID) as u8,
            grh,
            dmac: [0; 6],
        });
    }
    let Some(gid) = port.gid(sgid_index) else {
        let reason = format!("src_addr_index {sgid_index}: the port has no such address");
        return Err(Refusal::new(Status::BadIndex, reason));
    };
    // RoCE v2 has an IP header, whose DSCP and ECN take the place of a GRH's traffic class.
    if gid.kind == GidType::RoceV2 {
        grh.traffic_class = (view.get(ads::DSCP) << 2 | view.get(ads::ECN)) as u8;
    }
    let mac = view.get(ads::RMAC_47_32) << 32 | view.get(ads::RMAC_31_0);
    let [_, _, dmac @ ..] = mac.to_be_bytes();
    Ok(Path { dlid: 0, sl: view.get(ads::ETH_PRIO) as u8, src_path_bits: 0, grh: Some(grh), dmac })
}

/// The path of force loopback: from the port to itself. The driver gives no address (rdma-core `dr_prepare_qp_to_rts`).
fn loopback(port: &PortConfig) -> Result<Path, Refusal> {
    if port.link != LinkLayer::Ethernet {
        return Ok(Path { dlid: port.lid, sl: 0, src_path_bits: 0, grh: None, dmac: [0; 6] });
    }
    let own = (0..=u8::MAX).find_map(|index| Some((index, port.gid(index)?)));
    let (sgid_index, gid) =
        own.ok_or_else(|| Refusal::new(Status::BadIndex, "force loopback: the port has no address"))?;
    let grh = PathGrh { dgid: gid.raw, sgid_index, flow_label: 0, hop_limit: HOP_LIMIT, traffic_class: 0 };
    Ok(Path { dlid: 0, sl: 0, src_path_bits: 0, grh: Some(grh), dmac: port.mac })
}

/// Writes the path of a QP on `port` over the driver's values. A driver that forces loopback has given none.
pub(super) fn write(view: &mut ViewMut<'_>, path: &Path, port: &PortConfig) {
    if View(view.0).flag(ads::FL) {
        return;
    }
    if let Some(grh) = &path.grh {
        view.put(ads::RGID_RIP.at / 8, &grh.dgid);
        view.set(ads::SRC_ADDR_INDEX, grh.sgid_index.into());
        view.set(ads::FLOW_LABEL, grh.flow_label.into());
        view.set(ads::HOP_LIMIT, grh.hop_limit.into());
    }
    if port.link != LinkLayer::Ethernet {
        view.set(ads::RLID, path.dlid.into());
        view.set(ads::SL, path.sl.into());
        view.set(ads::MLID, path.src_path_bits.into());
        view.set(ads::GRH, path.grh.is_some().into());
        view.set(ads::TCLASS, path.grh.map_or(0, |grh| grh.traffic_class.into()));
        return;
    }
    view.set(ads::ETH_PRIO, path.sl.into());
    let [a, b, rest @ ..] = path.dmac;
    view.set(ads::RMAC_47_32, u16::from_be_bytes([a, b]).into());
    view.set(ads::RMAC_31_0, u32::from_be_bytes(rest).into());
    let Some(grh) = path.grh else { return };
    match port.gid(grh.sgid_index).map(|gid| gid.kind) {
        Some(GidType::RoceV2) => {
            view.set(ads::DSCP, (grh.traffic_class >> 2).into());
            view.set(ads::ECN, (grh.traffic_class & 3).into());
        }
        _ => view.set(ads::TCLASS, grh.traffic_class.into()),
    }
}

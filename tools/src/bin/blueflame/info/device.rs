//! A device as `info` and reports describe it.

use blueflame::verbs::device::DeviceAttr;
use serde::Serialize;

use crate::machine::{Fact, of_device};
use crate::need::Need;
use crate::subject::Subject;

/// A device.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DeviceInfo {
    pub(crate) name: String,
    pub(crate) firmware: String,
    /// OUI of the vendor, and PCI device.
    pub(crate) vendor_id: String,
    pub(crate) vendor_part_id: String,
    pub(crate) node_guid: String,
    pub(crate) ports: Vec<PortInfo>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) register: RegisterInfo,
    pub(crate) facts: Vec<Fact>,
    pub(crate) capabilities: Vec<Capability>,
}

/// A port.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PortInfo {
    pub(crate) number: u8,
    pub(crate) state: String,
    pub(crate) link_layer: String,
    /// As sysfs prints it.
    pub(crate) rate: Option<String>,
    pub(crate) lid: u16,
    /// Bytes.
    pub(crate) active_mtu: u32,
    pub(crate) max_mtu: u32,
    pub(crate) gids: Vec<GidInfo>,
}

/// An entry of a port's GID table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct GidInfo {
    pub(crate) index: u8,
    pub(crate) gid: String,
    pub(crate) kind: String,
}

/// A limit of the device.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Limit {
    pub(crate) name: &'static str,
    pub(crate) value: u64,
}

/// The doorbell register of a queue pair of its own.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RegisterInfo {
    /// Bytes of a half; 0 without BlueFlame.
    pub(crate) half_bytes: Option<usize>,
    pub(crate) mapped_from: Option<String>,
    pub(crate) device_memory: Option<bool>,
    /// Why there is none, or why BlueFlame is off.
    pub(crate) why: Option<String>,
}

/// A feature of the crate, or the reason of its absence.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Capability {
    pub(crate) name: &'static str,
    pub(crate) offers: &'static str,
    pub(crate) available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why_not: Option<String>,
}

/// Describes an open device.
pub(crate) fn describe(subject: &Subject) -> DeviceInfo {
    let attr = subject.device.attr();
    DeviceInfo {
        name: subject.device.name().to_owned(),
        firmware: attr.fw_ver.clone(),
        vendor_id: format!("{:#06x}", attr.vendor_id),
        vendor_part_id: format!("{:#06x}", attr.vendor_part_id),
        node_guid: format!("{:016x}", attr.node_guid),
        ports: (1..=attr.ports).filter_map(|number| port(subject, number)).collect(),
        limits: limits(attr),
        register: register(subject),
        facts: of_device(&subject.sysfs()),
        capabilities: Need::ALL
            .iter()
            .map(|&need| {
                let met = need.met(subject);
                Capability { name: need.name(), offers: need.offers(), available: met.is_ok(), why_not: met.err() }
            })
            .collect(),
    }
}

fn port(subject: &Subject, number: u8) -> Option<PortInfo> {
    let port = subject.device.port(number).ok()?;
    let gids = subject.device.gids(&port).unwrap_or_default();
    Some(PortInfo {
        number,
        state: format!("{:?}", port.state),
        link_layer: port.link_layer.to_string(),
        rate: crate::machine::text(subject.sysfs().join(format!("ports/{number}/rate"))),
        lid: port.lid,
        active_mtu: port.active_mtu.bytes(),
        max_mtu: port.max_mtu.bytes(),
        gids: gids
            .iter()
            .map(|entry| GidInfo { index: entry.index, gid: entry.gid.to_string(), kind: format!("{:?}", entry.kind) })
            .collect(),
    })
}

fn limits(attr: &DeviceAttr) -> Vec<Limit> {
    let row = |name, value: u64| Limit { name, value };
    vec![
        row("queue pairs", attr.max_qp.into()),
        row("requests per queue", attr.max_qp_wr.into()),
        row("gather entries per request", attr.max_sge.into()),
        row("CQEs per completion queue", attr.max_cqe.into()),
        row("requests per shared receive queue", attr.max_srq_wr.into()),
        row("READs and atomics answered at once", attr.max_qp_rd_atom.into()),
        row("READs and atomics asked at once", attr.max_qp_init_rd_atom.into()),
        row("memory regions", attr.max_mr.into()),
        row("bytes of a memory region", attr.max_mr_size),
        row("bytes of a copy of memory", attr.max_memcpy.into()),
        row("bytes of a large send", attr.max_large_send.into()),
        row("registers for thread domains", attr.max_dynamic_bfregs.into()),
        row("log2 of the streams of an initiator", attr.max_log_dci_streams.into()),
    ]
}

fn register(subject: &Subject) -> RegisterInfo {
    match &subject.registers {
        Ok(registers) => RegisterInfo {
            half_bytes: Some(registers.half_bytes),
            mapped_from: Some(registers.mapping.file.clone()),
            device_memory: Some(registers.mapping.device),
            why: Need::BlueFlame.met(subject).err(),
        },
        Err(error) => {
            RegisterInfo { half_bytes: None, mapped_from: None, device_memory: None, why: Some(error.clone()) }
        }
    }
}

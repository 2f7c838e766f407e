//! Ports: their state and their GID tables.

use super::mtu;
use super::request::Request;
use crate::abi::{GidEntry, QueryPort, QueryPortResp, write};
use crate::context::Context;
use crate::device::Hca;
use crate::process::Errno;
use crate::process::route::interface_index;
use softhca_settings::{self as settings, Link};
use std::sync::Arc;
use zerocopy::{FromZeros, IntoBytes};

/// Entries of a GID table, most of them empty: what mlx5 reports.
fn gid_table_len(link: Link) -> u32 {
    match link {
        Link::Infiniband => settings::INFINIBAND_GIDS,
        Link::Ethernet => 255,
    }
}

/// `IB_SPEED_EDR`.
const EDR: u8 = 32;
/// Speed of a port, 4 lanes of EDR, in units of 100 Mb/s (Linux `ib_port_attr_to_speed_info`).
const SPEED: u64 = 1000;

fn checked_port(hca: &Hca, port: u32) -> Result<u32, Errno> {
    if (1..=hca.settings.ports).contains(&port) { Ok(port) } else { Err(Errno::EINVAL) }
}

/// Refuses a path that leaves no port of the device, or by no address that the port has (`rdma_fill_sgid_attr`): on
/// Ethernet, all paths are global.
pub(super) fn check_path(hca: &Hca, port: u32, is_global: bool, sgid_index: u8) -> Result<(), Errno> {
    let port = checked_port(hca, port)?;
    let (link, index) = (hca.settings.link, usize::from(sgid_index));
    if !is_global {
        return if link == Link::Ethernet { Err(Errno::EINVAL) } else { Ok(()) };
    }
    if index >= gid_table_len(link) as usize {
        return Err(Errno::EINVAL);
    }
    if index >= settings::gids(&hca.settings, hca.index, port).len() { Err(Errno::ENODATA) } else { Ok(()) }
}

fn state(hca: &Hca, port: u32) -> Result<QueryPortResp, Errno> {
    let port = checked_port(hca, port)?;
    let link = hca.settings.link;
    let infiniband = link == Link::Infiniband;
    // At most 2.
    let up = hca.port_is_up(port as u8);
    // The fields have 32 bits, and those of hardware stay at their largest value.
    let (bad_pkey_cntr, qkey_viol_cntr) = hca.key_violations(port as u8);
    let last = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(QueryPortResp {
        port_cap_flags: settings::port_capabilities(link),
        max_msg_sz: 1 << 30,
        gid_tbl_len: gid_table_len(link),
        pkey_tbl_len: 1,
        lid: settings::lid(&hca.settings, hca.index, port),
        sm_lid: settings::sm_lid(link),
        // IB_PORT_ACTIVE, IB_PORT_DOWN.
        state: if up { 4 } else { 1 },
        // 4096 bytes (enum ib_mtu).
        max_mtu: 5,
        active_mtu: mtu::to_abi(settings::path_mtu(&hca.settings)),
        max_vl_num: if infiniband { 4 } else { 0 },
        subnet_timeout: if infiniband { 18 } else { 0 },
        // 4 lanes.
        active_width: 2,
        active_speed: EDR,
        active_speed_ex: EDR.into(),
        // Link up; polling, as with a cable that was pulled.
        phys_state: if up { 5 } else { 2 },
        link_layer: if infiniband { 1 } else { 2 },
        bad_pkey_cntr: last(bad_pkey_cntr),
        qkey_viol_cntr: last(qkey_viol_cntr),
        // IB_UVERBS_QPF_GRH_REQUIRED.
        flags: if infiniband { 0 } else { 1 },
        ..FromZeros::new_zeroed()
    })
}

/// `QUERY_PORT`: 0 port number, 1 response.
pub(crate) fn query_port(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let port: u8 = request.input(0)?;
    request.put(1, &state(&context.hca, port.into())?)
}

/// `QUERY_PORT` as a write command, whose response ends before the extension.
pub(crate) fn write_query_port(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let query: QueryPort = request.core_in()?;
    let response = state(&context.hca, query.port_num.into())?;
    let plain = std::mem::offset_of!(QueryPortResp, port_cap_flags2);
    if request.len(write::CORE_OUT) < plain {
        return Err(Errno::ENOSPC);
    }
    request.put_bytes(write::CORE_OUT, &response.as_bytes()[..plain])
}

/// `QUERY_PORT_SPEED` of Linux 7.0: 0 port number, 1 speed in units of 100 Mb/s.
///
/// A bond has the sum of its links that are up, and no known speed without one (Linux mlx5_ib `main.c`,
/// `mlx5_ib_query_port_speed`; mlx5_core `lag.c`, `mlx5_lag_query_bond_speed`).
pub(crate) fn query_port_speed(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    if request.len(0) != size_of::<u64>() || request.len(1) != size_of::<u64>() {
        return Err(Errno::EINVAL);
    }
    let hca = &context.hca;
    let port: u64 = request.input(0)?;
    let port = checked_port(hca, u32::try_from(port).map_err(|_| Errno::EINVAL)?)?;
    let links = hca.links_up(port as u8);
    if links == 0 && hca.settings.bond {
        return Err(Errno::EINVAL);
    }
    request.put(1, &(links as u64 * SPEED))
}

/// `MLX5_IB_METHOD_QUERY_PORT`: 0x1000 port number, 0x1001 the port's place in the switch of a device whose switch
/// software manages (`switchdev`). This device is none, so no flag says that anything is known (Linux mlx5_ib
/// `std_types.c`).
pub(crate) fn query_place(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    const PORT: u16 = 0x1000;
    const PLACE: u16 = 0x1001;
    /// Bytes of `struct mlx5_ib_uapi_query_port`.
    const PLACE_BYTES: usize = 40;
    if request.len(PORT) != size_of::<u32>() || request.len(PLACE) < PLACE_BYTES {
        return Err(Errno::EINVAL);
    }
    checked_port(&context.hca, request.input(PORT)?)?;
    request.put(PLACE, &[0_u8; PLACE_BYTES])
}

fn entry(hca: &Hca, port: u32, index: u32, entry: settings::GidEntry<'_>) -> GidEntry {
    let netdev_ifindex = match hca.settings.link {
        Link::Infiniband => 0,
        Link::Ethernet => interface_index(entry.interface),
    };
    GidEntry { gid: entry.gid, gid_index: index, port_num: port, gid_type: entry.kind as u32, netdev_ifindex }
}

/// `QUERY_GID_ENTRY`: 0 port, 1 index, 2 flags, 3 response.
pub(crate) fn query_gid_entry(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let hca = &context.hca;
    let port = checked_port(hca, request.input(0)?)?;
    let index: u32 = request.input(1)?;
    let flags: u32 = request.input(2)?;
    if flags != 0 || index >= gid_table_len(hca.settings.link) {
        return Err(Errno::EINVAL);
    }
    let gid = *settings::gid_table(&hca.settings, hca.index, port).get(index as usize).ok_or(Errno::ENODATA)?;
    request.put(3, &entry(hca, port, index, gid))
}

/// `QUERY_GID_TABLE`: 0 bytes per entry, 1 flags, 2 entries, 3 their count.
pub(crate) fn query_gid_table(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let hca = &context.hca;
    let entry_len: u64 = request.input(0)?;
    let flags: u32 = request.input(1)?;
    // A response is at most 64 KiB, so no longer entry can be meant.
    let entry_len = usize::try_from(entry_len).ok().filter(|len| (1..=1 << 16).contains(len)).ok_or(Errno::EINVAL)?;
    if flags != 0 {
        return Err(Errno::EINVAL);
    }
    let mut table = Vec::new();
    let mut count = 0_u64;
    for port in 1..=hca.settings.ports {
        for (index, gid) in settings::gid_table(&hca.settings, hca.index, port).into_iter().enumerate() {
            let entry = entry(hca, port, index as u32, gid);
            let mut bytes = entry.as_bytes().to_vec();
            bytes.resize(entry_len, 0);
            table.extend(bytes);
            count += 1;
        }
    }
    if table.len() > request.len(2) {
        return Err(Errno::EINVAL);
    }
    request.put_start(2, &table)?;
    request.put(3, &count)
}

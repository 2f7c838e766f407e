//! The program's queries of an id: `QUERY` and `QUERY_ROUTE`.

use super::abi::{PATH_FLAGS, QueryAddrResp, QueryPathResp, QueryRouteResp, UserPathRec, query};
use super::address::{Address, SOCKADDR_IB_BYTES, service_id, sockaddr_ib};
use super::establish::{PACKET_LIFE_TIME, route_mtu};
use super::id::{HOP_LIMIT, Id, State};
use crate::process::Errno;
use softhca_settings as settings;
use std::net::SocketAddr;
use zerocopy::{FromZeros, IntoBytes};

/// `IB_RATE_100_GBPS`.
const RATE: u8 = 16;
/// "Exactly", of a selector beside a value (`IB_SA_EQ`).
const EXACTLY: u8 = 2;
/// The default partition.
const PKEY: [u8; 2] = [0xff; 2];

/// Whether the id has a path.
fn has_route(id: &Id) -> bool {
    matches!(id.state, State::RouteResolved | State::Connecting | State::Disconnected) && id.local.is_some()
}

/// The answer to `QUERY`: its bytes.
pub(super) fn query(id: &Id, option: u32) -> Result<Vec<u8>, Errno> {
    match option {
        query::ADDR => Ok(addresses(id).as_bytes().to_vec()),
        query::GID => Ok(gids(id).as_bytes().to_vec()),
        query::PATH if has_route(id) => Ok(path(id).as_bytes().to_vec()),
        query::PATH => Ok([0_u64].as_bytes().to_vec()),
        _ => Err(Errno(libc::ENOSYS)),
    }
}

/// The device's part of an answer.
fn device(id: &Id) -> QueryAddrResp {
    let mut response = QueryAddrResp::new_zeroed();
    if let Some(local) = &id.local {
        response.node_guid = settings::node_guid(local.hca.settings.number(local.hca.index)).to_be_bytes();
        response.port_num = local.port;
        response.pkey = PKEY;
    }
    response
}

fn addresses(id: &Id) -> QueryAddrResp {
    let mut response = device(id);
    // Bytes of a socket address: far fewer than 2^16.
    if let Some(source) = &id.source {
        (response.src_addr, response.src_size) = (source.to_storage(), source.len() as u16);
    }
    if let Some(destination) = id.destination.map(Address::Ip) {
        (response.dst_addr, response.dst_size) = (destination.to_storage(), destination.len() as u16);
    }
    response
}

fn gids(id: &Id) -> QueryAddrResp {
    let [source, destination] = id.gids();
    let service = |address: Option<SocketAddr>| address.map_or(0, |address| service_id(id.space, address.port()));
    QueryAddrResp {
        src_size: SOCKADDR_IB_BYTES,
        dst_size: SOCKADDR_IB_BYTES,
        src_addr: sockaddr_ib(&source, service(id.source_ip())),
        dst_addr: sockaddr_ib(&destination, service(id.destination)),
        ..device(id)
    }
}

fn path(id: &Id) -> QueryPathResp {
    let [source, destination] = id.gids();
    let mut record = [0; 64];
    record[8..24].copy_from_slice(&destination);
    record[24..40].copy_from_slice(&source);
    // Flow label and hop limit, traffic class, reversible and one path, P_Key.
    record[47] = HOP_LIMIT;
    record[48] = id.options.traffic_class;
    record[49] = 1 << 7 | 1;
    record[50..52].copy_from_slice(&PKEY);
    // MTU, rate, packet life time, each with a selector.
    let mtu = id.local.as_ref().map_or(0, route_mtu);
    for (at, value) in [(54, mtu), (55, RATE), (56, PACKET_LIFE_TIME)] {
        record[at] = EXACTLY << 6 | value;
    }
    QueryPathResp { num_paths: 1, flags: PATH_FLAGS, path_rec: record, ..FromZeros::new_zeroed() }
}

/// The answer to `QUERY_ROUTE`.
pub(super) fn route(id: &Id) -> QueryRouteResp {
    let mut response = QueryRouteResp::new_zeroed();
    let start = |address: Address| std::array::from_fn(|byte| address.to_storage()[byte]);
    response.src_addr = id.source.map(start).unwrap_or(response.src_addr);
    response.dst_addr = id.destination.map(Address::Ip).map(start).unwrap_or(response.dst_addr);
    let Some(local) = &id.local else { return response };
    response.node_guid = settings::node_guid(local.hca.settings.number(local.hca.index)).to_be_bytes();
    response.port_num = local.port;
    let [sgid, dgid] = id.gids();
    let route = &mut response.ib_route[0];
    *route = UserPathRec { sgid, dgid, pkey: PKEY, ..FromZeros::new_zeroed() };
    if has_route(id) {
        response.num_paths = 1;
        route.reversible = 1;
        route.numb_path = 1;
        route.mtu = route_mtu(local).into();
        route.hop_limit = HOP_LIMIT;
        route.traffic_class = id.options.traffic_class;
        route.rate = RATE;
        route.packet_life_time = PACKET_LIFE_TIME;
        [route.mtu_selector, route.rate_selector, route.packet_life_time_selector] = [EXACTLY; 3];
    }
    response
}

//! Address handles: on Ethernet, libmlx5 has the kernel find the destination's MAC address.

use super::pd::Pd;
use super::port;
use super::request::Request;
use crate::abi::{CreateAh, UHW_OUT, mlx5};
use crate::context::{Context, Object, Rank};
use crate::device::Hca;
use crate::process::{Errno, route};
use softhca::wire::cable::ip_of;
use softhca_settings::{self as settings, Gid, Link, Settings, WireKind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerocopy::FromZeros;

/// An address handle. The device has no such object: the address is in each WQE.
pub(crate) struct Ah {
    /// Keeps the domain busy.
    _pd: Arc<Pd>,
}

impl Object for Ah {
    fn rank(&self) -> Rank {
        Rank::Ah
    }

    fn release(&self, _: &Hca) -> Result<(), Errno> {
        Ok(())
    }
}

/// The MAC address that stands for the host's IP stack: of no device.
const HOST_MAC: [u8; 6] = [0x02, 0x00, 0x5f, 0x04, 0x00, 0x01];

/// How long a neighbour has to answer (`rdma_addr_find_l2_eth_by_grh` of Linux' `drivers/infiniband/core/addr.c`), and
/// how often it is looked for.
const PATIENCE: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(10);

/// The MAC address of the port that has `gid`, for packets from the source that the path names.
///
/// # Errors
/// `ENETUNREACH` if no network of the port has such an address; `ETIMEDOUT` if nobody has it in time.
pub(super) fn mac_of(hca: &Hca, port: u8, sgid_index: u8, gid: &Gid) -> Result<[u8; 6], Errno> {
    let settings = &hca.settings;
    if let Some(mac) = known_mac(settings, gid) {
        return Ok(mac);
    }
    if let WireKind::Udp(_) = settings.wire {
        // The host's stack finds the neighbour. A packet has no Ethernet header of the device's.
        return match *gid {
            // Reached on the interface that has the source address.
            [0xfe, 0x80, ..] => Ok(HOST_MAC),
            gid => route::source_of(ip_of(gid)).map(|_| HOST_MAC),
        };
    }
    let own_mac = own_mac(gid);
    if settings.wire == WireKind::Shm && own_mac.is_none() {
        // The fabric has the host's networks besides its own, and no router.
        route::check_neighbour(ip_of(*gid))?;
    }
    let source = settings::gids(settings, hca.index, port.into()).get(usize::from(sgid_index)).map(|(gid, _)| *gid);
    let deadline = Instant::now() + PATIENCE;
    loop {
        match hca.neighbour(source.unwrap_or_default(), *gid) {
            Some([0, 0, 0, 0, 0, 0]) => return Ok(own_mac.unwrap_or_default()),
            Some(mac) => return Ok(mac),
            None if Instant::now() >= deadline => return Err(Errno(libc::ETIMEDOUT)),
            None => std::thread::sleep(AGAIN),
        }
    }
}

/// The MAC addresses of the launcher's own ports, and of groups: nobody is asked.
fn known_mac(settings: &Settings, gid: &Gid) -> Option<[u8; 6]> {
    match settings::find_gid(settings, gid) {
        Some((device, port, _)) => Some(settings.mac_of(device, port)),
        None => group_mac(gid),
    }
}

/// The MAC address that an address on the software devices' own networks stands for: link local, made of it (RFC 4291,
/// appendix A), or IPv4.
fn own_mac(gid: &Gid) -> Option<[u8; 6]> {
    match *gid {
        [0xfe, 0x80, _, _, _, _, _, _, a, b, c, 0xff, 0xfe, d, e, f] => Some([a ^ 2, b, c, d, e, f]),
        [0xfe, 0x80, ..] => Some([0; 6]),
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 95, device, port] => {
            Some(settings::mac(device.into(), port.into()))
        }
        _ => None,
    }
}

/// The MAC address of a multicast group (RFC 1112, 6.4; RFC 2464, section 7); `None` for a GID of no group.
fn group_mac(gid: &Gid) -> Option<[u8; 6]> {
    match *gid {
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 224..=239, a, b, c] => Some([1, 0, 0x5e, a & 0x7f, b, c]),
        [0xff, .., a, b, c, d] => Some([0x33, 0x33, a, b, c, d]),
        _ => None,
    }
}

/// `CREATE_AH`.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let CreateAh { pd_handle, attr: wanted, .. } = request.core_in()?;
    let pd: Arc<Pd> = context.get(pd_handle).map_err(|_| Errno::EINVAL)?;
    port::check_path(&context.hca, wanted.port_num.into(), wanted.is_global != 0, wanted.grh.sgid_index)?;
    let dmac = if wanted.is_global != 0 {
        mac_of(&context.hca, wanted.port_num, wanted.grh.sgid_index, &wanted.grh.dgid)?
    } else {
        [0; 6]
    };
    let ah_handle = context.insert(Arc::new(Ah { _pd: pd }));
    if context.hca.settings.link == Link::Ethernet {
        // Up to the address; there is nothing else (`mlx5_ib_create_ah`).
        let response_length = std::mem::offset_of!(mlx5::CreateAhResp, reserved) as u32;
        let driver = mlx5::CreateAhResp { response_length, dmac, ..FromZeros::new_zeroed() };
        request.put_optional(UHW_OUT, &driver)?;
    }
    request.core_out(&ah_handle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use softhca_settings::{InlineHeaders, LocalAddress, Memlock, gid_of, gids, mac};
    use std::net::Ipv4Addr;

    #[test]
    fn every_gid_of_a_port_leads_to_its_mac() {
        let settings = Settings {
            devices: 2,
            vfio: 0,
            ports: 2,
            bond: false,
            link: Link::Ethernet,
            mtu: softhca_settings::DEFAULT_MTU,
            generation: softhca_settings::Generation::ConnectX5,
            addresses: vec![LocalAddress { interface: "lo".to_owned(), ip: Ipv4Addr::LOCALHOST.into() }],
            own_route: None,
            inline_headers: InlineHeaders::None,
            memlock: Memlock::Linux,
            max_mr: 1 << 20,
            strict: false,
            static_uars: false,
            no_write_combining: false,
            clock: softhca_settings::Clock::FreeRunning,
            reuse_qpn: false,
            keep_registers: false,
            sink: false,
            faults: None,
            damage: None,
            pcap: None,
            wire: softhca_settings::WireKind::Shm,
            index: 0,
            mac: None,
            fabric: "/nowhere".into(),
            report: None,
            explanations: None,
            script: None,
            sysfs: None,
            namespace: false,
            log: String::new(),
        };
        for (device, port) in [(0, 1), (0, 2), (1, 1), (1, 2)] {
            for (gid, _) in gids(&settings, device, port) {
                assert_eq!(known_mac(&settings, &gid), Some(mac(device, port)));
            }
        }
        let group = gid_of("239.129.2.3".parse().unwrap());
        assert_eq!(known_mac(&settings, &group), Some([1, 0, 0x5e, 1, 2, 3]));
        assert_eq!(known_mac(&settings, &[0xff; 16]), Some([0x33, 0x33, 0xff, 0xff, 0xff, 0xff]));
        let other = |ip: &str| gid_of(ip.parse().unwrap());
        for (gid, own) in [
            (other("10.95.7.1"), Some([0x02, 0x00, 0x5f, 0x03, 7, 1])),
            (other("fe80::5fff:fe03:701"), Some([0x02, 0x00, 0x5f, 0x03, 7, 1])),
            (other("192.0.2.1"), None),
        ] {
            assert_eq!((known_mac(&settings, &gid), own_mac(&gid)), (None, own));
        }
    }
}

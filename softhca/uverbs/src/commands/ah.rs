//! Address handles: on Ethernet, libmlx5 has the kernel find the destination's MAC address.

use super::pd::Pd;
use super::port;
use super::request::Request;
use crate::abi::{CreateAh, CreateAhResp, UHW_OUT, mlx5};
use crate::context::{Context, Object, Rank};
use crate::device::Hca;
use crate::process::{Errno, route};
use softhca::wire::cable::ip_of;
use softhca_settings::{self as settings, Gid, Link, Settings, WireKind};
use std::sync::Arc;
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

/// The MAC address of the port that has `gid`. Addresses of the software devices say it themselves; so do link-local
/// and multicast ones. A link-local address of no neighbour is asked for until time is up (`process_one_req` in Linux'
/// `drivers/infiniband/core/addr.c`); here at once.
pub(super) fn mac_of(settings: &Settings, gid: &Gid) -> Result<[u8; 6], Errno> {
    if let Some((device, port, _)) = settings::find_gid(settings, gid) {
        return Ok(settings.mac_of(device, port));
    }
    if let Some(mac) = group_mac(gid) {
        return Ok(mac);
    }
    if matches!(settings.wire, WireKind::Tap(_) | WireKind::Raw(_) | WireKind::Socket(_)) {
        // The wire asks for the neighbour when it sends to it.
        return Ok([0; 6]);
    }
    if let WireKind::Udp(_) = settings.wire {
        // The host's stack finds the neighbour. A packet has no Ethernet header of the device's.
        return match *gid {
            // Reached on the interface that has the source address.
            [0xfe, 0x80, ..] => Ok(HOST_MAC),
            gid => route::source_of(ip_of(gid)).map(|_| HOST_MAC),
        };
    }
    match *gid {
        // Link local, made of a MAC address (RFC 4291, appendix A).
        [0xfe, 0x80, _, _, _, _, _, _, a, b, c, 0xff, 0xfe, d, e, f] => Ok([a ^ 2, b, c, d, e, f]),
        // IPv4, mapped.
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 95, device, port] => {
            Ok(settings::mac(device.into(), port.into()))
        }
        [0xfe, 0x80, ..] => Err(Errno(libc::ETIMEDOUT)),
        _ => Err(Errno(libc::EHOSTUNREACH)),
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
    let wanted: CreateAh = request.core_in()?;
    let pd: Arc<Pd> = context.get(wanted.pd_handle).map_err(|_| Errno::EINVAL)?;
    port::check_path(&context.hca, wanted.port_num.into(), wanted.is_global != 0, wanted.grh.sgid_index)?;
    let dmac = if wanted.is_global != 0 { mac_of(&context.hca.settings, &wanted.grh.dgid)? } else { [0; 6] };
    let ah_handle = context.insert(Arc::new(Ah { _pd: pd }));
    if context.hca.settings.link == Link::Ethernet {
        // Up to the address; there is nothing else (`mlx5_ib_create_ah`).
        let response_length = std::mem::offset_of!(mlx5::CreateAhResp, reserved) as u32;
        let driver = mlx5::CreateAhResp { response_length, dmac, ..FromZeros::new_zeroed() };
        request.put_optional(UHW_OUT, &driver)?;
    }
    request.core_out(&CreateAhResp { ah_handle })
}

/// `AH_DESTROY`: 0 handle.
pub(crate) fn destroy(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    context.destroy::<Ah>(request.handle(0)?).map(drop)
}

/// `DESTROY_AH`.
pub(crate) fn write_destroy(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    context.destroy::<Ah>(request.core_in()?).map(drop)
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
            link: Link::Ethernet,
            mtu: softhca_settings::DEFAULT_MTU,
            generation: softhca_settings::Generation::ConnectX5,
            addresses: vec![LocalAddress { interface: "lo".to_owned(), ip: Ipv4Addr::LOCALHOST.into() }],
            own_route: None,
            inline_headers: InlineHeaders::None,
            memlock: Memlock::Linux,
            strict: false,
            static_uars: false,
            no_write_combining: false,
            clock: softhca_settings::Clock::FreeRunning,
            reuse_qpn: false,
            sink: false,
            faults: None,
            damage: None,
            pcap: None,
            wire: softhca_settings::WireKind::Shm,
            index: 0,
            mac: None,
            fabric: "/nowhere".into(),
            report: None,
            script: None,
            sysfs: None,
            namespace: false,
            log: String::new(),
        };
        for (device, port) in [(0, 1), (0, 2), (1, 1), (1, 2)] {
            for (gid, _) in gids(&settings, device, port) {
                assert_eq!(mac_of(&settings, &gid), Ok(mac(device, port)));
            }
        }
        let group = gid_of("239.129.2.3".parse().unwrap());
        assert_eq!(mac_of(&settings, &group), Ok([1, 0, 0x5e, 1, 2, 3]));
        assert_eq!(mac_of(&settings, &[0xff; 16]), Ok([0x33, 0x33, 0xff, 0xff, 0xff, 0xff]));
        assert_eq!(mac_of(&settings, &[0x20; 16]), Err(Errno(libc::EHOSTUNREACH)));
        let nobody = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef];
        assert_eq!(mac_of(&settings, &nobody), Err(Errno(libc::ETIMEDOUT)));
    }
}

//! How a device reaches others: the fabric that the launcher's programs share, the host's network, or, for a sink,
//! nothing; and its ports.

use super::limits::MAX_QUEUES;
use crate::launch::chaos;
use crate::process::route::interface_index;
use crate::process::{Errno, lock};
use softhca::config::{Gid, LateWrites, PortConfig, SrqFaults};
use softhca::faults::Faults;
use softhca::notify::Notify;
use softhca::wire::capture::Capture;
use softhca::wire::ethernet::EthernetWire;
use softhca::wire::in_process::Fabric;
use softhca::wire::shm::ShmWire;
use softhca::wire::udp::{UdpAddress, UdpWire};
use softhca::wire::{Address, GSI_QPN, Wire};
use softhca_settings::{Chaos, LocalAddress, Settings, WireKind, port_config};
use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::sync::Mutex;

/// QPNs of a device that shares its address with nobody: all that are not special and that libmlx5's table of QPs
/// holds.
const OWN_QPNS: Range<u32> = 0x100..MAX_QUEUES;

/// How a device reaches others.
pub(crate) struct Network {
    pub(crate) wire: Box<dyn Wire>,
    /// QPNs by which the device is found.
    pub(super) qpns: Range<u32>,
    /// The number of its QP 1.
    pub(crate) gsi_qpn: Option<u32>,
    /// Wakes the device's thread.
    pub(crate) notify: Notify,
    /// The faults of receives from SRQs.
    pub(super) srq_faults: SrqFaults,
    /// WRITEs that are placed out of order.
    pub(super) late_writes: LateWrites,
}

impl Network {
    /// Joins as device `index`, with these ports.
    pub(crate) fn join(settings: &Settings, index: u32, ports: &[PortConfig]) -> Result<Self, Errno> {
        let lids: Vec<u16> = ports.iter().map(|port| port.lid).filter(|&lid| lid != 0).collect();
        let mut gids: Vec<Gid> = ports.iter().flat_map(|port| port.gids.clone()).collect();
        gids.dedup();
        let eio = |error: &dyn std::error::Error| {
            // A fabric's error names the folder, its source the reason.
            let reason = error.source().map_or_else(String::new, |source| format!(": {source}"));
            log::error!("{error}{reason}");
            Errno::EIO
        };
        if settings.sink {
            // One of its own: nobody else is there.
            let address = Address { lids, gids, qpns: OWN_QPNS };
            let wire = Fabric::new().attach(address).map_err(|error| eio(&error))?;
            return Ok(Self {
                notify: wire.notify(),
                wire: Box::new(wire),
                qpns: OWN_QPNS,
                gsi_qpn: None,
                srq_faults: SrqFaults::default(),
                late_writes: LateWrites::default(),
            });
        }
        let bad = |error: softhca::wire::fault::FaultConfigError| {
            log::error!("faults: {error}");
            Errno::EINVAL
        };
        let faults: Option<Faults> = settings.faults.as_deref().map(str::parse).transpose().map_err(bad)?;
        let mut now = faults.unwrap_or_default();
        let Joined { wire, qpns, gsi_qpn, notify } = match &settings.wire {
            WireKind::Shm => {
                let wire = ShmWire::join(&settings.fabric, &lids, &gids).map_err(|error| eio(&error))?;
                let wire = if lends(settings) && now.place == 0 { wire } else { wire.without_loans() };
                let (qpns, gsi_qpn, notify) = (wire.qpns(), wire.gsi_qpn(), wire.notify());
                Joined { wire: Box::new(wire), qpns, gsi_qpn, notify }
            }
            wire => {
                // The launcher makes no others.
                let port = ports.first().filter(|_| index == 0).ok_or(Errno::ENODEV)?;
                Joined::leaving_the_host(settings, wire, port)?
            }
        };
        let wire: Box<dyn Wire> = match capture(settings).map_err(|error| eio(&error))? {
            None => wire,
            Some(capture) => {
                Box::new(capture.wire(wire, &format!("mlx5_{index}"), ports).map_err(|error| eio(&error))?)
            }
        };
        now.network.seed = chaos().and_then(Chaos::seed).unwrap_or(now.network.seed);
        // The ends of a connection must not lose the same packets in step.
        now.network.seed ^= u64::from(qpns.start) ^ identity_of(settings, &gids);
        let wire: Box<dyn Wire> = match chaos() {
            Some(chaos) => chaos.of_device(index).wire(wire, &now).map_err(bad)?,
            None => now.inject(wire).map_err(bad)?,
        };
        let late_writes = LateWrites { rate: now.place, seed: now.network.seed };
        Ok(Self { wire, qpns, gsi_qpn: Some(gsi_qpn), notify, srq_faults: now.srq, late_writes })
    }
}

/// Whether peers may write to and read from the program's memory by themselves. In strict mode, each access is the
/// device's. Valgrind knows of no write by another process, and would call the bytes undefined; it names itself in the
/// list of preloaded objects.
fn lends(settings: &Settings) -> bool {
    let is_in_valgrind =
        std::env::var_os("LD_PRELOAD").is_some_and(|list| list.as_bytes().windows(9).any(|word| word == b"vgpreload"));
    // Packets that a loan spares go by neither port of a bond.
    !settings.strict && !settings.bond && !is_in_valgrind
}

/// A wire with its numbers.
struct Joined {
    wire: Box<dyn Wire>,
    qpns: Range<u32>,
    gsi_qpn: u32,
    notify: Notify,
}

impl Joined {
    /// Joins a network on which the device has all QPNs.
    fn leaving_the_host(settings: &Settings, kind: &WireKind, port: &PortConfig) -> Result<Self, Errno> {
        let joined = match kind {
            WireKind::Shm => return Err(Errno::EINVAL),
            WireKind::Udp(_) => return Self::by_udp(settings),
            WireKind::Tap(name) => EthernetWire::tap(name, port.mac, &port.gids),
            WireKind::Raw(name) => EthernetWire::raw(name, port.mac, &port.gids),
            WireKind::Socket(path) => EthernetWire::socket(path, port.mac, &port.gids),
        };
        let wire = joined.map_err(|error| {
            log::error!("{kind}: {error}");
            Errno(error.raw_os_error().unwrap_or(libc::EIO))
        })?;
        let notify = wire.notify();
        Ok(Self { wire: Box::new(wire), qpns: OWN_QPNS, gsi_qpn: GSI_QPN, notify })
    }

    /// Joins the host's network at the addresses that the launcher has chosen.
    fn by_udp(settings: &Settings) -> Result<Self, Errno> {
        let scope = |address: &LocalAddress| match address.ip {
            IpAddr::V6(ip) if ip.is_unicast_link_local() => interface_index(&address.interface),
            _ => 0,
        };
        let addresses = settings.addresses.iter().map(|address| UdpAddress { ip: address.ip, scope: scope(address) });
        let wire = UdpWire::bind(&Vec::from_iter(addresses)).map_err(|error| {
            log::error!("{error}");
            Errno(error.io().raw_os_error().unwrap_or(libc::EIO))
        })?;
        let notify = wire.notify();
        Ok(Self { wire: Box::new(wire), qpns: OWN_QPNS, gsi_qpn: GSI_QPN, notify })
    }
}

/// A number that the devices of different hosts have different, for devices whose QPNs are not.
fn identity_of(settings: &Settings, gids: &[Gid]) -> u64 {
    match (&settings.wire, gids) {
        (WireKind::Shm, _) => 0,
        (_, [Gid { raw: [.., a, b, c, d], .. }, ..]) => u32::from_be_bytes([*a, *b, *c, *d]).into(),
        _ => 0,
    }
}

/// The capture that is open, and the process that has opened it.
pub(super) static CAPTURE: Mutex<Option<(u32, Capture)>> = Mutex::new(None);

/// The capture of this process, if there is to be one. A forked child has its own.
fn capture(settings: &Settings) -> io::Result<Option<Capture>> {
    let Some(path) = &settings.pcap else { return Ok(None) };
    let (mut open, process) = (lock(&CAPTURE), std::process::id());
    if let Some((_, capture)) = open.as_ref().filter(|(opener, _)| *opener == process) {
        return Ok(Some(capture.clone()));
    }
    let file = match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut other = path.clone().into_os_string();
            other.push(format!(".{process}"));
            File::create(other)?
        }
        file => file?,
    };
    let capture = Capture::into_file(file)?;
    *open = Some((process, capture.clone()));
    Ok(Some(capture))
}

/// The ports of device `index`.
pub(crate) fn ports(settings: &Settings, index: u32) -> Vec<PortConfig> {
    (1..=settings.ports).map(|port| port_config(settings, index, port)).collect()
}

//! The agreement between the launcher and the preloaded object. Environment variables carry the settings
//! ([`Settings`]). The identities of devices (GUIDs, LIDs, GIDs) follow from their numbers, so every process sees the
//! same ones.

mod chaos;
mod clock;
mod counters;
mod damage;
mod environment;
mod generation;
mod local_address;
mod mishaps;
mod port;
mod queues;
mod resources;
mod subnet;
mod wire;
mod words;

pub use chaos::{BadScript, Chaos, Refusal};
pub use clock::Clock;
pub use counters::{all_counters, counters_file, first_counter};
pub use damage::{BadDamage, Damage};
pub use environment::{BadSetting, LAUNCHER_VARIABLE, OPTIONS_VARIABLE};
pub use generation::Generation;
pub use local_address::{Gid, LocalAddress, MAX_LOCAL_ADDRESSES, gid_of};
pub use mishaps::{Mishaps, cable_file};
pub use port::{
    DEFAULT_PKEY, GidType, INFINIBAND_GIDS, Link, MAX_PORTS, SUBNET_PREFIX, mac, node_guid, own_ip, plain_port,
    port_capabilities, port_guid,
};
pub use queues::queues_folder;
pub use resources::{RESOURCES, Resource, resources_file, resources_folder, resources_owner};
pub use subnet::{SWITCH_DESCRIPTION, SWITCH_GUID, SWITCH_LID, node_description, port_at, port_index, sm_lid};
pub use wire::{BadWire, WireKind};
pub use words::{InlineHeaders, Memlock};

use softhca::config::PortConfig;
use std::path::{Path, PathBuf};

/// The directory that stands for `/dev`, beside the sysfs tree at `sysfs`: it has the listings of the directories that
/// device files are in.
#[must_use]
pub fn device_directory(sysfs: &Path) -> PathBuf {
    sysfs.with_file_name("dev")
}

/// Modules of the kernel that a machine with such devices has loaded, as `/sys/module` names them.
pub const MODULES: [&str; 7] = ["mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm"];

/// Directories of sysfs in which the devices' entries lie beside those of the machine.
pub const SHARED: [&str; 10] = [
    "class",
    "class/misc",
    "class/pci_bus",
    "bus/pci/devices",
    "bus/pci/drivers",
    "bus/auxiliary/devices",
    "bus/auxiliary/drivers",
    "devices",
    "module",
    "kernel/iommu_groups",
];

/// Major and minor number of device `device`'s character device, as Linux gives them (`IB_UVERBS_MAJOR`,
/// `IB_UVERBS_BASE_MINOR`).
#[must_use]
pub fn device_number(device: u32) -> (u32, u32) {
    (231, 192 + device)
}

/// Those of `/dev/infiniband/umadN` (`IB_UMAD_MAJOR`, `IB_UMAD_MINOR_BASE`).
#[must_use]
pub fn umad_number(index: u32) -> (u32, u32) {
    (231, index)
}

/// Those of the connection manager: of a "misc" device, for which Linux chooses the minor number.
pub const MANAGER_NUMBER: (u32, u32) = (10, 122);

/// The numbers of `/dev/vfio/vfio`, which has the major number of "misc" devices (`VFIO_MINOR`).
pub const VFIO_NUMBER: (u32, u32) = (10, 196);

/// Those of `/dev/vfio/GROUP`, for which Linux chooses the major.
#[must_use]
pub fn vfio_group_number(group: u32) -> (u32, u32) {
    (243, group & 0xff)
}

/// The IOMMU group of device `device`, which is in it by itself. Linux counts them from 0, so no real one has such a
/// number.
#[must_use]
pub fn vfio_group(device: u32) -> u32 {
    0xca00 + device
}

/// A PCI domain that no real card is in: those that firmware tells of begin at 0, and Linux' own are longer.
pub const PCI_DOMAIN: &str = "ca00";

/// The name of a device's PCI function: each is a card of its own.
#[must_use]
pub fn pci_function(device: u32) -> String {
    format!("{PCI_DOMAIN}:{:02x}:00.0", device + 1)
}

/// The name of the PCI function by which a device reaches memory that is registered for Data Direct: a card of its own,
/// behind the buses of all devices.
#[must_use]
pub fn data_direct_function(device: u32) -> String {
    format!("{PCI_DOMAIN}:{:02x}:00.0", 0x80 + device)
}

/// The directory of a PCI function in sysfs, as the kernel names it: without `/sys`.
#[must_use]
pub fn pci_path(function: &str) -> String {
    format!("/devices/pci{PCI_DOMAIN}:00/{function}")
}

/// Of Ethernet.
pub const DEFAULT_MTU: u32 = 1500;
/// From what RoCE needs for packets of 256 bytes to the most that the device's netdev takes.
pub const MTUS: std::ops::RangeInclusive<u32> = 352..=9978;

/// Most devices that one configuration may have.
pub const MAX_DEVICES: u32 = 16;
/// The range of [`Settings::max_mr`]; the end is the default.
pub const MEMORY_KEYS: std::ops::RangeInclusive<u32> = 1..=1 << 20;

/// The settings that the launcher gives to the preloaded object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Devices, `mlx5_0` upwards.
    pub devices: u32,
    /// PCI functions that are no devices of the kernel's, but there for programs to drive by VFIO; numbered on from the
    /// devices.
    pub vfio: u32,
    /// Ports of each device, and of each function.
    pub ports: u32,
    /// The one port of each device is a bond of two ports of the machine.
    pub bond: bool,
    /// Their link layer.
    pub link: Link,
    /// Bytes of a frame's contents on an Ethernet port, as its network interface would say.
    pub mtu: u32,
    /// Which ConnectX they are.
    pub generation: Generation,
    /// The machine's IP addresses, for which an Ethernet port has GIDs.
    pub addresses: Vec<LocalAddress>,
    /// The interface by which the machine routes to the ports' own IP addresses; `None` = it has no route to them.
    pub own_route: Option<String>,
    /// The headers that raw packets need inline.
    pub inline_headers: InlineHeaders,
    /// Whom `RLIMIT_MEMLOCK` binds.
    pub memlock: Memlock,
    /// Most memory keys of a device in a process: a power of two, as the firmware reports its logarithm.
    pub max_mr: u32,
    /// Trap every store to a UAR page.
    pub strict: bool,
    /// UAR pages come with the context, as with kernels before 5.7, instead of being allocated one by one.
    pub static_uars: bool,
    /// Registers are not write-combining, as in many virtual machines: all of a context's queues share one.
    pub no_write_combining: bool,
    /// The timestamps that queues of Ethernet ports can have.
    pub clock: Clock,
    /// A new queue pair gets the lowest number that is free, hence that of one just destroyed.
    pub reuse_qpn: bool,
    /// The device changes no register: it finds doorbells by the records of all queues.
    pub keep_registers: bool,
    /// Send WQEs complete without being sent, when the program calls for it (`softhca_step`): there is no device
    /// thread.
    pub sink: bool,
    /// Faults of the wire, in the words of `softhca::wire::fault`; `None` = a perfect wire.
    pub faults: Option<String>,
    /// Bits that the device writes wrongly, in the words of [`Damage`]; `None` = a device that works.
    pub damage: Option<String>,
    /// File that gets every packet that crosses the cable; `None` = no capture.
    pub pcap: Option<PathBuf>,
    /// How packets reach other devices.
    pub wire: WireKind,
    /// The number of the first device, of which its GUIDs and addresses are derived. Devices on one network have
    /// different ones.
    pub index: u32,
    /// The Ethernet address of the first device, in place of the one derived from its number.
    pub mac: Option<[u8; 6]>,
    /// Directory in which processes on one network meet.
    pub fabric: PathBuf,
    /// File to which complaints are appended, a line each.
    pub report: Option<PathBuf>,
    /// File to which reasons of refused and failed requests are appended, a line each.
    pub explanations: Option<PathBuf>,
    /// A [`Chaos`], and the file to which its happenings are appended, a line each.
    pub script: Option<(PathBuf, PathBuf)>,
    /// Root of the tree that replaces `/sys/class/infiniband` and its targets.
    pub sysfs: Option<PathBuf>,
    /// That tree lies over `/sys` in the program's mount namespace.
    pub namespace: bool,
    /// Log filter of the preloaded object.
    pub log: String,
}

impl Settings {
    /// The number that the addresses of device `device` are derived of.
    #[must_use]
    pub fn number(&self, device: u32) -> u32 {
        self.index + device
    }

    /// The cables of a device: one for each port, and two for a bond.
    #[must_use]
    pub fn cables(&self) -> u32 {
        if self.bond { 2 } else { self.ports }
    }

    /// The Ethernet address of a port.
    #[must_use]
    pub fn mac_of(&self, device: u32, port: u32) -> [u8; 6] {
        self.mac.filter(|_| device == 0).unwrap_or_else(|| mac(self.number(device), port))
    }
}

/// How a line of [`Settings::explanations`] begins, after its number, that tells of an error that was not polled.
pub const UNREAD: &str = "unread ";

/// The greatest number of a first device: addresses have 8 bits for the numbers.
pub const MAX_INDEX: u32 = 255 - MAX_DEVICES;

/// PCI vendor of the devices (Mellanox).
pub const PCI_VENDOR_ID: u32 = 0x15b3;
/// The vendor ID that verbs report: Mellanox' first block of Ethernet addresses (OUI).
pub const VENDOR_ID: u32 = 0x02c9;

/// LID of a port: 0 on Ethernet.
#[must_use]
pub fn lid(settings: &Settings, device: u32, port: u32) -> u16 {
    port::lid(settings.link, settings.number(device), port)
}

/// Bytes of the largest packets between ports: on Ethernet, with which the longest headers (GRH, UDP, BTH, XRCETH,
/// AtomicETH and ICRC) fit into a frame, as Linux reckons (`iboe_get_mtu`).
#[must_use]
pub fn path_mtu(settings: &Settings) -> u32 {
    const HEADERS: u32 = 40 + 8 + 12 + 4 + 28 + 4;
    match settings.link {
        Link::Infiniband => MAX_PATH_MTU,
        Link::Ethernet => 1 << settings.mtu.saturating_sub(HEADERS).clamp(MIN_PATH_MTU, MAX_PATH_MTU).ilog2(),
    }
}

/// Bytes of the smallest and largest packets that paths can be made for.
const MIN_PATH_MTU: u32 = 256;
const MAX_PATH_MTU: u32 = 4096;

/// The interface of GIDs for which the machine has no other.
const OWN_INTERFACE: &str = "lo";

/// An entry of a port's GID table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GidEntry<'a> {
    /// The address.
    pub gid: Gid,
    /// Its type.
    pub kind: GidType,
    /// The network interface that it belongs to, on an Ethernet port.
    pub interface: &'a str,
}

/// The occupied part of a port's GID table, in order. By the host's own network, a port has the host's addresses and no
/// others; by UDP sockets, all for RoCE v2.
///
/// Programs take the first entry of the type they want, and UCX (`uct_ib_iface_roce_is_routable` in its
/// `src/uct/ib/base/ib_iface.c`) then asks the machine for a route to it by the entry's interface, or by `lo`. Of the
/// IPv4 addresses, one with a route therefore comes first.
#[must_use]
pub fn gid_table(settings: &Settings, device: u32, port: u32) -> Vec<GidEntry<'_>> {
    let number = settings.number(device);
    let local = local_addresses(settings, device, port).iter();
    let local = local.map(|address| (gid_of(address.ip), address.interface.as_str()));
    let (addresses, kinds): (Vec<_>, &[GidType]) = match (&settings.wire, settings.link) {
        (WireKind::Udp(_), _) => (local.collect(), &[GidType::RoceV2]),
        (WireKind::Raw(_), _) => (local.collect(), &port::ROCE_TYPES),
        (_, Link::Infiniband) => (vec![(port::guid_gid(number, port), OWN_INTERFACE)], &[GidType::Ib]),
        (_, Link::Ethernet) => {
            let mac = (port::mac_gid(number, port), OWN_INTERFACE);
            let ip = gid_of(port::own_ip(number, port).into());
            let addresses = match settings.own_route.as_deref() {
                Some(interface) => [mac, (ip, interface)].into_iter().chain(local).collect(),
                None => [mac].into_iter().chain(local).chain([(ip, OWN_INTERFACE)]).collect(),
            };
            (addresses, &port::ROCE_TYPES)
        }
    };
    let entry = |(gid, interface)| kinds.iter().map(move |&kind| GidEntry { gid, kind, interface });
    addresses.into_iter().flat_map(entry).collect()
}

/// The network interface of an Ethernet port. Programs take its addresses as the port's. Linux binds the addresses of `lo`
/// to no device (`rdma_bind_addr_dst`), so `lo` is the last choice.
#[must_use]
pub fn interface(settings: &Settings, device: u32, port: u32) -> &str {
    let mut interfaces = local_addresses(settings, device, port).iter().map(|address| address.interface.as_str());
    interfaces.find(|&interface| interface != OWN_INTERFACE).unwrap_or(OWN_INTERFACE)
}

/// The machine's addresses that a port has: those of port 1 of the first device.
fn local_addresses(settings: &Settings, device: u32, port: u32) -> &[LocalAddress] {
    if (device, port) == (0, 1) { &settings.addresses } else { &[] }
}

/// The port of Ethernet devices, and the entry of its table, that has `gid` for RoCE v2: device, port, index.
#[must_use]
pub fn find_gid(settings: &Settings, gid: &Gid) -> Option<(u32, u32, u32)> {
    let ports = (0..settings.devices).flat_map(|device| (1..=settings.ports).map(move |port| (device, port)));
    ports.into_iter().find_map(|(device, port)| {
        let index = gids(settings, device, port).iter().position(|entry| *entry == (*gid, GidType::RoceV2))?;
        // A table has fewer than 256 entries.
        Some((device, port, index as u32))
    })
}

/// The GIDs of [`gid_table`] with their types.
#[must_use]
pub fn gids(settings: &Settings, device: u32, port: u32) -> Vec<(Gid, GidType)> {
    gid_table(settings, device, port).into_iter().map(|entry| (entry.gid, entry.kind)).collect()
}

/// Port `port` of device `device`, as the core has it.
#[must_use]
pub fn port_config(settings: &Settings, device: u32, port: u32) -> PortConfig {
    let config = port::config(settings.link, gids(settings, device, port), settings.number(device), port);
    match settings.link {
        Link::Infiniband => config,
        Link::Ethernet => PortConfig { mac: settings.mac_of(device, port), ..config },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};
    use std::net::{Ipv4Addr, Ipv6Addr};

    /// Settings of which each differs from the default.
    pub(crate) fn settings(link: Link) -> Settings {
        Settings {
            devices: 3,
            vfio: 2,
            ports: 2,
            bond: true,
            link,
            mtu: 4200,
            generation: Generation::ConnectX6Dx,
            addresses: vec![
                LocalAddress { interface: "lo".to_owned(), ip: Ipv4Addr::LOCALHOST.into() },
                LocalAddress { interface: "eth0".to_owned(), ip: Ipv6Addr::LOCALHOST.into() },
            ],
            own_route: Some("eth1".to_owned()),
            inline_headers: InlineHeaders::L2,
            memlock: Memlock::Everybody,
            max_mr: 64,
            strict: true,
            static_uars: false,
            no_write_combining: true,
            clock: Clock::RealTime,
            reuse_qpn: true,
            keep_registers: true,
            sink: true,
            faults: Some("drop=0.01".to_owned()),
            damage: Some("cqe@55=6".to_owned()),
            pcap: Some("/capture".into()),
            wire: WireKind::Shm,
            index: 0,
            mac: None,
            fabric: "/somewhere".into(),
            report: None,
            explanations: Some("/explanations".into()),
            script: Some(("/script".into(), "/timeline".into())),
            sysfs: Some("/elsewhere".into()),
            namespace: true,
            log: "info".to_owned(),
        }
    }

    #[test]
    fn packets_are_as_long_as_frames_permit() {
        // The values of Linux for netdevs with these MTUs.
        for (mtu, packet) in [(352, 256), (1500, 1024), (2143, 1024), (2144, 2048), (4192, 4096), (9978, 4096)] {
            assert_eq!(path_mtu(&Settings { mtu, ..settings(Link::Ethernet) }), packet, "{mtu}");
        }
        assert_eq!(path_mtu(&Settings { mtu: 352, ..settings(Link::Infiniband) }), 4096);
    }

    #[test]
    fn local_addresses_are_the_first_ports() {
        let settings = settings(Link::Ethernet);
        let found = |ip: &str| find_gid(&settings, &gid_of(ip.parse().unwrap()));
        assert_eq!(found("127.0.0.1"), Some((0, 1, 5)));
        assert_eq!(found("::1"), Some((0, 1, 7)));
        assert_eq!(found("10.95.2.1"), Some((2, 1, 3)));
        assert_eq!(found("192.0.2.1"), None);
        assert_eq!(interfaces(&settings, 0, 1), ["lo", "lo", "eth1", "eth1", "lo", "lo", "eth0", "eth0"]);
        assert_eq!(interfaces(&settings, 0, 2), ["lo", "lo", "eth1", "eth1"]);
    }

    fn interfaces(settings: &Settings, device: u32, port: u32) -> Vec<&str> {
        gid_table(settings, device, port).into_iter().map(|entry| entry.interface).collect()
    }

    #[test]
    fn an_address_without_a_route_comes_last() {
        let settings = Settings { own_route: None, ..settings(Link::Ethernet) };
        let found = |ip: &str| find_gid(&settings, &gid_of(ip.parse().unwrap()));
        assert_eq!(["127.0.0.1", "::1", "10.95.0.1"].map(found), [3, 5, 7].map(|index| Some((0, 1, index))));
        assert_eq!(interfaces(&settings, 0, 1), ["lo", "lo", "lo", "lo", "eth0", "eth0", "lo", "lo"]);
        assert_eq!(found("10.95.0.2"), Some((0, 2, 3)));
        let env: HashMap<_, _> = settings.to_env().into_iter().collect();
        assert_eq!(Settings::from_env(|name| env.get(name).cloned()).unwrap(), Some(settings));
    }

    #[test]
    fn by_udp_the_hosts_addresses_are_all_gids() {
        let settings = Settings { wire: WireKind::Udp(Vec::new()), ..settings(Link::Ethernet) };
        let table = gids(&settings, 0, 1);
        let ips: Vec<_> = settings.addresses.iter().map(|address| (gid_of(address.ip), GidType::RoceV2)).collect();
        assert_eq!(table, ips);
        assert_eq!(interfaces(&settings, 0, 1), ["lo", "eth0"]);
        assert_eq!(gids(&settings, 1, 1), []);
        assert_eq!(port_config(&settings, 0, 1).gids.len(), 2);
        let env: HashMap<_, _> = settings.to_env().into_iter().collect();
        assert_eq!(Settings::from_env(|name| env.get(name).cloned()).unwrap(), Some(settings));
    }

    #[test]
    fn addresses_follow_from_the_number_of_the_first_device() {
        let settings = Settings { index: 7, wire: WireKind::Socket("/network".into()), ..settings(Link::Ethernet) };
        let settings = Settings { addresses: Vec::new(), ..settings };
        assert_eq!(settings.mac_of(1, 1), mac(8, 1));
        assert_eq!(port_config(&settings, 0, 1).mac, mac(7, 1));
        assert_eq!(find_gid(&settings, &gid_of("10.95.7.1".parse().unwrap())), Some((0, 1, 3)));
        let settings = Settings { mac: Some([2, 0, 0xab, 0, 0, 1]), wire: WireKind::Raw("eth0".into()), ..settings };
        assert_eq!((settings.mac_of(0, 1), settings.mac_of(1, 1)), ([2, 0, 0xab, 0, 0, 1], mac(8, 1)));
        let env: HashMap<_, _> = settings.to_env().into_iter().collect();
        assert_eq!(Settings::from_env(|name| env.get(name).cloned()).unwrap(), Some(settings));
    }

    #[test]
    fn every_port_is_its_own() {
        for link in Link::ALL {
            let settings = settings(link);
            let mut seen = HashSet::new();
            for device in 0..MAX_DEVICES {
                for port in 1..=MAX_PORTS {
                    assert!(seen.insert((lid(&settings, device, port), gids(&settings, device, port)[0].0)));
                    assert!(link == Link::Ethernet || lid(&settings, device, port) != 0);
                }
            }
        }
    }
}

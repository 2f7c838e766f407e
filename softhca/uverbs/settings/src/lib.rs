//! The agreement between the launcher and the preloaded object. Environment variables carry the settings
//! ([`Settings`]). The identities of devices (GUIDs, LIDs, GIDs) follow from their numbers, so every process sees the
//! same ones.

mod chaos;
mod clock;
mod counters;
mod damage;
mod generation;
mod local_address;
mod mishaps;
mod port;
mod wire;

pub use chaos::{BadScript, Chaos, Refusal};
pub use clock::Clock;
pub use counters::{all_counters, counters_file, first_counter};
pub use damage::{BadDamage, Damage};
pub use generation::Generation;
pub use local_address::{Gid, LocalAddress, MAX_LOCAL_ADDRESSES, gid_of};
pub use mishaps::{Mishaps, cable_file};
pub use port::{DEFAULT_PKEY, GidType, Link, MAX_PORTS, mac, node_guid, plain_port, port_capabilities, port_guid};
pub use wire::{BadWire, WireKind};

use softhca::config::PortConfig;
use std::ffi::OsString;
use std::path::PathBuf;

/// Major and minor number of device `device`'s character device, as Linux gives them (`IB_UVERBS_MAJOR`,
/// `IB_UVERBS_BASE_MINOR`).
#[must_use]
pub fn device_number(device: u32) -> (u32, u32) {
    (231, 192 + device)
}

/// Those of the connection manager: of a "misc" device, for which Linux chooses the minor number.
pub const MANAGER_NUMBER: (u32, u32) = (10, 122);

/// Those of `/dev/vfio/vfio`, whose major is that of "misc" devices (`VFIO_MINOR`).
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

/// Of Ethernet.
pub const DEFAULT_MTU: u32 = 1500;
/// From what RoCE needs for packets of 256 bytes to the most that the device's netdev takes.
pub const MTUS: std::ops::RangeInclusive<u32> = 352..=9978;

/// Most devices that one configuration may have.
pub const MAX_DEVICES: u32 = 16;
/// The least headers that the WQE of a raw packet must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlineHeaders {
    /// Nothing, as with a ConnectX-5 and later.
    None,
    /// Addresses, a VLAN tag and the EtherType, as with a ConnectX-4 Lx.
    L2,
    /// Of an IP packet, also its IP header.
    Ip,
    /// Of a TCP or UDP packet, also its TCP or UDP header.
    TcpUdp,
}

impl InlineHeaders {
    /// All of them, the least first.
    pub const ALL: [Self; 4] = [Self::None, Self::L2, Self::Ip, Self::TcpUdp];

    /// `none`, `l2`, `ip` or `tcp_udp`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            InlineHeaders::None => "none",
            InlineHeaders::L2 => "l2",
            InlineHeaders::Ip => "ip",
            InlineHeaders::TcpUdp => "tcp_udp",
        }
    }
}

impl From<InlineHeaders> for softhca::context::InlineHeaders {
    fn from(headers: InlineHeaders) -> Self {
        match headers {
            InlineHeaders::None => Self::None,
            InlineHeaders::L2 => Self::L2,
            InlineHeaders::Ip => Self::Ip,
            InlineHeaders::TcpUdp => Self::TcpUdp,
        }
    }
}

/// Whom `RLIMIT_MEMLOCK` keeps from pinning more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memlock {
    /// Users without `CAP_IPC_LOCK`.
    Linux,
    /// Root, too.
    Everybody,
    /// Nobody.
    Nobody,
}

impl Memlock {
    const ALL: [Self; 3] = [Self::Linux, Self::Everybody, Self::Nobody];

    /// `linux`, `everybody` or `nobody`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Memlock::Linux => "linux",
            Memlock::Everybody => "everybody",
            Memlock::Nobody => "nobody",
        }
    }
}

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
    /// Their link layer.
    pub link: Link,
    /// Bytes of a frame's contents on an Ethernet port, as its network interface would say.
    pub mtu: u32,
    /// Which ConnectX they are.
    pub generation: Generation,
    /// The machine's IP addresses, for which an Ethernet port has GIDs.
    pub addresses: Vec<LocalAddress>,
    /// The headers that raw packets need inline.
    pub inline_headers: InlineHeaders,
    /// Whom `RLIMIT_MEMLOCK` binds.
    pub memlock: Memlock,
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
    /// Send WQEs complete without being sent, when the program calls for it (`softhca_step`): there is no device
    /// thread.
    pub sink: bool,
    /// Faults of the wire, in the words of `softhca::wire::fault`; `None` = a perfect wire.
    pub faults: Option<String>,
    /// Bits that turn over in what the device writes, in the words of [`Damage`]; `None` = a device that works.
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
    /// A [`Chaos`], and the file to which its happenings are appended, a line each.
    pub script: Option<(PathBuf, PathBuf)>,
    /// Root of the tree that replaces `/sys/class/infiniband` and its targets.
    pub sysfs: Option<PathBuf>,
    /// That tree lies over `/sys` in the program's mount namespace.
    pub namespace: bool,
    /// Log filter of the preloaded object.
    pub log: String,
}

/// A setting that is missing or has an impossible value.
#[derive(Debug, thiserror::Error)]
#[error("{name}={value:?}: {expected}")]
pub struct BadSetting {
    /// The environment variable.
    pub name: &'static str,
    /// What it holds.
    pub value: String,
    /// Its possible values.
    pub expected: &'static str,
}

const DEVICES: &str = "SOFTHCA_DEVICES";
const VFIO: &str = "SOFTHCA_VFIO";
const PORTS: &str = "SOFTHCA_PORTS";
const LINK: &str = "SOFTHCA_LINK";
const MTU: &str = "SOFTHCA_MTU";
const GENERATION: &str = "SOFTHCA_GENERATION";
const ADDRESSES: &str = "SOFTHCA_ADDRESSES";
const INLINE_HEADERS: &str = "SOFTHCA_INLINE_HEADERS";
const MEMLOCK: &str = "SOFTHCA_MEMLOCK";
const STRICT: &str = "SOFTHCA_STRICT";
const STATIC_UARS: &str = "SOFTHCA_STATIC_UARS";
const NO_WRITE_COMBINING: &str = "SOFTHCA_NO_WRITE_COMBINING";
const CLOCK: &str = "SOFTHCA_CLOCK";
const REUSE_QPN: &str = "SOFTHCA_REUSE_QPN";
const SINK: &str = "SOFTHCA_SINK";
const FAULTS: &str = "SOFTHCA_FAULTS";
const DAMAGE: &str = "SOFTHCA_DAMAGE";
const PCAP: &str = "SOFTHCA_PCAP";
const WIRE: &str = "SOFTHCA_WIRE";
const INDEX: &str = "SOFTHCA_INDEX";
const MAC: &str = "SOFTHCA_MAC";
const FABRIC: &str = "SOFTHCA_FABRIC";
const REPORT: &str = "SOFTHCA_REPORT";
const SYSFS: &str = "SOFTHCA_SYSFS";
const SCRIPT: &str = "SOFTHCA_SCRIPT";
const TIMELINE: &str = "SOFTHCA_TIMELINE";
const NAMESPACE: &str = "SOFTHCA_NAMESPACE";
const LOG: &str = "SOFTHCA_LOG";

impl Settings {
    /// The settings as environment variables.
    #[must_use]
    pub fn to_env(&self) -> Vec<(&'static str, OsString)> {
        let words = [
            (DEVICES, self.devices.to_string()),
            (VFIO, self.vfio.to_string()),
            (PORTS, self.ports.to_string()),
            (LINK, self.link.name().to_owned()),
            (MTU, self.mtu.to_string()),
            (GENERATION, self.generation.name().to_owned()),
            (ADDRESSES, local_address::to_text(&self.addresses)),
            (INLINE_HEADERS, self.inline_headers.name().to_owned()),
            (MEMLOCK, self.memlock.name().to_owned()),
            (STRICT, u8::from(self.strict).to_string()),
            (STATIC_UARS, u8::from(self.static_uars).to_string()),
            (NO_WRITE_COMBINING, u8::from(self.no_write_combining).to_string()),
            (CLOCK, self.clock.name().to_owned()),
            (REUSE_QPN, u8::from(self.reuse_qpn).to_string()),
            (SINK, u8::from(self.sink).to_string()),
            (NAMESPACE, u8::from(self.namespace).to_string()),
            (WIRE, self.wire.to_string()),
            (INDEX, self.index.to_string()),
            (LOG, self.log.clone()),
        ];
        let faults = self.faults.clone().map(|faults| (FAULTS, faults));
        let damage = self.damage.clone().map(|damage| (DAMAGE, damage));
        let mac = self.mac.map(|mac| (MAC, mac_to_text(mac)));
        let pcap = self.pcap.clone().map(|pcap| (PCAP, pcap.into()));
        let report = self.report.clone().map(|report| (REPORT, report.into()));
        let sysfs = self.sysfs.clone().map(|sysfs| (SYSFS, sysfs.into()));
        let (script, timeline) = self.script.clone().unzip();
        let script = script.map(|script| (SCRIPT, script.into()));
        let timeline = timeline.map(|timeline| (TIMELINE, timeline.into()));
        let files = pcap.into_iter().chain(report).chain(sysfs).chain(script).chain(timeline);
        let words = words.into_iter().chain(faults).chain(damage).chain(mac).map(|(name, value)| (name, value.into()));
        words.chain([(FABRIC, self.fabric.clone().into())]).chain(files).collect()
    }

    /// Reads them back through `variable`; `Ok(None)` if the process was not started by the launcher.
    ///
    /// # Errors
    /// [`BadSetting`] for the first variable that is missing or impossible.
    pub fn from_env(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Self>, BadSetting> {
        // These values are text. Paths may be any bytes.
        let var = |name| variable(name).map(|value| value.to_string_lossy().into_owned());
        let Some(devices) = var(DEVICES) else { return Ok(None) };
        let count = |name, value: Option<String>, max, expected| {
            let value = value.unwrap_or_default();
            match value.parse() {
                Ok(n) if (1..=max).contains(&n) => Ok(n),
                _ => Err(BadSetting { name, value, expected }),
            }
        };
        let devices = count(DEVICES, Some(devices), MAX_DEVICES, "1 to 16")?;
        let vfio = match var(VFIO) {
            None => 0,
            Some(none) if none == "0" => 0,
            some => count(VFIO, some, MAX_DEVICES - devices, "0 to 15, 16 with the devices")?,
        };
        let switch = |name| var(name).is_some_and(|value| value == "1");
        let link = match var(LINK).as_deref() {
            None | Some("infiniband") => Link::Infiniband,
            Some("ethernet") => Link::Ethernet,
            Some(other) => {
                return Err(BadSetting { name: LINK, value: other.to_owned(), expected: "infiniband or ethernet" });
            }
        };
        let mtu = match var(MTU) {
            None => DEFAULT_MTU,
            Some(value) => match value.parse() {
                Ok(mtu) if MTUS.contains(&mtu) => mtu,
                _ => return Err(BadSetting { name: MTU, value, expected: "352 to 9978" }),
            },
        };
        let generation = match var(GENERATION) {
            None => Generation::ConnectX5,
            Some(value) => match Generation::ALL.into_iter().find(|generation| generation.name() == value) {
                Some(generation) => generation,
                None => {
                    let expected = "connectx5, connectx6dx or connectx7";
                    return Err(BadSetting { name: GENERATION, value, expected });
                }
            },
        };
        let addresses = var(ADDRESSES).unwrap_or_default();
        let Some(addresses) = local_address::from_text(&addresses) else {
            return Err(BadSetting {
                name: ADDRESSES,
                value: addresses,
                expected: "interface/address, a space between each",
            });
        };
        let inline_headers = var(INLINE_HEADERS).unwrap_or_else(|| "none".to_owned());
        let Some(inline_headers) = InlineHeaders::ALL.into_iter().find(|headers| headers.name() == inline_headers)
        else {
            let expected = "none, l2, ip or tcp_udp";
            return Err(BadSetting { name: INLINE_HEADERS, value: inline_headers, expected });
        };
        let memlock = match var(MEMLOCK) {
            None => Memlock::Linux,
            Some(value) => match Memlock::ALL.into_iter().find(|rule| rule.name() == value) {
                Some(rule) => rule,
                None => return Err(BadSetting { name: MEMLOCK, value, expected: "linux, everybody or nobody" }),
            },
        };
        let clock = var(CLOCK).unwrap_or_else(|| Clock::FreeRunning.name().to_owned());
        let Some(clock) = Clock::ALL.into_iter().find(|known| known.name() == clock) else {
            return Err(BadSetting { name: CLOCK, value: clock, expected: "free-running, real-time or both" });
        };
        let wire = match var(WIRE).map(|value| (value.parse(), value)) {
            None => WireKind::Shm,
            Some((Ok(wire), _)) => wire,
            Some((Err(_), value)) => {
                return Err(BadSetting { name: WIRE, value, expected: "a wire" });
            }
        };
        let index = match var(INDEX) {
            None => 0,
            Some(value) => match value.parse() {
                Ok(index) if index <= MAX_INDEX => index,
                _ => return Err(BadSetting { name: INDEX, value, expected: "0 to 239" }),
            },
        };
        let mac = match var(MAC) {
            None => None,
            Some(value) => match mac_from_text(&value) {
                Some(mac) => Some(mac),
                None => return Err(BadSetting { name: MAC, value, expected: "an Ethernet address" }),
            },
        };
        let Some(fabric) = variable(FABRIC) else {
            return Err(BadSetting { name: FABRIC, value: String::new(), expected: "a directory" });
        };
        Ok(Some(Self {
            devices,
            vfio,
            ports: count(PORTS, var(PORTS), MAX_PORTS, "1 or 2")?,
            link,
            mtu,
            generation,
            addresses,
            inline_headers,
            memlock,
            strict: switch(STRICT),
            static_uars: switch(STATIC_UARS),
            no_write_combining: switch(NO_WRITE_COMBINING),
            clock,
            reuse_qpn: switch(REUSE_QPN),
            sink: switch(SINK),
            faults: var(FAULTS).filter(|faults| !faults.is_empty()),
            damage: var(DAMAGE).filter(|damage| !damage.is_empty()),
            pcap: variable(PCAP).map(Into::into),
            wire,
            index,
            mac,
            fabric: fabric.into(),
            report: variable(REPORT).map(Into::into),
            script: variable(SCRIPT).map(Into::into).zip(variable(TIMELINE).map(Into::into)),
            sysfs: variable(SYSFS).map(Into::into),
            namespace: switch(NAMESPACE),
            log: var(LOG).unwrap_or_else(|| "warn".to_owned()),
        }))
    }
}

impl Settings {
    /// The number that the addresses of device `device` are derived of.
    #[must_use]
    pub fn number(&self, device: u32) -> u32 {
        self.index + device
    }

    /// The Ethernet address of a port.
    #[must_use]
    pub fn mac_of(&self, device: u32, port: u32) -> [u8; 6] {
        self.mac.filter(|_| device == 0).unwrap_or_else(|| mac(self.number(device), port))
    }
}

/// The greatest number of a first device: addresses have 8 bits for the numbers.
pub const MAX_INDEX: u32 = 255 - MAX_DEVICES;

fn mac_to_text(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

fn mac_from_text(text: &str) -> Option<[u8; 6]> {
    let bytes: Option<Vec<u8>> = text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    bytes?.try_into().ok()
}

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

/// The interface that an Ethernet port's own GIDs are said to belong to.
const OWN_INTERFACE: &str = "lo";

/// The network interface that entry `index` of an Ethernet port's GID table belongs to.
#[must_use]
pub fn interface(settings: &Settings, device: u32, port: u32, index: u32) -> &str {
    let (own, each) = match settings.wire {
        WireKind::Shm | WireKind::Tap(_) | WireKind::Socket(_) => (OWN_GIDS, 2),
        WireKind::Udp(_) => (0, 1),
        WireKind::Raw(_) => (0, 2),
    };
    let local = local_addresses(settings, device, port);
    let address = (index as usize).checked_sub(own).and_then(|index| local.get(index / each));
    address.map_or(OWN_INTERFACE, |address| &address.interface)
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

/// Entries of an Ethernet port's table before those for the machine's IP addresses.
const OWN_GIDS: usize = 4;

/// The occupied part of a port's GID table, in order. By the host's own network, a port has the host's addresses and no
/// others; by UDP sockets, all for RoCE v2.
#[must_use]
pub fn gids(settings: &Settings, device: u32, port: u32) -> Vec<(Gid, GidType)> {
    let local = local_addresses(settings, device, port);
    let ips = local.iter().map(|address| gid_of(address.ip));
    match settings.wire {
        WireKind::Shm | WireKind::Tap(_) | WireKind::Socket(_) => {
            port::gids(settings.link, local, settings.number(device), port)
        }
        WireKind::Udp(_) => ips.map(|gid| (gid, GidType::RoceV2)).collect(),
        WireKind::Raw(_) => ips.flat_map(|gid| [(gid, GidType::RoceV1), (gid, GidType::RoceV2)]).collect(),
    }
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
    use std::os::unix::ffi::OsStringExt;

    fn settings(link: Link) -> Settings {
        Settings {
            devices: 3,
            vfio: 2,
            ports: 2,
            link,
            mtu: 4200,
            generation: Generation::ConnectX6Dx,
            addresses: vec![
                LocalAddress { interface: "lo".to_owned(), ip: Ipv4Addr::LOCALHOST.into() },
                LocalAddress { interface: "eth0".to_owned(), ip: Ipv6Addr::LOCALHOST.into() },
            ],
            inline_headers: InlineHeaders::L2,
            memlock: Memlock::Everybody,
            strict: true,
            static_uars: false,
            no_write_combining: true,
            clock: Clock::RealTime,
            reuse_qpn: true,
            sink: true,
            faults: Some("drop=0.01".to_owned()),
            damage: Some("cqe@55=6".to_owned()),
            pcap: Some("/capture".into()),
            wire: WireKind::Shm,
            index: 0,
            mac: None,
            fabric: "/somewhere".into(),
            report: None,
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
    fn settings_survive_the_environment() {
        for link in [Link::Infiniband, Link::Ethernet] {
            let headers = InlineHeaders::ALL.map(|inline_headers| Settings { inline_headers, ..settings(link) });
            let generations = Generation::ALL.map(|generation| Settings { generation, ..settings(link) });
            let clocks = Clock::ALL.map(|clock| Settings { clock, ..settings(link) });
            for settings in headers.into_iter().chain(generations).chain(clocks) {
                let env: HashMap<_, _> = settings.to_env().into_iter().collect();
                assert_eq!(Settings::from_env(|name| env.get(name).cloned()).unwrap(), Some(settings));
            }
        }
    }

    #[test]
    fn paths_are_any_bytes() {
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let (fabric, report) = (path(b"/a/\xff:b"), Some(path(b"\xc3\x28")));
        let settings = Settings { fabric, report, ..settings(Link::Ethernet) };
        let env: HashMap<_, _> = settings.to_env().into_iter().collect();
        assert_eq!(Settings::from_env(|name| env.get(name).cloned()).unwrap(), Some(settings));
    }

    #[test]
    fn impossible_settings_are_named() {
        let mut env: HashMap<_, _> = settings(Link::Infiniband).to_env().into_iter().collect();
        env.insert(PORTS, "3".into());
        let error = Settings::from_env(|name| env.get(name).cloned()).unwrap_err();
        assert_eq!((error.name, error.value.as_str()), (PORTS, "3"));
        assert_eq!(Settings::from_env(|_| None).unwrap(), None);
    }

    #[test]
    fn local_addresses_are_the_first_ports() {
        let settings = settings(Link::Ethernet);
        let found = |ip: &str| find_gid(&settings, &gid_of(ip.parse().unwrap()));
        assert_eq!(found("127.0.0.1"), Some((0, 1, 5)));
        assert_eq!(found("::1"), Some((0, 1, 7)));
        assert_eq!(found("10.95.2.1"), Some((2, 1, 3)));
        assert_eq!(found("192.0.2.1"), None);
        assert_eq!(
            [0, 3, 4, 5, 6, 7].map(|index| interface(&settings, 0, 1, index)),
            ["lo", "lo", "lo", "lo", "eth0", "eth0"]
        );
        assert_eq!(gids(&settings, 0, 2).len(), 4);
    }

    #[test]
    fn by_udp_the_hosts_addresses_are_all_gids() {
        let settings = Settings { wire: WireKind::Udp(Vec::new()), ..settings(Link::Ethernet) };
        let table = gids(&settings, 0, 1);
        let ips: Vec<_> = settings.addresses.iter().map(|address| (gid_of(address.ip), GidType::RoceV2)).collect();
        assert_eq!(table, ips);
        assert_eq!([0, 1].map(|index| interface(&settings, 0, 1, index)), ["lo", "eth0"]);
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
        for link in [Link::Infiniband, Link::Ethernet] {
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

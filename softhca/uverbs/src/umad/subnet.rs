//! The subnet as its manager sees it: one switch, and a cable from each port of each device to it.
//!
//! ```text
//!  mlx5_0 port 1 ── port 1 ┌────────┐ port 3 ── mlx5_1 port 1
//!                          │ switch │
//!  mlx5_0 port 2 ── port 2 └────────┘ port 4 ── mlx5_1 port 2
//! ```
//!
//! Packets of programs go from port to port, as through such a switch. The switch exists for management alone: the
//! subnet manager lives in it, at the LID that every port names as its manager's.

use softhca_settings::{self as settings, Gid, Link, Settings};

/// A port of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Port {
    /// The number in `mlx5_N`.
    pub(super) device: u32,
    /// From 1.
    pub(super) number: u32,
}

/// A node, and the port by which a datagram has entered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Device(Port),
    /// The port is 0 if the datagram was for the switch's LID.
    Switch(u32),
}

/// The subnet of a launcher.
#[derive(Clone, Copy)]
pub(super) struct Subnet<'a> {
    pub(super) settings: &'a Settings,
}

impl<'a> Subnet<'a> {
    /// All ports of devices, in the order of the switch's ports.
    pub(super) fn ports(self) -> impl Iterator<Item = Port> {
        let settings = self.settings;
        (0..settings.devices).flat_map(|device| (1..=settings.ports).map(move |number| Port { device, number }))
    }

    /// How many ports the switch has.
    pub(super) fn switch_ports(self) -> u32 {
        self.settings.devices * self.settings.ports
    }

    /// The switch's port at the other end of the cable of `port`.
    pub(super) fn switch_port(self, port: Port) -> u32 {
        settings::port_index(self.settings, port.device, port.number) + 1
    }

    /// The port at the other end of the cable of the switch's port `number`, from 1.
    pub(super) fn behind(self, number: u32) -> Option<Port> {
        let (device, number) = settings::port_at(self.settings, number.checked_sub(1)?)?;
        Some(Port { device, number })
    }

    /// Whether the cable of a port is plugged in.
    pub(super) fn is_up(self, port: Port) -> bool {
        !settings::cable_file(&self.settings.fabric, port.device, port.number).exists()
    }

    pub(super) fn lid(self, port: Port) -> u16 {
        settings::lid(self.settings, port.device, port.number)
    }

    /// The place with this LID, if a datagram from `from` gets there.
    pub(super) fn at_lid(self, from: Port, lid: u16) -> Option<Place> {
        if self.settings.link != Link::Infiniband || !self.is_up(from) {
            return None;
        }
        if lid == settings::SWITCH_LID {
            return Some(Place::Switch(0));
        }
        let port = self.ports().find(|port| self.lid(*port) == lid)?;
        self.is_up(port).then_some(Place::Device(port))
    }

    /// The port with this GID, on Ethernet, if a datagram from `from` gets there.
    pub(super) fn at_gid(self, from: Port, gid: &Gid) -> Option<Place> {
        let (device, number, _) = settings::find_gid(self.settings, gid)?;
        let port = Port { device, number };
        (self.is_up(from) && self.is_up(port)).then_some(Place::Device(port))
    }

    /// The place at the end of a route: `exits` are the ports by which each node on the way is left, the first of them
    /// the node at `from`. Returns the ports of entry as well. `None` if the route ends on the way: devices forward
    /// nothing.
    pub(super) fn follow(self, from: Place, exits: &[u8]) -> Option<(Place, Vec<u8>)> {
        let mut place = from;
        let mut entries = Vec::new();
        for (hop, &exit) in exits.iter().enumerate() {
            place = match place {
                Place::Device(port) if hop == 0 && u32::from(exit) == port.number && self.is_up(port) => {
                    Place::Switch(self.switch_port(port))
                }
                Place::Device(_) => return None,
                Place::Switch(_) => Place::Device(self.behind(exit.into()).filter(|port| self.is_up(*port))?),
            };
            // At most 32 ports.
            entries.push(match place {
                Place::Device(port) => port.number as u8,
                Place::Switch(entry) => entry as u8,
            });
        }
        Some((place, entries))
    }
}

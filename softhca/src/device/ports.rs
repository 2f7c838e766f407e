//! Changes of a device's ports during its life: links, also those of a bond, addresses, packet sizes.

use super::Device;
use crate::config::{Gid, LinkLayer, PortConfig};
use crate::error::Error;
use crate::event::Event;
use crate::resources::{Bond, BondedPort, Link};
use crate::wire::Announcement;

/// Bytes of a frame that a packet of RoCE may need besides its payload, as Linux reckons (`include/rdma/ib_verbs.h`,
/// `iboe_get_mtu`: GRH, UDP, BTH, the longest extended headers and the ICRC), behind a tagged Ethernet header and
/// before the frame check sequence.
const ROCE_OVERHEAD: u16 = 96 + 22;
/// MTUs that a path can have.
const PATH_MTUS: [u16; 5] = [4096, 2048, 1024, 512, 256];

impl Device {
    /// Puts a GID into the table of an Ethernet port, in place of the entry at `index`, or removes that entry. From
    /// now on packets to the new GID reach this device, and packets to the old one do not. QPs that send from it keep
    /// the address that they were given.
    ///
    /// Other devices may have the same GID. QPNs tell them apart, as far as they are different; a packet to QP 1
    /// reaches all that have the GID.
    ///
    /// # Errors
    /// [`Error::BadValue`] if there is no such port, or it is InfiniBand's.
    pub fn set_gid(&mut self, port: u8, index: u8, gid: Option<Gid>) -> Result<(), Error> {
        self.change_port(port, |config| {
            let index = usize::from(index);
            if config.gids.len() <= index {
                config.gids.resize(index + 1, Gid::FREE);
            }
            config.gids[index] = gid.unwrap_or(Gid::FREE);
        })?;
        self.announce();
        Ok(())
    }

    /// Whether the link of port `port` is up; `false` also if there is no such port.
    #[must_use]
    pub fn port_is_up(&self, port: u8) -> bool {
        self.resources.port_is_up(port)
    }

    /// Takes the link of port `port` down or up again, as pulling the cable does. While it is down, packets of its QPs
    /// neither leave nor arrive: they are lost, and requesters run into their retry limits. QPs stay in their states.
    /// A change raises [`Event::Port`].
    ///
    /// The ports of a bond are 1 and 2 here. Its packets go by the other one while one is down.
    ///
    /// # Errors
    /// [`Error::BadValue`] if there is no such port.
    pub fn set_port_up(&mut self, port: u8, up: bool) -> Result<(), Error> {
        let Some(bond) = &mut self.resources.bond else {
            return self.change_link(port, |link| link.is_plugged = up);
        };
        let index = usize::from(port).wrapping_sub(1);
        let permitted = "a port of the bond";
        let bonded =
            bond.ports.get_mut(index).ok_or(Error::BadValue { what: "port", value: port.into(), permitted })?;
        bonded.is_up = up;
        let any = bond.is_up();
        self.change_link(1, |link| link.is_plugged = any)
    }

    /// The ports of the bond; none if the device is not bonded ([`crate::config::DeviceConfig::bonded`]).
    #[must_use]
    pub fn bonded_ports(&self) -> &[BondedPort] {
        self.resources.bond.as_ref().map_or(&[], |bond| &bond.ports)
    }

    /// The ports, from 1, by which the queues of ports 1 and 2 of the bond send now; `None` without a bond.
    pub(crate) fn lag_mapping(&self) -> Option<[u8; 2]> {
        self.resources.bond.as_ref().map(Bond::mapping)
    }

    /// The link of a port.
    pub(crate) fn link(&self, port: u8) -> Result<Link, Error> {
        self.resources.link(port).copied().ok_or(no_such_port(port))
    }

    /// Changes the link of a port. Raises [`Event::Port`] if packets pass from now on, or do not any more.
    pub(crate) fn change_link(&mut self, port: u8, change: impl FnOnce(&mut Link)) -> Result<(), Error> {
        let index = usize::from(port).wrapping_sub(1);
        let link = self.resources.links.get_mut(index).ok_or(no_such_port(port))?;
        let before = *link;
        change(link);
        link.downs = link.downs.wrapping_add(u32::from(before.is_port_up() && !link.is_port_up()));
        let after = *link;
        if before.is_up() != after.is_up() {
            self.resources.raise(Event::Port { port, up: after.is_up() });
        }
        if before.has_transport != after.has_transport {
            self.announce();
        }
        Ok(())
    }

    /// Sets the length of the longest frame of Ethernet port `port` to `mtu` bytes, with its check sequence. So packets
    /// of RoCE have the largest MTU that goes into it; the least is that of any path.
    pub(crate) fn set_port_mtu(&mut self, port: u8, mtu: u16) -> Result<(), Error> {
        let room = mtu.saturating_sub(ROCE_OVERHEAD);
        let active = PATH_MTUS.into_iter().find(|&mtu| mtu <= room).unwrap_or(256);
        self.change_port(port, |config| config.active_mtu = active.into())?;
        if port == 1 {
            self.nic.port_mtu = mtu;
        }
        Ok(())
    }

    /// The Ethernet address of an Ethernet port.
    pub(crate) fn set_port_mac(&mut self, port: u8, mac: [u8; 6]) -> Result<(), Error> {
        self.change_port(port, |config| config.mac = mac)
    }

    fn change_port(&mut self, port: u8, change: impl Fn(&mut PortConfig)) -> Result<(), Error> {
        let index = usize::from(port).wrapping_sub(1);
        for ports in [&mut self.config.ports, &mut self.resources.ports] {
            let config = ports.get_mut(index).filter(|port| port.link == LinkLayer::Ethernet);
            change(config.ok_or(no_such_port(port))?);
        }
        Ok(())
    }

    /// Tells the wire the addresses of the device, its multicast groups, and whether it has a QP 1.
    pub(super) fn announce(&mut self) {
        self.end_loans();
        let ports = self.resources.ports.iter().zip(&self.resources.links);
        let gids = ports.filter(|(_, link)| link.has_transport).flat_map(|(port, _)| &port.gids);
        let mut gids: Vec<Gid> = gids.copied().filter(|gid| gid.raw != Gid::FREE.raw).collect();
        gids.dedup();
        let groups = self.groups.keys().copied().collect();
        self.wire.announce(Announcement { gids, owns_gsi: !self.qp1s.is_empty(), groups });
    }
}

fn no_such_port(port: u8) -> Error {
    Error::BadValue { what: "port", value: port.into(), permitted: "1 to the number of ports, and an Ethernet port" }
}

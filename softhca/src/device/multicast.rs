//! Multicast groups: the QPs of the device that take the datagrams to a group (IBTA vol. 1, 10.5).

use super::Device;
use crate::config::LinkLayer;
use crate::context::Transport;
use crate::error::{Error, Object};
use crate::packet::Packet;
use crate::qp::Qp;
use crate::wire::{Route, cable, is_group};
use std::time::Duration;

/// log2 of the groups, and most QPs in a group, that a device announces; those of a ConnectX-5 (`ibv_devinfo -v`:
/// `max_mcast_grp` 2097152, `max_mcast_qp_attach` 240).
pub(crate) const LOG_MAX_GROUPS: u8 = 21;
pub(crate) const MAX_MEMBERS: usize = 240;

impl Device {
    /// From now on, datagrams to the multicast group `gid` are for QP `qpn`, too. A QP that is in the group already
    /// stays in it.
    ///
    /// # Errors
    /// [`Error::NoSuch`] QP; [`Error::BadValue`] for a GID of no group; [`Error::Unsupported`] for a QP of another
    /// service than UD; [`Error::Exhausted`] if there are too many groups, or members.
    pub fn attach_to_group(&mut self, qpn: u32, gid: [u8; 16]) -> Result<(), Error> {
        if self.find_qp(qpn)?.context().transport != Transport::Ud {
            return Err(Error::Unsupported("multicast groups of QPs that do not take datagrams"));
        }
        let permitted = "ff00::/8, or a mapped IPv4 group";
        check(
            is_group(&gid),
            Error::BadValue { what: "first byte of a group's GID", value: gid[0].into(), permitted },
        )?;
        let is_new = !self.groups.contains_key(&gid);
        let limit = 1 << LOG_MAX_GROUPS;
        let has_room = !is_new || self.groups.len() < limit as usize;
        check(has_room, Error::Exhausted { object: Object::Group, limit })?;
        let members = self.groups.entry(gid).or_default();
        if members.contains(&qpn) {
            return Ok(());
        }
        let limit = MAX_MEMBERS as u32;
        check(members.len() < MAX_MEMBERS, Error::Exhausted { object: Object::GroupMember, limit })?;
        members.push(qpn);
        if is_new {
            self.announce();
        }
        Ok(())
    }

    /// Takes QP `qpn` out of the multicast group `gid`.
    ///
    /// # Errors
    /// [`Error::NoSuch`] QP, or membership.
    pub fn detach_from_group(&mut self, qpn: u32, gid: [u8; 16]) -> Result<(), Error> {
        self.find_qp(qpn)?;
        let place = self.groups.get(&gid).and_then(|members| members.iter().position(|&member| member == qpn));
        let place = place.ok_or(Error::NoSuch { object: Object::GroupMember, number: qpn })?;
        let Some(members) = self.groups.get_mut(&gid) else { return Ok(()) };
        members.remove(place);
        if members.is_empty() {
            self.groups.remove(&gid);
            self.announce();
        }
        Ok(())
    }

    /// Takes a QP that goes out of all groups.
    pub(super) fn leave_groups(&mut self, qpn: u32) {
        let before = self.groups.len();
        self.groups.retain(|_, members| {
            members.retain(|&member| member != qpn);
            !members.is_empty()
        });
        if self.groups.len() != before {
            self.announce();
        }
    }

    /// Hands a datagram to the members of a group.
    pub(super) fn receive_to_group(&mut self, gid: &[u8; 16], route: &Route, packet: &Packet<'_>, now: Duration) {
        let Self { groups, qps, resources, .. } = self;
        let link = cable::link_of(route);
        let is_own = resources.ports.iter().any(|port| route.begins_at(port));
        let source = packet.headers.deth.map(|deth| deth.src_qp).filter(|_| is_own);
        for &member in groups.get(gid).into_iter().flatten() {
            let Some(qp) = qps.get_mut(member) else { continue };
            let blocks_own = source == Some(member) && qp.context().blocks_own_multicast;
            if !blocks_own && link_of(qp, &resources.ports) == Some(link) {
                qp.receive(resources, route, packet, now);
            }
        }
    }
}

fn check(permitted: bool, error: Error) -> Result<(), Error> {
    if permitted { Ok(()) } else { Err(error) }
}

/// The link of a QP's port; `None` if it has no port yet.
fn link_of(qp: &Qp, ports: &[crate::config::PortConfig]) -> Option<LinkLayer> {
    Some(ports.get(usize::from(qp.port()?).checked_sub(1)?)?.link)
}

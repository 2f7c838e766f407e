//! Devices of one process, joined in memory: in order, lossless, and as deterministic as the caller's stepping.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use thiserror::Error;

use super::address::{Address, Announcement, GSI_QPN};
use super::cable::Dropped;
use super::frame::Frame;
use super::port::Wire;
use crate::{notify::Notify, packet::Packet};

/// Most frames that wait for one device. Past it, senders get their frames back.
pub const QUEUE_FRAMES: usize = 1024;

/// Most Ethernet frames that wait for one device. Past it, frames to it are lost.
pub const QUEUE_ETHERNET: usize = 1024;

/// The address is already taken: packets could be for either device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a device with QPNs {:#x}..{:#x} shares an address with {wanted:?}", taken.qpns.start, taken.qpns.end)]
pub struct AddressTaken {
    /// The device that has it.
    pub taken: Address,
    /// The requested address.
    pub wanted: Address,
}

/// A switch in memory. Clones are the same fabric.
#[derive(Clone, Debug, Default)]
pub struct Fabric {
    ports: Arc<Mutex<Vec<Port>>>,
}

#[derive(Debug)]
struct Port {
    /// Same in the [`InProcessWire`] that owns the port.
    id: u64,
    address: Address,
    owns_gsi: bool,
    groups: Vec<[u8; 16]>,
    queue: VecDeque<Frame>,
    ethernet: VecDeque<Vec<u8>>,
    /// Ethernet frames that have found no room here.
    lost: u64,
    notify: Notify,
}

impl Port {
    fn takes(&self, frame: &Frame, dest_qp: u32) -> bool {
        if let Some(group) = frame.route.group(dest_qp) {
            return self.groups.binary_search(&group).is_ok();
        }
        self.address.accepts(&frame.route, dest_qp)
            || dest_qp == GSI_QPN && self.owns_gsi && self.address.is_at(&frame.route)
    }

    /// Adds a frame, which is lost if there is no room.
    fn push(&mut self, frame: Frame) {
        if self.queue.len() < QUEUE_FRAMES {
            self.queue.push_back(frame);
            self.notify.wake();
        }
    }
}

impl Fabric {
    /// A fabric with no devices.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Connects a device; it is disconnected when the wire is dropped.
    ///
    /// # Errors
    /// [`AddressTaken`] if packets for it could be for another device, too.
    pub fn attach(&self, address: Address) -> Result<InProcessWire, AddressTaken> {
        let mut ports = self.lock();
        if let Some(port) = ports.iter().find(|port| port.address.overlaps(&address)) {
            return Err(AddressTaken { taken: port.address.clone(), wanted: address });
        }
        let id = ports.iter().map(|port| port.id).max().map_or(0, |id| id + 1);
        let notify = Notify::new();
        let (queue, ethernet) = (VecDeque::new(), VecDeque::new());
        let (owns_gsi, groups) = (false, Vec::new());
        ports.push(Port { id, address, owns_gsi, groups, queue, ethernet, lost: 0, notify: notify.clone() });
        Ok(InProcessWire { fabric: self.clone(), id, notify })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Port>> {
        // No code under the lock can leave the ports half changed.
        self.ports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A device's end of a [`Fabric`].
#[derive(Debug)]
pub struct InProcessWire {
    fabric: Fabric,
    id: u64,
    notify: Notify,
}

impl InProcessWire {
    /// Wakes the thread that steps the device when a frame arrives.
    #[must_use]
    pub fn notify(&self) -> Notify {
        self.notify.clone()
    }
}

impl Wire for InProcessWire {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let Some(dest_qp) = Packet::dest_qp(&frame.packet) else { return Ok(()) };
        let mut ports = self.fabric.lock();
        if frame.route.group(dest_qp).is_some() {
            // A member without room loses its copy.
            ports.iter_mut().filter(|port| port.takes(&frame, dest_qp)).for_each(|port| port.push(frame.clone()));
            return Ok(());
        }
        let owner = ports.iter_mut().find(|port| port.address.accepts(&frame.route, dest_qp));
        if owner.as_ref().is_some_and(|port| port.queue.len() >= QUEUE_FRAMES) {
            return Err(frame);
        }
        let owner = owner.map(|port| {
            port.push(frame.clone());
            port.id
        });
        // Datagrams to all that have the address: those without room lose theirs.
        let others = ports.iter_mut().filter(|port| Some(port.id) != owner && port.takes(&frame, dest_qp));
        let reached = others.filter(|_| dest_qp == GSI_QPN).map(|port| port.push(frame.clone())).count();
        if owner.is_none() && reached == 0 {
            log::debug!("no device for QP {dest_qp:#x} on {:?}", frame.route);
        }
        Ok(())
    }

    /// If two devices have the same addresses and QPNs, which [`Fabric::attach`] refuses, the first one gets the
    /// frames for both.
    fn announce(&mut self, announcement: Announcement) {
        if let Some(port) = self.fabric.lock().iter_mut().find(|port| port.id == self.id) {
            port.address.gids = announcement.gids;
            port.owns_gsi = announcement.owns_gsi;
            port.groups = announcement.groups;
        }
    }

    fn recv(&mut self) -> Option<Frame> {
        let mut ports = self.fabric.lock();
        let port = ports.iter_mut().find(|port| port.id == self.id)?;
        // It may have given the address up since.
        while let Some(frame) = port.queue.pop_front() {
            if Packet::dest_qp(&frame.packet).is_some_and(|qpn| port.takes(&frame, qpn)) {
                return Some(frame);
            }
        }
        None
    }

    fn send_ethernet(&mut self, frame: &[u8]) {
        for port in self.fabric.lock().iter_mut().filter(|port| port.id != self.id) {
            if port.ethernet.len() < QUEUE_ETHERNET {
                port.ethernet.push_back(frame.to_vec());
                port.notify.wake();
            } else {
                port.lost += 1;
            }
        }
    }

    fn next_dropped(&mut self) -> Option<(Dropped, u64)> {
        let mut ports = self.fabric.lock();
        let port = ports.iter_mut().find(|port| port.id == self.id)?;
        let lost = std::mem::take(&mut port.lost);
        (lost > 0).then_some((Dropped::NoRoomHere, lost))
    }

    fn recv_ethernet(&mut self) -> Option<Vec<u8>> {
        self.fabric.lock().iter_mut().find(|port| port.id == self.id)?.ethernet.pop_front()
    }
}

impl Drop for InProcessWire {
    fn drop(&mut self) {
        self.fabric.lock().retain(|port| port.id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Gid, GidType};
    use crate::wire::{Grh, Macs, Route, test_frames::frame};

    const GID: Gid = Gid { raw: [0xfe; 16], kind: GidType::RoceV2 };

    fn address(lid: u16, qpns: std::ops::Range<u32>) -> Address {
        Address { lids: vec![lid], gids: vec![], qpns }
    }

    #[test]
    fn frames_arrive_in_order_at_the_right_qpn_range() {
        let fabric = Fabric::new();
        let mut a = fabric.attach(address(1, 0x40..0x100)).unwrap();
        let mut b = fabric.attach(address(1, 0x100..0x200)).unwrap();
        for number in 0..10 {
            a.send(frame(1, 0x100 + number, 16)).unwrap();
            b.send(frame(1, 0x40, number as usize * 4)).unwrap();
        }
        for number in 0..10 {
            assert_eq!(b.recv(), Some(frame(1, 0x100 + number, 16)));
            assert_eq!(a.recv(), Some(frame(1, 0x40, number as usize * 4)));
        }
        assert_eq!((a.recv(), b.recv()), (None, None));
    }

    #[test]
    fn a_device_reaches_itself_and_strangers_get_nothing() {
        let fabric = Fabric::new();
        let mut a = fabric.attach(address(1, 0x40..0x100)).unwrap();
        a.send(frame(1, 0x41, 8)).unwrap();
        a.send(frame(2, 0x42, 8)).unwrap();
        a.send(frame(1, 0x100, 8)).unwrap();
        a.send(Frame { packet: vec![0; 11], ..frame(1, 0x41, 8) }).unwrap();
        assert_eq!(a.recv(), Some(frame(1, 0x41, 8)));
        assert_eq!(a.recv(), None);
    }

    #[test]
    fn ethernet_is_routed_by_gid_and_its_type() {
        let fabric = Fabric::new();
        let mut a = fabric.attach(Address { lids: vec![], gids: vec![GID], qpns: 0x40..0x50 }).unwrap();
        let grh = Grh {
            kind: GID.kind,
            sgid: GID.raw,
            dgid: GID.raw,
            traffic_class: 0,
            flow_label: 0,
            hop_limit: 64,
            udp_sport: 0,
        };
        let to = |gid: Gid| Frame {
            route: Route {
                slid: 0,
                dlid: 0,
                sl: 0,
                grh: Some(Grh { kind: gid.kind, dgid: gid.raw, ..grh }),
                macs: Macs::default(),
            },
            ..frame(0, 0x40, 4)
        };
        a.send(to(Gid { raw: [1; 16], ..GID })).unwrap();
        a.send(to(Gid { kind: GidType::RoceV1, ..GID })).unwrap();
        a.send(frame(0, 0x40, 4)).unwrap();
        a.send(to(GID)).unwrap();
        assert_eq!(a.recv(), Some(to(GID)));
        assert_eq!(a.recv(), None);
    }

    #[test]
    fn a_full_queue_gives_the_frame_back() {
        let fabric = Fabric::new();
        let mut a = fabric.attach(address(1, 0x40..0x100)).unwrap();
        for _ in 0..QUEUE_FRAMES {
            a.send(frame(1, 0x40, 4)).unwrap();
        }
        assert_eq!(a.send(frame(1, 0x40, 8)), Err(frame(1, 0x40, 8)));
        assert!(a.recv().is_some());
        a.send(frame(1, 0x40, 8)).unwrap();
    }

    #[test]
    fn ethernet_frames_reach_all_others_until_they_have_no_room() {
        let fabric = Fabric::new();
        let mut ports: Vec<_> = (1..4).map(|lid| fabric.attach(address(lid, 0x40..0x100)).unwrap()).collect();
        for number in 0..QUEUE_ETHERNET + 5 {
            ports[0].send_ethernet(&number.to_be_bytes());
        }
        assert_eq!(ports[0].recv_ethernet(), None);
        for port in &mut ports[1..] {
            for number in 0..QUEUE_ETHERNET {
                assert_eq!(port.recv_ethernet().as_deref(), Some(&number.to_be_bytes()[..]));
            }
            assert_eq!(port.recv_ethernet(), None);
            assert_eq!(port.recv(), None);
            let lost: Vec<_> = std::iter::from_fn(|| port.next_dropped()).collect();
            assert_eq!(lost, [(Dropped::NoRoomHere, 5)]);
        }
    }

    #[test]
    fn an_arriving_frame_wakes_the_receiver() {
        let fabric = Fabric::new();
        let mut a = fabric.attach(address(1, 0x40..0x100)).unwrap();
        let mut b = fabric.attach(address(1, 0x100..0x200)).unwrap();
        let seen = b.notify().prepare();
        a.send(frame(1, 0x100, 4)).unwrap();
        assert_ne!(b.notify().prepare(), seen);
        assert!(b.recv().is_some());
    }

    #[test]
    fn an_address_has_one_device_and_is_free_when_it_is_gone() {
        let fabric = Fabric::new();
        let a = fabric.attach(address(1, 0x40..0x100)).unwrap();
        let fault = fabric.attach(address(1, 0xff..0x200)).unwrap_err();
        assert_eq!(fault.taken, address(1, 0x40..0x100));
        fabric.attach(address(2, 0xff..0x200)).unwrap();
        drop(a);
        fabric.attach(address(1, 0xff..0x200)).unwrap();
    }

    /// Of devices with no addresses: each announces its own.
    fn announce(wire: &mut InProcessWire, gid: Option<Gid>, owns_gsi: bool) {
        wire.announce(Announcement { gids: gid.into_iter().collect(), owns_gsi, groups: Vec::new() });
    }

    fn to(dest_qp: u32) -> Frame {
        let grh = Grh {
            kind: GID.kind,
            sgid: GID.raw,
            dgid: GID.raw,
            traffic_class: 0,
            flow_label: 0,
            hop_limit: 64,
            udp_sport: 0,
        };
        Frame {
            route: Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs: Macs::default() },
            ..frame(0, dest_qp, 4)
        }
    }

    #[test]
    fn addresses_change_while_devices_live() {
        let fabric = Fabric::new();
        let empty = |qpns| Address { lids: vec![], gids: vec![], qpns };
        let mut a = fabric.attach(empty(0x40..0x50)).unwrap();
        let mut b = fabric.attach(empty(0x50..0x60)).unwrap();
        b.send(to(0x40)).unwrap();
        assert_eq!(a.recv(), None);
        announce(&mut a, Some(GID), false);
        b.send(to(0x40)).unwrap();
        assert_eq!(a.recv(), Some(to(0x40)));
        // Two with the same address: QPNs tell them apart.
        announce(&mut b, Some(GID), false);
        for qpn in [0x40, 0x50] {
            b.send(to(qpn)).unwrap();
        }
        assert_eq!((a.recv(), b.recv(), a.recv(), b.recv()), (Some(to(0x40)), Some(to(0x50)), None, None));
        // Frames under way to an address that was given up are lost.
        b.send(to(0x40)).unwrap();
        announce(&mut a, None, false);
        assert_eq!(a.recv(), None);
    }

    #[test]
    fn a_datagram_to_a_group_reaches_all_members_and_its_sender_if_it_is_one() {
        const GROUP: [u8; 16] = [0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
        let fabric = Fabric::new();
        let mut wires: Vec<_> = (1..4).map(|lid| fabric.attach(address(lid, 0x40..0x50)).unwrap()).collect();
        for member in [0, 2] {
            wires[member].announce(Announcement { groups: vec![GROUP], ..Announcement::default() });
        }
        let mut datagram = to(0xff_ffff);
        datagram.route.grh = datagram.route.grh.map(|grh| Grh { dgid: GROUP, ..grh });
        for sender in 0..3 {
            wires[sender].send(datagram.clone()).unwrap();
            let received: Vec<_> = wires.iter_mut().map(|wire| wire.recv() == Some(datagram.clone())).collect();
            assert_eq!(received, [true, false, true], "from {sender}");
            assert!(wires.iter_mut().all(|wire| wire.recv().is_none()));
        }
        // One that has left does not get those under way.
        wires[1].send(datagram).unwrap();
        wires[0].announce(Announcement::default());
        assert_eq!(wires.iter_mut().map(|wire| wire.recv().is_some()).collect::<Vec<_>>(), [false, false, true]);
    }

    #[test]
    fn qp_1_is_that_of_who_has_the_address_and_answers() {
        let fabric = Fabric::new();
        let empty = |qpns| Address { lids: vec![], gids: vec![], qpns };
        let mut wires: Vec<_> = (4..8).map(|n| fabric.attach(empty(n * 16..n * 16 + 16)).unwrap()).collect();
        announce(&mut wires[1], Some(GID), true);
        announce(&mut wires[2], Some(GID), true);
        announce(&mut wires[3], Some(GID), false);
        let mut last = fabric.attach(Address { lids: vec![], gids: vec![GID], qpns: 0..16 }).unwrap();
        wires[0].send(to(GSI_QPN)).unwrap();
        let mut received = wires.iter_mut().map(|wire| wire.recv().is_some()).collect::<Vec<_>>();
        received.push(last.recv().is_some());
        assert_eq!(received, [false, true, true, false, true]);
        assert!(wires.iter_mut().all(|wire| wire.recv().is_none()));
        // One without room loses its own only.
        for _ in 0..QUEUE_FRAMES + 5 {
            wires[0].send(to(GSI_QPN)).unwrap();
            while last.recv().is_some() {}
            while wires[2].recv().is_some() {}
        }
        assert_eq!(std::iter::from_fn(|| wires[1].recv()).count(), QUEUE_FRAMES);
    }
}

//! The subnet as its manager sees it: the switch to which the launcher's fabric connects all ports, and their device
//! files for management datagrams.

use crate::{Link, Settings};

/// The LID of the switch: no port of a device has it.
pub const SWITCH_LID: u16 = 1000;
/// The GUID of the switch: no device has it.
pub const SWITCH_GUID: u64 = 0x0200_5f03_0001_0000;
/// The switch as it describes itself.
pub const SWITCH_DESCRIPTION: &str = "softhca fabric";

/// The LID of the subnet manager, which lives in the switch; 0 on Ethernet.
#[must_use]
pub fn sm_lid(link: Link) -> u16 {
    match link {
        Link::Infiniband => SWITCH_LID,
        Link::Ethernet => 0,
    }
}

/// The device as it describes itself.
#[must_use]
pub fn node_description(device: u32) -> String {
    format!("mlx5_{device} (software)")
}

/// The place of port `port`, from 1, of `device` among the ports of all devices: the number in `/dev/infiniband/umadN`.
/// The switch's ports, from 1, have the same order.
#[must_use]
pub fn port_index(settings: &Settings, device: u32, port: u32) -> u32 {
    device * settings.ports + port - 1
}

/// The device and the port, from 1, at this place; `None` behind the last.
#[must_use]
pub fn port_at(settings: &Settings, index: u32) -> Option<(u32, u32)> {
    let is_there = index < settings.devices * settings.ports;
    is_there.then(|| (index / settings.ports, index % settings.ports + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_DEVICES, MAX_INDEX, MAX_PORTS, lid, node_guid};

    #[test]
    fn no_port_has_an_address_of_the_switch() {
        let last = Settings { index: MAX_INDEX, ..crate::tests::settings(Link::Infiniband) };
        assert!(lid(&last, MAX_DEVICES - 1, MAX_PORTS) < SWITCH_LID);
        assert!(node_guid(MAX_INDEX + MAX_DEVICES) < SWITCH_GUID);
    }

    #[test]
    fn each_port_has_a_file() {
        let settings = crate::tests::settings(Link::Infiniband);
        let ports: Vec<_> = (0..7).map_while(|index| port_at(&settings, index)).collect();
        assert_eq!(ports, [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]);
        assert!(ports.iter().zip(0..).all(|(&(device, port), index)| port_index(&settings, device, port) == index));
    }
}

//! Cables that are pulled and plugged in again, of a port or of one of a bond's ports, and the events of ports and
//! devices.
//!
//! Links as programs of libmlx5 see them belong here, scripts that pull cables in `chaos`.

use std::time::Duration;

use super::pair::{Device, STRICT, launch_on};
use super::program::{compiled, launch};

#[test]
fn a_cable_can_be_pulled_from_outside() {
    let (_directory, program) = compiled("cable");
    for options in [&[][..], STRICT] {
        let device = Device::new(options);
        let file = device.fabric.path().join("mlx5_0-1.down").display().to_string();
        let end = launch_on(&device, &[&program, &file], Duration::from_secs(60));
        assert_eq!(end, (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn the_speed_of_a_port_is_that_of_its_links() {
    let (_directory, program) = compiled("port_queries");
    for (options, cables) in [(&["--link", "infiniband"][..], "1"), (&["--link", "ethernet"], "1"), (&["--bond"], "2")]
    {
        let device = Device::new(options);
        let files = device.fabric.path().join("mlx5_0-").display().to_string();
        let end = launch_on(&device, &[&program, &files, cables], Duration::from_secs(60));
        assert_eq!(end, (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn a_bond_sends_by_both_of_its_ports() {
    let (_directory, program) = compiled("bond");
    for options in [&["--bond"][..], &["--bond", "--strict"]] {
        let device = Device::new(options);
        let fabric = device.fabric.path().display().to_string();
        let end = launch_on(&device, &[&program, &fabric], Duration::from_secs(60));
        assert_eq!(end, (Some(0), String::new()), "{options:?}");
    }
    assert_eq!(launch(&["--link", "ethernet"], &[&program], Duration::from_secs(60)), (Some(0), String::new()));
    let (code, output) = launch(&["--bond", "--link", "infiniband"], &["true"], Duration::from_secs(20));
    assert!(code == Some(71) && output.contains("--link infiniband is impossible"), "{code:?}, {output}");
}

#[test]
fn events_of_ports_and_devices_reach_everybody() {
    let (_directory, program) = compiled("events");
    for options in [&[][..], STRICT, &["--link", "ethernet"]] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
}

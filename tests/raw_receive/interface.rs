//! The device behind a network interface, and back.
//!
//! Interfaces belong here, rules on their frames in `rules.rs`.
//!
//! The software device says which of the machine's interfaces have its addresses. The loopback interface always has
//! some.

use std::net::Ipv4Addr;

use blueflame::flow::Flow;
use blueflame::verbs::ethernet::Interface;
use blueflame::verbs::{Device, Error};

use crate::frames::udp;
use crate::lab::Lab;
use crate::on_device::device;

#[test]
fn a_device_is_opened_by_each_of_its_interfaces() {
    let device = device();
    let port = device.port(1).expect("port 1");
    let interface = device.interface(&port).expect("a call").expect("an Ethernet port has one");
    let opened = Device::of_interface(&interface.name()).expect("the device behind its own interface");
    assert_eq!(opened.name(), device.name());
    assert_eq!(opened.interface(&port), Ok(Some(interface.clone())));
    assert_eq!(Interface::named(&interface.name()), Ok(interface.clone()));
    // A group that the kernel knows of arrives, as long as the rule lives.
    let group = Ipv4Addr::new(239, 77, 1, 2);
    let membership = interface.join(group.into()).expect("anybody may");
    let mut lab = Lab::new(1);
    let _rule = lab.receivers[0].steer(&Flow::udp(group, 5001).flow_tag(5)).expect("a rule");
    let (queues, received) = lab.who_gets(&udp("239.77.1.2", 5001), 1);
    assert_eq!((queues, received.tag, membership.group()), (vec![0], 5, group.into()));
}

#[test]
fn interfaces_without_a_device_say_so() {
    // Each Linux has the loopback interface.
    let error = Device::of_interface("nosuch0").expect_err("there is none");
    assert!(matches!(&error, Error::UnknownInterface { known, .. } if known.contains(&"lo".to_owned())), "{error}");
}

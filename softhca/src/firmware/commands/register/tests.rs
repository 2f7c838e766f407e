//! Registers by raw bytes: state, sizes and counters of an Ethernet port are those of the device.

use super::{counters, port, speed};
use crate::config::{DeviceConfig, LinkLayer, PortConfig};
use crate::event::Event;
use crate::firmware::Status;
use crate::firmware::test_bench::Bench;
use crate::firmware::tests::{compare, known};
use std::time::Duration;

fn ethernet() -> Bench {
    Bench::of(DeviceConfig::with_port(PortConfig::ethernet(1)))
}

fn access(bench: &mut Bench, id: u16, read: bool, register: &[u8]) -> Result<Vec<u8>, Status> {
    let [high, low] = id.to_be_bytes();
    let mut input = vec![8, 5, 0, 0, 0, 0, 0, read.into(), 0, 0, high, low, 0, 0, 0, 0];
    input.extend(register);
    Ok(bench.execute(&input, 16 + register.len())?.split_off(16))
}

#[test]
fn registers_are_those_of_linux() {
    let known = known();
    for layout in port::LAYOUTS.into_iter().chain(counters::LAYOUTS).chain(speed::LAYOUTS) {
        compare(layout, &known);
    }
}

/// As DPDK reads it: `ACCESS_REGISTER_USER` without the register's bytes. The two highest bits tell the format of the
/// clock.
#[test]
fn users_read_the_mode_of_the_clock() {
    let config = |real_time| DeviceConfig { real_time, ..DeviceConfig::with_port(PortConfig::ethernet(1)) };
    for (real_time, first) in [(None, 0), (Some(Duration::from_secs(1_700_000_000)), 0x40)] {
        let mut bench = Bench::of(config(real_time));
        let user = bench.user();
        let [high, low] = user.0.to_be_bytes();
        let mut read = |opcode: [u8; 2], id: [u8; 2], modifier: u8, bytes: usize| {
            let mut input = vec![opcode[0], opcode[1], high, low, 0, 0, 0, modifier, 0, 0, id[0], id[1], 0, 0, 0, 0];
            input.resize(16 + bytes, 0);
            bench.execute(&input, 16 + 28)
        };
        let mut expected = vec![0; 28];
        expected[0] = first;
        assert_eq!(read([0x0b, 0x0c], [0x90, 0x55], 1, 0).unwrap()[16..], expected);
        assert_eq!(read([0x0b, 0x0c], [0x90, 0x55], 1, 28).unwrap()[16..], expected);
        assert_eq!(read([0x0b, 0x0c], [0x90, 0x55], 0, 28), Err(Status::BadOperation), "it is not set");
        assert_eq!(read([0x0b, 0x0c], [0x50, 0x06], 1, 28), Err(Status::BadOperation), "a port's is not a program's");
    }
}

#[test]
fn the_port_goes_down_and_up_again() {
    let mut bench = ethernet();
    let state = |bench: &mut Bench| access(bench, 0x5006, true, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let set = |admin: u8, first: u8| [0, 1, admin, 0, first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(state(&mut bench).unwrap()[..4], [0, 1, 1, 1]);
    assert_eq!(access(&mut bench, 0x5006, false, &set(2, 0x80)).unwrap()[..4], [0, 1, 2, 2]);
    assert_eq!(bench.device.next_event(), Some(Event::Port { port: 1, up: false }));
    assert!(!bench.device.port_is_up(1));
    // Without `ase` the state stays; the cable is pulled, and the port is enabled all the same.
    assert_eq!(access(&mut bench, 0x5006, false, &set(1, 0)).unwrap()[..4], [0, 1, 2, 2]);
    bench.device.set_port_up(1, false).unwrap();
    assert_eq!(access(&mut bench, 0x5006, false, &set(1, 0x80)).unwrap()[..4], [0, 1, 1, 2]);
    assert_eq!(bench.device.next_event(), None);
    bench.device.set_port_up(1, true).unwrap();
    assert_eq!(bench.device.next_event(), Some(Event::Port { port: 1, up: true }));
    assert_eq!(state(&mut bench).unwrap()[..4], [0, 1, 1, 1]);
    for bad in [set(3, 0x80), set(1, 0xc0), [0; 16]] {
        assert_eq!(access(&mut bench, 0x5006, false, &bad), Err(Status::BadParameter));
    }
    // How often it went down is among the counters of the cable.
    let mut ppcnt = [0; 0x100];
    (ppcnt[1], ppcnt[3]) = (1, 0x12);
    assert_eq!(access(&mut bench, 0x5008, true, &ppcnt).unwrap()[8 + 0xc0..][..4], [0, 0, 0, 1]);
    ppcnt[3] = 0x20;
    assert_eq!(access(&mut bench, 0x5008, true, &ppcnt).unwrap()[8 + 3], 1);
}

#[test]
fn the_longest_frame_decides_what_a_path_can_have() {
    let mut bench = ethernet();
    let mtu = |value: u16| {
        let [high, low] = value.to_be_bytes();
        [0, 1, 0, 0, 0, 0, 0, 0, high, low, 0, 0, 0, 0, 0, 0]
    };
    let max = access(&mut bench, 0x5003, true, &mtu(0)).unwrap();
    assert_eq!(max[4..6], max[8..10]);
    for (frame, path) in [(9022, 4096), (1522, 1024), (2048 + 117, 1024), (2048 + 118, 2048), (1, 256)] {
        let register = access(&mut bench, 0x5003, false, &mtu(frame)).unwrap();
        let [high, low] = u16::to_be_bytes(frame);
        assert_eq!(register, [0, 1, 0, 0, max[4], max[5], 0, 0, high, low, 0, 0, high, low, 0, 0]);
        assert_eq!(bench.device.config().ports[0].active_mtu, path, "{frame}");
    }
    assert_eq!(access(&mut bench, 0x5003, false, &mtu(0)), Err(Status::BadParameter));
    assert_eq!(access(&mut bench, 0x5003, false, &mtu(0xffff)), Err(Status::BadParameter));
    let mut infiniband = Bench::new();
    assert_eq!(infiniband.device.config().ports[0].link, LinkLayer::InfiniBand);
    assert_eq!(access(&mut infiniband, 0x5003, false, &mtu(1522)), Err(Status::BadOperation));
}

#[test]
fn what_has_passed_is_counted_in_all_groups() {
    let mut bench = ethernet();
    let frame = |to: [u8; 6], len: usize| {
        let mut frame = [&to[..], &[2, 0, 0, 0, 0, 9], &[0x81, 0, 0x60, 5, 8, 6]].concat();
        frame.resize(len, 0);
        frame
    };
    let nic = bench.device.nic();
    for (to, len) in [([2, 0, 0, 0, 0, 1], 100), ([1, 0, 0, 0, 0, 1], 60), ([0xff; 6], 1514)] {
        let headers = crate::ethernet::Headers::of(&frame(to, len)).unwrap();
        nic.physical.received.add_frame(&headers, len as u64);
    }
    (nic.physical.transmitted.too_long, nic.physical.transmitted.no_room) = (7, 11);
    nic.physical.received.no_room = 5;
    let mut group = |group: u8, priority: u8| {
        let mut ppcnt = [0; 0x100];
        (ppcnt[1], ppcnt[3], ppcnt[7]) = (1, group, priority);
        let register = access(&mut bench, 0x5008, true, &ppcnt).expect("counters");
        move |at: usize| u64::from_be_bytes(register[8 + at..16 + at].try_into().unwrap())
    };
    let octets = 104 + 64 + 1518;
    let ieee = group(0, 0);
    assert_eq!([ieee(0), ieee(8), ieee(0x28), ieee(0x40), ieee(0x48)], [0, 3, octets, 1, 1]);
    let interface = group(1, 0);
    assert_eq!([interface(0), interface(8), interface(0x40), interface(0x48)], [octets, 1, 7, 1]);
    assert_eq!([interface(0x10), interface(0x38)], [5, 11], "discards, where Linux and DPDK read them");
    let network = group(2, 0);
    assert_eq!([network(8), network(0x10), network(0x58), network(0x60), network(0x80)], [octets, 3, 1, 1, 1]);
    let priority = group(0x10, 3);
    assert_eq!([priority(0), priority(0x20)], [octets, 3]);
    assert_eq!(group(0x10, 0)(0x20), 0);
    for (register, status) in [
        ([0, 1, 0, 3, 0, 0, 0, 0], Status::BadOperation),
        ([0, 1, 0, 0, 0x80, 0, 0, 0], Status::BadParameter),
        ([0, 1, 0x80, 0, 0, 0, 0, 0], Status::BadParameter),
        ([0, 2, 0, 0, 0, 0, 0, 0], Status::BadParameter),
        ([0, 0, 0, 0x20, 0, 0, 0, 0], Status::BadParameter),
        // Five bits name a priority; there are eight.
        ([0, 1, 0, 0x10, 0, 0, 0, 8], Status::BadParameter),
        ([0, 1, 0, 0x10, 0, 0, 0, 0x1f], Status::BadParameter),
    ] {
        let mut ppcnt = [0; 0x100];
        ppcnt[..8].copy_from_slice(&register);
        assert_eq!(access(&mut bench, 0x5008, true, &ppcnt), Err(status), "{register:02x?}");
    }
    bench.device.step(Duration::ZERO);
}

#[test]
fn names_and_pauses() {
    let mut bench = ethernet();
    let name: Vec<u8> = (1..65).collect();
    assert_eq!(access(&mut bench, 0x6001, true, &[0; 64]).unwrap(), [0; 64]);
    assert_eq!(access(&mut bench, 0x6001, false, &name).unwrap(), name);
    assert_eq!(access(&mut bench, 0x6001, true, &[0; 64]).unwrap(), name);
    let mut pauses = [0; 32];
    pauses[1] = 1;
    assert_eq!(access(&mut bench, 0x5007, true, &pauses).unwrap(), pauses);
    assert_eq!(access(&mut bench, 0x5007, false, &pauses).unwrap(), pauses);
    pauses[8] = 0x80;
    assert_eq!(access(&mut bench, 0x5007, false, &pauses), Err(Status::BadParameter));
    assert_eq!(access(&mut bench, 0x5002, true, &[0; 64]), Err(Status::BadOperation));
    let mut argument = vec![8, 5, 0, 0, 0, 0, 0, 1, 0, 0, 0x60, 1, 0, 0, 0, 1];
    argument.resize(16 + 64, 0);
    assert_eq!(bench.execute(&argument, 80), Err(Status::BadParameter), "an argument");
    let user = bench.user().0.to_be_bytes();
    let mut input = vec![8, 5, user[0], user[1], 0, 0, 0, 0, 0, 0, 0x60, 1, 0, 0, 0, 0];
    input.extend(&name);
    assert_eq!(bench.execute(&input, 80), Err(Status::BadOperation), "a user writes");
}

/// Linux `drivers/net/ethernet/mellanox/mlx5/core/main.c`, `set_hca_ctrl`: 0x80 on a host of big endian.
#[test]
fn atomics_are_in_the_byte_order_of_the_host() {
    let mut bench = ethernet();
    let own = if cfg!(target_endian = "big") { 0x80 } else { 0 };
    let mut register = [0; 16];
    register[0] = own;
    assert_eq!(access(&mut bench, 0x7004, false, &register).unwrap(), register);
    for (at, byte) in [(0, own ^ 0x80), (1, 1), (15, 1)] {
        let mut other = register;
        other[at] = byte;
        assert_eq!(access(&mut bench, 0x7004, false, &other), Err(Status::BadParameter), "byte {at}");
    }
    assert_eq!(access(&mut bench, 0x7004, true, &register), Err(Status::BadOperation), "it is not read");
}

/// The device counts the packets of port 1 alone.
#[test]
fn a_second_port_has_no_counters() {
    let ports = vec![PortConfig::infiniband(1), PortConfig::infiniband(2)];
    let mut bench = Bench::of(DeviceConfig { ports, ..DeviceConfig::with_port(PortConfig::infiniband(1)) });
    let mut ppcnt = [0; 0x100];
    for (port, there) in [(1, true), (2, false), (3, false)] {
        (ppcnt[1], ppcnt[3]) = (port, 0x20);
        assert_eq!(access(&mut bench, 0x5008, true, &ppcnt).is_ok(), there, "port {port}");
    }
}

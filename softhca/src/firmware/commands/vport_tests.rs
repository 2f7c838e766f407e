//! The function's port and its RoCE addresses, changed by raw bytes: the context afterwards, and the port's behaviour.

use crate::config::{DeviceConfig, Gid, GidType, PortConfig};
use crate::event::Event;
use crate::firmware::test_bench::Bench;
use crate::firmware::{Firmware, Status};
use crate::wire::in_process::{Fabric, InProcessWire};
use crate::wire::test_frames::frame;
use crate::wire::{Address, Frame, Grh, Macs, Route, Wire};

fn ethernet() -> Bench {
    Bench::of(DeviceConfig::with_port(PortConfig::ethernet(1)))
}

fn command(opcode: u16, modifier: u8, words: [u32; 2]) -> Vec<u8> {
    let [high, low] = opcode.to_be_bytes();
    let mut input = vec![high, low, 0, 0, 0, 0, 0, modifier];
    input.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    input
}

/// `MODIFY_NIC_VPORT_CONTEXT` with these fields selected, bytes of the context, and a list.
fn modify(select: u32, bytes: &[(usize, u8)], list: &[[u8; 8]]) -> Vec<u8> {
    let mut input = command(0x755, 0, [0, select]);
    input.resize(0x200, 0);
    for &(at, byte) in bytes {
        input[0x100 + at] = byte;
    }
    input.extend(list.concat());
    input
}

fn query(bench: &mut Bench, list: u8, room: usize) -> Vec<u8> {
    let context = bench.execute(&command(0x754, 0, [0, u32::from(list) << 24]), 0x110 + room).expect("a context");
    context[0x10..].to_vec()
}

const PROMISC: u32 = 1 << 4;
const ADDRESS: u32 = 1 << 3;
const LIST: u32 = 1 << 2;
const ROCE: u32 = 1 << 1;

#[test]
fn lists_and_flags_are_kept_and_let_frames_in() {
    let mut bench = ethernet();
    assert_eq!(query(&mut bench, 0, 0)[0xf0] & 0xe0, 0xe0, "everything, until a driver says otherwise");
    bench.execute(&modify(PROMISC, &[], &[]), 16).expect("no flags");
    let entry = |last: u8| [0, 0, 2, 0, 0, 0, 0, last];
    let group = [0, 0, 1, 0, 0x5e, 0, 0, 1];
    bench.execute(&modify(LIST, &[(0xf0, 0), (0xf3, 2)], &[entry(7), entry(8)]), 16).expect("stations");
    bench.execute(&modify(LIST, &[(0xf0, 1), (0xf3, 1)], &[group]), 16).expect("groups");
    bench.execute(&modify(LIST, &[(0xf0, 2), (0xf3, 1)], &[[0, 0, 1, 5, 0, 0, 0, 0]]), 16).expect("VLANs");
    for (kind, list) in [(0, vec![entry(7), entry(8)]), (1, vec![group]), (2, vec![[0, 0, 1, 5, 0, 0, 0, 0]])] {
        let context = query(&mut bench, kind, 16);
        assert_eq!(context[0xf0..0xf4], [kind, 0, 0, list.len() as u8]);
        assert_eq!(context[0x100..][..list.len() * 8], list.concat());
        assert_eq!(query(&mut bench, kind, 0)[0xf3], list.len() as u8, "without room for them");
    }
    let headers = |to: [u8; 6]| crate::ethernet::Headers::of(&[&to[..], &[0; 8]].concat()).expect("headers");
    let admits = |bench: &mut Bench, to| bench.device.nic().filter.admits(&headers(to), [2, 0, 0, 0, 0, 1]);
    let stations = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 7], [2, 0, 0, 0, 0, 9], [1, 0, 0x5e, 0, 0, 1]];
    assert_eq!(stations.map(|to| admits(&mut bench, to)), [true, true, false, true]);
    bench.execute(&modify(PROMISC | LIST, &[(0xf0, 0x21)], &[]), 16).expect("all, and no groups");
    assert_eq!(query(&mut bench, 1, 16)[0xf0..0xf4], [0x21, 0, 0, 0]);
    assert_eq!(stations.map(|to| admits(&mut bench, to)), [true; 4]);

    let many = vec![entry(1); 129];
    for (bad, status) in [
        (modify(LIST, &[(0xf0, 3)], &[]), Status::BadParameter),
        (modify(LIST, &[(0xf3, 2)], &[entry(1)]), Status::BadInputLength),
        (modify(LIST, &[(0xf3, 129)], &many), Status::LimitExceeded),
        (modify(LIST, &[(0xf3, 1)], &[[1, 0, 2, 0, 0, 0, 0, 1]]), Status::BadParameter),
        (modify(LIST, &[(0xf0, 2), (0xf3, 1)], &[[0, 0, 0x10, 5, 0, 0, 0, 0]]), Status::BadParameter),
    ] {
        assert_eq!(bench.execute(&bad, 16), Err(status));
    }
    assert_eq!(query(&mut bench, 0, 16)[0x100..0x110], [entry(7), entry(8)].concat());
    bench.execute(&modify(LIST, &[(0xf3, 128)], &many[..128]), 16).expect("as many as there can be");
    bench.execute(&modify(ADDRESS, &[(0xfb, 0x42), (0xf6, 2)], &[]), 16).expect("an address");
    assert_eq!(query(&mut bench, 0, 0)[0xf4..0xfc], [0, 0, 2, 0, 0, 0, 0, 0x42]);
}

#[test]
fn the_functions_port_goes_down_by_itself() {
    let mut bench = ethernet();
    let state = |bench: &mut Bench, kind: u8| bench.execute(&command(0x750, kind, [0, 0]), 16).expect("a state")[15];
    let set = |bench: &mut Bench, kind: u8, to: u32| bench.execute(&command(0x751, kind, [0, to << 4]), 16).map(drop);
    set(&mut bench, 0, 0).expect("down");
    assert_eq!((state(&mut bench, 0), state(&mut bench, 2), bench.device.port_is_up(1)), (0, 0x11, false));
    assert_eq!(bench.device.next_event(), Some(Event::Port { port: 1, up: false }));
    set(&mut bench, 0, 2).expect("as the port");
    assert_eq!((state(&mut bench, 0), bench.device.next_event()), (0x11, Some(Event::Port { port: 1, up: true })));
    set(&mut bench, 2, 0).expect("the port");
    assert_eq!((state(&mut bench, 0), state(&mut bench, 2)), (0x10, 0));
    for (kind, to) in [(1, 1), (3, 1), (0, 3)] {
        assert_eq!(set(&mut bench, kind, to), Err(Status::BadParameter));
    }
}

const IPV4: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 9, 1];

/// A RoCE address: version 0 or 2, kind of address, a VLAN's bit.
fn roce(index: u16, gid: [u8; 16], version: u8, kind: u8, vlan: u8) -> Vec<u8> {
    let mut input = command(0x761, 0, [u32::from(index) << 16, 0]);
    input.extend(gid);
    input.extend([vlan, 0, 2, 0, 0, 0, 0, 0x11, 0, 0, kind, version, 0, 0, 0, 0]);
    input
}

#[test]
fn roce_addresses_reach_the_device() {
    let fabric = Fabric::new();
    let address = |qpns| Address { lids: vec![], gids: vec![], qpns };
    let own = fabric.attach(address(0x100..0x200)).expect("a wire");
    let mut other: InProcessWire = fabric.attach(address(0x200..0x300)).expect("a wire");
    let port = PortConfig { gids: vec![], ..PortConfig::ethernet(1) };
    let memory = crate::memory::ArrayMemory::filled(crate::memory::test_memory::BASE, 4096, 0);
    let device = crate::device::Device::new(DeviceConfig::with_port(port), Box::new(memory), Box::new(own)).unwrap();
    let mut bench = Bench { firmware: Firmware::new(), device };
    let to = |gid: [u8; 16], kind| {
        let grh = Grh { kind, sgid: [1; 16], dgid: gid, traffic_class: 0, flow_label: 0, hop_limit: 1, udp_sport: 0 };
        let route = Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs: Macs::default() };
        Frame { route, ..frame(0, 0x140, 4) }
    };
    // How many packets have come in, of those to an IPv4 address and another, by both versions of RoCE.
    let mut arrived = |bench: &mut Bench| {
        for gid in [IPV4, [9; 16]] {
            for kind in [GidType::RoceV1, GidType::RoceV2] {
                other.send(to(gid, kind)).expect("room");
            }
        }
        let before = bench.device.nic().received.transport.packets;
        bench.device.step(std::time::Duration::ZERO);
        bench.device.nic().received.transport.packets - before
    };
    assert_eq!(arrived(&mut bench), 0);
    bench.execute(&roce(5, IPV4, 2, 0, 0), 16).expect("IPv4");
    assert_eq!(arrived(&mut bench), 1);
    bench.execute(&roce(6, IPV4, 0, 0, 0), 16).expect("the same of RoCE v1");
    bench.execute(&roce(0, [9; 16], 2, 1, 0), 16).expect("IPv6");
    assert_eq!(arrived(&mut bench), 3);
    let query = bench.execute(&command(0x760, 0, [5 << 16, 0]), 0x30).expect("an address");
    assert_eq!(query[0x10..], roce(5, IPV4, 2, 0, 0)[0x10..]);
    assert_eq!(bench.device.config().ports[0].gid(5), Some(Gid { raw: IPV4, kind: GidType::RoceV2 }));
    assert_eq!(bench.device.config().ports[0].gid(1), None);
    bench.execute(&roce(5, [0; 16], 2, 1, 0), 16).expect("free");
    assert_eq!(arrived(&mut bench), 2);
    // RoCE is off, and on again. Only while it is on, the fabric gives the addresses to no other device.
    let taken = || {
        let gids = vec![Gid { raw: IPV4, kind: GidType::RoceV1 }];
        fabric.attach(Address { gids, ..address(0x180..0x190) }).is_err()
    };
    assert!(taken());
    bench.execute(&modify(ROCE, &[], &[]), 16).expect("off");
    assert_eq!((arrived(&mut bench), query_roce(&mut bench), taken()), (0, 0, false));
    bench.execute(&modify(ROCE, &[(3, 1)], &[]), 16).expect("on");
    assert!(taken());
    assert_eq!((arrived(&mut bench), query_roce(&mut bench)), (2, 1));
    for (bad, status) in [
        (roce(255, IPV4, 2, 0, 0), Status::BadIndex),
        (roce(1, IPV4, 1, 0, 0), Status::BadParameter),
        (roce(1, IPV4, 2, 1, 0), Status::BadParameter),
        (roce(1, [9; 16], 2, 0, 0), Status::BadParameter),
        (roce(1, IPV4, 2, 0, 0x10), Status::BadOperation),
    ] {
        assert_eq!(bench.execute(&bad, 16), Err(status));
    }
    assert_eq!(Bench::new().execute(&roce(0, IPV4, 2, 0, 0), 16), Err(Status::BadOperation), "InfiniBand");
    // After a reset it has the addresses that it was made with.
    bench.device.reset();
    assert_eq!((arrived(&mut bench), bench.device.config().ports[0].gids.len()), (0, 0));
}

fn query_roce(bench: &mut Bench) -> u8 {
    query(bench, 0, 0)[3] & 1
}

#[test]
fn an_infiniband_port_keeps_its_addresses() {
    let mut bench = Bench::new();
    let before = bench.device.config().ports[0].gids.clone();
    for gid in [None, Some(Gid { raw: IPV4, kind: GidType::RoceV2 })] {
        assert!(bench.device.set_gid(1, 0, gid).is_err());
    }
    assert_eq!(bench.device.config().ports[0].gids, before);
}

/// QUERY_HCA_VPORT_CONTEXT: raw packets and GRHs that packets must have (bits 0x102 and 0x103 of the context).
#[test]
fn an_ethernet_port_has_raw_packets_and_needs_grhs() {
    for (mut bench, expected) in [(ethernet(), 0x30), (Bench::new(), 0)] {
        let context = bench.execute(&command(0x762, 0, [0, 0]), 0x210).expect("a context");
        assert_eq!(context[0x10 + 0x20] & 0x30, expected);
    }
}

//! Commands for the identity of the device and its ports, and for domains: byte by byte as Linux and libmlx5 read
//! them.

use crate::config::{DeviceConfig, Gid, GidType, PortConfig};
use crate::firmware::owners::Uid;
use crate::firmware::status::Status;
use crate::firmware::test_bench::Bench;

/// A command of 16 bytes: its opcode, user, modifier, and its last two words.
fn short(opcode: u16, uid: Uid, modifier: u8, words: [u32; 2]) -> Vec<u8> {
    let [high, low] = opcode.to_be_bytes();
    let mut input = vec![high, low, (uid.0 >> 8) as u8, uid.0 as u8, 0, 0, 0, modifier];
    input.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    input
}

const DRIVER: Uid = Uid(0);

fn ethernet() -> Bench {
    let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 9, 1];
    let mut port = PortConfig::ethernet(0x1234);
    port.gids.push(Gid { raw: mapped, kind: GidType::RoceV2 });
    port.gids.push(Gid { raw: mapped, kind: GidType::RoceV1 });
    Bench::of(DeviceConfig::with_port(port))
}

#[test]
fn the_adapter_is_a_mellanox_board() {
    let output = Bench::new().execute(&short(0x101, DRIVER, 0, [0, 0]), 0x110).expect("the adapter");
    assert_eq!(output[0x28..0x2c], [0, 0, 0x02, 0xc9]);
    assert_eq!(output[0x100..0x110], *b"SFT0000000001\0\0\0");
}

#[test]
fn there_is_one_interface() {
    let mut bench = Bench::new();
    let output = bench.execute(&short(0x10a, DRIVER, 0, [0, 0]), 0x70).expect("the interface");
    assert_eq!((output[0xb], output[0x6f]), (1, 2));
    assert_eq!(bench.execute(&short(0x10b, DRIVER, 0, [1, 0]), 16).map(drop), Ok(()));
    assert_eq!(bench.execute(&short(0x10b, DRIVER, 0, [0, 0]), 16), Err(Status::BadParameter));
    let user = bench.user();
    assert_eq!(bench.execute(&short(0x10b, user, 0, [1, 0]), 16), Err(Status::BadOperation));
    assert_eq!(bench.execute(&short(0x80d, user, 0, [0, 0]), 16).map(drop), Ok(()));
    assert_eq!(bench.execute(&short(0x842, user, 0, [0, 0]), 16), Ok(vec![0; 16]), "no LAG");
}

#[test]
fn an_infiniband_port_has_a_lid_gids_and_pkeys() {
    let mut bench = Bench::new();
    let state = bench.execute(&short(0x750, DRIVER, 0, [0, 0]), 16).expect("its state");
    assert_eq!(state[0xf], 0x11, "up, and to be up");
    let context = bench.execute(&short(0x762, DRIVER, 0, [1 << 16, 0]), 0x210).expect("its context");
    assert_eq!(context[0x10 + 0x22..0x10 + 0x24], [0x50, 0x44], "link up, active");
    assert_eq!(context[0x10 + 0x60..0x10 + 0x62], [0, 1], "LID 1");
    let gids = bench.execute(&short(0x764, DRIVER, 0, [0, 0xffff]), 0x20).expect("its GIDs");
    assert_eq!((gids[0xd], &gids[0x10..0x12]), (1, &[0xfe, 0x80][..]));
    let pkeys = bench.execute(&short(0x765, DRIVER, 0, [0, 0]), 20).expect("its P_Keys");
    assert_eq!(pkeys[0x10..], [0, 0, 0xff, 0xff]);
    assert_eq!(bench.execute(&short(0x765, DRIVER, 0, [0, 0]), 16), Err(Status::BadOutputLength));
    assert_eq!(bench.execute(&short(0x764, DRIVER, 0, [0, 1]), 0x20), Err(Status::BadIndex));
    assert_eq!(bench.execute(&short(0x764, DRIVER, 0, [2 << 16, 0]), 0x20), Err(Status::BadParameter), "no port 2");
    assert_eq!(bench.execute(&short(0x762, DRIVER, 0, [1 << 31, 0]), 0x210), Err(Status::BadParameter));
    assert_eq!(bench.execute(&short(0x754, DRIVER, 0, [0, 0]), 0x110), Err(Status::BadOperation), "no NIC");
    bench.device.set_port_up(1, false).expect("port 1");
    let state = bench.execute(&short(0x750, DRIVER, 0, [0, 0]), 16).expect("its state");
    assert_eq!(state[0xf], 0x10);
}

#[test]
fn an_ethernet_port_has_an_address_and_roce_addresses() {
    let mut bench = ethernet();
    let context = bench.execute(&short(0x754, DRIVER, 0, [0, 0]), 0x110).expect("the NIC");
    // Linux reads the address at byte 0xf4 + 2 of the context (`permanent_address`), and roce_en in bit 0 of its first
    // word.
    assert_eq!(context[0x10 + 0xf6..0x10 + 0xfc], [2, 0, 0, 0, 0x12, 0x34]);
    assert_eq!(context[0x13], 1);
    let address = |bench: &mut Bench, index: u32| bench.execute(&short(0x760, DRIVER, 0, [index << 16, 0]), 0x30);
    // GID, MAC, kind of address (0 is IPv4) and version (2 is RoCE v2).
    for (index, kind, version) in [(0, 1, 2), (1, 0, 2), (2, 1, 0)] {
        let output = address(&mut bench, index).expect("an address");
        assert_eq!(output[0x10..0x20], bench.device.config().ports[0].gids[index as usize].raw);
        assert_eq!(output[0x22..0x28], [2, 0, 0, 0, 0x12, 0x34]);
        assert_eq!((output[0x2a] & 0xf, output[0x2b]), (kind, version), "{index}");
    }
    assert_eq!(address(&mut bench, 3), Ok(vec![0; 0x30]), "a free entry");
    assert_eq!(address(&mut bench, 255), Err(Status::BadIndex));
    assert_eq!(Bench::new().execute(&short(0x760, DRIVER, 0, [0, 0]), 0x30), Err(Status::BadOperation));
}

#[test]
fn registers_are_read() {
    let register = |bench: &mut Bench, id: u32, modifier: u8, body: &[u8], room: usize| {
        let mut input = short(0x805, DRIVER, modifier, [id, 0]);
        input.extend(body);
        bench.execute(&input, room)
    };
    let speeds = |port: u8, kind: u8| {
        let mut body = [0; 0x40];
        (body[1], body[3]) = (port, kind);
        body
    };
    let mut bench = Bench::new();
    let output = register(&mut bench, 0x5004, 1, &speeds(1, 1), 0x50).expect("speeds");
    assert_eq!((output[0x10 + 0x29], output[0x10 + 0x2b]), (4, 0x20), "4 lanes, EDR");
    let mut ethernet = ethernet();
    let output = register(&mut ethernet, 0x5004, 1, &speeds(1, 4), 0x50).expect("speeds");
    assert_eq!(output[0x10 + 0x24..0x10 + 0x28], [0, 0x10, 0, 0], "100GBASE-CR4");
    let output = register(&mut bench, 0x5003, 1, &speeds(1, 0)[..0x10], 0x20).expect("MTUs");
    assert_eq!((&output[0x14..0x16], &output[0x1c..0x1e]), (&[0x10, 0][..], &[0x10, 0][..]));
    assert_eq!(register(&mut bench, 0x5004, 1, &speeds(2, 1), 0x50), Err(Status::BadParameter));
    assert_eq!(register(&mut bench, 0x5004, 1, &speeds(1, 2), 0x50), Err(Status::BadParameter));
    assert_eq!(register(&mut bench, 0x5004, 1, &[0; 8], 0x50), Err(Status::BadInputLength));
    assert_eq!(register(&mut bench, 0x5004, 1, &speeds(1, 1), 0x4c), Err(Status::BadOutputLength));
    assert_eq!(register(&mut bench, 0x5004, 0, &speeds(1, 1), 0x50), Err(Status::BadParameter), "no speed");
    let mut edr = speeds(1, 1);
    (edr[0x1d], edr[0x1f]) = (4, 0x20);
    assert_eq!(register(&mut bench, 0x5004, 0, &edr, 0x50).map(drop), Ok(()), "the one that there is");
    assert_eq!(register(&mut bench, 0x9054, 1, &speeds(1, 1), 0x50), Err(Status::BadOperation), "not there");
    // As Linux' mlx5_core tells its byte order, on the host of which the device is.
    let host = if cfg!(target_endian = "big") { 0x80 } else { 0 };
    let mut body = [0; 16];
    body[0] = host;
    assert_eq!(register(&mut bench, 0x7004, 0, &body, 0x20).map(drop), Ok(()));
    body[0] = host ^ 0x80;
    assert_eq!(register(&mut bench, 0x7004, 0, &body, 0x20), Err(Status::BadParameter));
}

#[test]
fn users_are_given_what_there_is() {
    let create = |caps: u8| {
        let mut input = vec![0; 0x40];
        (input[0], input[1], input[0x13]) = (0x0a, 0x04, caps);
        input
    };
    let mut infiniband = Bench::new();
    assert_eq!(infiniband.execute(&create(1), 16), Err(Status::BadParameter), "no frames on InfiniBand");
    let mut ethernet = ethernet();
    assert_eq!(ethernet.execute(&create(2), 16), Err(Status::BadParameter), "no resources of the device's own");
    let mut user = |caps| ethernet.execute(&create(caps), 16).map(|output| Uid(output[0xb].into())).expect("a user");
    let users = [user(0), user(1)];
    // CREATE_SQ refuses the first user, who lacks the right, and tells the other that CQ 0 does not exist.
    let mut sq = vec![0; 0x110];
    (sq[0], sq[1]) = (9, 4);
    let status = users.map(|uid| {
        sq[3] = uid.0 as u8;
        ethernet.execute(&sq, 16).map(drop)
    });
    assert_eq!(status[0], Err(Status::BadParameter));
    assert!(status[1].is_err() && status[1] != status[0], "{status:?}");
}

#[test]
fn domains_and_pages_have_numbers_and_owners() {
    for (alloc, dealloc) in [(0x802, 0x803), (0x80e, 0x80f), (0x816, 0x817), (0x800, 0x801)] {
        let mut bench = Bench::new();
        let (user, other) = (bench.user(), bench.user());
        let mut new = |uid| {
            let output = bench.execute(&short(alloc, uid, 0, [0, 0]), 16).expect("an object");
            u32::from_be_bytes([0, output[9], output[10], output[11]])
        };
        let (first, second) = (new(user), new(other));
        assert_ne!(first, second);
        assert_eq!(bench.execute(&short(dealloc, other, 0, [first, 0]), 16), Err(Status::BadResource));
        assert_eq!(bench.execute(&short(dealloc, user, 0, [first, 0]), 16).map(drop), Ok(()));
        assert_eq!(bench.execute(&short(dealloc, user, 0, [first, 0]), 16), Err(Status::BadResource));
        assert_eq!(bench.execute(&short(dealloc, DRIVER, 0, [second, 0]), 16).map(drop), Ok(()), "the driver may");
    }
}

//! Input that no driver should send, to every command: it is refused, with the status that says why, and nothing
//! changes.

use super::call::{Command, general_obj_in_cmd_hdr};
use super::commands;
use super::layout::{Field, ViewMut};
use super::status::Status;
use super::test_bench::Bench;
use crate::config::{DeviceConfig, PortConfig};
use crate::memory::test_memory::BASE;
use std::time::Duration;

/// A mailbox of the command with zeros in all fields, and nothing in its list.
fn zeros(command: &Command) -> Vec<u8> {
    let mut input = vec![0; command.input.bytes];
    ViewMut(&mut input).set(general_obj_in_cmd_hdr::OPCODE, command.opcode.into());
    input
}

/// Carries it out on new firmware without objects; a refused command must change nothing.
fn fresh(input: &[u8], room: usize) -> Result<Vec<u8>, Status> {
    let mut bench = Bench::new();
    let before = format!("{:?}", bench.firmware);
    let result = bench.execute(input, room);
    if result.is_err() {
        assert_eq!(format!("{:?}", bench.firmware), before, "{input:02x?} was refused, and changed something");
    }
    result
}

#[test]
fn opcodes_are_those_of_one_command_each() {
    let mut opcodes: Vec<_> = commands::all().map(|command| command.opcode).collect();
    let count = opcodes.len();
    opcodes.sort_unstable();
    opcodes.dedup();
    assert_eq!(opcodes.len(), count);
    for opcode in (0..=0xffff_u16).filter(|opcode| opcodes.binary_search(opcode).is_err()) {
        let [high, low] = opcode.to_be_bytes();
        assert_eq!(Bench::new().execute(&[high, low, 0, 0, 0, 0, 0, 0], 8), Err(Status::BadOperation), "{opcode:#x}");
        if opcode == 0x1000 {
            // The rest is one arm of the same search.
            break;
        }
    }
}

#[test]
fn mailboxes_that_are_too_short_are_refused() {
    for command in commands::all() {
        let input = zeros(command);
        for len in [8, command.least - 4, command.least - 1] {
            let expected = Err(Status::BadInputLength);
            assert_eq!(fresh(&input[..len.min(command.least - 1)], command.output.bytes), expected, "{}", command.name);
        }
        for room in [0, 7, 8, command.least_room - 1] {
            assert_eq!(fresh(&input, room), Err(Status::BadOutputLength), "{}: {room}", command.name);
        }
        let mut longer = input.clone();
        longer.extend([0, 0, 0, 1]);
        if command.input.element == 0 {
            assert_eq!(fresh(&longer, command.output.bytes), Err(Status::BadInputLength), "{}", command.name);
        }
    }
}

#[test]
fn every_reserved_bit_is_refused() {
    for command in commands::all() {
        let mut reserved = vec![0xff; command.input.bytes];
        command.input.clear_named(&mut reserved);
        general_obj_in_cmd_hdr::LAYOUT.clear_named(&mut reserved);
        let mut bench = Bench::new();
        let before = format!("{:?}", bench.firmware);
        for bit in (0..reserved.len() * 8).filter(|bit| reserved[bit / 8] & 0x80 >> (bit % 8) != 0) {
            let mut input = zeros(command);
            input[bit / 8] |= 0x80 >> (bit % 8);
            let status = bench.execute(&input, command.output.bytes);
            assert_eq!(status, Err(Status::BadParameter), "{}: bit {bit:#x}", command.name);
        }
        assert_eq!(format!("{:?}", bench.firmware), before, "{}", command.name);
    }
}

#[test]
fn users_and_modifiers_that_are_not_there_are_refused() {
    for command in commands::all() {
        let mut input = zeros(command);
        ViewMut(&mut input).set(general_obj_in_cmd_hdr::UID, 7);
        assert_eq!(fresh(&input, command.output.bytes), Err(Status::BadResource), "{}", command.name);
        for modifier in [4, 0x4000, 0xffff] {
            let mut input = zeros(command);
            ViewMut(&mut input).set(general_obj_in_cmd_hdr::OP_MOD, modifier);
            match fresh(&input, command.output.bytes) {
                Err(Status::BadParameter) => {}
                // Which modifiers there are, it may look at after the objects.
                Err(_) if command.has_modifiers => {}
                // Sets of capabilities are named by the modifier.
                result => panic!("{}: {modifier:#x}: {result:?}", command.name),
            }
        }
    }
}

/// Commands that name no object and nothing else that could be wrong, or whose zeros mean the first.
const WITHOUT_OBJECTS: &[&str] = &[
    "ADD_VXLAN_UDP_DPORT",
    "ALLOC_FLOW_COUNTER",
    "ALLOC_PD",
    "ALLOC_Q_COUNTER",
    "ALLOC_TRANSPORT_DOMAIN",
    "ALLOC_UAR",
    "ALLOC_XRCD",
    "CREATE_FLOW_TABLE",
    "CREATE_UCTX",
    "MODIFY_VPORT_STATE",
    "NOP",
    "QUERY_ADAPTER",
    "QUERY_HCA_CAP",
    "QUERY_HCA_VPORT_CONTEXT",
    "QUERY_HCA_VPORT_GID",
    "QUERY_HCA_VPORT_PKEY",
    "QUERY_ISSI",
    "QUERY_LAG",
    "QUERY_SPECIAL_CONTEXTS",
    "QUERY_VPORT_COUNTER",
    "QUERY_VPORT_STATE",
];

#[test]
fn objects_that_are_not_there_are_refused() {
    let mut accepted = Vec::new();
    for command in commands::all().filter(|command| !WITHOUT_OBJECTS.contains(&command.name)) {
        let room = command.output.bytes + 0x40;
        if fresh(&zeros(command), room).is_ok() {
            accepted.push((command.name, "zeros"));
        }
        // Each number of the mailbox alone is wrong in all of its bits.
        for field in fields(command) {
            let mut input = zeros(command);
            ViewMut(&mut input).set(field, u64::MAX);
            if fresh(&input, room).is_ok() {
                accepted.push((command.name, field.name));
            }
        }
    }
    assert_eq!(accepted, [], "nothing of it is there");
    for name in WITHOUT_OBJECTS {
        let command = commands::all().find(|command| command.name == *name).expect("a command");
        assert!(fresh(&zeros(command), command.output.bytes + 0x40).is_ok(), "{name}");
    }
}

/// The numbers of a command's mailbox, but for those that all mailboxes have.
fn fields(command: &Command) -> Vec<Field> {
    let mut found = Vec::new();
    collect(command.input, 0, &mut found);
    found.retain(|field| field.at >= general_obj_in_cmd_hdr::LAYOUT.bytes * 8);
    found
}

fn collect(layout: &super::layout::Layout, at: usize, found: &mut Vec<Field>) {
    found.extend(layout.fields.iter().map(|field| Field { at: at + field.at, width: field.width.min(64), ..*field }));
    for part in layout.parts {
        collect(part.layout, at + part.at * 8, found);
    }
}

/// Commands of the driver's own.
const OF_THE_DRIVER: &[&str] = &[
    "CREATE_UCTX",
    "DESTROY_UCTX",
    "DISABLE_HCA",
    "ENABLE_HCA",
    "INIT_HCA",
    "MANAGE_PAGES",
    "QUERY_PAGES",
    "SET_DRIVER_VERSION",
    "SET_HCA_CAP",
    "SET_ISSI",
    "TEARDOWN_HCA",
];

#[test]
fn users_cannot_do_what_is_the_drivers() {
    for name in OF_THE_DRIVER {
        let command = commands::all().find(|command| command.name == *name).expect("a command");
        let mut bench = Bench::new();
        let user = bench.user();
        let mut input = zeros(command);
        ViewMut(&mut input).set(general_obj_in_cmd_hdr::UID, user.0.into());
        assert_eq!(bench.execute(&input, command.output.bytes), Err(Status::BadOperation), "{name}");
    }
}

/// Owners are kept by the number of a table, without its direction.
#[test]
fn a_users_table_makes_no_other_directions_table_its_own() {
    const RECEIVE: u8 = 0;
    const SNIFF: u8 = 5;
    const CREATE: u16 = 0x930;
    const DESTROY: u16 = 0x931;
    const QUERY: u16 = 0x932;
    let mut bench = Bench::new();
    let user = bench.user().0;
    let mut send = |opcode: u16, uid: u16, kind: u8, table: u8| {
        let command = commands::all().find(|command| command.opcode == opcode).expect("a command");
        let mut input = zeros(command);
        input[2..4].copy_from_slice(&uid.to_be_bytes());
        (input[16], input[23]) = (kind, table);
        bench.execute(&input, command.output.bytes)
    };
    let of_driver = send(CREATE, 0, RECEIVE, 0).expect("a table")[11];
    let of_user = send(CREATE, user, SNIFF, 0).expect("a table")[11];
    for opcode in [QUERY, DESTROY] {
        for (kind, table) in [(RECEIVE, of_driver), (RECEIVE, of_user), (SNIFF, of_driver)] {
            assert_eq!(send(opcode, user, kind, table), Err(Status::BadResource), "{opcode:#x}: {kind}, {table}");
        }
    }
    assert!(send(QUERY, 0, RECEIVE, of_driver).is_ok() && send(QUERY, user, SNIFF, of_user).is_ok());
    for (kind, table) in [(RECEIVE, of_user), (SNIFF, of_driver)] {
        assert_eq!(send(DESTROY, 0, kind, table), Err(Status::BadResource), "the driver, too, must say which");
    }
    assert!(send(DESTROY, user, SNIFF, of_user).is_ok() && send(DESTROY, 0, RECEIVE, of_driver).is_ok());
}

/// A generator of numbers (Marsaglia's xorshift), so that a failure comes again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A number of a field: often one that exists, an address, or all bits.
    fn number(&mut self) -> u64 {
        match self.below(5) {
            0 => u64::MAX,
            1 => BASE + (self.next() & 0x3_f003),
            2 => self.next(),
            _ => self.next() & 7,
        }
    }
}

/// The driver and its users send commands in any order, with any numbers in a few fields, while the device works.
/// Nothing panics, and the firmware's own tables stay as small as the mailboxes were.
#[test]
fn any_numbers_in_any_order_do_no_harm() {
    let mut random = Random(0x5eed_0fca_11ed_5eed);
    let table: Vec<&Command> = commands::all().collect();
    let fields: Vec<Vec<Field>> = table.iter().map(|command| fields(command)).collect();
    for ethernet in [false, true] {
        let port = if ethernet { PortConfig::ethernet(1) } else { PortConfig::infiniband(1) };
        let mut bench = Bench::of(DeviceConfig::with_port(port));
        bench.firmware.declare_eq(&mut bench.device, 1).expect("an EQ");
        let mut carried_out = 0;
        for round in 0..20_000 {
            let which = random.below(table.len());
            let mut input = zeros(table[which]);
            for _ in 0..random.below(4) {
                if let Some(&field) = fields[which].get(random.below(fields[which].len().max(1))) {
                    let number = random.number();
                    ViewMut(&mut input).set(field, number);
                }
            }
            ViewMut(&mut input).set(general_obj_in_cmd_hdr::UID, random.next() & 3 & random.next());
            ViewMut(&mut input).set(general_obj_in_cmd_hdr::OP_MOD, random.next() & 1 & random.next());
            for _ in 0..random.below(4) {
                let number = random.number();
                input.extend(number.to_be_bytes());
            }
            carried_out += u32::from(bench.execute(&input, table[which].output.bytes + 0x40).is_ok());
            bench.device.step(Duration::from_micros(round));
        }
        assert!(carried_out > 300, "{carried_out} of 20000 were good");
        assert!(format!("{:?}", bench.firmware).len() < 8 << 20, "tables are as large as what was made");
    }
}

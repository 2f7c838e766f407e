//! The firmware against a hostile driver and its hostile users. Commands are any bytes, or good commands with changes,
//! in any order, while the device works on the objects that they have made.
//!
//! In every case nothing panics or hangs, the status in the output is the returned status, and the output of a refused
//! command has nothing else.

use std::time::Duration;

use softhca::config::{DeviceConfig, DoorbellSource, Limits, PortConfig};
use softhca::device::Device;
use softhca::firmware::{CommandInfo, Firmware, Status, commands};

use super::memory::{Arena, BASE};
use super::network::Network;

/// Bytes of host memory.
const HOST: usize = 1 << 17;
const PAGE: u64 = 4096;
/// Page of the doorbell records.
const RECORDS: u64 = 20;
/// The event queue that CQs may name.
const EQN: u8 = 3;
/// Most actions of an input.
const ACTIONS: usize = 200;
/// Steps that the device may take after each, to be done.
const STEPS: usize = 32;

input_struct! {
    /// A word of a mailbox.
    Word {
        at: u16,
        value: u32,
    }
}

input_struct! {
    /// A byte of a mailbox that is other than it should be.
    Change {
        at: u16,
        value: u8,
    }
}

input_enum! {
    /// An action of a driver, the host or the network.
    Action {
        /// A command of any bytes.
        Raw { bytes: Vec<u8>, room: u16 },
        /// A known command, with any words and a list.
        Command { which: u8, uid: u8, modifier: u8, words: Vec<Word>, list: Vec<u64>, room: u8 },
        /// A good command with changes.
        Good { which: u8, uid: u8, number: u8, changes: Vec<Change> },
        /// The host writes to its memory.
        Store { at: u32, bytes: [u8; 64] },
        /// The host stores to a page.
        Doorbell { uar: u8, offset: u16, bytes: [u8; 8] },
        /// A packet arrives.
        Packet { bytes: Vec<u8> },
        /// Time passes, in units of 100 us.
        Wait { time: u16 },
    }
}

input_struct! {
    /// A device, and what happens to it.
    Input {
        /// Its port is an Ethernet port.
        ethernet: bool,
        actions: Vec<Action>,
    }
}

/// A mailbox of `len` bytes with these parts.
fn mailbox(len: usize, parts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; len];
    for (at, part) in parts {
        bytes[*at..at + part.len()].copy_from_slice(part);
    }
    bytes
}

/// The address of page `number`, with its low bits.
fn page(number: u64, bits: u64) -> [u8; 8] {
    (BASE + number * PAGE + bits).to_be_bytes()
}

/// A good command: places of fields are those of Linux' `mlx5_ifc.h`. `n` is the number of an object, where there is
/// one: those that are made first have the first numbers of their kind.
fn good(which: u8, uid: u8, n: u8) -> Vec<u8> {
    let record = (BASE + RECORDS * PAGE + u64::from(n & 15) * 64).to_be_bytes();
    let mut bytes = match which % 22 {
        // CREATE_UCTX, ALLOC_PD, ALLOC_UAR, ALLOC_TRANSPORT_DOMAIN, ALLOC_XRCD.
        0 => mailbox(0x40, &[(0, &[0xa, 4])]),
        1 => mailbox(0x10, &[(0, &[8, 0])]),
        2 => mailbox(0x10, &[(0, &[8, 2])]),
        3 => mailbox(0x10, &[(0, &[8, 0x16])]),
        4 => mailbox(0x10, &[(0, &[8, 0xe])]),
        // CREATE_UMEM of three pages, not in a row.
        5 => mailbox(
            0x48,
            &[(0, &[0xa, 8]), (0x2f, &[3]), (0x30, &page(2, 3)), (0x38, &page(0, 3)), (0x40, &page(1, 3))],
        ),
        // CREATE_CQ of 64 CQEs.
        6 => mailbox(
            0x118,
            &[(0, &[4, 0]), (0x1c, &[6, 0, 0, 1]), (0x27, &[EQN]), (0x48, &record), (0x110, &page(10, 0))],
        ),
        // CREATE_QP: RC, receive ring of 16 WQEs, send ring of 64 WQEBBs.
        7 => mailbox(
            0x120,
            &[
                (0, &[5, 0]),
                (0x19, &[0, 0x18]),
                (0x1f, &[1]),
                (0x21, &[4 << 3 | 2, 6 << 3]),
                (0x27, &[1]),
                (0x97, &[1]),
                (0xb7, &[1]),
                (0xb8, &record),
                (0x110, &page(14, 0)),
                (0x118, &page(12, 0)),
            ],
        ),
        // CREATE_MKEY of pages 1 and 3, and of pieces of the key with index n.
        8 => mailbox(
            0x120,
            &[
                (0, &[2, 0]),
                (0x12, &[0x7d, 0]),
                (0x14, &[0xff, 0xff, 0xff, 0]),
                (0x1f, &[1]),
                (0x2e, &[0x20]),
                (0x4b, &[12]),
                (0x63, &[1]),
                (0x110, &page(1, 0)),
                (0x118, &page(3, 0)),
            ],
        ),
        9 => mailbox(
            0x130,
            &[
                (0, &[2, 0]),
                (0x12, &[0x7f, 0]),
                (0x14, &[0xff, 0xff, 0xff, 0]),
                (0x1f, &[1]),
                (0x2e, &[0x20]),
                (0x4b, &[12]),
                (0x63, &[2]),
                (0x116, &[n, 0]),
                (0x126, &[n, 0]),
            ],
        ),
        // RST2INIT_QP, INIT2RTR_QP to itself, RTR2RTS_QP.
        10 => mailbox(0x110, &[(0, &[5, 2]), (0xb, &[n]), (0x1a, &[0x18]), (0x55, &[1]), (0xaa, &[0xe0])]),
        11 => mailbox(
            0x110,
            &[(0, &[5, 3]), (0xb, &[n]), (0x20, &[3 << 5 | 30]), (0x2f, &[n]), (0x37, &[1]), (0x3b, &[64])],
        ),
        12 => mailbox(0x110, &[(0, &[5, 4]), (0xb, &[n])]),
        // 2ERR_QP, 2RST_QP, QUERY_QP, DESTROY_QP.
        13 => mailbox(0x10, &[(0, &[5, 7]), (0xb, &[n])]),
        14 => mailbox(0x10, &[(0, &[5, 0xa]), (0xb, &[n])]),
        15 => mailbox(0x10, &[(0, &[5, 0xb]), (0xb, &[n])]),
        16 => mailbox(0x10, &[(0, &[5, 1]), (0xb, &[n])]),
        // DESTROY_CQ, DESTROY_MKEY, DESTROY_UMEM, DEALLOC_PD, DEALLOC_UAR.
        17 => mailbox(0x10, &[(0, &[4, 1]), (0xb, &[n])]),
        18 => mailbox(0x10, &[(0, &[2, 2]), (0xb, &[n])]),
        19 => mailbox(0x10, &[(0, &[0xa, 0xa]), (0xb, &[n])]),
        20 => mailbox(0x10, &[(0, &[8, 1]), (0xb, &[n])]),
        _ => mailbox(0x10, &[(0, &[8, 3]), (0xb, &[n])]),
    };
    bytes[3] = uid & 3;
    bytes
}

struct Lab {
    firmware: Firmware,
    device: Device,
    commands: Vec<CommandInfo>,
    host: Arena,
    network: Network,
    now: Duration,
}

/// The input of a command: words at places past its header, and the list that follows.
pub(crate) fn composed(command: CommandInfo, uid: u8, modifier: u8, words: &[Word], list: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; command.input_bytes];
    for Word { at, value } in words {
        let at = 8 + usize::from(*at) % (bytes.len() - 8) / 4 * 4;
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
    bytes[..2].copy_from_slice(&command.opcode.to_be_bytes());
    (bytes[3], bytes[7]) = (uid & 3, modifier);
    bytes.extend(list.iter().flat_map(|entry| entry.to_be_bytes()));
    bytes
}

impl Lab {
    fn new(input: &Input) -> Self {
        let (host, network) = (Arena::new(HOST, 0), Network::default());
        let port = if input.ethernet { PortConfig::ethernet(1) } else { PortConfig::infiniband(1) };
        let config = DeviceConfig {
            qpn_first: 2,
            qpn_count: 32,
            doorbells: DoorbellSource::Calls,
            limits: Limits { max_cqe_log: 8, max_wqe_log: 8, max_objects: 64, max_mkeys: 64, ..Limits::default() },
            ..DeviceConfig::with_port(port)
        };
        let mut device = Device::new(config, Box::new(host.clone()), Box::new(network.clone())).expect("a device");
        let mut firmware = Firmware::new();
        firmware.declare_eq(&mut device, EQN.into()).expect("an EQ");
        Self { firmware, device, commands: commands().collect(), host, network, now: Duration::ZERO }
    }

    fn execute(&mut self, input: &[u8], room: usize) -> Status {
        let mut output = vec![0xa5; room];
        let status = self.firmware.execute(&mut self.device, input, &mut output);
        if let Some(&first) = output.first() {
            assert_eq!(first, status as u8, "the status is in the output");
        }
        if status != Status::Ok {
            assert!(output.iter().skip(8).all(|&byte| byte == 0), "a refused command says nothing else");
        }
        status
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Raw { bytes, room } => {
                self.execute(bytes, usize::from(*room) % 0x1100);
            }
            Action::Command { which, uid, modifier, words, list, room } => {
                let command = self.commands[usize::from(*which) % self.commands.len()];
                let bytes = composed(command, *uid, *modifier, words, list);
                self.execute(&bytes, command.output_bytes + usize::from(*room));
            }
            Action::Good { which, uid, number, changes } => {
                let mut bytes = good(*which, *uid, *number);
                for Change { at, value } in changes {
                    let at = usize::from(*at) % bytes.len();
                    bytes[at] ^= value;
                }
                self.execute(&bytes, 0x1010);
            }
            Action::Store { at, bytes } => self.host.scribble(*at as usize, bytes),
            Action::Doorbell { uar, offset, bytes } => {
                self.device.doorbell(u32::from(*uar), usize::from(*offset) % 4096, bytes);
            }
            Action::Packet { bytes } => self.network.push(bytes.clone(), false),
            Action::Wait { time } => self.now += Duration::from_micros(100 * u64::from(*time)),
        }
    }
}

/// Does it all.
pub fn run(input: &Input) {
    let mut lab = Lab::new(input);
    for action in input.actions.iter().take(ACTIONS) {
        lab.act(action);
        for _ in 0..STEPS {
            if !lab.device.step(lab.now) {
                break;
            }
        }
        while lab.device.next_event().is_some() {}
        lab.device.complaints();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_commands_are_carried_out() {
        let mut lab = Lab::new(&Input { ethernet: false, actions: vec![] });
        // Each command comes after those that make the objects it names (a QP and its completion queue, memory and
        // keys). The commands that destroy the objects come last.
        let order = [
            (0, 0),
            (1, 0),
            (2, 0),
            (3, 0),
            (4, 0),
            (5, 0),
            (6, 0),
            (7, 1),
            (8, 0),
            (9, 0x18),
            (10, 2),
            (11, 2),
            (12, 2),
            (15, 2),
            (13, 2),
            (14, 2),
            (16, 2),
            (17, 1),
            (18, 0x19),
            (18, 0x18),
            (19, 1),
            (20, 1),
            (21, 1),
        ];
        for (which, number) in order {
            assert_eq!(lab.execute(&good(which, 0, number), 0x1010), Status::Ok, "{which}: {number:#x}");
        }
    }
}

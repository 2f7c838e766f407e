//! Inputs of the target `pci_function`: steps of a real driver, and steps that no driver would take.

use blueflame_fuzz_targets::firmware::{Change, Word};
use blueflame_fuzz_targets::pci_function::{Action, Input};

/// The recorded commands of Linux' driver; their first lines say how.
fn probe() -> Vec<Action> {
    let hexadecimal = |text: &str| u32::from_str_radix(text, 16).expect("a number");
    let lines = include_str!("probe.txt").lines().filter(|line| !line.starts_with('#'));
    let commands = lines.map(|line| {
        let mut parts = line.split(' ');
        let mut number = || hexadecimal(parts.next().expect("a number")) as u16;
        let (bytes, room) = (number(), number());
        let words = parts.map(|word| {
            let (at, value) = word.split_once(':').expect("a word");
            Word { at: hexadecimal(at) as u16, value: hexadecimal(value) }
        });
        // Pages are given in the last slot, as Linux does.
        let words: Vec<Word> = words.collect();
        let slot = if words.first().is_some_and(|word| word.value >> 16 == 0x108) { 31 } else { 0 };
        Action::Execute { slot, bytes, words, room }
    });
    [Action::Start { page: 0 }].into_iter().chain(commands).collect()
}

/// ENABLE_HCA and DISABLE_HCA.
fn command(slot: u8) -> Action {
    let opcode = 0x104 + u32::from(slot % 2);
    Action::Execute { slot, bytes: 16, words: vec![Word { at: 0, value: opcode << 16 }], room: 16 }
}

/// Doorbells, time and packets between the commands.
fn busy() -> Vec<Action> {
    let mut actions = Vec::new();
    for (number, command) in probe().into_iter().enumerate() {
        actions.push(command);
        let n = number as u8;
        match number % 16 {
            3 => actions.push(Action::Wait { time: 20 }),
            // The consumer doorbells of event queues, then those of send queues.
            7 => actions.push(Action::Doorbell { page: n % 8, at: 0x40, bytes: [1 + n % 4, 0, 0, n, 0, 0, 0, 0] }),
            11 => {
                actions.push(Action::Doorbell { page: n % 16, at: 0x800, bytes: [0, 0, n, 0, 0, 0, 0x40 + n % 16, 1] });
            }
            15 => actions.push(Action::Packet { bytes: vec![n; 64] }),
            _ => {}
        }
    }
    actions.truncate(600);
    actions
}

pub(crate) fn seeds() -> Vec<(&'static str, Input)> {
    let input = |folded, actions| Input { ethernet: true, folded, actions };
    let registers = (0..0x20)
        .flat_map(|n: u32| {
            [
                Action::Read { at: n * 0x90, len: 17 },
                Action::Write { at: n * 0x94 + n % 3, bytes: vec![n as u8; 1 + n as usize % 9] },
                Action::ReadConfig { at: n as u16 * 0x20, len: 32 },
                Action::WriteConfig { at: n as u16 * 8, bytes: [0xff; 4] },
            ]
        })
        .collect();
    let memory = vec![
        Action::Start { page: 0 },
        command(0),
        Action::Take { range: 0, count: 3 },
        command(1),
        Action::Share { range: 0, writable: false },
        command(2),
        Action::Take { range: 0, count: 0 },
        Action::Share { range: 0, writable: true },
        command(3),
        Action::Take { range: 15, count: 0 },
        Action::Command { slot: 4, which: 0, uid: 0, modifier: 0, words: vec![], list: vec![], room: 0 },
        Action::Reset {},
        Action::Start { page: 16 },
        command(31),
    ];
    let slots = (0..64)
        .map(|at| Action::Slot { slot: 5, changes: vec![Change { at, value: 0xff }, Change { at: 63, value: 1 }] })
        .collect();
    vec![
        ("probe", input(true, probe())),
        ("probe_of_little_memory", input(false, probe())),
        ("busy", input(true, busy())),
        ("registers", input(true, registers)),
        ("memory", input(false, memory)),
        ("slots", input(true, slots)),
    ]
}

//! Seeds of the target `hostile`: traffic of all queues, each kind of lie, and resizes, in each form of completions.

use blueflame_fuzz_targets::hostile::{Input, Step};

/// Names of the forms of completions.
const FORMS: [&str; 6] = ["whole", "wide", "checksum", "indices", "enhanced", "frames_alone"];

fn input(kind: u8, steps: Vec<Step>) -> Input {
    Input { kind, log_cqes: 4, strides: kind, shifted: kind % 2 != 0, log_wqes: 1, buffers: 7, steps }
}

fn poll(frames: bool) -> Step {
    Step::Poll { frames, max: 255, again: true }
}

/// Sends, receives of each kind, operations on the list, messages and frames: all complete.
fn traffic() -> Vec<Step> {
    let round = |n: u8| {
        let sent = |frames, m: u8| Step::Sent { frames, n: m % 2, fails: m == 3 };
        let mut steps = vec![
            Step::Send { frames: false, count: 7, bits: 0x5555 ^ u16::from(n) << 3, ring: n % 5 != 4 },
            Step::Send { frames: true, count: 5, bits: 0xb6d3, ring: true },
            Step::Append { tag: n, mask: 0xff },
            Step::Append { tag: 1, mask: n | 1 },
            Step::Remove { entry: n },
            Step::Sync {},
            Step::FrameSession { lens: (0..2 + u16::from(n)).map(|m| 60 + 97 * m).collect() },
            Step::Frame { len: 59 + 389 * u16::from(n), twist: 0 },
        ];
        for which in 0..3 {
            steps.push(Step::Receive { which, count: 7, ring: n % 7 != 6 });
            steps.push(Step::Session { which, count: 3 + n });
            steps.push(Step::Received { which, n: n % 3, form: n.wrapping_add(which) });
            steps.extend([Step::Execute {}, Step::Match { n, how: which }, Step::Unexpected { n: which, how: n }]);
            steps.extend([sent(false, which), sent(true, n.wrapping_add(which))]);
        }
        steps.extend([poll(false), Step::Execute {}, Step::Execute {}, poll(true), Step::Refill {}]);
        steps.extend([
            Step::Match { n: 1, how: 1 },
            Step::Drop { which: n },
            Step::Scribble { area: n, at: 0, bytes: [0xff; 16] },
        ]);
        steps
    };
    (0..8).flat_map(round).collect()
}

/// Each number, opcode and operation on tags, with indices that are outstanding and others.
fn forged() -> Vec<Step> {
    let mut steps = traffic();
    steps.truncate(40);
    for n in 0..48_u8 {
        let op_own = [0x00, 0x20, 0x60, 0xd0, 0xe0, 0x2c, 0x0c, 0x24, 0x28, 0x50, 0xc0, 0xf0][usize::from(n) % 12];
        let tag = [1, n % 14, 0, n % 6];
        let forge = |frames, counter| Step::Forge { frames, qpn: n, op_own, counter, bytes: 1 << (n % 32), tag };
        steps.extend([forge(false, u16::from(n % 9)), forge(true, u16::from(n)), poll(n % 2 == 0), poll(n % 2 != 0)]);
        steps.push(Step::Twist { behind: n, at: 63 - n, bits: 1 << (n % 8) });
    }
    steps
}

/// Rings of all sizes, with completions that wait; and a device that does not do its part.
fn resized() -> Vec<Step> {
    let mut steps = Vec::new();
    for (n, step) in traffic().into_iter().enumerate() {
        steps.push(step);
        if n % 9 == 5 {
            steps.push(Step::Resize { log: (n % 7) as u8, ended: true });
        }
    }
    steps.truncate(260);
    steps.extend([Step::Resize { log: 2, ended: false }, poll(false)]);
    steps.extend(forged().into_iter().rev().take(30));
    steps
}

/// The pair with sends and receives starts over, while completions of all wait.
fn reset() -> Vec<Step> {
    let mut steps = Vec::new();
    for (n, step) in traffic().into_iter().enumerate() {
        steps.push(step);
        if n % 31 == 30 {
            steps.push(Step::Reset {});
        }
    }
    steps
}

pub(crate) fn seeds() -> Vec<(String, Input)> {
    let kinds = FORMS.into_iter().zip(0..);
    let mut seeds: Vec<_> =
        kinds.clone().map(|(form, kind)| (format!("{form}_traffic"), input(kind, traffic()))).collect();
    seeds.extend(kinds.clone().map(|(form, kind)| (format!("{form}_forged"), input(kind, forged()))));
    seeds.extend(kinds.map(|(form, kind)| (format!("{form}_reset"), input(kind, reset()))));
    seeds.extend(
        [("whole_resized", 0), ("wide_resized", 1)].map(|(name, kind)| (name.to_owned(), input(kind, resized()))),
    );
    let any = [0x2c; 64];
    let written = vec![
        Step::Any { frames: false, cqe: any },
        Step::Overwrite { frames: true, ahead: 3, cqe: any },
        poll(false),
        poll(true),
    ];
    seeds.push(("any".to_owned(), input(4, written)));
    seeds
}

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

/// Last bytes of CQEs: each opcode, and each format.
const OPS: [u8; 12] = [0x00, 0x20, 0x60, 0xd0, 0xe0, 0x2c, 0x0c, 0x24, 0x28, 0x50, 0xc0, 0xf0];

/// Each opcode with each number, the right one last, and indices that are outstanding in all queues.
fn forged() -> Vec<Step> {
    let mut steps = Vec::new();
    for (n, op_own) in (0_u8..).zip(OPS) {
        steps.extend([Step::Reset {}, Step::Send { frames: false, count: 5, bits: 0x155, ring: true }]);
        steps.push(Step::Send { frames: true, count: 5, bits: 0xb, ring: true });
        steps.extend((0..3).map(|which| Step::Receive { which, count: 7, ring: true }));
        steps.push(Step::Frame { len: 500, twist: 0 });
        for qpn in (0..6).rev() {
            let counter = u16::from(qpn + n) % 4;
            let forge =
                |frames, counter| Step::Forge { frames, qpn, op_own, counter, bytes: 1 << (n + qpn), tag: [0; 4] };
            steps.extend([forge(false, counter), poll(false)]);
            if qpn % 2 == 0 {
                steps.extend([forge(true, counter), poll(true)]);
            }
        }
    }
    steps
}

/// Each report on tags of each entry, before and after its match, and of operations that are due or not.
fn forged_tags() -> Vec<Step> {
    let mut steps = vec![Step::Receive { which: 2, count: 7, ring: true }];
    for application in 0..14 {
        steps.push(Step::Append { tag: 0, mask: 0 });
        if application % 4 == 3 {
            steps.extend([Step::Remove { entry: application }, Step::Sync {}, Step::Execute {}, poll(false)]);
        }
        for entry in 0..4 {
            let tag = [1, [application, 1, 5, 6, 2][usize::from(entry + application) % 5], 0, entry];
            let (qpn, op_own) = (2 + entry % 2, if entry == 3 { 0x60 } else { 0x20 });
            let counter = u16::from(entry + application) % 9;
            steps.push(Step::Forge { frames: false, qpn, op_own, counter, bytes: 64, tag });
            steps.extend([poll(false), Step::Append { tag: entry, mask: 0xff }]);
        }
    }
    steps
}

/// A buffer whose message has matched is reported as removed.
fn matched_and_removed() -> Vec<Step> {
    let mut removed = [0; 64];
    (removed[0], removed[40], removed[41], removed[59], removed[63]) = (0x80, 1, 6, 0x13, 0x60);
    let mut steps = vec![Step::Append { tag: 0, mask: 0 }, Step::Execute {}, poll(false)];
    steps.extend([Step::Match { n: 0, how: 0 }, poll(false), Step::Remove { entry: 0 }]);
    steps.extend([Step::Any { frames: false, cqe: removed }, poll(false), Step::Append { tag: 1, mask: 1 }]);
    steps
}

/// Completions of traffic, each with some bits changed.
fn twisted() -> Vec<Step> {
    let mut steps = Vec::new();
    for (n, step) in traffic().into_iter().enumerate() {
        let is_poll = matches!(step, Step::Poll { frames: false, .. });
        if is_poll {
            steps.push(Step::Twist { behind: 1 + (n % 3) as u8, at: 56 + (n % 8) as u8, bits: 1 << (n % 5) });
        }
        steps.push(step);
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
    steps.extend(forged().into_iter().take(30));
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
    seeds.extend(kinds.clone().map(|(form, kind)| (format!("{form}_twisted"), input(kind, twisted()))));
    seeds.extend(kinds.map(|(form, kind)| (format!("{form}_reset"), input(kind, reset()))));
    seeds.push(("tags_forged".to_owned(), input(0, forged_tags())));
    seeds.push(("matched_and_removed".to_owned(), input(0, matched_and_removed())));
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
    // The first of the 4 WQEs of the frames' ring is damaged, and posted again.
    let damaged = vec![
        Step::Refill {},
        Step::Scribble { area: 10, at: 0, bytes: [0xff; 16] },
        Step::Frame { len: 500, twist: 0 },
        Step::Filler {},
        poll(true),
        Step::Refill {},
    ];
    seeds.push(("damaged_frames".to_owned(), input(5, damaged)));
    seeds
}

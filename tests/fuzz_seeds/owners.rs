//! Seeds of the target `ownership`: each way to have two owners of a buffer, once.

use blueflame_fuzz_targets::ownership::{Input, Op};

/// Two connected pairs, each across both devices, and these operations.
fn after_connecting(ops: &[Op]) -> Input {
    let made = [Op::Connect { a: 0, b: 2, hold: false }, Op::Connect { a: 1, b: 3, hold: false }];
    Input { ops: [&made, ops].concat() }
}

/// A message from place 0 to place 2.
const MESSAGE: [Op; 3] = [Op::Receive { at: 2, count: 0 }, Op::Send { at: 0, words: 8, count: 0 }, Op::Settle {}];

pub(super) fn seeds() -> Vec<(&'static str, Input)> {
    let poll = |cq, first| Op::Poll { cq, max: 16, first };
    let all = [poll(0, 0), poll(1, 2), poll(2, 4), poll(3, 6)];
    let traffic = [
        &MESSAGE[..],
        &[
            Op::Write { at: 1, to: 1, words: 5 },
            Op::Read { at: 3, from: 0, words: 3 },
            Op::Nop { at: 2 },
            Op::Settle {},
        ],
    ];
    // The first completion is offered to the queues of place 2, which have the number of place 0.
    let other_device = [&MESSAGE[..], &[Op::Send { at: 2, words: 1, count: 0 }, poll(0, 4)]];
    // While it is held, place 0 has a queue pair of the same number, which has sent and got no receive.
    let meanwhile = [Op::Connect { a: 0, b: 2, hold: true }, Op::Send { at: 0, words: 2, count: 0 }];
    let held = [
        &MESSAGE[..],
        &[Op::Hold { cq: 0, meanwhile: 2, first: 0 }],
        &meanwhile,
        &[Op::Receive { at: 2, count: 1 }, Op::Settle {}],
    ];
    let exchanged = [
        &[Op::Swap { what: 2, a: 0, b: 1 }, Op::SwapHeld { what: 2, a: 1, b: 3 }, Op::SwapHeld { what: 0, a: 0, b: 3 }],
        &MESSAGE[..],
        &[Op::SwapHeld { what: 0, a: 3, b: 1 }, Op::SwapHeld { what: 1, a: 2, b: 0 }, Op::Settle {}],
    ];
    let dropped = [
        &[Op::Receive { at: 2, count: 3 }, Op::Drop { what: 1, at: 2 }, Op::Send { at: 0, words: 8, count: 3 }][..],
        &[Op::Drop { what: 0, at: 0 }, Op::Drop { what: 2, at: 3 }, Op::Renew { page: 3 }, Op::Settle {}],
    ];
    let failed = [
        &[Op::Receive { at: 3, count: 2 }, Op::Send { at: 1, words: 7, count: 1 }, Op::Step { device: 0, times: 9 }][..],
        &[Op::Fail { at: 3 }, Op::Destroy { at: 2 }, Op::Forget { cq: 1, of: 1 }, Op::Settle {}],
    ];
    [
        ("traffic", traffic.concat()),
        ("other_device", other_device.concat()),
        ("held", held.concat()),
        ("exchanged", exchanged.concat()),
        ("dropped", dropped.concat()),
        ("failed", failed.concat()),
    ]
    .map(|(name, ops)| (name, after_connecting(&[&ops[..], &all].concat())))
    .into()
}

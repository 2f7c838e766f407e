//! Seeds of the queues of Ethernet frames.

use blueflame_fuzz_targets::frames::{Action, Input, Piece};

fn pieces(lens: &[u16]) -> Vec<Piece> {
    let piece = |(n, &len): (usize, &u16)| Piece { len, at: 64 * n as u16, inline: n % 3 == 2, key: 0 };
    lens.iter().enumerate().map(piece).collect()
}

fn several(lens: &[u16]) -> Action {
    Action::Several { pieces: pieces(lens), segment: [0xc0, 0, 0, 0] }
}

/// WQEs of several frames that fill the WQEs of the receive queue, and faults of both.
pub(crate) fn frames() -> Vec<(&'static str, Input)> {
    let receive = Action::Receive { len: 0, key: 0 };
    let filled: Vec<Action> = (0..12)
        .flat_map(|n| [receive.clone(), several(&[1514, 60, 100, 9000, 64 + 100 * n]), several(&[9000, 5000])])
        .collect();
    let input = |strides, shifted, compressed, actions| Input { strides, shifted, compressed, actions };
    let faults = [
        receive.clone(),
        Action::Several { pieces: pieces(&[60, 60]), segment: [0, 0, 0x80, 0] },
        Action::Receive { len: 0x8001, key: 0 },
        Action::Receive { len: 0, key: 9 },
        Action::Arrive { len: 1000, bytes: vec![2, 0, 0, 0, 0, 2] },
        Action::Arrive { len: 13, bytes: vec![] },
        Action::Arrive { len: 9000, bytes: vec![0xff; 6] },
        Action::Move { from: 1, to: 3 },
        Action::Move { from: 3, to: 0 },
        Action::Move { from: 0, to: 1 },
        Action::Send { opcode: 0x0e, ds: 4, bytes: [0x5a; 48] },
    ];
    let disturbed = [
        receive.clone(),
        Action::Store { at: 4096 + 16, bytes: [0xff; 16] },
        Action::Record { value: 100 },
        several(&[60]),
    ];
    let mut seeds = vec![
        ("long_strides", input(0, false, 0, filled.clone())),
        ("short_strides", input(6, true, 0, filled.clone())),
        ("faults", input(0, false, 0, faults.to_vec())),
        ("disturbed", input(3, true, 0, disturbed.to_vec())),
    ];
    // Compressed CQEs: each format, in both layouts in turn.
    for (name, format) in ["hashes", "sums", "tags", "sums_and_strides", "headers"].into_iter().zip(0..) {
        seeds.push((name, input(1, false, 1 | (2 * (format & 1)) | (format << 2), filled.clone())));
    }
    seeds
}

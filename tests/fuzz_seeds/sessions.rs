//! Seeds of batches of frames.

use blueflame_fuzz_targets::sessions::{Input, Op, Piece, Wqe};

/// Sessions of all lengths at all places of the ring, with large sends and tagged frames between them; refusals; a
/// hostile device.
pub(crate) fn seeds() -> Vec<(&'static str, Input)> {
    let pointers = |count: u32| (0..count).map(|n| Piece { len: 60 + n, inline: false }).collect();
    let inline = |count: u32| (0..count).map(|n| Piece { len: 14 + n * 11, inline: true }).collect();
    let several = |pieces, close| Wqe::Several { pieces, checksums: 3, close };
    let retire = |counter| Op::Retire { counter };
    let input = |log_wqebbs, ops| Input { log_wqebbs, pi: 0xffe9, ops };

    // WQEs of one to 16 WQEBBs in a ring of 16: all of them go around its end at some time.
    let around = (1..=61).flat_map(|count| {
        let pieces = if count % 3 == 0 { inline(1 + count % 9) } else { pointers(count) };
        [Op::Batch { wqes: vec![several(pieces, true)], ring: true }, Op::RetireNth { n: 0 }]
    });
    let mixed = (0..40).flat_map(|n: u32| {
        let tagged = n % 2 == 0;
        let wqes = vec![
            several(pointers(n % 5), true),
            Wqe::Large { tagged, mss: 1460, len: 4096 + n },
            several(inline(3), n % 4 != 0),
            Wqe::One { tagged, len: n as u8, checksums: n as u8 },
            several([pointers(2), inline(2)].concat(), true),
        ];
        [Op::Batch { wqes, ring: n % 5 != 0 }, Op::RetireNth { n: n as u8 }]
    });
    let refused = vec![
        Wqe::Several {
            pieces: vec![Piece { len: 0, inline: false }, Piece { len: 0, inline: true }],
            checksums: 0,
            close: true,
        },
        several(vec![Piece { len: u32::MAX, inline: false }, Piece { len: 4999, inline: true }], true),
        several(pointers(70), false),
        Wqe::Large { tagged: false, mss: 0, len: 1 },
        Wqe::Large { tagged: false, mss: 1, len: (1 << 18) + 1 },
        Wqe::Large { tagged: true, mss: 1, len: 0 },
        Wqe::One { tagged: true, len: 255, checksums: 0 },
    ];
    let hostile = (0..20).flat_map(|n: u16| {
        [
            Op::Batch { wqes: vec![several(pointers(5), true), several(pointers(1), true)], ring: true },
            Op::Scribble { ring: n % 3 != 0, at: n * 37, bytes: [n as u8; 16] },
            retire(0xffe9 + 1),
            retire(n * 251),
            Op::RetireNth { n: n as u8 },
        ]
    });
    vec![
        ("around", input(4, around.collect())),
        ("mixed", input(6, mixed.collect())),
        ("refused", input(3, vec![Op::Batch { wqes: refused.clone(), ring: true }])),
        ("refused_by_a_large_ring", input(7, vec![Op::Batch { wqes: refused, ring: true }])),
        ("one_wqebb", input(0, vec![Op::Batch { wqes: vec![several(pointers(4), true)], ring: true }])),
        ("hostile", input(5, hostile.collect())),
    ]
}

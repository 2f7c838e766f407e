//! Seeds of striding receive queues.

use blueflame_fuzz_targets::striding::{Input, Step};

/// Frames of all sizes in every format, kept and dropped; starvation; completions that a device must not write.
pub(crate) fn seeds() -> Vec<(String, Input)> {
    let frame = |len| Step::Frame { len, twist: 0 };
    let poll = |max, keep| Step::Poll { max, keep, again: false };
    let usual = || {
        let mut steps: Vec<Step> = (0..40)
            .flat_map(|n: u16| {
                let lens = (0..2 + n % 15).map(|m| 60 + n * 31 + m * 97).collect();
                [
                    frame(59 + n * 389),
                    Step::Session { lens },
                    poll(9, n),
                    Step::Refill {},
                    Step::Drop { which: n as u8 },
                ]
            })
            .collect();
        steps.extend([Step::Error { count: 3 }, Step::Filler {}, frame(1000), Step::Error { count: 0 }, poll(255, 1)]);
        steps.extend([Step::Refill {}, frame(60), Step::Poll { max: 1, keep: 1, again: true }, Step::Reset {}]);
        steps.extend([Step::Refill {}, frame(1514), poll(2, 3)]);
        steps
    };
    let input = |kind, steps| Input { strides: kind, shifted: kind % 2 != 0, kind, log_wqes: 1, buffers: 7, steps };
    let mut seeds: Vec<_> = [
        "plain",
        "hash",
        "checksum",
        "flow_tag",
        "checksum_stride",
        "headers",
        "enhanced_hash",
        "enhanced_checksum",
        "enhanced_flow_tag",
        "enhanced_checksum_stride",
        "enhanced_headers",
    ]
    .into_iter()
    .zip(0..)
    .map(|(name, kind)| (name, input(kind, usual())))
    .collect();

    // Each buffer keeps a frame: none can be posted until one of them is dropped.
    let mut starved: Vec<Step> =
        (0..4).flat_map(|_| [frame(2000), Step::Error { count: 0 }, poll(255, 1), Step::Refill {}]).collect();
    starved.extend([Step::Drop { which: 1 }, Step::Refill {}, frame(60), poll(1, 1), Step::Drop { which: 0 }]);
    seeds.push(("starved", Input { log_wqes: 0, buffers: 2, ..input(0, starved) }));

    let twisted = (1..=255).step_by(7).flat_map(|twist| [Step::Frame { len: 60, twist }, poll(3, 0x5555)]);
    seeds.push(("twisted", input(0, twisted.collect())));
    let mut cqe = [0; 64];
    (cqe[46], cqe[47], cqe[63]) = (1, 0, 0x20);
    let any = |op: u8| {
        let mut other = cqe;
        other[63] = op;
        [Step::Any { cqe: other }, Step::Poll { max: 2, keep: 1, again: true }, Step::Refill {}]
    };
    let opcodes = [0x20, 0x24, 0x28, 0x2c, 0x30, 0x00, 0xd0, 0xe0, 0x60, 0x20];
    let mut hostile: Vec<Step> = opcodes.into_iter().flat_map(any).collect();
    hostile.extend([Step::Scribble { slot: 3, cqe: [0x2c; 64] }, poll(255, 0xffff), Step::Reset {}, Step::Refill {}]);
    hostile.extend([frame(100), poll(255, 0xffff)]);
    seeds.push(("hostile", input(4, hostile.clone())));
    seeds.push(("enhanced_hostile", input(9, hostile)));
    // Titles that count more completions than the ring has, or too few, before mini-CQEs of frames. And a whole CQE that
    // reads as such mini-CQEs, too.
    let minis: [u8; 64] = std::array::from_fn(|n| [0, 0, 0, 0, 0, 1, 0, 60][n % 8]);
    let title = |count: u16| {
        let mut title = [0; 64];
        title[46..48].copy_from_slice(&count.to_be_bytes());
        (title[61], title[63]) = (1, 0x2c);
        let hostile = [Step::Scribble { slot: 1, cqe: minis }, Step::Any { cqe: title }, poll(255, 0)];
        [Step::Refill {}, frame(60), poll(1, 0)].into_iter().chain(hostile).collect()
    };
    seeds.push(("long_session", input(1, title(65))));
    seeds.push(("longer_session", input(2, title(1000))));
    seeds.push(("short_session", input(1, title(1))));
    let mut whole = minis;
    whole[63] = 0x20;
    seeds.push((
        "whole_like_minis",
        input(6, vec![Step::Refill {}, frame(60), poll(1, 0), Step::Any { cqe: whole }, poll(255, 0)]),
    ));
    let at_once =
        |(name, input): &(&str, Input)| (format!("{name}_at_once"), Input { kind: input.kind + 11, ..input.clone() });
    let at_once: Vec<_> = seeds.iter().map(at_once).collect();
    seeds.into_iter().map(|(name, input)| (name.to_owned(), input)).chain(at_once).collect()
}

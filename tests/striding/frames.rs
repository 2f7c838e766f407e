//! Frames in place.
//!
//! Frames that are read at once belong here, kept ones in `kept.rs`.

use blueflame::cq::cqe::{L3Header, L4Header};
use blueflame::queue::striding::Strides;

use crate::lab::{BURST, LONGEST, Lab};
use crate::on_device::device;

/// Lengths between the least and the most, in no order.
pub(crate) fn lengths(seed: usize, longest: usize) -> Vec<usize> {
    let spread = longest - 60 + 1;
    (0..BURST).map(|n| 60 + ((seed * BURST + n) * 7919 + n * n * 131) % spread).collect()
}

/// Strides that the device can have.
pub(crate) fn possible() -> Vec<Strides> {
    let limits = device().attr().striding.expect("striding queues");
    let all = [(3, 11), (3, 13), (5, 9), (9, 6), (9, 8), (10, 6)];
    let all = all.into_iter().flat_map(|(count, bytes)| {
        let strides = Strides::new(count, bytes).expect("possible somewhere");
        [strides, strides.two_byte_shift(true)]
    });
    all.filter(|&strides| limits.check(strides).is_ok()).collect()
}

#[test]
fn frames_of_all_sizes_lie_in_strides() {
    for strides in possible() {
        let mut lab = Lab::new((4, 4), strides);
        assert_eq!((lab.rq.posted(), lab.rq.depth(), lab.rq.memory().buffers()), (4, 4, 4));
        let longest = LONGEST.min(strides.wqe_bytes() as usize / 2);
        let mut received = 0_usize;
        // More bytes than the ring's counter has places, and the ring is passed many times.
        for round in 0..40 {
            lab.exchange(&lengths(round, longest), |frame| {
                assert_eq!(frame.as_ptr().addr().get() % 64, strides.shift_bytes() as usize, "{strides:?}");
                assert_eq!(
                    (frame.verdicts().l3_header(), frame.verdicts().l4_header()),
                    (L3Header::None, L4Header::None)
                );
                received += frame.len();
            });
        }
        assert!(
            received > 20 * strides.wqe_bytes() as usize || strides.wqe_bytes() > 1 << 15,
            "{strides:?}: {received}"
        );
        assert!(lab.empty > 0, "{strides:?}: no filler");
        // All buffers are posted again, or being filled.
        assert_eq!(lab.rq.posted(), 4);
    }
}

#[test]
fn one_frame_for_each_stride() {
    let Some(strides) = possible().into_iter().find(|strides| strides.log_bytes() == 6) else { return };
    let mut lab = Lab::new((2, 2), strides);
    for _ in 0..3 * strides.count() as usize / BURST {
        let mut before = None;
        lab.exchange(&[60; BURST], |frame| {
            let at = frame.as_ptr().addr().get();
            assert!(before.is_none_or(|before| at == before + 64 || at % (strides.wqe_bytes() as usize) == 0));
            before = Some(at);
        });
    }
    assert_eq!(lab.empty, 0, "every stride has its frame");
}

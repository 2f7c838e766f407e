//! Compressed completions.
//!
//! Compressed completions belong here, plain ones in `frames.rs`.

use blueflame::cq::compressed::{Checksum, ChecksumStride, Hash, MiniFormat, Strided};
use blueflame::queue::striding::Strides;

use crate::frames::{lengths, possible};
use crate::lab::{BURST, Lab};

/// Frames of all sizes, in bursts: the device compresses completions of one step.
fn exchange<F: MiniFormat>(strides: Strides) {
    let mut lab = Lab::with((4, 8), strides, |device, cqes| {
        device.completion_queue(cqes).compressed::<F>().build().expect("a CQ")
    });
    let longest = 4000.min(strides.wqe_bytes() as usize / 2);
    for round in 0..40 {
        lab.exchange(&lengths(round, longest), |_| ());
        lab.exchange(&[60; BURST], |_| ());
    }
    assert!(lab.empty > 0 || longest <= 1 << strides.log_bytes(), "no filler");
}

#[test]
fn strides_are_told_in_every_format() {
    for strides in possible() {
        exchange::<ChecksumStride>(strides);
        exchange::<Strided<Hash>>(strides);
        exchange::<Strided<Checksum>>(strides);
    }
}

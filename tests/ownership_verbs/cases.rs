//! The test: random operations on two devices, each opened twice.
//!
//! The test belongs here, its operations and its model in the other files.

use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;

use crate::host::Host;
use crate::lab::{Lab, Op, PLACES};

/// Cases of a usual run, and of a long one.
const CASES: [u32; 2] = [100, 5_000];

fn op() -> impl Strategy<Value = Op> {
    any::<[u8; 12]>()
        .prop_map(|bytes| Op::arbitrary(&mut Unstructured::new(&bytes)).expect("as many as the largest takes"))
}

#[test]
fn no_buffer_has_two_owners() {
    let hosts: [Host; PLACES] = ["mlx5_0", "mlx5_0", "mlx5_1", "mlx5_1"].map(Host::new);
    let cases = CASES[usize::from(std::env::var_os("LONG").is_some())];
    proptest!(ProptestConfig::with_cases(cases), |(ops in proptest::collection::vec(op(), 1..80))| {
        let mut lab = Lab::new(&hosts);
        // One queue pair on each to begin with.
        for at in 0..PLACES as u8 {
            lab.step(&Op::Cq { at, host: at, hold: false });
            lab.step(&Op::Build { at, host: at, sends: at, recvs: at, hold: false });
        }
        lab.run(&ops);
        lab.end();
    });
}

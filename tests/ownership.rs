//! A program without `unsafe` makes random calls that safe code can make on queues and completions, with traffic under
//! way on two devices of this process. A model knows the owner of each buffer: `fuzz/targets/src/ownership`. Every run
//! of a case is the same.
//!
//! `./run fuzz 3600 ownership` runs it for an hour, with libFuzzer and the address sanitizer.
//!
//! Only the random program belongs here. One known sequence belongs in `tests/loopback` or `tests/soundness`; the same
//! program through libibverbs is `tests/ownership_verbs`.

#![forbid(unsafe_code)]

use arbitrary::{Arbitrary, Unstructured};
use blueflame_fuzz_targets::ownership::{Input, Op, run};
use proptest::prelude::*;

/// Cases of a usual run, and of a long one.
const CASES: [u32; 2] = [300, 20_000];

fn op() -> impl Strategy<Value = Op> {
    any::<[u8; 16]>()
        .prop_map(|bytes| Op::arbitrary(&mut Unstructured::new(&bytes)).expect("as many as the largest takes"))
}

/// Two connected pairs, and something to do: a list that shrinks to little.
fn input() -> impl Strategy<Value = Input> {
    let made = vec![Op::Connect { a: 0, b: 2, hold: false }, Op::Connect { a: 1, b: 3, hold: false }];
    proptest::collection::vec(op(), 1..80).prop_map(move |ops| Input { ops: [made.clone(), ops].concat() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES[usize::from(std::env::var_os("LONG").is_some())]))]

    #[test]
    fn no_buffer_has_two_owners(input in input()) {
        run(&input);
    }
}

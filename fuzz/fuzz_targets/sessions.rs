#![no_main]

use blueflame_fuzz_targets::sessions::{Input, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input| run(&input));

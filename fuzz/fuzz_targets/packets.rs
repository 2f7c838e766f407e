#![no_main]

use blueflame_fuzz_targets::packets::{Input, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: Input| run(&input));

//! Runs a fuzz target on files, without libFuzzer: for measurements of coverage, for planted faults, for a debugger.
//!
//! ```text
//! cargo run -p blueflame-fuzz-targets --bin replay -- TARGET PATH...
//! ```
//!
//! A path is a file, or a folder of files. An input that fails ends the program, as the target does.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arbitrary::{Arbitrary, Unstructured};
use blueflame_fuzz_targets as targets;

/// Reads an input as libFuzzer's macro does, and runs it. Returns whether the bytes are an input.
fn run<I: for<'a> Arbitrary<'a>>(bytes: &[u8], target: fn(&I)) -> bool {
    let input = I::arbitrary_take_rest(Unstructured::new(bytes));
    input.is_ok_and(|input| {
        target(&input);
        true
    })
}

/// Runs one input of the target, if there is such a target.
macro_rules! table {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        fn replay(target: &str, bytes: &[u8]) -> Option<bool> {
            match target {
                $(stringify!($name) => Some(run::<targets::$name::Input>(bytes, targets::$name::run)),)*
                _ => None,
            }
        }
    };
}

table! {
    cable cqe_parse decode device_fetch devx_outbox firmware frames hostile mini_cqe ownership packets pci_function
    queue_ops sessions striding wqe_build
}

/// The files at a path, in the order of their names.
fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let target = words.next().unwrap_or_default();
    if !NAMES.contains(&target.as_str()) {
        eprintln!("usage: replay TARGET PATH...\ntargets: {}", NAMES.join(" "));
        return ExitCode::from(2);
    }
    let (mut inputs, mut others) = (0, 0);
    for path in words {
        for file in files(Path::new(&path)).unwrap_or_else(|error| panic!("{path}: {error}")) {
            let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            match replay(&target, &bytes) {
                Some(true) => inputs += 1,
                _ => others += 1,
            }
        }
    }
    println!("{target}: {inputs} inputs, and {others} files that are none");
    ExitCode::SUCCESS
}

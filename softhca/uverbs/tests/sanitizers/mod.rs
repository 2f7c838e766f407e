//! Programs that gcc has built with its sanitizers run on the device, and their own mistakes are found.
//!
//! Sanitized programs belong here. `./run test` runs the crate's own tests under AddressSanitizer.

use crate::pair::{Device, launch_on};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

/// The program, compiled with a sanitizer; it is there as long as the directory.
fn compiled(sanitizer: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("sanitized").display().to_string();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sanitizers.c");
    // gcc sees the overflow, too.
    let arguments = ["-w", "-g", &format!("-fsanitize={sanitizer}"), "-o", &program, source, "-libverbs", "-lmlx5"];
    let status = Command::new("gcc").args(arguments).arg("-lpthread").status();
    assert!(status.is_ok_and(|status| status.success()), "gcc {arguments:?}");
    (directory, program)
}

#[test]
fn sanitized_programs_run_and_their_mistakes_are_found() {
    for (sanitizer, mistake, report) in [
        ("address", "overflow", "heap-buffer-overflow"),
        ("thread", "race", "data race"),
        ("undefined", "", ""),
        ("leak", "", ""),
    ] {
        let (_directory, program) = compiled(sanitizer);
        // A script starts the program.
        let script = format!("'{program}' \"$@\"");
        let device = Device { environment: &[("ASAN_OPTIONS", "detect_stack_use_after_return=1")], ..Device::new(&[]) };
        let end = |argument: &str| {
            let command = ["sh", "-c", &script, "sh", argument];
            launch_on(&device, &command[..4 + usize::from(!argument.is_empty())], PATIENCE)
        };
        assert_eq!(end(""), (Some(0), String::new()), "{sanitizer}");
        if !mistake.is_empty() {
            let (code, output) = end(mistake);
            assert!(code.is_some_and(|code| code != 0) && output.contains(report), "{sanitizer}: {code:?} {output}");
            assert!(!output.contains("libsofthca"), "{output}");
        }
    }
}

/// The user's own file of suppressions stays, and the launcher's words about ours are in the documentation.
#[test]
fn the_users_options_stay() {
    let script = "echo \"$ASAN_OPTIONS|$TSAN_OPTIONS\"";
    let options = [
        ("ASAN_OPTIONS", "verify_asan_link_order=1:color=never"),
        ("TSAN_OPTIONS", "suppressions=mine history_size=7"),
    ];
    let device = Device { environment: &options, ..Device::new(&[]) };
    let ended = launch_on(&device, &["sh", "-c", script], PATIENCE);
    assert_eq!(ended, (Some(0), format!("{}|{}\n", options[0].1, options[1].1)));
}

//! Runs tests of this program once more, in a process of its own: libmlx5 and the device read some settings only when
//! they start.
//!
//! Tests of such settings belong here, others in the file of their operation.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;

/// The program that runs, also after cargo has put another one in its place: then [`std::env::current_exe`] names a
/// file that is gone.
const THIS: &str = "/proc/self/exe";

/// Runs `tests` of this program with `environment` set.
///
/// # Panics
/// If not all of them have run and passed: a name that no test has runs none, and libtest calls that a success.
pub(crate) fn run_again(tests: &[&str], environment: &[(&str, &str)]) {
    let output = Command::new(THIS).arg("--exact").args(tests).envs(environment.iter().copied()).output().expect("run");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let passed = format!("test result: ok. {} passed; 0 failed; 0 ignored;", tests.len());
    assert!(
        output.status.success() && said.contains(&passed),
        "{}: not «{passed}»\n{said}\n{complained}",
        output.status
    );
}

/// Runs a test in a process of its own, on an Ethernet port. Says whether this is that process.
pub(crate) fn on_ethernet(test: &str) -> bool {
    const INSIDE: &str = "BLUEFLAME_TEST_ETHERNET";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    run_again(&[test], &[(INSIDE, "1"), ("SOFTHCA_LINK", "ethernet")]);
    false
}

#[test]
fn none_run_is_no_success() {
    let renamed = std::panic::catch_unwind(|| run_again(&["again::no_such_test"], &[]));
    let said = renamed.expect_err("no test has run").downcast::<String>().expect("a text");
    assert!(said.contains("test result: ok. 0 passed"), "{said}");
}

/// Somebody builds the tests while they run.
#[test]
fn a_program_that_was_replaced_runs_again() {
    let program = std::env::current_exe().expect("this test");
    let link = program.with_extension(format!("replaced-{}", std::process::id()));
    let linked = std::fs::hard_link(&program, &link).and_then(|()| File::open(&link));
    let replaced = match &linked {
        Ok(file) => {
            std::fs::remove_file(&link).expect("removed");
            format!("/proc/self/fd/{}", file.as_raw_fd())
        }
        // Somebody has indeed.
        Err(error) => {
            assert!(!program.exists(), "{error}");
            THIS.into()
        }
    };
    let output = Command::new(replaced).args(["--exact", "again::none_run_is_no_success"]).output().expect("run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

//! Tests of this program, run once more in a process of its own: for what libmlx5 and the device look at when they start.
use std::process::Command;

/// Runs `tests` of this program with `environment` set.
///
/// # Panics
/// If not all of them have run and passed: a name that no test has runs none, and libtest calls that a success.
pub(crate) fn run_again(tests: &[&str], environment: &[(&str, &str)]) {
    let output = Command::new(std::env::current_exe().expect("this test"))
        .arg("--exact")
        .args(tests)
        .envs(environment.iter().copied())
        .output()
        .expect("run");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let passed = format!("test result: ok. {} passed; 0 failed; 0 ignored;", tests.len());
    assert!(
        output.status.success() && said.contains(&passed),
        "{}: not «{passed}»\n{said}\n{complained}",
        output.status
    );
}

#[test]
fn none_run_is_no_success() {
    let renamed = std::panic::catch_unwind(|| run_again(&["again::no_such_test"], &[]));
    let said = renamed.expect_err("no test has run").downcast::<String>().expect("a text");
    assert!(said.contains("test result: ok. 0 passed"), "{said}");
}

//! Counts libmlx5's instructions as `./run bench` does. Only whether counting works belongs here: the figures depend on
//! libmlx5's release.
//!
//! Needs an mlx5 device that completes at once. `./run test` starts the software one so:
//!
//! ```text
//! softhca-run --sink --
//! ```
use std::process::Command;

/// Cases, each without and with `MLX5_SINGLE_THREADED`.
const CASES: usize = 2 * 8;

#[test]
fn every_case_of_libmlx5_is_counted() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_instructions")).arg("--libmlx5").output().expect("the program starts");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{}: {said}{}", output.status, String::from_utf8_lossy(&output.stderr));
    let figures: Vec<u64> =
        said.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse().ok()).filter(|&figure| figure > 0).collect();
    assert_eq!(figures.len(), CASES, "{said}");
}

//! The features that the tests are built with, in scripts/common: all of the workspace but those that need other packages
//! installed.
//!
//! Only the list of features belongs here, other texts of `scripts` in `written.rs`.

use std::collections::BTreeSet;
use std::process::Command;

/// They link libraries, or compile bindings by libclang. `scripts/policy` and the long tests build them.
const ELSEWHERE: [&str; 4] = ["blueflame/link", "blueflame/rdma-sys", "blueflame-sys/link", "blueflame-sys/rdma-sys"];

#[test]
fn tests_are_built_with_all_other_features() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let listed = Command::new("bash")
        .args(["-c", ". scripts/common; printf '%s' \"${FEATURES[2]}\""])
        .current_dir(root)
        .output()
        .expect("bash");
    let listed = String::from_utf8(listed.stdout).expect("text");
    let listed: BTreeSet<&str> = listed.split(',').chain(ELSEWHERE).collect();

    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root)
        .output()
        .expect("cargo metadata");
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name");
        let features = package["features"].as_object().expect("features");
        // Default features, and the features that they turn on.
        let mut on: Vec<&str> = vec!["default"];
        let mut at = 0;
        while at < on.len() {
            let brings = features.get(on[at]).and_then(|list| list.as_array()).into_iter().flatten();
            on.extend(brings.filter_map(|feature| feature.as_str()));
            at += 1;
        }
        for feature in features.keys().filter(|feature| !on.contains(&feature.as_str())) {
            let whole = format!("{name}/{feature}");
            assert!(listed.contains(whole.as_str()), "{whole} is missing from FEATURES of scripts/common");
        }
    }
}

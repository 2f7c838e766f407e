//! The table of dependencies in `docs/architecture.md`, against the manifests and what cargo resolves.
//!
//! The lock files of other workspaces, against the manifests.
//!
//! Counts and names of dependencies belong here. Licences and versions belong in `deny.toml`.

use std::collections::BTreeSet;
use std::process::Command;

const PAGE: &str = "docs/architecture.md";

/// A package with some of its features.
#[derive(Default)]
struct Row {
    package: String,
    features: String,
    /// Crates in all.
    crates: usize,
    /// Those that its manifest names.
    direct: BTreeSet<String>,
}

fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Names between backquotes.
fn names(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned)
}

fn rows() -> Vec<Row> {
    let page = std::fs::read_to_string(root().join(PAGE)).expect("the page");
    let section = page.split("\n## Dependencies\n").nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let mut rows: Vec<Row> = Vec::new();
    for line in section.lines().filter(|line| line.starts_with("| `") || line.starts_with("| | |")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [package, features, crates, direct, why] = cells[..] else { panic!("{line}") };
        assert!(!why.is_empty(), "{line}");
        if let Some(package) = names(package).next() {
            let crates = crates.parse().expect("a number");
            rows.push(Row { package, features: features.into(), crates, ..Row::default() });
        }
        rows.last_mut().expect("a package first").direct.extend(names(direct));
    }
    rows
}

/// The crates of a package that cargo resolves, without the package: at most `depth` steps away.
fn resolved(row: &Row, depth: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--no-dedupe"]);
    cargo.args(["--package", &row.package, "--depth", depth]).current_dir(root());
    if row.features == "none" {
        cargo.arg("--no-default-features");
    }
    let output = cargo.output().expect("cargo tree");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    // `syn v1.0.109`, and for a package of the workspace its path and more.
    let crates = text.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "));
    crates.filter(|name| !name.starts_with(&format!("{} ", row.package))).collect()
}

#[test]
fn each_dependency_has_a_reason() {
    let rows = rows();
    assert!(rows.len() >= 7, "{} packages", rows.len());
    for row in &rows {
        let direct = resolved(row, "1");
        let direct: BTreeSet<String> =
            direct.iter().filter_map(|name| name.split(' ').next()).map(str::to_owned).collect();
        assert_eq!(direct, row.direct, "dependencies of {} with features: {}", row.package, row.features);
    }
}

#[test]
fn no_package_brings_more_crates_than_the_page_says() {
    for row in rows() {
        let all = resolved(&row, "99");
        let (package, features) = (&row.package, &row.features);
        assert_eq!(all.len(), row.crates, "crates of {package} with features: {features}: {all:#?}");
    }
}

/// The entries of the array `key` of a package in a lock file.
fn locked(package: &toml::Table, key: &str) -> BTreeSet<String> {
    let entries = package.get(key).and_then(toml::Value::as_array).into_iter().flatten();
    // `syn 1.0.109` where there are several versions.
    entries.filter_map(toml::Value::as_str).filter_map(|entry| entry.split(' ').next()).map(str::to_owned).collect()
}

/// Commands with `--locked` fail where a lock file is older than a manifest.
#[test]
fn lock_files_of_other_workspaces_are_up_to_date() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("what cargo prints");
    let ours = metadata["packages"].as_array().expect("packages");
    let mut compared = 0;
    for workspace in ["fuzz", "examples/adopt/others"] {
        let text = std::fs::read_to_string(root().join(workspace).join("Cargo.lock")).expect("a lock file");
        let lock: toml::Table = text.parse().expect("TOML");
        for package in lock["package"].as_array().expect("packages") {
            let package = package.as_table().expect("a package");
            let name = package["name"].as_str().expect("a name");
            let Some(manifest) = ours.iter().find(|manifest| manifest["name"] == name) else { continue };
            // Cargo locks what every choice of features needs, and of the rest what the workspace chooses.
            let dependencies = manifest["dependencies"].as_array().expect("dependencies");
            let of = |optional: bool| -> BTreeSet<String> {
                let normal =
                    dependencies.iter().filter(|one| one["kind"] != "dev" && (optional || one["optional"] == false));
                normal.filter_map(|one| one["name"].as_str()).map(str::to_owned).collect()
            };
            let locked = locked(package, "dependencies");
            assert!(
                of(false).is_subset(&locked) && locked.is_subset(&of(true)),
                "{workspace}/Cargo.lock has {locked:?} for {name}, and its manifest {:?}: `cargo update --workspace \
                 --offline` in {workspace}",
                of(true)
            );
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared} packages");
}

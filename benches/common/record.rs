//! The measurements, as a file for the report: `bench/measured/<benchmark>.json` in the target directory, beside
//! criterion's.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// One case of one group.
#[derive(Serialize)]
pub(crate) struct Record {
    pub(crate) group: String,
    pub(crate) case: String,
    /// Median over the rounds, per message or completion.
    pub(crate) ns: f64,
    /// Medians over the rounds of this case's time divided by each other's of the group, at the same point of the axis.
    pub(crate) ratios: BTreeMap<String, f64>,
    /// The parameter that a sweep varies.
    pub(crate) axis: Option<String>,
    pub(crate) x: Option<u64>,
}

#[derive(Serialize)]
struct File<'a> {
    cpu: String,
    records: &'a [Record],
}

/// Writes the file of this benchmark. With nothing measured, an existing file stays.
pub(crate) fn write(benchmark: &str, records: &[Record]) {
    if records.is_empty() {
        return;
    }
    let directory = target_directory().join("bench/measured");
    let file = directory.join(format!("{benchmark}.json"));
    let json = serde_json::to_string_pretty(&File { cpu: cpu(), records }).expect("numbers and strings");
    std::fs::create_dir_all(&directory)
        .and_then(|()| std::fs::write(&file, json + "\n"))
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    println!("{} figures in {}", records.len(), file.display());
}

/// Cargo's: this program is in `<target>/[<triple>/]<profile>/deps`.
fn target_directory() -> PathBuf {
    if let Some(directory) = std::env::var_os("CARGO_TARGET_DIR") {
        return directory.into();
    }
    let program = std::env::current_exe().expect("this program's path");
    let is_target = |directory: &&Path| directory.join("CACHEDIR.TAG").exists();
    program.ancestors().find(is_target).or(program.parent()).expect("a directory").to_path_buf()
}

/// The CPU's name.
pub(crate) fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |line: &str| {
        let (key, value) = line.split_once(':')?;
        matches!(key.trim(), "model name" | "Model" | "uarch").then(|| value.trim().to_owned())
    };
    info.lines().find_map(named).unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

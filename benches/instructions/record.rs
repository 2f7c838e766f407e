//! The recorded figures, one file for each architecture, and what to say of others.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde::{Deserialize, Serialize};

use crate::case::Figures;

/// What is committed.
#[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Record {
    /// The compiler that the figures are of, as it names itself.
    pub(crate) compiler: String,
    /// By case.
    pub(crate) instructions: BTreeMap<String, Figures>,
}

/// How to accept figures as they are.
pub(crate) const HOW_TO_BLESS: &str = "BLESS=1 cargo run --release -p blueflame-instructions -- --check";

impl Record {
    /// The file of this architecture.
    pub(crate) fn path() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{}.json", env::consts::ARCH))
    }

    /// Reads the committed figures of this architecture.
    pub(crate) fn read() -> Result<Self, String> {
        let path = Self::path();
        let text = fs::read_to_string(&path).map_err(|error| {
            format!("{}: {error}; nothing is recorded for this architecture: {HOW_TO_BLESS}", path.display())
        })?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Commits to these figures.
    pub(crate) fn write(&self) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).expect("plain data") + "\n";
        fs::write(Self::path(), text).map_err(|error| format!("{}: {error}", Self::path().display()))
    }

    /// The differences from `found`, in words, with advice. `all`: whether a case that was not found is missing.
    pub(crate) fn differences(&self, found: &Self, all: bool) -> Vec<String> {
        let mut differences = Vec::new();
        let (mut more, mut fewer) = (false, false);
        for (name, now) in &found.instructions {
            let Some(before) = self.instructions.get(name) else {
                fewer = true;
                differences.push(format!("{name}: nothing recorded"));
                continue;
            };
            for (form, before, now) in
                [("in a loop", before.in_a_loop, now.in_a_loop), ("by call", before.by_call, now.by_call)]
            {
                more |= now > before;
                fewer |= now < before;
                if now != before {
                    let change = if now > before { "more" } else { "fewer" };
                    differences
                        .push(format!("{name}, {form}: {now} instructions, {change} than the {before} recorded"));
                }
            }
        }
        for name in self.instructions.keys().filter(|name| all && !found.instructions.contains_key(*name)) {
            fewer = true;
            differences.push(format!("{name}: recorded, and not counted any more"));
        }
        if self.compiler != found.compiler && !differences.is_empty() {
            differences.push(format!(
                "the figures recorded are by another compiler, {}; this is {}",
                self.compiler, found.compiler
            ));
        }
        if more {
            differences.push("the data path costs more than it did; if it must: ".to_owned() + HOW_TO_BLESS);
        } else if fewer {
            differences.push("let the record say so: ".to_owned() + HOW_TO_BLESS);
        }
        differences
    }
}

/// The compiler in use, as it names itself.
pub(crate) fn compiler() -> Result<String, String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-V").output().map_err(|error| format!("rustc -V: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Leaves figures for the report in `target/bench/measured/instructions.json`; the file's figures of other cases stay.
pub(crate) fn report(figures: &BTreeMap<String, u64>) -> Result<(), String> {
    let directory = target_directory()?.join("bench/measured");
    let path = directory.join("instructions.json");
    let in_words = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(&directory).map_err(in_words)?;
    let mut all: BTreeMap<String, u64> = match fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?,
        Err(_) => BTreeMap::new(),
    };
    all.extend(figures.clone());
    fs::write(&path, serde_json::to_string_pretty(&all).expect("plain data")).map_err(in_words)
}

/// Cargo's: this program is in `<target>/[<triple>/]<profile>`.
fn target_directory() -> Result<PathBuf, String> {
    if let Some(directory) = env::var_os("CARGO_TARGET_DIR") {
        return Ok(directory.into());
    }
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let found = program.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists());
    found.map(Path::to_owned).ok_or_else(|| format!("{} is in no target directory of cargo's", program.display()))
}

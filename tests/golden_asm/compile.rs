//! From source to listings: the crate is built as an application would build it, then one file against it.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::assembly::rustc;

/// Where rustc has been told to find `core` for targets that its own installation does not serve
/// (`scripts/target-core`).
const SYSROOT: &str = "TARGET_CORE_SYSROOT";

/// An architecture whose listings are looked at.
pub(crate) struct Target {
    /// Name of the committed listing.
    pub(crate) name: &'static str,
    triple: &'static str,
    flags: &'static [&'static str],
    /// The beginning of a comment.
    pub(crate) comment: &'static str,
    sysroot: OnceLock<Vec<String>>,
}

pub(crate) static TARGETS: [Target; 2] = [
    Target {
        name: "x86_64",
        triple: "x86_64-unknown-linux-gnu",
        flags: &["-Cllvm-args=-x86-asm-syntax=intel"],
        comment: "#",
        sysroot: OnceLock::new(),
    },
    Target {
        name: "aarch64",
        triple: "aarch64-unknown-linux-gnu",
        flags: &[],
        comment: "//",
        sysroot: OnceLock::new(),
    },
];

/// The compiler's version, in its own words.
pub(crate) fn compiler() -> String {
    run(Command::new(rustc()).arg("-V")).trim().to_owned()
}

impl Target {
    /// Flags that say where `core` is: none, if it is where the compiler looks.
    fn sysroot(&self) -> &[String] {
        self.sysroot.get_or_init(|| {
            let libraries = run(Command::new(rustc()).args(["--print", "target-libdir", "--target", self.triple]));
            if has_core(Path::new(libraries.trim())) {
                return Vec::new();
            }
            let Some(sysroot) = std::env::var_os(SYSROOT).map(PathBuf::from) else {
                panic!(
                    "{compiler} has no `core` for {triple}: `rustup target add {triple}`, or `scripts/target-core` \
                     (see there) and {SYSROOT}; `./run test` does either",
                    compiler = compiler(),
                    triple = self.triple
                )
            };
            let libraries = sysroot.join("lib/rustlib").join(self.triple).join("lib");
            assert!(has_core(&libraries), "{SYSROOT}: no `core` for {} in {}", self.triple, libraries.display());
            vec![format!("--sysroot={}", sysroot.display())]
        })
    }

    /// The assembly of `source`, a file of this directory's kind that may use the crate.
    pub(crate) fn assembly(&self, name: &str, source: &str) -> String {
        let built = self.build_crate();
        self.assembly_with(name, source, &built, &built.crate_itself)
    }

    /// The assembly of `source`, with the crate from another file.
    pub(crate) fn assembly_with(&self, name: &str, source: &str, built: &Built, library: &Path) -> String {
        let (input, output) = (work().join(format!("{name}.rs")), work().join(format!("{name}_{}.s", self.name)));
        std::fs::write(&input, source).unwrap();
        run(Command::new(rustc())
            .args(["--edition=2024", "--crate-type=lib", "--emit=asm", "-Copt-level=3", "-Ccodegen-units=1"])
            .args(["-Csymbol-mangling-version=v0", "--cap-lints=allow", "--target", self.triple])
            .args(self.flags)
            .args(self.sysroot())
            .arg("--extern")
            .arg(format!("blueflame={}", library.display()))
            .arg("-L")
            .arg(format!("dependency={}", built.dependencies().display()))
            .arg("-o")
            .args([&output, &input]));
        std::fs::read_to_string(output).unwrap()
    }

    /// Builds the crate in the release profile, as an application has it.
    pub(crate) fn build_crate(&self) -> Built {
        let mut flags = vec!["-Csymbol-mangling-version=v0".to_owned()];
        flags.extend_from_slice(self.sysroot());
        let messages = run(Command::new(env!("CARGO"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["build", "--quiet", "--offline", "--release", "--no-default-features", "--lib"])
            .args(["--message-format=json", "--target", self.triple, "--target-dir"])
            .arg(work())
            // The listing must not depend on this test's own flags, such as those of a sanitizer, nor on incremental
            // builds, which divide the code in other ways.
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_INCREMENTAL")
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")));
        let messages: Vec<serde_json::Value> =
            messages.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // The crate's own build script. Those of dependencies have packages of a registry.
        let script = messages.iter().find(|message| {
            message["reason"] == "build-script-executed"
                && message["package_id"].as_str().is_some_and(|id| id.starts_with("path+"))
        });
        let said = script.expect("the build script has run")["cfgs"].as_array().unwrap();
        let cfgs = said.iter().map(|cfg| format!("--cfg={}", cfg.as_str().unwrap())).collect();
        let artifacts = messages.iter().filter_map(|message| {
            let name = message["target"]["name"].as_str()?.to_owned();
            let files = message["filenames"].as_array()?.iter().filter_map(|file| file.as_str());
            Some((name, PathBuf::from(files.into_iter().find(|file| file.ends_with(".rlib"))?)))
        });
        let mut externs: Vec<_> = artifacts.collect();
        let at = externs.iter().position(|(name, _)| name == "blueflame").expect("the crate was built");
        Built { crate_itself: externs.swap_remove(at).1, externs, cfgs }
    }

    /// Builds the crate once more, from sources elsewhere, with the dependencies that were built for `built`.
    ///
    /// # Errors
    /// The compiler's output.
    pub(crate) fn build_copy(&self, sources: &Path, built: &Built) -> Result<PathBuf, String> {
        let library = sources.join("libblueflame.rlib");
        let externs = built.externs.iter().map(|(name, file)| format!("--extern={name}={}", file.display()));
        let output = Command::new(rustc())
            .args(["--edition=2024", "--crate-type=lib", "--crate-name=blueflame", "--emit=link", "-Copt-level=3"])
            .args(["-Cembed-bitcode=no", "-Csymbol-mangling-version=v0", "--cap-lints=allow", "--target", self.triple])
            .args(self.sysroot())
            .args(&built.cfgs)
            .args(externs)
            .arg("-L")
            .arg(format!("dependency={}", built.dependencies().display()))
            .arg("-o")
            .args([&library, &sources.join("lib.rs")])
            .output()
            .unwrap();
        if output.status.success() { Ok(library) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }
}

/// The crate as cargo built it.
pub(crate) struct Built {
    crate_itself: PathBuf,
    /// The crates it depends on, by name.
    externs: Vec<(String, PathBuf)>,
    /// The settings of its build script, as arguments of the compiler.
    cfgs: Vec<String>,
}

impl Built {
    fn dependencies(&self) -> PathBuf {
        self.crate_itself.with_file_name("deps")
    }
}

/// Where all is put.
pub(crate) fn work() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("golden_asm")
}

fn has_core(libraries: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(libraries) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libcore-"))
}

/// A command's output.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

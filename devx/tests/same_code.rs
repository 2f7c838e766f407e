//! Queues that DevX has made are driven by the code that drives those of verbs.
//!
//! Both kinds have the same types, such as `SendQueue`, so there is one copy of the code for both. Only the handle
//! beside them in `Owned` differs. To show that it costs nothing, the test compiles the calls of the data path for
//! queues of either maker, in the release profile. It compares the listings instruction by instruction: with those of
//! queues without any handle, and with the committed ones, which `tests/golden_asm` of the workspace holds against its
//! rules.
//!
//! The comparison of both makers' queues belongs here. The hot functions themselves belong in `tests/golden_asm` of the
//! workspace.

#[path = "../../tests/assembly/mod.rs"]
mod assembly;
#[path = "../../tests/golden_asm/listing.rs"]
mod listing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use listing::{Line, Listing, listings};

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The release profile, as settings of the dev profile. In that profile's folder are the programs that the build needs:
/// the tests have built them.
///
/// The dev profile optimizes no crate across its parts, and another `lto` would build all of them again. That does not
/// change the listing: it shows generic and inline functions, which are compiled together with this test's own file.
const RELEASE: [(&str, &str); 7] = [
    ("CARGO_PROFILE_DEV_OPT_LEVEL", "3"),
    ("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false"),
    ("CARGO_PROFILE_DEV_OVERFLOW_CHECKS", "false"),
    ("CARGO_PROFILE_DEV_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_DEV_BUILD_OVERRIDE_DEBUG_ASSERTIONS", "true"),
    ("CARGO_PROFILE_DEV_BUILD_OVERRIDE_OVERFLOW_CHECKS", "true"),
    ("CARGO_INCREMENTAL", "0"),
];

/// Both crates, built as an application builds them.
fn built() -> BTreeMap<String, PathBuf> {
    let messages = run(Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--quiet", "--offline", "--lib", "--message-format=json"])
        .envs(RELEASE)
        // The listing must not depend on this test's own flags, such as those of a sanitizer.
        .env_remove("RUSTFLAGS"));
    let artifacts = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let files = message["filenames"].as_array()?.iter().filter_map(|file| file.as_str());
        let library = files.into_iter().find(|file| file.ends_with(".rlib"))?;
        Some((message["target"]["name"].as_str()?.to_owned(), PathBuf::from(library)))
    });
    artifacts.collect()
}

fn compiled() -> Vec<Listing> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let module = |name, path| format!("#[path = {:?}]\npub mod {name};\n", root.join(path));
    let source = module("hot", "../benches/hot/mod.rs") + &module("functions", "tests/same_code/functions.rs");
    let work = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (input, output) = (work.join("same_code.rs"), work.join("same_code.s"));
    std::fs::write(&input, source).expect("written");
    let built = built();
    let mut compiler = Command::new(assembly::rustc());
    compiler.args(["--edition=2024", "--crate-type=lib", "--emit=asm", "-Copt-level=3", "-Ccodegen-units=1"]);
    compiler.args(["-Csymbol-mangling-version=v0", "--cap-lints=allow"]);
    if cfg!(target_arch = "x86_64") {
        compiler.arg("-Cllvm-args=-x86-asm-syntax=intel");
    }
    for name in ["blueflame", "blueflame_devx"] {
        let library = built.get(name).unwrap_or_else(|| panic!("no {name} in {built:?}"));
        compiler.arg("--extern").arg(format!("{name}={}", library.display()));
        let dependencies = library.with_file_name("deps");
        compiler.arg("-L").arg(format!("dependency={}", dependencies.display()));
    }
    run(compiler.arg("-o").args([&output, &input]));
    let comment = if cfg!(target_arch = "x86_64") { "#" } else { "//" };
    listings(&std::fs::read_to_string(output).expect("the assembly"), comment)
}

/// The committed listing of a hot function, less its name.
fn committed(function: &str) -> String {
    let file = format!("../tests/golden_asm/{}.s", std::env::consts::ARCH);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (_, rest) = text.split_once(&format!("\nhot_{function}:\n")).unwrap_or_else(|| panic!("no hot_{function}"));
    rest.split("\n\n").next().unwrap_or_default().trim_end().to_owned()
}

/// Which hot function a function here is, of those that are one.
const HOT: [(&str, &str); 11] = [
    ("post", "post_two_fences"),
    ("post_one_fence", "post_one_fence"),
    ("post_entry", "post_entry"),
    ("post_slice", "post_slice"),
    ("prepared", "prepared_two_fences"),
    ("batch", "batch"),
    ("retire_send", "retire_send"),
    ("post_receive", "post_receive"),
    ("retire_receive", "retire_receive"),
    ("poll", "poll_sixteen"),
    ("poll_and_retire", "poll_and_retire"),
];

fn instructions(listing: &Listing) -> usize {
    listing.lines.iter().filter(|line| matches!(line, Line::Instruction { .. })).count()
}

#[test]
fn calls_on_queues_of_devx_are_compiled_to_what_those_of_verbs_are() {
    let all = compiled();
    let of = |maker: &str| -> BTreeMap<&str, &Listing> {
        all.iter().filter_map(|listing| Some((listing.name.strip_prefix(maker)?, listing))).collect()
    };
    let [bare, verbs, devx] = ["bare_", "verbs_", "devx_"].map(of);
    assert_eq!(devx.len(), 13, "{:?}", devx.keys());
    assert_eq!((bare.len(), verbs.len()), (devx.len(), devx.len()));
    println!("instructions           bare  verbs  devx");
    for (name, devx) in &devx {
        let (bare, verbs) = (bare[name], verbs[name]);
        println!("{name:<20} {:>6} {:>6} {:>5}", instructions(bare), instructions(verbs), instructions(devx));
        for (maker, other) in [("verbs", verbs), ("nobody", bare)] {
            assert!(devx.lines == other.lines, "{name}\nmade by DevX:\n{devx}\nmade by {maker}:\n{other}");
        }
    }
    for (name, hot) in HOT {
        let text = devx[name].to_string();
        let (_, found) = text.split_once('\n').expect("a name");
        let (found, committed) = (without_symbols(found), without_symbols(&committed(hot)));
        assert!(found == committed, "{name}\nmade by DevX:\n{found}\ncommitted as hot_{hot}:\n{committed}");
    }
}

/// A listing with the functions that it calls left out: their names differ with the way in which the crate was built.
fn without_symbols(listing: &str) -> String {
    let lines = listing.trim_end().lines().map(|line| match line.split_once("blueflame") {
        Some((before, _)) => before.trim_end_matches(['<', ' ']),
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

//! The assembly of the hot functions, on x86-64 and on aarch64.
//!
//! `benches/hot` is compiled for both, on any machine, in the release profile, against the crate as an application has
//! it. The test checks three things. The listings are the committed ones, so no change goes unseen. They obey the
//! [`rules`], so no bad listing is committed. Every call of a barrier in the crate is in one of them; `others.rs` has
//! the calls that are in no hot function. `scripts/mutate-barriers` removes each of these calls, and moves those whose
//! access is in the same block. It checks that a test of the assembly fails.
//!
//! After an intended change, look at the difference and bless it: `BLESS=1 cargo test --test golden_asm`.
//!
//! The assembly of hot functions belongs here. The instructions of one barrier or copy routine belong in
//! `tests/arch_asm`.
//!
//! Not under the address sanitizer: it executes nothing of the crate.
//! Not on other CPUs: it compiles for each of them on any machine.

#[path = "../assembly/mod.rs"]
mod assembly;
mod compile;
mod listing;
mod rules;
mod sites;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use compile::{TARGETS, Target, compiler, work};
use listing::{Line, Listing, listing, listings, symbol};
use rules::{ATOMIC, has_atomics, is_other_way, violations, violations_apart};
use sites::{Change, Site, copy, sites};

/// The compiled functions: the hot ones, and the others.
fn source() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let module = |name, path| format!("#[path = {:?}]\npub mod {name};\n", root.join(path));
    format!("#![no_std]\n{}{}", module("hot", "benches/hot/mod.rs"), module("others", "tests/golden_asm/others.rs"))
}

/// The compiled functions, for each target.
fn assembly() -> &'static [(&'static Target, String)] {
    static ASSEMBLY: OnceLock<Vec<(&Target, String)>> = OnceLock::new();
    ASSEMBLY.get_or_init(|| TARGETS.iter().map(|target| (target, target.assembly("hot", &source()))).collect())
}

/// The listings, for each target.
fn hot() -> &'static [(&'static Target, Vec<Listing>)] {
    static HOT: OnceLock<Vec<(&Target, Vec<Listing>)>> = OnceLock::new();
    HOT.get_or_init(|| assembly().iter().map(|(target, text)| (*target, listings(text, target.comment))).collect())
}

/// The functions of the crate whose symbols a rule chooses, as far as the assembly has them.
fn chosen(assembly: &str, comment: &str, choose: fn(&str) -> bool) -> Vec<Listing> {
    let names = assembly.lines().filter_map(|line| line.strip_suffix(':')).filter(|name| name.starts_with("_R"));
    names.filter(|name| choose(&symbol(name))).map(|name| listing(assembly, name, comment)).collect()
}

/// The listings of a crate whose barriers are changed, on AArch64, where each is an instruction.
fn changed(name: &str, changes: &[(&Site, Change)]) -> Result<Vec<Listing>, String> {
    let target = &TARGETS[1];
    let (built, sources) = (target.build_crate(), work().join(name));
    copy(&sources, changes);
    let library = target.build_copy(&sources, &built)?;
    let assembly = target.assembly_with(name, &source(), &built, &library);
    Ok(listings(&assembly, target.comment))
}

fn golden(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden_asm/{}.s", target.name))
}

/// Where two texts part, with the lines around.
fn difference(expected: &str, found: &str) -> String {
    const AROUND: usize = 6;
    let (expected, found): (Vec<_>, Vec<_>) = (expected.lines().collect(), found.lines().collect());
    let same = expected.iter().zip(&found).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(AROUND);
    let function = found[..same].iter().rev().find(|line| !line.starts_with([' ', 'L', '#']) && !line.is_empty());
    let excerpt = |lines: &[&str]| lines[from..lines.len().min(same + AROUND)].join("\n");
    format!(
        "in {} line {}\n--- committed\n{}\n--- found\n{}",
        function.unwrap_or(&"the head,"),
        same + 1,
        excerpt(&expected),
        excerpt(&found)
    )
}

#[test]
fn listings_are_the_committed_ones() {
    for (target, listings) in hot() {
        assert!(!listings.is_empty(), "{}: no function", target.name);
        let found: String = listings.iter().map(|listing| format!("\n{listing}")).collect();
        let golden = golden(target);
        let head = format!("# {}\n", compiler());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&golden, format!("{head}{found}")).unwrap();
        }
        let committed = std::fs::read_to_string(&golden).unwrap_or_default();
        let (by, committed) = committed.split_once('\n').unwrap_or_default();
        if committed != found {
            let seen = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("golden_asm/{}.s", target.name));
            std::fs::write(&seen, format!("{head}{found}")).unwrap();
            let other =
                if by == head.trim_end() { String::new() } else { format!("\nthe committed one is by{}", &by[1..]) };
            panic!(
                "{}: the hot functions are compiled to something else than before, {}\n\
                 compare {} with {}; if the change is meant: BLESS=1 cargo test --test golden_asm{other}",
                target.name,
                difference(committed, &found),
                golden.display(),
                seen.display(),
            );
        }
    }
}

#[test]
fn hot_functions_obey_the_rules() {
    let under_rules = |listing: &&Listing| ["hot_", "other_"].iter().any(|kind| listing.name.starts_with(kind));
    let all = hot()
        .iter()
        .flat_map(|(target, listings)| listings.iter().filter(under_rules).map(move |listing| (target, listing)));
    let found: Vec<String> = all
        .flat_map(|(target, listing)| {
            violations(listing).into_iter().map(move |what| format!("{} {what}", target.name))
        })
        .collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// These functions have no committed listing: there are many, and a name is that of several.
#[test]
fn functions_kept_apart_obey_the_first_rule() {
    for (target, text) in assembly() {
        let apart = chosen(text, target.comment, is_other_way);
        assert!(apart.len() > 20, "{}: {} functions", target.name, apart.len());
        let found: Vec<String> = apart.iter().flat_map(violations_apart).collect();
        assert!(found.is_empty(), "{}:\n{}", target.name, found.join("\n"));
    }
}

#[test]
fn functions_that_may_have_atomic_operations_have_them() {
    for (target, listings) in hot() {
        for (name, reason) in ATOMIC {
            let listing = listings.iter().find(|listing| listing.name == name);
            let listing = listing.unwrap_or_else(|| panic!("{}: no function {name}", target.name));
            assert!(has_atomics(listing), "{}: {name} has none; the reason was that {reason}", target.name);
        }
    }
}

/// Each call of a barrier is made one instruction that tells it from the others, all at once.
#[test]
fn every_barrier_is_in_a_listing() {
    let sites: Vec<Site> = sites().into_iter().filter(|site| site.direct).collect();
    let marks = sites.iter().enumerate().map(|(n, site)| {
        // SAFETY (of the compiled code): it never runs.
        (site, Change::Replace(format!("unsafe {{ core::arch::asm!(\"brk #{}\", options(nostack)) }}", 1000 + n)))
    });
    let listings = changed("marked", &marks.collect::<Vec<_>>()).unwrap_or_else(|error| panic!("{error}"));
    let marked = |n: usize| {
        let mark = format!("brk #{:#x}", 1000 + n);
        listings.iter().any(|listing| listing.lines.iter().any(|line| line.to_string().trim() == mark))
    };
    let missing: Vec<String> =
        sites.iter().enumerate().filter(|&(n, _)| !marked(n)).map(|(_, site)| site.to_string()).collect();
    assert!(missing.is_empty(), "in no listing; add functions with them to others.rs:\n{}", missing.join("\n"));
}

/// Takes each call of a barrier away, and moves it to the other side of its access, if that is in the same block. A
/// change that does not compile counts as seen. Run by `scripts/mutate-barriers`.
#[test]
#[ignore = "minutes: scripts/mutate-barriers"]
fn no_mutant_of_a_barrier_lives() {
    let sites = sites();
    let whole = changed("mutant", &[]).unwrap();
    let text = |listings: &[Listing]| listings.iter().map(|listing| format!("\n{listing}")).collect::<String>();
    let (cargos, copys) = (text(&hot()[1].1), text(&whole));
    assert!(cargos == copys, "the copy is compiled to something else, {}", difference(&cargos, &copys));
    let (mut alive, mut moved) = (0, 0);
    for site in &sites {
        let mutations = [("gone", Some(Change::Replace("()".to_owned()))), ("moved", site.moved())];
        for (what, change) in mutations {
            let Some(change) = change else {
                println!("{:<16} {what:<6} src/{site}", "not moved");
                continue;
            };
            moved += usize::from(what == "moved");
            let fate = match changed("mutant", &[(site, change)]) {
                Ok(listings) if listings == whole => {
                    alive += 1;
                    "ALIVE"
                }
                Ok(_) => "seen",
                Err(_) => "does not compile",
            };
            println!("{fate:<16} {what:<6} src/{site}");
        }
    }
    println!("{} calls removed, {moved} of them moved as well", sites.len());
    assert_eq!(alive, 0, "these changes go unseen");
}

/// The check of the checks: compiled functions that break the rules are seen to.
#[test]
fn bad_functions_do_not() {
    let expected = [
        ("atomic", "an atomic operation"),
        ("bounds_check", "a panic"),
        ("call", "a call"),
        ("indirect_call", "an indirect jump or call"),
        ("indirect_jump", "an indirect jump or call"),
        ("jump_table", "an indirect jump or call"),
        ("tail_call", "a call"),
        ("unwrap", "a call"),
    ];
    for target in &TARGETS {
        let source = concat!("#![no_std]\n", include_str!("bad.rs")).replace("//!", "//");
        let found = listings(&target.assembly("bad", &source), target.comment);
        assert_eq!(found.len(), expected.len());
        for (listing, (name, what)) in found.iter().zip(expected) {
            assert_eq!(listing.name, name);
            let violations = violations(listing);
            let wanted = format!("{name}: {what}");
            assert!(
                violations.iter().any(|it| it.starts_with(&wanted)),
                "{}: {wanted} in {violations:?}\n{listing}",
                target.name
            );
        }
    }
}

/// A listing by hand: one line each, `1:` a label.
fn written(lines: &[&str]) -> Listing {
    let lines = lines.iter().map(|line| match line.strip_suffix(':') {
        Some(label) => Line::Label(label.trim_start_matches('L').parse().unwrap()),
        None => {
            let (mnemonic, operands) = line.split_once(' ').unwrap_or((line, ""));
            Line::Instruction { mnemonic: mnemonic.to_owned(), operands: operands.to_owned() }
        }
    });
    Listing { name: "written".to_owned(), lines: lines.collect() }
}

#[test]
fn errors_are_made_off_the_way() {
    let error = "call <blueflame::queue::send::error::PostError>::full";
    let on_the_side = ["cmp word ptr [rsi + 58], ax", "je L1", "sfence", "ret", "L1:", error, "ret"];
    assert_eq!(violations(&written(&on_the_side)), [""; 0]);
    let on_the_way = ["cmp word ptr [rsi + 58], ax", "je L1", error, "sfence", "L1:", "ret"];
    assert_eq!(violations(&written(&on_the_way)), ["written: not without a call: sfence"]);
    let before = ["cmp word ptr [rsi + 58], ax", "jne L1", error, "L1:", "sfence", "ret"];
    assert_eq!(violations(&written(&before)), [""; 0]);
    let behind_one =
        ["cmp word ptr [rsi + 58], ax", "je L1", error, "test al, al", "jne L2", "L1:", "ret", "L2:", "sfence", "ret"];
    assert_eq!(violations(&written(&behind_one)), ["written: not without a call: sfence"]);
    assert_eq!(violations(&written(&[error, "ret"])), ["written: no way to return without a call"]);
}

#[test]
fn a_change_is_seen() {
    let text = "\nf:\n    mov eax, 1\n    ret\n";
    assert!(difference(text, &text.replace('1', "2")).contains("in f: line 3"));
}

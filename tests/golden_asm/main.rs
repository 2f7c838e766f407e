//! What the hot functions are compiled to, on x86-64 and on aarch64.
//!
//! `benches/hot` is compiled for both, on any machine, in the release profile, against the crate as an application has it. Two
//! things are checked: that the listings are the committed ones, so that no change of them goes unseen; and that they obey
//! the [`rules`], so that no bad one is committed.
//!
//! After a change that is meant, look at the difference and bless it: `BLESS=1 cargo test --test golden_asm`.
#[path = "../assembly/mod.rs"]
mod assembly;
mod compile;
mod listing;
mod rules;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use compile::{TARGETS, Target, compiler};
use listing::{Line, Listing, listings};
use rules::violations;

/// The hot functions' listings, for each target.
fn hot() -> &'static [(&'static Target, Vec<Listing>)] {
    static HOT: OnceLock<Vec<(&Target, Vec<Listing>)>> = OnceLock::new();
    HOT.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/hot/mod.rs");
        let source = format!("#![no_std]\n#[path = {source:?}]\npub mod hot;\n");
        TARGETS.iter().map(|target| (target, listings(&target.assembly("hot", &source), target.comment))).collect()
    })
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
    let all = hot().iter().flat_map(|(target, listings)| listings.iter().map(move |listing| (target, listing)));
    let found: Vec<String> = all
        .flat_map(|(target, listing)| {
            violations(listing).into_iter().map(move |what| format!("{} {what}", target.name))
        })
        .collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
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
    let error = "call <blueflame::queue::send_error::PostError>::full";
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

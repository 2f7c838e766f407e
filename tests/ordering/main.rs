//! The barriers under herd7: for each protocol between a CPU, sometimes two, and a device, whether the memory model of each
//! architecture permits the outcome that the barrier must forbid.
//!
//! The litmus tests are made of the protocols (`protocol.rs`) and of the instructions in `tests/arch_asm/expected.txt`,
//! which `tests/arch_asm.rs` compares with the source. Each protocol has twins in which one barrier is missing. On weak
//! architectures, each twin must show the bad outcome. `verdicts.txt` has the verdicts, and a hash of each litmus test:
//! a changed barrier or protocol fails until herd7 has judged it again:
//! `HERD7=$(scripts/herd7 target/herd7) BLESS=1 cargo test --no-default-features --test ordering -- --ignored`.
//!
//! Orders of accesses belong here. Schedules of threads that share a register belong in `tests/shared_register_model`.
//!
//! Not under the address sanitizer: it executes nothing of the crate.

mod cpu;
mod protocol;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use cpu::{Cpu, Thread, device};
use protocol::{PROTOCOLS, Protocol, Side, Step};

const RECORD: &str = "tests/ordering/verdicts.txt";
const PAGE: &str = "docs/evidence/ordering.md";
/// The lines around the page's table.
const TABLE: [&str; 2] = ["<!-- tests/ordering writes this table -->\n", "<!-- its end -->\n"];
/// The architectures, as the table names them.
const COLUMNS: &str = "| protocol | AArch64 | Arm | Power | RISC-V | x86-64 |\n|---|---|---|---|---|---|\n";

/// A protocol on an architecture, perhaps with a barrier missing.
struct Case {
    cpu: Cpu,
    protocol: &'static Protocol,
    /// The barrier that is missing.
    missing: Option<&'static str>,
}

impl Case {
    fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for protocol in PROTOCOLS {
            cases.extend(Cpu::ALL.map(|cpu| Self { cpu, protocol, missing: None }));
            if protocol.needs.is_some() {
                cases.extend(Cpu::ALL.map(|cpu| Self { cpu, protocol, missing: protocol.needs }));
            }
        }
        cases
    }

    /// The protocol's name, and the missing barrier.
    fn title(&self) -> String {
        match self.missing {
            Some(barrier) => format!("{}, without `{barrier}`", self.protocol.name),
            None => self.protocol.name.to_owned(),
        }
    }

    /// A name without spaces, for herd7.
    fn name(&self) -> String {
        let title: String = self.title().chars().filter(|c| !matches!(c, ',' | '`')).collect();
        format!("{}.{}", title.replace(' ', "_"), self.cpu.herd())
    }

    /// The CPU's steps, but for the missing barrier.
    fn steps(&self) -> impl Iterator<Item = Step> {
        self.protocol.cpu.iter().copied().filter(|step| self.missing.is_none_or(|name| *step != Step::Barrier(name)))
    }

    /// The input of herd7.
    fn litmus(&self) -> String {
        let mut threads = vec![Thread::new(self.cpu, 0, self.steps(), |name| instructions(self.cpu, name))];
        if !self.protocol.second.is_empty() {
            let steps = self.protocol.second.iter().copied();
            threads.push(Thread::new(self.cpu, 1, steps, |name| instructions(self.cpu, name)));
        }
        threads.push(device(self.cpu, threads.len(), self.protocol.device));
        let initial: String = threads.iter().map(|thread| thread.initial.as_str()).collect();
        let mut text = format!("{} {}\n{{{initial} }}\n", self.cpu.herd(), self.name());
        let row = |cells: Vec<String>| format!(" {} ;\n", cells.join(" | "));
        text.push_str(&row((0..threads.len()).map(|number| format!("P{number}")).collect()));
        for line in 0..threads.iter().map(|thread| thread.lines.len()).max().unwrap_or(0) {
            text.push_str(&row(threads
                .iter()
                .map(|thread| thread.lines.get(line).cloned().unwrap_or_default())
                .collect()));
        }
        let (cpu, device) = (&threads[0], &threads[threads.len() - 1]);
        let loaded = self.protocol.bad.iter().map(|&(side, place, value)| match side {
            Side::Cpu => cpu.has_loaded(place, value),
            Side::Device => device.has_loaded(place, value),
        });
        writeln!(text, "exists ({})", loaded.collect::<Vec<_>>().join(" /\\ ")).expect("a string");
        text
    }

    /// The line of the record that it needs, up to the verdict.
    fn key(&self) -> String {
        format!("{} {:016x}", self.name(), fnv(&self.litmus()))
    }

    /// Fails if the verdict is not that of a correct barrier, or of a barrier that matters.
    fn judge(&self, verdict: &str) {
        let name = self.name();
        assert!(["Never", "Sometimes"].contains(&verdict), "{name}: {verdict}");
        match self.missing {
            None if self.protocol.ordered => assert_eq!(verdict, "Never", "{name}: the barriers do not suffice"),
            Some(_) if self.cpu.is_weak() => assert_eq!(verdict, "Sometimes", "{name}: the barrier has no purpose"),
            _ => {}
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The instructions of a barrier, from the table that the compiled source equals.
fn instructions(cpu: Cpu, barrier: &str) -> Vec<String> {
    let table = include_str!("../arch_asm/expected.txt");
    let begin = format!("{} {barrier}: ", cpu.target());
    let line = table.lines().find_map(|line| line.strip_prefix(&begin)).unwrap_or_else(|| panic!("no line {begin}"));
    line.split("; ").filter_map(|text| cpu.instruction(text)).collect()
}

/// FNV-1a: the same in each release of Rust.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The verdict of each case that the record has for the litmus test as it is now.
fn recorded(record: &str, case: &Case) -> Option<String> {
    let key = case.key();
    record.lines().find_map(|line| line.strip_prefix(&key)).map(|verdict| verdict.trim().to_owned())
}

/// The page's table: a row for each protocol and twin.
fn table(record: &str) -> String {
    let mut text = COLUMNS.to_owned();
    for row in Case::all().chunks(Cpu::ALL.len()) {
        write!(text, "| {} |", row[0].title()).expect("a string");
        for case in row {
            let verdict = recorded(record, case).unwrap_or_else(|| "not judged".to_owned());
            write!(text, " {} |", verdict.to_lowercase()).expect("a string");
        }
        text.push('\n');
    }
    text
}

/// The page with another table.
fn page(found: &str, record: &str) -> String {
    let [begin, end] = TABLE.map(|mark| found.find(mark).unwrap_or_else(|| panic!("{PAGE} has no line {mark:?}")));
    format!("{}{}{}", &found[..begin + TABLE[0].len()], table(record), &found[end..])
}

#[test]
fn each_verdict_is_of_the_barriers_as_they_are() {
    let record = std::fs::read_to_string(root().join(RECORD)).expect(RECORD);
    for case in Case::all() {
        let verdict = recorded(&record, &case).unwrap_or_else(|| {
            panic!(
                "{RECORD} has no verdict of {}, which the head of tests/ordering/main.rs gets:\n{}",
                case.key(),
                case.litmus()
            )
        });
        case.judge(&verdict);
    }
    assert_eq!(record.lines().filter(|line| !line.starts_with('#')).count(), Case::all().len(), "{RECORD} has others");
    let found = std::fs::read_to_string(root().join(PAGE)).expect(PAGE);
    assert!(found == page(&found, &record), "{PAGE} has another table: bless it as tests/ordering/main.rs says");
}

/// `HERD7` names the program.
#[test]
#[ignore = "needs herd7: scripts/herd7"]
fn herd7_judges_so() {
    let herd = std::env::var_os("HERD7").expect("HERD7: the program that `scripts/herd7 DIRECTORY` prints");
    let folder = tempfile::tempdir().expect("a folder");
    let cases = Case::all();
    let files = cases.iter().map(|case| {
        let file = folder.path().join(format!("{}.litmus", case.name()));
        std::fs::write(&file, case.litmus()).expect("a file");
        file
    });
    let output = Command::new(herd).args(files.collect::<Vec<_>>()).output().expect("herd7");
    let said = String::from_utf8(output.stdout).expect("text");
    let problems = String::from_utf8(output.stderr).expect("text");
    let mut record = "# litmus test, hash of its text, verdict of herd7. Made by tests/ordering.\n".to_owned();
    for case in &cases {
        let begin = format!("Observation {} ", case.name());
        let line = said.lines().find_map(|line| line.strip_prefix(&begin));
        let line = line.unwrap_or_else(|| panic!("no verdict of\n{}\n{problems}", case.litmus()));
        let verdict = line.split(' ').next().expect("one part at least");
        case.judge(verdict);
        writeln!(record, "{} {verdict}", case.key()).expect("a string");
    }
    let path = root().join(RECORD);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &record).expect("the record can be written");
        let found = std::fs::read_to_string(root().join(PAGE)).expect(PAGE);
        std::fs::write(root().join(PAGE), page(&found, &record)).expect("the page can be written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect(RECORD), record);
}

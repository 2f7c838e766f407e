//! Where the crate calls barriers, and copies of its sources in which such calls are changed.
use std::path::{Path, PathBuf};

/// The names that `src/arch` exports, with the side of the barrier on which the access is that it is about.
const BARRIERS: [(&str, Side); 6] = [
    ("to_device", Side::After),
    ("from_device", Side::After),
    ("from_device_conservative", Side::After),
    ("mmio_wc_start", Side::After),
    ("mmio_flush_writes", Side::Before),
    ("mmio_wc_hint", Side::Before),
];

/// Calls of functions of the crate that are nothing but a barrier, chosen by a type.
const CHOSEN: [(&str, Side); 3] =
    [("F::after_doorbell()", Side::Before), ("F::after_copy()", Side::Before), ("barrier()", Side::After)];

/// The file whose fence orders loads of a page that the kernel writes: between CPUs, and not towards a device.
const BETWEEN_CPUS: &str = "verbs/device/clock.rs";

/// Parts of statements that access memory shared with the device. (A view of a CQE loads nothing before it is asked.)
const ACCESSES: [&str; 7] = ["store(", "write_volatile(", "mmio_write64(", "write(", "publish(", ".copy()", "cqe."];

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Before,
    After,
}

/// A call of a barrier, on a line of its own.
pub(crate) struct Site {
    /// Under `src`.
    pub(crate) file: PathBuf,
    /// Counted from 0.
    line: usize,
    /// What is called.
    pub(crate) call: String,
    /// Whether an architecture's function is called, and not one that chooses.
    pub(crate) direct: bool,
    side: Side,
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{} {}", self.file.display(), self.line + 1, self.call)
    }
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files of the crate. Those of `verbs` are left out of these builds, so a barrier there would be in no listing.
fn files() -> Vec<PathBuf> {
    fn visit(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path.strip_prefix(sources()).unwrap().to_owned());
            }
        }
    }
    let mut found = Vec::new();
    visit(&sources(), &mut found);
    found.sort();
    found
}

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim()
}

/// Every call of a barrier outside of `src/arch`.
///
/// # Panics
/// If there is a barrier in another form than `arch::NAME();` on a line of its own: it would go unseen.
pub(crate) fn sites() -> Vec<Site> {
    let mut sites = Vec::new();
    for file in files().into_iter().filter(|file| !file.starts_with("arch")) {
        for (line, text) in std::fs::read_to_string(sources().join(&file)).unwrap().lines().enumerate() {
            let code = code(text);
            let place = || format!("src/{}:{}: {code}", file.display(), line + 1);
            for bare in ["asm!", "fence(Ordering", "compiler_fence", "atomic::fence"] {
                let is_found = code.contains(bare) && !file.ends_with(BETWEEN_CPUS);
                assert!(!is_found, "{}: barriers are in src/arch", place());
            }
            for (name, side) in BARRIERS {
                let whole = |at: usize| !code[at + name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
                if !code.match_indices(name).any(|(at, _)| whole(at)) {
                    continue;
                }
                let call = format!("arch::{name}()");
                assert!(code.strip_suffix(';') == Some(&call), "{}: to be seen, a line of its own: {call};", place());
                sites.push(Site { file: file.clone(), line, call, direct: true, side });
            }
            for (call, side) in CHOSEN {
                if code.contains(call) && code.ends_with(';') {
                    let call = code.trim_end_matches(';').to_owned();
                    sites.push(Site { file: file.clone(), line, call, direct: false, side });
                }
            }
        }
    }
    assert!(sites.iter().filter(|site| site.direct).count() >= 15, "calls of barriers were not found");
    for (call, _) in CHOSEN {
        assert!(sites.iter().any(|site| site.call.ends_with(call)), "{call} was not found");
    }
    sites
}

/// A change to a file.
pub(crate) enum Change {
    /// The line reads so.
    Replace(String),
    /// The line goes behind line `after`, or before line `before`.
    Behind(usize),
    Before(usize),
}

impl Site {
    fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(sources().join(&self.file)).unwrap().lines().map(str::to_owned).collect()
    }

    /// The call moved to the other side of the access next to it; none if that access is not in the same block.
    pub(crate) fn moved(&self) -> Option<Change> {
        let lines = self.lines();
        let indent = |line: &str| line.len() - line.trim_start().len();
        let here = indent(&lines[self.line]);
        let same_block = |&(_, line): &(usize, &String)| line.trim().is_empty() || indent(line) >= here;
        let accesses = |line: &str| {
            // `f` is what completions are lent to.
            code(line).starts_with("f(") || ACCESSES.iter().any(|access| code(line).contains(access))
        };
        // A statement may take several lines, of which the last one is indented as the first and closes it.
        let ends = |line: &str| indent(line) == here && code(line).ends_with([';', '}']);
        match self.side {
            Side::After => {
                let mut below = lines.iter().enumerate().skip(self.line + 1).take_while(same_block);
                let (at, line) = below.find(|(_, line)| accesses(line))?;
                let end = if ends(line) { at } else { below.find(|(_, line)| ends(line))?.0 };
                Some(Change::Behind(end))
            }
            Side::Before => {
                let mut above = lines[..self.line].iter().enumerate().rev().take_while(same_block);
                above.find(|(_, line)| accesses(line) && indent(line) == here).map(|(at, _)| Change::Before(at))
            }
        }
    }
}

/// Copies the sources to `to`, with changes. Files of an earlier copy go, because a module may have moved since.
pub(crate) fn copy(to: &Path, changes: &[(&Site, Change)]) {
    if to.exists() {
        std::fs::remove_dir_all(to).unwrap();
    }
    for file in files() {
        let text = std::fs::read_to_string(sources().join(&file)).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (site, change) in changes.iter().filter(|(site, _)| site.file == file) {
            match change {
                Change::Replace(call) => lines[site.line] = lines[site.line].replace(&site.call, call),
                Change::Behind(after) => lines[site.line..=*after].rotate_left(1),
                Change::Before(before) => lines[*before..=site.line].rotate_right(1),
            }
        }
        let copy = to.join(&file);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(copy, lines.join("\n")).unwrap();
    }
}

//! The mapping of a register's address, from the kernel's `/proc/self/smaps`.

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// The file, empty if there is none.
    pub(crate) file: String,
    /// Whether it is a device's address space, and not memory.
    pub(crate) device: bool,
}

impl Mapping {
    /// The mapping that `address` lies in, if it is found.
    pub(crate) fn of(address: usize) -> Option<Self> {
        Self::find(&std::fs::read_to_string("/proc/self/smaps").ok()?, address)
    }

    /// A mapping begins with `from-to flags offset device inode file` (proc(5)). Lines `Name: value` follow; `VmFlags`
    /// has `io` for memory-mapped input and output.
    pub(crate) fn find(smaps: &str, address: usize) -> Option<Self> {
        let mut lines = smaps.lines().skip_while(|line| !holds(line, address));
        let file = lines.next()?.split_whitespace().skip(5).collect::<Vec<_>>().join(" ");
        let flags = lines.take_while(|line| range(line).is_none()).find_map(|line| line.strip_prefix("VmFlags:"));
        let device = match flags {
            Some(flags) => flags.split_whitespace().any(|flag| flag == "io"),
            // A kernel without flags: judge by the mapped file.
            None => file.starts_with("/dev/infiniband/"),
        };
        Some(Self { file, device })
    }
}

/// The addresses of a line that begins a mapping.
fn range(line: &str) -> Option<std::ops::Range<usize>> {
    let (from, to) = line.split_whitespace().next()?.split_once('-')?;
    Some(usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?)
}

fn holds(line: &str, address: usize) -> bool {
    range(line).is_some_and(|range| range.contains(&address))
}

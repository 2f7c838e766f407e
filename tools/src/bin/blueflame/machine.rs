//! Facts about the machine: kernel, libraries, limits, and the device's place on the bus.

use std::env;
use std::fs;
use std::path::Path;

use serde::Serialize;

/// Bits of capability sets (`linux/capability.h`).
pub(crate) const CAP_NET_RAW: u32 = 13;
pub(crate) const CAP_IPC_LOCK: u32 = 14;

/// A fact, and what to make of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<&'static str>,
}

fn fact(name: &'static str, value: impl Into<String>) -> Fact {
    Fact { name, value: value.into(), advice: None }
}

fn advised(name: &'static str, value: impl Into<String>, wants: bool, advice: &'static str) -> Fact {
    Fact { name, value: value.into(), advice: wants.then_some(advice) }
}

/// The text of a file, without the white space around it.
pub(crate) fn text(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// Facts that do not depend on a device.
pub(crate) fn of_machine() -> Vec<Fact> {
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "unknown".into());
    let pages = huge_pages();
    let memlock = limits("Max locked memory");
    let unlimited = memlock.as_deref().is_some_and(|limit| limit.starts_with("unlimited"));
    let mut facts = vec![
        fact("kernel", or_unknown(text("/proc/sys/kernel/osrelease"))),
        fact("CPU", format!("{} ({})", or_unknown(cpu()), std::env::consts::ARCH)),
        fact("CPUs of this process", or_unknown(status("Cpus_allowed_list"))),
        fact(
            "rdma-core",
            libraries()
                .map(|[ibverbs, mlx5]| format!("libibverbs of {ibverbs}, libmlx5 of {mlx5}"))
                .unwrap_or_else(|| "unknown release".into()),
        ),
        advised(
            "locked memory",
            or_unknown(memlock),
            !unlimited && !has_capability(CAP_IPC_LOCK),
            "registrations are limited: raise `ulimit -l` for programs that register much",
        ),
        advised(
            "huge pages of 2 MiB",
            pages.map_or("unknown".into(), |(all, free)| format!("{all}, {free} of them free")),
            pages.is_some_and(|(_, free)| free == 0),
            "pools fall back to ordinary pages: reserve some (`vm.nr_hugepages`)",
        ),
        fact("CAP_NET_RAW", yes(has_capability(CAP_NET_RAW))),
        fact("CAP_IPC_LOCK", yes(has_capability(CAP_IPC_LOCK))),
    ];
    let variables = std::env::vars().filter(|(name, _)| name.starts_with("MLX5_"));
    facts.extend(variables.map(|(name, value)| {
        advised("environment", format!("{name}={value}"), true, "libmlx5 reads this variable: is it set on purpose?")
    }));
    facts
}

fn yes(has: bool) -> &'static str {
    if has { "yes" } else { "no" }
}

/// Facts about a device's place on the bus, from its folder in sysfs.
pub(crate) fn of_device(sysfs: &Path) -> Vec<Fact> {
    let device = sysfs.join("device");
    let mut facts = Vec::new();
    let address = fs::canonicalize(&device).ok();
    facts.extend(address.and_then(|path| Some(fact("PCI address", path.file_name()?.to_string_lossy()))));
    facts.extend(text(sysfs.join("board_id")).map(|board| fact("board (PSID)", board)));
    if let Some(link) = pci_link(sysfs) {
        let most = link.most.as_ref().map_or(String::new(), |[speed, width]| format!("; at most {speed} x{width}"));
        facts.push(advised(
            "PCIe link",
            format!("{} x{}{most}", link.speed, link.width),
            link.is_below(),
            "the link is slower than the device's: is the slot right?",
        ));
    }
    if let Some(node) = text(device.join("numa_node")) {
        let cpus = text(device.join("local_cpulist")).map_or(String::new(), |cpus| format!(", CPUs {cpus}"));
        facts.push(fact("NUMA node", format!("{node}{cpus}")));
    }
    facts.extend(text(device.join("iommu_group/type")).map(|kind| {
        advised("IOMMU", kind.clone(), kind == "DMA", "strict mode: mapping memory costs more (`iommu.strict=0`)")
    }));
    facts
}

/// Says so if more programs want a CPU than there are: in the last minute, on average.
pub(crate) fn busy() -> Option<String> {
    // The machine's CPUs count, because the load is the machine's, too, not a container's.
    let cpus = text("/proc/stat")?.lines().filter(|line| line.starts_with("cpu")).count() - 1;
    wants(&text("/proc/loadavg")?, cpus as f64)
}

/// Judges a text of `/proc/loadavg`. A program that waits for completions takes a CPU itself.
fn wants(load: &str, cpus: f64) -> Option<String> {
    let load: f64 = load.split_whitespace().next()?.parse().ok()?;
    (load > cpus + 1.0).then(|| format!("{load} programs wanted the {cpus} CPUs of this machine"))
}

/// A PCIe link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PciLink {
    /// As sysfs prints it, `8.0 GT/s PCIe`.
    pub(crate) speed: String,
    /// Lanes.
    pub(crate) width: String,
    /// Speed and width that the device could have.
    pub(crate) most: Option<[String; 2]>,
}

impl PciLink {
    fn is_below(&self) -> bool {
        self.most.as_ref().is_some_and(|[speed, width]| {
            (number(speed), number(width)) > (number(&self.speed), number(&self.width))
                || number(width) > number(&self.width)
        })
    }

    /// Gbit/s in one direction, before the overhead of packets; `None` if sysfs says nothing usable.
    pub(crate) fn gigabits(&self) -> Option<f64> {
        let (transfers, lanes) = (number(&self.speed)?, number(&self.width)?);
        // PCIe 1 and 2 code 8 bits as 10, PCIe 3 to 5 code 128 as 130, and later ones lose about as little.
        let coding = if transfers <= 5.0 { 0.8 } else { 128.0 / 130.0 };
        (lanes > 0.0).then_some(transfers * coding * lanes)
    }
}

/// The number at the start of a text.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').next()?.parse().ok()
}

/// The link of a device.
pub(crate) fn pci_link(sysfs: &Path) -> Option<PciLink> {
    let of = |name: &str| text(sysfs.join("device").join(name));
    let (speed, width) = (of("current_link_speed")?, of("current_link_width")?);
    // Virtual functions have the files, and no link of their own.
    number(&speed)?;
    Some(PciLink { speed, width, most: of("max_link_speed").zip(of("max_link_width")).map(|(s, w)| [s, w]) })
}

/// The releases of rdma-core that libibverbs and libmlx5 are of.
pub(crate) fn libraries() -> Option<[u32; 2]> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    Some([release(&maps, "libibverbs.so.1.")?, release(&maps, "libmlx5.so.1.")?])
}

/// The release in the name of a mapped library, `libibverbs.so.1.14.RELEASE.0`.
fn release(maps: &str, library: &str) -> Option<u32> {
    let (_, rest) = maps.split_once(library)?;
    rest.split('.').nth(1)?.parse().ok()
}

/// Whether this process has the capability of this number now.
pub(crate) fn has_capability(number: u32) -> bool {
    let effective = status("CapEff").and_then(|set| u64::from_str_radix(&set, 16).ok());
    effective.is_some_and(|set| set >> number & 1 != 0)
}

/// A line of `/proc/self/status`.
fn status(name: &str) -> Option<String> {
    line(&fs::read_to_string("/proc/self/status").ok()?, name)
}

fn line(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()))
}

/// The soft limit in `/proc/self/limits`, with its unit.
fn limits(name: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/self/limits").ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words[..] {
        ["unlimited", ..] => Some("unlimited".into()),
        [soft, .., unit] => Some(format!("{soft} {unit}")),
        _ => None,
    }
}

/// Programs of rdma-core that exchange messages (package ibverbs-utils).
pub(crate) const PINGPONG: [&str; 2] = ["ibv_rc_pingpong", "ibv_ud_pingpong"];
/// perftest's program for the latency of messages.
pub(crate) const PERFTEST: &str = "ib_send_lat";

/// # Errors
/// A text, if no folder of `PATH` has the program.
pub(crate) fn installed(program: &str) -> Result<(), String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let has = env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if has { Ok(()) } else { Err(format!("{program} is not installed")) }
}

/// Huge pages of 2 MiB: all, and the free ones.
fn huge_pages() -> Option<(u64, u64)> {
    let of = |name: &str| text(Path::new("/sys/kernel/mm/hugepages/hugepages-2048kB").join(name))?.parse().ok();
    Some((of("nr_hugepages")?, of("free_hugepages")?))
}

fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let is_name = |line: &&str| line.starts_with("model name");
    Some(text.lines().find(is_name)?.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_in_the_names_of_libraries() {
        let maps = "7f00-7f01 r-xp 0 08:01 5 /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0\n\
            7f02-7f03 r-xp 0 08:01 6 /usr/lib/x86_64-linux-gnu/libmlx5.so.1.24.56.1\n";
        assert_eq!(release(maps, "libibverbs.so.1."), Some(44));
        assert_eq!(release(maps, "libmlx5.so.1."), Some(56));
        assert_eq!(release("", "libmlx5.so.1."), None);
    }

    #[test]
    fn a_machine_is_busy_if_programs_wait_for_cpus() {
        assert_eq!(
            wants("9.50 4.00 2.00 3/400 77", 2.0).as_deref(),
            Some("9.5 programs wanted the 2 CPUs of this machine")
        );
        // One that polls for completions, and the doctor itself.
        assert_eq!(wants("2.90 4.00 2.00 3/400 77", 2.0), None);
        assert_eq!(wants("", 2.0), None);
    }

    #[test]
    fn links_have_a_rate() {
        let link = |speed: &str, width: &str| PciLink { speed: speed.into(), width: width.into(), most: None };
        assert_eq!(link("8.0 GT/s PCIe", "16").gigabits().map(f64::round), Some(126.0));
        assert_eq!(link("5.0 GT/s", "8").gigabits(), Some(32.0));
        assert_eq!(link("Unknown", "0").gigabits(), None);
        let most = Some(["16.0 GT/s PCIe".to_owned(), "16".to_owned()]);
        assert!(PciLink { most: most.clone(), ..link("8.0 GT/s PCIe", "16") }.is_below());
        assert!(PciLink { most: most.clone(), ..link("16.0 GT/s PCIe", "8") }.is_below());
        assert!(!PciLink { most, ..link("16.0 GT/s PCIe", "16") }.is_below());
    }

    #[test]
    fn files_of_the_kernel_are_read() {
        assert_eq!(line("CapEff:\t00002000\n", "CapEff"), Some("00002000".into()));
        assert!(limits("Max locked memory").is_some());
        assert!(status("CapEff").is_some());
    }
}

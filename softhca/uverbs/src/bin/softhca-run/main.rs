//! `softhca-run`: runs a program with software mlx5 devices.

mod addresses;
mod child;
mod counters;
mod dev;
mod install;
mod machine;
mod namespace;
#[cfg(test)]
mod page;
mod preload;
mod reach;
mod sanitizers;
mod scratch;
mod sysfs;
mod written;

use clap::{CommandFactory, Parser, ValueEnum};
use namespace::{Namespace, Right};
use softhca::faults::Faults;
use softhca::wire::shm;
use softhca_settings::{
    self as settings, Chaos, Clock, DEFAULT_MTU, Damage, Generation, InlineHeaders, Link, LocalAddress, MAX_DEVICES,
    MAX_INDEX, MAX_PORTS, MEMORY_KEYS, MTUS, Memlock, Settings, UNREAD, WireKind,
};
use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use written::Written;

/// Run a program with software mlx5 devices: its unmodified libibverbs and libmlx5
/// find them as mlx5_0, mlx5_1, …
///
/// Programs of one user find each other's devices, as if on one network, so two
/// terminals can talk:
///
///   softhca-run ibv_rc_pingpong &
///   softhca-run ibv_rc_pingpong localhost
#[derive(Debug, Parser)]
#[command(name = "softhca-run", version, verbatim_doc_comment, max_term_width = 80, after_help = AFTER_HELP)]
struct Options {
    /// Number of devices
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_DEVICES)))]
    devices: u32,

    /// Number of PCI functions for programs that drive them by VFIO (x86-64). The first one is ca00:BUS:00.0; BUS is
    /// the number of devices plus one, in hexadecimal
    #[arg(long, default_value_t = 0, value_name = "N", conflicts_with = "sink", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_DEVICES - 1)))]
    vfio: u32,

    /// Number of ports of each device
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PORTS)))]
    ports: u32,

    /// Make the port of each device a bond of two (RoCE LAG). Each queue pair sends by one of them, and by the other one
    /// while that is down. FABRIC/mlx5_0-1.down and mlx5_0-2.down pull their cables, and ports/1/bond/ in sysfs has
    /// their counters
    #[arg(long, conflicts_with = "ports")]
    bond: bool,

    /// Link layer of all ports [default: infiniband; ethernet with --bond, and with any --wire except shm]
    #[arg(long, value_enum)]
    link: Option<Link>,

    /// The network: shm, udp, udp:ADDRESS,…, tap:NAME, raw:NAME or socket:PATH; see "Networks" below
    #[arg(long, default_value_t = WireKind::Shm, value_name = "WIRE")]
    wire: WireKind,

    /// Number of the first device, of which its addresses are derived. Devices on one network by tap: or socket: need
    /// different ones
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_INDEX)))]
    index: u32,

    /// MTU of the network interfaces of Ethernet ports, in bytes. The active path MTU follows from it [default: 1500;
    /// with --wire udp or raw:, that of the host's interfaces]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(i64::from(*MTUS.start())..=i64::from(*MTUS.end())))]
    mtu: Option<u32>,

    /// The ConnectX that the devices stand for: PCI device, firmware version and capabilities
    #[arg(long, value_enum, default_value_t = Generation::ConnectX5)]
    generation: Generation,

    /// Headers that the WQE of a raw packet must hold inline
    #[arg(long, value_enum, default_value_t = InlineHeaders::None, value_name = "HEADERS")]
    inline_headers: InlineHeaders,

    /// Trap every store to a doorbell register and check it (x86-64). The launcher reports mistakes; its exit code is
    /// then 70 if the program's is 0
    #[arg(long)]
    strict: bool,

    /// Faults, for example drop=10,dup=5,seed=1; see "Faults" below
    #[arg(long, value_name = "SPEC", value_parser = faults)]
    faults: Option<String>,

    /// Play this script of failures (TOML). At the end, the launcher prints the script's acts. If there are none, its
    /// exit code is 72 if the program's is 0
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sink", "vfio"])]
    script: Option<PathBuf>,

    /// A broken device, for example cqe@55=6,data@0=0x80; see "Damage" below
    #[arg(long, value_name = "SPEC", value_parser = damage)]
    damage: Option<String>,

    /// Write every packet of the devices into this pcapng file, for tshark and Wireshark. If CMD has several processes
    /// with devices, each one after the first writes FILE.PID
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,

    /// Say at the end why the devices have refused or failed requests: which key, range, right or limit it was
    #[arg(long, value_enum, default_value_t = ExplainOption::Auto, num_args = 0..=1, require_equals = true,
        default_missing_value = "always", value_name = "WHEN")]
    explain: ExplainOption,

    /// The users whose registered memory RLIMIT_MEMLOCK (ulimit -l) limits
    #[arg(long, value_enum, default_value_t = Memlock::Linux, value_name = "WHOM")]
    memlock: Memlock,

    /// Most memory keys of a device in each process: of memory regions, windows and indirect keys. A power of two up to
    /// the default
    #[arg(long, value_name = "N", default_value_t = *MEMORY_KEYS.end(), value_parser = max_mr)]
    max_mr: u32,

    /// Directory in which the devices of one network meet. The launcher makes it. It must be the user's, no symbolic
    /// link, and not writable by others [default: /dev/shm/softhca-UID]
    #[arg(long, value_name = "DIR")]
    fabric: Option<PathBuf>,

    /// Level of the device's messages on standard error: off, error, warn, info, debug or trace, or a filter such as
    /// softhca::qp=debug
    #[arg(long, default_value = "warn", value_name = "LEVEL")]
    log: String,

    /// Give out doorbell registers with the context, as kernels before 5.7 do. With many queues, some share a register
    #[arg(long)]
    static_uars: bool,

    /// Give out doorbell registers without write combining, as in many virtual machines. All queues of a context share
    /// one register, which takes 8-byte doorbells only
    #[arg(long)]
    no_write_combining: bool,

    /// Clocks of timestamps on Ethernet ports
    #[arg(long, value_enum, default_value_t = Clock::FreeRunning)]
    clock: Clock,

    /// Give a new queue pair the lowest free number, usually that of the pair just destroyed
    #[arg(long)]
    reuse_qpn: bool,

    /// Leave doorbell registers as the program stores to them, for programs that read them back. The device then looks at
    /// the doorbell records of all queues in each step, which takes long with many
    #[arg(long)]
    keep_registers: bool,

    /// Complete every send request without sending it, to measure the cost of posting and polling. The devices have no
    /// thread and no network, and work only in softhca_step
    #[arg(long, conflicts_with_all = ["strict", "faults", "pcap"])]
    sink: bool,

    /// Give CMD a mount namespace with the devices' files in /sys; see "Files in /sys" below
    #[arg(long, value_enum, default_value_t = NamespaceOption::Auto, num_args = 0..=1, require_equals = true,
        default_missing_value = "always", value_name = "WHEN")]
    namespace: NamespaceOption,

    /// The object to preload [default: the one that was built together with this program]
    #[arg(long, value_name = "FILE")]
    preload: Option<PathBuf>,

    /// Write this program, the object to preload and a CDI file into DIR, and run nothing; see "Containers" below
    #[arg(long, value_name = "DIR", exclusive = true)]
    install: Option<PathBuf>,

    #[command(flatten)]
    written: Written,

    /// The program, and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD",
        required_unless_present_any = ["completions", "man", "install"])]
    command: Vec<OsString>,
}

const AFTER_HELP: &str = "\
Exit codes
  CMD's code    CMD has ended; 128 + n if signal n ended it
  70            strict mode has found a mistake, and CMD's code is 0
  71            the launcher itself has failed
  72            no row of --script has done anything, and CMD's code is 0
  126, 127      CMD cannot be run
  2             wrong call

Networks
  shm               programs of this user that have the same --fabric
  udp               UDP port 4791 of the host's addresses, without privilege:
                    RoCE v2 to other hosts and containers
  udp:ADDRESS,…     the same, with these addresses; only one program at a time
                    can have an address
  tap:NAME          Ethernet frames by a TAP device of the host
  raw:NAME          Ethernet frames by an interface of the host, beside its
                    kernel
  socket:PATH       Ethernet frames between programs and virtual machines
                    (QEMU's -netdev stream) at a Unix socket

Faults, each optional
  drop, dup, reorder, delay, ecn   packets per thousand that are lost, repeated,
                                   overtaken, late, marked by a router
  place                            packets of WRITEs per thousand that come to
                                   memory after later ones, as with adaptive
                                   routing
  odp, psn                         messages per thousand that fail at a receive
                                   from an SRQ (vendor syndromes 0x93, 0x99)
  latency, jitter, rate            a slow link: microseconds, microseconds,
                                   Mbit/s
  seed                             where the random numbers start

Damage, any number of each: bits that turn over in the writes of the devices,
for tests that look for broken ones
  cqe@OFFSET=MASK                  in each CQE; the offset is that in its last
                                   64 bytes
  data@OFFSET=MASK                 in all other writes that are long enough

Addresses
  With --link ethernet and --wire shm, each port of each device has the address
  10.95.DEVICE.PORT, and port 1 of mlx5_0 also has all IP addresses of the
  machine. Programs of librdmacm connect to them (rping -c -a 127.0.0.1). If the
  machine has no route to 10.95.DEVICE.PORT, that address is the last in the
  table of GIDs, otherwise the first after the link-local one. With tap: and
  socket:, the port has 10.95.INDEX.1, with udp and raw: the host's addresses.
  Listeners on a port are known within one network.

Files in /sys
  In a mount namespace of CMD, the devices' files lie over the machine's /sys,
  so that every program sees them. What CMD mounts is its own. A user without
  rights gets a user namespace too, in which sudo has no effect. Without a
  namespace, programs that call the C library see them, and find them in
  listings of /sys. /dev/infiniband is listed either way.
  The machine's own RDMA devices are hidden: in /sys, in /dev/infiniband and
  from questions by netlink. Without a namespace, a listing of a directory that
  CMD reaches by a network interface still shows their names.

Containers
  --install DIR writes softhca-run, libsofthca_uverbs.so and softhca.json: a file
  of the Container Device Interface, whose device is softhca/hca=mlx5. Containers
  have DIR as /opt/softhca, and two variables: LD_PRELOAD names the object, and
  SOFTHCA_LAUNCHER names softhca-run. Then each program that softhca-run has not
  started is started anew by it, with the options in SOFTHCA_OPTIONS.

Functions that CMD finds with dlsym(RTLD_DEFAULT, NAME)
  int softhca_step(void)
      On a sink: takes all doorbells rung so far, by the doorbell records, and
      writes all CQEs on the calling thread. Returns the number of completed
      send requests, or -1 if the device is no sink. QPs take the usual state
      changes and need no peer. Receives never complete. The memory of READs and
      atomics does not change.
  int softhca_set_port(int device, int port, int up)
      Takes a link down or up. Each open of the device in CMD gets the event.
  int softhca_fail(int device)
      Stops a device for good. Each open of the device in CMD gets the event.
  unsigned long long softhca_commands(void)
      Returns how many commands the calling thread has given to devices.
  void softhca_refuse(unsigned long long nth, int error)
      The nth command of the calling thread from now on fails with that errno.
  void softhca_lose_answer(unsigned long long nth, int error)
      The device carries the nth command out, and the command fails with that
      errno.
  int softhca_refuse_mailbox(unsigned long long nth, unsigned short opcode,
          unsigned char status)
      The firmware refuses the nth mailbox of that opcode (0: any) with that
      status.
  long long softhca_steps_by_polls(int device)
      Returns how many of CMD's calls of ibv_poll_cq and sched_yield have found
      work for the device, and done it.
  unsigned softhca_carried_out(unsigned short opcode)
      Returns how many mailboxes of that opcode the firmware has carried out.
  int softhca_tph(int device, unsigned key)
      Returns the hint for the host's caches of a memory key: the processing
      hint times 256, plus the index of the steering tag; -1 if it has none.
  ssize_t softhca_objects(int device, char *text, size_t room)
      Writes how many objects of each kind the device has.

Files in the directory of --fabric
  mlx5_0-1.down    while it exists, the link of port 1 of mlx5_0 is down in
                   every program
  mlx5_0.failed    when it appears, mlx5_0 fails in every program, for good";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NamespaceOption {
    /// If the machine permits it, and CMD keeps its capabilities
    Auto,
    /// Otherwise the launcher fails
    Always,
    /// No namespace
    Never,
}

/// When `--explain` says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExplainOption {
    /// If CMD's code is not 0, or one of its programs ends with an error completion that it has not polled
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Exit code when strict mode has complaints: EX_SOFTWARE of sysexits.h.
const EXIT_COMPLAINTS: u8 = 70;
/// Exit code when the launcher itself cannot do its work: EX_OSERR.
const EXIT_LAUNCHER: u8 = 71;
/// Exit code when the script has done nothing: the failure that it rehearses has not been met.
const EXIT_NO_ACT: u8 = 72;
/// Lines of a report that are repeated in the summary.
const LINES_SHOWN: usize = 20;

fn faults(spec: &str) -> Result<String, String> {
    spec.parse::<Faults>().map(|_| spec.to_owned()).map_err(|error| error.to_string())
}

fn damage(spec: &str) -> Result<String, String> {
    spec.parse::<Damage>().map(|_| spec.to_owned()).map_err(|error| error.to_string())
}

/// A number of memory keys.
fn max_mr(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number: &u32| MEMORY_KEYS.contains(number) && number.is_power_of_two());
    number.ok_or_else(|| format!("a power of two, {} to {}", MEMORY_KEYS.start(), MEMORY_KEYS.end()))
}

/// Checks that a capture can be written, and takes an old one away: the first process makes the file anew.
fn room_for_capture(path: &Path) -> Result<PathBuf, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::File::create(path).map_err(fault)?;
    let path = path.canonicalize().map_err(fault)?;
    std::fs::remove_file(&path).map_err(fault)?;
    Ok(path)
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let reason = error.source().map_or_else(String::new, |source| format!(": {source}"));
            eprintln!("softhca-run: {error}{reason}");
            ExitCode::from(EXIT_LAUNCHER)
        }
    }
}

fn run(options: &Options) -> Result<u8, Box<dyn Error>> {
    if options.written.print(Options::command())? {
        return Ok(0);
    }
    if let Some(directory) = &options.install {
        return install::install(directory).map(|()| 0);
    }
    if options.strict && cfg!(not(target_arch = "x86_64")) {
        return Err("--strict needs an x86-64 CPU".into());
    }
    if options.vfio > 0 && cfg!(not(target_arch = "x86_64")) {
        return Err("--vfio needs an x86-64 CPU".into());
    }
    if options.devices + options.vfio > MAX_DEVICES {
        return Err(format!("--devices and --vfio together: {MAX_DEVICES} at most").into());
    }
    let fabric = match &options.fabric {
        Some(directory) => shm::own_directory(directory),
        None => shm::default_directory(),
    };
    let fabric = fabric.map_err(|error| {
        let reason = error.source().map_or_else(String::new, |source| format!(": {source}"));
        format!("{error}{reason}; name another directory with --fabric")
    })?;
    let HostNetwork { link, mtu, addresses, mac } = host_network(options)?;
    // Removed when they go out of scope, also when an error ends this function.
    let object = preload::Object::new(options.preload.as_deref())?;
    let small = scratch::roomy(options.devices + options.vfio)?;
    let report = small.path().join("report");
    let explanations = (options.explain != ExplainOption::Never).then(|| small.path().join("explanations"));
    let sysfs = small.path().join("sys");
    let settings = Settings {
        devices: options.devices,
        vfio: options.vfio,
        ports: options.ports,
        bond: options.bond,
        mtu,
        link,
        generation: options.generation,
        addresses,
        own_route: addresses::route_to(settings::own_ip(options.index, 1)),
        inline_headers: options.inline_headers,
        memlock: options.memlock,
        max_mr: options.max_mr,
        strict: options.strict,
        static_uars: options.static_uars,
        no_write_combining: options.no_write_combining,
        clock: options.clock,
        reuse_qpn: options.reuse_qpn,
        keep_registers: options.keep_registers,
        sink: options.sink,
        faults: options.faults.clone(),
        damage: options.damage.clone(),
        pcap: options.pcap.as_deref().map(room_for_capture).transpose()?,
        wire: options.wire.clone(),
        index: options.index,
        mac,
        fabric,
        report: Some(report.clone()),
        explanations: explanations.clone(),
        script: options.script.as_deref().map(|file| own_script(file, small.path())).transpose()?,
        sysfs: Some(sysfs.clone()),
        namespace: false,
        log: options.log.clone(),
    };
    sysfs::write(&settings, &sysfs)?;
    dev::write(&settings, &softhca_settings::device_directory(&sysfs))?;
    // Before there is a second thread.
    let namespace = own_namespace(options.namespace, &sysfs, &small.path().join("over"))?;
    if namespace.is_none() {
        sysfs::link_to_machine(&sysfs)?;
    }
    let settings = Settings { namespace: namespace.is_some(), ..settings };
    if let Some(obstacle) = options.command.first().and_then(|program| reach::Obstacle::of(program)) {
        eprintln!("softhca-run: {}", obstacle.sentence(&options.command[0], settings.namespace));
    }
    let counters = counters::Counters::show(&settings, &sysfs)?;
    let mut env = settings.to_env();
    env.push(("SYSFS_PATH", if settings.namespace { "/sys".into() } else { sysfs.into() }));
    env.push(("LD_PRELOAD", object.variable()));
    env.extend(sanitizers::variables(object.name(), small.path())?);
    let code = child::run(&options.command, env, namespace)?;
    drop(counters);
    let has_acted = match &settings.script {
        Some((script, timeline)) => tell(script, timeline)?,
        None => true,
    };
    if let Some(file) = explanations {
        explain(&file, options.explain == ExplainOption::Always || code != 0)?;
    }
    let code = summary(&report, options.strict, code)?;
    Ok(if code == 0 && !has_acted { EXIT_NO_ACT } else { code })
}

/// What devices have written to a file; `None` if none has.
fn text_of(file: &Path) -> std::io::Result<Option<String>> {
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}

/// Prints why requests were refused or failed, if `always` or if an error was left unread.
fn explain(file: &Path, always: bool) -> std::io::Result<()> {
    let Some(lines) = text_of(file)? else { return Ok(()) };
    let lines = counted(&lines);
    if always || lines.iter().any(|(_, what)| what.starts_with(UNREAD)) {
        eprintln!("softhca-run: why requests were refused or failed:");
        show(lines.iter().map(|&(held, what)| (held, what.strip_prefix(UNREAD).unwrap_or(what))));
    }
    Ok(())
}

/// A copy of the script in `file` that stays as it is, and the path of its timeline.
fn own_script(file: &Path, scratch: &Path) -> Result<(PathBuf, PathBuf), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", file.display());
    let text = std::fs::read_to_string(file).map_err(fault)?;
    text.parse::<Chaos>().map_err(|error| format!("{}: {error}", file.display()))?;
    let copy = scratch.join("script.toml");
    std::fs::write(&copy, text).map_err(fault)?;
    Ok((copy, scratch.join("timeline")))
}

/// Prints the script's acts. Returns whether the script did its job: it acted, or has no rows.
fn tell(script: &Path, timeline: &Path) -> std::io::Result<bool> {
    if let Some(lines) = text_of(timeline)? {
        eprintln!("softhca-run: what the script has done:");
        lines.lines().for_each(|line| eprintln!("  {line}"));
        return Ok(true);
    }
    let has_rows = std::fs::read_to_string(script)?.parse().is_ok_and(|script: Chaos| script.has_rows());
    let why = if has_rows { "no row has met its count or its time" } else { "it has no rows" };
    eprintln!("softhca-run: the script has done nothing: {why}");
    Ok(!has_rows)
}

/// The namespace for the program, if it is to have one: `tree` over `/sys`. `scratch` is a directory to make.
fn own_namespace(when: NamespaceOption, tree: &Path, scratch: &Path) -> Result<Option<Namespace>, String> {
    let right = match (when, Right::of_this_process()) {
        (NamespaceOption::Never, _) | (NamespaceOption::Auto, None) => return Ok(None),
        (_, right) => right.unwrap_or(Right::User),
    };
    let made = std::fs::create_dir(scratch).and_then(|()| Namespace::prepare(right, tree, scratch));
    match made.and_then(|namespace| namespace.check().map(|()| namespace)) {
        Ok(namespace) => Ok(Some(namespace)),
        Err(_) if when == NamespaceOption::Auto => Ok(None),
        Err(error) => Err(format!("--namespace: this machine permits no namespace: {error}")),
    }
}

/// The part of the settings that the wire decides.
struct HostNetwork {
    link: Link,
    mtu: u32,
    addresses: Vec<LocalAddress>,
    mac: Option<[u8; 6]>,
}

fn host_network(options: &Options) -> Result<HostNetwork, Box<dyn Error>> {
    let wire = &options.wire;
    let (addresses, mac) = match wire {
        WireKind::Shm => {
            let link = options.link.unwrap_or(if options.bond { Link::Ethernet } else { Link::Infiniband });
            if options.bond && link == Link::Infiniband {
                return Err("--bond bonds Ethernet ports: --link infiniband is impossible".into());
            }
            let (mtu, addresses) = (options.mtu.unwrap_or(DEFAULT_MTU), addresses::local()?);
            return Ok(HostNetwork { link, mtu, addresses, mac: None });
        }
        WireKind::Udp(wanted) => (addresses::for_udp(wanted)?, None),
        WireKind::Raw(name) => (addresses::of_interface(name)?, Some(addresses::mac(name)?)),
        WireKind::Tap(_) | WireKind::Socket(_) => (Vec::new(), None),
    };
    if options.link == Some(Link::Infiniband) {
        return Err(format!("--wire {wire} carries Ethernet: --link infiniband is impossible").into());
    }
    if (options.devices, options.ports, options.vfio, options.sink) != (1, 1, 0, false) {
        return Err(
            format!("--wire {wire} serves one device with one port: no --devices, --ports, --vfio, --sink").into()
        );
    }
    let mut limit = None;
    for address in &addresses {
        let mtu = addresses::mtu(&address.interface)?;
        limit = Some(limit.map_or(mtu, |limit: u32| limit.min(mtu)));
    }
    let mtu = options.mtu.unwrap_or_else(|| limit.map_or(DEFAULT_MTU, |limit| limit.clamp(*MTUS.start(), *MTUS.end())));
    match limit {
        Some(limit) if mtu > limit => {
            Err(format!("--mtu {mtu} is more than the {limit} of the host's interface").into())
        }
        _ => Ok(HostNetwork { link: Link::Ethernet, mtu, addresses, mac }),
    }
}

/// The lines of a report. Each begins with the number of lines like it that were only counted.
fn counted(lines: &str) -> Vec<(u64, &str)> {
    lines.lines().map(|line| numbered(line).unwrap_or((0, line))).collect()
}

fn numbered(line: &str) -> Option<(u64, &str)> {
    let (held, what) = line.split_once(' ')?;
    Some((held.parse().ok()?, what))
}

/// Prints the first lines of a report.
fn show<'a>(lines: impl ExactSizeIterator<Item = (u64, &'a str)>) {
    let are_more = lines.len() > LINES_SHOWN;
    for (held, what) in lines.take(LINES_SHOWN) {
        match held {
            0 => eprintln!("  {what}"),
            held => eprintln!("  {what} … and {held} more like this"),
        }
    }
    if are_more {
        eprintln!("  …");
    }
}

/// Shows what strict mode has complained about; gives the exit code.
fn summary(report: &Path, strict: bool, code: u8) -> std::io::Result<u8> {
    let Some(complaints) = text_of(report)? else { return Ok(code) };
    let complaints = counted(&complaints);
    let count = complaints.iter().fold(0_u64, |count, (held, _)| count.saturating_add(*held).saturating_add(1));
    eprintln!("softhca-run: the device has {count} complaint(s):");
    show(complaints.into_iter());
    Ok(if strict && code == 0 { EXIT_COMPLAINTS } else { code })
}

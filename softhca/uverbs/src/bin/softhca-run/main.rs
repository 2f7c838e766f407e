//! `softhca-run`: runs a program with software mlx5 devices.

mod addresses;
mod child;
mod preload;
mod sysfs;

use clap::{Parser, ValueEnum};
use softhca::faults::Faults;
use softhca::wire::shm;
use softhca_settings::{
    Clock, DEFAULT_MTU, Generation, InlineHeaders, Link, MAX_DEVICES, MAX_PORTS, MTUS, Memlock, Settings,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run a program with software mlx5 devices: its unmodified libibverbs and libmlx5 find them as mlx5_0, mlx5_1, …
///
/// Programs started by one user find each other's devices, as if on one network, so two terminals can talk:
///
///   softhca-run ibv_rc_pingpong &
///   softhca-run ibv_rc_pingpong localhost
#[derive(Debug, Parser)]
#[command(version, verbatim_doc_comment, after_help = AFTER_HELP)]
struct Options {
    /// Devices
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_DEVICES)))]
    devices: u32,

    /// PCI functions beside the devices, for programs that drive them by VFIO (mlx5dv_get_vfio_device_list of ca00:BUS:00.0,
    /// where BUS, in hexadecimal, is 2 for the first one after one device); x86-64
    #[arg(long, default_value_t = 0, value_name = "N", conflicts_with = "sink", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_DEVICES - 1)))]
    vfio: u32,

    /// Ports of each device
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PORTS)))]
    ports: u32,

    /// Link layer of all ports
    #[arg(long, value_enum, default_value_t = Link::Infiniband)]
    link: Link,

    /// MTU of Ethernet ports' network interfaces, in bytes: it says which path MTU is the active one
    #[arg(long, default_value_t = DEFAULT_MTU, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(i64::from(*MTUS.start())..=i64::from(*MTUS.end())))]
    mtu: u32,

    /// Which ConnectX the devices are: their PCI device, firmware version and capabilities
    #[arg(long, value_enum, default_value_t = Generation::ConnectX5)]
    generation: Generation,

    /// What requests to send raw packets must hold of the packets' headers: nothing; the L2 headers (18 bytes); of IP
    /// packets also the IP header; of TCP and UDP packets also that one
    #[arg(long, value_enum, default_value_t = InlineOption::None, value_name = "HEADERS")]
    inline_headers: InlineOption,

    /// Trap every store to a doorbell register and check it (x86-64); what is wrong is reported, and makes the exit
    /// code 70 if the program's is 0
    #[arg(long)]
    strict: bool,

    /// Faults of the network, in frames per mille, and of receives from SRQs, in messages per mille (odp: page fault,
    /// vendor syndrome 0x93; psn: 0x99): drop=10,dup=5,reorder=5,delay=3,odp=20,psn=5,seed=1; each is optional
    #[arg(long, value_name = "SPEC", value_parser = faults)]
    faults: Option<String>,

    /// Whom RLIMIT_MEMLOCK (ulimit -l) keeps from registering more memory
    #[arg(long, value_enum, default_value_t = MemlockOption::Linux, value_name = "WHOM")]
    memlock: MemlockOption,

    /// Directory in which the devices of one network meet; it is made if there is none, must be the user's own, no
    /// symbolic link, and closed to writes by others [default: /dev/shm/softhca-UID]
    #[arg(long, value_name = "DIR")]
    fabric: Option<PathBuf>,

    /// What the device logs to standard error: off, error, warn, info, debug or trace, or a filter such as
    /// softhca::qp=debug
    #[arg(long, default_value = "warn", value_name = "LEVEL")]
    log: String,

    /// Give out doorbell registers with the context, as kernels did before they could be allocated one by one: with
    /// many queues, some share a register
    #[arg(long)]
    static_uars: bool,

    /// Give out doorbell registers without write combining, as in many virtual machines: all queues of a context share
    /// one, which takes 8-byte doorbells only
    #[arg(long)]
    no_write_combining: bool,

    /// What queues of Ethernet ports can have in their timestamps
    #[arg(long, value_enum, default_value_t = Clock::FreeRunning)]
    clock: Clock,

    /// Give a new queue pair the lowest number that is free, hence that of one just destroyed
    #[arg(long)]
    reuse_qpn: bool,

    /// Complete every send request at once, without sending it, for measuring what posting and polling cost: the devices
    /// have no thread and no network, and work only while CMD calls the function softhca_step of the preloaded object
    #[arg(long, conflicts_with_all = ["strict", "faults"])]
    sink: bool,

    /// The object to preload [default: the one that was built together with this program]
    #[arg(long, value_name = "FILE")]
    preload: Option<PathBuf>,

    /// The program, and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

const AFTER_HELP: &str = "\
The exit code is that of CMD (128 + n if signal n ended it), 70 if strict mode has found something wrong, 126 or 127 \
if CMD cannot be run, 2 for a wrong call.

With `--link ethernet`, programs of librdmacm connect by the machine's IP addresses (rping -c -a 127.0.0.1), all of \
which are port 1's of mlx5_0; each port of each device also has an address of its own, 10.95.DEVICE.PORT. Who listens \
on which port is known within one network.

A sink is stepped by CMD itself: `int softhca_step(void)`, found with dlsym(RTLD_DEFAULT, \"softhca_step\"), takes all \
doorbells rung so far (as the doorbell records tell), writes all CQEs on the calling thread, and returns how many \
send requests have completed, or -1 if the device is no sink. QPs take the usual state changes and need no peer; \
receives never complete, and the memory that READs and atomics name is left alone.

CMD can have things happen to its devices, by functions found likewise: `int softhca_set_port(int device, int port, int up)` takes \
a link down or up, `int softhca_fail(int device)` stops a device for good. Whoever has the device open in CMD gets the event. \
`unsigned long long softhca_commands(void)` returns how many commands the calling thread has given to devices. \
`void softhca_refuse(unsigned long long nth, int error)` has the nth command of the calling thread from now on fail with that errno, \
`int softhca_refuse_mailbox(unsigned long long nth, unsigned short opcode, unsigned char status)` has the firmware refuse the nth \
mailbox of that opcode (0: any) with that status. `unsigned softhca_carried_out(unsigned short opcode)` returns how many such \
mailboxes were carried out, `ssize_t softhca_objects(int device, char *text, size_t room)` writes how many objects of each kind \
the device has.

From outside, a file in the directory of --fabric pulls a cable: while there is one named mlx5_0-1.down, the link of port 1 of \
mlx5_0 is down in every program. When mlx5_0.failed appears, mlx5_0 fails in every program, for good.";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum InlineOption {
    /// As a ConnectX-5 and later
    None,
    /// As a ConnectX-4 Lx
    L2,
    /// As a device whose eSwitch steers by IP headers
    Ip,
    /// As a device whose eSwitch steers by TCP and UDP headers
    #[value(name = "tcp_udp")]
    TcpUdp,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MemlockOption {
    /// Who does not have CAP_IPC_LOCK, which root has
    Linux,
    /// Root, too
    Everybody,
    /// Nobody
    Nobody,
}

/// Exit code when strict mode has complaints: EX_SOFTWARE of sysexits.h.
const EXIT_COMPLAINTS: u8 = 70;
/// Exit code when the launcher itself cannot do its work: EX_OSERR.
const EXIT_LAUNCHER: u8 = 71;
/// Complaints of a report that are repeated in the summary.
const COMPLAINTS_SHOWN: usize = 20;

fn faults(spec: &str) -> Result<String, String> {
    spec.parse::<Faults>().map(|_| spec.to_owned()).map_err(|error| error.to_string())
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

fn run(options: &Options) -> Result<u8, Box<dyn std::error::Error>> {
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
    }?;
    // Removed when it goes out of scope, also when an error ends this function.
    let scratch = tempfile::Builder::new().prefix("softhca-").tempdir()?;
    let report = scratch.path().join("report");
    let sysfs = scratch.path().join("sys");
    let settings = Settings {
        devices: options.devices,
        vfio: options.vfio,
        ports: options.ports,
        mtu: options.mtu,
        link: options.link,
        generation: options.generation,
        addresses: addresses::local()?,
        inline_headers: match options.inline_headers {
            InlineOption::None => InlineHeaders::None,
            InlineOption::L2 => InlineHeaders::L2,
            InlineOption::Ip => InlineHeaders::Ip,
            InlineOption::TcpUdp => InlineHeaders::TcpUdp,
        },
        memlock: match options.memlock {
            MemlockOption::Linux => Memlock::Linux,
            MemlockOption::Everybody => Memlock::Everybody,
            MemlockOption::Nobody => Memlock::Nobody,
        },
        strict: options.strict,
        static_uars: options.static_uars,
        no_write_combining: options.no_write_combining,
        clock: options.clock,
        reuse_qpn: options.reuse_qpn,
        sink: options.sink,
        faults: options.faults.clone(),
        fabric,
        report: Some(report.clone()),
        sysfs: Some(sysfs.clone()),
        log: options.log.clone(),
    };
    sysfs::write(&settings, &sysfs)?;
    let mut env = settings.to_env();
    env.push(("SYSFS_PATH", sysfs.into()));
    env.push(("LD_PRELOAD", preload::variable(options.preload.as_deref(), scratch.path())?));
    let code = child::run(&options.command, env)?;
    Ok(summary(&report, options.strict, code)?)
}

/// Shows what strict mode has complained about; gives the exit code.
fn summary(report: &Path, strict: bool, code: u8) -> std::io::Result<u8> {
    let complaints = match std::fs::read_to_string(report) {
        Ok(complaints) => complaints,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(code),
        Err(error) => return Err(error),
    };
    let count = complaints.lines().count();
    eprintln!("softhca-run: the device has {count} complaint(s):");
    complaints.lines().take(COMPLAINTS_SHOWN).for_each(|complaint| eprintln!("  {complaint}"));
    if count > COMPLAINTS_SHOWN {
        eprintln!("  …");
    }
    Ok(if strict && code == 0 { EXIT_COMPLAINTS } else { code })
}

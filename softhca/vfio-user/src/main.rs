//! `softhca-vfio-user`: shows software mlx5 devices to virtual machines.

mod bounded_log;

use bounded_log::BoundedLog;
use clap::Parser;
use nix::sys::signal::{SigSet, Signal};
use softhca::wire::in_process::Fabric;
use softhca::wire::shm;
use softhca_settings::{Generation, Link, MAX_DEVICES};
use softhca_vfio_user::{Endpoint, Network, PortOptions, Server, ServerError};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

/// Show software mlx5 devices to virtual machines, as PCI functions that Linux' own drivers drive.
///
/// Each socket is one function, for one QEMU (10.1 or later) at a time:
///
///   softhca-vfio-user --socket /tmp/hca &
///   qemu-system-x86_64 -m 1G -object memory-backend-memfd,id=m,size=1G,share=on -machine q35,memory-backend=m \
///     -device pcie-root-port,id=port \
///     -device '{"driver":"vfio-user-pci","bus":"port","socket":{"type":"unix","path":"/tmp/hca"}}' …
#[derive(Debug, Parser)]
#[command(version, verbatim_doc_comment, after_help = AFTER_HELP)]
struct Options {
    /// Where to listen; may be given more than once
    #[arg(long = "socket", value_name = "PATH", required = true)]
    sockets: Vec<PathBuf>,

    /// Number of the first device, of which its addresses are derived; each further socket has the next one
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(..i64::from(MAX_DEVICES)))]
    index: u32,

    /// Which ConnectX the devices are: their PCI device, firmware version and capabilities
    #[arg(long, value_enum, default_value_t = Generation::ConnectX5)]
    generation: Generation,

    /// Link layer of the ports
    #[arg(long, value_enum, default_value_t = Link::Ethernet)]
    link: Link,

    /// Have drivers register memory by a command for each region, and not by work requests (UMR) with keys kept at hand
    #[arg(long)]
    no_umr: bool,

    /// Ethernet address of the first device; the last byte of each further one is one more [default: derived from its
    /// number]
    #[arg(long, value_name = "MAC", value_parser = mac)]
    mac: Option<[u8; 6]>,

    /// Directory in which the devices of one network meet. It is created if it does not exist. It must belong to the
    /// user, must be no symbolic link, and must not be writable by others [default: /dev/shm/softhca-UID, as
    /// softhca-run's]
    #[arg(long, value_name = "DIR", conflicts_with = "private")]
    fabric: Option<PathBuf>,

    /// A network for these functions alone
    #[arg(long)]
    private: bool,

    /// End when each socket's first monitor has left, instead of waiting for the next one
    #[arg(long)]
    once: bool,

    /// Log level, to standard error: off, error, warn, info, debug or trace, or a filter such as
    /// softhca::firmware=debug. Of warnings that differ in numbers alone, the first 32 are written, then those whose
    /// count is a power of two
    #[arg(long, default_value = "warn", value_name = "LEVEL")]
    log: String,
}

const AFTER_HELP: &str = "\
A line on standard output says where each function listens, as soon as it does. SIGTERM and SIGINT remove the sockets \
and end the program with code 0.

Exit codes: 0 after a signal, or with --once; 2 for a wrong call; 70 if a monitor does not keep to the protocol, or the device \
has a mistake; 71 if the system refuses something. Functions that must not end with each other are started one by one.

The device numbers of one network should differ: softhca-run's devices begin with 0. A file mlx5_N-1.down in the network's \
directory pulls the cable of device N, until it is removed. A file mlx5_N.failed has the device fail when it appears.";

/// Exit code for a broken monitor or device: EX_SOFTWARE of sysexits.h.
const EXIT_BROKEN: u8 = 70;
/// Exit code for a refusal by the system: EX_OSERR.
const EXIT_SYSTEM: u8 = 71;

/// Why the program may end.
enum Ending {
    /// Somebody wants it to.
    Signal,
    /// A function has served its one monitor.
    Served,
    Failed(ServerError),
    /// Some thread has a mistake.
    Panic,
}

fn mac(text: &str) -> Result<[u8; 6], String> {
    let bytes: Option<Vec<u8>> = text
        .split(':')
        .map(|byte| {
            Some(byte)
                .filter(|byte| byte.len() == 2 && !byte.starts_with('+'))
                .and_then(|byte| u8::from_str_radix(byte, 16).ok())
        })
        .collect();
    let bytes = bytes.and_then(|bytes| <[u8; 6]>::try_from(bytes).ok());
    bytes
        .filter(|bytes| bytes[0] & 1 == 0)
        .ok_or_else(|| "six bytes such as 02:00:00:00:00:01, not a group's".to_owned())
}

fn main() -> ExitCode {
    let options = Options::parse();
    start_log(&options.log);
    match run(&options) {
        Ok(code) => code,
        Err(error) => {
            complain(&*error);
            ExitCode::from(EXIT_SYSTEM)
        }
    }
}

fn start_log(filter: &str) {
    let log = env_logger::Builder::new().parse_filters(filter).build();
    log::set_max_level(log.filter());
    // Nobody has set one before.
    let _ = log::set_boxed_logger(Box::new(BoundedLog::new(log)));
}

fn complain(error: &dyn Error) {
    let reason = error.source().map_or_else(String::new, |source| format!(": {source}"));
    eprintln!("softhca-vfio-user: {error}{reason}");
}

fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let count = u32::try_from(options.sockets.len())?;
    if options.index + count > MAX_DEVICES {
        return Err(format!("device numbers end with {}", MAX_DEVICES - 1).into());
    }
    // Before there are threads, which all leave these signals to one.
    let signals = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]);
    signals.thread_block()?;
    let (end, ends) = mpsc::channel();
    notice_panics(end.clone());
    let network = match (&options.fabric, options.private) {
        (_, true) => Network::Private(Fabric::new()),
        (Some(directory), false) => Network::Shared(shm::own_directory(directory)?),
        (None, false) => Network::Shared(shm::default_directory()?),
    };
    // Removes the sockets when it goes out of scope, also when an error ends this function.
    let mut sockets = Sockets::default();
    for (number, path) in (0..).zip(&options.sockets) {
        let endpoint = Endpoint::start(&port_options(options, number), &network)?;
        let server = Arc::new(Server::bind(path)?);
        sockets.0.push(server.clone());
        println!("softhca-vfio-user: device {} listens at {}", options.index + number, path.display());
        let (end, once) = (end.clone(), options.once);
        thread::Builder::new().name("monitor".to_owned()).spawn(move || serve(&server, endpoint, once, &end))?;
    }
    let signalled = end.clone();
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let _ = signals.wait();
        let _ = signalled.send(Ending::Signal);
    })?;
    let mut left = count;
    for ending in ends {
        match ending {
            Ending::Signal => break,
            Ending::Served => {
                left -= 1;
                if left == 0 {
                    break;
                }
            }
            Ending::Failed(error @ ServerError::Broken) => {
                complain(&error);
                return Ok(ExitCode::from(EXIT_BROKEN));
            }
            Ending::Failed(error) => return Err(error.into()),
            Ending::Panic => return Ok(ExitCode::from(EXIT_BROKEN)),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes sockets, however the program ends.
#[derive(Default)]
struct Sockets(Vec<Arc<Server>>);

impl Drop for Sockets {
    fn drop(&mut self) {
        self.0.iter().for_each(|server| server.remove_socket());
    }
}

/// A panic is the end of the program, whatever thread it stops: a guest whose device's thread is gone would wait for
/// ever.
fn notice_panics(end: Sender<Ending>) {
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        say(panic);
        let _ = end.send(Ending::Panic);
    }));
}

fn serve(server: &Server, mut endpoint: Endpoint, once: bool, end: &Sender<Ending>) {
    let ending = loop {
        match server.serve(&mut endpoint) {
            Ok(()) if once => break Ending::Served,
            Ok(()) => {}
            Err(error) => break Ending::Failed(error),
        }
    };
    let _ = end.send(ending);
}

/// The identity of the function of socket `number`.
fn port_options(options: &Options, number: u32) -> PortOptions {
    PortOptions {
        umr_registers: !options.no_umr,
        index: options.index + number,
        generation: options.generation,
        link: options.link,
        mac: options.mac.map(|[a, b, c, d, e, last]| [a, b, c, d, e, last.wrapping_add(number as u8)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_make_sense() {
        Options::command().debug_assert();
    }

    #[test]
    fn ethernet_addresses_are_of_one_station() {
        assert_eq!(mac("02:00:5f:0a:0B:ff"), Ok([2, 0, 0x5f, 0xa, 0xb, 0xff]));
        for bad in
            ["", "02:00:00:00:00", "02:00:00:00:00:00:00", "2:0:0:0:0:0", "03:00:00:00:00:00", "02:00:00:00:00:+1"]
        {
            assert!(mac(bad).is_err(), "{bad}");
        }
    }
}

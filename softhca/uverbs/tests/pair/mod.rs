//! Runs a program of the two-ended kind, server and client, each with software devices on a network of their own.

use std::fs::File;
use std::io::{Read, Seek};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a pair may take: ten times its time on an idle machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long the other end may go on after one has failed.
const GRACE: Duration = Duration::from_secs(3);

/// `./run test --long`: what takes minutes is done, too.
pub(crate) fn long() -> bool {
    std::env::var_os("LONG").is_some_and(|long| long == "1")
}

/// Options of a device on which everything is trapped and checked.
pub(crate) const STRICT: &[&str] = &["--strict"];

/// The options that this machine's launcher has. Strict mode needs x86-64: elsewhere, the same programs run without it.
fn possible<'a>(options: &[&'a str]) -> Vec<&'a str> {
    options.iter().copied().filter(|option| cfg!(target_arch = "x86_64") || !STRICT.contains(option)).collect()
}

/// How devices are made, and the network they are on.
pub(crate) struct Device<'a> {
    pub(crate) options: &'a [&'a str],
    /// Further variables in the programs' environment.
    pub(crate) environment: &'a [(&'a str, &'a str)],
    pub(crate) fabric: tempfile::TempDir,
}

impl<'a> Device<'a> {
    /// Devices made with these options of the launcher, on a network of their own.
    pub(crate) fn new(options: &'a [&'a str]) -> Self {
        Self { options, environment: &[], fabric: tempfile::tempdir().expect("a directory for the network") }
    }
}

/// The object that was built together with this test.
pub(crate) fn preload() -> PathBuf {
    let test = std::env::current_exe().expect("this test's path");
    let object = test.with_file_name("libsofthca_uverbs.so");
    assert!(object.exists(), "{} was not built", object.display());
    object
}

pub(crate) fn launcher(options: &[&str], fabric: &Path, command: &[&str]) -> Command {
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_softhca-run"));
    launcher
        .args(possible(options))
        .arg("--preload")
        .arg(preload())
        .arg("--fabric")
        .arg(fabric)
        .arg("--")
        .args(command);
    launcher.stdin(Stdio::null());
    launcher
}

/// A started program, whose output goes to a file.
struct Started {
    child: Child,
    output: File,
}

impl Started {
    fn new(mut command: Command) -> Self {
        let output = tempfile::tempfile().expect("a file for the output");
        let to_file = || Stdio::from(output.try_clone().expect("the output's descriptor"));
        let child = command.stdout(to_file()).stderr(to_file()).spawn().expect("the launcher starts");
        Self { child, output }
    }

    fn output(&mut self) -> String {
        let mut text = Vec::new();
        self.output.rewind().and_then(|()| self.output.read_to_end(&mut text)).expect("the output can be read");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Waits until it has ended; `None` if it has not by `deadline`.
    fn wait(&mut self, deadline: Instant) -> Option<ExitStatus> {
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().expect("the launcher can be waited for") {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // The launcher passes it on.
            // SAFETY: a child of ours that was not waited for.
            unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
            let _ = self.child.wait();
        }
    }
}

/// Runs one program on `device`; its exit code, `None` after `patience`, and output.
pub(crate) fn launch_on(device: &Device, command: &[&str], patience: Duration) -> (Option<i32>, String) {
    let mut launcher = launcher(device.options, device.fabric.path(), command);
    launcher.envs(device.environment.iter().copied());
    let mut started = Started::new(launcher);
    let status = started.wait(Instant::now() + patience);
    (status.and_then(|status| status.code()), started.output())
}

/// Whether a process listens on TCP port `port`. Asked of the kernel: a connection to try would be taken for the
/// client's.
pub(crate) fn listens(port: u16) -> bool {
    const LISTEN: &str = "0A";
    let port = format!(":{port:04X}");
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().filter_map(|table| std::fs::read_to_string(table).ok()).any(|table| {
        table.lines().any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            fields.next().is_some_and(|local| local.ends_with(&port)) && fields.nth(1) == Some(LISTEN)
        })
    })
}

/// Runs `tool`, a program or words that end with its name, as server and as client; the output of both.
///
/// On a network that loses frames a pair may try again, if one end has ended well and the other one has run out of
/// retries. That is no fault of the device. A program that exits when it has all its completions does not wait for its
/// last acknowledgement to arrive. If that one is lost, its peer asks again and gets no answer, on hardware as well
/// (the transport timer of IBTA vol. 1, 9.7.6.1.3). The ping-pongs leave so; no other way to end badly is tried again.
///
/// # Panics
/// If either does not end well and in time, or the device complains.
pub(crate) fn pair(device: &Device, tool: &str, arguments: &[&str]) -> [String; 2] {
    const ATTEMPTS: u32 = 3;
    let lossy = device.options.contains(&"--faults");
    for _ in 1..ATTEMPTS {
        let (ends, outputs) = attempt(device, tool, arguments);
        let left_alone = (0..2).any(|end| {
            let alone = ends[end].is_some_and(|status| !status.success());
            let left = ends[1 - end].is_some_and(|status| status.success());
            alone && left && outputs[end].contains("transport retry counter exceeded")
        });
        if !(lossy && left_alone) {
            return judged(device, tool, arguments, ends, outputs);
        }
    }
    let (ends, outputs) = attempt(device, tool, arguments);
    judged(device, tool, arguments, ends, outputs)
}

/// The outputs, if all is well.
fn judged(
    device: &Device,
    tool: &str,
    arguments: &[&str],
    ends: [Option<ExitStatus>; 2],
    outputs: [String; 2],
) -> [String; 2] {
    let shown = format!("server:\n{}\nclient:\n{}", outputs[0], outputs[1]);
    let well = ends.iter().all(|end| end.is_some_and(|status| status.success()));
    assert!(well, "{:?} {tool} {arguments:?} ended with {ends:?}\n{shown}", device.options);
    assert!(!shown.contains("complaint"), "{:?} {tool} {arguments:?}:\n{shown}", device.options);
    outputs
}

/// Runs server and client of `tool` once.
pub(crate) fn attempt(device: &Device, tool: &str, arguments: &[&str]) -> ([Option<ExitStatus>; 2], [String; 2]) {
    let port = free_port();
    let text = port.to_string();
    let words: Vec<_> = tool.split_whitespace().chain(["-p", &text]).collect();
    let server = [&words, arguments].concat();
    both(device, &server, &[&server[..], &["127.0.0.1"]].concat(), || listens(port))
}

/// A TCP port that nobody has.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port").port()
}

/// Waits until both have ended. A ping-pong whose peer has failed waits forever: it is given [`GRACE`], and `None`.
fn ends(pair: &mut [Started; 2], mut deadline: Instant) -> [Option<ExitStatus>; 2] {
    loop {
        let now = Instant::now();
        let ends = pair.each_mut().map(|end| end.child.try_wait().expect("the launcher can be waited for"));
        if ends.iter().all(Option::is_some) || now >= deadline {
            return ends;
        }
        if ends.iter().flatten().any(|status| !status.success()) {
            deadline = deadline.min(now + GRACE);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a server and, when it is `ready`, a client, each with these devices. Returns how they ended, if they did, and
/// their output.
pub(crate) fn both(
    device: &Device,
    server: &[&str],
    client: &[&str],
    ready: impl Fn() -> bool,
) -> ([Option<ExitStatus>; 2], [String; 2]) {
    let launched = |command: &[&str]| {
        let mut launcher = launcher(device.options, device.fabric.path(), command);
        launcher.envs(device.environment.iter().copied());
        launcher
    };
    ends_of(launched(server), launched(client), ready)
}

/// Runs a server and, when it is `ready`, a client. Returns how they ended, if they did, and their output. One pair at a
/// time: they take turns on few cores badly.
pub(crate) fn ends_of(
    server: Command,
    client: Command,
    ready: impl Fn() -> bool,
) -> ([Option<ExitStatus>; 2], [String; 2]) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let deadline = Instant::now() + PATIENCE;
    let called = format!("{server:?}");
    let mut listening = Started::new(server);
    while !ready() {
        let ended = listening.child.try_wait().expect("the launcher can be waited for");
        let late = Instant::now() > deadline;
        assert!(ended.is_none() && !late, "{called} does not listen:\n{}", listening.output());
        thread::sleep(Duration::from_millis(5));
    }
    let mut pair = [listening, Started::new(client)];
    let ends = ends(&mut pair, deadline);
    (ends, pair.map(|mut end| end.output()))
}

//! What containers take away or add: rights, file systems, limits, and programs that nobody starts by the launcher.
//! Namespaces on this machine stand for containers; `scripts/products` runs podman's.
//!
//! Situations of containers belong here, places for the launcher's files in `launcher`.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use crate::pair::preload;
use crate::sysfs::has_namespaces;

/// Exit code when the launcher cannot do its work.
const EXIT_LAUNCHER: Option<i32> = Some(71);

/// A directory with the launcher's files for containers.
fn installed() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    // Other users read it.
    let open = Command::new("chmod").arg("755").arg(directory.path()).status();
    assert!(open.is_ok_and(|end| end.success()), "chmod");
    let output = Command::new(env!("CARGO_BIN_EXE_softhca-run")).arg("--install").arg(directory.path()).output();
    assert!(output.as_ref().is_ok_and(|output| output.status.success()), "{output:?}");
    // A build directory may have an older one beside the launcher.
    std::fs::copy(preload(), directory.path().join("libsofthca_uverbs.so")).expect("a copy of the object");
    directory
}

fn words(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
}

/// The variables that the CDI file gives to a container which has `directory` at its own place.
fn variables(directory: &Path) -> Vec<(String, String)> {
    let script = r#"
import json, sys
cdi = json.load(open(sys.argv[1] + "/softhca.json"))
assert (cdi["cdiVersion"], cdi["kind"]) == ("0.3.0", "softhca/hca")
[device] = cdi["devices"]
assert device["name"] == "mlx5"
[mount] = device["containerEdits"]["mounts"]
assert mount["hostPath"] == sys.argv[1]
for variable in device["containerEdits"]["env"]:
    print(variable.replace(mount["containerPath"], sys.argv[1]))
"#;
    let output = Command::new("/usr/bin/python3").args(["-c", script]).arg(directory).output().expect("Python starts");
    assert!(output.status.success(), "{}", words(&output));
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let variables = lines.lines().filter_map(|line| line.split_once('='));
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Runs `command` as in a container with the device.
fn contained(directory: &Path, command: &[&str], more: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut started = Command::new(command[0]);
    started.args(&command[1..]).envs(variables(directory)).envs(more.iter().copied()).current_dir(directory);
    let output = started.output().expect("the program starts");
    (output.status.code(), words(&output))
}

#[test]
fn programs_of_a_container_find_the_device() {
    let directory = installed();
    let fabric = ("SOFTHCA_OPTIONS", "--fabric net");
    let (code, found) = contained(directory.path(), &["ibv_devinfo"], &[fabric]);
    assert!(code == Some(0) && found.contains("mlx5_0") && found.contains("InfiniBand"), "{found}");
    let options = ("SOFTHCA_OPTIONS", " --fabric  net\t--link ethernet --devices 2 ");
    let (code, found) = contained(directory.path(), &["sh", "-c", "ibv_devinfo; exit 5"], &[options]);
    assert!(code == Some(5) && found.contains("mlx5_1") && found.contains("Ethernet"), "{found}");
    // Only the first program is started anew: a child has its device.
    let script = r#"echo "$0 $1"; cat /proc/$PPID/comm; sh -c 'cat /proc/$PPID/comm'; :"#;
    let (code, found) = contained(directory.path(), &["sh", "-c", script, "a b", "c"], &[fabric]);
    assert_eq!((code, found.as_str()), (Some(0), "a b c\nsofthca-run\nsh\n"));
}

/// Some programs look at the name by which they were started: environments of Python, busybox.
#[test]
fn programs_of_a_container_keep_their_names() {
    let directory = installed();
    symlink("/bin/sh", directory.path().join("other")).expect("a link");
    let script = "readlink /proc/$$/exe; tr '\\0' ' ' </proc/$$/cmdline";
    let named = contained(directory.path(), &["./other", "-c", script], &[("SOFTHCA_OPTIONS", "--fabric net")]);
    let shell = Path::new("/bin/sh").canonicalize().expect("a shell");
    let expected = format!("{}\n./other -c {script} ", shell.display());
    assert_eq!(named, (Some(0), expected));
}

#[test]
fn a_container_without_a_launcher_runs_its_programs() {
    let directory = installed();
    let gone = ("SOFTHCA_LAUNCHER", "/nowhere/softhca-run");
    let (code, found) = contained(directory.path(), &["echo", "done"], &[gone]);
    assert_eq!(code, Some(0), "{found}");
    assert!(found.starts_with("done\n") && found.contains("/nowhere/softhca-run: No such file"), "{found}");
    // Empty: nothing is wanted.
    let none = contained(directory.path(), &["echo", "done"], &[("SOFTHCA_LAUNCHER", "")]);
    assert_eq!(none, (Some(0), "done\n".to_owned()));
}

/// Runs a script as root in a mount namespace, with a network of its own: its exit code and output. `$0` is a directory
/// with the launcher, which other users can read.
fn confined(script: &str) -> (Option<i32>, String) {
    let directory = installed();
    let script = format!("PATH=$PATH:/sbin:/usr/sbin ip link set lo up; {script}");
    let output = Command::new("unshare").args(["-mn", "sh", "-ec", &script]).arg(directory.path()).output();
    let output = output.expect("unshare starts");
    (output.status.code(), words(&output))
}

/// Another user, without any right.
const USER: &str = "setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set=-all --inh-caps=-all";
/// Root, without any right.
const ROOT: &str = "setpriv --bounding-set=-all --inh-caps=-all";
/// Hides `/dev/shm`.
const NO_SHM: &str = "mkdir $0/dev; for file in null zero urandom full tty; do : >$0/dev/$file; \
    mount --bind /dev/$file $0/dev/$file; done; mount --rbind $0/dev /dev; mount -o remount,bind,ro /dev; ";
/// Two processes that talk: the client waits until the server listens on TCP port 18515.
const PAIR: &str = "sh -c 'ib_send_bw -n 100 >/dev/null & \
    until grep -q :4853.*0A /proc/net/tcp /proc/net/tcp6; do sleep 0.02; done; ib_send_bw -n 100 localhost && wait'";

/// What takes a right away or a place, and what the launcher needs then.
#[test]
fn programs_talk_in_confinement() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 || !has_namespaces() {
        return eprintln!("needs root, to be another user");
    }
    let read_only = "mount -o remount,bind,ro /; mount -t tmpfs tmpfs /dev/shm; ";
    let none_within = "unshare -rm sh -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec \"$@\"' - ";
    for script in [
        format!("exec {USER} $0/softhca-run {PAIR}"),
        format!("exec {ROOT} $0/softhca-run {PAIR}"),
        format!("{read_only} exec {USER} $0/softhca-run {PAIR}"),
        format!("exec {none_within} {ROOT} $0/softhca-run {PAIR}"),
        format!("ulimit -l 64; exec {USER} $0/softhca-run --memlock nobody {PAIR}"),
        format!("{NO_SHM} exec {USER} env TMPDIR=/tmp $0/softhca-run --fabric /tmp/softhca-$$ {PAIR}"),
    ] {
        let (code, found) = confined(&script);
        assert!(code == Some(0) && found.contains("BW average"), "{script}\n{found}");
    }
}

/// Where the device cannot work, one line says what would help.
#[test]
fn confinement_is_told_with_its_remedy() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 || !has_namespaces() {
        return eprintln!("needs root, to be another user");
    }
    let (code, found) = confined(&format!("ulimit -l 64; exec {USER} $0/softhca-run ibv_rc_pingpong -s 100000"));
    let remedies = ["Couldn't register MR", "RLIMIT_MEMLOCK (65536 bytes)", "ulimit -l", "--memlock nobody"];
    assert!(code == Some(1) && remedies.iter().all(|remedy| found.contains(remedy)), "{code:?} {found}");
    let (code, found) = confined(&format!("{NO_SHM} exec {USER} env TMPDIR=/tmp $0/softhca-run true"));
    assert_eq!((code, found.lines().count()), (EXIT_LAUNCHER, 1), "{found}");
    assert!(found.contains("/dev/shm/softhca-1000") && found.contains("--fabric"), "{found}");
}

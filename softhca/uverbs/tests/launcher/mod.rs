//! The launcher itself: any paths, and any environment at its start.
//!
//! Paths and signals of the launcher belong here, effects of its options in the folder of their subject.

use crate::pair::preload;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const LAUNCHER: &str = env!("CARGO_BIN_EXE_softhca-run");
/// Exit code when the launcher cannot do its work.
const EXIT_LAUNCHER: Option<i32> = Some(71);

/// A command that runs `command` by the launcher with these options.
fn launcher(preload: &Path, fabric: &Path, command: &[&str]) -> Command {
    let mut launcher = Command::new(LAUNCHER);
    launcher.arg("--preload").arg(preload).arg("--fabric").arg(fabric).arg("--").args(command);
    launcher
}

fn words(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
}

/// Devices are found and opened with this object and this network.
fn finds_devices(preload: &Path, fabric: &Path) {
    let output = launcher(preload, fabric, &["ibv_devinfo", "-d", "mlx5_0"]).output().expect("the launcher starts");
    let words = words(&output);
    assert!(output.status.success() && words.contains("PORT_ACTIVE"), "{preload:?} {fabric:?}: {words}");
    assert!(!words.contains("cannot be preloaded"), "{words}");
}

/// The launcher ends before it starts anything, and says `why`.
fn refuses(command: &mut Command, why: &str) {
    let output = command.output().expect("the launcher starts");
    let words = words(&output);
    assert_eq!(output.status.code(), EXIT_LAUNCHER, "{words}");
    assert!(words.contains(why), "{why:?} is not in: {words}");
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    let output = Command::new(LAUNCHER).arg("--help").output().expect("the launcher starts");
    let help = words(&output);
    assert!(output.status.success() && help.contains("--fabric"), "{help}");
    for line in help.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn objects_are_preloaded_from_any_path() {
    let directory = tempfile::tempdir().expect("a directory");
    for name in [&b"with space"[..], b"a:b", b"$LIB", b"\xff\xfe not UTF-8"] {
        let at = directory.path().join(OsString::from_vec(name.to_vec()));
        std::fs::create_dir(&at).expect("a directory");
        let object = at.join("libsofthca_uverbs.so");
        std::fs::copy(preload(), &object).expect("a copy of the object");
        finds_devices(&object, directory.path());
    }
    // There is no way around this one.
    let scratch = directory.path().join("scratch space");
    std::fs::create_dir(&scratch).expect("a directory");
    let object = directory.path().join("with space/libsofthca_uverbs.so");
    let mut command = launcher(&object, directory.path(), &["true"]);
    refuses(command.env("TMPDIR", scratch), "set TMPDIR to a directory without");
}

/// Programs that look into sysfs themselves, whatever `SYSFS_PATH` says, find what libibverbs finds; and the device's
/// card around it, in a PCI domain where no real one is.
#[test]
fn devices_are_where_the_kernel_has_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let read = |path: &str| {
        let output = launcher(&preload(), directory.path(), &["cat", path]).output().expect("the launcher starts");
        assert!(output.status.success(), "{path}: {}", words(&output));
        words(&output)
    };
    assert_eq!(read("/sys/class/infiniband/mlx5_0/ports/1/state"), "4: ACTIVE\n");
    assert_eq!(read("/sys/class/infiniband/mlx5_0/device/vendor"), "0x15b3\n");
    assert_eq!(read("/sys/class/infiniband_verbs/uverbs0/ibdev"), "mlx5_0\n");
    let script = "realpath $SYSFS_PATH/class/infiniband/mlx5_0; cat $SYSFS_PATH/class/infiniband/mlx5_0/../../vendor";
    let output = launcher(&preload(), directory.path(), &["sh", "-c", script]).output().expect("the launcher starts");
    let found = words(&output);
    assert!(found.contains("/sys/devices/pcica00:00/ca00:01:00.0/infiniband/mlx5_0\n0x15b3\n"), "{found}");
}

/// A copy of the launcher in `directory`, with nothing beside it. Another process makes it: a child of this one, which
/// another test starts meanwhile, would have the file open for writing, and then it could not run.
fn installed(directory: &Path) -> PathBuf {
    let copied = Command::new("cp").arg(LAUNCHER).arg(directory).status();
    assert!(copied.is_ok_and(|status| status.success()), "cp");
    directory.join("softhca-run")
}

/// `cargo install` leaves the launcher like this, with nothing beside it.
#[test]
fn a_launcher_by_itself_is_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    let installed = installed(directory.path());
    let mut command = Command::new(&installed);
    command.args(["--fabric", "net", "--", "ibv_devinfo", "-d", "mlx5_0"]).current_dir(directory.path());
    let output = command.output().expect("the launcher starts");
    let words = words(&output);
    assert!(output.status.success() && words.contains("PORT_ACTIVE"), "{words}");
    assert!(!words.contains("cannot be preloaded"), "{words}");
}

/// The exit code and the words of an installed launcher that runs `ibv_devinfo` where these file systems are mounted:
/// options and place. `TMPDIR` is `$T`.
fn on_a_hardened_machine(mounts: &[(&str, &str)], options: &str) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    installed(directory.path());
    std::fs::create_dir(at("tmp")).expect("a directory");
    let mounts: String =
        mounts.iter().map(|(options, at)| format!("mount -t tmpfs -o {options} tmpfs {at} && ")).collect();
    let script = format!("T={0}/tmp; {mounts} exec {0}/softhca-run {options} ibv_devinfo", directory.path().display());
    // SAFETY: takes nothing.
    let rights = if unsafe { libc::geteuid() } == 0 { "-m" } else { "-rm" };
    let mut command = Command::new("unshare");
    command.args([rights, "sh", "-c", &script]).current_dir(directory.path());
    command.env("TMPDIR", at("tmp")).env("HOME", "/proc").env_remove("XDG_RUNTIME_DIR");
    let output = command.output().expect("unshare starts");
    (output.status.code(), words(&output))
}

/// The launcher finds a place where a library can be written and loaded, or says where it has looked, and why in vain.
#[test]
fn the_launcher_needs_a_place_for_its_files() {
    if !crate::sysfs::has_namespaces() {
        return eprintln!("this machine permits no namespaces");
    }
    let own = "--fabric net";
    for mounts in [
        &[("noexec", "$T")][..],
        &[("ro", "$T")],
        &[("ro", "$T"), ("noexec", "/dev/shm")],
        &[("size=300k", "/dev/shm")],
        &[("ro", "/dev/shm")],
    ] {
        let (code, words) = on_a_hardened_machine(mounts, own);
        assert!(code == Some(0) && words.contains("PORT_ACTIVE"), "{mounts:?}: {code:?} {words}");
    }
    let nowhere = [("noexec", "$T"), ("noexec", "/dev/shm"), ("ro", "/var/tmp")];
    let (code, words) = on_a_hardened_machine(&nowhere, own);
    assert_eq!((code, words.lines().count()), (EXIT_LAUNCHER, 1), "{words}");
    for part in ["/tmp: mounted noexec", "/dev/shm: mounted noexec", "/var/tmp: ", "/proc: ", "set TMPDIR"] {
        assert!(words.contains(part), "{part:?} is not in: {words}");
    }
    let full = [("size=300k", "$T"), ("size=300k", "/dev/shm"), ("ro", "/var/tmp")];
    let (code, words) = on_a_hardened_machine(&full, own);
    assert!(code == EXIT_LAUNCHER && words.contains("/dev/shm: ") && words.contains("bytes free"), "{words}");
    // A network takes little room, and none at all in a place that cannot be written.
    let (code, words) = on_a_hardened_machine(&[("size=300k", "/dev/shm")], "");
    assert!(code == Some(0) && words.contains("PORT_ACTIVE"), "{code:?} {words}");
    let (code, words) = on_a_hardened_machine(&[("ro", "/dev/shm")], "");
    assert!(code == EXIT_LAUNCHER && words.contains("/dev/shm/softhca-"), "{code:?} {words}");
    // The network's folder can be made, but nothing in it: the device says where, and why.
    let (_, words) = on_a_hardened_machine(&[("nr_inodes=2", "/dev/shm")], "");
    let found = words.lines().find(|line| line.contains("fabric at /dev/shm/softhca-"));
    assert!(found.is_some_and(|line| line.ends_with(": No space left on device (os error 28)")), "{words}");
}

#[test]
fn networks_are_where_the_path_says() {
    let directory = tempfile::tempdir().expect("a directory");
    for name in [&b"a b:c"[..], b"\xc3\x28"] {
        let fabric = directory.path().join(OsString::from_vec(name.to_vec()));
        // It makes the directory.
        finds_devices(&preload(), &fabric);
        let made = std::fs::metadata(&fabric).expect("the directory");
        assert_eq!(made.permissions().mode() & 0o777, 0o700);
        assert!(std::fs::read_dir(&fabric).expect("the directory").count() > 0, "{fabric:?} is not what was used");
    }
    assert_eq!(std::fs::read_dir(directory.path()).expect("the directory").count(), 2);
}

#[test]
fn networks_of_others_are_refused() {
    let why = "is not a directory of this user alone";
    let directory = tempfile::tempdir().expect("a directory");
    let [ours, link, open] = ["ours", "link", "open"].map(|name| directory.path().join(name));
    std::fs::create_dir(&ours).expect("a directory");
    symlink(&ours, &link).expect("a link");
    refuses(&mut launcher(&preload(), &link, &["true"]), why);
    std::fs::create_dir(&open).expect("a directory");
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).expect("permissions");
    refuses(&mut launcher(&preload(), &open, &["true"]), why);
    // Another user's: root's, or if we are root, anybody's.
    // SAFETY: takes nothing.
    let others = if unsafe { libc::geteuid() } == 0 {
        std::os::unix::fs::chown(&ours, Some(1), None).expect("to give it away");
        &ours
    } else {
        Path::new("/usr")
    };
    refuses(&mut launcher(&preload(), others, &["true"]), why);
    // The directory that the launcher has checked may be another one when the program joins it.
    let swap = format!("rmdir '{0}'; ln -s / '{0}'; exec ibv_devinfo", open.display());
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o700)).expect("permissions");
    let output = launcher(&preload(), &open, &["sh", "-c", &swap]).output().expect("the launcher starts");
    assert!(!output.status.success() && words(&output).contains(why), "{}", words(&output));
}

#[test]
fn signals_that_are_ignored_stay_ignored() {
    let fabric = tempfile::tempdir().expect("a directory");
    let show = ["grep", "SigIgn", "/proc/self/status"];
    let ignored = |before: &str, command: &Command| {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let script = format!("{before} exec \"$@\"");
        let output = Command::new("sh").args(["-c", &script, "sh"]).args(words.map(OsStr::to_owned)).output();
        let text = String::from_utf8(output.expect("a shell").stdout).expect("text");
        u64::from_str_radix(text.trim_start_matches("SigIgn:").trim(), 16).expect("a mask")
    };
    let bit = |signal: i32| 1u64 << (signal - 1);
    let relevant = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGPIPE].map(bit).iter().sum::<u64>();
    // This program may have been started with some of them ignored, by a shell in the background for instance.
    let mut alone = Command::new(show[0]);
    alone.args(&show[1..]);
    let launched = launcher(&preload(), fabric.path(), &show);
    for before in ["", "trap '' HUP INT PIPE;", "trap '' TERM;"] {
        assert_eq!(ignored(before, &launched) & relevant, ignored(before, &alone) & relevant, "{before}");
    }
    let some = bit(libc::SIGHUP) | bit(libc::SIGINT) | bit(libc::SIGPIPE);
    assert_eq!(ignored("trap '' HUP INT PIPE;", &launched) & some, some);
}

/// A text that the launcher writes about itself, in place of a program.
fn written(arguments: &[&str]) -> Output {
    Command::new(LAUNCHER).args(arguments).output().expect("the launcher starts")
}

#[test]
fn bash_completes_options() {
    let completions = written(&["--completions", "bash"]);
    assert!(completions.status.success(), "{}", words(&completions));
    // As bash calls it for `softhca-run --gen<Tab>`, and for the value of an option.
    for (before, word, completed) in [("", "--gen", "--generation"), ("--link", "eth", "ethernet")] {
        let script = format!(
            "{}\nCOMP_WORDS=(softhca-run {before} {word}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
             complete=$(complete -p softhca-run); complete=${{complete#*-F }}; ${{complete%% *}} softhca-run {word} {before}\n\
             echo \"${{COMPREPLY[@]}}\"",
            String::from_utf8_lossy(&completions.stdout)
        );
        let output = Command::new("bash").args(["-c", &script]).output().expect("bash starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), completed, "{}", words(&output));
    }
    for (shell, part) in [("zsh", "#compdef softhca-run"), ("fish", "complete -c softhca-run")] {
        assert!(words(&written(&["--completions", shell])).contains(part), "{shell}");
    }
}

#[test]
fn the_man_page_has_the_options() {
    let page = written(&["--man"]);
    assert!(page.status.success(), "{}", words(&page));
    for part in [".TH softhca-run 1", "fB\\-\\-generation", "Exit codes"] {
        assert!(words(&page).contains(part), "no {part} in {}", words(&page));
    }
    // A wrong shell, a text beside a program, and neither: all wrong calls.
    for wrong in [&["--completions", "cmd"][..], &["--man", "true"], &[]] {
        assert_eq!(written(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

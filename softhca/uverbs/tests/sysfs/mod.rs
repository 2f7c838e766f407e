//! The devices' files in `/sys` and their listing in `/dev`, as programs find them by whatever calls they make: a table of programs and files, with
//! a mount namespace and without.
//!
//! Looks into sysfs belong here, the launcher's own paths in `launcher`.

use crate::program::launch;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const NAMESPACE: &str = "--namespace=always";
const NO_NAMESPACE: &str = "--namespace=never";

/// Directories, and an entry that each has.
const LISTED: [(&str, &str); 18] = [
    ("/dev/infiniband", "uverbs0"),
    ("/dev/infiniband/", "rdma_cm"),
    ("/sys/class", "infiniband"),
    ("/sys/class/misc", "rdma_cm"),
    ("/sys/class/pci_bus/ca00:01", "cpulistaffinity"),
    ("/sys/class/pci_bus/ca00:01/../../ca00:01:00.0", "vendor"),
    ("/sys/bus/pci/devices", "ca00:01:00.0"),
    ("/sys/module", "mlx5_core"),
    ("/sys/module/mlx5_core/drivers/pci:mlx5_core", "ca00:01:00.0"),
    ("/sys/class/infiniband", "mlx5_0"),
    ("/sys/class/infiniband_verbs", "uverbs0"),
    ("/sys/class/infiniband_mad", "umad0"),
    ("/sys/class/infiniband/mlx5_0/ports", "1"),
    ("/sys/class/infiniband/mlx5_0/ports/1/hw_counters", "out_of_buffer"),
    ("/sys/class/infiniband/mlx5_0/ports/1/counters", "port_xmit_data"),
    ("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types", "0"),
    ("/sys/class/infiniband/mlx5_0/device/net", "lo"),
    ("/sys/bus/pci/devices/ca00:01:00.0/infiniband", "mlx5_0"),
];

/// Files, and the start of their text.
const READ: [(&str, &str); 20] = [
    ("/sys/class/infiniband/mlx5_0/node_type", "1: CA"),
    ("/sys/class/infiniband/mlx5_0/fw_ver", "16.35.4030"),
    ("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE"),
    ("/sys/class/infiniband/mlx5_0/ports/1/phys_state", "5: LinkUp"),
    ("/sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)"),
    ("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet"),
    ("/sys/class/infiniband/mlx5_0/ports/1/cap_mask", "0x04010000"),
    ("/sys/class/infiniband/mlx5_0/ports/1/gids/1", "fe80:0000:0000:0000:0000:5fff:fe03:0001"),
    ("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/1", "RoCE v2"),
    ("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1", "lo"),
    ("/sys/class/infiniband/mlx5_0/ports/1/pkeys/0", "0xffff"),
    ("/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer", "0"),
    ("/sys/class/infiniband/mlx5_0/device/vendor", "0x15b3"),
    ("/sys/class/infiniband/mlx5_0/device/device", "0x1017"),
    ("/sys/class/infiniband/mlx5_0/device/class", "0x020000"),
    ("/sys/class/infiniband/mlx5_0/device/numa_node", "-1"),
    ("/sys/class/infiniband/mlx5_0/device/local_cpulist", "0"),
    ("/sys/class/infiniband/mlx5_0/device/resource", "0x0000ca0000000000 0x0000ca0001ffffff 0x000000000014220c"),
    ("/sys/class/infiniband/mlx5_0/device/uevent", "DRIVER=mlx5_core"),
    ("/sys/class/infiniband_verbs/uverbs0/device/modalias", "pci:v000015B3d00001017"),
];

/// Programs that print the entries of the directory `$1`, a line each.
const LISTERS: [(&str, &str); 7] = [
    ("ls", r#"ls -1 "$1""#),
    ("ls -l", r#"ls -l "$1/" | sed -n 's/.*[0-9]:[0-9][0-9] \([^ ]*\).*/\1/p'"#),
    ("a shell's pattern", r#"for path in "$1"/*; do echo "${path##*/}"; done"#),
    ("bash's pattern", r#"bash -c 'for path in "$1"/*; do echo "${path##*/}"; done' - "$1""#),
    ("find", r#"find "$1/" -mindepth 1 -maxdepth 1 -printf '%f\n'"#),
    ("Python", r#"/usr/bin/python3 -c 'import os, sys; print(*os.listdir(sys.argv[1]), sep="\n")' "$1""#),
    ("Perl", r#"perl -e 'opendir my $d, $ARGV[0] or die; print "$_\n" for readdir $d' "$1""#),
];

/// Programs that print the file `$1`.
const READERS: [(&str, &str); 7] = [
    ("cat", r#"cat "$1""#),
    ("grep", r#"grep '' "$1""#),
    ("a shell's redirection", r#"read -r line <"$1"; echo "$line""#),
    ("Python", r#"/usr/bin/python3 -c 'import sys; print(open(sys.argv[1]).read())' "$1""#),
    ("Perl", r#"perl -e 'open my $f, "<", $ARGV[0] or die; print <$f>' "$1""#),
    ("awk", r#"awk '{ print }' "$1""#),
    ("a path that was resolved", r#"cat "$(realpath "$1")""#),
];

/// Whether this machine permits namespaces: without them, programs find what interposing shows. It must permit them
/// where `NEEDS_NAMESPACES` is set.
pub(crate) fn has_namespaces() -> bool {
    let may = |options: &str| Command::new("unshare").args([options, "true"]).status().is_ok_and(|end| end.success());
    let has = may("-m") || may("-rm");
    assert!(has || std::env::var_os("NEEDS_NAMESPACES").is_none(), "NEEDS_NAMESPACES, but `unshare -m` fails");
    has
}

/// Names that `glob` finds, and what `realpath` makes of the devices: by a program in C.
#[test]
fn patterns_find_the_files_and_devices_resolve_to_themselves() {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, program) = (directory.path().join("find.c"), directory.path().join("find"));
    let text = r#"
        #include <glob.h>
        #include <limits.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(void)
        {
            static const char *patterns[] = { "/dev/infiniband/u*", "/sys/class/infiniband/*/ports/*/state",
                "/sys/module/mlx5_*", "/sys/class/pci_bus/ca00:*" };
            char resolved[PATH_MAX];
            glob_t found;
            for (int i = 0; i < 4; i++)
                if (glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found) != 0)
                    return 1;
            for (size_t i = 0; i < found.gl_pathc; i++)
                puts(found.gl_pathv[i]);
            globfree(&found);
            puts(realpath("/dev/infiniband/uverbs0", resolved));
            puts(realpath("/dev/infiniband/rdma_cm", NULL));
            puts(realpath("/dev/infiniband/", resolved));
            return 0;
        }"#;
    std::fs::write(&source, text).expect("a source");
    let compiled = Command::new("cc").args(["-Wall", "-Werror", "-o"]).args([&program, &source]).status();
    assert!(compiled.is_ok_and(|end| end.success()), "cc");
    let expected = "/dev/infiniband/umad0\n/dev/infiniband/uverbs0\n/sys/class/infiniband/mlx5_0/ports/1/state\n\
        /sys/module/mlx5_core\n/sys/module/mlx5_ib\n/sys/class/pci_bus/ca00:00\n/sys/class/pci_bus/ca00:01\n\
        /dev/infiniband/uverbs0\n/dev/infiniband/rdma_cm\n/dev/infiniband\n";
    let modes: &[&str] = if has_namespaces() { &[NAMESPACE, NO_NAMESPACE] } else { &[NO_NAMESPACE] };
    for mode in modes {
        let ended = launch(&[mode], &[program.to_str().expect("UTF-8")], PATIENCE);
        assert_eq!(ended, (Some(0), expected.to_owned()), "{mode}");
    }
}

/// The launcher lists a device as such even if the user may make none.
#[test]
fn device_files_are_of_the_devices_kind() {
    let script =
        r#"for file in /dev/infiniband/*; do [ -c "$file" ] && stat -c '%n %t %T' "$file"; done; ls /dev/vfio"#;
    let (code, output) = launch(&["--devices", "2", "--vfio", "1"], &["sh", "-c", script], PATIENCE);
    let expected = ["rdma_cm a 7a", "umad0 e7 0", "umad1 e7 1", "uverbs0 e7 c0", "uverbs1 e7 c1"];
    let files: String = expected.map(|file| format!("/dev/infiniband/{file}\n")).concat();
    assert_eq!((code, output), (Some(0), files + "51714\nvfio\n"));
}

/// Runs each script on each path, in one shell, and gives what each has printed.
fn table(mode: &str, scripts: &[(&str, &str)], paths: &[(&str, &str)], check: impl Fn(&str, &str) -> bool) {
    const MARK: &str = "== ";
    let mut all = String::from("exec 2>&1\n");
    for (_, script) in scripts {
        for (path, _) in paths {
            all += &format!("echo '{MARK}'; set -- '{path}'; {script}\n");
        }
    }
    let (code, output) = launch(&[mode, "--link", "ethernet"], &["sh", "-c", &all], PATIENCE);
    assert!(code.is_some(), "{output}");
    let printed: Vec<&str> = output.split(MARK).skip(1).collect();
    let cases = scripts.iter().flat_map(|script| paths.iter().map(move |path| (script, path)));
    let mut wrong = Vec::new();
    let mut count = 0;
    for (((name, _), (path, expected)), printed) in cases.zip(&printed) {
        count += 1;
        if !check(printed.trim(), expected) {
            wrong.push(format!("{name} {path}: no {expected:?} in {printed:?}"));
        }
    }
    assert_eq!(count, scripts.len() * paths.len(), "{output}");
    assert!(wrong.is_empty(), "{mode}: {} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

fn listed(mode: &str) {
    table(mode, &LISTERS, &LISTED, |printed, entry| printed.lines().any(|line| line.trim() == entry));
}

fn read(mode: &str) {
    table(mode, &READERS, &READ, |printed, text| printed.starts_with(text));
}

#[test]
fn without_a_namespace_programs_of_the_c_library_find_the_files() {
    listed(NO_NAMESPACE);
    read(NO_NAMESPACE);
}

#[test]
fn in_a_namespace_every_program_finds_the_files() {
    if !has_namespaces() {
        return eprintln!("this machine permits no namespaces");
    }
    listed(NAMESPACE);
    read(NAMESPACE);
}

/// Programs that make system calls themselves, as Go programs do. The test has a C program without a dynamic loader.
/// The launcher tells its user that it can open no device.
#[test]
fn in_a_namespace_static_programs_find_the_files_and_users_the_reason() {
    if !has_namespaces() {
        return eprintln!("this machine permits no namespaces");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (source, program) = (directory.path().join("look.c"), directory.path().join("look"));
    let text = r#"
        #include <dirent.h>
        #include <stdio.h>
        int main(void)
        {
            DIR *devices = opendir("/sys/class/infiniband");
            for (struct dirent *entry; devices && (entry = readdir(devices));)
                puts(entry->d_name);
            FILE *file = fopen("/sys/class/infiniband/mlx5_0/ports/1/state", "r");
            char line[64];
            return !(file && fgets(line, sizeof(line), file) && puts(line) >= 0);
        }"#;
    std::fs::write(&source, text).expect("a source");
    let compiled = Command::new("cc").arg("-static").arg("-o").args([&program, &source]).status();
    assert!(compiled.is_ok_and(|end| end.success()), "cc -static");
    let (code, output) = launch(&[NAMESPACE], &[program.to_str().expect("UTF-8")], PATIENCE);
    assert!(code == Some(0) && output.contains("mlx5_0\n") && output.contains("4: ACTIVE"), "{output}");
    assert!(output.contains("is linked statically") && output.contains("sees the devices in /sys"), "{output}");
    let (code, output) = launch(&[NO_NAMESPACE], &[program.to_str().expect("UTF-8")], PATIENCE);
    assert!(code == Some(1) && output.contains("It finds no devices"), "{output}");
}

/// A user without any right gets a user namespace, in which it is itself.
#[test]
fn users_without_rights_have_namespaces_too() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 || !has_namespaces() {
        return eprintln!("needs root, to be another user");
    }
    const NOBODY: u32 = 65534;
    let home = tempfile::tempdir().expect("a directory");
    chown(home.path(), Some(NOBODY), Some(NOBODY)).expect("to give it away");
    let script = "id -u; ls /sys/class/infiniband; ls -d /sys/class/net/lo; ibv_devinfo -d mlx5_0 | grep state";
    let mut command = Command::new("setpriv");
    let (id, launcher) = (NOBODY.to_string(), env!("CARGO_BIN_EXE_softhca-run"));
    command.args([
        "--reuid",
        &id,
        "--regid",
        &id,
        "--clear-groups",
        launcher,
        NAMESPACE,
        "--fabric",
        "net",
        "--preload",
    ]);
    command.arg(crate::pair::preload()).args(["--", "sh", "-c", script]).current_dir(home.path());
    let output = command.env("TMPDIR", "/tmp").output().expect("setpriv");
    let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    for line in ["65534\n", "mlx5_0\n", "/sys/class/net/lo\n", "PORT_ACTIVE"] {
        assert!(text.contains(line), "no {line:?} in {text}");
    }
}

/// The machine's own files stay, and the machine sees nothing of the namespace.
#[test]
fn a_namespace_hides_nothing_else() {
    if !has_namespaces() {
        return eprintln!("this machine permits no namespaces");
    }
    let names = |directory: &str| -> Vec<String> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    for directory in ["/sys/class", "/sys/class/net", "/sys/devices", "/sys/bus", "/sys/bus/pci/devices"] {
        let before = names(directory);
        let (code, output) = launch(&[NAMESPACE], &["ls", "-1", directory], PATIENCE);
        let inside: Vec<&str> = output.lines().collect();
        assert_eq!(code, Some(0), "{output}");
        assert!(
            before.iter().all(|name| inside.contains(&name.as_str())),
            "{directory}: {before:?}, inside {inside:?}"
        );
        assert_eq!(names(directory).len(), before.len(), "{directory}");
    }
    assert!(!Path::new("/sys/class/infiniband/mlx5_0/node_desc").exists(), "it is on the machine");
}

/// A launcher that another one has started gives its program a namespace, with its own devices.
#[test]
fn a_launcher_runs_under_another() {
    if !has_namespaces() {
        return eprintln!("this machine permits no namespaces");
    }
    let inner = tempfile::tempdir().expect("a directory");
    let launcher =
        crate::pair::launcher(&[NAMESPACE, "--devices", "2"], inner.path(), &["ls", "/sys/class/infiniband"]);
    let words = std::iter::once(launcher.get_program()).chain(launcher.get_args());
    let words: Vec<&str> = words.map(|word| word.to_str().expect("UTF-8")).collect();
    let ended = launch(&[NAMESPACE, "--devices", "3"], &words, PATIENCE);
    assert_eq!(ended, (Some(0), "mlx5_0\nmlx5_1\n".to_owned()));
}

/// infiniband-diags and rdma-core print the device, and the state of a port whose cable is pulled.
#[test]
fn tools_of_others_describe_the_device() {
    let modes: &[&str] = if has_namespaces() { &[NAMESPACE, NO_NAMESPACE] } else { &[NO_NAMESPACE] };
    for mode in modes {
        for (tool, expected) in [
            ("ibv_devices", &["mlx5_0", "02005f0300000000"][..]),
            ("ibstat -l", &["mlx5_0"]),
            (
                "ibstat mlx5_0",
                &[
                    "CA type: MT4119",
                    "Number of ports: 1",
                    "Firmware version: 16.35.4030",
                    "State: Active",
                    "Physical state: LinkUp",
                    "Rate: 100",
                    "Base lid: 1",
                    "SM lid: 1000",
                    "Capability mask: 0x2651e848",
                    "Port GUID: 0x02005f0300000001",
                    "Link layer: InfiniBand",
                ],
            ),
            ("ibstatus mlx5_0:1", &["state:\t\t 4: ACTIVE", "rate:\t\t 100 Gb/sec (4X EDR)", "base lid:\t 0x1"]),
            ("/bin/sh -c 'cat $SYSFS_PATH/class/infiniband/mlx5_0/board_id'", &["SFT0000000001"]),
        ] {
            let (code, output) = launch(&[mode], &["sh", "-c", &format!("PATH=$PATH:/usr/sbin; {tool}")], PATIENCE);
            let missing: Vec<_> = expected.iter().filter(|text| !output.contains(**text)).collect();
            assert!(code == Some(0) && missing.is_empty(), "{mode} {tool}: no {missing:?} in\n{output}");
        }
        let pulled = "touch \"$0/mlx5_0-1.down\"; for i in $(seq 100); do
            ibstat mlx5_0 | grep -q 'State: Down' && break; sleep 0.05; done
            PATH=$PATH:/usr/sbin ibstat mlx5_0; rm \"$0/mlx5_0-1.down\"";
        let device = crate::pair::Device::new(std::slice::from_ref(mode));
        let fabric = device.fabric.path().to_str().expect("UTF-8");
        let (code, output) = crate::pair::launch_on(&device, &["sh", "-c", pulled, fabric], PATIENCE);
        assert!(code == Some(0) && output.contains("State: Down") && output.contains("Polling"), "{output}");
    }
}

//! The machine's own RDMA devices: programs under the launcher must not meet them. `plant` makes files of two such
//! devices in a mount namespace.
//!
//! Devices of the machine belong here, the software device's own files in `sysfs`.

use crate::pair::launcher;
use crate::sysfs::has_namespaces;
use std::path::Path;
use std::process::Command;

const NAMESPACE: &str = "--namespace=always";
const NO_NAMESPACE: &str = "--namespace=never";

/// Runs `command` on the machine that `plant` makes; its output.
fn on_such_a_machine(command: &[&str]) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let plant = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/host_devices/plant");
    // SAFETY: takes nothing.
    let rights = if unsafe { libc::geteuid() } == 0 { "-m" } else { "-rm" };
    let mut planted = Command::new("unshare");
    planted.args([rights, plant]).arg(directory.path()).args(command);
    let output = planted.output().expect("unshare starts");
    [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
}

/// The words of a launcher with this option that runs a script of the shell.
fn launched(option: &str, fabric: &Path, script: &str) -> Vec<String> {
    let command = launcher(&[option], fabric, &["sh", "-c", script]);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_str().expect("UTF-8").to_owned()).collect()
}

/// Runs each script on that machine, and compares what it prints: the lines without spaces at their ends.
fn prints(option: &str, cases: &[(&str, &str)]) {
    const MARK: &str = "== ";
    let fabric = tempfile::tempdir().expect("a directory");
    let all: String = cases.iter().map(|(script, _)| format!("echo '{MARK}'; {script}\n")).collect();
    let command = launched(option, fabric.path(), &format!("exec 2>&1\nPATH=$PATH:/usr/sbin:/sbin\n{all}"));
    let output = on_such_a_machine(&command.iter().map(String::as_str).collect::<Vec<_>>());
    let printed: Vec<String> = output
        .split(MARK)
        .skip(1)
        .map(|part| part.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
        .collect();
    assert_eq!(printed.len(), cases.len(), "{output}");
    let wrong: Vec<String> = cases
        .iter()
        .zip(printed)
        .filter(|((_, expected), printed)| printed != expected)
        .map(|((script, expected), printed)| format!("{script}\n  prints {printed:?}, not {expected:?}"))
        .collect();
    assert!(wrong.is_empty(), "{option}: {} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Scripts whose output does not depend on the namespace.
const ALWAYS: [(&str, &str); 18] = [
    ("ibv_devices | sed 1,2d | tr -s ' \t' ' '", "mlx5_0 02005f0300000000"),
    ("ibv_devinfo | grep -E 'hca_id|node_guid' | tr -s '\t' ' '", "hca_id: mlx5_0\n node_guid: 0200:5f03:0000:0000"),
    ("ibv_devinfo -d mana_0", "IB device 'mana_0' wasn't found"),
    ("ibstat -l", "mlx5_0"),
    ("rdma link | cut -d ' ' -f 1,2", "link mlx5_0/1"),
    ("ls /sys/class/infiniband", "mlx5_0"),
    ("cat /sys/class/infiniband/mlx5_0/node_guid", "0200:5f03:0000:0000"),
    ("ls /sys/class/infiniband_verbs", "abi_version\nuverbs0"),
    ("ls /sys/class/infiniband_mad", "abi_version\numad0"),
    ("ls -d /sys/class/infiniband*", "/sys/class/infiniband\n/sys/class/infiniband_mad\n/sys/class/infiniband_verbs"),
    // The interfaces of the two devices stay, with nothing of RDMA at them.
    ("cd /sys/class/net; echo eth[89]", "eth8 eth9"),
    (
        "cat /sys/class/net/eth[89]/device/infiniband*/*/*",
        "cat: '/sys/class/net/eth[89]/device/infiniband*/*/*': No such file or directory",
    ),
    ("ls /sys/class/net/eth9/device/infiniband 2>&1 | cut -d ' ' -f 5-", "No such file or directory"),
    ("cat /sys/bus/pci/devices/*/infiniband/*/node_guid", "0200:5f03:0000:0000"),
    ("ls /sys/bus/pci/devices | grep -e fa00 -e ca00 -e 7870", "7870:00:00.0\nca00:01:00.0"),
    ("ls /sys/bus/pci/drivers/mlx5_core | grep :", "ca00:01:00.0"),
    ("ls /dev/infiniband", "rdma_cm\numad0\nuverbs0"),
    (
        "cat /dev/infiniband/uverbs1 /dev/infiniband/umad1 /dev/infiniband/issm0",
        "cat: /dev/infiniband/uverbs1: No such file or directory\n\
      cat: /dev/infiniband/umad1: No such file or directory\n\
      cat: /dev/infiniband/issm0: No such file or directory",
    ),
];

#[test]
fn without_a_launcher_the_machines_devices_are_found() {
    if !has_namespaces() {
        return eprintln!("this machine permits no namespaces");
    }
    let found = on_such_a_machine(&["sh", "-c", "ibv_devices; ls /sys/class/infiniband; cat /dev/infiniband/uverbs1"]);
    for part in ["deadbeef00000000", "mana_0\nmlx5_0\n", "of the machine"] {
        assert!(found.contains(part), "no {part:?} in {found}");
    }
}

#[test]
fn without_a_namespace_the_software_device_is_alone() {
    if !has_namespaces() {
        return eprintln!("this machine permits no namespaces");
    }
    prints(NO_NAMESPACE, &ALWAYS);
}

/// Here walks find nothing either, whatever calls they make.
#[test]
fn in_a_namespace_the_software_device_is_alone() {
    if !has_namespaces() {
        return eprintln!("this machine permits no namespaces");
    }
    let walks = [
        ("find -L /sys/class/net/eth9/device/ -maxdepth 1 -name 'inf*'", ""),
        (
            "ls /sys/class/net/eth9/device/ | tr '\n' ' '",
            "class device driver mlx5_core.rdma.0 modalias net uevent vendor",
        ),
        (
            "find /sys -path '*infiniband*' -name 'm[al]*_0' | sort",
            "/sys/class/infiniband/mlx5_0\n/sys/devices/pcica00:00/ca00:01:00.0/infiniband/mlx5_0",
        ),
        (
            "find /sys -name 'uverbs*' | sort",
            "/sys/class/infiniband_verbs/uverbs0\n/sys/devices/pcica00:00/ca00:01:00.0/infiniband_verbs/uverbs0",
        ),
        ("ls /sys/bus/auxiliary/devices /sys/bus/auxiliary/drivers | grep -e mlx5 -e mana", ""),
        ("cat /sys/class/net/eth9/address", "02:00:00:00:00:09"),
    ];
    prints(NAMESPACE, &[&ALWAYS[..], &walks].concat());
}

/// A program without the preloaded object opens no device of the machine either.
#[test]
fn in_a_namespace_static_programs_open_none() {
    if !has_namespaces() {
        return eprintln!("this machine permits no namespaces");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (source, program) = (directory.path().join("look.c"), directory.path().join("look"));
    let text = r#"
        #include <errno.h>
        #include <fcntl.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        int main(void)
        {
            static const char *files[] = { "uverbs0", "uverbs1", "rdma_cm" };
            if (chdir("/dev/infiniband") != 0)
                return 1;
            for (int i = 0; i < 3; i++)
                puts(open(files[i], O_RDONLY) < 0 ? strerror(errno) : "opened");
            return 0;
        }"#;
    std::fs::write(&source, text).expect("a source");
    let compiled = Command::new("cc").arg("-static").arg("-o").args([&program, &source]).status();
    assert!(compiled.is_ok_and(|end| end.success()), "cc -static");
    let program = program.to_str().expect("UTF-8");
    let none = "No such file or directory\n";
    prints(NAMESPACE, &[(program, [none; 3].concat().trim_end())]);
}

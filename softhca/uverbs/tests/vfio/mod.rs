//! PCI functions that programs drive themselves, by VFIO.
//!
//! The interface of VFIO belongs here, functions driven by this crate in `devx/tests/vfio`.

use crate::program::{compiled, launch};
use crate::rdma_core;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Requests to VFIO's files: those of drivers, and some of no driver.
#[test]
fn vfio_is_answered_as_by_the_kernel() {
    let (_directory, program) = compiled("vfio");
    let (code, output) = launch(&["--vfio", "1", "--log", "off"], &[&program], PATIENCE);
    assert_eq!(code, Some(0), "{output}");
    // The program has stored to a register with an instruction that reads, too.
    assert!(output.contains("UAR page 0x0: add at 0x10 is no plain store"), "{output}");
    assert!(!output.contains("not so") && !output.contains("errno"), "{output}");
}

/// Without functions, `/dev/vfio` is the machine's own.
#[test]
fn there_are_functions_only_if_they_were_asked_for() {
    let (code, output) = launch(&[], &["ls", "/dev/vfio/51713"], PATIENCE);
    assert_ne!(code, Some(0), "{output}");
    let (code, output) = launch(&["--devices", "9", "--vfio", "8"], &["true"], PATIENCE);
    assert!(code != Some(0) && output.contains("16 at most"), "{output}");
    let options = ["--devices", "2", "--vfio", "3"];
    let look = "test -c /dev/vfio/51716 && test -d /sys/bus/pci/devices/ca00:05:00.0";
    let (code, output) = launch(&options, &["sh", "-c", look], PATIENCE);
    assert_eq!((code, output.as_str()), (Some(0), ""));
}

/// rdma-core's own driver of the function (`mlx5dv_get_vfio_device_list`): queues made through it, with data compared,
/// with each other and with a device that the kernel drives.
#[test]
fn rdma_cores_driver_drives_the_function() {
    let (_directory, program) = compiled("vfio_driver");
    for generation in ["connectx5", "connectx6dx", "connectx7", "connectx8"] {
        let options = ["--vfio", "1", "--generation", generation];
        assert_eq!(launch(&options, &[&program], PATIENCE), (Some(0), String::new()), "{generation}");
    }
    // The driver works in strict mode as well, which traps the other device.
    assert_eq!(launch(&["--vfio", "1", "--strict"], &[&program], PATIENCE), (Some(0), String::new()));
    // The program takes memory away from existing queues: the function has a fault, and restarts.
    let (code, output) = launch(&["--vfio", "1", "--log", "off"], &[&program, "left"], PATIENCE);
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("has 1 complaint(s)") && output.contains("DMA to unmapped memory"), "{output}");
}

/// rdma-core's own tests of that driver, as Debian's python3-pyverbs has them. One waits for a link that comes up after
/// the function was opened: the cable is pulled before, and is back 4.5 s after the test has begun, however long Python
/// takes until then. The test asks for the link once a second, and can miss the event of a link that comes up meanwhile.
#[test]
fn rdma_cores_own_tests_pass() {
    let directory = tempfile::tempdir().expect("a directory for the tests");
    let pull = r#"cable=$SOFTHCA_FABRIC/mlx5_1-1.down said=$SOFTHCA_FABRIC/said
        [ "$1" = test_mlx5vfio_async_event ] && touch "$cable"
        run_tests --pci-dev ca00:02:00.0 tests.test_mlx5_vfio.Mlx5VfioTrafficTest."$1" >"$said" 2>&1 &
        until grep -q 'Opens one' "$said"; do kill -0 $! || break; sleep 0.1; done
        [ -e "$cable" ] && { sleep 4.5; rm "$cable"; }
        wait $!; code=$?; cat "$said"; exit $code"#;
    let script = rdma_core::script(directory.path(), pull);
    for test in ["test_mlx5vfio_rc_qp_send_imm_traffic", "test_mlx5vfio_async_event"] {
        let (code, output) = launch(&["--vfio", "1"], &["sh", "-c", &script, "sh", test], PATIENCE);
        assert_eq!(code, Some(0), "{output}");
        assert!(output.contains("Ran 1 test") && !output.contains("skipped"), "{output}");
    }
}

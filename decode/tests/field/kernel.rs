//! Reports of the kernel about a queue pair, a completion queue, a port or the device.
//!
//! Such lines belong here, commands in `commands.rs`.

use super::*;

/// Queue pairs, completion queues and devices, as the kernel reports them in its versions.
#[test]
fn events_of_the_kernel() {
    use Kind::Event;
    check(&[
        (
            "[Tue Mar  3 10:00:00 2026] mlx5_bond_0/1: QP 40123 error: local length error (0x8e 0x0 0x0)",
            Event,
            &[
                ("qpn", 40123),
                ("syndrome", 1),
                ("vendor_err_synd", 0x8e),
                ("rsvd1:hw_synd_type", 0),
                ("rsvd1:hw_err_synd", 0),
            ],
            &["IBV_WC_LOC_LEN_ERR", "a receive: its buffers", "mlx5_ib"],
        ),
        // The text is the status's, the number the syndrome's.
        (
            "mlx5_0/1: QP 77 error: general error (0x81 0x2 0x93)",
            Event,
            &[
                ("qpn", 77),
                ("syndrome", 0x15),
                ("vendor_err_synd", 0x81),
                ("rsvd1:hw_synd_type", 2),
                ("rsvd1:hw_err_synd", 0x93),
            ],
            &["IBV_WC_RETRY_EXC_ERR", "but the number is the device's syndrome"],
        ),
        ("mlx5_0/1: QP 77 error: fatal error (0x88 0x0 0x0)", Event, &[("syndrome", 0x13)], &["IBV_WC_REM_ACCESS_ERR"]),
        (
            "rocep9s0/1: QP 91 error: unrecognized status (0x41 0x0 0x0)",
            Event,
            &[("qpn", 91), ("vendor_err_synd", 0x41)],
            &["no text for its syndrome", "CQ error on CQN"],
        ),
        (
            "[12001.1] mlx5_core 0000:3b:00.0: mlx5_eq_int:556:(pid 0): CQ error on CQN 0x51c, syndrom 0x1",
            Event,
            &[("cqn", 0x51c), ("syndrome", 1)],
            &["CQ_OVERRUN", "more completions than it has room for"],
        ),
        (
            "mlx5_core 0000:3b:00.0: cq_err_event_notifier:517:(pid 812): CQ error on CQN 0x51d, syndrome 0x2",
            Event,
            &[("cqn", 0x51d), ("syndrome", 2)],
            &["CQ_ACCESS_VIOLATION_ERROR", "IOMMU"],
        ),
        (
            "mlx5_core 0000:3b:00.0: poll_health:840:(pid 0): device's health compromised - reached miss count",
            Event,
            &[],
            &["the firmware has stopped answering", "pci/0000:3b:00.0"],
        ),
        (
            "mlx5_core 0000:3b:00.0: print_health_info:429:(pid 0): Health issue observed, High temperature, \
             severity(3) ERROR:",
            Event,
            &[("severity", 3)],
            &["health syndrome 0x10", "cooling"],
        ),
        (
            "mlx5_core 0000:3b:00.1: poll_health:810:(pid 0): Fatal error 1 detected",
            Event,
            &[("fatal_error", 1)],
            &["all ones"],
        ),
        ("mlx5_core 0000:3b:00.1: print_health_info:420:(pid 0): PCI slot is unavailable", Event, &[], &["all ones"]),
        (
            "mlx5_core 0000:3b:00.1: mlx5_health_try_recover:381:(pid 1): health recovery flow aborted, PCI reads \
             still not working",
            Event,
            &[],
            &["does not answer on PCIe"],
        ),
        (
            "mlx5_core 0000:3b:00.0 ens1: TX timeout on queue: 3, SQ: 0x1f8, CQ: 0x418, SQ Cons: 0x12 SQ Prod: \
             0x40, usecs since last trans: \
             15360000",
            Event,
            &[("queue", 3), ("sqn", 0x1f8), ("cqn", 0x418), ("sq_cons", 0x12), ("sq_prod", 0x40)],
            &["no send of a queue"],
        ),
        (
            "NETDEV WATCHDOG: ens1 (mlx5_core): transmit queue 3 timed out 5123 ms",
            Event,
            &[],
            &["no send of a \
         queue"],
        ),
        ("mlx5_core 0000:3b:00.0 ens1: ERR CQE on SQ: 0x1f8", Event, &[("sqn", 0x1f8)], &["Error cqe on cqn"]),
        (
            "mlx5_core 0000:3b:00.0: Port module event[error]: module 0, Cable error, High Temperature",
            Event,
            &[("module", 0)],
            &["ethtool -m"],
        ),
        (
            "mlx5_core 0000:3b:00.0: mlx5_pcie_event:326:(pid 5): Detected insufficient power on the PCIe slot \
             (27W).",
            Event,
            &[],
            &["often harmless"],
        ),
        (
            "mlx5_core 0000:3b:00.0: temp_warn:171:(pid 0): High temperature on sensors with bit set 0 1",
            Event,
            &[],
            &["cooling"],
        ),
        (
            "infiniband mlx5_0: mlx5_ib_page_fault_resume:404:(pid 9): Failed to resolve the page fault on WQ 0x1f8 \
             err -5",
            Event,
            &[("wqn", 0x1f8)],
            &["on demand"],
        ),
        ("mlx5_core 0000:3b:00.0: Async event for bogus CQ 0x51c", Event, &[("cqn", 0x51c)], &["no longer has"]),
        ("mlx5_0: got async event IBV_EVENT_QP_FATAL, qpn 0x55", Event, &[], &["IBV_EVENT_QP_FATAL"]),
        ("NCCL WARN NET/IB : mlx5_0:1 Got async event : port error", Event, &[], &["IBV_EVENT_PORT_ERR"]),
        (
            "worker_pool.cpp:399] Worker: Received context async event local work queue catastrophic error for \
             context mlx5_1",
            Event,
            &[],
            &["QP_FATAL"],
        ),
    ]);
}

/// The block of lines about a device's health is one record; another device has its own.
#[test]
fn health_is_one_block() {
    let block = "\
[70.1] mlx5_core 0000:3b:00.0: poll_health:840:(pid 0): device's health compromised - reached miss count
[70.2] mlx5_core 0000:3b:00.0: print_health_info:429: Health issue observed, firmware internal error, severity(2) CRITICAL:
[70.3] mlx5_core 0000:3b:00.0: print_health_info:433:(pid 0): assert_var[0] 0x00000041
[70.3] mlx5_core 0000:3b:00.0: print_health_info:433:(pid 0): assert_var[1] 0x00000000
[70.4] mlx5_core 0000:3b:00.0: print_health_info:436:(pid 0): assert_exit_ptr 0x20a1b2c3
[70.5] mlx5_core 0000:3b:00.0: print_health_info:437:(pid 0): assert_callra 0x20a1b2d4
[70.6] mlx5_core 0000:3b:00.0: print_health_info:440:(pid 0): fw_ver 28.39.1002
[70.7] mlx5_core 0000:3b:00.0: print_health_info:441:(pid 0): time 1700000000
[70.7] mlx5_core 0000:3b:00.0: print_health_info:442:(pid 0): hw_id 0x00000218
[70.7] mlx5_core 0000:3b:00.0: print_health_info:443:(pid 0): rfr 0
[70.7] mlx5_core 0000:3b:00.0: print_health_info:444:(pid 0): severity 2 (CRITICAL)
[70.8] mlx5_core 0000:3b:00.0: print_health_info:445:(pid 0): irisc_index 3
[70.8] mlx5_core 0000:3b:00.0: print_health_info:446:(pid 0): synd 0x1: firmware internal error
[70.8] mlx5_core 0000:3b:00.0: print_health_info:448:(pid 0): ext_synd 0x8d1f
[70.9] mlx5_core 0000:3b:00.0: print_health_info:449:(pid 0): raw fw_ver 0x1c2703ea
[71.0] mlx5_core 0000:5e:00.0: poll_health:840:(pid 0): device's health compromised - reached miss count
";
    let report = read(block);
    assert_eq!(report.records.len(), 2, "{report}");
    let record = &report.records[0];
    let expected = [
        ("severity", 2),
        ("assert_var[0]", 0x41),
        ("assert_exit_ptr", 0x20a1_b2c3),
        ("assert_callra", 0x20a1_b2d4),
        ("hw_id", 0x218),
        ("irisc_index", 3),
        ("synd", 1),
        ("ext_synd", 0x8d1f),
        ("raw_fw_ver", 0x1c27_03ea),
    ];
    for (name, value) in expected {
        assert_eq!(record.number(name), Some(value), "{name}\n{report}");
    }
    assert_eq!(record.log.len(), 15);
    let diagnosis = record.diagnosis.as_ref().expect("a diagnosis");
    assert!(diagnosis.summary.contains("stopped answering"), "{report}");
    assert!(diagnosis.details.iter().any(|detail| detail.contains("firmware internal error")), "{report}");
    assert!(report.to_string().contains("28.39.1002"), "{report}");
    // Kernels before 5.x print the version raw, and no head.
    let old = read("mlx5_core 0000:3b:00.0: print_health_info:300:(pid 0): synd 0x7: irisc not responding");
    assert_eq!(old.records[0].number("synd"), Some(7), "{old}");
}

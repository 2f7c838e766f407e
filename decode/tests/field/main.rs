//! Lines of the field's programs about failures, and lines of ordinary logs, in which nothing failed. The forms are the
//! programs'; numbers and names are made up.
//!
//! A line by itself belongs here: failed completions in `completions.rs`, reports of the kernel in `kernel.rs`, commands
//! and calls in `commands.rs`, the rest in this file. Public text belongs in `golden.rs`, forms of dumps in `dumps.rs`.

mod commands;
mod completions;
mod kernel;

use blueflame_decode::{Kind, Options, Report, decode};

/// A line; the kind of its record; some of its numbers; words that the report has.
type Case = (&'static str, Kind, &'static [(&'static str, u64)], &'static [&'static str]);

fn read(text: &str) -> Report {
    decode(text.as_bytes(), &Options::default())
}

/// Compares all, and names each that differs.
fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (line, kind, fields, words) in cases {
        let report = read(line);
        let [record] = &report.records[..] else {
            wrong.push(format!("{} records: {line}\n{report}", report.records.len()));
            continue;
        };
        let differing =
            fields.iter().filter(|(name, value)| record.number(name) != Some(*value)).map(|(name, _)| *name);
        let shown = report.to_string();
        let missing = words.iter().filter(|word| !shown.contains(**word)).copied();
        let differences: Vec<_> = differing.chain(missing).collect();
        if record.kind != *kind || record.diagnosis.is_none() || !differences.is_empty() {
            wrong.push(format!("{:?}, {differences:?}: {line}\n{report}", record.kind));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

const RETRIES: &[&str] = &["IBV_WC_RETRY_EXC_ERR", "nothing came back from the peer"];

/// A flush names the error before it, of its own queue pair if it is known; a queue pair without a syndrome names the
/// completion queue.
#[test]
fn consequences_name_their_cause() {
    let detail =
        |text: &str, at: usize| read(text).records[at].diagnosis.as_ref().expect("a failure").details.join("\n");
    let log = "\
wc error: status IBV_WC_REM_ACCESS_ERR vendor_err 136 qp_num 0x11
something else
wc error: status IBV_WC_RETRY_EXC_ERR vendor_err 129 qp_num 0x22
wc error: status IBV_WC_WR_FLUSH_ERR vendor_err 249 qp_num 0x11
wc error: status IBV_WC_WR_FLUSH_ERR vendor_err 249 qp_num 0x33
number 1 got bad completion with status: 0x5, vendor syndrome: 0xf9
";
    assert!(detail(log, 2).contains("the error before it here: line 1, "), "{}", detail(log, 2));
    assert!(!detail(log, 3).contains("before it here"), "{}", detail(log, 3));
    assert!(detail(log, 4).contains("the error before it here: line 3, "), "{}", detail(log, 4));
    let queue = "\
mlx5_core 0000:3b:00.0: cq_err_event_notifier:517:(pid 8): CQ error on CQN 0x51d, syndrome 0x1
rocep9s0/1: QP 91 error: unrecognized status (0x41 0x0 0x0)
";
    assert!(detail(queue, 1).contains("the CQ error before it here: line 1, "), "{}", detail(queue, 1));
}

/// Lines of logs, tables and code in which nothing failed, or nothing of RDMA.
#[test]
fn ordinary_lines_are_no_failures() {
    let lines = [
        "status: 0",
        "error 0",
        "status 12",
        "error 12",
        "exit status 9",
        "completed 12 of 80",
        "completed 12 of 80 with 5 errors",
        "job completion status: 1",
        "completion of step 4: status 2",
        "got completion with status 0, vendor err 0",
        "wc.status = 0, vendor_err = 0",
        "wc status IBV_WC_SUCCESS opcode IBV_WC_SEND vendor_err 0",
        "{wr_id = 4, status = IBV_WC_SUCCESS, opcode = IBV_WC_RECV, vendor_err = 63216832, byte_len = 16}",
        "if (wc.status != IBV_WC_SUCCESS) {",
        "CQE 12 of 64, cq error count 5",
        "mlx5_core 0000:3b:00.0: firmware version: 28.39.1002",
        "mlx5_core 0000:3b:00.0: 126.028 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x4 link)",
        "mlx5_core 0000:3b:00.0: Port module event: module 0, Cable plugged",
        "mlx5_core 0000:3b:00.0 ens1: Link up",
        "mlx5_core 0000:3b:00.0: query_mcia_reg failed: status: 0x3",
        "mlx5_core 0000:3b:00.0: health recovery succeeded",
        "mlx5_core 0000:3b:00.0: PCIe slot advertised sufficient power (27W).",
        "3b:00.0 Infiniband controller: Mellanox Technologies MT2894 Family [ConnectX-6 Lx] vendor 0x15b3 device \
         0x101f",
        "vendor_id: 0x02c9, vendor_part_id: 4129, hw_ver: 0x0",
        "pci bus 0x0081 cardnum 0x00 function 0x00: vendor 0x15b3 device 0x1017",
        "link mlx5_0/1 rx_write_requests 0 req_cqe_error 12 req_cqe_flush_error 5 resp_cqe_error 9 \
         local_ack_timeout_err 12",
        "     tx_cqe_err: 12",
        "     ch3_eq_rearm: 5",
        "rnr_nak_retry_err 4",
        " 65536      10000            95.12              94.80              0.180810",
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]",
        " 2       1000          1.01           5.12         1.05  1.06  0.12  1.31  4.90",
        " local address: LID 0000 QPN 0x27d8 PSN 0x79f042",
        "Completion latency: 12 us, error margin 5%",
        "vdrd 4.12.9 started, error level 5",
        "HTTP request completed with status 200",
        "RTNETLINK answers: File exists",
        "nvme nvme0: creating 12 I/O queues.",
        "Failed to create CQ, error 12",
        "thread 12 exited with status 5",
        "NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE",
        "NCCL INFO transport/net.cc:1302 -> 6",
        "[rank0]: work WorkNCCL(SeqNum=5, OpType=ALLREDUCE) timed out in 600000 ms",
        "UCX  DEBUG mlx5_0: crossing_vhca_mkey is not supported",
        "syndrome 0x1 of Down's disease, chapter 12",
        "fatal error: file.h: No such file or directory",
        "operation aborted by user",
        "on fatal error, or on successful completion",
        "error: general error in line 12",
        "ports: 18515 is in use",
        "Jan 01 00:00:00 host sshd[12]: error: kex_exchange_identification: Connection reset by peer",
        "rdma_rxe: loaded",
    ];
    let is_known = |line: &&&str| read(line).records.iter().any(|record| record.kind != Kind::Unknown);
    let wrong: Vec<_> = lines.iter().filter(is_known).map(|line| format!("{line}\n{}", read(line))).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

/// Text of a log cannot alter the terminal: control characters, and characters that direct text, are escaped.
#[test]
fn foreign_text_is_escaped() {
    let report = read("status=12 vendor_err=129 \u{202e}txt\u{200f} \u{8}bell \u{feff}x peer_nic: \u{2066}a\u{2069}");
    let shown = report.to_string();
    assert!(shown.contains("\\u{202e}txt\\u{200f}"), "{shown}");
    let directs = |c: char| {
        c.is_control() && c != '\n'
            || ('\u{200b}'..='\u{200f}').contains(&c)
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2060}'..='\u{206f}').contains(&c)
            || c == '\u{feff}'
    };
    assert!(!shown.contains(directs), "{shown:?}");
}

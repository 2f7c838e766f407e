//! Log lines about completions, WQEs and commands: which program prints them, and which numbers they have.

use crate::diagnosis;
use crate::names;
use crate::options::Input;
use crate::report::{Field, Kind, Part, Record, Value};

/// A form of line.
struct Form {
    /// Texts that the line contains, in this order.
    marks: &'static [&'static str],
    /// The kind of record that the line makes.
    kind: Kind,
    /// Its numbers.
    keys: &'static [Key],
    /// The content of a dump after the line.
    dump: Input,
}

/// A number of a line: the text in front of it, and the name of its field.
struct Key {
    before: &'static str,
    name: &'static str,
    radix: u32,
}

/// A number that is hexadecimal if `0x` is in front, and decimal otherwise.
const fn auto(before: &'static str, name: &'static str) -> Key {
    Key { before, name, radix: 10 }
}

/// A number that is hexadecimal even without `0x`.
const fn hex(before: &'static str, name: &'static str) -> Key {
    Key { before, name, radix: 16 }
}

/// The forms; the first that fits a line counts. Each names its source and follows the source's format strings.
const FORMS: &[Form] = &[
    // rdma-core providers/mlx5/cq.c.
    Form { marks: &["got completion with error:"], kind: Kind::LoggedCompletion, keys: &[], dump: Input::Cqe },
    // Linux drivers/net/ethernet/mellanox/mlx5/core/en/txrx.h; older kernels have sqn for qn.
    Form {
        marks: &["Error cqe on cqn", "syndrome"],
        kind: Kind::LoggedCompletion,
        keys: &[
            auto(" cqn ", "cqn"),
            auto(" ci ", "ci"),
            auto(" qn ", "qpn"),
            auto(" sqn ", "qpn"),
            auto(" rqn ", "qpn"),
            auto(" opcode ", "op_own:opcode"),
            auto(", syndrome ", "syndrome"),
            auto(" vendor syndrome ", "vendor_err_synd"),
        ],
        dump: Input::Cqe,
    },
    // Linux drivers/net/ethernet/mellanox/mlx5/core/wq.c.
    Form {
        marks: &["WQE DUMP: WQ size"],
        kind: Kind::LoggedWqe,
        keys: &[
            auto("WQ size ", "wq_size"),
            auto("WQ cur size ", "wq_cur_size"),
            auto("WQE index ", "wqe_index"),
            auto("len: ", "len"),
        ],
        dump: Input::Wqe,
    },
    // Linux drivers/infiniband/hw/mlx5/cq.c, since 5.17 and before.
    Form {
        marks: &["WC error:", "essage:"],
        kind: Kind::LoggedCompletion,
        keys: &[auto("WC error: ", "status")],
        dump: Input::Cqe,
    },
    Form { marks: &["dump error cqe"], kind: Kind::LoggedCompletion, keys: &[], dump: Input::Cqe },
    Form {
        marks: &["error cqe on cqn"],
        kind: Kind::LoggedCompletion,
        keys: &[auto(" cqn ", "cqn")],
        dump: Input::Cqe,
    },
    // Linux drivers/net/ethernet/mellanox/mlx5/core/steering/hws/send.c.
    Form {
        marks: &["Bad OP in HWS SQ CQE:"],
        kind: Kind::LoggedCompletion,
        keys: &[auto("CQE: ", "op_own:opcode")],
        dump: Input::Cqe,
    },
    // DPDK drivers/net/mlx5/mlx5_tx.c and mlx5_rx.c; the names of its dump files tell the queue.
    Form {
        marks: &["Unexpected CQE error syndrome", "CQN"],
        kind: Kind::LoggedCompletion,
        keys: &[
            auto("syndrome ", "syndrome"),
            auto("CQN = ", "cqn"),
            auto("SQN = ", "qpn"),
            auto("RQN = ", "qpn"),
            auto("wqe_counter = ", "wqe_counter"),
            auto("wq_ci = ", "wq_ci"),
            auto("rq_ci = ", "rq_ci"),
            auto("cq_ci = ", "cq_ci"),
        ],
        dump: Input::Cqe,
    },
    Form { marks: &["MLX5 Error CQ"], kind: Kind::LoggedCompletion, keys: &[], dump: Input::Cqe },
    Form { marks: &["MLX5 Error SQ:"], kind: Kind::LoggedWqe, keys: &[], dump: Input::Wqe },
    Form { marks: &["MLX5 Error RQ:"], kind: Kind::LoggedWqe, keys: &[], dump: Input::RecvWqe },
    // libxlio src/core/dev/cq_mgr_tx.cpp.
    Form {
        marks: &["cqe: syndrome=", "vendor=", "wqe_opcode_qpn="],
        kind: Kind::LoggedCompletion,
        keys: &[
            hex("syndrome=", "syndrome"),
            hex("vendor=", "vendor_err_synd"),
            hex(" hw=", "rsvd1:hw_err_synd"),
            hex("(type=", "rsvd1:hw_synd_type"),
            hex("wqe_counter=", "wqe_counter"),
        ],
        dump: Input::Auto,
    },
    // UCX src/uct/ib/mlx5/ib_mlx5_log.c, since 1.5 and before.
    Form {
        marks: &["(synd ", " vend "],
        kind: Kind::LoggedCompletion,
        keys: &[
            auto(" QP ", "qpn"),
            auto("wqe[", "wqe_counter"),
            auto("(synd ", "syndrome"),
            auto(" vend ", "vendor_err_synd"),
            auto(" hw_synd ", "rsvd1:hw_synd_type"),
            auto("/", "rsvd1:hw_err_synd"),
        ],
        dump: Input::Auto,
    },
    // NVSHMEM, NIXL, DOCA GPUNetIO.
    Form {
        marks: &["syndrome=", "vendor_err_synd=", "hw_err_synd="],
        kind: Kind::LoggedCompletion,
        keys: &[
            hex("syndrome=", "syndrome"),
            hex("vendor_err_synd=", "vendor_err_synd"),
            hex("hw_err_synd=", "rsvd1:hw_err_synd"),
            hex("hw_synd_type=", "rsvd1:hw_synd_type"),
            auto("wqe_counter=", "wqe_counter"),
        ],
        dump: Input::Auto,
    },
    // UCX src/uct/ib/rc/verbs/rc_verbs_iface.c.
    Form {
        marks: &["completion with error:", "qpn ", "vendor_err "],
        kind: Kind::LoggedCompletion,
        keys: &[auto("qpn ", "qpn"), auto("wrid ", "wr_id"), auto("vendor_err ", "vendor_err_synd")],
        dump: Input::Auto,
    },
    // perftest src/perftest_resources.c: its syndrome is the vendor's.
    Form {
        marks: &["Failed status ", "wr_id ", "syndrom "],
        kind: Kind::LoggedCompletion,
        keys: &[auto("Failed status ", "status"), auto("wr_id ", "wr_id"), auto("syndrom ", "vendor_err_synd")],
        dump: Input::Auto,
    },
    // rdma-core libibverbs/examples.
    Form {
        marks: &["Failed status ", " for wr_id "],
        kind: Kind::LoggedCompletion,
        keys: &[auto(" (", "status"), auto("wr_id ", "wr_id")],
        dump: Input::Auto,
    },
    // NCCL src/transport/net_ib.
    Form {
        marks: &["Got completion from peer", "status=", "vendor"],
        kind: Kind::LoggedCompletion,
        keys: &[
            auto("status=", "status"),
            auto("(", "status"),
            auto("opcode=", "wc_opcode"),
            auto("vendor err ", "vendor_err_synd"),
            auto("vendor_err=", "vendor_err_synd"),
        ],
        dump: Input::Auto,
    },
    // SPDK lib/nvme/nvme_rdma.c and lib/nvmf/rdma.c.
    Form {
        marks: &["rror on ", "status: ("],
        kind: Kind::LoggedCompletion,
        keys: &[auto("status: (", "status")],
        dump: Input::Auto,
    },
    Form {
        marks: &["WC error, ", "status: ("],
        kind: Kind::LoggedCompletion,
        keys: &[auto("status: (", "status")],
        dump: Input::Auto,
    },
    Form {
        marks: &["CQ error on ", " ("],
        kind: Kind::LoggedCompletion,
        keys: &[auto(" (", "status")],
        dump: Input::Auto,
    },
    // Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c.
    Form {
        marks: &["op_mod(", "failed", "status ", "syndrome ("],
        kind: Kind::Command,
        keys: &[auto("(0x", "-"), auto("op_mod(", "op_mod"), auto("syndrome (", "syndrome"), auto("err(", "err")],
        dump: Input::Auto,
    },
    // UCX src/uct/ib/mlx5/dv: the number is hexadecimal, in newer releases with 0x in front.
    Form {
        marks: &["mlx5dv_devx_", "failed", "syndrome "],
        kind: Kind::Command,
        keys: &[hex("syndrome ", "syndrome")],
        dump: Input::Auto,
    },
    // Linux drivers/infiniband/hw/mlx5/cq.c, the line after "error cqe on cqn"; and other programs with the same text.
    Form {
        marks: &["syndrome 0x", "vendor syndrome 0x"],
        kind: Kind::LoggedCompletion,
        keys: &[auto("syndrome ", "syndrome"), auto("vendor syndrome ", "vendor_err_synd")],
        dump: Input::Auto,
    },
];

/// The content of a line, and the kind of a dump after it.
pub(crate) struct Told {
    pub(crate) record: Record,
    pub(crate) dump: Input,
    /// The digits of a WQE in the line itself.
    pub(crate) wqe: Option<String>,
}

/// Reads a line.
pub(crate) fn told(line: &str) -> Option<Told> {
    let form = FORMS.iter().find(|form| has(line, form.marks));
    let Some(form) = form else { return ucx_wqe(line).map(|record| Told { record, dump: Input::Auto, wqe: None }) };
    let mut record = Record::new(form.kind, "");
    let mut fields: Vec<Field> = Vec::new();
    for key in form.keys {
        if fields.iter().any(|field| field.name == key.name) {
            continue;
        }
        // A short mark such as `/` counts only after `hw_synd ` or `tatus`.
        let from =
            if key.before.len() > 2 { 0 } else { line.find("hw_synd ").or_else(|| line.find("tatus")).unwrap_or(0) };
        if let Some(number) = line.get(from..).and_then(|line| after(line, key.before, key.radix)) {
            fields.push(number_field(key.name, number));
        }
    }
    if let Some(both) = after(line, "wqe_opcode_qpn=", 16) {
        fields.push(number_field("qpn", both & 0xff_ffff));
        fields.push(Field {
            meaning: names::opcode(both >> 24 & 0xff).map(str::to_owned),
            ..number_field("opcode", both >> 24)
        });
    }
    if form.kind == Kind::Command {
        command(line, &mut fields);
    } else if fields.iter().all(|field| field.name != "status" && field.name != "syndrome") {
        fields.extend(status_text(line).map(|status| number_field("status", status)));
    }
    record.parts.push(Part { name: "log line".into(), offset: 0, bytes: 0, fields });
    record.log.push(line.trim().to_owned());
    let wqe = line.split_once(" wqe=").map(|(_, rest)| rest.chars().take_while(char::is_ascii_hexdigit).collect());
    finish(&mut record);
    Some(Told { record, dump: form.dump, wqe })
}

/// Interprets the numbers of a line: sets the record's title and diagnosis.
pub(crate) fn finish(record: &mut Record) {
    let number = |name: &str| record.number(name);
    let (syndrome, status) = (number("syndrome"), number("status"));
    let vendor = number("vendor_err_synd").and_then(|vendor| u8::try_from(vendor).ok());
    let qpn = number("qpn").map_or(String::new(), |qpn| format!(", queue pair {qpn:#x}"));
    match record.kind {
        Kind::Command => {
            let byte = |name| number(name).and_then(|value| u8::try_from(value).ok());
            let opcode = number("opcode").and_then(|opcode| u16::try_from(opcode).ok());
            let diagnosis = diagnosis::of_command(opcode, byte("status"), syndrome.unwrap_or(0));
            record.title = "a command that the firmware refused".to_owned();
            record.diagnosis = Some(diagnosis);
        }
        Kind::LoggedCompletion => {
            record.title = format!("a failed request, from a log{qpn}");
            let of_syndrome = syndrome.and_then(|value| u8::try_from(value).ok());
            record.diagnosis = match (of_syndrome, status) {
                (Some(syndrome), _) => Some(diagnosis::of_syndrome(syndrome, vendor)),
                (None, Some(status)) => diagnosis::of_status(status, vendor),
                _ => None,
            };
        }
        _ => record.title = format!("a WQE, from a log{qpn}"),
    }
}

fn has(line: &str, marks: &[&str]) -> bool {
    let mut rest = line;
    marks.iter().all(|mark| match rest.split_once(mark) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

/// The number after the first occurrence of `before` that has one.
fn after(line: &str, before: &str, radix: u32) -> Option<u64> {
    line.match_indices(before).find_map(|(at, _)| number(&line[at + before.len()..], radix))
}

/// The number that a text begins with.
fn number(text: &str, radix: u32) -> Option<u64> {
    let (text, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, radix),
    };
    let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
    // No number of these forms has more than 64 bits.
    u64::from_str_radix(text.get(..end.min(20))?, radix).ok()
}

fn number_field(name: &'static str, number: u64) -> Field {
    let value = match name {
        "status" | "cq_ci" | "wq_ci" | "rq_ci" | "ci" | "len" | "wq_size" | "wq_cur_size" | "wr_id" | "err"
        | "wc_opcode" => Value::Dec(number),
        _ => Value::Hex(number, 8),
    };
    let meaning = if name == "syndrome" { names::syndrome(number).map(str::to_owned) } else { None };
    Field { name: name.into(), offset: 0, value, meaning }
}

/// The texts of `ibv_wc_status_str` (rdma-core libibverbs/verbs.c), in the order of their numbers from 1 on.
const STATUS_TEXTS: [&str; 21] = [
    "local length error",
    "local QP operation error",
    "local EE context operation error",
    "local protection error",
    "Work Request Flushed Error",
    "memory management operation error",
    "bad response error",
    "local access error",
    "remote invalid request error",
    "remote access error",
    "remote operation error",
    "transport retry counter exceeded",
    "RNR retry counter exceeded",
    "local RDD violation error",
    "remote invalid RD request",
    "aborted error",
    "invalid EE context number",
    "invalid EE context state",
    "fatal error",
    "response timeout error",
    "general error",
];

/// The number of the status that a line names by its text.
fn status_text(line: &str) -> Option<u64> {
    STATUS_TEXTS.iter().position(|text| line.contains(text)).map(|index| index as u64 + 1)
}

/// The command's name and status: `CREATE_QP(0x500) op_mod(0x0) failed, status limits exceeded(0x8), …`.
fn command(line: &str, fields: &mut Vec<Field>) {
    let before = line.split_once(" op_mod(").and_then(|(name, _)| name.rsplit_once("(0x"));
    if let Some((name, opcode)) = before {
        let name = name.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        let opcode = number(opcode, 16).unwrap_or(0);
        let named = Some(name.to_owned()).filter(|name| !name.is_empty());
        fields.insert(0, Field { name: "opcode".into(), offset: 0, value: Value::Hex(opcode, 16), meaning: named });
    }
    let status = line.split_once("status ").and_then(|(_, status)| status.split_once("(0x"));
    if let Some((text, value)) = status.and_then(|(text, value)| Some((text, number(value, 16)?))) {
        let meaning = Some(text.to_owned());
        fields.push(Field { name: "status".into(), offset: 0, value: Value::Hex(value, 8), meaning });
    }
}

/// UCX's text of a WQE: `RC QP 0x169 wqe[3]: SEND s-- [inl len 10] [va 0x7f1c3c800000 len 1 lkey 0xb5d2] [rqpn 0x169
/// dlid=12 …]` (`ib_mlx5_log.c`, `uct_ib_mlx5_wqe_dump`; `src/uct/ib/base/ib_log.c`).
fn ucx_wqe(line: &str) -> Option<Record> {
    let (front, behind) = line.split_once(" QP 0x")?;
    let (qpn, rest) = (number(behind, 16)?, behind.split_once("wqe[")?.1);
    let (index, rest) = (number(rest, 10)?, rest.split_once("]: ")?.1);
    let mut record = Record::new(Kind::LoggedWqe, "");
    let transport = front.rsplit(' ').next().unwrap_or_default();
    let mut words =
        rest.trim_start_matches("opcode ").split(' ').filter(|word| !word.is_empty() && !word.starts_with('['));
    let (operation, flags) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let text = |name: &'static str, text: &str| Field {
        name: name.into(),
        offset: 0,
        value: Value::Text(text.to_owned()),
        meaning: None,
    };
    let mut fields = vec![
        text("transport", transport),
        number_field("qpn", qpn),
        number_field("wqe_counter", index),
        text("opcode", operation),
    ];
    // Signalled, fenced, solicited, each a letter or a dash.
    if flags.len() == 3 && flags.chars().all(|c| "sfe-".contains(c)) {
        fields.push(text("flags", flags));
    }
    record.parts.push(Part { name: "mlx5_wqe_ctrl_seg".into(), offset: 0, bytes: 0, fields });
    for group in rest.split('[').skip(1) {
        let group = group.split(']').next().unwrap_or_default();
        let words: Vec<_> = group.split([' ', '=']).filter(|word| !word.is_empty()).collect();
        let part = match words.first() {
            Some(&"va" | &"byte_count") => "mlx5_wqe_data_seg",
            Some(&"inl") => "mlx5_wqe_inl_data_seg",
            Some(&"rva") => "mlx5_wqe_raddr_seg",
            Some(&"rqpn" | &"dlid" | &"rlid") => "address",
            Some(_) => "segment",
            None => continue,
        };
        let words = if words.first() == Some(&"inl") { &words[1..] } else { &words[..] };
        let fields = words.chunks_exact(2).map(|pair| {
            let name = match pair[0] {
                "va" => "addr".to_owned(),
                "rva" => "raddr".to_owned(),
                "len" => "byte_count".to_owned(),
                other => other.to_owned(),
            };
            let exact = pair[1]
                .strip_prefix("0x")
                .map_or_else(|| pair[1].parse().ok(), |hex| u64::from_str_radix(hex, 16).ok());
            let value = match exact {
                Some(number) if pair[1].starts_with("0x") => Value::Hex(number, 8),
                Some(number) => Value::Dec(number),
                None => Value::Text(pair[1].to_owned()),
            };
            Field { name: name.into(), offset: 0, value, meaning: None }
        });
        record.parts.push(Part { name: part.into(), offset: 0, bytes: 0, fields: fields.collect() });
    }
    record.log.push(line.trim().to_owned());
    finish(&mut record);
    Some(record)
}

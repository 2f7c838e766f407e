//! Reports of the kernel's drivers and of programs about a queue pair, a completion queue, a port or the device itself.
//! They name no request and no command.

use blueflame::cq::Syndrome;

use super::fields::{event, number_field, text_field};
use super::status;
use super::words::{Kind as Token_, Label, Token, in_order, is_mlx5, phrase};
use crate::diagnosis;
use crate::report::{Diagnosis, Field, Record, Value};

/// An event that its words alone tell.
struct Row {
    /// The words that a line has, in this order.
    words: &'static [&'static [&'static str]],
    /// Whether other drivers print them, too: then the line must name this one.
    common: bool,
    title: &'static str,
    summary: &'static str,
    advice: &'static [&'static str],
}

const ROWS: &[Row] = &[
    // en_main.c, en/reporter_tx.c; net/sched/sch_generic.c.
    Row {
        words: &[&["TX", "timeout"]],
        common: true,
        title: "a send queue of the Ethernet driver that stands still",
        summary: "no send of a queue has completed for seconds; the driver recovers the queue",
        advice: STUCK,
    },
    Row {
        words: &[&["NETDEV", "WATCHDOG"], &["mlx5_core"], &["timed", "out"]],
        common: false,
        title: "a send queue of the Ethernet driver that stands still",
        summary: "no send of a queue has completed for seconds; the driver recovers the queue",
        advice: STUCK,
    },
    // en/reporter_tx.c, en/reporter_rx.c.
    Row {
        words: &[&["ERR", "CQE", "on"]],
        common: false,
        title: "a queue of the Ethernet driver with an error CQE",
        summary: "a request of this queue failed, and the driver resets the queue",
        advice: &[
            "the line \"Error cqe on cqn …\" before it, and its dump, say why",
            "devlink health dump show pci/ADDRESS reporter tx (or rx)",
        ],
    },
    // events.c.
    Row {
        words: &[&["Port", "module", "event", "[", "error", "]"]],
        common: false,
        title: "a cable or a transceiver",
        summary: "the device cannot use the module in this port",
        advice: &[
            "the line's last words say why; ethtool -m INTERFACE shows the module: seat, type, power, temperature",
        ],
    },
    Row {
        words: &[&["Detected", "insufficient", "power", "on", "the", "PCIe", "slot"]],
        common: false,
        title: "power of the PCIe slot",
        summary: "the slot advertises less power than the device may need",
        advice: &[
            "often harmless: firmware of the board that advertises too little. If links do not come up, another slot",
        ],
    },
    Row {
        words: &[&["High", "temperature", "on", "sensors"]],
        common: false,
        title: "temperature",
        summary: "the device is too hot; it will protect itself by stopping",
        advice: &["cooling: fans, airflow, the neighbours in the chassis; mget_temp or `sensors` shows the degrees"],
    },
    // drivers/infiniband/hw/mlx5/odp.c.
    Row {
        words: &[&["Failed", "to", "resolve", "the", "page", "fault"]],
        common: false,
        title: "a page fault of memory registered on demand",
        summary: "the kernel could not answer the firmware's page fault: the queue pair stands still, or fails",
        advice: &["the command PAGE_FAULT_RESUME beside it says why; else the device is in the error state"],
    },
    Row {
        words: &[&["Async", "event", "for", "bogus"]],
        common: true,
        title: "an event of an object that is gone",
        summary: "the firmware reported an event of an object that the driver no longer has",
        advice: &["harmless while the object is being destroyed; else look for failed commands before it"],
    },
];

const STUCK: &[&str] = &[
    "look for health lines, command timeouts and PCIe errors of the same device: a dead device has them",
    "pause frames: ethtool -S INTERFACE | grep pause: a peer or a switch that never stops pausing",
    "interrupts: a lost one shows as \"Recovered … eqes\" beside it",
];

/// The names and texts of asynchronous events (rdma-core `libibverbs/verbs.h`, `enum_strs.c`), and their meanings. A
/// text of one word counts only in a line about events.
const ASYNC: &[(&str, &[&str], &str)] = &[
    (
        "EVENT_CQ_ERR",
        &["CQ", "error"],
        "a completion queue overran, and its queue pairs fail: it was too small, or polled too late",
    ),
    (
        "EVENT_QP_FATAL",
        &["local", "work", "queue", "catastrophic", "error"],
        "a queue pair went to the error state: an error of its completion queue, or of its own WQEs",
    ),
    (
        "EVENT_QP_REQ_ERR",
        &["invalid", "request", "local", "work", "queue", "error"],
        "a responder got a request that it does not take, and its queue pair went to the error state",
    ),
    (
        "EVENT_QP_ACCESS_ERR",
        &["local", "access", "violation", "work", "queue", "error"],
        "a responder got a request with a wrong rkey, range or right, and its queue pair went to the error state",
    ),
    ("EVENT_PATH_MIG_ERR", &["path", "migration", "request", "error"], "the alternate path was refused"),
    (
        "EVENT_DEVICE_FATAL",
        &["local", "catastrophic", "error"],
        "the device failed: look for health lines in the kernel's log",
    ),
    ("EVENT_PORT_ERR", &["port", "error"], "the port went down: cable, switch, or ip link set … down"),
    ("EVENT_SRQ_ERR", &["SRQ", "catastrophic", "error"], "a shared receive queue failed: its WQEs, or its memory"),
    ("EVENT_WQ_FATAL", &["WQ", "fatal"], "a receive work queue failed"),
];

/// Events of the connection manager (rdma-core `librdmacm/rdma_cma.h`) after which there is no connection.
const CONNECTION: &[(&str, &str)] = &[
    (
        "RDMA_CM_EVENT_ADDR_ERROR",
        "the address was not resolved: no RDMA device has a route to it, or nobody \
     answered ARP or ND",
    ),
    ("RDMA_CM_EVENT_ROUTE_ERROR", "the route was not resolved: on InfiniBand, the subnet manager gave no path"),
    ("RDMA_CM_EVENT_CONNECT_ERROR", "the connection was not made: the peer refused or stopped half-way"),
    ("RDMA_CM_EVENT_UNREACHABLE", "the peer did not answer: its address, its process, a firewall, or UDP port 4791"),
    (
        "RDMA_CM_EVENT_REJECTED",
        "the peer refused: nobody listens at this port (status 8), or its program refused (status 28)",
    ),
    ("RDMA_CM_EVENT_DEVICE_REMOVAL", "the device is going away: look at the kernel's log"),
];

/// Reads a line about an event.
pub(crate) fn read(tokens: &[Token<'_>]) -> Option<Record> {
    let has = |words: &[&str]| (0..tokens.len()).find(|at| phrase(tokens, *at, words));
    if let Some(record) = queue_pair(tokens).or_else(|| completion_queue(tokens)) {
        return Some(record);
    }
    let is_mlx5 = is_mlx5(tokens);
    if let Some(row) = ROWS.iter().find(|row| (is_mlx5 || !row.common) && in_order(tokens, row.words)) {
        return Some(event(row.title, row.summary, row.advice, event_numbers(tokens)));
    }
    let found = CONNECTION.iter().find(|(name, _)| has(&[name]).is_some());
    if let Some((name, summary)) = found {
        return Some(event(
            &format!("an event of the connection manager, {name}"),
            summary,
            &[],
            event_numbers(tokens),
        ));
    }
    asynchronous(tokens)
}

/// `QP 40123 error: local length error (0x8e 0x0 0x0)`: Linux `drivers/infiniband/hw/mlx5/qp.c`,
/// `mlx5_ib_qp_err_syndrome`. The three bytes are the vendor's syndrome, the hardware's type and the hardware's
/// syndrome. The text is the one of the verbs status with the number of the device's syndrome; from 0x10 on, they
/// differ.
fn queue_pair(tokens: &[Token<'_>]) -> Option<Record> {
    let close = tokens.len().checked_sub(1).filter(|at| tokens[*at].text == ")").or_else(|| {
        // Something may follow.
        tokens
            .windows(5)
            .position(|five| five[0].text == "(" && five[4].text == ")" && five[1..4].iter().all(Token::has_prefix))
            .map(|at| at + 4)
    })?;
    let [open, vendor, kind, hardware, _] = tokens.get(close.checked_sub(4)?..=close)? else { return None };
    if open.text != "(" || ![vendor, kind, hardware].iter().all(|token| token.has_prefix()) {
        return None;
    }
    let (vendor, kind, hardware) = (vendor.number()?, kind.number()?, hardware.number()?);
    let at = (0..close).find(|at| {
        phrase(tokens, *at, &["QP"]) && phrase(tokens, at + 2, &["error", ":"]) && tokens[at + 1].number().is_some()
    })?;
    let words = &tokens[at + 4..close - 4];
    let qpn = tokens[at + 1].number()?;
    let shown = words.iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
    let syndrome = status::by_text(words).map(|status| status as u8);
    let vendor8 = u8::try_from(vendor).ok();
    let mut fields = vec![number_field("qpn", qpn)];
    fields.extend(syndrome.map(|syndrome| number_field("syndrome", syndrome.into())));
    fields.push(number_field("vendor_err_synd", vendor));
    fields.push(number_field("rsvd1:hw_synd_type", kind));
    fields.push(number_field("rsvd1:hw_err_synd", hardware));
    let title = format!("a queue pair that went to the error state, queue pair {qpn:#x}");
    let mut record = event(&title, "", &[], fields);
    let mut diagnosis = match syndrome {
        Some(syndrome) => diagnosis::of_syndrome(syndrome, vendor8),
        None => Diagnosis {
            summary: format!(
                "the device moved the queue pair to the error state; the kernel has no text for its syndrome \
                 (\"{shown}\")"
            ),
            details: vec![format!("vendor syndrome {vendor:#04x}")],
            advice: vec![
                "look for \"CQ error on CQN\" of the same device at this time: an overrun of the completion queue \
                 fails all its queue pairs"
                    .to_owned(),
                "else it may be 0x16, receiver-not-ready retries exceeded, or 0x22, aborted by the peer".to_owned(),
            ],
        },
    };
    let is_other =
        syndrome.is_some_and(|syndrome| matches!(Syndrome::new(syndrome), Syndrome::Known(_)) && syndrome >= 0x10);
    if is_other {
        diagnosis.details.push(format!(
            "the kernel's text (\"{shown}\") is the verbs status of this number, but the number is the device's \
             syndrome"
        ));
    }
    diagnosis.details.push(
        "an event of the kernel's driver (mlx5_ib); there may be no completion. Its bytes: vendor syndrome, hardware \
         syndrome type, hardware syndrome"
            .to_owned(),
    );
    record.diagnosis = Some(diagnosis);
    Some(record)
}

/// `CQ error on CQN 0x51c, syndrom 0x1`: Linux `drivers/net/ethernet/mellanox/mlx5/core/eq.c`; the syndromes are
/// `MLX5_CQ_ERROR_SYNDROME_*` of `include/linux/mlx5/mlx5_ifc.h`.
fn completion_queue(tokens: &[Token<'_>]) -> Option<Record> {
    let at = (0..tokens.len()).find(|at| phrase(tokens, *at, &["CQ", "error", "on", "CQN"]))?;
    let cqn = tokens.get(at + 4)?.number()?;
    let labelled = |at: &usize| Label::of(tokens, *at).ends_any(&[&["syndrome"], &["syndrom"]]);
    let syndrome = (at + 5..tokens.len()).filter(labelled).find_map(|at| tokens[at].number());
    let (meaning, summary, advice): (_, _, &[&str]) = match syndrome {
        Some(1) => (
            Some("CQ_OVERRUN"),
            "the completion queue overran: more completions than it has room for",
            &[
                "the queue must hold every completion that can be outstanding: the sum of the send and receive \
                 queues that use it, or fewer requests outstanding",
                "poll it before it is full; each of its queue pairs has failed and must be made again",
            ],
        ),
        Some(2) => (
            Some("CQ_ACCESS_VIOLATION_ERROR"),
            "the device could not write to the completion queue's memory",
            &["look for IOMMU faults; the queue's memory was unmapped or freed while the device used it"],
        ),
        _ => (None, "the completion queue failed", &["its queue pairs have failed, too, and must be made again"]),
    };
    let mut fields = vec![number_field("cqn", cqn)];
    fields.extend(syndrome.map(|syndrome| Field {
        name: "syndrome".into(),
        offset: 0,
        value: Value::Hex(syndrome, 8),
        meaning: meaning.map(str::to_owned),
    }));
    Some(event(&format!("a completion queue that failed, {cqn:#x}"), summary, advice, fields))
}

/// The numbers of other events: queues.
fn event_numbers(tokens: &[Token<'_>]) -> Vec<Field> {
    let labels: &[(&[&str], &'static str)] = &[
        (&["queue"], "queue"),
        (&["SQ"], "sqn"),
        (&["RQ"], "rqn"),
        (&["CQ"], "cqn"),
        (&["QP"], "qpn"),
        (&["SRQ"], "srqn"),
        (&["WQ"], "wqn"),
        (&["SQ", "Cons"], "sq_cons"),
        (&["SQ", "Prod"], "sq_prod"),
        (&["module"], "module"),
        (&["err"], "err"),
        (&["error"], "err"),
        (&["status"], "status"),
    ];
    let mut fields: Vec<Field> = Vec::new();
    for at in 0..tokens.len() {
        let Token_::Number { value, .. } = tokens[at].kind else { continue };
        let label = Label::of(tokens, at);
        let longest = labels.iter().filter(|(words, _)| label.ends(words)).max_by_key(|(words, _)| words.len());
        if let Some((_, name)) = longest.filter(|(_, name)| fields.iter().all(|field| field.name != *name)) {
            // The status of an event is none of a completion.
            fields.push(Field { meaning: None, ..number_field(name, value) });
        }
    }
    fields
}

/// An asynchronous event, as programs print it.
fn asynchronous(tokens: &[Token<'_>]) -> Option<Record> {
    let is_about = tokens.iter().any(|token| token.is_any(&["async", "asynchronous", "event", "event_type"]));
    let found = (0..tokens.len()).find_map(|at| {
        let name = tokens[at].text.strip_prefix("IBV_").or_else(|| tokens[at].text.strip_prefix("IB_"));
        ASYNC.iter().find(|(event, words, _)| {
            name == Some(*event) || (words.len() > 3 || is_about) && phrase(tokens, at, words)
        })
    });
    let (name, _, summary) = found?;
    let fields = vec![text_field("event", format!("IBV_{name}"))];
    Some(event(&format!("an asynchronous event, IBV_{name}"), summary, &[], fields))
}

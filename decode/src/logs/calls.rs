//! Calls of libibverbs and of the connection manager that failed with an error number: `ibv_modify_qp failed with
//! error Connection timed out`, `non-zero status: 110 ibv_modify_qp failed`.

use super::errno;
use super::fields::{part, text_field};
use super::words::{Kind as Token_, Label, Token, phrase};
use crate::report::{Diagnosis, Kind, Record};

/// Beginnings of the names of calls. `rdma_` begins many other words.
const PREFIXES: &[&str] = &[
    "ibv_",
    "mlx5dv_",
    "rdma_accept",
    "rdma_bind",
    "rdma_connect",
    "rdma_create",
    "rdma_get",
    "rdma_join",
    "rdma_listen",
    "rdma_post",
    "rdma_reg",
    "rdma_resolve",
];
/// Words of a line about a failure.
const FAILURES: &[&str] =
    &["failed", "fail", "fails", "failure", "error", "err", "errno", "returned", "return", "unable"];
/// Labels of an error number.
const LABELS: &[&[&str]] =
    &[&["errno"], &["error"], &["err"], &["status"], &["ret"], &["rc"], &["returned"], &["return"], &["failed"]];
/// No error number is larger (Linux `include/uapi/asm-generic/errno.h`).
const MOST: u64 = 133;

/// Known causes: the beginning of the call's name, the error number, where to look.
const CAUSES: &[(&str, u64, &[&str])] = &[
    (
        "ibv_modify_qp",
        110,
        &["to RTR on RoCE: nobody answered ARP or ND for the destination's address: is the GID index the same RoCE \
             version and network at both sides, is the peer's interface up?"],
    ),
    (
        "ibv_create_ah",
        110,
        &["on RoCE: nobody answered ARP or ND for the destination's address: the GID index, the \
     peer's interface"],
    ),
    (
        "ibv_modify_qp",
        101,
        &["to RTR on RoCE: the GID's interface has no route to the destination's address: another GID index or NIC"],
    ),
    (
        "ibv_modify_qp",
        113,
        &["to RTR on RoCE: no host answers at the destination's address: the GID index, VLAN, cabling"],
    ),
    (
        "ibv_modify_qp",
        22,
        &[
            "an attribute that this transition does not take: the mask, the GID index, a path MTU above the port's \
             active MTU, a destination without a GRH on RoCE",
            "the port must be active (ibv_devinfo), and the queue pair in the state that the transition starts from",
        ],
    ),
    ("ibv_reg_", 12, &["locked memory is limited: ulimit -l unlimited, or LimitMEMLOCK of the service or container"]),
    (
        "ibv_reg_",
        14,
        &["the range is not mapped, or cannot be pinned: read-only memory with IBV_ACCESS_LOCAL_WRITE, a GPU's \
             memory \
             without nvidia-peermem or DMA-BUF"],
    ),
    (
        "ibv_reg_",
        95,
        &["the device or the kernel lacks this kind of registration: DMA-BUF, on-demand paging, access flags"],
    ),
    (
        "ibv_post_send",
        12,
        &["the send queue is full: poll completions first; or more SGEs or inline data than it was made for"],
    ),
    ("ibv_post_recv", 12, &["the receive queue is full, or more SGEs than it was made for"]),
    (
        "ibv_post_",
        22,
        &["the queue pair is in the wrong state, or a request has an opcode, flag or size that it does not take"],
    ),
    ("ibv_create_", 12, &["more than the device's limits, or locked memory is limited (ulimit -l)"]),
    ("ibv_create_", 22, &["a number above the device's capabilities (ibv_devinfo -v), or a flag that it lacks"]),
    (
        "ibv_open_device",
        13,
        &["the user may not open /dev/infiniband/uverbs*: permissions, or the container's devices"],
    ),
];

/// Reads a line about a call that failed.
pub(crate) fn read(tokens: &[Token<'_>]) -> Option<Record> {
    let is_file = |at: usize| tokens.get(at + 1).is_some_and(|token| token.text == ".");
    let is_call = |at: usize| {
        let name = tokens[at].text;
        !is_file(at)
            && PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            && !name.starts_with("ibv_poll_cq")
            && !name.starts_with("ibv_wc")
    };
    let named = (0..tokens.len()).find(|at| is_call(*at)).map(|at| tokens[at].text);
    // Mooncake and others say it in words: `Failed to modify QP to RTR, …: Connection timed out [110]`.
    let in_words = || (0..tokens.len()).any(|at| phrase(tokens, at, &["modify", "QP"])).then_some("ibv_modify_qp");
    let call = named.or_else(in_words)?;
    if !tokens.iter().any(|token| token.is_any(FAILURES)) {
        return None;
    }
    let by_text = (0..tokens.len()).find_map(|at| errno::named(tokens, at));
    let by_number = || {
        let mut numbers = (0..tokens.len()).filter(|at| Label::of(tokens, *at).ends_any(LABELS));
        numbers.find_map(|at| match tokens[at].kind {
            Token_::Number { value: value @ 1..=MOST, .. } if !tokens[at].has_prefix() => Some(value),
            _ => None,
        })
    };
    let errno = by_text.or_else(by_number)?;
    let name = errno::name(errno).map_or_else(|| format!("errno {errno}"), |name| format!("{name}, errno {errno}"));
    let mut record = Record::new(Kind::Call, format!("{call} failed"));
    record.parts.push(part(vec![text_field("call", call.to_owned()), errno::field(errno)]));
    let advice = CAUSES.iter().find(|(prefix, number, _)| *number == errno && call.starts_with(prefix));
    record.diagnosis = Some(Diagnosis {
        summary: format!("{call} failed: {name}"),
        details: vec!["a call failed, no request: its number is an errno, not the status of a completion".to_owned()],
        advice: advice.map_or(&[][..], |(.., advice)| advice).iter().map(|advice| (*advice).to_owned()).collect(),
    });
    Some(record)
}

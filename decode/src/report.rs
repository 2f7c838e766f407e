//! The result of decoding: records made of parts, parts made of fields, and a diagnosis of each failure.
use std::borrow::Cow;
use std::collections::HashMap;

/// `IBV_WC_WR_FLUSH_ERR` and `MLX5_CQE_SYNDROME_WR_FLUSH_ERR` (rdma-core `libibverbs/verbs.h`,
/// `providers/mlx5/mlx5dv.h`).
const WR_FLUSH: u64 = 5;

/// Everything found in an input, in input order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// The records found.
    pub records: Vec<Record>,
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Kind {
    /// A WQE of a send queue.
    SendWqe,
    /// A WQE of a receive queue.
    RecvWqe,
    /// A WQE of a shared receive queue.
    SrqWqe,
    /// A CQE, of a success or of a failure.
    Cqe,
    /// Eight mini-CQEs of a compressed block.
    MiniCqes,
    /// A queue pair's doorbell record.
    QpRecord,
    /// A completion queue's doorbell record.
    CqRecord,
    /// A store to a send queue's doorbell register.
    SqDoorbell,
    /// A store to a completion queue's doorbell register.
    CqDoorbell,
    /// A completion that a log line reports without its bytes.
    LoggedCompletion,
    /// A WQE that a log line reports without its bytes.
    LoggedWqe,
    /// A command that failed: refused by the firmware, unanswered, or failed before it.
    Command,
    /// A call of libibverbs or of the connection manager that a log line reports as failed.
    Call,
    /// An event of a queue pair, a completion queue, a port or the device that a log line reports.
    Event,
    /// Bytes that are none of these.
    Unknown,
}

/// One structure, command or log line found in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Record {
    /// Its kind.
    pub kind: Kind,
    /// The title, a few words: `MLX5_CQE_REQ_ERR of queue pair 0x12abe`.
    pub title: String,
    /// The line of the input that it begins in, from 1; 0 if it does not come from text.
    pub line: usize,
    /// Lines of the log that belong to it, without the dump itself.
    pub log: Vec<String>,
    /// Its bytes, in the order in which they are in memory; none if there were only words of a log.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_hex"))]
    pub bytes: Vec<u8>,
    /// Its segments.
    pub parts: Vec<Part>,
    /// Oddities of the record, and assumptions that decoding made.
    pub notes: Vec<String>,
    /// The diagnosis, if the record shows a failure.
    pub diagnosis: Option<Diagnosis>,
}

/// A segment, or another group of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Part {
    /// Its name in C, `mlx5_wqe_ctrl_seg`; or a description if C has no name for it.
    pub name: Cow<'static, str>,
    /// Where it is, in bytes from the record's start.
    pub offset: usize,
    /// Its size in bytes; 0 if it comes from words of a log.
    pub bytes: usize,
    /// Its fields. Reserved ones are left out if they are zero.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Field {
    /// Its name in C. A composed field has the name of its bits after a colon: `qpn_ds:ds`.
    pub name: Cow<'static, str>,
    /// Where it is, in bytes from the record's start.
    pub offset: usize,
    /// Its value.
    pub value: Value,
    /// The meaning of the value.
    pub meaning: Option<String>,
}

/// A field's value. serde writes it as a string, because a JSON number may not hold 64 bits exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Shown in decimal.
    Dec(u64),
    /// Shown in hexadecimal; the second number is its width in bits.
    Hex(u64, usize),
    /// Bytes as they are in memory.
    Bytes(Vec<u8>),
    /// Words of a log.
    Text(String),
}

/// The diagnosis of a failure, and advice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diagnosis {
    /// The failure in one sentence.
    pub summary: String,
    /// More facts about it.
    pub details: Vec<String>,
    /// Advice, the likeliest remedy first.
    pub advice: Vec<String>,
}

impl Record {
    pub(crate) fn new(kind: Kind, title: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            line: 0,
            log: Vec::new(),
            bytes: Vec::new(),
            parts: Vec::new(),
            notes: Vec::new(),
            diagnosis: None,
        }
    }

    /// The number of the first field of this name, in any part.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.parts.iter().flat_map(|part| &part.fields).find(|field| field.name == name)?.value.number()
    }

    /// Its part of this name, the first if there are several.
    #[must_use]
    pub fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == name)
    }
}

impl Value {
    /// The number, if it is one.
    #[must_use]
    pub const fn number(&self) -> Option<u64> {
        match self {
            Self::Dec(number) | Self::Hex(number, _) => Some(*number),
            Self::Bytes(_) | Self::Text(_) => None,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dec(number) => write!(f, "{number}"),
            Self::Hex(number, bits) if *bits >= 8 => write!(f, "{number:#0width$x}", width = 2 + bits.div_ceil(4)),
            Self::Hex(number, _) => write!(f, "{number:#x}"),
            Self::Bytes(bytes) => f.write_str(&hex(bytes)),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
fn as_hex<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&hex(bytes))
}

/// Bytes as digits, with no space between them.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Report {
    /// Marks the WQEs of the report that its error CQEs name, and the failures that others caused.
    pub(crate) fn relate(&mut self) {
        self.relate_requests();
        self.relate_failures();
    }

    /// Tells each flushed request which failure came before it, and each queue pair that failed without a syndrome
    /// which completion queue failed.
    fn relate_failures(&mut self) {
        let mut of_queue_pair: HashMap<u64, usize> = HashMap::new();
        // The latest failure without a number of its queue pair, the latest of all, and the latest overrun.
        let (mut unnamed, mut latest, mut overrun) = (None, None, None);
        let mut causes: Vec<(usize, usize, &str)> = Vec::new();
        for (at, record) in self.records.iter().enumerate().filter(|(_, record)| record.diagnosis.is_some()) {
            let qpn = record.number("s_wqe_opcode_qpn:qpn").or_else(|| record.number("qpn"));
            let syndrome = record.number("syndrome");
            let is_completion = matches!(record.kind, Kind::Cqe | Kind::LoggedCompletion);
            let is_event = record.kind == Kind::Event;
            if is_completion && (syndrome == Some(WR_FLUSH) || record.number("status") == Some(WR_FLUSH)) {
                // A failure of another queue pair flushes nothing here.
                let cause = match qpn {
                    Some(qpn) => of_queue_pair.get(&qpn).copied().max(unnamed),
                    None => latest,
                };
                causes.extend(cause.map(|cause| (at, cause, "the error before it here")));
            } else if is_event && record.number("vendor_err_synd").is_some() && syndrome.is_none() {
                causes.extend(overrun.map(|cause| (at, cause, "the CQ error before it here")));
            } else if is_event && record.number("cqn").is_some() && syndrome.is_some() {
                overrun = Some(at);
            } else if is_completion || is_event && record.number("vendor_err_synd").is_some() {
                match qpn {
                    Some(qpn) => drop(of_queue_pair.insert(qpn, at)),
                    None => unnamed = Some(at),
                }
                latest = Some(at);
            }
        }
        for (at, cause, what) in causes {
            let cause = &self.records[cause];
            let place = if cause.line > 0 { format!("line {}, ", cause.line) } else { String::new() };
            let detail = cause.diagnosis.as_ref().map(|diagnosis| format!("{what}: {place}{}", diagnosis.summary));
            if let (Some(diagnosis), Some(detail)) = (&mut self.records[at].diagnosis, detail) {
                diagnosis.details.push(detail);
            }
        }
    }

    fn relate_requests(&mut self) {
        let place = |record: &Record, qpn, wqe| Some((record.number(qpn)?, record.number(wqe)? & 0xffff));
        let mut failed = HashMap::new();
        for record in self.records.iter().filter(|record| record.diagnosis.is_some()) {
            let of_cqe = place(record, "s_wqe_opcode_qpn:qpn", "wqe_counter");
            let of_log = || place(record, "qpn", "wqe_counter");
            let is_send = record.number("op_own:opcode").is_none_or(|opcode| opcode == 13);
            if let (true, Some(place), Some(diagnosis)) = (is_send, of_cqe.or_else(of_log), &record.diagnosis) {
                failed.insert(place, diagnosis.summary.clone());
            }
        }
        for record in self.records.iter_mut().filter(|record| record.kind == Kind::SendWqe) {
            let failure = place(record, "qpn_ds:qpn", "opmod_idx_opcode:idx").and_then(|place| failed.get(&place));
            if let Some(failure) = failure {
                record.notes.insert(0, format!("this is the request that failed: {failure}"));
            }
        }
    }
}

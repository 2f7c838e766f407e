//! What decoding gives: records of parts, parts of fields, and for failures a diagnosis.
use std::borrow::Cow;

/// Everything that was found in an input, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// What was found.
    pub records: Vec<Record>,
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Kind {
    /// A WQE of a send queue.
    SendWqe,
    /// A WQE of a receive queue.
    RecvWqe,
    /// A WQE of a shared receive queue.
    SrqWqe,
    /// A CQE, also that of a failure.
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
    /// A completion that a log line tells of without its bytes.
    LoggedCompletion,
    /// A WQE that a log line tells of without its bytes.
    LoggedWqe,
    /// A command that the firmware refused.
    Command,
    /// Bytes that are none of these.
    Unknown,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Record {
    /// What it is.
    pub kind: Kind,
    /// The same in a few words: `MLX5_CQE_REQ_ERR of queue pair 0x12abe`.
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
    /// What is odd about it, and what was assumed to read it.
    pub notes: Vec<String>,
    /// What went wrong and what to try, if something went wrong.
    pub diagnosis: Option<Diagnosis>,
}

/// A segment, or another group of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Part {
    /// Its name in C, `mlx5_wqe_ctrl_seg`; or what it is if C has no name for it.
    pub name: Cow<'static, str>,
    /// Where it is, in bytes from the record's start.
    pub offset: usize,
    /// How many bytes it has; 0 if it comes from words.
    pub bytes: usize,
    /// Its fields. Reserved ones are left out if they are zero.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Field {
    /// Its name in C, and behind a colon that of the bits if the field is composed: `qpn_ds:ds`.
    pub name: Cow<'static, str>,
    /// Where it is, in bytes from the record's start.
    pub offset: usize,
    /// Its value.
    pub value: Value,
    /// What the value stands for.
    pub meaning: Option<String>,
}

/// A field's value. For serde it is a string: 64 bits are more than a number of JSON is sure to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Shown in decimal.
    Dec(u64),
    /// Shown in hexadecimal; how many bits it has.
    Hex(u64, usize),
    /// Bytes as they are in memory.
    Bytes(Vec<u8>),
    /// Words of a log.
    Text(String),
}

/// What went wrong, and what to try.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diagnosis {
    /// What went wrong.
    pub summary: String,
    /// What more is known of it.
    pub details: Vec<String>,
    /// What to try, likeliest first.
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

    /// The number that the first field of this name has, in whichever part.
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
    /// Says which WQEs of the report are those that its error CQEs are of.
    pub(crate) fn relate(&mut self) {
        let place = |record: &Record, qpn, wqe| Some((record.number(qpn)?, record.number(wqe)? & 0xffff));
        let mut failed = std::collections::HashMap::new();
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

//! A queue, as any source tells it.

use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;

/// The kind of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Kind {
    #[serde(rename = "QP")]
    Pair,
    #[serde(rename = "CQ")]
    Completions,
}

impl Kind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Pair => "QP",
            Self::Completions => "CQ",
        }
    }
}

/// The identity of a queue.
pub(super) type Name = (String, Option<u32>, Kind, u32);

/// A queue at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Queue {
    pub(super) device: String,
    /// The process that has it; the kernel's own queues have none.
    pub(super) pid: Option<u32>,
    pub(super) program: Option<String>,
    pub(super) kind: Kind,
    pub(super) number: u32,
    /// Transport, of a queue pair.
    #[serde(rename = "type")]
    pub(super) transport: Option<String>,
    pub(super) state: Option<String>,
    pub(super) peer: Option<u32>,
    /// Places, of a completion queue.
    pub(super) entries: Option<u64>,
    /// Sums of its work. The kernel of a NIC has none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) counters: BTreeMap<&'static str, u64>,
    /// Those sums, each second.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) per_second: BTreeMap<&'static str, f64>,
    /// Work that waits at this moment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) waiting: BTreeMap<&'static str, u64>,
}

impl Queue {
    pub(super) fn new(device: &str, pid: Option<u32>, kind: Kind, number: u32) -> Self {
        Self {
            device: device.to_owned(),
            pid,
            program: pid.and_then(program),
            kind,
            number,
            transport: None,
            state: None,
            peer: None,
            entries: None,
            counters: BTreeMap::new(),
            per_second: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    pub(super) fn name(&self) -> Name {
        (self.device.clone(), self.pid, self.kind, self.number)
    }

    /// All of its work in a second, for the order of the view.
    pub(super) fn speed(&self) -> f64 {
        self.per_second.values().sum()
    }
}

/// The name of a process.
fn program(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Which queues are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) device: Option<String>,
    pub(crate) pid: Option<u32>,
}

impl Wanted {
    pub(super) fn has(&self, queue: &Queue) -> bool {
        self.device.as_ref().is_none_or(|device| *device == queue.device)
            && self.pid.is_none_or(|pid| queue.pid == Some(pid))
    }
}

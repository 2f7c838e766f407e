//! Chaos by script: failures of a device at a count or a time. Counts of WQEs and events, the device's clock and a seed
//! decide, so in a test with a virtual clock each run is the same.
//!
//! ```text
//!  Script ──> Device::set_script ──> WQEs that fail, events late, twice or never, receivers not ready,
//!    │                                ports, stalls, the end                        └─> Device::happenings
//!    └──────> Script::wire ────────> a network that is slow or bad for a time
//! ```

mod running;
mod wire;

pub(crate) use running::{Act, Running};

use crate::cq::Syndrome;
use crate::event::{Event, QpEvent};
use crate::faults::Faults;
use crate::listed::listed;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// A script of failures. Times count from the first step of the device with the script, on the clock of
/// [`crate::device::Device::step`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Send WQEs that complete in error.
    pub wqes: Vec<WqeFault>,
    /// Events that come otherwise.
    pub events: Vec<EventFault>,
    /// Times at which cables are pulled and plugged in.
    pub ports: Vec<Flap>,
    /// Times at which no receiver of a reliable connection is ready: senders get RNR NAKs.
    pub not_ready: Vec<Window>,
    /// Times at which the device does nothing. Doorbells and packets wait.
    pub stalls: Vec<Window>,
    /// The time at which the device fails for good.
    pub fails: Option<Duration>,
    /// Times at which the network is bad, or slow.
    pub network: Vec<BadNetwork>,
}

/// A time, from its beginning up to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The beginning.
    pub from: Duration,
    /// The end; `None`: never.
    pub to: Option<Duration>,
}

impl Window {
    /// Whether it is now.
    #[must_use]
    pub fn contains(&self, now: Duration) -> bool {
        self.from <= now && self.to.is_none_or(|to| now < to)
    }

    /// Its beginning and its end, as far as they are not past.
    fn limits(&self, now: Duration) -> impl Iterator<Item = Duration> {
        [Some(self.from), self.to].into_iter().flatten().filter(move |limit| *limit > now)
    }
}

/// A send WQE that completes in error instead of being carried out. WQEs before it complete first; the queue pair then
/// behaves as after any such error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WqeFault {
    /// The queue pair, by the order in which queue pairs begin to send, from 1; `None`: each.
    pub queue: Option<u32>,
    /// The number of the WQE in its queue, from 1.
    pub nth: u64,
    /// Syndrome (`MLX5_CQE_SYNDROME_*`).
    pub syndrome: u8,
    /// Vendor syndrome.
    pub vendor: u8,
}

impl WqeFault {
    /// Whether drivers know the syndrome.
    #[must_use]
    pub fn has_known_syndrome(&self) -> bool {
        Syndrome::from_number(self.syndrome).is_some()
    }
}

/// Events that come otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventFault {
    /// Their kind.
    pub kind: EventKind,
    /// The number of the event among those of its kind, from 1; `None`: each.
    pub nth: Option<u64>,
    /// How they come.
    pub fate: EventFate,
}

/// How an event comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventFate {
    /// So much later.
    Late(Duration),
    /// Two times.
    Twice,
    /// It gets lost.
    Never,
}

listed! {
    /// Kinds of events, with their names in scripts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum EventKind {
        /// An armed CQ got a CQE.
        Completion => "completion",
        CqError => "cq-error",
        CommunicationEstablished => "communication-established",
        SqDrained => "sq-drained",
        QpFatal => "qp-fatal",
        QpRequestError => "qp-request-error",
        QpAccessError => "qp-access-error",
        LastWqeReached => "last-wqe-reached",
        SrqLimit => "srq-limit",
        SrqError => "srq-error",
        /// Of a receive queue of Ethernet frames.
        WqFatal => "wq-fatal",
        PortActive => "port-active",
        PortError => "port-error",
        DeviceFatal => "device-fatal",
    }
}

impl EventKind {
    /// That of `event`. Those of a driver's own commands have none.
    fn of(event: &Event) -> Option<Self> {
        Some(match event {
            Event::Completion { .. } => Self::Completion,
            Event::CqError { .. } => Self::CqError,
            Event::Qp { kind, .. } => match kind {
                QpEvent::CommunicationEstablished => Self::CommunicationEstablished,
                QpEvent::SqDrained => Self::SqDrained,
                QpEvent::Fatal => Self::QpFatal,
                QpEvent::RequestError => Self::QpRequestError,
                QpEvent::AccessError => Self::QpAccessError,
                QpEvent::LastWqeReached => Self::LastWqeReached,
            },
            Event::SrqLimit { .. } => Self::SrqLimit,
            Event::SrqError { .. } => Self::SrqError,
            Event::RqError { .. } => Self::WqFatal,
            Event::Port { up: true, .. } => Self::PortActive,
            Event::Port { up: false, .. } => Self::PortError,
            Event::DeviceFatal => Self::DeviceFatal,
            Event::Dct { .. } | Event::SqError { .. } | Event::CommandDone { .. } | Event::PageRequest { .. } => {
                return None;
            }
        })
    }
}

/// The time for which a port's cable is pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flap {
    /// The port, from 1.
    pub port: u8,
    /// When.
    pub window: Window,
}

/// A time at which packets suffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadNetwork {
    /// When.
    pub window: Window,
    /// How, in place of the faults of other times. Its seed does not count.
    pub faults: Faults,
}

/// Something that a script has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    /// When, since the script began.
    pub at: Duration,
    /// What.
    pub what: String,
}

impl Display for Happening {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let micros = self.at.as_micros();
        write!(f, "{:>8}.{:03} ms  {}", micros / 1000, micros % 1000, self.what)
    }
}

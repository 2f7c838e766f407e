//! A script as far as a device has come.

use super::{EventFate, EventKind, Happening, Script};
use crate::config::SrqFaults;
use crate::cq::Syndrome;
use crate::event::Event;
use std::collections::BTreeMap;
use std::time::Duration;

/// Most happenings that wait to be taken.
const KEPT: usize = 1 << 16;

/// Something to do at its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// The cable of a port.
    Port { port: u8, up: bool },
    /// Receives from SRQs fail at these rates from now on; `None`: at those of the configuration.
    SrqFaults(Option<SrqFaults>),
    /// The device fails.
    Fail,
    /// An event that is late, and the queue of its CQ.
    Raise(Event, Option<u32>),
}

/// The state of a script.
#[derive(Debug, Default)]
pub(crate) struct Running {
    script: Script,
    /// The next things of which each has its time, the latest first.
    acts: Vec<(Duration, Act, String)>,
    /// Queue pairs that have sent: their order, and their WQEs.
    queues: BTreeMap<u32, (u32, u64)>,
    /// How many have begun to send.
    begun: u32,
    events: BTreeMap<EventKind, u64>,
    happened: Vec<Happening>,
    /// A receiver has been found not ready in the window that it is now.
    told_not_ready: Option<Duration>,
    /// The device does nothing, and that was noted.
    stalled: bool,
    /// The time of the device's clock at which the script began: that of its first step.
    zero: Option<Duration>,
    /// The time since then.
    now: Duration,
}

impl Running {
    /// Begins a script.
    pub(crate) fn new(script: Script) -> Self {
        let mut acts = Vec::new();
        for flap in &script.ports {
            let port = flap.port;
            acts.push((flap.window.from, Act::Port { port, up: false }, format!("port {port} goes down")));
            acts.extend(flap.window.to.map(|to| (to, Act::Port { port, up: true }, format!("port {port} comes up"))));
        }
        for bad in &script.network {
            let faults = bad.faults.srq;
            acts.push((bad.window.from, Act::SrqFaults(Some(faults)), format!("the network is bad: {}", bad.faults)));
            acts.extend(bad.window.to.map(|to| (to, Act::SrqFaults(None), "the network is as before".to_owned())));
        }
        acts.extend(script.fails.map(|at| (at, Act::Fail, "the device fails".to_owned())));
        // Of one time, in their order in the script.
        acts.sort_by_key(|(at, ..)| *at);
        acts.reverse();
        Self { script, acts, ..Self::default() }
    }

    /// The next thing to do at `now`, if it is due.
    pub(crate) fn next_act(&mut self, now: Duration) -> Option<Act> {
        let now = now.saturating_sub(*self.zero.get_or_insert(now));
        self.now = self.now.max(now);
        if self.acts.last().is_none_or(|(at, ..)| *at > now) {
            self.note_stall();
            return None;
        }
        let (_, act, what) = self.acts.pop()?;
        self.note(what);
        Some(act)
    }

    fn note_stall(&mut self) {
        let stalled = self.is_stalled();
        if stalled != std::mem::replace(&mut self.stalled, stalled) {
            self.note(if stalled { "the device does nothing" } else { "the device goes on" }.to_owned());
        }
    }

    /// Whether the device does nothing at the time of the last [`Self::next_act`].
    pub(crate) fn is_stalled(&self) -> bool {
        self.script.stalls.iter().any(|window| window.contains(self.now))
    }

    /// When the script has something to do, by the device's clock.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        let zero = self.zero?;
        let stalls = self.script.stalls.iter().flat_map(|window| window.limits(self.now));
        self.acts.last().map(|(at, ..)| *at).into_iter().chain(stalls).min().map(|at| zero.saturating_add(at))
    }

    /// Syndrome and vendor syndrome that the next WQE of queue pair `qpn` ends with; `index` is its place in the ring.
    pub(crate) fn of_wqe(&mut self, qpn: u32, index: u16) -> Option<(Syndrome, u8)> {
        if self.script.wqes.is_empty() {
            return None;
        }
        let begun = &mut self.begun;
        let (queue, count) = self.queues.entry(qpn).or_insert_with(|| {
            *begun += 1;
            (*begun, 0)
        });
        *count += 1;
        let is_it = |fault: &&super::WqeFault| fault.queue.is_none_or(|of| of == *queue) && fault.nth == *count;
        let fault = *self.script.wqes.iter().find(is_it)?;
        let (queue, count) = (*queue, *count);
        let (syndrome, vendor) = (Syndrome::from_number(fault.syndrome)?, fault.vendor);
        self.note(format!(
            "queue pair {queue} ({qpn:#x}): WQE {count} (index {index:#x}) completes with syndrome {:#04x}, \
            vendor syndrome {vendor:#04x}",
            fault.syndrome
        ));
        Some((syndrome, vendor))
    }

    /// Queue pair `qpn` is new: none has sent as it.
    pub(crate) fn forget(&mut self, qpn: u32) {
        self.queues.remove(&qpn);
    }

    /// How often an event is to be raised now. If it is late, it is kept, with the queue of its CQ.
    pub(crate) fn copies_of(&mut self, event: Event, eqn: Option<u32>) -> usize {
        let Some(kind) = EventKind::of(&event).filter(|_| !self.script.events.is_empty()) else { return 1 };
        let count = self.events.entry(kind).or_insert(0);
        *count += 1;
        let nth = *count;
        let mut rows = self.script.events.iter();
        let Some(row) = rows.find(|row| row.kind == kind && row.nth.is_none_or(|of| of == nth)) else { return 1 };
        let what = format!("event {nth} of kind {}", kind.name());
        match row.fate {
            EventFate::Never => {
                self.note(format!("{what} gets lost"));
                0
            }
            EventFate::Twice => {
                self.note(format!("{what} comes twice"));
                2
            }
            EventFate::Late(by) => {
                self.note(format!("{what} will be late by {by:?}"));
                let due = self.now.saturating_add(by);
                let place = self.acts.partition_point(|(at, ..)| *at > due);
                self.acts.insert(place, (due, Act::Raise(event, eqn), format!("{what} comes late")));
                0
            }
        }
    }

    /// Whether no receiver is ready now.
    pub(crate) fn is_not_ready(&mut self) -> bool {
        let Some(window) = self.script.not_ready.iter().find(|window| window.contains(self.now)).copied() else {
            return false;
        };
        if self.told_not_ready.replace(window.from) != Some(window.from) {
            self.note("receivers are not ready".to_owned());
        }
        true
    }

    /// Everything that the script has done since the last call.
    pub(crate) fn take_happened(&mut self) -> Vec<Happening> {
        std::mem::take(&mut self.happened)
    }

    fn note(&mut self, what: String) {
        if self.happened.len() < KEPT {
            self.happened.push(Happening { at: self.now, what });
        }
    }
}

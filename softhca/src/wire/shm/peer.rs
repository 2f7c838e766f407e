//! A receiver as its sender sees it: its ring, and whether it lives.

use std::{
    num::NonZeroU32,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use super::contacts::{Contacts, Link, Reached};
use super::landing::{Place, Process};
use super::ring::Writer;
use super::slot::Control;
use crate::notify::Waker;
use crate::wire::frame::Frame;
use crate::wire::loan::Batch;

/// How often it is looked at whether the process of a receiver is stopped.
const STOP_LOOK: Duration = Duration::from_secs(1);

/// A receiver as its sender sees it.
#[derive(Debug)]
pub(super) struct Peer {
    link: Link,
    /// `None`: the ring is unusable, and frames vanish until the slot has a new owner.
    writer: Option<Writer>,
    /// The owner's answer. It wakes itself for frames that were sent before the answer.
    control: Arc<OnceLock<(Control, Waker)>>,
    /// Frames sent in this step, if it sends any. The first has woken the receiver, which may sleep again.
    news: Option<u32>,
    /// Since when the ring is full.
    full_since: Option<Instant>,
    /// The number of its process.
    process: u32,
    /// The kernel has refused access to its memory.
    is_out_of_reach: bool,
    /// The end of records that were unanswered, and since when.
    owed: Option<(u32, Instant)>,
    /// When its process was last looked at, and whether it was stopped then.
    stopped: Option<(Instant, bool)>,
    last_word: Option<LastWord>,
}

/// When it was last looked whether a receiver that owes nothing has said anything more.
#[derive(Clone, Copy, Debug)]
struct LastWord {
    /// The end of the records for it, and whether it lived.
    state: (u32, bool),
    /// The step in which this was looked for.
    step: Instant,
    /// Whether there was anything.
    is_there: bool,
}

impl Peer {
    /// A receiver that was reached.
    pub(super) fn new(Reached { link, writer, control, process }: Reached) -> Self {
        let writer = Some(writer);
        Self {
            link,
            writer,
            control,
            news: None,
            full_since: None,
            process,
            is_out_of_reach: false,
            owed: None,
            stopped: None,
            last_word: None,
        }
    }

    /// Whether the owner is still there: by its own word, and by the kernel's.
    pub(super) fn is_alive(&self) -> bool {
        self.control.get().is_none_or(|(control, _)| control.is_here()) && !self.link.is_closed()
    }

    /// Whether it is known that there may be frames for it in this step.
    pub(super) fn is_in_step(&self) -> bool {
        self.news.is_some()
    }

    /// There may be frames for it in this step.
    pub(super) fn begin_step(&mut self) {
        self.news = Some(0);
    }

    /// The receiver has a frame. To look whether it sleeps takes as long as the rest of the work on a small frame. So
    /// the first frame of a step wakes it, and [`Self::end_step`] does for the others.
    fn has_frame(&mut self) {
        let before = self.news.unwrap_or(0);
        if before == 0 {
            self.wake();
        }
        self.news = Some(before.saturating_add(1));
    }

    /// The step ends.
    pub(super) fn end_step(&mut self) {
        if self.news.take().is_some_and(|frames| frames > 1) {
            self.wake();
        }
    }

    /// How long it has owed answers to the same frames at least; `None` if it owes none. That it answers some frames,
    /// and not the earliest of those it owes, does not count.
    pub(super) fn owes_for(&mut self, now: Instant) -> Option<Duration> {
        let unanswered = self.writer.as_mut().and_then(Writer::unanswered);
        self.owed = unanswered.map(|records| match self.owed {
            Some((end, since)) if !records.is_past(end) => (end, since),
            _ => (records.end, now),
        });
        self.owed.map(|(_, since)| now - since)
    }

    /// Whether its process is stopped, as [`STOP_LOOK`] ago at most. Once it goes on, it has as much time for its answers
    /// as any other.
    pub(super) fn is_stopped(&mut self, now: Instant, contacts: &Contacts) -> bool {
        let is_stopped = match self.stopped {
            Some((looked, was)) if now - looked < STOP_LOOK => was,
            _ => {
                let is = contacts.is_stopped(self.process);
                self.stopped = Some((now, is));
                is
            }
        };
        if is_stopped {
            self.owed = self.owed.map(|(end, _)| (end, now));
        }
        is_stopped
    }

    /// Whether something of this receiver, which owes no more answers, may be there that the device has not read. The
    /// device's step began at `now`. `look` tells whether there is anything to read. It is asked once, or others who
    /// always have something to say would hide the silence of this one.
    pub(super) fn has_last_word(&mut self, now: Instant, look: impl FnOnce() -> bool) -> bool {
        let state = (self.writer.as_ref().map_or(0, Writer::end), self.is_alive());
        let last_word = match self.last_word {
            Some(last) if last.state == state => last,
            _ => LastWord { state, step: now, is_there: look() },
        };
        self.last_word = Some(last_word);
        last_word.is_there && last_word.step == now
    }

    /// Whether it lends the responder of queue pair `qpn` to queue pair `from`, and expects `psn`: `ids`.
    pub(super) fn may_execute(&self, ids: (u32, u32, u32)) -> bool {
        !self.is_out_of_reach && self.writer.as_ref().is_some_and(|writer| writer.may_execute(ids))
    }

    /// The landing of its process, once it has said where.
    pub(super) fn landing(&self) -> Option<Place> {
        self.control.get().and_then(|(control, _)| control.landing())
    }

    /// Executes requests by a loan; how many.
    pub(super) fn execute(&mut self, batch: &Batch<'_>) -> usize {
        let process = NonZeroU32::new(self.process).zip(self.landing()).filter(|_| !self.is_out_of_reach);
        let Some((number, landing)) = process else { return 0 };
        let Some(writer) = &self.writer else { return 0 };
        let mut is_refused = false;
        let executed = writer.execute(batch, |there| {
            let copied = Process { number, landing }.copy(batch.write, batch.local, there);
            is_refused = copied.is_err();
            copied.unwrap_or(0)
        });
        if is_refused {
            log::info!("no access to the memory of process {number}: all requests to it go by packets");
            self.is_out_of_reach = true;
        }
        executed
    }

    fn wake(&self) {
        if let Some((_, waker)) = self.control.get() {
            waker.wake();
        }
    }

    /// Sends an Ethernet frame; `false` if it is lost because there is no room.
    pub(super) fn send_ethernet(&mut self, frame: &[u8]) -> bool {
        let Some(writer) = &mut self.writer else { return true };
        match writer.push_ethernet(frame) {
            Ok(true) => {
                self.has_frame();
                true
            }
            Ok(false) => false,
            Err(corrupt) => {
                log::error!("a receiver's ring is given up: {corrupt}");
                self.writer = None;
                true
            }
        }
    }

    /// Sends a frame; `false` if there is no room now. A receiver that has had none for `patience` loses it.
    pub(super) fn send(&mut self, frame: &Frame, patience: Duration) -> bool {
        let Some(writer) = &mut self.writer else { return true };
        match writer.push(frame) {
            Ok(true) => {
                self.full_since = None;
                self.has_frame();
                true
            }
            Ok(false) => {
                let now = Instant::now();
                now - *self.full_since.get_or_insert(now) >= patience
            }
            Err(corrupt) => {
                log::error!("a receiver's ring is given up: {corrupt}");
                self.writer = None;
                true
            }
        }
    }
}

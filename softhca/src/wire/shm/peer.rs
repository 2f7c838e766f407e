//! A receiver as its sender sees it: its ring, and whether it lives.

use std::{
    io,
    time::{Duration, Instant},
};

use super::ring::Writer;
use super::slot::{Connection, Control, Directory, Received};
use crate::notify::Notify;
use crate::packet::buffer;
use crate::wire::frame::Frame;

/// How often the kernel is asked whether a receiver still lives, at most.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// A receiver as its sender sees it.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) connection: Connection,
    /// `None`: the ring is unusable, and frames vanish until the slot has a new owner.
    writer: Option<Writer>,
    /// The owner's answer. Before the answer, the owner finds our frames when it next looks for senders.
    control: Option<(Control, Notify)>,
    /// When it was last known to live.
    checked: Instant,
    /// Frames sent in this step, if it sends any. The first has woken the receiver, which may sleep again.
    news: Option<u32>,
    /// Since when the ring is full.
    full_since: Option<Instant>,
}

impl Peer {
    /// Connects to the owner of a slot and hands it a ring; `None` if there is no owner.
    pub(super) fn reach(directory: &Directory, slot: u32, now: Instant) -> io::Result<Option<Self>> {
        let Some(connection) = directory.connect(slot)? else { return Ok(None) };
        let (writer, memory) = Writer::create()?;
        connection.send(&memory)?;
        let writer = Some(writer);
        Ok(Some(Self { connection, writer, control: None, checked: now, news: None, full_since: None }))
    }

    /// Whether the owner is still there: by its own word, and now and then by the kernel's.
    pub(super) fn is_alive(&mut self, now: Instant) -> bool {
        if self.control.as_ref().is_some_and(|(control, _)| !control.is_here()) {
            return false;
        }
        if self.control.is_some() {
            if now - self.checked < LOOK_INTERVAL {
                return true;
            }
            self.checked = now;
        }
        match self.connection.receive() {
            Received::Closed => return false,
            Received::Memory(memory) if self.control.is_none() => match Control::of_peer(&memory) {
                Ok(control) => self.control = Some((control.clone(), control.notify())),
                Err(error) => log::warn!("a receiver's wake-up words: {error}"),
            },
            Received::Memory(_) | Received::Nonsense => log::warn!("a receiver says what it should not"),
            Received::Nothing => {}
        }
        true
    }

    /// There may be frames for it in this step. False if that was known.
    pub(super) fn begins_step(&mut self) -> bool {
        let begins = self.news.is_none();
        if begins {
            self.news = Some(0);
        }
        begins
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

    /// Whether it has not dealt with all frames that were sent to it.
    pub(super) fn is_unanswered(&self) -> bool {
        self.writer.as_ref().is_some_and(Writer::is_unanswered)
    }

    fn wake(&self) {
        if let Some((_, notify)) = &self.control {
            notify.wake();
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

    pub(super) fn send(&mut self, frame: Frame, patience: Duration) -> Result<(), Frame> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        match writer.push(&frame) {
            Ok(true) => {
                self.full_since = None;
                self.has_frame();
                buffer::give(frame.packet);
                Ok(())
            }
            Ok(false) => {
                let now = Instant::now();
                if now - *self.full_since.get_or_insert(now) < patience { Err(frame) } else { Ok(()) }
            }
            Err(corrupt) => {
                log::error!("a receiver's ring is given up: {corrupt}");
                self.writer = None;
                Ok(())
            }
        }
    }
}

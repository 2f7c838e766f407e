//! A receiver as its sender sees it: its ring, and whether it lives.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use super::contacts::{Link, Reached};
use super::ring::Writer;
use super::slot::Control;
use crate::notify::Notify;
use crate::packet::buffer;
use crate::wire::frame::Frame;

/// A receiver as its sender sees it.
#[derive(Debug)]
pub(super) struct Peer {
    link: Link,
    /// `None`: the ring is unusable, and frames vanish until the slot has a new owner.
    writer: Option<Writer>,
    /// The owner's answer. It wakes itself for frames that were sent before the answer.
    control: Arc<OnceLock<(Control, Notify)>>,
    /// Frames sent in this step, if it sends any. The first has woken the receiver, which may sleep again.
    news: Option<u32>,
    /// Since when the ring is full.
    full_since: Option<Instant>,
}

impl Peer {
    /// A receiver that was reached.
    pub(super) fn new((link, writer, control): Reached) -> Self {
        Self { link, writer: Some(writer), control, news: None, full_since: None }
    }

    /// Whether the owner is still there: by its own word, and by the kernel's.
    pub(super) fn is_alive(&self) -> bool {
        self.control.get().is_none_or(|(control, _)| control.is_here()) && !self.link.is_closed()
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
        if let Some((_, notify)) = self.control.get() {
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

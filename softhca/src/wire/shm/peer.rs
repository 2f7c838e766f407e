//! A receiver as its sender sees it: its ring, and whether it lives.

use std::{
    io,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};

use super::ring::Writer;
use super::slot::{Connection, Control, Directory, Received};
use crate::notify::Notify;
use crate::packet::buffer;
use crate::wire::frame::Frame;

/// How often the kernel is asked whether a receiver still lives, at most.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// The time by a clock that moves every few milliseconds: reading the exact one would take longer than the rest of the
/// work on a small frame.
fn coarse() -> Duration {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// A receiver as its sender sees it.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) connection: Connection,
    /// `None`: the ring is unusable, and frames vanish until the slot has a new owner.
    writer: Option<Writer>,
    /// The owner's answer. Before the answer, the owner finds our frames when it next looks for senders.
    control: Option<(Control, Notify)>,
    /// When it was last known to live.
    checked: Duration,
    /// Since when the ring is full.
    full_since: Option<Instant>,
}

impl Peer {
    /// Connects to the owner of a slot and hands it a ring; `None` if there is no owner.
    pub(super) fn reach(directory: &Directory, slot: u32) -> io::Result<Option<Self>> {
        let Some(connection) = directory.connect(slot)? else { return Ok(None) };
        let (writer, memory) = Writer::create()?;
        connection.send(&memory)?;
        Ok(Some(Self { connection, writer: Some(writer), control: None, checked: coarse(), full_since: None }))
    }

    /// Whether the owner is still there: by its own word, and now and then by the kernel's.
    pub(super) fn is_alive(&mut self) -> bool {
        if self.control.as_ref().is_some_and(|(control, _)| !control.is_here()) {
            return false;
        }
        if self.control.is_some() {
            let now = coarse();
            if now.saturating_sub(self.checked) < LOOK_INTERVAL {
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

    /// Sends an Ethernet frame; `false` if it is lost because there is no room.
    pub(super) fn send_ethernet(&mut self, frame: &[u8]) -> bool {
        let Some(writer) = &mut self.writer else { return true };
        match writer.push_ethernet(frame) {
            Ok(true) => {
                if let Some((_, notify)) = &self.control {
                    notify.wake();
                }
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
                if let Some((_, notify)) = &self.control {
                    notify.wake();
                }
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

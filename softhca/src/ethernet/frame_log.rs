//! Frames that were sent, for tests and for people.

use std::collections::VecDeque;

/// Most frames that the device keeps after it has sent them; see [`crate::device::Device::take_frames`].
pub const FRAMES_KEPT: usize = 64;

/// A frame that left the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFrame {
    /// The QP that sent it.
    pub qpn: u32,
    /// Its bytes, from the destination address on, without the frame check sequence.
    pub bytes: Vec<u8>,
}

/// A frame on its way to the port.
#[derive(Debug)]
pub(crate) struct Leaving {
    /// The queue that sends it.
    pub(crate) qpn: u32,
    /// The number that its WQE gave it for rules.
    pub(crate) metadata: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Frames that wait for the port at most. One large packet has no more.
const MOST_LEAVING: usize = 4096;

/// Frames that queues have sent and the port has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Egress {
    frames: Vec<Leaving>,
    /// The queue that has the first turn.
    turn: u32,
}

impl Egress {
    /// Whether queues have to wait until the port has taken the frames.
    pub(crate) fn is_full(&self) -> bool {
        self.frames.len() >= MOST_LEAVING
    }

    /// The number from which on queues have their turns.
    pub(crate) fn turn(&self) -> u32 {
        self.turn
    }

    /// Adds a frame of queue `qpn`.
    pub(crate) fn push(&mut self, qpn: u32, metadata: u32, bytes: Vec<u8>) {
        self.frames.push(Leaving { qpn, metadata, bytes });
    }

    /// Takes all of them, the oldest first.
    pub(crate) fn take(&mut self) -> Vec<Leaving> {
        // Queues that found no room come before the one that left none.
        self.turn = self.frames.last().filter(|_| self.is_full()).map_or(0, |last| last.qpn + 1);
        std::mem::take(&mut self.frames)
    }
}

/// The latest frames.
#[derive(Debug, Default)]
pub struct FrameLog(VecDeque<SentFrame>);

impl FrameLog {
    /// Adds a frame, in place of the oldest if there are [`FRAMES_KEPT`]. The log shows it to programs that cannot ask
    /// the device for it (those on the uverbs front end).
    pub(crate) fn push(&mut self, qpn: u32, bytes: Vec<u8>) {
        log::trace!("QP {qpn:#x}: frame {bytes:02x?}");
        if self.0.len() == FRAMES_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(SentFrame { qpn, bytes });
    }

    /// Takes all of them, the oldest first.
    pub(crate) fn take(&mut self) -> Vec<SentFrame> {
        self.0.drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_frames_are_kept() {
        let mut log = FrameLog::default();
        (0..100).for_each(|i| log.push(i, Vec::new()));
        let kept = log.take();
        assert_eq!((kept.len(), kept[0].qpn, kept[63].qpn), (FRAMES_KEPT, 36, 99));
        assert_eq!(log.take(), []);
    }
}

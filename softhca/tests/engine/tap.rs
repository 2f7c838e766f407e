//! A wire that notes every packet, and treats it as a script says.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use softhca::packet::{Operation, Packet};
use softhca::wire::{Announcement, Frame, Wire};

/// Opcode of notifications of congestion, which scripts do not see: packets of the lab have the mark.
const NOTIFICATION: u8 = 0x81;

/// The fate of a packet.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fate {
    Deliver,
    Drop,
    Twice,
    /// Given back: its receiver has no room.
    Refuse,
    /// Delivered after the next packet that is delivered.
    Late,
}

type Script = Box<dyn FnMut(&Packet<'_>) -> Fate + Send>;

/// The packets of a node, and the script for them.
#[derive(Default)]
pub(crate) struct Tap {
    pub(crate) script: Option<Script>,
    /// Headers of all packets sent, lost ones included: operation, PSN.
    pub(crate) log: Vec<(Operation, u32)>,
    /// Packets that the wire takes between two looks at it; no limit if `None`.
    pub(crate) width: Option<usize>,
    taken: usize,
    /// The peer's process is stopped.
    pub(crate) peer_is_away: bool,
    /// Ethernet frames sent.
    pub(crate) frames: usize,
    held: VecDeque<Frame>,
}

pub(crate) struct TappedWire {
    pub(crate) inner: Box<dyn Wire>,
    pub(crate) tap: Arc<Mutex<Tap>>,
    /// Most bytes of payload in a frame of several packets.
    pub(crate) segment_bytes: usize,
}

impl Wire for TappedWire {
    fn segment_bytes(&self) -> usize {
        self.segment_bytes
    }

    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let mut tap = self.tap.lock().unwrap();
        if tap.width.is_some_and(|width| tap.taken >= width) {
            return Err(frame);
        }
        if frame.packet[0] == NOTIFICATION {
            return self.inner.send(frame);
        }
        let packet = Packet::of(&frame.packet, frame.packets).expect("devices send packets that parse");
        let fate = tap.script.as_mut().map_or(Fate::Deliver, |script| script(&packet));
        if fate == Fate::Refuse {
            return Err(frame);
        }
        tap.taken += 1;
        tap.log.push((packet.headers.bth.opcode.operation(), packet.headers.bth.psn));
        match fate {
            Fate::Drop => return Ok(()),
            Fate::Late => {
                tap.held.push_back(frame);
                return Ok(());
            }
            Fate::Twice => self.inner.send(frame.clone())?,
            Fate::Deliver | Fate::Refuse => {}
        }
        self.inner.send(frame)?;
        while let Some(frame) = tap.held.pop_front() {
            self.inner.send(frame)?;
        }
        Ok(())
    }

    fn announce(&mut self, announcement: Announcement) {
        self.inner.announce(announcement);
    }

    fn send_ethernet(&mut self, frame: &[u8]) {
        self.tap.lock().unwrap().frames += 1;
        self.inner.send_ethernet(frame);
    }

    fn recv_ethernet(&mut self) -> Option<Vec<u8>> {
        self.inner.recv_ethernet()
    }

    fn is_kept_waiting_by(&mut self, _qpn: u32) -> bool {
        self.tap.lock().unwrap().peer_is_away
    }

    fn recv(&mut self) -> Option<Frame> {
        self.tap.lock().unwrap().taken = 0;
        self.inner.recv()
    }
}

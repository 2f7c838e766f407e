//! The end of a wire at a port.

use super::address::Announcement;
use super::cable::Dropped;
use super::frame::Frame;
use super::loan::{Batch, Done, InUse, Loan, Returned};
use std::fmt::Display;
use std::os::fd::RawFd;
use std::time::Duration;

/// The fate of a packet that a fault injector does not let pass as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is never sent.
    Dropped,
    /// This copy is the second one.
    Repeated,
    /// Later packets were sent before it.
    Overtaken,
    /// It was held back for long.
    Delayed,
    /// It carries the mark of a congested router.
    Marked,
}

impl Fate {
    /// The fate in words, for captures.
    #[must_use]
    pub const fn comment(self) -> &'static str {
        match self {
            Self::Dropped => "dropped by the fault injector: never on the cable",
            Self::Repeated => "sent a second time by the fault injector",
            Self::Overtaken => "held back by the fault injector, for later packets to overtake it",
            Self::Delayed => "delayed by the fault injector",
            Self::Marked => "marked by the fault injector: congestion experienced",
        }
    }
}

/// The fate of the packets that a wire has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// The device has taken them, and its answers are on the wire.
    Answered,
    /// Answers are still to come.
    Unanswered,
    /// The device takes no packets now, on purpose: it has failed, or a script stalls it.
    Ignored,
}

/// The port's way to other devices. Delivers in order per sender unless a fault injector sits on it.
pub trait Wire: Send {
    /// Sends `frame`.
    ///
    /// # Errors
    /// The frame comes back when the receiver has no room now; the caller keeps it and tries again later. Others may
    /// have room: the caller goes on with frames for them. A frame to an unknown address is dropped silently, as a
    /// switch does.
    fn send(&mut self, frame: Frame) -> Result<(), Frame>;

    /// The next frame for this port, if one has arrived.
    fn recv(&mut self) -> Option<Frame>;

    /// The wire that this one puts its packets into, if there is one. It does all that this one does not define, except
    /// that each frame is one packet.
    fn behind(&self) -> Option<&dyn Wire> {
        None
    }

    /// [`Self::behind`], to change it.
    fn behind_mut(&mut self) -> Option<&mut dyn Wire> {
        None
    }

    /// Most bytes of payload in a frame that stands for several packets of a message ([`Frame::packets`]). 0: each
    /// frame is one packet.
    fn segment_bytes(&self) -> usize {
        0
    }

    /// A packet is dropped, or the next one to be sent has this fate. For wires that record packets.
    fn note(&mut self, frame: &Frame, fate: Fate) {
        if let Some(wire) = self.behind_mut() {
            wire.note(frame, fate);
        }
    }

    /// Sends an Ethernet frame to all other ports, as a cable and a hub do: without an answer, and lost at a port that
    /// has no room for it. A wire for packets of the transport alone loses it.
    fn send_ethernet(&mut self, frame: &[u8]) {
        if let Some(wire) = self.behind_mut() {
            wire.send_ethernet(frame);
        }
    }

    /// The next Ethernet frame that another port has sent.
    fn recv_ethernet(&mut self) -> Option<Vec<u8>> {
        self.behind_mut()?.recv_ethernet()
    }

    /// A reason why bytes that arrived by a cable were no packet, or why Ethernet frames were lost, and how often that
    /// happened. The device counts them. Frames are lost without a limit while a device is not stepped, so one answer
    /// has the count of them all.
    fn next_dropped(&mut self) -> Option<(Dropped, u64)> {
        self.behind_mut()?.next_dropped()
    }

    /// The device has other addresses from now on. Packets under way arrive where packets sent now would arrive. A
    /// wire that has one device at its other end need not know.
    fn announce(&mut self, announcement: Announcement) {
        if let Some(wire) = self.behind_mut() {
            wire.announce(announcement);
        }
    }

    /// The Ethernet address of the port that has the GID `to`, for packets from `from`; zeros from a wire that finds
    /// receivers without one. `None` if nobody is known to have it now. Then the wire has asked, and the caller may ask
    /// again.
    fn neighbour(&mut self, from: [u8; 16], to: [u8; 16]) -> Option<[u8; 6]> {
        self.behind_mut().map_or(Some([0; 6]), |wire| wire.neighbour(from, to))
    }

    /// A step begins: the device's clock is at `now`. Whether packets went on that had waited for this time, or more
    /// have arrived than the latest [`Self::recv`] has looked at.
    fn advance(&mut self, now: Duration) -> bool {
        self.behind_mut().is_some_and(|wire| wire.advance(now))
    }

    /// A step ends: the receivers learn of everything that was sent, and senders may learn what became of their packets.
    /// A wire may tell receivers before.
    fn flush(&mut self, arrived: Arrived) {
        if let Some(wire) = self.behind_mut() {
            wire.flush(arrived);
        }
    }

    /// `packet`, which will be sent, refuses something: why. Captures show it.
    fn comment(&mut self, packet: &[u8], reason: &dyn Display) {
        if let Some(wire) = self.behind_mut() {
            wire.comment(packet, reason);
        }
    }

    /// Whether the device that has this QPN lives, and has not yet read the packets sent to it, because its process is
    /// stopped, or has had no CPU. A NIC answers without one. So this time counts against no time limit of the sender.
    fn is_kept_waiting_by(&mut self, qpn: u32) -> bool {
        self.behind_mut().is_some_and(|wire| wire.is_kept_waiting_by(qpn))
    }

    /// The connection that the latest frame of [`Self::recv`] has come by, if the wire lends responders to its sender
    /// (see [`loan`](super::loan)). Wires before another one lend none: they would miss packets.
    fn sender(&self) -> Option<u64> {
        None
    }

    /// Lends a responder to the device at the other end of a connection. `false` if it cannot.
    fn lend(&mut self, _connection: u64, _loan: &Loan) -> bool {
        false
    }

    /// Takes back what was lent of queue pair `qpn`; `None` if nothing was. Waits for a request that is being executed,
    /// for `patience` at most.
    ///
    /// # Errors
    /// [`InUse`]: the responder is still on loan.
    fn take_back(&mut self, _qpn: u32, _patience: Duration) -> Result<Option<Returned>, InUse> {
        Ok(None)
    }

    /// How far the borrower of queue pair `qpn` is, if it is on loan, and what it has done since that was last counted.
    fn on_loan(&self, _qpn: u32) -> Option<Returned> {
        None
    }

    /// The work of the borrower of queue pair `qpn` since the last call.
    fn done_by_loan(&mut self, _qpn: u32) -> Option<Done> {
        None
    }

    /// Whether the responder of queue pair `qpn` is on loan to queue pair `from`, and expects `psn`.
    fn may_execute(&self, _qpn: u32, _from: u32, _psn: u32) -> bool {
        false
    }

    /// Executes requests in place of the responder that they are for, in their order; how many of them. The next one has
    /// to go by packets. Part of it, if it is a WRITE, may have been written.
    fn execute(&mut self, _batch: &Batch<'_>) -> usize {
        0
    }

    /// When [`Self::advance`] has something to do although nothing happens.
    fn next_deadline(&self) -> Option<Duration> {
        self.behind()?.next_deadline()
    }

    /// Whether frames wait inside of the wire for later calls (a fault injector that delays them), so that a device
    /// with nothing else to do is not idle yet.
    fn is_holding(&self) -> bool {
        self.behind().is_some_and(Wire::is_holding)
    }

    /// Descriptors that the wire has open, which a host that closes descriptors it does not know must spare.
    fn descriptors(&self) -> Vec<RawFd> {
        self.behind().map_or_else(Vec::new, Wire::descriptors)
    }
}

impl Wire for Box<dyn Wire> {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        (**self).send(frame)
    }

    fn recv(&mut self) -> Option<Frame> {
        (**self).recv()
    }

    fn segment_bytes(&self) -> usize {
        (**self).segment_bytes()
    }

    fn sender(&self) -> Option<u64> {
        (**self).sender()
    }

    fn lend(&mut self, connection: u64, loan: &Loan) -> bool {
        (**self).lend(connection, loan)
    }

    fn take_back(&mut self, qpn: u32, patience: Duration) -> Result<Option<Returned>, InUse> {
        (**self).take_back(qpn, patience)
    }

    fn on_loan(&self, qpn: u32) -> Option<Returned> {
        (**self).on_loan(qpn)
    }

    fn done_by_loan(&mut self, qpn: u32) -> Option<Done> {
        (**self).done_by_loan(qpn)
    }

    fn may_execute(&self, qpn: u32, from: u32, psn: u32) -> bool {
        (**self).may_execute(qpn, from, psn)
    }

    fn execute(&mut self, batch: &Batch<'_>) -> usize {
        (**self).execute(batch)
    }

    fn behind(&self) -> Option<&dyn Wire> {
        Some(&**self)
    }

    fn behind_mut(&mut self) -> Option<&mut dyn Wire> {
        Some(&mut **self)
    }
}

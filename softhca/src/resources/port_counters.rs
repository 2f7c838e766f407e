//! Counters of the packets that a port has dropped, and of congestion.

use super::Resources;
use crate::wire::cable::Dropped;

/// Frames or packets of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) packets: u64,
    /// Bytes, without frame check sequences.
    pub(crate) octets: u64,
}

impl Traffic {
    /// Counts one of `octets` bytes.
    pub(crate) fn add(&mut self, octets: u64) {
        self.packets += 1;
        self.octets += octets;
    }

    /// Counts `packets` of `octets` bytes in all. Another process may say how many, so any number is possible.
    pub(crate) fn add_many(&mut self, packets: u64, octets: u64) {
        self.packets = self.packets.wrapping_add(packets);
        self.octets = self.octets.wrapping_add(octets);
    }
}

/// Counters of a port. Names are those of Linux, except for the last ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortCounters {
    /// Packets with a wrong invariant CRC.
    pub(crate) rx_icrc_encapsulated: u64,
    /// Packets that met congestion on their way here.
    pub(crate) np_ecn_marked_roce_packets: u64,
    /// Notifications that told their senders so.
    pub(crate) np_cnp_sent: u64,
    /// Notifications that have arrived for a QP.
    pub(crate) rp_cnp_handled: u64,
    /// Notifications that have arrived for no QP.
    pub(crate) rp_cnp_ignored: u64,
    /// Packets with any other mistake in their headers or their length (`PortRcvErrors`).
    pub(crate) port_rcv_errors: u64,
    /// Packets of another partition than their QP's.
    pub(crate) bad_pkeys: u64,
    /// Datagrams with another Q_Key than their QP's.
    pub(crate) bad_qkeys: u64,
    /// Packets that the port has sent.
    pub(crate) sent: Traffic,
    /// Packets that have arrived.
    pub(crate) received: Traffic,
}

impl PortCounters {
    /// Counts bytes that were no packet, `count` times. Frames of other protocols are no mistake, and what happens to
    /// them is counted elsewhere.
    pub(crate) fn add_dropped(&mut self, reason: &Dropped, count: u64) {
        match reason {
            Dropped::OtherProtocol { .. } | Dropped::NoRoomHere | Dropped::NoRoomThere => {}
            Dropped::InvariantCrc { .. } => self.rx_icrc_encapsulated += count,
            _ => self.port_rcv_errors += count,
        }
    }
}

impl Resources {
    /// Counts something at port `port`, from 1.
    pub(crate) fn count_at(&mut self, port: u8, counter: fn(&mut PortCounters) -> &mut u64) {
        if let Some(counters) = usize::from(port).checked_sub(1).and_then(|index| self.port_counters.get_mut(index)) {
            *counter(counters) += 1;
        }
    }
}

//! Congestion notification packets (IBTA annex A17.9.3): the receiver of a packet that met congestion tells the sender.
//!
//! A BTH with BECN, then 16 reserved bytes. The hardware's bytes: `wire::cable::vectors`.

use super::headers::be24;

/// BTH opcode of the service "CNP".
const OPCODE: u8 = 0x81;
/// BECN, beside FECN (0x80) and reserved bits.
const BECN: u8 = 0x40;
/// BTH and reserved bytes.
const BYTES: usize = 28;

/// Type of service of notifications: DSCP 48, and ECT(0), as a ConnectX-4 Lx sends them.
pub(crate) const TRAFFIC_CLASS: u8 = 48 << 2 | 2;

/// A notification for QP `dest_qp`, from a QP of the partition `pkey`.
pub(crate) fn notification(dest_qp: u32, pkey: u16) -> Vec<u8> {
    let mut packet = vec![0; BYTES];
    packet[0] = OPCODE;
    packet[2..4].copy_from_slice(&pkey.to_be_bytes());
    packet[4] = BECN;
    packet[5..8].copy_from_slice(&be24(dest_qp));
    packet
}

/// The QP that a notification is for; `None` if the packet is none.
pub(crate) fn notified(packet: &[u8]) -> Option<u32> {
    match *packet {
        [OPCODE, _, _, _, bits, a, b, c, ..] if packet.len() == BYTES && bits & BECN != 0 => {
            Some(u32::from_be_bytes([0, a, b, c]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_that_of_hardware() {
        // From scapy's unit tests, captured on a ConnectX-4 Lx: without headers before the BTH and CRC.
        let captured = [&[0x81, 0, 0xff, 0xff, 0x40, 0, 1, 0x18][..], &[0; 20]].concat();
        assert_eq!(notification(0x118, 0xffff), captured);
        assert_eq!(notified(&captured), Some(0x118));
    }

    #[test]
    fn other_packets_are_none() {
        let good = notification(7, 0xffff);
        assert_eq!(notified(&good[..27]), None);
        assert_eq!(notified(&[&good[..], &[0]].concat()), None);
        for (at, value) in [(0, 0x80), (4, 0x80)] {
            let mut bad = good.clone();
            bad[at] = value;
            assert_eq!(notified(&bad), None);
        }
    }
}

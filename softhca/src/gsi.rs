//! The general services interface: management datagrams to and from a port's QP 1 (IBTA vol. 1, 13.5.1). No QP of the
//! program answers them; the front end does, in the kernel's place.
//!
//! Several instances of a device can share their addresses. Then each has a QP 1 with a number of its own, and its
//! management traffic is redirected there, as IBTA vol. 1, 13.5.2 permits an agent.

use std::collections::VecDeque;

use crate::{
    context::Path,
    error::Error,
    packet::{Bth, Deth, Headers, Opcode, Packet},
    resources::Resources,
    wire::{Frame, Route, Sender},
};

/// Bytes of a management datagram (IBTA vol. 1, 13.4.2).
pub const MAD_BYTES: usize = 256;
/// The well-known number of the QP of general services (IBTA vol. 1, 3.9.1).
pub(crate) const QP1: u32 = 1;
/// Q_Key of QP 1 (IBTA vol. 1, 10.2.4).
const QKEY: u32 = 0x8001_0000;
/// UD "SEND only" (IBTA vol. 1, table 35).
const UD_SEND_ONLY: u8 = 0x64;
/// The default partition, full member.
const PKEY: u16 = 0xffff;
/// Most datagrams that wait. Later ones are lost, as on a QP without receive WQEs.
const WAITING: usize = 1024;

/// A management datagram that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mad {
    /// The way it took.
    pub route: Route,
    /// The QP that answers go to.
    pub source_qp: u32,
    /// Its bytes.
    pub bytes: [u8; MAD_BYTES],
}

/// Datagrams that have arrived for QP 1.
#[derive(Debug, Default)]
pub(crate) struct Gsi {
    /// Its number; `None` until [`Self::open`].
    qpn: Option<u32>,
    waiting: VecDeque<Mad>,
}

impl Gsi {
    /// Takes a packet if it is for QP 1; `false` if it is not.
    pub(crate) fn receive(&mut self, route: &Route, packet: &Packet<'_>) -> bool {
        if Some(packet.headers.bth.dest_qp) != self.qpn {
            return false;
        }
        let deth = packet.headers.deth.filter(|deth| deth.qkey == QKEY);
        match (deth, <[u8; MAD_BYTES]>::try_from(packet.payload)) {
            (Some(deth), Ok(bytes)) if self.waiting.len() < WAITING => {
                self.waiting.push_back(Mad { route: *route, source_qp: deth.src_qp, bytes });
            }
            _ => log::debug!("a packet for QP 1 that is no management datagram, or one too many, is dropped"),
        }
        true
    }
    /// From now on, takes the packets that arrive for QP `qpn`.
    pub(crate) fn open(&mut self, qpn: u32) {
        self.qpn = Some(qpn);
    }

    /// The oldest that has arrived.
    pub(crate) fn take(&mut self) -> Option<Mad> {
        self.waiting.pop_front()
    }

    /// Sends one: see [`crate::device::Device::send_mad`].
    pub(crate) fn send(
        &self,
        resources: &mut Resources,
        port: u8,
        path: &Path,
        dest_qp: u32,
        mad: &[u8; MAD_BYTES],
    ) -> Result<(), Error> {
        let src_qp = self.qpn.ok_or(Error::Unsupported("management datagrams"))?;
        let bad = |what, value, permitted| Error::BadValue { what, value, permitted };
        let config = usize::from(port).checked_sub(1).and_then(|index| resources.ports.get(index)).ok_or(bad(
            "port",
            port.into(),
            "1 up to the number of ports",
        ))?;
        let index = path.grh.map_or(0, |grh| grh.sgid_index.into());
        let route = Route::along(config, path).ok_or(bad("source GID index", index, "entries of the port's table"))?;
        let unsupported = Error::Unsupported("datagrams");
        let mut headers = Headers::new(Bth {
            opcode: Opcode::new(UD_SEND_ONLY).ok_or(unsupported.clone())?,
            solicited: false,
            migrated: false,
            pkey: PKEY,
            dest_qp,
            ack_request: false,
            psn: 0,
        });
        headers.deth = Some(Deth { qkey: QKEY, src_qp });
        let mut draft = headers.build(MAD_BYTES).map_err(|_| unsupported)?;
        draft.payload_mut().copy_from_slice(mad);
        // Without room it is lost, as it can be on its way. Its manager repeats it.
        if resources.transport_is_up(port) && resources.outbox.has_room(Sender::qp(src_qp)) {
            resources.outbox.push(Sender::qp(src_qp), Frame::new(route, draft.finish()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::test_frames;

    #[test]
    fn what_is_no_management_datagram_is_dropped() {
        let mut gsi = Gsi { qpn: Some(1), waiting: VecDeque::new() };
        let frame = test_frames::frame(1, 1, MAD_BYTES);
        let mut packet = Packet::parse(&frame.packet).unwrap();
        let arrives = |gsi: &mut Gsi, packet: &Packet<'_>| (gsi.receive(&frame.route, packet), gsi.waiting.len());
        packet.headers.deth = None;
        assert_eq!(arrives(&mut gsi, &packet), (true, 0));
        packet.headers.deth = Some(Deth { qkey: 1, src_qp: 1 });
        assert_eq!(arrives(&mut gsi, &packet), (true, 0));
        packet.headers.deth = Some(Deth { qkey: QKEY, src_qp: 1 });
        assert_eq!(arrives(&mut gsi, &packet), (true, 1));
        assert_eq!(arrives(&mut gsi, &Packet { payload: &packet.payload[1..], ..packet }), (true, 1));
        for _ in 0..2 * WAITING {
            gsi.receive(&frame.route, &packet);
        }
        assert_eq!(gsi.waiting.len(), WAITING);
        packet.headers.bth.dest_qp = 2;
        assert_eq!(arrives(&mut gsi, &packet), (false, WAITING));
    }
}

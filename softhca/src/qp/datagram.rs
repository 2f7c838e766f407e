//! UD: receiving datagrams (IBTA vol. 1, 9.8.3 and 11.4.2.1). Sending is [`super::request`]'s, as for any packet.

use super::common::Common;
use super::receive::{Message, Receives};
use super::responder::Fatal;
use crate::cqe::{Datagram, ReceiveKind};
use crate::host::Host;
use crate::packet::{Packet, Tail};
use crate::wire::{Grh, Route};

/// Bytes that every datagram's receive buffer begins with, for a GRH.
const GRH_BYTES: usize = 40;

/// IP version 6 in the GRH's first four bits, and the next header "IBA transport" (IBTA vol. 1, 8.3).
const GRH_IP_VERSION: u32 = 6;
const GRH_NEXT_HEADER: u8 = 0x1b;

/// Takes a datagram. What does not fit the QP is dropped; only a bad receive WQE stops the QP.
pub(super) fn receive(
    qp: &Common,
    receives: &mut Receives,
    host: &mut Host,
    route: &Route,
    packet: &Packet<'_>,
) -> Result<(), Fatal> {
    let Some(deth) = packet.headers.deth else { return Ok(()) };
    if Some(deth.qkey) != qp.attr.qkey {
        log::debug!("QP {:#x}: datagram with another Q_Key {:#x} dropped", qp.qpn, deth.qkey);
        return Ok(());
    }
    let byte_cnt = GRH_BYTES + packet.payload.len();
    let taken = receives.take(qp, host).and_then(|taken| {
        if !taken || receives.capacity() < byte_cnt as u64 || packet.payload.len() > qp.mtu as usize {
            return Ok(false);
        }
        if let Some(grh) = &route.grh {
            let len = packet.payload.len();
            receives.put(qp, host, 0, &grh_bytes(grh, len), false)?;
        }
        receives.put(qp, host, GRH_BYTES as u64, packet.payload, false)?;
        Ok(true)
    });
    match taken {
        Ok(true) => {}
        Ok(false) => return Ok(()),
        Err(failure) => {
            receives.fail(qp, host, failure);
            return Err(Fatal);
        }
    }
    let lid = qp.port(host).map_or(0, |port| port.lid);
    let has_imm = packet.headers.bth.opcode.tail() == Tail::Immediate;
    receives.complete(
        qp,
        host,
        Message {
            kind: if has_imm { ReceiveKind::SendImm } else { ReceiveKind::Send },
            byte_cnt: byte_cnt as u32,
            imm: packet.headers.imm.map_or(0, |imm| imm.0),
            solicited: packet.headers.bth.solicited,
            datagram: Some(Datagram {
                slid: route.slid,
                src_qpn: deth.src_qp,
                sl: route.sl,
                dlid_path_bits: (route.dlid ^ lid) as u8 & 0x7f,
                grh: route.grh.is_some(),
                pkey_index: qp.attr.pkey_index.unwrap_or(0),
            }),
        },
    );
    Ok(())
}

/// The GRH of a packet as it lies in memory.
fn grh_bytes(grh: &Grh, payload_len: usize) -> [u8; GRH_BYTES] {
    let mut bytes = [0; GRH_BYTES];
    let first = GRH_IP_VERSION << 28 | u32::from(grh.traffic_class) << 20 | (grh.flow_label & 0x000f_ffff);
    // From after the GRH to the end of the invariant CRC: BTH 12, DETH 8, payload with its padding, CRC 4.
    let len = (12 + 8 + payload_len.next_multiple_of(4) + 4) as u16;
    bytes[..4].copy_from_slice(&first.to_be_bytes());
    bytes[4..6].copy_from_slice(&len.to_be_bytes());
    bytes[6] = GRH_NEXT_HEADER;
    bytes[7] = grh.hop_limit;
    bytes[8..24].copy_from_slice(&grh.sgid);
    bytes[24..].copy_from_slice(&grh.dgid);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grh_is_laid_out_as_the_specification_says() {
        let kind = crate::config::GidType::RoceV1;
        let grh = Grh { kind, sgid: [1; 16], dgid: [2; 16], traffic_class: 0xab, flow_label: 0xc_def0, hop_limit: 64 };
        let bytes = grh_bytes(&grh, 5);
        assert_eq!(bytes[..8], [0x6a, 0xbc, 0xde, 0xf0, 0, 32, 0x1b, 64]);
        assert_eq!((bytes[8], bytes[23], bytes[24], bytes[39]), (1, 1, 2, 2));
    }
}

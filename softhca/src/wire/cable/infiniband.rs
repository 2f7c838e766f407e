//! Packets on a link of InfiniBand (IBTA vol. 1, 7.7 and 7.8).

use super::crc::{ICRC, NO_LRH, check_invariant, invariant, variant};
use super::dropped::Dropped;
use super::network::{self, Header};
use crate::config::GidType;
use crate::wire::frame::{Frame, Macs, Route};

/// Bytes of a local route header.
pub(super) const LRH: usize = 8;
/// Bytes of a variant CRC.
const VCRC: usize = 2;

/// Link next header: the header behind an LRH. The two others are raw packets.
const LNH_LOCAL: u8 = 2;
const LNH_GLOBAL: u8 = 3;
/// Bits of the packet length, which counts words from the LRH to the ICRC.
const LENGTH: u16 = 0x7ff;
const WORD: usize = 4;

/// The bytes of a packet whose length is checked. They go on virtual lane 0.
pub(super) fn encode(frame: &Frame) -> Vec<u8> {
    let Frame { route, packet, .. } = frame;
    let transport = packet.len() + ICRC;
    let header = route.grh.as_ref().map(|grh| Header::of(grh, transport));
    let network = header.as_ref().map_or(&[][..], Header::bytes);
    let words = ((LRH + network.len() + transport) / WORD) as u16;
    let next = if header.is_some() { LNH_GLOBAL } else { LNH_LOCAL };
    let ([d0, d1], [w0, w1], [s0, s1]) = (route.dlid.to_be_bytes(), words.to_be_bytes(), route.slid.to_be_bytes());
    let lrh = [0, route.sl << 4 | next, d0, d1, w0, w1, s0, s1];
    let mut bytes = Vec::with_capacity(LRH + network.len() + transport + VCRC);
    bytes.extend(lrh);
    bytes.extend(network);
    bytes.extend(packet);
    bytes.extend(invariant(&masked(lrh, header), packet).to_le_bytes());
    bytes.extend(variant(&bytes).to_le_bytes());
    bytes
}

/// The packet in bytes that begin with an LRH and end with a VCRC.
pub(super) fn decode(bytes: &[u8]) -> Result<Frame, Dropped> {
    let truncated = Dropped::Truncated { len: bytes.len() };
    let (before, found) = bytes.split_last_chunk::<VCRC>().ok_or(truncated)?;
    let (&lrh, rest) = before.split_first_chunk::<LRH>().ok_or(truncated)?;
    let (found, expected) = (u16::from_le_bytes(*found), variant(before));
    if found != expected {
        return Err(Dropped::VariantCrc { found, expected });
    }
    let [lanes, levels, d0, d1, w0, w1, s0, s1] = lrh;
    if lanes & 0xf != 0 {
        return Err(Dropped::LinkVersion(lanes & 0xf));
    }
    let announced = usize::from(u16::from_be_bytes([w0, w1]) & LENGTH) * WORD;
    if announced != before.len() {
        return Err(Dropped::Length { announced, there: before.len() });
    }
    let (grh, header, transport) = match levels & 3 {
        LNH_LOCAL => (None, None, rest),
        LNH_GLOBAL => {
            let read = network::read_ip6(GidType::InfiniBand, rest)?;
            if read.rest.len() + read.header.bytes().len() != rest.len() {
                let announced = LRH + read.header.bytes().len() + read.rest.len();
                return Err(Dropped::Length { announced, there: before.len() });
            }
            (Some(read.grh), Some(read.header), read.rest)
        }
        raw => return Err(Dropped::RawPacket(raw)),
    };
    let packet = check_invariant(&masked(lrh, header), transport)?.to_vec();
    let (dlid, slid) = (u16::from_be_bytes([d0, d1]), u16::from_be_bytes([s0, s1]));
    Ok(Frame::new(Route { slid, dlid, sl: levels >> 4, grh, macs: Macs::default() }, packet))
}

/// The headers as the invariant CRC counts them. The virtual lane may change on each link. In a packet that crosses
/// routers, with a GRH, the whole LRH changes.
fn masked(lrh: [u8; LRH], header: Option<Header>) -> Vec<u8> {
    let Some(header) = header else {
        let [lanes, rest @ ..] = lrh;
        return [&[lanes | 0xf0][..], &rest].concat();
    };
    [&NO_LRH[..], header.masked().bytes()].concat()
}

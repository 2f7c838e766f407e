//! The two CRCs of a packet: the invariant one, from end to end, and the variant one of a link of InfiniBand (IBTA
//! vol. 1, 7.8.1 and 7.8.2; annex A16.4.2 and A17.3.3 for RoCE).
//!
//! The polynomial of the invariant CRC is that of Ethernet. Fields that may change on the way count as ones. Both CRCs
//! have their lowest byte first on the cable (Linux `drivers/infiniband/sw/rxe/rxe_icrc.c`, `rxe_icrc_generate`, stores
//! the result of `crc32_le` as it is).

use crc::{Algorithm, Crc};

use super::dropped::Dropped;
use crate::packet::{Bth, MAX_HEADERS, MAX_PAYLOAD};

/// Bytes of an invariant CRC.
pub(super) const ICRC: usize = 4;
/// Byte of a BTH that holds FECN, BECN and reserved bits: all of them may change.
const RESV8A_AT: usize = 4;
/// The bytes in place of an LRH, where there is none, or where it may change as a whole.
pub(super) const NO_LRH: [u8; 8] = [0xff; 8];

/// CRC-16 of a link. `check` and `residue` are those of the parameters before them.
const VARIANT: Algorithm<u16> = Algorithm {
    width: 16,
    poly: 0x100b,
    init: 0xffff,
    refin: true,
    refout: true,
    xorout: 0xffff,
    check: 0,
    residue: 0,
};
static LINK: Crc<u16> = Crc::<u16>::new(&VARIANT);

/// The invariant CRC of `packet`, which has a BTH at least, behind headers with the changing fields set to ones.
pub(super) fn invariant(masked: &[u8], packet: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(masked);
    let (before, after) = packet.split_at(RESV8A_AT.min(packet.len()));
    crc.update(before);
    crc.update(&[0xff]);
    crc.update(after.get(1..).unwrap_or_default());
    crc.finalize()
}

/// The variant CRC of all bytes before it.
pub(super) fn variant(bytes: &[u8]) -> u16 {
    LINK.checksum(bytes)
}

/// Checks that a transport packet has a BTH, whole words, and no more than any packet has.
pub(super) fn check_transport(packet: &[u8]) -> Result<(), Dropped> {
    let len = packet.len();
    if !(Bth::BYTES..=MAX_HEADERS + MAX_PAYLOAD).contains(&len) || len % 4 != 0 {
        return Err(Dropped::Transport { len });
    }
    Ok(())
}

/// Splits a packet from its invariant CRC, and compares this CRC with that of the packet behind `network` headers,
/// which are masked already.
pub(super) fn check_invariant<'a>(network: &[u8], bytes: &'a [u8]) -> Result<&'a [u8], Dropped> {
    let (packet, found) = bytes.split_last_chunk::<ICRC>().ok_or(Dropped::Transport { len: 0 })?;
    check_transport(packet)?;
    let (found, expected) = (u32::from_le_bytes(*found), invariant(network, packet));
    if found != expected {
        return Err(Dropped::InvariantCrc { found, expected });
    }
    Ok(packet)
}

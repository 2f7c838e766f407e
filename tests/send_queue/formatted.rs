//! The common part of requests that configure formatted memory keys.

use blueflame::types::{Lkey, Psv, Rkey};
use blueflame::wqe::Sge;
use blueflame::wqe::formats::Psvs;

/// Configured with room for 4 entries, to permit remote READs, of [`DATA`].
pub(crate) const KEY: Rkey = Rkey(0x1234_5678);
pub(crate) const DATA: Sge = Sge { addr: 0x2122_2324_2526_2728, length: 0x1000, lkey: Lkey(0x4142_4344) };
pub(crate) const PSVS: Psvs = Psvs { memory: Psv::truncate(0x0a_0b0c), wire: Psv::truncate(0x01_0203) };
pub(crate) const ZERO: [u8; 16] = [0; 16];

/// The part before the formats, in a WQE of `ds` DS, of which `formats` hold formats.
pub(crate) fn before(ds: u8, formats: u8) -> Vec<[u8; 16]> {
    vec![
        [0, 0x12, 0x34, 0x25, 0xc0, 0xff, 0xee, ds, 0, 0, 0, 8, 0x12, 0x34, 0x56, 0x78],
        // 4 DS of list, and formats. Length, formats, key, rights and free change.
        [0x80, 0, 0, 0, 0, 4, 0, formats, 0, 0, 0, 0, 0x20, 0x3c, 0x30, 0x01],
        ZERO,
        ZERO,
        // Remote read; formats.
        [0, 0, 0x10, 0, 0xff, 0xff, 0xff, 0x78, 0, 0, 0, 0, 0x40, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0],
        ZERO,
        ZERO,
        [0, 0, 0x10, 0, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28],
        ZERO,
        ZERO,
        ZERO,
    ]
}

//! Segments in literal bytes, and what they name.
//!
//! Segments of every operation belong here, operands of atomics in `atomics.rs`, addresses in `mod.rs`.

use blueflame::types::{Lkey, Rkey};
use blueflame::wqe::{Remote, Sge};

/// 16 bytes of a WQE.
pub(crate) type Ds = [u8; 16];

pub(crate) const REMOTE: Remote = Remote { addr: 0x0102_0304_0506_0708, rkey: Rkey(0x1112_1314) };
pub(crate) const RADDR: Ds = [1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0, 0, 0, 0];
pub(crate) const LOCAL: Sge = Sge { addr: 0x2122_2324_2526_2728, length: 0x31, lkey: Lkey(0x4142_4344) };
pub(crate) const DATA: Ds = [0, 0, 0, 0x31, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];

/// The data segment of any entry.
pub(crate) const fn entry(sge: Sge) -> Ds {
    ((sge.length as u128) << 96 | (sge.lkey.0 as u128) << 64 | sge.addr as u128).to_be_bytes()
}

/// The control segment of a request at index 0x1234 of queue pair 0xc0ffee.
pub(crate) const fn ctrl(opmod: u8, opcode: u8, ds: u8, fm_ce_se: u8) -> Ds {
    [opmod, 0x12, 0x34, opcode, 0xc0, 0xff, 0xee, ds, 0, 0, 0, fm_ce_se, 0, 0, 0, 0]
}

/// Inline data behind its header, padded with zeros.
pub(crate) fn inline(bytes: &[u8]) -> Vec<Ds> {
    let header = (bytes.len() as u32 | 1 << 31).to_be_bytes();
    let mut segment = [&header[..], bytes].concat();
    segment.resize(segment.len().next_multiple_of(16), 0);
    segment.chunks_exact(16).map(|ds| ds.try_into().expect("16 bytes")).collect()
}

/// 1, 2, 3, …
pub(crate) fn count<const N: usize>() -> [u8; N] {
    core::array::from_fn(|n| n as u8 + 1)
}

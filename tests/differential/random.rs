//! Random requests of connected services, their data, and the memory that they name.
//!
//! Requests of more than one service belong here, others in the file of their service.

use blueflame::types::Rkey;
use blueflame::{Remote, Sge};
use blueflame_testkit::request::{Data, Kind};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::verbs::Fabric;

/// The memory of requests: gathered or read into, the peer's, received into. Bytes into the buffer.
const LOCAL: usize = 0;
pub(crate) const REMOTE: usize = 256 << 10;
pub(crate) const RECEIVED: usize = 512 << 10;
/// Bytes in each.
const AREA: usize = 256 << 10;
/// Bytes of the longest entry.
const ENTRY_BYTES: u32 = 300;

/// Data in up to `max_sge` entries, or of up to `max_inline` bytes.
pub(crate) fn data(fabric: &Fabric, max_sge: u32, max_inline: u32) -> impl Strategy<Value = Data> + use<> {
    let entries = entries(fabric, max_sge);
    let len = prop_oneof![0..=max_inline, 0..=max_inline.min(64), Just(0), Just(max_inline)];
    let bytes = len.prop_flat_map(|len| vec(any::<u8>(), len as usize));
    prop_oneof![entries.prop_map(Data::Sges), bytes.prop_map(Data::Inline)]
}

fn entries(fabric: &Fabric, max: u32) -> impl Strategy<Value = Vec<Sge>> + use<> {
    let (start, lkey) = (fabric.buffer.addr() + LOCAL as u64, fabric.buffer.lkey());
    let bytes = prop_oneof![4 => 1..=ENTRY_BYTES, 1 => Just(0)];
    let entry = (0..AREA as u64 - u64::from(ENTRY_BYTES), bytes).prop_map(move |(offset, bytes)| Sge {
        addr: start + offset,
        length: bytes,
        lkey,
    });
    prop_oneof![3 => vec(entry.clone(), 0..=max as usize), 1 => vec(entry, max as usize)]
}

/// A request of a connection, on which READs and atomics need reliability.
pub(crate) fn request(fabric: &Fabric, reliable: bool, max_sge: u32, max_inline: u32) -> BoxedStrategy<(Kind, Data)> {
    let (start, rkey) = (fabric.buffer.addr() + REMOTE as u64, fabric.buffer.rkey());
    let remote = || (0..(AREA / 2) as u64).prop_map(move |offset| Remote { addr: start + offset, rkey });
    let data = || data(fabric, max_sge, max_inline);
    let nothing = Data::Sges(Vec::new());
    let common = prop_oneof![
        1 => Just((Kind::Nop, nothing)),
        3 => data().prop_map(|data| (Kind::Send, data)),
        2 => (any::<u32>(), data()).prop_map(|(imm, data)| (Kind::SendImm(imm), data)),
        4 => (remote(), data()).prop_map(|(at, data)| (Kind::Write(at), data)),
        2 => (remote(), any::<u32>(), data()).prop_map(|(at, imm, data)| (Kind::WriteImm(at, imm), data)),
    ];
    if !reliable {
        return common.boxed();
    }
    let key = Rkey(fabric.victim.rkey().0);
    let word = move || (0..(AREA / 8) as u64).prop_map(move |n| Remote { addr: start + 8 * n, rkey });
    let (result, lkey) = (fabric.buffer.addr() + LOCAL as u64, fabric.buffer.lkey());
    let result =
        move || (0..AREA as u64 / 8).prop_map(move |n| Data::Sges(vec![Sge { addr: result + 8 * n, length: 8, lkey }]));
    prop_oneof![
        12 => common,
        1 => data().prop_map(move |data| (Kind::SendInval(key), data)),
        3 => (remote(), entries(fabric, max_sge)).prop_map(|(at, sges)| (Kind::Read(at), Data::Sges(sges))),
        2 => (word(), any::<u64>(), any::<u64>(), result())
            .prop_map(|(at, compare, swap, data)| (Kind::CompareSwap(at, compare, swap), data)),
        2 => (word(), any::<u64>(), result()).prop_map(|(at, add, data)| (Kind::FetchAdd(at, add), data)),
    ]
    .boxed()
}

/// Bytes of the message.
pub(crate) fn message_bytes(data: &Data) -> u32 {
    match data {
        Data::Inline(bytes) => bytes.len() as u32,
        Data::Sges(sges) => sges.iter().map(|sge| sge.length).sum(),
    }
}

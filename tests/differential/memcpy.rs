//! Copies of memory: by libmlx5's `mlx5dv_wr_memcpy`, and by this crate. Neither needs a peer.
//!
//! Bytes of these requests belong here, refusals of the device in `tests/verbs/memcpy.rs`.

use std::ptr::NonNull;

use blueflame::Sge;
use blueflame::queue::PostError;
use blueflame::transport::{Dci, DciStreams, Rc};
use blueflame::types::{Lkey, WrId};
use blueflame::wqe::operations::Opaque;
use blueflame::wqe::{self, EncodeError, Fence};
use blueflame_decode::{Input, Options, Part, decode};
use blueflame_sys as sys;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::decoded::number_of;
use crate::in_turn::{self, WQEBB};
use crate::post::mlx5dv_qp_ex_from_ibv_qp_ex;
use crate::twin::{Link, Twins, ring, wait};
use crate::verbs::{Fabric, Geometry};

const CASES: u32 = 700;
/// Where copies go to: bytes into the fabric's buffer. The bytes before are their source.
const COPIES: u64 = 512 << 10;
/// Bytes for each.
const ROOM: u64 = 4 << 10;
/// Copies of a case, at most.
const MOST: usize = 5;

#[derive(Clone, Debug)]
struct Copy {
    from: u64,
    /// Past where its room begins.
    to: u64,
    bytes: u32,
    fence: bool,
    /// A doorbell of its own.
    apart: bool,
}

#[derive(Clone, Debug)]
struct Case {
    copies: Vec<Copy>,
    id: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let bytes = prop_oneof![4 => 1..100_u32, 2 => 1..=(ROOM / 2) as u32, 1 => Just((ROOM / 2) as u32)];
    let copy = (0..COPIES - ROOM, 0..ROOM / 2, bytes, any::<bool>(), any::<bool>());
    let copy = copy.prop_map(|(from, to, bytes, fence, apart)| Copy { from, to, bytes, fence, apart });
    (vec(copy, 1..=MOST), any::<u64>()).prop_map(|(copies, id)| Case { copies, id })
}

impl Case {
    /// The source and the destination of each copy.
    fn places(&self, fabric: &Fabric) -> Vec<(Sge, u64)> {
        let (base, lkey) = (fabric.buffer.addr(), fabric.buffer.lkey());
        let of = |(n, copy): (usize, &Copy)| {
            let from = Sge { addr: base + copy.from, length: copy.bytes, lkey };
            (from, base + COPIES + n as u64 * ROOM + copy.to)
        };
        self.copies.iter().enumerate().map(of).collect()
    }

    /// The copy is in its place, with no byte beside it, and is cleared afterwards.
    fn found(&self, fabric: &mut Fabric) -> Result<(), String> {
        let zeros = vec![0; MOST * ROOM as usize];
        let mut expected = zeros.clone();
        for (n, copy) in self.copies.iter().enumerate() {
            let at = n * ROOM as usize + copy.to as usize;
            fabric.buffer.read(copy.from as usize, &mut expected[at..at + copy.bytes as usize]);
        }
        let mut bytes = zeros.clone();
        fabric.buffer.read(COPIES as usize, &mut bytes);
        fabric.buffer.write(COPIES as usize, &zeros);
        match (0..bytes.len()).find(|&at| bytes[at] != expected[at]) {
            Some(at) => Err(format!("byte {at}: {:#x} in place of {:#x}", bytes[at], expected[at])),
            None => Ok(()),
        }
    }
}

/// libmlx5 posts all; says what `ibv_wr_complete` has returned.
fn theirs(qp: NonNull<sys::ibv_qp>, case: &Case, places: &[(Sge, u64)]) -> i32 {
    // SAFETY: the queue pair and the memory are the fabric's, and alive.
    unsafe {
        let ex = sys::ibv_qp_to_qp_ex(qp.as_ptr());
        let dv = mlx5dv_qp_ex_from_ibv_qp_ex(ex);
        let memcpy = (*dv).wr_memcpy.expect("for copies");
        sys::ibv_wr_start(ex);
        for (n, (copy, (from, to))) in case.copies.iter().zip(places).enumerate() {
            let mut flags = if copy.fence { sys::IBV_SEND_FENCE } else { 0 };
            if n + 1 == case.copies.len() {
                flags |= sys::IBV_SEND_SIGNALED;
            } else if n > 0 && copy.apart {
                assert_eq!(sys::ibv_wr_complete(ex), 0, "{case:?}");
                sys::ibv_wr_start(ex);
            }
            ((*ex).wr_id, (*ex).wr_flags) = (case.id, flags);
            memcpy(dv, from.lkey.0, *to, from.lkey.0, from.addr, from.length as usize);
        }
        sys::ibv_wr_complete(ex)
    }
}

fn ours<T: Link>(twins: &mut Twins<T>, opaque: Opaque, case: &Case, places: &[(Sge, u64)])
where
    wqe::operations::Memcpy: wqe::SupportedOn<T>,
{
    let mut batch = twins.ours.sq.batch();
    for (n, (copy, (from, to))) in case.copies.iter().zip(places).enumerate() {
        let last = n + 1 == case.copies.len();
        if n > 0 && !last && copy.apart {
            batch.ring_doorbell();
            batch = twins.ours.sq.batch();
        }
        let fence = if copy.fence { Fence::SmallAndReads } else { Fence::None };
        let request = wqe::memcpy(opaque, *from, *to, from.lkey).fence(fence).signaled_if(last, WrId(case.id));
        // SAFETY: the fabric's memory, which outlives the queue, and libmlx5's own, which does, too.
        unsafe { batch.push_unchecked(&request) }.expect("room");
    }
    batch.ring_doorbell();
}

/// The memory that libmlx5 names as the device's, in the first of the WQEs at WQEBB `pi`: its own, of the same domain.
fn opaque<T: Link>(twins: &Twins<T>, max_bytes: u32) -> Opaque {
    let ring = ring(&twins.theirs.raw.parts.sq);
    let at = twins.pi % twins.wqebbs() * WQEBB;
    let word = |n: usize| u32::from_be_bytes(ring[at + n..at + n + 4].try_into().expect("four bytes"));
    let addr = u64::from(word(24)) << 32 | u64::from(word(28));
    assert!(addr != 0 && addr % u64::from(Opaque::BYTES) == 0, "{addr:#x}");
    Opaque { addr, lkey: Lkey(word(20)), max_bytes }
}

/// `blueflame-decode` reads the request from libmlx5's WQEs.
fn decoded<T: Link>(twins: &Twins<T>, places: &[(Sge, u64)], opaque: Opaque) -> Result<(), String> {
    let ring = ring(&twins.theirs.raw.parts.sq);
    for (n, (from, to)) in places.iter().enumerate() {
        let at = (twins.pi + n) % twins.wqebbs() * WQEBB;
        let told = decode(&ring[at..at + WQEBB], &Options { input: Input::Wqe, binary: true, ..Options::default() });
        let data = |sge: &Sge| {
            let fields = vec![("byte_count", sge.length.into()), ("lkey", sge.lkey.0.into()), ("addr", sge.addr)];
            ("mlx5_wqe_data_seg", fields)
        };
        let expected = [
            (
                "mlx5_wqe_ctrl_seg",
                vec![("opmod_idx_opcode:opcode", 0x2f), ("opmod_idx_opcode:opmod", 1), ("qpn_ds:ds", 4)],
            ),
            ("mlx5_mmo_metadata_seg", vec![("local_key", opaque.lkey.0.into()), ("local_address", opaque.addr)]),
            data(from),
            data(&Sge { addr: *to, ..*from }),
        ];
        let record = told.records.first().ok_or("nothing")?;
        let is = |part: &Part, name: &str, fields: &[(&str, u64)]| {
            part.name == name && fields.iter().all(|(field, value)| number_of(part, field) == Some(*value))
        };
        let mut pairs = record.parts.iter().zip(&expected);
        let agrees = record.parts.len() == expected.len() && pairs.all(|(part, (name, fields))| is(part, name, fields));
        if !agrees || !record.notes.is_empty() {
            return Err(format!("not {expected:x?} but\n{told}"));
        }
    }
    Ok(())
}

fn check<T: Link>(fabric: &mut Fabric, twins: &mut Twins<T>, case: &Case) -> Result<(), String>
where
    wqe::operations::Memcpy: wqe::SupportedOn<T>,
{
    twins.clear_rings();
    let places = case.places(fabric);
    let posted = theirs(twins.theirs.raw.raw, case, &places);
    assert_eq!(posted, 0, "{case:?}");
    let (_, wc) = wait("libmlx5's completion", || twins.theirs.send_cq.poll())?;
    if wc.status != sys::IBV_WC_SUCCESS {
        return Err(format!("libmlx5's: status {}, vendor syndrome {:#x}", wc.status, wc.vendor_err));
    }
    case.found(fabric).map_err(|why| format!("libmlx5: {why}"))?;
    let opaque = opaque(twins, fabric.device.attr().max_memcpy);
    decoded(twins, &places, opaque)?;
    ours(twins, opaque, case, &places);
    twins.done(case.id)?;
    case.found(fabric).map_err(|why| format!("this crate: {why}"))?;
    let numbers: Vec<_> = (0..case.copies.len()).map(|n| n * WQEBB + 4).collect();
    twins.compare(case.copies.len(), &numbers)
}

/// The fabric, if its device copies memory; on one that does not, that libmlx5 says the same.
fn fabric(test: &str) -> Option<Fabric> {
    let fabric = Fabric::new();
    if fabric.device.attr().max_memcpy == 0 {
        eprintln!("memcpy::{test} needs a device that copies memory: softhca-run --generation connectx7");
        return None;
    }
    Some(fabric)
}

fn geometry() -> Geometry {
    Geometry { sends: 16, memcpy: true, ..Geometry::default() }
}

fn all<T: Link>(test: &str, geometry: &Geometry)
where
    wqe::operations::Memcpy: wqe::SupportedOn<T>,
{
    let Some(mut fabric) = fabric(test) else { return };
    fabric.buffer.write(COPIES as usize, &vec![0; MOST * ROOM as usize]);
    let mut twins = Twins::<T>::new(&fabric, geometry, true);
    in_turn::run::<T, _>(CASES, &["Memcpy"], case(), |case| check(&mut fabric, &mut twins, case));
}

#[test]
fn on_reliable_connections() {
    all::<Rc>("on_reliable_connections", &geometry());
}

#[test]
fn of_initiators() {
    all::<Dci>("of_initiators", &geometry());
}

#[test]
fn of_initiators_with_streams() {
    all::<DciStreams>("of_initiators_with_streams", &Geometry { streams: Some([2, 1]), ..geometry() });
}

/// Both refuse the same lengths, and have written nothing.
#[test]
fn lengths_are_refused_alike() {
    let Some(fabric) = fabric("lengths_are_refused_alike") else { return };
    let mut twins = Twins::<Rc>::new(&fabric, &geometry(), true);
    let max = fabric.device.attr().max_memcpy;
    let opaque = Opaque { addr: fabric.buffer.addr(), lkey: fabric.buffer.lkey(), max_bytes: max };
    twins.clear_rings();
    for bytes in [0, max + 1, u32::MAX] {
        let copy = Copy { from: 0, to: 0, bytes, fence: false, apart: false };
        let case = Case { copies: vec![copy], id: 1 };
        let places = case.places(&fabric);
        assert_eq!(theirs(twins.theirs.raw.raw, &case, &places), libc::EINVAL, "{bytes} bytes");
        let (from, to) = places[0];
        // SAFETY: it is refused.
        let refused = unsafe { twins.ours.sq.post_unchecked(&wqe::memcpy(opaque, from, to, from.lkey)) };
        assert_eq!(refused, Err(PostError::Encode(EncodeError::MemcpySize { bytes, limit: max })));
    }
    twins.compare(0, &[]).expect("nothing in either ring");
}

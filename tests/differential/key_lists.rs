//! Indirect memory keys: libmlx5 and this crate configure them, and the next request uses them with its fence.
//!
//! Lists of pieces belong here, formats of data in `formats.rs`.

use std::ptr::NonNull;

use blueflame::types::WrId;
use blueflame::verbs::memory::IndirectKey;
use blueflame::verbs::{Access, Buffer, Pool};
use blueflame::wqe::keys::{KeyRights, Strided};
use blueflame::wqe::limits::MAX_SGE_BYTES;
use blueflame::wqe::operations::ConfigureKey;
use blueflame::wqe::{self, Fence, Remote, Request};
use blueflame::{Sge, transport::Rc};
use blueflame_sys as sys;
use proptest::prelude::*;

use crate::in_turn::{self, WQEBB};
use crate::post::{mlx5dv_mkey_conf_attr, mlx5dv_mr_interleaved, mlx5dv_qp_ex_from_ibv_qp_ex};
use crate::twin::Twins;
use crate::verbs::{Fabric, Geometry};

const CASES: u32 = 1500;
/// Entries that a WQE has room for.
const ENTRIES: usize = 52;
/// Bytes that are read by the key.
const READ: u64 = 8;

/// The memory behind the key.
#[derive(Clone, Debug)]
enum Layout {
    Unchanged,
    List(Vec<Sge>),
    Interleaved(u32, Vec<Strided>),
}

#[derive(Clone, Debug)]
struct Case {
    layout: Layout,
    rights: Option<u8>,
    /// `mlx5dv_wr_mkey_configure` and setters, the list first or last; in place of one call.
    setters: Option<bool>,
    /// Two doorbells.
    apart: bool,
    /// The key is taken back afterwards.
    taken_back: bool,
    id: u64,
}

fn layout(buffer: &Buffer) -> impl Strategy<Value = Layout> + use<> {
    let (start, lkey) = (buffer.addr(), buffer.lkey());
    // The data read from any piece is in the buffer of 1 MiB, wherever it ends.
    let place = (0..0x7_0000_u64).prop_map(move |offset| start + offset);
    let length = prop_oneof![4 => 0..20_u32, 1 => 0..=MAX_SGE_BYTES / ENTRIES as u32];
    let piece = (place.clone(), length).prop_map(move |(addr, length)| Sge { addr, length, lkey });
    let bytes = prop_oneof![4 => 0..6_u16, 1 => any::<u16>()];
    let strided =
        (place, bytes, any::<u16>()).prop_map(move |(addr, bytes, stride)| Strided { addr, bytes, stride, lkey });
    let repeat = prop_oneof![0..5_u32, any::<u32>()];
    prop_oneof![
        1 => Just(Layout::Unchanged),
        4 => proptest::collection::vec(piece, 0..=ENTRIES).prop_map(Layout::List),
        4 => (repeat, proptest::collection::vec(strided, 0..ENTRIES)).prop_map(|(n, list)| {
            let turn: u32 = list.iter().map(|entry| u32::from(entry.bytes)).sum();
            Layout::Interleaved(n % (u32::MAX / turn.max(1)).saturating_add(1), list)
        }),
    ]
}

fn case(buffer: &Buffer) -> impl Strategy<Value = Case> + use<> {
    let flags = (proptest::option::of(any::<bool>()), any::<bool>(), any::<bool>());
    (layout(buffer), proptest::option::of(0..16_u8), flags, any::<u64>()).prop_map(
        |(layout, rights, (setters, apart, taken_back), id)| {
            let whole = rights.is_some() && !matches!(layout, Layout::Unchanged);
            let setters = if whole { setters } else { setters.or(Some(true)) };
            Case { layout, rights, setters, apart, taken_back, id }
        },
    )
}

const ACCESS: [(sys::ibv_access_flags, KeyRights); 4] = [
    (sys::IBV_ACCESS_LOCAL_WRITE, KeyRights::LOCAL_WRITE),
    (sys::IBV_ACCESS_REMOTE_READ, KeyRights::REMOTE_READ),
    (sys::IBV_ACCESS_REMOTE_WRITE, KeyRights::REMOTE_WRITE),
    (sys::IBV_ACCESS_REMOTE_ATOMIC, KeyRights::REMOTE_ATOMIC),
];

fn access(rights: u8) -> u32 {
    (0..4).filter(|n| rights >> n & 1 != 0).map(|n| ACCESS[n].0).sum()
}

fn key_rights(rights: u8) -> KeyRights {
    (0..4).filter(|n| rights >> n & 1 != 0).fold(KeyRights::NONE, |all, n| all | ACCESS[n].1)
}

impl Case {
    /// WQEBBs of the first request, and of all.
    fn wqebbs(&self) -> (usize, usize) {
        let list = match &self.layout {
            Layout::Unchanged => 0,
            Layout::List(list) => list.len().div_ceil(4),
            Layout::Interleaved(_, list) => (1 + list.len()).div_ceil(4),
        };
        (2 + list, 2 + list + 1 + if self.taken_back { 2 } else { 0 })
    }

    /// The first addresses behind the key.
    fn places(&self) -> Vec<u64> {
        let run = |addr: u64, len: u64| addr..addr + len.min(READ);
        match &self.layout {
            Layout::Unchanged => vec![],
            Layout::List(list) => {
                list.iter().flat_map(|sge| run(sge.addr, sge.length.into())).take(READ as usize).collect()
            }
            Layout::Interleaved(repeat, list) => (0..u64::from(*repeat).min(READ))
                .flat_map(|turn| {
                    list.iter()
                        .flat_map(move |entry| run(entry.addr + turn * u64::from(entry.stride), entry.bytes.into()))
                })
                .take(READ as usize)
                .collect(),
        }
    }
}

/// What requests name.
struct Stage {
    key: IndirectKey,
    /// The destination of reads by the key.
    found: Buffer,
    /// The last request has taken the key back, so that the next has a fence.
    fence: Fence,
}

impl Stage {
    /// The entry that the write takes its bytes from.
    fn sge(&self, fabric: &Fabric, case: &Case) -> Sge {
        match case.places().len() {
            0 => Sge { length: 1, ..fabric.buffer.sge_of(0..1) },
            bytes => self.key.sge(0, bytes as u32),
        }
    }
}

/// libmlx5 posts all.
fn theirs(qp: NonNull<sys::ibv_qp>, stage: &Stage, case: &Case, sge: Sge) {
    let key = stage.key.as_raw();
    let access = case.rights.map(access);
    let list: Vec<_> = match &case.layout {
        Layout::List(list) => list.iter().map(crate::post::sge).collect(),
        _ => vec![],
    };
    let (repeat, interleaved): (_, Vec<_>) = match &case.layout {
        Layout::Interleaved(repeat, list) => {
            let entry = |e: &Strided| mlx5dv_mr_interleaved {
                addr: e.addr,
                bytes_count: e.bytes.into(),
                bytes_skip: u32::from(e.stride).wrapping_sub(e.bytes.into()),
                lkey: e.lkey.0,
            };
            (*repeat, list.iter().map(entry).collect())
        }
        _ => (0, vec![]),
    };
    // SAFETY: objects of the fabric and the stage, which are alive; lists live until the calls return.
    unsafe {
        let ex = sys::ibv_qp_to_qp_ex(qp.as_ptr());
        let dv = mlx5dv_qp_ex_from_ibv_qp_ex(ex);
        let d = &*dv;
        sys::ibv_wr_start(ex);
        ((*ex).wr_id, (*ex).wr_flags) = (case.id, sys::IBV_SEND_INLINE);
        let set_layout = || match &case.layout {
            Layout::Unchanged => {}
            Layout::List(_) => {
                d.wr_set_mkey_layout_list.expect("for keys")(dv, list.len() as u16, list.as_ptr());
            }
            Layout::Interleaved(..) => {
                let count = interleaved.len() as u16;
                d.wr_set_mkey_layout_interleaved.expect("for keys")(dv, repeat, count, interleaved.as_ptr());
            }
        };
        let set_access = || {
            if let Some(access) = access {
                d.wr_set_mkey_access_flags.expect("for keys")(dv, access);
            }
        };
        match (case.setters, &case.layout) {
            (None, Layout::List(_)) => {
                let access = access.expect("all of it");
                d.wr_mr_list.expect("for keys")(dv, key, access, list.len() as u16, list.as_ptr());
            }
            (None, _) => {
                let (access, count) = (access.expect("all of it"), interleaved.len() as u16);
                d.wr_mr_interleaved.expect("for keys")(dv, key, access, repeat, count, interleaved.as_ptr());
            }
            (Some(list_first), layout) => {
                let setters = u8::from(access.is_some()) + u8::from(!matches!(layout, Layout::Unchanged));
                d.wr_mkey_configure.expect("for keys")(dv, key, setters, &mut mlx5dv_mkey_conf_attr::default());
                if list_first {
                    set_layout();
                    set_access();
                } else {
                    set_access();
                    set_layout();
                }
            }
        }
        if case.apart {
            assert_eq!(sys::ibv_wr_complete(ex), 0, "{case:?}");
            sys::ibv_wr_start(ex);
        }
        let signaled = |last: bool| if last { sys::IBV_SEND_SIGNALED } else { 0 };
        ((*ex).wr_id, (*ex).wr_flags) = (case.id, signaled(!case.taken_back));
        sys::ibv_wr_rdma_write(ex, stage.found.rkey().0, stage.found.addr());
        sys::ibv_wr_set_sge(ex, sge.lkey.0, sge.addr, sge.length);
        if case.taken_back {
            ((*ex).wr_id, (*ex).wr_flags) = (case.id, signaled(true));
            sys::ibv_wr_local_inv(ex, stage.key.rkey().0);
        }
        assert_eq!(sys::ibv_wr_complete(ex), 0, "{case:?}");
    }
}

fn ours(twins: &mut Twins<Rc>, stage: &Stage, case: &Case, sge: Sge) {
    let id = WrId(case.id);
    let to = Remote { addr: stage.found.addr(), rkey: stage.found.rkey() };
    let write = wqe::write(to).gather([sge]).fence(Fence::Small).signaled_if(!case.taken_back, id);
    let sq = &mut twins.ours.sq;
    let mut batch = sq.batch();
    macro_rules! push {
        ($request:expr) => {{
            let request: Request<'_, ConfigureKey, _> = $request;
            // SAFETY: the fabric's memory and the stage's, which outlive the queue; so below.
            unsafe { batch.push_unchecked(&request.fence(stage.fence).wr_id(id)) }.expect("room")
        }};
    }
    let configure = stage.key.configure();
    let configure = if let Some(rights) = case.rights { configure.rights(key_rights(rights)) } else { configure };
    match &case.layout {
        Layout::Unchanged => push!(configure),
        Layout::List(list) => push!(configure.list(list)),
        Layout::Interleaved(repeat, list) => push!(configure.interleaved(*repeat, list)),
    }
    if case.apart {
        batch.ring_doorbell();
        batch = sq.batch();
    }
    // SAFETY: the fabric's memory and the stage's, which outlive the queue.
    unsafe { batch.push_unchecked(&write) }.expect("room");
    if case.taken_back {
        batch.push(&stage.key.take_back().signaled(id)).expect("room");
    }
    batch.ring_doorbell();
}

/// The data of the write, which equals the data at the places of the list.
fn found(fabric: &Fabric, stage: &mut Stage, case: &Case) -> Result<(), String> {
    let expected: Vec<u8> = case
        .places()
        .into_iter()
        .map(|place| {
            let mut byte = [0];
            fabric.buffer.read((place - fabric.buffer.addr()) as usize, &mut byte);
            byte[0]
        })
        .collect();
    let mut bytes = vec![0; expected.len()];
    stage.found.read(0, &mut bytes);
    stage.found.fill(0);
    if bytes == expected { Ok(()) } else { Err(format!("read {bytes:02x?} in place of {expected:02x?}")) }
}

fn check(fabric: &Fabric, stage: &mut Stage, twins: &mut Twins<Rc>, case: &Case) -> Result<(), String> {
    twins.clear_rings();
    let sge = stage.sge(fabric, case);
    theirs(twins.theirs.raw.raw, stage, case, sge);
    let (_, wc) = crate::twin::wait("libmlx5's completion", || twins.theirs.send_cq.poll())?;
    if wc.status != sys::IBV_WC_SUCCESS {
        return Err(format!("libmlx5's: status {}, vendor syndrome {:#x}", wc.status, wc.vendor_err));
    }
    found(fabric, stage, case).map_err(|why| format!("libmlx5: {why}"))?;
    ours(twins, stage, case, sge);
    stage.fence = if case.taken_back { Fence::Small } else { Fence::None };
    twins.done(case.id)?;
    found(fabric, stage, case).map_err(|why| format!("this crate: {why}"))?;
    let (configure, all) = case.wqebbs();
    let taken_back = case.taken_back.then_some(configure + 1);
    let numbers = [Some(0), Some(configure), taken_back].into_iter().flatten().map(|wqebb| wqebb * WQEBB + 4);
    twins.compare(all, &numbers.collect::<Vec<_>>())
}

#[test]
fn lists_and_interleaved() {
    let fabric = Fabric::new();
    let key = fabric.pd.indirect_key(ENTRIES as u16).expect("a key");
    assert_eq!(usize::from(key.entries()), ENTRIES);
    let found = Pool::new(&fabric.pd, 64, Access::ALL).expect("a pool").take(64).expect("all of it");
    let mut stage = Stage { key, found, fence: Fence::None };
    // That inline data is a list of 52 entries. Up to 17 WQEBBs a case wrap around the end of 64 everywhere.
    let geometry = Geometry { sends: 4, inline: 828, windows: true, keys: true, ..Geometry::default() };
    let mut twins = Twins::<Rc>::new(&fabric, &geometry, true);
    let case = case(&fabric.buffer);
    in_turn::run::<Rc, _>(CASES, &["ConfigureKey"], case, |case| check(&fabric, &mut stage, &mut twins, case));
}

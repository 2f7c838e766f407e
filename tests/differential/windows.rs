//! Memory windows: libmlx5 and this crate bind them, take them back and bind them again, with the fence of the next
//! request. On initiators, whose other requests name a peer, that one takes the window back.
//!
//! This crate stores zeros in the bytes of the memory key segment that libmlx5 leaves as they were.
//!
//! Bytes of these requests belong here, rights of peers in `tests/verbs/windows.rs`.

use std::ptr::{NonNull, null_mut};

use blueflame::types::WrId;
use blueflame::verbs::Access;
use blueflame::verbs::memory::{MemoryWindow, WindowType};
use blueflame::wqe::keys::{Window, WindowRights};
use blueflame::wqe::{self, Fence, Remote};
use blueflame::{Lkey, Rkey, Sge, transport};
use blueflame_sys as sys;
use memmap2::MmapMut;
use proptest::prelude::*;

use crate::in_turn::{self, WQEBB};
use crate::post::Way;
use crate::twin::{Link, Twins};
use crate::verbs::{Fabric, Geometry};

/// Cases of each transport.
const CASES: u32 = 1000;
/// Bytes of the region that windows are bound to.
const REGION: usize = 1 << 16;

/// The operations: a binding, another request, the end of the binding, another request.
#[derive(Clone, Debug)]
struct Case {
    kind: WindowType,
    way: Way,
    /// All by one doorbell, or one for each.
    apart: bool,
    rights: u8,
    zero_based: bool,
    offset: u64,
    bytes: u32,
    /// Lowest byte of the new key.
    tag: u8,
    id: u64,
}

/// The first case on initiators.
const FIRST: Case = Case {
    kind: WindowType::Type2,
    way: Way::WrBuilders,
    apart: false,
    rights: 0,
    zero_based: false,
    offset: 0,
    bytes: 1,
    tag: 0,
    id: 1,
};

/// `lists`: `ibv_post_send` takes such requests. On a DCI it does not, so neither are windows of type 1 bound there.
fn case(lists: bool) -> impl Strategy<Value = Case> {
    let kind =
        prop::sample::select(if lists { vec![WindowType::Type1, WindowType::Type2] } else { vec![WindowType::Type2] });
    let place = (0..REGION as u64 - 1).prop_flat_map(|offset| (Just(offset), 1..=(REGION as u64 - offset) as u32));
    (kind, any::<bool>(), any::<bool>(), 0..8_u8, any::<bool>(), place, any::<u8>(), any::<u64>()).prop_map(
        move |(kind, builders, apart, rights, zero_based, (offset, bytes), tag, id)| {
            // ibv_wr_bind_mw is for type 2.
            let builders = builders && kind == WindowType::Type2 || !lists;
            let way = if builders { Way::WrBuilders } else { Way::PostSend };
            Case { kind, way, apart, rights, zero_based, offset, bytes, tag, id }
        },
    )
}

/// One thing that is done.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Bind,
    TakeBack,
    Write,
}

impl Step {
    fn wqebbs(self) -> usize {
        match self {
            Self::Bind => 3,
            Self::TakeBack => 2,
            Self::Write => 1,
        }
    }
}

impl Case {
    fn groups(&self, steps: &'static [Step]) -> Vec<&'static [Step]> {
        if self.apart { steps.chunks(1).collect() } else { vec![steps] }
    }

    fn access(&self) -> u32 {
        let zero = if self.zero_based { sys::IBV_ACCESS_ZERO_BASED } else { 0 };
        let rights = [sys::IBV_ACCESS_REMOTE_READ, sys::IBV_ACCESS_REMOTE_WRITE, sys::IBV_ACCESS_REMOTE_ATOMIC];
        (0..3).filter(|n| self.rights >> n & 1 != 0).map(|n| rights[n]).sum::<u32>() | zero
    }

    fn rights(&self) -> WindowRights {
        let all = [WindowRights::READ, WindowRights::WRITE, WindowRights::ATOMIC];
        (0..3).filter(|n| self.rights >> n & 1 != 0).fold(WindowRights::NONE, |rights, n| rights | all[n])
    }
}

/// What requests name.
struct Stage {
    mr: NonNull<sys::ibv_mr>,
    one: MemoryWindow,
    two: MemoryWindow,
    _memory: MmapMut,
    start: u64,
    lkey: Lkey,
}

impl Stage {
    fn new(fabric: &Fabric) -> Self {
        let mut memory = MmapMut::map_anon(REGION).expect("memory");
        let (start, access) = (memory.as_mut_ptr(), (Access::ALL | Access::MW_BIND).bits());
        // SAFETY: memory that lives as long as the region.
        let mr = unsafe { sys::ibv_reg_mr_iova2(fabric.pd.as_raw(), start.cast(), REGION, start as u64, access) };
        let mr = NonNull::new(mr).expect("a region");
        // SAFETY: filled in.
        let lkey = Lkey(unsafe { mr.as_ref() }.lkey);
        let window = |kind| fabric.pd.memory_window(kind).expect("a window");
        Self {
            mr,
            one: window(WindowType::Type1),
            two: window(WindowType::Type2),
            _memory: memory,
            start: start as u64,
            lkey,
        }
    }

    fn window(&self, kind: WindowType) -> &MemoryWindow {
        if kind == WindowType::Type1 { &self.one } else { &self.two }
    }

    fn piece(&self, case: &Case) -> Sge {
        Sge { addr: self.start + case.offset, length: case.bytes, lkey: self.lkey }
    }

    /// The window's key before, and as it is bound to. (Of a key, the device looks at the lowest byte only where that
    /// stays.)
    fn keys(&self, case: &Case) -> (Rkey, Rkey) {
        let before = self.window(case.kind).rkey();
        (before, Rkey(before.0 & !0xff | u32::from(case.tag)))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // SAFETY: made in `new`; nothing is posted any more.
        unsafe { sys::ibv_dereg_mr(self.mr.as_ptr()) };
    }
}

/// libmlx5 posts `steps`; the last of all asks for a completion.
fn theirs(qp: NonNull<sys::ibv_qp>, stage: &Stage, case: &Case, steps: &[Step], last: bool, to: Remote) {
    let mw = stage.window(case.kind).as_raw();
    let (before, new) = stage.keys(case);
    // SAFETY: the window is the stage's; libmlx5 reads its key and type.
    unsafe { (*mw).rkey = before.0 };
    let piece = stage.piece(case);
    let info = sys::ibv_mw_bind_info {
        mr: stage.mr.as_ptr(),
        addr: piece.addr,
        length: piece.length.into(),
        mw_access_flags: case.access(),
    };
    let nothing = sys::ibv_mw_bind_info { mr: null_mut(), addr: 0, length: 0, mw_access_flags: 0 };
    let mut sge = sys::ibv_sge { addr: piece.addr, length: 1, lkey: piece.lkey.0 };
    let signaled = |n: usize| if last && n + 1 == steps.len() { sys::IBV_SEND_SIGNALED } else { 0 };
    // SAFETY: objects of the fabric and the stage, which are alive; lists live until the calls return.
    unsafe {
        if case.way == Way::WrBuilders {
            let ex = sys::ibv_qp_to_qp_ex(qp.as_ptr());
            sys::ibv_wr_start(ex);
            for (n, step) in steps.iter().enumerate() {
                ((*ex).wr_id, (*ex).wr_flags) = (case.id, signaled(n));
                match step {
                    Step::Bind => sys::ibv_wr_bind_mw(ex, mw, new.0, &raw const info),
                    Step::TakeBack => sys::ibv_wr_local_inv(ex, new.0),
                    Step::Write => {
                        sys::ibv_wr_rdma_write(ex, to.rkey.0, to.addr);
                        sys::ibv_wr_set_sge(ex, sge.lkey, sge.addr, sge.length);
                    }
                }
            }
            assert_eq!(sys::ibv_wr_complete(ex), 0, "{case:?}");
            return;
        }
        for_each_request(steps, |n, step, raw| {
            (raw.wr_id, raw.send_flags) = (case.id, signaled(n));
            match step {
                Step::Write => {
                    raw.opcode = sys::IBV_WR_RDMA_WRITE;
                    (raw.sg_list, raw.num_sge) = (&raw mut sge, 1);
                    raw.wr.rdma = sys::ibv_send_wr_rdma { remote_addr: to.addr, rkey: to.rkey.0 };
                }
                Step::TakeBack if case.kind == WindowType::Type2 => {
                    raw.opcode = sys::IBV_WR_LOCAL_INV;
                    raw.imm_data = new.0;
                }
                Step::Bind | Step::TakeBack => {
                    raw.opcode = sys::IBV_WR_BIND_MW;
                    let (rkey, bind_info) =
                        if step == Step::Bind { (new.0, info) } else { (taken_back(case, new).0, nothing) };
                    raw.own.bind_mw = sys::ibv_send_wr_bind_mw { mw, rkey, bind_info };
                }
            }
        })
        .post(qp);
    }
}

/// A list of requests.
struct List(Vec<sys::ibv_send_wr>);

fn for_each_request(steps: &[Step], mut fill: impl FnMut(usize, Step, &mut sys::ibv_send_wr)) -> List {
    let make = |(n, step): (usize, &Step)| {
        let mut raw = sys::ibv_send_wr::ZERO;
        fill(n, *step, &mut raw);
        raw
    };
    List(steps.iter().enumerate().map(make).collect())
}

impl List {
    /// # Safety
    /// All that the requests name lives until the call returns, and memory until they complete.
    unsafe fn post(mut self, qp: NonNull<sys::ibv_qp>) {
        let first = self.0.as_mut_ptr();
        for n in 1..self.0.len() {
            self.0[n - 1].next = first.wrapping_add(n);
        }
        let mut bad = null_mut();
        // SAFETY: the caller promises all that the requests name until the call returns, and memory until completion.
        assert_eq!(unsafe { sys::ibv_post_send(qp.as_ptr(), first, &raw mut bad) }, 0);
    }
}

/// The key of a window of type 1 that was taken back.
fn taken_back(case: &Case, new: Rkey) -> Rkey {
    Rkey(new.0 & !0xff | u32::from(case.tag.wrapping_add(1)))
}

/// A transport on which windows are bound.
trait Binds: Link {
    /// The requests of a case.
    const STEPS: &[Step];

    /// The fence of a request for a window: that of a request behind another one.
    fn fence() -> Fence {
        if Self::STEPS.contains(&Step::Write) { Fence::None } else { Fence::Small }
    }

    /// Posts `steps` by this crate.
    fn ours(twins: &mut Twins<Self>, stage: &Stage, case: &Case, steps: &[Step], last: bool, to: Remote);
}

macro_rules! binds {
    ($steps:expr, $write:expr; $($transport:ty)*) => {$(
        impl Binds for $transport {
            const STEPS: &[Step] = $steps;

            fn ours(twins: &mut Twins<Self>, stage: &Stage, case: &Case, steps: &[Step], last: bool, to: Remote) {
                let (before, new) = stage.keys(case);
                let sq = &mut twins.ours.sq;
                let window = match case.kind {
                    WindowType::Type1 => Window::Type1 { rkey: before },
                    WindowType::Type2 => Window::Type2 { rkey: before, qpn: sq.qpn() },
                };
                let piece = stage.piece(case);
                let id = WrId(case.id);
                let mut batch = sq.batch();
                for (n, step) in steps.iter().enumerate() {
                    let signaled = last && n + 1 == steps.len();
                    // SAFETY: the stage's memory and the fabric's, which outlive the queue.
                    unsafe {
                        match (step, case.kind) {
                            (Step::Bind, _) => {
                                let bind = wqe::bind_window(window, new, piece, case.rights());
                                let bind = if case.zero_based { bind.zero_based() } else { bind };
                                batch.push_unchecked(&bind.fence(Self::fence()).signaled_if(signaled, id))
                            }
                            (Step::TakeBack, WindowType::Type1) => {
                                let taken = wqe::unbind_window(before, taken_back(case, new));
                                batch.push(&taken.fence(Self::fence()).signaled_if(signaled, id))
                            }
                            (Step::TakeBack, WindowType::Type2) => {
                                let taken = wqe::local_invalidate(new);
                                batch.push(&taken.fence(Self::fence()).signaled_if(signaled, id))
                            }
                            (Step::Write, _) => {
                                let write = $write(to, Sge { length: 1, ..piece });
                                batch.push_unchecked(&write.fence(Fence::Small).signaled_if(signaled, id))
                            }
                        }
                    }
                    .expect("room");
                }
                batch.ring_doorbell();
            }
        }
    )*};
}

binds!(
    &[Step::Bind, Step::Write, Step::TakeBack, Step::Write], |to, piece| wqe::write(to).gather([piece]);
    transport::Rc transport::Uc
);
// Their WRITEs name a peer.
binds!(
    &[Step::Bind, Step::TakeBack], |_: Remote, _: Sge| wqe::nop();
    transport::XrcInitiator transport::Dci transport::DciStreams
);

/// Where the numbers of the queue pair are: in control segments, and in windows of one queue pair that are bound.
fn numbers(case: &Case, steps: &[Step]) -> Vec<usize> {
    let (mut at, mut places) = (0, Vec::new());
    for &step in steps {
        places.push(at + 4);
        if step == Step::Bind && case.kind == WindowType::Type2 {
            places.push(at + 16 + 48 + 4);
        }
        at += step.wqebbs() * WQEBB;
    }
    places
}

fn check<T: Binds>(fabric: &Fabric, stage: &Stage, twins: &mut Twins<T>, case: &Case) -> Result<(), String> {
    let to = Remote { addr: fabric.buffer.addr(), rkey: fabric.buffer.rkey() };
    twins.clear_rings();
    let groups = case.groups(T::STEPS);
    for (n, steps) in groups.iter().enumerate() {
        theirs(twins.theirs.raw.raw, stage, case, steps, n + 1 == groups.len(), to);
    }
    crate::twin::wait("libmlx5's completion", || twins.theirs.send_cq.poll().filter(|(_, wc)| wc.wr_id == case.id))?;
    for (n, steps) in groups.iter().enumerate() {
        T::ours(twins, stage, case, steps, n + 1 == groups.len(), to);
    }
    twins.done(case.id)?;
    twins.compare(T::STEPS.iter().map(|step| step.wqebbs()).sum(), &numbers(case, T::STEPS))
}

fn run<T: Binds>() {
    let fabric = Fabric::new();
    let stage = Stage::new(&fabric);
    // Seven WQEBBs a case wrap around the ring's end everywhere.
    let streams = (T::COLUMN == transport::DciStreams::COLUMN).then_some([2, 1]);
    let geometry = Geometry { sends: 16, inline: 100, windows: true, streams, ..Geometry::default() };
    let mut twins = Twins::<T>::new(&fabric, &geometry, true);
    if T::fence() != Fence::None {
        // Before the first request there is none that it could wait for.
        check(&fabric, &stage, &mut twins, &FIRST).expect_err("another fence");
    }
    let cases = case(!T::INITIATOR);
    in_turn::run::<T, _>(CASES, &["BindWindow", "Invalidate"], cases, |case| check(&fabric, &stage, &mut twins, case));
}

#[test]
fn on_reliable_connections() {
    run::<transport::Rc>();
}

#[test]
fn on_unreliable_connections() {
    run::<transport::Uc>();
}

#[test]
fn on_xrc_initiators() {
    run::<transport::XrcInitiator>();
}

#[test]
fn on_dynamic_initiators() {
    run::<transport::Dci>();
}

#[test]
fn on_dynamic_initiators_with_streams() {
    run::<transport::DciStreams>();
}

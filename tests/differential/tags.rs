//! Operations on lists of tags: libmlx5's `ibv_post_srq_ops`, and this crate's requests; and what completions tell of
//! them.
//!
//! libmlx5 has a command queue in each such shared receive queue, and no call that hands it over. It is found by what
//! it is: a queue pair of this context that receives from the shared receive queue, whose address is somewhere in
//! libmlx5's structure.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};

use blueflame::Sge;
use blueflame::cq::CqId;
use blueflame::cq::cqe::{ListOperation, TagCqe};
use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::queue::SendQueue;
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::transport::Rc;
use blueflame::types::{Qpn, SqPi, TagIndex, WrId};
use blueflame::verbs::ffi;
use blueflame::wqe;
use proptest::collection::vec;
use proptest::prelude::*;
use rdma_sys as sys;

use crate::completions::view;
use crate::in_turn::{self, WQEBB};
use crate::twin::{record, ring, wait};
use crate::verbs::{Fabric, PolledCq};

const CASES: u32 = 2000;
const TAGS: u16 = 12;
/// Operations of a case, at most.
const MOST: usize = 8;
/// `IBV_WC_EX_WITH_TM_INFO`, and byte count.
const WC_FLAGS: u64 = 1 << 10 | 1;

/// `struct ibv_ops_wr` of `verbs.h`, whose fields rdma-sys keeps to itself.
#[derive(Clone, Copy)]
#[repr(C)]
struct OpsWr {
    wr_id: u64,
    next: *mut Self,
    opcode: u32,
    flags: i32,
    unexpected_cnt: u32,
    /// Told of an entry that is removed, tells of one that is appended.
    handle: u32,
    recv_wr_id: u64,
    sg_list: *mut sys::ibv_sge,
    num_sge: i32,
    tag: u64,
    mask: u64,
}

const _: () = assert!(size_of::<OpsWr>() == size_of::<sys::ibv_ops_wr>());

/// An operation that does nothing but what its flags say.
const SYNC: OpsWr = OpsWr {
    wr_id: 0,
    next: null_mut(),
    opcode: sys::ibv_ops_wr_opcode::IBV_WR_TAG_SYNC,
    flags: sys::ibv_ops_flags::IBV_OPS_SIGNALED.0.cast_signed(),
    unexpected_cnt: 0,
    handle: 0,
    recv_wr_id: 0,
    sg_list: null_mut(),
    num_sge: 0,
    tag: 0,
    mask: 0,
};

#[derive(Clone, Copy, Debug)]
enum What {
    Append {
        tag: u64,
        mask: u64,
        bytes: u32,
    },
    /// The one of those that are on the list.
    Remove {
        nth: usize,
    },
    Sync,
}

#[derive(Clone, Copy, Debug)]
struct Op {
    what: What,
    reported: bool,
    unexpected: Option<u16>,
}

fn op() -> impl Strategy<Value = Op> {
    let bytes = prop_oneof![4 => 1..=4096_u32, 1 => Just(0), 1 => Just(wqe::limits::MAX_SGE_BYTES)];
    let what = prop_oneof![
        4 => (any::<u64>(), any::<u64>(), bytes).prop_map(|(tag, mask, bytes)| What::Append { tag, mask, bytes }),
        4 => any::<usize>().prop_map(|nth| What::Remove { nth }),
        1 => Just(What::Sync),
    ];
    (what, any::<bool>(), any::<Option<u16>>()).prop_map(|(what, reported, unexpected)| Op {
        what,
        reported,
        unexpected,
    })
}

/// Reads memory of this process, if it is there.
fn memory(at: usize, bytes: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: std::ptr::with_exposed_provenance_mut(at), iov_len: bytes.len() };
    // SAFETY: the kernel writes the first, which is ours, and reads the second, if it is mapped.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    read == bytes.len() as isize
}

/// The command queue of a shared receive queue of libmlx5's.
fn command_queue(srq: NonNull<sys::ibv_srq>) -> NonNull<sys::ibv_qp> {
    // The structure around an `ibv_srq` begins with it.
    const BYTES: usize = 1024;
    // SAFETY: written once.
    let context = unsafe { (*srq.as_ptr()).context };
    let mut found = Vec::new();
    let mut qp = MaybeUninit::<sys::ibv_qp>::uninit();
    for at in (0..BYTES).step_by(8) {
        let mut word = [0; 8];
        if !memory(srq.as_ptr().expose_provenance() + at, &mut word) {
            break;
        }
        let address = usize::from_ne_bytes(word);
        // SAFETY: as many bytes as it has, of which the kernel writes some.
        let bytes = unsafe { std::slice::from_raw_parts_mut(qp.as_mut_ptr().cast::<u8>(), size_of::<sys::ibv_qp>()) };
        bytes.fill(0);
        if address == 0 || !address.is_multiple_of(8) || !memory(address, bytes) {
            continue;
        }
        // SAFETY: all its bytes are written; those looked at are pointers.
        let is_it = unsafe { (*qp.as_ptr()).context == context && (*qp.as_ptr()).srq == srq.as_ptr() };
        if is_it {
            found.push(address);
        }
    }
    found.dedup();
    assert_eq!(found.len(), 1, "one command queue in {srq:?}: {found:x?}");
    NonNull::new(std::ptr::with_exposed_provenance_mut(found[0])).expect("an address")
}

/// libmlx5's shared receive queue with a list.
struct Theirs {
    srq: NonNull<sys::ibv_srq>,
    parts: ffi::Mlx5dvQp,
    qpn: u32,
    cq: PolledCq,
}

impl Theirs {
    /// `None` on a device without.
    fn new(fabric: &Fabric) -> Option<Self> {
        if fabric.device.tag_matching().expect("asked").is_none() {
            eprintln!("tests/differential/tags.rs needs a device that matches tags");
            return None;
        }
        let cq = PolledCq::extended(&fabric.device, 256, 64, WC_FLAGS);
        // SAFETY: integers and null pointers; what they point to is alive.
        unsafe {
            let mut attr: sys::ibv_srq_init_attr_ex = core::mem::zeroed();
            attr.attr = sys::ibv_srq_attr { max_wr: 64, max_sge: 1, srq_limit: 0 };
            use sys::ibv_srq_init_attr_mask as mask;
            attr.comp_mask = (mask::IBV_SRQ_INIT_ATTR_TYPE
                | mask::IBV_SRQ_INIT_ATTR_PD
                | mask::IBV_SRQ_INIT_ATTR_CQ
                | mask::IBV_SRQ_INIT_ATTR_TM)
                .0;
            attr.srq_type = sys::ibv_srq_type::IBV_SRQT_TM;
            (attr.pd, attr.cq) = (fabric.pd.as_raw(), cq.as_raw());
            attr.tm_cap = sys::ibv_tm_cap { max_num_tags: TAGS.into(), max_ops: 32 };
            let srq = ffi::create_srq_ex(fabric.device.as_raw(), &raw mut attr);
            let srq = NonNull::new(srq).unwrap_or_else(|| {
                panic!("ibv_create_srq_ex: {}", std::io::Error::last_os_error());
            });
            let qp = command_queue(srq);
            let mut parts: ffi::Mlx5dvQp = core::mem::zeroed();
            let out = ffi::Mlx5dvPair { r#in: qp.as_ptr(), out: &raw mut parts };
            let mut obj = ffi::Mlx5dvObj { qp: out, ..ffi::Mlx5dvObj::NONE };
            assert_eq!(ffi::mlx5dv_init_obj(&raw mut obj, ffi::MLX5DV_OBJ_QP), 0);
            Some(Self { srq, parts, qpn: (*qp.as_ptr()).qp_num, cq })
        }
    }

    fn post(&self, list: &mut [OpsWr]) -> i32 {
        for n in 1..list.len() {
            list[n - 1].next = &raw mut list[n];
        }
        let mut bad = null_mut();
        // SAFETY: the queue is alive; so is the list, until the call returns. libmlx5's context is extended.
        unsafe {
            let around = core::mem::offset_of!(sys::verbs_context, context);
            let context: *mut sys::verbs_context = (*self.srq.as_ptr()).context.byte_sub(around).cast();
            let post = (*context).post_srq_ops.expect("libmlx5 has it");
            post(self.srq.as_ptr(), list.as_mut_ptr().cast(), &raw mut bad)
        }
    }

    /// The next completion: the CQE's bytes are given to `patch`, then it is polled.
    fn poll(&mut self, patch: impl FnOnce(&mut PolledCq)) -> Result<([Told; 2], u64), String> {
        wait("libmlx5's completion", || self.cq.peek().map(drop))?;
        patch(&mut self.cq);
        let mut bytes = self.cq.peek().expect("written");
        let ours = view(&mut bytes, |cqe| Told::of(cqe.tag_matching()));
        let mut attr = sys::ibv_poll_cq_attr { comp_mask: 0 };
        let raw: *mut sys::ibv_cq_ex = self.cq.as_raw().cast();
        // SAFETY: an extended queue that is alive, between the start of a poll and its end.
        let (theirs, wr_id) = unsafe {
            assert_eq!(sys::ibv_start_poll(raw, &raw mut attr), 0, "libmlx5 sees the CQE, too");
            let mut info: sys::ibv_wc_tm_info = core::mem::zeroed();
            ((*raw).read_tm_info.expect("asked for"))(raw, &raw mut info);
            let theirs = Told {
                opcode: sys::ibv_wc_read_opcode(raw),
                flags: sys::ibv_wc_read_wc_flags(raw) & (MATCH | DATA_VALID),
                info: ours.info.map(|_| (info.tag, info.priv_)),
                status: (*raw).status,
            };
            let wr_id = (*raw).wr_id;
            sys::ibv_end_poll(raw);
            (theirs, wr_id)
        };
        self.cq.polled();
        Ok(([ours, theirs], wr_id))
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once.
        assert_eq!(unsafe { sys::ibv_destroy_srq(self.srq.as_ptr()) }, 0);
    }
}

/// `IBV_WC_TM_MATCH` and `IBV_WC_TM_DATA_VALID`.
const MATCH: u32 = 1 << 5;
const DATA_VALID: u32 = 1 << 6;

/// What both tell of a completion.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Told {
    opcode: u32,
    flags: u32,
    /// Tag and the application's number, of the completions that tell of a match.
    info: Option<(u64, u32)>,
    status: u32,
}

impl Told {
    fn of(cqe: Option<TagCqe>) -> Self {
        use sys::{ibv_wc_opcode as op, ibv_wc_status as status};
        let told = |opcode| Self { opcode, flags: 0, info: None, status: status::IBV_WC_SUCCESS };
        match cqe.expect("of tag matching") {
            TagCqe::List { operation: ListOperation::Append, .. } => told(op::IBV_WC_TM_ADD),
            TagCqe::List { operation: ListOperation::Remove { removed: true }, .. } => told(op::IBV_WC_TM_DEL),
            TagCqe::List { operation: ListOperation::Remove { removed: false }, .. } => {
                Self { status: status::IBV_WC_TM_ERR, ..told(op::IBV_WC_TM_DEL) }
            }
            TagCqe::List { operation: ListOperation::Sync, .. } => told(op::IBV_WC_TM_SYNC),
            TagCqe::Match(found) => Self {
                flags: if found.header.is_some() { MATCH } else { 0 } | if found.complete { DATA_VALID } else { 0 },
                info: found.header.map(|header| (header.tag, header.app_ctx)),
                status: if found.incomplete { status::IBV_WC_TM_RNDV_INCOMPLETE } else { status::IBV_WC_SUCCESS },
                ..told(op::IBV_WC_TM_RECV)
            },
            // libmlx5 has no opcode of its own for these.
            TagCqe::Canceled(_) => {
                Self { flags: MATCH | DATA_VALID, status: status::IBV_WC_TM_RNDV_INCOMPLETE, ..told(op::IBV_WC_RECV) }
            }
            TagCqe::Unexpected => told(op::IBV_WC_TM_RECV),
            TagCqe::NoTag => told(op::IBV_WC_TM_NO_TAG),
            TagCqe::Unknown(number) => panic!("operation {number:#x}"),
        }
    }
}

/// Which entries libmlx5 takes, as its source has it: `mlx5_tm_release_tag`.
struct Mirror {
    free: VecDeque<u16>,
    /// Completions due of each entry.
    due: Vec<u32>,
    listed: Vec<u16>,
    /// Of operations that are reported: the entry, and whether it is removed.
    reported: VecDeque<Option<(u16, bool)>>,
}

impl Mirror {
    fn new() -> Self {
        let (free, due) = ((0..=TAGS).collect(), vec![0; usize::from(TAGS) + 1]);
        Self { free, due, listed: Vec::new(), reported: VecDeque::new() }
    }

    fn release(&mut self, entry: u16) {
        self.due[usize::from(entry)] -= 1;
        if self.due[usize::from(entry)] == 0 {
            self.free.push_back(entry);
        }
    }

    /// The oldest operation that is reported was told of: no message has ever come for its entry.
    fn told(&mut self) {
        if let Some((entry, removed)) = self.reported.pop_front().expect("posted") {
            self.release(entry);
            if removed {
                self.release(entry);
            }
        }
    }
}

/// Memory that this crate's command queue has, for no device to see: a ring and a doorbell record.
struct Ours {
    ring: NonNull<[[u64; 8]]>,
    record: NonNull<[u32; 2]>,
    sq: SendQueue<Rc>,
}

impl Ours {
    fn new(theirs: &Theirs) -> Self {
        #[derive(Clone, Copy)]
        #[repr(align(64))]
        struct Wqebb;
        let wqebbs = theirs.parts.sq.wqe_cnt;
        let ring = NonNull::from(Box::leak(vec![(Wqebb, [0_u64; 8]); wqebbs as usize].into_boxed_slice()));
        let record = NonNull::from(Box::leak(Box::new([0_u32; 2])));
        let shadow = Box::leak((0..wqebbs).map(|_| MaybeUninit::<WqeRecord>::uninit()).collect());
        let parts = SqParts {
            ring: ring.cast(),
            wqebbs,
            dbrec: record.cast(),
            qpn: Qpn::truncate(theirs.qpn),
            cq: CqId::NONE,
            max_inline: 0,
            max_sge: 1,
            signal_all: false,
            pi: SqPi(0),
            shadow: NonNull::from(shadow).cast(),
        };
        let page = NonNull::from(Box::leak(Box::new((Wqebb, [0_u64; 8]))));
        // SAFETY: leaked memory that nobody else has.
        let sq = unsafe {
            let register = ExclusiveRegister::from_parts(RegisterParts { reg: page.cast(), size: 0 });
            SendQueue::from_parts(parts, register.expect("a register")).expect("a queue")
        };
        Self { ring: NonNull::slice_from_raw_parts(ring.cast(), wqebbs as usize), record, sq }
    }

    fn bytes(&self) -> Vec<u8> {
        // SAFETY: leaked memory that the queue writes in its calls only.
        unsafe { self.ring.as_ref() }.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn clear(&mut self) {
        // SAFETY: as above.
        unsafe { self.ring.as_mut() }.fill([0; 8]);
    }
}

struct Both {
    theirs: Theirs,
    ours: Ours,
    mirror: Mirror,
    pi: usize,
    id: u64,
}

impl Both {
    fn new(fabric: &Fabric) -> Option<Self> {
        let theirs = Theirs::new(fabric)?;
        let ours = Ours::new(&theirs);
        Some(Self { theirs, ours, mirror: Mirror::new(), pi: 0, id: 0 })
    }

    /// One operation, to be posted by libmlx5, is posted by this crate; `None` if there is none such.
    fn post(&mut self, fabric: &Fabric, op: Op, sge: &mut sys::ibv_sge) -> Option<OpsWr> {
        let mut wr = SYNC;
        let flag = |on: bool, flag: sys::ibv_ops_flags| if on { flag.0.cast_signed() } else { 0 };
        wr.flags = flag(op.reported, sys::ibv_ops_flags::IBV_OPS_SIGNALED)
            | flag(op.unexpected.is_some(), sys::ibv_ops_flags::IBV_OPS_TM_SYNC);
        wr.unexpected_cnt = op.unexpected.unwrap_or(0).into();
        self.id += 1;
        wr.wr_id = self.id;
        let (mirror, sq) = (&mut self.mirror, &mut self.ours.sq);
        match op.what {
            What::Append { tag, mask, bytes } => {
                if mirror.free.len() < 2 {
                    return None;
                }
                let entry = mirror.free.pop_front()?;
                let next = TagIndex(*mirror.free.front()?);
                let buffer = Sge { addr: fabric.buffer.addr(), length: bytes, lkey: fabric.buffer.lkey() };
                *sge = sys::ibv_sge { addr: buffer.addr, length: bytes, lkey: buffer.lkey.0 };
                wr.opcode = sys::ibv_ops_wr_opcode::IBV_WR_TAG_ADD;
                (wr.tag, wr.mask, wr.recv_wr_id) = (tag, mask, self.id);
                (wr.sg_list, wr.num_sge) = (sge, 1);
                mirror.due[usize::from(entry)] = 1 + u32::from(op.reported);
                mirror.listed.push(entry);
                if op.reported {
                    mirror.reported.push_back(Some((entry, false)));
                }
                // libmlx5 gives it, and the caller compares.
                wr.handle = entry.into();
                put(sq, wqe::tag_append(tag, mask, next, buffer), op);
            }
            What::Remove { nth } => {
                if mirror.listed.is_empty() {
                    return None;
                }
                let entry = mirror.listed.remove(nth % mirror.listed.len());
                wr.opcode = sys::ibv_ops_wr_opcode::IBV_WR_TAG_DEL;
                wr.handle = entry.into();
                if op.reported {
                    mirror.due[usize::from(entry)] += 1;
                    mirror.reported.push_back(Some((entry, true)));
                } else {
                    mirror.release(entry);
                }
                put(sq, wqe::tag_remove(TagIndex(entry)), op);
            }
            What::Sync => {
                wr.opcode = sys::ibv_ops_wr_opcode::IBV_WR_TAG_SYNC;
                if op.reported {
                    mirror.reported.push_back(None);
                }
                put(sq, wqe::tag_sync(), op);
            }
        }
        Some(wr)
    }

    fn check(&mut self, fabric: &Fabric, ops: &[Op]) -> Result<(), String> {
        // SAFETY: libmlx5's ring, on which nothing is outstanding.
        unsafe {
            let wq = &self.theirs.parts.sq;
            wq.buf.cast::<u8>().write_bytes(0, (wq.wqe_cnt * wq.stride) as usize);
        }
        self.ours.clear();
        // The last one is reported, so that all are known to be done.
        let last = Op { what: What::Sync, reported: true, unexpected: None };
        let mut sges = [sys::ibv_sge { addr: 0, length: 0, lkey: 0 }; MOST + 1];
        let mut list = Vec::new();
        for (op, sge) in ops.iter().chain([&last]).zip(&mut sges) {
            list.extend(self.post(fabric, *op, sge));
        }
        let expected: Vec<_> = list.iter().map(|wr| wr.handle).collect();
        let posted = self.theirs.post(&mut list);
        assert_eq!(posted, 0, "ibv_post_srq_ops of {ops:?}");
        if !list.iter().map(|wr| wr.handle).eq(expected) {
            return Err("libmlx5 took other entries".into());
        }
        self.pi = (self.pi + list.len()) & 0xffff;
        let (theirs, ours) = (ring(&self.theirs.parts.sq), self.ours.bytes());
        if let Some(at) = (0..theirs.len()).find(|&at| theirs[at] != ours[at]) {
            let at = at / WQEBB * WQEBB;
            let [theirs, ours] = [&theirs, &ours].map(|ring| &ring[at..at + WQEBB]);
            return Err(format!("WQEBB {}: libmlx5 {theirs:02x?}, this crate {ours:02x?}", at / WQEBB));
        }
        // SAFETY: leaked memory that the queue writes in its calls only.
        let told = u32::from_be(unsafe { self.ours.record.read_volatile() }[1]);
        if (record(&self.theirs.parts)[1], told) != (self.pi as u32, self.pi as u32) {
            return Err(format!("records: {:x?}, {told:#x}", record(&self.theirs.parts)));
        }
        // SAFETY: no device knows of it.
        unsafe { self.ours.sq.retire_index((self.pi as u16).wrapping_sub(1)) }.expect("posted");
        while !self.mirror.reported.is_empty() {
            let ([ours, theirs], _) = self.theirs.poll(|_| {})?;
            if ours != theirs || ours.status != sys::ibv_wc_status::IBV_WC_SUCCESS {
                return Err(format!("this crate {ours:?}, libmlx5 {theirs:?}"));
            }
            self.mirror.told();
        }
        Ok(())
    }
}

/// Posts a request with the flags of an operation.
fn put<O, P>(sq: &mut SendQueue<Rc>, mut request: wqe::Request<O, P>, op: Op)
where
    O: wqe::operations::TagOperation + wqe::SupportedOn<Rc>,
    P: wqe::parts::Payload,
{
    if op.reported {
        request = request.reported();
    }
    if let Some(count) = op.unexpected {
        request = request.unexpected(count);
    }
    // SAFETY: no device knows of the queue.
    unsafe { sq.post_unchecked(&request.wr_id(WrId(1))) }.expect("room");
}

#[test]
fn operations_on_lists() {
    let fabric = Fabric::new();
    let Some(mut both) = Both::new(&fabric) else { return };
    let case = vec(op(), 0..=MOST);
    in_turn::run::<Rc, _>(CASES, &["TagAppend", "TagRemove", "TagSync"], case, |ops| both.check(&fabric, ops));
}

/// A completion: its first 32 bytes, the number of bytes, what was done, the entry, and whether there is immediate
/// data.
type AnyCqe = ([u8; 32], u32, u8, u16, bool);

/// What libmlx5 and this crate tell of a completion of [`SYNC`], overwritten with that.
fn overwritten(theirs: &mut Theirs, cqe: &AnyCqe) -> Result<[Told; 2], String> {
    let (bytes, byte_cnt, app_op, index, imm) = cqe;
    let opcode = match app_op {
        1 | 5..=7 => 6_u8,
        _ if *imm => 3,
        _ => 2,
    };
    let (told, _) = theirs.poll(|cq| {
        let owner = cq.at(0).bytes[63] & 1;
        cq.patch(0, 0, bytes);
        cq.patch(0, 41, &[*app_op]);
        cq.patch(0, 42, &index.to_be_bytes());
        cq.patch(0, 44, &byte_cnt.to_be_bytes());
        cq.patch(0, 60, &[0, 0]);
        cq.patch(0, 63, &[opcode << 4 | owner]);
    })?;
    Ok(told)
}

/// Completions of operations that do nothing, overwritten with any bytes, so that they tell of anything.
#[test]
fn any_completions() {
    const CASES: u32 = 150;
    const MOST: usize = 16;
    let fabric = Fabric::new();
    let app_op = prop_oneof![1..=7_u8, 9..=12_u8];
    let one = (any::<[u8; 32]>(), any::<u32>(), app_op, 0..TAGS, any::<bool>());
    in_turn::any(CASES, "completions", vec(one, 1..=MOST), |list| {
        // A list of its own: libmlx5 counts operations that it was told of.
        let Some(mut theirs) = Theirs::new(&fabric) else { return Ok(()) };
        let mut tags = [OpsWr { opcode: sys::ibv_ops_wr_opcode::IBV_WR_TAG_ADD, flags: 0, ..SYNC }; TAGS as usize];
        assert_eq!(theirs.post(&mut tags), 0);
        let mut listed = [true; TAGS as usize];
        for cqe in list {
            assert_eq!(theirs.post(&mut [SYNC]), 0);
            let [ours, told] = overwritten(&mut theirs, cqe)?;
            let (.., app_op, index, _) = *cqe;
            let is_match = matches!(app_op, 1 | 2 | 9..=12);
            let tag = &mut listed[usize::from(index)];
            // Of no tag on its list, libmlx5 says so; this crate's list does, too, and not the view.
            let status = if is_match && !*tag { sys::ibv_wc_status::IBV_WC_GENERAL_ERR } else { ours.status };
            *tag &= !(is_match && ours.flags & DATA_VALID != 0);
            if (Told { status, ..ours }) != told {
                return Err(format!("{app_op:#x}: this crate {ours:?}, libmlx5 {told:?}"));
            }
        }
        Ok(())
    });
}

//! libmlx5 and this crate post the same operations, and must write the same command queue.
//!
//! Operations belong here, completions in `completions.rs`.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::Sge;
use blueflame::cq::CqId;
use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::queue::SendQueue;
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::transport::Rc;
use blueflame::types::{Qpn, SqPi, TagIndex, WrId};
use blueflame::wqe;
use blueflame_sys as sys;
use proptest::collection::vec;
use proptest::prelude::*;

use super::theirs::{SYNC, TAGS, Theirs};
use crate::in_turn::{self, WQEBB};
use crate::twin::{record, ring};
use crate::verbs::Fabric;

const CASES: u32 = 2000;
/// Operations of a case, at most.
const MOST: usize = 8;

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

/// Which entries libmlx5 takes, as its source has it: `mlx5_tm_release_tag`.
struct Mirror {
    free: VecDeque<u16>,
    /// Completions due of each entry.
    due: Vec<u32>,
    listed: Vec<u16>,
    /// For each reported operation: the entry, and whether it is removed.
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
        // SAFETY: leaked memory that the queue writes in its calls only.
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
    fn post(&mut self, fabric: &Fabric, op: Op, sge: &mut sys::ibv_sge) -> Option<sys::ibv_ops_wr> {
        let mut wr = SYNC;
        let flag = |on: bool, flag: sys::ibv_ops_flags| if on { flag as i32 } else { 0 };
        wr.flags = flag(op.reported, sys::IBV_OPS_SIGNALED) | flag(op.unexpected.is_some(), sys::IBV_OPS_TM_SYNC);
        wr.tm.unexpected_cnt = op.unexpected.unwrap_or(0).into();
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
                wr.opcode = sys::IBV_WR_TAG_ADD;
                (wr.tm.add.tag, wr.tm.add.mask, wr.tm.add.recv_wr_id) = (tag, mask, self.id);
                (wr.tm.add.sg_list, wr.tm.add.num_sge) = (sge, 1);
                mirror.due[usize::from(entry)] = 1 + u32::from(op.reported);
                mirror.listed.push(entry);
                if op.reported {
                    mirror.reported.push_back(Some((entry, false)));
                }
                // libmlx5 gives it, and the caller compares.
                wr.tm.handle = entry.into();
                put!(sq, wqe::tag_append(tag, mask, next, buffer), op);
            }
            What::Remove { nth } => {
                if mirror.listed.is_empty() {
                    return None;
                }
                let entry = mirror.listed.remove(nth % mirror.listed.len());
                wr.opcode = sys::IBV_WR_TAG_DEL;
                wr.tm.handle = entry.into();
                if op.reported {
                    mirror.due[usize::from(entry)] += 1;
                    mirror.reported.push_back(Some((entry, true)));
                } else {
                    mirror.release(entry);
                }
                put!(sq, wqe::tag_remove(TagIndex(entry)), op);
            }
            What::Sync => {
                wr.opcode = sys::IBV_WR_TAG_SYNC;
                if op.reported {
                    mirror.reported.push_back(None);
                }
                put!(sq, wqe::tag_sync(), op);
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
        let expected: Vec<_> = list.iter().map(|wr| wr.tm.handle).collect();
        let posted = self.theirs.post(&mut list);
        assert_eq!(posted, 0, "ibv_post_srq_ops of {ops:?}");
        if !list.iter().map(|wr| wr.tm.handle).eq(expected) {
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
            if ours != theirs || ours.status != sys::IBV_WC_SUCCESS {
                return Err(format!("this crate {ours:?}, libmlx5 {theirs:?}"));
            }
            self.mirror.told();
        }
        Ok(())
    }
}

/// Posts a request with the flags of an operation.
macro_rules! put {
    ($sq:expr, $request:expr, $op:expr) => {{
        let mut request = $request;
        if $op.reported {
            request = request.reported();
        }
        if let Some(count) = $op.unexpected {
            request = request.unexpected(count);
        }
        // SAFETY: no device knows of the queue.
        unsafe { $sq.post_unchecked(&request.wr_id(WrId(1))) }.expect("room");
    }};
}
use put;

#[test]
fn operations_on_lists() {
    let fabric = Fabric::new();
    let Some(mut both) = Both::new(&fabric) else { return };
    let case = vec(op(), 0..=MOST);
    in_turn::run::<Rc, _>(CASES, &["TagAppend", "TagRemove", "TagSync"], case, |ops| both.check(&fabric, ops));
}

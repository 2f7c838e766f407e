//! libmlx5's list: a shared receive queue, its command queue, and its completions.
//!
//! libmlx5 has a command queue in each such shared receive queue, and no call that hands it over. The tests find it by
//! its properties: it is a queue pair of this context, it receives from the shared receive queue, and its address is
//! somewhere in libmlx5's structure.
//!
//! Tag matching belongs here, flow tags in `extended.rs`.

use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};

use blueflame::cq::cqe::{ListOperation, TagCqe};
use blueflame_sys as sys;

use crate::completions::view;
use crate::twin::wait;
use crate::verbs::{Fabric, PolledCq};

/// Tags of a list.
pub(super) const TAGS: u16 = 12;
/// `IBV_WC_EX_WITH_TM_INFO`, and byte count.
const WC_FLAGS: u64 = 1 << 10 | 1;

/// An operation that consists of its flags.
pub(super) const SYNC: sys::ibv_ops_wr =
    sys::ibv_ops_wr { opcode: sys::IBV_WR_TAG_SYNC, flags: sys::IBV_OPS_SIGNALED as i32, ..sys::ibv_ops_wr::ZERO };

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
        if address == 0 || address % 8 != 0 || !memory(address, bytes) {
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
pub(super) struct Theirs {
    pub(super) srq: NonNull<sys::ibv_srq>,
    pub(super) parts: sys::mlx5dv_qp,
    pub(super) qpn: u32,
    pub(super) cq: PolledCq,
}

impl Theirs {
    /// `None` on a device without.
    pub(super) fn new(fabric: &Fabric) -> Option<Self> {
        if fabric.device.tag_matching().expect("asked").is_none() {
            eprintln!("tests/differential/tags needs a device that matches tags");
            return None;
        }
        let cq = PolledCq::extended(&fabric.device, 256, 64, WC_FLAGS);
        // SAFETY: integers and null pointers; what they point to is alive.
        unsafe {
            let mut attr = sys::ibv_srq_init_attr_ex::ZERO;
            attr.attr = sys::ibv_srq_attr { max_wr: 64, max_sge: 1, srq_limit: 0 };
            attr.comp_mask = sys::IBV_SRQ_INIT_ATTR_TYPE
                | sys::IBV_SRQ_INIT_ATTR_PD
                | sys::IBV_SRQ_INIT_ATTR_CQ
                | sys::IBV_SRQ_INIT_ATTR_TM;
            attr.srq_type = sys::IBV_SRQT_TM;
            (attr.pd, attr.cq) = (fabric.pd.as_raw(), cq.as_raw());
            attr.tm_cap = sys::ibv_tm_cap { max_num_tags: TAGS.into(), max_ops: 32 };
            let srq = sys::ibv_create_srq_ex(fabric.device.as_raw(), &raw mut attr);
            let srq = NonNull::new(srq).unwrap_or_else(|| {
                panic!("ibv_create_srq_ex: {}", std::io::Error::last_os_error());
            });
            let qp = command_queue(srq);
            let mut parts = sys::mlx5dv_qp::ZERO;
            let out = sys::mlx5dv_pair { r#in: qp.as_ptr(), out: &raw mut parts };
            let mut obj = sys::mlx5dv_obj { qp: out, ..sys::mlx5dv_obj::ZERO };
            assert_eq!(sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_QP), 0);
            Some(Self { srq, parts, qpn: (*qp.as_ptr()).qp_num, cq })
        }
    }

    pub(super) fn post(&self, list: &mut [sys::ibv_ops_wr]) -> i32 {
        for n in 1..list.len() {
            list[n - 1].next = &raw mut list[n];
        }
        let mut bad = null_mut();
        // SAFETY: the queue is alive; so is the list, until the call returns.
        unsafe { sys::ibv_post_srq_ops(self.srq.as_ptr(), list.as_mut_ptr(), &raw mut bad) }
    }

    /// The next completion: the CQE's bytes are given to `patch`, then it is polled.
    pub(super) fn poll(&mut self, patch: impl FnOnce(&mut PolledCq)) -> Result<([Told; 2], u64), String> {
        wait("libmlx5's completion", || self.cq.peek().map(drop))?;
        patch(&mut self.cq);
        let mut bytes = self.cq.peek().expect("written");
        let ours = view(&mut bytes, |cqe| Told::of(cqe.tag_matching()));
        let mut attr = sys::ibv_poll_cq_attr { comp_mask: 0 };
        let raw: *mut sys::ibv_cq_ex = self.cq.as_raw().cast();
        // SAFETY: an extended queue that is alive, between the start of a poll and its end.
        let (theirs, wr_id) = unsafe {
            assert_eq!(sys::ibv_start_poll(raw, &raw mut attr), 0, "libmlx5 sees the CQE, too");
            let mut info = sys::ibv_wc_tm_info::ZERO;
            ((*raw).read_tm_info.expect("asked for"))(raw, &raw mut info);
            let theirs = Told {
                opcode: sys::ibv_wc_read_opcode(raw),
                flags: sys::ibv_wc_read_wc_flags(raw) & (MATCH | DATA_VALID),
                info: ours.info.map(|_| (info.tag, info.r#priv)),
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
pub(super) const DATA_VALID: u32 = 1 << 6;

/// Both reports of a completion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) opcode: u32,
    pub(super) flags: u32,
    /// Tag and the application's number, of the completions that tell of a match.
    pub(super) info: Option<(u64, u32)>,
    pub(super) status: u32,
}

impl Told {
    pub(super) fn of(cqe: Option<TagCqe>) -> Self {
        let told = |opcode| Self { opcode, flags: 0, info: None, status: sys::IBV_WC_SUCCESS };
        match cqe.expect("of tag matching") {
            TagCqe::List { operation: ListOperation::Append, .. } => told(sys::IBV_WC_TM_ADD),
            TagCqe::List { operation: ListOperation::Remove { removed: true }, .. } => told(sys::IBV_WC_TM_DEL),
            TagCqe::List { operation: ListOperation::Remove { removed: false }, .. } => {
                Self { status: sys::IBV_WC_TM_ERR, ..told(sys::IBV_WC_TM_DEL) }
            }
            TagCqe::List { operation: ListOperation::Sync, .. } => told(sys::IBV_WC_TM_SYNC),
            TagCqe::Match(found) => Self {
                flags: if found.header.is_some() { MATCH } else { 0 } | if found.complete { DATA_VALID } else { 0 },
                info: found.header.map(|header| (header.tag, header.app_ctx)),
                status: if found.incomplete { sys::IBV_WC_TM_RNDV_INCOMPLETE } else { sys::IBV_WC_SUCCESS },
                ..told(sys::IBV_WC_TM_RECV)
            },
            // libmlx5 has no opcode of its own for these.
            TagCqe::Canceled(_) => {
                Self { flags: MATCH | DATA_VALID, status: sys::IBV_WC_TM_RNDV_INCOMPLETE, ..told(sys::IBV_WC_RECV) }
            }
            TagCqe::Unexpected => told(sys::IBV_WC_TM_RECV),
            TagCqe::NoTag => told(sys::IBV_WC_TM_NO_TAG),
            TagCqe::Unknown(number) => panic!("operation {number:#x}"),
        }
    }
}

//! Requests as libmlx5 takes them, by both of its ways.

use std::ptr::{self, NonNull};

use blueflame::types::{DcKey, Qkey, Qpn, Srqn};
use blueflame::verbs::AddressHandle;
use blueflame::wqe::Sge;
use blueflame::{Lkey, Remote};
use blueflame_sys as sys;

use crate::doctor::found::{Failure, ensure};

/// libmlx5's two ways to post, each with an encoder of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// `ibv_post_send`.
    PostSend,
    /// `ibv_wr_start`, builders and setters, `ibv_wr_complete`.
    Builders,
}

impl Way {
    /// The calls.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::PostSend => "ibv_post_send",
            Self::Builders => "ibv_wr_*",
        }
    }
}

/// Both, in the order of the checks.
pub(super) const WAYS: [Way; 2] = [Way::PostSend, Way::Builders];

/// The operation, and its operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verb {
    Send,
    SendImm(u32),
    Write(Remote),
    WriteImm(Remote, u32),
    Read(Remote),
    CompareSwap(Remote, u64, u64),
    FetchAdd(Remote, u64),
    /// Puts the list of the data behind a key, with the rights of local writes. `ibv_post_send` has no such request.
    ConfigureKey(NonNull<sys::mlx5dv_mkey>),
}

/// The data, or the place for the result.
#[derive(Clone, Copy, Debug)]
pub(super) enum Data<'a> {
    Inline(&'a [u8]),
    Memory(&'a [Sge]),
}

/// The destination, on queue pairs whose requests name one.
#[derive(Clone, Copy)]
pub(super) enum To<'a> {
    /// The peer of a connection, or the port's cable.
    Peer,
    Datagram(&'a AddressHandle, Qpn, Qkey),
    Shared(Srqn),
    Target(&'a AddressHandle, Qpn, DcKey),
}

/// A request.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) verb: Verb,
    pub(super) data: Data<'a>,
    pub(super) to: To<'a>,
    pub(super) fence: bool,
    pub(super) solicited: bool,
    pub(super) signaled: bool,
    pub(super) wr_id: u64,
}

impl<'a> Request<'a> {
    /// To the peer, signalled, without a fence.
    pub(super) fn new(verb: Verb, data: Data<'a>) -> Self {
        Self { verb, data, to: To::Peer, fence: false, solicited: false, signaled: true, wr_id: 0 }
    }

    pub(super) fn to(self, to: To<'a>) -> Self {
        Self { to, ..self }
    }

    fn flags(&self) -> u32 {
        let all = [
            (self.signaled, sys::IBV_SEND_SIGNALED),
            (self.solicited, sys::IBV_SEND_SOLICITED),
            (self.fence, sys::IBV_SEND_FENCE),
            (matches!(self.data, Data::Inline(_)), sys::IBV_SEND_INLINE),
        ];
        all.into_iter().filter(|(on, _)| *on).map(|(_, flag)| flag).sum()
    }

    /// The entries of the data. Inline bytes are named by their address.
    fn entries(&self) -> Vec<sys::ibv_sge> {
        let entry = |sge: &Sge| sys::ibv_sge { addr: sge.addr, length: sge.length, lkey: sge.lkey.0 };
        match self.data {
            Data::Inline(bytes) => {
                let addr = bytes.as_ptr().expose_provenance() as u64;
                vec![entry(&Sge { addr, length: bytes.len() as u32, lkey: Lkey(0) })]
            }
            Data::Memory(list) => list.iter().map(entry).collect(),
        }
    }
}

/// Posts a list, with one doorbell.
///
/// # Safety
/// The queue pair is alive, was made with the operations of the list, and has room. Memory that the list names is
/// registered until the requests are done.
pub(super) unsafe fn post(qp: NonNull<sys::ibv_qp>, way: Way, list: &[Request<'_>]) -> Result<(), Failure> {
    // SAFETY: the caller promises a live queue pair with these operations and room, and registered memory.
    unsafe {
        match way {
            Way::PostSend => post_send(qp, list),
            Way::Builders => build(qp, list),
        }
    }
}

/// # Safety
/// As [`post`].
unsafe fn post_send(qp: NonNull<sys::ibv_qp>, list: &[Request<'_>]) -> Result<(), Failure> {
    let mut entries: Vec<_> = list.iter().map(Request::entries).collect();
    let mut wrs = Vec::with_capacity(list.len());
    for (request, entries) in list.iter().zip(&mut entries) {
        let mut wr = sys::ibv_send_wr::ZERO;
        (wr.wr_id, wr.send_flags) = (request.wr_id, request.flags());
        (wr.sg_list, wr.num_sge) = (entries.as_mut_ptr(), entries.len() as i32);
        let rdma = |at: Remote| sys::ibv_send_wr_rdma { remote_addr: at.addr, rkey: at.rkey.0 };
        let imm = |value: u32| value.to_be();
        let atomic = |at: Remote, compare_add, swap| sys::ibv_send_wr_atomic {
            remote_addr: at.addr,
            compare_add,
            swap,
            rkey: at.rkey.0,
        };
        wr.opcode = match request.verb {
            Verb::Send => sys::IBV_WR_SEND,
            Verb::SendImm(value) => {
                wr.imm_data = imm(value);
                sys::IBV_WR_SEND_WITH_IMM
            }
            Verb::Write(at) => {
                wr.wr.rdma = rdma(at);
                sys::IBV_WR_RDMA_WRITE
            }
            Verb::WriteImm(at, value) => {
                wr.wr.rdma = rdma(at);
                wr.imm_data = imm(value);
                sys::IBV_WR_RDMA_WRITE_WITH_IMM
            }
            Verb::Read(at) => {
                wr.wr.rdma = rdma(at);
                sys::IBV_WR_RDMA_READ
            }
            Verb::CompareSwap(at, compare, swap) => {
                wr.wr.atomic = atomic(at, compare, swap);
                sys::IBV_WR_ATOMIC_CMP_AND_SWP
            }
            Verb::FetchAdd(at, add) => {
                wr.wr.atomic = atomic(at, add, 0);
                sys::IBV_WR_ATOMIC_FETCH_AND_ADD
            }
            Verb::ConfigureKey(_) => return Err("ibv_post_send configures no keys".into()),
        };
        match request.to {
            To::Peer => {}
            To::Datagram(handle, qpn, qkey) => {
                wr.wr.ud = sys::ibv_send_wr_ud { ah: handle.as_raw(), remote_qpn: qpn.get(), remote_qkey: qkey.0 };
            }
            To::Shared(srqn) => wr.qp_type.remote_srqn = srqn.get(),
            To::Target(..) => return Err("ibv_post_send has no dynamic connections".into()),
        }
        wrs.push(wr);
    }
    let first = wrs.as_mut_ptr();
    for n in 1..wrs.len() {
        wrs[n - 1].next = first.wrapping_add(n);
    }
    let mut bad = ptr::null_mut();
    // SAFETY: requests, entries and inline bytes live until the call returns; the caller vouches for the rest.
    let returned = unsafe { sys::ibv_post_send(qp.as_ptr(), first, &raw mut bad) };
    ensure(returned == 0, || format!("ibv_post_send: {returned}"))
}

/// # Safety
/// As [`post`].
unsafe fn build(qp: NonNull<sys::ibv_qp>, list: &[Request<'_>]) -> Result<(), Failure> {
    // SAFETY: libmlx5 has filled in the functions of the operations that the queue pair was made with; entries and
    // inline bytes live until `ibv_wr_complete`; the caller vouches for the rest.
    let returned = unsafe {
        let ex = sys::ibv_qp_to_qp_ex(qp.as_ptr());
        sys::ibv_wr_start(ex);
        let entries: Vec<_> = list.iter().map(Request::entries).collect();
        for (request, entries) in list.iter().zip(&entries) {
            (*ex).wr_id = request.wr_id;
            (*ex).wr_flags = request.flags() & !sys::IBV_SEND_INLINE;
            match request.verb {
                Verb::Send => sys::ibv_wr_send(ex),
                Verb::SendImm(value) => sys::ibv_wr_send_imm(ex, value.to_be()),
                Verb::Write(at) => sys::ibv_wr_rdma_write(ex, at.rkey.0, at.addr),
                Verb::WriteImm(at, value) => sys::ibv_wr_rdma_write_imm(ex, at.rkey.0, at.addr, value.to_be()),
                Verb::Read(at) => sys::ibv_wr_rdma_read(ex, at.rkey.0, at.addr),
                Verb::CompareSwap(at, compare, swap) => {
                    sys::ibv_wr_atomic_cmp_swp(ex, at.rkey.0, at.addr, compare, swap);
                }
                Verb::FetchAdd(at, add) => sys::ibv_wr_atomic_fetch_add(ex, at.rkey.0, at.addr, add),
                Verb::ConfigureKey(key) => {
                    let dv = sys::mlx5dv_qp_ex_from_ibv_qp_ex(ex);
                    (*ex).wr_flags |= sys::IBV_SEND_INLINE;
                    if let Some(list) = (*dv).wr_mr_list {
                        let rights = sys::IBV_ACCESS_LOCAL_WRITE;
                        list(dv, key.as_ptr(), rights, entries.len() as u16, entries.as_ptr().cast_mut());
                    }
                    continue;
                }
            }
            match request.to {
                To::Peer => {}
                To::Datagram(handle, qpn, qkey) => {
                    sys::ibv_wr_set_ud_addr(ex, handle.as_raw(), qpn.get(), qkey.0);
                }
                To::Shared(srqn) => sys::ibv_wr_set_xrc_srqn(ex, srqn.get()),
                To::Target(handle, dctn, key) => {
                    let dv = sys::mlx5dv_qp_ex_from_ibv_qp_ex(ex);
                    if let Some(set) = (*dv).wr_set_dc_addr {
                        set(dv, handle.as_raw(), dctn.get(), key.0);
                    }
                }
            }
            match (request.data, &entries[..]) {
                (Data::Inline(bytes), _) => {
                    sys::ibv_wr_set_inline_data(ex, bytes.as_ptr().cast_mut().cast(), bytes.len());
                }
                (Data::Memory(_), [one]) => sys::ibv_wr_set_sge(ex, one.lkey, one.addr, one.length),
                (Data::Memory(_), list) => sys::ibv_wr_set_sge_list(ex, list.len(), list.as_ptr()),
            }
        }
        sys::ibv_wr_complete(ex)
    };
    ensure(returned == 0, || format!("ibv_wr_complete: {returned}"))
}

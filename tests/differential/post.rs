//! Posting through libmlx5: `ibv_post_send`, `ibv_wr_*` and `ibv_post_recv`.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

use blueflame::Sge;
use blueflame::types::DciStream;
use blueflame::verbs::AddressHandle;
use blueflame::wqe::Fence;
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Kind, Target, Whom, Wr};

use crate::crypto::CryptoAttr;
use crate::random::message_bytes;
use crate::sig_block::SigBlockAttr;

/// `struct mlx5dv_mr_interleaved` (rdma-core `providers/mlx5/mlx5dv.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct mlx5dv_mr_interleaved {
    pub(crate) addr: u64,
    pub(crate) bytes_count: u32,
    pub(crate) bytes_skip: u32,
    pub(crate) lkey: u32,
}

/// `struct mlx5dv_mkey_conf_attr`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct mlx5dv_mkey_conf_attr {
    pub(crate) conf_flags: u32,
    comp_mask: u64,
}

/// `struct mlx5dv_qp_ex` up to the last function used.
#[repr(C)]
pub(crate) struct mlx5dv_qp_ex {
    comp_mask: u64,
    wr_set_dc_addr: Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, *mut sys::ibv_ah, u32, u64)>,
    pub(crate) wr_mr_interleaved: Option<
        unsafe extern "C" fn(*mut mlx5dv_qp_ex, *mut sys::mlx5dv_mkey, u32, u32, u16, *const mlx5dv_mr_interleaved),
    >,
    pub(crate) wr_mr_list:
        Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, *mut sys::mlx5dv_mkey, u32, u16, *const sys::ibv_sge)>,
    pub(crate) wr_mkey_configure:
        Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, *mut sys::mlx5dv_mkey, u8, *mut mlx5dv_mkey_conf_attr)>,
    pub(crate) wr_set_mkey_access_flags: Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, u32)>,
    pub(crate) wr_set_mkey_layout_list: Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, u16, *const sys::ibv_sge)>,
    pub(crate) wr_set_mkey_layout_interleaved:
        Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, u32, u16, *const mlx5dv_mr_interleaved)>,
    pub(crate) wr_set_mkey_sig_block: Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, *const SigBlockAttr)>,
    wr_raw_wqe: Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, *const c_void)>,
    wr_set_dc_addr_stream: Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, *mut sys::ibv_ah, u32, u64, u16)>,
    pub(crate) wr_memcpy: Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, u32, u64, u32, u64, usize)>,
    pub(crate) wr_set_mkey_crypto: Option<unsafe extern "C" fn(*mut mlx5dv_qp_ex, *const CryptoAttr)>,
}

#[link(name = "mlx5")]
unsafe extern "C" {
    pub(crate) fn mlx5dv_qp_ex_from_ibv_qp_ex(qp: *mut sys::ibv_qp_ex) -> *mut mlx5dv_qp_ex;
}

/// Begins a list of libmlx5's requests: `key` gets this list of memory, and the right to write it. `setters` calls set
/// the key: this function makes the first two, the caller the others.
///
/// # Safety
/// Queue pair and key are alive, and the queue pair takes such requests. `list` lives until `ibv_wr_complete`.
pub(crate) unsafe fn begin_key(
    qp: NonNull<sys::ibv_qp>,
    key: *mut sys::mlx5dv_mkey,
    setters: u8,
    list: &[sys::ibv_sge],
    id: u64,
) -> (*mut sys::ibv_qp_ex, *mut mlx5dv_qp_ex) {
    // SAFETY: the caller promises a queue pair and a key that are alive, and a queue pair that takes such requests.
    unsafe {
        let ex = sys::ibv_qp_to_qp_ex(qp.as_ptr());
        let dv = mlx5dv_qp_ex_from_ibv_qp_ex(ex);
        let d = &*dv;
        sys::ibv_wr_start(ex);
        ((*ex).wr_id, (*ex).wr_flags) = (id, sys::IBV_SEND_INLINE);
        d.wr_mkey_configure.expect("for keys")(dv, key, setters, &mut mlx5dv_mkey_conf_attr::default());
        d.wr_set_mkey_access_flags.expect("for keys")(dv, sys::IBV_ACCESS_LOCAL_WRITE);
        d.wr_set_mkey_layout_list.expect("for keys")(dv, list.len() as u16, list.as_ptr());
        (ex, dv)
    }
}

/// Which of libmlx5's two ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    /// `ibv_post_send` of a list.
    PostSend,
    /// `ibv_wr_start`, builders and setters, `ibv_wr_complete`.
    WrBuilders,
}

fn flags(wr: &Wr) -> u32 {
    let mut flags = 0;
    if wr.signaled {
        flags |= sys::IBV_SEND_SIGNALED;
    }
    if wr.solicited {
        flags |= sys::IBV_SEND_SOLICITED;
    }
    match wr.fence {
        Fence::None => {}
        Fence::SmallAndReads => flags |= sys::IBV_SEND_FENCE,
        other => panic!("verbs has no {other:?}"),
    }
    if matches!(wr.data, Data::Inline(_)) {
        flags |= sys::IBV_SEND_INLINE;
    }
    if matches!(wr.kind, Kind::Frame(_, true) | Kind::LargeFrame(_, true, _)) {
        flags |= sys::IBV_SEND_IP_CSUM;
    }
    flags
}

pub(crate) fn sge(sge: &Sge) -> sys::ibv_sge {
    sys::ibv_sge { addr: sge.addr, length: sge.length, lkey: sge.lkey.0 }
}

/// The data as libmlx5 takes it: inline data in up to three pieces, some of which may be empty, but not more than
/// `max_sge`.
fn pieces(wr: &Wr, max_sge: usize) -> Vec<sys::ibv_sge> {
    match &wr.data {
        Data::Sges(sges) => sges.iter().map(sge).collect(),
        Data::Inline(bytes) => {
            let count = wr.id as usize % max_sge.min(3) + 1;
            let cut = |n: usize| bytes.len() * n / count;
            let piece = |n| {
                let bytes = &bytes[cut(n)..cut(n + 1)];
                sys::ibv_sge { addr: bytes.as_ptr().expose_provenance() as u64, length: bytes.len() as u32, lkey: 0 }
            };
            (0..count).map(piece).collect()
        }
    }
}

/// The headers of a large send, which libmlx5 takes apart from its payload.
fn large_headers(wr: &Wr) -> Vec<u8> {
    let Kind::LargeFrame(headers, ..) = wr.kind else { return Vec::new() };
    // SAFETY: entries are of the fabric's memory, which nothing writes while requests are posted.
    unsafe { wr.data.head(headers) }
}

/// The request with the data that libmlx5 takes as such.
fn behind_headers(wr: &Wr) -> Wr {
    let Kind::LargeFrame(headers, ..) = wr.kind else { return wr.clone() };
    Wr { data: wr.data.rest(headers), ..wr.clone() }
}

/// Posts `list`, with one doorbell, to a queue that takes `max_sge` gather entries.
///
/// Datagrams go by those of `handles` that have their address vectors.
pub(crate) fn send(qp: NonNull<sys::ibv_qp>, way: Way, list: &[Wr], max_sge: u32, handles: &[AddressHandle]) {
    match way {
        Way::PostSend => post_send(qp, list, max_sge as usize, handles),
        Way::WrBuilders => wr_builders(qp, list, max_sge as usize, handles),
    }
}

/// As libmlx5 takes an address: the handle, number and Q_Key.
fn handle(handles: &[AddressHandle], whom: &Whom) -> sys::ibv_send_wr_ud {
    let Whom::Full(address) = whom else { panic!("libmlx5 posts full address vectors") };
    let handle = handles.iter().find(|handle| handle.vector() == address.vector()).expect("of one of the handles");
    sys::ibv_send_wr_ud { ah: handle.as_raw(), remote_qpn: address.qpn().get(), remote_qkey: address.qkey().0 }
}

fn post_send(qp: NonNull<sys::ibv_qp>, list: &[Wr], max_sge: usize, handles: &[AddressHandle]) {
    let behind: Vec<_> = list.iter().map(behind_headers).collect();
    let mut headers: Vec<_> = list.iter().map(large_headers).collect();
    let mut sges: Vec<_> = behind.iter().map(|wr| pieces(wr, max_sge)).collect();
    let mut wrs: Vec<sys::ibv_send_wr> = Vec::new();
    for ((wr, sges), headers) in list.iter().zip(&mut sges).zip(&mut headers) {
        let mut raw = sys::ibv_send_wr::ZERO;
        (raw.wr_id, raw.send_flags) = (wr.id, flags(wr));
        (raw.sg_list, raw.num_sge) = (sges.as_mut_ptr(), sges.len() as i32);
        if let Some(Target::Srq(srqn)) = wr.to {
            raw.qp_type.remote_srqn = srqn.get();
        }
        let rdma = |at: blueflame::wqe::Remote| sys::ibv_send_wr_rdma { remote_addr: at.addr, rkey: at.rkey.0 };
        let imm = |imm: u32| imm.to_be();
        let atomic = |at: blueflame::wqe::Remote, compare_add, swap| sys::ibv_send_wr_atomic {
            remote_addr: at.addr,
            compare_add,
            swap,
            rkey: at.rkey.0,
        };
        raw.opcode = match wr.kind {
            Kind::Nop => panic!("ibv_post_send has no NOP"),
            Kind::Send | Kind::Frame(..) => sys::IBV_WR_SEND,
            Kind::LargeFrame(_, _, mss) => {
                let (hdr, hdr_sz) = (headers.as_mut_ptr().cast(), headers.len() as u16);
                raw.own.tso = sys::ibv_send_wr_tso { hdr, hdr_sz, mss };
                sys::IBV_WR_TSO
            }
            Kind::SendImm(value) => {
                raw.imm_data = imm(value);
                sys::IBV_WR_SEND_WITH_IMM
            }
            Kind::SendInval(rkey) => {
                raw.imm_data = rkey.0;
                sys::IBV_WR_SEND_WITH_INV
            }
            Kind::Datagram(whom, None) => {
                raw.wr.ud = handle(handles, &whom);
                sys::IBV_WR_SEND
            }
            Kind::Datagram(whom, Some(value)) => {
                raw.wr.ud = handle(handles, &whom);
                raw.imm_data = imm(value);
                sys::IBV_WR_SEND_WITH_IMM
            }
            Kind::Write(at) => {
                raw.wr.rdma = rdma(at);
                sys::IBV_WR_RDMA_WRITE
            }
            Kind::WriteImm(at, value) => {
                raw.wr.rdma = rdma(at);
                raw.imm_data = imm(value);
                sys::IBV_WR_RDMA_WRITE_WITH_IMM
            }
            Kind::Read(at) => {
                raw.wr.rdma = rdma(at);
                sys::IBV_WR_RDMA_READ
            }
            Kind::CompareSwap(at, compare, swap) => {
                raw.wr.atomic = atomic(at, compare, swap);
                sys::IBV_WR_ATOMIC_CMP_AND_SWP
            }
            Kind::FetchAdd(at, add) => {
                raw.wr.atomic = atomic(at, add, 0);
                sys::IBV_WR_ATOMIC_FETCH_AND_ADD
            }
            other => panic!("not compared with libmlx5: {other:?}"),
        };
        wrs.push(raw);
    }
    let first = wrs.as_mut_ptr();
    for n in 1..wrs.len() {
        wrs[n - 1].next = first.wrapping_add(n);
    }
    let mut bad = null_mut();
    // SAFETY: the queue pair is alive; the list, its entries and inline bytes live until the call returns; registered
    // memory that entries name lives as long as the queue pair.
    assert_eq!(unsafe { sys::ibv_post_send(qp.as_ptr(), first, &raw mut bad) }, 0, "ibv_post_send of {list:?}");
}

fn wr_builders(qp: NonNull<sys::ibv_qp>, list: &[Wr], max_sge: usize, handles: &[AddressHandle]) {
    // SAFETY: the queue pair is alive and was created with these operations, whose functions libmlx5 has filled in;
    // entries and inline bytes live until `complete`, and registered memory as long as the queue pair.
    unsafe {
        let ex = sys::ibv_qp_to_qp_ex(qp.as_ptr());
        sys::ibv_wr_start(ex);
        for wr in list {
            (*ex).wr_id = wr.id;
            (*ex).wr_flags = flags(wr) & !sys::IBV_SEND_INLINE;
            match wr.kind {
                Kind::Nop => {
                    raw_nop(ex, wr);
                    continue;
                }
                Kind::LargeFrame(_, _, mss) => {
                    let mut headers = large_headers(wr);
                    sys::ibv_wr_send_tso(ex, headers.as_mut_ptr().cast(), headers.len() as u16, mss);
                    set_data(ex, &behind_headers(wr), max_sge);
                    continue;
                }
                Kind::Send | Kind::Frame(..) | Kind::Datagram(_, None) => sys::ibv_wr_send(ex),
                Kind::SendImm(imm) | Kind::Datagram(_, Some(imm)) => sys::ibv_wr_send_imm(ex, imm.to_be()),
                Kind::SendInval(rkey) => sys::ibv_wr_send_inv(ex, rkey.0),
                Kind::Write(at) => sys::ibv_wr_rdma_write(ex, at.rkey.0, at.addr),
                Kind::WriteImm(at, imm) => sys::ibv_wr_rdma_write_imm(ex, at.rkey.0, at.addr, imm.to_be()),
                Kind::Read(at) => sys::ibv_wr_rdma_read(ex, at.rkey.0, at.addr),
                Kind::CompareSwap(at, compare, swap) => {
                    sys::ibv_wr_atomic_cmp_swp(ex, at.rkey.0, at.addr, compare, swap);
                }
                Kind::FetchAdd(at, add) => sys::ibv_wr_atomic_fetch_add(ex, at.rkey.0, at.addr, add),
                other => panic!("not compared with libmlx5: {other:?}"),
            }
            // The two setters may be called in either order.
            let address_first = wr.id & 2 == 0;
            let to = if let Kind::Datagram(whom, _) = wr.kind { Some(handle(handles, &whom)) } else { None };
            let set_address = |first| {
                if let (Some(ud), true) = (&to, first == address_first) {
                    sys::ibv_wr_set_ud_addr(ex, ud.ah, ud.remote_qpn, ud.remote_qkey);
                }
                if let (Some(target), true) = (&wr.to, first == address_first) {
                    set_target(ex, handles, target);
                }
            };
            set_address(true);
            set_data(ex, wr, max_sge);
            set_address(false);
        }
        assert_eq!(sys::ibv_wr_complete(ex), 0, "ibv_wr_complete of {list:?}");
    }
}

/// # Safety
/// A request was just begun on `ex`; `wr`'s data lives until it is completed.
unsafe fn set_data(ex: *mut sys::ibv_qp_ex, wr: &Wr, max_sge: usize) {
    let pieces = pieces(wr, max_sge);
    // libmlx5 44 sends each byte twice of a frame that consists of its inline headers, in one piece: these two setters
    // go on with the used piece.
    let alone = !matches!(wr.kind, Kind::Frame(headers, _) if message_bytes(&wr.data) == headers as u32);
    // SAFETY: the caller promises that a request was just begun on `ex`, and that `wr`'s data lives until it completes.
    unsafe {
        match (&wr.data, &pieces[..]) {
            (Data::Inline(_), [one]) if alone => {
                sys::ibv_wr_set_inline_data(ex, pointer(one), one.length as usize);
            }
            (Data::Inline(_), _) => {
                let list: Vec<_> = pieces
                    .iter()
                    .map(|piece| sys::ibv_data_buf { addr: pointer(piece), length: piece.length as usize })
                    .collect();
                sys::ibv_wr_set_inline_data_list(ex, list.len(), list.as_ptr());
            }
            (Data::Sges(_), [one]) if alone && wr.id & 1 == 0 => {
                sys::ibv_wr_set_sge(ex, one.lkey, one.addr, one.length);
            }
            (Data::Sges(_), _) => sys::ibv_wr_set_sge_list(ex, pieces.len(), pieces.as_ptr()),
        }
    }
}

/// # Safety
/// A request was just begun on `ex`, which is that of an initiator.
unsafe fn set_target(ex: *mut sys::ibv_qp_ex, handles: &[AddressHandle], target: &Target) {
    let (address, stream) = match target {
        Target::Compact(_) => panic!("libmlx5 posts full address vectors"),
        Target::Full(address) => (*address, None),
        Target::Stream(to) => (to.address(), Some(to.stream())),
        Target::Srq(srqn) => {
            // SAFETY: the caller promises that a request was just begun on `ex`, which is an initiator's.
            unsafe { sys::ibv_wr_set_xrc_srqn(ex, srqn.get()) };
            return;
        }
    };
    let handle = handles.iter().find(|handle| handle.vector() == address.vector()).expect("of one of the handles");
    let (ah, dctn, key) = (handle.as_raw(), address.dctn().get(), address.key().0);
    // SAFETY: the caller promises that a request was just begun on `ex`, an initiator's; the handle is alive.
    unsafe {
        let dv = mlx5dv_qp_ex_from_ibv_qp_ex(ex);
        match stream {
            None => (*dv).wr_set_dc_addr.expect("an initiator")(dv, ah, dctn, key),
            Some(DciStream(stream)) => {
                (*dv).wr_set_dc_addr_stream.expect("an initiator")(dv, ah, dctn, key, stream);
            }
        }
    }
}

fn pointer(piece: &sys::ibv_sge) -> *mut c_void {
    core::ptr::with_exposed_provenance_mut(piece.addr as usize)
}

/// A NOP is a WQE of its own making: libmlx5 adds the index, the rest is from here.
///
/// # Safety
/// `ex` is alive, posting has begun, and it was created with raw WQEs.
unsafe fn raw_nop(ex: *mut sys::ibv_qp_ex, wr: &Wr) {
    let flags = flags(wr);
    // Bits as `enum mlx5dv_wqe_ctrl_flags` names them: 8 CQ update, 2 solicited, 0x80 fence.
    let fm_ce_se = [(sys::IBV_SEND_SIGNALED, 8_u32), (sys::IBV_SEND_SOLICITED, 2), (sys::IBV_SEND_FENCE, 0x80)]
        .iter()
        .filter(|(flag, _)| flags & flag != 0)
        .map(|(_, bits)| bits)
        .sum::<u32>();
    // SAFETY: the caller promises that `ex` is alive and takes raw WQEs, and that posting has begun.
    unsafe {
        let control = [0, (*ex).qp_base.qp_num << 8 | 1, fm_ce_se, 0].map(u32::to_be);
        let dv = mlx5dv_qp_ex_from_ibv_qp_ex(ex);
        (*dv).wr_raw_wqe.expect("raw WQEs")(dv, control.as_ptr().cast());
    }
}

/// A receive request: its tag and where the data goes.
pub(crate) type Receive = (u64, Vec<Sge>);

/// Posts `list` by `ibv_post_recv` or `ibv_post_srq_recv`, whichever `call` is.
pub(crate) fn receive(list: &[Receive], call: impl FnOnce(*mut sys::ibv_recv_wr) -> i32) {
    let mut sges: Vec<Vec<_>> = list.iter().map(|(_, sges)| sges.iter().map(sge).collect()).collect();
    let mut wrs: Vec<_> = list
        .iter()
        .zip(&mut sges)
        .map(|((id, _), sges)| sys::ibv_recv_wr {
            wr_id: *id,
            next: null_mut(),
            sg_list: sges.as_mut_ptr(),
            num_sge: sges.len() as i32,
        })
        .collect();
    let first = wrs.as_mut_ptr();
    for n in 1..wrs.len() {
        wrs[n - 1].next = first.wrapping_add(n);
    }
    assert_eq!(call(first), 0, "posting receives {list:?}");
}

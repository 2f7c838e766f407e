//! libmlx5, called as a careful C program calls it. Requests are prepared, and only the fields that change are stored
//! before a call. Like the inline functions of `infiniband/verbs.h`, calls go through the function pointers of queue
//! and context.
use std::ptr::null_mut;

use blueflame::verbs::{AddressHandle, Device, Route};
use blueflame_sys as sys;

use super::contest::{Player, Poll, Queues, Work};
use super::rig::{LID, Rig, Shape, Threads};
use super::{MESSAGES, Message};

/// A function of libmlx5's that it has filled in for every queue (or context) of a kind.
macro_rules! call {
    ($object:expr, $function:ident ( $($argument:expr),* )) => {
        (*$object).$function.unwrap_unchecked()($($argument),*)
    };
}

/// A queue pair and its completion queue.
pub(crate) struct Theirs {
    qp: *mut sys::ibv_qp,
    /// The queue pair, for `ibv_wr_*`.
    ex: *mut sys::ibv_qp_ex,
    /// The queue pair, for `mlx5dv_wr_*`.
    pub(crate) dv: *mut sys::mlx5dv_qp_ex,
    cq: *mut sys::ibv_cq,
    /// The completion queue, for `ibv_start_poll`.
    cq_ex: *mut sys::ibv_cq_ex,
    rig: Rig,
}

impl Theirs {
    pub(crate) fn new(shape: Shape, threads: Threads) -> Self {
        Self::over(Rig::new(shape, threads))
    }

    pub(crate) fn over(rig: Rig) -> Self {
        let (qp, cq_ex) = (rig.qp.as_ptr(), rig.cq.as_ptr());
        // SAFETY: alive, and created with operations for `ibv_wr_*`.
        let ex = unsafe { sys::ibv_qp_to_qp_ex(qp) };
        assert!(!ex.is_null(), "ibv_qp_to_qp_ex");
        // SAFETY: a queue pair of libmlx5's.
        let dv = unsafe { sys::mlx5dv_qp_ex_from_ibv_qp_ex(ex) };
        Self { qp, ex, dv, cq: cq_ex.cast(), cq_ex, rig }
    }

    /// `ibv_post_send`.
    #[inline(always)]
    pub(crate) fn post_send(&mut self, first: *mut sys::ibv_send_wr) {
        let mut bad = null_mut();
        // SAFETY: the queue pair is alive, and libmlx5 fills the function in; callers' requests live until it returns.
        let result = unsafe { call!(&raw const (*(*self.qp).context).ops, post_send(self.qp, first, &raw mut bad)) };
        assert_eq!(result, 0, "ibv_post_send");
    }

    /// `ibv_wr_start` … `ibv_wr_complete`, `n` messages with flags by `flags`, each of whose data `data` sets.
    #[inline(always)]
    pub(crate) fn wr(
        &mut self,
        first: u64,
        n: usize,
        flags: impl Fn(u64) -> u32,
        data: impl Fn(*mut sys::ibv_qp_ex, &Message),
    ) {
        let ex = self.ex;
        // SAFETY: the queue pair is alive and was created with these operations, whose functions libmlx5 has filled in.
        unsafe {
            call!(ex, wr_start(ex));
            for n in first..first + n as u64 {
                let m = MESSAGES.get(n);
                (*ex).wr_id = n;
                (*ex).wr_flags = flags(n);
                call!(ex, wr_rdma_write(ex, m.rkey, m.addr));
                data(ex, m);
            }
            assert_eq!(call!(ex, wr_complete(ex)), 0, "ibv_wr_complete");
        }
    }

    /// Posts one SEND by `ibv_wr_start` … `ibv_wr_complete`.
    #[inline(always)]
    pub(crate) fn send(&mut self, n: u64, flags: impl Fn(u64) -> u32, data: impl Fn(*mut sys::ibv_qp_ex, &Message)) {
        let ex = self.ex;
        // SAFETY: the queue pair is alive and was created with these operations, whose functions libmlx5 has filled in.
        unsafe {
            call!(ex, wr_start(ex));
            (*ex).wr_id = n;
            (*ex).wr_flags = flags(n);
            call!(ex, wr_send(ex));
            data(ex, MESSAGES.get(n));
            assert_eq!(call!(ex, wr_complete(ex)), 0, "ibv_wr_complete");
        }
    }

    /// `n` frames by one doorbell, each with its checksums by the device: `begin` starts it, and sets its data.
    #[inline(always)]
    pub(crate) fn frames(&mut self, first: u64, n: usize, begin: impl Fn(*mut sys::ibv_qp_ex, u64)) {
        let ex = self.ex;
        // SAFETY: the queue pair is alive and was created with these operations, whose functions libmlx5 has filled in.
        unsafe {
            call!(ex, wr_start(ex));
            for n in first..first + n as u64 {
                (*ex).wr_id = n;
                (*ex).wr_flags = SIGNALED | sys::IBV_SEND_IP_CSUM;
                begin(ex, n);
            }
            assert_eq!(call!(ex, wr_complete(ex)), 0, "ibv_wr_complete");
        }
    }

    /// `ibv_poll_cq` of up to `N` completions until `count` are taken, or none is there. Returns the sum of their
    /// `wr_id`s.
    #[inline(always)]
    pub(crate) fn poll_cq<const N: usize>(&mut self, count: usize) -> u64 {
        // SAFETY: numbers, for which zero is a value.
        let mut completions: [sys::ibv_wc; N] = unsafe { core::mem::zeroed() };
        let (mut tags, mut others) = (0, 0);
        for _ in 0..count / N {
            // SAFETY: the queue is alive, and libmlx5 fills the function in; there is room for `N` completions.
            let found = unsafe {
                let ops = &raw const (*(*self.cq).context).ops;
                call!(ops, poll_cq(self.cq, N as i32, completions.as_mut_ptr()))
            };
            for wc in completions.iter().take(found as usize) {
                if wc.status == sys::IBV_WC_SUCCESS {
                    tags += wc.wr_id & 0xffff;
                    others += u64::from(wc.qp_num);
                }
            }
        }
        std::hint::black_box(others);
        tags
    }

    /// `ibv_start_poll`, `ibv_next_poll` and `ibv_end_poll`: up to `N` completions between start and end.
    #[inline(always)]
    pub(crate) fn start_poll<const N: usize>(&mut self, count: usize) -> u64 {
        let (cq, mut tags, mut others) = (self.cq_ex, 0, 0);
        let mut attr = sys::ibv_poll_cq_attr { comp_mask: 0 };
        for _ in 0..count / N {
            // SAFETY: the queue is alive, was created to be asked for these fields, and libmlx5 fills the functions in.
            unsafe {
                if call!(cq, start_poll(cq, &raw mut attr)) != 0 {
                    continue;
                }
                let mut left = N;
                loop {
                    if (*cq).status == sys::IBV_WC_SUCCESS {
                        tags += (*cq).wr_id & 0xffff;
                        others += u64::from(call!(cq, read_qp_num(cq))) + u64::from(call!(cq, read_byte_len(cq)));
                    }
                    left -= 1;
                    if left == 0 || call!(cq, next_poll(cq)) != 0 {
                        break;
                    }
                }
                call!(cq, end_poll(cq));
            }
        }
        std::hint::black_box(others);
        tags
    }
}

/// Begins a frame.
#[inline(always)]
pub(crate) fn begin_frame(ex: *mut sys::ibv_qp_ex) {
    // SAFETY: `Theirs::frames` has begun on `ex`.
    unsafe { call!(ex, wr_send(ex)) }
}

/// Begins a large send.
#[inline(always)]
pub(crate) fn begin_large(ex: *mut sys::ibv_qp_ex, headers: &[u8], mss: u16) {
    // SAFETY: `Theirs::frames` has begun on `ex`; the bytes live.
    unsafe { call!(ex, wr_send_tso(ex, headers.as_ptr().cast_mut().cast(), headers.len() as u16, mss)) }
}

/// The 8 bytes of a message.
#[inline(always)]
pub(crate) fn set_inline(ex: *mut sys::ibv_qp_ex, m: &Message) {
    set_data(ex, &m.payload);
}

/// Inline data.
#[inline(always)]
pub(crate) fn set_data(ex: *mut sys::ibv_qp_ex, data: &[u8]) {
    // SAFETY: a request was begun on `ex`, and the bytes live.
    unsafe { call!(ex, wr_set_inline_data(ex, data.as_ptr().cast_mut().cast(), data.len())) }
}

/// Entries.
#[inline(always)]
pub(crate) fn set_entries(ex: *mut sys::ibv_qp_ex, entries: &[sys::ibv_sge]) {
    // SAFETY: a request was begun on `ex`, and the entries live.
    unsafe { call!(ex, wr_set_sge_list(ex, entries.len(), entries.as_ptr())) }
}

/// The entry of a message.
#[inline(always)]
pub(crate) fn set_entry(ex: *mut sys::ibv_qp_ex, m: &Message) {
    // SAFETY: a request was begun on `ex`.
    unsafe { call!(ex, wr_set_sge(ex, m.lkey, m.local, m.bytes)) }
}

/// An address handle of a port of the subnet.
pub(crate) fn handle() -> AddressHandle {
    let device = Device::open_first().expect("a device");
    let pd = device.protection_domain().expect("a PD");
    let route = Route { port: 1, lid: LID, service_level: 0, path_bits: 0, static_rate: 0, grh: None };
    pd.address(&route).expect("an address handle")
}

/// Whom a datagram is for.
#[inline(always)]
pub(crate) fn set_ud_addr(ex: *mut sys::ibv_qp_ex, handle: &AddressHandle, qpn: u32, qkey: u32) {
    // SAFETY: a request was begun on `ex`, and the handle is alive.
    unsafe { call!(ex, wr_set_ud_addr(ex, handle.as_raw(), qpn, qkey)) }
}

/// The target of an initiator's request.
#[inline(always)]
pub(crate) fn set_dc_addr(dv: *mut sys::mlx5dv_qp_ex, handle: &AddressHandle, dctn: u32, key: u64) {
    // SAFETY: a request was begun on it, and the handle is alive.
    unsafe { call!(dv, wr_set_dc_addr(dv, handle.as_raw(), dctn, key)) }
}

/// Requests prepared for `ibv_post_send`: a list of WRITEs, each with its own entry.
pub(crate) struct List {
    wrs: Box<[sys::ibv_send_wr]>,
    sges: Box<[sys::ibv_sge]>,
}

impl List {
    pub(crate) fn new(len: usize, flags: u32) -> Self {
        let sge = sys::ibv_sge { addr: 0, length: size_of_val(&MESSAGES.get(0).payload) as u32, lkey: 0 };
        let mut list = Self { wrs: vec![sys::ibv_send_wr::ZERO; len].into(), sges: vec![sge; len].into() };
        let (first, entries) = (list.wrs.as_mut_ptr(), list.sges.as_mut_ptr());
        for (n, wr) in list.wrs.iter_mut().enumerate() {
            wr.opcode = sys::IBV_WR_RDMA_WRITE;
            wr.send_flags = flags;
            (wr.sg_list, wr.num_sge) = (entries.wrapping_add(n), 1);
            wr.next = if n + 1 < len { first.wrapping_add(n + 1) } else { null_mut() };
        }
        list
    }

    /// Fills in messages `first…`, with the data that `entry` gives, and hands the list out.
    #[inline(always)]
    pub(crate) fn load(&mut self, first: u64, entry: impl Fn(&Message, &mut sys::ibv_sge)) -> *mut sys::ibv_send_wr {
        for (n, (wr, sge)) in (first..).zip(self.wrs.iter_mut().zip(&mut self.sges)) {
            let m = MESSAGES.get(n);
            wr.wr_id = n;
            wr.wr.rdma = sys::ibv_send_wr_rdma { remote_addr: m.addr, rkey: m.rkey };
            entry(m, sge);
        }
        self.wrs.as_mut_ptr()
    }
}

/// The 8 bytes of a message.
#[inline(always)]
pub(crate) fn inline_entry(m: &Message, sge: &mut sys::ibv_sge) {
    sge.addr = m.payload.as_ptr().expose_provenance() as u64;
}

/// The entry of a message.
#[inline(always)]
pub(crate) fn gather_entry(m: &Message, sge: &mut sys::ibv_sge) {
    *sge = sys::ibv_sge { addr: m.local, length: m.bytes, lkey: m.lkey };
}

/// Flags of a request.
pub(crate) const SIGNALED: u32 = sys::IBV_SEND_SIGNALED;
pub(crate) const INLINE: u32 = sys::IBV_SEND_INLINE;

impl Queues for Theirs {
    fn rigs(&self) -> Vec<&Rig> {
        vec![&self.rig]
    }
}

/// A program that posts bursts of `burst` messages, and polls.
pub(crate) fn theirs(
    shape: Shape,
    threads: Threads,
    burst: usize,
    mut post: impl FnMut(&mut Theirs, u64),
) -> Player<Theirs, impl Work<Theirs>, impl Poll<Theirs>> {
    Player::new(
        Theirs::new(shape, threads),
        move |theirs: &mut Theirs, first, count| {
            for n in (first..first + count as u64).step_by(burst) {
                post(theirs, n);
            }
        },
        |theirs: &mut Theirs, count| theirs.poll_cq::<1>(count),
    )
}

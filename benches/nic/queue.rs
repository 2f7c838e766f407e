//! A send queue that posts NOPs, by hand, so that each step of a doorbell can be measured, and the WQE in the register
//! be another than the one in the ring.
//!
//! The queue pair has type UD: such a queue pair is ready to send without a peer, an address or a link.

use std::ptr::NonNull;
use std::time::{Duration, Instant};

use blueflame::arch;
use blueflame::arch::copy::CopyUnavailable;
use blueflame::cq::CqeError;
use blueflame::db::DoorbellRecord;
use blueflame::verbs::{CallError, Device, Error, OwnedCq, ProtectionDomain};
use blueflame_sys as sys;

/// NOPs that may be outstanding, and the least size of ring and completion queue.
pub(crate) const DEPTH: u32 = 256;
/// Words of a WQEBB.
const WQEBB_WORDS: usize = 8;
/// `MLX5_WQE_CTRL_CQ_UPDATE`, last byte of the control segment's third word: complete with a CQE.
const CQ_UPDATE: u32 = 0x08;
/// The control segment's size in units of 16 bytes; its opcode, NOP, is 0.
const NOP_DS: u32 = 1;
/// Spins between two looks at the system's clock.
const SPINS: u32 = 1 << 12;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Setup(#[from] Error),
    #[error("the device did not complete a NOP within {0:?}")]
    Timeout(Duration),
    #[error("{0}")]
    Copy(#[from] CopyUnavailable),
    #[error("a NOP failed: {0}")]
    Completion(#[from] CqeError),
    #[error("a completion of request {got}, and not of {expected}")]
    Counter { got: u16, expected: u16 },
}

/// A call that returns 0 or an errno.
fn zero(call: &'static str, returned: i32) -> Result<(), Failure> {
    match returned {
        0 => Ok(()),
        errno => Err(Failure::Setup(CallError { call, errno }.into())),
    }
}

/// The pointer, or `errno`.
fn non_null<T>(call: &'static str, pointer: *mut T) -> Result<NonNull<T>, Failure> {
    NonNull::new(pointer).ok_or_else(|| {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        Failure::Setup(CallError { call, errno }.into())
    })
}

/// A queue pair that libmlx5 handed out, and why it cannot be used.
fn unusable(why: String) -> Failure {
    Failure::Setup(Error::Parts { object: "queue pair", why })
}

/// A pointer that libmlx5 hands out, which must not be null.
fn part<T>(what: &str, pointer: *mut T) -> Result<NonNull<T>, Failure> {
    NonNull::new(pointer).ok_or_else(|| unusable(format!("no {what}")))
}

/// A thread domain with a parent domain, hence a register of its own. Without write combining, libmlx5 before release
/// 60 has no thread domains, and the register is shared: it takes 8-byte doorbells only, which need no lock.
struct Domain {
    parent: NonNull<sys::ibv_pd>,
    td: Option<NonNull<sys::ibv_td>>,
    pd: ProtectionDomain,
}

/// A thread domain, or `None` where libmlx5 has none.
///
/// # Safety
/// The context is open.
unsafe fn thread_domain(context: *mut sys::ibv_context) -> Result<Option<NonNull<sys::ibv_td>>, Failure> {
    const EOPNOTSUPP: i32 = 95;
    // SAFETY: the caller promises that the context is open.
    match non_null("ibv_alloc_td", unsafe { sys::ibv_alloc_td(context, &mut sys::ibv_td_init_attr { comp_mask: 0 }) }) {
        Err(Failure::Setup(Error::Call(CallError { errno: EOPNOTSUPP, .. }))) => Ok(None),
        result => result.map(Some),
    }
}

impl Domain {
    fn new(pd: ProtectionDomain) -> Result<Self, Failure> {
        let context = pd.device().as_raw();
        // SAFETY: the context is open as long as `pd` lives; the attributes are numbers and pointers, for which zero is
        // a value.
        unsafe {
            let td = thread_domain(context)?;
            let mut attr = sys::ibv_parent_domain_init_attr::ZERO;
            (attr.pd, attr.td) = (pd.as_raw(), td.map_or(std::ptr::null_mut(), NonNull::as_ptr));
            let parent = non_null("ibv_alloc_parent_domain", sys::ibv_alloc_parent_domain(context, &raw mut attr));
            if let (Err(_), Some(td)) = (&parent, td) {
                sys::ibv_dealloc_td(td.as_ptr());
            }
            Ok(Self { parent: parent?, td, pd })
        }
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        // SAFETY: made in `new`; the queue pair made here is gone, as it was dropped before.
        unsafe {
            sys::ibv_dealloc_pd(self.parent.as_ptr());
            if let Some(td) = self.td {
                sys::ibv_dealloc_td(td.as_ptr());
            }
        }
    }
}

/// An `ibv_qp`, destroyed when dropped.
struct RawQp(NonNull<sys::ibv_qp>);

impl RawQp {
    fn new(domain: &Domain, cq: &OwnedCq) -> Result<Self, Failure> {
        let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
        (attr.send_cq, attr.recv_cq) = (cq.handle().as_raw(), cq.handle().as_raw());
        (attr.cap.max_send_wr, attr.cap.max_send_sge) = (DEPTH, 1);
        attr.qp_type = sys::IBV_QPT_UD;
        attr.comp_mask = sys::IBV_QP_INIT_ATTR_PD;
        attr.pd = domain.parent.as_ptr();
        let mut mlx5 = sys::mlx5dv_qp_init_attr::default();
        let context = domain.pd.device().as_raw();
        // SAFETY: context, domain and completion queue are alive; the attributes live until the call returns.
        let qp = unsafe { sys::mlx5dv_create_qp(context, &raw mut attr, &raw mut mlx5) };
        Ok(Self(non_null("mlx5dv_create_qp", qp)?))
    }

    /// Moves through INIT, RTR and RTS; a UD queue pair needs no peer for them.
    fn make_ready(&self, port: u8) -> Result<(), Failure> {
        let state = sys::IBV_QP_STATE;
        let init = state | sys::IBV_QP_PKEY_INDEX | sys::IBV_QP_PORT | sys::IBV_QP_QKEY;
        for (call, to, mask) in [
            ("ibv_modify_qp to INIT", sys::IBV_QPS_INIT, init),
            ("ibv_modify_qp to RTR", sys::IBV_QPS_RTR, state),
            ("ibv_modify_qp to RTS", sys::IBV_QPS_RTS, state | sys::IBV_QP_SQ_PSN),
        ] {
            let mut attr = sys::ibv_qp_attr::ZERO;
            (attr.qp_state, attr.port_num) = (to, port);
            // SAFETY: the queue pair is alive, the attributes live until the call returns.
            zero(call, unsafe { sys::ibv_modify_qp(self.0.as_ptr(), &raw mut attr, mask as i32) })?;
        }
        Ok(())
    }

    fn parts(&self) -> Result<sys::mlx5dv_qp, Failure> {
        let mut out = sys::mlx5dv_qp::ZERO;
        let qp = sys::mlx5dv_pair { r#in: self.0.as_ptr(), out: &raw mut out };
        let mut obj = sys::mlx5dv_obj { qp, ..sys::mlx5dv_obj::ZERO };
        // SAFETY: the queue pair is alive, `out` is ours.
        zero("mlx5dv_init_obj", unsafe { sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_QP) })?;
        Ok(out)
    }
}

impl Drop for RawQp {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once; nobody posts any more.
        unsafe { sys::ibv_destroy_qp(self.0.as_ptr()) };
    }
}

/// A send queue for NOPs, and its register.
pub(crate) struct NopQueue {
    ring: NonNull<u64>,
    mask: u16,
    record: DoorbellRecord,
    half: NonNull<u64>,
    /// Bytes of a half of the register, 0 if it has no BlueFlame.
    pub(crate) half_bytes: usize,
    qpn: u32,
    pi: u16,
    cq: OwnedCq,
    // Dropped in this order: the queue pair before its domain, both before the completion queue's handle in `cq`.
    _qp: RawQp,
    _domain: Domain,
}

impl NopQueue {
    pub(crate) fn new(device: &Device, port: u8) -> Result<Self, Failure> {
        device.port(port)?;
        let domain = Domain::new(device.protection_domain()?)?;
        let cq = device.completion_queue(2 * DEPTH).build()?;
        let qp = RawQp::new(&domain, &cq)?;
        qp.make_ready(port)?;
        let parts = qp.parts()?;
        if !parts.sq.wqe_cnt.is_power_of_two() {
            return Err(unusable(format!("a send ring of {} WQEBBs", parts.sq.wqe_cnt)));
        }
        let dbrec = part("doorbell record", parts.dbrec)?;
        Ok(Self {
            ring: part("send ring", parts.sq.buf)?.cast(),
            mask: (parts.sq.wqe_cnt - 1) as u16,
            // SAFETY: the record of the queue pair, which lives as long as this; nobody else posts.
            record: unsafe { DoorbellRecord::send(dbrec) },
            half: part("doorbell register", parts.bf.reg)?.cast(),
            half_bytes: parts.bf.size as usize,
            // SAFETY: the queue pair is alive.
            qpn: unsafe { qp.0.as_ref() }.qp_num,
            pi: 0,
            cq,
            _qp: qp,
            _domain: domain,
        })
    }

    /// The register's address.
    pub(crate) fn register(&self) -> usize {
        self.half.addr().get()
    }

    /// The half that is due.
    #[inline(always)]
    pub(crate) fn half(&self) -> NonNull<u64> {
        self.half
    }

    /// The next NOP as eight words, as the device reads them.
    fn nop(&self, signaled: bool) -> [u64; WQEBB_WORDS] {
        let mut bytes = [0; 64];
        bytes[..4].copy_from_slice(&(u32::from(self.pi) << 8).to_be_bytes());
        bytes[4..8].copy_from_slice(&(self.qpn << 8 | NOP_DS).to_be_bytes());
        bytes[8..12].copy_from_slice(&(if signaled { CQ_UPDATE } else { 0 }).to_be_bytes());
        core::array::from_fn(|i| u64::from_ne_bytes(core::array::from_fn(|at| bytes[8 * i + at])))
    }

    /// Puts a NOP into the ring, and returns it as it is to be copied to the register.
    pub(crate) fn put(&mut self, signaled_in_ring: bool, signaled_in_copy: bool) -> [u64; WQEBB_WORDS] {
        let slot = usize::from(self.pi & self.mask);
        for (i, word) in self.nop(signaled_in_ring).into_iter().enumerate() {
            // SAFETY: the masked slot is inside the ring, and `i` inside its eight words; not more than `DEPTH` NOPs
            // are outstanding, so the device is done with the slot.
            unsafe { self.ring.add(slot * WQEBB_WORDS + i).write(word) };
        }
        let copy = self.nop(signaled_in_copy);
        self.pi = self.pi.wrapping_add(1);
        copy
    }

    /// Stores the doorbell record: NOPs before `end` are the device's. Not more than were put.
    #[inline(always)]
    pub(crate) fn publish(&mut self, end: u16) {
        arch::to_device();
        // SAFETY: the WQEs before are NOPs, complete in the ring.
        unsafe { self.record.store(end) };
    }

    /// Makes the other half due.
    #[inline(always)]
    pub(crate) fn alternate(&mut self) {
        let other = self.half.as_ptr().map_addr(|address| address ^ self.half_bytes);
        // SAFETY: the halves of a register differ in this bit of the address, and the register is not at address zero.
        self.half = unsafe { NonNull::new_unchecked(other) };
    }

    /// The index after the last NOP's.
    pub(crate) fn end(&self) -> u16 {
        self.pi
    }

    /// The index of the NOP put last.
    pub(crate) fn last(&self) -> u16 {
        self.pi.wrapping_sub(1)
    }

    /// The index in the next completion, if one came within `limit`.
    pub(crate) fn completion(&mut self, limit: Duration) -> Result<Option<u16>, Failure> {
        let begin = Instant::now();
        loop {
            for _ in 0..SPINS {
                if let Some(cqe) = self.cq.poll() {
                    cqe.check()?;
                    return Ok(Some(cqe.wqe_counter()));
                }
                std::hint::spin_loop();
            }
            if begin.elapsed() >= limit {
                return Ok(None);
            }
            // For devices that work in a thread of this machine.
            std::thread::yield_now();
        }
    }

    /// Waits for the completion of the NOP put last, the only one that asked for one.
    pub(crate) fn wait(&mut self, limit: Duration) -> Result<(), Failure> {
        let expected = self.last();
        match self.completion(limit)? {
            Some(got) if got == expected => Ok(()),
            Some(got) => Err(Failure::Counter { got, expected }),
            None => Err(Failure::Timeout(limit)),
        }
    }
}

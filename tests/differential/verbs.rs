//! Verbs objects as a C program makes them, for libmlx5 to post to and poll; or for the crate to adopt.

use std::cell::OnceCell;
use std::ptr::{NonNull, null_mut};
use std::rc::Rc;

use blueflame::verbs::{Access, AddressHandle, Buffer, Device, Path, Pool, ProtectionDomain};
use blueflame_sys as sys;

use crate::addresses;
use crate::on_device::device;

const WITH_RAW_WQE: u64 = 1 << 3;
/// `MLX5DV_QP_EX_WITH_MR_INTERLEAVED`, `_MR_LIST` and `_MKEY_CONFIGURE`.
const WITH_MKEYS: u64 = 7;
/// `MLX5DV_QP_EX_WITH_MEMCPY`.
const WITH_MEMCPY: u64 = 1 << 4;

/// A bit that is clear in the first byte of the EtherTypes of IPv4, IPv6 and VLAN tags (0x0800, 0x86dd, 0x8100,
/// 0x88a8): a frame that has it there has no headers beyond Ethernet's.
pub(crate) const NO_ETHER_TYPE: u8 = 0x10;

/// The device, a domain, and memory that requests may name.
pub(crate) struct Fabric {
    pub(crate) device: Device,
    pub(crate) pd: ProtectionDomain,
    pub(crate) buffer: Buffer,
    /// Registered only for its key to be invalidated.
    pub(crate) victim: Buffer,
    /// For datagrams to the device's own port: made where they are asked for.
    handles: OnceCell<Rc<[AddressHandle]>>,
}

impl Fabric {
    pub(crate) fn new() -> Self {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let memory = |bytes| Pool::new(&pd, bytes, Access::ALL).expect("a pool").take(bytes).expect("all of it");
        let (mut buffer, victim) = (memory(1 << 20), memory(4096));
        // Bytes that tell their places; inline data is copied from here.
        let places: Vec<u8> = (0..1_u32 << 20).map(|n| (n ^ n >> 7 ^ n >> 13) as u8 | NO_ETHER_TYPE).collect();
        buffer.write(0, &places);
        Self { device, pd, buffer, victim, handles: OnceCell::new() }
    }

    pub(crate) fn path(&self) -> Path {
        self.device.path(1, None).expect("a path")
    }

    pub(crate) fn handles(&self) -> &Rc<[AddressHandle]> {
        self.handles.get_or_init(|| addresses::handles(&self.pd, &self.path().port).into())
    }
}

/// The attributes of both twins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) sends: u32,
    pub(crate) send_sge: u32,
    pub(crate) inline: u32,
    pub(crate) receives: u32,
    pub(crate) recv_sge: u32,
    pub(crate) signal_all: bool,
    pub(crate) scatter_to_cqe: bool,
    pub(crate) cqe_bytes: u16,
    /// Bytes of headers of a large send, on raw packet queue pairs.
    pub(crate) tso_header: u16,
    /// Of an initiator, log2 of its streams, and of how many have failed when it fails.
    pub(crate) streams: Option<[u8; 2]>,
    /// Memory windows are bound: libmlx5 makes room for the longest such request in each WQE, so that less inline data
    /// fits.
    pub(crate) windows: bool,
    /// Indirect memory keys are configured: the same.
    pub(crate) keys: bool,
    /// Memory is copied.
    pub(crate) memcpy: bool,
}

impl Default for Geometry {
    fn default() -> Self {
        Self {
            sends: 8,
            send_sge: 2,
            inline: 0,
            receives: 8,
            recv_sge: 2,
            signal_all: false,
            scatter_to_cqe: false,
            cqe_bytes: 64,
            tso_header: 0,
            streams: None,
            windows: false,
            keys: false,
            memcpy: false,
        }
    }
}

/// A queue pair with a doorbell register of its own.
pub(crate) struct RawQp {
    pub(crate) raw: NonNull<sys::ibv_qp>,
    pub(crate) parts: sys::mlx5dv_qp,
    /// As granted.
    pub(crate) cap: sys::ibv_qp_cap,
    parent: *mut sys::ibv_pd,
    td: *mut sys::ibv_td,
    _pd: ProtectionDomain,
}

impl RawQp {
    pub(crate) fn new(
        fabric: &Fabric,
        kind: sys::ibv_qp_type,
        send_cq: *mut sys::ibv_cq,
        recv_cq: *mut sys::ibv_cq,
        srq: *mut sys::ibv_srq,
        geometry: &Geometry,
    ) -> Self {
        let context = fabric.device.as_raw();
        // SAFETY: the context is open; what is made here is destroyed in the right order in `drop`. Attributes are
        // plain numbers and pointers to live objects, for which zero is a value, and live until the calls return.
        unsafe {
            // Before release 60, rdma-core has none where write combining does not work.
            let td = sys::ibv_alloc_td(context, &mut sys::ibv_td_init_attr { comp_mask: 0 });
            let why = std::io::Error::last_os_error().raw_os_error();
            assert!(!td.is_null() || why == Some(libc::EOPNOTSUPP), "ibv_alloc_td");
            let mut parent = sys::ibv_parent_domain_init_attr::ZERO;
            (parent.pd, parent.td) = (fabric.pd.as_raw(), td);
            let parent = sys::ibv_alloc_parent_domain(context, &raw mut parent);
            assert!(!parent.is_null(), "ibv_alloc_parent_domain");
            let initiator = kind == sys::IBV_QPT_DRIVER;
            let own = srq.is_null() && !initiator && kind != sys::IBV_QPT_XRC_SEND;
            let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
            (attr.send_cq, attr.recv_cq, attr.srq) = (send_cq, recv_cq, srq);
            attr.cap = sys::ibv_qp_cap {
                max_send_wr: geometry.sends,
                max_recv_wr: if own { geometry.receives } else { 0 },
                max_send_sge: geometry.send_sge,
                max_recv_sge: if own { geometry.recv_sge } else { 0 },
                max_inline_data: geometry.inline,
            };
            attr.qp_type = kind;
            attr.sq_sig_all = geometry.signal_all.into();
            attr.comp_mask = sys::IBV_QP_INIT_ATTR_PD | sys::IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
            attr.pd = parent;
            let mut wanted = sys::IBV_QP_EX_WITH_SEND;
            if kind == sys::IBV_QPT_RAW_PACKET {
                wanted |= sys::IBV_QP_EX_WITH_TSO;
                attr.comp_mask |= sys::IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
                attr.max_tso_header = geometry.tso_header;
            } else if kind == sys::IBV_QPT_UD {
                wanted |= sys::IBV_QP_EX_WITH_SEND_WITH_IMM;
            } else {
                wanted = wanted
                    | sys::IBV_QP_EX_WITH_SEND_WITH_IMM
                    | sys::IBV_QP_EX_WITH_RDMA_WRITE
                    | sys::IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
            }
            if geometry.windows {
                wanted = wanted | sys::IBV_QP_EX_WITH_BIND_MW | sys::IBV_QP_EX_WITH_LOCAL_INV;
            }
            if matches!(kind, sys::IBV_QPT_RC | sys::IBV_QPT_DRIVER | sys::IBV_QPT_XRC_SEND) {
                wanted = wanted
                    | sys::IBV_QP_EX_WITH_SEND_WITH_INV
                    | sys::IBV_QP_EX_WITH_RDMA_READ
                    | sys::IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP
                    | sys::IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
            }
            attr.send_ops_flags = wanted.into();
            let mut mlx5 = sys::mlx5dv_qp_init_attr {
                comp_mask: sys::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | sys::MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
                create_flags: if geometry.scatter_to_cqe { 0 } else { sys::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE },
                send_ops_flags: WITH_RAW_WQE
                    | if geometry.keys { WITH_MKEYS } else { 0 }
                    | if geometry.memcpy { WITH_MEMCPY } else { 0 },
                ..Default::default()
            };
            if initiator {
                mlx5.comp_mask |= sys::MLX5DV_QP_INIT_ATTR_MASK_DC;
                mlx5.dc_init_attr.dc_type = sys::MLX5DV_DCTYPE_DCI;
            }
            if let Some([count, errored]) = geometry.streams {
                mlx5.comp_mask |= sys::MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
                mlx5.dc_init_attr.dct_access_key = u64::from_ne_bytes([count, errored, 0, 0, 0, 0, 0, 0]);
            }
            let raw = sys::mlx5dv_create_qp(context, &raw mut attr, &raw mut mlx5);
            let raw = NonNull::new(raw).unwrap_or_else(|| {
                panic!("mlx5dv_create_qp of {geometry:?}: {}", std::io::Error::last_os_error());
            });
            let mut parts = sys::mlx5dv_qp::ZERO;
            let mut obj = sys::mlx5dv_obj {
                qp: sys::mlx5dv_pair { r#in: raw.as_ptr(), out: &raw mut parts },
                ..sys::mlx5dv_obj::ZERO
            };
            assert_eq!(sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_QP), 0);
            Self { raw, parts, cap: attr.cap, parent, td, _pd: fabric.pd.clone() }
        }
    }

    pub(crate) fn number(&self) -> u32 {
        // SAFETY: alive; written once.
        unsafe { (*self.raw.as_ptr()).qp_num }
    }
}

impl Drop for RawQp {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once, users before what they use; queues that adopted it are dropped before.
        unsafe {
            assert_eq!(sys::ibv_destroy_qp(self.raw.as_ptr()), 0);
            assert_eq!(sys::ibv_dealloc_pd(self.parent), 0);
            assert!(self.td.is_null() || sys::ibv_dealloc_td(self.td) == 0);
        }
    }
}

/// A completion queue that libmlx5 polls, of which each CQE is copied before.
pub(crate) struct PolledCq {
    raw: NonNull<sys::ibv_cq>,
    pub(crate) parts: sys::mlx5dv_cq,
    ci: u32,
    _device: Device,
}

/// The bytes of one CQE.
#[repr(align(128))]
#[derive(Clone)]
pub(crate) struct CqeBytes {
    pub(crate) bytes: [u8; 128],
    pub(crate) size: usize,
}

impl PolledCq {
    pub(crate) fn new(device: &Device, cqes: u32, cqe_bytes: u16) -> Self {
        Self::extended(device, cqes, cqe_bytes, 0)
    }

    /// With the fields that `wc_flags` say, for `ibv_wc_read_*`.
    pub(crate) fn extended(device: &Device, cqes: u32, cqe_bytes: u16, wc_flags: u64) -> Self {
        // SAFETY: the context is open; attributes are plain numbers and pointers, for which zero is a value, and live
        // until the calls return.
        unsafe {
            let mut attr = sys::ibv_cq_init_attr_ex::ZERO;
            (attr.cqe, attr.wc_flags) = (cqes, wc_flags);
            let mut mlx5 = sys::mlx5dv_cq_init_attr {
                comp_mask: sys::MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
                cqe_size: cqe_bytes,
                ..Default::default()
            };
            let raw = sys::mlx5dv_create_cq(device.as_raw(), &raw mut attr, &raw mut mlx5);
            let raw: NonNull<sys::ibv_cq> = NonNull::new(raw.cast()).expect("mlx5dv_create_cq");
            Self { raw, parts: Self::parts_of(raw), ci: 0, _device: device.clone() }
        }
    }

    /// That of a queue which libmlx5 polls, and other code destroys: never drop it.
    pub(crate) fn of(device: &Device, raw: *mut sys::ibv_cq) -> Self {
        let raw = NonNull::new(raw).expect("a queue");
        Self { raw, parts: Self::parts_of(raw), ci: 0, _device: device.clone() }
    }

    fn parts_of(raw: NonNull<sys::ibv_cq>) -> sys::mlx5dv_cq {
        // SAFETY: numbers and pointers, for which zero is a value; the queue is alive.
        unsafe {
            let mut parts = sys::mlx5dv_cq::ZERO;
            let mut obj = sys::mlx5dv_obj {
                cq: sys::mlx5dv_pair { r#in: raw.as_ptr(), out: &raw mut parts },
                ..sys::mlx5dv_obj::ZERO
            };
            assert_eq!(sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_CQ), 0);
            parts
        }
    }

    /// `ibv_resize_cq`, and a poll for nothing, before which libmlx5 does not tell the device the new index. Returns
    /// the call's result.
    pub(crate) fn resize(&mut self, cqes: u32) -> i32 {
        let mut wc = sys::ibv_wc::ZERO;
        // SAFETY: the queue is alive, `wc` has room for none.
        let returned = unsafe {
            let returned = sys::ibv_resize_cq(self.as_raw(), cqes as i32);
            assert_eq!(sys::ibv_poll_cq(self.as_raw(), 0, &raw mut wc), 0);
            returned
        };
        let parts = Self::parts_of(self.raw);
        // The CQE that ended the old ring has an index, too.
        self.ci += u32::from(returned == 0 && parts.cqe_cnt != self.parts.cqe_cnt);
        self.parts = parts;
        returned
    }

    /// The index of the next completion.
    pub(crate) fn ci(&self) -> u32 {
        self.ci
    }

    pub(crate) fn as_raw(&self) -> *mut sys::ibv_cq {
        self.raw.as_ptr()
    }

    /// CQE `n` after the next, once the device has written it.
    fn slot(&self, n: u32) -> *mut u8 {
        let slot = (self.ci + n) & (self.parts.cqe_cnt - 1);
        self.parts.buf.cast::<u8>().wrapping_add((slot * self.parts.cqe_size) as usize)
    }

    /// Whether the device has written CQE `n` after the next.
    pub(crate) fn is_written(&self, n: u32) -> bool {
        // SAFETY: the last byte of a slot in the ring.
        let op_own = unsafe { self.slot(n).add(self.parts.cqe_size as usize - 1).read_volatile() };
        let phase = u8::from((self.ci + n) & self.parts.cqe_cnt != 0);
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        op_own >> 4 != 15 && op_own & 1 == phase
    }

    /// A copy of the next CQE, if there is one.
    pub(crate) fn peek(&self) -> Option<CqeBytes> {
        self.is_written(0).then(|| self.at(0))
    }

    /// A copy of CQE `n` after the next, which must be written.
    pub(crate) fn at(&self, n: u32) -> CqeBytes {
        assert!(self.is_written(n));
        let mut copy = CqeBytes { bytes: [0; 128], size: self.parts.cqe_size as usize };
        // SAFETY: a whole slot of the ring, which the device has finished; sizes are 64 or 128.
        unsafe { core::ptr::copy_nonoverlapping(self.slot(n), copy.bytes.as_mut_ptr(), copy.size) };
        copy
    }

    /// The next completion was polled by other means.
    pub(crate) fn polled(&mut self) {
        self.ci += 1;
    }

    /// Overwrites bytes of CQE `n` after the next, which must be written: offsets in its last 64 bytes.
    pub(crate) fn patch(&mut self, n: u32, at: usize, bytes: &[u8]) {
        assert!(self.is_written(n) && at + bytes.len() <= 64);
        // SAFETY: within a slot of the ring that the device has finished.
        unsafe {
            let to = self.slot(n).add(self.parts.cqe_size as usize - 64 + at);
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
    }

    /// The next completion, by `ibv_poll_cq`, and the CQE's bytes.
    pub(crate) fn poll(&mut self) -> Option<(CqeBytes, sys::ibv_wc)> {
        let copy = self.peek()?;
        let mut wc = sys::ibv_wc::ZERO;
        // SAFETY: the queue is alive, `wc` has room for one.
        assert_eq!(unsafe { sys::ibv_poll_cq(self.as_raw(), 1, &raw mut wc) }, 1, "libmlx5 sees the CQE, too");
        self.ci += 1;
        Some((copy, wc))
    }

    /// Asks for an event, by `ibv_req_notify_cq`.
    pub(crate) fn arm(&mut self, solicited_only: bool) {
        // SAFETY: the queue is alive.
        assert_eq!(unsafe { sys::ibv_req_notify_cq(self.as_raw(), solicited_only.into()) }, 0);
    }
}

impl Drop for PolledCq {
    fn drop(&mut self) {
        // SAFETY: made in `new`; queue pairs of it are dropped before.
        assert_eq!(unsafe { sys::ibv_destroy_cq(self.as_raw()) }, 0);
    }
}

/// Makes a shared receive queue of libmlx5; destroyed by the caller.
pub(crate) fn create_srq(fabric: &Fabric, receives: u32, max_sge: u32) -> NonNull<sys::ibv_srq> {
    let mut attr = sys::ibv_srq_init_attr {
        srq_context: null_mut(),
        attr: sys::ibv_srq_attr { max_wr: receives, max_sge, srq_limit: 0 },
    };
    // SAFETY: the domain is alive; the attributes live until the call returns.
    NonNull::new(unsafe { sys::ibv_create_srq(fabric.pd.as_raw(), &raw mut attr) }).expect("ibv_create_srq")
}

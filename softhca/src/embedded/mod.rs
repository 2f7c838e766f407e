//! A device in the own process, without libibverbs: for tests, fuzzing and examples on any machine.
//!
//! An [`EmbeddedDevice`] owns its rings, doorbell records and UAR pages and hands out their raw parts as mlx5dv would.
//! Nothing runs by itself: the caller steps the device, or lets [`run_until_idle`] do it, on a clock that only moves
//! when nothing else is left to do. So every run is the same.
//!
//! ```
//! use softhca::embedded::{CqOptions, EmbeddedDevice, QpOptions};
//!
//! let mut hca = EmbeddedDevice::standalone()?;
//! let cq = hca.create_cq(CqOptions::new(16))?;
//! let qp = hca.create_qp(QpOptions::rc(cq.cqn))?;
//! assert_eq!((qp.sq.wqe_cnt, qp.sq.stride, qp.bf_size), (64, 64, 256));
//! # Ok::<(), softhca::error::Error>(())
//! ```

mod direct;
mod memory;
mod parts;
mod threaded;

pub use memory::Buffer;
pub use parts::{ConnectOptions, CqOptions, CqParts, QpOptions, QpParts, RecvOptions, RegisterOptions, Ring, SrqParts};

use crate::complaint::Complaint;
use crate::config::{DeviceConfig, LinkLayer, PortConfig};
use crate::context::{
    Access, CqContext, MkeyContext, Path, PathGrh, QpAttr, QpContext, QpState, ReceiveSource, RqContext, SqContext,
    SrqContext, Transport,
};
use crate::cq::INVALID_OP_OWN;
use crate::device::Device;
use crate::error::{Error, Object};
use crate::ethernet::SentFrame;
use crate::event::Event;
use crate::memory::{ProcessMemory, page_bytes};
use crate::uar::{BLUEFLAME_HALF_BYTES, BLUEFLAME_OFFSET};
use crate::wire::in_process::Fabric;
use crate::wire::{Address, Wire};
use crate::wqe::{DATA_SEG_BYTES, WQEBB_BYTES};
use memory::Allocation;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a doorbell record: a cache line, of which two words are used.
const RECORD_BYTES: usize = 64;
/// Times that [`run_until_idle`] waits for a timer or the wire before it gives up.
const MAX_WAITS: u32 = 1 << 16;

/// A device in the own process.
pub struct EmbeddedDevice {
    /// Before the memory, so that it goes first when dropped.
    device: Device,
    /// Rings and records.
    rings: Vec<Arc<Allocation>>,
    /// Registered memory, by key.
    regions: BTreeMap<u32, Region>,
    /// Registers, by QPN.
    registers: BTreeMap<u32, Register>,
    pd: u32,
    now: Duration,
}

/// What was mapped for a key. The key itself does not tell for good: a peer's invalidation takes its length.
struct Region {
    addr: u64,
    len: usize,
    /// The memory, if it is a [`Buffer`]'s.
    _memory: Option<Arc<Allocation>>,
}

#[derive(Clone, Copy)]
struct Register {
    uar: u32,
    size: u32,
}

/// Where a QP is to be found by its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// QPN.
    pub qpn: u32,
    /// LID of port 1.
    pub lid: u16,
    /// First GID of port 1.
    pub gid: [u8; 16],
    /// Active MTU of port 1 in bytes.
    pub mtu: u32,
}

impl EmbeddedDevice {
    /// A device of this configuration on this wire.
    ///
    /// # Errors
    /// [`Error::BadValue`] for a configuration that cannot be; [`Error::System`] if there is no memory for a UAR page.
    pub fn new(config: DeviceConfig, wire: Box<dyn Wire>) -> Result<Self, Error> {
        let mut device = Device::new(config, Box::new(ProcessMemory::new()), wire)?;
        let pd = device.alloc_pd()?;
        Ok(Self {
            device,
            rings: Vec::new(),
            regions: BTreeMap::new(),
            registers: BTreeMap::new(),
            pd,
            now: Duration::ZERO,
        })
    }

    /// A device with one InfiniBand port of LID 1 that nobody else is connected to. Its QPs can talk to each other.
    ///
    /// # Errors
    /// [`Error::System`].
    pub fn standalone() -> Result<Self, Error> {
        Self::on_fabric(&Fabric::new(), PortConfig::infiniband(1), |wire| wire)
    }

    /// Two devices, with InfiniBand ports of LIDs 1 and 2, connected to each other.
    ///
    /// # Errors
    /// [`Error::System`].
    pub fn pair() -> Result<(Self, Self), Error> {
        Self::pair_with(|wire| wire)
    }

    /// [`Self::pair`], with each device's wire replaced by what `f` makes of it: the place for a fault injector.
    ///
    /// # Errors
    /// [`Error::System`].
    pub fn pair_with(mut f: impl FnMut(Box<dyn Wire>) -> Box<dyn Wire>) -> Result<(Self, Self), Error> {
        let fabric = Fabric::new();
        let a = Self::on_fabric(&fabric, PortConfig::infiniband(1), &mut f)?;
        let b = Self::on_fabric(&fabric, PortConfig::infiniband(2), &mut f)?;
        Ok((a, b))
    }

    /// A device with this port, connected to a fabric.
    ///
    /// # Errors
    /// [`Error::BadValue`] if the fabric has a device of this address; [`Error::System`].
    pub fn on_fabric(
        fabric: &Fabric,
        port: PortConfig,
        f: impl FnOnce(Box<dyn Wire>) -> Box<dyn Wire>,
    ) -> Result<Self, Error> {
        let config = DeviceConfig::with_port(port);
        let port = &config.ports[0];
        let address = Address {
            lids: Vec::from_iter((port.link == LinkLayer::InfiniBand).then_some(port.lid)),
            gids: port.gids.clone(),
            qpns: config.qpn_first..config.qpn_first + config.qpn_count,
        };
        let wire = fabric.attach(address).map_err(|_| Error::BadValue {
            what: "port LID",
            value: port.lid.into(),
            permitted: "an address that no other device on the fabric has",
        })?;
        Self::new(config, f(Box::new(wire)))
    }

    /// The protection domain of everything made here.
    #[must_use]
    pub fn pd(&self) -> u32 {
        self.pd
    }

    /// Registers memory of the caller; gives its key.
    ///
    /// # Errors
    /// [`Error::Dma`] if the memory does not exist; [`Error::BadValue`] for access rights that contradict each other.
    ///
    /// # Safety
    /// The memory stays valid, for reads and, if `access` or a QP permit writing, for writes, until
    /// [`Self::deregister`] or until the device is dropped, and nobody holds a Rust reference to it while the device
    /// works.
    pub unsafe fn register(&mut self, ptr: NonNull<u8>, len: usize, access: Access) -> Result<u32, Error> {
        let addr = ptr.as_ptr().expose_provenance() as u64;
        // SAFETY: the caller's promise.
        unsafe { self.register_region(Region { addr, len, _memory: None }, access) }
    }

    /// Maps a region, makes a key for it and keeps both.
    ///
    /// # Safety
    /// As for [`Self::register`].
    unsafe fn register_region(&mut self, region: Region, access: Access) -> Result<u32, Error> {
        let Region { addr, len, .. } = region;
        // SAFETY: the caller's promise.
        unsafe { self.device.memory().map(addr, len) }?;
        let context = MkeyContext { pd: self.pd, iova: addr, addr, len: len as u64, access };
        let key = self.device.create_mkey(context).inspect_err(|_| self.device.memory().unmap(addr, len))?;
        self.regions.insert(key, region);
        Ok(key)
    }

    /// Undoes [`Self::register`], or ends the device's use of a [`Buffer`].
    ///
    /// # Errors
    /// [`Error::NoSuch`] for keys that were not made so, or no longer are.
    pub fn deregister(&mut self, key: u32) -> Result<(), Error> {
        let missing = Error::NoSuch { object: Object::Mkey, number: key };
        let region = self.regions.remove(&key).ok_or(missing)?;
        // Gone already if the caller destroyed it on the device; the memory is to be unmapped all the same.
        let destroyed = self.device.destroy_mkey(key);
        self.device.memory().unmap(region.addr, region.len);
        destroyed
    }

    /// `len` bytes of registered memory, zeroed. With every access right: [`Self::buffer_with`] takes others.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn buffer(&mut self, len: usize) -> Result<Buffer, Error> {
        self.buffer_with(len, ConnectOptions::default().access)
    }

    /// `len` bytes (at least 1) of registered memory, zeroed.
    ///
    /// # Errors
    /// [`Error::BadValue`] for access rights that contradict each other; [`Error::Exhausted`].
    pub fn buffer_with(&mut self, len: usize, access: Access) -> Result<Buffer, Error> {
        let memory = Arc::new(Allocation::new(len, page_bytes()));
        let region = Region { addr: memory.addr(), len: memory.len(), _memory: Some(Arc::clone(&memory)) };
        // SAFETY: the allocation is kept in `regions` until the key is gone, and nobody makes a reference to it.
        let key = unsafe { self.register_region(region, access) }?;
        Ok(Buffer { memory, key })
    }

    /// Creates a CQ.
    ///
    /// # Errors
    /// [`Error::BadValue`] for a size that cannot be; [`Error::Exhausted`].
    pub fn create_cq(&mut self, options: CqOptions) -> Result<CqParts, Error> {
        let CqOptions { cqe_bytes, ignore_overrun, .. } = options;
        let log_size = log2("CQEs", options.cqes, self.device.config().limits.max_cqe_log)?;
        let len = (cqe_bytes as usize) << log_size;
        let ring = self.ring(len, page_bytes())?;
        for end in (1..=1 << log_size).map(|i| i * cqe_bytes as usize) {
            ring.write(end - 1, &[INVALID_OP_OWN]);
        }
        let dbrec = self.ring(RECORD_BYTES, RECORD_BYTES)?;
        // A page for each, since the arm register keeps only what was stored last.
        let uar = self.device.alloc_uar()?;
        let cqn = self.device.create_cq(CqContext {
            buf: ring.addr(),
            log_size,
            cqe_bytes,
            dbr: dbrec.addr(),
            uar,
            ignore_overrun,
        })?;
        let cq_uar = self.uar_addr(uar)?;
        Ok(CqParts {
            cqn,
            buf: ring.ptr(),
            cqe_cnt: 1 << log_size,
            cqe_size: cqe_bytes,
            dbrec: dbrec.ptr().cast(),
            cq_uar,
        })
    }

    /// Creates an SRQ of `wqes` WQEs (rounded up to a power of two; one of them is never posted) with up to `max_sge`
    /// data segments each.
    ///
    /// # Errors
    /// [`Error::BadValue`] for sizes that cannot be; [`Error::Exhausted`].
    pub fn create_srq(&mut self, wqes: u32, max_sge: u32) -> Result<SrqParts, Error> {
        let (ring, rq) = self.receive_ring(wqes, max_sge, DATA_SEG_BYTES)?;
        for i in 0..rq.wqe_cnt {
            let next = ((i + 1) & (rq.wqe_cnt - 1)) as u16;
            ring.write((i * rq.stride) as usize + 2, &next.to_be_bytes());
        }
        let dbrec = self.ring(RECORD_BYTES, RECORD_BYTES)?;
        let context = SrqContext { pd: self.pd, rq: rq_context(&rq), dbr: dbrec.addr(), limit: 0 };
        let srqn = self.device.create_srq(context)?;
        Ok(SrqParts { srqn, ring: rq, head: 0, tail: rq.wqe_cnt - 1, dbrec: dbrec.ptr().cast() })
    }

    /// Creates a QP in the reset state.
    ///
    /// # Errors
    /// [`Error::NoSuch`] for CQs, SRQs or QPs named in the options; [`Error::BadValue`] for sizes that cannot be;
    /// [`Error::Exhausted`].
    pub fn create_qp(&mut self, o: QpOptions) -> Result<QpParts, Error> {
        let log_size = log2("WQEBBs", o.sq_wqebbs, self.device.config().limits.max_wqe_log)?;
        let sq_buf = self.ring(WQEBB_BYTES << log_size, page_bytes())?;
        let sq = Ring { buf: sq_buf.ptr(), wqe_cnt: 1 << log_size, stride: WQEBB_BYTES as u32 };
        let (rq, source) = match o.recv {
            RecvOptions::None => (None, ReceiveSource::None),
            RecvOptions::Shared(srqn) => (None, ReceiveSource::Shared { srqn }),
            RecvOptions::Own { wqes, max_sge } => {
                let (_, rq) = self.receive_ring(wqes, max_sge, 0)?;
                (Some(rq), ReceiveSource::Own(rq_context(&rq)))
            }
        };
        let dbrec = self.ring(RECORD_BYTES, RECORD_BYTES)?;
        let register = match o.register {
            RegisterOptions::Own => Register { uar: self.device.alloc_uar()?, size: BLUEFLAME_HALF_BYTES as u32 },
            RegisterOptions::OwnWithoutBlueFlame => {
                let uar = self.device.alloc_uar()?;
                self.device.set_non_cached(uar)?;
                Register { uar, size: 0 }
            }
            RegisterOptions::SharedWith(qpn) => {
                *self.registers.get(&qpn).ok_or(Error::NoSuch { object: Object::Qp, number: qpn })?
            }
        };
        let qpn = self.device.create_qp(QpContext {
            transport: o.transport,
            pd: self.pd,
            send_cqn: o.send_cqn,
            recv_cqn: o.recv_cqn,
            sq: Some(SqContext { buf: sq_buf.addr(), log_size, inline_headers: o.inline_headers }),
            rq: source,
            dbr: dbrec.addr(),
            uar: register.uar,
            uidx: o.uidx,
            signal_all: o.signal_all,
            scatter_to_cqe_req: o.scatter_to_cqe_req,
            scatter_to_cqe_res: o.scatter_to_cqe_res,
        })?;
        self.registers.insert(qpn, register);
        let page = self.uar_addr(register.uar)?;
        // SAFETY: the register lies inside of the page's mapping.
        let bf_reg = unsafe { page.add(BLUEFLAME_OFFSET) };
        Ok(QpParts { qpn, sq, rq, dbrec: dbrec.ptr().cast(), bf_reg, bf_size: register.size, uar: register.uar })
    }

    /// Where a QP is to be found by its peer.
    #[must_use]
    pub fn endpoint(&self, qpn: u32) -> Endpoint {
        let port = &self.device.config().ports[0];
        let gid = port.gids.first().map(|gid| gid.raw).unwrap_or_default();
        Endpoint { qpn, lid: port.lid, gid, mtu: port.active_mtu }
    }

    /// Takes an RC or UC QP from reset to ready to send, connected to `peer`.
    ///
    /// # Errors
    /// As [`Device::modify_qp`].
    pub fn connect_to(&mut self, qpn: u32, peer: &Endpoint, o: &ConnectOptions) -> Result<(), Error> {
        let rc = self.device.qp_context(qpn)?.transport == Transport::Rc;
        let port = &self.device.config().ports[0];
        let ethernet = port.link == LinkLayer::Ethernet;
        let grh = PathGrh { dgid: peer.gid, sgid_index: 0, flow_label: 0, hop_limit: 64, traffic_class: 0 };
        let path = Path {
            dlid: if ethernet { 0 } else { peer.lid },
            sl: 0,
            src_path_bits: 0,
            grh: ethernet.then_some(grh),
            dmac: [0; 6],
        };
        let mtu = if o.path_mtu == 0 { port.active_mtu.min(peer.mtu) } else { o.path_mtu };
        let none = QpAttr::default();
        self.device.modify_qp(
            qpn,
            &QpAttr { state: Some(QpState::Init), pkey_index: Some(0), port: Some(1), access: Some(o.access), ..none },
        )?;
        self.device.modify_qp(
            qpn,
            &QpAttr {
                state: Some(QpState::Rtr),
                path: Some(path),
                path_mtu: Some(mtu),
                dest_qpn: Some(peer.qpn),
                rq_psn: Some(o.psn),
                max_dest_rd_atomic: rc.then_some(o.rd_atomic),
                min_rnr_timer: rc.then_some(o.min_rnr_timer),
                ..none
            },
        )?;
        self.device.modify_qp(
            qpn,
            &QpAttr {
                state: Some(QpState::Rts),
                sq_psn: Some(o.psn),
                max_rd_atomic: rc.then_some(o.rd_atomic),
                timeout: rc.then_some(o.timeout),
                retry_cnt: rc.then_some(o.retry_cnt),
                rnr_retry: rc.then_some(o.rnr_retry),
                ..none
            },
        )
    }

    /// Connects two QPs of this device with each other.
    ///
    /// # Errors
    /// As [`Device::modify_qp`].
    pub fn connect_own(&mut self, a: u32, b: u32, o: &ConnectOptions) -> Result<(), Error> {
        self.connect_to(a, &self.endpoint(b), o)?;
        self.connect_to(b, &self.endpoint(a), o)
    }

    /// Takes a UD QP from reset to ready to send.
    ///
    /// # Errors
    /// As [`Device::modify_qp`].
    pub fn activate_ud(&mut self, qpn: u32, qkey: u32) -> Result<(), Error> {
        let none = QpAttr::default();
        for attr in [
            QpAttr { state: Some(QpState::Init), pkey_index: Some(0), port: Some(1), qkey: Some(qkey), ..none },
            QpAttr { state: Some(QpState::Rtr), ..none },
            QpAttr { state: Some(QpState::Rts), sq_psn: Some(0), ..none },
        ] {
            self.device.modify_qp(qpn, &attr)?;
        }
        Ok(())
    }

    /// Takes a raw packet QP from reset to ready to send. The device's port must be Ethernet.
    ///
    /// # Errors
    /// As [`Device::modify_qp`].
    pub fn activate_raw_packet(&mut self, qpn: u32) -> Result<(), Error> {
        let none = QpAttr::default();
        for attr in [
            QpAttr { state: Some(QpState::Init), port: Some(1), ..none },
            QpAttr { state: Some(QpState::Rtr), ..none },
            QpAttr { state: Some(QpState::Rts), ..none },
        ] {
            self.device.modify_qp(qpn, &attr)?;
        }
        Ok(())
    }

    /// The Ethernet frames that raw packet QPs have sent since the last call: see [`Device::take_frames`].
    pub fn take_frames(&mut self) -> Vec<SentFrame> {
        self.device.take_frames()
    }

    /// One step of the device at the present time. True if it did anything.
    pub fn step(&mut self) -> bool {
        self.device.step(self.now)
    }

    /// Steps until nothing is left to do, moving the clock on to each timer. False if there was no end to it.
    pub fn run_until_idle(&mut self) -> bool {
        run_until_idle(&mut [self])
    }

    /// The device's clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Moves the clock on.
    pub fn advance(&mut self, by: Duration) {
        self.now += by;
    }

    /// The next event.
    pub fn next_event(&mut self) -> Option<Event> {
        self.device.next_event()
    }

    /// What the device found wrong with doorbells.
    pub fn complaints(&mut self) -> Vec<Complaint> {
        self.device.complaints()
    }

    /// Memory for a ring or a record, mapped and kept.
    fn ring(&mut self, len: usize, align: usize) -> Result<Arc<Allocation>, Error> {
        let memory = Arc::new(Allocation::new(len, align));
        // SAFETY: the allocation is kept in `rings` until the device is gone.
        unsafe { self.device.memory().map(memory.addr(), memory.len()) }?;
        self.rings.push(Arc::clone(&memory));
        Ok(memory)
    }

    /// A receive ring whose WQEs begin with `header` bytes.
    fn receive_ring(&mut self, wqes: u32, max_sge: u32, header: usize) -> Result<(Arc<Allocation>, Ring), Error> {
        let limits = self.device.config().limits;
        let log_size = log2("receive WQEs", wqes, limits.max_wqe_log)?;
        let stride = (header as u64 + u64::from(max_sge.max(1)) * DATA_SEG_BYTES as u64).next_power_of_two();
        if stride > 1 << limits.max_rq_stride_log {
            let permitted = "what the device's max_rq_stride_log leaves";
            return Err(Error::BadValue { what: "receive segments", value: max_sge.into(), permitted });
        }
        let memory = self.ring((stride as usize) << log_size, page_bytes())?;
        let ring = Ring { buf: memory.ptr(), wqe_cnt: 1 << log_size, stride: stride as u32 };
        Ok((memory, ring))
    }

    fn uar_addr(&self, uar: u32) -> Result<NonNull<u8>, Error> {
        self.device.uar(uar).map(crate::uar::Uar::addr).ok_or(Error::NoSuch { object: Object::Uar, number: uar })
    }
}

/// log2 of a ring's size, rounded up, if the device has rings as large.
fn log2(what: &'static str, entries: u32, max: u8) -> Result<u8, Error> {
    let log = entries.max(1).checked_next_power_of_two().map_or(32, u32::trailing_zeros) as u8;
    if log > max {
        let permitted = "up to the device's limit for this ring";
        return Err(Error::BadValue { what, value: entries.into(), permitted });
    }
    Ok(log)
}

fn rq_context(ring: &Ring) -> RqContext {
    RqContext {
        buf: ring.buf.as_ptr().expose_provenance() as u64,
        log_size: ring.wqe_cnt.trailing_zeros() as u8,
        log_stride: ring.stride.trailing_zeros() as u8,
    }
}

/// Connects an RC or UC QP of one device with one of another.
///
/// # Errors
/// As [`Device::modify_qp`].
pub fn connect(
    (a, qpn_a): (&mut EmbeddedDevice, u32),
    (b, qpn_b): (&mut EmbeddedDevice, u32),
    o: &ConnectOptions,
) -> Result<(), Error> {
    a.connect_to(qpn_a, &b.endpoint(qpn_b), o)?;
    b.connect_to(qpn_b, &a.endpoint(qpn_a), o)
}

/// Steps all devices until none has anything left to do, moving their clock, which is the same for all from now on, to
/// the next timer whenever nothing else happens and no wire holds packets back. False if there was no end to it: a peer that is never ready, say.
pub fn run_until_idle(devices: &mut [&mut EmbeddedDevice]) -> bool {
    let mut now = devices.iter().map(|d| d.now).max().unwrap_or_default();
    for _ in 0..MAX_WAITS {
        while devices.iter_mut().fold(false, |worked, device| {
            device.now = now;
            worked | device.step()
        }) {}
        if devices.iter().any(|d| d.device.has_packets_waiting()) {
            continue;
        }
        match devices.iter().filter_map(|d| d.device.next_deadline()).min() {
            Some(deadline) => now = now.max(deadline),
            None => return true,
        }
    }
    false
}

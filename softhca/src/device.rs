//! The device: its objects, by number, and its work, by steps.
//!
//! Front ends map what objects refer to (rings, doorbell records, registered memory) through [`Device::memory`] before
//! they create the object, and unmap it after they have destroyed it.

use crate::complaint::Complaints;
use crate::config::{DeviceConfig, DoorbellSource, LinkLayer};
use crate::context::{CqContext, QpAttr, QpContext, ReceiveSource, RqContext, SqContext, SrqContext, Transport};
use crate::cq::Cq;
use crate::doorbell::Copying;
use crate::error::{Error, Object};
use crate::ethernet::{FrameLog, SentFrame};
use crate::event::Event;
use crate::gsi::Gsi;
use crate::memory::HostMemory;
use crate::packet::Packet;
use crate::qp::{Qp, QpInfo};
use crate::resources::Resources;
use crate::srq::{FaultClock, Srq};
use crate::table::Table;
use crate::uar::{UAR_PAGE_BYTES, Uar, UarMemory};
use crate::wire::{Frame, Outbox, Wire};
use crate::wqe::WQEBB_BYTES;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

mod keys;

/// Packets taken from the wire in one step.
const RECEIVE_BATCH: usize = 64;
/// First index of a memory key. Key 0x100 ([`crate::wqe::INVALID_LKEY`]) and the smaller ones have a meaning of their
/// own.
const FIRST_MKEY_INDEX: u32 = 0x18;

/// A QP in the table, with the context it was created from.
pub(crate) struct QpEntry {
    pub(crate) context: QpContext,
    pub(crate) qp: Qp,
}

/// A protection domain: a number that other objects name.
struct Pd {
    users: u32,
}

/// A software mlx5 device.
pub struct Device {
    config: DeviceConfig,
    pub(crate) resources: Resources,
    pub(crate) uars: Table<Uar>,
    uar_memory: UarMemory,
    pds: Table<Pd>,
    pub(crate) qps: Table<QpEntry>,
    wire: Box<dyn Wire>,
    pub(crate) gsi: Gsi,
    /// Lowest byte of the next memory key, so that a stale key of the same index is told apart.
    variant: u8,
    /// By UAR page and offset of the half.
    pub(crate) copying: BTreeMap<(u32, usize), Copying>,
    failed: bool,
}

impl Device {
    /// A device with no objects.
    ///
    /// # Errors
    /// [`Error::BadValue`] for a configuration that cannot be; [`Error::System`] if there is no file for UAR pages.
    pub fn new(config: DeviceConfig, memory: Box<dyn HostMemory>, wire: Box<dyn Wire>) -> Result<Self, Error> {
        let qpn_end = u64::from(config.qpn_first) + u64::from(config.qpn_count);
        check(
            "QPN range",
            qpn_end,
            config.qpn_first > 1 && config.qpn_count > 0 && qpn_end <= 0xff_ffff,
            "2 to 2^24-2",
        )?;
        check("ports", config.ports.len() as u64, (1..=255).contains(&config.ports.len()), "1 to 255")?;
        for port in &config.ports {
            let mtu = u64::from(port.active_mtu);
            check("active MTU", mtu, matches!(mtu, 256 | 512 | 1024 | 2048 | 4096), "256, 512, 1024, 2048, 4096")?;
        }
        let limits = config.limits;
        let objects = u64::from(limits.max_objects);
        check("max_objects", objects, (1..0xff_ffff).contains(&objects), "1 to 2^24-2")?;
        let mkeys = u64::from(limits.max_mkeys);
        check("max_mkeys", mkeys, (1..0xff_0000).contains(&mkeys), "1 to 2^24-2^16-1")?;
        let rates = u64::from(config.srq_faults.page) + u64::from(config.srq_faults.sequence);
        check("faults of receives, per mille", rates, rates <= 1000, "0 to 1000")?;
        let resources = Resources {
            memory,
            mkeys: Table::new(Object::Mkey, FIRST_MKEY_INDEX, limits.max_mkeys),
            cqs: Table::new(Object::Cq, 1, limits.max_objects),
            srqs: Table::new(Object::Srq, 1, limits.max_objects),
            events: VecDeque::new(),
            srq_faults: FaultClock::new(config.srq_faults),
            outbox: Outbox::default(),
            frames: FrameLog::default(),
            ports_up: vec![true; config.ports.len()],
            ports: config.ports.clone(),
            limits,
            now: Duration::ZERO,
            sink: config.sink,
            sends_completed: 0,
            complaints: Complaints::default(),
            stranded: Vec::new(),
        };
        Ok(Self {
            resources,
            uars: Table::new(Object::Uar, 1, limits.max_objects),
            uar_memory: UarMemory::new()?,
            pds: Table::new(Object::Pd, 1, limits.max_objects),
            qps: Table::new(Object::Qp, config.qpn_first, config.qpn_count).reusing(config.reuse_qpns),
            wire,
            gsi: Gsi::default(),
            variant: 0,
            copying: BTreeMap::new(),
            failed: false,
            config,
        })
    }

    /// What it was made with.
    #[must_use]
    pub fn config(&self) -> &DeviceConfig {
        &self.config
    }

    /// Host memory, to map and unmap what objects refer to.
    pub fn memory(&mut self) -> &mut dyn HostMemory {
        &mut *self.resources.memory
    }

    /// Host memory as the device reaches it.
    #[must_use]
    pub fn host_memory(&self) -> &dyn HostMemory {
        &*self.resources.memory
    }

    /// Allocates a UAR page; gives its index.
    ///
    /// # Errors
    /// [`Error::Exhausted`], [`Error::System`].
    pub fn alloc_uar(&mut self) -> Result<u32, Error> {
        let memory = self.uar_memory.clone();
        self.alloc_uar_in(&memory, |index| u64::from(index) * UAR_PAGE_BYTES as u64)
    }

    /// Allocates a UAR page in a file of the caller's, at the offset in bytes (a multiple of the page size) that `place`
    /// gives for its index; gives the index.
    ///
    /// # Errors
    /// As [`Self::alloc_uar`].
    pub fn alloc_uar_in(&mut self, file: &UarMemory, place: impl FnOnce(u32) -> u64) -> Result<u32, Error> {
        let index = self.uars.reserve()?;
        self.uars.insert(index, Uar::new(file, place(index))?);
        Ok(index)
    }

    /// The program maps a UAR page without write combining: its registers have no halves that take turns.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn set_non_cached(&mut self, uar: u32) -> Result<(), Error> {
        self.uars.find_mut(uar)?.non_cached = true;
        Ok(())
    }

    /// The UAR page with this index.
    #[must_use]
    pub fn uar(&self, index: u32) -> Option<&Uar> {
        self.uars.get(index)
    }

    /// Frees a UAR page.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] while queues were created on it.
    pub fn free_uar(&mut self, index: u32) -> Result<(), Error> {
        self.uars.remove_unused(index, |u| u.users)?;
        self.copying.retain(|&(uar, _), _| uar != index);
        Ok(())
    }

    /// Allocates a protection domain; gives its number.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn alloc_pd(&mut self) -> Result<u32, Error> {
        let pd = self.pds.reserve()?;
        self.pds.insert(pd, Pd { users: 0 });
        Ok(pd)
    }

    /// Frees a protection domain.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] while keys or queues belong to it.
    pub fn free_pd(&mut self, pd: u32) -> Result<(), Error> {
        self.pds.remove_unused(pd, |p| p.users).map(drop)
    }

    /// Creates a CQ; gives its number. The driver has marked all CQEs as invalid (opcode 15).
    ///
    /// # Errors
    /// [`Error::NoSuch`] UAR; [`Error::BadValue`]; [`Error::Dma`] if ring or record are not mapped;
    /// [`Error::Exhausted`].
    pub fn create_cq(&mut self, context: CqContext) -> Result<u32, Error> {
        self.check_cq(&context)?;
        self.resources.memory.load_be32(context.dbr)?;
        self.uars.find(context.uar)?;
        let cqn = self.resources.cqs.reserve()?;
        let mut cq = Cq::new(context);
        if self.config.doorbells == DoorbellSource::Records {
            cq.poison_arm_word(&*self.resources.memory)?;
        }
        self.uars.find_mut(context.uar)?.users += 1;
        self.resources.cqs.insert(cqn, cq);
        Ok(cqn)
    }

    /// Moves a CQ to another ring. The last CQE in the old one has opcode 5 (`MLX5_CQE_RESIZE_CQ`); the driver copies
    /// what it has not consumed up to that one, each to the index after its old one.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::BadValue`], also if the CQEs that the host has not consumed do not fit;
    /// [`Error::Dma`].
    pub fn resize_cq(&mut self, cqn: u32, buf: u64, log_size: u8, cqe_bytes: u32) -> Result<(), Error> {
        let context = CqContext { buf, log_size, cqe_bytes, ..*self.resources.cqs.find(cqn)?.context() };
        self.check_cq(&context)?;
        let now = self.resources.now;
        self.resources.cqs.find_mut(cqn)?.resize(context, &*self.resources.memory, now)
    }

    /// Destroys a CQ.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] while QPs use it.
    pub fn destroy_cq(&mut self, cqn: u32) -> Result<(), Error> {
        let cq = self.resources.cqs.remove_unused(cqn, |c| c.users)?;
        self.release_uar(cq.context().uar);
        self.resources
            .events
            .retain(|e| !matches!(*e, Event::Completion { cqn: n } | Event::CqError { cqn: n } if n == cqn));
        Ok(())
    }

    /// Creates an SRQ; gives its number. The driver has linked its WQEs.
    ///
    /// # Errors
    /// [`Error::NoSuch`] PD; [`Error::BadValue`]; [`Error::Dma`]; [`Error::Exhausted`].
    pub fn create_srq(&mut self, context: SrqContext) -> Result<u32, Error> {
        check("SRQ stride log", context.rq.log_stride.into(), context.rq.log_stride >= 5, "at least 5 (32 bytes)")?;
        self.check_rq(&context.rq)?;
        self.resources.memory.load_be32(context.dbr)?;
        let pd = self.pds.find_mut(context.pd)?;
        let srqn = self.resources.srqs.reserve()?;
        pd.users += 1;
        self.resources.srqs.insert(srqn, Srq::new(context));
        Ok(srqn)
    }

    /// Arms the limit event of an SRQ: raised once, when a WQE is consumed and fewer than `limit` are left. 0 disarms.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::BadValue`] past the ring's size.
    pub fn modify_srq_limit(&mut self, srqn: u32, limit: u16) -> Result<(), Error> {
        let srq = self.resources.srqs.find_mut(srqn)?;
        check("SRQ limit", limit.into(), u32::from(limit) <= 1 << srq.context().rq.log_size, "up to the ring's size")?;
        srq.set_limit(limit);
        Ok(())
    }

    /// The armed limit of an SRQ; 0 once the event was raised.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn query_srq_limit(&self, srqn: u32) -> Result<u16, Error> {
        Ok(self.resources.srqs.find(srqn)?.limit())
    }

    /// Destroys an SRQ.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] while QPs use it.
    pub fn destroy_srq(&mut self, srqn: u32) -> Result<(), Error> {
        let srq = self.resources.srqs.remove_unused(srqn, |s| s.users)?;
        self.release_pd(srq.context().pd);
        self.resources
            .events
            .retain(|e| !matches!(*e, Event::SrqLimit { srqn: n } | Event::SrqError { srqn: n } if n == srqn));
        Ok(())
    }

    /// Creates a QP in the reset state; gives its number.
    ///
    /// # Errors
    /// [`Error::NoSuch`] for a PD, CQ, SRQ or UAR that does not exist; [`Error::BadValue`]; [`Error::Dma`] if rings or
    /// record are not mapped; [`Error::Exhausted`]; [`Error::Unsupported`] for raw packets if not all ports are Ethernet.
    pub fn create_qp(&mut self, context: QpContext) -> Result<u32, Error> {
        let ethernet = self.config.ports.iter().all(|port| port.link == LinkLayer::Ethernet);
        if context.transport == Transport::RawPacket && !ethernet {
            return Err(Error::Unsupported("raw packets on InfiniBand ports"));
        }
        if let Some(sq) = &context.sq {
            self.check_sq(sq)?;
        }
        if let ReceiveSource::Own(rq) = &context.rq {
            self.check_rq(rq)?;
        }
        for bytes in [context.scatter_to_cqe_req, context.scatter_to_cqe_res] {
            check("scatter-to-CQE bytes", bytes.into(), matches!(bytes, 0 | 32 | 64), "0, 32 or 64")?;
        }
        self.resources.memory.load_be32(context.dbr)?;
        self.resources.memory.load_be32(context.dbr.wrapping_add(4))?;
        self.pds.find(context.pd)?;
        self.resources.cqs.find(context.send_cqn)?;
        self.resources.cqs.find(context.recv_cqn)?;
        self.uars.find(context.uar)?;
        if let ReceiveSource::Shared { srqn } = context.rq {
            self.resources.srqs.find(srqn)?;
        }
        self.uars.find_mut(context.uar)?.begin_anew();
        let qpn = self.qps.reserve()?;
        self.count_qp(&context, |users| *users += 1);
        self.qps.insert(qpn, QpEntry { context, qp: Qp::new(qpn, context) });
        Ok(qpn)
    }

    /// What a QP was created from.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn qp_context(&self, qpn: u32) -> Result<&QpContext, Error> {
        Ok(&self.qps.find(qpn)?.context)
    }

    /// Changes the state or attributes of a QP.
    ///
    /// # Errors
    /// [`Error::NoSuch`], [`Error::BadTransition`], [`Error::MissingAttr`], [`Error::UnexpectedAttr`],
    /// [`Error::BadValue`].
    pub fn modify_qp(&mut self, qpn: u32, attr: &QpAttr) -> Result<(), Error> {
        self.qps.find_mut(qpn)?.qp.modify(&mut self.resources, attr)
    }

    /// State and attributes of a QP.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn query_qp(&self, qpn: u32) -> Result<QpInfo, Error> {
        Ok(self.qps.find(qpn)?.qp.query())
    }

    /// Destroys a QP, in whatever state. What it has not completed yet will not complete.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn destroy_qp(&mut self, qpn: u32) -> Result<(), Error> {
        self.qps.find(qpn)?;
        if let Some(entry) = self.qps.remove(qpn) {
            self.count_qp(&entry.context, |users| *users -= 1);
        }
        self.resources.events.retain(|e| !matches!(*e, Event::Qp { qpn: n, .. } if n == qpn));
        Ok(())
    }

    /// Takes the link of port `port` down or up again, as pulling the cable does. While it is down, packets of its QPs
    /// leave and arrive no more: they are lost, and requesters run into their retry limits. QPs stay in their states.
    /// A change raises [`Event::Port`].
    ///
    /// # Errors
    /// [`Error::BadValue`] if there is no such port.
    pub fn set_port_up(&mut self, port: u8, up: bool) -> Result<(), Error> {
        let index = usize::from(port).checked_sub(1);
        let state = index.and_then(|index| self.resources.ports_up.get_mut(index)).ok_or(Error::BadValue {
            what: "port",
            value: port.into(),
            permitted: "1 to the number of ports",
        })?;
        if std::mem::replace(state, up) != up {
            self.resources.events.push_back(Event::Port { port, up });
        }
        Ok(())
    }

    /// Whether the link of port `port` is up; `false` also if there is no such port.
    #[must_use]
    pub fn port_is_up(&self, port: u8) -> bool {
        self.resources.port_is_up(port)
    }

    /// Stops the device for good, as an internal error of its firmware does: it takes no doorbell and no packet any more, and
    /// what is outstanding never completes. Raises [`Event::DeviceFatal`] the first time. Objects can be destroyed as before.
    pub fn fail(&mut self) {
        if !std::mem::replace(&mut self.failed, true) {
            self.resources.events.push_back(Event::DeviceFatal);
        }
    }

    /// Works for a bounded time: takes doorbells, then packets, lets each QP send, and hands packets to the wire. True
    /// if anything was done; the caller may then step again at once.
    ///
    /// `now` is a clock of the caller's that never goes back.
    pub fn step(&mut self, now: Duration) -> bool {
        self.resources.now = self.resources.now.max(now);
        let now = self.resources.now;
        if self.failed {
            return false;
        }
        let mut worked = self.scan_doorbells();
        for _ in 0..RECEIVE_BATCH {
            let Some(frame) = self.wire.recv() else { break };
            worked = true;
            self.receive(&frame, now);
        }
        for (_, entry) in self.qps.iter_mut() {
            worked |= entry.qp.step(&mut self.resources, now);
        }
        for qpn in std::mem::take(&mut self.resources.stranded) {
            if let Some(entry) = self.qps.get_mut(qpn) {
                entry.qp.strand(&mut self.resources);
            }
        }
        let Resources { cqs, memory, events, .. } = &mut self.resources;
        for (cqn, cq) in cqs.iter_mut() {
            if let Some(event) = cq.due_event(cqn, &**memory, now) {
                events.push_back(event);
                worked = true;
            }
        }
        worked | self.resources.outbox.flush(&mut *self.wire)
    }

    /// Send WQEs completed so far, of all QPs: with or without a CQE, in success, in error or flushed.
    #[must_use]
    pub fn sends_completed(&self) -> u64 {
        self.resources.sends_completed
    }

    /// When the next timer of a QP or CQ runs out, on the clock that [`Self::step`] is given.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        let qps = self.qps.iter().filter_map(|(_, entry)| entry.qp.deadline());
        qps.chain(self.resources.cqs.iter().filter_map(|(_, cq)| cq.deadline())).min()
    }

    /// Whether packets wait for later steps though nothing else is left to do: the wire holds some back, or has no room.
    #[must_use]
    pub fn has_packets_waiting(&self) -> bool {
        !self.resources.outbox.is_empty() || self.wire.is_holding()
    }

    /// The next event, in the order they were raised.
    pub fn next_event(&mut self) -> Option<Event> {
        self.resources.events.pop_front()
    }

    /// The Ethernet frames that raw packet QPs have sent since the last call, in order; of more than
    /// [`crate::ethernet::FRAMES_KEPT`] the latest.
    pub fn take_frames(&mut self) -> Vec<SentFrame> {
        self.resources.frames.take()
    }

    /// Hands a packet to the QP it is for. Packets that make no sense are dropped, as a port does.
    fn receive(&mut self, frame: &Frame, now: Duration) {
        let packet = match Packet::parse(&frame.packet) {
            Ok(packet) => packet,
            Err(fault) => return log::debug!("packet dropped: {fault}"),
        };
        let qpn = packet.headers.bth.dest_qp;
        match self.qps.get_mut(qpn) {
            Some(entry) => entry.qp.receive(&mut self.resources, &frame.route, &packet, now),
            None if self.gsi.receive(&frame.route, &packet) => {}
            None => log::debug!("packet for QP {qpn:#x} dropped: no such QP"),
        }
    }

    /// Applies `count` to the use counts of everything that a QP refers to.
    fn count_qp(&mut self, c: &QpContext, count: impl Fn(&mut u32)) {
        let srq = match c.rq {
            ReceiveSource::Shared { srqn } => self.resources.srqs.get_mut(srqn).map(|s| &mut s.users),
            _ => None,
        };
        let pd = self.pds.get_mut(c.pd).map(|p| &mut p.users);
        let uar = self.uars.get_mut(c.uar).map(|u| &mut u.users);
        [srq, pd, uar].into_iter().flatten().for_each(&count);
        for cqn in [c.send_cqn, c.recv_cqn] {
            self.resources.cqs.get_mut(cqn).map(|cq| &mut cq.users).into_iter().for_each(&count);
        }
    }

    fn release_pd(&mut self, pd: u32) {
        if let Some(pd) = self.pds.get_mut(pd) {
            pd.users -= 1;
        }
    }

    fn release_uar(&mut self, uar: u32) {
        if let Some(uar) = self.uars.get_mut(uar) {
            uar.users -= 1;
        }
    }

    fn check_cq(&self, c: &CqContext) -> Result<(), Error> {
        check("CQE bytes", c.cqe_bytes.into(), matches!(c.cqe_bytes, 64 | 128), "64 or 128")?;
        let max = self.config.limits.max_cqe_log;
        check("log2 of CQEs", c.log_size.into(), c.log_size <= max, "up to the device's max_cqe_log")?;
        self.check_ring("CQ ring address", c.buf, u64::from(c.cqe_bytes) << c.log_size, 64)
    }

    fn check_sq(&self, sq: &SqContext) -> Result<(), Error> {
        let max = self.config.limits.max_wqe_log;
        check("log2 of WQEBBs", sq.log_size.into(), sq.log_size <= max, "up to the device's max_wqe_log")?;
        self.check_ring("send ring address", sq.buf, (WQEBB_BYTES as u64) << sq.log_size, 64)
    }

    fn check_rq(&self, rq: &RqContext) -> Result<(), Error> {
        let limits = &self.config.limits;
        let (size, stride) = (rq.log_size, rq.log_stride);
        check("log2 of WQEs", size.into(), size <= limits.max_wqe_log, "up to the device's max_wqe_log")?;
        let fits = (4..=limits.max_rq_stride_log).contains(&stride);
        check("RQ stride log", stride.into(), fits, "4 up to the device's max_rq_stride_log")?;
        self.check_ring("receive ring address", rq.buf, 1 << (size + stride), 16)
    }

    /// A ring of `len` bytes is aligned, and mapped at its ends.
    fn check_ring(&self, what: &'static str, addr: u64, len: u64, align: u64) -> Result<(), Error> {
        check(what, addr, addr.is_multiple_of(align), "multiples of 64 (send, CQ) or 16 (receive)")?;
        for at in [addr, addr.wrapping_add(len - 1)] {
            self.resources.memory.read(at, &mut [0])?;
        }
        Ok(())
    }
}

fn check(what: &'static str, value: u64, ok: bool, permitted: &'static str) -> Result<(), Error> {
    if ok { Ok(()) } else { Err(Error::BadValue { what, value, permitted }) }
}

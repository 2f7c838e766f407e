//! Two devices under test. This file writes and reads rings, records and CQEs byte by byte, with offsets of its own.
//! Every packet passes through a script that may lose, duplicate or delay it. The test sets the clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use softhca::config::{DeviceConfig, DoorbellSource, Gid, LateWrites, LinkLayer, PortConfig};
use softhca::context::*;
use softhca::device::Device;
use softhca::event::{DctEvent, Event, QpEvent};
use softhca::packet::{Operation, Packet};
use softhca::wire::fault::{FaultConfig, FaultInjector};
use softhca::wire::in_process::{Fabric, InProcessWire};
use softhca::wire::{Address, Wire};

pub(crate) use crate::arena::{Arena, BASE};
pub(crate) use crate::cqe::*;
pub(crate) use crate::options::{ALL, Options};
pub(crate) use crate::tap::{Fate, Tap, TappedWire};
pub(crate) use crate::wr::*;

/// A QP that is not the one posted to at present.
pub(crate) struct Aside {
    pub(crate) qpn: u32,
    pi: u16,
    rq_pi: u16,
    sq: u64,
    rq: u64,
    dbr: u64,
}

/// A device with one QP, and the host's side of its rings.
pub(crate) struct Node {
    pub(crate) device: Device,
    pub(crate) memory: Arena,
    pub(crate) tap: Arc<Mutex<Tap>>,
    pub(crate) qpn: u32,
    pub(crate) pd: u32,
    pub(crate) key: u32,
    /// 1 MiB of registered memory.
    pub(crate) data: u64,
    pub(crate) send_cq: Cq,
    pub(crate) recv_cq: Cq,
    pub(crate) srqn: Option<u32>,
    /// XRC: the domain of a target.
    pub(crate) xrcd: Option<u32>,
    pub(crate) pi: u16,
    pub(crate) rq_pi: u16,
    pub(crate) events: Vec<QpEvent>,
    pub(crate) dct_events: Vec<DctEvent>,
    lid: u16,
    gid: [u8; 16],
    sq: u64,
    rq: u64,
    dbr: u64,
    srq_dbr: u64,
    next: u64,
    options: Options,
}

pub(crate) const DATA_BYTES: usize = 1 << 20;
pub(crate) const RQ_STRIDE_LOG: u8 = 6;
/// User index of an SRQ of an XRC domain.
pub(crate) const UIDX: u32 = 0x51;

impl Node {
    pub(crate) fn new(fabric: &Fabric, lid: u16, options: &Options) -> Self {
        let memory = Arena::new(8 << 20);
        let port = match options.link {
            LinkLayer::InfiniBand => PortConfig::infiniband(lid),
            LinkLayer::Ethernet => {
                let port = PortConfig::ethernet(lid);
                let raw = port.gids[0].raw;
                let gids = options.gid_types.iter().map(|&kind| Gid { raw, kind }).collect();
                PortConfig { active_mtu: 4096, gids, ..port }
            }
        };
        let gids = port.gids.clone();
        let config = DeviceConfig {
            qpn_first: 0x100 * u32::from(lid),
            qpn_count: 0x100,
            doorbells: DoorbellSource::Records,
            sink: options.sink,
            srq_faults: options.srq_faults,
            late_writes: LateWrites { rate: options.late_writes, seed: options.faults.seed },
            generation: options.generation,
            real_time: options.real_time,
            ..DeviceConfig::with_port(port)
        };
        let gid = gids[0].raw;
        let qpns = config.qpn_first..config.qpn_first + config.qpn_count;
        let lids = if options.link == LinkLayer::InfiniBand { vec![lid] } else { vec![] };
        let inner = fabric.attach(Address { lids, gids, qpns }).unwrap();
        let tap = Arc::new(Mutex::new(Tap::default()));
        let faults = FaultConfig { seed: options.faults.seed + u64::from(lid), ..options.faults };
        let inner: Box<dyn Wire> = Box::new(FaultInjector::new(inner, faults).unwrap());
        let wire = TappedWire { inner, tap: tap.clone(), segment_bytes: options.segment_bytes };
        let device = Device::new(config, Box::new(memory.clone()), Box::new(wire)).unwrap();
        let cq = || Cq { cqn: 0, buf: 0, log_size: 0, ci: 0, dbr: 0 };
        let mut node = Self {
            device,
            memory,
            tap,
            qpn: 0,
            pd: 0,
            key: 0,
            data: 0,
            send_cq: cq(),
            recv_cq: cq(),
            srqn: None,
            xrcd: None,
            pi: 0,
            rq_pi: 0,
            events: Vec::new(),
            dct_events: Vec::new(),
            lid,
            gid,
            sq: 0,
            rq: 0,
            dbr: 0,
            srq_dbr: 0,
            next: BASE,
            options: options.clone(),
        };
        node.make_objects();
        node
    }

    fn make_objects(&mut self) {
        let o = self.options.clone();
        let uar = self.device.alloc_uar().unwrap();
        self.pd = self.device.alloc_pd().unwrap();
        self.data = self.alloc(DATA_BYTES);
        self.key = self.register(self.data, DATA_BYTES as u64, ALL);
        self.send_cq = self.make_cq(uar, o.sq_log + 1);
        self.recv_cq = self.make_cq(uar, o.rq_log + 2);
        self.make_qp(uar);
    }

    /// One more QP, in the reset state, on the same CQs. From now on it is the one that is posted to.
    pub(crate) fn another_qp(&mut self) {
        let uar = self.device.alloc_uar().unwrap();
        (self.pi, self.rq_pi) = (0, 0);
        self.make_qp(uar);
    }

    /// One more QP of this kind, in RTS, to the same peer. From now on it is the one that is posted to; the other one
    /// is returned.
    pub(crate) fn beside(&mut self, cross_channel: CrossChannel, peer: (u16, [u8; 16], u32)) -> Aside {
        let Self { qpn, pi, rq_pi, sq, rq, dbr, .. } = *self;
        self.options.cross_channel = cross_channel;
        self.another_qp();
        self.become_ready(peer);
        Aside { qpn, pi, rq_pi, sq, rq, dbr }
    }

    /// Posts to the other one from now on.
    pub(crate) fn turn(&mut self, aside: &mut Aside) {
        std::mem::swap(&mut self.qpn, &mut aside.qpn);
        std::mem::swap(&mut self.pi, &mut aside.pi);
        std::mem::swap(&mut self.rq_pi, &mut aside.rq_pi);
        std::mem::swap(&mut self.sq, &mut aside.sq);
        std::mem::swap(&mut self.rq, &mut aside.rq);
        std::mem::swap(&mut self.dbr, &mut aside.dbr);
    }

    fn make_qp(&mut self, uar: u32) {
        let o = self.options.clone();
        self.sq = self.alloc(64 << o.sq_log);
        self.rq = self.alloc(1 << (o.rq_log + RQ_STRIDE_LOG));
        self.dbr = self.alloc(64);
        if let Some(srqn) = self.srqn.filter(|_| o.tags_log.is_some()) {
            return self.make_fetching_qp(srqn, uar);
        }
        let ring = RqContext { buf: self.rq, log_size: o.rq_log, log_stride: RQ_STRIDE_LOG };
        // An initiator receives nothing; an SRQ is for the node's targets. Of XRC, the node with an SRQ is a target.
        let xrc = o.transport == Transport::Xrc;
        let dci = o.transport == Transport::Dc;
        let mut rq = if dci || xrc { ReceiveSource::None } else { ReceiveSource::Own(ring) };
        let (inline_headers, multi_packet, software_parser) = (o.inline_headers, o.multi_packet, o.software_parser);
        let mut sq = Some(SqContext {
            buf: self.sq,
            log_size: o.sq_log,
            inline_headers,
            multi_packet,
            software_parser,
            ..SqContext::default()
        });
        if o.srq {
            self.srq_dbr = self.alloc(64);
            for i in 0..1u16 << o.rq_log {
                let next = (i + 1) % (1 << o.rq_log);
                self.memory.write(self.rq + (u64::from(i) << RQ_STRIDE_LOG) + 2, &next.to_be_bytes());
            }
            let srq = SrqContext { pd: self.pd, rq: ring, dbr: self.srq_dbr, ..SrqContext::default() };
            let srqn = if xrc {
                let xrcd = self.device.alloc_xrcd().unwrap();
                (rq, sq, self.xrcd) = (ReceiveSource::Domain { xrcd }, None, Some(xrcd));
                let xrc = XrcContext { xrcd, cqn: self.recv_cq.cqn, uidx: Some(UIDX) };
                self.device.create_xrc_srq(srq, xrc).unwrap()
            } else if let Some(log_list) = o.tags_log {
                let tags = TagContext { cqn: self.recv_cq.cqn, uidx: Some(UIDX), log_list, rendezvous: true };
                self.device.create_tag_srq(srq, tags).unwrap()
            } else {
                self.device.create_srq(srq).unwrap()
            };
            self.srqn = Some(srqn);
            if !dci && !xrc {
                rq = ReceiveSource::Shared { srqn };
            }
        }
        let context = self.context(sq, rq, uar);
        self.qpn = self.device.create_qp(context).unwrap();
    }

    /// A QP without a send queue, by which the device fetches what messages announce.
    fn make_fetching_qp(&mut self, srqn: u32, uar: u32) {
        let context = self.context(None, ReceiveSource::Shared { srqn }, uar);
        self.qpn = self.device.create_qp(context).unwrap();
        self.device.offload_rendezvous(self.qpn).unwrap();
    }

    /// Such a QP to `peer`. Later posts still go to the earlier QP, whose peer is the QP itself.
    pub(crate) fn fetch_from(&mut self, peer: (u16, [u8; 16], u32)) -> Aside {
        self.become_ready(self.identity());
        let mut fetching = self.beside(CrossChannel::default(), peer);
        self.turn(&mut fetching);
        fetching
    }

    pub(crate) fn become_ready(&mut self, peer: (u16, [u8; 16], u32)) {
        self.modify(self.init_attr());
        self.modify(self.rtr_attr(peer));
        self.modify(self.rts_attr());
    }

    fn context(&self, sq: Option<SqContext>, rq: ReceiveSource, uar: u32) -> QpContext {
        let o = &self.options;
        QpContext {
            pd: self.pd,
            send_cqn: self.send_cq.cqn,
            recv_cqn: self.recv_cq.cqn,
            sq,
            rq,
            dbr: self.dbr,
            uar,
            uidx: 7,
            scatter_to_cqe_req: o.scatter_to_cqe,
            scatter_to_cqe_res: o.scatter_to_cqe,
            streams: o.streams,
            cross_channel: o.cross_channel,
            signed: o.signed,
            blocks_own_multicast: o.blocks_own_multicast,
            ..QpContext::new(o.transport)
        }
    }

    pub(crate) fn alloc(&mut self, len: usize) -> u64 {
        let addr = self.next;
        self.next += len.next_multiple_of(4096) as u64;
        addr
    }

    pub(crate) fn register(&mut self, addr: u64, len: u64, access: Access) -> u32 {
        self.device.create_mkey(MkeyContext { pd: self.pd, iova: addr, addr, len, access }).unwrap()
    }

    pub(crate) fn make_cq(&mut self, uar: u32, log_size: u8) -> Cq {
        let buf = self.alloc(64 << log_size);
        for i in 0..1u64 << log_size {
            self.memory.write(buf + 64 * i + 63, &[0xf0]);
        }
        let dbr = self.alloc(64);
        let context = CqContext::new(buf, log_size, dbr, uar);
        let cqn = self.device.create_cq(context).unwrap();
        Cq { cqn, buf, log_size, ci: 0, dbr }
    }

    pub(crate) fn modify(&mut self, attr: QpAttr) {
        self.device.modify_qp(self.qpn, &attr).unwrap();
    }

    pub(crate) fn state(&self) -> QpState {
        self.device.query_qp(self.qpn).unwrap().state
    }

    pub(crate) fn init_attr(&self) -> QpAttr {
        let o = &self.options;
        let ud = o.transport == Transport::Ud;
        let raw = o.transport == Transport::RawPacket;
        let peered = matches!(o.transport, Transport::Rc | Transport::Uc | Transport::Xrc);
        QpAttr {
            state: Some(QpState::Init),
            pkey_index: (!raw).then_some(0),
            port: Some(1),
            access: peered.then_some(o.access),
            extended_atomics: peered.then_some(o.extended_atomics),
            qkey: ud.then_some(QKEY),
            out_of_order: o.out_of_order.then_some(true),
            ..QpAttr::default()
        }
    }

    pub(crate) fn rtr_attr(&self, peer: (u16, [u8; 16], u32)) -> QpAttr {
        let o = &self.options;
        let mut attr = QpAttr { state: Some(QpState::Rtr), ..QpAttr::default() };
        if o.transport == Transport::Dc {
            attr.path_mtu = Some(o.mtu);
        }
        if matches!(o.transport, Transport::Rc | Transport::Uc | Transport::Xrc) {
            let grh = o.grh || o.link == LinkLayer::Ethernet;
            let grh =
                grh.then_some(PathGrh { dgid: peer.1, sgid_index: 0, flow_label: 5, hop_limit: 64, traffic_class: 3 });
            let dlid = if o.link == LinkLayer::InfiniBand { peer.0 } else { 0 };
            attr.path = Some(Path { dlid, sl: 0, src_path_bits: 0, grh, dmac: [0; 6] });
            attr.path_mtu = Some(o.mtu);
            attr.dest_qpn = Some(peer.2);
            attr.rq_psn = Some(o.psn);
        }
        if o.transport == Transport::Rc || self.xrcd.is_some() {
            attr.max_dest_rd_atomic = Some(o.max_dest_rd_atomic);
            attr.min_rnr_timer = Some(o.min_rnr_timer);
        }
        attr
    }

    pub(crate) fn rts_attr(&self) -> QpAttr {
        let o = &self.options;
        let rc = matches!(o.transport, Transport::Rc | Transport::Xrc | Transport::Dc);
        let requests = rc && self.xrcd.is_none();
        QpAttr {
            state: Some(QpState::Rts),
            sq_psn: (o.transport != Transport::RawPacket).then_some(o.psn),
            timeout: rc.then_some(o.timeout),
            retry_cnt: requests.then_some(o.retry_cnt),
            rnr_retry: requests.then_some(o.rnr_retry),
            max_rd_atomic: requests.then_some(o.max_rd_atomic),
            ..QpAttr::default()
        }
    }

    pub(crate) fn identity(&self) -> (u16, [u8; 16], u32) {
        (self.lid, self.gid, self.qpn)
    }

    /// Writes a WQE into the send ring and rings the doorbell record; gives the WQE's index.
    pub(crate) fn post(&mut self, wr: &Wr) -> u16 {
        let at = self.post_silently(wr);
        self.ring();
        at
    }

    /// Writes a WQE without telling the device.
    pub(crate) fn post_silently(&mut self, wr: &Wr) -> u16 {
        let index = self.pi;
        let mut bytes = wr.bytes(index, self.qpn);
        if self.options.signed {
            bytes[8] = !bytes.iter().fold(0, |sum, byte| sum ^ byte);
        }
        let ring = 64u64 << self.options.sq_log;
        for (i, chunk) in bytes.chunks(16).enumerate() {
            let at = (u64::from(index) * 64 + 16 * i as u64) % ring;
            self.memory.write(self.sq + at, chunk);
        }
        self.pi = self.pi.wrapping_add(bytes.len().div_ceil(64) as u16);
        index
    }

    /// Fills the send ring with `bytes`; of each WQEBB, `sane` of index and QPN, DS, and opcode make sense.
    pub(crate) fn scribble(&self, bytes: &[u8], opcodes: &[u8], sane: u8) {
        self.memory.write(self.sq, bytes);
        for (i, &opcode) in opcodes.iter().enumerate() {
            let at = self.sq + 64 * i as u64;
            if sane > 0 {
                self.memory.write(at, &[0, 0, i as u8]);
                self.memory.write(at + 4, &(self.qpn << 8 | u32::from(bytes[64 * i + 7])).to_be_bytes());
            }
            if sane > 1 {
                self.memory.write(at + 7, &[bytes[64 * i + 7] % 8]);
                self.memory.write(at + 8, &[0, 0, 0, 8]);
            }
            if sane > 2 {
                self.memory.write(at + 3, &[opcode]);
            }
        }
    }

    /// Writes the producer index of the receive ring into the doorbell record.
    /// Where the send ring begins.
    pub(crate) fn ring_addr(&self) -> u64 {
        self.sq
    }

    pub(crate) fn ring_recv(&self) {
        self.memory.write(self.dbr, &u32::from(self.rq_pi).to_be_bytes());
    }

    pub(crate) fn ring(&self) {
        self.memory.write(self.dbr + 4, &u32::from(self.pi).to_be_bytes());
    }

    /// Posts a receive WQE with these buffers.
    pub(crate) fn post_recv(&mut self, segs: &[(u64, u32)]) {
        let key = self.key;
        let segs: Vec<_> = segs.iter().map(|&(addr, len)| (addr, len, key)).collect();
        self.post_recv_keys(&segs);
    }

    pub(crate) fn post_recv_keys(&mut self, segs: &[(u64, u32, u32)]) {
        let slot = u64::from(self.rq_pi) & ((1 << self.options.rq_log) - 1);
        let skip = if self.srqn.is_some() { 16 } else { 0 };
        let mut at = self.rq + (slot << RQ_STRIDE_LOG) + skip;
        let room = (1 << RQ_STRIDE_LOG) - skip as usize;
        for &(addr, len, key) in segs {
            self.memory.write(at, &data_seg(addr, len, key));
            at += 16;
        }
        if segs.len() * 16 < room {
            self.memory.write(at, &data_seg(0, 0, 0x100));
        }
        self.rq_pi = self.rq_pi.wrapping_add(1);
        let dbr = if self.srqn.is_some() { self.srq_dbr } else { self.dbr };
        self.memory.write(dbr, &u32::from(self.rq_pi).to_be_bytes());
    }

    pub(crate) fn poll_send(&mut self) -> Vec<Cqe> {
        self.send_cq.poll(&self.memory)
    }

    pub(crate) fn poll_recv(&mut self) -> Vec<Cqe> {
        self.recv_cq.poll(&self.memory)
    }

    pub(crate) fn fill(&self, offset: u64, len: usize, seed: u8) -> Vec<u8> {
        let bytes: Vec<u8> = (0..len).map(|i| (i as u8).wrapping_mul(7).wrapping_add((i >> 8) as u8) ^ seed).collect();
        self.memory.write(self.data + offset, &bytes);
        bytes
    }

    pub(crate) fn sent(&self, operation: Operation) -> Vec<u32> {
        let tap = self.tap.lock().unwrap();
        tap.log.iter().filter(|entry| entry.0 == operation).map(|entry| entry.1).collect()
    }

    pub(crate) fn script(&self, script: impl FnMut(&Packet<'_>) -> Fate + Send + 'static) {
        self.tap.lock().unwrap().script = Some(Box::new(script));
    }

    pub(crate) fn step(&mut self, now: Duration) -> bool {
        let worked = self.device.step(now);
        while let Some(event) = self.device.next_event() {
            match event {
                Event::Qp { kind, qpn } => {
                    let alone =
                        self.options.cross_channel == CrossChannel::default() && self.options.tags_log.is_none();
                    assert!(qpn == self.qpn || !alone);
                    self.events.push(kind);
                }
                Event::Dct { kind, .. } => self.dct_events.push(kind),
                _ => {}
            }
        }
        worked
    }
}

/// Two nodes and a clock.
pub(crate) struct Lab {
    pub(crate) a: Node,
    pub(crate) b: Node,
    pub(crate) now: Duration,
    fabric: Fabric,
}

impl Lab {
    /// Two connected nodes in RTS.
    pub(crate) fn new(options: Options) -> Self {
        let mut lab = Self::unconnected(options);
        lab.connect();
        lab
    }

    pub(crate) fn unconnected(options: Options) -> Self {
        Self::of(options.clone(), options)
    }

    /// Two nodes that are not alike.
    pub(crate) fn of(a: Options, b: Options) -> Self {
        let fabric = Fabric::new();
        let a = Node::new(&fabric, 1, &a);
        let b = Node::new(&fabric, 2, &b);
        Self { a, b, now: Duration::from_secs(1), fabric }
    }

    /// A wire of a third party, which may send any packet.
    pub(crate) fn attach_stranger(&self) -> InProcessWire {
        self.attach(0)
    }

    /// A wire of a third party that gets the packets for this QP at LID 99.
    pub(crate) fn attach(&self, qpn: u32) -> InProcessWire {
        self.fabric.attach(Address { lids: vec![99], gids: vec![], qpns: qpn..qpn + 1 }).unwrap()
    }

    pub(crate) fn connect(&mut self) {
        let (a, b) = (self.a.identity(), self.b.identity());
        for (node, peer) in [(&mut self.a, b), (&mut self.b, a)] {
            node.become_ready(peer);
        }
    }

    /// Steps both until neither has anything to do at this time.
    pub(crate) fn run(&mut self) {
        for _ in 0..1_000_000 {
            let worked = self.a.step(self.now) | self.b.step(self.now);
            if !worked {
                return;
            }
        }
        panic!("the devices do not come to rest");
    }

    /// Runs, and lets the clock jump to the next timer, until no timer runs.
    pub(crate) fn settle(&mut self) {
        for _ in 0..10_000 {
            self.run();
            let next = [self.a.device.next_deadline(), self.b.device.next_deadline()];
            match next.into_iter().flatten().min() {
                Some(at) => self.now = at.max(self.now),
                None => return,
            }
        }
        panic!("the timers do not come to rest");
    }

    pub(crate) fn advance(&mut self, time: Duration) {
        self.now += time;
        self.run();
    }
}

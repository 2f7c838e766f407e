//! The device against a hostile host and a hostile network: any contexts, any bytes in rings and records, any stores to its
//! pages, any packets.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use softhca::config::{DeviceConfig, DoorbellSource, GidType, Limits, LinkLayer, PortConfig, SrqFaults};
use softhca::context::{
    Access, CqContext, InlineHeaders, MkeyContext, Path, PathGrh, QpAttr, QpContext, QpState, ReceiveSource, RqContext,
    SqContext, SrqContext, Transport,
};
use softhca::device::Device;
use softhca::wire::{Frame, Grh, Route, Wire};

use super::memory::{Arena, BASE};

/// Bytes of host memory.
const HOST: usize = 1 << 16;
/// The send ring of QP n begins at n times this.
const RING: usize = 0x1000;
/// Where the receive ring of QP n begins, in its part of memory; the CQ follows, and the doorbell record.
const RECEIVES: usize = 0x400;
const CQES: usize = 0x800;
const RECORD: usize = 0xf00;
/// Registered memory of everybody.
const DATA: usize = 0x8000;

const TRANSPORTS: [Transport; 4] = [Transport::Rc, Transport::Uc, Transport::Ud, Transport::RawPacket];

input_enum! {
    /// What the host or the network does.
    Action {
        /// The host writes to its memory.
        Store { at: u16, bytes: [u8; 64] },
        /// The host puts a control segment that makes sense, and `rest`, into the send ring of a QP at WQEBB `slot`.
        Wqe { qp: u8, slot: u8, opcode: u8, ds: u8, flags: u8, rest: [u8; 48] },
        /// The host sets an index in a record: receive, send, consumer, arm.
        Record { qp: u8, word: u8, value: u16 },
        /// The host stores to a page.
        Doorbell { uar: u8, offset: u16, bytes: [u8; 8] },
        /// It rings for a QP as a driver does, for the WQE at `index`.
        Ring { qp: u8, index: u16, ds: u8 },
        /// A packet of these bytes arrives.
        Packet { bytes: Vec<u8> },
        /// One arrives that is for a QP, with an opcode of its transport.
        Request { qp: u8, opcode: u8, psn: u8, flags: u8, headers: [u8; 28], payload: u8 },
        /// Time passes, in units of 100 us.
        Wait { time: u16 },
        /// The host changes a QP's state.
        Modify { qp: u8, state: u8 },
        /// The host destroys a QP or a key.
        Destroy { qp: u8, key: bool },
        /// A CQ moves to another ring.
        Resize { qp: u8, at: u16, log_size: u8, wide: bool },
    }
}

input_struct! {
    /// A QP with its CQ.
    QpInput {
        /// RC, UC, UD, raw packets.
        transport: u8,
        /// Moves the rings away from where they would be.
        shift: u8,
        log_sq: u8,
        log_rq: u8,
        log_stride: u8,
        log_cq: u8,
        /// Bits: 128-byte CQEs, signal all, shared receives, scatter-to-CQE (2 bits), overrun ignored.
        flags: u8,
        /// Its peer.
        peer: u8,
        /// Not taken to RTS, but to this state.
        stop_at: u8,
    }
}

input_struct! {
    /// A device, and what happens to it.
    Input {
        doorbells: u8,
        shared_log: u8,
        qps: [u8; 2],
        first: QpInput,
        second: QpInput,
        actions: Vec<Action>,
    }
}

impl Input {
    /// Raw packets are there on Ethernet only.
    fn is_ethernet(&self) -> bool {
        [&self.first, &self.second].iter().any(|qp| qp.transport() == Transport::RawPacket)
    }
}

impl QpInput {
    fn transport(&self) -> Transport {
        TRANSPORTS[usize::from(self.transport) % TRANSPORTS.len()]
    }
}

/// Packets go where the device sends them: back to itself. The network may add its own.
#[derive(Clone, Default)]
struct Network(Arc<Mutex<VecDeque<Frame>>>);

impl Network {
    fn push(&self, frame: Frame) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(frame);
    }
}

impl Wire for Network {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let mut frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if frames.len() >= 64 {
            return Err(frame);
        }
        frames.push_back(frame);
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

struct Lab {
    device: Device,
    host: Arena,
    network: Network,
    now: Duration,
    qps: Vec<u32>,
    cqs: Vec<u32>,
    uars: Vec<u32>,
    key: u32,
}

/// Does it all.
pub fn run(input: &Input) {
    let mut lab = Lab::new(input);
    for action in input.actions.iter().take(200) {
        lab.act(action);
        lab.work();
    }
    for _ in 0..4 {
        lab.now += Duration::from_millis(100);
        lab.work();
    }
}

/// What raw packets may have to hold.
const INLINE_HEADERS: [InlineHeaders; 4] =
    [InlineHeaders::None, InlineHeaders::L2, InlineHeaders::Ip, InlineHeaders::TcpUdp];

impl Lab {
    fn new(input: &Input) -> Self {
        let (host, network) = (Arena::new(HOST, 0), Network::default());
        let doorbells = [DoorbellSource::Calls, DoorbellSource::Registers, DoorbellSource::Records];
        let config = DeviceConfig {
            qpn_first: 2,
            qpn_count: 16,
            reuse_qpns: false,
            ports: vec![if input.is_ethernet() { PortConfig::ethernet(1) } else { PortConfig::infiniband(1) }],
            doorbells: doorbells[usize::from(input.doorbells) % 3],
            limits: Limits { max_cqe_log: 5, max_wqe_log: 4, ..Limits::default() },
            srq_faults: SrqFaults::default(),
            sink: input.doorbells >= 0xc0,
        };
        let device = Device::new(config, Box::new(host.clone()), Box::new(network.clone())).expect("a device");
        let (qps, cqs, uars) = (Vec::new(), Vec::new(), Vec::new());
        let mut lab = Self { device, host, network, now: Duration::ZERO, qps, cqs, uars, key: 0 };
        let pd = lab.device.alloc_pd().expect("a PD");
        let all = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true };
        let addr = BASE + DATA as u64;
        let context = MkeyContext { pd, iova: addr, addr, len: (HOST - DATA) as u64, access: all };
        lab.key = lab.device.create_mkey(context).expect("a key");
        let ring = BASE + 0x4000;
        let rq = RqContext { buf: ring, log_size: input.shared_log & 7, log_stride: 5 };
        let srq = lab.device.create_srq(SrqContext { pd, rq, dbr: ring + 0xf00, limit: 1 }).ok();
        for (n, qp) in [&input.first, &input.second].into_iter().enumerate() {
            lab.create(n, qp, pd, srq, input.qps[n]);
        }
        for (n, qp) in [&input.first, &input.second].into_iter().enumerate() {
            lab.connect(n, qp, all);
        }
        lab
    }

    fn create(&mut self, n: usize, qp: &QpInput, pd: u32, srq: Option<u32>, uidx: u8) {
        let part = BASE + (n * RING) as u64 + (u64::from(qp.shift) << 4);
        let Ok(uar) = self.device.alloc_uar() else { return };
        self.uars.push(uar);
        let cq = CqContext {
            buf: part + CQES as u64,
            log_size: qp.log_cq,
            cqe_bytes: if qp.flags & 1 != 0 { 128 } else { 64 },
            dbr: part + RECORD as u64 + 8,
            uar,
            ignore_overrun: qp.flags & 32 != 0,
        };
        let Ok(cqn) = self.device.create_cq(cq) else { return };
        self.cqs.push(cqn);
        let rq = RqContext { buf: part + RECEIVES as u64, log_size: qp.log_rq, log_stride: qp.log_stride };
        let scatter = [0, 32, 64, 33][usize::from(qp.flags >> 3 & 3)];
        let context = QpContext {
            transport: qp.transport(),
            pd,
            send_cqn: cqn,
            recv_cqn: self.cqs[0],
            sq: Some(SqContext {
                buf: part,
                log_size: qp.log_sq,
                inline_headers: INLINE_HEADERS[uidx as usize % INLINE_HEADERS.len()],
            }),
            rq: srq.filter(|_| qp.flags & 4 != 0).map_or(ReceiveSource::Own(rq), |srqn| ReceiveSource::Shared { srqn }),
            dbr: part + RECORD as u64,
            uar,
            uidx: uidx.into(),
            signal_all: qp.flags & 2 != 0,
            scatter_to_cqe_req: scatter,
            scatter_to_cqe_res: scatter,
        };
        if let Ok(qpn) = self.device.create_qp(context) {
            self.qps.push(qpn);
        }
    }

    fn connect(&mut self, n: usize, qp: &QpInput, access: Access) {
        let (Some(&qpn), Some(&peer)) = (self.qps.get(n), pick(&self.qps, qp.peer)) else { return };
        let port = &self.device.config().ports[0];
        let grh = PathGrh { dgid: port.gids[0].raw, sgid_index: 0, flow_label: 0, hop_limit: 1, traffic_class: 0 };
        let grh = (port.link == LinkLayer::Ethernet).then_some(grh);
        let path = Path { dlid: port.lid, sl: 0, src_path_bits: 0, grh, dmac: [0; 6] };
        let transport = qp.transport();
        let (rc, ud, raw) = (transport == Transport::Rc, transport == Transport::Ud, transport == Transport::RawPacket);
        let connected = !ud && !raw;
        let none = QpAttr::default();
        let steps = [
            QpAttr {
                state: Some(QpState::Init),
                pkey_index: (!raw).then_some(0),
                port: Some(1),
                access: connected.then_some(access),
                qkey: ud.then_some(0x11),
                ..none
            },
            QpAttr {
                state: Some(QpState::Rtr),
                path: connected.then_some(path),
                path_mtu: connected.then_some(256),
                dest_qpn: connected.then_some(peer),
                rq_psn: connected.then_some(0xff_fffe),
                max_dest_rd_atomic: rc.then_some(4),
                min_rnr_timer: rc.then_some(1),
                ..none
            },
            QpAttr {
                state: Some(QpState::Rts),
                sq_psn: (!raw).then_some(0xff_fffe),
                max_rd_atomic: rc.then_some(4),
                timeout: rc.then_some(10),
                retry_cnt: rc.then_some(2),
                rnr_retry: rc.then_some(2),
                ..none
            },
        ];
        // Mostly all of them.
        let count = if qp.stop_at < 16 { usize::from(qp.stop_at) % 3 } else { 3 };
        for attr in &steps[..count] {
            let _ = self.device.modify_qp(qpn, attr);
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Store { at, bytes } => self.host.scribble((*at).into(), bytes),
            Action::Wqe { qp, slot, opcode, ds, flags, rest } => {
                let Some(qpn) = pick(&self.qps, *qp).copied() else { return };
                let Ok(context) = self.device.qp_context(qpn) else { return };
                let Some(sq) = context.sq else { return };
                let mut wqe = vec![0, 0, *slot, *opcode];
                wqe.extend((qpn << 8 | u32::from(*ds)).to_be_bytes());
                wqe.extend([0, 0, 0, *flags, 0, 0, 0, 0]);
                wqe.extend(rest);
                self.refer_to_data(&mut wqe, *opcode, context.transport);
                let at = u64::from(*slot) % (1 << sq.log_size) * 64;
                self.host.scribble((sq.buf + at - BASE) as usize, &wqe);
            }
            Action::Record { qp, word, value } => {
                let at = usize::from(*qp) % 2 * RING + RECORD + usize::from(word & 3) * 4;
                self.host.scribble(at, &u32::from(*value).to_be_bytes());
            }
            Action::Doorbell { uar, offset, bytes } => {
                let uar = pick(&self.uars, *uar).copied().unwrap_or(0);
                self.device.doorbell(uar, (*offset).into(), bytes);
            }
            Action::Ring { qp, index, ds } => {
                let Some(qpn) = pick(&self.qps, *qp).copied() else { return };
                let Ok((dbr, uar)) = self.device.qp_context(qpn).map(|c| (c.dbr, c.uar)) else { return };
                let producer = index.wrapping_add(u16::from(ds.div_ceil(4)));
                self.host.scribble((dbr + 4 - BASE) as usize, &u32::from(producer).to_be_bytes());
                let mut first = [0; 8];
                first[1..3].copy_from_slice(&index.to_be_bytes());
                first[4..].copy_from_slice(&(qpn << 8 | u32::from(*ds)).to_be_bytes());
                self.device.doorbell(uar, 0x800, &first);
            }
            Action::Packet { bytes } => self.packet(bytes.clone(), 0),
            Action::Request { qp, opcode, psn, flags, headers, payload } => {
                let Some(qpn) = pick(&self.qps, *qp).copied() else { return };
                let mut packet = vec![*opcode, *flags, 0xff, 0xff];
                packet.extend(qpn.to_be_bytes());
                let ack_request = u32::from(psn & 0x20) << 26;
                let psn = 0xff_fffe_u32.wrapping_add(u32::from(psn & 0x1f)) & 0xff_ffff;
                packet.extend((ack_request | psn).to_be_bytes());
                let mut headers = *headers;
                self.refer_to_window(&mut headers);
                packet.extend(headers);
                packet.resize(packet.len() + usize::from(*payload) * 4, 0x5a);
                self.packet(packet, *flags);
            }
            Action::Wait { time } => self.now += Duration::from_micros(100) * u32::from(*time),
            Action::Modify { qp, state } => {
                use QpState::{Err, Init, Reset, Rtr, Rts, Sqd, Sqe};
                let state = [Reset, Init, Rtr, Rts, Sqd, Sqe, Err][usize::from(*state) % 7];
                if let Some(&qpn) = pick(&self.qps, *qp) {
                    let _ = self.device.modify_qp(qpn, &QpAttr { state: Some(state), ..QpAttr::default() });
                }
            }
            Action::Destroy { qp, key } => {
                if *key {
                    let _ = self.device.destroy_mkey(self.key);
                } else if let Some(&qpn) = pick(&self.qps, *qp) {
                    let _ = self.device.destroy_qp(qpn);
                }
            }
            Action::Resize { qp, at, log_size, wide } => {
                if let Some(&cqn) = pick(&self.cqs, *qp) {
                    let buf = BASE + u64::from(*at) * 64;
                    let _ = self.device.resize_cq(cqn, buf, *log_size, if *wide { 128 } else { 64 });
                }
            }
        }
    }

    /// Makes most addresses and keys of a WQE good ones, since those found by chance never are.
    fn refer_to_data(&self, wqe: &mut [u8], opcode: u8, transport: Transport) {
        let remote = matches!(opcode, 0x08 | 0x09 | 0x10..=0x12);
        for at in [16, 32, 48] {
            let keep = wqe[at + 3] & 0xc0 == 0xc0;
            if keep {
                continue;
            }
            let addr = self.addr(wqe[at + 15]);
            if transport == Transport::RawPacket && at == 16 {
                // The Ethernet segment: checksums, and up to 31 bytes of headers.
                wqe[at..at + 4].fill(0);
                wqe[at + 4] &= 0xc0;
                wqe[at + 5..at + 13].fill(0);
                wqe[at + 13] &= 0x1f;
            } else if remote && at == 16 {
                wqe[at..at + 8].copy_from_slice(&addr.to_be_bytes());
                wqe[at + 8..at + 12].copy_from_slice(&self.key.to_be_bytes());
                wqe[at + 12..at + 16].fill(0);
            } else if wqe[at] & 0x80 == 0 {
                wqe[at] = 0;
                wqe[at + 1] = 0;
                wqe[at + 2] &= 0x0f;
                wqe[at + 4..at + 8].copy_from_slice(&self.key.to_be_bytes());
                wqe[at + 8..at + 16].copy_from_slice(&addr.to_be_bytes());
            } else {
                wqe[at + 1] = 0;
                wqe[at + 2] = 0;
            }
        }
    }

    /// The same for a packet's RETH.
    fn refer_to_window(&self, headers: &mut [u8; 28]) {
        if headers[0] & 0xc0 != 0xc0 {
            let addr = self.addr(headers[7]);
            headers[..8].copy_from_slice(&addr.to_be_bytes());
            headers[8..12].copy_from_slice(&self.key.to_be_bytes());
            headers[12..14].fill(0);
        }
    }

    fn addr(&self, place: u8) -> u64 {
        BASE + DATA as u64 + u64::from(place) * 128
    }

    fn packet(&self, packet: Vec<u8>, flags: u8) {
        let kind = GidType::RoceV2;
        let grh = Grh { kind, sgid: [1; 16], dgid: [2; 16], traffic_class: 0, flow_label: 0, hop_limit: 1 };
        let route = Route { slid: 1, dlid: 1, sl: 0, grh: (flags & 1 != 0).then_some(grh) };
        self.network.push(Frame { route, packet });
    }

    /// Lets the device work, for a bounded time: with a peer that is itself there can be no end to it.
    fn work(&mut self) {
        for _ in 0..8 {
            if !self.device.step(self.now) {
                break;
            }
        }
        while self.device.next_event().is_some() {}
        self.device.complaints();
        let frames = self.device.take_frames();
        assert!(frames.iter().all(|frame| (14..=9216).contains(&frame.bytes.len())), "{frames:?}");
        let _ = self.device.next_deadline();
    }
}

fn pick<T>(from: &[T], n: u8) -> Option<&T> {
    from.get(usize::from(n) % from.len().max(1))
}

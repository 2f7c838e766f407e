//! The device against a hostile host and a hostile network: any contexts, any bytes in rings and records, any stores to
//! its pages, any packets.
//!
//! In every case the device writes only where it may ([`super::guard`]). It completes only posted WQEs, each once and
//! in order, and flushes all of them when a QP is in error ([`super::ledger`]).

use std::time::Duration;

use softhca::config::{DeviceConfig, DoorbellSource, Generation, LateWrites, Limits, LinkLayer, PortConfig, SrqFaults};
use softhca::context::{
    Access, CqContext, CrossChannel, DciStreams, InlineHeaders, MkeyContext, Path, PathGrh, Privileges, QpAttr,
    QpContext, QpState, ReceiveSource, RqContext, SqContext, SrqContext, SrqOrder, TimestampFormat, Transport,
};
use softhca::device::Device;

use super::dynamic;
use super::guard::Guarded;
use super::ledger::Ledger;
use super::memory::BASE;
use super::network::Network;

/// Bytes of host memory.
const HOST: usize = 1 << 16;
/// The send ring of QP n begins at n times this.
const RING: usize = 0x1000;
/// Where the receive ring of QP n begins, in its part of memory.
const RECEIVES: usize = 0x400;
/// The ring of the SRQ.
const SHARED_RING: usize = 0x2000;
/// The doorbell records: QP 0 with its CQ, QP 1 with its CQ, the SRQ; `RECORD_BYTES` each.
const RECORDS: usize = 0x3000;
const RECORD_BYTES: usize = 16;
/// Where the rings of CQ n are: in a part of its own, so that no CQE lands where the host posts.
const CQES: usize = 0x4000;
const CQES_BYTES: usize = 0x2000;
/// Memory with keys, `REGION_BYTES` for each; no key has the last 64 bytes of a region.
const DATA: usize = 0x8000;
const REGION_BYTES: usize = 0x2000;
const REGIONS: usize = 4;

/// Opcode of the last CQE in a ring that a CQ has left (`MLX5_CQE_RESIZE_CQ`).
const RESIZE_CQ: u8 = 5;

const TRANSPORTS: [Transport; 5] = [Transport::Rc, Transport::Uc, Transport::Ud, Transport::RawPacket, Transport::Dc];

input_enum! {
    /// An action of the host or of the network.
    Action {
        /// The host writes to its memory.
        Store { at: u16, bytes: [u8; 64] },
        /// The host puts a control segment that makes sense, and `rest`, into the send ring of a QP at WQEBB `slot`.
        Wqe { qp: u8, slot: u8, opcode: u8, ds: u8, flags: u8, rest: [u8; 48] },
        /// The host sets an index in a record: receive, send, consumer, arm; or the SRQ's.
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
        /// RC, UC, UD, raw packets, initiators of dynamic connections.
        transport: u8,
        /// Moves the rings away from where they would be.
        shift: u8,
        log_sq: u8,
        log_rq: u8,
        log_stride: u8,
        log_cq: u8,
        /// Bits: 128-byte CQEs, signal all, shared receives, scatter-to-CQE (2 bits), overrun ignored, CQEs
        /// consumed at once.
        flags: u8,
        /// Its peer.
        peer: u8,
        /// Below 16: not taken to RTS, but to this state. Below 64: receives complete in any order.
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
    fn has(&self, transport: Transport) -> bool {
        [&self.first, &self.second].iter().any(|qp| qp.transport() == transport)
    }
}

impl QpInput {
    fn transport(&self) -> Transport {
        TRANSPORTS[usize::from(self.transport) % TRANSPORTS.len()]
    }
}

/// A memory key as the host created it.
struct Key {
    key: u32,
    context: MkeyContext,
    destroyed: bool,
}

struct Lab {
    device: Device,
    host: Guarded,
    ledger: Ledger,
    network: Network,
    now: Duration,
    qps: Vec<u32>,
    /// CQs, with the part of memory where their rings are.
    cqs: Vec<(u32, u64)>,
    uars: Vec<u32>,
    /// The number of the DC target for initiators, if there is one.
    dctn: Option<u32>,
    /// PD of the queues.
    pd: u32,
    /// By region: everything, local writes, remote reads; and everything in another PD.
    keys: Vec<Key>,
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
    lab.finish();
}

/// The headers that raw packets may have to hold inline.
const INLINE_HEADERS: [InlineHeaders; 4] =
    [InlineHeaders::None, InlineHeaders::L2, InlineHeaders::Ip, InlineHeaders::TcpUdp];

impl Lab {
    fn new(input: &Input) -> Self {
        let (host, network) = (Guarded::new(HOST), Network::default());
        let doorbells = [DoorbellSource::Calls, DoorbellSource::Registers, DoorbellSource::Records];
        let config = DeviceConfig {
            generation: Generation::default(),
            node_guid: 1,
            qpn_first: 2,
            qpn_count: 16,
            reuse_qpns: false,
            ports: vec![if input.has(Transport::RawPacket) {
                PortConfig::ethernet(1)
            } else {
                PortConfig::infiniband(1)
            }],
            bonded: false,
            doorbells: doorbells[usize::from(input.doorbells) % 3],
            limits: Limits { max_cqe_log: 5, max_wqe_log: 4, ..Limits::default() },
            srq_faults: SrqFaults::default(),
            late_writes: LateWrites::default(),
            umr_registers: true,
            real_time: None,
            real_time_only: false,
            inline_headers: INLINE_HEADERS[usize::from(input.doorbells) % INLINE_HEADERS.len()],
            ece: 0,
            device_memory: 0,
            on_demand: false,
            sink: input.doorbells >= 0xc0,
        };
        let device = Device::new(config, Box::new(host.clone()), Box::new(network.clone())).expect("a device");
        let (qps, cqs, uars) = (Vec::new(), Vec::new(), Vec::new());
        let (ledger, keys) = (Ledger::default(), Vec::new());
        let mut lab =
            Self { device, host, ledger, network, now: Duration::ZERO, qps, cqs, uars, dctn: None, pd: 0, keys };
        lab.pd = lab.device.alloc_pd().expect("a PD");
        let pd = lab.pd;
        let other = lab.device.alloc_pd().expect("a PD");
        let all = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true };
        let local = Access { local_write: true, ..Access::default() };
        let readable = Access { remote_read: true, ..Access::default() };
        for (n, (pd, access)) in [(pd, all), (pd, local), (pd, readable), (other, all)].into_iter().enumerate() {
            let addr = BASE + (DATA + n * REGION_BYTES) as u64;
            let context = MkeyContext { pd, iova: addr, addr, len: REGION_BYTES as u64 - 64, access };
            let key = lab.device.create_mkey(context).expect("a key");
            lab.keys.push(Key { key, context, destroyed: false });
        }
        let rq = RqContext { buf: BASE + SHARED_RING as u64, log_size: input.shared_log & 7, log_stride: 5 };
        let srq = SrqContext { pd, rq, order: SrqOrder::Linked, is_pool: false, dbr: record(2), limit: 1 };
        let srqn = lab.device.create_srq(srq).ok();
        if srqn.is_some() {
            lab.ledger.add_srq(srq);
        }
        for (n, qp) in [&input.first, &input.second].into_iter().enumerate() {
            lab.create(n, qp, srqn, input.qps[n]);
        }
        if let (true, Some(srqn), Some(&(cqn, _))) = (input.has(Transport::Dc), srqn, lab.cqs.first()) {
            lab.dctn = lab.device.create_dct(dynamic::target(pd, srqn, cqn, all)).ok();
            lab.dctn.into_iter().for_each(|dctn| lab.ledger.add_dct(dctn, cqn));
        }
        for (n, qp) in [&input.first, &input.second].into_iter().enumerate() {
            lab.connect(n, qp, all);
        }
        lab
    }

    fn create(&mut self, n: usize, qp: &QpInput, srqn: Option<u32>, uidx: u8) {
        let part = BASE + (n * RING) as u64 + (u64::from(qp.shift) << 4);
        let Ok(uar) = self.device.alloc_uar() else { return };
        self.uars.push(uar);
        let rings = BASE + (CQES + n * CQES_BYTES) as u64;
        let cq = CqContext {
            cqe_bytes: if qp.flags & 1 != 0 { 128 } else { 64 },
            ignore_overrun: qp.flags & 32 != 0,
            ..CqContext::new(rings + u64::from(qp.shift & 0xf) * 64, qp.log_cq, record(n) + 8, uar)
        };
        self.host.permit_arm_word(Some(cq.dbr + 4));
        let created = self.device.create_cq(cq);
        self.host.permit_arm_word(None);
        let Ok(cqn) = created else { return };
        self.host.add_cq(cqn, cq, qp.flags & 64 != 0);
        self.cqs.push((cqn, rings));
        let rq = RqContext { buf: part + RECEIVES as u64, log_size: qp.log_rq, log_stride: qp.log_stride };
        let scatter = [0, 32, 64, 33][usize::from(qp.flags >> 3 & 3)];
        let context = QpContext {
            transport: qp.transport(),
            pd: self.pd,
            send_cqn: cqn,
            recv_cqn: self.cqs[0].0,
            sq: Some(SqContext {
                buf: part,
                log_size: qp.log_sq,
                inline_headers: INLINE_HEADERS[uidx as usize % INLINE_HEADERS.len()],
                multi_packet: qp.flags & 1 != 0,
                software_parser: qp.flags & 2 != 0,
                ..SqContext::default()
            }),
            rq: match srqn.filter(|_| qp.flags & 4 != 0) {
                _ if qp.transport() == Transport::Dc => ReceiveSource::None,
                Some(srqn) => ReceiveSource::Shared { srqn },
                None => ReceiveSource::Own(rq),
            },
            dbr: record(n),
            uar,
            uidx: uidx.into(),
            timestamps: TimestampFormat::default(),
            signal_all: qp.flags & 2 != 0,
            scatter_to_cqe_req: scatter,
            scatter_to_cqe_res: scatter,
            // Of some initiators; with others, the device refuses them.
            streams: (qp.transport() == Transport::Dc && uidx.is_multiple_of(2))
                .then_some(DciStreams { log_channels: 2, log_errored: uidx % 8 }),
            cross_channel: CrossChannel {
                master: qp.flags & 64 != 0,
                slave_send: uidx % 8 == 3,
                slave_receive: uidx % 8 == 5,
            },
            signed: false,
            blocks_own_multicast: false,
            static_ring: false,
            privileges: Privileges { fast_registration: qp.flags & 128 != 0, ..Privileges::default() },
            ece: uidx.into(),
        };
        if let Ok(qpn) = self.device.create_qp(context) {
            self.ledger.add_qp(qpn);
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
        let dc = transport == Transport::Dc;
        let connected = !ud && !raw && !dc;
        let none = QpAttr::default();
        let steps = [
            QpAttr {
                state: Some(QpState::Init),
                pkey_index: (!raw).then_some(0),
                port: Some(1),
                access: connected.then_some(access),
                qkey: ud.then_some(0x11),
                out_of_order: (!raw && (16..64).contains(&qp.stop_at)).then_some(true),
                ..none
            },
            QpAttr {
                state: Some(QpState::Rtr),
                path: connected.then_some(path),
                path_mtu: (connected || dc).then_some(256),
                dest_qpn: connected.then_some(peer),
                rq_psn: connected.then_some(0xff_fffe),
                max_dest_rd_atomic: rc.then_some(4),
                min_rnr_timer: rc.then_some(1),
                ..none
            },
            QpAttr {
                state: Some(QpState::Rts),
                sq_psn: (!raw).then_some(0xff_fffe),
                max_rd_atomic: (rc || dc).then_some(4),
                timeout: (rc || dc).then_some(10),
                retry_cnt: (rc || dc).then_some(2),
                rnr_retry: (rc || dc).then_some(2),
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
                let at = RECORDS + usize::from(*qp) % 3 * RECORD_BYTES + usize::from(word & 3) * 4;
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
            Action::Packet { bytes } => self.network.push(bytes.clone(), false),
            Action::Request { qp, opcode, psn, flags, headers, payload } => {
                let receivers = [&self.qps[..], self.dctn.as_slice()].concat();
                let Some(qpn) = pick(&receivers, *qp).copied() else { return };
                let mut packet = vec![*opcode, *flags, 0xff, 0xff];
                packet.extend(qpn.to_be_bytes());
                let ack_request = u32::from(psn & 0x20) << 26;
                let psn = 0xff_fffe_u32.wrapping_add(u32::from(psn & 0x1f)) & 0xff_ffff;
                packet.extend((ack_request | psn).to_be_bytes());
                let mut headers = *headers;
                let source = self.qps.first().filter(|_| self.dctn.is_some());
                let at = dynamic::refer_to_connection(*opcode, &mut headers, source);
                self.refer_to_window(&mut headers[at..]);
                packet.extend(headers);
                packet.resize(packet.len() + usize::from(*payload) * 4, 0x5a);
                self.network.push(packet, flags & 1 != 0);
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
                    let key = &mut self.keys[usize::from(*qp) % REGIONS];
                    key.destroyed |= self.device.destroy_mkey(key.key).is_ok();
                } else if let Some(&qpn) = pick(&self.qps, *qp) {
                    let _ = self.device.destroy_qp(qpn);
                }
            }
            Action::Resize { qp, at, log_size, wide } => {
                let Some(&(cqn, part)) = pick(&self.cqs, *qp) else { return };
                let (buf, cqe_bytes) = (part + u64::from(*at) % 64 * 64, if *wide { 128 } else { 64 });
                let resized = self.device.resize_cq(cqn, buf, *log_size, cqe_bytes).is_ok();
                let last: Vec<_> = self.host.take_cqes().iter().map(|cqe| (cqe.cqn, cqe.bytes[63] >> 4)).collect();
                assert_eq!(last, if resized { vec![(cqn, RESIZE_CQ)] } else { Vec::new() }, "the old ring's last CQE");
                if resized {
                    self.host.move_cq(cqn, buf, *log_size, cqe_bytes);
                }
            }
        }
    }

    /// Makes most addresses and keys of a WQE good ones, since those found by chance never are.
    fn refer_to_data(&self, wqe: &mut [u8], opcode: u8, transport: Transport) {
        let remote = matches!(opcode, 0x08 | 0x09 | 0x10..=0x12);
        let first = dynamic::refer_to_target(wqe, self.dctn.filter(|_| transport == Transport::Dc));
        for at in (first..64).step_by(16) {
            let keep = wqe[at + 3] & 0xc0 == 0xc0;
            if keep {
                continue;
            }
            let (addr, key) = self.place(wqe[at + 15]);
            if transport == Transport::RawPacket && at == 16 {
                // The Ethernet segment: checksums, and up to 31 bytes of headers.
                wqe[at..at + 4].fill(0);
                wqe[at + 4] &= 0xc0;
                wqe[at + 5..at + 13].fill(0);
                wqe[at + 13] &= 0x1f;
            } else if remote && at == first {
                wqe[at..at + 8].copy_from_slice(&addr.to_be_bytes());
                wqe[at + 8..at + 12].copy_from_slice(&key.to_be_bytes());
                wqe[at + 12..at + 16].fill(0);
            } else if wqe[at] & 0x80 == 0 {
                wqe[at] = 0;
                wqe[at + 1] = 0;
                wqe[at + 2] &= 0x0f;
                wqe[at + 4..at + 8].copy_from_slice(&key.to_be_bytes());
                wqe[at + 8..at + 16].copy_from_slice(&addr.to_be_bytes());
            } else {
                wqe[at + 1] = 0;
                wqe[at + 2] = 0;
            }
        }
    }

    /// Has a packet's RETH name a place in a region, and its key.
    fn refer_to_window(&self, headers: &mut [u8]) {
        if headers[0] & 0xc0 != 0xc0 {
            let (addr, key) = self.place(headers[7]);
            headers[..8].copy_from_slice(&addr.to_be_bytes());
            headers[8..12].copy_from_slice(&key.to_be_bytes());
            headers[12..14].fill(0);
        }
    }

    /// An address, and the key of its region.
    fn place(&self, place: u8) -> (u64, u32) {
        let at = usize::from(place) * 128;
        (BASE + (DATA + at) as u64, self.keys[at / REGION_BYTES].key)
    }

    /// The rights of the keys at the moment. One that a SEND has invalidated names no bytes.
    fn permit(&self) {
        let lives = |key: &&Key| !key.destroyed && self.device.mkey(key.key).is_some_and(|mkey| mkey.len > 0);
        let usable = self.keys.iter().filter(lives).map(|key| &key.context).filter(|context| context.pd == self.pd);
        let regions = |permits: fn(&Access) -> bool| {
            let permitting = usable.clone().filter(|context| permits(&context.access));
            permitting.map(|context| context.addr..context.addr + context.len).collect()
        };
        self.host.permit(regions(|access| access.local_write), regions(|access| access.remote_atomic));
    }

    /// Lets the device work, for a bounded time: with a peer that is itself there can be no end to it. `true` if it
    /// came to an end.
    fn work(&mut self) -> bool {
        self.ledger.observe(&mut self.device, &self.host);
        let mut is_idle = false;
        for _ in 0..8 {
            self.permit();
            is_idle = !self.device.step(self.now);
            self.ledger.observe(&mut self.device, &self.host);
            if is_idle {
                self.ledger.check_flushed(&self.device, &self.host);
                break;
            }
        }
        self.device.complaints();
        let frames = self.device.take_frames();
        assert!(frames.iter().all(|frame| (14..=9216).contains(&frame.bytes.len())), "{frames:?}");
        let _ = self.device.next_deadline();
        is_idle
    }

    /// Moves all QPs to the error state, and checks the outstanding WQEs.
    fn finish(&mut self) {
        self.host.poll_all();
        for &qpn in &self.qps {
            let _ = self.device.modify_qp(qpn, &QpAttr { state: Some(QpState::Err), ..QpAttr::default() });
        }
        // 16 steps flush more than a QP can have outstanding, and take more packets than there are.
        assert!(self.work() || self.work(), "there is no end to a flush");
        self.ledger.check_all_complete(&self.device);
        self.host.check();
    }
}

/// The doorbell record `n`.
fn record(n: usize) -> u64 {
    BASE + (RECORDS + n * RECORD_BYTES) as u64
}

fn pick<T>(from: &[T], n: u8) -> Option<&T> {
    from.get(usize::from(n) % from.len().max(1))
}

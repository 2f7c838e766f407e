//! Two devices on one wire, for unit tests of queues that commands make. Mailboxes are bytes at places that are those
//! of Linux' `mlx5_ifc.h`, written down here by hand: no layout of the firmware's is used.

use super::test_bench::{Bench, MEMORY_BYTES};
use super::{Firmware, Status};
use crate::config::{DeviceConfig, Generation, LinkLayer, PortConfig};
use crate::context::{Access, MkeyContext};
use crate::device::Device;
use crate::event::Event;
use crate::memory::ArrayMemory;
use crate::memory::test_memory::BASE;
use crate::wire::Address;
use crate::wire::in_process::Fabric;
use std::time::Duration;

/// Event queue of all CQs.
pub(crate) const EQN: u8 = 3;
/// Pages of host memory: data from 0 on, the CQ's ring, a QP's rings and an SRQ's ring (neither in a row), and records.
const CQ_PAGE: u64 = 10;
const QP_PAGES: [u64; 2] = [14, 12];
pub(crate) const SRQ_PAGES: [u64; 2] = [18, 16];
const RECORDS: u64 = 20;
/// Places of doorbell records.
const CQ_RECORD: u64 = BASE + RECORDS * 4096;
const QP_RECORD: u64 = CQ_RECORD + 0x40;
pub(crate) const SRQ_RECORD: u64 = CQ_RECORD + 0x80;
/// The receive ring: 16 WQEs of 64 bytes; behind it the send ring of 64 WQEBBs, which goes on in another page.
const RQ_BYTES: u64 = 1024;

/// A mailbox of `len` bytes with these parts.
pub(crate) fn mailbox(len: usize, parts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; len];
    for (at, part) in parts {
        bytes[*at..at + part.len()].copy_from_slice(part);
    }
    bytes
}

/// A mailbox of `len` bytes, of which these are not 0.
pub(crate) fn sparse(len: usize, set: &[(usize, u8)]) -> Vec<u8> {
    let mut bytes = vec![0; len];
    set.iter().for_each(|&(at, byte)| bytes[at] = byte);
    bytes
}

/// A data segment.
pub(crate) fn data_seg(addr: u64, len: u32, key: u32) -> [u8; 16] {
    (u128::from(len) << 96 | u128::from(key) << 64 | u128::from(addr)).to_be_bytes()
}

/// One device, and the driver's side of one CQ and one QP.
pub(crate) struct Node {
    pub(crate) bench: Bench,
    pub(crate) uar: u32,
    pub(crate) pd: u32,
    pub(crate) key: u32,
    pub(crate) cqn: u32,
    pub(crate) qpn: u32,
    pub(crate) lid: u8,
    pub(crate) gid: [u8; 16],
    posted: u16,
    received: u16,
    consumed: u32,
}

/// How a QP is created.
pub(crate) struct Qp {
    /// `qpc.st`.
    pub(crate) st: u8,
    /// Number of a shared receive queue.
    pub(crate) srqn: Option<u32>,
}

/// Two nodes.
pub(crate) fn pair(link: LinkLayer) -> [Node; 2] {
    pair_of(link, Generation::default())
}

/// Two nodes of a generation.
pub(crate) fn pair_of(link: LinkLayer, generation: Generation) -> [Node; 2] {
    pair_with(link, |config| config.generation = generation)
}

/// Two nodes with a change of their configurations.
pub(crate) fn pair_with(link: LinkLayer, change: impl Fn(&mut DeviceConfig)) -> [Node; 2] {
    let fabric = Fabric::new();
    [1, 2].map(|lid| Node::new(&fabric, lid, link, &change))
}

/// Both devices work until neither has anything to do.
pub(crate) fn settle(nodes: &mut [Node; 2]) {
    for tick in 0..1000 {
        let mut worked = false;
        for node in nodes.iter_mut() {
            worked |= node.bench.device.step(Duration::from_micros(tick));
        }
        if !worked {
            return;
        }
    }
    panic!("the devices do not come to rest");
}

impl Node {
    fn new(fabric: &Fabric, lid: u8, link: LinkLayer, change: impl Fn(&mut DeviceConfig)) -> Self {
        let port = match link {
            LinkLayer::InfiniBand => PortConfig::infiniband(lid.into()),
            LinkLayer::Ethernet => PortConfig { active_mtu: 4096, ..PortConfig::ethernet(lid.into()) },
        };
        let gids = port.gids.clone();
        let gid = gids[0].raw;
        let first = 0x100 * u32::from(lid);
        let mut config = DeviceConfig { qpn_first: first, qpn_count: 0x100, ..DeviceConfig::with_port(port) };
        change(&mut config);
        let qpns = config.qpn_first..config.qpn_first + config.qpn_count;
        let lids = if link == LinkLayer::InfiniBand { vec![lid.into()] } else { vec![] };
        let wire = fabric.attach(Address { qpns, lids, gids }).expect("a wire");
        let memory = Box::new(ArrayMemory::filled(BASE, MEMORY_BYTES, 0));
        let device = Device::new(config, memory, Box::new(wire)).expect("a device");
        let mut node = Self {
            bench: Bench { firmware: Firmware::new(), device },
            uar: 0,
            pd: 0,
            key: 0,
            cqn: 0,
            qpn: 0,
            lid,
            gid,
            posted: 0,
            received: 0,
            consumed: 0,
        };
        node.make();
        node
    }

    fn make(&mut self) {
        self.bench.firmware.declare_eq(&mut self.bench.device, EQN.into()).expect("an EQ");
        self.uar = self.bench.device.alloc_uar().expect("a UAR page");
        self.pd = self.number(&sparse(16, &[(0, 8)]));
        let access = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true };
        let mkey = MkeyContext { pd: self.pd, iova: BASE, addr: BASE, len: 8 * 4096, access };
        self.key = self.bench.device.create_mkey(mkey).expect("a key");
        let invalid = [0xf0];
        for cqe in 0..64 {
            self.write(BASE + CQ_PAGE * 4096 + cqe * 64 + 63, &invalid);
        }
        let cq = mailbox(
            0x118,
            &[
                (0, &[4, 0]),
                (0x1c, &(6 << 24 | self.uar).to_be_bytes()),
                (0x27, &[EQN]),
                (0x48, &CQ_RECORD.to_be_bytes()),
                (0x110, &(BASE + CQ_PAGE * 4096).to_be_bytes()),
            ],
        );
        self.cqn = self.number(&cq);
    }

    /// Carries out a command that gives a number, which all have in the same place.
    pub(crate) fn number(&mut self, input: &[u8]) -> u32 {
        let output = self.bench.execute(input, 16).expect("a number");
        u32::from_be_bytes([0, output[9], output[10], output[11]])
    }

    /// The status of a command without much output.
    pub(crate) fn status(&mut self, input: &[u8]) -> Status {
        self.bench.execute(input, 16).err().unwrap_or(Status::Ok)
    }

    /// `CREATE_QP`.
    pub(crate) fn qp_mailbox(&self, qp: &Qp) -> Vec<u8> {
        let [first, second] = QP_PAGES.map(|page| (BASE + page * 4096).to_be_bytes());
        let (rq_type, srqn) = qp.srqn.map_or((0, 0), |srqn| (1_u32, srqn));
        mailbox(
            0x120,
            &[
                (0, &[5, 0]),
                (0x19, &[qp.st, 0x18]),
                (0x1c, &self.pd.to_be_bytes()),
                // log_rq_size 4, log_rq_stride 2, log_sq_size 6, and with an SRQ no receive ring.
                (0x21, &[if qp.srqn.is_some() { 0 } else { 4 << 3 | 2 }, 6 << 3]),
                (0x24, &self.uar.to_be_bytes()),
                (0x28, &0x00ab_cdef_u32.to_be_bytes()),
                (0x94, &self.cqn.to_be_bytes()),
                (0xb4, &self.cqn.to_be_bytes()),
                (0xb8, &QP_RECORD.to_be_bytes()),
                (0xc4, &(rq_type << 24 | srqn).to_be_bytes()),
                (0x110, &first),
                (0x118, &second),
            ],
        )
    }

    /// Makes a QP, which from now on is the one that is posted to.
    pub(crate) fn create_qp(&mut self, qp: &Qp) {
        self.create_qp_by(&self.qp_mailbox(qp));
    }

    /// Makes a QP by this mailbox. From now on, posts go to it.
    pub(crate) fn create_qp_by(&mut self, mailbox: &[u8]) {
        self.qpn = self.number(mailbox);
        self.reset_rings();
    }

    /// Prepares the rings of a QP as a driver does after it has made or reset the QP.
    pub(crate) fn reset_rings(&mut self) {
        self.write(QP_RECORD, &[0; 8]);
        (self.posted, self.received) = (0, 0);
    }

    /// A mailbox of a transition of the QP.
    pub(crate) fn transition(&self, opcode: u8, parts: &[(usize, &[u8])]) -> Vec<u8> {
        let mut bytes = mailbox(0x110, parts);
        bytes[..2].copy_from_slice(&[5, opcode]);
        bytes[8..12].copy_from_slice(&self.qpn.to_be_bytes());
        bytes
    }

    /// A command on the QP that takes no context: 2ERR, 2RST, QUERY, DESTROY.
    pub(crate) fn on_qp(&self, opcode: u8) -> Vec<u8> {
        mailbox(16, &[(0, &[5, opcode]), (8, &self.qpn.to_be_bytes())])
    }

    /// `RST2INIT_QP`: port 1, all rights, a Q_Key.
    pub(crate) fn rst2init(&self) -> Vec<u8> {
        let q_key = 0x1111_2222_u32.to_be_bytes();
        self.transition(2, &[(0x1a, &[0x18]), (0x55, &[1]), (0xaa, &[0xe0]), (0xc0, &q_key)])
    }

    /// `INIT2RTR_QP` to a peer, with an MTU of 1024 bytes.
    pub(crate) fn init2rtr(&self, peer: &Node) -> Vec<u8> {
        let ethernet = self.bench.device.config().ports[0].link == LinkLayer::Ethernet;
        let lid = if ethernet { 0 } else { peer.lid };
        self.transition(
            3,
            &[
                (0x20, &[3 << 5 | 30]),
                (0x2c, &peer.qpn.to_be_bytes()),
                (0x37, &[lid]),
                (0x3b, &[64]),
                (0x40, &peer.gid),
                (0x55, &[1]),
                (0xa9, &[2 << 5]),
                (0xac, &[12]),
                (0xad, &[0, 1, 0x23]),
            ],
        )
    }

    /// `RTR2RTS_QP`: timeout 14, 7 retries.
    pub(crate) fn rtr2rts(&self) -> Vec<u8> {
        self.transition(4, &[(0x38, &[14 << 3]), (0x89, &[2 << 5 | 7, 7 << 5]), (0x91, &[0, 1, 0x23])])
    }

    pub(crate) fn write(&self, addr: u64, bytes: &[u8]) {
        self.bench.device.host_memory().write(addr, bytes).expect("host memory");
    }

    pub(crate) fn read(&self, addr: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.bench.device.host_memory().read(addr, &mut bytes).expect("host memory");
        bytes
    }

    /// Writes to a ring whose pages are not in a row.
    pub(crate) fn write_in(&self, pages: [u64; 2], at: u64, bytes: &[u8]) {
        let page = pages[(at / 4096) as usize];
        self.write(BASE + page * 4096 + at % 4096, bytes);
    }

    /// Posts a send WQE of one WQEBB and rings the doorbell; `has_ring` is whether a receive ring is before the send
    /// ring.
    pub(crate) fn post(&mut self, opcode: u8, body: &[u8], has_ring: bool) {
        self.post_with(opcode, 0, body, has_ring);
    }

    /// [Posts](Self::post) a send WQE with the last word of its control segment.
    pub(crate) fn post_with(&mut self, opcode: u8, word: u32, body: &[u8], has_ring: bool) {
        self.post_wqe([u32::from(opcode), 8, word], body, has_ring);
    }

    /// Posts to an initiator, by a stream.
    pub(crate) fn post_on(&mut self, opcode: u8, stream: u16, body: &[u8]) {
        self.post_wqe([opcode.into(), u32::from(stream) << 8 | 8, 0], body, false);
    }

    /// Posts to a queue of RC, with an opcode modifier.
    pub(crate) fn post_modified(&mut self, opmod: u8, opcode: u8, body: &[u8]) {
        self.post_wqe([u32::from(opmod) << 24 | u32::from(opcode), 8, 0], body, true);
    }

    /// Posts a WQE with these words of the control segment, but for index, QPN and DS.
    fn post_wqe(&mut self, [opcode, flags, word]: [u32; 3], body: &[u8], has_ring: bool) {
        let ds = 1 + body.len() as u32 / 16;
        let mut wqe = (u32::from(self.posted) << 8 | opcode).to_be_bytes().to_vec();
        wqe.extend((self.qpn << 8 | ds).to_be_bytes());
        wqe.extend(flags.to_be_bytes());
        wqe.extend(word.to_be_bytes());
        wqe.extend(body);
        let before = if has_ring { RQ_BYTES } else { 0 };
        let units = wqe.len().div_ceil(64);
        for (index, unit) in wqe.chunks(64).enumerate() {
            let slot = (u64::from(self.posted) + index as u64) % 64;
            self.write_in(QP_PAGES, before + slot * 64, unit);
        }
        self.posted += units as u16;
        self.write(QP_RECORD + 4, &u32::from(self.posted).to_be_bytes());
        self.bench.device.doorbell(self.uar, 0x800, &wqe[..8]);
    }

    /// Posts a receive of `len` bytes at `addr` to the QP's own ring.
    pub(crate) fn post_receive(&mut self, addr: u64, len: u32) {
        let slot = u64::from(self.received % 16);
        self.write_in(QP_PAGES, slot * 64, &data_seg(addr, len, self.key));
        self.write_in(QP_PAGES, slot * 64 + 16, &data_seg(0, 0, 0x100));
        self.received += 1;
        self.write(QP_RECORD, &u32::from(self.received).to_be_bytes());
    }

    /// The next CQE, if there is one.
    pub(crate) fn poll(&mut self) -> Option<Vec<u8>> {
        let at = BASE + CQ_PAGE * 4096 + u64::from(self.consumed % 64) * 64;
        let cqe = self.read(at, 64);
        let owner = (self.consumed / 64 % 2) as u8;
        if cqe[63] >> 4 == 0xf || cqe[63] & 1 != owner {
            return None;
        }
        self.consumed += 1;
        self.write(CQ_RECORD, &self.consumed.to_be_bytes());
        Some(cqe)
    }

    /// All events that were raised.
    pub(crate) fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.bench.device.next_event()).collect()
    }
}

/// Connects the QPs of both nodes, by commands.
pub(crate) fn connect(nodes: &mut [Node; 2]) {
    for (at, other) in [(0, 1), (1, 0)] {
        for input in [nodes[at].rst2init(), nodes[at].init2rtr(&nodes[other]), nodes[at].rtr2rts()] {
            assert_eq!(nodes[at].status(&input), Status::Ok, "opcode {:#x}", input[1]);
        }
    }
}

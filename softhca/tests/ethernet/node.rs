//! A device with its firmware, and the driver's side of its Ethernet queues.

use crate::arena::{Arena, BASE};
use crate::mailbox::Mail;
use softhca::config::{DeviceConfig, DoorbellSource, PortConfig};
use softhca::context::{Access, MkeyContext};
use softhca::device::Device;
use softhca::firmware::{Firmware, Status};
use softhca::wire::Address;
use softhca::wire::in_process::Fabric;
use std::time::Duration;

/// Bytes of host memory, and of a page.
const MEMORY: usize = 4 << 20;
pub(crate) const PAGE: u64 = 4096;
/// Event queue of all CQs.
const EQN: u32 = 2;
/// CQEs of a CQ, WQEBBs of an SQ and WQEs of an RQ.
const CQES: u16 = 64;
pub(crate) const SQ_WQEBBS: u16 = 128;
pub(crate) const RQ_WQES: u16 = 16;
/// Bytes of a receive WQE, and of the buffer of each.
const RQ_STRIDE: u64 = 32;
pub(crate) const BUFFER: u64 = 2048;

/// Opcodes (Linux `include/linux/mlx5/mlx5_ifc.h`, `MLX5_CMD_OP_*`).
pub(crate) mod op {
    pub(crate) const CREATE_CQ: u64 = 0x400;
    pub(crate) const ACCESS_REG: u64 = 0x805;
    pub(crate) const QUERY_NIC_VPORT_CONTEXT: u64 = 0x754;
    pub(crate) const MODIFY_NIC_VPORT_CONTEXT: u64 = 0x755;
    pub(crate) const QUERY_VPORT_COUNTER: u64 = 0x770;
    pub(crate) const ALLOC_Q_COUNTER: u64 = 0x771;
    pub(crate) const DEALLOC_Q_COUNTER: u64 = 0x772;
    pub(crate) const QUERY_Q_COUNTER: u64 = 0x773;
    pub(crate) const SET_PP_RATE_LIMIT: u64 = 0x780;
    pub(crate) const ALLOC_TRANSPORT_DOMAIN: u64 = 0x816;
    pub(crate) const DEALLOC_TRANSPORT_DOMAIN: u64 = 0x817;
    pub(crate) const ADD_VXLAN_UDP_DPORT: u64 = 0x827;
    pub(crate) const DELETE_VXLAN_UDP_DPORT: u64 = 0x828;
    pub(crate) const CREATE_TIR: u64 = 0x900;
    pub(crate) const MODIFY_TIR: u64 = 0x901;
    pub(crate) const DESTROY_TIR: u64 = 0x902;
    pub(crate) const QUERY_TIR: u64 = 0x903;
    pub(crate) const CREATE_SQ: u64 = 0x904;
    pub(crate) const MODIFY_SQ: u64 = 0x905;
    pub(crate) const DESTROY_SQ: u64 = 0x906;
    pub(crate) const QUERY_SQ: u64 = 0x907;
    pub(crate) const CREATE_RQ: u64 = 0x908;
    pub(crate) const MODIFY_RQ: u64 = 0x909;
    pub(crate) const DESTROY_RQ: u64 = 0x90a;
    pub(crate) const QUERY_RQ: u64 = 0x90b;
    pub(crate) const CREATE_TIS: u64 = 0x912;
    pub(crate) const MODIFY_TIS: u64 = 0x913;
    pub(crate) const DESTROY_TIS: u64 = 0x914;
    pub(crate) const QUERY_TIS: u64 = 0x915;
    pub(crate) const CREATE_RQT: u64 = 0x916;
    pub(crate) const MODIFY_RQT: u64 = 0x917;
    pub(crate) const DESTROY_RQT: u64 = 0x918;
    pub(crate) const QUERY_RQT: u64 = 0x919;
    pub(crate) const SET_FLOW_TABLE_ROOT: u64 = 0x92f;
    pub(crate) const CREATE_FLOW_TABLE: u64 = 0x930;
    pub(crate) const DESTROY_FLOW_TABLE: u64 = 0x931;
    pub(crate) const QUERY_FLOW_TABLE: u64 = 0x932;
    pub(crate) const CREATE_FLOW_GROUP: u64 = 0x933;
    pub(crate) const DESTROY_FLOW_GROUP: u64 = 0x934;
    pub(crate) const QUERY_FLOW_GROUP: u64 = 0x935;
    pub(crate) const SET_FTE: u64 = 0x936;
    pub(crate) const QUERY_FTE: u64 = 0x937;
    pub(crate) const DELETE_FTE: u64 = 0x938;
    pub(crate) const ALLOC_FLOW_COUNTER: u64 = 0x939;
    pub(crate) const DEALLOC_FLOW_COUNTER: u64 = 0x93a;
    pub(crate) const QUERY_FLOW_COUNTER: u64 = 0x93b;
    pub(crate) const MODIFY_FLOW_TABLE: u64 = 0x93c;
    pub(crate) const ALLOC_MODIFY_HEADER: u64 = 0x940;
    pub(crate) const DEALLOC_MODIFY_HEADER: u64 = 0x941;
    pub(crate) const QUERY_HCA_CAP: u64 = 0x100;
    pub(crate) const CREATE_UMEM: u64 = 0xa08;
}

/// Queue states.
pub(crate) const RST: u64 = 0;
pub(crate) const RDY: u64 = 1;
pub(crate) const ERR: u64 = 3;

/// A CQ of the driver's.
pub(crate) struct Cq {
    pub(crate) cqn: u64,
    pub(crate) ring: u64,
    record: u64,
    consumed: u32,
}

/// A send or receive queue of the driver's.
pub(crate) struct Queue {
    pub(crate) number: u64,
    pub(crate) pages: Vec<u64>,
    pub(crate) record: u64,
    /// WQEBBs, or WQEs, that were posted.
    pub(crate) posted: u16,
    /// First byte of the buffers, of a receive queue.
    pub(crate) buffers: u64,
}

impl Queue {
    /// The address of a place in the ring.
    fn at(&self, offset: u64) -> u64 {
        self.pages[(offset / PAGE) as usize] + offset % PAGE
    }
}

/// A device.
pub(crate) struct Node {
    pub(crate) device: Device,
    pub(crate) firmware: Firmware,
    pub(crate) memory: Arena,
    pub(crate) pd: u64,
    pub(crate) td: u64,
    pub(crate) uar: u64,
    pub(crate) key: u32,
    next: u64,
    pub(crate) now: Duration,
}

impl Node {
    pub(crate) fn new(fabric: &Fabric, number: u16) -> Self {
        Self::at(fabric, number, None)
    }

    /// One whose clock was 0 at `real_time`, since 1970, if it knows.
    pub(crate) fn at(fabric: &Fabric, number: u16, real_time: Option<Duration>) -> Self {
        Self::of(fabric, number, DeviceConfig { real_time, ..DeviceConfig::with_port(PortConfig::ethernet(number)) })
    }

    /// One with this configuration, of which the first port counts.
    pub(crate) fn of(fabric: &Fabric, number: u16, config: DeviceConfig) -> Self {
        let memory = Arena::new(MEMORY);
        let port = config.ports[0].clone();
        let first = 0x1000 * u32::from(number);
        let config = DeviceConfig { qpn_first: first, qpn_count: 0x1000, doorbells: DoorbellSource::Records, ..config };
        let wire = fabric.attach(Address { lids: vec![], gids: port.gids, qpns: first..first + 0x1000 }).unwrap();
        let mut device = Device::new(config, Box::new(memory.clone()), Box::new(wire)).unwrap();
        let (uar, pd) = (device.alloc_uar().unwrap(), device.alloc_pd().unwrap());
        let access = Access { local_write: true, ..Access::default() };
        let context = MkeyContext { pd, iova: BASE, addr: BASE, len: MEMORY as u64, access };
        let key = device.create_mkey(context).unwrap();
        let mut firmware = Firmware::new();
        firmware.declare_eq(&mut device, EQN).unwrap();
        let (pd, uar) = (pd.into(), uar.into());
        let mut node =
            Self { device, firmware, memory, pd, td: 0, uar, key, next: BASE + PAGE, now: Duration::from_secs(1) };
        node.td = node.number(
            Mail::command("alloc_transport_domain_in", op::ALLOC_TRANSPORT_DOMAIN),
            "alloc_transport_domain_out",
            "transport_domain",
        );
        node
    }

    /// Carries out a command; its output has `more` bytes than the structure.
    pub(crate) fn command(&mut self, input: &Mail, output: &'static str, more: usize) -> Result<Mail, Status> {
        let mut out = Mail::new(output);
        out.bytes.resize(out.bytes.len() + more, 0);
        match self.firmware.execute(&mut self.device, &input.bytes, &mut out.bytes) {
            Status::Ok => Ok(out),
            status => Err(status),
        }
    }

    /// Carries out a command that gives no more than a status.
    pub(crate) fn bare(&mut self, input: &Mail) -> Result<(), Status> {
        self.command(input, "destroy_sq_out", 0).map(drop)
    }

    /// Carries out a command, and takes a number from its answer.
    pub(crate) fn number(&mut self, input: Mail, output: &'static str, field: &str) -> u64 {
        self.command(&input, output, 0).unwrap_or_else(|status| panic!("{output}: {status:?}")).get(field)
    }

    /// Memory of whole pages.
    pub(crate) fn alloc(&mut self, bytes: u64) -> u64 {
        let at = self.next;
        self.next += bytes.next_multiple_of(PAGE);
        assert!(self.next <= BASE + MEMORY as u64, "the tests' memory is used up");
        at
    }

    /// User memory of these pages, as a user registers it.
    pub(crate) fn umem(&mut self, pages: &[u64]) -> u64 {
        let list: Vec<u64> = pages.iter().map(|page| page | 3).collect();
        let mail = Mail::command("create_umem_in", op::CREATE_UMEM).set("umem.num_of_mtt", pages.len() as u64);
        self.number(mail.pages(&list), "create_umem_out", "umem_id")
    }

    /// A CQ, with all CQEs marked as invalid.
    pub(crate) fn cq(&mut self) -> Cq {
        self.cq_with(&[])
    }

    /// A CQ with these fields in its context, and all CQEs marked as invalid.
    pub(crate) fn cq_with(&mut self, fields: &[(&str, u64)]) -> Cq {
        let (ring, record) = (self.alloc(u64::from(CQES) * 64), self.alloc(8));
        for index in 0..u64::from(CQES) {
            self.memory.write(ring + index * 64 + 63, &[0xf1]);
        }
        let mail = Mail::command("create_cq_in", op::CREATE_CQ)
            .set("cq_context.log_cq_size", CQES.ilog2().into())
            .set("cq_context.uar_page", self.uar)
            .set("cq_context.c_eqn_or_apu_element", EQN.into())
            .set("cq_context.dbr_addr", record)
            .pages(&[ring]);
        let mail = fields.iter().fold(mail, |mail, (field, value)| mail.set(&format!("cq_context.{field}"), *value));
        let cqn = self.number(mail, "create_cq_out", "cqn");
        Cq { cqn, ring, record, consumed: 0 }
    }

    /// The next CQE.
    pub(crate) fn poll(&mut self, cq: &mut Cq) -> Option<[u8; 64]> {
        let at = cq.ring + u64::from(cq.consumed % u32::from(CQES)) * 64;
        let cqe: [u8; 64] = self.memory.read(at, 64).try_into().expect("64 bytes");
        let owner = (cq.consumed / u32::from(CQES) % 2) as u8;
        if cqe[63] & 1 != owner || cqe[63] >> 4 == 0xf {
            return None;
        }
        cq.consumed += 1;
        self.memory.write(cq.record, &cq.consumed.to_be_bytes());
        Some(cqe)
    }

    /// All CQEs: opcode, syndrome, WQE counter and byte count of each.
    pub(crate) fn poll_all(&mut self, cq: &mut Cq) -> Vec<(u8, u8, u16, u32)> {
        let mut found = Vec::new();
        while let Some(cqe) = self.poll(cq) {
            let count = u32::from_be_bytes([cqe[44], cqe[45], cqe[46], cqe[47]]);
            // Bytes of an error CQE have other meanings where there is no timestamp.
            let syndrome = if cqe[63] >> 4 >= 13 { cqe[55] } else { 0 };
            found.push((cqe[63] >> 4, syndrome, u16::from_be_bytes([cqe[60], cqe[61]]), count));
        }
        found
    }

    pub(crate) fn tis(&mut self) -> u64 {
        let mail = Mail::command("create_tis_in", op::CREATE_TIS).set("ctx.transport_domain", self.td);
        self.number(mail, "create_tis_out", "tisn")
    }

    /// The command that makes a send queue with a ring in two pages apart.
    pub(crate) fn sq_mail(&mut self, cq: &Cq, tis: Option<u64>) -> (Mail, Queue) {
        let (at, record) = (self.alloc(2 * PAGE), self.alloc(8));
        let pages = vec![at + PAGE, at];
        let mail = Mail::command("create_sq_in", op::CREATE_SQ)
            .set("ctx.flush_in_error_en", 1)
            .set("ctx.user_index", 0xabcdef)
            .set("ctx.cqn", cq.cqn)
            .set("ctx.tis_lst_sz", tis.is_some().into())
            .set("ctx.tis_num_0", tis.unwrap_or(0))
            .set("ctx.wq.wq_type", 1)
            .set("ctx.wq.pd", self.pd)
            .set("ctx.wq.uar_page", self.uar)
            .set("ctx.wq.dbr_addr", record)
            .set("ctx.wq.log_wq_stride", 6)
            .set("ctx.wq.log_wq_sz", SQ_WQEBBS.ilog2().into())
            .pages(&pages);
        (mail, Queue { number: 0, pages, record, posted: 0, buffers: 0 })
    }

    /// A send queue that is ready, on a TIS of its own.
    pub(crate) fn sq(&mut self, cq: &Cq) -> Queue {
        let tis = self.tis();
        self.sq_on(cq, Some(tis))
    }

    /// A send queue that is ready.
    pub(crate) fn sq_on(&mut self, cq: &Cq, tis: Option<u64>) -> Queue {
        let (mail, mut queue) = self.sq_mail(cq, tis);
        queue.number = self.number(mail, "create_sq_out", "sqn");
        self.modify_sq(queue.number, RST, RDY).unwrap();
        queue
    }

    pub(crate) fn modify_sq(&mut self, sqn: u64, from: u64, to: u64) -> Result<(), Status> {
        let mail = Mail::command("modify_sq_in", op::MODIFY_SQ).set("sqn", sqn).set("sq_state", from);
        self.bare(&mail.set("ctx.state", to))
    }

    /// The command that makes a receive queue. Its ring is in user memory if `umem` says so, else in a page of the
    /// mailbox.
    pub(crate) fn rq_mail(&mut self, cq: &Cq, umem: bool) -> (Mail, Queue) {
        let (page, record) = (self.alloc(PAGE), self.alloc(4));
        let buffers = self.alloc(u64::from(RQ_WQES) * BUFFER);
        let mut mail = Mail::command("create_rq_in", op::CREATE_RQ)
            .set("ctx.vsd", 1)
            .set("ctx.flush_in_error_en", 1)
            .set("ctx.user_index", 0x123456)
            .set("ctx.cqn", cq.cqn)
            .set("ctx.wq.wq_type", 1)
            .set("ctx.wq.end_padding_mode", 1)
            .set("ctx.wq.pd", self.pd)
            .set("ctx.wq.log_wq_stride", RQ_STRIDE.ilog2().into())
            .set("ctx.wq.log_wq_sz", RQ_WQES.ilog2().into());
        if umem {
            let umem = self.umem(&[page, record]);
            mail = mail
                .set("ctx.wq.wq_umem_valid", 1)
                .set("ctx.wq.wq_umem_id", umem)
                .set("ctx.wq.dbr_umem_valid", 1)
                .set("ctx.wq.dbr_umem_id", umem)
                .set("ctx.wq.dbr_addr", PAGE);
        } else {
            mail = mail.set("ctx.wq.dbr_addr", record).pages(&[page]);
        }
        (mail, Queue { number: 0, pages: vec![page], record, posted: 0, buffers })
    }

    /// A receive queue that is ready, with WQEs for as many frames.
    pub(crate) fn rq(&mut self, cq: &Cq, umem: bool, wqes: u16) -> Queue {
        let (mail, mut queue) = self.rq_mail(cq, umem);
        queue.number = self.number(mail, "create_rq_out", "rqn");
        self.modify_rq(queue.number, RST, RDY).unwrap();
        self.post_recv(&mut queue, wqes, BUFFER as u32);
        queue
    }

    pub(crate) fn modify_rq(&mut self, rqn: u64, from: u64, to: u64) -> Result<(), Status> {
        let mail = Mail::command("modify_rq_in", op::MODIFY_RQ).set("rqn", rqn).set("rq_state", from);
        self.bare(&mail.set("ctx.state", to))
    }

    /// Posts receive WQEs of one buffer each, of which `len` bytes can be used.
    pub(crate) fn post_recv(&mut self, queue: &mut Queue, wqes: u16, len: u32) {
        for _ in 0..wqes {
            let index = u64::from(queue.posted % RQ_WQES);
            let address = queue.buffers + index * BUFFER;
            let seg = [&len.to_be_bytes()[..], &self.key.to_be_bytes(), &address.to_be_bytes()].concat();
            // The key that ends the list.
            let end = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            self.memory.write(queue.at(index * RQ_STRIDE), &[&seg[..], &end].concat());
            queue.posted += 1;
        }
        self.memory.write(queue.record, &u32::from(queue.posted).to_be_bytes());
    }

    /// Posts a frame: 18 bytes inline, the rest by reference; `checksums` are `cs_flags`.
    pub(crate) fn send(&mut self, queue: &mut Queue, checksums: u8, frame: &[u8]) {
        let buffer = self.alloc(frame.len() as u64);
        self.memory.write(buffer, frame);
        let index = queue.posted;
        let mut wqe = vec![0, (index >> 8) as u8, index as u8, 0x0a];
        wqe.extend(((queue.number as u32) << 8 | 4).to_be_bytes());
        wqe.extend([0, 0, 0, 0x08, 0, 0, 0, 0]);
        wqe.extend([0, 0, 0, 0, checksums, 0, 0, 0, 0, 0, 0, 0, 0, 18]);
        wqe.extend(&frame[..18]);
        wqe.extend((frame.len() as u32 - 18).to_be_bytes());
        wqe.extend(self.key.to_be_bytes());
        wqe.extend((buffer + 18).to_be_bytes());
        self.post(queue, &wqe);
    }

    /// Posts a WQE that does not wrap around.
    pub(crate) fn post(&mut self, queue: &mut Queue, wqe: &[u8]) {
        self.memory.write(queue.at(u64::from(queue.posted % SQ_WQEBBS) * 64), wqe);
        queue.posted = queue.posted.wrapping_add(wqe.len().div_ceil(64) as u16);
        self.memory.write(queue.record + 4, &u32::from(queue.posted).to_be_bytes());
    }

    /// A TIR of one receive queue.
    pub(crate) fn tir(&mut self, rqn: u64) -> u64 {
        let mail = Mail::command("create_tir_in", op::CREATE_TIR)
            .set("ctx.inline_rqn", rqn)
            .set("ctx.transport_domain", self.td);
        self.number(mail, "create_tir_out", "tirn")
    }

    /// A flow table of 2^4 rules; `kind` is 0 for frames that arrive, 1 for those that leave.
    pub(crate) fn table(&mut self, kind: u64, level: u64) -> u64 {
        let mail = Mail::command("create_flow_table_in", op::CREATE_FLOW_TABLE)
            .set("table_type", kind)
            .set("flow_table_context.level", level)
            .set("flow_table_context.log_size", 4);
        self.number(mail, "create_flow_table_out", "table_id")
    }

    pub(crate) fn root(&mut self, kind: u64, table: u64) {
        let mail = Mail::command("set_flow_table_root_in", op::SET_FLOW_TABLE_ROOT);
        self.bare(&mail.set("table_type", kind).set("table_id", table)).unwrap();
    }

    /// A group of rules with these fields of the match parameters, and the bits of each that count.
    pub(crate) fn group(&mut self, kind: u64, table: u64, indices: [u64; 2], mask: &[(&str, u64)]) -> u64 {
        let enabled = |(set, bit): (&str, u64)| u64::from(mask.iter().any(|(field, _)| field.starts_with(set))) << bit;
        let sets = [("outer_headers.", 0), ("misc_parameters.", 1), ("misc_parameters_2.", 3)];
        let mut mail = Mail::command("create_flow_group_in", op::CREATE_FLOW_GROUP)
            .set("table_type", kind)
            .set("table_id", table)
            .set("start_flow_index", indices[0])
            .set("end_flow_index", indices[1])
            .set("match_criteria_enable", sets.into_iter().map(enabled).sum());
        for (field, bits) in mask {
            mail = mail.set(&format!("match_criteria.{field}"), *bits);
        }
        self.number(mail, "create_flow_group_out", "group_id")
    }

    /// Commands that set a rule. `to` are types and numbers of destinations.
    pub(crate) fn rule(
        kind: u64,
        (table, group, index): (u64, u64, u64),
        value: &[(&str, u64)],
        action: u64,
        to: &[(u64, u64)],
        counters: &[u64],
    ) -> Mail {
        let mut mail = Mail::command("set_fte_in", op::SET_FTE)
            .set("table_type", kind)
            .set("table_id", table)
            .set("flow_index", index)
            .set("flow_context.group_id", group)
            .set("flow_context.action", action)
            .set("flow_context.destination_list_size", to.len() as u64)
            .set("flow_context.flow_counter_list_size", counters.len() as u64);
        for (field, bits) in value {
            mail = mail.set(&format!("flow_context.match_value.{field}"), *bits);
        }
        for &(kind, number) in to {
            mail = mail.followed_by(
                &Mail::new("dest_format_struct").set("destination_type", kind).set("destination_id", number).bytes,
            );
        }
        for &counter in counters {
            mail = mail.followed_by(&Mail::new("flow_counter_list").set("flow_counter_id", counter).bytes);
        }
        mail
    }

    /// All frames that arrive go to a TIR: a root table with one rule.
    pub(crate) fn take_all(&mut self, tir: u64) -> (u64, u64) {
        let table = self.table(0, 1);
        let group = self.group(0, table, [0, 15], &[]);
        self.bare(&Self::rule(0, (table, group, 0), &[], 4, &[(2, tir)], &[])).unwrap();
        self.root(0, table);
        (table, group)
    }

    /// All frames that arrive go to a receive queue: its TIR.
    pub(crate) fn receive_all(&mut self, rqn: u64) -> u64 {
        let tir = self.tir(rqn);
        self.take_all(tir);
        tir
    }

    /// Does work until there is none. `true` if there was any.
    pub(crate) fn step(&mut self) -> bool {
        let mut worked = false;
        for _ in 0..1000 {
            self.now += Duration::from_micros(1);
            if !self.device.step(self.now) {
                return worked;
            }
            worked = true;
        }
        panic!("the device finds no end");
    }
}

/// Lets devices work until none has anything to do.
pub(crate) fn run(nodes: &mut [&mut Node]) {
    for _ in 0..100 {
        // All of them, also after one that worked.
        if nodes.iter_mut().filter_map(|node| node.step().then_some(())).count() == 0 {
            return;
        }
    }
    panic!("the devices find no end");
}

/// Two devices on one wire.
pub(crate) fn pair() -> (Node, Node) {
    let fabric = Fabric::new();
    (Node::new(&fabric, 1), Node::new(&fabric, 2))
}

/// Two devices on one wire: one has a send queue, and all frames that arrive at the other go to its receive queue.
pub(crate) struct Link {
    pub(crate) a: Node,
    pub(crate) b: Node,
    pub(crate) a_cq: Cq,
    pub(crate) b_cq: Cq,
    pub(crate) sq: Queue,
    pub(crate) rq: Queue,
}

impl Link {
    /// One whose receive queue has WQEs for as many frames.
    pub(crate) fn new(wqes: u16) -> Self {
        let (mut a, mut b) = pair();
        let (a_cq, b_cq) = (a.cq(), b.cq());
        let (sq, rq) = (a.sq(&a_cq), b.rq(&b_cq, false, wqes));
        b.receive_all(rq.number);
        Self { a, b, a_cq, b_cq, sq, rq }
    }
}

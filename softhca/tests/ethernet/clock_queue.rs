//! Queues that tick: a ring of one NOP that is executed again and again at a rate of WQEs. Another queue starts it, and
//! senders wait for its completions. DPDK makes them for its parameter `tx_pp` (`drivers/net/mlx5/mlx5_txpp.c`).
//!
//! Ticks, and their refusals, belong here; other rates belong in `pacing.rs`.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{Cq, ERR, Node, PAGE, Queue, RDY, RST, op};
use softhca::complaint::Complaint;
use softhca::config::{DeviceConfig, Generation, PortConfig};
use softhca::firmware::Status;
use softhca::wire::in_process::Fabric;
use std::time::Duration;

const NOP: u8 = 0x00;
const WAIT: u8 = 0x0f;
const SEND_EN: u8 = 0x17;
/// `rate_mode`: WQEs a second.
const WQES: u64 = 1;
/// A tick is a microsecond.
const RATE: u64 = 1_000_000;
const TICK: Duration = Duration::from_micros(1);

fn node(fabric: &Fabric, number: u16, generation: Generation) -> Node {
    Node::of(fabric, number, DeviceConfig { generation, ..DeviceConfig::with_port(PortConfig::ethernet(number)) })
}

fn set_rate(node: &mut Node, (index, limit, mode): (u64, u64, u64)) -> Result<(), Status> {
    let mail = Mail::command("set_pp_rate_limit_in", op::SET_PP_RATE_LIMIT).set("rate_limit_index", index);
    node.bare(&mail.set("ctx.rate_limit", limit).set("ctx.rate_mode", mode))
}

/// A WQE of a control segment, and of the segment of requests about other queues: an index and a number.
fn wqe(queue: &Queue, opcode: u8, about: Option<(u32, u64)>) -> Vec<u8> {
    let mut wqe = vec![0, (queue.posted >> 8) as u8, queue.posted as u8, opcode];
    wqe.extend(((queue.number as u32) << 8 | if about.is_some() { 2 } else { 1 }).to_be_bytes());
    wqe.extend([0, 0, 0, 0x08, 0, 0, 0, 0]);
    if let Some((index, number)) = about {
        wqe.extend([0; 8]);
        wqe.extend(index.to_be_bytes());
        wqe.extend((number as u32).to_be_bytes());
    }
    wqe
}

/// The command that makes a queue of one WQEBB, which ticks to a CQ of one CQE; and its ring.
fn clock_mail(node: &mut Node) -> (Mail, Cq, u64) {
    let cq = node.cq_with(&[("log_cq_size", 0), ("cc", 1), ("oi", 1)]);
    let (ring, record) = (node.alloc(PAGE), node.alloc(8));
    let mail = Mail::command("create_sq_in", op::CREATE_SQ)
        .set("ctx.non_wire", 1)
        .set("ctx.static_sq_wq", 1)
        .set("ctx.cqn", cq.cqn)
        .set("ctx.packet_pacing_rate_limit_index", 1)
        .set("ctx.wq.wq_type", 1)
        .set("ctx.wq.cd_slave", 1)
        .set("ctx.wq.pd", node.pd)
        .set("ctx.wq.uar_page", node.uar)
        .set("ctx.wq.dbr_addr", record)
        .set("ctx.wq.log_wq_stride", 6)
        .pages(&[ring]);
    (mail, cq, ring)
}

/// A device with a clock and its master.
struct Lab {
    node: Node,
    clock: u64,
    cq: Cq,
    master: Queue,
    began: Duration,
}

impl Lab {
    fn new(fabric: &Fabric) -> Self {
        let mut node = node(fabric, 1, Generation::ConnectX6Dx);
        set_rate(&mut node, (1, RATE, WQES)).unwrap();
        let (mail, cq, ring) = clock_mail(&mut node);
        let clock = node.number(mail, "create_sq_out", "sqn");
        // The index of the WQE does not count.
        let queue = Queue { number: clock, pages: vec![ring], record: 0, posted: 0x77, buffers: 0 };
        let nop = wqe(&queue, NOP, None);
        node.memory.write(ring, &nop);
        node.modify_sq(clock, RST, RDY).unwrap();
        let (master_cq, tis) = (node.cq(), node.tis());
        let (mail, mut master) = node.sq_mail(&master_cq, Some(tis));
        master.number = node.number(mail.set("ctx.cd_master", 1), "create_sq_out", "sqn");
        node.modify_sq(master.number, RST, RDY).unwrap();
        let began = node.now;
        Self { node, clock, cq, master, began }
    }

    /// Lets the clock go on up to this WQE.
    fn enable(&mut self, index: u16) {
        let enable = wqe(&self.master, SEND_EN, Some((index.into(), self.clock)));
        self.node.post(&mut self.master, &enable);
    }

    /// Works at `micros` microseconds; returns the opcode and the WQE counter of the clock's CQE.
    fn at(&mut self, micros: u32) -> (u8, u16) {
        while self.node.device.step(self.began + TICK * micros) {}
        let cqe = self.node.memory.read(self.cq.ring, 64);
        (cqe[63] >> 4, u16::from_be_bytes([cqe[60], cqe[61]]))
    }
}

#[test]
fn a_clock_ticks_as_far_as_it_is_enabled() {
    let mut lab = Lab::new(&Fabric::new());
    assert_eq!(lab.at(0).0, 0xf, "nothing has started it");
    lab.enable(5);
    let ticks: Vec<_> = (0..8).map(|micros| lab.at(micros)).collect();
    assert_eq!(ticks, [0, 1, 2, 3, 4, 4, 4, 4].map(|counter| (0, counter)));
    // The device says when it has to go on.
    lab.enable(7);
    assert_eq!(lab.at(100), (0, 6), "it makes up for the time that it was not permitted");
    lab.enable(8);
    assert_eq!(lab.at(100), (0, 7));
}

/// The master's request has been executed, and the clock has not begun: it is before its master in a step.
#[test]
fn a_clock_loses_what_it_may_do_by_a_reset_alone() {
    for resets in [false, true] {
        let mut lab = Lab::new(&Fabric::new());
        lab.enable(3);
        lab.node.device.step(lab.began);
        assert_eq!(lab.node.memory.read(lab.cq.ring, 64)[63] >> 4, 0xf, "it has not begun");
        let way: &[[u64; 2]] = if resets { &[[RDY, ERR], [ERR, RST], [RST, RDY]] } else { &[[RDY, RDY]] };
        for &[from, to] in way {
            lab.node.modify_sq(lab.clock, from, to).unwrap();
        }
        let ticks: Vec<_> = (0..4).map(|micros| lab.at(micros).1).collect();
        let begun = lab.at(4).0 != 0xf;
        assert_eq!((begun, ticks), if resets { (false, vec![0; 4]) } else { (true, vec![0, 1, 2, 2]) });
    }
}

#[test]
fn a_device_that_is_late_makes_up_for_it() {
    let mut lab = Lab::new(&Fabric::new());
    lab.enable(0x4000);
    assert_eq!(lab.at(0), (0, 0));
    assert_eq!(lab.node.device.next_deadline(), Some(lab.began + TICK));
    assert_eq!(lab.at(5000), (0, 5000));
    assert_eq!(lab.at(5003), (0, 5003));
    // The index wraps.
    lab.enable(0x8000);
    lab.at(0x7000);
    lab.enable(0xc000);
    lab.at(0xb000);
    lab.enable(0x1000);
    assert_eq!(lab.at(0x1_0010), (0, 0x10));
    // After a tenth of a second, the clock begins anew.
    assert_eq!(lab.at(0x1_0010 + 100_002), (0, 0x11));
    assert_eq!(lab.at(0x1_0010 + 100_003), (0, 0x12));
}

#[test]
fn a_frame_leaves_at_the_tick_that_it_waits_for() {
    let fabric = Fabric::new();
    let (mut lab, mut far) = (Lab::new(&fabric), node(&fabric, 2, Generation::ConnectX7));
    let mut far_cq = far.cq();
    let rq = far.rq(&far_cq, false, 16);
    far.receive_all(rq.number);
    let cq = lab.node.cq();
    let mut sender = lab.node.sq(&cq);
    for index in [3, 7] {
        let wait = wqe(&sender, WAIT, Some((index, lab.cq.cqn)));
        lab.node.post(&mut sender, &wait);
        let whole = frame(mac(2), &[], &ipv4(true, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), 58));
        lab.node.send(&mut sender, 0, &whole);
    }
    lab.enable(100);
    let mut arrived = Vec::new();
    for micros in 0..20 {
        let now = lab.began + TICK * micros;
        while lab.node.device.step(now) | far.device.step(now) {}
        arrived.extend(far.poll_all(&mut far_cq).iter().map(|_| micros));
    }
    assert_eq!(arrived, [3, 7]);
}

/// DPDK stores the index of the queue that starts a clock to the record's first word, that of receives. Only such
/// queues take the index of the register then.
#[test]
fn a_master_takes_the_index_of_the_register_if_the_record_is_behind() {
    let mut lab = Lab::new(&Fabric::new());
    let (cq, uar) = (lab.node.cq(), lab.node.uar as u32);
    let other = lab.node.sq(&cq);
    // The device has seen both records, and takes an index from them only if it changes.
    lab.at(0);
    for (queue, opcode, about) in [(&other, NOP, None), (&lab.master, SEND_EN, Some((5, lab.clock)))] {
        assert_eq!(lab.node.memory.read(lab.cq.ring, 64)[63] >> 4, 0xf, "nothing has started the clock");
        let posted = wqe(queue, opcode, about);
        lab.node.memory.write(queue.pages[0], &posted);
        lab.node.memory.write(queue.record, &1_u32.to_be_bytes());
        lab.node.device.doorbell(uar, 0x800, &posted[..8]);
        let complaint = Complaint::RecordMismatch { qpn: queue.number as u32, end: 1, record: 0 };
        assert_eq!(lab.node.device.complaints(), [complaint]);
        while lab.node.device.step(lab.began + TICK * 10) {}
    }
    // It began then.
    assert_eq!((lab.at(10), lab.at(14)), ((0, 0), (0, 4)));
    assert_eq!(lab.node.memory.read(cq.ring, 64)[63] >> 4, 0xf, "the NOP was announced by no record");
}

#[test]
fn what_no_clock_can_be_is_refused() {
    let fabric = Fabric::new();
    let mut old = node(&fabric, 3, Generation::ConnectX5);
    assert_eq!(set_rate(&mut old, (1, RATE, WQES)), Err(Status::BadParameter));
    let mut new = node(&fabric, 4, Generation::ConnectX6Dx);
    set_rate(&mut new, (1, RATE, WQES)).unwrap();
    assert_eq!(set_rate(&mut new, (2, RATE, 2)), Err(Status::BadParameter));
    let tis = new.tis();
    for (fields, is_new, made) in [
        (&[("ctx.packet_pacing_rate_limit_index", 0)][..], false, false),
        (&[], true, true),
        (&[("ctx.tis_lst_sz", 1), ("ctx.tis_num_0", tis)], true, false),
        // `log_max_static_sq_wq` is 8.
        (&[("ctx.wq.log_wq_sz", 8)], true, true),
        (&[("ctx.wq.log_wq_sz", 9)], true, false),
        (&[("ctx.wq.log_wq_sz", 9), ("ctx.static_sq_wq", 0)], true, true),
    ] {
        let node = if is_new { &mut new } else { &mut old };
        let (mail, ..) = clock_mail(node);
        let mail = fields.iter().fold(mail, |mail, &(field, value)| mail.set(field, value));
        // Pages for the longest ring.
        let more: Vec<u64> = (1..if fields.iter().any(|&(field, _)| field.ends_with("log_wq_sz")) { 8 } else { 1 })
            .map(|_| node.alloc(PAGE))
            .collect();
        let made_it = node.command(&mail.pages(&more), "create_sq_out", 0);
        assert_eq!(made_it.is_ok(), made, "{fields:?}");
    }
}

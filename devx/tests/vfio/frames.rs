//! Frames to a receive queue, by rules with and without flow tags. Only a driver chooses the rules that frames meet
//! first, so the process must be the driver.
//!
//! Frames belong here, the function itself in the other files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use blueflame::cq::cqe::{L3Header, L4Header};
use blueflame::cq::setup::Whose;
use blueflame::flow::Flow;
use blueflame::transport::MIN_INLINE_HEADERS;
use blueflame::types::WrId;
use blueflame::verbs::{Access, Buffer, Pool, ProtectionDomain};
use blueflame::wqe;
use blueflame_devx::cmd::{FlowTableType, FteMatchParam, HeaderField};
use blueflame_devx::mailbox::Structure;
use blueflame_devx::memory::{Rings, ThreadRings};
use blueflame_devx::object::{
    Destination, DoorbellPage, FlowCounter, FlowGroup, FlowRule, FlowTable, HeaderAction, MatchCriteria, ModifyHeader,
    OwnedCq, OwnedRq, OwnedSq, Pd, Tir, Tis, TransportDomain, Uar,
};
use blueflame_devx::{Context, Error};

use crate::function;

pub(crate) const EXPERIMENT: u16 = 0x88b5;

/// `op_mod` of SET_FLOW_TABLE_ROOT: a table, or none.
const SET: u8 = 0;
const RESET: u8 = 1;

/// SET_FLOW_TABLE_ROOT (Linux `include/linux/mlx5/mlx5_ifc.h`, `set_flow_table_root_in`).
fn set_root(table: &FlowTable, op_mod: u8) {
    let mut root = [0; 0x40];
    root[..2].copy_from_slice(&0x92f_u16.to_be_bytes());
    (root[7], root[16]) = (op_mod, table.kind().0);
    root[20..24].copy_from_slice(&table.id().to_be_bytes());
    // SAFETY: the command names a table, and no memory.
    unsafe { table.object().context().execute_raw(&root, &mut [0; 16]) }.expect("SET_FLOW_TABLE_ROOT");
}

pub(crate) struct Lab {
    pub(crate) verbs_pd: ProtectionDomain,
    pub(crate) pd: Pd,
    pub(crate) rings: ThreadRings,
    pub(crate) domain: TransportDomain,
    pub(crate) group: FlowGroup,
    pub(crate) sq: OwnedSq<MIN_INLINE_HEADERS>,
    pub(crate) sends: OwnedCq,
    cq: OwnedCq,
    pub(crate) page: DoorbellPage,
    buffer: Buffer,
}

impl Lab {
    pub(crate) fn new(context: &Context) -> Self {
        let verbs_pd = context.device().protection_domain().expect("a PD");
        let buffer = Pool::new(&verbs_pd, 4096, Access::LOCAL_WRITE).expect("memory").take(4096).expect("all of it");
        let pd = Pd::of_verbs(context, &verbs_pd).expect("its number");
        let rings = ThreadRings::new(&Rings::new(context).expect("memory"));
        let domain = TransportDomain::new(context).expect("ALLOC_TRANSPORT_DOMAIN");
        let (tis, uar) = (Tis::new(&domain, 0).expect("CREATE_TIS"), Uar::new(context).expect("a register"));
        let [sends, cq] = [(); 2].map(|()| rings.completion_queue(uar.page(), 64).build().expect("a completion queue"));
        let page = uar.page().clone();
        let sq = pd.send_queue(&rings, &sends, &tis, uar, 64).expect("a send queue");
        let table = FlowTable::new(context, FlowTableType::NIC_RX, 0, 4).expect("CREATE_FLOW_TABLE");
        let flow = Flow::any().ether_type(EXPERIMENT);
        let group = FlowGroup::of_flow(&table, 0, 7, &flow).expect("CREATE_FLOW_GROUP");
        set_root(&table, SET);
        Self { verbs_pd, pd, rings, domain, group, sq, sends, cq, page, buffer }
    }

    /// One with a receive queue, if the function has frames.
    fn of_frames(context: &Context) -> Option<(Self, OwnedRq)> {
        let lab = context.general().expect("capabilities").eth_net_offloads().then(|| Self::new(context))?;
        let rq = lab.receive_queue().expect("a receive queue");
        Some((lab, rq))
    }

    fn receive_queue(&self) -> Result<OwnedRq, Error> {
        self.pd.recv_queue(&self.rings, &self.cq, 16, 1)
    }

    /// Sends a frame that the one rule there is has arrive with `tag`, and waits until its completion lies in the
    /// queue.
    fn deliver(&mut self, rq: &mut OwnedRq, tag: u32) {
        self.deliver_counted(rq, tag, None);
    }

    /// [Delivers](Self::deliver) a frame by a rule that counts.
    fn deliver_counted(&mut self, rq: &mut OwnedRq, tag: u32, counter: Option<&Arc<FlowCounter>>) {
        let mut frame = [7; 60];
        frame[..14].copy_from_slice(&[2, 0, 0x5e, 0, 0x53, 1, 2, 0, 0x5e, 0, 0x53, 9, 0x88, 0xb5]);
        let tir = Tir::direct(&self.domain, rq.handle()).expect("CREATE_TIR");
        self.deliver_frame(rq, tag, (tir, counter), &frame);
    }

    /// Delivers this frame by a rule for its EtherType.
    fn deliver_frame(
        &mut self,
        rq: &mut OwnedRq,
        tag: u32,
        (tir, counter): (Tir, Option<&Arc<FlowCounter>>),
        frame: &[u8],
    ) {
        let tir = Arc::new(tir);
        let flow = Flow::any().ether_type(u16::from_be_bytes([frame[12], frame[13]])).flow_tag(tag);
        let to = [Destination::Tir(&tir)];
        let rule = FlowRule::of_flow(&self.group, 0, &flow, &to, counter).expect("SET_FLOW_TABLE_ENTRY");
        self.send_alone(rq, WrId(u64::from(tag)), frame);
        drop((rule, tir));
    }

    /// Posts a receive, sends this frame, and waits for the completions of both.
    fn send_alone(&mut self, rq: &mut OwnedRq, wr_id: WrId, frame: &[u8]) {
        // SAFETY: the buffer lives as long as the queue, and is read after the completion at most.
        unsafe { rq.post_unchecked(wr_id, &[self.buffer.sge()]) }.expect("room");
        let (headers, rest) = frame.split_first_chunk::<18>().expect("so many");
        self.sq.post(&wqe::frame().inline_headers(headers).inline_slice(rest).signaled(WrId(1))).expect("room");
        let begin = Instant::now();
        let mut sent = 0;
        while sent == 0 || !self.cq.holds(Whose::Receives) {
            sent += self.sends.poll_with(1, |cqe| self.sq.retire(&cqe).map(drop).expect("outstanding"));
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
        }
    }
}

#[test]
fn frames_retire_whatever_tag_the_rule_gives() {
    let function = &function();
    let context = function.context();
    let Some((mut lab, mut rq)) = Lab::of_frames(context) else { return };
    for tag in [0, 1, rq.handle().rqn().get(), lab.sq.qpn().get(), 0xff_ffff] {
        lab.deliver(&mut rq, tag);
        let mut retired = Vec::new();
        lab.cq.poll_with(2, |cqe| retired.push((rq.retire(&cqe), cqe.flow_tag(), cqe.byte_len())));
        assert_eq!(retired, [(Ok(WrId(u64::from(tag))), tag, 60)]);
    }

    // One that is left would be taken for one of the next queue's.
    lab.deliver(&mut rq, 3);
    drop(rq);
    let next = lab.receive_queue();
    assert!(matches!(next, Err(Error::StaleReceives { cqn }) if cqn == lab.cq.cqn()), "{next:?}");
    assert_eq!(lab.cq.forget(Whose::Receives), 1);
    let mut next = lab.receive_queue().expect("nothing is left");
    lab.deliver(&mut next, 4);
    let mut retired = Vec::new();
    lab.cq.poll_with(2, |cqe| retired.push(next.retire(&cqe)));
    assert_eq!(retired, [Ok(WrId(4))]);
}

/// The sum of the words of a header, complemented (RFC 791).
fn checksum(header: &[u8]) -> [u8; 2] {
    let sum: u32 = header.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    (!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes()
}

/// An IPv4 packet from 10.0.0.1 to 10.0.0.2.
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 20 + payload.len() as u8, 0, 0, 0x40, 0, 64, protocol];
    packet.extend([0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let sum = checksum(&packet);
    packet[10..12].copy_from_slice(&sum);
    packet.extend(payload);
    packet
}

/// UDP in IPv4, as it is and inside of IPv4. Only the interface that was made for it looks inside: protocol 4 is nothing
/// otherwise.
#[test]
fn completions_tell_of_tunnels() {
    let function = &function();
    let context = function.context();
    let Some((mut lab, mut rq)) = Lab::of_frames(context) else { return };
    // No checksum.
    let plain = ipv4(17, &[0x30, 0x39, 0x12, 0xb5, 0, 12, 0, 0, 1, 2, 3, 4]);
    let tunnel = ipv4(4, &plain);
    for (looks_inside, packet, found, l4) in [
        (true, &tunnel, Some(L3Header::Ipv4), L4Header::Udp),
        (true, &plain, None, L4Header::Udp),
        (false, &tunnel, None, L4Header::None),
    ] {
        let make = if looks_inside { Tir::into_tunnels } else { Tir::direct };
        let tir = make(&lab.domain, rq.handle()).expect("CREATE_TIR");
        let frame = [&[2, 0, 0x5e, 0, 0x53, 1, 2, 0, 0x5e, 0, 0x53, 9, 8, 0][..], packet].concat();
        lab.deliver_frame(&mut rq, 1, (tir, None), &frame);
        let mut seen = Vec::new();
        lab.cq.poll_with(2, |cqe| {
            rq.retire(&cqe).expect("outstanding");
            seen.push((cqe.tunnel(), cqe.l3_header(), cqe.l4_header(), cqe.l3_ok(), cqe.l4_ok(), cqe.merged()));
        });
        let is_udp = l4 == L4Header::Udp;
        assert_eq!(seen, [(found, L3Header::Ipv4, l4, true, is_udp, None)], "{looks_inside}");
    }
}

/// Rules of two tables: the first one sets a register and rewrites headers, and the second one matches both, and sets
/// the metadata of the completion.
#[test]
fn completions_carry_metadata_and_frames_arrive_rewritten() {
    let function = &function();
    let context = function.context();
    let Some((mut lab, mut rq)) = Lab::of_frames(context) else { return };
    let tir = Arc::new(Tir::direct(&lab.domain, rq.handle()).expect("CREATE_TIR"));
    let list = |actions: &[HeaderAction]| {
        Arc::new(ModifyHeader::new(context, FlowTableType::NIC_RX, actions).expect("ALLOC_MODIFY_HEADER_CONTEXT"))
    };
    let rewrite = list(&[
        HeaderAction::set(HeaderField::METADATA_REG_C_5, 0x00c0_ffee),
        HeaderAction::set(HeaderField::DMAC_15_0, 0x5377),
        HeaderAction::set(HeaderField::DIPV4, 0xc0a8_0709),
        HeaderAction::Add { field: HeaderField::IPV4_TTL, value: 0xff },
    ]);
    let tell = list(&[HeaderAction::set(HeaderField::METADATA_REG_B, 0x0102_0304)]);

    let second = FlowTable::new(context, FlowTableType::NIC_RX, 1, 4).expect("CREATE_FLOW_TABLE");
    let matched = |register, ttl| {
        let mut fields = FteMatchParam::zeroed();
        fields.misc_parameters_2_mut().set_metadata_reg_c_5(register);
        fields.outer_headers_mut().set_ttl_hoplimit(ttl);
        fields
    };
    let criteria = MatchCriteria { outer_headers: true, misc_parameters_2: true, ..MatchCriteria::default() };
    let group = FlowGroup::new(&second, 0, 3, criteria, &matched(u32::MAX, 0xff)).expect("CREATE_FLOW_GROUP");
    let value = matched(0x00c0_ffee, 63);
    let to = [Destination::Tir(&tir)];
    let telling = FlowRule::modifying(&group, 0, &tell, &value, &to, None).expect("SET_FLOW_TABLE_ENTRY");
    let mut ip = FteMatchParam::zeroed();
    ip.outer_headers_mut().set_ethertype(0x0800);
    let onward = [Destination::Table(&second)];
    let rewriting = FlowRule::modifying(&lab.group, 0, &rewrite, &ip, &onward, None).expect("SET_FLOW_TABLE_ENTRY");
    // The rules keep their lists.
    drop((rewrite, tell));

    let mut packet = ipv4(17, &[0x30, 0x39, 0x12, 0xb5, 0, 12, 0, 0, 1, 2, 3, 4]);
    let frame = |last, packet: &[u8]| [&[2, 0, 0x5e, 0, 0x53, last, 2, 0, 0x5e, 0, 0x53, 9, 8, 0][..], packet].concat();
    lab.send_alone(&mut rq, WrId(1), &frame(1, &packet));
    let mut seen = Vec::new();
    lab.cq.poll_with(2, |cqe| {
        seen.push((rq.retire(&cqe), cqe.flow_metadata(), cqe.flow_tag(), cqe.l3_ok(), cqe.l4_ok()))
    });
    assert_eq!(seen, [(Ok(WrId(1)), 0x0102_0304, 0, true, true)]);
    (packet[8], packet[10], packet[11]) = (63, 0, 0);
    packet[16..20].copy_from_slice(&[192, 168, 7, 9]);
    let sum = checksum(&packet[..20]);
    packet[10..12].copy_from_slice(&sum);
    let expected = frame(0x77, &packet);
    let mut received = vec![0; expected.len()];
    lab.buffer.read(0, &mut received);
    assert_eq!(received, expected);
    drop((rewriting, telling));

    // Without such a rule, there is none.
    lab.deliver(&mut rq, 9);
    let mut seen = Vec::new();
    lab.cq.poll_with(2, |cqe| seen.push((rq.retire(&cqe), cqe.flow_metadata(), cqe.flow_tag())));
    assert_eq!(seen, [(Ok(WrId(9)), 0, 9)]);
}

#[test]
fn counters_count_and_sniffers_copy() {
    let function = &function();
    let context = function.context();
    let Some((mut lab, mut rq)) = Lab::of_frames(context) else { return };
    let counter = Arc::new(FlowCounter::new(context).expect("ALLOC_FLOW_COUNTER"));
    let read = |clear| counter.read(clear).map(|read| (read.packets(), read.octets())).expect("QUERY_FLOW_COUNTER");
    assert_eq!(read(false), (0, 0));
    let mut take = |lab: &mut Lab, counter| {
        lab.deliver_counted(&mut rq, 5, counter);
        let mut retired = Vec::new();
        lab.cq.poll_with(2, |cqe| retired.push(rq.retire(&cqe)));
        assert_eq!(retired, [Ok(WrId(5))]);
    };
    (0..2).for_each(|_| take(&mut lab, Some(&counter)));
    assert_eq!((read(false), read(true), read(false)), ((2, 120), (2, 120), (0, 0)));
    take(&mut lab, None);
    assert_eq!(read(false), (0, 0));

    // A copy of each sent frame, and one of each that arrives.
    let cq = lab.rings.completion_queue(&lab.page, 64).build().expect("a completion queue");
    let mut sniffed = lab.pd.recv_queue(&lab.rings, &cq, 16, 1).expect("a receive queue");
    for id in 0..4 {
        // SAFETY: the buffer lives as long as the queue; its bytes do not matter.
        unsafe { sniffed.post_unchecked(WrId(id), &[lab.buffer.sge()]) }.expect("room");
    }
    let tir = Arc::new(Tir::direct(&lab.domain, sniffed.handle()).expect("CREATE_TIR"));
    let sniffers = [FlowTableType::SNIFFER_RX, FlowTableType::SNIFFER_TX].map(|kind| {
        let table = FlowTable::new(context, kind, 0, 0).expect("CREATE_FLOW_TABLE");
        let group = FlowGroup::of_flow(&table, 0, 0, &Flow::any()).expect("CREATE_FLOW_GROUP");
        let to = [Destination::Tir(&tir)];
        let rule = FlowRule::of_flow(&group, 0, &Flow::any(), &to, Some(&counter)).expect("SET_FLOW_TABLE_ENTRY");
        set_root(&table, SET);
        (table, rule)
    });
    take(&mut lab, None);
    let mut cq = cq;
    let mut lengths = Vec::new();
    cq.poll_with(4, |cqe| lengths.push((sniffed.retire(&cqe), cqe.byte_len())));
    assert_eq!((lengths, read(false)), (vec![(Ok(WrId(0)), 60), (Ok(WrId(1)), 60)], (2, 120)));
    for (table, rule) in sniffers {
        set_root(&table, RESET);
        drop(rule);
    }
    take(&mut lab, None);
    assert_eq!((cq.poll_with(4, |_| ()), read(false)), (0, (2, 120)));
}

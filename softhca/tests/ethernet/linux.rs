//! The requests that Linux' `mlx5e` sends until its network device is up, with its order and mailbox sizes
//! (`drivers/net/ethernet/mellanox/mlx5/core/{en_main,en_fs,fs_core}.c`). It makes 8 TISs, 13 TIRs and 4 RQTs, and
//! sends some 45 flow table commands. Then two such devices find each other.
//!
//! Linux' own sequence belongs here, single commands in the other files.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{Cq, Node, Queue, RDY, RST, op, pair, run};

/// Levels of the tables: frames go from VLANs over addresses to protocols, and past them.
mod level {
    pub(super) const VLAN: u64 = 10;
    pub(super) const L2: u64 = 11;
    pub(super) const TTC: u64 = 12;
    pub(super) const ARFS: u64 = 13;
    pub(super) const ANCHOR: u64 = 30;
}

/// EtherType and protocol of the rules for kinds of traffic, in the order of `enum mlx5_traffic_types`; 0 is any.
const TRAFFIC: [(u64, u64); 11] = [
    (0x0800, 6),
    (0x86dd, 6),
    (0x0800, 17),
    (0x86dd, 17),
    (0x0800, 51),
    (0x86dd, 51),
    (0x0800, 50),
    (0x86dd, 50),
    (0x0800, 0),
    (0x86dd, 0),
    (0, 0),
];

/// A network device: the objects of its driver.
struct Netdev {
    node: Node,
    mac: u8,
    /// Commands of flow tables so far.
    flow_commands: usize,
    tables: Vec<u64>,
    drop_rq: Queue,
    channel: (Cq, Queue),
    sq: (Cq, Queue),
    destroys: Vec<Mail>,
}

/// Carries out a command that Linux sends with `input` bytes, of which the output has 16.
fn send(node: &mut Node, mail: Mail, input: usize, output: &'static str, field: &str) -> u64 {
    assert_eq!((mail.bytes.len(), Mail::new(output).bytes.len()), (input, 16), "{output}");
    node.number(mail, output, field)
}

/// A flow table, which becomes the root if it is the first.
fn table(node: &mut Node, level: u64, log_size: u64, next: Option<u64>, count: &mut usize) -> u64 {
    let mail = Mail::command("create_flow_table_in", op::CREATE_FLOW_TABLE)
        .set("flow_table_context.level", level)
        .set("flow_table_context.log_size", log_size)
        .set("flow_table_context.table_miss_action", next.is_some().into())
        .set("flow_table_context.table_miss_id", next.unwrap_or(0));
    *count += 1;
    send(node, mail, 64, "create_flow_table_out", "table_id")
}

fn group(node: &mut Node, table: u64, indices: [u64; 2], mask: &[(&str, u64)], count: &mut usize) -> u64 {
    *count += 1;
    node.group(0, table, indices, mask)
}

fn rule(node: &mut Node, at: (u64, u64, u64), value: &[(&str, u64)], to: (u64, u64), count: &mut usize) {
    let mail = Node::rule(0, at, value, 4, &[to], &[]);
    assert_eq!(mail.bytes.len(), 840);
    *count += 1;
    node.bare(&mail).unwrap();
}

fn rqt(node: &mut Node, rqn: u64) -> u64 {
    let mail = Mail::command("create_rqt_in", op::CREATE_RQT)
        .set("rqt_context.rqt_max_size", 1)
        .set("rqt_context.rqt_actual_size", 1)
        .followed_by(&(rqn as u32).to_be_bytes());
    send(node, mail, 276, "create_rqt_out", "rqtn")
}

fn tir(node: &mut Node, rqtn: u64, kind: Option<(u64, u64)>) -> u64 {
    let mut mail = Mail::command("create_tir_in", op::CREATE_TIR)
        .set("ctx.disp_type", 1)
        .set("ctx.indirect_table", rqtn)
        .set("ctx.transport_domain", node.td)
        .set("ctx.self_lb_block", 3);
    mail = match kind {
        // Direct ones hash nothing.
        None => mail.set("ctx.rx_hash_fn", 1),
        Some((ether_type, protocol)) => {
            // Ports, or the index of IPsec.
            let behind = match protocol {
                6 | 17 => 0xc,
                50 | 51 => 0x10,
                _ => 0,
            };
            mail.set("ctx.rx_hash_fn", 2)
                .set("ctx.rx_hash_symmetric", 1)
                .put("ctx.rx_hash_toeplitz_key", &[0x6d; 40])
                .set("ctx.rx_hash_field_selector_outer.l3_prot_type", (ether_type == 0x86dd).into())
                .set("ctx.rx_hash_field_selector_outer.l4_prot_type", (protocol == 17).into())
                .set("ctx.rx_hash_field_selector_outer.selected_fields", 3 | behind)
        }
    };
    send(node, mail, 272, "create_tir_out", "tirn")
}

/// Address of a destination in match parameters.
fn address(mac: [u8; 6]) -> [(&'static str, u64); 2] {
    let high = u32::from_be_bytes([mac[0], mac[1], mac[2], mac[3]]);
    let low = u16::from_be_bytes([mac[4], mac[5]]);
    [("outer_headers.dmac_47_16", high.into()), ("outer_headers.dmac_15_0", low.into())]
}

impl Netdev {
    fn new(mut node: Node, mac: u8) -> Self {
        let mut count = 0;
        let n = &mut node;
        let anchor = table(n, level::ANCHOR, 0, None, &mut count);
        n.root(0, anchor);
        let tises: Vec<u64> = (0..8)
            .map(|prio| {
                let mail = Mail::command("create_tis_in", op::CREATE_TIS);
                let mail = mail.set("ctx.prio", prio << 1).set("ctx.transport_domain", n.td);
                send(n, mail, 192, "create_tis_out", "tisn")
            })
            .collect();
        let counters = [0, 1].map(|_| {
            let mail = Mail::command("alloc_q_counter_in", op::ALLOC_Q_COUNTER);
            send(n, mail, 16, "alloc_q_counter_out", "counter_set_id")
        });
        // The queue that drops, while the device is down: it has no WQEs and no protection domain.
        let drop_cq = n.cq();
        let (mail, mut drop_rq) = n.rq_mail(&drop_cq, false);
        let mail = mail.set("ctx.counter_set_id", counters[1]).set("ctx.wq.pd", 0);
        drop_rq.number = send(n, mail, 280, "create_rq_out", "rqn");
        n.modify_rq(drop_rq.number, RST, RDY).unwrap();
        let indirect = rqt(n, drop_rq.number);
        let mut tirs: Vec<u64> = TRAFFIC[..10].iter().map(|&kind| tir(n, indirect, Some(kind))).collect();
        let direct = [rqt(n, drop_rq.number), rqt(n, drop_rq.number)];
        tirs.extend(direct.map(|rqtn| tir(n, rqtn, None)));
        let ptp = rqt(n, drop_rq.number);
        tirs.push(tir(n, ptp, None));

        // Four tables of accelerated flows, of which the last rule is for all the rest.
        let mut tables = vec![anchor];
        let arfs: Vec<u64> = (0..4)
            .map(|kind| {
                let arfs = table(n, level::ARFS, 4, Some(anchor), &mut count);
                let (sport, dport) = if kind & 1 == 0 {
                    ("outer_headers.tcp_sport", "outer_headers.tcp_dport")
                } else {
                    ("outer_headers.udp_sport", "outer_headers.udp_dport")
                };
                let mask = [("outer_headers.ethertype", 0xffff), (sport, 0xffff), (dport, 0xffff)];
                group(n, arfs, [0, 14], &mask, &mut count);
                let rest = group(n, arfs, [15, 15], &[], &mut count);
                rule(n, (arfs, rest, 15), &[], (2, tirs[kind]), &mut count);
                if kind == 0 {
                    n.root(0, arfs);
                    count += 1;
                }
                arfs
            })
            .collect();
        tables.extend(&arfs);
        let ttc = table(n, level::TTC, 6, Some(anchor), &mut count);
        n.root(0, ttc);
        let l4 = [("outer_headers.ip_protocol", 0xff), ("outer_headers.ethertype", 0xffff)];
        let groups = [
            group(n, ttc, [0, 31], &l4, &mut count),
            group(n, ttc, [32, 47], &l4[1..], &mut count),
            group(n, ttc, [48, 48], &[], &mut count),
        ];
        for (at, (ether_type, protocol)) in TRAFFIC.into_iter().enumerate() {
            let value = [("outer_headers.ip_protocol", protocol), ("outer_headers.ethertype", ether_type)];
            let index = at as u64;
            let (place, value) = match (ether_type, protocol) {
                (0, _) => ((ttc, groups[2], 48), &value[..0]),
                (_, 0) => ((ttc, groups[1], 24 + index), &value[1..]),
                _ => ((ttc, groups[0], index), &value[..]),
            };
            let to = if at < 4 { (1, arfs[at]) } else { (2, tirs.get(at).copied().unwrap_or(tirs[10])) };
            rule(n, place, value, to, &mut count);
        }
        let l2 = table(n, level::L2, 7, Some(anchor), &mut count);
        n.root(0, l2);
        let exact = address([0xff; 6]);
        let multicast = address([1, 0, 0, 0, 0, 0]);
        let of_l2 = [
            group(n, l2, [0, 63], &exact, &mut count),
            group(n, l2, [64, 64], &multicast[..1], &mut count),
            group(n, l2, [65, 65], &[], &mut count),
        ];
        let vlan = table(n, level::VLAN, 7, Some(anchor), &mut count);
        n.root(0, vlan);
        count += 4;
        let tagged = [("outer_headers.cvlan_tag", 1), ("outer_headers.first_vid", 0xfff)];
        let service = [("outer_headers.svlan_tag", 1), ("outer_headers.first_vid", 0xfff)];
        group(n, vlan, [0, 31], &tagged, &mut count);
        group(n, vlan, [32, 63], &service, &mut count);
        let untagged = group(n, vlan, [64, 64], &tagged[..1], &mut count);
        group(n, vlan, [65, 65], &tagged[..1], &mut count);
        group(n, vlan, [66, 66], &service[..1], &mut count);
        rule(n, (vlan, untagged, 64), &[("outer_headers.cvlan_tag", 0)], (1, l2), &mut count);
        tables.extend([ttc, l2, vlan]);

        // The device goes up: rules for its address and for all stations; the queues of a channel.
        rule(n, (l2, of_l2[0], 0), &address(crate::frame::mac(mac)), (1, ttc), &mut count);
        rule(n, (l2, of_l2[0], 1), &exact, (1, ttc), &mut count);
        let cq = n.cq();
        let (mail, mut rq) = n.rq_mail(&cq, false);
        rq.number = send(n, mail.set("ctx.counter_set_id", counters[0]), 280, "create_rq_out", "rqn");
        n.modify_rq(rq.number, RST, RDY).unwrap();
        n.post_recv(&mut rq, 8, 2048);
        for rqtn in [indirect, direct[0]] {
            let mail = Mail::command("modify_rqt_in", op::MODIFY_RQT)
                .set("rqtn", rqtn)
                .set("bitmask.rqn_list", 1)
                .set("ctx.rqt_actual_size", 1)
                .followed_by(&(rq.number as u32).to_be_bytes());
            n.bare(&mail).unwrap();
        }
        let send_cq = n.cq();
        let sq = n.sq_on(&send_cq, Some(tises[0]));

        let destroy = |name, opcode, field: &str, number| Mail::command(name, opcode).set(field, number);
        let mut destroys: Vec<Mail> =
            tirs.iter().map(|&tir| destroy("destroy_tir_in", op::DESTROY_TIR, "tirn", tir)).collect();
        let rqts = [indirect, direct[0], direct[1], ptp];
        destroys.extend(rqts.map(|rqt| destroy("destroy_rqt_in", op::DESTROY_RQT, "rqtn", rqt)));
        destroys.extend([rq.number, drop_rq.number].map(|rq| destroy("destroy_rq_in", op::DESTROY_RQ, "rqn", rq)));
        destroys.push(destroy("destroy_sq_in", op::DESTROY_SQ, "sqn", sq.number));
        destroys.extend(tises.iter().map(|&tis| destroy("destroy_tis_in", op::DESTROY_TIS, "tisn", tis)));
        let name = "dealloc_q_counter_in";
        destroys.extend(counters.map(|set| destroy(name, op::DEALLOC_Q_COUNTER, "counter_set_id", set)));
        let (channel, sq) = ((cq, rq), (send_cq, sq));
        Self { node, mac, flow_commands: count, tables, drop_rq, channel, sq, destroys }
    }

    /// Everything that has been received: whole frames.
    fn received(&mut self) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        while let Some(cqe) = self.node.poll(&mut self.channel.0) {
            assert_eq!(cqe[63] >> 4, 2);
            let index = u64::from(u16::from_be_bytes([cqe[60], cqe[61]]) % crate::node::RQ_WQES);
            let len = u32::from_be_bytes([cqe[44], cqe[45], cqe[46], cqe[47]]) as usize;
            frames.push(self.node.memory.read(self.channel.1.buffers + index * crate::node::BUFFER, len));
            self.node.post_recv(&mut self.channel.1, 1, 2048);
        }
        frames
    }

    /// Removes a table with all that is in it, as far as indices and groups go.
    fn remove_table(&mut self, table: u64) {
        for index in 0..128 {
            let mail = Mail::command("delete_fte_in", op::DELETE_FTE).set("table_id", table);
            let _ = self.node.bare(&mail.set("flow_index", index));
        }
        for group in 0..16 {
            let mail = Mail::command("destroy_flow_group_in", op::DESTROY_FLOW_GROUP).set("table_id", table);
            let _ = self.node.bare(&mail.set("group_id", group));
        }
        let mail = Mail::command("destroy_flow_table_in", op::DESTROY_FLOW_TABLE);
        self.node.bare(&mail.set("table_id", table)).unwrap();
    }
}

#[test]
fn two_network_devices_come_up_and_find_each_other() {
    let (a, b) = pair();
    let (mut a, mut b) = (Netdev::new(a, 1), Netdev::new(b, 2));
    assert!((45..=55).contains(&a.flow_commands), "{} commands of flow tables", a.flow_commands);
    let exchange = |a: &mut Netdev, b: &mut Netdev, frame: &[u8]| {
        a.node.send(&mut a.sq.1, 0xc0, frame);
        run(&mut [&mut a.node, &mut b.node]);
        a.node.poll_all(&mut a.sq.0);
        (a.received(), b.received())
    };
    let whole = |to: [u8; 6], udp: bool| frame(to, &[], &ipv4(udp, ([10, 0, 0, 1], 1000), ([10, 0, 0, 2], 80), 64));
    let arp = |to: [u8; 6], operation: u8| {
        let mut arp = [&to[..], &mac(1), &[8, 6, 0, 1, 8, 0, 6, 4, 0, operation]].concat();
        arp.resize(60, 0);
        arp
    };
    // Who has it? I have. Then TCP, UDP and something else.
    assert_eq!(exchange(&mut a, &mut b, &arp([0xff; 6], 1)), (vec![], vec![arp([0xff; 6], 1)]));
    let to_a = mac(a.mac);
    assert_eq!(exchange(&mut b, &mut a, &arp(to_a, 2)), (vec![], vec![arp(to_a, 2)]));
    for udp in [false, true] {
        assert_eq!(exchange(&mut a, &mut b, &whole(mac(2), udp)), (vec![], vec![whole(mac(2), udp)]));
    }
    // Frames for a third station, for a group, and with a tag, are not for it.
    for to in [mac(3), [1, 0, 0x5e, 0, 0, 1]] {
        assert_eq!(exchange(&mut a, &mut b, &whole(to, true)), (vec![], vec![]));
    }
    // While a device is down its frames go to the queue that drops them, and count there.
    let mail = Mail::command("modify_rqt_in", op::MODIFY_RQT)
        .set("rqtn", b.destroys[13].get("rqtn"))
        .set("bitmask.rqn_list", 1)
        .set("ctx.rqt_actual_size", 1)
        .followed_by(&(b.drop_rq.number as u32).to_be_bytes());
    b.node.bare(&mail).unwrap();
    assert_eq!(exchange(&mut a, &mut b, &whole(mac(2), true)), (vec![], vec![]));
    let query = Mail::command("query_q_counter_in", op::QUERY_Q_COUNTER).set("counter_set_id", 2);
    assert_eq!(b.node.command(&query, "query_q_counter_out", 0).unwrap().get("out_of_buffer"), 1);
    // Everything goes away in an order in which nothing is in use.
    b.node.modify_rq(b.channel.1.number, RDY, 3).unwrap();
    for table in std::mem::take(&mut b.tables).into_iter().rev() {
        b.remove_table(table);
    }
    for mail in &b.destroys {
        b.node.bare(mail).unwrap_or_else(|status| panic!("{mail:?}: {status:?}"));
    }
    assert_eq!(exchange(&mut a, &mut b, &arp([0xff; 6], 1)).1, Vec::<Vec<u8>>::new());
}

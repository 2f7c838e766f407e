/*
 * QPs for raw packets, and flows, which say who gets what. Prints what went otherwise than expected; the exit code is 1 then. With the
 * argument "no-leftovers" it asks for no flow of what nobody else takes: from 6.16 on Linux refuses these, as it looks for their
 * specifications behind a structure that they are no longer behind (create_leftovers_rule).
 */
#include "frames.h"

static void flows_choose(void)
{
	struct receiver by_mac, by_ip, by_port, by_vlan, stripped;
	make_receiver(&by_mac, 1, 0);
	make_receiver(&by_ip, 2, 0);
	make_receiver(&by_port, 3, 0);
	make_receiver(&by_vlan, 4, 0);
	make_receiver(&stripped, 5, IBV_QP_CREATE_CVLAN_STRIPPING);
	/* Nothing is received without a flow. */
	EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == 0);
	struct flow wanted = flow(4, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	struct ibv_flow *mac = start_flow(by_mac.qp, wanted);
	wanted = flow(3, 0);
	add_ethernet(&wanted, NULL, NULL, -1, 0x0800);
	add_ipv4(&wanted, "10.0.1.0", 24, 0);
	struct ibv_flow *ip = start_flow(by_ip.qp, wanted);
	wanted = flow(2, 0);
	add_ethernet(&wanted, NULL, NULL, -1, 0);
	add_ipv4(&wanted, "", 0, IPPROTO_UDP);
	add_ports(&wanted, IBV_FLOW_SPEC_UDP, 53);
	struct ibv_flow *port = start_flow(by_port.qp, wanted);
	wanted = flow(1, 0);
	add_ethernet(&wanted, other_station, ones, 7, 0);
	struct ibv_flow *vlan = start_flow(by_vlan.qp, wanted);
	wanted = flow(1, 0);
	add_ethernet(&wanted, other_station, ones, 9, 0);
	struct ibv_flow *without = start_flow(stripped.qp, wanted);

	struct frame frame = udp(station, "10.0.0.2", 7);
	EXPECT(who_gets(frame) == 1 << 1 && last_len == frame.len && memcmp(last, frame.bytes, frame.len) == 0);
	EXPECT(who_gets(udp(other_station, "10.0.0.2", 7)) == 0);
	EXPECT(who_gets(udp(station, "10.0.1.77", 7)) == 1 << 2);
	EXPECT(who_gets(udp(station, "10.0.2.77", 7)) == 1 << 1);
	EXPECT(who_gets(udp(station, "10.0.1.77", 53)) == 1 << 3);
	EXPECT(who_gets(udp(other_station, "1.2.3.4", 53)) == 1 << 3);
	EXPECT(who_gets(packet(station, -1, "10.0.0.1", "10.0.1.7", IPPROTO_TCP, 1000, 53)) == 1 << 2);
	frame = packet(other_station, 0x3007, "10.0.0.1", "10.0.1.7", IPPROTO_UDP, 1000, 53);
	EXPECT(who_gets(frame) == 1 << 4 && last_len == frame.len);
	EXPECT(who_gets(packet(other_station, 8, "10.0.0.1", "10.0.3.7", IPPROTO_UDP, 1000, 1)) == 0);
	frame = packet(other_station, 9, "10.0.0.1", "10.0.1.7", IPPROTO_UDP, 1000, 53);
	EXPECT(who_gets(frame) == 1 << 5 && last_len == frame.len - 4);
	EXPECT(memcmp(last, frame.bytes, 12) == 0 && memcmp(last + 12, frame.bytes + 16, frame.len - 16) == 0);

	/* Where one rule is gone, the next one holds. */
	EXPECT(ibv_destroy_flow(port) == 0);
	EXPECT(who_gets(udp(station, "10.0.1.77", 53)) == 1 << 2);
	EXPECT(ibv_destroy_flow(ip) == 0);
	EXPECT(who_gets(udp(station, "10.0.1.77", 53)) == 1 << 1);
	EXPECT(ibv_destroy_qp(by_mac.qp) == EBUSY);
	EXPECT(who_gets(udp(station, "10.0.1.77", 53)) == 1 << 1);
	EXPECT(ibv_destroy_flow(mac) == 0 && ibv_destroy_flow(vlan) == 0 && ibv_destroy_flow(without) == 0);
	EXPECT(who_gets(udp(station, "10.0.1.77", 53)) == 0);
	struct receiver *all[] = { &by_mac, &by_ip, &by_port, &by_vlan, &stripped };
	for (int i = 0; i < 5; i++)
		destroy_receiver(all[i]);
}

static void flows_share(void)
{
	struct receiver one, two, three;
	make_receiver(&one, 1, 0);
	make_receiver(&two, 2, 0);
	make_receiver(&three, 3, 0);
	struct flow wanted = flow(5, 0), watching = flow(2, IBV_FLOW_ATTR_FLAGS_DONT_TRAP), same = flow(5, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	add_ethernet(&watching, station, ones, -1, 0);
	struct ibv_flow *first = start_flow(one.qp, wanted);
	EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == 1 << 1);
	/* Who does not trap leaves frames to others, whatever comes and goes behind it. */
	struct ibv_flow *watcher = start_flow(three.qp, watching);
	EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == (1 << 1 | 1 << 3));
	EXPECT(who_gets(udp(other_station, "10.0.0.2", 7)) == 0);
	/* Rules that match the same, each for its own QP, and twice for one. */
	struct ibv_flow *second = start_flow(two.qp, wanted), *again = start_flow(two.qp, wanted);
	EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == (1 << 1 | 1 << 2 | 1 << 3));
	EXPECT(ibv_destroy_flow(again) == 0);
	EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == (1 << 1 | 1 << 2 | 1 << 3));
	EXPECT(ibv_destroy_flow(first) == 0);
	EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == (1 << 2 | 1 << 3));
	struct flow between = flow(3, 0);
	add_ethernet(&between, station, ones, -1, 0);
	struct ibv_flow *nearer = start_flow(one.qp, between);
	EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == (1 << 1 | 1 << 3));
	EXPECT(ibv_destroy_flow(nearer) == 0 && ibv_destroy_flow(second) == 0);
	EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == 1 << 3);
	EXPECT(ibv_destroy_flow(watcher) == 0);

	/* Dropped before anybody gets it. */
	second = start_flow(two.qp, wanted);
	struct flow dropped = flow(1, 0);
	add_ethernet(&dropped, station, ones, -1, 0x0800);
	add_ipv4(&dropped, "10.6.0.0", 16, 0);
	add_drop(&dropped);
	struct ibv_flow *drop = start_flow(one.qp, dropped);
	EXPECT(who_gets(udp(station, "10.6.5.4", 7)) == 0);
	EXPECT(who_gets(udp(station, "10.7.5.4", 7)) == 1 << 2);
	EXPECT(ibv_destroy_flow(drop) == 0);
	/* What matches the same must do the same. */
	add_ethernet(&same, station, ones, -1, 0);
	add_drop(&same);
	EXPECT(refusal(one.qp, same) == EEXIST);
	same = wanted;
	add_tag(&same, 5);
	EXPECT(refusal(one.qp, same) == EEXIST);
	EXPECT(ibv_destroy_flow(second) == 0);

	destroy_receiver(&one);
	destroy_receiver(&two);
	destroy_receiver(&three);
}

/* What nobody else takes. */
static void flows_are_left_over(void)
{
	struct receiver one, two, three;
	make_receiver(&one, 1, 0);
	make_receiver(&two, 2, 0);
	make_receiver(&three, 3, 0);
	struct flow rest = flow(0, 0);
	rest.attr.type = IBV_FLOW_ATTR_MC_DEFAULT;
	struct ibv_flow *groups = start_flow(one.qp, rest);
	EXPECT(who_gets(udp(group, "239.1.2.3", 7)) == 1 << 1);
	EXPECT(who_gets(udp(other_station, "10.0.0.2", 7)) == 0);
	rest.attr.type = IBV_FLOW_ATTR_ALL_DEFAULT;
	struct ibv_flow *everything = start_flow(two.qp, rest);
	EXPECT(who_gets(udp(group, "239.1.2.3", 7)) == (1 << 1 | 1 << 2));
	EXPECT(who_gets(udp(other_station, "10.0.0.2", 7)) == 1 << 2);
	struct flow to_group = flow(0, 0);
	add_ethernet(&to_group, group, ones, -1, 0);
	struct ibv_flow *member = start_flow(three.qp, to_group);
	EXPECT(who_gets(udp(group, "239.1.2.3", 7)) == 1 << 3);
	EXPECT(ibv_destroy_flow(everything) == 0 && ibv_destroy_flow(groups) == 0 && ibv_destroy_flow(member) == 0);
	destroy_receiver(&one);
	destroy_receiver(&two);
	destroy_receiver(&three);
}

/* A rule's tag comes with what it has chosen. */
static void flows_tag(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .wc_flags = IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_BYTE_LEN };
	struct ibv_cq_ex *cq = NEED(ibv_create_cq_ex(context, &attr));
	struct ibv_cq *before = received;
	struct receiver tagged;
	received = ibv_cq_ex_to_cq(cq);
	make_receiver(&tagged, 7, 0);
	received = before;
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	add_tag(&wanted, 0xabcdef);
	struct ibv_flow *made = start_flow(tagged.qp, wanted);
	EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == 0);
	EXPECT(ibv_start_poll(cq, &(struct ibv_poll_cq_attr){}) == 0);
	EXPECT(cq->status == IBV_WC_SUCCESS && cq->wr_id == 7 && ibv_wc_read_flow_tag(cq) == 0xabcdef);
	ibv_end_poll(cq);
	EXPECT(ibv_destroy_flow(made) == 0);
	destroy_receiver(&tagged);
	EXPECT(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0);
}

static void add_count(struct flow *flow, struct ibv_counters *counters)
{
	struct ibv_flow_spec_counter_action spec = { .type = IBV_FLOW_SPEC_ACTION_COUNT, .size = sizeof(spec), .counters = counters };
	add(flow, &spec, sizeof(spec));
}

/* Two rules count with the same counters, of which one drops. */
static void flows_count(void)
{
	uint64_t counts[3] = { 7, 7, 7 };
	struct receiver one;
	make_receiver(&one, 1, 0);
	struct ibv_counters *counters = NEED(ibv_create_counters(context, &(struct ibv_counters_init_attr){}));
	struct ibv_counter_attach_attr bytes = { .counter_desc = IBV_COUNTER_BYTES, .index = 0 },
		packets = { .counter_desc = IBV_COUNTER_PACKETS, .index = 2 };
	struct flow wanted = flow(5, 0), dropped = flow(4, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	add_count(&wanted, counters);
	add_ethernet(&dropped, other_station, ones, -1, 0);
	add_drop(&dropped);
	add_count(&dropped, counters);
	/* Not without attached counts: libmlx5 refuses that with a lock held (mlx5_create_flow, err_desc_alloc). */
	EXPECT(ibv_attach_counters_point_flow(counters, &bytes, NULL) == 0);
	EXPECT(ibv_attach_counters_point_flow(counters, &packets, NULL) == 0);
	EXPECT(ibv_read_counters(counters, counts, 3, 0) == EINVAL);
	struct flow twice = wanted;
	add_count(&twice, counters);
	EXPECT(refusal(one.qp, twice) == EINVAL);
	struct ibv_flow *taken = start_flow(one.qp, wanted), *drop = start_flow(one.qp, dropped);
	EXPECT(ibv_attach_counters_point_flow(counters, &bytes, NULL) == EBUSY);
	EXPECT(ibv_read_counters(counters, counts, 3, 0) == 0 && counts[0] == 0 && counts[1] == 0 && counts[2] == 0);
	struct frame first = udp(station, "10.0.0.2", 7), second = ethernet(other_station, 5, 0x88b5);
	put(&second, "counted, and dropped", 20);
	EXPECT(who_gets(first) == 1 << 1 && who_gets(second) == 0 && who_gets(udp(group, "239.1.2.3", 7)) == 0);
	EXPECT(who_gets(first) == 1 << 1);
	EXPECT(ibv_read_counters(counters, counts, 3, IBV_READ_COUNTERS_ATTR_PREFER_CACHED) == 0);
	EXPECT(counts[0] == 2 * first.len + second.len && counts[1] == 0 && counts[2] == 3);
	EXPECT(ibv_read_counters(counters, counts, 2, 0) == EINVAL && ibv_read_counters(counters, counts, 3, 2) == EINVAL);
	EXPECT(ibv_destroy_counters(counters) == EBUSY);
	/* The counts outlive the rules, but only a rule makes them readable. */
	EXPECT(ibv_destroy_flow(taken) == 0);
	EXPECT(who_gets(second) == 0 && ibv_read_counters(counters, counts, 3, 0) == 0 && counts[2] == 4);
	EXPECT(ibv_destroy_flow(drop) == 0);
	EXPECT(ibv_read_counters(counters, counts, 3, 0) == EINVAL);
	taken = start_flow(one.qp, wanted);
	EXPECT(ibv_read_counters(counters, counts, 3, 0) == 0 && counts[2] == 4);
	EXPECT(ibv_destroy_flow(taken) == 0);
	EXPECT(ibv_destroy_counters(counters) == 0);
	destroy_receiver(&one);
}

/* Posts a receive that a sniffer fills. */
static void post_sniffed(struct ibv_qp *qp, unsigned slot)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + slot * ROOM, .length = ROOM, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 };
	EXPECT(ibv_post_recv(qp, &wr, &bad) == 0);
}

/* A sniffer has a copy of what is sent, and one of what comes in; others have their own nevertheless. */
static void flows_sniff(void)
{
	enum { FIRST = 32, SLOTS = 16 };
	struct receiver one;
	make_receiver(&one, 1, 0);
	struct flow wanted = flow(0, 0), sniffer = flow(0, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	sniffer.attr.type = IBV_FLOW_ATTR_SNIFFER;
	struct ibv_flow *taken = start_flow(one.qp, wanted);
	struct ibv_cq *sniffed = NEED(ibv_create_cq(context, 64, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(raw_qp_with(pd, sniffed, 0, SLOTS, 0));
	move(qp, IBV_QPS_INIT);
	move(qp, IBV_QPS_RTR);
	for (unsigned slot = FIRST; slot < FIRST + SLOTS; slot++)
		post_sniffed(qp, slot);
	struct ibv_flow *copies = start_flow(qp, sniffer);
	struct frame frame = udp(station, "10.0.0.2", 77);
	EXPECT(who_gets(frame) == 1 << 1 && last_len == frame.len && memcmp(last, frame.bytes, frame.len) == 0);
	for (int found = 0; found < 2;) {
		struct ibv_wc wc = completion(sniffed);
		EXPECT(wc.status == IBV_WC_SUCCESS);
		if (wc.status != IBV_WC_SUCCESS)
			break;
		found += wc.byte_len == frame.len && memcmp(memory + wc.wr_id * ROOM, frame.bytes, frame.len) == 0;
		post_sniffed(qp, wc.wr_id);
	}
	/* The same again for another one; without a rule, nothing. */
	EXPECT(refusal(one.qp, sniffer) == 0);
	EXPECT(ibv_destroy_flow(copies) == 0);
	struct ibv_wc wc;
	while (ibv_poll_cq(sniffed, 1, &wc) == 1)
		;
	EXPECT(who_gets(frame) == 1 << 1 && ibv_poll_cq(sniffed, 1, &wc) == 0);
	EXPECT(ibv_destroy_flow(taken) == 0);
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(sniffed) == 0);
	destroy_receiver(&one);
}

static void flows_are_refused(void)
{
	struct receiver one;
	make_receiver(&one, 1, 0);
	struct flow wanted = flow(0, 0);
	add_ipv4(&wanted, "10.0.0.0", 8, 0);
	struct flow ttl = wanted;
	((struct ibv_flow_spec_ipv4_ext *)ttl.specs)->mask.ttl = 255;
	EXPECT(refusal(one.qp, ttl) == EOPNOTSUPP);
	struct flow outside = wanted;
	((struct ibv_flow_spec_ipv4_ext *)outside.specs)->val.dst_ip |= htonl(1);
	EXPECT(refusal(one.qp, outside) == EINVAL);
	EXPECT(refusal(one.qp, flow(16, 0)) == ENOMEM);
	EXPECT(refusal(one.qp, flow(0, 1)) == EINVAL);
	EXPECT(refusal(one.qp, flow(0, 8)) == EINVAL);
	for (int port = 0; port <= 2; port += 2) {
		struct flow nowhere = wanted;
		nowhere.attr.port = port;
		EXPECT(refusal(one.qp, nowhere) == EINVAL);
	}
	struct flow defaults = flow(0, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
	defaults.attr.type = IBV_FLOW_ATTR_ALL_DEFAULT;
	EXPECT(refusal(one.qp, defaults) == EINVAL);
	/* Not both of IPv4 and IPv6; not both of TCP and UDP. */
	struct flow mixed = flow(0, 0);
	add_ethernet(&mixed, NULL, NULL, -1, 0x86dd);
	add_ipv4(&mixed, "10.0.0.0", 8, 0);
	EXPECT(refusal(one.qp, mixed) == EINVAL);
	mixed = wanted;
	add_ports(&mixed, IBV_FLOW_SPEC_TCP, 1);
	add_ports(&mixed, IBV_FLOW_SPEC_UDP, 1);
	EXPECT(refusal(one.qp, mixed) == EINVAL);
	/* Headers inside of tunnels, and tunnels themselves. */
	struct flow inner = flow(0, 0);
	add_ipv4(&inner, "10.0.0.0", 8, 0);
	((struct ibv_flow_spec_ipv4_ext *)inner.specs)->type |= IBV_FLOW_SPEC_INNER;
	EXPECT(refusal(one.qp, inner) != 0);
	struct flow tunnel = flow(0, 0);
	add(&tunnel, &(struct ibv_flow_spec_tunnel){ .type = IBV_FLOW_SPEC_VXLAN_TUNNEL, .size = sizeof(struct ibv_flow_spec_tunnel),
		.val.tunnel_id = htonl(5), .mask.tunnel_id = htonl(0xffffff) }, sizeof(struct ibv_flow_spec_tunnel));
	EXPECT(refusal(one.qp, tunnel) != 0);
	struct flow esp = flow(0, 0);
	add(&esp, &(struct ibv_flow_spec_esp){ .type = IBV_FLOW_SPEC_ESP, .size = sizeof(struct ibv_flow_spec_esp),
		.mask.spi = 0xffffffff }, sizeof(struct ibv_flow_spec_esp));
	EXPECT(refusal(one.qp, esp) == EOPNOTSUPP);
	struct flow tag = wanted;
	add_tag(&tag, 1 << 24);
	EXPECT(refusal(one.qp, tag) == EINVAL);
	EXPECT(refusal(sender, wanted) == EINVAL || sender_context != context);
	/* All that was refused has left nothing behind. */
	EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == 0);
	EXPECT(refusal(one.qp, wanted) == 0);
	destroy_receiver(&one);
}

/* Receives of QPs wait, are flushed, and begin anew. */
static void qps_have_states(void)
{
	struct receiver one;
	make_receiver(&one, 1, 0);
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	struct ibv_flow *made = start_flow(one.qp, wanted);
	struct frame frame = udp(station, "10.0.0.2", 7);
	EXPECT(who_gets(frame) == 1 << 1);
	move(one.qp, IBV_QPS_ERR);
	struct ibv_wc wc = completion(received);
	EXPECT(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 1);
	EXPECT(who_gets(frame) == 0);
	move(one.qp, IBV_QPS_RESET);
	EXPECT(who_gets(frame) == 0);
	/* libmlx5 keeps what is posted before RTR to itself. */
	move(one.qp, IBV_QPS_INIT);
	post_receive(&one);
	EXPECT(who_gets(frame) == 0);
	move(one.qp, IBV_QPS_RTR);
	EXPECT(who_gets(frame) == 1 << 1);
	/* One frame is longer than the receive; the next one is not. */
	struct frame longer = ethernet(station, -1, 0x88b5);
	struct ibv_sge sge = { .addr = (uintptr_t)memory + ROOM, .length = 20, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, recv = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };
	while (longer.len < 60)
		put(&longer, "..", 2);
	EXPECT(who_gets(frame) == 1 << 1);
	/* The receive that who_gets has posted comes first. */
	EXPECT(ibv_post_recv(one.qp, &recv, &bad) == 0);
	EXPECT(who_gets(longer) == 1 << 1);
	post(&longer);
	wc = completion(received);
	EXPECT(wc.status == IBV_WC_LOC_LEN_ERR && wc.wr_id == 1);
	EXPECT(who_gets(frame) == 1 << 1);
	EXPECT(ibv_destroy_flow(made) == 0);
	destroy_receiver(&one);
}

/* Packets longer than a frame are cut up: each part arrives with headers of its own. */
static void long_packets_are_cut_up(void)
{
	enum { HEADERS = 54, PART = 100, PARTS = 4 };
	struct ibv_qp_init_attr_ex attr = { .send_cq = sent, .recv_cq = sent, .qp_type = IBV_QPT_RAW_PACKET, .pd = sender_pd,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 }, .max_tso_header = HEADERS,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_MAX_TSO_HEADER };
	struct ibv_qp *qp = NEED(ibv_create_qp_ex(sender_context, &attr));
	move(qp, IBV_QPS_INIT);
	move(qp, IBV_QPS_RTR);
	move(qp, IBV_QPS_RTS);
	struct receiver one;
	make_receiver(&one, 1, 0);
	for (int i = 1; i < PARTS; i++)
		post_receive(&one);
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	struct ibv_flow *made = start_flow(one.qp, wanted);
	struct frame headers = packet(station, -1, "10.0.0.1", "10.0.0.2", IPPROTO_TCP, 1, 2);
	headers.len = HEADERS;
	for (int i = 0; i < PART * PARTS; i++)
		frame_memory[i] = i / PART + 'a';
	struct ibv_sge sge = { .addr = (uintptr_t)frame_memory, .length = PART * PARTS, .lkey = sender_mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_TSO, .send_flags = IBV_SEND_SIGNALED,
		.tso = { .hdr = headers.bytes, .hdr_sz = HEADERS, .mss = PART } };
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
	EXPECT(completion(sent).status == IBV_WC_SUCCESS);
	const unsigned char *part = (unsigned char *)memory + ROOM;
	for (int i = 0; i < PARTS; i++) {
		/* Each in the same buffer, so the content that counts is the last one's. */
		struct ibv_wc wc = completion(received);
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == 1 && wc.byte_len == HEADERS + PART);
	}
	EXPECT(memcmp(part, headers.bytes, 16) == 0 && part[HEADERS] == 'd' && part[HEADERS + PART - 1] == 'd');
	/* The packet's length, and the sequence number of its first byte. */
	EXPECT(part[16] == 0 && part[17] == HEADERS - 14 + PART);
	EXPECT(part[38] == 0 && part[39] == 0 && part[40] == (PARTS - 1) * PART >> 8 && part[41] == ((PARTS - 1) * PART & 255));
	EXPECT(ibv_destroy_flow(made) == 0);
	destroy_receiver(&one);
	EXPECT(ibv_destroy_qp(qp) == 0);
}

static int arrived_in_100_ms(void)
{
	struct ibv_wc wc;
	poll(NULL, 0, 100);
	return ibv_poll_cq(received, 1, &wc);
}

/* A program does not receive its own frames, as long as it has opened the device only once. */
static int own_frames_need_two_contexts(void)
{
	start();
	sender_pd = pd;
	sent = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	received = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
	sender_mr = NEED(ibv_reg_mr(pd, frame_memory, sizeof(frame_memory), 0));
	sender = NEED(raw_qp_with(pd, sent, 16, 0, 0));
	move(sender, IBV_QPS_INIT);
	move(sender, IBV_QPS_RTR);
	move(sender, IBV_QPS_RTS);
	struct receiver one;
	make_receiver(&one, 1, 0);
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	struct ibv_flow *made = start_flow(one.qp, wanted);
	const struct frame unicast = packet(station, -1, "10.0.0.1", "10.0.0.2", IPPROTO_UDP, 1, 2);
	post(&unicast);
	EXPECT(arrived_in_100_ms() == 0);
	struct ibv_context *other = open_first();
	post(&unicast);
	EXPECT(completion(received).byte_len == unicast.len);
	post_receive(&one);
	EXPECT(ibv_close_device(other) == 0);
	post(&unicast);
	EXPECT(arrived_in_100_ms() == 0);
	EXPECT(ibv_destroy_flow(made) == 0);
	destroy_receiver(&one);
	EXPECT(ibv_destroy_qp(sender) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(sender_mr) == 0);
	EXPECT(ibv_destroy_cq(received) == 0 && ibv_destroy_cq(sent) == 0);
	return finish();
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "alone") == 0)
		return own_frames_need_two_contexts();
	begin();
	flows_choose();
	flows_share();
	if (argc < 2 || strcmp(argv[1], "no-leftovers") != 0)
		flows_are_left_over();
	flows_tag();
	flows_count();
	flows_sniff();
	flows_are_refused();
	qps_have_states();
	long_packets_are_cut_up();
	return end();
}

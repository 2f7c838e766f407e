/*
 * What receives Ethernet frames: QPs for raw packets, work queues, tables of them, and flows, which say who gets what. Prints what
 * went otherwise than expected; the exit code is 1 then. It runs on the uverbs object and on a kernel's driver alike: frames go
 * from one open device to another one, so that the driver has those of the device itself come back in. With the argument
 * "no-leftovers" it asks for no flow of what nobody else takes: from 6.16 on Linux refuses these, as it looks for their
 * specifications behind a structure that they are no longer behind (create_leftovers_rule). With the argument "infiniband" it expects
 * ports that have nothing of all that.
 */
#include "prelude.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <time.h>

enum { QUEUES = 16, DEPTH = 32, ROOM = 256, MARKER = 60, SHARED = 61 };

static struct ibv_context *sender_context;
static struct ibv_pd *sender_pd;
static struct ibv_qp *sender;
static struct ibv_cq *sent, *received;
static struct ibv_mr *mr, *sender_mr;
static char frame_memory[2048];
/* Bytes of the frame that came last, and its beginning. */
static uint32_t last_len;
static unsigned char last[ROOM];

static const uint8_t source_mac[6] = { 2, 0, 0, 0, 0, 1 }, station[6] = { 2, 0, 0, 0, 0, 2 },
	other_station[6] = { 2, 0, 0, 0, 0, 3 }, marker_station[6] = { 2, 0, 0, 0, 0, 0x99 },
	group[6] = { 1, 0, 0x5e, 0x7f, 0x12, 0x34 }, ones[6] = { 255, 255, 255, 255, 255, 255 };

static struct ibv_wc completion(struct ibv_cq *cq)
{
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		if (ibv_poll_cq(cq, 1, &wc) == 1)
			return wc;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < begin.tv_sec + 10);
	printf("nothing came\n");
	failures++;
	return wc;
}

/* ---- frames ---- */

struct frame {
	unsigned char bytes[200];
	uint32_t len;
};

static void put(struct frame *frame, const void *bytes, uint32_t len)
{
	memcpy(frame->bytes + frame->len, bytes, len);
	frame->len += len;
}

static void put16(struct frame *frame, unsigned value)
{
	put(frame, &(uint16_t){ htons(value) }, 2);
}

static struct frame ethernet(const uint8_t *to, int vlan, unsigned type)
{
	struct frame frame = {};
	put(&frame, to, 6);
	put(&frame, source_mac, 6);
	if (vlan >= 0) {
		put16(&frame, 0x8100);
		put16(&frame, vlan);
	}
	put16(&frame, type);
	return frame;
}

/* TCP or UDP over IPv4 or IPv6, with 8 bytes of data; checksums do not count here. */
static struct frame packet(const uint8_t *to, int vlan, const char *source, const char *destination, int protocol, unsigned from,
			   unsigned port)
{
	unsigned char address[2][16], zeros[40] = {};
	int v6 = strchr(source, ':') != NULL, header = protocol == IPPROTO_TCP ? 20 : 8;
	EXPECT(inet_pton(v6 ? AF_INET6 : AF_INET, source, address[0]) == 1);
	EXPECT(inet_pton(v6 ? AF_INET6 : AF_INET, destination, address[1]) == 1);
	struct frame frame = ethernet(to, vlan, v6 ? 0x86dd : 0x0800);
	if (v6) {
		put(&frame, (unsigned char[]){ 0x60, 0, 0, 0, 0, header + 8, protocol, 64 }, 8);
	} else {
		put(&frame, (unsigned char[]){ 0x45, 0, 0, 20 + header + 8, 0, 0, 0x40, 0, 64, protocol, 0, 0 }, 12);
	}
	put(&frame, address[0], v6 ? 16 : 4);
	put(&frame, address[1], v6 ? 16 : 4);
	put16(&frame, from);
	put16(&frame, port);
	if (protocol == IPPROTO_TCP) {
		put(&frame, zeros, 8);
		put(&frame, (unsigned char[]){ 0x50, 0x10, 1, 0, 0, 0, 0, 0 }, 8);
	} else {
		put16(&frame, header + 8);
		put16(&frame, 0);
	}
	put(&frame, "12345678", 8);
	return frame;
}

static void post(const struct frame *frame)
{
	memcpy(frame_memory, frame->bytes, frame->len);
	struct ibv_sge sge = { .addr = (uintptr_t)frame_memory, .length = frame->len, .lkey = sender_mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	EXPECT(ibv_post_send(sender, &wr, &bad) == 0);
	EXPECT(completion(sent).status == IBV_WC_SUCCESS);
}

/* ---- receivers ---- */

struct receiver {
	struct ibv_qp *qp;
	struct ibv_wq *wq;
	unsigned number;
};

static struct receiver *receivers[64];

static void post_receive(struct receiver *to)
{
	char *at = memory + (to->number % 64) * ROOM;
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = ROOM, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = to->number, .sg_list = &sge, .num_sge = 1 };
	EXPECT((to->wq ? ibv_post_wq_recv(to->wq, &wr, &bad) : ibv_post_recv(to->qp, &wr, &bad)) == 0);
}

static void move(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .qp_state = to, .port_num = 1 };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | (to == IBV_QPS_INIT ? IBV_QP_PORT : 0)) == 0);
}

static struct ibv_qp *raw_qp_with(struct ibv_pd *domain, struct ibv_cq *cq, int sends, int receives, unsigned flags)
{
	struct ibv_qp_init_attr_ex attr = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RAW_PACKET, .pd = domain,
		.cap = { .max_send_wr = sends, .max_recv_wr = receives, .max_send_sge = sends != 0, .max_recv_sge = receives != 0 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS, .create_flags = flags };
	return ibv_create_qp_ex(domain->context, &attr);
}

/* A QP for raw packets that receives. */
static void make_receiver(struct receiver *made, unsigned number, unsigned flags)
{
	*made = (struct receiver){ .number = number, .qp = NEED(raw_qp_with(pd, received, number % 2, DEPTH, flags)) };
	move(made->qp, IBV_QPS_INIT);
	move(made->qp, IBV_QPS_RTR);
	receivers[number] = made;
	post_receive(made);
}

static void destroy_receiver(struct receiver *receiver)
{
	receivers[receiver->number] = NULL;
	EXPECT(ibv_destroy_qp(receiver->qp) == 0);
}

static struct ibv_wq *make_wq(unsigned max_wr, unsigned flags)
{
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ, .max_wr = max_wr, .max_sge = 1, .pd = pd, .cq = received,
		.comp_mask = flags ? IBV_WQ_INIT_ATTR_FLAGS : 0, .create_flags = flags };
	return ibv_create_wq(context, &attr);
}

static int move_wq(struct ibv_wq *wq, enum ibv_wq_state to)
{
	return ibv_modify_wq(wq, &(struct ibv_wq_attr){ .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = to });
}

/* ---- flows ---- */

struct flow {
	struct ibv_flow_attr attr;
	char specs[512];
};

static void add(struct flow *flow, const void *spec, uint16_t size)
{
	memcpy((char *)flow + flow->attr.size, spec, size);
	flow->attr.size += size;
	flow->attr.num_of_specs++;
}

static struct flow flow(uint16_t priority, uint32_t flags)
{
	return (struct flow){ .attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(struct ibv_flow_attr), .priority = priority,
		.port = 1, .flags = flags } };
}

static void add_ethernet(struct flow *flow, const uint8_t *to, const uint8_t *mask, int vlan, unsigned type)
{
	struct ibv_flow_spec_eth spec = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(spec) };
	if (to) {
		memcpy(spec.val.dst_mac, to, 6);
		memcpy(spec.mask.dst_mac, mask, 6);
	}
	if (vlan >= 0) {
		spec.val.vlan_tag = htons(vlan);
		spec.mask.vlan_tag = htons(0xfff);
	}
	if (type) {
		spec.val.ether_type = htons(type);
		spec.mask.ether_type = 0xffff;
	}
	add(flow, &spec, sizeof(spec));
}

static void add_ipv4(struct flow *flow, const char *to, uint8_t bits, uint8_t protocol)
{
	struct ibv_flow_spec_ipv4_ext spec = { .type = IBV_FLOW_SPEC_IPV4_EXT, .size = sizeof(spec) };
	spec.mask.dst_ip = htonl(bits ? ~0u << (32 - bits) : 0);
	if (bits)
		spec.val.dst_ip = inet_addr(to) & spec.mask.dst_ip;
	if (protocol) {
		spec.val.proto = protocol;
		spec.mask.proto = 0xff;
	}
	add(flow, &spec, sizeof(spec));
}

static void add_ipv6(struct flow *flow, const char *to)
{
	struct ibv_flow_spec_ipv6 spec = { .type = IBV_FLOW_SPEC_IPV6, .size = sizeof(spec) };
	EXPECT(inet_pton(AF_INET6, to, spec.val.dst_ip) == 1);
	memset(spec.mask.dst_ip, 255, 16);
	add(flow, &spec, sizeof(spec));
}

static void add_ports(struct flow *flow, enum ibv_flow_spec_type type, uint16_t port)
{
	struct ibv_flow_spec_tcp_udp spec = { .type = type, .size = sizeof(spec),
		.val.dst_port = htons(port), .mask.dst_port = port ? 0xffff : 0 };
	add(flow, &spec, sizeof(spec));
}

static void add_tag(struct flow *flow, uint32_t tag)
{
	struct ibv_flow_spec_action_tag spec = { .type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof(spec), .tag_id = tag };
	add(flow, &spec, sizeof(spec));
}

static void add_drop(struct flow *flow)
{
	struct ibv_flow_spec_action_drop spec = { .type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof(spec) };
	add(flow, &spec, sizeof(spec));
}

static struct ibv_flow *start_flow(struct ibv_qp *qp, struct flow wanted)
{
	return NEED(ibv_create_flow(qp, &wanted.attr));
}

/* The error that a flow is refused with; 0 if it is not. */
static int refusal(struct ibv_qp *qp, struct flow wanted)
{
	errno = 0;
	struct ibv_flow *made = ibv_create_flow(qp, &wanted.attr);
	if (!made)
		return errno;
	EXPECT(ibv_destroy_flow(made) == 0);
	return 0;
}

/* Sends a frame, and one for the marker. Who got the first, a bit for each; all post a receive again. */
static uint64_t who_gets(struct frame frame)
{
	struct frame last_frame = ethernet(marker_station, -1, 0x88b5);
	put(&last_frame, "the last one", 12);
	post(&frame);
	post(&last_frame);
	uint64_t got = 0;
	for (;;) {
		struct ibv_wc wc = completion(received);
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id < 64);
		if (wc.status != IBV_WC_SUCCESS || wc.wr_id >= 64 || !receivers[wc.wr_id])
			return ~0ull;
		if (wc.wr_id != MARKER) {
			EXPECT(!(got >> wc.wr_id & 1));
			got |= 1ull << wc.wr_id;
			last_len = wc.byte_len;
			memcpy(last, memory + wc.wr_id * ROOM, ROOM);
		}
		post_receive(receivers[wc.wr_id]);
		if (wc.wr_id == MARKER)
			return got;
	}
}

/* ---- what is tried ---- */

static struct frame udp(const uint8_t *to, const char *destination, unsigned port)
{
	return packet(to, -1, "10.0.0.1", destination, IPPROTO_UDP, 1000, port);
}

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
	struct flow sniffer = flow(0, 0);
	sniffer.attr.type = IBV_FLOW_ATTR_SNIFFER;
	EXPECT(refusal(one.qp, sniffer) == EOPNOTSUPP);
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

/* Microsoft, "Verifying the RSS hash calculation". */
static const uint8_t key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct {
	const char *destination, *source;
	unsigned port, from;
	uint32_t addresses, with_ports;
} published[] = {
	{ "161.142.100.80", "66.9.149.187", 1766, 2794, 0x323e8fc2, 0x51ccc178 },
	{ "65.69.140.83", "199.92.111.2", 4739, 14230, 0xd718262a, 0xc626b0ea },
	{ "12.22.207.184", "24.19.198.95", 38024, 12898, 0xd2d0a5de, 0x5c2b394a },
	{ "209.142.163.6", "38.27.205.30", 2217, 48228, 0x82989176, 0xafc7327f },
	{ "202.188.127.2", "153.39.163.191", 1303, 44251, 0x5d1809c5, 0x10e828a2 },
	{ "3ffe:2501:200:3::1", "3ffe:2501:200:1fff::7", 1766, 2794, 0x2cc18cd5, 0x40207d3d },
	{ "ff02::1", "3ffe:501:8::260:97ff:fe40:efab", 4739, 14230, 0x0f0c461c, 0xdde51bbf },
	{ "fe80::200:f8ff:fe21:67cf", "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 38024, 44251, 0x4b61e985, 0x02d1feef },
};

static struct ibv_qp *rss_qp(struct ibv_rwq_ind_table *table, uint64_t fields, uint8_t function, uint8_t key_len)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RAW_PACKET, .pd = pd, .rwq_ind_tbl = table,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.rx_hash_conf = { .rx_hash_function = function, .rx_hash_key_len = key_len, .rx_hash_key = (uint8_t *)key,
			.rx_hash_fields_mask = fields } };
	errno = 0;
	return ibv_create_qp_ex(context, &attr);
}

static int rss_refusal(struct ibv_rwq_ind_table *table, uint64_t fields, uint8_t function, uint8_t key_len)
{
	struct ibv_qp *made = rss_qp(table, fields, function, key_len);
	if (!made)
		return errno;
	EXPECT(ibv_destroy_qp(made) == 0);
	return 0;
}

static struct ibv_rwq_ind_table *make_table(struct ibv_wq **wqs, int log_size)
{
	struct ibv_rwq_ind_table_init_attr attr = { .log_ind_tbl_size = log_size, .ind_tbl = wqs };
	return ibv_create_rwq_ind_table(context, &attr);
}

/* All published hashes of a protocol: each frame goes to the work queue that the table has at the hash's lowest bits. */
static void spreads(struct ibv_qp *qp, const unsigned *order, int v6, int protocol, int with_ports)
{
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	struct ibv_flow *made = start_flow(qp, wanted);
	for (unsigned i = 0; i < sizeof(published) / sizeof(*published); i++) {
		if ((strchr(published[i].source, ':') != NULL) != v6)
			continue;
		uint32_t hash = with_ports ? published[i].with_ports : published[i].addresses;
		uint64_t got = who_gets(packet(station, -1, published[i].source, published[i].destination, protocol,
					       published[i].from, published[i].port));
		EXPECT(got == 1ull << order[hash % QUEUES]);
	}
	EXPECT(ibv_destroy_qp(qp) == EBUSY);
	EXPECT(ibv_destroy_flow(made) == 0);
	EXPECT(ibv_destroy_qp(qp) == 0);
}

static void tables_spread(void)
{
	struct receiver all[QUEUES];
	struct ibv_wq *wqs[QUEUES];
	unsigned order[QUEUES];
	for (unsigned i = 0; i < QUEUES; i++) {
		all[i] = (struct receiver){ .number = i, .wq = NEED(make_wq(DEPTH, 0)) };
		receivers[i] = &all[i];
		EXPECT(move_wq(all[i].wq, IBV_WQS_RDY) == 0);
		post_receive(&all[i]);
	}
	for (unsigned i = 0; i < QUEUES; i++) {
		order[i] = i * 5 % QUEUES;
		wqs[i] = all[order[i]].wq;
	}
	struct ibv_rwq_ind_table *table = NEED(make_table(wqs, 4));
	const uint64_t v4 = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4, v6 = IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6,
		       tcp = IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP,
		       udp_ports = IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
	const uint8_t toeplitz = IBV_RX_HASH_FUNC_TOEPLITZ;
	spreads(NEED(rss_qp(table, v4, toeplitz, 40)), order, 0, IPPROTO_TCP, 0);
	spreads(NEED(rss_qp(table, v4 | tcp, toeplitz, 40)), order, 0, IPPROTO_TCP, 1);
	spreads(NEED(rss_qp(table, v4 | tcp, toeplitz, 40)), order, 0, IPPROTO_UDP, 0);
	spreads(NEED(rss_qp(table, v4 | udp_ports, toeplitz, 40)), order, 0, IPPROTO_UDP, 1);
	spreads(NEED(rss_qp(table, v6, toeplitz, 40)), order, 1, IPPROTO_UDP, 0);
	spreads(NEED(rss_qp(table, v6 | tcp, toeplitz, 40)), order, 1, IPPROTO_TCP, 1);
	spreads(NEED(rss_qp(table, v6 | udp_ports, toeplitz, 40)), order, 1, IPPROTO_UDP, 1);

	EXPECT(rss_refusal(table, v4 | v6, toeplitz, 40) == EINVAL);
	EXPECT(rss_refusal(table, v4 | tcp | udp_ports, toeplitz, 40) == EINVAL);
	EXPECT(rss_refusal(table, 0, toeplitz, 40) == EINVAL);
	EXPECT(rss_refusal(table, v4, toeplitz, 39) == EINVAL);
	EXPECT(rss_refusal(table, v4, 0, 40) == EOPNOTSUPP);
	EXPECT(rss_refusal(table, v4 | IBV_RX_HASH_INNER, toeplitz, 40) == EOPNOTSUPP);

	/* Users go before what they use. */
	struct ibv_qp *qp = NEED(rss_qp(table, v4, toeplitz, 40));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	EXPECT(qp->qp_num == 0 && ibv_modify_qp(qp, &attr, IBV_QP_STATE) != 0);
	EXPECT(ibv_destroy_rwq_ind_table(table) == EBUSY);
	EXPECT(ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_destroy_wq(all[3].wq) == EBUSY);
	EXPECT(ibv_destroy_rwq_ind_table(table) == 0);
	/* A table of one, without a hash. */
	table = NEED(make_table(wqs, 0));
	qp = NEED(rss_qp(table, 0, toeplitz, 40));
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, NULL, NULL, -1, 0);
	add_ipv6(&wanted, "fd00::5");
	struct ibv_flow *made = start_flow(qp, wanted);
	EXPECT(who_gets(packet(station, -1, "fd00::1", "fd00::5", IPPROTO_UDP, 1, 2)) == 1ull << order[0]);
	EXPECT(who_gets(packet(station, -1, "fd00::1", "fd00::6", IPPROTO_UDP, 1, 2)) == 0);
	EXPECT(ibv_destroy_flow(made) == 0 && ibv_destroy_qp(qp) == 0 && ibv_destroy_rwq_ind_table(table) == 0);
	for (unsigned i = 0; i < QUEUES; i++) {
		receivers[i] = NULL;
		EXPECT(ibv_destroy_wq(all[i].wq) == 0);
	}
}

static void queues_have_states(void)
{
	struct receiver one = { .number = SHARED, .wq = NEED(make_wq(4, 0)) };
	receivers[SHARED] = &one;
	struct ibv_rwq_ind_table *table = NEED(make_table(&one.wq, 0));
	struct ibv_qp *qp = NEED(rss_qp(table, 0, IBV_RX_HASH_FUNC_TOEPLITZ, 40));
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	struct ibv_flow *made = start_flow(qp, wanted);
	struct frame frame = packet(station, 5, "10.0.0.1", "10.0.0.2", IPPROTO_UDP, 1, 2);
	EXPECT(who_gets(frame) == 0);
	EXPECT(move_wq(one.wq, IBV_WQS_RDY) == 0);
	post_receive(&one);
	EXPECT(who_gets(frame) == 1ull << SHARED && last_len == frame.len);
	/* Tags are taken out, or not, from one frame to the next. */
	struct ibv_wq_attr flags = { .attr_mask = IBV_WQ_ATTR_FLAGS, .flags = IBV_WQ_FLAGS_CVLAN_STRIPPING,
		.flags_mask = IBV_WQ_FLAGS_CVLAN_STRIPPING };
	EXPECT(ibv_modify_wq(one.wq, &flags) == 0);
	EXPECT(who_gets(frame) == 1ull << SHARED && last_len == frame.len - 4);
	flags.flags = 0;
	EXPECT(ibv_modify_wq(one.wq, &flags) == 0);
	EXPECT(who_gets(frame) == 1ull << SHARED && last_len == frame.len);
	flags.flags_mask = IBV_WQ_FLAGS_PCI_WRITE_END_PADDING;
	EXPECT(ibv_modify_wq(one.wq, &flags) == EOPNOTSUPP);
	/* What waits is flushed. */
	EXPECT(move_wq(one.wq, IBV_WQS_ERR) == 0);
	struct ibv_wc wc = completion(received);
	EXPECT(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == SHARED);
	EXPECT(who_gets(frame) == 0);
	EXPECT(move_wq(one.wq, IBV_WQS_RDY) == EINVAL);
	EXPECT(move_wq(one.wq, IBV_WQS_RESET) == 0 && move_wq(one.wq, IBV_WQS_RDY) == 0);
	post_receive(&one);
	EXPECT(who_gets(frame) == 1ull << SHARED);
	EXPECT(ibv_destroy_flow(made) == 0 && ibv_destroy_qp(qp) == 0 && ibv_destroy_rwq_ind_table(table) == 0);
	receivers[SHARED] = NULL;
	EXPECT(ibv_destroy_wq(one.wq) == 0);

	errno = 0;
	EXPECT(!make_wq(DEPTH, IBV_WQ_FLAGS_SCATTER_FCS) && errno == EOPNOTSUPP);
	EXPECT(!make_wq(DEPTH, IBV_WQ_FLAGS_PCI_WRITE_END_PADDING) && errno == EOPNOTSUPP);
	EXPECT(!make_wq(1 << 20, 0) && errno == EINVAL);
	/* The largest. */
	EXPECT(ibv_destroy_wq(NEED(make_wq(1 << 15, 0))) == 0);
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

/* Ports without Ethernet have none of it. */
static void nothing_on_infiniband(void)
{
	struct ibv_device_attr_ex device;
	EXPECT(ibv_query_device_ex(context, NULL, &device) == 0);
	EXPECT(device.raw_packet_caps == 0 && device.max_wq_type_rq == 0 && device.rss_caps.supported_qpts == 0);
	EXPECT(device.tso_caps.max_tso == 0 && device.rss_caps.rx_hash_function == 0);
	EXPECT(!(device.orig_attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING));
	received = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	errno = 0;
	EXPECT(!make_wq(DEPTH, 0) && errno == EOPNOTSUPP);
	EXPECT(!raw_qp_with(pd, received, 1, 1, 0));
	EXPECT(ibv_destroy_cq(received) == 0);
}

int main(int argc, char **argv)
{
	start();
	if (argc > 1 && strcmp(argv[1], "infiniband") == 0) {
		nothing_on_infiniband();
		return finish();
	}
	sender_context = open_first();
	sender_pd = NEED(ibv_alloc_pd(sender_context));
	sent = NEED(ibv_create_cq(sender_context, 16, NULL, NULL, 0));
	received = NEED(ibv_create_cq(context, 1024, NULL, NULL, 0));
	mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
	sender_mr = NEED(ibv_reg_mr(sender_pd, frame_memory, sizeof(frame_memory), 0));
	struct ibv_device_attr_ex device;
	EXPECT(ibv_query_device_ex(context, NULL, &device) == 0);
	EXPECT(device.raw_packet_caps == (IBV_RAW_PACKET_CAP_CVLAN_STRIPPING | IBV_RAW_PACKET_CAP_IP_CSUM));
	EXPECT(device.rss_caps.supported_qpts == 1 << IBV_QPT_RAW_PACKET && device.rss_caps.rx_hash_function == 1);
	EXPECT(device.rss_caps.max_rwq_indirection_table_size == 2048 && device.max_wq_type_rq >= 1024);
	EXPECT(device.orig_attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING);
	EXPECT(device.tso_caps.max_tso == 1 << 18 && device.tso_caps.supported_qpts == 1 << IBV_QPT_RAW_PACKET);

	sender = NEED(raw_qp_with(sender_pd, sent, 16, 0, 0));
	move(sender, IBV_QPS_INIT);
	move(sender, IBV_QPS_RTR);
	move(sender, IBV_QPS_RTS);
	struct receiver marker;
	make_receiver(&marker, MARKER, 0);
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, marker_station, ones, -1, 0);
	struct ibv_flow *marked = start_flow(marker.qp, wanted);
	flows_choose();
	flows_share();
	if (argc < 2 || strcmp(argv[1], "no-leftovers") != 0)
		flows_are_left_over();
	flows_tag();
	flows_are_refused();
	tables_spread();
	queues_have_states();
	qps_have_states();
	EXPECT(ibv_destroy_cq(received) == EBUSY);
	EXPECT(ibv_destroy_flow(marked) == 0);
	destroy_receiver(&marker);
	EXPECT(ibv_destroy_qp(sender) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(sender_mr) == 0);
	EXPECT(ibv_destroy_cq(received) == 0 && ibv_destroy_cq(sent) == 0);
	EXPECT(ibv_dealloc_pd(sender_pd) == 0 && ibv_close_device(sender_context) == 0);
	return finish();
}

/*
 * What the programs about receivers of Ethernet frames have in common: frames, receivers, flows, and who gets what. They run on the
 * uverbs object and on a kernel's driver alike: frames go from one open device to another one, so that the driver has those of the
 * device itself come back in.
 */
#include "prelude.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
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

static inline struct ibv_wc completion(struct ibv_cq *cq)
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

static inline void put(struct frame *frame, const void *bytes, uint32_t len)
{
	memcpy(frame->bytes + frame->len, bytes, len);
	frame->len += len;
}

static inline void put16(struct frame *frame, unsigned value)
{
	put(frame, &(uint16_t){ htons(value) }, 2);
}

static inline struct frame ethernet(const uint8_t *to, int vlan, unsigned type)
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
static inline struct frame packet(const uint8_t *to, int vlan, const char *source, const char *destination, int protocol, unsigned from,
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

static inline void post(const struct frame *frame)
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

static inline void post_receive(struct receiver *to)
{
	char *at = memory + (to->number % 64) * ROOM;
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = ROOM, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = to->number, .sg_list = &sge, .num_sge = 1 };
	EXPECT((to->wq ? ibv_post_wq_recv(to->wq, &wr, &bad) : ibv_post_recv(to->qp, &wr, &bad)) == 0);
}

static inline void move(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .qp_state = to, .port_num = 1 };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | (to == IBV_QPS_INIT ? IBV_QP_PORT : 0)) == 0);
}

static inline struct ibv_qp *raw_qp_with(struct ibv_pd *domain, struct ibv_cq *cq, int sends, int receives, unsigned flags)
{
	struct ibv_qp_init_attr_ex attr = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RAW_PACKET, .pd = domain,
		.cap = { .max_send_wr = sends, .max_recv_wr = receives, .max_send_sge = sends != 0, .max_recv_sge = receives != 0 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS, .create_flags = flags };
	return ibv_create_qp_ex(domain->context, &attr);
}

/* A QP for raw packets that receives. */
static inline void make_receiver(struct receiver *made, unsigned number, unsigned flags)
{
	*made = (struct receiver){ .number = number, .qp = NEED(raw_qp_with(pd, received, number % 2, DEPTH, flags)) };
	move(made->qp, IBV_QPS_INIT);
	move(made->qp, IBV_QPS_RTR);
	receivers[number] = made;
	post_receive(made);
}

static inline void destroy_receiver(struct receiver *receiver)
{
	receivers[receiver->number] = NULL;
	EXPECT(ibv_destroy_qp(receiver->qp) == 0);
}

/* ---- flows ---- */

struct flow {
	struct ibv_flow_attr attr;
	char specs[512];
};

static inline void add(struct flow *flow, const void *spec, uint16_t size)
{
	memcpy((char *)flow + flow->attr.size, spec, size);
	flow->attr.size += size;
	flow->attr.num_of_specs++;
}

static inline struct flow flow(uint16_t priority, uint32_t flags)
{
	return (struct flow){ .attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(struct ibv_flow_attr), .priority = priority,
		.port = 1, .flags = flags } };
}

static inline void add_ethernet(struct flow *flow, const uint8_t *to, const uint8_t *mask, int vlan, unsigned type)
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

static inline void add_ipv4(struct flow *flow, const char *to, uint8_t bits, uint8_t protocol)
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

static inline void add_ports(struct flow *flow, enum ibv_flow_spec_type type, uint16_t port)
{
	struct ibv_flow_spec_tcp_udp spec = { .type = type, .size = sizeof(spec),
		.val.dst_port = htons(port), .mask.dst_port = port ? 0xffff : 0 };
	add(flow, &spec, sizeof(spec));
}

static inline void add_tag(struct flow *flow, uint32_t tag)
{
	struct ibv_flow_spec_action_tag spec = { .type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof(spec), .tag_id = tag };
	add(flow, &spec, sizeof(spec));
}

static inline void add_drop(struct flow *flow)
{
	struct ibv_flow_spec_action_drop spec = { .type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof(spec) };
	add(flow, &spec, sizeof(spec));
}

static inline struct ibv_flow *start_flow(struct ibv_qp *qp, struct flow wanted)
{
	return NEED(ibv_create_flow(qp, &wanted.attr));
}

/* The error that a flow is refused with; 0 if it is not. */
static inline int refusal(struct ibv_qp *qp, struct flow wanted)
{
	errno = 0;
	struct ibv_flow *made = ibv_create_flow(qp, &wanted.attr);
	if (!made)
		return errno;
	EXPECT(ibv_destroy_flow(made) == 0);
	return 0;
}

/* Sends a frame, and one for the marker. Who got the first, a bit for each; all post a receive again. */
static inline uint64_t who_gets(struct frame frame)
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

static inline struct frame udp(const uint8_t *to, const char *destination, unsigned port)
{
	return packet(to, -1, "10.0.0.1", destination, IPPROTO_UDP, 1000, port);
}

/* Opens the first device twice: to send, and to receive; a receiver of the marker. Figures are those of Ethernet ports. */
static struct receiver marker;
static struct ibv_flow *marked;

static inline void begin(void)
{
	start();
	sender_context = open_first();
	sender_pd = NEED(ibv_alloc_pd(sender_context));
	sent = NEED(ibv_create_cq(sender_context, 16, NULL, NULL, 0));
	received = NEED(ibv_create_cq(context, 1024, NULL, NULL, 0));
	mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
	sender_mr = NEED(ibv_reg_mr(sender_pd, frame_memory, sizeof(frame_memory), 0));
	sender = NEED(raw_qp_with(sender_pd, sent, 16, 0, 0));
	move(sender, IBV_QPS_INIT);
	move(sender, IBV_QPS_RTR);
	move(sender, IBV_QPS_RTS);
	make_receiver(&marker, MARKER, 0);
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, marker_station, ones, -1, 0);
	marked = start_flow(marker.qp, wanted);
}

/* The exit code. */
static inline int end(void)
{
	EXPECT(ibv_destroy_cq(received) == EBUSY);
	EXPECT(ibv_destroy_flow(marked) == 0);
	destroy_receiver(&marker);
	EXPECT(ibv_destroy_qp(sender) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(sender_mr) == 0);
	EXPECT(ibv_destroy_cq(received) == 0 && ibv_destroy_cq(sent) == 0);
	EXPECT(ibv_dealloc_pd(sender_pd) == 0 && ibv_close_device(sender_context) == 0);
	return finish();
}

/*
 * Work queues, tables of them, and QPs that spread frames over a table. Prints what went otherwise than expected; the exit code is 1
 * then. With the argument "infiniband" it expects ports that have nothing of all that; with "full" it only fills a CQ.
 */
#include "frames.h"

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

static void add_ipv6(struct flow *flow, const char *to)
{
	struct ibv_flow_spec_ipv6 spec = { .type = IBV_FLOW_SPEC_IPV6, .size = sizeof(spec) };
	EXPECT(inet_pton(AF_INET6, to, spec.val.dst_ip) == 1);
	memset(spec.mask.dst_ip, 255, 16);
	add(flow, &spec, sizeof(spec));
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

/* CQEs tell of the headers inside of tunnels, and the hash may be theirs. */
static struct ibv_qp *tunneled(struct ibv_rwq_ind_table *table, uint64_t fields)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RAW_PACKET, .pd = pd, .rwq_ind_tbl = table,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ, .rx_hash_key_len = 40,
			.rx_hash_key = (uint8_t *)key, .rx_hash_fields_mask = fields } };
	struct mlx5dv_qp_init_attr own = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_TUNNEL_OFFLOADS };
	return mlx5dv_create_qp(context, &attr, &own);
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
	EXPECT(ibv_destroy_qp(NEED(tunneled(table, v4 | IBV_RX_HASH_INNER))) == 0);
	/* The headers outside choose the queue as before. */
	spreads(NEED(tunneled(table, v4 | tcp)), order, 0, IPPROTO_TCP, 1);

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

/* The next asynchronous event; none comes for ever. */
static struct ibv_async_event next_event(void)
{
	struct ibv_async_event event = {};
	struct pollfd ready = { .fd = context->async_fd, .events = POLLIN };
	EXPECT(poll(&ready, 1, 10000) == 1 && ibv_get_async_event(context, &event) == 0);
	return event;
}

/*
 * A queue that can report nothing more says so. Not for a kernel's driver: that of Linux 6.12 keeps a reference to the queue after this event
 * (mlx5_ib_wq_event), and whoever destroys the queue waits for ever.
 */
static void a_full_cq_stops_queues(void)
{
	struct ibv_cq *full = NEED(ibv_create_cq(context, 1, NULL, NULL, 0)), *before = received;
	struct receiver one = { .number = SHARED };
	received = full;
	one.wq = NEED(make_wq(DEPTH, 0));
	received = before;
	struct ibv_rwq_ind_table *table = NEED(make_table(&one.wq, 0));
	struct ibv_qp *qp = NEED(rss_qp(table, 0, IBV_RX_HASH_FUNC_TOEPLITZ, 40));
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	struct ibv_flow *made = start_flow(qp, wanted);
	EXPECT(move_wq(one.wq, IBV_WQS_RDY) == 0);
	for (int i = 0; i < 8; i++)
		post_receive(&one);
	for (int i = 0; i < 8; i++)
		EXPECT(who_gets(udp(station, "10.0.0.2", 7)) == 0);
	int of_cq = 0, of_wq = 0;
	for (int i = 0; i < 2; i++) {
		struct ibv_async_event event = next_event();
		of_cq += event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == full;
		of_wq += event.event_type == IBV_EVENT_WQ_FATAL && event.element.wq == one.wq;
		if (event.element.cq)
			ibv_ack_async_event(&event);
	}
	EXPECT(of_cq == 1 && of_wq == 1);
	EXPECT(ibv_destroy_flow(made) == 0 && ibv_destroy_qp(qp) == 0 && ibv_destroy_rwq_ind_table(table) == 0);
	EXPECT(ibv_destroy_wq(one.wq) == 0 && ibv_destroy_cq(full) == 0);
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

/* What a device with Ethernet ports says that it does. */
static void capabilities_are_shown(void)
{
	struct ibv_device_attr_ex device;
	EXPECT(ibv_query_device_ex(context, NULL, &device) == 0);
	EXPECT(device.raw_packet_caps == (IBV_RAW_PACKET_CAP_CVLAN_STRIPPING | IBV_RAW_PACKET_CAP_IP_CSUM));
	EXPECT(device.rss_caps.supported_qpts == 1 << IBV_QPT_RAW_PACKET && device.rss_caps.rx_hash_function == 1);
	EXPECT(device.rss_caps.max_rwq_indirection_table_size == 2048 && device.max_wq_type_rq >= 1024);
	EXPECT(device.orig_attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING);
	EXPECT(device.tso_caps.max_tso == 1 << 18 && device.tso_caps.supported_qpts == 1 << IBV_QPT_RAW_PACKET);
}

int main(int argc, char **argv)
{
	const char *wish = argc > 1 ? argv[1] : "";
	if (strcmp(wish, "infiniband") == 0) {
		start();
		nothing_on_infiniband();
		return finish();
	}
	begin();
	if (strcmp(wish, "full") == 0) {
		a_full_cq_stops_queues();
	} else {
		capabilities_are_shown();
		tables_spread();
		queues_have_states();
	}
	return end();
}

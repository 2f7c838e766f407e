/*
 * Flows of mlx5dv_create_flow that modify headers and registers, by mlx5dv_create_flow_action_modify_header, or that count with a counter
 * made by a command. Prints what went otherwise than expected; the exit code is 1 then. Actions are words of Linux'
 * include/linux/mlx5/mlx5_ifc.h (set_action_in, add_action_in, copy_action_in), fields its MLX5_ACTION_IN_FIELD_*.
 */
#include "frames.h"

enum { SET = 1, ADD = 2, COPY = 3 };
enum { DMAC_47_16 = 4, DMAC_15_0 = 5, SMAC_15_0 = 2, TTL = 0xa, UDP_DPORT = 0xc, SIPV4 = 0x15, DIPV4 = 0x16, IN_DIPV4 = 0x46, REG_A = 0x49,
	REG_B = 0x50, REG_C_0 = 0x51 };

static uint64_t action(unsigned type, unsigned field, unsigned offset, unsigned length, uint32_t data)
{
	return htobe64((uint64_t)type << 60 | (uint64_t)field << 48 | (uint64_t)offset << 40 | (uint64_t)length << 32 | data);
}

/* Completions that were taken, and their memory, which stays as it is until the CQ wraps around. */
static struct mlx5dv_cq cqes;
static uint32_t taken;

/* Who gets a frame, and the metadata of its first completion. */
static uint64_t sent_to(struct frame frame, uint32_t *metadata)
{
	uint64_t got = who_gets(frame);
	struct mlx5_cqe64 *cqe = (void *)((char *)cqes.buf + (taken % cqes.cqe_cnt) * cqes.cqe_size);
	*metadata = be32toh(cqe->imm_inval_pkey);
	taken += __builtin_popcountll(got) + 1;
	return got;
}

struct parameters {
	size_t size;
	uint64_t buffer[64];
};

static struct ibv_flow_action *modify(enum mlx5dv_flow_table_type table, size_t count, uint64_t *actions)
{
	errno = 0;
	return mlx5dv_create_flow_action_modify_header(context, count * 8, actions, table);
}

/* The matcher of destination addresses, or of source addresses of frames that leave. */
static struct mlx5dv_flow_matcher *matcher(uint64_t flags)
{
	struct parameters mask = { .size = 64 };
	memset((char *)mask.buffer + (flags ? 0 : 8), 0xff, 6);
	struct mlx5dv_flow_matcher_attr attr = { .type = IBV_FLOW_ATTR_NORMAL, .flags = flags, .match_criteria_enable = 1,
		.match_mask = (void *)&mask };
	return NEED(mlx5dv_create_flow_matcher(context, &attr));
}

static struct ibv_flow *start_modifying(struct mlx5dv_flow_matcher *matcher, unsigned at, const uint8_t *address, struct ibv_qp *qp,
					struct ibv_flow_action *first, struct ibv_flow_action *second)
{
	struct parameters value = { .size = 64 };
	memcpy((char *)value.buffer + at, address, 6);
	struct mlx5dv_flow_action_attr actions[3] = {};
	unsigned count = 0;
	if (qp)
		actions[count++] = (struct mlx5dv_flow_action_attr){ .type = MLX5DV_FLOW_ACTION_DEST_IBV_QP, .qp = qp };
	if (first)
		actions[count++] = (struct mlx5dv_flow_action_attr){ .type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION, .action = first };
	if (second)
		actions[count++] = (struct mlx5dv_flow_action_attr){ .type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION, .action = second };
	errno = 0;
	return mlx5dv_create_flow(matcher, (void *)&value, count, actions);
}

static uint16_t sum(const unsigned char *bytes, uint32_t len, uint32_t sum)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 ? bytes[i] : bytes[i] << 8;
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void put_at(unsigned char *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

/* Right checksums of UDP over IPv4. */
static void fill(unsigned char *frame)
{
	unsigned char *ip = frame + 14, *datagram = ip + 20;
	uint16_t len = datagram[4] << 8 | datagram[5];
	put_at(ip + 10, 0);
	put_at(ip + 10, ~sum(ip, 20, 0));
	put_at(datagram + 6, 0);
	put_at(datagram + 6, ~sum(datagram, len, sum(ip + 12, 8, IPPROTO_UDP + len)));
}

static void received_frames_are_modified(void)
{
	struct receiver one, two;
	make_receiver(&one, 1, 0);
	make_receiver(&two, 2, 0);
	uint64_t actions[] = {
		action(SET, REG_B, 0, 0, 0x12345678),
		action(SET, DIPV4, 0, 0, 0x0a090807),
		action(COPY, DIPV4, 0, 16, SIPV4 << 16),
		action(ADD, TTL, 0, 0, 0xff),
		action(SET, UDP_DPORT, 0, 16, 53),
		action(SET, DMAC_15_0, 8, 8, 0x77),
	};
	struct ibv_flow_action *rewrite = NEED(modify(MLX5DV_FLOW_TABLE_TYPE_NIC_RX, 6, actions));
	struct mlx5dv_flow_matcher *by_station = matcher(0);
	struct ibv_flow *flow = NEED(start_modifying(by_station, 8, station, one.qp, rewrite, NULL));
	struct ibv_flow *plain = NEED(start_modifying(by_station, 8, other_station, two.qp, NULL, NULL));

	uint32_t metadata;
	struct frame frame = udp(station, "10.0.0.2", 7);
	fill(frame.bytes);
	struct frame expected = frame;
	memcpy(expected.bytes + 30, (unsigned char[]){ 10, 9, 8, 7 }, 4);
	memcpy(expected.bytes + 28, (unsigned char[]){ 8, 7 }, 2);
	expected.bytes[22]--;
	put_at(expected.bytes + 36, 53);
	expected.bytes[4] = 0x77;
	fill(expected.bytes);
	EXPECT(sent_to(frame, &metadata) == 1 << 1 && metadata == 0x12345678);
	EXPECT(last_len == frame.len && memcmp(last, expected.bytes, frame.len) == 0);
	EXPECT(sent_to(udp(other_station, "10.0.0.2", 7), &metadata) == 1 << 2 && metadata == 0);

	/* What matches the same must do the same; nobody may take away what a flow has. */
	EXPECT(!start_modifying(by_station, 8, station, two.qp, NULL, NULL) && errno == EEXIST);
	EXPECT(!start_modifying(by_station, 8, other_station, two.qp, rewrite, rewrite) && errno == EINVAL);
	EXPECT(ibv_destroy_flow_action(rewrite) == EBUSY);
	EXPECT(ibv_destroy_flow(flow) == 0 && ibv_destroy_flow(plain) == 0);
	EXPECT(ibv_destroy_flow_action(rewrite) == 0);
	EXPECT(mlx5dv_destroy_flow_matcher(by_station) == 0);
	destroy_receiver(&one);
	destroy_receiver(&two);
}

static void sent_frames_are_modified(void)
{
	struct receiver one;
	make_receiver(&one, 1, 0);
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, other_station, ones, -1, 0);
	struct ibv_flow *mine = start_flow(one.qp, wanted);
	uint64_t actions[] = { action(SET, DMAC_15_0, 0, 16, 3), action(SET, REG_A, 0, 0, 9), action(SET, REG_C_0, 0, 0, 9) };
	struct ibv_flow_action *rewrite = NEED(modify(MLX5DV_FLOW_TABLE_TYPE_NIC_TX, 3, actions));
	struct mlx5dv_flow_matcher *by_source = matcher(IBV_FLOW_ATTR_FLAGS_EGRESS);
	uint32_t metadata;
	EXPECT(sent_to(udp(station, "10.0.0.2", 7), &metadata) == 0);
	struct ibv_flow *egress = NEED(start_modifying(by_source, 0, source_mac, NULL, rewrite, NULL));
	/* The marker's frame is rewritten as well, so there is none. */
	struct frame frame = udp(station, "10.0.0.2", 7);
	post(&frame);
	struct ibv_wc wc = completion(received);
	EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == 1 && memcmp(memory + ROOM, other_station, 6) == 0);
	taken++;
	post_receive(&one);
	EXPECT(ibv_destroy_flow(egress) == 0 && ibv_destroy_flow_action(rewrite) == 0);
	EXPECT(mlx5dv_destroy_flow_matcher(by_source) == 0 && ibv_destroy_flow(mine) == 0);
	destroy_receiver(&one);
}

/* A flow counter by a command: ALLOC_FLOW_COUNTER (0x939), QUERY_FLOW_COUNTER (0x93b). */
static struct mlx5dv_devx_obj *counter(uint32_t *number)
{
	uint32_t in[4] = { htobe32(0x939 << 16) }, out[4] = {};
	struct mlx5dv_devx_obj *made = NEED(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out)));
	*number = be32toh(out[2]);
	return made;
}

static uint64_t packets(struct mlx5dv_devx_obj *counter, uint32_t number)
{
	uint32_t in[8] = { htobe32(0x93b << 16), [7] = htobe32(number) }, out[8] = {};
	EXPECT(mlx5dv_devx_obj_query(counter, in, sizeof(in), out, sizeof(out)) == 0);
	return (uint64_t)be32toh(out[4]) << 32 | be32toh(out[5]);
}

static struct ibv_flow *start_counting(struct mlx5dv_flow_matcher *matcher, struct ibv_qp *qp, struct mlx5dv_devx_obj *counter)
{
	struct parameters value = { .size = 64 };
	memcpy((char *)value.buffer + 8, station, 6);
	struct mlx5dv_flow_action_attr actions[2] = {
		{ .type = MLX5DV_FLOW_ACTION_COUNTERS_DEVX, .obj = counter },
		{ .type = qp ? MLX5DV_FLOW_ACTION_DEST_IBV_QP : MLX5DV_FLOW_ACTION_DROP, .qp = qp },
	};
	errno = 0;
	return mlx5dv_create_flow(matcher, (void *)&value, 2, actions);
}

static void counters_of_commands_count(void)
{
	struct receiver one;
	make_receiver(&one, 1, 0);
	uint32_t number, metadata;
	struct mlx5dv_devx_obj *counting = counter(&number);
	struct mlx5dv_flow_matcher *by_station = matcher(0);
	struct ibv_flow *flow = NEED(start_counting(by_station, one.qp, counting));
	EXPECT(sent_to(udp(station, "10.0.0.2", 7), &metadata) == 1 << 1 && packets(counting, number) == 1);
	EXPECT(sent_to(udp(other_station, "10.0.0.2", 7), &metadata) == 0 && packets(counting, number) == 1);
	EXPECT(mlx5dv_devx_obj_destroy(counting) != 0 && errno == EBUSY);
	EXPECT(ibv_destroy_flow(flow) == 0);
	/* Dropped frames count, too. */
	flow = NEED(start_counting(by_station, NULL, counting));
	EXPECT(sent_to(udp(station, "10.0.0.2", 7), &metadata) == 0 && packets(counting, number) == 2);
	EXPECT(ibv_destroy_flow(flow) == 0 && mlx5dv_devx_obj_destroy(counting) == 0);
	/* No counter: a domain (ALLOC_TRANSPORT_DOMAIN, 0x816). */
	uint32_t in[4] = { htobe32(0x816 << 16) }, out[4] = {};
	struct mlx5dv_devx_obj *domain = NEED(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out)));
	EXPECT(!start_counting(by_station, one.qp, domain) && errno == EINVAL);
	EXPECT(mlx5dv_devx_obj_destroy(domain) == 0 && mlx5dv_destroy_flow_matcher(by_station) == 0);
	destroy_receiver(&one);
}

static void impossible_lists_are_refused(void)
{
	const enum mlx5dv_flow_table_type rx = MLX5DV_FLOW_TABLE_TYPE_NIC_RX, tx = MLX5DV_FLOW_TABLE_TYPE_NIC_TX;
	uint64_t one[] = { action(SET, REG_C_0, 0, 0, 1) }, many[17];
	for (int i = 0; i < 17; i++)
		many[i] = one[0];
	struct ibv_flow_action *made = NEED(modify(rx, 16, many));
	EXPECT(ibv_destroy_flow_action(made) == 0);
	EXPECT(!modify(rx, 17, many) && errno == EOPNOTSUPP);
	EXPECT(!modify(rx, 0, one) && errno == EINVAL);
	EXPECT(!modify(MLX5DV_FLOW_TABLE_TYPE_FDB, 1, one) && errno == EOPNOTSUPP);
	EXPECT(!modify(MLX5DV_FLOW_TABLE_TYPE_RDMA_RX, 1, one) && errno == EOPNOTSUPP);
	EXPECT(!modify((enum mlx5dv_flow_table_type)7, 1, one) && errno == EINVAL);
	errno = 0;
	EXPECT(!mlx5dv_create_flow_action_modify_header(context, 12, one, rx) && errno == EINVAL);
	uint64_t bad[] = { action(SET, IN_DIPV4, 0, 0, 1), action(SET, REG_A, 0, 0, 1), action(4, REG_C_0, 0, 0, 1),
		action(SET, UDP_DPORT, 1, 16, 1) };
	for (int i = 0; i < 4; i++)
		EXPECT(!modify(rx, 1, bad + i) && errno == EINVAL);
	uint64_t received_only = action(SET, REG_B, 0, 0, 1);
	EXPECT(!modify(tx, 1, &received_only) && errno == EINVAL);
}

int main(void)
{
	begin();
	struct mlx5dv_obj object = { .cq = { .in = received, .out = &cqes } };
	EXPECT(mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ) == 0 && cqes.cqe_size == 64);
	received_frames_are_modified();
	sent_frames_are_modified();
	counters_of_commands_count();
	impossible_lists_are_refused();
	return end();
}

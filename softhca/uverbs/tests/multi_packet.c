/*
 * WQEs of several frames (opcode 0x29) on a QP for raw packets. libmlx5 says whether the device has them, makes the QP, and polls its
 * completions; it never posts such WQEs, so this program writes them into the ring by itself, as DPDK does. Prints what went otherwise
 * than expected; the exit code is 1 then. With the argument "headers" the device needs headers inline, and refuses such WQEs.
 */
#include "frames.h"

enum { WQEBB = 64, FRAMES = 5, ENHANCED_MPSW = 0x29, CQ_UPDATE = 8, INLINE = 0x80, UDP_FRAME = 50 };

static struct mlx5dv_qp raw;
static struct ibv_qp *qp;
static unsigned posted;

/* A WQE under construction. */
struct wqe {
	unsigned char bytes[1008];
	unsigned len;
};

static struct wqe begin_wqe(unsigned checksums)
{
	struct wqe wqe = { .len = 32 };
	wqe.bytes[16 + 4] = checksums;
	return wqe;
}

static void add_pointer(struct wqe *wqe, const void *at, uint32_t len)
{
	struct mlx5_wqe_data_seg seg;
	mlx5dv_set_data_seg(&seg, len, sender_mr->lkey, (uintptr_t)at);
	memcpy(wqe->bytes + wqe->len, &seg, sizeof(seg));
	wqe->len += sizeof(seg);
}

static void add_inline(struct wqe *wqe, const void *bytes, uint32_t len)
{
	uint32_t header = htobe32(len | (uint32_t)INLINE << 24);
	memcpy(wqe->bytes + wqe->len, &header, sizeof(header));
	memcpy(wqe->bytes + wqe->len + sizeof(header), bytes, len);
	wqe->len += (sizeof(header) + len + 15) / 16 * 16;
}

/* Puts it into the ring, around the end of that, and rings the doorbell. */
static void post_wqe(struct wqe wqe)
{
	struct mlx5_wqe_ctrl_seg ctrl;
	mlx5dv_set_ctrl_seg(&ctrl, posted, ENHANCED_MPSW, 0, qp->qp_num, CQ_UPDATE, wqe.len / 16, 0, 0);
	memcpy(wqe.bytes, &ctrl, sizeof(ctrl));
	for (unsigned at = 0; at < wqe.len; at++)
		((unsigned char *)raw.sq.buf)[(posted * WQEBB + at) % (raw.sq.wqe_cnt * WQEBB)] = wqe.bytes[at];
	posted = (posted + (wqe.len + WQEBB - 1) / WQEBB) & 0xffff;
	__sync_synchronize();
	((volatile uint32_t *)raw.dbrec)[MLX5_SND_DBR] = htobe32(posted);
	__sync_synchronize();
	static unsigned half;
	*(volatile uint64_t *)((char *)raw.bf.reg + half) = *(uint64_t *)wqe.bytes;
	half ^= raw.bf.size;
}

static void make_sender(void)
{
	qp = NEED(raw_qp_with(sender_pd, sent, 16, 0, 0));
	struct mlx5dv_obj object = { .qp = { .in = qp, .out = &raw } };
	EXPECT(mlx5dv_init_obj(&object, MLX5DV_OBJ_QP) == 0 && raw.sq.stride == WQEBB);
	move(qp, IBV_QPS_INIT);
	move(qp, IBV_QPS_RTR);
	move(qp, IBV_QPS_RTS);
}

static void post_buffer(struct ibv_qp *to, unsigned number)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + number * ROOM, .length = ROOM, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = number, .sg_list = &sge, .num_sge = 1 };
	EXPECT(ibv_post_recv(to, &wr, &bad) == 0);
}

/* All frames of each session arrive, in order; the session completes once. */
static void sessions_arrive(void)
{
	struct ibv_qp *to = NEED(raw_qp_with(pd, received, 0, DEPTH, 0));
	move(to, IBV_QPS_INIT);
	move(to, IBV_QPS_RTR);
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	struct ibv_flow *made = start_flow(to, wanted);
	for (unsigned round = 0; round < 100 && !failures; round++) {
		struct frame frames[FRAMES];
		struct wqe wqe = begin_wqe(MLX5_ETH_WQE_L3_CSUM | MLX5_ETH_WQE_L4_CSUM);
		for (unsigned n = 0; n < FRAMES; n++) {
			frames[n] = udp(station, "10.0.0.2", 100 * round + n);
			EXPECT(frames[n].len == UDP_FRAME);
			/* Of different lengths: padding behind the packet. */
			frames[n].len += (round + n) % 7;
			post_buffer(to, n);
			memcpy(frame_memory + n * ROOM, frames[n].bytes, frames[n].len);
			if ((round >> n) & 1)
				add_pointer(&wqe, frame_memory + n * ROOM, frames[n].len);
			else
				add_inline(&wqe, frames[n].bytes, frames[n].len);
		}
		post_wqe(wqe);
		EXPECT(completion(sent).status == IBV_WC_SUCCESS);
		for (unsigned n = 0; n < FRAMES; n++) {
			struct ibv_wc wc = completion(received);
			const char *at = memory + n * ROOM;
			EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == n && wc.byte_len == frames[n].len);
			EXPECT(wc.wc_flags & IBV_WC_IP_CSUM_OK);
			/* The device has put in both checksums, of IPv4 and of UDP; nothing else differs. */
			EXPECT(memcmp(at + 24, (char[2]){}, 2) && memcmp(at + 40, (char[2]){}, 2));
			memcpy(frames[n].bytes + 24, at + 24, 2);
			memcpy(frames[n].bytes + 40, at + 40, 2);
			EXPECT(memcmp(at, frames[n].bytes, frames[n].len) == 0);
		}
		struct ibv_wc more;
		EXPECT(ibv_poll_cq(sent, 1, &more) == 0 && ibv_poll_cq(received, 1, &more) == 0);
	}
	EXPECT(ibv_destroy_flow(made) == 0 && ibv_destroy_qp(to) == 0);
}

/* What such a WQE cannot have stops the queue. */
static void faults_stop_the_queue(void)
{
	for (int at = 0; at < 3; at++) {
		struct wqe wqe = begin_wqe(0);
		struct frame frame = udp(other_station, "10.0.0.2", 1);
		add_inline(&wqe, frame.bytes, frame.len);
		/* A size of segments, headers inline, a VLAN tag. */
		static const struct {
			unsigned at;
			unsigned char value;
		} fault[] = { { 7, 100 }, { 13, 2 }, { 12, 0x80 } };
		wqe.bytes[16 + fault[at].at] = fault[at].value;
		post_wqe(wqe);
		EXPECT(completion(sent).status == IBV_WC_LOC_QP_OP_ERR);
		struct ibv_qp_attr attr;
		struct ibv_qp_init_attr init;
		EXPECT(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_SQE);
		move(qp, IBV_QPS_RESET);
		posted = 0;
		move(qp, IBV_QPS_INIT);
		move(qp, IBV_QPS_RTR);
		move(qp, IBV_QPS_RTS);
	}
}

int main(int argc, char **argv)
{
	int headers = argc > 1 && strcmp(argv[1], "headers") == 0;
	const uint64_t both = MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED | MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW;
	begin();
	struct mlx5dv_context device = {};
	EXPECT(mlx5dv_query_device(context, &device) == 0 && (device.flags & both) == (headers ? 0 : both));
	make_sender();
	if (headers) {
		struct wqe wqe = begin_wqe(0);
		struct frame frame = udp(station, "10.0.0.2", 1);
		add_inline(&wqe, frame.bytes, frame.len);
		post_wqe(wqe);
		EXPECT(completion(sent).status == IBV_WC_LOC_QP_OP_ERR);
	} else {
		sessions_arrive();
		faults_stop_the_queue();
	}
	EXPECT(ibv_destroy_qp(qp) == 0);
	return end();
}

/*
 * Striding work queues, made by mlx5dv_create_wq. WQEs are written by hand, a data segment behind the segment of a list, as DPDK does it:
 * ibv_post_wq_recv of libmlx5 writes the data segment where the other one belongs. Prints what went otherwise than expected; the exit
 * code is 1 then. The argument is log2 of the fewest strides that a WQE can have.
 */
#include "frames.h"

enum { WQES = 4, LOG_STRIDES = 9, LOG_BYTES = 6, STRIDES = 1 << LOG_STRIDES, BYTES = 1 << LOG_BYTES, BUFFER = STRIDES * BYTES };

static char buffers[WQES * BUFFER] __attribute__((aligned(4096)));
static struct ibv_mr *buffers_mr;
static struct ibv_cq *cq;
static struct mlx5dv_cq cqes;
static struct mlx5dv_rwq ring;
static unsigned posted, polled;

static struct ibv_wq *make_wq(unsigned log_strides, unsigned log_bytes, int shift)
{
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ, .max_wr = WQES, .max_sge = 1, .pd = pd, .cq = cq };
	struct mlx5dv_wq_init_attr striding = { .comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
		.striding_rq_attrs = { .single_stride_log_num_of_bytes = log_bytes, .single_wqe_log_num_of_strides = log_strides,
			.two_byte_shift_en = shift } };
	errno = 0;
	return mlx5dv_create_wq(context, &attr, &striding);
}

static void capabilities_are_shown(unsigned fewest)
{
	struct mlx5dv_context device = { .comp_mask = MLX5DV_CONTEXT_MASK_STRIDING_RQ };
	EXPECT(mlx5dv_query_device(context, &device) == 0 && device.comp_mask == MLX5DV_CONTEXT_MASK_STRIDING_RQ);
	struct mlx5dv_striding_rq_caps caps = device.striding_rq_caps;
	EXPECT(caps.min_single_stride_log_num_of_bytes == 6 && caps.max_single_stride_log_num_of_bytes == 13);
	EXPECT(caps.min_single_wqe_log_num_of_strides == fewest && caps.max_single_wqe_log_num_of_strides == 16);
	EXPECT(caps.supported_qpts == 1 << IBV_QPT_RAW_PACKET);
	for (unsigned log_strides = 0; log_strides < 20; log_strides++) {
		/* 2^14 bytes in all is the least that the device has. */
		unsigned log_bytes = log_strides < 8 ? 13 : 6;
		struct ibv_wq *wq = make_wq(log_strides, log_bytes, 0);
		EXPECT(wq ? log_strides >= fewest && log_strides <= 16 : errno == EINVAL && (log_strides < fewest || log_strides > 16));
		EXPECT(!wq || ibv_destroy_wq(wq) == 0);
	}
	EXPECT(!make_wq(9, 5, 0) && errno == EINVAL);
	EXPECT(!make_wq(9, 14, 0) && errno == EINVAL);
}

static void post_wqe(void)
{
	struct mlx5_wqe_data_seg seg;
	unsigned index = posted % ring.wqe_cnt;
	mlx5dv_set_data_seg(&seg, BUFFER, buffers_mr->lkey, (uintptr_t)buffers + index * BUFFER);
	memcpy((char *)ring.buf + index * ring.stride + sizeof(struct mlx5_wqe_srq_next_seg), &seg, sizeof(seg));
	posted++;
	__sync_synchronize();
	*(volatile uint32_t *)ring.dbrec = htobe32(posted & 0xffff);
}

/* The next CQE, by itself and by libmlx5, which knows nothing of strides: it shows the word of the byte count as it is. */
static struct mlx5_cqe64 next_cqe(void)
{
	struct mlx5_cqe64 *at = (struct mlx5_cqe64 *)((char *)cqes.buf + polled % cqes.cqe_cnt * cqes.cqe_size);
	struct ibv_wc wc = completion(cq);
	EXPECT(wc.status == IBV_WC_SUCCESS && wc.byte_len == be32toh(at->byte_cnt));
	polled++;
	return *at;
}

static void frames_lie_in_strides(int shift)
{
	struct ibv_wq *wq = NEED(make_wq(LOG_STRIDES, LOG_BYTES, shift));
	struct mlx5dv_obj object = { .rwq = { .in = wq, .out = &ring } };
	EXPECT(mlx5dv_init_obj(&object, MLX5DV_OBJ_RWQ) == 0 && ring.stride == 32 && ring.wqe_cnt == WQES);
	posted = 0;
	/* Where libmlx5 itself would put a receive. */
	struct ibv_sge sge = { .addr = (uintptr_t)buffers, .length = BUFFER, .lkey = buffers_mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	memset(ring.buf, 0, ring.stride);
	EXPECT(ibv_post_wq_recv(wq, &wr, &bad) == 0);
	uint32_t len = htobe32(BUFFER);
	EXPECT(memcmp(ring.buf, &len, 4) == 0 && memcmp((char *)ring.buf + 16, (char[16]){}, 16) == 0);
	/* libmlx5 clears the doorbell record here. */
	EXPECT(ibv_modify_wq(wq, &(struct ibv_wq_attr){ .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY }) == 0);
	for (int i = 0; i < WQES; i++)
		post_wqe();
	struct ibv_rwq_ind_table_init_attr of_one = { .log_ind_tbl_size = 0, .ind_tbl = &wq };
	struct ibv_rwq_ind_table *table = NEED(ibv_create_rwq_ind_table(context, &of_one));
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RAW_PACKET, .pd = pd, .rwq_ind_tbl = table,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ, .rx_hash_key_len = 40, .rx_hash_key = (uint8_t[40]){} } };
	struct ibv_qp *qp = NEED(ibv_create_qp_ex(context, &attr));
	struct flow wanted = flow(0, 0);
	add_ethernet(&wanted, station, ones, -1, 0);
	struct ibv_flow *made = start_flow(qp, wanted);

	unsigned wqe = 0, stride = 0, fillers = 0;
	for (unsigned number = 0; number < 2000 && !failures; number++) {
		struct frame frame = udp(station, "10.0.0.2", number);
		frame.len += number * 7 % 140;
		unsigned needed = (frame.len + 2 * shift + BYTES - 1) / BYTES;
		post(&frame);
		struct mlx5_cqe64 cqe = next_cqe();
		if (be32toh(cqe.byte_cnt) >> 31) {
			fillers++;
			EXPECT(be16toh(cqe.wqe_counter) == stride && (be32toh(cqe.byte_cnt) & 0x7fffffff) == (STRIDES - stride) << 16);
			EXPECT(needed > STRIDES - stride && be16toh(cqe.wqe_id) == (wqe & 0xffff));
			stride = 0;
			wqe++;
			post_wqe();
			cqe = next_cqe();
		}
		EXPECT(be32toh(cqe.byte_cnt) == (needed << 16 | frame.len));
		EXPECT(be16toh(cqe.wqe_counter) == stride && be16toh(cqe.wqe_id) == (wqe & 0xffff));
		char *at = buffers + wqe % WQES * BUFFER + stride * BYTES;
		EXPECT(!shift || memcmp(at, (char[2]){}, 2) == 0);
		EXPECT(memcmp(at + 2 * shift, frame.bytes, frame.len) == 0);
		stride += needed;
		if (stride == STRIDES) {
			stride = 0;
			wqe++;
			post_wqe();
		}
	}
	/* The ring has wrapped. */
	EXPECT(fillers && wqe > WQES);

	/* Each WQE is flushed. */
	EXPECT(ibv_modify_wq(wq, &(struct ibv_wq_attr){ .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_ERR }) == 0);
	for (int i = 0; i < WQES; i++)
		EXPECT(completion(cq).status == IBV_WC_WR_FLUSH_ERR);
	polled += WQES;
	EXPECT(ibv_destroy_flow(made) == 0 && ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_destroy_rwq_ind_table(table) == 0 && ibv_destroy_wq(wq) == 0);
}

int main(int argc, char **argv)
{
	begin();
	cq = NEED(ibv_create_cq(context, 64, NULL, NULL, 0));
	struct mlx5dv_obj object = { .cq = { .in = cq, .out = &cqes } };
	EXPECT(mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ) == 0 && cqes.cqe_size == 64);
	buffers_mr = NEED(ibv_reg_mr(pd, buffers, sizeof(buffers), IBV_ACCESS_LOCAL_WRITE));
	capabilities_are_shown(argc > 1 ? atoi(argv[1]) : 9);
	frames_lie_in_strides(0);
	frames_lie_in_strides(1);
	EXPECT(ibv_dereg_mr(buffers_mr) == 0 && ibv_destroy_cq(cq) == 0);
	return end();
}

/*
 * What the C programs here have in common: checks that go on when they fail, and say where; the first device with a protection
 * domain; queue pairs, connected to themselves or to another.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define EXPECT(condition)                                                                     \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			printf("line %d: not so: %s (errno %d)\n", __LINE__, #condition, errno); \
			failures++;                                                           \
		}                                                                             \
	} while (0)

/* Without what this makes, nothing else can be tried. */
#define NEED(pointer)                                                             \
	({                                                                        \
		errno = 0;                                                        \
		__typeof__(pointer) made = (pointer);                             \
		if (!made) {                                                      \
			printf("line %d: %s: errno %d\n", __LINE__, #pointer, errno); \
			exit(1);                                                  \
		}                                                                 \
		made;                                                             \
	})

static struct ibv_context *context;
static struct ibv_pd *pd;
static char memory[1 << 16] __attribute__((aligned(4096), unused));

/* How long connected queue pairs wait for an answer (4.096 us times a power of two), and how often they ask again. */
static uint8_t ack_timeout = 14, retry_count = 5, rnr_retry_count = 6;

/* What each end of a connection tells the other. */
struct end {
	uint32_t qpn, rkey;
	uint64_t address;
	struct ibv_ah_attr way;
};

/* The device that $DEVICE names; the first, if there is no such variable. */
static inline struct ibv_context *open_first(void)
{
	struct ibv_device **list = NEED(ibv_get_device_list(NULL)), **chosen = list;
	const char *name = getenv("DEVICE");
	while (name && *chosen && strcmp(ibv_get_device_name(*chosen), name) != 0)
		chosen++;
	struct ibv_context *opened = NEED(ibv_open_device(NEED(*chosen)));
	ibv_free_device_list(list);
	return opened;
}

/* Opens the first device. */
static inline void start(void)
{
	context = open_first();
	pd = NEED(ibv_alloc_pd(context));
}

/* Closes it; the exit code. */
static inline int finish(void)
{
	EXPECT(ibv_dealloc_pd(pd) == 0);
	EXPECT(ibv_close_device(context) == 0);
	return failures != 0;
}

/* All of `memory`, for local and remote writes. */
static inline struct ibv_mr *register_memory(struct ibv_pd *domain)
{
	return NEED(ibv_reg_mr(domain, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
}

/* One CQ for both directions. */
static inline struct ibv_qp *make_qp_of(struct ibv_pd *domain, struct ibv_cq *cq, struct ibv_srq *srq, enum ibv_qp_type type,
					struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr attr = { .send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = type, .cap = cap };
	return ibv_create_qp(domain, &attr);
}

/* A few requests of usual size. */
static inline struct ibv_qp *make_qp(struct ibv_pd *domain, struct ibv_cq *cq, struct ibv_srq *srq, enum ibv_qp_type type)
{
	return make_qp_of(domain, cq, srq, type, (struct ibv_qp_cap){ .max_send_wr = 16, .max_recv_wr = 16,
		.max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64 });
}

/* From RESET to INIT. */
static inline void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
}

/* From INIT to RTS: an RC QP, whose peer has this number and is reached by this way. */
static inline void to_rts(struct ibv_qp *qp, uint32_t peer, struct ibv_ah_attr way)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer,
		.rq_psn = 0x123456, .max_dest_rd_atomic = 4, .min_rnr_timer = 12, .ah_attr = way };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = ack_timeout, .retry_cnt = retry_count, .rnr_retry = rnr_retry_count,
		.sq_psn = 0x123456, .max_rd_atomic = 3 };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/* From port 1 to itself, by what its link layer has. */
static inline struct ibv_ah_attr loopback(struct ibv_context *of)
{
	struct ibv_port_attr port;
	EXPECT(ibv_query_port(of, 1, &port) == 0);
	struct ibv_ah_attr way = { .dlid = port.lid, .port_num = 1 };
	if (port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		way.is_global = 1;
		way.grh.hop_limit = 64;
		EXPECT(ibv_query_gid(of, 1, 0, &way.grh.dgid) == 0);
	}
	return way;
}

static inline int on_ethernet(void)
{
	struct ibv_port_attr port;
	EXPECT(ibv_query_port(context, 1, &port) == 0);
	return port.link_layer == IBV_LINK_LAYER_ETHERNET;
}

/* Connects an RC QP from RESET, in one direction; the peer may be itself. Both are on the first port. */
static inline void connect_to(struct ibv_qp *qp, struct ibv_qp *peer)
{
	struct ibv_ah_attr way = loopback(qp->context);
	way.sl = 3;
	to_init(qp);
	to_rts(qp, peer->qp_num, way);
}

/* The parts of a QP, as mlx5dv hands them over. */
static inline struct mlx5dv_qp raw_qp(struct ibv_qp *qp)
{
	struct mlx5dv_qp raw = {};
	struct mlx5dv_obj object = { .qp = { .in = qp, .out = &raw } };
	EXPECT(mlx5dv_init_obj(&object, MLX5DV_OBJ_QP) == 0);
	return raw;
}

static inline struct mlx5dv_cq raw_cq(struct ibv_cq *cq)
{
	struct mlx5dv_cq raw = {};
	struct mlx5dv_obj object = { .cq = { .in = cq, .out = &raw } };
	EXPECT(mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ) == 0);
	return raw;
}

static inline int post_write(struct ibv_qp *qp, struct ibv_mr *mr, char *from, char *to, uint32_t len, unsigned flags)
{
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = len, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = len, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = flags, .wr.rdma = { .remote_addr = (uintptr_t)to, .rkey = mr->rkey } };
	return ibv_post_send(qp, &wr, &bad);
}

static inline struct ibv_wc wait_for(struct ibv_cq *cq)
{
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };
	for (long tries = 0; tries < 2000000000L; tries++)
		if (ibv_poll_cq(cq, 1, &wc) == 1)
			break;
	return wc;
}

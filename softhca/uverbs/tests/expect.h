/* What programs of libibverbs' objects have in common besides: the usual ones, on the first device. */
#include "check.h"
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>

static struct ibv_context *context;
static struct ibv_pd *pd;
static char memory[1 << 16] __attribute__((aligned(4096), unused));

static inline struct ibv_qp *make_qp(struct ibv_pd *domain, struct ibv_cq *cq, struct ibv_srq *srq, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = type,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64 },
	};
	return ibv_create_qp(domain, &attr);
}

/* Connects an RC QP, in one direction. */
static inline void connect_to(struct ibv_qp *qp, struct ibv_qp *peer)
{
	struct ibv_port_attr port;
	EXPECT(ibv_query_port(context, 1, &port) == 0);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num,
		.rq_psn = 0x123456, .max_dest_rd_atomic = 4, .min_rnr_timer = 12,
		.ah_attr = { .dlid = port.lid, .port_num = 1, .sl = 3 } };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 5, .rnr_retry = 6,
		.sq_psn = 0x123456, .max_rd_atomic = 3 };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
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

/* Opens the first device. */
static inline void start(void)
{
	struct ibv_device **list = NEED(ibv_get_device_list(NULL));
	context = NEED(ibv_open_device(NEED(list[0])));
	ibv_free_device_list(list);
	pd = NEED(ibv_alloc_pd(context));
}

/* Closes it; the exit code. */
static inline int finish(void)
{
	EXPECT(ibv_dealloc_pd(pd) == 0);
	EXPECT(ibv_close_device(context) == 0);
	return failures != 0;
}

/*
 * A QP made by commands, with rings that the program fills in and CQEs that it polls by itself.
 */
#include "devx.h"
#include <sched.h>
#include <time.h>

/* Of the mailboxes that make, change and query a QP: its context begins here. */
enum { QPC = 0xc0, PATH = QPC + 0xc0, CREATE_QP_BYTES = 0x110, MODIFY_QP_BYTES = 0x110 };
#define QPC_STATE QPC + 0, 4
#define QPC_ST QPC + 8, 8
#define QPC_PM_STATE QPC + 0x13, 2
#define QPC_PD QPC + 0x28, 24
#define QPC_MTU QPC + 0x40, 3
#define QPC_LOG_MSG_MAX QPC + 0x43, 5
#define QPC_LOG_RQ_SIZE QPC + 0x49, 4
#define QPC_LOG_RQ_STRIDE QPC + 0x4d, 3
#define QPC_LOG_SQ_SIZE QPC + 0x51, 4
#define QPC_UAR_PAGE QPC + 0x68, 24
#define QPC_USER_INDEX QPC + 0x88, 24
#define QPC_REMOTE_QPN QPC + 0xa8, 24
#define QPC_LOG_SRA_MAX QPC + 0x388, 3
#define QPC_RETRY_COUNT QPC + 0x38d, 3
#define QPC_RNR_RETRY QPC + 0x390, 3
#define QPC_NEXT_SEND_PSN QPC + 0x3c8, 24
#define QPC_CQN_SND QPC + 0x3e8, 24
#define QPC_LOG_RRA_MAX QPC + 0x488, 3
#define QPC_RRE QPC + 0x490, 1
#define QPC_RWE QPC + 0x491, 1
#define QPC_MIN_RNR_NAK QPC + 0x4a3, 5
#define QPC_NEXT_RCV_PSN QPC + 0x4a8, 24
#define QPC_CQN_RCV QPC + 0x4e8, 24
#define QPC_DBR_ADDR QPC + 0x500, 64
#define QPC_RQ_TYPE QPC + 0x565, 3
#define QPC_RMPN QPC + 0x568, 24
#define QPC_DBR_UMEM_ID QPC + 0x720, 32
#define PATH_PKEY_INDEX PATH + 0x10, 16
#define PATH_RLID PATH + 0x30, 16
#define PATH_ACK_TIMEOUT PATH + 0x40, 5
#define PATH_PORT PATH + 0x128, 8
#define PATH_SRC_ADDR_INDEX PATH + 0x48, 8
#define PATH_HOP_LIMIT PATH + 0x58, 8
#define PATH_RGID_HIGH PATH + 0x80, 64
#define PATH_RGID_LOW PATH + 0xc0, 64
#define PATH_RMAC_47_32 PATH + 0x130, 16
#define PATH_RMAC_31_0 PATH + 0x140, 32
#define QPC_DBR_UMEM_VALID QPC + 0x683, 1
#define WQ_UMEM_VALID 0x860, 1
#define WQ_UMEM_OFFSET 0x800, 64
#define WQ_UMEM_ID 0x840, 32

enum { RST2INIT = 0x502, INIT2RTR = 0x503, RTR2RTS = 0x504, TO_ERR = 0x507, TO_RST = 0x50a };
/* States of a QP, in its context. */
enum { STATE_RST, STATE_INIT, STATE_RTR, STATE_RTS, STATE_ERR = 6 };

/* Receive ring, send ring, record. */
struct devx_qp {
	struct mlx5dv_devx_obj *object;
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_uar *uar;
	unsigned number, log_rq, log_sq, posted, received, half;
	char *memory, *rq, *sq;
	__be32 *record;
	struct devx_cq *cq;
};

enum { WQEBB = 64, RQ_STRIDE = 64, RECORD_RECEIVE = 0, RECORD_SEND = 1, REGISTER_HALF = 256 };

/* With receives of its own, or from receive memory pool `rmp`, if that is not 0. */
static inline struct devx_qp make_devx_qp(struct mlx5dv_devx_uar *uar, unsigned domain, struct devx_cq *cq, unsigned rmp)
{
	struct devx_qp qp = { .uar = uar, .cq = cq, .log_rq = 3, .log_sq = 4, .memory = NEED(ring_memory(4096, 3 * 4096)) };
	memset(qp.memory, 0, 3 * 4096);
	/* Not at the memory's beginning. */
	qp.rq = qp.memory + 4096;
	qp.sq = qp.rq + (RQ_STRIDE << qp.log_rq);
	qp.record = (__be32 *)(qp.memory + 64);
	qp.umem = NEED(mlx5dv_devx_umem_reg(context, qp.memory, 3 * 4096, IBV_ACCESS_LOCAL_WRITE));
	uint8_t in[CREATE_QP_BYTES] = {}, out[16] = {};
	set(in, OPCODE, CREATE_QP);
	set(in, QPC_PM_STATE, 3);
	set(in, QPC_PD, domain);
	if (rmp) {
		set(in, QPC_RQ_TYPE, 1);
		set(in, QPC_RMPN, rmp);
	} else {
		set(in, QPC_LOG_RQ_SIZE, qp.log_rq);
		/* In 16 bytes. */
		set(in, QPC_LOG_RQ_STRIDE, 2);
	}
	set(in, QPC_LOG_SQ_SIZE, qp.log_sq);
	set(in, QPC_UAR_PAGE, uar->page_id);
	set(in, QPC_USER_INDEX, 0xffffff);
	set(in, QPC_CQN_SND, cq->number);
	set(in, QPC_CQN_RCV, cq->number);
	set(in, QPC_DBR_UMEM_ID, qp.umem->umem_id);
	set(in, QPC_DBR_ADDR, (char *)qp.record - qp.memory);
	set(in, WQ_UMEM_ID, qp.umem->umem_id);
	set(in, QPC_DBR_UMEM_VALID, without_kernel);
	set(in, WQ_UMEM_VALID, without_kernel);
	set(in, WQ_UMEM_OFFSET, (rmp ? qp.sq : qp.rq) - qp.memory);
	qp.object = NEED(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out)));
	qp.number = get(out, NUMBER);
	return qp;
}

static inline void destroy_devx_qp(struct devx_qp *qp)
{
	EXPECT(mlx5dv_devx_obj_destroy(qp->object) == 0);
	EXPECT(mlx5dv_devx_umem_dereg(qp->umem) == 0);
	free(qp->memory);
}

static inline void change_devx_qp(struct devx_qp *qp, unsigned opcode, uint8_t *in, size_t bytes)
{
	uint8_t out[16] = {};
	set(in, OPCODE, opcode);
	set(in, NUMBER, qp->number);
	EXPECT(mlx5dv_devx_obj_modify(qp->object, in, bytes, out, sizeof(out)) == 0);
}

/* From reset to ready to send: an RC QP, whose peer has this number, at this port; from the first port. */
static inline void connect_devx_qp_to(struct devx_qp *qp, unsigned peer, struct ibv_port_attr port)
{
	uint8_t init[MODIFY_QP_BYTES] = {}, rtr[MODIFY_QP_BYTES] = {}, rts[MODIFY_QP_BYTES] = {};
	set(init, QPC_PM_STATE, 3);
	set(init, PATH_PORT, 1);
	set(init, QPC_RRE, 1);
	set(init, QPC_RWE, 1);
	change_devx_qp(qp, RST2INIT, init, sizeof(init));
	set(rtr, QPC_MTU, 3);
	set(rtr, QPC_LOG_MSG_MAX, 30);
	set(rtr, QPC_REMOTE_QPN, peer);
	set(rtr, PATH_RLID, port.lid);
	if (port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		/* RoCE version 2, by an address that is made of the MAC address. */
		enum { GID = 1, FLIPPED = 2 };
		union ibv_gid gid;
		EXPECT(ibv_query_gid(context, 1, GID, &gid) == 0);
		set(rtr, PATH_SRC_ADDR_INDEX, GID);
		set(rtr, PATH_HOP_LIMIT, 64);
		set(rtr, PATH_RGID_HIGH, be64toh(gid.global.subnet_prefix));
		set(rtr, PATH_RGID_LOW, be64toh(gid.global.interface_id));
		set(rtr, PATH_RMAC_47_32, (gid.raw[8] ^ FLIPPED) << 8 | gid.raw[9]);
		set(rtr, PATH_RMAC_31_0, (uint32_t)gid.raw[10] << 24 | gid.raw[13] << 16 | gid.raw[14] << 8 | gid.raw[15]);
	}
	set(rtr, PATH_PORT, 1);
	set(rtr, QPC_LOG_RRA_MAX, 2);
	set(rtr, QPC_MIN_RNR_NAK, 12);
	set(rtr, QPC_NEXT_RCV_PSN, 0x123456);
	change_devx_qp(qp, INIT2RTR, rtr, sizeof(rtr));
	set(rts, PATH_ACK_TIMEOUT, ack_timeout);
	set(rts, QPC_RETRY_COUNT, retry_count);
	set(rts, QPC_RNR_RETRY, 6);
	set(rts, QPC_LOG_SRA_MAX, 2);
	set(rts, QPC_NEXT_SEND_PSN, 0x123456);
	change_devx_qp(qp, RTR2RTS, rts, sizeof(rts));
}

/* The same, with a peer at the first port. */
static inline void connect_devx_qp(struct devx_qp *qp, unsigned peer)
{
	struct ibv_port_attr port;
	EXPECT(ibv_query_port(context, 1, &port) == 0);
	connect_devx_qp_to(qp, peer, port);
}

static inline unsigned state_of(struct devx_qp *qp)
{
	uint8_t in[16] = {}, out[MODIFY_QP_BYTES] = {};
	set(in, OPCODE, QUERY_QP);
	set(in, NUMBER, qp->number);
	EXPECT(mlx5dv_devx_obj_query(qp->object, in, sizeof(in), out, sizeof(out)) == 0);
	return get(out, QPC_STATE);
}

/* Posts one WQE that fits into a WQEBB, and rings: by BlueFlame, as wide as the WQE, or by its first 8 bytes. */
static inline void post_devx(struct devx_qp *qp, unsigned opcode, char *from, uint32_t lkey, uint32_t length, char *to,
			     uint32_t rkey, int blue_flame)
{
	char *wqe = qp->sq + qp->posted % (1 << qp->log_sq) * WQEBB;
	int remote = opcode != MLX5_OPCODE_SEND;
	memset(wqe, 0, WQEBB);
	mlx5dv_set_ctrl_seg((struct mlx5_wqe_ctrl_seg *)wqe, qp->posted, opcode, 0, qp->number, MLX5_WQE_CTRL_CQ_UPDATE,
			    remote ? 3 : 2, 0, 0);
	char *next = wqe + sizeof(struct mlx5_wqe_ctrl_seg);
	if (remote) {
		struct mlx5_wqe_raddr_seg *address = (struct mlx5_wqe_raddr_seg *)next;
		address->raddr = htobe64((uintptr_t)to);
		address->rkey = htobe32(rkey);
		next += sizeof(*address);
	}
	mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)next, length, lkey, (uintptr_t)from);
	qp->posted++;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile __be32 *)&qp->record[RECORD_SEND] = htobe32(qp->posted & 0xffff);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	volatile uint64_t *to_register = (volatile uint64_t *)((char *)qp->uar->reg_addr + qp->half);
	for (int i = 0; i < (blue_flame ? WQEBB / 8 : 1); i++)
		to_register[i] = ((uint64_t *)wqe)[i];
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	qp->half ^= REGISTER_HALF;
}

static inline void receive_devx(struct devx_qp *qp, char *to, uint32_t lkey, uint32_t length)
{
	char *wqe = qp->rq + qp->received % (1 << qp->log_rq) * RQ_STRIDE;
	memset(wqe, 0, RQ_STRIDE);
	mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)wqe, length, lkey, (uintptr_t)to);
	/* Ends the list. */
	mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)wqe + 1, 0, 0x100, 0);
	qp->received++;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile __be32 *)&qp->record[RECORD_RECEIVE] = htobe32(qp->received & 0xffff);
}

/* The next CQE, once it is there; NULL after 10 seconds, which are many on any machine. */
static inline struct mlx5_cqe64 *poll_devx(struct devx_cq *cq)
{
	struct mlx5_cqe64 *cqe = &cq->ring[cq->consumed & ((1 << cq->log_size) - 1)];
	uint8_t owner = cq->consumed >> cq->log_size & 1;
	time_t begin = time(NULL);
	for (long tries = 0; tries % 1000 || time(NULL) - begin <= 10; tries++) {
		uint8_t op_own = *(volatile uint8_t *)&cqe->op_own;
		if (op_own >> 4 != MLX5_CQE_INVALID && (op_own & 1) == owner) {
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			cq->consumed++;
			*(volatile __be32 *)&cq->record[0] = htobe32(cq->consumed & 0xffffff);
			return cqe;
		}
		if (tries % 1000 == 999)
			sched_yield();
	}
	return NULL;
}

/* Asks for an event when the next CQE comes. */
static inline void arm_devx(struct devx_cq *cq)
{
	uint32_t arm = (cq->arms & 3) << 28 | (cq->consumed & 0xffffff);
	union {
		__be32 words[2];
		uint64_t whole;
	} doorbell = { { htobe32(arm), htobe32(cq->number) } };
	*(volatile __be32 *)&cq->record[1] = doorbell.words[0];
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*(volatile uint64_t *)((char *)cq->uar->base_addr + 0x20) = doorbell.whole;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

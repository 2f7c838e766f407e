/*
 * A sink, stepped by this program: queues are posted to and polled through libmlx5 and by hand.
 * Prints what went otherwise than expected; the exit code is 1 then. With the argument "times", how long things take.
 */
#include "prelude.h"
#include <dlfcn.h>
#include <endian.h>
#include <poll.h>
#include <time.h>

enum { QUEUES = 1024, DEEPEST = 32768 };

static int (*step)(void);
static int show_times;
static struct ibv_mr *mr;

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static void took(const char *what, double since)
{
	if (show_times)
		printf("%s: %.3f ms\n", what, (now() - since) * 1e3);
}

static struct ibv_qp *make_sender(struct ibv_pd *domain, struct ibv_cq *cq, uint32_t wrs, uint32_t sges, uint32_t inline_bytes)
{
	return make_qp_of(domain, cq, NULL, IBV_QPT_RC, (struct ibv_qp_cap){ .max_send_wr = wrs, .max_send_sge = sges,
		.max_inline_data = inline_bytes });
}

/* The usual state changes; the peer does not exist. */
static void connect_to_nobody(struct ibv_qp *qp)
{
	to_init(qp);
	to_rts(qp, 0xabcdef, (struct ibv_ah_attr){ .dlid = 0x7777, .port_num = 1, .is_global = 1 });
}

/* What is polled are the completions first, first + 1, …, `count` of them, and no more. */
static void expect_completions(struct ibv_cq *cq, uint64_t first, int count)
{
	struct ibv_wc wc[16];
	int got, total = 0;
	while ((got = ibv_poll_cq(cq, 16, wc)) > 0)
		for (int i = 0; i < got; i++, total++)
			EXPECT(wc[i].status == IBV_WC_SUCCESS && wc[i].wr_id == first + total);
	EXPECT(got == 0 && total == count);
}

/* Every way to post that libmlx5 has, until the ring has wrapped several times. */
static void posting(struct ibv_context *on)
{
	struct ibv_pd *domain = NEED(ibv_alloc_pd(on));
	struct ibv_mr *region = NEED(ibv_reg_mr(domain, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
	struct ibv_cq *cq = NEED(ibv_create_cq(on, 63, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_sender(domain, cq, 64, 4, 128));
	connect_to_nobody(qp);
	struct ibv_sge sge[4];
	for (int i = 0; i < 4; i++)
		sge[i] = (struct ibv_sge){ .addr = (uintptr_t)memory + 100 * i, .length = 32, .lkey = region->lkey };
	struct ibv_send_wr list[16], *bad;
	uint64_t id = 0;
	for (int round = 0; round < 100; round++) {
		/* One inline WRITE, which goes to the register whole. */
		struct ibv_send_wr wr = { .wr_id = id, .sg_list = sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE, .wr.rdma = { .remote_addr = 0x1000, .rkey = 7 } };
		EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
		EXPECT(step() == 1);
		expect_completions(cq, id++, 1);
		/* A SEND of four SGEs, which takes two WQEBBs, and a long inline one, behind one step. */
		wr = (struct ibv_send_wr){ .wr_id = id, .sg_list = sge, .num_sge = 4, .opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED };
		EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
		wr.wr_id = id + 1;
		wr.send_flags |= IBV_SEND_INLINE;
		EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
		EXPECT(step() == 2);
		expect_completions(cq, id, 2);
		id += 2;
		/* A list with one doorbell, of which the last asks for a completion. */
		for (int i = 0; i < 16; i++)
			list[i] = (struct ibv_send_wr){ .wr_id = id, .next = i < 15 ? &list[i + 1] : NULL, .sg_list = sge,
				.num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = i < 15 ? 0 : IBV_SEND_SIGNALED };
		EXPECT(ibv_post_send(qp, list, &bad) == 0);
		EXPECT(step() == 16);
		expect_completions(cq, id++, 1);
		EXPECT(step() == 0);
	}

	/* READs and atomics complete with their length, and bring nothing. */
	memset(memory, 0x5a, 8);
	struct ibv_send_wr read = { .sg_list = sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr add = { .sg_list = sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE };
	EXPECT(ibv_post_send(qp, &read, &bad) == 0);
	sge[0].length = 8;
	EXPECT(ibv_post_send(qp, &add, &bad) == 0);
	EXPECT(step() == 2);
	struct ibv_wc wc;
	EXPECT(ibv_poll_cq(cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	EXPECT(wc.opcode == IBV_WC_RDMA_READ && wc.byte_len == 32);
	EXPECT(ibv_poll_cq(cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	EXPECT(wc.opcode == IBV_WC_FETCH_ADD && wc.byte_len == 8);
	EXPECT(memory[0] == 0x5a && memory[7] == 0x5a);
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(region) == 0 && ibv_dealloc_pd(domain) == 0);
}

/* Work requests built by calls, and the CQ that is polled by calls. */
static void extended(void)
{
	struct ibv_cq_ex *cq = NEED(ibv_create_cq_ex(context, &(struct ibv_cq_init_attr_ex){ .cqe = 32 }));
	struct ibv_qp_init_attr_ex attr = { .send_cq = ibv_cq_ex_to_cq(cq), .recv_cq = ibv_cq_ex_to_cq(cq), .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_send_sge = 1, .max_inline_data = 64 }, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE };
	struct ibv_qp *qp = NEED(ibv_create_qp_ex(context, &attr));
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	connect_to_nobody(qp);
	struct ibv_poll_cq_attr none = {};
	for (uint64_t id = 0; id < 200; id += 2) {
		ibv_wr_start(ex);
		for (int i = 0; i < 2; i++) {
			ex->wr_id = id + i;
			ex->wr_flags = IBV_SEND_SIGNALED;
			ibv_wr_rdma_write(ex, 1, 0);
			ibv_wr_set_inline_data(ex, memory, 8 + i * 32);
		}
		EXPECT(ibv_wr_complete(ex) == 0);
		EXPECT(ibv_start_poll(cq, &none) == ENOENT);
		EXPECT(step() == 2);
		EXPECT(ibv_start_poll(cq, &none) == 0 && cq->status == IBV_WC_SUCCESS && cq->wr_id == id);
		EXPECT(ibv_next_poll(cq) == 0 && cq->status == IBV_WC_SUCCESS && cq->wr_id == id + 1);
		EXPECT(ibv_next_poll(cq) == ENOENT);
		ibv_end_poll(cq);
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0);
}

/* One NOP (or another opcode) of two DS, built by hand, with a doorbell of 8 bytes. */
static void post_nop(const struct mlx5dv_qp *raw, uint32_t qpn, uint16_t index, uint8_t opcode)
{
	uint32_t *wqe = (uint32_t *)((char *)raw->sq.buf + (index & (raw->sq.wqe_cnt - 1)) * raw->sq.stride);
	memset(wqe, 0, 64);
	wqe[0] = htobe32(index << 8 | opcode);
	wqe[1] = htobe32(qpn << 8 | 2);
	wqe[2] = htobe32(MLX5_WQE_CTRL_CQ_UPDATE);
	raw->dbrec[MLX5_SND_DBR] = htobe32((uint16_t)(index + 1));
	*(volatile uint64_t *)raw->bf.reg = *(uint64_t *)wqe;
}

/* Queues whose parts mlx5dv has handed over; a WQE that makes no sense fails, and what follows is flushed. */
static void by_hand(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 15, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_sender(pd, cq, 16, 1, 0));
	connect_to_nobody(qp);
	struct mlx5dv_qp raw = raw_qp(qp);
	struct mlx5dv_cq cqes = raw_cq(cq);
	uint32_t i;
	for (i = 0; i < 70000; i++) {
		post_nop(&raw, qp->qp_num, i, MLX5_OPCODE_NOP);
		volatile struct mlx5_cqe64 *cqe = (struct mlx5_cqe64 *)cqes.buf + (i & (cqes.cqe_cnt - 1));
		EXPECT(step() == 1);
		EXPECT(cqe->op_own == ((i & cqes.cqe_cnt) != 0) && be16toh(cqe->wqe_counter) == (uint16_t)i &&
		       be32toh(cqe->sop_drop_qpn) == qp->qp_num && cqe->byte_cnt == 0);
		cqes.dbrec[0] = htobe32((i + 1) & 0xffffff);
		if (failures)
			return;
	}
	post_nop(&raw, qp->qp_num, i, 0x3f);
	post_nop(&raw, qp->qp_num, i + 1, MLX5_OPCODE_NOP);
	EXPECT(step() == 2);
	struct mlx5_err_cqe *bad = (struct mlx5_err_cqe *)cqes.buf + (i & (cqes.cqe_cnt - 1));
	EXPECT(bad->op_own >> 4 == MLX5_CQE_REQ_ERR && bad->syndrome == MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	i++;
	bad = (struct mlx5_err_cqe *)cqes.buf + (i & (cqes.cqe_cnt - 1));
	EXPECT(bad->op_own >> 4 == MLX5_CQE_REQ_ERR && bad->syndrome == MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
}

/* Queues that share a register, each of which uses its halves in turn for itself: later stores replace earlier ones. */
static void turns_of_their_own(void)
{
	enum { SHARING = 8 };
	struct ibv_td_init_attr none = {};
	struct ibv_td *td = NEED(ibv_alloc_td(context, &none));
	struct ibv_parent_domain_init_attr parent = { .pd = pd, .td = td };
	struct ibv_pd *domain = NEED(ibv_alloc_parent_domain(context, &parent));
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 63, NULL, NULL, 0));
	struct ibv_qp *qps[SHARING];
	struct mlx5dv_qp raw[SHARING];
	for (int i = 0; i < SHARING; i++) {
		connect_to_nobody(qps[i] = NEED(make_sender(domain, cq, 16, 1, 0)));
		raw[i] = raw_qp(qps[i]);
		EXPECT(raw[i].bf.size && raw[i].bf.reg == raw[0].bf.reg);
	}
	for (uint16_t index = 0; index < 6; index++) {
		for (int i = 0; i < SHARING; i++) {
			struct mlx5dv_qp turn = raw[i];
			turn.bf.reg = (char *)turn.bf.reg + index % 2 * turn.bf.size;
			post_nop(&turn, qps[i]->qp_num, index, MLX5_OPCODE_NOP);
		}
		EXPECT(step() == SHARING);
		struct ibv_wc wc[SHARING];
		EXPECT(ibv_poll_cq(cq, SHARING, wc) == SHARING);
	}
	for (int i = 0; i < SHARING; i++)
		EXPECT(ibv_destroy_qp(qps[i]) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0 && ibv_dealloc_pd(domain) == 0 && ibv_dealloc_td(td) == 0);
}

/* An event for a CQE that is there when the CQ is armed, and one for the next. */
static void events(void)
{
	struct ibv_comp_channel *channel = NEED(ibv_create_comp_channel(context));
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 15, NULL, channel, 0)), *got;
	struct ibv_qp *qp = NEED(make_sender(pd, cq, 16, 1, 64));
	connect_to_nobody(qp);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct pollfd readable = { .fd = channel->fd, .events = POLLIN };
	void *ignored;
	for (int armed_late = 0; armed_late < 2; armed_late++) {
		EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
		EXPECT(!armed_late || step() == 1);
		EXPECT(ibv_req_notify_cq(cq, 0) == 0);
		EXPECT(step() == !armed_late);
		EXPECT(poll(&readable, 1, 0) == 1);
		EXPECT(ibv_get_cq_event(channel, &got, &ignored) == 0 && got == cq);
		expect_completions(cq, 0, 1);
	}
	ibv_ack_cq_events(cq, 2);
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_destroy_comp_channel(channel) == 0);
}

/* The largest rings: filled to the brim, and around their ends. */
static void deep(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(context, DEEPEST - 1, NULL, NULL, 0));
	/* libmlx5 reckons with four WQEBBs for each request. */
	struct ibv_qp *qp = NEED(make_sender(pd, cq, DEEPEST / 4, 1, 16));
	struct mlx5dv_qp raw = raw_qp(qp);
	EXPECT(cq->cqe == DEEPEST - 1 && raw.sq.wqe_cnt == DEEPEST);
	connect_to_nobody(qp);
	uint16_t index = 0;
	for (int round = 0, sizes[] = { DEEPEST, DEEPEST, 256, DEEPEST, 256 }; round < 5; round++) {
		for (int i = 0; i < sizes[round]; i++)
			post_nop(&raw, qp->qp_num, index++, MLX5_OPCODE_NOP);
		double start = now();
		EXPECT(step() == sizes[round]);
		took(sizes[round] == 256 ? "a step of 256 WQEs" : "a step of 32768 WQEs", start);
		struct ibv_wc wc;
		int got = 0;
		while (ibv_poll_cq(cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS)
			got++;
		EXPECT(got == sizes[round]);
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
}

/* Many queues, each in a thread domain of its own (with a register of its own), on CQs of their own or on one. */
static void many(int own_cqs)
{
	static struct { struct ibv_td *td; struct ibv_pd *domain; struct ibv_cq *cq; struct ibv_qp *qp; } queues[QUEUES];
	struct ibv_cq *shared = NEED(ibv_create_cq(context, 4 * QUEUES, NULL, NULL, 0));
	double start = now();
	for (int i = 0; i < QUEUES; i++) {
		struct ibv_td_init_attr none = {};
		queues[i].td = NEED(ibv_alloc_td(context, &none));
		struct ibv_parent_domain_init_attr parent = { .pd = pd, .td = queues[i].td };
		queues[i].domain = NEED(ibv_alloc_parent_domain(context, &parent));
		queues[i].cq = own_cqs ? NEED(ibv_create_cq(context, 64, NULL, NULL, 0)) : shared;
		queues[i].qp = NEED(make_sender(queues[i].domain, queues[i].cq, 64, 1, 16));
		connect_to_nobody(queues[i].qp);
	}
	took("1024 QPs made", start);
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 8 };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE };
	for (int i = 0; i < QUEUES; i++) {
		wr.wr_id = i;
		EXPECT(ibv_post_send(queues[i].qp, &wr, &bad) == 0);
	}
	start = now();
	EXPECT(step() == QUEUES);
	took("a step of 1024 QPs with a WQE each", start);
	if (!own_cqs)
		expect_completions(shared, 0, QUEUES);
	for (int i = 0; i < QUEUES; i++) {
		if (own_cqs)
			expect_completions(queues[i].cq, i, 1);
	}
	start = now();
	for (int i = 0; i < QUEUES; i++) {
		EXPECT(ibv_destroy_qp(queues[i].qp) == 0);
		EXPECT(!own_cqs || ibv_destroy_cq(queues[i].cq) == 0);
		EXPECT(ibv_dealloc_pd(queues[i].domain) == 0 && ibv_dealloc_td(queues[i].td) == 0);
	}
	took("1024 QPs destroyed", start);
	EXPECT(ibv_destroy_cq(shared) == 0);
}

int main(int argc, char **argv)
{
	show_times = argc > 1 && strcmp(argv[1], "times") == 0;
	step = NEED((int (*)(void))dlsym(RTLD_DEFAULT, "softhca_step"));
	start();
	if (argc > 1 && strcmp(argv[1], "no-sink") == 0) {
		EXPECT(step() == -1);
		return finish();
	}
	EXPECT(step() == 0);
	struct ibv_context *second = open_first();
	mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
	posting(context);
	posting(second);
	extended();
	by_hand();
	turns_of_their_own();
	events();
	deep();
	many(1);
	many(0);
	EXPECT(ibv_dereg_mr(mr) == 0);
	EXPECT(ibv_close_device(second) == 0);
	return finish();
}

/*
 * What a program meets that a script of chaos plays to. The first argument names the script. Prints what went otherwise
 * than expected; the exit code is 1 then.
 */
#include "prelude.h"
#include <poll.h>
#include <time.h>

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* The type of the next event within so many milliseconds; -1 if there is none. */
static int next_event(int milliseconds)
{
	struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	if (poll(&fd, 1, milliseconds) != 1 || ibv_get_async_event(context, &event) != 0)
		return -1;
	ibv_ack_async_event(&event);
	return event.event_type;
}

/* A request ends as the script says, those behind it are flushed, and the queue pair works again after a reset. */
static void retry(struct ibv_cq *cq, struct ibv_mr *mr)
{
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	connect_to(qp, qp);
	for (int nth = 1; nth <= 4; nth++) {
		EXPECT(post_write(qp, mr, memory, memory + 4096, 8, IBV_SEND_SIGNALED) == 0);
		struct ibv_wc wc = wait_for(cq);
		if (nth < 3)
			EXPECT(wc.status == IBV_WC_SUCCESS);
		else if (nth == 3)
			EXPECT(wc.status == IBV_WC_RETRY_EXC_ERR && wc.vendor_err == 0x81);
		else
			EXPECT(wc.status == IBV_WC_WR_FLUSH_ERR);
	}
	EXPECT(ibv_modify_qp(qp, &reset, IBV_QP_STATE) == 0);
	connect_to(qp, qp);
	EXPECT(post_write(qp, mr, memory, memory + 4096, 8, IBV_SEND_SIGNALED) == 0);
	EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	EXPECT(ibv_destroy_qp(qp) == 0);
}

static void post_shared(struct ibv_srq *srq, struct ibv_mr *mr)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + 8192, .length = 64, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	EXPECT(ibv_post_srq_recv(srq, &wr, &bad) == 0);
}

static void send_one(struct ibv_qp *qp, struct ibv_mr *mr)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 8, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED };
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
}

/* A shared receive queue falls below its limit; whether the program is told. */
static int limit_is_told(struct ibv_cq *cq, struct ibv_mr *mr)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(pd, &init));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, srq, IBV_QPT_RC));
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	connect_to(qp, qp);
	for (int nth = 0; nth < 3; nth++)
		post_shared(srq, mr);
	EXPECT(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) == 0);
	for (int nth = 0; nth < 2; nth++) {
		send_one(qp, mr);
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	}
	int told = next_event(300) == IBV_EVENT_SRQ_LIMIT_REACHED;
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_srq(srq) == 0);
	return told;
}

/* The device dies: the program is told, and what it has posted never completes. */
static void removal(struct ibv_cq *cq, struct ibv_mr *mr)
{
	struct ibv_wc wc;
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	connect_to(qp, qp);
	EXPECT(next_event(20000) == IBV_EVENT_PORT_ERR);
	EXPECT(next_event(20000) == IBV_EVENT_PORT_ACTIVE);
	EXPECT(next_event(20000) == IBV_EVENT_DEVICE_FATAL);
	EXPECT(post_write(qp, mr, memory, memory + 4096, 8, IBV_SEND_SIGNALED) == 0);
	EXPECT(next_event(50) == -1);
	EXPECT(ibv_poll_cq(cq, 1, &wc) == 0);
	EXPECT(ibv_destroy_qp(qp) == 0);
}

/* Commands that are refused: the firmware's, and the kernel's. */
static void refused(void)
{
	int fails = 0;
	EXPECT(mlx5dv_devx_umem_reg(context, memory, sizeof(memory), 0) == NULL);
	struct mlx5dv_devx_umem *umem = NEED(mlx5dv_devx_umem_reg(context, memory, sizeof(memory), 0));
	EXPECT(mlx5dv_devx_umem_dereg(umem) == 0);
	for (int nth = 0; nth < 20; nth++) {
		errno = 0;
		struct ibv_pd *domain = ibv_alloc_pd(context);
		if (!domain) {
			fails += errno == ENOMEM;
		} else if (ibv_dealloc_pd(domain) != 0) {
			fails += errno == ENOMEM;
			EXPECT(ibv_dealloc_pd(domain) == 0);
		}
	}
	EXPECT(fails == 1);
}

/* Nothing gets lost in a storm: each message arrives once, in order, however long it takes. */
static void storm(struct ibv_cq *cq, struct ibv_mr *mr)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(pd, &init));
	retry_count = 7;
	/* No limit to receivers that are not ready. */
	rnr_retry_count = 7;
	struct ibv_qp *qp = NEED(make_qp(pd, cq, srq, IBV_QPT_RC));
	connect_to(qp, qp);
	double begin = seconds();
	int messages = 0;
	while (seconds() - begin < 0.5) {
		memory[0] = (char)messages++;
		post_shared(srq, mr);
		send_one(qp, mr);
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
		EXPECT(memory[8192] == memory[0]);
		if (failures)
			break;
	}
	EXPECT(messages > 1);
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_srq(srq) == 0);
}

int main(int argc, char **argv)
{
	const char *script = argc > 1 ? argv[1] : "";
	start();
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 64, NULL, NULL, 0));
	struct ibv_mr *mr = register_memory(pd);
	if (strcmp(script, "retry") == 0)
		retry(cq, mr);
	else if (strcmp(script, "limit") == 0)
		EXPECT(!limit_is_told(cq, mr));
	else if (strcmp(script, "no limit") == 0)
		EXPECT(limit_is_told(cq, mr));
	else if (strcmp(script, "removal") == 0)
		removal(cq, mr);
	else if (strcmp(script, "refused") == 0)
		refused();
	else if (strcmp(script, "storm") == 0)
		storm(cq, mr);
	else
		EXPECT(!"a script");
	EXPECT(ibv_dereg_mr(mr) == 0 && ibv_destroy_cq(cq) == 0);
	return finish();
}

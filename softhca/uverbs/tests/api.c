/*
 * Calls of libibverbs and libmlx5 that the tools do not make, or not with wrong arguments, on the software device.
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

static void regions(void)
{
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
	errno = 0;
	EXPECT(ibv_dealloc_pd(pd) == EBUSY);
	EXPECT(ibv_dereg_mr(mr) == 0);

	errno = 0;
	EXPECT(!ibv_reg_mr(pd, memory, 16, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL);
	char *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = 0;
	EXPECT(!ibv_reg_mr(pd, hole, 4096, 0) && errno == EFAULT);
	munmap(hole, 4096);
	errno = 0;
	EXPECT(!ibv_reg_mr(pd, hole, 4096, 0) && errno == EFAULT);
	mr = NEED(ibv_reg_mr_iova(pd, memory + 64, 64, 0x7000000000000040, IBV_ACCESS_RELAXED_ORDERING));
	EXPECT(ibv_dereg_mr(mr) == 0);
}

static void completion_queues(void)
{
	struct ibv_comp_channel *channel = NEED(ibv_create_comp_channel(context));
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 15, NULL, channel, 1));
	EXPECT(cq->cqe == 15);
	errno = 0;
	EXPECT(!ibv_create_cq(context, 15, NULL, NULL, 99) && errno == EINVAL);
	errno = 0;
	EXPECT(!ibv_create_cq(context, 1 << 23, NULL, NULL, 0) && errno == EINVAL);
	struct ibv_modify_cq_attr moderation = { .attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { .cq_count = 16, .cq_period = 10 } };
	EXPECT(ibv_modify_cq(cq, &moderation) == 0);

	struct ibv_mr *mr = register_memory(pd);
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	connect_to(qp, qp);
	EXPECT(ibv_destroy_cq(cq) == EBUSY);

	/* Completions on both sides of a resize, in order. */
	memset(memory, 0x5a, 4096);
	for (int i = 1; i <= 5; i++)
		EXPECT(post_write(qp, mr, memory, memory + 8192, i, IBV_SEND_SIGNALED) == 0);
	while (((volatile char *)memory)[8192 + 4] != 0x5a)
		;
	EXPECT(ibv_resize_cq(cq, 100) == 0);
	EXPECT(cq->cqe == 127);
	for (int i = 6; i <= 10; i++)
		EXPECT(post_write(qp, mr, memory, memory + 8192, i, IBV_SEND_SIGNALED | IBV_SEND_INLINE) == 0);
	for (int i = 1; i <= 10; i++) {
		struct ibv_wc wc = wait_for(cq);
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == (uint64_t)i);
	}

	/* An event that nobody reads does not keep the CQ. */
	struct ibv_cq *got;
	void *ignored;
	EXPECT(ibv_req_notify_cq(cq, 0) == 0);
	EXPECT(post_write(qp, mr, memory, memory + 8192, 8, IBV_SEND_SIGNALED) == 0);
	EXPECT(ibv_get_cq_event(channel, &got, &ignored) == 0 && got == cq);
	EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	EXPECT(ibv_req_notify_cq(cq, 0) == 0);
	EXPECT(post_write(qp, mr, memory, memory + 8192, 8, IBV_SEND_SIGNALED) == 0);
	struct pollfd readable = { .fd = channel->fd, .events = POLLIN };
	EXPECT(poll(&readable, 1, 5000) == 1);
	ibv_ack_cq_events(cq, 1);
	/* Where nothing is wrong, errno stays what it was. */
	errno = ENOMSG;
	EXPECT(ibv_destroy_qp(qp) == 0 && errno == ENOMSG);
	EXPECT(ibv_destroy_cq(cq) == 0 && errno == ENOMSG);
	EXPECT(poll(&readable, 1, 0) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0);
	EXPECT(ibv_destroy_comp_channel(channel) == 0);
}

static void queue_pairs(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 64, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_qp_init_attr init;
	struct ibv_port_attr port;
	EXPECT(ibv_query_port(context, 1, &port) == 0);
	/* SPDK connects a new queue pair on the port that this names. */
	EXPECT(ibv_query_qp(qp, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT, &init) == 0 && attr.port_num == 1);
	EXPECT(attr.ah_attr.port_num == 1 && attr.ah_attr.is_global == (port.link_layer == IBV_LINK_LAYER_ETHERNET));
	attr.qp_state = IBV_QPS_RTS;
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EINVAL);
	attr.qp_state = IBV_QPS_INIT;
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EINVAL);
	/* Linux ignores rights that it does not know; the second change sets those of `connect_to` alone. */
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ~0u };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
	connect_to(qp, qp);
	EXPECT(ibv_query_qp(qp, &attr, (1 << 21) - 1, &init) == 0);
	EXPECT(attr.qp_state == IBV_QPS_RTS && attr.path_mtu == IBV_MTU_1024 && attr.dest_qp_num == qp->qp_num);
	EXPECT(attr.rq_psn == 0x123456 && attr.sq_psn == 0x123456 && attr.port_num == 1);
	EXPECT(attr.ah_attr.sl == (on_ethernet() ? 0 : 3));
	EXPECT(attr.timeout == 14 && attr.retry_cnt == 5 && attr.rnr_retry == 6 && attr.min_rnr_timer == 12);
	/* Of the 3 that were asked for, the device makes a power of two. */
	EXPECT(attr.max_rd_atomic == 4 && attr.max_dest_rd_atomic == 4);
	EXPECT(attr.qp_access_flags == (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
	EXPECT(init.cap.max_send_wr >= 16 && init.cap.max_inline_data >= 64 && init.qp_type == IBV_QPT_RC);

	/* The access error of a peer, on both ends: a completion, and an event. */
	struct ibv_qp *peer = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	connect_to(peer, qp);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
	connect_to(qp, peer);
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE));
	EXPECT(post_write(peer, mr, memory, memory + 64, 8, IBV_SEND_SIGNALED) == 0);
	EXPECT(wait_for(cq).status == IBV_WC_REM_ACCESS_ERR);
	struct ibv_async_event event;
	EXPECT(ibv_get_async_event(context, &event) == 0);
	EXPECT(event.event_type == IBV_EVENT_QP_ACCESS_ERR && event.element.qp == qp);
	ibv_ack_async_event(&event);
	EXPECT(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_ERR);
	EXPECT(ibv_dereg_mr(mr) == 0);
	EXPECT(ibv_destroy_qp(peer) == 0);
	EXPECT(ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0);
}

static void shared_receive_queues(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 20, .max_sge = 3 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(pd, &init));
	EXPECT(init.attr.max_wr == 31 && init.attr.max_sge == 3);
	/* The kernel counts libmlx5's wait queue in. */
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	EXPECT(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) == 0);
	attr.srq_limit = 0;
	EXPECT(ibv_query_srq(srq, &attr) == 0 && attr.srq_limit == 2 && attr.max_wr == 63 && attr.max_sge == 3);
	attr.srq_limit = 64;
	EXPECT(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) == EINVAL);
	EXPECT(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR) == EINVAL);

	struct ibv_cq *cq = NEED(ibv_create_cq(context, 64, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, srq, IBV_QPT_RC));
	EXPECT(ibv_destroy_srq(srq) == EBUSY);
	connect_to(qp, qp);
	/* The second message leaves fewer WQEs than the limit. */
	struct ibv_recv_wr *bad_recv, recv = { .wr_id = 1 };
	for (int i = 0; i < 3; i++)
		EXPECT(ibv_post_srq_recv(srq, &recv, &bad_recv) == 0);
	struct ibv_send_wr *bad, send = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	for (int i = 0; i < 2; i++)
		EXPECT(ibv_post_send(qp, &send, &bad) == 0);
	for (int i = 0; i < 4; i++)
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	struct ibv_async_event event;
	EXPECT(ibv_get_async_event(context, &event) == 0);
	EXPECT(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && event.element.srq == srq);
	ibv_ack_async_event(&event);
	EXPECT(ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_destroy_srq(srq) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0);
}

/* Registers: as many thread domains as one likes, each with its own, where there is write combining; NC pages; more QPs than
 * registers. */
static void registers(int dynamic)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 1023, NULL, NULL, 0));
	struct ibv_mr *mr = register_memory(pd);
	struct { struct ibv_td *td; struct ibv_pd *domain; struct ibv_qp *qp; struct mlx5dv_qp raw; } threads[20] = {};
	int domains = 0;
	for (int i = 0; i < 20; i++) {
		struct ibv_td_init_attr none = {};
		threads[i].td = ibv_alloc_td(context, &none);
		if (i == 0 && !threads[i].td && errno == EOPNOTSUPP)
			break;
		NEED(threads[i].td);
		domains++;
		struct ibv_parent_domain_init_attr parent = { .pd = pd, .td = threads[i].td };
		threads[i].domain = NEED(ibv_alloc_parent_domain(context, &parent));
		threads[i].qp = NEED(make_qp(threads[i].domain, cq, NULL, IBV_QPT_RC));
		threads[i].raw = raw_qp(threads[i].qp);
		EXPECT(threads[i].raw.bf.size == 256);
		for (int j = 0; j < i; j++)
			EXPECT(threads[i].raw.bf.reg != threads[j].raw.bf.reg);
	}
	struct ibv_qp *shared[40];
	for (int i = 0; i < 40; i++) {
		shared[i] = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
		connect_to(shared[i], shared[i]);
	}
	for (int i = 0; i < 40; i++)
		EXPECT(post_write(shared[i], mr, memory, memory + 8192, 32, IBV_SEND_SIGNALED | IBV_SEND_INLINE) == 0);
	for (int i = 0; i < 40; i++)
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	if (domains) {
		connect_to(threads[19].qp, threads[19].qp);
		EXPECT(post_write(threads[19].qp, mr, memory, memory + 8192, 32, IBV_SEND_SIGNALED | IBV_SEND_INLINE) == 0);
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	}
	if (dynamic) {
		struct mlx5dv_devx_uar *uar = NEED(mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC));
		mlx5dv_devx_free_uar(uar);
	}
	for (int i = 0; i < 40; i++)
		EXPECT(ibv_destroy_qp(shared[i]) == 0);
	for (int i = 0; i < domains; i++) {
		EXPECT(ibv_destroy_qp(threads[i].qp) == 0);
		EXPECT(ibv_dealloc_pd(threads[i].domain) == 0);
		EXPECT(ibv_dealloc_td(threads[i].td) == 0);
	}
	EXPECT(ibv_dereg_mr(mr) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0);
}

/* The newer ways to make and to use queues. */
static void extended_queues(void)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 32, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN };
	struct mlx5dv_cq_init_attr wide = { .comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE, .cqe_size = 128 };
	struct ibv_cq_ex *cq = NEED(mlx5dv_create_cq(context, &cq_attr, &wide));
	struct mlx5dv_cq raw = raw_cq(ibv_cq_ex_to_cq(cq));
	EXPECT(raw.cqe_size == 128 && raw.cqe_cnt == 64);

	struct ibv_qp_init_attr_ex attr = { .send_cq = ibv_cq_ex_to_cq(cq), .recv_cq = ibv_cq_ex_to_cq(cq), .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 }, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE };
	struct mlx5dv_qp_init_attr scatter = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE };
	struct ibv_qp *qp = NEED(mlx5dv_create_qp(context, &attr, &scatter));
	connect_to(qp, qp);
	struct ibv_mr *mr = register_memory(pd);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	strcpy(memory, "by ibv_wr");
	ibv_wr_start(ex);
	ex->wr_id = 77;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex, mr->rkey, (uintptr_t)memory + 8192);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)memory, 10);
	EXPECT(ibv_wr_complete(ex) == 0);
	struct ibv_poll_cq_attr none = {};
	while (ibv_start_poll(cq, &none) == ENOENT)
		;
	EXPECT(cq->status == IBV_WC_SUCCESS && cq->wr_id == 77 && ibv_wc_read_completion_ts(cq) != 0);
	ibv_end_poll(cq);
	EXPECT(strcmp(memory + 8192, "by ibv_wr") == 0);
	EXPECT(ibv_dereg_mr(mr) == 0);
	EXPECT(ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0);

	/* What the device does not have is refused. */
	attr.qp_type = IBV_QPT_RAW_PACKET;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	cq = NEED(ibv_create_cq_ex(context, &(struct ibv_cq_init_attr_ex){ .cqe = 8 }));
	attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(cq);
	errno = 0;
	qp = ibv_create_qp_ex(context, &attr);
	EXPECT(on_ethernet() ? qp && ibv_destroy_qp(qp) == 0 : !qp && errno == EOPNOTSUPP);
	EXPECT(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0);
}

static void gids(void)
{
	struct ibv_gid_entry entries[16], entry;
	union ibv_gid gid;
	uint16_t pkey;
	ssize_t count = ibv_query_gid_table(context, entries, 16, 0);
	EXPECT(count >= 1);
	EXPECT(ibv_query_gid_ex(context, 1, 0, &entry, 0) == 0);
	EXPECT(ibv_query_gid(context, 1, 0, &gid) == 0 && memcmp(&gid, &entry.gid, 16) == 0);
	EXPECT(memcmp(&gid, &entries[0].gid, 16) == 0);
	EXPECT(ibv_query_gid_ex(context, 1, 7, &entry, 0) == ENODATA);
	EXPECT(ibv_query_gid_ex(context, 9, 0, &entry, 0) == EINVAL);
	EXPECT(ibv_query_pkey(context, 1, 0, &pkey) == 0 && pkey == 0xffff);
}

/* Doorbells for QPs that do not exist: for strict mode to complain of. */
static void ring_wrongly(int doorbells)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 8, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	for (int i = 0; i < doorbells; i++)
		*(volatile uint64_t *)raw_qp(qp).bf.reg = htobe64(0x0000000800fffe03);
	EXPECT(ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	start();
	if (strcmp(what, "ring-wrongly") == 0) {
		ring_wrongly(argc > 2 ? atoi(argv[2]) : 1);
	} else {
		gids();
		regions();
		completion_queues();
		queue_pairs();
		shared_receive_queues();
		registers(strcmp(what, "static") != 0);
		extended_queues();
	}
	return finish();
}

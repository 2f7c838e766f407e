/*
 * XRC by libmlx5: domains, their SRQs, targets and initiators of one device, which is its own peer. As "second" it is another
 * process, which has the domain of a file open, too.
 */
#include "prelude.h"
#include <poll.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOT = 1024, PAGE = 4096 };
/* Where the parts of the memory are. */
#define AT(slot) (memory + (slot) * SLOT)
#define ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* An SRQ with a protection domain, a CQ and a region of its own. */
struct pool {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_srq *srq;
	uint32_t number;
};

static struct ibv_cq *send_cq;
static struct ibv_mr *mr;

static struct ibv_wc next_of(struct ibv_cq *cq, enum ibv_wc_status status)
{
	struct ibv_wc wc = wait_for(cq);
	EXPECT(wc.status == status);
	if (wc.status != status)
		printf("wr_id %lu: %s\n", wc.wr_id, ibv_wc_status_str(wc.status));
	return wc;
}

static struct ibv_xrcd *try_domain(struct ibv_context *of, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd, .oflags = oflags };
	errno = 0;
	return ibv_open_xrcd(of, &attr);
}

static struct ibv_srq *try_srq(struct ibv_context *of, struct ibv_xrcd *xrcd, struct ibv_pd *domain, struct ibv_cq *cq)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 15, .max_sge = 1 }, .pd = domain, .xrcd = xrcd, .cq = cq,
		.srq_type = IBV_SRQT_XRC, .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD };
	errno = 0;
	return ibv_create_srq_ex(of, &attr);
}

static struct pool make_pool(struct ibv_context *of, struct ibv_xrcd *xrcd)
{
	struct pool pool = { .pd = NEED(ibv_alloc_pd(of)) };
	pool.cq = NEED(ibv_create_cq(of, 16, NULL, NULL, 0));
	pool.mr = NEED(ibv_reg_mr(pool.pd, memory, sizeof(memory), ALL));
	pool.srq = NEED(try_srq(of, xrcd, pool.pd, pool.cq));
	EXPECT(ibv_get_srq_num(pool.srq, &pool.number) == 0 && pool.number != 0);
	return pool;
}

static void drop_pool(struct pool *pool)
{
	EXPECT(ibv_destroy_cq(pool->cq) == EBUSY);
	EXPECT(ibv_destroy_srq(pool->srq) == 0);
	EXPECT(ibv_destroy_cq(pool->cq) == 0);
	EXPECT(ibv_dereg_mr(pool->mr) == 0);
	EXPECT(ibv_dealloc_pd(pool->pd) == 0);
}

static void post_receive(struct pool *pool, uint64_t slot)
{
	struct ibv_sge sge = { .addr = (uintptr_t)AT(slot), .length = SLOT, .lkey = pool->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;
	EXPECT(ibv_post_srq_recv(pool->srq, &wr, &bad) == 0);
}

static struct ibv_qp *make_target(struct ibv_context *of, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd };
	return NEED(ibv_create_qp_ex(of, &attr));
}

/* With the calls of extended queue pairs. */
static struct ibv_qp *make_initiator(void)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_SEND, .send_cq = send_cq, .pd = pd,
		.cap = { .max_send_wr = 32, .max_send_sge = 1, .max_inline_data = 64 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
			IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
			IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD };
	return NEED(ibv_create_qp_ex(context, &attr));
}

/* From RESET to RTS. All attributes are given to both ends: what means nothing to one is ignored. */
static void activate(struct ibv_qp *qp, uint32_t peer, int rnr_retry)
{
	struct ibv_ah_attr way = loopback(context);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ALL & ~IBV_ACCESS_LOCAL_WRITE };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer,
		.rq_psn = 0x123456, .max_dest_rd_atomic = 4, .min_rnr_timer = 1, .ah_attr = way };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = rnr_retry,
		.sq_psn = 0x123456, .max_rd_atomic = 4 };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

static void connect_ends(struct ibv_qp *initiator, struct ibv_qp *target, int rnr_retry)
{
	activate(target, initiator->qp_num, rnr_retry);
	activate(initiator, target->qp_num, rnr_retry);
}

/* Again from RESET, after an error. */
static void reconnect(struct ibv_qp *initiator, struct ibv_qp *target, int rnr_retry)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	EXPECT(ibv_modify_qp(initiator, &attr, IBV_QP_STATE) == 0 && ibv_modify_qp(target, &attr, IBV_QP_STATE) == 0);
	connect_ends(initiator, target, rnr_retry);
}

#define REQUEST(qp, id, srqn, local, length, call)                               \
	do {                                                                     \
		struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);                      \
		ibv_wr_start(ex);                                                \
		ex->wr_id = (id);                                                \
		ex->wr_flags = IBV_SEND_SIGNALED;                                \
		call;                                                            \
		ibv_wr_set_xrc_srqn(ex, (srqn));                                 \
		ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)(local), (length));      \
		EXPECT(ibv_wr_complete(ex) == 0);                                \
	} while (0)

/* By the older call. */
static void post_send(struct ibv_qp *qp, uint32_t srqn, const char *text, unsigned flags)
{
	strcpy(AT(40), text);
	struct ibv_sge sge = { .addr = (uintptr_t)AT(40), .length = strlen(text) + 1, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = 77, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | flags, .qp_type.xrc.remote_srqn = srqn };
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
}

static void domains_of_files(void)
{
	FILE *file = NEED(tmpfile());
	int fd = fileno(file);
	EXPECT(!try_domain(context, 999, O_CREAT) && errno == EBADF);
	EXPECT(!try_domain(context, fd, 0) && errno == EAGAIN);
	struct ibv_xrcd *first = NEED(try_domain(context, fd, O_CREAT | O_EXCL));
	EXPECT(!try_domain(context, fd, O_CREAT | O_EXCL) && errno == EINVAL);
	struct ibv_xrcd *second = NEED(try_domain(context, fd, 0));
	/* Those of no file are apart. */
	struct ibv_xrcd *own = NEED(try_domain(context, -1, O_CREAT));
	struct ibv_xrcd *other = NEED(try_domain(context, -1, 0));
	EXPECT(ibv_close_xrcd(first) == 0 && ibv_close_xrcd(own) == 0 && ibv_close_xrcd(other) == 0);
	EXPECT(!try_domain(context, fd, O_EXCL) && errno == EINVAL);
	EXPECT(ibv_close_xrcd(second) == 0);
	EXPECT(!try_domain(context, fd, 0) && errno == EAGAIN);
	fclose(file);
}

static void every_operation(struct ibv_qp *initiator, struct ibv_qp *target, struct pool *pool)
{
	strcpy(AT(41), "by a send");
	post_receive(pool, 1);
	REQUEST(initiator, 1, pool->number, AT(41), 10, ibv_wr_send_imm(ex, htobe32(77)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).opcode == IBV_WC_SEND);
	struct ibv_wc wc = next_of(pool->cq, IBV_WC_SUCCESS);
	EXPECT(wc.opcode == IBV_WC_RECV && wc.wr_id == 1 && wc.byte_len == 10 && wc.imm_data == htobe32(77));
	EXPECT(wc.qp_num == target->qp_num && strcmp(AT(1), "by a send") == 0);

	post_receive(pool, 2);
	post_send(initiator, pool->number, "by another", IBV_SEND_INLINE);
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).wr_id == 77);
	EXPECT(next_of(pool->cq, IBV_WC_SUCCESS).wr_id == 2 && strcmp(AT(2), "by another") == 0);

	strcpy(AT(42), "by a write");
	REQUEST(initiator, 3, pool->number, AT(42), SLOT * 5, ibv_wr_rdma_write(ex, pool->mr->rkey, (uintptr_t)AT(50)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).opcode == IBV_WC_RDMA_WRITE && strcmp(AT(50), "by a write") == 0);

	post_receive(pool, 3);
	REQUEST(initiator, 4, pool->number, AT(42), 3, ibv_wr_rdma_write_imm(ex, pool->mr->rkey, (uintptr_t)AT(56), htobe32(5)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).wr_id == 4);
	wc = next_of(pool->cq, IBV_WC_SUCCESS);
	EXPECT(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == 3 && wc.wr_id == 3 && wc.qp_num == target->qp_num);

	REQUEST(initiator, 5, pool->number, AT(57), SLOT, ibv_wr_rdma_read(ex, pool->mr->rkey, (uintptr_t)AT(50)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).opcode == IBV_WC_RDMA_READ && strcmp(AT(57), "by a write") == 0);

	uint64_t *word = (uint64_t *)AT(58), *old = (uint64_t *)AT(59);
	*word = 10;
	REQUEST(initiator, 6, pool->number, old, 8, ibv_wr_atomic_fetch_add(ex, pool->mr->rkey, (uintptr_t)word, 5));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).opcode == IBV_WC_FETCH_ADD && *word == 15 && *old == 10);
	REQUEST(initiator, 7, pool->number, old, 8, ibv_wr_atomic_cmp_swp(ex, pool->mr->rkey, (uintptr_t)word, 15, 99));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).opcode == IBV_WC_COMP_SWAP && *word == 99 && *old == 15);
}

/* Pages that nobody has touched, and that go again. */
static void on_demand(struct ibv_qp *initiator, struct pool *pool)
{
	struct ibv_device_attr_ex attr;
	EXPECT(ibv_query_device_ex(context, NULL, &attr) == 0);
	if (!(attr.xrc_odp_caps & IBV_ODP_SUPPORT_SRQ_RECV))
		return;
	char *fresh = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(fresh != MAP_FAILED);
	struct ibv_mr *near = mr, *region = NEED(ibv_reg_mr(pool->pd, fresh, 2 * PAGE, ALL | IBV_ACCESS_ON_DEMAND));
	struct ibv_sge sge = { .addr = (uintptr_t)fresh, .length = PAGE, .lkey = region->lkey };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = &sge, .num_sge = 1 }, *bad;
	EXPECT(ibv_post_srq_recv(pool->srq, &wr, &bad) == 0);
	post_send(initiator, pool->number, "to a new page", 0);
	next_of(send_cq, IBV_WC_SUCCESS);
	EXPECT(next_of(pool->cq, IBV_WC_SUCCESS).wr_id == 5 && strcmp(fresh, "to a new page") == 0);
	strcpy(AT(42), "by a write");
	REQUEST(initiator, 1, pool->number, AT(42), 11, ibv_wr_rdma_write(ex, region->rkey, (uintptr_t)fresh + PAGE));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).wr_id == 1 && strcmp(fresh + PAGE, "by a write") == 0);
	EXPECT(madvise(fresh, 2 * PAGE, MADV_DONTNEED) == 0);
	mr = NEED(ibv_reg_mr(pd, fresh, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
	strcpy(AT(50), "read");
	REQUEST(initiator, 2, pool->number, fresh, 5, ibv_wr_rdma_read(ex, pool->mr->rkey, (uintptr_t)AT(50)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).wr_id == 2 && strcmp(fresh, "read") == 0 && fresh[PAGE] == 0);
	EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(region) == 0 && munmap(fresh, 2 * PAGE) == 0);
	mr = near;
}

static void next_event(struct ibv_context *of, enum ibv_event_type type, void *element)
{
	struct ibv_async_event event;
	EXPECT(ibv_get_async_event(of, &event) == 0);
	EXPECT(event.event_type == type && (void *)event.element.qp == element);
	if (event.event_type != type)
		printf("event: %s\n", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
}

/* What a refused request leaves behind: both ends in error, and events of the target, to who has made it; who has only opened it
 * hears nothing. */
static void refused(struct ibv_qp *initiator, struct ibv_qp *targets[2], struct ibv_context *of[2], enum ibv_wc_status status,
		    enum ibv_event_type type)
{
	next_of(send_cq, status);
	next_event(of[0], type, targets[0]);
	next_event(of[0], IBV_EVENT_QP_LAST_WQE_REACHED, targets[0]);
	struct pollfd waits = { .fd = of[1]->async_fd, .events = POLLIN };
	EXPECT(poll(&waits, 1, 0) == 0);
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	EXPECT(ibv_query_qp(targets[1], &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_ERR);
	reconnect(initiator, targets[0], 7);
}

int main(int argc, char **argv)
{
	start();
	if (argc > 2) {
		/* The other process has the domain open. It ends without closing it. */
		int file = open(argv[2], O_RDONLY);
		EXPECT(!try_domain(context, file, O_CREAT | O_EXCL) && errno == EINVAL);
		struct ibv_xrcd *shared = NEED(try_domain(context, file, 0));
		printf("%u\n", make_pool(context, shared).number);
		fflush(stdout);
		_exit(failures != 0);
	}
	struct ibv_device_attr device;
	EXPECT(ibv_query_device(context, &device) == 0 && device.device_cap_flags & IBV_DEVICE_XRC);
	send_cq = NEED(ibv_create_cq(context, 64, NULL, NULL, 0));
	mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
	domains_of_files();

	char path[] = "/tmp/softhca-xrc-XXXXXX";
	int fd = mkstemp(path);
	EXPECT(fd >= 0);
	struct ibv_xrcd *xrcd = NEED(try_domain(context, fd, O_CREAT));
	struct pool first = make_pool(context, xrcd), second = make_pool(context, xrcd);
	EXPECT(first.number != second.number);
	struct ibv_qp *target = make_target(context, xrcd), *initiator = make_initiator();
	EXPECT(ibv_close_xrcd(xrcd) == EBUSY);

	/* Another context of the same device has the domain, the target, and an SRQ of its own. */
	struct ibv_context *another = open_first();
	struct ibv_xrcd *same = NEED(try_domain(another, open(path, O_RDONLY), 0));
	struct pool third = make_pool(another, same);
	struct ibv_qp_open_attr opened = { .comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_CONTEXT |
			IBV_QP_OPEN_ATTR_TYPE, .qp_num = target->qp_num, .xrcd = same, .qp_type = IBV_QPT_XRC_RECV };
	struct ibv_qp *shared = NEED(ibv_open_qp(another, &opened));
	EXPECT(shared->qp_num == target->qp_num);
	opened.qp_num = initiator->qp_num;
	errno = 0;
	EXPECT(!ibv_open_qp(another, &opened) && errno == EINVAL);

	/* A QP of another service cannot have such an SRQ. */
	errno = 0;
	EXPECT(!make_qp(first.pd, first.cq, first.srq, IBV_QPT_RC) && errno == EINVAL);

	connect_ends(initiator, target, 7);
	struct pool *pools[] = { &first, &second, &third };
	for (int i = 0; i < 3; i++)
		every_operation(initiator, target, pools[i]);
	on_demand(initiator, &second);

	struct ibv_qp *targets[] = { target, shared };
	struct ibv_context *contexts[] = { context, another };
	/* The key of one SRQ's protection domain, by the other SRQ. */
	REQUEST(initiator, 1, second.number, AT(41), 8, ibv_wr_rdma_write(ex, first.mr->rkey, (uintptr_t)AT(50)));
	refused(initiator, targets, contexts, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	/* An SRQ that there is not; one of another domain; and one that another process has made in this one. */
	post_send(initiator, 0xabcdef, "to nobody", 0);
	refused(initiator, targets, contexts, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	struct ibv_xrcd *elsewhere = NEED(try_domain(context, -1, O_CREAT));
	struct pool foreign = make_pool(context, elsewhere);
	post_receive(&foreign, 1);
	post_send(initiator, foreign.number, "to another domain", 0);
	refused(initiator, targets, contexts, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	drop_pool(&foreign);
	EXPECT(ibv_close_xrcd(elsewhere) == 0);
	/* On a NIC, and in a guest, all processes have one device, and share. */
	if (argc == 1 || strcmp(argv[1], "alone") != 0) {
		char command[300];
		unsigned number = 0;
		snprintf(command, sizeof(command), "%s second %s", argv[0], path);
		FILE *child = NEED(popen(command, "r"));
		EXPECT(fscanf(child, "%u", &number) == 1 && number != first.number && number != second.number);
		EXPECT(pclose(child) == 0);
		post_send(initiator, number, "to another process", 0);
		refused(initiator, targets, contexts, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	}

	/* Nothing is posted. */
	reconnect(initiator, target, 1);
	post_send(initiator, first.number, "too soon", 0);
	next_of(send_cq, IBV_WC_RNR_RETRY_EXC_ERR);
	reconnect(initiator, target, 7);
	post_send(initiator, second.number, "soon", 0);
	usleep(10000);
	post_receive(&second, 7);
	next_of(send_cq, IBV_WC_SUCCESS);
	EXPECT(next_of(second.cq, IBV_WC_SUCCESS).wr_id == 7 && strcmp(AT(7), "soon") == 0);

	/* Few receives are an event. */
	struct ibv_srq_attr limit = { .srq_limit = 2 };
	for (int i = 0; i < 3; i++)
		post_receive(&first, 8 + i);
	EXPECT(ibv_modify_srq(first.srq, &limit, IBV_SRQ_LIMIT) == 0);
	for (int i = 0; i < 2; i++) {
		post_send(initiator, first.number, "one", 0);
		next_of(send_cq, IBV_WC_SUCCESS);
		next_of(first.cq, IBV_WC_SUCCESS);
	}
	next_event(context, IBV_EVENT_SRQ_LIMIT_REACHED, first.srq);
	EXPECT(ibv_query_srq(first.srq, &limit) == 0 && limit.srq_limit == 0 && limit.max_wr >= 15);

	/* The target stays as long as somebody has it open; SRQs go without asking it. */
	EXPECT(ibv_destroy_qp(target) == 0);
	post_receive(&third, 9);
	post_send(initiator, third.number, "still", 0);
	next_of(send_cq, IBV_WC_SUCCESS);
	EXPECT(next_of(third.cq, IBV_WC_SUCCESS).wr_id == 9 && strcmp(AT(9), "still") == 0);
	drop_pool(&second);
	EXPECT(ibv_destroy_qp(initiator) == 0);
	drop_pool(&first);
	EXPECT(ibv_close_xrcd(xrcd) == 0 && ibv_close_xrcd(same) == EBUSY);

	/* What a context has left behind goes with it. (libmlx5 cannot destroy what ibv_open_qp has given: it looks for the doorbell
	 * record of a queue pair that has none.) */
	EXPECT(ibv_close_device(another) == 0);
	EXPECT(!try_domain(context, fd, 0) && errno == EAGAIN);

	unlink(path);
	EXPECT(ibv_destroy_cq(send_cq) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0);
	return finish();
}

/*
 * Dynamic connections by libmlx5: targets and initiators of one device, which is its own peer.
 */
#include "prelude.h"
#include <sys/mman.h>

enum { KEY = 0x1234, SLOT = 1024, ROUNDS = 40, PAGE = 4096 };

static struct ibv_mr *mr;
static struct ibv_cq *send_cq;
static struct ibv_srq *srq;
static struct ibv_ah *ah;

static struct ibv_cq *make_cq(int cqe_bytes)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 128 };
	struct mlx5dv_cq_init_attr own = { .comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE, .cqe_size = cqe_bytes };
	return ibv_cq_ex_to_cq(NEED(mlx5dv_create_cq(context, &attr, &own)));
}

/* The next completion of a CQ, which must have this status. */
static struct ibv_wc next_of(struct ibv_cq *cq, enum ibv_wc_status status)
{
	struct ibv_wc wc;
	int found;
	while ((found = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	EXPECT(found == 1 && wc.status == status);
	if (wc.status != status)
		printf("wr_id %lu: %s\n", wc.wr_id, ibv_wc_status_str(wc.status));
	return wc;
}

static void post_receive(uint64_t slot)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + slot * SLOT, .length = SLOT, .lkey = mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;
	EXPECT(ibv_post_srq_recv(srq, &wr, &bad) == 0);
}

static struct ibv_qp *new_dct(struct ibv_cq *cq, uint64_t key)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_DRIVER, .send_cq = cq, .recv_cq = cq, .srq = srq,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd };
	struct mlx5dv_qp_init_attr own = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = key } };
	return NEED(mlx5dv_create_qp(context, &attr, &own));
}

static struct ibv_qp_attr dct_init = { .qp_state = IBV_QPS_INIT, .port_num = 1,
	.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };
static struct ibv_qp_attr dct_rtr = { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .min_rnr_timer = 12,
	.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .hop_limit = 64, .traffic_class = 4, .flow_label = 5 } } };
enum {
	DCT_INIT = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT,
	DCT_RTR = IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU,
};

static struct ibv_qp *make_dct(struct ibv_cq *cq, uint64_t key)
{
	struct ibv_qp *dct = new_dct(cq, key);
	EXPECT(ibv_modify_qp(dct, &dct_init, DCT_INIT) == 0);
	EXPECT(ibv_modify_qp(dct, &dct_rtr, DCT_RTR) == 0);
	EXPECT(dct->qp_num != 0);
	return dct;
}

static void activate(struct ibv_qp *dci)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	EXPECT(ibv_modify_qp(dci, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT) == 0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .ah_attr = loopback(context) };
	EXPECT(ibv_modify_qp(dci, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_AV) == 0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 4 };
	EXPECT(ibv_modify_qp(dci, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

static struct ibv_qp *make_dci(void)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_DRIVER, .send_cq = send_cq, .recv_cq = send_cq,
		.cap = { .max_send_wr = 64, .max_send_sge = 1, .max_inline_data = 64 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
			IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
			IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD };
	struct mlx5dv_qp_init_attr own = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCI } };
	struct ibv_qp *dci = NEED(mlx5dv_create_qp(context, &attr, &own));
	activate(dci);
	return dci;
}

/* What a request does; the caller has begun, and completes. */
#define REQUEST(dci, id, dct, key, local, length, call)                                            \
	do {                                                                                       \
		struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(dci);                                       \
		ibv_wr_start(ex);                                                                  \
		ex->wr_id = (id);                                                                  \
		ex->wr_flags = IBV_SEND_SIGNALED;                                                  \
		call;                                                                              \
		mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(ex), ah, (dct)->qp_num, (key));  \
		ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)(local), (length));                        \
		EXPECT(ibv_wr_complete(ex) == 0);                                                  \
	} while (0)

/* Where the parts of the memory are: receives in the first 32 slots. */
#define AT(slot) (memory + (slot) * SLOT)

static void every_operation(struct ibv_qp *dci, struct ibv_qp *dct, struct ibv_cq *cq)
{
	strcpy(AT(40), "by a send");
	post_receive(1);
	REQUEST(dci, 1, dct, KEY, AT(40), 10, ibv_wr_send_imm(ex, htobe32(77)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).opcode == IBV_WC_SEND);
	struct ibv_wc wc = next_of(cq, IBV_WC_SUCCESS);
	EXPECT(wc.opcode == IBV_WC_RECV && wc.wr_id == 1 && wc.byte_len == 10 && wc.imm_data == htobe32(77));
	EXPECT(wc.qp_num == dct->qp_num && wc.src_qp == dci->qp_num && !(wc.wc_flags & IBV_WC_GRH));
	EXPECT(strcmp(AT(1), "by a send") == 0);

	strcpy(AT(41), "by a write");
	REQUEST(dci, 2, dct, KEY, AT(41), SLOT, ibv_wr_rdma_write(ex, mr->rkey, (uintptr_t)AT(50)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).opcode == IBV_WC_RDMA_WRITE);
	EXPECT(strcmp(AT(50), "by a write") == 0);

	post_receive(2);
	REQUEST(dci, 3, dct, KEY, AT(41), 3, ibv_wr_rdma_write_imm(ex, mr->rkey, (uintptr_t)AT(51), htobe32(5)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).wr_id == 3);
	wc = next_of(cq, IBV_WC_SUCCESS);
	EXPECT(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == 3 && wc.wr_id == 2);

	REQUEST(dci, 4, dct, KEY, AT(52), SLOT, ibv_wr_rdma_read(ex, mr->rkey, (uintptr_t)AT(50)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).opcode == IBV_WC_RDMA_READ);
	EXPECT(strcmp(AT(52), "by a write") == 0);

	uint64_t *word = (uint64_t *)AT(53), *old = (uint64_t *)AT(54);
	*word = 10;
	REQUEST(dci, 5, dct, KEY, old, 8, ibv_wr_atomic_fetch_add(ex, mr->rkey, (uintptr_t)word, 5));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).opcode == IBV_WC_FETCH_ADD);
	EXPECT(*word == 15 && *old == 10);
	REQUEST(dci, 6, dct, KEY, old, 8, ibv_wr_atomic_cmp_swp(ex, mr->rkey, (uintptr_t)word, 15, 99));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).opcode == IBV_WC_COMP_SWAP);
	EXPECT(*word == 99 && *old == 15);
}

/* A page that nobody has touched, which goes again. */
static void on_demand(struct ibv_qp *dci, struct ibv_qp *dct, struct ibv_cq *cq)
{
	struct mlx5dv_context caps = { .comp_mask = MLX5DV_CONTEXT_MASK_DC_ODP_CAPS };
	EXPECT(mlx5dv_query_device(context, &caps) == 0);
	if (!(caps.dc_odp_caps & IBV_ODP_SUPPORT_SRQ_RECV))
		return;
	char *fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(fresh != MAP_FAILED);
	struct ibv_mr *near = mr;
	mr = NEED(ibv_reg_mr(pd, fresh, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ON_DEMAND));
	struct ibv_sge sge = { .addr = (uintptr_t)fresh, .length = 64, .lkey = mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 3, .sg_list = &sge, .num_sge = 1 }, *bad;
	EXPECT(ibv_post_srq_recv(srq, &wr, &bad) == 0);
	/* Zeros, of the other half. */
	REQUEST(dci, 1, dct, KEY, fresh + PAGE / 2, 64, ibv_wr_send(ex));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).wr_id == 1 && next_of(cq, IBV_WC_SUCCESS).byte_len == 64 && fresh[0] == 0);
	strcpy(fresh + PAGE / 2, "gone");
	EXPECT(madvise(fresh, PAGE, MADV_DONTNEED) == 0);
	strcpy(AT(41), "once more");
	REQUEST(dci, 2, dct, KEY, fresh, 16, ibv_wr_rdma_read(ex, near->rkey, (uintptr_t)AT(41)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).wr_id == 2 && strcmp(fresh, "once more") == 0 && fresh[PAGE / 2] == 0);
	EXPECT(ibv_dereg_mr(mr) == 0 && munmap(fresh, PAGE) == 0);
	mr = near;
}

static void two_initiators_on_one_target(struct ibv_qp *dct, struct ibv_cq *cq)
{
	struct ibv_qp *dci[] = { make_dci(), make_dci() };
	unsigned seen[2] = {}, done = 0, received = 0;
	for (int i = 0; i < 2 * ROUNDS; i++) {
		post_receive(i % 32);
		sprintf(AT(40 + i % 2), "message %d of %d", i / 2, i % 2);
		REQUEST(dci[i % 2], i, dct, KEY, AT(40 + i % 2), 64, ibv_wr_send_imm(ex, htobe32(i % 2)));
		done += next_of(send_cq, IBV_WC_SUCCESS).wr_id == (uint64_t)i;
		struct ibv_wc wc = next_of(cq, IBV_WC_SUCCESS);
		unsigned from = be32toh(wc.imm_data);
		char expected[32];
		sprintf(expected, "message %u of %u", seen[from & 1]++, from);
		received += strcmp(AT(wc.wr_id), expected) == 0 && wc.src_qp == dci[from & 1]->qp_num;
	}
	EXPECT(done == 2 * ROUNDS && received == 2 * ROUNDS);
	EXPECT(ibv_destroy_qp(dci[0]) == 0 && ibv_destroy_qp(dci[1]) == 0);
}

static void one_initiator_on_two_targets(struct ibv_qp *dci, struct ibv_qp *dct, struct ibv_qp *other)
{
	uint64_t *counter = (uint64_t *)AT(55);
	memset(counter, 0, SLOT);
	/* All are posted before the first is complete. */
	for (int i = 0; i < ROUNDS; i++)
		REQUEST(dci, i, i % 2 ? other : dct, i % 2 ? KEY + 1 : KEY, AT(56), 8,
			ibv_wr_atomic_fetch_add(ex, mr->rkey, (uintptr_t)(counter + i % 2), i));
	unsigned ordered = 0;
	for (uint64_t i = 0; i < ROUNDS; i++)
		ordered += next_of(send_cq, IBV_WC_SUCCESS).wr_id == i;
	EXPECT(ordered == ROUNDS && counter[0] == ROUNDS / 2 * (ROUNDS / 2 - 1) && counter[1] == ROUNDS / 2 * (ROUNDS / 2));
}

static void wrong_key(struct ibv_qp *dci, struct ibv_qp *dct)
{
	strcpy(AT(50), "untouched");
	REQUEST(dci, 1, dct, KEY + 7, AT(41), 3, ibv_wr_rdma_write(ex, mr->rkey, (uintptr_t)AT(50)));
	EXPECT(next_of(send_cq, IBV_WC_REM_ACCESS_ERR).wr_id == 1);
	EXPECT(strcmp(AT(50), "untouched") == 0);
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	EXPECT(ibv_query_qp(dci, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_ERR);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET };
	EXPECT(ibv_modify_qp(dci, &attr, IBV_QP_STATE) == 0);
	activate(dci);
	REQUEST(dci, 2, dct, KEY, AT(41), 3, ibv_wr_rdma_write(ex, mr->rkey, (uintptr_t)AT(50)));
	EXPECT(next_of(send_cq, IBV_WC_SUCCESS).wr_id == 2);
}

/* What mlx5_ib takes and tells. */
static void states(struct ibv_cq *cq)
{
	struct ibv_qp *dct = new_dct(cq, KEY);
	struct ibv_qp_attr attr, err = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr init;
	EXPECT(dct->qp_num == 0);
	EXPECT(ibv_modify_qp(dct, &dct_rtr, DCT_RTR) == EINVAL);
	EXPECT(ibv_modify_qp(dct, &dct_init, DCT_INIT & ~IBV_QP_PORT) == EINVAL);
	/* Linux ignores what is no right of a peer: addresses from zero on, and the rights to flush. */
	attr = dct_init;
	attr.qp_access_flags |= IBV_ACCESS_ZERO_BASED | 3 << 8;
	EXPECT(ibv_modify_qp(dct, &attr, DCT_INIT) == 0);
	EXPECT(ibv_query_qp(dct, &attr, IBV_QP_STATE, &init) == EINVAL);
	EXPECT(ibv_modify_qp(dct, &dct_rtr, DCT_RTR & ~IBV_QP_AV) == EINVAL);
	EXPECT(ibv_modify_qp(dct, &dct_rtr, DCT_RTR) == 0 && dct->qp_num != 0);
	EXPECT(ibv_modify_qp(dct, &err, IBV_QP_STATE) == EINVAL);
	EXPECT(ibv_query_qp(dct, &attr, DCT_INIT | DCT_RTR, &init) == 0);
	EXPECT(attr.qp_state == IBV_QPS_RTR && attr.path_mtu == IBV_MTU_1024 && attr.min_rnr_timer == 12);
	EXPECT(attr.qp_access_flags == dct_init.qp_access_flags && !attr.ah_attr.is_global);
	EXPECT(ibv_query_qp(dct, &attr, IBV_QP_DEST_QPN, &init) == EINVAL);
	EXPECT(ibv_destroy_qp(dct) == 0);
	/* One that never was. */
	EXPECT(ibv_destroy_qp(new_dct(cq, KEY)) == 0);
}

/* Numbers for further connections of a target: no queue pair gets them. */
static void reserved_numbers(struct ibv_qp *dct)
{
	uint32_t numbers[100];
	for (int i = 0; i < 100; i++) {
		EXPECT(mlx5dv_reserved_qpn_alloc(context, &numbers[i]) == 0 && numbers[i] != dct->qp_num);
		for (int j = 0; j < i; j++)
			EXPECT(numbers[i] != numbers[j]);
	}
	struct ibv_qp *others[100];
	for (int i = 0; i < 100; i++) {
		others[i] = make_dci();
		for (int j = 0; j < 100; j++)
			EXPECT(others[i]->qp_num != numbers[j]);
	}
	EXPECT(mlx5dv_reserved_qpn_dealloc(context, dct->qp_num) == EINVAL);
	for (int i = 0; i < 100; i++)
		EXPECT(mlx5dv_reserved_qpn_dealloc(context, numbers[i]) == 0 && ibv_destroy_qp(others[i]) == 0);
	EXPECT(mlx5dv_reserved_qpn_dealloc(context, numbers[99]) == EINVAL);
}

int main(void)
{
	start();
	mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
							 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC));
	send_cq = make_cq(64);
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 64, .max_sge = 1 } };
	srq = NEED(ibv_create_srq(pd, &srq_attr));
	struct ibv_ah_attr way = loopback(context);
	ah = NEED(ibv_create_ah(pd, &way));

	/* With CQEs of 128 bytes small messages come in the CQE, and libmlx5 puts them where they belong. */
	for (int cqe_bytes = 64; cqe_bytes <= 128; cqe_bytes += 64) {
		struct ibv_cq *cq = make_cq(cqe_bytes);
		states(cq);
		struct ibv_qp *dct = make_dct(cq, KEY), *other = make_dct(cq, KEY + 1), *dci = make_dci();
		EXPECT(dct->qp_num != other->qp_num && dct->qp_num != dci->qp_num);
		EXPECT(ibv_destroy_srq(srq) == EBUSY);
		every_operation(dci, dct, cq);
		on_demand(dci, dct, cq);
		two_initiators_on_one_target(dct, cq);
		one_initiator_on_two_targets(dci, dct, other);
		wrong_key(dci, dct);
		reserved_numbers(dct);
		/* The initiator is still connected to one of them. */
		EXPECT(ibv_destroy_qp(dct) == 0);
		EXPECT(ibv_destroy_qp(dci) == 0);
		EXPECT(ibv_destroy_qp(other) == 0);
		EXPECT(ibv_destroy_cq(cq) == 0);
	}
	EXPECT(ibv_destroy_ah(ah) == 0);
	EXPECT(ibv_destroy_srq(srq) == 0);
	EXPECT(ibv_destroy_cq(send_cq) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0);
	return finish();
}

/*
 * Regions without memory, by libmlx5: what is gathered from them is zeros, what is scattered to them is lost.
 */
#include "prelude.h"

enum { PART = 100 };

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr, *nothing;

static struct ibv_sge some(char *at, uint32_t len)
{
	return (struct ibv_sge){ .addr = (uintptr_t)at, .length = len, .lkey = mr->lkey };
}

static struct ibv_sge none(uint32_t len)
{
	/* The address does not matter. */
	return (struct ibv_sge){ .addr = 0x123, .length = len, .lkey = nothing->lkey };
}

static enum ibv_wc_status send(enum ibv_wr_opcode opcode, struct ibv_sge *list, int count)
{
	struct ibv_send_wr *bad, wr = { .wr_id = 1, .sg_list = list, .num_sge = count, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)memory + 8192, .rkey = mr->rkey } };
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
	return wait_for(cq).status;
}

static int are(const char *at, char value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (at[i] != value)
			return 0;
	return 1;
}

/* Into messages of `len` bytes, so that some fit into a CQE. */
static void messages_are_filled_and_dropped(uint32_t len)
{
	memset(memory, 'a', 4096);
	memset(memory + 4096, 'e', 8192);
	struct ibv_sge from[2] = { none(len), some(memory, len) }, to[2] = { some(memory + 4096, len / 2), none(2 * len) };
	struct ibv_recv_wr *bad, wr = { .wr_id = 2, .sg_list = to, .num_sge = 2 };
	EXPECT(ibv_post_recv(qp, &wr, &bad) == 0);
	struct ibv_send_wr *bad_send, request = { .wr_id = 1, .sg_list = from, .num_sge = 2, .opcode = IBV_WR_SEND };
	EXPECT(ibv_post_send(qp, &request, &bad_send) == 0);
	struct ibv_wc wc = wait_for(cq);
	EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == 2 && wc.byte_len == 2 * len);
	EXPECT(are(memory + 4096, 0, len / 2) && are(memory + 4096 + len / 2, 'e', 4096));

	EXPECT(send(IBV_WR_RDMA_WRITE, from, 2) == IBV_WC_SUCCESS);
	EXPECT(are(memory + 8192, 0, len) && are(memory + 8192 + len, 'a', len) && memory[8192 + 2 * len] == 'e');

	memset(memory, 'x', 4096);
	struct ibv_sge back[2] = { none(len), some(memory, len) };
	EXPECT(send(IBV_WR_RDMA_READ, back, 2) == IBV_WC_SUCCESS);
	EXPECT(are(memory, 'a', len) && memory[len] == 'x');
}

int main(void)
{
	start();
	cq = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
	nothing = NEED(ibv_alloc_null_mr(pd));
	EXPECT(nothing->lkey != 0 && nothing->rkey == 0);
	qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	connect_to(qp, qp);
	messages_are_filled_and_dropped(8);
	messages_are_filled_and_dropped(PART);
	messages_are_filled_and_dropped(2000);

	/* It is no key of peers. */
	struct ibv_sge local = some(memory, 8);
	struct ibv_send_wr *bad, wr = { .sg_list = &local, .num_sge = 1, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = 0, .rkey = nothing->lkey } };
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
	EXPECT(wait_for(cq).status != IBV_WC_SUCCESS);
	EXPECT(ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_dereg_mr(nothing) == 0 && ibv_dereg_mr(mr) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0);
	return finish();
}

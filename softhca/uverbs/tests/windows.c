/*
 * Memory windows of both types: bound by ibv_bind_mw, ibv_post_send and ibv_wr_bind_mw, invalidated by this side and by the peer,
 * and what is refused, with its status.
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <unistd.h>

#define RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static struct ibv_cq *cq;
/* `qp` asks, `peer` and `other` have the windows; `other` is of another connection. */
static struct ibv_qp *qp, *peer, *qp_of_other, *other;
static struct ibv_mr *mr;

static struct ibv_qp *extended_qp(void)
{
	struct ibv_qp_init_attr_ex attr = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .pd = pd,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND };
	return ibv_create_qp_ex(context, &attr);
}

static void reconnect(void)
{
	struct ibv_qp **all[] = { &qp, &peer, &qp_of_other, &other };
	for (int i = 0; i < 4; i++) {
		EXPECT(!*all[i] || ibv_destroy_qp(*all[i]) == 0);
		*all[i] = NEED(i % 2 ? extended_qp() : make_qp(pd, cq, NULL, IBV_QPT_RC));
	}
	for (int i = 0; i < 4; i += 2) {
		connect_to(*all[i], *all[i + 1]);
		connect_to(*all[i + 1], *all[i]);
	}
}

/* WRITEs, or READs, 64 bytes of the end of `memory`; queues that failed are made anew, which unbinds no window of type 1. */
static enum ibv_wc_status reach_by(struct ibv_qp *by, enum ibv_wr_opcode how, uint32_t rkey, void *at)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + sizeof(memory) - 64, .length = 64, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = how, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)at, .rkey = rkey } };
	EXPECT(ibv_post_send(by, &wr, &bad) == 0);
	enum ibv_wc_status status = wait_for(cq).status;
	if (status != IBV_WC_SUCCESS)
		reconnect();
	return status;
}

static enum ibv_wc_status put(uint32_t rkey, void *at)
{
	return reach_by(qp, IBV_WR_RDMA_WRITE, rkey, at);
}

static struct ibv_mw_bind_info piece(void *at, size_t length, int rights)
{
	return (struct ibv_mw_bind_info){ .mr = mr, .addr = (uintptr_t)at, .length = length, .mw_access_flags = rights };
}

/* Binds a window of type 2, or invalidates it, and says how that went. */
static enum ibv_wc_status bind_by(struct ibv_qp *by, struct ibv_mw *mw, uint32_t rkey, struct ibv_mw_bind_info info)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = rkey, .bind_info = info } };
	EXPECT(ibv_post_send(by, &wr, &bad) == 0);
	struct ibv_wc wc = wait_for(cq);
	EXPECT(wc.status != IBV_WC_SUCCESS || wc.opcode == IBV_WC_BIND_MW);
	if (wc.status == IBV_WC_SUCCESS)
		mw->rkey = rkey;
	else
		reconnect();
	return wc.status;
}

static enum ibv_wc_status invalidate_by(struct ibv_qp *by, uint32_t rkey)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = rkey };
	EXPECT(ibv_post_send(by, &wr, &bad) == 0);
	struct ibv_wc wc = wait_for(cq);
	EXPECT(wc.status != IBV_WC_SUCCESS || wc.opcode == IBV_WC_LOCAL_INV);
	if (wc.status != IBV_WC_SUCCESS)
		reconnect();
	return wc.status;
}

static void of_type_1(void)
{
	struct ibv_mw *mw = NEED(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	uint32_t first = mw->rkey;
	EXPECT(put(first, memory) == IBV_WC_REM_ACCESS_ERR);
	struct ibv_mw_bind bind = { .wr_id = 7, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = piece(memory + 256, 128, IBV_ACCESS_REMOTE_WRITE) };
	EXPECT(ibv_bind_mw(peer, mw, &bind) == 0);
	struct ibv_wc wc = wait_for(cq);
	EXPECT(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_BIND_MW && wc.wr_id == 7 && mw->rkey != first);
	memset(memory + sizeof(memory) - 64, '1', 64);
	EXPECT(put(mw->rkey, memory + 320) == IBV_WC_SUCCESS && memory[320] == '1' && memory[383] == '1' && memory[384] == 0);
	/* Any queue of the domain; its bytes and its rights alone; by its newest key alone. */
	EXPECT(reach_by(qp_of_other, IBV_WR_RDMA_WRITE, mw->rkey, memory + 256) == IBV_WC_SUCCESS);
	EXPECT(put(mw->rkey, memory + 321) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(put(mw->rkey, memory + 255) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(reach_by(qp, IBV_WR_RDMA_READ, mw->rkey, memory + 256) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(put(first, memory + 256) == IBV_WC_REM_ACCESS_ERR);
	uint32_t second = mw->rkey;
	bind.bind_info = piece(memory + 512, 64, IBV_ACCESS_REMOTE_READ);
	EXPECT(ibv_bind_mw(peer, mw, &bind) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
	EXPECT(put(second, memory + 256) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(reach_by(qp, IBV_WR_RDMA_READ, mw->rkey, memory + 512) == IBV_WC_SUCCESS);
	/* Nothing: bound to none. */
	bind.bind_info = piece(NULL, 0, 0);
	EXPECT(ibv_bind_mw(peer, mw, &bind) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
	EXPECT(reach_by(qp, IBV_WR_RDMA_READ, mw->rkey, memory + 512) == IBV_WC_REM_ACCESS_ERR);
	/* More than an entry can name. */
	bind.bind_info = piece(memory, (1UL << 31) + 1, IBV_ACCESS_REMOTE_READ);
	EXPECT(ibv_bind_mw(peer, mw, &bind) == EOPNOTSUPP);
	/* Peers cannot invalidate it. */
	EXPECT(ibv_dealloc_mw(mw) == 0);
}

static void of_type_2(void)
{
	struct ibv_mw *mw = NEED(ibv_alloc_mw(pd, IBV_MW_TYPE_2));
	uint32_t tag = ibv_inc_rkey(mw->rkey);
	memset(memory + sizeof(memory) - 64, '2', 64);
	/* Free: there is nothing to invalidate, also not by a binding to no bytes, which is the same request (libmlx5 `set_bind_wr`). */
	EXPECT(invalidate_by(peer, mw->rkey) == IBV_WC_MW_BIND_ERR);
	EXPECT(bind_by(peer, mw, tag, piece(memory, 0, 0)) == IBV_WC_MW_BIND_ERR);
	EXPECT(bind_by(peer, mw, tag, piece(memory + 1024, 64, RIGHTS)) == IBV_WC_SUCCESS);
	EXPECT(put(tag, memory + 1024) == IBV_WC_SUCCESS && memory[1087] == '2');
	/* Only by the queue that has bound it. */
	EXPECT(reach_by(qp_of_other, IBV_WR_RDMA_WRITE, tag, memory + 1024) == IBV_WC_REM_ACCESS_ERR);

	/* Bound again only after it was invalidated, which another queue cannot do. (The one that had it is gone: the window stays its.) */
	EXPECT(bind_by(peer, mw, ibv_inc_rkey(tag), piece(memory, 64, RIGHTS)) == IBV_WC_MW_BIND_ERR);
	EXPECT(invalidate_by(other, tag) == IBV_WC_MW_BIND_ERR);
	EXPECT(ibv_dealloc_mw(mw) == 0);

	mw = NEED(ibv_alloc_mw(pd, IBV_MW_TYPE_2));
	tag = ibv_inc_rkey(mw->rkey);
	EXPECT(bind_by(peer, mw, tag, piece(memory + 1024, 64, RIGHTS)) == IBV_WC_SUCCESS);
	EXPECT(invalidate_by(peer, tag) == IBV_WC_SUCCESS);
	EXPECT(put(tag, memory + 1024) == IBV_WC_REM_ACCESS_ERR);
	/* Its lowest byte is 0 now. The window is bound again by the same key as before: other queues, as those failed. */
	mw->rkey = tag & ~0xffU;
	EXPECT(bind_by(peer, mw, tag, piece(memory + 2048, 64, RIGHTS)) == IBV_WC_SUCCESS);
	EXPECT(put(tag, memory + 2048) == IBV_WC_SUCCESS);

	/* The peer invalidates it by a message. */
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 64, .lkey = mr->lkey };
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_send_wr *bad, send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = tag };
	EXPECT(ibv_post_recv(peer, &recv, &bad_recv) == 0 && ibv_post_send(qp, &send, &bad) == 0);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = wait_for(cq);
		EXPECT(wc.status == IBV_WC_SUCCESS);
		EXPECT(wc.opcode != IBV_WC_RECV || (wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == tag));
	}
	EXPECT(put(tag, memory + 2048) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(ibv_dealloc_mw(mw) == 0);
}

/* Sends with invalidate must fail: of a window of another queue, of one of type 1, of a key that there is not. */
static void not_the_peers_to_invalidate(void)
{
	struct ibv_mw *two = NEED(ibv_alloc_mw(pd, IBV_MW_TYPE_2)), *one = NEED(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	for (int i = 0; i < 3; i++) {
		struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED, .bind_info = piece(memory, 64, RIGHTS) };
		uint32_t keys[3] = { 0, 0, 0x7777700 };
		if (i == 0) {
			keys[0] = ibv_inc_rkey(two->rkey);
			EXPECT(bind_by(other, two, keys[0], piece(memory, 64, RIGHTS)) == IBV_WC_SUCCESS);
		} else {
			EXPECT(ibv_bind_mw(peer, one, &bind) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
			keys[1] = one->rkey;
		}
		struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 64, .lkey = mr->lkey };
		struct ibv_recv_wr *bad_recv, recv = { .sg_list = &sge, .num_sge = 1 };
		struct ibv_send_wr *bad, send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_INV,
			.send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = keys[i] };
		EXPECT(ibv_post_recv(peer, &recv, &bad_recv) == 0 && ibv_post_send(qp, &send, &bad) == 0);
		for (int both = 0; both < 2; both++)
			EXPECT(wait_for(cq).status != IBV_WC_SUCCESS);
		reconnect();
	}
	EXPECT(ibv_dealloc_mw(one) == 0 && ibv_dealloc_mw(two) == 0);
}

/* By ibv_wr_*; the fence of the next request, too, which is a WRITE back to this side. */
static void by_the_other_calls(void)
{
	struct ibv_mw *mw = NEED(ibv_alloc_mw(pd, IBV_MW_TYPE_2));
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(peer);
	struct ibv_mw_bind_info info = piece(memory + 3072, 64, IBV_ACCESS_REMOTE_WRITE);
	uint32_t tag = ibv_inc_rkey(mw->rkey);
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(ex, mw, tag, &info);
	EXPECT(ibv_wr_complete(ex) == 0 && wait_for(cq).opcode == IBV_WC_BIND_MW);
	EXPECT(put(tag, memory + 3072) == IBV_WC_SUCCESS);
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_local_inv(ex, tag);
	EXPECT(ibv_wr_complete(ex) == 0 && wait_for(cq).opcode == IBV_WC_LOCAL_INV);
	EXPECT(put(tag, memory + 3072) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(ibv_dealloc_mw(mw) == 0);
}

/* What is bound without a right in the region behind it, or to no region, is noticed when it is used. */
static void without_rights(void)
{
	struct ibv_mr *whole = mr, *readable = NEED(ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_MW_BIND));
	struct ibv_mw *mw = NEED(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED, .bind_info = piece(memory, 64, RIGHTS) };
	bind.bind_info.mr = readable;
	EXPECT(ibv_bind_mw(peer, mw, &bind) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
	EXPECT(reach_by(qp, IBV_WR_RDMA_READ, mw->rkey, memory) == IBV_WC_SUCCESS);
	EXPECT(put(mw->rkey, memory) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(ibv_dereg_mr(readable) == 0);
	EXPECT(reach_by(qp, IBV_WR_RDMA_READ, mw->rkey, memory) == IBV_WC_REM_ACCESS_ERR);
	mr = whole;
	/* A key of memory itself is not one that users change. */
	EXPECT(invalidate_by(peer, mr->rkey) == IBV_WC_MW_BIND_ERR);
	struct ibv_pd *elsewhere = NEED(ibv_alloc_pd(context));
	struct ibv_mw *foreign = NEED(ibv_alloc_mw(elsewhere, IBV_MW_TYPE_2));
	EXPECT(bind_by(peer, foreign, ibv_inc_rkey(foreign->rkey), piece(memory, 64, RIGHTS)) == IBV_WC_MW_BIND_ERR);
	EXPECT(ibv_dealloc_pd(elsewhere) == EBUSY);
	EXPECT(ibv_dealloc_mw(foreign) == 0 && ibv_dealloc_pd(elsewhere) == 0 && ibv_dealloc_mw(mw) == 0);
	errno = 0;
	EXPECT(!ibv_alloc_mw(pd, 3) && errno == EINVAL);
}

/* A window that goes right after it was bound, while the device has had nothing to do for long: the bind is first. */
static void gone_right_after_the_bind(void)
{
	struct ibv_mw *mw = NEED(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED, .bind_info = piece(memory, 64, RIGHTS) };
	usleep(100000);
	EXPECT(ibv_bind_mw(peer, mw, &bind) == 0 && ibv_dealloc_mw(mw) == 0);
	EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
}

int main(void)
{
	start();
	struct ibv_device_attr attr;
	EXPECT(ibv_query_device(context, &attr) == 0 && attr.max_mw > 0);
	EXPECT(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW && attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	cq = NEED(ibv_create_cq(context, 63, NULL, NULL, 0));
	mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS | IBV_ACCESS_MW_BIND));
	reconnect();
	of_type_1();
	of_type_2();
	not_the_peers_to_invalidate();
	by_the_other_calls();
	without_rights();
	gone_right_after_the_bind();
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_qp(peer) == 0 && ibv_destroy_qp(qp_of_other) == 0 && ibv_destroy_qp(other) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0);
	return finish();
}

/*
 * Raw packet QPs through libibverbs and libmlx5, on a device with Ethernet ports. Prints what went otherwise than
 * expected; the exit code is 1 then. With the argument "one" it sends one frame.
 */
#include "prelude.h"
#include <dlfcn.h>

enum { FRAME = 45 };

/* 10.0.0.1 to 10.0.0.2, UDP, 3 bytes; the checksums are left to the device. */
static const unsigned char frame[FRAME] = {
	2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00,
	0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
	0, 1, 0, 2, 0, 11, 0, 0, 1, 2, 3,
};

static int (*step)(void);
static struct ibv_cq *cq;
static struct ibv_mr *mr;

static void expect_completion(enum ibv_wc_status status, uint64_t id)
{
	/* 0 or more in a sink; otherwise the device works by itself. */
	step();
	struct ibv_wc wc = wait_for(cq);
	EXPECT(wc.status == status && wc.wr_id == id);
}

static struct ibv_qp *make_raw_qp(void)
{
	struct ibv_qp_init_attr_ex attr = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = 16, .max_recv_wr = 4, .max_send_sge = 4, .max_recv_sge = 1, .max_inline_data = 128 },
		.pd = pd, .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = IBV_QP_EX_WITH_SEND };
	return ibv_create_qp_ex(context, &attr);
}

static void make_ready(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT) == 0);
	attr.qp_state = IBV_QPS_RTR;
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
	attr.qp_state = IBV_QPS_RTS;
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
}

/* Posts a frame of `len` bytes in `pieces` SGEs. */
static int post(struct ibv_qp *qp, uint64_t id, uint32_t len, int pieces, unsigned flags)
{
	struct ibv_sge sge[4];
	for (int i = 0; i < pieces; i++) {
		uint32_t from = len * i / pieces, to = len * (i + 1) / pieces;
		sge[i] = (struct ibv_sge){ .addr = (uintptr_t)memory + from, .length = to - from, .lkey = mr->lkey };
	}
	struct ibv_send_wr *bad, wr = { .wr_id = id, .sg_list = sge, .num_sge = pieces, .opcode = IBV_WR_SEND,
		.send_flags = flags | IBV_SEND_SIGNALED };
	return ibv_post_send(qp, &wr, &bad);
}

static void every_way_to_post(struct ibv_qp *qp)
{
	uint64_t id = 0;
	for (int round = 0; round < 50; round++) {
		for (int pieces = 1; pieces <= 4; pieces++) {
			for (int flags = 0; flags < 4; flags++) {
				unsigned send_flags = (flags & 1 ? IBV_SEND_INLINE : 0) | (flags & 2 ? IBV_SEND_IP_CSUM : 0);
				EXPECT(post(qp, id, FRAME + (flags & 1 ? 0 : 1400), pieces, send_flags) == 0);
				expect_completion(IBV_WC_SUCCESS, id++);
			}
		}
		struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
		ibv_wr_start(ex);
		ex->wr_id = id;
		ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM;
		ibv_wr_send(ex);
		ibv_wr_set_inline_data(ex, memory, FRAME);
		ex->wr_id = id + 1;
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)memory, 200);
		EXPECT(ibv_wr_complete(ex) == 0);
		expect_completion(IBV_WC_SUCCESS, id++);
		expect_completion(IBV_WC_SUCCESS, id++);
		if (failures)
			return;
	}
}

/* Receives wait until they are flushed, and so do sends behind one that fails. */
static void failing(struct ibv_qp *qp)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 100, .lkey = mr->lkey };
	struct ibv_recv_wr *bad_recv, recv = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };
	EXPECT(ibv_post_recv(qp, &recv, &bad_recv) == 0);
	EXPECT(post(qp, 2, 12000, 1, 0) == 0);
	expect_completion(IBV_WC_LOC_LEN_ERR, 2);
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	EXPECT(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_SQE);
	EXPECT(post(qp, 3, FRAME, 1, 0) == 0);
	expect_completion(IBV_WC_WR_FLUSH_ERR, 3);
	attr.qp_state = IBV_QPS_ERR;
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
	expect_completion(IBV_WC_WR_FLUSH_ERR, 1);
	attr.qp_state = IBV_QPS_RESET;
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
	make_ready(qp);
	EXPECT(post(qp, 4, FRAME, 1, 0) == 0);
	expect_completion(IBV_WC_SUCCESS, 4);
}

/* Of a queue pair's TIS, a program may ask which transport domain it has: DPDK makes its TIRs in this one. */
static void tis_names_its_transport_domain(struct ibv_qp *qp, unsigned tisn)
{
	enum { QUERY_TIS = 0x915, QUERY_TIS_OUT_BYTES = 0xb0, TRANSPORT_DOMAIN = (0x80 + 0x120) / 8 };
	uint32_t in[4] = { htobe32(QUERY_TIS << 16), 0, htobe32(tisn) }, out[QUERY_TIS_OUT_BYTES / 4] = {};
	EXPECT(mlx5dv_devx_qp_query(qp, in, sizeof(in), out, sizeof(out)) == 0);
	EXPECT(be32toh(out[TRANSPORT_DOMAIN / 4]) != 0);
	in[2] = htobe32(tisn + 1);
	EXPECT(mlx5dv_devx_qp_query(qp, in, sizeof(in), out, sizeof(out)) == EINVAL);
}

int main(int argc, char **argv)
{
	step = NEED((int (*)(void))dlsym(RTLD_DEFAULT, "softhca_step"));
	start();
	struct ibv_device_attr_ex device;
	EXPECT(ibv_query_device_ex(context, NULL, &device) == 0 && device.raw_packet_caps == (IBV_RAW_PACKET_CAP_IP_CSUM | IBV_RAW_PACKET_CAP_CVLAN_STRIPPING));
	cq = NEED(ibv_create_cq(context, 64, NULL, NULL, 0));
	mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
	memcpy(memory, frame, FRAME);
	struct ibv_qp *qp = NEED(make_raw_qp());
	struct mlx5dv_qp raw = { .comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES };
	struct mlx5dv_obj object = { .qp = { .in = qp, .out = &raw } };
	EXPECT(mlx5dv_init_obj(&object, MLX5DV_OBJ_QP) == 0 && raw.sqn == qp->qp_num);
	tis_names_its_transport_domain(qp, raw.tisn);
	make_ready(qp);
	if (argc > 1 && strcmp(argv[1], "one") == 0) {
		EXPECT(post(qp, 0, FRAME, 2, IBV_SEND_IP_CSUM) == 0);
		expect_completion(IBV_WC_SUCCESS, 0);
	} else {
		every_way_to_post(qp);
		failing(qp);
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0);
	return finish();
}

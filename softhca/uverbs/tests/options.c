/*
 * The options that the ends of a connection negotiate (enhanced connection establishment), by libibverbs and libmlx5. The device
 * has version 1 and no option of it.
 */
#include "devx.h"

enum { VENDOR = 0x15b3, QUERY_QP_BYTES = 0x110 };
#define VERSION_1 0x10000000u
#define ECE 0xa0, 32

static struct ibv_cq *cq;

/* What libmlx5 reports. */
static uint32_t enabled(struct ibv_qp *qp)
{
	struct ibv_ece ece = { .vendor_id = 1, .options = 1, .comp_mask = 1 };
	EXPECT(ibv_query_ece(qp, &ece) == 0);
	EXPECT(ece.vendor_id == VENDOR && ece.comp_mask == 0);
	return ece.options;
}

/* What the device has. */
static uint32_t known_to_device(struct ibv_qp *qp)
{
	uint8_t in[16] = {}, out[QUERY_QP_BYTES] = {};
	set(in, OPCODE, QUERY_QP);
	set(in, NUMBER, qp->qp_num);
	EXPECT(mlx5dv_devx_qp_query(qp, in, sizeof(in), out, sizeof(out)) == 0);
	return get(out, ECE);
}

static int wish(struct ibv_qp *qp, uint32_t vendor, uint32_t options, uint32_t comp_mask)
{
	struct ibv_ece ece = { .vendor_id = vendor, .options = options, .comp_mask = comp_mask };
	return ibv_set_ece(qp, &ece);
}

static void an_end_has_what_both_have(void)
{
	struct ibv_mr *mr = register_memory(pd);
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	EXPECT(enabled(qp) == VERSION_1 && known_to_device(qp) == VERSION_1);
	EXPECT(wish(qp, 0x8086, VERSION_1, 0) == EINVAL);
	EXPECT(wish(qp, VENDOR, VERSION_1, 1) == EINVAL);

	/* Options that the device lacks, set before each of the transitions. */
	to_init(qp);
	EXPECT(wish(qp, VENDOR, VERSION_1 | 0xff, 0) == 0);
	EXPECT(enabled(qp) == 0);
	to_rts(qp, qp->qp_num, loopback(context));
	EXPECT(enabled(qp) == VERSION_1 && known_to_device(qp) == VERSION_1);
	strcpy(memory, "after the negotiation");
	EXPECT(post_write(qp, mr, memory, memory + 4096, 32, IBV_SEND_SIGNALED) == 0);
	EXPECT(wait_for(cq).status == IBV_WC_SUCCESS && strcmp(memory + 4096, memory) == 0);

	/* No version, so no options; all that there are. */
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	EXPECT(wish(qp, VENDOR, 43223, 0) == 0);
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
	EXPECT(enabled(qp) == 0 && known_to_device(qp) == 0);
	EXPECT(wish(qp, VENDOR, UINT32_MAX, 0) == 0);
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
	EXPECT(enabled(qp) == VERSION_1 && known_to_device(qp) == VERSION_1);

	/* A transition without options. */
	attr.qp_state = IBV_QPS_ERR;
	EXPECT(wish(qp, VENDOR, VERSION_1, 0) == 0);
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
	EXPECT(enabled(qp) == 0 && known_to_device(qp) == VERSION_1);
	EXPECT(ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0);
}

static void every_service_has_them(void)
{
	struct ibv_qp *uc = NEED(make_qp(pd, cq, NULL, IBV_QPT_UC)), *ud = NEED(make_qp(pd, cq, NULL, IBV_QPT_UD));
	EXPECT(enabled(uc) == VERSION_1 && enabled(ud) == VERSION_1);
	EXPECT(ibv_destroy_qp(uc) == 0 && ibv_destroy_qp(ud) == 0);

	/* The device makes a target in the move to RTR. */
	struct ibv_srq_init_attr of_srq = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(pd, &of_srq));
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_DRIVER, .send_cq = cq, .recv_cq = cq, .srq = srq,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd };
	struct mlx5dv_qp_init_attr own = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = 7 } };
	struct ibv_qp *dct = NEED(mlx5dv_create_qp(context, &attr, &own));
	EXPECT(enabled(dct) == 0);
	EXPECT(wish(dct, VENDOR, VERSION_1 | 0xff, 0) == 0);
	struct ibv_qp_attr state = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
	EXPECT(ibv_modify_qp(dct, &state, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT) == 0);
	EXPECT(enabled(dct) == 0);
	state = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .min_rnr_timer = 12, .ah_attr = loopback(context) };
	EXPECT(ibv_modify_qp(dct, &state, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU) == 0);
	EXPECT(enabled(dct) == VERSION_1);
	EXPECT(ibv_destroy_qp(dct) == 0);
	EXPECT(ibv_destroy_srq(srq) == 0);
}

int main(void)
{
	start();
	cq = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	an_end_has_what_both_have();
	every_service_has_them();
	EXPECT(ibv_destroy_cq(cq) == 0);
	return finish();
}

/*
 * Receives that complete in any order, as libmlx5 asks a kernel for them since rdma-core 56 (MLX5DV_QP_CREATE_OOO_DP): by a bit
 * of the command that moves a queue pair to INIT. The argument is the errno of the command; 0 if the device has them.
 */
#include "prelude.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>

enum { OOO_DP = 1, DP_ORDERING_1 = 0x80 + 0x40 + 0x49c };

/* The errno of the move to INIT with these bits of the driver's own part. */
static int to_init_with(struct ibv_qp *qp, uint32_t comp_mask)
{
	struct ib_uverbs_ex_modify_qp_resp core_response = {};
	struct mlx5_ib_modify_qp_resp driver_response = {};
	struct mlx5_ib_modify_qp driver = { .comp_mask = comp_mask };
	struct ib_uverbs_ex_modify_qp core = { .base = { .qp_handle = qp->handle, .qp_state = IBV_QPS_INIT, .port_num = 1,
		.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS } };
	struct {
		struct ib_uverbs_ioctl_hdr header;
		struct ib_uverbs_attr attrs[5];
	} command = {
		.header = { .length = sizeof(command), .object_id = UVERBS_OBJECT_DEVICE, .method_id = UVERBS_METHOD_INVOKE_WRITE,
			.num_attrs = 5, .driver_id = RDMA_DRIVER_MLX5 },
		.attrs = {
			{ .attr_id = UVERBS_ATTR_WRITE_CMD, .len = 8, .flags = UVERBS_ATTR_F_MANDATORY,
				.data = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_MODIFY_QP },
			{ .attr_id = UVERBS_ATTR_CORE_IN, .len = sizeof(core), .flags = UVERBS_ATTR_F_MANDATORY, .data = (uintptr_t)&core },
			{ .attr_id = UVERBS_ATTR_CORE_OUT, .len = sizeof(core_response), .data = (uintptr_t)&core_response },
			{ .attr_id = UVERBS_ATTR_UHW_IN, .len = sizeof(driver), .data = (uintptr_t)&driver },
			{ .attr_id = UVERBS_ATTR_UHW_OUT, .len = sizeof(driver_response), .data = (uintptr_t)&driver_response },
		},
	};
	return ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &command) == 0 ? 0 : errno;
}

/* Whether the firmware has a queue pair's receives complete in any order. */
static int is_out_of_order(struct ibv_qp *qp)
{
	uint8_t in[16] = { 0x05, 0x0b, [9] = qp->qp_num >> 16, qp->qp_num >> 8, qp->qp_num }, out[0x110];
	EXPECT(mlx5dv_devx_qp_query(qp, in, sizeof(in), out, sizeof(out)) == 0);
	return out[DP_ORDERING_1 / 8] >> (7 - DP_ORDERING_1 % 8) & 1;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	int expected = atoi(argv[1]);
	start();
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC };
	for (int i = 0; i < 2; i++) {
		struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, types[i]));
		EXPECT(to_init_with(qp, 2) == EOPNOTSUPP);
		EXPECT(to_init_with(qp, OOO_DP) == expected);
		if (expected == 0)
			EXPECT(is_out_of_order(qp));
		EXPECT(ibv_destroy_qp(qp) == 0);
		qp = NEED(make_qp(pd, cq, NULL, types[i]));
		EXPECT(to_init_with(qp, 0) == 0 && !is_out_of_order(qp));
		EXPECT(ibv_destroy_qp(qp) == 0);
	}
	EXPECT(ibv_destroy_cq(cq) == 0);
	return finish();
}

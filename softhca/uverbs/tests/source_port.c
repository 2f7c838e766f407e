/*
 * The UDP source port of an RC connection, which libmlx5 changes in RTS: a WRITE from the first port, then one from port 55555.
 * Needs Ethernet ports.
 */
#include "prelude.h"

enum { PORT = 55555 };

int main(void)
{
	start();
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	struct ibv_mr *mr = register_memory(pd);
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC)), *ud = NEED(make_qp(pd, cq, NULL, IBV_QPT_UD));
	struct ibv_ah_attr way = loopback(context);
	/* RoCE v2. */
	way.grh.sgid_index = 1;
	EXPECT(ibv_query_gid(context, 1, 1, &way.grh.dgid) == 0);
	EXPECT(mlx5dv_modify_qp_udp_sport(ud, PORT) == EOPNOTSUPP);
	EXPECT(mlx5dv_modify_qp_udp_sport(qp, PORT) == EOPNOTSUPP);
	to_init(qp);
	EXPECT(mlx5dv_modify_qp_udp_sport(qp, PORT) == EOPNOTSUPP);
	to_rts(qp, qp->qp_num, way);
	for (int i = 0; i < 2; i++) {
		if (i)
			EXPECT(mlx5dv_modify_qp_udp_sport(qp, PORT) == 0);
		EXPECT(post_write(qp, mr, memory, memory + 4096, 100 + i, IBV_SEND_SIGNALED) == 0);
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	}
	EXPECT(ibv_destroy_qp(ud) == 0 && ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0);
	return finish();
}

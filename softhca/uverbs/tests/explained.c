/*
 * A WRITE by a key that names no memory. Does or does not poll its error, and ends with this code.
 *
 *     explained polls|leaves CODE
 */
#include "prelude.h"

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	start();
	struct ibv_mr *mr = register_memory(pd);
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC)), *peer = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	connect_to(qp, peer);
	connect_to(peer, qp);
	struct ibv_mr other = *mr;
	other.rkey ^= 0x55;
	EXPECT(post_write(qp, &other, memory, memory + 4096, 64, IBV_SEND_SIGNALED) == 0);
	if (strcmp(argv[1], "polls") == 0) {
		EXPECT(wait_for(cq).status == IBV_WC_REM_ACCESS_ERR);
	} else {
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
		struct ibv_qp_init_attr init;
		while (attr.qp_state != IBV_QPS_ERR)
			EXPECT(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0);
	}
	return failures ? 99 : atoi(argv[2]);
}

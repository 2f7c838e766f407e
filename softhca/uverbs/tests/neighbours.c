/*
 * On Ethernet, the address of a peer must lead to a neighbour: for a queue pair that connects, and for an address handle. Prints what
 * went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"
#include <time.h>

static const union ibv_gid NOBODY = { .raw = { 0xfe, 0x80, [12] = 0xde, 0xad, 0xbe, 0xef } };

/* A mapped IPv4 address. */
static struct ibv_ah_attr way_to(struct ibv_ah_attr way, uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	way.grh.dgid = (union ibv_gid){ .raw = { [10] = 0xff, 0xff, a, b, c, d } };
	return way;
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static int to_rtr(struct ibv_qp *qp, struct ibv_ah_attr way)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12, .ah_attr = way };
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask);
}

int main(void)
{
	static const enum ibv_qp_type TYPES[] = { IBV_QPT_RC, IBV_QPT_UC };
	start();
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 4, NULL, NULL, 0));
	struct ibv_ah_attr way = loopback(context), nowhere = way;
	/* A source of version 2: with one of version 1 the kernel reads the address out of the GID. */
	way.grh.sgid_index = nowhere.grh.sgid_index = 1;
	nowhere.grh.dgid = NOBODY;
	for (int i = 0; i < 2; i++) {
		struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, TYPES[i]));
		struct ibv_qp_attr attr;
		struct ibv_qp_init_attr init;
		to_init(qp);
		double asked = now();
		EXPECT(to_rtr(qp, nowhere) == ETIMEDOUT && now() - asked > 0.9);
		/* Nobody has these addresses; and no network has this one (RFC 5737), whatever routers the host knows. */
		EXPECT(to_rtr(qp, way_to(way, 10, 95, 77, 77)) == ETIMEDOUT);
		EXPECT(to_rtr(qp, way_to(way, 127, 0, 0, 77)) == ETIMEDOUT);
		EXPECT(to_rtr(qp, way_to(way, 203, 0, 113, 9)) == ENETUNREACH);
		EXPECT(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_INIT);
		EXPECT(to_rtr(qp, way) == 0);
		EXPECT(ibv_destroy_qp(qp) == 0);
	}
	EXPECT(ibv_create_ah(pd, &nowhere) == NULL && errno == ETIMEDOUT);
	struct ibv_ah *ah = NEED(ibv_create_ah(pd, &way));
	EXPECT(ibv_destroy_ah(ah) == 0 && ibv_destroy_cq(cq) == 0);
	return finish();
}

/*
 * A program as another project has it, in C by libibverbs alone: a queue pair that is connected to itself writes into
 * its own memory. `scripts/products` compiles it and runs it by the launcher.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#define NEED(what) do { if (!(what)) { perror(#what); return 1; } } while (0)

int main(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	NEED(devices && devices[0]);
	struct ibv_context *context = ibv_open_device(devices[0]);
	NEED(context);
	struct ibv_port_attr port;
	union ibv_gid gid;
	NEED(ibv_query_port(context, 1, &port) == 0 && ibv_query_gid(context, 1, 0, &gid) == 0);
	static char memory[64] = "hello";
	const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	NEED(pd && cq);
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), rights);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	NEED(mr && qp);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = rights };
	NEED(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = port.active_mtu, .dest_qp_num = qp->qp_num, .max_dest_rd_atomic = 1,
		.ah_attr = { .dlid = port.lid, .port_num = 1, .is_global = 1, .grh = { .dgid = gid, .hop_limit = 1 } },
	};
	NEED(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .max_rd_atomic = 1 };
	NEED(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			   IBV_QP_MAX_QP_RD_ATOMIC) == 0);
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 6, .lkey = mr->lkey };
	struct ibv_send_wr request = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)memory + 32, .rkey = mr->rkey },
	}, *bad;
	NEED(ibv_post_send(qp, &request, &bad) == 0);
	struct ibv_wc completion;
	int found;
	while ((found = ibv_poll_cq(cq, 1, &completion)) == 0)
		;
	if (found != 1 || completion.status != IBV_WC_SUCCESS || strcmp(memory + 32, "hello") != 0) {
		fprintf(stderr, "status %s, \"%s\"\n", ibv_wc_status_str(completion.status), memory + 32);
		return 1;
	}
	printf("%s: a WRITE has arrived\n", ibv_get_device_name(devices[0]));
	return 0;
}

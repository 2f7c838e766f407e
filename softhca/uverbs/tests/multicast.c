/*
 * Multicast groups of UD: the calls and their errors, the copy of each member, and the sender's own.
 */
#include "prelude.h"

enum { QKEY = 0x1ee7a11, GRH = 40, GROUP_LID = 0xc007, GROUP_QPN = 0xffffff };

static const union ibv_gid group = { .raw = { 0xff, 0x12, [15] = 7 } }, other = { .raw = { 0xff, 0x12, [15] = 8 } };

static struct ibv_qp *make_member(struct ibv_cq *cq, uint32_t flags)
{
	struct ibv_qp_init_attr_ex attr = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD, .pd = pd,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS, .create_flags = flags };
	struct ibv_qp *qp = NEED(ibv_create_qp_ex(context, &attr));
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	EXPECT(ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
	to.qp_state = IBV_QPS_RTR;
	EXPECT(ibv_modify_qp(qp, &to, IBV_QP_STATE) == 0);
	to.qp_state = IBV_QPS_RTS;
	EXPECT(ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
	return qp;
}

static void post_receive(struct ibv_qp *qp, struct ibv_mr *mr, char *at)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = 256, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = qp->qp_num, .sg_list = &sge, .num_sge = 1 };
	EXPECT(ibv_post_recv(qp, &wr, &bad) == 0);
}

/* Sends to a group; takes this many completions of receives, and that of the send. */
static void send_to(struct ibv_qp *qp, struct ibv_mr *mr, struct ibv_ah *ah, struct ibv_cq *cq, int copies)
{
	char *data = memory + 0x8000;
	strcpy(data, "to all");
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = 7, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = GROUP_QPN, .remote_qkey = QKEY } };
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
	for (int left = copies + 1; left > 0; left--) {
		struct ibv_wc wc = wait_for(cq);
		EXPECT(wc.status == IBV_WC_SUCCESS);
		if (wc.opcode == IBV_WC_RECV)
			EXPECT(wc.byte_len == GRH + 7 && wc.wc_flags & IBV_WC_GRH && wc.src_qp == qp->qp_num);
	}
}

int main(void)
{
	start();
	int ethernet = on_ethernet();
	struct ibv_device_attr device;
	EXPECT(ibv_query_device(context, &device) == 0);
	/* Those of a ConnectX-5. */
	EXPECT(device.max_mcast_grp == 1 << 21 && device.max_mcast_qp_attach == 240);
	EXPECT(device.max_total_mcast_qp_attach == 240 << 21);

	struct ibv_cq *cq = NEED(ibv_create_cq(context, 32, NULL, NULL, 0));
	struct ibv_mr *mr = register_memory(pd);
	struct ibv_qp *sender = make_member(cq, 0), *second = make_member(cq, 0);
	struct ibv_qp *quiet = make_member(cq, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	struct ibv_qp *connected = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));

	EXPECT(ibv_attach_mcast(connected, &group, GROUP_LID) == EINVAL);
	union ibv_gid unicast = { .raw = { 0xfe, 0x80, [15] = 1 } };
	EXPECT(ibv_attach_mcast(sender, &unicast, GROUP_LID) == EINVAL);
	/* A LID of no group means nothing on Ethernet. */
	EXPECT(ibv_attach_mcast(sender, &other, 7) == (ethernet ? 0 : EINVAL));
	if (ethernet)
		EXPECT(ibv_detach_mcast(sender, &other, 7) == 0);
	EXPECT(ibv_detach_mcast(sender, &group, GROUP_LID) == EINVAL);
	struct ibv_qp *members[] = { sender, second, quiet };
	for (int i = 0; i < 3; i++)
		EXPECT(ibv_attach_mcast(members[i], &group, GROUP_LID) == 0);
	EXPECT(ibv_attach_mcast(second, &group, GROUP_LID) == 0);

	struct ibv_ah_attr way = { .dlid = GROUP_LID, .port_num = 1, .is_global = 1, .grh = { .dgid = group, .hop_limit = 1 } };
	struct ibv_ah *ah = NEED(ibv_create_ah(pd, &way));
	way.grh.dgid = other;
	struct ibv_ah *elsewhere = NEED(ibv_create_ah(pd, &way));
	for (int i = 0; i < 3; i++)
		post_receive(members[i], mr, memory + i * 256);
	send_to(sender, mr, elsewhere, cq, 0);
	send_to(sender, mr, ah, cq, 3);
	for (int i = 0; i < 3; i++)
		EXPECT(memcmp(memory + i * 256 + 24, &group, 16) == 0 && strcmp(memory + i * 256 + GRH, "to all") == 0);
	/* The third blocks its own. */
	for (int i = 0; i < 3; i++)
		post_receive(members[i], mr, memory + i * 256);
	send_to(quiet, mr, ah, cq, 2);

	/* A member cannot be destroyed; one that has left gets nothing more. */
	EXPECT(ibv_destroy_qp(second) == EBUSY);
	EXPECT(ibv_detach_mcast(second, &group, GROUP_LID) == 0);
	EXPECT(ibv_destroy_qp(second) == 0);
	post_receive(sender, mr, memory);
	send_to(sender, mr, ah, cq, 2);
	EXPECT(ibv_detach_mcast(sender, &group, GROUP_LID) == 0 && ibv_detach_mcast(quiet, &group, GROUP_LID) == 0);

	EXPECT(ibv_destroy_ah(ah) == 0 && ibv_destroy_ah(elsewhere) == 0);
	EXPECT(ibv_destroy_qp(sender) == 0 && ibv_destroy_qp(quiet) == 0 && ibv_destroy_qp(connected) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0 && ibv_destroy_cq(cq) == 0);
	return finish();
}

/*
 * A program that closes ranges of descriptors closes its own, and none that the device has beside them: on two devices, which
 * reach each other by sockets. Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/* A queue pair on each of two devices. */
static struct ibv_context *contexts[2];
static struct ibv_pd *domains[2];
static struct ibv_comp_channel *channels[2];
static struct ibv_cq *cqs[2];
static struct ibv_qp *qps[2];
static struct ibv_mr *mrs[2];

static void make(void)
{
	struct ibv_device **list = NEED(ibv_get_device_list(NULL));
	for (int i = 0; i < 2; i++) {
		contexts[i] = NEED(ibv_open_device(NEED(list[i])));
		domains[i] = NEED(ibv_alloc_pd(contexts[i]));
		channels[i] = NEED(ibv_create_comp_channel(contexts[i]));
		cqs[i] = NEED(ibv_create_cq(contexts[i], 8, NULL, channels[i], 0));
		qps[i] = NEED(make_qp(domains[i], cqs[i], NULL, IBV_QPT_RC));
		mrs[i] = register_memory(domains[i]);
	}
	ibv_free_device_list(list);
	for (int i = 0; i < 2; i++) {
		struct ibv_port_attr port;
		EXPECT(ibv_query_port(contexts[1 - i], 1, &port) == 0);
		to_init(qps[i]);
		to_rts(qps[i], qps[1 - i]->qp_num, (struct ibv_ah_attr){ .dlid = port.lid, .port_num = 1 });
	}
}

static void unmake(void)
{
	for (int i = 0; i < 2; i++) {
		EXPECT(ibv_destroy_qp(qps[i]) == 0 && ibv_destroy_cq(cqs[i]) == 0 && ibv_destroy_comp_channel(channels[i]) == 0);
		EXPECT(ibv_dereg_mr(mrs[i]) == 0 && ibv_dealloc_pd(domains[i]) == 0 && ibv_close_device(contexts[i]) == 0);
	}
}

/* Each device writes to the other, and tells by an event. */
static void works(void)
{
	for (int i = 0; i < 2; i++) {
		struct pollfd event = { .fd = channels[i]->fd, .events = POLLIN };
		struct ibv_cq *got;
		void *ignored;
		struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 64, .lkey = mrs[i]->lkey };
		struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = (uintptr_t)memory + 4096, .rkey = mrs[1 - i]->rkey } };
		memset(memory, 'a' + i, 64);
		EXPECT(ibv_req_notify_cq(cqs[i], 0) == 0 && ibv_post_send(qps[i], &wr, &bad) == 0);
		EXPECT(poll(&event, 1, 20000) == 1);
		if (failures)
			return;
		EXPECT(ibv_get_cq_event(channels[i], &got, &ignored) == 0 && got == cqs[i]);
		ibv_ack_cq_events(got, 1);
		EXPECT(wait_for(cqs[i]).status == IBV_WC_SUCCESS && memory[4096] == 'a' + i);
	}
}

int main(void)
{
	make();
	/* All but the first three: what the program had of the devices is gone, and they can be opened again. */
	EXPECT(close_range(3, ~0U, 0) == 0);
	EXPECT(fcntl(contexts[0]->cmd_fd, F_GETFD) == -1 && fcntl(channels[1]->fd, F_GETFD) == -1);
	make();
	works();
	closefrom(3);
	EXPECT(fcntl(contexts[0]->cmd_fd, F_GETFD) == -1 && fcntl(channels[1]->fd, F_GETFD) == -1);
	make();
	works();
	/* All after the last that the program has: nothing of its own. */
	int last = 0;
	for (int i = 0; i < 2; i++) {
		int fds[] = { contexts[i]->cmd_fd, contexts[i]->async_fd, channels[i]->fd };
		for (int j = 0; j < 3; j++)
			last = fds[j] > last ? fds[j] : last;
	}
	EXPECT(close_range(last + 1, ~0U, 0) == 0);
	works();
	unmake();
	make();
	works();
	unmake();
	return failures != 0;
}

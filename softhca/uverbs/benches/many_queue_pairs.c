/*
 * What the device takes for a piece of work while a program has many queue pairs. Usage: many_queue_pairs COUNT..., in
 * ascending order. Prints a line for each count of queue pairs: the count, and then microseconds of CPU time, those of
 * the device's thread among them, for a registration or deregistration, for a WRITE of no bytes, for a protection domain
 * made or freed, and for a queue pair created, connected and destroyed. Each is the least of some rounds: other programs
 * on the machine make it more, never less.
 */
#include <infiniband/verbs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST = 1 << 16, ROUNDS = 7, TURNS = 50, BYTES = 4096, PATIENCE = 20 };

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_port_attr port;
static union ibv_gid gid;
static struct ibv_qp *pairs[MOST];
static char memory[BYTES];

static void check(int is_right, const char *what)
{
	if (!is_right) {
		perror(what);
		exit(1);
	}
}

static double cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static struct ibv_qp *create(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	check(qp != NULL, "ibv_create_qp");
	return qp;
}

static void connect_to(struct ibv_qp *qp, const struct ibv_qp *peer)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = {.dlid = port.lid, .port_num = 1, .is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET,
			    .grh = {.dgid = gid, .hop_limit = 64}},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1,
	};

	check(!ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
	check(!ibv_modify_qp(qp, &rtr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	      "RTR");
	check(!ibv_modify_qp(qp, &rts,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				     IBV_QP_MAX_QP_RD_ATOMIC),
	      "RTS");
}

static void create_pair(struct ibv_qp **pair)
{
	pair[0] = create();
	pair[1] = create();
	connect_to(pair[0], pair[1]);
	connect_to(pair[1], pair[0]);
}

/* The pieces of work. Each returns how often it has done its part. */

static int regions(int count)
{
	(void)count;
	for (int turn = 0; turn < TURNS; turn++) {
		struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);

		check(mr && !ibv_dereg_mr(mr), "a region");
	}
	return 2 * TURNS;
}

static int writes(int count)
{
	for (int turn = 0; turn < TURNS; turn++) {
		/* Another queue pair each time. */
		struct ibv_qp *qp = pairs[2 * turn % count];
		struct ibv_send_wr request = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED}, *bad;
		struct ibv_wc done;
		time_t end = time(NULL) + PATIENCE;
		int found = 0;

		check(!ibv_post_send(qp, &request, &bad), "ibv_post_send");
		while (found == 0 && time(NULL) < end)
			found = ibv_poll_cq(cq, 1, &done);
		check(found == 1 && done.status == IBV_WC_SUCCESS, "a WRITE");
	}
	return TURNS;
}

static int domains(int count)
{
	(void)count;
	for (int turn = 0; turn < TURNS; turn++) {
		struct ibv_pd *domain = ibv_alloc_pd(context);

		check(domain && !ibv_dealloc_pd(domain), "a protection domain");
	}
	return 2 * TURNS;
}

static int queues(int count)
{
	for (int turn = 0; turn < TURNS; turn++) {
		struct ibv_qp **last = &pairs[count - 2];

		check(!ibv_destroy_qp(last[0]) && !ibv_destroy_qp(last[1]), "ibv_destroy_qp");
		create_pair(last);
	}
	return 2 * TURNS;
}

static double least(int (*work)(int count), int count)
{
	double least = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double begin = cpu();
		int done = work(count);
		double each = (cpu() - begin) / done * 1e6;

		least = each < least ? each : least;
	}
	return least;
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	int made = 0;

	check(devices && devices[0], "no device");
	context = ibv_open_device(devices[0]);
	check(context != NULL, "ibv_open_device");
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 1024, NULL, NULL, 0);
	check(pd && cq && !ibv_query_port(context, 1, &port) && !ibv_query_gid(context, 1, 0, &gid), "the port");
	for (int arg = 1; arg < argc; arg++) {
		int count = atoi(argv[arg]) & ~1;

		check(count >= 2 && count >= made && count <= MOST, "counts ascend, from 2 to 65536");
		for (; made < count; made += 2)
			create_pair(&pairs[made]);
		printf("%d", count);
		printf(" %.1f", least(regions, count));
		printf(" %.1f", least(writes, count));
		printf(" %.1f", least(domains, count));
		printf(" %.1f\n", least(queues, count));
		fflush(stdout);
	}
	return 0;
}

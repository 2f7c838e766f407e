/*
 * A peer of the wire format of RDMA_RC_example (Mellanox, RDMA Aware Networks Programming User Manual, "Programming Examples Using
 * IBV Verbs"), with libibverbs alone. What the program prints, this one checks. Usage:
 *
 *     rdma_rc [HOST] [-p PORT] [-d DEVICE] [-g GID_INDEX]
 *
 * Without HOST it is the server. BYTES is the size of its memory and of each of its requests, fixed when it is compiled.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* What each side tells the other: 34 bytes, big endian. */
struct told {
	uint64_t addr;
	uint32_t rkey;
	uint32_t qp_num;
	uint16_t lid;
	uint8_t gid[16];
} __attribute__((packed));

_Static_assert(sizeof(struct told) == 34, "no padding");
_Static_assert(BYTES > 14 && BYTES <= 64, "the texts differ in so many bytes, and the memory has no more");

/* The texts, padded to one length as the manual's are. */
#define SENT "SEND operation      "
#define TO_READ "RDMA read operation "
#define WRITTEN "RDMA write operation"

static const char *host, *device_name, *port = "19875";
static int gid_index = -1, stream;
static char memory[64];
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_qp *qp;

static void need(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "rdma_rc, the %s: %s\n", host ? "client" : "server", what);
	exit(1);
}

static void meet(void)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found;
	struct timeval patience = { .tv_sec = 20 };
	int on = 1;
	need(getaddrinfo(host, port, &hints, &found) == 0, "no such host");
	stream = socket(AF_INET, SOCK_STREAM, 0);
	if (host) {
		need(connect(stream, found->ai_addr, found->ai_addrlen) == 0, "connect to localhost");
	} else {
		int listener = stream;
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		need(bind(listener, found->ai_addr, found->ai_addrlen) == 0 && listen(listener, 1) == 0, "listen");
		stream = accept(listener, NULL, NULL);
		close(listener);
	}
	freeaddrinfo(found);
	need(stream >= 0 && setsockopt(stream, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0, "no peer");
}

/* Each side writes as many bytes as it reads. */
static void swap(const void *ours, void *theirs, ssize_t len)
{
	need(write(stream, ours, len) == len, "write");
	need(recv(stream, theirs, len, MSG_WAITALL) == len, "the peer said too little");
}

/* One byte at each step, as the program sends it. */
static void step(char name)
{
	char theirs;
	swap(&name, &theirs, 1);
	need(theirs == name, "the peer is at another step");
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **chosen = list;
	need(list != NULL, "no list of devices");
	while (device_name && *chosen && strcmp(ibv_get_device_name(*chosen), device_name) != 0)
		chosen++;
	need(*chosen != NULL, "no such device");
	context = ibv_open_device(*chosen);
	ibv_free_device_list(list);
	need(context != NULL && (pd = ibv_alloc_pd(context)) != NULL, "open");
	need((cq = ibv_create_cq(context, 1, NULL, NULL, 0)) != NULL, "no CQ");
	/* No byte more than the requests have. */
	mr = ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	need(mr != NULL, "no region");
	struct ibv_qp_init_attr attr = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
	need((qp = ibv_create_qp(pd, &attr)) != NULL, "no queue pair");
}

static void post_receive(void)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = BYTES, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	need(ibv_post_recv(qp, &wr, &bad) == 0, "post a receive");
}

static struct told exchange(void)
{
	struct ibv_port_attr attr;
	union ibv_gid gid = {};
	need(ibv_query_port(context, 1, &attr) == 0, "no port 1");
	need(gid_index < 0 || ibv_query_gid(context, 1, gid_index, &gid) == 0, "no such GID");
	struct told theirs, ours = { .addr = htobe64((uintptr_t)memory), .rkey = htobe32(mr->rkey),
		.qp_num = htobe32(qp->qp_num), .lid = htobe16(attr.lid) };
	memcpy(ours.gid, &gid, sizeof(ours.gid));
	swap(&ours, &theirs, sizeof(ours));
	return theirs;
}

/* PSN 0, a path MTU of 256 bytes, one READ at a time, no retry for want of a receive. */
static void connect_qp(const struct told *peer)
{
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE };
	need(ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "INIT");
	if (host)
		post_receive();
	struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_256, .dest_qp_num = be32toh(peer->qp_num),
		.max_dest_rd_atomic = 1, .min_rnr_timer = 0x12, .ah_attr = { .dlid = be16toh(peer->lid), .port_num = 1 } };
	if (gid_index >= 0) {
		rtr.ah_attr.is_global = 1;
		memcpy(&rtr.ah_attr.grh.dgid, peer->gid, sizeof(peer->gid));
		rtr.ah_attr.grh.hop_limit = 1;
		rtr.ah_attr.grh.sgid_index = gid_index;
	}
	need(ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0, "RTR");
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS, .timeout = 0x12, .retry_cnt = 6, .max_rd_atomic = 1 };
	need(ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				   IBV_QP_MAX_QP_RD_ATOMIC) == 0, "RTS");
}

static void post(enum ibv_wr_opcode opcode, const struct told *peer)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = BYTES, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED };
	wr.wr.rdma.remote_addr = be64toh(peer->addr);
	wr.wr.rdma.rkey = be32toh(peer->rkey);
	need(ibv_post_send(qp, &wr, &bad) == 0, "post");
}

static void complete(void)
{
	struct ibv_wc wc;
	int polled;
	time_t begin = time(NULL);
	while ((polled = ibv_poll_cq(cq, 1, &wc)) == 0)
		need(time(NULL) < begin + 20, "no completion");
	need(polled == 1, "poll");
	need(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
}

/* The text, as far as it goes in so many bytes. Spaces at its end may be missing. */
static void expect(const char *text)
{
	for (int at = 0; at < BYTES && (text[at] || memory[at]); at++) {
		if (text[at] == memory[at])
			continue;
		need(strspn(&text[at], " ") == strlen(&text[at]) && memory[at] == '\0', "another text");
		break;
	}
	printf("verified: %.*s\n", BYTES, memory);
}

int main(int argc, char **argv)
{
	int option;
	while ((option = getopt(argc, argv, "p:d:g:")) != -1) {
		switch (option) {
		case 'p': port = optarg; break;
		case 'd': device_name = optarg; break;
		case 'g': gid_index = atoi(optarg); break;
		default: return 2;
		}
	}
	if (optind < argc)
		host = argv[optind];
	meet();
	open_device();
	if (!host)
		strcpy(memory, SENT);
	struct told peer = exchange();
	connect_qp(&peer);
	step('Q');
	if (!host)
		post(IBV_WR_SEND, &peer);
	complete();
	if (host)
		expect(SENT);
	else
		strcpy(memory, TO_READ);
	step('R');
	if (host) {
		post(IBV_WR_RDMA_READ, &peer);
		complete();
		expect(TO_READ);
		strcpy(memory, WRITTEN);
		post(IBV_WR_RDMA_WRITE, &peer);
		complete();
	}
	step('W');
	if (!host)
		expect(WRITTEN);
	need(ibv_destroy_qp(qp) == 0 && ibv_dereg_mr(mr) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dealloc_pd(pd) == 0 &&
	     ibv_close_device(context) == 0, "an object is left");
	return 0;
}

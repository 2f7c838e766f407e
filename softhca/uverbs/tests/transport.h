/*
 * The two ends of transport.c: how they meet, their memory and its contents, their connections, and requests.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ALL_RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define QP_RIGHTS (ALL_RIGHTS & ~IBV_ACCESS_LOCAL_WRITE)
#define QKEY 0x11223344
#define GRH 40
#define GUARD 64
#define QUEUE 128
/* So near to its end that each connection passes it. */
#define FIRST_PSN 0xfffff0

static const char *host, *device_name, *port = "18515";
static int gid_index = -1, only_mtu, lossy, stream, failures;
static uint32_t largest = 1 << 20;
/* The end that sends requests now. */
static int asks;
/* Of the operation that is under way, for messages. */
static char now[160];

static struct ibv_context *context;
static struct ibv_port_attr port_attr;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
/* Of `room` bytes, behind a guard. */
static uint8_t *memory;
static size_t room;

static void fail(int line, const char *what)
{
	printf("line %d, the %s: %s: not so: %s (errno %d)\n", line, asks ? "requester" : "responder", now, what, errno);
	failures++;
}
#define EXPECT(condition)                            \
	do {                                         \
		if (!(condition))                    \
			fail(__LINE__, #condition);  \
	} while (0)
/* Without what this makes, nothing else can be tried. */
#define NEED(condition)                              \
	do {                                         \
		if (!(condition)) {                  \
			fail(__LINE__, #condition);  \
			exit(1);                     \
		}                                    \
	} while (0)

static void doing(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	vsnprintf(now, sizeof(now), format, list);
	va_end(list);
}

static double seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* The two ends meet by TCP. */
static void meet(void)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found;
	int on = 1;
	NEED(getaddrinfo(host, port, &hints, &found) == 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (host) {
		NEED(connect(fd, found->ai_addr, found->ai_addrlen) == 0);
		stream = fd;
	} else {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		NEED(bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, 1) == 0);
		stream = accept(fd, NULL, NULL);
		NEED(stream >= 0);
		close(fd);
	}
	freeaddrinfo(found);
}

static void swap(const void *mine, void *theirs, size_t len)
{
	NEED(write(stream, mine, len) == (ssize_t)len);
	for (size_t done = 0; done < len;) {
		ssize_t got = read(stream, (char *)theirs + done, len - done);
		NEED(got > 0);
		done += got;
	}
}

/* Both ends have come here. A number that differs says that they do not do the same. */
static void both(uint32_t step)
{
	uint32_t theirs;
	swap(&step, &theirs, sizeof(step));
	NEED(theirs == step);
}

static void fill(uint32_t seed, uint8_t *at, size_t len)
{
	uint64_t word = 0x9e3779b97f4a7c15 * (seed + 1);
	for (size_t i = 0; i < len; i++) {
		if (i % 8 == 0) {
			word ^= word << 13;
			word ^= word >> 7;
			word ^= word << 17;
		}
		at[i] = word >> 8 * (i % 8);
	}
}

static int is_filled(uint32_t seed, const uint8_t *at, size_t len)
{
	static uint8_t *expected;
	if (!expected)
		expected = malloc(room);
	fill(seed, expected, len);
	return memcmp(expected, at, len) == 0;
}

/* Nothing is there yet. */
static void blank(uint8_t *at, size_t len)
{
	memset(at - GUARD, 0xee, len + 2 * GUARD);
}

/* The bytes around are as `blank` left them. */
static int is_alone(const uint8_t *at, size_t len)
{
	for (int i = 1; i <= GUARD; i++)
		if (at[-i] != 0xee || at[len + i - 1] != 0xee)
			return 0;
	return 1;
}

/* A completion; of status -1 if none comes. */
static struct ibv_wc completion(void)
{
	struct ibv_wc wc = { .status = -1 };
	double end = seconds() + 60;
	for (int tries = 0; ibv_poll_cq(cq, 1, &wc) == 0; tries++) {
		if (seconds() > end)
			return wc;
		if (tries > 100)
			usleep(50);
	}
	return wc;
}

/* What one end tells the other about a queue pair and its memory. */
struct told {
	uint64_t addr;
	uint32_t qpn, rkey, extra;
	uint16_t lid;
	uint8_t mtu, is_rxe, gid[16];
} __attribute__((packed));

struct link {
	struct ibv_qp *qp;
	struct told peer;
	int mtu;
};

/* The kind of a connection. */
struct kind {
	enum ibv_qp_type type;
	/* `enum ibv_mtu`. */
	int mtu;
	struct ibv_srq *srq;
	int rights, rnr_retry, timeout, retries;
	/* Told to the peer besides. */
	uint32_t extra;
};
static const struct kind RC = { .type = IBV_QPT_RC, .rights = QP_RIGHTS, .rnr_retry = 7, .timeout = 17, .retries = 7 };

static int is_rxe(void)
{
	return strncmp(ibv_get_device_name(context->device), "rxe", 3) == 0;
}

static struct ibv_ah_attr way_to(const struct told *peer)
{
	struct ibv_ah_attr way = { .port_num = 1, .dlid = peer->lid };
	if (gid_index >= 0) {
		way.is_global = 1;
		way.grh.sgid_index = gid_index;
		way.grh.hop_limit = 64;
		memcpy(way.grh.dgid.raw, peer->gid, 16);
	}
	return way;
}

/* A queue pair connected with one of the peer's. */
static struct link connect_by(struct kind kind)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .srq = kind.srq, .qp_type = kind.type,
		.cap = { .max_send_wr = QUEUE, .max_recv_wr = QUEUE, .max_send_sge = 4, .max_recv_sge = 4, .max_inline_data = 32 } };
	struct link link = { .qp = ibv_create_qp(pd, &init) };
	NEED(link.qp);
	int is_datagram = kind.type == IBV_QPT_UD, is_reliable = kind.type == IBV_QPT_RC;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .qp_access_flags = kind.rights };
	NEED(ibv_modify_qp(link.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				(is_datagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0);
	struct told own = { .addr = (uintptr_t)memory, .qpn = link.qp->qp_num, .rkey = mr->rkey, .extra = kind.extra,
		.lid = port_attr.lid, .mtu = port_attr.active_mtu,
		.is_rxe = is_rxe() };
	if (kind.mtu && kind.mtu < own.mtu)
		own.mtu = kind.mtu;
	union ibv_gid gid = {};
	NEED(gid_index < 0 || ibv_query_gid(context, 1, gid_index, &gid) == 0);
	memcpy(own.gid, gid.raw, 16);
	swap(&own, &link.peer, sizeof(own));
	link.mtu = own.mtu < link.peer.mtu ? own.mtu : link.peer.mtu;
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = link.mtu, .dest_qp_num = link.peer.qpn,
		.rq_psn = FIRST_PSN, .max_dest_rd_atomic = 4, .min_rnr_timer = 12, .ah_attr = way_to(&link.peer) };
	NEED(ibv_modify_qp(link.qp, &attr, is_datagram ? IBV_QP_STATE :
				IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				(is_reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)) == 0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = lossy ? 14 : kind.timeout, .retry_cnt = kind.retries,
		.rnr_retry = kind.rnr_retry, .sq_psn = FIRST_PSN, .max_rd_atomic = 4 };
	NEED(ibv_modify_qp(link.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | (!is_reliable ? 0 :
				IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)) == 0);
	both(0xc0);
	return link;
}

static void disconnect(struct link *link)
{
	/* The last acknowledgement may have been lost: its receiver asks for it again. */
	both(0xd0);
	EXPECT(ibv_destroy_qp(link->qp) == 0);
}

static void post_receive(struct ibv_qp *qp, struct ibv_srq *srq, uint64_t id, uint8_t *at, uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = len, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = id, .sg_list = &sge, .num_sge = len ? 1 : 0 };
	NEED((srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad)) == 0);
}

/* A request for `len` bytes at `at`, in three pieces if it is long enough; remote data lies at the same offset of the memory. */
static void post(const struct link *link, enum ibv_wr_opcode opcode, uint64_t id, uint8_t *at, uint32_t len)
{
	struct ibv_sge sge[3] = { { .addr = (uintptr_t)at, .length = len, .lkey = mr->lkey } };
	int pieces = len > 0;
	if (len > 100) {
		uint32_t lens[3] = { 3, len / 2, len - len / 2 - 3 };
		for (pieces = 0; pieces < 3; pieces++) {
			sge[pieces] = (struct ibv_sge){ .addr = (uintptr_t)at, .length = lens[pieces], .lkey = mr->lkey };
			at += lens[pieces];
		}
		at -= len;
	}
	struct ibv_send_wr *bad, wr = { .wr_id = id, .sg_list = sge, .num_sge = pieces, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = htonl(0x1000000 + len), .wr.rdma = {
			.remote_addr = link->peer.addr + (at - memory), .rkey = link->peer.rkey } };
	if (opcode != IBV_WR_RDMA_READ && len && len <= 32 && len % 2)
		wr.send_flags |= IBV_SEND_INLINE;
	NEED(ibv_post_send(link->qp, &wr, &bad) == 0);
}

static int post_atomic(const struct link *link, enum ibv_wr_opcode opcode, uint64_t id, uint8_t *at, size_t offset,
			uint64_t compare_add, uint64_t swapped)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = 8, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED, .wr.atomic = { .remote_addr = link->peer.addr + offset,
			.rkey = link->peer.rkey, .compare_add = compare_add, .swap = swapped } };
	return ibv_post_send(link->qp, &wr, &bad);
}
static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **chosen = list;
	NEED(list);
	while (device_name && *chosen && strcmp(ibv_get_device_name(*chosen), device_name) != 0)
		chosen++;
	NEED(*chosen);
	context = ibv_open_device(*chosen);
	NEED(context);
	ibv_free_device_list(list);
	NEED(ibv_query_port(context, 1, &port_attr) == 0);
	NEED(port_attr.link_layer != IBV_LINK_LAYER_ETHERNET || gid_index >= 0);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 4 * QUEUE, NULL, NULL, 0);
	room = largest > 4 << 20 ? largest : 4 << 20;
	uint8_t *all = mmap(NULL, room + 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(pd && cq && all != MAP_FAILED);
	memory = all + 4096;
	mr = ibv_reg_mr(pd, memory, room, ALL_RIGHTS);
	NEED(mr);
}

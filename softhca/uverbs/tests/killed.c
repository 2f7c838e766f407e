/*
 * A peer is killed while requests are under way: each request ends once, in order, with the right status, and the queue pair meets
 * the next peer after a reset. Usage: killed SEEDS. The seed says when the peer is killed. Prints what went otherwise than
 * expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Requests to a peer, and those of them that are under way at a time. */
#define REQUESTS 96
#define UNDER_WAY 16
#define RECEIVES 64
/* Some messages have three packets. */
#define SLOT 2560

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t slots[UNDER_WAY][SLOT], there[UNDER_WAY][SLOT];

static uint32_t length(int request)
{
	return request % 2 ? 32 : SLOT;
}

static void fill(uint8_t *at, int request)
{
	for (uint32_t i = 0; i < length(request); i++)
		at[i] = request * 37 + i * 11 + i / 256;
}

static int is_filled(const uint8_t *at, int request)
{
	uint8_t expected[SLOT];
	fill(expected, request);
	return memcmp(expected, at, length(request)) == 0;
}

static void make(void)
{
	start();
	cq = NEED(ibv_create_cq(context, 2 * RECEIVES, NULL, NULL, 0));
	qp = NEED(make_qp_of(pd, cq, NULL, IBV_QPT_RC, (struct ibv_qp_cap){ .max_send_wr = UNDER_WAY, .max_recv_wr = RECEIVES,
		.max_send_sge = 1, .max_recv_sge = 1 }));
}

static void meet(int stream, const void *at, struct end *peer)
{
	struct end mine = { qp->qp_num, mr->rkey, (uintptr_t)at, loopback(context) };
	if (write(stream, &mine, sizeof(mine)) != sizeof(mine) || read(stream, peer, sizeof(*peer)) != sizeof(*peer))
		exit(2);
	to_rts(qp, peer->qpn, peer->way);
	/* Both are ready. */
	if (write(stream, "", 1) != 1 || read(stream, &mine, 1) != 1)
		exit(2);
}

/* The peer posts receives until it is killed. READs find the pattern that WRITEs bring. */
static int peer(int stream)
{
	struct end other;
	static uint8_t mailbox[SLOT];
	make();
	mr = NEED(ibv_reg_mr(pd, there, sizeof(there), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
	struct ibv_mr *received = NEED(ibv_reg_mr(pd, mailbox, SLOT, IBV_ACCESS_LOCAL_WRITE));
	struct ibv_sge sge = { (uintptr_t)mailbox, SLOT, received->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	for (int i = 0; i < UNDER_WAY; i++)
		fill(there[i], i);
	to_init(qp);
	for (int i = 0; i < RECEIVES; i++)
		EXPECT(ibv_post_recv(qp, &wr, &bad) == 0);
	meet(stream, there, &other);
	while (failures == 0) {
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
		EXPECT(ibv_post_recv(qp, &wr, &bad) == 0);
	}
	return 1;
}

/* A message, a WRITE or a READ, by the number. */
static void post(int request, const struct end *peer)
{
	static const enum ibv_wr_opcode OPCODES[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ };
	int slot = request % UNDER_WAY;
	struct ibv_sge sge = { (uintptr_t)slots[slot], length(request), mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = request, .sg_list = &sge, .num_sge = 1, .opcode = OPCODES[request % 3],
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = peer->address + slot * SLOT, .rkey = peer->rkey } };
	if (request % 3 == 2)
		memset(slots[slot], 0, SLOT);
	else
		fill(slots[slot], slot);
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
}

/* A peer is killed when so many requests to it have completed. */
static void one_peer(int completions)
{
	extern char **environ;
	int streams[2], posted = 0, done = 0, good = 0;
	char number[12];
	pid_t child;
	struct end other;
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, streams) == 0);
	snprintf(number, sizeof(number), "%d", streams[1]);
	char *const arguments[] = { "killed", "peer", number, NULL };
	EXPECT(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0);
	close(streams[1]);
	to_init(qp);
	meet(streams[0], slots, &other);
	for (; done < REQUESTS && failures == 0; done++) {
		if (done == completions)
			EXPECT(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
		for (; posted < REQUESTS && posted < done + UNDER_WAY; posted++)
			post(posted, &other);
		struct ibv_wc wc = wait_for(cq);
		EXPECT(wc.wr_id == (uint64_t)done);
		enum ibv_wc_status expected = good < done ? IBV_WC_WR_FLUSH_ERR : IBV_WC_RETRY_EXC_ERR;
		if (good == done && wc.status == IBV_WC_SUCCESS) {
			good++;
			EXPECT(done % 3 != 2 || is_filled(slots[done % UNDER_WAY], done % UNDER_WAY));
		} else
			EXPECT(wc.status == expected && done >= completions);
	}
	struct ibv_wc wc;
	EXPECT(good >= completions && good < completions + UNDER_WAY && ibv_poll_cq(cq, 1, &wc) == 0);
	EXPECT(ibv_modify_qp(qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET }, IBV_QP_STATE) == 0);
	close(streams[0]);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return peer(atoi(argv[2]));
	if (argc != 2)
		return 2;
	make();
	mr = NEED(ibv_reg_mr(pd, slots, sizeof(slots), IBV_ACCESS_LOCAL_WRITE));
	for (int seed = 1; seed <= atoi(argv[1]) && failures == 0; seed++) {
		srand(seed);
		one_peer(rand() % (REQUESTS - UNDER_WAY));
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0);
	return finish();
}

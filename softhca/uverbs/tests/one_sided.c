/*
 * WRITEs and READs that need no CPU of the process that owns the memory: their data, order and rights; an owner that is stopped,
 * deregisters, changes rights, goes away or starts another program. Usage: one_sided [packets]; `packets`: the device lends
 * nothing, so no owner is stopped. Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES (1 << 20)
#define RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define RECEIVES 16

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t *bytes;
/* To the other process. */
static int stream;
static struct end other;
static pid_t owner;

static void make(void)
{
	start();
	cq = NEED(ibv_create_cq(context, 4 * RECEIVES, NULL, NULL, 0));
	qp = NEED(make_qp_of(pd, cq, NULL, IBV_QPT_RC, (struct ibv_qp_cap){ .max_send_wr = 64, .max_recv_wr = RECEIVES,
		.max_send_sge = 4, .max_recv_sge = 1, .max_inline_data = 64 }));
	bytes = NEED(aligned_alloc(4096, BYTES));
	memset(bytes, 0, BYTES);
	mr = NEED(ibv_reg_mr(pd, bytes, BYTES, RIGHTS));
}

static void tell(const void *what, size_t len)
{
	if (write(stream, what, len) != (ssize_t)len)
		exit(2);
}

static void hear(void *what, size_t len)
{
	if (read(stream, what, len) != (ssize_t)len)
		exit(2);
}

static void meet(void)
{
	struct end mine = { qp->qp_num, mr->rkey, (uintptr_t)bytes, loopback(context) };
	char ready = 0;
	to_init(qp);
	tell(&mine, sizeof(mine));
	hear(&other, sizeof(other));
	to_rts(qp, other.qpn, other.way);
	tell(&ready, 1);
	hear(&ready, 1);
}

static uint32_t expected_psn(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	EXPECT(ibv_query_qp(qp, &attr, IBV_QP_RQ_PSN, &init) == 0);
	return attr.rq_psn;
}

static uint64_t counter(const char *name)
{
	char path[400];
	unsigned long long value = 0;
	snprintf(path, sizeof(path), "%s/ports/1/hw_counters/%s", context->device->ibdev_path, name);
	FILE *file = NEED(fopen(path, "r"));
	EXPECT(fscanf(file, "%llu", &value) == 1);
	fclose(file);
	return value;
}

/* The owner does one thing for each letter, and answers with a number. */
static int own(void)
{
	static uint8_t mailboxes[RECEIVES][64];
	char letter;
	make();
	struct ibv_mr *received = NEED(ibv_reg_mr(pd, mailboxes, sizeof(mailboxes), IBV_ACCESS_LOCAL_WRITE));
	to_init(qp);
	for (int i = 0; i < RECEIVES; i++) {
		struct ibv_sge sge = { (uintptr_t)mailboxes[i], sizeof(mailboxes[i]), received->lkey };
		struct ibv_recv_wr *bad, wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
		EXPECT(ibv_post_recv(qp, &wr, &bad) == 0);
	}
	meet();
	for (;;) {
		uint64_t answer = 0;
		struct ibv_wc wc;
		hear(&letter, 1);
		switch (letter) {
		case 's': /* The sum of all bytes. */
			for (int i = 0; i < BYTES; i++)
				answer += bytes[i] * (uint64_t)(i + 1);
			break;
		case 'p':
			answer = expected_psn();
			break;
		case 'c': /* Counters are shown now and then. */
			for (int tries = 0; tries < 500 && answer < 200; tries++, usleep(10000))
				answer = counter("rx_write_requests") + counter("rx_read_requests");
			break;
		case 'm': /* Messages that have come, each after what was written before it. */
			while (ibv_poll_cq(cq, 1, &wc) == 1)
				answer += wc.status == IBV_WC_SUCCESS &&
					memcmp(mailboxes[wc.wr_id], bytes + 8 * wc.wr_id, 8) == 0;
			break;
		case 'd':
			answer = ibv_dereg_mr(mr);
			memset(bytes, 0x5a, BYTES);
			break;
		case 'r':
			answer = ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
					      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
			break;
		case 'u': /* Memory that the owner unmaps while it is registered: what comes there is not the peer's. */
			answer = munmap(bytes, BYTES) != 0;
			answer += mmap(bytes, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != (void *)bytes;
			break;
		case 'q':
			answer = ibv_destroy_qp(qp);
			break;
		case 'x':
			tell(&answer, sizeof(answer));
			execlp("sleep", "sleep", "1", NULL);
			return 3;
		case 'e':
			return failures != 0;
		}
		tell(&answer, sizeof(answer));
	}
}

static uint64_t ask(char letter)
{
	uint64_t answer;
	tell(&letter, 1);
	hear(&answer, sizeof(answer));
	return answer;
}

/* A new owner, connected to a new queue pair. */
static void begin(void)
{
	extern char **environ;
	int streams[2];
	char number[12];
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, streams) == 0);
	int there = dup(streams[1]);
	snprintf(number, sizeof(number), "%d", there);
	char *const arguments[] = { "one_sided", number, NULL };
	EXPECT(posix_spawn(&owner, "/proc/self/exe", NULL, NULL, arguments, environ) == 0);
	close(streams[1]);
	close(there);
	stream = streams[0];
	make();
	meet();
}

static void end(int code)
{
	int status;
	if (code == 0)
		tell("e", 1);
	EXPECT(waitpid(owner, &status, 0) == owner);
	EXPECT(code < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_dereg_mr(mr) == 0 && ibv_destroy_cq(cq) == 0);
	free(bytes);
	close(stream);
	EXPECT(ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
}

/* Posts a request in three pieces, from `at` there and here. */
static void post(enum ibv_wr_opcode opcode, uint32_t at, uint32_t len, unsigned flags)
{
	uint32_t third = len / 3;
	struct ibv_sge sges[] = { { (uintptr_t)bytes + at, third, mr->lkey }, { (uintptr_t)bytes + at + third, third, mr->lkey },
		{ (uintptr_t)bytes + at + 2 * third, len - 2 * third, mr->lkey } };
	int whole = third == 0 || at + len > BYTES || (flags & IBV_SEND_INLINE);
	/* Past the end it is there, and not here. */
	struct ibv_sge all = { (uintptr_t)bytes + (at + len > BYTES ? 0 : at), len, mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = len, .sg_list = whole ? &all : sges, .num_sge = whole ? 1 : 3,
		.opcode = opcode, .send_flags = flags, .wr.rdma = { .remote_addr = other.address + at, .rkey = other.rkey } };
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
}

static enum ibv_wc_status done(enum ibv_wr_opcode opcode, uint32_t at, uint32_t len)
{
	post(opcode, at, len, IBV_SEND_SIGNALED);
	return wait_for(cq).status;
}

static void good(enum ibv_wr_opcode opcode, uint32_t at, uint32_t len)
{
	EXPECT(done(opcode, at, len) == IBV_WC_SUCCESS);
}

static void fill(int seed)
{
	for (int i = 0; i < BYTES; i++)
		bytes[i] = i * 31 + i / 4096 + seed;
}

static uint64_t sum(void)
{
	uint64_t all = 0;
	for (int i = 0; i < BYTES; i++)
		all += bytes[i] * (uint64_t)(i + 1);
	return all;
}

/* The first request by a key goes by packets, and so does the one after it, if it comes before the loan. */
static void warm(void)
{
	for (int i = 0; i < 4; i++) {
		good(IBV_WR_RDMA_WRITE, 0, 8);
		usleep(2000);
	}
}

/* Whether the kernel lets one process reach the memory of the other. */
static int reaches(void)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { (void *)other.address, 1 };
	return process_vm_readv(owner, &here, 1, &there, 1, 0) == 1;
}

static void data(void)
{
	static const uint32_t SIZES[] = { 1, 3, 64, 1023, 1024, 1025, 4096, 65536, 65537, 300001, BYTES };
	begin();
	warm();
	for (unsigned i = 0; i < sizeof(SIZES) / sizeof(*SIZES); i++) {
		uint32_t at = (BYTES - SIZES[i]) / 2;
		fill(i);
		good(IBV_WR_RDMA_WRITE, 0, BYTES);
		bytes[at] ^= 0xff;
		good(IBV_WR_RDMA_WRITE, at, SIZES[i]);
		uint64_t all = sum();
		EXPECT(ask('s') == all);
		memset(bytes + at, 0, SIZES[i]);
		good(IBV_WR_RDMA_READ, at, SIZES[i]);
		EXPECT(sum() == all);
	}
	/* Inline data of a buffer that changes at once, and many at a time. */
	for (int i = 0; i < 48; i++) {
		memset(bytes + 64 * i, i, 64);
		post(IBV_WR_RDMA_WRITE, 64 * i, 33, IBV_SEND_INLINE | (i % 16 == 15 ? IBV_SEND_SIGNALED : 0));
		memset(bytes + 64 * i, 0xee, 33);
	}
	for (int i = 0; i < 3; i++)
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	good(IBV_WR_RDMA_READ, 0, 64 * 48);
	for (int i = 0; i < 48; i++)
		EXPECT(bytes[64 * i] == i && bytes[64 * i + 32] == i);
	/* Messages come after what was written before them. */
	for (int i = 0; i < RECEIVES; i++) {
		struct ibv_sge sge = { (uintptr_t)bytes + 8 * i, 8, mr->lkey };
		struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED };
		memset(bytes + 8 * i, i + 100, 8);
		post(IBV_WR_RDMA_WRITE, 8 * i, 8, 0);
		EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	}
	EXPECT(ask('m') == RECEIVES);
	end(0);
}

/* The owner has no CPU at all. */
static void stopped(int lends)
{
	begin();
	warm();
	if (lends && reaches()) {
		EXPECT(kill(owner, SIGSTOP) == 0);
		for (int i = 0; i < 100; i++) {
			memset(bytes, i, 256);
			good(IBV_WR_RDMA_WRITE, 256 * i, 256);
			memset(bytes, 0, 256);
			good(IBV_WR_RDMA_READ, 256 * i, 256);
		}
		EXPECT(kill(owner, SIGCONT) == 0);
	}
	for (int i = 0; i < 200; i++)
		good(IBV_WR_RDMA_READ, 0, 8);
	EXPECT(ask('c') >= 200);
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	EXPECT(ibv_query_qp(qp, &attr, IBV_QP_SQ_PSN, &init) == 0 && ask('p') == attr.sq_psn);
	/* It goes on after the owner has looked. */
	good(IBV_WR_RDMA_WRITE, 0, 3000);
	EXPECT(ibv_query_qp(qp, &attr, IBV_QP_SQ_PSN, &init) == 0 && ask('p') == attr.sq_psn);
	end(0);
}

/* What ends a connection: rights, ranges and keys that are not, or no longer, there. */
static void refused(char letter, enum ibv_wr_opcode opcode, uint32_t at, uint32_t key, enum ibv_wc_status status)
{
	begin();
	warm();
	other.rkey ^= key;
	if (letter)
		EXPECT(ask(letter) == 0);
	uint64_t before = letter && letter != 'q' && letter != 'u' ? ask('s') : 0;
	memset(bytes, 0x77, 64);
	EXPECT(done(opcode, at, 64) == status);
	if (before)
		EXPECT(ask('s') == before);
	end(0);
}

static void gone(int signal)
{
	begin();
	warm();
	if (signal)
		EXPECT(kill(owner, signal) == 0);
	else
		EXPECT(ask('x') == 0);
	int i = 0;
	enum ibv_wc_status status;
	for (; (status = done(IBV_WR_RDMA_WRITE, 0, BYTES)) == IBV_WC_SUCCESS && i < 100000; i++)
		;
	EXPECT(status == IBV_WC_RETRY_EXC_ERR);
	end(signal ? -1 : 1);
}

int main(int argc, char **argv)
{
	int lends = argc < 2 || strcmp(argv[1], "packets") != 0;
	/* Answers that never come are not waited for long. */
	retry_count = lends ? 1 : 7;
	if (argc == 2 && lends) {
		stream = atoi(argv[1]);
		return own();
	}
	data();
	stopped(lends);
	refused(0, IBV_WR_RDMA_WRITE, 0, 1, IBV_WC_REM_ACCESS_ERR);
	refused(0, IBV_WR_RDMA_WRITE, BYTES - 63, 0, IBV_WC_REM_ACCESS_ERR);
	refused('d', IBV_WR_RDMA_WRITE, 0, 0, IBV_WC_REM_ACCESS_ERR);
	refused('d', IBV_WR_RDMA_READ, 0, 0, IBV_WC_REM_ACCESS_ERR);
	refused('r', IBV_WR_RDMA_WRITE, 0, 0, IBV_WC_REM_ACCESS_ERR);
	refused('u', IBV_WR_RDMA_WRITE, 0, 0, IBV_WC_REM_ACCESS_ERR);
	refused('q', IBV_WR_RDMA_WRITE, 0, 0, IBV_WC_RETRY_EXC_ERR);
	gone(SIGKILL);
	gone(0);
	return failures != 0;
}

/*
 * A program that keeps books on its descriptors: it has functions of its own in place of libc's, as sanitizers have, and
 * libraries that are preloaded. The device's threads call none of them with a number that is the program's. Two devices
 * reach each other by sockets. Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers below this are the program's, from `hold` on. It asks nothing of the kernel by them. */
enum { HELD = 200 };
static atomic_int holds;
/* The first function that was called with one of them. */
static _Atomic(const char *) called;

static void look_at(int fd, const char *name)
{
	const char *none = NULL;
	if (holds && fd > 2 && fd < HELD)
		atomic_compare_exchange_strong(&called, &none, name);
}

/* Defines a function of libc that takes a descriptor first. */
#define WRAPPED(type, name, parameters, ...)                                    \
	type name parameters                                                   \
	{                                                                      \
		static __typeof__(name) *next;                                 \
		if (!next)                                                     \
			next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);    \
		look_at(fd, #name);                                            \
		return next(__VA_ARGS__);                                      \
	}
WRAPPED(int, close, (int fd), fd)
WRAPPED(ssize_t, read, (int fd, void *to, size_t n), fd, to, n)
WRAPPED(ssize_t, write, (int fd, const void *from, size_t n), fd, from, n)
WRAPPED(ssize_t, pread64, (int fd, void *to, size_t n, off64_t at), fd, to, n, at)
WRAPPED(ssize_t, pwrite64, (int fd, const void *from, size_t n, off64_t at), fd, from, n, at)
WRAPPED(int, ftruncate64, (int fd, off64_t n), fd, n)
WRAPPED(int, fstat64, (int fd, struct stat64 *out), fd, out)
WRAPPED(int, fchdir, (int fd), fd)
WRAPPED(int, dup, (int fd), fd)
WRAPPED(DIR *, fdopendir, (int fd), fd)
WRAPPED(int, getsockopt, (int fd, int level, int name, void *restrict to, socklen_t *restrict n), fd, level, name, to, n)
WRAPPED(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), fd, message, flags)
WRAPPED(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), fd, message, flags)
WRAPPED(void *, mmap, (void *at, size_t n, int rights, int flags, int fd, off_t offset), at, n, rights, flags, fd, offset)
WRAPPED(void *, mmap64, (void *at, size_t n, int rights, int flags, int fd, off64_t offset), at, n, rights, flags, fd, offset)

static void hold(void)
{
	int null = open("/dev/null", O_RDWR);
	EXPECT(null >= 0);
	while (fcntl(null, F_DUPFD_CLOEXEC, 3) < HELD)
		;
	holds = 1;
}

struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
};

static struct side made(struct ibv_device *device)
{
	struct side side = { .context = NEED(ibv_open_device(device)) };
	side.pd = NEED(ibv_alloc_pd(side.context));
	side.cq = NEED(ibv_create_cq(side.context, 8, NULL, NULL, 0));
	side.qp = NEED(make_qp(side.pd, side.cq, NULL, IBV_QPT_RC));
	side.mr = register_memory(side.pd);
	to_init(side.qp);
	return side;
}

int main(void)
{
	hold();
	struct ibv_device **list = NEED(ibv_get_device_list(NULL));
	struct side sides[2] = { made(NEED(list[0])), made(NEED(list[1])) };
	ibv_free_device_list(list);
	for (int i = 0; i < 2; i++)
		to_rts(sides[i].qp, sides[1 - i].qp->qp_num, loopback(sides[1 - i].context));
	for (int i = 0; i < 2; i++) {
		struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 64, .lkey = sides[i].mr->lkey };
		struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = (uintptr_t)memory + 4096, .rkey = sides[1 - i].mr->rkey } };
		memset(memory, 'a' + i, 64);
		EXPECT(ibv_post_send(sides[i].qp, &wr, &bad) == 0);
		EXPECT(wait_for(sides[i].cq).status == IBV_WC_SUCCESS && memory[4096] == 'a' + i);
	}
	for (int i = 0; i < 2; i++) {
		EXPECT(ibv_destroy_qp(sides[i].qp) == 0 && ibv_destroy_cq(sides[i].cq) == 0 && ibv_dereg_mr(sides[i].mr) == 0);
		EXPECT(ibv_dealloc_pd(sides[i].pd) == 0 && ibv_close_device(sides[i].context) == 0);
	}
	if (called) {
		printf("%s was called with a number of the program's\n", called);
		failures++;
	}
	return failures != 0;
}

/*
 * The child of a fork cannot use a device of its parent. Its commands are refused at once, and its doorbells are faults. A device that
 * it opens itself works. The child keeps the memory that its parent has registered. The parent goes on. Prints what went otherwise than expected; the exit code is 1 then.
 *
 *     forked commands|manager|doorbell|store|opens|closes|memory|crowd
 */
#include "prelude.h"

#include <fcntl.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;

static void make(void)
{
	start();
	mr = register_memory(pd);
	cq = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	connect_to(qp, qp);
}

static void works(void)
{
	for (int round = 0; round < 3; round++) {
		memset(memory, 'a' + round, 64);
		EXPECT(post_write(qp, mr, memory, memory + 4096, 64, IBV_SEND_SIGNALED) == 0);
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS && memory[4096] == 'a' + round);
	}
}

static int unmake(void)
{
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0);
	return finish();
}

#define REFUSED(pointer) (errno = 0, (pointer) == NULL && errno == EACCES)

static int commands(void)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	EXPECT(REFUSED(ibv_alloc_pd(context)));
	EXPECT(REFUSED(ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE)));
	EXPECT(REFUSED(ibv_create_cq(context, 4, NULL, NULL, 0)));
	EXPECT(REFUSED(make_qp(pd, cq, NULL, IBV_QPT_RC)));
	EXPECT(REFUSED(mlx5dv_devx_alloc_uar(context, 0)));
	EXPECT(ibv_query_port(context, 1, &port) == EACCES);
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EACCES);
	EXPECT(ibv_destroy_qp(qp) == EACCES && ibv_dereg_mr(mr) == EACCES);
	/* By another number of the same file, too. */
	struct ibv_context again = *context;
	again.cmd_fd = dup(context->cmd_fd);
	EXPECT(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, context->cmd_fd, 0) == MAP_FAILED && errno == EACCES);
	EXPECT(again.cmd_fd >= 0 && close(again.cmd_fd) == 0);
	return failures != 0;
}

static struct rdma_event_channel *channel;

static int manager(void)
{
	struct rdma_cm_id *id;
	EXPECT(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == -1 && errno == EACCES);
	EXPECT(REFUSED(rdma_create_event_channel()));
	return failures != 0;
}

/* By libmlx5: whichever of its copies it writes to, in the end it rings. */
static int doorbell(void)
{
	post_write(qp, mr, memory, memory + 4096, 64, IBV_SEND_SIGNALED);
	return wait_for(cq).status;
}

static int store(void)
{
	*(volatile uint64_t *)raw_qp(qp).bf.reg = 0;
	return 1;
}

/* Twice: closing the first device leaves the second one room. */
static int opens(void)
{
	for (int i = 0; i < 2; i++) {
		make();
		works();
		unmake();
	}
	return failures != 0;
}

/* Closes the parent's descriptor, and asks about it, while another thread of the parent gave commands. */
static int closes(void)
{
	struct stat status;
	alarm(20);
	EXPECT(fstat(context->cmd_fd, &status) == 0 && close(context->cmd_fd) == 0);
	return failures != 0;
}

/* Registered pages, rings and records are the child's to read and write, and the parent's stay as they are. */
static int keeps_memory(void)
{
	struct mlx5dv_qp raw = raw_qp(qp);
	EXPECT(memory[4096] == 'c');
	memset(memory, 'x', sizeof(memory));
	memset(raw.sq.buf, 0xff, raw.sq.stride);
	raw.dbrec[1] = 0xffffffff;
	memset(raw_cq(cq).buf, 0xff, 64);
	EXPECT(memory[sizeof(memory) - 1] == 'x');
	return failures != 0;
}

/* Opens a device, while threads of the parent opened and closed devices. */
static int opens_in_a_crowd(void)
{
	alarm(20);
	struct ibv_context *own = open_first();
	EXPECT(ibv_close_device(own) == 0);
	return failures != 0;
}

static int goes_on = 1;

static void *opens_for_ever(void *list)
{
	while (__atomic_load_n(&goes_on, __ATOMIC_RELAXED))
		EXPECT(ibv_close_device(NEED(ibv_open_device(*(struct ibv_device **)list))) == 0);
	return NULL;
}


static void *commands_for_ever(void *unused)
{
	(void)unused;
	struct ibv_port_attr port;
	while (__atomic_load_n(&goes_on, __ATOMIC_RELAXED))
		EXPECT(ibv_query_port(context, 1, &port) == 0);
	return NULL;
}

static int in_child(int (*run)(void))
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		int end = run();
		fflush(stdout);
		_exit(end);
	}
	int status = -1;
	EXPECT(child > 0 && waitpid(child, &status, 0) == child);
	return status;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
		int dies;
	} CASES[] = { { "commands", commands, 0 }, { "manager", manager, 0 }, { "doorbell", doorbell, 1 },
		{ "store", store, 1 }, { "opens", opens, 0 }, { "closes", closes, 0 }, { "memory", keeps_memory, 0 },
		{ "crowd", opens_in_a_crowd, 0 } };
	/* So programs do not call ibv_fork_init, which in libibverbs before 52 takes registered memory from children all the same. */
	EXPECT(ibv_is_fork_initialized() == IBV_FORK_UNNEEDED);
	make();
	works();
	for (unsigned i = 0; argc == 2 && i < sizeof(CASES) / sizeof(*CASES); i++) {
		if (strcmp(argv[1], CASES[i].name) != 0)
			continue;
		if (CASES[i].run == manager)
			channel = NEED(rdma_create_event_channel());
		int many = CASES[i].run == closes ? 3000 : CASES[i].run == opens_in_a_crowd ? 200 : 1;
		int threads = CASES[i].run == closes ? 1 : CASES[i].run == opens_in_a_crowd ? 4 : 0;
		struct ibv_device **list = NEED(ibv_get_device_list(NULL));
		pthread_t busy[4];
		for (int n = 0; n < threads; n++)
			EXPECT(pthread_create(&busy[n], NULL, CASES[i].run == closes ? commands_for_ever : opens_for_ever, list) == 0);
		int status = 0;
		for (int n = 0; n < many && status == 0; n++)
			status = in_child(CASES[i].run);
		__atomic_store_n(&goes_on, 0, __ATOMIC_RELAXED);
		for (int n = 0; n < threads; n++)
			EXPECT(pthread_join(busy[n], NULL) == 0);
		ibv_free_device_list(list);
		EXPECT(CASES[i].dies ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV : status == 0);
		works();
		return unmake();
	}
	printf("no such case\n");
	return 2;
}

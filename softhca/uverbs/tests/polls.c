/*
 * Polls step the device: the thread that polls does the device's work, and sees no trace of it. So do yields. Arguments: the case; then
 * `yields`, for a program that waits for messages in memory, and yields meanwhile. Prints what went otherwise than expected, and the exit
 * code is 1 then.
 */
#include "prelude.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* The object replaces this pointer of a context; it has the place from the ABI. */
_Static_assert(offsetof(struct ibv_context, ops.poll_cq) == 96, "poll_cq");
_Static_assert(offsetof(struct ibv_context, cmd_fd) == 264, "cmd_fd");
_Static_assert(offsetof(struct ibv_cq, context) == 0, "the context of a CQ");

/* Bytes of the stack of a thread that polls. */
#ifndef STACK
#define STACK (64 * 1024)
#endif

static int64_t steps_by_polls(void)
{
	int64_t (*steps)(int) = (int64_t(*)(int))NEED(dlsym(RTLD_DEFAULT, "softhca_steps_by_polls"));
	return steps(0);
}

/* Whether the program yields; it polls otherwise. */
static int yields;

/* Looks for work once. */
static int look(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	return yields ? sched_yield() : ibv_poll_cq(cq, 1, &wc);
}

/* Steps of yields alone. */
static _Atomic int64_t steps_by_yields;

/* Waits for the bytes of a WRITE, which end with `last`, and for its completion. */
static void wait_for_write(struct ibv_cq *cq, const volatile char *end, char last)
{
	int64_t before = steps_by_polls();
	while (yields && end[-1] != last) {
		errno = 77;
		EXPECT(sched_yield() == 0 && errno == 77);
	}
	steps_by_yields += steps_by_polls() - before;
	errno = 77;
	EXPECT(wait_for(cq).status == IBV_WC_SUCCESS && errno == 77);
}

/* WRITEs of 8 bytes to itself, one after the other. */
static void writes(struct ibv_context *of, int count)
{
	struct ibv_pd *domain = NEED(ibv_alloc_pd(of));
	struct ibv_cq *cq = NEED(ibv_create_cq(of, 8, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(domain, cq, NULL, IBV_QPT_RC));
	struct ibv_mr *mr = register_memory(domain);
	connect_to(qp, qp);
	memset(memory + 4096, 0, 8);
	for (int i = 1; i <= count && !failures; i++) {
		memset(memory, i, 8);
		EXPECT(post_write(qp, mr, memory, memory + 4096, 8, IBV_SEND_SIGNALED) == 0);
		wait_for_write(cq, memory + 4096 + 8, i);
		EXPECT(memcmp(memory, memory + 4096, 8) == 0);
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(domain) == 0);
}

/* The device's thread has a share of the work only: polls or yields find the rest. In strict mode it has it all. */
static void steps(int strict)
{
	struct ibv_context *one = open_first();
	writes(one, 1000);
	EXPECT(strict ? steps_by_polls() == 0 : steps_by_polls() > 100);
	EXPECT(!yields || strict || steps_by_yields > 100);
	EXPECT(ibv_close_device(one) == 0);
}

/* More contexts than are hooked at a time work, in turns with closed ones. */
static void many(void)
{
	enum { CONTEXTS = 100 };
	struct ibv_context *contexts[CONTEXTS];
	for (int i = 0; i < CONTEXTS; i++)
		contexts[i] = open_first();
	for (int i = 0; i < CONTEXTS; i += 9)
		writes(contexts[i], 3);
	for (int i = 0; i < CONTEXTS; i += 2)
		EXPECT(ibv_close_device(contexts[i]) == 0);
	for (int i = 1; i < CONTEXTS; i += 8)
		writes(contexts[i], 3);
	for (int i = 0; i < CONTEXTS; i += 2)
		contexts[i] = open_first();
	for (int i = 0; i < CONTEXTS; i++) {
		writes(contexts[i], 1);
		EXPECT(ibv_close_device(contexts[i]) == 0);
	}
}

/* Contexts that are closed past the object take no place from later ones, which may have their address, or another. */
static void past(void)
{
	void *library = NEED(dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD));
	int (*close_past)(struct ibv_context *) = (int (*)(struct ibv_context *))NEED(dlsym(library, "ibv_close_device"));
	for (int i = 0; i < 100; i++)
		EXPECT(close_past(open_first()) == 0);
	for (int i = 0; i < 100; i++) {
		EXPECT(close_past(open_first()) == 0);
		/* In the freed memory, so that the next context has another address. Nobody frees it. */
		NEED(malloc(40000 + 16 * i));
	}
	steps(0);
}

/* Polls or yields beside other threads that do so. */
static void *thread(void *argument)
{
	struct ibv_context *of = argument;
	struct ibv_pd *domain = NEED(ibv_alloc_pd(of));
	struct ibv_cq *cq = NEED(ibv_create_cq(of, 8, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(domain, cq, NULL, IBV_QPT_RC));
	char *own = NEED(aligned_alloc(4096, 8192));
	struct ibv_mr *mr = NEED(ibv_reg_mr(domain, own, 8192, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	connect_to(qp, qp);
	own[4096 + 7] = 0;
	for (int i = 1; i <= 300 && !failures; i++) {
		memset(own, i, 8);
		EXPECT(post_write(qp, mr, own, own + 4096, 8, IBV_SEND_SIGNALED) == 0);
		wait_for_write(cq, own + 4096 + 8, i);
		EXPECT(memcmp(own, own + 4096, 8) == 0);
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(domain) == 0);
	free(own);
	return NULL;
}

/* Four threads run this at once, with stacks as small as those of fibers. */
static void four(void *(*run)(void *), struct ibv_context *one)
{
	pthread_t all[4];
	pthread_attr_t small;
	EXPECT(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, STACK) == 0);
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_create(&all[i], &small, run, one) == 0);
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_join(all[i], NULL) == 0);
}

static void threads(void)
{
	struct ibv_context *one = open_first();
	four(thread, one);
	EXPECT(ibv_close_device(one) == 0);
}

/* A child that polls its parent's queue finds nothing, and leaves the parent's device alone. */
static void child(void)
{
	struct ibv_context *one = open_first();
	struct ibv_pd *domain = NEED(ibv_alloc_pd(one));
	struct ibv_cq *cq = NEED(ibv_create_cq(one, 8, NULL, NULL, 0));
	writes(one, 10);
	int64_t before = steps_by_polls();
	int status;
	pid_t forked = fork();
	if (forked == 0) {
		for (int i = 0; i < 1000; i++)
			if (look(cq) != 0)
				_exit(1);
		_exit(0);
	}
	EXPECT(waitpid(forked, &status, 0) == forked && status == 0);
	EXPECT(steps_by_polls() >= before);
	writes(one, 10);
	EXPECT(ibv_destroy_cq(cq) == 0 && ibv_dealloc_pd(domain) == 0 && ibv_close_device(one) == 0);
}

/* A thread that is cancelled while it polls leaves the device to the others. */
static void *looks_for_ever(void *cq)
{
	for (;;) {
		(void)look(cq);
		pthread_testcancel();
	}
	return NULL;
}

static void cancelled(void)
{
	struct ibv_context *one = open_first();
	struct ibv_cq *cq = NEED(ibv_create_cq(one, 8, NULL, NULL, 0));
	for (int i = 0; i < 50; i++) {
		pthread_t polls;
		EXPECT(pthread_create(&polls, NULL, looks_for_ever, cq) == 0);
		usleep(100 * (i % 7));
		EXPECT(pthread_cancel(polls) == 0 && pthread_join(polls, NULL) == 0);
	}
	writes(one, 10);
	EXPECT(ibv_destroy_cq(cq) == 0 && ibv_close_device(one) == 0);
}

/* A thread that is to end ends after its command. */
static void *commands_first(void *one)
{
	struct ibv_comp_channel *channel;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	channel = ibv_create_comp_channel(one);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	EXPECT(channel != NULL && ibv_destroy_comp_channel(channel) == 0);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_testcancel();
	return NULL;
}

static void commands(void)
{
	struct ibv_context *one = open_first();
	pthread_t thread;
	void *end;
	EXPECT(pthread_create(&thread, NULL, commands_first, one) == 0);
	EXPECT(pthread_join(thread, &end) == 0 && end == PTHREAD_CANCELED);
	writes(one, 10);
	EXPECT(ibv_close_device(one) == 0);
}

/* Threads whose commands wait for the device, and which neither poll nor yield: what they call may yield, but steps nothing. */
static void *registers(void *of)
{
	struct ibv_pd *domain = NEED(ibv_alloc_pd(of));
	struct ibv_cq *cq = NEED(ibv_create_cq(of, 8, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp_of(domain, cq, NULL, IBV_QPT_RC,
		(struct ibv_qp_cap){ .max_send_wr = 128, .max_send_sge = 1 }));
	char *own = NEED(aligned_alloc(4096, 8192));
	struct ibv_mr *mr = NEED(ibv_reg_mr(domain, own, 8192, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	connect_to(qp, qp);
	own[4096 + 7] = 0;
	for (int i = 1; i <= 100 && !failures; i++) {
		memset(own, i, 8);
		EXPECT(post_write(qp, mr, own, own + 4096, 8, 0) == 0);
		while (((volatile char *)own)[4096 + 7] != (char)i)
			EXPECT(ibv_dereg_mr(NEED(ibv_reg_mr(domain, own, 4096, 0))) == 0);
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(domain) == 0);
	free(own);
	return NULL;
}

static void waits(void)
{
	struct ibv_context *one = open_first();
	four(registers, one);
	EXPECT(steps_by_polls() == 0);
	EXPECT(ibv_close_device(one) == 0);
}

static void exits_in_handler(int signal)
{
	(void)signal;
	exit(0);
}

/* A handler calls `exit` while its thread polls. */
static void exits(void)
{
	for (int i = 0; i < 20; i++) {
		pid_t forked = fork();
		int status = -1;
		if (forked == 0) {
			struct ibv_cq *cq = NEED(ibv_create_cq(open_first(), 8, NULL, NULL, 0));
			struct itimerval soon = { .it_value.tv_usec = 1000 + 97 * i };
			signal(SIGALRM, exits_in_handler);
			EXPECT(setitimer(ITIMER_REAL, &soon, NULL) == 0);
			looks_for_ever(cq);
		}
		EXPECT(waitpid(forked, &status, 0) == forked && status == 0);
	}
}

int main(int argc, char **argv)
{
	const char *is = argc > 1 ? argv[1] : "";
	yields = argc > 2 && strcmp(argv[2], "yields") == 0;
	if (strcmp(is, "steps") == 0 || strcmp(is, "strict") == 0)
		steps(strcmp(is, "strict") == 0);
	else if (strcmp(is, "many") == 0)
		many();
	else if (strcmp(is, "past") == 0)
		past();
	else if (strcmp(is, "threads") == 0)
		threads();
	else if (strcmp(is, "child") == 0)
		child();
	else if (strcmp(is, "cancelled") == 0)
		cancelled();
	else if (strcmp(is, "commands") == 0)
		commands();
	else if (strcmp(is, "waits") == 0)
		waits();
	else if (strcmp(is, "exits") == 0)
		exits();
	else
		return 2;
	return failures != 0;
}

/*
 * Signals that the object's handlers are there for, in programs that have handlers, masks and faults of their own, and no strict
 * mode. The first argument is the case. Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Of sigset. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { PAGE = 4096 };

static const int ours[] = { SIGSEGV, SIGBUS, SIGTRAP };

/* From a page that permits nothing. */
static void fault(void)
{
	static char *closed;
	if (!closed)
		closed = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*(volatile char *)closed = 1;
}

static volatile sig_atomic_t calls;

static void count(int signal)
{
	(void)signal;
	calls++;
}

static void tell(int signal)
{
	(void)signal;
	EXPECT(write(1, "handler\n", 8) == 8);
}

/* A queue pair that writes to itself, from pages of its own. */
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *from, *to;
static char *pages;

static void make(void)
{
	start();
	pages = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	from = NEED(ibv_reg_mr(pd, pages, PAGE, IBV_ACCESS_LOCAL_WRITE));
	to = register_memory(pd);
	cq = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	connect_to(qp, qp);
}

/* What is taken away is an error completion. */
static void take_away(void)
{
	EXPECT(mmap(pages, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pages);
	struct ibv_sge sge = { .addr = (uintptr_t)pages, .length = 8, .lkey = from->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { .remote_addr = (uintptr_t)memory, .rkey = to->rkey } };
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
	EXPECT(wait_for(cq).status == IBV_WC_LOC_PROT_ERR);
}

/* Sent signals that are ignored do nothing, whether that was said before the device was open or since. */
static void ignored(void)
{
	EXPECT(signal(SIGBUS, SIG_IGN) == SIG_DFL);
	make();
	EXPECT(signal(SIGSEGV, SIG_IGN) == SIG_DFL && signal(SIGTRAP, SIG_IGN) == SIG_DFL);
	for (int i = 0; i < 3; i++)
		EXPECT(kill(getpid(), ours[i]) == 0 && raise(ours[i]) == 0);
	take_away();
}

/* A fault cannot be ignored. */
static void ignored_fault(void)
{
	make();
	signal(SIGSEGV, SIG_IGN);
	fault();
}

static void ignored_breakpoint(void)
{
	make();
	signal(SIGTRAP, SIG_IGN);
	__asm__ volatile("int3");
}

/* A handler for one signal alone, which does nothing about it: the second ends the program. */
static void once(void)
{
	struct sigaction action = { .sa_handler = tell, .sa_flags = SA_RESETHAND }, now;
	make();
	EXPECT(sigaction(SIGBUS, &action, NULL) == 0 && raise(SIGBUS) == 0);
	EXPECT(sigaction(SIGBUS, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
	EXPECT(sigaction(SIGSEGV, &action, NULL) == 0);
	fault();
}

/* The handler does what crash reporters do. */
static void again(int number)
{
	tell(number);
	signal(number, SIG_DFL);
	raise(number);
}

static void reporter(void)
{
	make();
	signal(SIGSEGV, again);
	fault();
}

/* The other ways to install a handler. */
static void other_ways(void)
{
	make();
	EXPECT(sysv_signal(SIGTRAP, count) == SIG_DFL && raise(SIGTRAP) == 0 && calls == 1);
	EXPECT(signal(SIGTRAP, count) == SIG_DFL && raise(SIGTRAP) == 0 && raise(SIGTRAP) == 0 && calls == 3);
	EXPECT(sysv_signal(SIGSEGV, tell) == SIG_DFL && ssignal(SIGBUS, tell) == SIG_DFL);
	EXPECT(sigset(SIGSEGV, tell) == tell && sigset(SIGBUS, SIG_IGN) == tell);
	EXPECT(raise(SIGBUS) == 0);
	take_away();
}

static void change(int signal)
{
	struct sigaction old;
	EXPECT(sigaction(SIGSEGV, NULL, &old) == 0 && sigaction(SIGSEGV, &old, NULL) == 0);
	count(signal);
}

/* Actions may be changed in handlers, at any moment. */
static void in_handlers(void)
{
	struct sigaction alarm = { .sa_handler = change, .sa_flags = SA_RESTART }, old;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct itimerspec often = { .it_interval = { .tv_nsec = 20000 }, .it_value = { .tv_nsec = 20000 } };
	timer_t timer;
	make();
	EXPECT(sigaction(SIGALRM, &alarm, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	EXPECT(timer_settime(timer, 0, &often, NULL) == 0);
	for (long i = 0; calls < 5000; i++)
		EXPECT(sigaction(SIGSEGV, NULL, &old) == 0 && sigaction(SIGSEGV, &old, NULL) == 0);
	EXPECT(timer_delete(timer) == 0);
	take_away();
}

static void leave(int signal)
{
	(void)signal;
	pthread_exit(memory);
}

static void *ends(void *nothing)
{
	fault();
	return nothing;
}

/* A thread that ends in its handler, from where the stack is unwound. */
static void unwound(void)
{
	pthread_t thread;
	void *result = NULL;
	make();
	EXPECT(signal(SIGSEGV, leave) == SIG_DFL);
	EXPECT(pthread_create(&thread, NULL, ends, NULL) == 0 && pthread_join(thread, &result) == 0 && result == memory);
	take_away();
}

static void *step(void *function)
{
	sigset_t all;
	sigfillset(&all);
	EXPECT(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
	((int (*)(void))function)();
	return NULL;
}

/* A sink reaches memory on the program's own threads, which block what they want. */
static void blocked(void)
{
	pthread_t thread;
	void *function = NEED(dlsym(RTLD_DEFAULT, "softhca_step"));
	make();
	char *record = (char *)((uintptr_t)raw_qp(qp).dbrec & -(uintptr_t)PAGE);
	EXPECT(mmap(record, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == record);
	EXPECT(pthread_create(&thread, NULL, step, function) == 0 && pthread_join(thread, NULL) == 0);
	/* libmlx5 would not find its records. */
	fflush(stdout);
	_exit(failures != 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "ignored", ignored },
		{ "ignored-fault", ignored_fault },
		{ "ignored-breakpoint", ignored_breakpoint },
		{ "once", once },
		{ "reporter", reporter },
		{ "other-ways", other_ways },
		{ "in-handlers", in_handlers },
		{ "unwound", unwound },
		{ "blocked", blocked },
	};
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (argc == 2 && strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].run();
			return failures != 0;
		}
	}
	printf("no such case\n");
	return 1;
}

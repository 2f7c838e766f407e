/*
 * Programs that are hard on strict mode. Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"
#include <endian.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct ibv_mr *mr;

/* A QP connected to itself, with a CQ that raises events. */
struct loop {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	int rounds;
	int cqes;
};

static void make(struct loop *loop, enum ibv_qp_state last)
{
	loop->channel = NEED(ibv_create_comp_channel(context));
	loop->cq = NEED(ibv_create_cq(context, loop->cqes ? loop->cqes : 64, NULL, loop->channel, 0));
	loop->qp = NEED(make_qp_of(pd, loop->cq, NULL, IBV_QPT_RC,
				   (struct ibv_qp_cap){ .max_send_wr = 16, .max_send_sge = 1, .max_inline_data = 64 }));
	if (last == IBV_QPS_INIT)
		to_init(loop->qp);
	else
		connect_to(loop->qp, loop->qp);
}

static void unmake(struct loop *loop)
{
	EXPECT(ibv_destroy_qp(loop->qp) == 0);
	EXPECT(ibv_destroy_cq(loop->cq) == 0);
	EXPECT(ibv_destroy_comp_channel(loop->channel) == 0);
}

static void post(struct loop *loop)
{
	EXPECT(post_write(loop->qp, mr, memory, memory + 4096, 8, IBV_SEND_SIGNALED | IBV_SEND_INLINE) == 0);
}

/* Arms, posts, sleeps until the event comes, and polls, again and again. An arm that is lost ends it. */
static void *sleep_for_events(void *argument)
{
	struct loop *loop = argument;
	for (int round = 0; round < loop->rounds; round++) {
		struct ibv_cq *cq;
		void *ignored;
		struct ibv_wc wc;
		struct pollfd event = { .fd = loop->channel->fd, .events = POLLIN };
		EXPECT(ibv_req_notify_cq(loop->cq, 0) == 0);
		post(loop);
		if (poll(&event, 1, 20000) != 1) {
			printf("round %d of QP %#x: no event\n", round, loop->qp->qp_num);
			failures++;
			return NULL;
		}
		EXPECT(ibv_get_cq_event(loop->channel, &cq, &ignored) == 0 && cq == loop->cq);
		ibv_ack_cq_events(cq, 1);
		EXPECT(ibv_poll_cq(loop->cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	}
	return NULL;
}

/* Two threads of one context arm on one page. */
static void arms(int rounds)
{
	struct loop loops[2] = { { .rounds = rounds }, { .rounds = rounds } };
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		make(&loops[i], IBV_QPS_RTS);
	for (int i = 0; i < 2; i++)
		EXPECT(pthread_create(&threads[i], NULL, sleep_for_events, &loops[i]) == 0);
	for (int i = 0; i < 2; i++)
		EXPECT(pthread_join(threads[i], NULL) == 0);
	for (int i = 0; i < 2; i++)
		unmake(&loops[i]);
}

static struct loop interrupted, interrupting;
static volatile sig_atomic_t ticks, stopped;

/* The next tick, in microseconds. One at a time: ticks that came while the last one is handled would leave the program no time
 * on a busy machine. Moments differ, so that no instruction is spared. */
static void tick_in(int us)
{
	struct itimerval once = { .it_value = { .tv_usec = us } };
	EXPECT(setitimer(ITIMER_REAL, &once, NULL) == 0);
}

static void tick(int signal)
{
	(void)signal;
	int saved = errno;
	ticks++;
	post(&interrupting);
	wait_for(interrupting.cq);
	if (!stopped)
		tick_in(50 + ticks % 100);
	errno = saved;
}

/* Handlers that ring doorbells themselves run all the time, between any two instructions that the program may be
 * interrupted between. */
static void timer(int rounds)
{
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	sigfillset(&action.sa_mask);
	make(&interrupted, IBV_QPS_RTS);
	make(&interrupting, IBV_QPS_RTS);
	EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
	tick_in(100);
	for (int round = 0; round < rounds || ticks < rounds / 10; round++) {
		post(&interrupted);
		EXPECT(wait_for(interrupted.cq).status == IBV_WC_SUCCESS);
	}
	stopped = 1;
	tick_in(0);
	unmake(&interrupted);
	unmake(&interrupting);
}

/* A thread that blocks all signals rings doorbells. */
static void masks(void)
{
	struct loop loop;
	sigset_t all, before, now;
	sigfillset(&all);
	EXPECT(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	make(&loop, IBV_QPS_RTS);
	post(&loop);
	EXPECT(wait_for(loop.cq).status == IBV_WC_SUCCESS);
	EXPECT(sigprocmask(SIG_BLOCK, &all, NULL) == 0);
	post(&loop);
	EXPECT(wait_for(loop.cq).status == IBV_WC_SUCCESS);
	EXPECT(pthread_sigmask(SIG_SETMASK, &before, &now) == 0);
	EXPECT(sigismember(&now, SIGTERM) == 1 && sigismember(&before, SIGTERM) == 0);
	unmake(&loop);
}

/* What is rung by hand: the send queue as libmlx5 has made it. */
struct ring {
	struct loop loop;
	struct mlx5dv_qp raw;
	uint16_t index;
	uint32_t consumed;
	unsigned half;
};

static void make_ring(struct ring *ring, enum ibv_qp_state last)
{
	make(&ring->loop, last);
	ring->raw = raw_qp(ring->loop.qp);
}

/* Puts a NOP of `bytes` bytes, of which the WQE has all, into the ring and the record; gives it. */
static char *place(struct ring *ring, int bytes)
{
	uint32_t at = ring->index & (ring->raw.sq.wqe_cnt - 1);
	if (at + bytes / 64 > ring->raw.sq.wqe_cnt) {
		printf("the test has run into the ring's end\n");
		exit(1);
	}
	char *wqe = (char *)ring->raw.sq.buf + at * 64;
	memset(wqe, 0x11, bytes);
	uint32_t control[4] = { htobe32((uint32_t)ring->index << 8 | MLX5_OPCODE_NOP),
		htobe32(ring->loop.qp->qp_num << 8 | bytes / 16), htobe32(8), 0 };
	memcpy(wqe, control, sizeof(control));
	ring->index += bytes / 64;
	__sync_synchronize();
	((volatile uint32_t *)ring->raw.dbrec)[MLX5_SND_DBR] = htobe32(ring->index);
	return wqe;
}

static char *next_half(struct ring *ring)
{
	char *half = (char *)ring->raw.bf.reg + ring->half;
	ring->half ^= ring->raw.bf.size;
	return half;
}

/* Whether the next WQE has completed. libmlx5 has not posted it, so the CQE is looked at by hand. */
static int has_completed(struct ring *ring)
{
	struct mlx5dv_cq cq = raw_cq(ring->loop.cq);
	uint32_t index = ring->consumed;
	volatile struct mlx5_cqe64 *cqe =
		(void *)((char *)cq.buf + (index & (cq.cqe_cnt - 1)) * cq.cqe_size + cq.cqe_size - 64);
	return (cqe->op_own & 1) == ((index & cq.cqe_cnt) != 0) && cqe->op_own >> 4 != MLX5_CQE_INVALID;
}

/* The next WQE completes, and well. */
static void expect_completion(struct ring *ring)
{
	struct mlx5dv_cq cq = raw_cq(ring->loop.cq);
	uint32_t *index = &ring->consumed;
	volatile struct mlx5_cqe64 *cqe =
		(void *)((char *)cq.buf + (*index & (cq.cqe_cnt - 1)) * cq.cqe_size + cq.cqe_size - 64);
	for (long tries = 0; tries < 2000000000L && !has_completed(ring); tries++)
		;
	EXPECT(cqe->op_own >> 4 == MLX5_CQE_REQ);
	++*index;
	cq.dbrec[0] = htobe32(*index & 0xffffff);
}

/* One copy of `bytes` bytes from `src` to `dst`, by instructions of one kind. */
#define COPY(name, step, code, ...)                                                     \
	static void name(char *dst, const char *src, int bytes)                         \
	{                                                                               \
		for (int at = 0; at < bytes; at += step)                                \
			__asm__ volatile(code : : "r"(dst + at), "r"(src + at) : "memory", __VA_ARGS__); \
	}

COPY(by_mov4, 4, "mov (%1), %%ecx; mov %%ecx, (%0)", "rcx")
COPY(by_mov8, 8, "mov (%1), %%rcx; mov %%rcx, (%0)", "rcx")
COPY(by_movnti, 8, "mov (%1), %%rcx; movnti %%rcx, (%0)", "rcx")
COPY(by_movups, 16, "movups (%1), %%xmm7; movups %%xmm7, (%0)", "xmm7")
COPY(by_movntdq, 16, "movdqu (%1), %%xmm7; movntdq %%xmm7, (%0)", "xmm7")
COPY(by_movhps, 16, "movups (%1), %%xmm7; movlps %%xmm7, (%0); movhps %%xmm7, 8(%0)", "xmm7")
COPY(by_indexed, 16, "mov $16, %%ecx; movups (%1), %%xmm7; movups %%xmm7, -64(%0,%%rcx,4)", "rcx", "xmm7")
COPY(by_ymm, 32, "vmovdqu (%1), %%ymm7; vmovdqa %%ymm7, (%0)", "xmm7")
COPY(by_ymm_nt, 32, "vmovdqu (%1), %%ymm7; vmovntdq %%ymm7, (%0)", "xmm7")
COPY(by_zmm, 64, "vmovdqu64 (%1), %%zmm19; vmovdqa64 %%zmm19, (%0)", "memory")
COPY(by_movdir64b, 64, "movdir64b (%1), %0", "memory")

static void by_movsb(char *dst, const char *src, int bytes)
{
	long count = bytes;
	__asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(count) : : "memory");
	EXPECT(count == 0);
}

static void by_movsq(char *dst, const char *src, int bytes)
{
	long count = bytes / 8;
	char *first = dst;
	__asm__ volatile("rep movsq" : "+D"(dst), "+S"(src), "+c"(count) : : "memory");
	EXPECT(count == 0 && dst == first + bytes);
}

static int has_movdir64b(void)
{
	unsigned ecx, eax = 7, ebx, edx;
	__asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx) : "c"(0));
	return ecx >> 28 & 1;
}

/* Copies by all kinds of instructions reach the device as they were stored: it compares them with the ring. */
static void stores(void)
{
	struct { void (*copy)(char *, const char *, int); int there; } kinds[] = {
		{ by_mov4, 1 }, { by_mov8, 1 }, { by_movnti, 1 }, { by_movups, 1 }, { by_movntdq, 1 }, { by_movhps, 1 },
		{ by_indexed, 1 }, { by_movsb, 1 }, { by_movsq, 1 },
		{ by_ymm, __builtin_cpu_supports("avx") }, { by_ymm_nt, __builtin_cpu_supports("avx") },
		{ by_zmm, __builtin_cpu_supports("avx512f") }, { by_movdir64b, has_movdir64b() },
	};
	struct ring ring = {};
	make_ring(&ring, IBV_QPS_RTS);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!kinds[i].there)
			continue;
		int bytes = i % 2 ? 64 : 128;
		if (ring.index % ring.raw.sq.wqe_cnt + bytes / 64 > ring.raw.sq.wqe_cnt)
			bytes = 64;
		char *wqe = place(&ring, bytes);
		kinds[i].copy(next_half(&ring), wqe, bytes);
		__asm__ volatile("sfence" : : : "memory");
		expect_completion(&ring);
	}
	unmake(&ring.loop);
}

/* Rings with the first eight bytes of a WQE. */
static void ring_by(char *half, const char *wqe)
{
	by_mov8(half, wqe, 8);
	__asm__ volatile("sfence" : : : "memory");
}

static volatile sig_atomic_t faults;
static sigset_t during;
static char *closed;
/* Where the handler's stack was. */
static char *volatile on_stack;

static void on_fault(int signal, siginfo_t *info, void *unused)
{
	(void)unused;
	on_stack = __builtin_frame_address(0);
	faults += signal == SIGSEGV && info->si_addr == closed + 7;
	pthread_sigmask(SIG_BLOCK, NULL, &during);
	mprotect(closed, 4096, PROT_READ | PROT_WRITE);
}

/* The program's own faults go to its own handler, with the mask that it has asked for, also if they come right after a
 * store, where strict mode looks what comes next. */
static void own_faults(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct ring ring = {};
	sigset_t before = {}, now = {};
	make_ring(&ring, IBV_QPS_RTS);
	EXPECT(pthread_sigmask(SIG_BLOCK, NULL, &before) == 0);
	sigaddset(&action.sa_mask, SIGUSR1);
	EXPECT(sigaction(SIGSEGV, &action, NULL) == 0);
	closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 1; i <= 4; i++) {
		char *wqe = place(&ring, 64), *half = next_half(&ring);
		EXPECT(mprotect(closed, 4096, PROT_NONE) == 0);
		if (i % 2)
			ring_by(half, wqe);
		else
			__asm__ volatile("mov %0, (%1)" : : "r"(*(uint64_t *)wqe), "r"(half) : "memory");
		((volatile char *)closed)[7] = i;
		EXPECT(faults == i && closed[7] == i);
		EXPECT(sigismember(&during, SIGUSR1) == 1 && sigismember(&during, SIGSEGV) == 1);
		EXPECT(sigismember(&during, SIGUSR2) == 0 && sigismember(&during, SIGTRAP) == 0);
		EXPECT(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && memcmp(&now, &before, sizeof(now)) == 0);
		expect_completion(&ring);
	}
	unmake(&ring.loop);
}

/* A thread whose handlers run on a stack that has 4 KiB besides what the kernel itself puts there, as those of Rust
 * have: it rings doorbells, and has a fault of its own. What goes past its stack's end ends it. */
static void *on_small_stack(void *argument)
{
	struct ring *ring = argument;
	size_t page = sysconf(_SC_PAGESIZE), room = sysconf(_SC_MINSIGSTKSZ) + 4096;
	size_t mapped = page + (room + page - 1) / page * page;
	char *lowest = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(lowest != MAP_FAILED && mprotect(lowest, page, PROT_NONE) == 0);
	stack_t small = { .ss_sp = lowest + page, .ss_size = room }, none = { .ss_flags = SS_DISABLE };
	EXPECT(sigaltstack(&small, NULL) == 0);
	for (int i = 1; i <= 4; i++) {
		char *wqe = place(ring, 64);
		ring_by(next_half(ring), wqe);
		expect_completion(ring);
		EXPECT(mprotect(closed, 4096, PROT_NONE) == 0);
		((volatile char *)closed)[7] = i;
		EXPECT(faults == i && closed[7] == i);
		EXPECT(on_stack >= lowest + page && on_stack < lowest + page + room);
	}
	EXPECT(sigaltstack(&none, NULL) == 0 && munmap(lowest, mapped) == 0);
	return NULL;
}

static void small_stack(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct ring ring = {};
	pthread_t thread;
	make_ring(&ring, IBV_QPS_RTS);
	EXPECT(sigaction(SIGSEGV, &action, NULL) == 0);
	closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(pthread_create(&thread, NULL, on_small_stack, &ring) == 0);
	EXPECT(pthread_join(thread, NULL) == 0);
	unmake(&ring.loop);
}

static volatile sig_atomic_t breakpoints;

static void on_breakpoint(int signal)
{
	breakpoints += signal == SIGTRAP;
}

#define INT1 0xf1

/* INT1 traps behind itself. Some virtual machines (KVM on an AMD EPYC) report it in front, and would execute it for
 * ever. */
static void on_breakpoint_at(int signal, siginfo_t *info, void *context)
{
	greg_t *next = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	(void)info;
	on_breakpoint(signal);
	*next += *(unsigned char *)*next == INT1;
}

/* A breakpoint of the program's own (INT3, or INT1) right after a store, where strict mode looks what comes next. */
static void breakpoint(void)
{
	struct sigaction action = { .sa_sigaction = on_breakpoint_at, .sa_flags = SA_SIGINFO }, before;
	struct ring ring = {};
	make_ring(&ring, IBV_QPS_RTS);
	EXPECT(sigaction(SIGTRAP, &action, &before) == 0 && before.sa_handler == SIG_DFL);
	for (int i = 1; i <= 4; i++) {
		char *wqe = place(&ring, 64), *half = next_half(&ring);
		if (i % 2)
			__asm__ volatile("mov %0, (%1); int3; nop; sfence" : : "r"(*(uint64_t *)wqe), "r"(half) : "memory");
		else
			__asm__ volatile("mov %0, (%1); .byte 0xf1; nop; sfence" : : "r"(*(uint64_t *)wqe), "r"(half) : "memory");
		EXPECT(breakpoints == i);
		expect_completion(&ring);
	}
	unmake(&ring.loop);
}

/* Signals of strict mode's own number that somebody sends. */
static void sent_traps(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTRAP };
	struct itimerspec often = { .it_interval = { .tv_nsec = 100000 }, .it_value = { .tv_nsec = 100000 } };
	struct loop loop = {};
	timer_t timer;
	make(&loop, IBV_QPS_RTS);
	EXPECT(signal(SIGTRAP, on_breakpoint) == SIG_DFL);
	EXPECT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	EXPECT(timer_settime(timer, 0, &often, NULL) == 0);
	for (int i = 0; i < 1000 || breakpoints < 100; i++) {
		post(&loop);
		EXPECT(wait_for(loop.cq).status == IBV_WC_SUCCESS);
	}
	EXPECT(timer_delete(timer) == 0);
	unmake(&loop);
}

/* What is no plain store to a register is left out and named. */
static void refused(void)
{
	struct ring ring = {};
	make_ring(&ring, IBV_QPS_RTS);
	uint64_t *reg = ring.raw.bf.reg, before = 5, *address = reg;
	__asm__ volatile("lock xadd %0, (%1)" : "+r"(before) : "r"(reg) : "memory");
	EXPECT(before == 5);
	__asm__ volatile("mov %0, (%0)" : : "r"(address) : "memory");
	EXPECT(address == reg);
	before = 6;
	__asm__ volatile("mov 8(%1), %0" : "+r"(before) : "r"(reg) : "memory");
	EXPECT(before == 6);
	char *wqe = place(&ring, 64);
	by_mov8(next_half(&ring), wqe, 8);
	expect_completion(&ring);
	unmake(&ring.loop);
}

/* The copy in the register is what a device executes, not the ring. */
static void differs(void)
{
	struct ring ring = {};
	make_ring(&ring, IBV_QPS_RTS);
	char *wqe = place(&ring, 64), copy[64] __attribute__((aligned(64)));
	uint32_t address[4] = { htobe32((uintptr_t)(memory + 4096) >> 32), htobe32((uint32_t)(uintptr_t)(memory + 4096)),
		htobe32(mr->rkey), 0 };
	uint32_t inlined[2] = { htobe32(1u << 31 | 4), 0x11111111 };
	wqe[3] = MLX5_OPCODE_RDMA_WRITE;
	wqe[7] = 3;
	memcpy(wqe + 16, address, sizeof(address));
	memcpy(wqe + 32, inlined, sizeof(inlined));
	memcpy(copy, wqe, 64);
	copy[37] = 0x22;
	by_movntdq(next_half(&ring), copy, 64);
	expect_completion(&ring);
	EXPECT(memcmp(memory + 4096, "\x11\x22\x11\x11", 4) == 0);
	unmake(&ring.loop);
}

static void same_half(void)
{
	struct ring ring = {};
	make_ring(&ring, IBV_QPS_RTS);
	for (int i = 0; i < 3; i++) {
		char *wqe = place(&ring, 64);
		ring_by(i ? (char *)ring.raw.bf.reg : next_half(&ring), wqe);
		expect_completion(&ring);
	}
	unmake(&ring.loop);
}

static void before_rts(void)
{
	struct ring ring = {};
	make_ring(&ring, IBV_QPS_INIT);
	char *wqe = place(&ring, 64);
	ring_by(next_half(&ring), wqe);
	unmake(&ring.loop);
}

/* The register of a queue in a thread domain of its own, on another page. */
static void wrong_page(void)
{
	struct ibv_pd *shared = pd;
	struct ibv_td *td = NEED(ibv_alloc_td(context, &(struct ibv_td_init_attr){}));
	struct ring ring = {}, other = {};
	make_ring(&ring, IBV_QPS_RTS);
	pd = NEED(ibv_alloc_parent_domain(context, &(struct ibv_parent_domain_init_attr){ .pd = shared, .td = td }));
	make_ring(&other, IBV_QPS_RTS);
	char *wqe = place(&ring, 64);
	ring_by(next_half(&other), wqe);
	/* The device does not take it: the request waits for its own doorbell. */
	usleep(50000);
	EXPECT(!has_completed(&ring));
	ring_by(next_half(&ring), wqe);
	expect_completion(&ring);
	unmake(&other.loop);
	EXPECT(ibv_dealloc_pd(pd) == 0);
	pd = shared;
	EXPECT(ibv_dealloc_td(td) == 0);
	unmake(&ring.loop);
}

/* More completions than the CQ holds: it is in error, and so is the QP then. */
static void overrun(void)
{
	struct ibv_async_event event;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	struct loop loop = { .cqes = 1 };
	make(&loop, IBV_QPS_RTS);
	EXPECT(loop.cq->cqe < 14);
	for (int i = 0; i < loop.cq->cqe + 2; i++)
		post(&loop);
	EXPECT(ibv_get_async_event(context, &event) == 0);
	EXPECT(event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == loop.cq);
	ibv_ack_async_event(&event);
	EXPECT(ibv_get_async_event(context, &event) == 0);
	EXPECT(event.event_type == IBV_EVENT_QP_FATAL && event.element.qp == loop.qp);
	ibv_ack_async_event(&event);
	EXPECT(ibv_query_qp(loop.qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_ERR);
	unmake(&loop);
}

/* Takes events from the kernel by itself, so that libmlx5 does not count them. Each request has the same number. */
static void uncounted(void)
{
	struct loop loop = {};
	make(&loop, IBV_QPS_RTS);
	for (int round = 0; round < 6; round++) {
		struct ib_uverbs_comp_event_desc event;
		struct ibv_wc wc;
		EXPECT(ibv_req_notify_cq(loop.cq, 0) == 0);
		post(&loop);
		EXPECT(read(loop.channel->fd, &event, sizeof(event)) == sizeof(event));
		ibv_ack_cq_events(loop.cq, 1);
		EXPECT(ibv_poll_cq(loop.cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	}
	unmake(&loop);
}

/* Runs `argv` as on a virtual machine that loses the reason of each step (DR6 is 0): a debugger changes the code of the
 * signal. Returns the exit code. */
static int without_reasons(char **argv)
{
	int status, steps = 0;
	pid_t child = fork();
	if (child == 0) {
		EXPECT(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	/* The first stop is that of execv. */
	EXPECT(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	/* It ends with this process, which a test that runs out of time ends. */
	EXPECT(ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL) == 0);
	for (int signal = 0; ptrace(PTRACE_CONT, child, NULL, (void *)(long)signal) == 0;) {
		siginfo_t trap;
		if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			break;
		signal = WSTOPSIG(status);
		if (ptrace(PTRACE_GETSIGINFO, child, NULL, &trap) == 0 && signal == SIGTRAP && trap.si_code == TRAP_TRACE) {
			trap.si_code = TRAP_BRKPT;
			EXPECT(ptrace(PTRACE_SETSIGINFO, child, NULL, &trap) == 0);
			steps++;
		}
	}
	EXPECT(steps > 0);
	return failures ? 1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int count = argc > 2 ? atoi(argv[2]) : 0;
	if (strcmp(what, "without-reasons") == 0)
		return without_reasons(argv + 1);
	/* A machine on which all threads are stepped is slow to answer. */
	ack_timeout = 18;
	retry_count = 7;
	start();
	mr = register_memory(pd);
	const struct { const char *name; void (*run)(void); } others[] = {
		{ "masks", masks }, { "own-faults", own_faults }, { "small-stack", small_stack }, { "breakpoint", breakpoint },
		{ "sent-traps", sent_traps }, { "stores", stores }, { "refused", refused }, { "differs", differs },
		{ "same-half", same_half }, { "before-rts", before_rts }, { "wrong-page", wrong_page }, { "overrun", overrun },
		{ "uncounted", uncounted },
	};
	unsigned other = 0;
	while (other < sizeof(others) / sizeof(others[0]) && strcmp(what, others[other].name) != 0)
		other++;
	if (strcmp(what, "arms") == 0)
		arms(count);
	else if (strcmp(what, "timer") == 0)
		timer(count);
	else if (other < sizeof(others) / sizeof(others[0]))
		others[other].run();
	else
		EXPECT(!"a test of this name");
	if (failures)
		return 1;
	EXPECT(ibv_dereg_mr(mr) == 0);
	return finish();
}

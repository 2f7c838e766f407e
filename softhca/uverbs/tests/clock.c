/*
 * The device's clock, by way of libmlx5: it can be read and never goes back; CQEs have its time; what makes wall-clock time of it
 * tells the truth; a second context reads the same clock.
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* How long the device may be late, by the clock, when the machine is busy: nanoseconds. */
#define PATIENCE 2000000000ull
/* The clock is read again and again for so long. */
#define SPAN 400000000ull

static uint64_t now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/* The counter; a cycle is a nanosecond. */
static uint64_t cycles(struct ibv_context *device)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	EXPECT(ibv_query_rt_values_ex(device, &values) == 0 && (values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK));
	/* libmlx5 fills in cycles, in the place of nanoseconds. */
	return values.raw_clock.tv_nsec;
}

static uint64_t wall(uint64_t cycles)
{
	struct mlx5dv_clock_info info;
	EXPECT(mlx5dv_get_clock_info(context, &info) == 0);
	return mlx5dv_ts_to_ns(&info, cycles);
}

/* The clock runs as fast as the machine's. */
static void it_runs(void)
{
	struct ibv_device_attr_ex attr;
	EXPECT(ibv_query_device_ex(context, NULL, &attr) == 0);
	EXPECT(attr.hca_core_clock == 1000000 && attr.completion_timestamp_mask == INT64_MAX);
	uint64_t before = now(CLOCK_MONOTONIC), first = cycles(context), last = first;
	do {
		uint64_t next = cycles(context);
		EXPECT(next >= last);
		last = next;
	} while (now(CLOCK_MONOTONIC) - before < SPAN && !failures);
	uint64_t passed = now(CLOCK_MONOTONIC) - before;
	EXPECT(last - first < passed + PATIENCE && last - first + PATIENCE > passed);
}

/* What is told of the clock lies within what has passed meanwhile. */
static void it_tells_the_time(void)
{
	uint64_t before = now(CLOCK_REALTIME), told = wall(cycles(context));
	EXPECT(told + PATIENCE > before && told < now(CLOCK_REALTIME) + PATIENCE);
	struct mlx5dv_clock_info info, later;
	EXPECT(mlx5dv_get_clock_info(context, &info) == 0);
	/* Twice as long as it is left alone. */
	uint64_t began = now(CLOCK_MONOTONIC);
	do {
		usleep(10000);
		EXPECT(mlx5dv_get_clock_info(context, &later) == 0);
	} while (later.last_cycles == info.last_cycles && now(CLOCK_MONOTONIC) - began < 5000000000ull);
	EXPECT(later.last_cycles != info.last_cycles);
	/* Both tell the same time of one moment. */
	uint64_t moment = cycles(context);
	EXPECT(mlx5dv_ts_to_ns(&info, moment) == mlx5dv_ts_to_ns(&later, moment));
}

static void completions_have_its_time(void)
{
	struct ibv_mr *mr = register_memory(pd);
	struct ibv_cq_init_attr_ex attr = { .cqe = 16,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK };
	struct ibv_cq_ex *cq = NEED(ibv_create_cq_ex(context, &attr));
	struct ibv_qp *qp = NEED(make_qp(pd, ibv_cq_ex_to_cq(cq), NULL, IBV_QPT_RC));
	connect_to(qp, qp);
	uint64_t last = 0;
	for (int round = 0; round < 20; round++) {
		uint64_t began = now(CLOCK_REALTIME), clock = cycles(context);
		/* So that a device which was late to look at its clock has looked again. */
		usleep(round % 4 == 0 ? 20000 : 0);
		EXPECT(post_write(qp, mr, memory, memory + 4096, 64, IBV_SEND_SIGNALED) == 0);
		struct ibv_poll_cq_attr poll = {};
		while (ibv_start_poll(cq, &poll) == ENOENT)
			NEED(now(CLOCK_REALTIME) < began + 10000000000ull ? cq : NULL);
		EXPECT(cq->status == IBV_WC_SUCCESS);
		uint64_t stamp = ibv_wc_read_completion_ts(cq), at = ibv_wc_read_completion_wallclock_ns(cq);
		ibv_end_poll(cq);
		EXPECT(stamp >= clock && stamp >= last && stamp <= cycles(context));
		last = stamp;
		EXPECT(at + PATIENCE > began && at < now(CLOCK_REALTIME) + PATIENCE);
		if (round % 4 == 0)
			EXPECT(at > began && at < now(CLOCK_REALTIME));
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0 && ibv_dereg_mr(mr) == 0);
}

/* Another context has pages of its own, with the same clock. */
static void contexts_agree(void)
{
	struct ibv_context *second = open_first();
	uint64_t first = cycles(context), other = cycles(second), again = cycles(context);
	EXPECT(first <= other + PATIENCE && other <= again + PATIENCE);
	EXPECT(ibv_close_device(second) == 0);
	EXPECT(cycles(context) >= again);
}

/* Which mappings there are, by offset in pages: those that can be written are refused, and all others but those two. */
static void mappings(void)
{
	static const struct {
		off_t page;
		size_t len;
		int protection, flags, error;
	} cases[] = {
		{ 5 << 8, 4096, PROT_READ, MAP_SHARED, 0 },
		{ 5 << 8, 8192, PROT_READ, MAP_SHARED, EINVAL },
		{ 5 << 8, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, EPERM },
		{ 5 << 8, 4096, PROT_READ, MAP_PRIVATE, EINVAL },
		{ 7 << 8, 4096, PROT_READ, MAP_SHARED, 0 },
		{ 7 << 8, 4096, PROT_WRITE, MAP_SHARED, EPERM },
		{ 7 << 8, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, EPERM },
		{ 7 << 8, 4096, PROT_READ, MAP_PRIVATE, EINVAL },
		{ (7 << 8) + 1, 4096, PROT_READ, MAP_SHARED, EOPNOTSUPP },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		errno = 0;
		void *at = mmap(NULL, cases[i].len, cases[i].protection, cases[i].flags, context->cmd_fd, cases[i].page * 4096);
		if (errno != cases[i].error)
			printf("case %zu: errno %d\n", i, errno), failures++;
		if (at != MAP_FAILED)
			EXPECT(munmap(at, cases[i].len) == 0);
	}
}

int main(int argc, char **argv)
{
	start();
	/* Where nobody knows how well the clocks go. */
	if (argc == 1 || strcmp(argv[1], "mappings") != 0) {
		it_runs();
		it_tells_the_time();
		completions_have_its_time();
		contexts_agree();
	}
	mappings();
	return finish();
}

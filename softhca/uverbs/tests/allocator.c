/*
 * A program with an allocator of its own, which yields in the middle of each allocation, as those do that wait for a lock. It ends with
 * SIGABRT if there is an allocation then.
 */
#include "prelude.h"

#include <sched.h>
#include <unistd.h>

static char pool[64 << 20] __attribute__((aligned(4096)));
static _Atomic size_t used;
static _Thread_local int allocating;

/* Waits for the lock of an allocator. */
static void wait_for_lock(void)
{
	if (allocating++)
		abort();
	sched_yield();
	allocating--;
}

/* Nothing is freed. The number of bytes stands before them. */
void *aligned_alloc(size_t alignment, size_t bytes)
{
	size_t room = alignment < 16 ? 16 : alignment;
	wait_for_lock();
	size_t end = used += bytes + 2 * room;
	if (end > sizeof(pool))
		_exit(2);
	char *after = pool + end;
	char *begin = after - bytes - room;
	begin -= (uintptr_t)begin % room;
	((size_t *)begin)[-1] = bytes;
	return begin;
}

void *malloc(size_t bytes)
{
	return aligned_alloc(16, bytes);
}

void *calloc(size_t count, size_t bytes)
{
	return malloc(count * bytes);
}

void *realloc(void *old, size_t bytes)
{
	void *made = malloc(bytes);
	size_t had = old ? ((size_t *)old)[-1] : 0;
	return memcpy(made, old ? old : made, had < bytes ? had : bytes);
}

int posix_memalign(void **made, size_t alignment, size_t bytes)
{
	*made = aligned_alloc(alignment, bytes);
	return 0;
}

void free(void *freed)
{
	(void)freed;
}

int main(void)
{
	const volatile char *last = memory + 4096 + 7;
	start();
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 8, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	struct ibv_mr *mr = register_memory(pd);
	connect_to(qp, qp);
	for (int i = 1; i <= 300 && !failures; i++) {
		memset(memory, i, 8);
		EXPECT(post_write(qp, mr, memory, memory + 4096, 8, IBV_SEND_SIGNALED) == 0);
		while (*last != (char)i)
			wait_for_lock();
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0);
	return finish();
}

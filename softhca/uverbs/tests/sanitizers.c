/*
 * A program for sanitizers: two threads with a queue pair each, one that polls and one that waits for events. With an argument, it
 * then makes the mistake of that name. Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <pthread.h>

static int shared;

static void await(struct ibv_cq *cq, struct ibv_comp_channel *channel)
{
	struct ibv_wc wc;
	struct ibv_cq *of;
	void *unused;
	for (;;) {
		int found = ibv_poll_cq(cq, 1, &wc);
		EXPECT(found >= 0 && (!found || wc.status == IBV_WC_SUCCESS));
		if (found)
			return;
		if (!channel)
			continue;
		EXPECT(ibv_req_notify_cq(cq, 0) == 0);
		if (ibv_poll_cq(cq, 1, &wc) == 1)
			return;
		EXPECT(ibv_get_cq_event(channel, &of, &unused) == 0);
		ibv_ack_cq_events(cq, 1);
	}
}

static void *exchanges(void *waits)
{
	struct ibv_comp_channel *channel = waits ? NEED(ibv_create_comp_channel(context)) : NULL;
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 16, NULL, channel, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	char *own = NEED(calloc(2, 4096));
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, own, 8192, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	connect_to(qp, qp);
	for (int i = 0; i < 200; i++) {
		memset(own, i, 4096);
		EXPECT(post_write(qp, mr, own, own + 4096, 4096, IBV_SEND_SIGNALED) == 0);
		await(cq, channel);
		EXPECT(memcmp(own, own + 4096, 4096) == 0);
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0);
	EXPECT(!channel || ibv_destroy_comp_channel(channel) == 0);
	free(own);
	return NULL;
}

static void *writes(void *to)
{
	for (int i = 0; i < 1000; i++)
		*(int *)to = i;
	return NULL;
}

int main(int argc, char **argv)
{
	start();
	pthread_t polls, waits;
	EXPECT(pthread_create(&polls, NULL, exchanges, NULL) == 0 && pthread_create(&waits, NULL, exchanges, &waits) == 0);
	EXPECT(pthread_join(polls, NULL) == 0 && pthread_join(waits, NULL) == 0);
	if (argc > 1 && strcmp(argv[1], "race") == 0) {
		EXPECT(pthread_create(&polls, NULL, writes, &shared) == 0);
		writes(&shared);
		EXPECT(pthread_join(polls, NULL) == 0);
	}
	if (argc > 1 && strcmp(argv[1], "overflow") == 0) {
		char *small = NEED(malloc(8));
		memset(small, argc, 4 + 4 * argc);
		free(small);
	}
	return finish();
}

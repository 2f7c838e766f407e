/*
 * Asynchronous events through libibverbs and libmlx5: of a port and of the device, which every context gets, and how events
 * of a queue pair hold up its destruction until they are acknowledged. Prints what went otherwise than expected; the exit
 * code is 1 then.
 */
#include "prelude.h"
#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static int is_readable(struct ibv_context *context, int milliseconds)
{
	struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
	return poll(&fd, 1, milliseconds);
}

/* The next event, which must be there. */
static struct ibv_async_event next(struct ibv_context *context)
{
	struct ibv_async_event event = { .event_type = -1 };

	EXPECT(is_readable(context, 20000) == 1);
	EXPECT(ibv_get_async_event(context, &event) == 0);
	return event;
}

static void expect_port(struct ibv_context *context, enum ibv_event_type type)
{
	struct ibv_async_event event = next(context);

	EXPECT(event.event_type == type && event.element.port_num == 1);
	ibv_ack_async_event(&event);
}

static enum ibv_port_state port_state(struct ibv_context *context)
{
	struct ibv_port_attr attr;

	EXPECT(ibv_query_port(context, 1, &attr) == 0);
	return attr.state;
}

static atomic_int destroyed;

static void *destroy(void *qp)
{
	EXPECT(ibv_destroy_qp(qp) == 0);
	destroyed = 1;
	return NULL;
}

/* A queue pair with an SRQ tells that it takes nothing more, and is not destroyed before that is acknowledged. */
static void last_wqe(struct ibv_context *context)
{
	pd = NEED(ibv_alloc_pd(context));
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 8, NULL, NULL, 0));
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(pd, &srq_attr));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, srq, IBV_QPT_RC));
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	pthread_t thread;

	to_init(qp);
	EXPECT(is_readable(context, 0) == 0);
	EXPECT(ibv_modify_qp(qp, &error, IBV_QP_STATE) == 0);
	struct ibv_async_event event = next(context);
	EXPECT(event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED && event.element.qp == qp);
	EXPECT(ibv_destroy_srq(srq) == EBUSY);
	pthread_create(&thread, NULL, destroy, qp);
	usleep(20000);
	EXPECT(!destroyed);
	ibv_ack_async_event(&event);
	pthread_join(thread, NULL);
	EXPECT(destroyed);
	EXPECT(ibv_destroy_srq(srq) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0);
	EXPECT(ibv_dealloc_pd(pd) == 0);
}

/* Descriptors of open devices, the program's and the device's own. */
static int device_descriptors(void)
{
	char path[300], target[64];
	struct dirent *entry;
	int count = 0;
	DIR *all = opendir("/proc/self/fd");

	while (all && (entry = readdir(all))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		ssize_t len = readlink(path, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = 0;
		count += strstr(target, "softhca-uverbs") != NULL;
	}
	closedir(all);
	return count;
}

int main(void)
{
	int (*set_port)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_DEFAULT, "softhca_set_port");
	int (*fail)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "softhca_fail");
	unsigned long long (*commands)(void) = (unsigned long long (*)(void))dlsym(RTLD_DEFAULT, "softhca_commands");
	struct ibv_context *contexts[2] = { open_first(), open_first() };

	if (!set_port || !fail || !commands) {
		printf("not on the software device\n");
		return 1;
	}
	last_wqe(contexts[0]);

	unsigned long long before = commands();
	EXPECT(port_state(contexts[0]) == IBV_PORT_ACTIVE);
	EXPECT(commands() == before + 1);
	EXPECT(port_state(contexts[0]) == IBV_PORT_ACTIVE);
	EXPECT(set_port(0, 1, 0) == 0);
	expect_port(contexts[0], IBV_EVENT_PORT_ERR);
	expect_port(contexts[1], IBV_EVENT_PORT_ERR);
	EXPECT(port_state(contexts[1]) == IBV_PORT_DOWN);
	EXPECT(set_port(0, 1, 0) == 0 && set_port(0, 1, 1) == 0);
	expect_port(contexts[0], IBV_EVENT_PORT_ACTIVE);
	EXPECT(port_state(contexts[1]) == IBV_PORT_ACTIVE);
	EXPECT(set_port(0, 3, 0) == -1 && errno == EINVAL);
	EXPECT(set_port(7, 1, 0) == -1 && errno == ENODEV);

	/* A context that is closed takes its events with it, and all of the device's descriptors for it. */
	int descriptors = device_descriptors();
	EXPECT(ibv_close_device(contexts[1]) == 0);
	EXPECT(device_descriptors() * 2 == descriptors);
	EXPECT(fail(0) == 0 && fail(0) == 0);
	struct ibv_async_event event = next(contexts[0]);
	EXPECT(event.event_type == IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&event);
	EXPECT(is_readable(contexts[0], 0) == 0);
	EXPECT(ibv_close_device(contexts[0]) == 0);
	return failures != 0;
}

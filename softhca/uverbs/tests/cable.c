/*
 * A cable that is pulled by a file in the fabric's directory, whose name is the argument, and plugged in again: the port's state,
 * the events, and requests that find no way. Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static void expect_event(enum ibv_event_type type)
{
	struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
	struct ibv_async_event event = { .event_type = -1 };
	EXPECT(poll(&fd, 1, 20000) == 1 && ibv_get_async_event(context, &event) == 0);
	EXPECT(event.event_type == type && event.element.port_num == 1);
	ibv_ack_async_event(&event);
}

static void expect_state(enum ibv_port_state state, int physical)
{
	struct ibv_port_attr port;
	EXPECT(ibv_query_port(context, 1, &port) == 0 && port.state == state && port.phys_state == physical);
}

static void pull(const char *file)
{
	close(open(file, O_CREAT | O_WRONLY, 0600));
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	start();
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 8, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	struct ibv_mr *mr = register_memory(pd);
	connect_to(qp, qp);
	expect_state(IBV_PORT_ACTIVE, 5);
	pull(argv[1]);
	expect_event(IBV_EVENT_PORT_ERR);
	expect_state(IBV_PORT_DOWN, 2);
	EXPECT(post_write(qp, mr, memory, memory + 64, 64, IBV_SEND_SIGNALED) == 0);
	EXPECT(wait_for(cq).status == IBV_WC_RETRY_EXC_ERR);
	EXPECT(unlink(argv[1]) == 0);
	expect_event(IBV_EVENT_PORT_ACTIVE);
	expect_state(IBV_PORT_ACTIVE, 5);
	EXPECT(ibv_destroy_qp(qp) == 0);
	qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	connect_to(qp, qp);
	EXPECT(post_write(qp, mr, memory, memory + 64, 64, IBV_SEND_SIGNALED) == 0);
	EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0);
	return finish();
}

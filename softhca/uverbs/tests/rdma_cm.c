/*
 * What librdmacm's programs do not try: both ends of connections in this process, all that can go wrong with them;
 * with the argument "hostile", commands and messages that make no sense; with "user", a process that gives up its rights.
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <unistd.h>

#define REFUSED(call, error) EXPECT((errno = 0, call) == -1 && errno == (error))

static int port = 7471;

enum { REJECTED_BY_CONSUMER = 28, REQ_PRIVATE = 56, REP_PRIVATE = 196, REJ_PRIVATE = 148 };

static struct rdma_event_channel *server, *client;
static struct rdma_cm_id *listener;

static struct sockaddr *address(const char *ip, int port)
{
	static struct sockaddr_in in;
	in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, ip, &in.sin_addr);
	return (struct sockaddr *)&in;
}

/* The next event of a channel, which is of this kind; its id. The event itself is copied, and acknowledged. */
static struct rdma_cm_event event;
static char private_data[256];
static struct rdma_cm_id *next(struct rdma_event_channel *channel, enum rdma_cm_event_type kind, int line)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *got;
	if (poll(&ready, 1, 20000) != 1 || rdma_get_cm_event(channel, &got)) {
		printf("line %d: no event: errno %d\n", line, errno);
		exit(1);
	}
	event = *got;
	if (got->event != kind) {
		printf("line %d: %s (%d) and not %s\n", line, rdma_event_str(got->event), got->status, rdma_event_str(kind));
		exit(1);
	}
	if (got->param.conn.private_data_len)
		memcpy(private_data, got->param.conn.private_data, got->param.conn.private_data_len);
	rdma_ack_cm_event(got);
	return event.id;
}
#define NEXT(channel, kind) next(channel, RDMA_CM_EVENT_##kind, __LINE__)

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){ .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
}

static struct rdma_cm_id *resolved(struct rdma_event_channel *channel, enum rdma_port_space space)
{
	struct rdma_cm_id *id;
	NEED(!rdma_create_id(channel, &id, NULL, space));
	NEED(!rdma_resolve_addr(id, NULL, address("127.0.0.1", port), 2000));
	NEXT(channel, ADDR_RESOLVED);
	NEED(!rdma_resolve_route(id, 2000));
	NEXT(channel, ROUTE_RESOLVED);
	return id;
}

static void tear_down(void)
{
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(server);
	rdma_destroy_event_channel(client);
}

static void set_up(void)
{
	NEED((server = rdma_create_event_channel()) && (client = rdma_create_event_channel()));
	NEED(!rdma_create_id(server, &listener, &listener, RDMA_PS_TCP));
	NEED(!rdma_bind_addr(listener, address("0.0.0.0", port)));
	NEED(!rdma_listen(listener, 3));
}

/* A connection by QPs of librdmacm's; both its ends. */
static void connected(struct rdma_cm_id *ends[2], const char *hello)
{
	struct ibv_qp_init_attr attr = qp_attr();
	struct rdma_conn_param param = { .responder_resources = 3, .initiator_depth = 5, .retry_count = 7, .rnr_retry_count = 6 };
	uint8_t tos = 0x60, timeout = 19;

	struct rdma_cm_id *active = resolved(client, RDMA_PS_TCP);
	NEED(!rdma_set_option(active, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1));
	NEED(!rdma_set_option(active, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1));
	NEED(!rdma_create_qp(active, NULL, &attr));
	param.private_data = hello;
	param.private_data_len = strlen(hello);
	NEED(!rdma_connect(active, &param));

	struct rdma_cm_id *passive = NEXT(server, CONNECT_REQUEST);
	EXPECT(event.listen_id == listener && passive->context == &listener && event.status == 0);
	EXPECT(event.param.conn.private_data_len == REQ_PRIVATE && !strcmp(private_data, hello));
	/* What the peer initiates, we respond to. */
	EXPECT(event.param.conn.responder_resources == 5 && event.param.conn.initiator_depth == 3);
	EXPECT(event.param.conn.retry_count == 7 && event.param.conn.rnr_retry_count == 6);
	EXPECT(event.param.conn.qp_num == active->qp->qp_num);
	EXPECT(rdma_get_src_port(passive) == htons(port) && rdma_get_dst_port(passive) == rdma_get_src_port(active));
	attr = qp_attr();
	NEED(!rdma_create_qp(passive, NULL, &attr));
	param = (struct rdma_conn_param){ .responder_resources = 2, .initiator_depth = 1, .rnr_retry_count = 4,
					  .private_data = "welcome", .private_data_len = 8 };
	NEED(!rdma_accept(passive, &param));

	EXPECT(NEXT(client, ESTABLISHED) == active);
	EXPECT(event.param.conn.private_data_len == REP_PRIVATE && !strcmp(private_data, "welcome"));
	EXPECT(event.param.conn.responder_resources == 1 && event.param.conn.initiator_depth == 2);
	EXPECT(NEXT(server, ESTABLISHED) == passive);
	ends[0] = active;
	ends[1] = passive;
}

static void bye(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	EXPECT(!rdma_destroy_id(id));
}

static void connections_are_made_and_ended(void)
{
	struct rdma_cm_id *ends[2];
	struct ibv_qp_attr attr[2];
	struct ibv_qp_init_attr init;
	connected(ends, "hello");
	for (int i = 0; i < 2; i++)
		NEED(!ibv_query_qp(ends[i]->qp, &attr[i], IBV_QP_STATE | IBV_QP_AV, &init));
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_attr *own = &attr[i], *other = &attr[!i];
		EXPECT(own->qp_state == IBV_QPS_RTS && own->path_mtu == IBV_MTU_1024);
		EXPECT(own->dest_qp_num == ends[!i]->qp->qp_num && own->rq_psn == other->sq_psn);
		/* RoCE v2's entry for the address, which is the second of two. */
		union ibv_gid gid[2];
		EXPECT(!ibv_query_gid(ends[i]->verbs, 1, own->ah_attr.grh.sgid_index, &gid[1]));
		EXPECT(!ibv_query_gid(ends[i]->verbs, 1, own->ah_attr.grh.sgid_index - 1, &gid[0]));
		EXPECT(!memcmp(&gid[0], &gid[1], 16) && !memcmp(gid[0].raw + 12, (char[]){ 127, 0, 0, 1 }, 4));
		EXPECT(own->ah_attr.is_global && own->ah_attr.grh.traffic_class == 0x60 && own->ah_attr.grh.hop_limit == 64);
		EXPECT(own->timeout == (i ? 18 : 19) && own->retry_cnt == 7 && own->rnr_retry == (i ? 6 : 4));
	}
	/* The active end may do as much as the passive one takes, and the other way round. */
	EXPECT(attr[0].max_rd_atomic == 2 && attr[1].max_dest_rd_atomic == 2);
	EXPECT(attr[1].max_rd_atomic == 1 && attr[0].max_dest_rd_atomic == 1);

	EXPECT(!rdma_disconnect(ends[0]));
	EXPECT(NEXT(server, DISCONNECTED) == ends[1]);
	EXPECT(!rdma_disconnect(ends[1]));
	EXPECT(NEXT(client, DISCONNECTED) == ends[0]);
	NEXT(server, TIMEWAIT_EXIT);
	NEXT(client, TIMEWAIT_EXIT);
	bye(ends[0]);
	bye(ends[1]);

	/* Without a word: the id's end is the connection's. */
	connected(ends, "");
	bye(ends[1]);
	EXPECT(NEXT(client, DISCONNECTED) == ends[0]);
	bye(ends[0]);
}

/* Both ends have their QPs from elsewhere, as only then the ids leave the options to the program. */
static void the_messages_carry_options(void)
{
	enum { VENDOR = 0x15b3, VERSION_1 = 0x10000000 };
	struct rdma_conn_param param = { .qp_num = 0x99 };
	struct ibv_ece ece = { .vendor_id = VENDOR, .options = VERSION_1 | 0x6 };
	struct rdma_cm_id *active = resolved(client, RDMA_PS_TCP);
	REFUSED(rdma_set_local_ece(active, NULL), EINVAL);
	EXPECT(!rdma_set_local_ece(active, &ece));
	NEED(!rdma_connect(active, &param));
	struct rdma_cm_id *passive = NEXT(server, CONNECT_REQUEST);
	struct ibv_ece remote = {};
	EXPECT(!rdma_get_remote_ece(passive, &remote));
	EXPECT(remote.vendor_id == VENDOR && remote.options == (VERSION_1 | 0x6));

	/* The passive end's QP accepts a part of them, and says which. */
	struct ibv_qp_init_attr attr = qp_attr();
	struct ibv_cq *cq = NEED(ibv_create_cq(passive->verbs, 16, NULL, NULL, 0));
	struct ibv_pd *pd = NEED(ibv_alloc_pd(passive->verbs));
	attr.send_cq = attr.recv_cq = cq;
	struct ibv_qp *qp = NEED(ibv_create_qp(pd, &attr));
	struct ibv_qp_attr to;
	int mask;
	EXPECT(!ibv_set_ece(qp, &remote));
	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= IBV_QPS_RTR; state++) {
		to = (struct ibv_qp_attr){ .qp_state = state };
		EXPECT(!rdma_init_qp_attr(passive, &to, &mask));
		EXPECT(!ibv_modify_qp(qp, &to, mask));
	}
	EXPECT(!ibv_query_ece(qp, &ece) && ece.options == VERSION_1);
	EXPECT(!rdma_set_local_ece(passive, &ece));
	param.qp_num = qp->qp_num;
	NEED(!rdma_accept(passive, &param));
	EXPECT(NEXT(client, CONNECT_RESPONSE) == active);
	EXPECT(!rdma_get_remote_ece(active, &remote));
	EXPECT(remote.vendor_id == VENDOR && remote.options == VERSION_1);
	EXPECT(!rdma_establish(active));
	EXPECT(NEXT(server, ESTABLISHED) == passive);
	bye(active);
	EXPECT(NEXT(server, DISCONNECTED) == passive);
	bye(passive);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

static void requests_are_rejected(void)
{
	struct rdma_conn_param param = { .qp_num = 0x99, .private_data = private_data };
	struct rdma_cm_id *active = resolved(client, RDMA_PS_TCP);
	param.private_data_len = REQ_PRIVATE + 1;
	REFUSED(rdma_connect(active, &param), EINVAL);
	bye(active);

	param.private_data_len = 0;
	for (int unseen = 0; unseen < 2; unseen++) {
		active = resolved(client, RDMA_PS_TCP);
		NEED(!rdma_connect(active, &param));
		REFUSED(rdma_connect(active, &param), EINVAL);
		struct rdma_cm_id *passive = NEXT(server, CONNECT_REQUEST);
		if (!unseen) {
			REFUSED(rdma_reject(passive, private_data, REJ_PRIVATE + 1), EINVAL);
			EXPECT(!rdma_reject(passive, "no", 3));
			NEXT(client, REJECTED);
			EXPECT(event.param.conn.private_data_len == REJ_PRIVATE && !strcmp(private_data, "no"));
			REFUSED(rdma_reject(passive, NULL, 0), EINVAL);
		}
		bye(passive);
		if (unseen)
			NEXT(client, REJECTED);
		EXPECT(event.status == REJECTED_BY_CONSUMER);
		bye(active);
	}
	/* The client does not wait for the answer. */
	active = resolved(client, RDMA_PS_TCP);
	NEED(!rdma_connect(active, &param));
	struct rdma_cm_id *passive = NEXT(server, CONNECT_REQUEST);
	bye(active);
	/* Time for the rejection to arrive. */
	usleep(1000000);
	REFUSED(rdma_accept(passive, &param), EINVAL);
	bye(passive);
}

static void calls_have_their_order_and_errors(void)
{
	struct rdma_cm_id *id, *other;
	NEED(!rdma_create_id(client, &id, NULL, RDMA_PS_TCP) && !rdma_create_id(client, &other, NULL, RDMA_PS_TCP));
	REFUSED(rdma_bind_addr(id, address("127.0.0.1", port)), EADDRNOTAVAIL); /* the listener has all of it */
	REFUSED(rdma_bind_addr(id, address("198.51.100.1", 0)), EADDRNOTAVAIL);
	EXPECT(!rdma_bind_addr(id, address("10.95.0.1", 9)) && id->verbs && id->port_num == 1);
	REFUSED(rdma_bind_addr(id, address("10.95.0.1", 9)), EINVAL);
	REFUSED(rdma_bind_addr(other, address("10.95.0.1", 9)), EADDRINUSE);
	/* A loopback address belongs to no device, and is all addresses (cma_any_addr of Linux' cma.c). libfabric gives
	   the port away that it has asked for if it finds a device there. */
	REFUSED(rdma_bind_addr(other, address("127.0.0.1", 9)), EADDRNOTAVAIL);
	EXPECT(!rdma_bind_addr(other, address("127.0.0.1", 10)) && !other->verbs && ntohs(rdma_get_src_port(other)) == 10);
	REFUSED(rdma_disconnect(other), EINVAL);
	REFUSED(rdma_notify(other, IBV_EVENT_COMM_EST), EINVAL);
	EXPECT(!rdma_listen(other, 0));
	REFUSED(rdma_listen(other, 0), EINVAL);
	REFUSED(rdma_set_option(id, 9, 9, "", 1), ENOSYS);
	REFUSED(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, "1234", 4), EINVAL);
	bye(id);
	bye(other);

	/* A port that is chosen; groups of datagrams alone, and of IPv4. */
	NEED(!rdma_create_id(client, &id, NULL, RDMA_PS_UDP));
	EXPECT(!rdma_bind_addr(id, address("10.95.0.1", 0)) && ntohs(rdma_get_src_port(id)) >= 32768);
	EXPECT(!rdma_join_multicast(id, address("239.0.0.1", 0), &port));
	NEXT(client, MULTICAST_JOIN);
	EXPECT(event.param.ud.private_data == &port && event.param.ud.qp_num == 0xffffff && event.param.ud.qkey == 0x1234567);
	EXPECT(event.param.ud.ah_attr.grh.dgid.raw[11] == 0xff && event.param.ud.ah_attr.grh.dgid.raw[12] == 239);
	EXPECT(!rdma_leave_multicast(id, address("239.0.0.1", 0)));
	REFUSED(rdma_leave_multicast(id, address("239.0.0.1", 0)), EADDRNOTAVAIL);
	struct sockaddr_in6 group = { .sin6_family = AF_INET6, .sin6_addr.s6_addr = { 0xff, 0x0e, [15] = 9 } };
	/* ENOTSUPP of the kernel. */
	REFUSED(rdma_join_multicast(id, (struct sockaddr *)&group, NULL), 524);
	bye(id);
	NEED(!rdma_create_id(client, &id, NULL, RDMA_PS_TCP));
	EXPECT(!rdma_bind_addr(id, address("10.95.0.1", 0)));
	REFUSED(rdma_join_multicast(id, address("239.0.0.1", 0), NULL), EINVAL);
	bye(id);
}

static void *wait_for_ever(void *channel)
{
	struct rdma_cm_event *none;
	rdma_get_cm_event(channel, &none);
	return NULL;
}

static void channels_can_be_polled(void)
{
	struct pollfd ready = { .fd = client->fd, .events = POLLIN };
	struct rdma_cm_event *got;
	struct rdma_cm_id *id;
	pthread_t thread;
	void *end;

	EXPECT(poll(&ready, 1, 0) == 0);
	int flags = fcntl(client->fd, F_GETFL);
	NEED(!fcntl(client->fd, F_SETFL, flags | O_NONBLOCK));
	REFUSED(rdma_get_cm_event(client, &got), EAGAIN);
	NEED(!fcntl(client->fd, F_SETFL, flags));
	NEED(!rdma_create_id(client, &id, NULL, RDMA_PS_TCP));
	NEED(!rdma_resolve_addr(id, NULL, address("127.0.0.1", port), 0));
	EXPECT(poll(&ready, 1, 0) == 1);
	/* An event goes with its id, to another channel or into oblivion. */
	EXPECT(!rdma_migrate_id(id, server) && poll(&ready, 1, 0) == 0);
	EXPECT(NEXT(server, ADDR_RESOLVED) == id);
	EXPECT(!rdma_migrate_id(id, client) && !rdma_resolve_route(id, 0) && poll(&ready, 1, 0) == 1);
	bye(id);
	EXPECT(poll(&ready, 1, 0) == 0);

	/* Who waits for an event can be cancelled. */
	NEED(!pthread_create(&thread, NULL, wait_for_ever, client));
	usleep(20000);
	EXPECT(!pthread_cancel(thread) && !pthread_join(thread, &end) && end == PTHREAD_CANCELED);
}

/* From an id's address to itself, by RoCE v2. */
static struct ibv_ah_attr way_to_self(struct rdma_cm_id *id)
{
	struct ibv_ah_attr way = { .is_global = 1, .port_num = 1, .grh = { .hop_limit = 9 } };
	union ibv_gid gid;
	way.grh.dgid = id->route.addr.addr.ibaddr.dgid;
	while (!ibv_query_gid(id->verbs, 1, way.grh.sgid_index, &gid) && memcmp(&gid, &way.grh.dgid, 16))
		way.grh.sgid_index++;
	way.grh.sgid_index++; /* the first is for RoCE v1 */
	return way;
}

static void datagrams_say_where_they_come_from(void)
{
	struct rdma_cm_id *id = resolved(client, RDMA_PS_UDP);
	struct ibv_qp_init_attr init = qp_attr();
	init.qp_type = IBV_QPT_UD;
	NEED(!rdma_create_qp(id, NULL, &init));
	struct ibv_ah_attr way = way_to_self(id), back;
	struct ibv_ah *ah;
	NEED(ah = ibv_create_ah(id->pd, &way));
	static char message[64];
	struct ibv_mr *mr;
	NEED(mr = ibv_reg_mr(id->pd, message, sizeof message, IBV_ACCESS_LOCAL_WRITE));
	NEED(!rdma_post_recv(id, NULL, message, sizeof message, mr));
	NEED(!rdma_post_ud_send(id, NULL, message, 4, mr, IBV_SEND_SIGNALED, ah, id->qp->qp_num));
	struct ibv_wc wc;
	while (!ibv_poll_cq(id->recv_cq, 1, &wc))
		;
	EXPECT(wc.status == IBV_WC_SUCCESS && wc.wc_flags & IBV_WC_GRH);
	/* libibverbs tells from the header by which version of RoCE to answer. */
	EXPECT(!ibv_init_ah_from_wc(id->verbs, 1, &wc, (struct ibv_grh *)message, &back));
	EXPECT(back.grh.sgid_index == way.grh.sgid_index && !memcmp(&back.grh.dgid, &way.grh.dgid, 16));
	ibv_dereg_mr(mr);
	ibv_destroy_ah(ah);
	bye(id);
}

/* The errno of a command, by the numbers of a newer kernel's headers. */
static int command(int fd, uint32_t number, const void *in, uint16_t in_len, uint16_t out_len)
{
	struct { uint32_t number; uint16_t in, out; uint8_t bytes[256]; } whole = { number, in_len, out_len, {} };
	memcpy(whole.bytes, in, in_len);
	return write(fd, &whole, 8 + in_len) == 8 + in_len ? 0 : errno;
}

/* librdmacm sends itself the result of a look-up of names. */
static void programs_write_events_to_themselves(void)
{
	enum { CREATE_ID = 0, GET_EVENT = 12, WRITE_EVENT = 24, USER = 18, INTERNAL = 19 };
	struct rdma_event_channel *channel;
	NEED((channel = rdma_create_event_channel()) && !fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	uint32_t number;
	struct { uint64_t uid, response; uint16_t space; uint8_t rest[6]; } create = { 77, (uintptr_t)&number, RDMA_PS_TCP, {} };
	NEED(command(channel->fd, CREATE_ID, &create, sizeof create, sizeof number) == 0);
	struct { uint32_t id, reserved, event, status; uint64_t arg; } sent = { number, 0, USER, -5, 0x123456789abc };
	EXPECT(command(channel->fd, WRITE_EVENT, &sent, sizeof sent, 0) == 0);
	struct { uint64_t uid; uint32_t id, event, status, arg[2], rest[80]; } got = {};
	uint64_t response = (uintptr_t)&got;
	EXPECT(command(channel->fd, GET_EVENT, &response, sizeof response, sizeof got) == 0);
	EXPECT(got.uid == 77 && got.id == number && got.event == USER && got.status == (uint32_t)-5);
	EXPECT(memcmp(got.arg, &sent.arg, sizeof sent.arg) == 0);
	sent.event = INTERNAL;
	EXPECT(command(channel->fd, WRITE_EVENT, &sent, sizeof sent, 0) == 0);
	sent.event = RDMA_CM_EVENT_ESTABLISHED;
	EXPECT(command(channel->fd, WRITE_EVENT, &sent, sizeof sent, 0) == EINVAL);
	sent.event = USER;
	sent.id = number + 1000;
	EXPECT(command(channel->fd, WRITE_EVENT, &sent, sizeof sent, 0) == ENOENT);
	rdma_destroy_event_channel(channel);
}

/* Bytes that nobody has meant. */
static uint32_t chance(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15;
	state = state * 6364136223846793005 + 1442695040888963407;
	return state >> 33;
}

static void commands_may_be_anything(void)
{
	struct rdma_event_channel *channel;
	NEED(channel = rdma_create_event_channel());
	NEED(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	for (int i = 0; i < 20000; i++) {
		/* Ids that the numbers below name now and then. */
		struct rdma_cm_id *id;
		if (i % 100 == 0 && !rdma_create_id(channel, &id, NULL, i % 200 ? RDMA_PS_TCP : RDMA_PS_UDP))
			rdma_resolve_addr(id, NULL, address("127.0.0.1", port), 0);
		union { struct { uint32_t command; uint16_t in, out; uint64_t words[60]; } c; uint8_t bytes[512]; } u;
		static uint8_t room[512];
		for (int word = 0; word < 60; word++)
			u.c.words[word] = chance() % 4 ? chance() % 8 : (uint64_t)chance() << 32 | chance();
		u.c.command = chance() % 28;
		u.c.in = chance() % 8 ? 488 : chance();
		u.c.out = chance() % 8 ? 512 : chance() % 300;
		/* Responses are at the beginning, or after the first word. */
		u.c.words[chance() % 2] = chance() % 4 ? (uintptr_t)room : 8;
		ssize_t len = chance() % 8 ? sizeof u : chance() % sizeof u;
		ssize_t written = write(channel->fd, &u, len);
		EXPECT(written == len || written == -1);
	}
	void *volatile nowhere = (void *)8;
	REFUSED(write(channel->fd, nowhere, 64), EFAULT);
	rdma_destroy_event_channel(channel);
}

/* Datagrams to the manager of this very process, by a QP that says it is one. */
static void messages_may_be_anything(void)
{
	enum { QKEY = 0x80010000, BYTES = 256 };
	struct rdma_cm_id *id = resolved(client, RDMA_PS_UDP);
	struct ibv_qp_init_attr init = qp_attr();
	init.qp_type = IBV_QPT_UD;
	NEED(!rdma_create_qp(id, NULL, &init));
	struct ibv_qp_attr attr = { .qkey = QKEY };
	NEED(!ibv_modify_qp(id->qp, &attr, IBV_QP_QKEY));
	struct ibv_ah_attr way = way_to_self(id);
	struct ibv_ah *ah;
	NEED(ah = ibv_create_ah(id->pd, &way));
	static uint8_t message[BYTES];
	struct ibv_mr *mr;
	NEED(mr = ibv_reg_mr(id->pd, message, BYTES, 0));

	for (int i = 0; i < 20000; i++) {
		for (unsigned byte = 0; byte < BYTES; byte++)
			message[byte] = chance() % 2 ? chance() : 0;
		if (chance() % 16)
			memcpy(message, (uint8_t[]){ 1, 7, 2, 3 }, 4);
		message[16] = 0;
		message[17] = chance() % 16 ? 0x10 + chance() % 9 : chance();
		if (message[17] == 0x10 && chance() % 4) {
			/* Almost a request for a listener: service, transport, addresses. */
			memcpy(message + 24 + 8, (uint8_t[]){ 0, 0, 0, 0, 1, 6, port >> 8, port & 255 }, 8);
			message[24 + 43] &= ~6;
			memcpy(message + 24 + 140, (uint8_t[]){ 0, chance() % 8 << 4 }, 2);
		}
		struct ibv_sge sge = { .addr = (uintptr_t)message, .length = BYTES, .lkey = mr->lkey };
		struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
						.send_flags = IBV_SEND_SIGNALED };
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = (id->qp->qp_num & ~0x3fff) | 1;
		wr.wr.ud.remote_qkey = QKEY;
		NEED(!ibv_post_send(id->qp, &wr, &bad));
		struct ibv_wc wc;
		while (!ibv_poll_cq(id->send_cq, 1, &wc))
			;
		EXPECT(wc.status == IBV_WC_SUCCESS);
		/* What looked like a request is refused by the end of its id. */
		struct pollfd ready = { .fd = server->fd, .events = POLLIN };
		while (poll(&ready, 1, 0) == 1) {
			struct rdma_cm_event *got;
			NEED(!rdma_get_cm_event(server, &got));
			EXPECT(got->event == RDMA_CM_EVENT_CONNECT_REQUEST);
			struct rdma_cm_id *passive = got->id;
			rdma_ack_cm_event(got);
			rdma_destroy_id(passive);
		}
	}
	ibv_dereg_mr(mr);
	ibv_destroy_ah(ah);
	bye(id);
}

/* An open device is any user's, an event channel only its opener's. */
static void the_process_becomes_another_user(void)
{
	struct rdma_cm_id *id;
	struct ibv_context *opened = open_first();
	EXPECT(setgid(65534) == 0 && setuid(65534) == 0);
	REFUSED(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), EACCES);
	EXPECT(ibv_dealloc_pd(NEED(ibv_alloc_pd(opened))) == 0 && ibv_close_device(opened) == 0);
	struct rdma_event_channel *own = NEED(rdma_create_event_channel());
	EXPECT(rdma_create_id(own, &id, NULL, RDMA_PS_TCP) == 0 && rdma_destroy_id(id) == 0);
	rdma_destroy_event_channel(own);
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *ends[2];
	set_up();
	if (argc > 1 && !strcmp(argv[1], "user")) {
		the_process_becomes_another_user();
		/* The channels of the first user cannot be torn down. */
		return failures != 0;
	}
	if (argc > 1 && !strcmp(argv[1], "hostile")) {
		commands_may_be_anything();
		messages_may_be_anything();
		/* All is well, whatever of it is still on its way. */
		tear_down();
		port++;
		set_up();
		connected(ends, "hello");
		bye(ends[0]);
		EXPECT(NEXT(server, DISCONNECTED) == ends[1]);
		bye(ends[1]);
	} else {
		connections_are_made_and_ended();
		the_messages_carry_options();
		requests_are_rejected();
		calls_have_their_order_and_errors();
		channels_can_be_polled();
		datagrams_say_where_they_come_from();
		programs_write_events_to_themselves();
	}
	tear_down();
	return failures != 0;
}

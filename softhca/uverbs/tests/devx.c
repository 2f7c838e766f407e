/*
 * Commands of the device, sent as mailboxes through mlx5dv_devx_*: what is asked of the kernel driver, and what it answers. The
 * argument names the part.
 */
#include "devx_qp.h"
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Objects are made, keep what they need, and go. */
static void objects(void)
{
	unsigned first, second;
	struct mlx5dv_devx_obj *one = NEED(alloc_pd(context, &first)), *two = NEED(alloc_pd(context, &second));
	EXPECT(first != 0 && second != 0 && first != second);
	EXPECT(mlx5dv_devx_obj_destroy(one) == 0);
	/* No command queries a domain, and none of another kind of object may come with its handle. */
	uint8_t in[16] = {}, out[16] = {};
	set(in, OPCODE, ALLOC_PD);
	EXPECT(mlx5dv_devx_obj_query(two, in, sizeof(in), out, sizeof(out)) == EINVAL);
	set(in, OPCODE, QUERY_CQ);
	set(in, NUMBER, second);
	EXPECT(mlx5dv_devx_obj_query(two, in, sizeof(in), out, sizeof(out)) == EINVAL);
	EXPECT(mlx5dv_devx_obj_destroy(two) == 0);
	/* Nor are destructions and other users' commands the program's to send. */
	set(in, OPCODE, DEALLOC_PD);
	EXPECT(mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out)) == EINVAL);
	EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out))) == EINVAL);
	/* What is shorter than any mailbox. */
	set(in, OPCODE, ALLOC_PD);
	EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(context, in, 15, out, sizeof(out))) == EINVAL);
	EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(context, in, sizeof(in), out, 15)) == EINVAL);
	EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(context, NULL, sizeof(in), out, sizeof(out))) == EFAULT);
	EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(context, in, sizeof(in), NULL, sizeof(out))) == EFAULT);
	/* A command that the device does not have. */
	set(in, OPCODE, 0xb00);
	EXPECT_REFUSED(mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out)), out, BAD_OPERATION);
}

/* Memory for objects: what can be registered, and how. */
static void memories(void)
{
	struct mlx5dv_devx_umem *umem = NEED(mlx5dv_devx_umem_reg(context, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
	EXPECT(umem->umem_id != 0);
	EXPECT(mlx5dv_devx_umem_dereg(umem) == 0);
	/* Any address and length. */
	umem = NEED(mlx5dv_devx_umem_reg(context, memory + 100, 5000, 0));
	EXPECT(mlx5dv_devx_umem_dereg(umem) == 0);
	umem = NEED(mlx5dv_devx_umem_reg(context, "constant", 8, 0));
	EXPECT(mlx5dv_devx_umem_dereg(umem) == 0);
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg(context, memory, 0, 0)) == EINVAL);
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg(context, (void *)64, 4096, 0)) == EFAULT);
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg(context, "constant", 8, IBV_ACCESS_LOCAL_WRITE)) == EFAULT);
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg(context, memory, -4096UL, 0)) == EINVAL);
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg(context, memory, 4096, IBV_ACCESS_REMOTE_WRITE)) == EINVAL);
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg(context, memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) == EINVAL);
	struct mlx5dv_devx_umem_in in = { .addr = memory, .size = sizeof(memory), .access = IBV_ACCESS_LOCAL_WRITE };
	in.pgsz_bitmap = 1 << 12;
	umem = NEED(mlx5dv_devx_umem_reg_ex(context, &in));
	EXPECT(mlx5dv_devx_umem_dereg(umem) == 0);
	in.pgsz_bitmap = 0xfff;
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg_ex(context, &in)) == EINVAL);
}

/* An object of another kind has another name, even of the same number. */
static void queries(void)
{
	struct mlx5dv_devx_uar *uar = NEED(new_uar(context));
	struct devx_cq cq = make_cq(uar, 4), other = make_cq(uar, 5);
	uint8_t in[16] = {}, out[CREATE_CQ_BYTES] = {};
	set(in, OPCODE, QUERY_CQ);
	set(in, NUMBER, cq.number);
	EXPECT(mlx5dv_devx_obj_query(cq.object, in, sizeof(in), out, sizeof(out)) == 0);
	EXPECT(get(out, STATUS) == OK && get(out, CQC_LOG_CQ_SIZE) == 4 && get(out, CQC_UAR_PAGE) == uar->page_id);
	EXPECT(mlx5dv_devx_obj_query(other.object, in, sizeof(in), out, sizeof(out)) == EINVAL);
	EXPECT(mlx5dv_devx_obj_modify(cq.object, in, sizeof(in), out, sizeof(out)) == EINVAL);
	set(in, OPCODE, QUERY_QP);
	EXPECT(mlx5dv_devx_obj_query(cq.object, in, sizeof(in), out, sizeof(out)) == EINVAL);
	/* Room for less than the device has to say. */
	set(in, OPCODE, QUERY_CQ);
	EXPECT_REFUSED(mlx5dv_devx_obj_query(cq.object, in, sizeof(in), out, 16), out, BAD_OUTPUT_LENGTH);
	/* The kernel knows the event queues. */
	struct devx_cq wrong;
	uint8_t create[CREATE_CQ_BYTES] = {};
	prepare_cq(&wrong, uar, 4);
	fill_create_cq(create, &wrong);
	set(create, CQC_EQN, 0x7f);
	EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(context, create, sizeof(create), out, sizeof(out))) == ENOENT);
	/* And the device its pages and memory. */
	fill_create_cq(create, &wrong);
	set(create, CQC_UAR_PAGE, 0xffff);
	EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(context, create, sizeof(create), out, sizeof(out))) == EREMOTEIO);
	EXPECT(get(out, STATUS) == BAD_RESOURCE);
	fill_create_cq(create, &wrong);
	set(create, CQ_UMEM_ID, 0xffff);
	EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(context, create, sizeof(create), out, sizeof(out))) == EREMOTEIO);
	EXPECT(get(out, STATUS) == BAD_RESOURCE);
	EXPECT(mlx5dv_devx_umem_dereg(wrong.umem) == 0);
	free(wrong.ring);
	/* What is in use stays. */
	EXPECT(mlx5dv_devx_umem_dereg(cq.umem) == EBUSY);
	destroy_cq(&cq);
	destroy_cq(&other);
	mlx5dv_devx_free_uar(uar);
}

/* Verbs' objects can be queried by commands, by the names that the kernel driver has given them. */
static void verbs_objects(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 15, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	struct mlx5dv_cq raw = raw_cq(cq);
	enum { QUERY_RMP = 0x90f };
	uint8_t in[16] = {}, out[0x210] = {};
	set(in, OPCODE, QUERY_CQ);
	set(in, NUMBER, raw.cqn);
	EXPECT(mlx5dv_devx_cq_query(cq, in, sizeof(in), out, sizeof(out)) == 0);
	EXPECT(get(out, CQC_LOG_CQ_SIZE) == 4);
	set(in, NUMBER, raw.cqn + 1);
	EXPECT(mlx5dv_devx_cq_query(cq, in, sizeof(in), out, sizeof(out)) == EINVAL);
	set(in, OPCODE, QUERY_QP);
	EXPECT(mlx5dv_devx_cq_query(cq, in, sizeof(in), out, sizeof(out)) == EINVAL);
	set(in, NUMBER, qp->qp_num);
	EXPECT(mlx5dv_devx_qp_query(qp, in, sizeof(in), out, sizeof(out)) == 0);
	EXPECT(get(out, QPC_STATE) == STATE_RST && get(out, QPC_CQN_SND) == raw.cqn);
	to_init(qp);
	EXPECT(mlx5dv_devx_qp_query(qp, in, sizeof(in), out, sizeof(out)) == 0 && get(out, QPC_STATE) == STATE_INIT);
	/* And changed: verbs see it. */
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	set(in, OPCODE, TO_ERR);
	EXPECT(mlx5dv_devx_qp_modify(qp, in, sizeof(in), out, sizeof(out)) == 0);
	EXPECT(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_ERR);
	/* A shared receive queue is an RMP. */
	struct ibv_srq *srq = NEED(ibv_create_srq(pd, &(struct ibv_srq_init_attr){ .attr = { .max_wr = 16, .max_sge = 1 } }));
	struct mlx5dv_srq raw_srq = { .comp_mask = MLX5DV_SRQ_MASK_SRQN };
	struct mlx5dv_obj of_srq = { .srq = { .in = srq, .out = &raw_srq } };
	EXPECT(mlx5dv_init_obj(&of_srq, MLX5DV_OBJ_SRQ) == 0);
	set(in, OPCODE, QUERY_RMP);
	set(in, NUMBER, raw_srq.srqn);
	EXPECT(mlx5dv_devx_srq_query(srq, in, sizeof(in), out, sizeof(out)) == 0 && get(out, STATUS) == OK);
	EXPECT(ibv_destroy_srq(srq) == 0);
	EXPECT(ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0);
}

/* Outputs that come by a file. */
static void answers(void)
{
	struct mlx5dv_devx_uar *uar = NEED(new_uar(context));
	struct devx_cq cq = make_cq(uar, 4);
	struct mlx5dv_devx_cmd_comp *file = NEED(mlx5dv_devx_create_cmd_comp(context));
	struct pollfd waits = { .fd = file->fd, .events = POLLIN };
	union {
		struct mlx5dv_devx_async_cmd_hdr header;
		uint8_t bytes[8 + CREATE_CQ_BYTES];
	} answer;
	uint8_t in[16] = {};
	set(in, OPCODE, QUERY_CQ);
	set(in, NUMBER, cq.number);
	EXPECT(poll(&waits, 1, 0) == 0);
	for (uint64_t number = 1; number <= 2; number++)
		EXPECT(mlx5dv_devx_obj_query_async(cq.object, in, sizeof(in), CREATE_CQ_BYTES, number << 40, file) == 0);
	EXPECT(poll(&waits, 1, 1000) == 1 && waits.revents == POLLIN);
	EXPECT(mlx5dv_devx_get_async_cmd_comp(file, &answer.header, sizeof(answer) - 1) != 0 && errno == ENOSPC);
	for (uint64_t number = 1; number <= 2; number++) {
		EXPECT(mlx5dv_devx_get_async_cmd_comp(file, &answer.header, sizeof(answer)) == 0);
		EXPECT(answer.header.wr_id == number << 40);
		EXPECT(get(answer.header.out_data, STATUS) == OK && get(answer.header.out_data, CQC_LOG_CQ_SIZE) == 4);
	}
	EXPECT(poll(&waits, 1, 0) == 0);
	EXPECT(fcntl(file->fd, F_SETFL, O_NONBLOCK) == 0);
	EXPECT(mlx5dv_devx_get_async_cmd_comp(file, &answer.header, sizeof(answer)) != 0 && errno == EAGAIN);
	/* A command that the device refuses says so in its output. */
	EXPECT(mlx5dv_devx_obj_query_async(cq.object, in, sizeof(in), 16, 3, file) == 0);
	EXPECT(mlx5dv_devx_get_async_cmd_comp(file, &answer.header, sizeof(answer)) == 0 && answer.header.wr_id == 3);
	EXPECT(get(answer.header.out_data, STATUS) == BAD_OUTPUT_LENGTH);
	/* One that the kernel refuses does not come. */
	EXPECT(mlx5dv_devx_obj_query_async(cq.object, in, 15, 16, 4, file) == EINVAL);
	set(in, NUMBER, cq.number + 1);
	EXPECT(mlx5dv_devx_obj_query_async(cq.object, in, sizeof(in), 16, 4, file) == EINVAL);
	EXPECT(poll(&waits, 1, 0) == 0);
	/* A megabyte may wait. */
	set(in, NUMBER, cq.number);
	unsigned wait = 0;
	int result;
	while ((result = mlx5dv_devx_obj_query_async(cq.object, in, sizeof(in), 0x8000, wait, file)) == 0 && wait < 100)
		wait++;
	EXPECT(result == EAGAIN && wait == 32);
	struct mlx5dv_devx_cmd_comp none = { .fd = 0 };
	EXPECT(mlx5dv_devx_obj_query_async(cq.object, in, sizeof(in), 16, 4, &none) == EBADF);
	mlx5dv_devx_destroy_cmd_comp(file);
	destroy_cq(&cq);
	mlx5dv_devx_free_uar(uar);
}

enum { PORT_CHANGE = 0x09, EQE_TYPE = 1, EQE_SUBTYPE = 3, EQE_DATA = 32, PORT_DOWN = 1, PORT_ACTIVE = 4 };

/* A device's entry about an event, after the program's number. */
union event {
	struct mlx5dv_devx_async_event_hdr header;
	uint8_t bytes[8 + 64];
};

/* Events of no object: of a port. */
static void port_events(void)
{
	int (*set_port)(int, int, int) = device_function("softhca_set_port");
	struct mlx5dv_devx_event_channel *full = NEED(mlx5dv_devx_create_event_channel(context, 0));
	struct mlx5dv_devx_event_channel *bare =
		NEED(mlx5dv_devx_create_event_channel(context, MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA));
	int counter = eventfd(0, EFD_NONBLOCK);
	uint16_t port_change = PORT_CHANGE, both[] = { PORT_CHANGE, 0x08 };
	EXPECT(mlx5dv_devx_subscribe_devx_event(full, NULL, sizeof(port_change), &port_change, 0x1234567890) == 0);
	EXPECT(mlx5dv_devx_subscribe_devx_event(bare, NULL, sizeof(port_change), &port_change, 77) == 0);
	EXPECT(mlx5dv_devx_subscribe_devx_event_fd(full, counter, NULL, PORT_CHANGE) == 0);
	/* Not events of QPs, and not some of several. */
	EXPECT(mlx5dv_devx_subscribe_devx_event(full, NULL, sizeof(both), both, 5) == EINVAL);
	EXPECT(mlx5dv_devx_subscribe_devx_event(full, NULL, 1, &port_change, 5) == EINVAL);
	EXPECT(mlx5dv_devx_subscribe_devx_event(full, NULL, 0, &port_change, 5) == EINVAL);
	EXPECT(mlx5dv_devx_subscribe_devx_event_fd(full, full->fd + 1000, NULL, PORT_CHANGE) == EBADF);
	EXPECT(mlx5dv_devx_subscribe_devx_event_fd(full, 0, NULL, PORT_CHANGE) == EINVAL);
	EXPECT(set_port(0, 1, 0) == 0);
	EXPECT(set_port(0, 1, 1) == 0);
	for (unsigned expected = PORT_DOWN;; expected = PORT_ACTIVE) {
		union event event;
		EXPECT(mlx5dv_devx_get_event(full, &event.header, sizeof(event) - 1) == -1 && errno == EINVAL);
		EXPECT(mlx5dv_devx_get_event(full, &event.header, sizeof(event)) == sizeof(event));
		EXPECT(event.header.cookie == 0x1234567890 && event.header.out_data[EQE_TYPE] == PORT_CHANGE);
		EXPECT(event.header.out_data[EQE_SUBTYPE] == expected && event.header.out_data[EQE_DATA + 8] == 1 << 4);
		if (expected == PORT_ACTIVE)
			break;
	}
	/* Once, until it is read. */
	uint64_t cookie = 0, count = 0;
	EXPECT(fcntl(bare->fd, F_SETFL, O_NONBLOCK) == 0);
	EXPECT(mlx5dv_devx_get_event(bare, (void *)&cookie, sizeof(cookie)) == sizeof(cookie) && cookie == 77);
	EXPECT(mlx5dv_devx_get_event(bare, (void *)&cookie, sizeof(cookie)) == -1 && errno == EAGAIN);
	EXPECT(read(counter, &count, sizeof(count)) == sizeof(count) && count == 2);
	mlx5dv_devx_destroy_event_channel(full);
	EXPECT(set_port(0, 1, 0) == 0);
	EXPECT(set_port(0, 1, 1) == 0);
	EXPECT(read(counter, &count, sizeof(count)) == -1 && errno == EAGAIN);
	EXPECT(mlx5dv_devx_get_event(bare, (void *)&cookie, sizeof(cookie)) == sizeof(cookie) && cookie == 77);
	mlx5dv_devx_destroy_event_channel(bare);
	close(counter);
}

/* What one context has made, another cannot name; and when it closes, all goes, used or not. */
static void users(void)
{
	struct ibv_context *first = context;
	struct mlx5dv_devx_uar *uar = NEED(new_uar(first));
	struct devx_cq cq = make_cq(uar, 4);
	ssize_t (*objects_of)(int, char *, size_t) = device_function("softhca_objects");
	char before[512], after[512];
	EXPECT(objects_of(0, before, sizeof(before)) > 0);
	for (int round = 0; round < 3; round++) {
		struct ibv_context *second = open_first();
		uint8_t in[CREATE_CQ_BYTES] = {}, out[16] = {};
		unsigned number;
		NEED(alloc_pd(second, &number));
		NEED(mlx5dv_devx_create_event_channel(second, 0));
		/* Its memory, then its page. */
		fill_create_cq(in, &cq);
		EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(second, in, sizeof(in), out, sizeof(out))) == EREMOTEIO);
		EXPECT(get(out, STATUS) == BAD_RESOURCE);
		context = second;
		struct devx_cq own;
		prepare_cq(&own, uar, 4);
		fill_create_cq(in, &own);
		EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(second, in, sizeof(in), out, sizeof(out))) == EREMOTEIO);
		EXPECT(get(out, STATUS) == BAD_RESOURCE);
		own.uar = NEED(new_uar(second));
		fill_create_cq(in, &own);
		struct mlx5dv_devx_cmd_comp *file = NEED(mlx5dv_devx_create_cmd_comp(first));
		NEED(own.object = mlx5dv_devx_obj_create(second, in, sizeof(in), out, sizeof(out)));
		/* Nor has it another's files. */
		uint8_t query[16] = {};
		set(query, OPCODE, QUERY_CQ);
		set(query, NUMBER, get(out, NUMBER));
		EXPECT(mlx5dv_devx_obj_query_async(own.object, query, sizeof(query), 16, 4, file) == EBADF);
		mlx5dv_devx_destroy_cmd_comp(file);
		context = first;
		/* Everything is left behind, and goes. */
		EXPECT(ibv_close_device(second) == 0);
		EXPECT(objects_of(0, after, sizeof(after)) > 0 && strcmp(before, after) == 0);
	}
	destroy_cq(&cq);
	mlx5dv_devx_free_uar(uar);
}

/* Memory of a file, as a dma-buf is. */
static void files(void)
{
	int file = memfd_create("memory", 0);
	EXPECT(ftruncate(file, 8192) == 0);
	struct mlx5dv_devx_umem_in in = { .addr = (void *)4096, .size = 4096, .access = IBV_ACCESS_LOCAL_WRITE,
		.pgsz_bitmap = 1 << 12, .comp_mask = MLX5DV_UMEM_MASK_DMABUF, .dmabuf_fd = file };
	struct mlx5dv_devx_umem *umem = NEED(mlx5dv_devx_umem_reg_ex(context, &in));
	EXPECT(mlx5dv_devx_umem_dereg(umem) == 0);
	in.size = 8192;
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg_ex(context, &in)) == EINVAL);
	in.dmabuf_fd = 1000;
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg_ex(context, &in)) == EBADF);
	close(file);
}

/* What is registered counts as locked; to be run with a limit for everybody. */
static void limited(void)
{
	struct rlimit limit = { .rlim_cur = 1 << 20, .rlim_max = 1 << 20 };
	EXPECT(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
	char *large = NEED(aligned_alloc(4096, 2 << 20));
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg(context, large, 2 << 20, 0)) == ENOMEM);
	for (int i = 0; i < 3; i++) {
		struct mlx5dv_devx_umem *most = NEED(mlx5dv_devx_umem_reg(context, large, 3 << 18, 0));
		EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg(context, large, 3 << 18, 0)) == ENOMEM);
		EXPECT(mlx5dv_devx_umem_dereg(most) == 0);
	}
	free(large);
}

/* One request, with up to three attributes. */
static int request(int device, uint16_t object, uint16_t method, unsigned count, const struct ib_uverbs_attr *attrs)
{
	struct {
		struct ib_uverbs_ioctl_hdr header;
		struct ib_uverbs_attr attrs[3];
	} whole = { .header = { .length = sizeof(whole.header) + count * sizeof(*attrs), .object_id = object,
		.method_id = method, .num_attrs = count, .driver_id = RDMA_DRIVER_MLX5 } };
	memcpy(whole.attrs, attrs, count * sizeof(*attrs));
	return ioctl(device, RDMA_VERBS_IOCTL, &whole) == 0 ? 0 : errno;
}

/* What one of several threads does all the time: objects, memory, answers and events come and go. */
static void *churn(void *uar)
{
	for (int i = 0; i < 100; i++) {
		struct devx_cq cq = make_cq(uar, 3);
		struct mlx5dv_devx_event_channel *channel = NEED(mlx5dv_devx_create_event_channel(context, i % 2));
		struct mlx5dv_devx_cmd_comp *file = NEED(mlx5dv_devx_create_cmd_comp(context));
		uint16_t port_change = PORT_CHANGE, completion = 0;
		EXPECT(mlx5dv_devx_subscribe_devx_event(channel, NULL, sizeof(port_change), &port_change, i) == 0);
		EXPECT(mlx5dv_devx_subscribe_devx_event(channel, cq.object, sizeof(completion), &completion, i) == 0);
		uint8_t in[16] = {};
		set(in, OPCODE, QUERY_CQ);
		set(in, NUMBER, cq.number);
		union {
			struct mlx5dv_devx_async_cmd_hdr header;
			uint8_t bytes[8 + CREATE_CQ_BYTES];
		} answer;
		EXPECT(mlx5dv_devx_obj_query_async(cq.object, in, sizeof(in), CREATE_CQ_BYTES, i, file) == 0);
		EXPECT(mlx5dv_devx_get_async_cmd_comp(file, &answer.header, sizeof(answer)) == 0);
		EXPECT(answer.header.wr_id == (uint64_t)i && get(answer.header.out_data, CQC_LOG_CQ_SIZE) == 3);
		if (i % 2)
			mlx5dv_devx_destroy_event_channel(channel);
		destroy_cq(&cq);
		if (i % 2 == 0)
			mlx5dv_devx_destroy_event_channel(channel);
		mlx5dv_devx_destroy_cmd_comp(file);
	}
	return NULL;
}

/* Waits for an event that never comes. */
static void *wait_in_vain(void *channel)
{
	union event event;
	EXPECT(mlx5dv_devx_get_event(channel, &event.header, sizeof(event)) == -1 && errno == EIO);
	return NULL;
}

/* Whoever waits is woken when the context closes. */
static void closing(void)
{
	struct ibv_context *other = open_first();
	struct mlx5dv_devx_event_channel *channel = NEED(mlx5dv_devx_create_event_channel(other, 0));
	pthread_t waiting[2];
	for (int i = 0; i < 2; i++)
		EXPECT(pthread_create(&waiting[i], NULL, wait_in_vain, channel) == 0);
	usleep(20000);
	EXPECT(ibv_close_device(other) == 0);
	for (int i = 0; i < 2; i++)
		EXPECT(pthread_join(waiting[i], NULL) == 0);
	struct pollfd waits = { .fd = channel->fd, .events = POLLIN };
	EXPECT(poll(&waits, 1, 0) == 1);
	/* libmlx5 looks into the context that is gone to free it. */
	close(channel->fd);
}

/* Threads share a context, while a port goes down and up. */
static void threads(void)
{
	int (*set_port)(int, int, int) = device_function("softhca_set_port");
	ssize_t (*objects_of)(int, char *, size_t) = device_function("softhca_objects");
	char before[512], after[512];
	struct mlx5dv_devx_uar *uar = NEED(new_uar(context));
	EXPECT(objects_of(0, before, sizeof(before)) > 0);
	pthread_t all[4];
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_create(&all[i], NULL, churn, uar) == 0);
	for (int i = 0; i < 200; i++)
		EXPECT(set_port(0, 1, i % 2) == 0);
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_join(all[i], NULL) == 0);
	EXPECT(objects_of(0, after, sizeof(after)) > 0 && strcmp(before, after) == 0);
	mlx5dv_devx_free_uar(uar);
}

/* A context that is no user of the device, as older libraries ask for. */
static void no_user(void)
{
	int device = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
	struct mlx5_ib_alloc_ucontext_req_v2 wanted = { .total_num_bfregs = 16, .lib_caps = MLX5_LIB_CAP_DYN_UAR, .flags = 2 };
	struct mlx5_ib_alloc_ucontext_resp answer;
	struct ib_uverbs_attr setup[] = {
		{ .attr_id = UVERBS_ATTR_UHW_IN, .len = sizeof(wanted), .data = (uintptr_t)&wanted },
		{ .attr_id = UVERBS_ATTR_UHW_OUT, .len = sizeof(answer), .data = (uintptr_t)&answer },
	};
	/* Not with flags that there are none of. */
	EXPECT(request(device, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, 2, setup) == EOPNOTSUPP);
	wanted.flags = 0;
	EXPECT(request(device, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, 2, setup) == 0);
	uint8_t in[16] = {}, out[0x1010] = {};
	struct ib_uverbs_attr create[] = {
		{ .attr_id = MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE },
		{ .attr_id = MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, .len = sizeof(in), .data = (uintptr_t)in },
		{ .attr_id = MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, .len = 16, .data = (uintptr_t)out },
	};
	struct ib_uverbs_attr other[] = {
		{ .attr_id = MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, .len = sizeof(in), .data = (uintptr_t)in },
		{ .attr_id = MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, .len = sizeof(out), .data = (uintptr_t)out },
	};
	set(in, OPCODE, ALLOC_PD);
	EXPECT(request(device, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, 3, create) == EINVAL);
	set(in, OPCODE, NOP);
	EXPECT(request(device, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, 2, other) == EINVAL);
	/* What everybody may ask. */
	set(in, OPCODE, QUERY_HCA_CAP);
	set(in, OP_MOD, 1);
	EXPECT(request(device, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, 2, other) == 0);
	EXPECT(get(out, STATUS) == OK && get(out, LOG_MAX_CQ) > 10);
	EXPECT(request(device, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, 3, create) == EINVAL);
	close(device);
}

/* A child has what its parent had open, and takes none of it away. */
static void children(void)
{
	unsigned number;
	struct mlx5dv_devx_obj *object = NEED(alloc_pd(context, &number));
	struct mlx5dv_devx_event_channel *channel = NEED(mlx5dv_devx_create_event_channel(context, 0));
	uint16_t port_change = PORT_CHANGE;
	EXPECT(mlx5dv_devx_subscribe_devx_event(channel, NULL, sizeof(port_change), &port_change, 9) == 0);
	pid_t child = fork();
	if (child == 0) {
		mlx5dv_devx_destroy_event_channel(channel);
		close(context->cmd_fd);
		_exit(0);
	}
	int status = 1;
	EXPECT(waitpid(child, &status, 0) == child && status == 0);
	int (*set_port)(int, int, int) = device_function("softhca_set_port");
	EXPECT(set_port(0, 1, 0) == 0 && set_port(0, 1, 1) == 0);
	union event event;
	EXPECT(mlx5dv_devx_get_event(channel, &event.header, sizeof(event)) == sizeof(event) && event.header.cookie == 9);
	mlx5dv_devx_destroy_event_channel(channel);
	EXPECT(mlx5dv_devx_obj_destroy(object) == 0);
}

/* A device that has failed takes no commands, and lets objects go. */
static void failed(void)
{
	struct mlx5dv_devx_uar *uar = NEED(new_uar(context));
	struct devx_cq cq = make_cq(uar, 4);
	struct mlx5dv_devx_cmd_comp *file = NEED(mlx5dv_devx_create_cmd_comp(context));
	unsigned number;
	uint8_t in[16] = {}, out[CREATE_CQ_BYTES] = {};
	int (*fail)(int) = device_function("softhca_fail");
	EXPECT(fail(0) == 0);
	EXPECT(ERRNO_OF(alloc_pd(context, &number)) == ENXIO);
	set(in, OPCODE, QUERY_CQ);
	set(in, NUMBER, cq.number);
	EXPECT(mlx5dv_devx_obj_query(cq.object, in, sizeof(in), out, sizeof(out)) == ENXIO);
	EXPECT(mlx5dv_devx_obj_query_async(cq.object, in, sizeof(in), sizeof(out), 1, file) == ENXIO);
	set(in, OPCODE, QUERY_HCA_CAP);
	EXPECT(mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out)) == ENXIO);
	EXPECT(ERRNO_OF(mlx5dv_devx_umem_reg(context, memory, sizeof(memory), 0)) == EIO);
	destroy_cq(&cq);
	mlx5dv_devx_destroy_cmd_comp(file);
	mlx5dv_devx_free_uar(uar);
}

/* Numbers that mailboxes need. */
static void numbers(void)
{
	uint32_t eqn, other;
	EXPECT(mlx5dv_devx_query_eqn(context, 0, &eqn) == 0);
	EXPECT(mlx5dv_devx_query_eqn(context, 1, &other) == 0 && other != eqn);
	EXPECT(mlx5dv_devx_query_eqn(context, context->num_comp_vectors, &eqn) != 0 && errno == EINVAL);
	struct mlx5dv_devx_uar *uar = NEED(new_uar(context));
	struct mlx5dv_devx_uar *second = NEED(new_uar(context));
	/* Two registers may be in one page. */
	EXPECT(uar->page_id != 0 && uar->reg_addr != second->reg_addr);
	EXPECT((char *)uar->reg_addr - (char *)uar->base_addr >= 0x800);
	mlx5dv_devx_free_uar(uar);
	mlx5dv_devx_free_uar(second);
}

/* A page that is mapped without write combining. Those that come with the context are not. */
static void non_cached(void)
{
	struct mlx5dv_devx_uar *uar = NEED(new_uar(context));
	struct mlx5dv_devx_uar *non_cached = NEED(mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC));
	EXPECT(uar->page_id != non_cached->page_id);
	EXPECT((char *)non_cached->reg_addr - (char *)non_cached->base_addr == 0x800);
	mlx5dv_devx_free_uar(uar);
	mlx5dv_devx_free_uar(non_cached);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "objects", objects }, { "memories", memories }, { "numbers", numbers }, { "non-cached", non_cached },
		{ "queries", queries }, { "verbs-objects", verbs_objects }, { "answers", answers },
		{ "port-events", port_events }, { "users", users }, { "files", files }, { "no-user", no_user },
		{ "children", children }, { "limited", limited }, { "threads", threads }, { "closing", closing }, { "failed", failed },
	};
	if (argc < 2)
		return 2;
	start();
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strcmp(argv[1], parts[i].name) == 0)
			parts[i].run();
	return finish();
}

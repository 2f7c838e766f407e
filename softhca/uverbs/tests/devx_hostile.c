/*
 * Requests for objects of commands as no library makes them: any attributes, lengths, handles, files and mailboxes. Whatever is
 * answered, the process goes on, a context closes with all that is left in it, and the device works as before.
 *
 * usage: devx_hostile SEED ROUNDS
 */
#include "devx_qp.h"
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

static uint64_t state;

static uint32_t any(void)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return state >> 33;
}

static uint32_t below(uint32_t bound)
{
	return any() % bound;
}

#define ONE_OF(array) (array)[below(sizeof(array) / sizeof(*(array)))]

/* Most attributes of a request, and bytes of a mailbox. */
enum { MAX_ATTRS = 8, ROOM = 1 << 16 };

struct request {
	struct ib_uverbs_ioctl_hdr header;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
};

static const struct {
	uint16_t object, methods, attrs;
} kinds[] = {
	{ MLX5_IB_OBJECT_DEVX, 4, 5 },
	{ MLX5_IB_OBJECT_DEVX, 4, 5 },
	{ MLX5_IB_OBJECT_DEVX_OBJ, 5, 5 },
	{ MLX5_IB_OBJECT_DEVX_OBJ, 5, 5 },
	{ MLX5_IB_OBJECT_DEVX_OBJ, 5, 5 },
	{ MLX5_IB_OBJECT_DEVX_OBJ, 5, 5 },
	{ MLX5_IB_OBJECT_DEVX_UMEM, 2, 7 },
	{ MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, 1, 1 },
	{ MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, 1, 2 },
	{ MLX5_IB_OBJECT_UAR, 2, 5 },
};

/* Opcodes that there are, and some that there are not. */
static const uint16_t opcodes[] = {
	0x100, 0x101, 0x102, 0x104, 0x107, 0x108, 0x109, 0x10a, 0x10b, 0x200, 0x201, 0x202, 0x203, 0x301, 0x302, 0x303, 0x400,
	0x401, 0x402, 0x403, 0x500, 0x501, 0x502, 0x503, 0x504, 0x505, 0x506, 0x507, 0x50a, 0x50b, 0x50c, 0x50e, 0x600, 0x601,
	0x700, 0x701, 0x702, 0x703, 0x705, 0x706, 0x707, 0x708, 0x710, 0x711, 0x712, 0x713, 0x714, 0x717, 0x718, 0x719, 0x71a,
	0x740, 0x750, 0x752, 0x754, 0x760, 0x762, 0x770, 0x771, 0x772, 0x773, 0x782, 0x800, 0x801, 0x802, 0x803, 0x805, 0x806,
	0x807, 0x80d, 0x80e, 0x80f, 0x816, 0x817, 0x827, 0x829, 0x842, 0x900, 0x901, 0x902, 0x903, 0x904, 0x905, 0x906, 0x907,
	0x908, 0x909, 0x90a, 0x90b, 0x90c, 0x90d, 0x90e, 0x90f, 0x912, 0x913, 0x914, 0x915, 0x916, 0x917, 0x918, 0x919, 0x930,
	0x931, 0x932, 0x933, 0x934, 0x935, 0x936, 0x937, 0x938, 0x939, 0x93a, 0x93b, 0x93c, 0x93d, 0x940, 0xa00, 0xa01, 0xa02,
	0xa03, 0xa04, 0xa06, 0xa08, 0xa0a, 0xb00, 0xcff, 0xffff, 0,
};

/* A protection domain of the context. */
static unsigned domain;
static uint8_t *arena, *mailbox, *output;
/* Files that were made, of which the last few are open. */
static int files[16], quiet;
static unsigned made;

/* Handles of the last objects that were made. */
static uint64_t handles[16];
static unsigned handed;

/* CQs and QPs among them. */
static struct {
	uint16_t opcode;
	uint32_t number, handle;
} queues[16];
static unsigned queued;

/* Small numbers, of which some are taken, and a few that are large. */
static uint64_t number(void)
{
	static const uint64_t edges[] = { 0, 1, 0xff, 0x100, 0xffff, 0xffffff, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 32,
		1ULL << 63, ~0ULL };
	switch (below(8)) {
	case 0:
		return ONE_OF(edges);
	case 1:
	case 2:
		return ONE_OF(handles);
	default:
		return below(12);
	}
}

/* Some bytes, most of them zero. */
static void fill(uint8_t *bytes, unsigned len)
{
	memset(bytes, 0, len);
	for (unsigned changes = below(12); changes; changes--)
		set(bytes, below(len) * 8, 8 << below(3), number());
}

/* A mailbox: one that makes a queue, with something wrong perhaps, or any. */
static unsigned fill_mailbox(struct devx_cq *cq)
{
	static const unsigned lens[] = { 16, 16, 32, 48, 64, 80, 0x110, 0x110, 0x110, 0x118, 0x200, 0x400, 4096, 65535, 0, 1, 15 };
	unsigned len = ONE_OF(lens);
	fill(mailbox, ROOM);
	switch (below(4)) {
	case 0:
		memset(mailbox, 0, ROOM);
		fill_create_cq(mailbox, cq);
		len = CREATE_CQ_BYTES;
		break;
	case 1:
		memset(mailbox, 0, ROOM);
		set(mailbox, OPCODE, CREATE_QP);
		set(mailbox, QPC_PM_STATE, 3);
		set(mailbox, QPC_PD, domain);
		set(mailbox, QPC_LOG_SQ_SIZE, 2);
		set(mailbox, QPC_UAR_PAGE, cq->uar->page_id);
		set(mailbox, QPC_CQN_SND, cq->number);
		set(mailbox, QPC_CQN_RCV, cq->number);
		set(mailbox, QPC_DBR_UMEM_ID, cq->umem->umem_id);
		set(mailbox, WQ_UMEM_ID, cq->umem->umem_id);
		len = CREATE_QP_BYTES;
		break;
	default:
		set(mailbox, OPCODE, ONE_OF(opcodes));
		set(mailbox, NUMBER, number());
		return len;
	}
	for (unsigned changes = below(2) * below(4); changes; changes--)
		set(mailbox, below(len * 8), 1 + below(16), any());
	return below(8) ? len : below(len);
}

static struct ib_uverbs_attr attribute(uint16_t id, struct devx_cq *cq)
{
	static const uint16_t lens[] = { 0, 0, 1, 2, 4, 8, 9, 15, 16, 17, 64, 0x110, 4096, 65535 };
	struct ib_uverbs_attr attr = { .attr_id = id, .len = ONE_OF(lens), .flags = below(4) };
	switch (below(8)) {
	case 0:
		attr.len = fill_mailbox(cq);
		attr.data = (uintptr_t)mailbox;
		break;
	case 1:
		attr.data = (uintptr_t)output;
		break;
	case 2:
		attr.len = 8;
		attr.data = (uintptr_t)arena + below(ROOM);
		break;
	case 3:
		attr.len = 0;
		attr.data = files[below(16)];
		break;
	case 4:
		/* Nothing that can be read, or written. */
		attr.data = below(2) ? 64 : (uintptr_t) "constant";
		break;
	default:
		attr.len = below(3) ? attr.len : 0;
		attr.data = number();
	}
	/* No program may have the kernel write to where it has not said so. */
	if (attr.len > 8 && attr.data > 4096 && attr.data != (uintptr_t)mailbox && attr.data != (uintptr_t) "constant")
		attr.data = (uintptr_t)output;
	return attr;
}

/* A mailbox about a queue that there was once, with whatever in it. */
static unsigned name_queue(struct ib_uverbs_attr *handle)
{
	static const uint16_t of_cqs[] = { QUERY_CQ, MODIFY_CQ };
	static const uint16_t of_qps[] = { QUERY_QP, RST2INIT, INIT2RTR, RTR2RTS, 0x505, 0x506, TO_ERR, TO_RST, 0x50e };
	unsigned which = below(16), len = below(2) ? MODIFY_QP_BYTES : 16;
	handle->data = queues[which].handle;
	fill(mailbox, ROOM);
	for (unsigned changes = below(20); changes; changes--)
		set(mailbox, 0x80 + below((MODIFY_QP_BYTES - 16) * 8), 1 + below(8), any());
	set(mailbox, OPCODE, queues[which].opcode == CREATE_CQ ? ONE_OF(of_cqs) : ONE_OF(of_qps));
	set(mailbox, 16, 48, 0);
	set(mailbox, 0x40, 32, queues[which].number);
	return len;
}

/* A request whose attributes are what they should be, but for some. */
static void shape(struct request *request, struct devx_cq *cq)
{
	unsigned len = fill_mailbox(cq);
	struct ib_uverbs_attr *attrs = request->attrs;
	attrs[0] = (struct ib_uverbs_attr){ .attr_id = 0x1000, .data = number() };
	attrs[1] = (struct ib_uverbs_attr){ .attr_id = 0x1001, .len = len, .data = (uintptr_t)mailbox };
	attrs[2] = (struct ib_uverbs_attr){ .attr_id = 0x1002, .len = below(2) ? 0x110 : 16, .data = (uintptr_t)output };
	request->header.num_attrs = 3;
	switch (request->header.object_id) {
	case MLX5_IB_OBJECT_DEVX:
		attrs[0] = attrs[1];
		attrs[1] = attrs[2];
		attrs[0].attr_id = 0x1000;
		attrs[1].attr_id = 0x1001;
		request->header.num_attrs = 2;
		break;
	case MLX5_IB_OBJECT_DEVX_OBJ:
		if (request->header.method_id >= MLX5_IB_METHOD_DEVX_OBJ_MODIFY && below(4))
			attrs[1].len = name_queue(&attrs[0]);
		if (request->header.method_id == MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY) {
			attrs[2] = (struct ib_uverbs_attr){ .attr_id = 0x1002, .data = files[below(16)] };
			attrs[3] = (struct ib_uverbs_attr){ .attr_id = 0x1003, .len = 8, .data = number() };
			attrs[4] = (struct ib_uverbs_attr){ .attr_id = 0x1004, .len = 8, .data = number() };
			request->header.num_attrs = 5;
		}
		break;
	case MLX5_IB_OBJECT_DEVX_UMEM:
		attrs[1] = (struct ib_uverbs_attr){ .attr_id = 0x1001, .len = 8, .data = (uintptr_t)arena + below(4) * 2048 };
		attrs[2] = (struct ib_uverbs_attr){ .attr_id = 0x1002, .len = 8, .data = 1 + below(ROOM / 2) };
		attrs[3] = (struct ib_uverbs_attr){ .attr_id = 0x1003, .len = 4, .data = below(8) };
		attrs[4] = (struct ib_uverbs_attr){ .attr_id = 0x1004, .len = 4, .data = (uintptr_t)output };
		request->header.num_attrs = 5;
		break;
	case MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD:
	case MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD:
		attrs[1] = (struct ib_uverbs_attr){ .attr_id = 0x1001, .len = 4, .data = below(3) };
		request->header.num_attrs = 1 + (request->header.object_id == MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD);
	}
}

static void attempt(int device, struct devx_cq *cq)
{
	unsigned kind = below(sizeof(kinds) / sizeof(*kinds));
	struct request request = { .header = { .object_id = kinds[kind].object, .method_id = 0x1000 + below(kinds[kind].methods),
		.driver_id = RDMA_DRIVER_MLX5 } };
	if (below(4)) {
		shape(&request, cq);
		if (below(8) == 0)
			request.attrs[below(request.header.num_attrs)] =
				attribute(0x1000 + below(kinds[kind].attrs), cq);
	} else {
		request.header.num_attrs = below(MAX_ATTRS);
		for (unsigned i = 0; i < request.header.num_attrs; i++)
			request.attrs[i] = attribute(0x1000 + below(kinds[kind].attrs + 1), cq);
	}
	request.header.length = sizeof(request.header) + request.header.num_attrs * sizeof(*request.attrs);
	int is_file = request.header.object_id == MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD ||
		      request.header.object_id == MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD;
	int succeeded = ioctl(device, RDMA_VERBS_IOCTL, &request) == 0;
	if (succeeded && request.header.method_id == 0x1000 && request.attrs[0].attr_id == 0x1000)
		handles[handed++ % 16] = request.attrs[0].data;
	uint16_t opcode = get(mailbox, OPCODE);
	if (succeeded && request.header.object_id == MLX5_IB_OBJECT_DEVX_OBJ && request.header.method_id == 0x1000 &&
	    (opcode == CREATE_CQ || opcode == CREATE_QP)) {
		unsigned which = queued++ % 16;
		queues[which].opcode = opcode;
		queues[which].handle = request.attrs[0].data;
		queues[which].number = get(output, NUMBER);
	}
	if (succeeded && is_file) {
		int *file = &files[made++ % 16];
		if (*file != quiet)
			close(*file);
		for (unsigned i = 0; i < request.header.num_attrs; i++)
			if (request.attrs[i].attr_id == 0x1000)
				*file = request.attrs[i].data;
		fcntl(*file, F_SETFL, O_NONBLOCK);
	}
	if (below(8) == 0)
		EXPECT(read(files[below(16)], output, below(ROOM)) < ROOM);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	state = strtoull(argv[1], NULL, 0);
	start();
	ssize_t (*objects_of)(int, char *, size_t) = device_function("softhca_objects");
	arena = NEED(mmap(NULL, 3 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	mailbox = arena + ROOM;
	output = arena + 2 * ROOM;
	/* Reading these gives nothing, at once. */
	quiet = eventfd(0, EFD_NONBLOCK);
	for (int i = 0; i < 16; i++)
		files[i] = quiet;
	struct ibv_context *first = context;
	char before[512], after[512];
	EXPECT(objects_of(0, before, sizeof(before)) > 0);
	for (int contexts = 0; contexts < 4; contexts++) {
		context = open_first();
		struct mlx5dv_devx_uar *uar = NEED(new_uar(context));
		struct devx_cq cq = make_cq(uar, 4);
		NEED(alloc_pd(context, &domain));
		for (int i = 0; i < atoi(argv[2]) / 4; i++)
			attempt(context->cmd_fd, &cq);
		EXPECT(ibv_close_device(context) == 0);
		EXPECT(objects_of(0, after, sizeof(after)) > 0);
		if (strcmp(before, after) != 0)
			printf("%s, before %s\n", after, before), failures++;
	}
	/* It still does what it should. */
	context = first;
	struct mlx5dv_devx_uar *uar = NEED(new_uar(context));
	struct devx_cq cq = make_cq(uar, 3);
	struct mlx5dv_pd of_verbs = {};
	struct mlx5dv_obj of_pd = { .pd = { .in = pd, .out = &of_verbs } };
	EXPECT(mlx5dv_init_obj(&of_pd, MLX5DV_OBJ_PD) == 0);
	struct ibv_mr *mr = register_memory(pd);
	struct devx_qp qp = make_devx_qp(uar, of_verbs.pdn, &cq, 0);
	connect_devx_qp(&qp, qp.number);
	strcpy(memory, "as before");
	post_devx(&qp, MLX5_OPCODE_RDMA_WRITE, memory, mr->lkey, 64, memory + 64, mr->rkey, 1);
	struct mlx5_cqe64 *cqe = poll_devx(&cq);
	EXPECT(cqe && cqe->op_own >> 4 == MLX5_CQE_REQ && strcmp(memory + 64, "as before") == 0);
	destroy_devx_qp(&qp);
	destroy_cq(&cq);
	mlx5dv_devx_free_uar(uar);
	EXPECT(ibv_dereg_mr(mr) == 0);
	return finish();
}

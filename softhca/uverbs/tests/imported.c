/*
 * The objects of one process, used by others that have its device file: a keeper makes queues in memory that all share; posters
 * import the device and the objects, map the register, post, poll, and send commands. One poster is killed with requests under
 * way, and the next goes on where it was. With "inherit", the posters have the descriptors by exec; else they are sent them.
 * With "closed", the keeper closes the file while a poster has it.
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "devx_qp.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* The memory that keeper and posters share: first the messages and where they arrive, then rings and records. */
enum { SHARED = 1 << 16, MESSAGES = 8192, SLOT = 64 };

static char *shared;
static size_t taken = 2 * MESSAGES;

static void *take_shared(size_t alignment, size_t bytes)
{
	char *place = shared + (taken + alignment - 1) / alignment * alignment;
	taken = place + bytes - shared;
	return taken <= SHARED ? place : NULL;
}

/* What a poster must know; addresses are the keeper's. */
struct parcel {
	int cmd_fd, memory_fd;
	char *shared;
	struct devx_qp qp;
	struct devx_cq cq;
	uint32_t qp_handle, cq_handle, umem_handle, lkey, rkey, page_id;
	off_t page_at;
	size_t register_at;
};

/* How each release of libmlx5 begins its structures of objects and memories (providers/mlx5/mlx5.h). */
struct known_object {
	struct ibv_context *context;
	uint32_t handle;
};
struct known_memory {
	struct mlx5dv_devx_umem public;
	struct ibv_context *context;
	uint32_t handle;
};

static void send_parcel(int to, const struct parcel *parcel, int sends_files)
{
	char control[CMSG_SPACE(2 * sizeof(int))] = {};
	struct iovec body = { .iov_base = (void *)parcel, .iov_len = sizeof(*parcel) };
	struct msghdr message = { .msg_iov = &body, .msg_iovlen = 1 };
	if (sends_files) {
		int files[2] = { parcel->cmd_fd, parcel->memory_fd };
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(files));
		memcpy(CMSG_DATA(rights), files, sizeof(files));
	}
	EXPECT(sendmsg(to, &message, 0) == sizeof(*parcel));
}

static void receive_parcel(int from, struct parcel *parcel)
{
	char control[CMSG_SPACE(2 * sizeof(int))] = {};
	struct iovec body = { .iov_base = parcel, .iov_len = sizeof(*parcel) };
	struct msghdr message = { .msg_iov = &body, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	EXPECT(recvmsg(from, &message, 0) == sizeof(*parcel));
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	if (rights) {
		memcpy(&parcel->cmd_fd, CMSG_DATA(rights), sizeof(int));
		memcpy(&parcel->memory_fd, CMSG_DATA(rights) + sizeof(int), sizeof(int));
	}
}

/* A method of an object of the kernel's, by its handle: 0 or the errno. */
static int method(uint16_t object, uint16_t number, uint32_t handle, void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	struct {
		struct ib_uverbs_ioctl_hdr header;
		struct ib_uverbs_attr attrs[3];
	} request = { .header = { .object_id = object, .method_id = number, .driver_id = RDMA_DRIVER_MLX5, .num_attrs = in ? 3 : 1 } };
	request.header.length = sizeof(request.header) + request.header.num_attrs * sizeof(*request.attrs);
	request.attrs[0] = (struct ib_uverbs_attr){ .attr_id = 0x1000, .flags = UVERBS_ATTR_F_MANDATORY, .data = handle };
	request.attrs[1] = (struct ib_uverbs_attr){ .attr_id = 0x1001, .len = in_bytes, .flags = UVERBS_ATTR_F_MANDATORY,
		.data = (uintptr_t)in };
	request.attrs[2] = (struct ib_uverbs_attr){ .attr_id = 0x1002, .len = out_bytes, .flags = UVERBS_ATTR_F_MANDATORY,
		.data = (uintptr_t)out };
	return ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &request) == 0 ? 0 : errno;
}

static int destroy(uint16_t object, uint32_t handle)
{
	return method(object, 0x1001, handle, NULL, 0, NULL, 0);
}

/* The state of the QP; 99 if the query fails. */
static unsigned query(uint32_t handle, unsigned qpn, int *error)
{
	uint8_t in[16] = {}, out[MODIFY_QP_BYTES] = {};
	set(in, OPCODE, QUERY_QP);
	set(in, NUMBER, qpn);
	*error = method(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, handle, in, sizeof(in), out, sizeof(out));
	return *error ? 99 : get(out, QPC_STATE);
}

/* An open queue pair as a poster has it. */
static struct devx_qp qp;
static struct devx_cq cq;
static struct parcel parcel;

static char *here(void *in_keeper)
{
	return shared + ((char *)in_keeper - parcel.shared);
}

static struct mlx5dv_devx_uar uar;

/* Imports all: the device by its file, the objects by their handles, the queues by their memory. */
static void import(int socket)
{
	receive_parcel(socket, &parcel);
	context = NEED(ibv_import_device(parcel.cmd_fd));
	shared = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED, parcel.memory_fd, 0);
	EXPECT(shared != MAP_FAILED);
	uar.base_addr = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, context->cmd_fd, parcel.page_at);
	EXPECT(uar.base_addr != MAP_FAILED);
	uar.reg_addr = (char *)uar.base_addr + parcel.register_at;
	uar.page_id = parcel.page_id;
	/* A page that is not there. */
	errno = 0;
	EXPECT(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, context->cmd_fd, parcel.page_at + (64 << 12)) == MAP_FAILED && errno == EINVAL);
	cq = parcel.cq;
	cq.ring = (void *)here(cq.ring);
	cq.record = (void *)here(cq.record);
	qp = parcel.qp;
	qp.uar = &uar;
	qp.cq = &cq;
	qp.sq = here(qp.sq);
	qp.record = (void *)here(qp.record);
	/* Where the poster before was. */
	qp.posted = be32toh(qp.record[RECORD_SEND]);
	cq.consumed = be32toh(cq.record[0]);
}

/* Posts message `index`, which the device reads and writes in the memory of the keeper. */
static void post(unsigned index)
{
	EXPECT(qp.posted == index);
	snprintf(shared + index * SLOT, SLOT, "message %u", index);
	post_devx(&qp, MLX5_OPCODE_RDMA_WRITE, parcel.shared + index * SLOT, parcel.lkey, SLOT,
		  parcel.shared + MESSAGES + index * SLOT, parcel.rkey, index % 2);
}

static void complete(unsigned index)
{
	struct mlx5_cqe64 *cqe = poll_devx(&cq);
	EXPECT(cqe && cqe->op_own >> 4 == MLX5_CQE_REQ && be16toh(cqe->wqe_counter) == index);
	EXPECT(strcmp(shared + index * SLOT, shared + MESSAGES + index * SLOT) == 0);
}

/* What mlx5dv_devx_obj_import and its like do, where libmlx5 has them; and that the objects are usable so. */
static void import_by_library(void)
{
	struct sizes {
		uint32_t var, umem, object;
	} sizes;
	void (*get_sizes)(struct sizes *, size_t) = (void *)dlsym(RTLD_DEFAULT, "_mlx5dv_get_export_sizes");
	if (!get_sizes)
		return;
	struct mlx5dv_devx_obj *(*import_object)(struct ibv_context *, void *) = device_function("mlx5dv_devx_obj_import");
	int (*export_object)(struct mlx5dv_devx_obj *, void *) = device_function("mlx5dv_devx_obj_export");
	void (*unimport_object)(struct mlx5dv_devx_obj *) = device_function("mlx5dv_devx_obj_unimport");
	get_sizes(&sizes, sizeof(sizes));
	uint32_t *exported = NEED(calloc(2, sizes.object)), *again = NEED(calloc(2, sizes.object));
	exported[0] = parcel.qp_handle;
	qp.object = NEED(import_object(context, exported));
	EXPECT(state_of(&qp) == STATE_RTS);
	EXPECT(export_object(qp.object, again) == 0 && memcmp(exported, again, sizes.object) == 0);
	unimport_object(qp.object);
	free(exported);
	free(again);
}

static int poster(int socket, const char *role)
{
	int error;
	import(socket);
	if (strcmp(role, "first") == 0) {
		for (unsigned i = 0; i < 5; i++)
			post(i);
		for (unsigned i = 0; i < 3; i++)
			complete(i);
		/* The messages that it is told of, it has told of to nobody. */
		if (failures == 0)
			kill(getpid(), SIGKILL);
		return 1;
	}
	if (strcmp(role, "late") == 0) {
		/* The keeper's objects are gone, and a command says so. */
		char byte;
		EXPECT(write(socket, "", 1) == 1 && read(socket, &byte, 1) == 1);
		time_t begin = time(NULL);
		EXPECT(query(parcel.qp_handle, qp.number, &error) == 99 && error == EIO && time(NULL) - begin < 3);
		return failures != 0;
	}
	EXPECT(qp.posted == 5 && cq.consumed == 3);
	for (unsigned i = 3; i < 5; i++)
		complete(i);
	for (unsigned i = 5; i < 40; i++) {
		post(i);
		complete(i);
	}
	EXPECT(query(parcel.qp_handle, qp.number, &error) == STATE_RTS);
	import_by_library();
	/* Another object's number, and no object. */
	EXPECT(query(parcel.cq_handle, qp.number, &error) == 99 && error == EINVAL);
	EXPECT(query(0x7777, qp.number, &error) == 99 && error == ENOENT);
	EXPECT(destroy(MLX5_IB_OBJECT_DEVX_OBJ, 0x7777) == ENOENT);
	/* The memory of queues, and the CQ of a QP, are in use. */
	EXPECT(destroy(MLX5_IB_OBJECT_DEVX_UMEM, parcel.umem_handle) != 0);
	EXPECT(destroy(MLX5_IB_OBJECT_DEVX_OBJ, parcel.cq_handle) != 0);
	/* To the error state, and away. */
	uint8_t in[16] = {}, out[16] = {};
	set(in, OPCODE, TO_ERR);
	set(in, NUMBER, qp.number);
	EXPECT(method(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, parcel.qp_handle, in, 16, out, 16) == 0);
	EXPECT(query(parcel.qp_handle, qp.number, &error) == STATE_ERR);
	EXPECT(method(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, parcel.qp_handle, in, 15, out, 16) == EINVAL);
	EXPECT(destroy(MLX5_IB_OBJECT_DEVX_OBJ, parcel.qp_handle) == 0);
	EXPECT(query(parcel.qp_handle, qp.number, &error) == 99 && error == ENOENT);
	EXPECT(destroy(MLX5_IB_OBJECT_DEVX_OBJ, parcel.cq_handle) == 0);
	EXPECT(destroy(MLX5_IB_OBJECT_DEVX_UMEM, parcel.umem_handle) == 0);
	EXPECT(ibv_close_device(context) == 0);
	return failures != 0;
}

static pid_t start_poster(int sends_files, const char *role, int *socket)
{
	int ends[2];
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	pid_t child = fork();
	if (child == 0) {
		char end[16];
		snprintf(end, sizeof(end), "%d", ends[1]);
		execl("/proc/self/exe", "imported", "poster", end, role, NULL);
		_exit(127);
	}
	close(ends[1]);
	send_parcel(ends[0], &parcel, sends_files);
	*socket = ends[0];
	return child;
}

int main(int argc, char **argv)
{
	if (argc > 3 && strcmp(argv[1], "poster") == 0)
		return poster(atoi(argv[2]), argv[3]);
	const char *how = argc > 1 ? argv[1] : "";
	int inherits = strcmp(how, "inherit") == 0, status, socket;
	struct ibv_device **list = NEED(ibv_get_device_list(NULL));
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	context = NEED(mlx5dv_open_device(list[0], &attr));
	ibv_free_device_list(list);
	pd = NEED(ibv_alloc_pd(context));
	parcel.cmd_fd = context->cmd_fd;
	parcel.memory_fd = memfd_create("shared", inherits ? 0 : MFD_CLOEXEC);
	if (inherits)
		fcntl(context->cmd_fd, F_SETFD, 0);
	EXPECT(ftruncate(parcel.memory_fd, SHARED) == 0);
	shared = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED, parcel.memory_fd, 0);
	EXPECT(shared != MAP_FAILED);
	ring_memory = take_shared;

	struct mlx5dv_pd verbs_domain;
	struct mlx5dv_obj objects = { .pd = { .in = pd, .out = &verbs_domain } };
	EXPECT(mlx5dv_init_obj(&objects, MLX5DV_OBJ_PD) == 0);
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, shared, 2 * MESSAGES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	struct mlx5dv_devx_uar *page = NEED(new_uar(context));
	parcel.cq = make_cq(page, 6);
	parcel.qp = make_devx_qp(page, verbs_domain.pdn, &parcel.cq, 0);
	connect_devx_qp(&parcel.qp, parcel.qp.number);
	parcel.shared = shared;
	parcel.lkey = mr->lkey;
	parcel.rkey = mr->rkey;
	parcel.page_id = page->page_id;
	parcel.page_at = page->mmap_off;
	parcel.register_at = (char *)page->reg_addr - (char *)page->base_addr;
	parcel.qp_handle = ((struct known_object *)parcel.qp.object)->handle;
	parcel.cq_handle = ((struct known_object *)parcel.cq.object)->handle;
	parcel.umem_handle = ((struct known_memory *)parcel.qp.umem)->handle;

	if (strcmp(how, "closed") == 0) {
		char byte;
		pid_t child = start_poster(1, "late", &socket);
		EXPECT(read(socket, &byte, 1) == 1);
		EXPECT(ibv_close_device(context) == 0);
		EXPECT(write(socket, "", 1) == 1);
		EXPECT(waitpid(child, &status, 0) == child && status == 0);
		return failures != 0;
	}
	pid_t child = start_poster(!inherits, "first", &socket);
	EXPECT(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	child = start_poster(!inherits, "second", &socket);
	EXPECT(waitpid(child, &status, 0) == child && status == 0);
	for (int i = 0; i < 40; i++) {
		char expected[SLOT];
		snprintf(expected, sizeof(expected), "message %d", i);
		EXPECT(strcmp(shared + MESSAGES + i * SLOT, expected) == 0);
	}
	/* A poster has destroyed these objects. */
	uint8_t in[16] = {}, out[MODIFY_QP_BYTES] = {};
	set(in, OPCODE, QUERY_QP);
	set(in, NUMBER, parcel.qp.number);
	EXPECT(mlx5dv_devx_obj_query(parcel.qp.object, in, sizeof(in), out, sizeof(out)) == ENOENT);
	EXPECT(mlx5dv_devx_umem_dereg(parcel.cq.umem) == 0);
	mlx5dv_devx_free_uar(page);
	EXPECT(ibv_dereg_mr(mr) == 0);
	return finish();
}

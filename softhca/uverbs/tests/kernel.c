/*
 * Answers that a program gets from a kernel with a ConnectX, and should get here: who the device is, what its queues hold,
 * which error a request gets that cannot be served, contexts and their objects opened a second time.
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static void identity(void)
{
	struct ibv_device_attr attr;
	EXPECT(ibv_query_device(context, &attr) == 0);
	EXPECT(attr.vendor_id == 0x02c9 && attr.vendor_part_id == 0x1017);
	struct stat file, path;
	EXPECT(fstat(context->cmd_fd, &file) == 0 && S_ISCHR(file.st_mode) && major(file.st_rdev) == 231);
	char name[128];
	snprintf(name, sizeof(name), "/dev/infiniband/%s", context->device->dev_name);
	EXPECT(stat(name, &path) == 0 && S_ISCHR(path.st_mode) && path.st_rdev == file.st_rdev);
	/* A file that is none of the device's is described as it is. */
	int plain = open("/proc/self/exe", O_RDONLY);
	EXPECT(plain >= 0 && fstat(plain, &file) == 0 && S_ISREG(file.st_mode));
	close(plain);
}

/* A receive ring takes as many requests as a query tells, and ENOMEM one more. */
static void capacities(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 10, .max_recv_wr = 10, .max_send_sge = 1, .max_recv_sge = 3 },
	};
	struct ibv_qp *qp = NEED(ibv_create_qp(pd, &init));
	to_init(qp);
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr found;
	EXPECT(ibv_query_qp(qp, &attr, IBV_QP_CAP, &found) == 0);
	EXPECT(found.cap.max_recv_wr == 16 && found.cap.max_recv_sge == 4 && found.cap.max_recv_wr == init.cap.max_recv_wr);
	EXPECT(found.cap.max_send_wr == init.cap.max_send_wr && attr.cap.max_recv_wr == found.cap.max_recv_wr);
	struct ibv_recv_wr *bad, wr = { .wr_id = 1 };
	for (uint32_t i = 0; i < found.cap.max_recv_wr; i++)
		EXPECT(ibv_post_recv(qp, &wr, &bad) == 0);
	EXPECT(ibv_post_recv(qp, &wr, &bad) == ENOMEM);
	EXPECT(ibv_destroy_qp(qp) == 0);

	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 10, .max_sge = 1 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(pd, &shared));
	struct ibv_srq_attr held;
	/* libmlx5 makes the ring twice as large, and hands out half of it: page faults may keep the rest busy. */
	EXPECT(ibv_query_srq(srq, &held) == 0 && held.max_wr == 31 && held.max_sge == 1);
	for (uint32_t i = 0; i < held.max_wr / 2; i++)
		EXPECT(ibv_post_srq_recv(srq, &wr, &bad) == 0);
	EXPECT(ibv_post_srq_recv(srq, &wr, &bad) == ENOMEM);
	EXPECT(ibv_destroy_srq(srq) == 0);
}

struct request {
	struct ib_uverbs_ioctl_hdr header;
	struct ib_uverbs_attr attrs[3];
};

/* The error of a method with these attributes. */
static int refused(uint16_t object, uint16_t method, uint16_t count, const struct ib_uverbs_attr *attrs)
{
	struct request request = { .header = {
		.length = sizeof(request.header) + count * sizeof(*attrs), .object_id = object, .method_id = method,
		.num_attrs = count, .driver_id = RDMA_DRIVER_MLX5 } };
	memcpy(request.attrs, attrs, count * sizeof(*attrs));
	return ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &request) == 0 ? 0 : errno;
}

/* The error of a write command. */
static int command_refused(uint32_t command)
{
	struct ib_uverbs_attr attr = { .attr_id = UVERBS_ATTR_WRITE_CMD, .len = 8, .flags = UVERBS_ATTR_F_MANDATORY,
		.data = command };
	return refused(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, 1, &attr);
}

static void errors(void)
{
	/* What nobody has heard of. */
	EXPECT(refused(0x77, 0, 0, NULL) == EPROTONOSUPPORT);
	EXPECT(refused(UVERBS_OBJECT_PD, 0x77, 0, NULL) == EPROTONOSUPPORT);
	struct ib_uverbs_attr strange = { .attr_id = 0x77, .len = 4, .flags = UVERBS_ATTR_F_MANDATORY };
	EXPECT(refused(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 1, &strange) == EPROTONOSUPPORT);
	/* One that may be ignored; what must be there is not. */
	strange.flags = 0;
	EXPECT(refused(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 1, &strange) == EINVAL);
	/* Handles of nothing, and of something else; an attribute that comes twice. */
	struct ib_uverbs_attr handle = { .attr_id = UVERBS_ATTR_DESTROY_PD_HANDLE, .flags = UVERBS_ATTR_F_MANDATORY,
		.data = 0x7777 };
	EXPECT(refused(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 1, &handle) == ENOENT);
	handle.data = pd->handle;
	EXPECT(refused(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, 1, &handle) == EINVAL);
	struct ib_uverbs_attr twice[] = { handle, handle };
	EXPECT(refused(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 2, twice) == EINVAL);
	/* Commands: of numbers that do not exist, and of no form that there is. */
	EXPECT(command_refused(IB_USER_VERBS_CMD_ATTACH_MCAST) != 0);
	EXPECT(command_refused(0xfe) == EOPNOTSUPP);
	EXPECT(command_refused(IB_USER_VERBS_CMD_FLAG_EXTENDED | 0xfe) == EOPNOTSUPP);
	EXPECT(command_refused(0x100) == EINVAL);
	EXPECT(command_refused(IB_USER_VERBS_CMD_QUERY_DEVICE) == ENOSPC);
	EXPECT(ioctl(context->cmd_fd, 0x1234, NULL) == -1 && errno == ENOTTY);
	/* Features of what there is. */
	errno = 0;
	EXPECT(!ibv_reg_mr(pd, memory, 64, 1 << 8) && errno == EOPNOTSUPP);
}

/* The device's file duplicated, and what is behind it imported: the same objects, until both are closed. */
static void imports(void)
{
	struct ibv_mr *mr = register_memory(pd);
	struct ibv_context *second = NEED(ibv_import_device(dup(context->cmd_fd)));
	EXPECT(second->num_comp_vectors == context->num_comp_vectors);
	struct ibv_pd *same_pd = NEED(ibv_import_pd(second, pd->handle));
	struct ibv_mr *same_mr = NEED(ibv_import_mr(same_pd, mr->handle));
	EXPECT(same_mr->lkey == mr->lkey && same_mr->rkey == mr->rkey && same_mr->length == mr->length);
	errno = 0;
	EXPECT(!ibv_import_mr(same_pd, 0x7777) && errno == ENOENT);
	/* Queues of the one work with memory of the other. */
	struct ibv_cq *cq = NEED(ibv_create_cq(second, 4, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(same_pd, cq, NULL, IBV_QPT_RC));
	connect_to(qp, qp);
	memset(memory, 'a', 64);
	EXPECT(post_write(qp, same_mr, memory, memory + 4096, 64, IBV_SEND_SIGNALED) == 0);
	EXPECT(wait_for(cq).status == IBV_WC_SUCCESS && memcmp(memory, memory + 4096, 64) == 0);
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
	ibv_unimport_mr(same_mr);
	ibv_unimport_pd(same_pd);
	EXPECT(ibv_close_device(second) == 0);
	/* The first is as it was. */
	EXPECT(ibv_dereg_mr(mr) == 0);

	/* The other way round: what the first has made outlives it. */
	struct ibv_context *first = NEED(ibv_open_device(context->device));
	struct ibv_pd *lasting = NEED(ibv_alloc_pd(first));
	uint32_t handle = lasting->handle;
	second = NEED(ibv_import_device(dup(first->cmd_fd)));
	EXPECT(ibv_close_device(first) == 0);
	same_pd = NEED(ibv_import_pd(second, handle));
	EXPECT(NEED(ibv_reg_mr(same_pd, memory, 4096, 0)) != NULL);
	EXPECT(ibv_close_device(second) == 0);
}

/* Descriptors that the process has. */
static int descriptors(void)
{
	int count = 0;
	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* With the last descriptor all goes that was made with it, whatever was left. */
static void closing(void)
{
	int before = descriptors();
	for (int round = 0; round < 3; round++) {
		struct ibv_context *left = NEED(ibv_open_device(context->device));
		struct ibv_pd *domain = NEED(ibv_alloc_pd(left));
		NEED(ibv_reg_mr(domain, memory, 4096, 0));
		EXPECT(ibv_close_device(left) == 0);
	}
	EXPECT(descriptors() == before);
}

/* A child closes its descriptors; the device and its objects stay the parent's. */
static void children(void)
{
	for (volatile int kind = 0; kind < 2; kind++) {
		struct ibv_context *opened = NEED(ibv_open_device(context->device));
		struct ibv_pd *domain = NEED(ibv_alloc_pd(opened));
		struct ibv_comp_channel *channel = NEED(ibv_create_comp_channel(opened));
		struct ibv_mr *mr = register_memory(domain);
		struct ibv_cq *cq = NEED(ibv_create_cq(opened, 4, NULL, channel, 0));
		struct ibv_qp *qp = NEED(make_qp(domain, cq, NULL, IBV_QPT_RC));
		connect_to(qp, qp);
		pid_t child = kind == 0 ? vfork() : fork();
		if (child == 0) {
			close(channel->fd);
			close(opened->cmd_fd);
			/* The numbers are free for other files. (A child of vfork must not tell: its table is the parent's.) */
			int on = 1, ends[2];
			_exit(kind == 1 && (pipe(ends) != 0 || ioctl(ends[0], FIONBIO, &on) != 0));
		}
		int status = -1;
		EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
		for (int round = 0; round < 3; round++) {
			EXPECT(post_write(qp, mr, memory, memory + 4096, 64, IBV_SEND_SIGNALED) == 0);
			EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
		}
		EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
		/* The channel's number, too, is known as before. */
		cq = NEED(ibv_create_cq(opened, 4, NULL, channel, 0));
		EXPECT(ibv_destroy_cq(cq) == 0 && ibv_destroy_comp_channel(channel) == 0);
		EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(domain) == 0 && ibv_close_device(opened) == 0);
	}
}

/* Another file behind the number of a device, whichever way it came there, is that file. */
static void reused(void)
{
	for (int way = 0; way < 4; way++) {
		int device = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC), ends[2], on = 1;
		EXPECT(device >= 0 && pipe(ends) == 0);
		EXPECT(dup2(device, device) == device && dup2(1023, device) == -1 && errno == EBADF);
		EXPECT(ioctl(device, FIONBIO, &on) == 0 && fcntl(device, F_GETFL) & O_NONBLOCK);
		EXPECT(ioctl(device, FIONREAD, &on) == -1 && errno == ENOTTY);
		if (way == 0)
			EXPECT(dup2(ends[0], device) == device);
		else if (way == 1)
			EXPECT(dup3(ends[0], device, O_CLOEXEC) == device);
		else if (way == 2)
			EXPECT(close_range(device, device, 0) == 0 && fcntl(ends[0], F_DUPFD, device) == device);
		else
			EXPECT(close(device) == 0 && fcntl(ends[0], F_DUPFD, device) == device);
		EXPECT(ioctl(device, FIONBIO, &on) == 0);
		close(device);
		close(ends[0]);
		close(ends[1]);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	start();
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 63, NULL, NULL, 0));
	identity();
	capacities(cq);
	errors();
	closing();
	children();
	reused();
	/* libmlx5 imports no context whose registers came with it. */
	if (argc == 1)
		imports();
	EXPECT(ibv_destroy_cq(cq) == 0);
	return finish();
}

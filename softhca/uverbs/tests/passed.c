/*
 * A device file passed to another process, which imports the context, a protection domain and a region of the first
 * one's, and works with them: its queues reach the first one's memory. With the argument "forged": a file that only
 * looks like one. With "exec": the first process starts another program after that, whose memory is no longer reached.
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct parcel {
	uint32_t pd_handle, mr_handle, rkey, lost_handle;
	uint64_t address;
};

static void send_file(int to, int fd, const struct parcel *parcel)
{
	char control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec body = { .iov_base = (void *)parcel, .iov_len = sizeof(*parcel) };
	struct msghdr message = { .msg_iov = &body, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	EXPECT(sendmsg(to, &message, 0) == sizeof(*parcel));
}

static int receive_file(int from, struct parcel *parcel)
{
	char control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec body = { .iov_base = parcel, .iov_len = sizeof(*parcel) };
	struct msghdr message = { .msg_iov = &body, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	int fd = -1;
	EXPECT(recvmsg(from, &message, 0) == sizeof(*parcel));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* Tells the process behind a socket that it is its turn. */
static void hand_over(int socket)
{
	EXPECT(write(socket, "", 1) == 1);
}

/* Waits until it is the turn of this process. */
static void wait_for_turn(int socket)
{
	char byte;
	EXPECT(read(socket, &byte, 1) == 1);
}

/* The program that the first process starts. It has memory where the other one had the region. */
static int successor(int socket, void *address)
{
	char *page = mmap(address, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	EXPECT(page == address);
	memset(page, 's', 4096);
	hand_over(socket);
	wait_for_turn(socket);
	int others = 0;
	for (int i = 0; i < 4096; i++)
		others += page[i] != 's';
	EXPECT(others == 0);
	return failures != 0;
}

/* The process that the file is passed to. */
static int importer(int socket, int maker_leaves)
{
	struct parcel parcel;
	context = NEED(ibv_import_device(receive_file(socket, &parcel)));
	struct ibv_pd *imported = NEED(ibv_import_pd(context, parcel.pd_handle));
	struct ibv_mr *mr = NEED(ibv_import_mr(imported, parcel.mr_handle));
	EXPECT(mr->length == 4096 && mr->rkey == parcel.rkey);
	errno = 0;
	EXPECT(!ibv_import_mr(imported, parcel.lost_handle) && errno == ENOENT);
	errno = 0;
	EXPECT(!ibv_import_pd(context, 0x7777) && errno == ENOENT);

	/* Queues and memory of its own, beside the domain and the region that it was passed. */
	struct ibv_mr *own = register_memory(imported);
	EXPECT(own->handle != mr->handle && own->rkey != mr->rkey);
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 8, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(imported, cq, NULL, IBV_QPT_RC));
	connect_to(qp, qp);
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 64, .lkey = own->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { .remote_addr = parcel.address + 64, .rkey = mr->rkey } };
	memset(memory, 'i', 64);
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
	/* And back: what the first process has put there. */
	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr.rdma.remote_addr = parcel.address;
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0 && wait_for(cq).status == IBV_WC_SUCCESS && memory[63] == 'e');
	/* In the memory of another program, or past the region's end. */
	if (maker_leaves) {
		hand_over(socket);
		wait_for_turn(socket);
		wr.opcode = IBV_WR_RDMA_WRITE;
	} else {
		wr.wr.rdma.remote_addr = parcel.address + 4096;
	}
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0 && wait_for(cq).status != IBV_WC_SUCCESS);

	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(own) == 0);
	ibv_unimport_mr(mr);
	ibv_unimport_pd(imported);
	EXPECT(ibv_close_device(context) == 0);
	if (maker_leaves)
		hand_over(socket);
	return failures != 0;
}

/*
 * Memory with the name of a device file, which its maker can take away from under mappings of it. Where processes with
 * one file have their table, it says that there is a context.
 */
static void forged(void)
{
	const uint64_t answered = 1;
	int fd = memfd_create("softhca-uverbs0", MFD_CLOEXEC);
	EXPECT(pwrite(fd, &answered, sizeof(answered), 0x800000000) == sizeof(answered));
	struct stat status;
	EXPECT(fstat(fd, &status) == 0 && S_ISREG(status.st_mode));
	struct ibv_context *imported = ibv_import_device(fd);
	EXPECT(!imported);
	EXPECT(ftruncate(fd, 0) == 0);
	if (imported)
		EXPECT(!ibv_import_pd(imported, 1));
	EXPECT(fstat(fd, &status) == 0 && S_ISREG(status.st_mode));
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "forged") == 0) {
		start();
		forged();
		return finish();
	}
	if (argc > 2 && strcmp(argv[1], "successor") == 0)
		return successor(atoi(argv[2]), (void *)strtoul(argv[3], NULL, 16));
	int leaves = argc > 1 && strcmp(argv[1], "exec") == 0;
	if (argc > 1 && !leaves)
		return importer(atoi(argv[1]), argc > 2);
	int ends[2], status = -1;
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	pid_t child = fork();
	if (child == 0) {
		char end[16];
		snprintf(end, sizeof(end), "%d", ends[1]);
		execl("/proc/self/exe", argv[0], end, leaves ? "leaves" : NULL, NULL);
		_exit(127);
	}
	start();
	struct ibv_mr *lost = NEED(ibv_reg_mr(pd, memory, 4096, 0));
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, memory, 4096,
					    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
	struct parcel parcel = { .pd_handle = pd->handle, .mr_handle = mr->handle, .rkey = mr->rkey,
		.lost_handle = lost->handle, .address = (uintptr_t)memory };
	memset(memory, 'e', 64);
	EXPECT(ibv_dereg_mr(lost) == 0);
	send_file(ends[0], context->cmd_fd, &parcel);
	if (leaves) {
		char end[16], address[32];
		wait_for_turn(ends[0]);
		snprintf(end, sizeof(end), "%d", ends[0]);
		snprintf(address, sizeof(address), "%p", (void *)memory);
		execl("/proc/self/exe", argv[0], "successor", end, address, NULL);
	}
	EXPECT(waitpid(child, &status, 0) == child && status == 0);
	EXPECT(memory[63] == 'e' && memory[64] == 'i' && memory[127] == 'i' && memory[128] == 0);
	/* The first process's queues still work on the file that another one has closed. */
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 8, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	connect_to(qp, qp);
	EXPECT(post_write(qp, mr, memory, memory + 1024, 64, IBV_SEND_SIGNALED) == 0);
	EXPECT(wait_for(cq).status == IBV_WC_SUCCESS && memory[1024] == 'e');
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0);
	return finish();
}

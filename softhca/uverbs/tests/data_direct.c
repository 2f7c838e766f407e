/*
 * Regions of dma-bufs by way of Data Direct, as libmlx5 asks a kernel for them since rdma-core 54 (mlx5dv_reg_dmabuf_mr,
 * mlx5dv_get_data_direct_sysfs_path). The commands are sent as they are, because older libraries lack the functions.
 * The argument "none" says that the device has no Data Direct function.
 */
#include "prelude.h"
#include "command.h"

#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

/* Linux include/uapi/rdma/mlx5_user_ioctl_cmds.h and mlx5_user_ioctl_verbs.h. */
enum { DRIVER = 0x1000, GET_DATA_DIRECT_SYSFS_PATH = DRIVER + 1, SYSFS_PATH = DRIVER, DRIVER_ACCESS = DRIVER, DATA_DIRECT = 1 };

static int path_of(char *path, int room)
{
	begin(UVERBS_OBJECT_DEVICE, GET_DATA_DIRECT_SYSFS_PATH);
	attr(SYSFS_PATH, room, (uintptr_t)path);
	return give();
}

struct region {
	uint32_t handle, lkey, rkey;
};

/* A page of a file from `offset` on, with rights and the driver's own flags. */
static int register_file(int file, uint64_t offset, uint64_t iova, int access, int flags, struct region *region)
{
	begin(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
	struct ib_uverbs_attr *made = attr(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0);
	attr(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, (uintptr_t)&region->lkey);
	attr(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4, (uintptr_t)&region->rkey);
	attr(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, pd->handle);
	attr(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, offset);
	attr(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, 64);
	attr(UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, iova);
	attr(UVERBS_ATTR_REG_DMABUF_MR_FD, 4, file);
	attr(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, access);
	attr(DRIVER_ACCESS, 4, flags);
	int error = give();
	region->handle = made->data;
	return error;
}

static void deregister(struct region *region)
{
	begin(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY);
	attr(UVERBS_ATTR_DESTROY_MR_HANDLE, 0, region->handle);
	EXPECT(give() == 0);
}

/* A WRITE to a region reaches the file. */
static void check_traffic(struct region *region, uint64_t iova, const char *mapped)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	struct ibv_mr *mr = register_memory(pd);
	connect_to(qp, qp);
	strcpy(memory, "by another way");
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 64, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { .remote_addr = iova, .rkey = region->rkey } };
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
	EXPECT(strcmp(mapped, memory) == 0);
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0);
}

/* Whether a file of the function says so. */
static int says(const char *path, const char *name, const char *expected)
{
	char file[512], line[64] = "";
	snprintf(file, sizeof(file), "/sys%s/%s", path, name);
	FILE *opened = NEED(fopen(file, "r"));
	EXPECT(fgets(line, sizeof(line), opened) == line);
	fclose(opened);
	line[strcspn(line, "\n")] = 0;
	return strcmp(line, expected) == 0;
}

int main(int argc, char **argv)
{
	int there = !(argc > 1 && strcmp(argv[1], "none") == 0);
	char path[256];
	struct region region;
	start();
	int file = memfd_create("dma-buf", 0);
	EXPECT(file >= 0 && ftruncate(file, 2 * PAGE) == 0);
	char *mapped = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	EXPECT(mapped != MAP_FAILED);
	int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	/* Of the path's length without the zero at its end, there is no room. */
	memset(path, 'x', sizeof(path));
	EXPECT(path_of(path, sizeof(path)) == (there ? 0 : ENODEV));
	if (there) {
		EXPECT(strnlen(path, sizeof(path)) < sizeof(path) && path[sizeof(path) - 1] == 'x');
		EXPECT(path_of(path, strlen(path)) == ENOSPC && path_of(path, strlen(path) + 1) == 0);
		/* Linux drivers/infiniband/hw/mlx5/data_direct.c, mlx5_data_direct_pci_table. */
		EXPECT(says(path, "vendor", "0x15b3") && says(path, "device", "0x2100"));
	}

	/* Without the flag it is a region like others. */
	EXPECT(register_file(file, 8, 8, rights, 0, &region) == 0);
	check_traffic(&region, 8, mapped + 8);
	deregister(&region);
	EXPECT(register_file(file, 0, 0, rights, 2, &region) == EINVAL);
	memset(mapped, 0, 2 * PAGE);
	int error = register_file(file, PAGE, 0, rights, DATA_DIRECT, &region);
	EXPECT(error == (there ? 0 : EINVAL));
	if (there) {
		check_traffic(&region, 0, mapped + PAGE);
		deregister(&region);
	}
	/* The address begins with a page, whatever the device. */
	EXPECT(register_file(file, 8, 8, rights, DATA_DIRECT, &region) == EOPNOTSUPP);
	EXPECT(register_file(file, 0, 8, rights, DATA_DIRECT, &region) == EINVAL);
	EXPECT(register_file(file, 0, 0, rights | IBV_ACCESS_ON_DEMAND, DATA_DIRECT, &region) == EINVAL);
	munmap(mapped, 2 * PAGE);
	close(file);
	return finish();
}

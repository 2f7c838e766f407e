/*
 * DMA handles, as libibverbs asks a kernel for them since rdma-core 59 (ibv_alloc_dmah), and regions that are registered with them:
 * what the device is told, and what is refused. The commands are sent as they are, because older libraries lack the functions.
 * The argument "none" says that the device has no handles.
 */
#include "devx.h"
#include "command.h"

#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <sys/mman.h>

/* Linux include/uapi/rdma/ib_user_ioctl_cmds.h: the object and its methods, and the attributes of all methods here. */
enum { DMAH = UVERBS_OBJECT_ASYNC_EVENT + 1, DMAH_ALLOC = 0, DMAH_FREE = 1, REG_MR = 5 };
enum { HANDLE = 0, CPU = 1, MEMORY_TYPE = 2, HINT = 3 };
enum { MR_PD = 1, MR_DMAH = 2, MR_IOVA = 3, MR_ADDR = 4, MR_LENGTH = 5, MR_ACCESS = 6, MR_FD = 7, MR_OFFSET = 8, LKEY = 9, RKEY = 10 };
enum { VOLATILE_MEMORY, PERSISTENT_MEMORY, NONE = -1 };

/* A handle for a CPU and a type of memory with a processing hint, or with some of these. */
static int alloc(int cpu, int type, int hint, uint32_t *handle)
{
	begin(DMAH, DMAH_ALLOC);
	struct ib_uverbs_attr *made = attr(HANDLE, 0, 0);
	if (cpu != NONE)
		attr(CPU, 4, cpu);
	if (type != NONE)
		attr(MEMORY_TYPE, 0, 0)->attr_data.enum_data.elem_id = type;
	if (hint != NONE)
		attr(HINT, 1, hint);
	int error = give();
	*handle = made->data;
	return error;
}

static int release(int object, int method, uint32_t handle)
{
	begin(object, method);
	attr(HANDLE, 0, handle);
	return give();
}

struct region {
	uint32_t handle, lkey, rkey;
};

/* `memory`, or a file if there is one, with a handle. */
static int register_with(uint32_t handle, int access, int file, struct region *region)
{
	begin(UVERBS_OBJECT_MR, REG_MR);
	struct ib_uverbs_attr *made = attr(HANDLE, 0, 0);
	attr(MR_PD, 0, pd->handle);
	attr(MR_DMAH, 0, handle);
	attr(MR_IOVA, 8, file == NONE ? (uintptr_t)memory : 0);
	if (file == NONE) {
		attr(MR_ADDR, 8, (uintptr_t)memory);
	} else {
		attr(MR_FD, 0, file);
		attr(MR_OFFSET, 8, 0);
	}
	attr(MR_LENGTH, 8, 4096);
	attr(MR_ACCESS, 4, access);
	attr(LKEY, 4, (uintptr_t)&region->lkey);
	attr(RKEY, 4, (uintptr_t)&region->rkey);
	int error = give();
	region->handle = made->data;
	return error;
}

/* The errno of other rights for a region. */
static int change(struct region *region, int access)
{
	struct ib_uverbs_rereg_mr in = { .mr_handle = region->handle, .flags = IBV_REREG_MR_CHANGE_ACCESS, .access_flags = access };
	struct ib_uverbs_rereg_mr_resp out;
	begin(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	attr(UVERBS_ATTR_WRITE_CMD, 8, IB_USER_VERBS_CMD_REREG_MR);
	attr(UVERBS_ATTR_CORE_IN, sizeof(in), (uintptr_t)&in);
	attr(UVERBS_ATTR_CORE_OUT, sizeof(out), (uintptr_t)&out);
	return give();
}

/* What the device knows of a key: the processing hint times 256, plus the index of the steering tag. */
static int (*hint_of)(int, unsigned);

static void handles(void)
{
	cpu_set_t may;
	CPU_ZERO(&may);
	EXPECT(sched_getaffinity(0, sizeof(may), &may) == 0);
	int cpu = 0;
	while (!CPU_ISSET(cpu, &may))
		cpu++;
	uint32_t handle, same, other;
	struct { int cpu, type, hint, error; } wrong[] = {
		/* The hint is needed, and has two bits. */
		{ NONE, NONE, NONE, EINVAL }, { cpu, VOLATILE_MEMORY, NONE, EINVAL }, { NONE, NONE, 4, EINVAL }, { NONE, NONE, 255, EINVAL },
		/* A CPU and a type of memory need each other. */
		{ cpu, NONE, 1, EINVAL }, { NONE, PERSISTENT_MEMORY, 1, EINVAL },
		/* There is no such type, and no such CPU. */
		{ cpu, 2, 1, EOPNOTSUPP }, { cpu, 0xfe, 1, EOPNOTSUPP }, { 0xffff, VOLATILE_MEMORY, 1, EINVAL },
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		EXPECT(alloc(wrong[i].cpu, wrong[i].type, wrong[i].hint, &handle) == wrong[i].error);
	/* A CPU that this thread may not run on. */
	int second = cpu + 1;
	while (second < CPU_SETSIZE && !CPU_ISSET(second, &may))
		second++;
	if (second < CPU_SETSIZE) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		EXPECT(sched_setaffinity(0, sizeof(one), &one) == 0);
		EXPECT(alloc(second, VOLATILE_MEMORY, 1, &handle) == EPERM);
		EXPECT(sched_setaffinity(0, sizeof(may), &may) == 0);
	}

	/* A hint alone, and with the tags of a CPU: of each type of memory one, for all handles that ask for it. */
	struct region region, regions[3];
	EXPECT(alloc(NONE, NONE, 3, &handle) == 0 && register_with(handle, 0, NONE, &region) == 0 && hint_of(0, region.rkey) == 0x300);
	EXPECT(release(DMAH, DMAH_FREE, handle) == EBUSY);
	EXPECT(release(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, region.handle) == 0 && hint_of(0, region.rkey) == -1);
	EXPECT(release(DMAH, DMAH_FREE, handle) == 0 && release(DMAH, DMAH_FREE, handle) == ENOENT);
	EXPECT(register_with(handle, 0, NONE, &region) == ENOENT && register_with(pd->handle, 0, NONE, &region) == EINVAL);
	EXPECT(alloc(cpu, VOLATILE_MEMORY, 0, &handle) == 0 && alloc(cpu, VOLATILE_MEMORY, 2, &same) == 0);
	EXPECT(alloc(cpu, PERSISTENT_MEMORY, 1, &other) == 0);
	uint32_t of[3] = { handle, same, other };
	int hints[3] = { 0x001, 0x201, 0x102 };
	int file = memfd_create("region", 0);
	EXPECT(file >= 0 && ftruncate(file, 4096) == 0);
	for (int i = 0; i < 3; i++) {
		EXPECT(register_with(of[i], IBV_ACCESS_LOCAL_WRITE, i == 2 ? file : NONE, &regions[i]) == 0);
		EXPECT(hint_of(0, regions[i].lkey) == hints[i]);
	}
	EXPECT(close(file) == 0);
	/* Neither pages on demand nor a change of the region go with a handle. */
	EXPECT(register_with(handle, IBV_ACCESS_ON_DEMAND, NONE, &region) == EOPNOTSUPP);
	EXPECT(change(&regions[0], 0) == EOPNOTSUPP && hint_of(0, regions[0].lkey) == hints[0]);
	for (int i = 0; i < 3; i++) {
		EXPECT(release(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, regions[i].handle) == 0);
		EXPECT(release(DMAH, DMAH_FREE, of[i]) == 0);
	}
	/* The first index is free again. */
	EXPECT(alloc(cpu, PERSISTENT_MEMORY, 1, &other) == 0 && register_with(other, 0, NONE, &region) == 0);
	EXPECT(hint_of(0, region.lkey) == 0x101);
	EXPECT(release(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, region.handle) == 0 && release(DMAH, DMAH_FREE, other) == 0);
	/* Other regions have none. */
	struct ibv_mr *plain = register_memory(pd);
	errno = 0;
	EXPECT(hint_of(0, plain->lkey) == -1 && errno == ENOENT && ibv_dereg_mr(plain) == 0);
}

/* Keys that a program makes by commands have no hints (Linux `devx_handle_mkey_create`): the kernel takes them away. */
static void commands(void)
{
	enum { MKC = 0x80, CREATE_MKEY_BYTES = 0x110 };
	uint8_t in[CREATE_MKEY_BYTES] = {}, out[16] = {}, query[16] = {}, found[CREATE_MKEY_BYTES + 32] = {};
	struct mlx5dv_pd domain = {};
	struct mlx5dv_obj object = { .pd = { .in = pd, .out = &domain } };
	EXPECT(mlx5dv_init_obj(&object, MLX5DV_OBJ_PD) == 0);
	struct mlx5dv_devx_umem *umem = NEED(mlx5dv_devx_umem_reg(context, memory, 4096, IBV_ACCESS_LOCAL_WRITE));
	set(in, OPCODE, CREATE_MKEY);
	/* By pages, which may be read and written here; of any queue pair. */
	set(in, MKC + 0x16, 2, 1);
	set(in, MKC + 0x14, 2, 3);
	set(in, MKC + 0x20, 24, 0xffffff);
	set(in, MKC + 0x68, 24, domain.pdn);
	set(in, MKC + 0x80, 64, (uintptr_t)memory);
	set(in, MKC + 0xc0, 64, 4096);
	/* A hint (1) and the tag 7. */
	set(in, MKC + 0x1e5, 1, 1);
	set(in, MKC + 0x1e6, 2, 1);
	set(in, MKC + 0x1e8, 8, 7);
	set(in, 0x320, 32, umem->umem_id);
	struct mlx5dv_devx_obj *key = NEED(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out)));
	set(query, OPCODE, QUERY_MKEY);
	set(query, NUMBER, get(out, NUMBER));
	EXPECT(mlx5dv_devx_obj_query(key, query, sizeof(query), found, sizeof(found)) == 0);
	EXPECT(get(found, MKC + 0x1e5, 1) == 0 && get(found, MKC + 0x1e6, 2) == 1 && get(found, MKC + 0x1e8, 8) == 0);
	EXPECT(mlx5dv_devx_obj_destroy(key) == 0 && mlx5dv_devx_umem_dereg(umem) == 0);
}

int main(int argc, char **argv)
{
	start();
	hint_of = device_function("softhca_tph");
	if (argc > 1 && strcmp(argv[1], "none") == 0) {
		/* A kernel knows neither the object nor the attribute. */
		uint32_t handle;
		struct region region;
		EXPECT(alloc(NONE, NONE, 1, &handle) == EPROTONOSUPPORT && release(DMAH, DMAH_FREE, 0) == EPROTONOSUPPORT);
		EXPECT(register_with(pd->handle, 0, NONE, &region) == EPROTONOSUPPORT);
	} else {
		handles();
		commands();
	}
	return finish();
}

/*
 * Commands of the device, sent as mailboxes through mlx5dv_devx_*: what is asked of the kernel driver, and what it answers. The
 * argument names the part.
 */
#include "devx.h"

/* An error as the device says it: errno, and the status in the output. */
#define EXPECT_REFUSED(result, out, status)                                                                    \
	do {                                                                                                   \
		int answered = (result);                                                                       \
		EXPECT(answered == EREMOTEIO || (answered == -1 && errno == EREMOTEIO));                       \
		EXPECT(status_of(out) == (status) && syndrome_of(out) != 0);                                   \
	} while (0)

enum { BAD_OPERATION = 2 };

/* Objects are made, keep what they need, and go. */
static void objects(void)
{
	unsigned first, second;
	struct mlx5dv_devx_obj *one = NEED(alloc_pd(context, &first)), *two = NEED(alloc_pd(context, &second));
	EXPECT(first != 0 && second != 0 && first != second);
	EXPECT(mlx5dv_devx_obj_destroy(one) == 0);
	/* No command queries a domain, and none of another kind of object may come with its handle. */
	uint8_t in[16] = {}, out[16] = {};
	set(in, 0, 16, ALLOC_PD);
	EXPECT(mlx5dv_devx_obj_query(two, in, sizeof(in), out, sizeof(out)) == EINVAL);
	set(in, 0, 16, QUERY_CQ);
	set(in, 0x48, 24, second);
	EXPECT(mlx5dv_devx_obj_query(two, in, sizeof(in), out, sizeof(out)) == EINVAL);
	EXPECT(mlx5dv_devx_obj_destroy(two) == 0);
	/* Nor are destructions and other users' commands the program's to send. */
	set(in, 0, 16, DEALLOC_PD);
	EXPECT(mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out)) == EINVAL);
	errno = 0;
	EXPECT(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out)) == NULL && errno == EINVAL);
	/* What is shorter than any mailbox. */
	set(in, 0, 16, ALLOC_PD);
	EXPECT(mlx5dv_devx_obj_create(context, in, 15, out, sizeof(out)) == NULL && errno == EINVAL);
	EXPECT(mlx5dv_devx_obj_create(context, in, sizeof(in), out, 15) == NULL && errno == EINVAL);
	EXPECT(mlx5dv_devx_obj_create(context, NULL, sizeof(in), out, sizeof(out)) == NULL && errno == EFAULT);
	EXPECT(mlx5dv_devx_obj_create(context, in, sizeof(in), NULL, sizeof(out)) == NULL && errno == EFAULT);
	/* A command that the device does not have. */
	set(in, 0, 16, 0xb00);
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
	EXPECT(mlx5dv_devx_umem_reg(context, memory, 0, 0) == NULL && errno == EINVAL);
	EXPECT(mlx5dv_devx_umem_reg(context, (void *)64, 4096, 0) == NULL && errno == EFAULT);
	EXPECT(mlx5dv_devx_umem_reg(context, memory, -4096UL, 0) == NULL && errno == EINVAL);
	EXPECT(mlx5dv_devx_umem_reg(context, memory, 4096, IBV_ACCESS_REMOTE_WRITE) == NULL && errno == EINVAL);
	EXPECT(mlx5dv_devx_umem_reg(context, memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC) == NULL &&
	       errno == EINVAL);
	struct mlx5dv_devx_umem_in in = { .addr = memory, .size = sizeof(memory), .access = IBV_ACCESS_LOCAL_WRITE };
	in.pgsz_bitmap = 1 << 12;
	umem = NEED(mlx5dv_devx_umem_reg_ex(context, &in));
	EXPECT(mlx5dv_devx_umem_dereg(umem) == 0);
	in.pgsz_bitmap = 0xfff;
	EXPECT(mlx5dv_devx_umem_reg_ex(context, &in) == NULL && errno == EINVAL);
}

/* Numbers that mailboxes need. */
static void numbers(void)
{
	uint32_t eqn, other;
	EXPECT(mlx5dv_devx_query_eqn(context, 0, &eqn) == 0);
	EXPECT(mlx5dv_devx_query_eqn(context, 1, &other) == 0 && other != eqn);
	EXPECT(mlx5dv_devx_query_eqn(context, context->num_comp_vectors, &eqn) != 0 && errno == ENOENT);
	struct mlx5dv_devx_uar *uar = NEED(mlx5dv_devx_alloc_uar(context, 0));
	struct mlx5dv_devx_uar *second = NEED(mlx5dv_devx_alloc_uar(context, 0));
	/* Two registers may be in one page. */
	EXPECT(uar->page_id != 0 && uar->reg_addr != second->reg_addr);
	EXPECT((char *)uar->reg_addr - (char *)uar->base_addr >= 0x800);
	mlx5dv_devx_free_uar(uar);
	mlx5dv_devx_free_uar(second);
}

/* A page that is mapped without write combining. Those that come with the context are not. */
static void non_cached(void)
{
	struct mlx5dv_devx_uar *uar = NEED(mlx5dv_devx_alloc_uar(context, 0));
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
	} parts[] = { { "objects", objects }, { "memories", memories }, { "numbers", numbers }, { "non-cached", non_cached } };
	start();
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (argc < 2 || strcmp(argv[1], parts[i].name) == 0)
			parts[i].run();
	return finish();
}

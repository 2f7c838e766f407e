/*
 * A plug-in that has its own libibverbs and libmlx5, and a program that loads it for itself alone (RTLD_LOCAL), as an interpreter
 * loads the module of a wheel. With -DPLUGIN this is the plug-in; with -DOTHERS the program also opens a device by the system's
 * libraries; with -DDEEP it loads the plug-in as a host of plug-ins does that keeps their symbols apart (RTLD_DEEPBIND). The plug-in
 * lies in a folder that the program alone knows (RUNPATH). Prints what went otherwise than expected, and the exit code is 1 then.
 */
#include "prelude.h"

#include <dlfcn.h>

static inline int64_t steps_by_polls(void)
{
	int64_t (*steps)(int) = (int64_t(*)(int))NEED(dlsym(RTLD_DEFAULT, "softhca_steps_by_polls"));
	return steps(0);
}

/* WRITEs of 8 bytes to itself: polls do part of the device's work. */
static inline void writes(void)
{
	pd = NEED(ibv_alloc_pd(context));
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 8, NULL, NULL, 0));
	struct ibv_qp *qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	struct ibv_mr *mr = register_memory(pd);
	int64_t before = steps_by_polls();
	connect_to(qp, qp);
	for (int i = 0; i < 1000 && !failures; i++) {
		memset(memory, i, 8);
		EXPECT(post_write(qp, mr, memory, memory + 4096, 8, IBV_SEND_SIGNALED) == 0);
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS && memcmp(memory, memory + 4096, 8) == 0);
	}
	EXPECT(steps_by_polls() > before);
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(pd) == 0);
}

/* Opens the first device by either function, and closes it. */
static inline int opens(void)
{
	struct ibv_device **list = NEED(ibv_get_device_list(NULL));
	context = NEED(ibv_open_device(NEED(list[0])));
	writes();
	EXPECT(ibv_close_device(context) == 0);
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	context = NEED(mlx5dv_open_device(list[0], &attr));
	uint32_t eqn;
	EXPECT(mlx5dv_devx_query_eqn(context, 0, &eqn) == 0);
	writes();
	EXPECT(ibv_close_device(context) == 0);
	ibv_free_device_list(list);
	return failures;
}

#ifdef PLUGIN
int run(void)
{
	return opens();
}
#else
int main(int argc, char **argv)
{
#ifdef DEEP
	int deep = RTLD_DEEPBIND;
#else
	int deep = 0;
#endif
	void *plugin = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL | deep);
	if (!plugin)
		puts(dlerror());
	int (*run)(void) = (int (*)(void))NEED(dlsym(NEED(plugin), "run"));
	EXPECT(run() == 0);
#ifdef OTHERS
	EXPECT(opens() == 0);
	EXPECT(run() == 0);
#endif
	return failures != 0;
}
#endif

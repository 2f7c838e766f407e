/*
 * rdma-core's own driver of the PCI function, in this process: mlx5dv's VFIO contexts, from opening to closing, and traffic of queues
 * that commands have made. To be run with one device and one function (--vfio 1), on InfiniBand: this driver gives the function no
 * addresses, which Ethernet ports need.
 */
#include "devx_qp.h"
#include <pthread.h>
#include <sys/mman.h>

#define FUNCTION "ca00:02:00.0"
#define LID 0x80 + 0x300, 16
#define PORT_NUMBER 0x4c, 4
#define EQC_LOG_SIZE 0x80 + 0x63, 5
#define EQC_UAR_PAGE 0x80 + 0x68, 24
#define EQC_INTR 0x80 + 0xb4, 12
#define EQ_MASK 0x2c0, 64
#define EQ_NUMBER 0x58, 8

enum { QUERY_HCA_VPORT_CONTEXT = 0x762, CREATE_EQ = 0x301, EQ_LOG_SIZE = 4, EQE_BYTES = 64, COMPLETION_EVENT = 0 };

static struct ibv_device **list_of(const char *name, uint32_t flags, uint64_t mask)
{
	struct mlx5dv_vfio_context_attr attr = { .pci_name = name, .flags = flags, .comp_mask = mask };
	errno = 0;
	return mlx5dv_get_vfio_device_list(&attr);
}

static void open_function(void)
{
	struct ibv_device **list = NEED(list_of(FUNCTION, 0, 0));
	context = NEED(ibv_open_device(list[0]));
	/* The function is one driver's. */
	EXPECT(ibv_open_device(list[0]) == NULL && errno == EBUSY);
	ibv_free_device_list(list);
	pd = NEED(ibv_alloc_pd(context));
}

static void wrong_names(void)
{
	EXPECT(list_of(FUNCTION, 0, 1) == NULL && errno == EOPNOTSUPP);
	EXPECT(list_of(FUNCTION, 1 << 7, 0) == NULL && errno == EOPNOTSUPP);
	/* Another device's, which the kernel drives; and nobody's. */
	EXPECT(list_of("ca00:01:00.0", 0, 0) == NULL);
	EXPECT(list_of("ca00:03:00.0", 0, 0) == NULL);
	EXPECT(list_of("no name", 0, 0) == NULL);
}

/* The function's port, as its commands tell it: verbs' questions are not this driver's. */
static struct ibv_port_attr own_port(void)
{
	struct ibv_port_attr port = { .link_layer = IBV_LINK_LAYER_INFINIBAND };
	EXPECT(ibv_query_port(context, 1, &port) != 0);
	static uint8_t in[16], out[0x210];
	set(in, OPCODE, QUERY_HCA_VPORT_CONTEXT);
	set(in, PORT_NUMBER, 1);
	EXPECT(mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out)) == 0);
	port.lid = get(out, LID);
	EXPECT(port.lid != 0);
	return port;
}

static unsigned opcode_of(struct mlx5_cqe64 *cqe)
{
	return cqe ? cqe->op_own >> 4 : ~0u;
}

/* `from`, in pieces of one request each, becomes `to`: by SENDs, WRITEs and READs. */
static void compare(struct devx_qp *one, struct devx_qp *two, struct ibv_mr *mr, char *from, char *to, uint32_t length)
{
	static const unsigned kinds[] = { MLX5_OPCODE_SEND, MLX5_OPCODE_RDMA_WRITE, MLX5_OPCODE_RDMA_READ };
	for (unsigned kind = 0; kind < 3; kind++) {
		for (uint32_t i = 0; i < length; i++)
			from[i] = i * 7 + (i >> 8) + kind;
		memset(to, 0xee, length);
		if (kinds[kind] == MLX5_OPCODE_SEND)
			receive_devx(two, to, mr->lkey, length);
		int read = kinds[kind] == MLX5_OPCODE_RDMA_READ;
		post_devx(one, kinds[kind], read ? to : from, mr->lkey, length, read ? from : to, mr->rkey, 0);
		EXPECT(opcode_of(poll_devx(one->cq)) == MLX5_CQE_REQ);
		if (kinds[kind] == MLX5_OPCODE_SEND) {
			struct mlx5_cqe64 *cqe = poll_devx(two->cq);
			EXPECT(opcode_of(cqe) == MLX5_CQE_RESP_SEND && cqe && be32toh(cqe->byte_cnt) == length);
		}
		EXPECT(memcmp(from, to, length) == 0);
	}
}

static void traffic(void)
{
	struct ibv_port_attr port = own_port();
	struct mlx5dv_pd domain;
	struct mlx5dv_obj of_pd = { .pd = { .in = pd, .out = &domain } };
	EXPECT(mlx5dv_init_obj(&of_pd, MLX5DV_OBJ_PD) == 0);
	/* Not on a page's boundary, of several sizes: the driver has its own ways to map them. */
	size_t bytes = 6 << 20;
	char *large = NEED(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, large + 100, bytes - 1000, access));
	EXPECT(ibv_reg_mr(pd, large, bytes, access | IBV_ACCESS_ON_DEMAND) == NULL);
	EXPECT(ibv_reg_mr(pd, (void *)4096, 4096, access) == NULL);

	EXPECT(mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF) == NULL && errno == EOPNOTSUPP);
	struct mlx5dv_devx_uar *uar = NEED(mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC));
	struct devx_cq cq = make_cq(uar, 3), other_cq = make_cq(uar, 3);
	struct devx_qp one = make_devx_qp(uar, domain.pdn, &cq, 0), two = make_devx_qp(uar, domain.pdn, &other_cq, 0);
	connect_devx_qp_to(&one, two.number, port);
	connect_devx_qp_to(&two, one.number, port);
	EXPECT(state_of(&one) == STATE_RTS);
	compare(&one, &two, mr, large + 100, large + 5000, 64);
	compare(&one, &two, mr, large + 101, large + (3 << 20) + 3, (300 << 10) - 77);
	compare(&two, &one, mr, large + (1 << 20), large + (4 << 20), 100 << 10);
	/* What is in use stays. */
	EXPECT(mlx5dv_devx_obj_destroy(cq.object) != 0);
	EXPECT(mlx5dv_devx_umem_dereg(one.umem) != 0);
	/* Past the region. */
	post_devx(&one, MLX5_OPCODE_RDMA_WRITE, large + 100, mr->lkey, 64, large + bytes - 900, mr->rkey, 0);
	EXPECT(opcode_of(poll_devx(&cq)) == MLX5_CQE_REQ_ERR);
	destroy_devx_qp(&one);
	destroy_devx_qp(&two);
	destroy_cq(&cq);
	destroy_cq(&other_cq);
	mlx5dv_devx_free_uar(uar);
	EXPECT(ibv_dereg_mr(mr) == 0);
	munmap(large, bytes);
}

/* Between the function and a device that the kernel drives, on the same wire. */
static void traffic_with_verbs(void)
{
	struct ibv_port_attr port = own_port(), verbs_port;
	struct ibv_context *verbs = open_first();
	struct ibv_pd *verbs_pd = NEED(ibv_alloc_pd(verbs));
	struct ibv_cq *verbs_cq = NEED(ibv_create_cq(verbs, 16, NULL, NULL, 0));
	struct ibv_qp *verbs_qp = NEED(make_qp(verbs_pd, verbs_cq, NULL, IBV_QPT_RC));
	struct ibv_mr *verbs_mr = register_memory(verbs_pd), *mr = register_memory(pd);
	EXPECT(ibv_query_port(verbs, 1, &verbs_port) == 0 && verbs_port.lid != port.lid);
	struct mlx5dv_pd domain;
	struct mlx5dv_obj of_pd = { .pd = { .in = pd, .out = &domain } };
	EXPECT(mlx5dv_init_obj(&of_pd, MLX5DV_OBJ_PD) == 0);
	struct mlx5dv_devx_uar *uar = NEED(mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC));
	struct devx_cq cq = make_cq(uar, 3);
	struct devx_qp qp = make_devx_qp(uar, domain.pdn, &cq, 0);
	connect_devx_qp_to(&qp, verbs_qp->qp_num, verbs_port);
	to_init(verbs_qp);
	to_rts(verbs_qp, qp.number, (struct ibv_ah_attr){ .dlid = port.lid, .port_num = 1 });
	char *from = memory, *to = memory + 32768;
	for (int i = 0; i < 20000; i++)
		from[i] = i * 13 + (i >> 8);
	memset(to, 0, 20000);
	post_devx(&qp, MLX5_OPCODE_RDMA_WRITE, from, mr->lkey, 20000, to, verbs_mr->rkey, 0);
	EXPECT(opcode_of(poll_devx(&cq)) == MLX5_CQE_REQ);
	EXPECT(memcmp(from, to, 20000) == 0);
	memset(to, 0, 20000);
	EXPECT(post_write(verbs_qp, verbs_mr, from, to, 20000, IBV_SEND_SIGNALED) == 0);
	/* By its own key the function's memory is not known here. */
	EXPECT(wait_for(verbs_cq).status != IBV_WC_SUCCESS);
	EXPECT(ibv_destroy_qp(verbs_qp) == 0);
	verbs_qp = NEED(make_qp(verbs_pd, verbs_cq, NULL, IBV_QPT_RC));
	destroy_devx_qp(&qp);
	qp = make_devx_qp(uar, domain.pdn, &cq, 0);
	connect_devx_qp_to(&qp, verbs_qp->qp_num, verbs_port);
	to_init(verbs_qp);
	to_rts(verbs_qp, qp.number, (struct ibv_ah_attr){ .dlid = port.lid, .port_num = 1 });
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = 20000, .lkey = verbs_mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)to, .rkey = mr->rkey } };
	EXPECT(ibv_post_send(verbs_qp, &wr, &bad) == 0);
	EXPECT(wait_for(verbs_cq).status == IBV_WC_SUCCESS);
	EXPECT(memcmp(from, to, 20000) == 0);
	destroy_devx_qp(&qp);
	destroy_cq(&cq);
	mlx5dv_devx_free_uar(uar);
	EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(verbs_mr) == 0 && ibv_destroy_qp(verbs_qp) == 0);
	EXPECT(ibv_destroy_cq(verbs_cq) == 0 && ibv_dealloc_pd(verbs_pd) == 0 && ibv_close_device(verbs) == 0);
}

/* An event queue of the program's own, with an interrupt of its own: completions of a CQ come by it. */
static void completion_interrupts(void)
{
	struct ibv_port_attr port = own_port();
	struct mlx5dv_pd domain;
	struct mlx5dv_obj of_pd = { .pd = { .in = pd, .out = &domain } };
	EXPECT(mlx5dv_init_obj(&of_pd, MLX5DV_OBJ_PD) == 0);
	struct ibv_mr *mr = register_memory(pd);
	struct mlx5dv_devx_uar *uar = NEED(mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC));
	struct mlx5dv_devx_msi_vector *vectors[40] = {};
	unsigned count = 0;
	while (count < 40 && (vectors[count] = mlx5dv_devx_alloc_msi_vector(context)))
		count++;
	/* All but that of the driver's own. */
	EXPECT(count == 31 && errno == ENOSPC);
	uint8_t in[0x110] = {}, out[16] = {};
	set(in, OPCODE, CREATE_EQ);
	set(in, EQC_LOG_SIZE, EQ_LOG_SIZE);
	set(in, EQC_UAR_PAGE, uar->page_id);
	set(in, EQC_INTR, vectors[5]->vector);
	struct mlx5dv_devx_eq *eq = NEED(mlx5dv_devx_create_eq(context, in, sizeof(in), out, sizeof(out)));
	unsigned number = get(out, EQ_NUMBER);
	for (int i = 0; i < 1 << EQ_LOG_SIZE; i++)
		((uint8_t *)eq->vaddr)[i * EQE_BYTES + EQE_BYTES - 1] = 1;

	struct devx_cq cq;
	uint8_t create[CREATE_CQ_BYTES] = {};
	prepare_cq(&cq, uar, 3);
	fill_create_cq(create, &cq);
	set(create, CQC_EQN, number);
	cq.object = NEED(mlx5dv_devx_obj_create(context, create, sizeof(create), out, sizeof(out)));
	cq.number = get(out, NUMBER);
	struct devx_qp qp = make_devx_qp(uar, domain.pdn, &cq, 0);
	connect_devx_qp_to(&qp, qp.number, port);
	for (uint32_t round = 0; round < 40; round++) {
		/* Armed: CQ and EQ, which tells how far it was read. */
		*(volatile __be32 *)((char *)uar->base_addr + 0x40) = htobe32(number << 24 | round);
		arm_devx(&cq);
		memory[0] = round, memory[4096] = 0;
		post_devx(&qp, MLX5_OPCODE_RDMA_WRITE, memory, mr->lkey, 64, memory + 4096, mr->rkey, 0);
		struct pollfd waits = { .fd = vectors[5]->fd, .events = POLLIN };
		EXPECT(poll(&waits, 1, 10000) == 1);
		uint64_t times = 0;
		EXPECT(read(vectors[5]->fd, &times, 8) == 8);
		uint8_t *eqe = (uint8_t *)eq->vaddr + round % (1 << EQ_LOG_SIZE) * EQE_BYTES;
		EXPECT((eqe[EQE_BYTES - 1] & 1) == (round >> EQ_LOG_SIZE & 1) && eqe[1] == COMPLETION_EVENT);
		EXPECT(be32toh(*(__be32 *)(eqe + EQE_BYTES - 8)) == cq.number);
		EXPECT(opcode_of(poll_devx(&cq)) == MLX5_CQE_REQ && memory[4096] == (char)round);
		cq.arms++;
		if (failures)
			break;
	}
	struct pollfd none = { .fd = vectors[6]->fd, .events = POLLIN };
	EXPECT(poll(&none, 1, 0) == 0);
	destroy_devx_qp(&qp);
	EXPECT(mlx5dv_devx_destroy_eq(eq) != 0);
	destroy_cq(&cq);
	EXPECT(mlx5dv_devx_destroy_eq(eq) == 0);
	for (unsigned i = 0; i < count; i++)
		EXPECT(mlx5dv_devx_free_msi_vector(vectors[i]) == 0);
	mlx5dv_devx_free_uar(uar);
	EXPECT(ibv_dereg_mr(mr) == 0);
}

static volatile int done;

static void *process_events(void *argument)
{
	(void)argument;
	struct pollfd waits = { .fd = mlx5dv_vfio_get_events_fd(context), .events = POLLIN };
	while (!done) {
		poll(&waits, 1, 10);
		EXPECT(mlx5dv_vfio_process_events(context) == 0);
	}
	return NULL;
}

static void *make_and_destroy(void *argument)
{
	char *own = argument;
	for (int round = 0; round < 60; round++) {
		struct ibv_pd *domain = NEED(ibv_alloc_pd(context));
		struct ibv_mr *mr = NEED(ibv_reg_mr(domain, own, 8192, IBV_ACCESS_LOCAL_WRITE));
		struct mlx5dv_devx_umem *umem = NEED(mlx5dv_devx_umem_reg(context, own, 4096, IBV_ACCESS_LOCAL_WRITE));
		EXPECT(ibv_dealloc_pd(domain) != 0);
		EXPECT(mlx5dv_devx_umem_dereg(umem) == 0);
		EXPECT(ibv_dereg_mr(mr) == 0);
		EXPECT(ibv_dealloc_pd(domain) == 0);
	}
	return NULL;
}

/* Commands of several threads, and another one that takes the driver's events: the function may ask for pages at any time. */
static void threads(void)
{
	pthread_t workers[3], events;
	pthread_create(&events, NULL, process_events, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&workers[i], NULL, make_and_destroy, memory + 16384 * i);
	for (int i = 0; i < 3; i++)
		pthread_join(workers[i], NULL);
	/* So many that the function needs pages for them. */
	static struct mlx5dv_devx_obj *domains[2000];
	unsigned number;
	for (int i = 0; i < 2000; i++)
		domains[i] = NEED(alloc_pd(context, &number));
	for (int i = 0; i < 2000; i++)
		EXPECT(mlx5dv_devx_obj_destroy(domains[i]) == 0);
	done = 1;
	pthread_join(events, NULL);
}

/* What is left when the function is closed goes with it. */
static void leave(int queue)
{
	unsigned number;
	struct mlx5dv_devx_uar *uar = NEED(mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC));
	EXPECT(alloc_pd(context, &number) != NULL && register_memory(pd) != NULL);
	if (queue)
		EXPECT(make_cq(uar, 3).number);
	EXPECT(ibv_close_device(context) == 0);
	open_function();
	traffic();
	finish();
}

/* The driver's own queue of events stays, as a CQ tells it of completions; its memory goes. */
static int with_a_queue_left(void)
{
	open_function();
	leave(1);
	return failures != 0;
}

int main(int argc, char **argv)
{
	without_kernel = 1;
	if (argc > 1 && strcmp(argv[1], "left") == 0)
		return with_a_queue_left();
	wrong_names();
	open_function();
	EXPECT(mlx5dv_vfio_process_events(context) == 0);
	traffic();
	traffic_with_verbs();
	completion_interrupts();
	threads();
	finish();
	open_function();
	traffic();
	leave(0);
	return failures != 0;
}

/*
 * Mailboxes of the device's commands, for the C programs that send some: numbers are big endian, bits are counted from the first.
 * A field is two arguments, its first bit and its bits, as in Linux' include/linux/mlx5/mlx5_ifc.h.
 */
#include "prelude.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Of all mailboxes, and of most that make, name or destroy an object. */
#define OPCODE 0, 16
#define OP_MOD 48, 16
#define STATUS 0, 8
#define SYNDROME 32, 32
#define NUMBER 0x48, 24

/* Of the mailboxes that make and query a CQ: its context follows 16 bytes of other things. */
#define CQC_CQE_SZ 0x88, 3
#define CQC_LOG_CQ_SIZE 0xe3, 5
#define CQC_UAR_PAGE 0xe8, 24
#define CQC_EQN 0x120, 32
#define CQC_DBR_UMEM_ID 0xa0, 32
#define CQC_DBR_ADDR 0x240, 64
#define CQC_DBR_UMEM_VALID 0x86, 1
#define CQ_UMEM_VALID 0x2e0, 1
#define CQ_UMEM_OFFSET 0x280, 64
#define CQ_UMEM_ID 0x2c0, 32

/* Of what the device can do, after 16 bytes of other things. */
#define LOG_MAX_CQ 0x80 + 0xdb, 5

/* Whether rings and records are said to be in user memory: the kernel's driver says so for programs; without a kernel nobody does. */
static int without_kernel;

enum opcode {
	QUERY_HCA_CAP = 0x100,
	QUERY_ADAPTER = 0x101,
	CREATE_MKEY = 0x200,
	QUERY_MKEY = 0x201,
	CREATE_CQ = 0x400,
	DESTROY_CQ = 0x401,
	QUERY_CQ = 0x402,
	MODIFY_CQ = 0x403,
	CREATE_QP = 0x500,
	QUERY_QP = 0x50b,
	ALLOC_PD = 0x800,
	DEALLOC_PD = 0x801,
	NOP = 0x80d,
};

enum status { OK, BAD_OPERATION = 2, BAD_PARAMETER = 3, BAD_RESOURCE = 5, BUSY = 6, BAD_INPUT_LENGTH = 0x50, BAD_OUTPUT_LENGTH = 0x51 };

static inline void set(void *mailbox, unsigned at, unsigned width, uint64_t value)
{
	uint8_t *bytes = mailbox;
	for (unsigned i = 0; i < width; i++) {
		unsigned bit = at + width - 1 - i;
		uint8_t mask = 0x80 >> (bit % 8);
		bytes[bit / 8] = value >> i & 1 ? bytes[bit / 8] | mask : bytes[bit / 8] & ~mask;
	}
}

static inline uint64_t get(const void *mailbox, unsigned at, unsigned width)
{
	const uint8_t *bytes = mailbox;
	uint64_t value = 0;
	for (unsigned bit = at; bit < at + width; bit++)
		value = value << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

/* A refusal as the device says it: errno, and the status in the output. */
#define EXPECT_REFUSED(result, out, status)                                                           \
	do {                                                                                          \
		int answered = (result);                                                              \
		EXPECT(answered == EREMOTEIO);                                                        \
		EXPECT(get(out, STATUS) == (status) && get(out, SYNDROME) != 0);                      \
	} while (0)

/* The errno of a creation that must fail. */
#define ERRNO_OF(creation) ({ errno = 0; EXPECT((creation) == NULL); errno; })

/* A protection domain made by a command. */
static inline struct mlx5dv_devx_obj *alloc_pd(struct ibv_context *of, unsigned *number)
{
	uint8_t in[16] = {}, out[16] = {};
	set(in, OPCODE, ALLOC_PD);
	struct mlx5dv_devx_obj *made = mlx5dv_devx_obj_create(of, in, sizeof(in), out, sizeof(out));
	*number = get(out, NUMBER);
	return made;
}

/* Where the memory of rings and records comes from. */
static void *(*ring_memory)(size_t alignment, size_t bytes) = aligned_alloc;

/* A CQ made by a command: its ring, then its record, in one memory. */
struct devx_cq {
	struct mlx5dv_devx_obj *object;
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_uar *uar;
	unsigned number, log_size, consumed, arms;
	struct mlx5_cqe64 *ring;
	__be32 *record;
};

/* What makes `cq`, which has its memory already. */
static inline void fill_create_cq(uint8_t *in, struct devx_cq *cq)
{
	uint32_t eqn;
	EXPECT(mlx5dv_devx_query_eqn(context, 0, &eqn) == 0);
	set(in, OPCODE, CREATE_CQ);
	set(in, CQC_LOG_CQ_SIZE, cq->log_size);
	set(in, CQC_UAR_PAGE, cq->uar->page_id);
	set(in, CQC_EQN, eqn);
	set(in, CQC_DBR_UMEM_ID, cq->umem->umem_id);
	set(in, CQC_DBR_ADDR, (char *)cq->record - (char *)cq->ring);
	set(in, CQ_UMEM_ID, cq->umem->umem_id);
	set(in, CQC_DBR_UMEM_VALID, without_kernel);
	set(in, CQ_UMEM_VALID, without_kernel);
}

enum { CREATE_CQ_BYTES = 0x110 };

static inline void prepare_cq(struct devx_cq *cq, struct mlx5dv_devx_uar *uar, unsigned log_size)
{
	size_t bytes = sizeof(struct mlx5_cqe64) << log_size;
	*cq = (struct devx_cq){ .uar = uar, .log_size = log_size, .ring = NEED(ring_memory(4096, bytes + 4096)) };
	memset(cq->ring, 0, bytes + 4096);
	for (unsigned i = 0; i < 1u << log_size; i++)
		cq->ring[i].op_own = MLX5_CQE_INVALID << 4 | 1;
	cq->record = (__be32 *)((char *)cq->ring + bytes);
	cq->umem = NEED(mlx5dv_devx_umem_reg(context, cq->ring, bytes + 4096, IBV_ACCESS_LOCAL_WRITE));
}

static inline struct devx_cq make_cq(struct mlx5dv_devx_uar *uar, unsigned log_size)
{
	struct devx_cq cq;
	uint8_t in[CREATE_CQ_BYTES] = {}, out[16] = {};
	prepare_cq(&cq, uar, log_size);
	fill_create_cq(in, &cq);
	cq.object = NEED(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out)));
	cq.number = get(out, NUMBER);
	return cq;
}

static inline void destroy_cq(struct devx_cq *cq)
{
	EXPECT(mlx5dv_devx_obj_destroy(cq->object) == 0);
	EXPECT(mlx5dv_devx_umem_dereg(cq->umem) == 0);
	free(cq->ring);
}

/* A UAR page: with BlueFlame, where there is write combining. */
static inline struct mlx5dv_devx_uar *new_uar(struct ibv_context *of)
{
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(of, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF);
	return uar || errno != EOPNOTSUPP ? uar : mlx5dv_devx_alloc_uar(of, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
}

/* A function of the device's, which is there when it is preloaded. */
static inline void *device_function(const char *name)
{
	return NEED(dlsym(RTLD_DEFAULT, name));
}

/*
 * Memory regions beyond the plain ones: registered anew, paged in on demand, of files, of device memory, and past what may be
 * pinned.
 * With the argument "locked", the process may pin 64 KiB. With "changed", rights to memory change after its registration.
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096
#define RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static struct ibv_cq *cq;
static struct ibv_qp *qp, *peer;

static void reconnect(void)
{
	if (qp)
		EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_qp(peer) == 0);
	qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	peer = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	connect_to(qp, peer);
	connect_to(peer, qp);
}

/* WRITEs 64 bytes to and from anywhere; a QP that failed is made anew. */
static enum ibv_wc_status copy(uint32_t lkey, void *from, uint32_t rkey, uint64_t to)
{
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = 64, .lkey = lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { .remote_addr = to, .rkey = rkey } };
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
	enum ibv_wc_status status = wait_for(cq).status;
	if (status != IBV_WC_SUCCESS)
		reconnect();
	return status;
}

static char *pages(size_t count)
{
	char *at = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return NEED(at == MAP_FAILED ? NULL : at);
}

static void registered_anew(struct ibv_mr *plain)
{
	char *one = pages(2), *other = pages(8);
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, one, 2 * PAGE, RIGHTS));
	uint32_t key = mr->rkey;
	memset(memory, 'r', 64);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)one) == IBV_WC_SUCCESS && one[63] == 'r');

	/* Rights: the same key. */
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE) == 0 && mr->rkey == key);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)one) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIGHTS) == 0 && mr->rkey == key);
	/* The domain: queues of the other one have no access any more, and the old one has one region less. */
	struct ibv_pd *elsewhere = NEED(ibv_alloc_pd(context));
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, elsewhere, NULL, 0, 0) == 0 && mr->pd == elsewhere);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)one) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(ibv_dealloc_pd(elsewhere) == EBUSY);
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0) == 0);
	EXPECT(ibv_dealloc_pd(elsewhere) == 0);
	/* The memory: of the same size by the same key, larger by another; the old one is out of reach. */
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, other, 2 * PAGE, 0) == 0 && mr->rkey == key);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)other) == IBV_WC_SUCCESS && other[63] == 'r');
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)one) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS, NULL, other, 8 * PAGE, RIGHTS) == 0);
	EXPECT(mr->rkey != key && mr->length == 8 * PAGE);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)other + 7 * PAGE) == IBV_WC_SUCCESS && other[7 * PAGE] == 'r');
	EXPECT(copy(plain->lkey, memory, key, (uintptr_t)other) == IBV_WC_REM_ACCESS_ERR);
	/* What cannot be leaves the region as it was. */
	key = mr->rkey;
	munmap(one, 2 * PAGE);
	errno = 0;
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, one, PAGE, 0) == IBV_REREG_MR_ERR_CMD && errno == EFAULT);
	errno = 0;
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE) != 0 && errno == EINVAL);
	EXPECT(ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0) != 0);
	EXPECT(copy(plain->lkey, memory, key, (uintptr_t)other) == IBV_WC_SUCCESS);
	EXPECT(ibv_dereg_mr(mr) == 0);
	munmap(other, 8 * PAGE);
}

/* Memory that goes right after it was sent, while the device has had nothing to do for long: the packet is first.
 * On a PCI function it need not be: nothing orders a doorbell and the command after it. */
static void gone_right_after_the_post(struct ibv_mr *plain)
{
	char *at = pages(1);
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, at, PAGE, 0));
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = 64, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)memory, .rkey = plain->rkey } };
	memset(at, 'g', PAGE);
	usleep(100000);
	EXPECT(ibv_post_send(qp, &wr, &bad) == 0 && ibv_dereg_mr(mr) == 0);
	munmap(at, PAGE);
	EXPECT(wait_for(cq).status == IBV_WC_SUCCESS && memory[0] == 'g' && memory[63] == 'g');
}

static void on_demand(struct ibv_mr *plain)
{
	struct ibv_device_attr_ex attr;
	EXPECT(ibv_query_device_ex(context, NULL, &attr) == 0);
	EXPECT(attr.odp_caps.general_caps == (IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT));
	uint32_t rc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
	EXPECT((attr.odp_caps.per_transport_caps.rc_odp_caps & rc) == rc);
	/* XRC and DC have no receives but those of SRQs. */
	uint32_t by_srq = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_SRQ_RECV;
	EXPECT((attr.xrc_odp_caps & ~IBV_ODP_SUPPORT_ATOMIC) == by_srq);
	struct mlx5dv_context own = { .comp_mask = MLX5DV_CONTEXT_MASK_DC_ODP_CAPS };
	EXPECT(mlx5dv_query_device(context, &own) == 0 && own.comp_mask & MLX5DV_CONTEXT_MASK_DC_ODP_CAPS);
	EXPECT((own.dc_odp_caps & ~IBV_ODP_SUPPORT_ATOMIC) == by_srq);

	/* Memory that is not there when it is registered, comes, goes, and comes back as other pages. */
	char *at = pages(4);
	munmap(at, 4 * PAGE);
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, at, 4 * PAGE, RIGHTS | IBV_ACCESS_ON_DEMAND));
	memset(memory, 'o', 64);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)at) != IBV_WC_SUCCESS);
	for (int round = 0; round < 2; round++) {
		char *mapped = mmap(at, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		EXPECT(mapped == at && at[PAGE] == 0);
		EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)at + PAGE) == IBV_WC_SUCCESS && at[PAGE + 63] == 'o');
		EXPECT(copy(mr->lkey, at + PAGE, plain->rkey, (uintptr_t)memory + PAGE) == IBV_WC_SUCCESS && memory[PAGE] == 'o');
	}
	/* Its rights are those of the region, and of the pages. */
	EXPECT(mprotect(at, PAGE, PROT_READ) == 0);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)at) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)at + 4 * PAGE) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(mprotect(at, PAGE, PROT_READ | PROT_WRITE) == 0);

	/* Prefetching: of keys that come on demand, in their domain, inside of their regions. */
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = 2 * PAGE, .lkey = mr->lkey };
	EXPECT(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1) == 0);
	EXPECT(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1) == 0);
	EXPECT(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1) == 0);
	EXPECT(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1) == 0);
	EXPECT(ibv_advise_mr(pd, 77, 0, &sge, 1) == EOPNOTSUPP);
	EXPECT(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 2, &sge, 1) == EINVAL);
	unsigned char there[2] = {};
	EXPECT(mincore(at, 2 * PAGE, there) == 0 && there[0] & there[1] & 1);
	sge.length = 5 * PAGE;
	EXPECT(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1) == EFAULT);
	EXPECT(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1) == 0);
	sge = (struct ibv_sge){ .addr = (uintptr_t)memory, .length = 64, .lkey = plain->lkey };
	EXPECT(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1) == ENOENT);
	sge.lkey = 0x7777777;
	EXPECT(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1) == ENOENT);
	struct ibv_pd *elsewhere = NEED(ibv_alloc_pd(context));
	sge.lkey = mr->lkey;
	EXPECT(ibv_advise_mr(elsewhere, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1) == EPERM);
	EXPECT(ibv_dealloc_pd(elsewhere) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0);

	/* The whole address space; an atomic, too. */
	mr = NEED(ibv_reg_mr(pd, NULL, SIZE_MAX, RIGHTS | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ON_DEMAND));
	EXPECT(copy(mr->lkey, memory, mr->rkey, (uintptr_t)at + 2 * PAGE) == IBV_WC_SUCCESS && at[2 * PAGE] == 'o');
	*(uint64_t *)(at + 3 * PAGE) = 40;
	sge = (struct ibv_sge){ .addr = (uintptr_t)memory, .length = 8, .lkey = mr->lkey };
	struct ibv_send_wr *bad, add = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = (uintptr_t)at + 3 * PAGE, .rkey = mr->rkey, .compare_add = 2 } };
	struct ibv_qp_attr rights = { .qp_access_flags = RIGHTS | IBV_ACCESS_REMOTE_ATOMIC };
	EXPECT(ibv_modify_qp(peer, &rights, IBV_QP_ACCESS_FLAGS) == 0);
	EXPECT(ibv_post_send(qp, &add, &bad) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
	EXPECT(*(uint64_t *)(at + 3 * PAGE) == 42 && *(uint64_t *)memory == 40);
	EXPECT(copy(mr->lkey, memory, mr->rkey, 64) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(ibv_dereg_mr(mr) == 0);
	errno = 0;
	EXPECT(!ibv_reg_mr(pd, memory, SIZE_MAX, IBV_ACCESS_ON_DEMAND) && errno == EINVAL);
	munmap(at, 4 * PAGE);
}

/* A memfd stands for a dma-buf. */
static void of_files(struct ibv_mr *plain)
{
	int fd = memfd_create("shared", MFD_CLOEXEC);
	EXPECT(ftruncate(fd, 4 * PAGE) == 0);
	char *shared = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct ibv_mr *mr = NEED(ibv_reg_dmabuf_mr(pd, PAGE + 16, 2 * PAGE, 16, fd, RIGHTS));
	memset(memory, 'f', 64);
	EXPECT(copy(plain->lkey, memory, mr->rkey, 16) == IBV_WC_SUCCESS);
	EXPECT(shared[PAGE + 15] == 0 && shared[PAGE + 16] == 'f' && shared[PAGE + 79] == 'f' && shared[PAGE + 80] == 0);
	EXPECT(copy(mr->lkey, (void *)16, plain->rkey, (uintptr_t)memory + 2 * PAGE) == IBV_WC_SUCCESS && memory[2 * PAGE] == 'f');
	EXPECT(copy(plain->lkey, memory, mr->rkey, 0) == IBV_WC_REM_ACCESS_ERR);
	/* Somebody takes the memory away: an error, and nobody dies. */
	EXPECT(ftruncate(fd, 0) == 0);
	EXPECT(copy(plain->lkey, memory, mr->rkey, 16) != IBV_WC_SUCCESS);
	EXPECT(ibv_dereg_mr(mr) == 0);
	EXPECT(ftruncate(fd, PAGE) == 0);
	errno = 0;
	EXPECT(!ibv_reg_dmabuf_mr(pd, 0, 2 * PAGE, 0, fd, RIGHTS) && errno == EINVAL);
	errno = 0;
	EXPECT(!ibv_reg_dmabuf_mr(pd, 0, PAGE, 8, fd, RIGHTS) && errno == EINVAL);
	errno = 0;
	EXPECT(!ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, fd, RIGHTS | IBV_ACCESS_ON_DEMAND) && errno == EINVAL);
	errno = 0;
	EXPECT(!ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, 999, RIGHTS) && errno == EBADF);
	int ends[2];
	EXPECT(pipe(ends) == 0);
	errno = 0;
	EXPECT(!ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, ends[0], RIGHTS) && errno == EINVAL);
	munmap(shared, 4 * PAGE);
	close(fd);
}

/* Memory of the device's own: allocated, written and read by the CPU, source and destination of requests. */
static void device_memory(struct ibv_mr *plain)
{
	struct ibv_device_attr_ex attr;
	EXPECT(ibv_query_device_ex(context, NULL, &attr) == 0 && attr.max_dm_size == 128 * 1024);
	struct ibv_alloc_dm_attr wanted = { .length = 5000, .log_align_req = 6 };
	struct ibv_dm *dm = NEED(ibv_alloc_dm(context, &wanted));
	wanted = (struct ibv_alloc_dm_attr){ .length = 64 };
	struct ibv_dm *other = NEED(ibv_alloc_dm(context, &wanted));
	uint32_t rights = RIGHTS | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED;
	struct ibv_mr *mr = NEED(ibv_reg_dm_mr(pd, dm, 904, 4096, rights));

	/* From it and to it, by addresses that count from the region's start. */
	char bytes[64];
	memset(bytes, 'd', sizeof(bytes));
	EXPECT(ibv_memcpy_to_dm(dm, 904 + 8, bytes, sizeof(bytes)) == 0);
	EXPECT(copy(mr->lkey, (void *)8, plain->rkey, (uintptr_t)memory + PAGE) == IBV_WC_SUCCESS && memory[PAGE + 63] == 'd');
	memset(memory, 'e', 64);
	EXPECT(copy(plain->lkey, memory, mr->rkey, 4096 - 64) == IBV_WC_SUCCESS);
	EXPECT(ibv_memcpy_from_dm(bytes, dm, 5000 - 64, sizeof(bytes)) == 0 && bytes[0] == 'e' && bytes[63] == 'e');
	EXPECT(ibv_memcpy_from_dm(bytes, other, 0, sizeof(bytes)) == 0 && bytes[0] == 0 && bytes[63] == 0);
	EXPECT(copy(plain->lkey, memory, mr->rkey, 4096 - 63) == IBV_WC_REM_ACCESS_ERR);
	uint64_t word = 40;
	EXPECT(ibv_memcpy_to_dm(dm, 904, &word, sizeof(word)) == 0);
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 8, .lkey = plain->lkey };
	struct ibv_send_wr *bad, add = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED, .wr.atomic = { .rkey = mr->rkey, .compare_add = 2 } };
	struct ibv_qp_attr permits = { .qp_access_flags = RIGHTS | IBV_ACCESS_REMOTE_ATOMIC };
	EXPECT(ibv_modify_qp(peer, &permits, IBV_QP_ACCESS_FLAGS) == 0);
	EXPECT(ibv_post_send(qp, &add, &bad) == 0 && wait_for(cq).status == IBV_WC_SUCCESS);
	EXPECT(ibv_memcpy_from_dm(&word, dm, 904, sizeof(word)) == 0 && word == 42 && *(uint64_t *)memory == 40);
	/* A region of no bytes, at the start, inside and at the end, gives access to none. */
	const uint64_t places[] = { 0, 904, 5000 };
	for (int i = 0; i < 3; i++) {
		struct ibv_mr *none = NEED(ibv_reg_dm_mr(pd, dm, places[i], 0, rights));
		EXPECT(none->length == 0 && copy(plain->lkey, memory, none->rkey, 0) == IBV_WC_REM_ACCESS_ERR);
		EXPECT(ibv_dereg_mr(none) == 0);
	}

	/* What cannot be. */
	errno = 0;
	EXPECT(!ibv_reg_dm_mr(pd, dm, 5001, 0, rights) && errno == EINVAL);
	errno = 0;
	EXPECT(!ibv_reg_dm_mr(pd, dm, 905, 4096, rights) && errno == EINVAL);
	errno = 0;
	EXPECT(!ibv_reg_dm_mr(pd, dm, UINT64_MAX, 2, rights) && errno == EINVAL);
	errno = 0;
	EXPECT(!ibv_reg_dm_mr(pd, dm, 0, 64, RIGHTS) && errno == EINVAL);
	errno = 0;
	EXPECT(!ibv_reg_dm_mr(pd, dm, 0, 64, rights | IBV_ACCESS_ON_DEMAND) && errno == EINVAL);
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE) != 0);
	EXPECT(ibv_free_dm(dm) == EBUSY);
	struct ibv_alloc_dm_attr rest = { .length = 128 * 1024 - 3 * PAGE };
	struct ibv_dm *all = NEED(ibv_alloc_dm(context, &rest));
	EXPECT(!ibv_alloc_dm(context, &wanted));
	EXPECT(ibv_free_dm(other) == 0 && ibv_free_dm(NEED(ibv_alloc_dm(context, &wanted))) == 0);
	struct ibv_alloc_dm_attr odd[] = { {}, { .length = 64, .log_align_req = 13 }, { .length = 128 * 1024 + 1 } };
	for (int i = 0; i < 3; i++)
		EXPECT(!ibv_alloc_dm(context, &odd[i]));
	EXPECT(ibv_dereg_mr(mr) == 0 && ibv_free_dm(dm) == 0 && ibv_free_dm(all) == 0);
	/* Nobody sees what others have left. */
	dm = NEED(ibv_alloc_dm(context, &wanted));
	EXPECT(ibv_memcpy_from_dm(bytes, dm, 0, sizeof(bytes)) == 0 && bytes[0] == 0);
	EXPECT(ibv_free_dm(dm) == 0);
}

/* No bytes are no region at the start of a page. Inside of a page, that page must be there (`ib_umem_num_pages`). */
static void of_no_bytes(int rights)
{
	char *at = pages(1);
	errno = 0;
	EXPECT(!ibv_reg_mr(pd, at, 0, rights) && errno == EINVAL);
	EXPECT(munmap(at, PAGE) == 0);
	errno = 0;
	EXPECT(rights & IBV_ACCESS_ON_DEMAND || (!ibv_reg_mr(pd, at + 16, 0, rights) && errno == EFAULT));
}

/* With a page, they are a region of which no byte can be reached. */
static void of_no_bytes_in_a_page(struct ibv_mr *plain, int rights)
{
	char *at = pages(1);
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, at + 16, 0, rights));
	struct ibv_sge sge = { .addr = (uintptr_t)at + 16, .length = 0, .lkey = mr->lkey };
	for (int i = 0; i < 2; i++) {
		struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { .remote_addr = (uintptr_t)at + 16, .rkey = mr->rkey } };
		EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
		EXPECT(wait_for(cq).status == (i ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS));
		sge = (struct ibv_sge){ .addr = (uintptr_t)memory, .length = 1, .lkey = plain->lkey };
	}
	reconnect();
	EXPECT(ibv_dereg_mr(mr) == 0 && munmap(at, PAGE) == 0);
}

/* Memory that the process may only read is not registered for writing, by any right that leads to writes. */
static void of_constants(struct ibv_mr *plain)
{
	static const char literal[64] = "a literal";
	FILE *file = NEED(tmpfile());
	EXPECT(ftruncate(fileno(file), PAGE) == 0);
	char *read_only = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fileno(file), 0);
	char *past_the_end = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
	EXPECT(read_only != MAP_FAILED && past_the_end != MAP_FAILED);
	char *mixed = pages(3);
	EXPECT(mprotect(mixed + PAGE, PAGE, PROT_READ) == 0);
	struct { const char *at; size_t length; } of[] = {
		{ literal, sizeof(literal) }, { read_only, PAGE }, { read_only + 8, 8 }, { mixed, 3 * PAGE }, { mixed + PAGE - 1, 2 },
	};
	int writing[] = { IBV_ACCESS_LOCAL_WRITE, RIGHTS, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC, IBV_ACCESS_MW_BIND };
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		for (int j = 0; j < 4; j++) {
			errno = 0;
			EXPECT(!ibv_reg_mr(pd, (void *)of[i].at, of[i].length, writing[j]) && errno == EFAULT);
		}
		EXPECT(ibv_dereg_mr(NEED(ibv_reg_mr(pd, (void *)of[i].at, of[i].length, IBV_ACCESS_REMOTE_READ))) == 0);
	}
	for (int access = 0; access <= IBV_ACCESS_LOCAL_WRITE; access++) {
		errno = 0;
		EXPECT(!ibv_reg_mr(pd, past_the_end, 2 * PAGE, access) && errno == EFAULT);
	}
	/* It can be sent, and a peer can read it. */
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, (void *)literal, sizeof(literal), IBV_ACCESS_REMOTE_READ));
	EXPECT(copy(mr->lkey, (void *)literal, plain->rkey, (uintptr_t)memory) == IBV_WC_SUCCESS && strcmp(memory, literal) == 0);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)literal) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(ibv_dereg_mr(mr) == 0);
	/* No other memory takes its place either. */
	mr = NEED(ibv_reg_mr(pd, mixed, PAGE, RIGHTS));
	errno = 0;
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, read_only, PAGE, 0) == IBV_REREG_MR_ERR_CMD && errno == EFAULT);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)mixed) == IBV_WC_SUCCESS);
	EXPECT(ibv_dereg_mr(mr) == 0);
	munmap(read_only, PAGE);
	munmap(past_the_end, 2 * PAGE);
	munmap(mixed, 3 * PAGE);
	fclose(file);
}

/* A region that was registered for reading gets rights to write if the process has them. */
static void rights_beyond_those_of_the_process(struct ibv_mr *plain)
{
	char *at = pages(2);
	EXPECT(mprotect(at, PAGE, PROT_READ) == 0);
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, at, 2 * PAGE, 0));
	errno = 0;
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIGHTS) == IBV_REREG_MR_ERR_CMD && errno == EACCES);
	EXPECT(mprotect(at, PAGE, PROT_READ | PROT_WRITE) == 0);
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, RIGHTS) == 0);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)at) == IBV_WC_SUCCESS);
	EXPECT(ibv_dereg_mr(mr) == 0);
	munmap(at, 2 * PAGE);
}

/*
 * Rights that go after the registration: an error, and the process lives. A NIC, which has pinned the pages, goes on. The device
 * finds them gone in messages, in a receive queue, and where it writes completions.
 */
static void rights_that_change(struct ibv_mr *plain)
{
	char *at = pages(1);
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, at, PAGE, RIGHTS));
	EXPECT(mprotect(at, PAGE, PROT_READ) == 0);
	EXPECT(copy(plain->lkey, memory, mr->rkey, (uintptr_t)at) != IBV_WC_SUCCESS);
	EXPECT(copy(mr->lkey, at, plain->rkey, (uintptr_t)memory) == IBV_WC_SUCCESS);
	EXPECT(mprotect(at, PAGE, PROT_NONE) == 0);
	EXPECT(copy(mr->lkey, at, plain->rkey, (uintptr_t)memory) != IBV_WC_SUCCESS);
	errno = 0;
	EXPECT(!ibv_reg_mr(pd, at, PAGE, 0) && errno == EFAULT);
	EXPECT(ibv_dereg_mr(mr) == 0);
	munmap(at, PAGE);

	struct ibv_recv_wr *bad_receive, receive = { .wr_id = 1 };
	EXPECT(ibv_post_recv(peer, &receive, &bad_receive) == 0);
	struct mlx5dv_qp raw = raw_qp(peer);
	void *page = (void *)((uintptr_t)raw.rq.buf & -PAGE);
	EXPECT(mprotect(page, PAGE, PROT_NONE) == 0);
	struct ibv_send_wr *bad, send = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	EXPECT(ibv_post_send(qp, &send, &bad) == 0);
	EXPECT(wait_for(cq).status != IBV_WC_SUCCESS);
	EXPECT(mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0);
	reconnect();

	struct ibv_cq *of_completions = NEED(ibv_create_cq(context, 15, NULL, NULL, 0));
	struct ibv_qp *closed = NEED(make_qp(pd, of_completions, NULL, IBV_QPT_RC));
	connect_to(closed, closed);
	page = (void *)((uintptr_t)raw_cq(of_completions).buf & -PAGE);
	EXPECT(mprotect(page, PAGE, PROT_READ) == 0);
	EXPECT(post_write(closed, plain, memory, memory + PAGE, 8, IBV_SEND_SIGNALED) == 0);
	/* The event says that the completion queue has failed. */
	struct ibv_async_event event;
	EXPECT(ibv_get_async_event(context, &event) == 0 && event.event_type == IBV_EVENT_CQ_ERR);
	EXPECT(event.element.cq == of_completions);
	ibv_ack_async_event(&event);
	EXPECT(mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0);
	EXPECT(ibv_destroy_qp(closed) == 0 && ibv_destroy_cq(of_completions) == 0);
}

/* What may be pinned is 16 pages. The queues of this program have some of them. */
static void past_the_limit(void)
{
	char *at = pages(32);
	errno = 0;
	EXPECT(!ibv_reg_mr(pd, at, 17 * PAGE, RIGHTS) && errno == ENOMEM);
	errno = 0;
	EXPECT(!ibv_create_cq(context, 4095, NULL, NULL, 0) && errno == ENOMEM);
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, at, 10 * PAGE, RIGHTS));
	errno = 0;
	EXPECT(!ibv_reg_mr(pd, at, 7 * PAGE, RIGHTS) && errno == ENOMEM);
	/* Nothing is pinned on demand. */
	EXPECT(ibv_dereg_mr(NEED(ibv_reg_mr(pd, at, 32 * PAGE, RIGHTS | IBV_ACCESS_ON_DEMAND))) == 0);
	EXPECT(ibv_dereg_mr(mr) == 0);
	mr = NEED(ibv_reg_mr(pd, at, 10 * PAGE, RIGHTS));
	EXPECT(ibv_dereg_mr(mr) == 0);
	munmap(at, 32 * PAGE);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "locked") == 0) {
		struct rlimit limit = { .rlim_cur = 16 * PAGE, .rlim_max = 16 * PAGE };
		EXPECT(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
		start();
		past_the_limit();
		return finish();
	}
	start();
	cq = NEED(ibv_create_cq(context, 63, NULL, NULL, 0));
	reconnect();
	struct ibv_mr *plain = NEED(ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS));
	registered_anew(plain);
	of_no_bytes(RIGHTS);
	of_constants(plain);
	if (argc > 1 && strcmp(argv[1], "changed") == 0)
		rights_that_change(plain);
	/* What not each device and kernel has. */
	if (argc == 1 || strcmp(argv[1], "pinned") != 0) {
		gone_right_after_the_post(plain);
		on_demand(plain);
		of_no_bytes(RIGHTS | IBV_ACCESS_ON_DEMAND);
		of_no_bytes_in_a_page(plain, RIGHTS | IBV_ACCESS_ON_DEMAND);
		/* Kernels since June of 2026 refuse this, with a warning in their logs (`alloc_cacheable_mr`). */
		of_no_bytes_in_a_page(plain, RIGHTS);
		of_files(plain);
		device_memory(plain);
		rights_beyond_those_of_the_process(plain);
	}
	EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_qp(peer) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(plain) == 0);
	return finish();
}

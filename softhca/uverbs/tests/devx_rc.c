/*
 * Two connected QPs, all of it made by commands and driven by hand: rings in registered memory, doorbells by BlueFlame, CQEs
 * polled from the ring, events by a channel.
 */
#include "devx_qp.h"

enum { COMPLETION = 0x00, WQ_ACCESS_ERROR = 0x11, EQE_TYPE = 1, EQE_NUMBER = 32 + 24, REMOTE_ACCESS_ERROR = 0x13 };

static unsigned domain;
static struct mlx5dv_pd verbs_domain;
static struct ibv_mr *mr;
static char *source, *target;

static unsigned opcode_of(struct mlx5_cqe64 *cqe)
{
	return cqe ? cqe->op_own >> 4 : 0xff;
}

/* What arrives is what was sent, all around the rings, by both kinds of doorbells. */
static void traffic(struct devx_qp *sender, struct devx_qp *receiver)
{
	for (unsigned i = 0; i < 40; i++) {
		snprintf(source, 64, "message %u", i);
		memset(target, 0, 64);
		switch (i % 3) {
		case 0:
			post_devx(sender, MLX5_OPCODE_RDMA_WRITE, source, mr->lkey, 64, target, mr->rkey, i % 2);
			break;
		case 1:
			post_devx(sender, MLX5_OPCODE_RDMA_READ, target, mr->lkey, 64, source, mr->rkey, i % 2);
			break;
		default:
			receive_devx(receiver, target, mr->lkey, 64);
			post_devx(sender, MLX5_OPCODE_SEND, source, mr->lkey, 64, NULL, 0, i % 2);
			struct mlx5_cqe64 *received = poll_devx(receiver->cq);
			EXPECT(opcode_of(received) == MLX5_CQE_RESP_SEND && be32toh(received->byte_cnt) == 64);
			EXPECT((be32toh(received->sop_drop_qpn) & 0xffffff) == receiver->number);
		}
		struct mlx5_cqe64 *sent = poll_devx(sender->cq);
		EXPECT(opcode_of(sent) == MLX5_CQE_REQ && be16toh(sent->wqe_counter) == i);
		EXPECT(strcmp(source, target) == 0);
	}
}

/* An armed CQ says once that a CQE has come. */
static void completion_events(struct devx_qp *sender)
{
	struct mlx5dv_devx_event_channel *channel =
		NEED(mlx5dv_devx_create_event_channel(context, MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA));
	struct mlx5dv_devx_event_channel *full = NEED(mlx5dv_devx_create_event_channel(context, 0));
	uint16_t completion = COMPLETION;
	EXPECT(mlx5dv_devx_subscribe_devx_event(channel, sender->cq->object, sizeof(completion), &completion, 42) == 0);
	EXPECT(mlx5dv_devx_subscribe_devx_event(full, sender->cq->object, sizeof(completion), &completion, 43) == 0);
	for (int i = 0; i < 3; i++) {
		arm_devx(sender->cq);
		post_devx(sender, MLX5_OPCODE_RDMA_WRITE, source, mr->lkey, 8, target, mr->rkey, 1);
		uint64_t cookie = 0;
		EXPECT(mlx5dv_devx_get_event(channel, (void *)&cookie, sizeof(cookie)) == sizeof(cookie) && cookie == 42);
		union {
			struct mlx5dv_devx_async_event_hdr header;
			uint8_t bytes[8 + 64];
		} event;
		EXPECT(mlx5dv_devx_get_event(full, &event.header, sizeof(event)) == sizeof(event));
		EXPECT(event.header.cookie == 43 && event.header.out_data[EQE_TYPE] == COMPLETION);
		EXPECT(get(event.header.out_data, EQE_NUMBER * 8, 32) == sender->cq->number);
		sender->cq->arms++;
		EXPECT(opcode_of(poll_devx(sender->cq)) == MLX5_CQE_REQ);
	}
	/* Not without arming, and nobody hears of it when the object is gone. */
	post_devx(sender, MLX5_OPCODE_RDMA_WRITE, source, mr->lkey, 8, target, mr->rkey, 1);
	EXPECT(opcode_of(poll_devx(sender->cq)) == MLX5_CQE_REQ);
	struct pollfd waits = { .fd = channel->fd, .events = POLLIN };
	EXPECT(poll(&waits, 1, 0) == 0);
	mlx5dv_devx_destroy_event_channel(channel);
	mlx5dv_devx_destroy_event_channel(full);
}

/* A request without rights: both ends hear of it, each in its way. */
static void errors(struct devx_qp *sender, struct devx_qp *receiver)
{
	struct mlx5dv_devx_event_channel *channel = NEED(mlx5dv_devx_create_event_channel(context, 0));
	uint16_t access_error = WQ_ACCESS_ERROR;
	EXPECT(mlx5dv_devx_subscribe_devx_event(channel, receiver->object, sizeof(access_error), &access_error, 1 << 20) == 0);
	receive_devx(receiver, target, mr->lkey, 64);
	post_devx(sender, MLX5_OPCODE_RDMA_WRITE, source, mr->lkey, 8, target, mr->rkey + 0x100, 1);
	/* Both queues have CQs of their own. */
	struct mlx5_err_cqe *failed = (struct mlx5_err_cqe *)poll_devx(sender->cq);
	EXPECT(failed && failed->op_own >> 4 == MLX5_CQE_REQ_ERR && failed->syndrome == REMOTE_ACCESS_ERROR);
	union {
		struct mlx5dv_devx_async_event_hdr header;
		uint8_t bytes[8 + 64];
	} event;
	EXPECT(mlx5dv_devx_get_event(channel, &event.header, sizeof(event)) == sizeof(event));
	EXPECT(event.header.cookie == 1 << 20 && event.header.out_data[EQE_TYPE] == WQ_ACCESS_ERROR);
	EXPECT(get(event.header.out_data, EQE_NUMBER * 8, 32) == receiver->number);
	struct mlx5_err_cqe *flushed = (struct mlx5_err_cqe *)poll_devx(receiver->cq);
	EXPECT(flushed && flushed->op_own >> 4 == MLX5_CQE_RESP_ERR);
	EXPECT(state_of(sender) == STATE_ERR && state_of(receiver) == STATE_ERR);
	mlx5dv_devx_destroy_event_channel(channel);
}

/* Of the mailbox that makes a key: its context follows 16 bytes of other things, and then what it translates by. */
enum { MKC = 0x80, CREATE_MKEY_BYTES = 0x110, KLM_BYTES = 16, MODE_MTT = 1, MODE_KSM = 3 };
#define MKC_ACCESS_MODE MKC + 0x16, 2
#define MKC_RIGHTS MKC + 0x12, 4
#define MKC_QPN MKC + 0x20, 24
#define MKC_VARIANT MKC + 0x38, 8
#define MKC_PD MKC + 0x68, 24
#define MKC_START_ADDR MKC + 0x80, 64
#define MKC_LEN MKC + 0xc0, 64
#define MKC_TRANSLATIONS MKC + 0x1a0, 32
#define MKC_LOG_PAGE_SIZE MKC + 0x1db, 5
#define TRANSLATIONS_ACTUAL 0x300, 32
#define MKEY_UMEM_ID 0x320, 32
#define MKEY_UMEM_OFFSET 0x340, 64

static void fill_create_mkey(uint8_t *in, unsigned mode, char *start, uint64_t length)
{
	set(in, OPCODE, CREATE_MKEY);
	set(in, MKC_ACCESS_MODE, mode);
	/* Remote and local, writing and reading. */
	set(in, MKC_RIGHTS, 0xf);
	set(in, MKC_QPN, 0xffffff);
	set(in, MKC_VARIANT, 0x5a);
	set(in, MKC_PD, verbs_domain.pdn);
	set(in, MKC_START_ADDR, (uintptr_t)start);
	set(in, MKC_LEN, length);
}

/* Keys made by commands: of registered memory, and of pieces of other keys, here of two pages in the other order. */
static void keys(struct devx_qp *sender)
{
	uint8_t in[CREATE_MKEY_BYTES + 2 * KLM_BYTES] = {}, out[16] = {};
	struct mlx5dv_devx_umem *umem = NEED(mlx5dv_devx_umem_reg(context, target, 8192,
								   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	fill_create_mkey(in, MODE_MTT, target + 4096, 4096);
	set(in, MKEY_UMEM_ID, umem->umem_id);
	set(in, MKEY_UMEM_OFFSET, 4096);
	struct mlx5dv_devx_obj *direct = NEED(mlx5dv_devx_obj_create(context, in, CREATE_MKEY_BYTES, out, sizeof(out)));
	uint32_t key = get(out, NUMBER) << 8 | 0x5a;
	strcpy(source, "by a key of registered memory");
	post_devx(sender, MLX5_OPCODE_RDMA_WRITE, source, mr->lkey, 64, target + 4096 + 100, key, 1);
	EXPECT(opcode_of(poll_devx(sender->cq)) == MLX5_CQE_REQ && strcmp(target + 4096 + 100, source) == 0);
	EXPECT(mlx5dv_devx_umem_dereg(umem) == EBUSY);

	memset(in, 0, sizeof(in));
	fill_create_mkey(in, MODE_KSM, NULL, 8192);
	set(in, MKC_LOG_PAGE_SIZE, 12);
	set(in, MKC_TRANSLATIONS, 2);
	set(in, TRANSLATIONS_ACTUAL, 2);
	for (int i = 0; i < 2; i++) {
		set(in + CREATE_MKEY_BYTES + i * KLM_BYTES, 32, 32, mr->lkey);
		set(in + CREATE_MKEY_BYTES + i * KLM_BYTES, 64, 64, (uintptr_t)target + (1 - i) * 4096);
	}
	struct mlx5dv_devx_obj *indirect = NEED(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out)));
	uint32_t other = get(out, NUMBER) << 8 | 0x5a;
	strcpy(source, "two pieces");
	post_devx(sender, MLX5_OPCODE_RDMA_WRITE, source, mr->lkey, 8, (char *)4092, other, 1);
	EXPECT(opcode_of(poll_devx(sender->cq)) == MLX5_CQE_REQ);
	EXPECT(memcmp(target + 8192 - 4, source, 4) == 0 && memcmp(target, source + 4, 4) == 0);
	uint8_t query[16] = {}, found[CREATE_MKEY_BYTES + 2 * KLM_BYTES] = {};
	set(query, OPCODE, QUERY_MKEY);
	set(query, NUMBER, other >> 8);
	EXPECT(mlx5dv_devx_obj_query(indirect, query, sizeof(query), found, sizeof(found)) == 0);
	EXPECT(get(found, MKC_ACCESS_MODE) == MODE_KSM && get(found, MKC_LEN) == 8192);
	EXPECT(mlx5dv_devx_obj_query(direct, query, sizeof(query), found, sizeof(found)) == EINVAL);
	/* A mailbox that ends in the middle of the context. */
	EXPECT(ERRNO_OF(mlx5dv_devx_obj_create(context, in, 0x4f, out, sizeof(out))) == EINVAL);
	EXPECT(mlx5dv_devx_obj_destroy(indirect) == 0);
	EXPECT(mlx5dv_devx_obj_destroy(direct) == 0);
	EXPECT(mlx5dv_devx_umem_dereg(umem) == 0);
}

/* Of the mailboxes that make and change a receive memory pool: its context begins here, and its work queue's after 48 bytes. */
enum { RMPC = 0x100, WQ = RMPC + 0x180, RMP_BYTES = 0x110, CREATE_RMP = 0x90c, MODIFY_RMP = 0x90d, CYCLIC = 1, RMP_READY = 1 };
#define RMPC_STATE RMPC + 8, 4
#define WQ_TYPE WQ + 0, 4
#define WQ_LIMIT WQ + 0x30, 16
#define WQ_PD WQ + 0x48, 24
#define WQ_DBR_ADDR WQ + 0x80, 64
#define WQ_LOG_STRIDE WQ + 0x10c, 4
#define WQ_LOG_SIZE WQ + 0x11b, 5
#define WQ_DBR_UMEM_ID WQ + 0x140, 32
#define WQ_WQ_UMEM_ID WQ + 0x160, 32
#define RMP_STATE_BEFORE 0x40, 4
#define RMP_CHANGES_LIMIT 0xbf, 1

/* Receives that QPs share: events when few are left, and when the last one of a QP in error is taken. */
static void pool(struct mlx5dv_devx_uar *uar, struct devx_cq *cq)
{
	enum { LIMIT_EVENT = 0x14, LAST_WQE = 0x13, WQES = 8, STRIDE = 32, RECORD = 4096 - 64 };
	char *ring = NEED(aligned_alloc(4096, 4096));
	memset(ring, 0, 4096);
	struct mlx5dv_devx_umem *umem = NEED(mlx5dv_devx_umem_reg(context, ring, 4096, 0));
	uint8_t in[RMP_BYTES] = {}, out[16] = {};
	set(in, OPCODE, CREATE_RMP);
	set(in, RMPC_STATE, RMP_READY);
	set(in, WQ_TYPE, CYCLIC);
	set(in, WQ_PD, verbs_domain.pdn);
	set(in, WQ_DBR_ADDR, RECORD);
	set(in, WQ_LOG_STRIDE, 5);
	set(in, WQ_LOG_SIZE, 3);
	set(in, WQ_DBR_UMEM_ID, umem->umem_id);
	set(in, WQ_WQ_UMEM_ID, umem->umem_id);
	struct mlx5dv_devx_obj *rmp = NEED(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out)));
	unsigned number = get(out, NUMBER);
	/* A segment that could link WQEs, then the buffer. */
	for (unsigned i = 0; i < WQES; i++)
		mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)(ring + i * STRIDE + 16), 64, mr->lkey, (uintptr_t)target);
	*(volatile __be32 *)(ring + RECORD) = htobe32(WQES);
	struct devx_qp qp = make_devx_qp(uar, verbs_domain.pdn, cq, number);
	connect_devx_qp(&qp, qp.number);

	struct mlx5dv_devx_event_channel *channel =
		NEED(mlx5dv_devx_create_event_channel(context, MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA));
	uint16_t limit = LIMIT_EVENT, last = LAST_WQE;
	EXPECT(mlx5dv_devx_subscribe_devx_event(channel, rmp, sizeof(limit), &limit, 5) == 0);
	EXPECT(mlx5dv_devx_subscribe_devx_event(channel, qp.object, sizeof(last), &last, 6) == 0);
	memset(in, 0, sizeof(in));
	set(in, OPCODE, MODIFY_RMP);
	set(in, NUMBER, number);
	set(in, RMP_STATE_BEFORE, RMP_READY);
	set(in, RMP_CHANGES_LIMIT, 1);
	set(in, RMPC_STATE, RMP_READY);
	set(in, WQ_LIMIT, WQES - 1);
	EXPECT(mlx5dv_devx_obj_modify(rmp, in, sizeof(in), out, sizeof(out)) == 0);
	strcpy(source, "to a pool");
	for (unsigned i = 0; i < 2; i++) {
		post_devx(&qp, MLX5_OPCODE_SEND, source, mr->lkey, 64, NULL, 0, 1);
		unsigned first = opcode_of(poll_devx(cq)), second = opcode_of(poll_devx(cq));
		EXPECT((first == MLX5_CQE_RESP_SEND && second == MLX5_CQE_REQ) ||
		       (second == MLX5_CQE_RESP_SEND && first == MLX5_CQE_REQ));
		EXPECT(strcmp(target, source) == 0);
		struct pollfd waits = { .fd = channel->fd, .events = POLLIN };
		EXPECT(i == 1 || poll(&waits, 1, 0) == 0);
	}
	uint64_t cookie = 0;
	EXPECT(mlx5dv_devx_get_event(channel, (void *)&cookie, sizeof(cookie)) == sizeof(cookie) && cookie == 5);
	uint8_t to_error[16] = {};
	change_devx_qp(&qp, TO_ERR, to_error, sizeof(to_error));
	EXPECT(mlx5dv_devx_get_event(channel, (void *)&cookie, sizeof(cookie)) == sizeof(cookie) && cookie == 6);
	EXPECT(mlx5dv_devx_obj_destroy(rmp) == EBUSY);
	destroy_devx_qp(&qp);
	EXPECT(mlx5dv_devx_obj_destroy(rmp) == 0);
	mlx5dv_devx_destroy_event_channel(channel);
	EXPECT(mlx5dv_devx_umem_dereg(umem) == 0);
	free(ring);
}

int main(int argc, char **argv)
{
	start();
	struct mlx5dv_devx_obj *domain_object = NEED(alloc_pd(context, &domain));
	struct mlx5dv_obj of_pd = { .pd = { .in = pd, .out = &verbs_domain } };
	EXPECT(mlx5dv_init_obj(&of_pd, MLX5DV_OBJ_PD) == 0);
	mr = NEED(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
	source = memory;
	target = memory + 4096;
	int non_cached = argc > 1 && strcmp(argv[1], "non-cached") == 0;
	struct mlx5dv_devx_uar *uar = NEED(non_cached ? mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC) : new_uar(context));
	struct mlx5dv_devx_uar *other = NEED(new_uar(context));
	struct devx_cq cq = make_cq(uar, 3), other_cq = make_cq(other, 3);
	struct devx_qp one = make_devx_qp(uar, verbs_domain.pdn, &cq, 0), two = make_devx_qp(other, verbs_domain.pdn, &other_cq, 0);
	EXPECT(state_of(&one) == STATE_RST);
	connect_devx_qp(&one, two.number);
	connect_devx_qp(&two, one.number);
	EXPECT(state_of(&one) == STATE_RTS);
	traffic(&one, &two);
	completion_events(&one);
	/* What is in use stays. Of events it is silent from now on: Linux takes a CQ from its EQ before the device refuses. */
	EXPECT(mlx5dv_devx_obj_destroy(cq.object) == EBUSY);
	EXPECT(mlx5dv_devx_umem_dereg(one.umem) == EBUSY);
	keys(&one);
	errors(&one, &two);
	destroy_devx_qp(&one);
	destroy_devx_qp(&two);
	pool(uar, &cq);
	destroy_cq(&cq);
	destroy_cq(&other_cq);
	mlx5dv_devx_free_uar(uar);
	mlx5dv_devx_free_uar(other);
	EXPECT(ibv_dereg_mr(mr) == 0);
	EXPECT(mlx5dv_devx_obj_destroy(domain_object) == 0);
	return finish();
}

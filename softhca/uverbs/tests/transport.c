/*
 * Every operation of the transport between two devices, by plain verbs. Each end is the requester once. The receiver compares each
 * byte of the data, and the bytes around it. Usage:
 *
 *     transport [-d DEVICE] [-g GID_INDEX] [-p PORT] [-s LARGEST] [-m MTU] [-l] WHAT... [HOST]
 *
 * Without HOST it is the server. WHAT is some of the names in `cases` at the end. LARGEST are the bytes of the longest message; MTU
 * is the only path MTU, else all are used that both ports have. With -l the link loses packets: timers are short.
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "transport.h"

static const struct {
	enum ibv_wr_opcode opcode;
	enum ibv_wc_opcode sent;
	/* The responder's completion, if there is one. */
	enum ibv_wc_opcode received;
	const char *name;
	int has_receive, has_immediate;
} operations[] = {
	{ IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, "SEND", 1, 0 },
	{ IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV, "SEND with immediate", 1, 1 },
	{ IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, 0, "WRITE", 0, 0 },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE, IBV_WC_RECV_RDMA_WITH_IMM, "WRITE with immediate", 1, 1 },
	{ IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, 0, "READ", 0, 0 },
};

/* One request of this kind and length; UC has no READ. */
static void one(const struct link *link, int operation, uint32_t len, uint32_t seed)
{
	enum ibv_wr_opcode opcode = operations[operation].opcode;
	int is_read = opcode == IBV_WR_RDMA_READ;
	doing("%s %s of %u bytes, path MTU %d", link->qp->qp_type == IBV_QPT_RC ? "RC" : "UC", operations[operation].name, len,
	      128 << link->mtu);
	/* Where the data comes from, or goes to. */
	if (asks == is_read)
		blank(memory, len);
	else
		fill(seed, memory, len);
	if (!asks && operations[operation].has_receive)
		post_receive(link->qp, NULL, seed, memory, opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? 0 : len);
	both(seed);
	struct ibv_wc wc;
	if (asks) {
		post(link, opcode, seed, memory, len);
		wc = completion();
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.opcode == operations[operation].sent && wc.wr_id == seed);
		EXPECT(!is_read || (is_filled(seed, memory, len) && is_alone(memory, len)));
	} else if (operations[operation].has_receive) {
		wc = completion();
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.opcode == operations[operation].received && wc.wr_id == seed);
		EXPECT(wc.byte_len == len && wc.qp_num == link->qp->qp_num);
		EXPECT(!!(wc.wc_flags & IBV_WC_WITH_IMM) == operations[operation].has_immediate);
		EXPECT(!operations[operation].has_immediate || wc.imm_data == htonl(0x1000000 + len));
	}
	/* UC says nothing of a WRITE's arrival; the next message on the connection does. */
	if (link->qp->qp_type == IBV_QPT_UC && !operations[operation].has_receive) {
		if (!asks)
			post_receive(link->qp, NULL, 0, memory, 0);
		both(seed + 1);
		if (asks)
			post(link, IBV_WR_SEND, 0, memory, 0);
		EXPECT(completion().status == IBV_WC_SUCCESS);
	}
	both(seed + 2);
	if (!asks && !is_read)
		EXPECT(is_filled(seed, memory, len) && is_alone(memory, len));
	both(seed + 3);
}

/* Each operation with lengths around the path MTU, for each MTU. */
static void sizes(enum ibv_qp_type type)
{
	static uint32_t seed;
	for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		struct kind kind = RC;
		kind.type = type;
		kind.mtu = mtu;
		if (type == IBV_QPT_UC)
			kind.rights = IBV_ACCESS_REMOTE_WRITE;
		if (only_mtu && only_mtu != 128 << mtu)
			continue;
		struct link link = connect_by(kind);
		if (link.mtu == mtu) {
			uint32_t bytes = 128 << mtu, lens[] = { 0, 1, 2, 3, 4, 31, 33, bytes - 1, bytes, bytes + 1, 2 * bytes, 5 * bytes + 3,
				65536, 1000003, largest };
			for (unsigned i = 0; i < sizeof(lens) / sizeof(*lens); i++)
				for (int operation = 0; operation < (type == IBV_QPT_RC ? 5 : 4) && lens[i] <= largest; operation++)
					one(&link, operation, lens[i], seed += 8);
		} else {
			printf("path MTU %d: more than the ports have\n", 128 << mtu);
			EXPECT(!only_mtu);
		}
		disconnect(&link);
	}
}
static void reliable(void) { sizes(IBV_QPT_RC); }
static void unreliable(void) { sizes(IBV_QPT_UC); }

static void atomics(void)
{
	struct link link = connect_by(RC);
	uint64_t *word = (uint64_t *)memory, *result = (uint64_t *)(memory + 128);
	struct {
		enum ibv_wr_opcode opcode;
		uint64_t compare_add, swap, before, after;
	} steps[] = {
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 0xff, 0x100 },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, 0x0102030405060708, 0, 0x100, 0x0102030405060808 },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, 0x0102030405060808, ~0ULL, 0x0102030405060808, ~0ULL },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, 7, 8, ~0ULL, ~0ULL },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0, ~0ULL, 1 },
	};
	memset(memory, 0, 256);
	word[1] = 0xff;
	both(1);
	for (int i = 0; i < 5; i++) {
		doing("atomic %d", i);
		if (asks) {
			NEED(post_atomic(&link, steps[i].opcode, i, (uint8_t *)result, 8, steps[i].compare_add, steps[i].swap) == 0);
			struct ibv_wc wc = completion();
			EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == (unsigned)i && wc.opcode ==
			       (steps[i].opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD));
			EXPECT(*result == steps[i].before);
		}
		both(i);
		EXPECT(asks || (word[1] == steps[i].after && word[0] == 0 && word[2] == 0));
		both(i);
	}
	disconnect(&link);
}

/* Many requests of all kinds under way at once. */
static void mixed(void)
{
	enum { ROUNDS = 8, REQUESTS = 96, SLOT = 24576 };
	struct link link = connect_by((struct kind){ .type = IBV_QPT_RC, .rights = QP_RIGHTS, .rnr_retry = 7, .timeout = 17,
		.retries = 7, .mtu = IBV_MTU_1024 });
	uint8_t *slots = memory + 4096;
	uint64_t *counter = (uint64_t *)memory;
	*counter = 0;
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t lens[REQUESTS];
		for (uint32_t i = 0; i < REQUESTS; i++)
			lens[i] = (i * 2654435761u + round * 40503u) % (i % 3 ? 20000 : 300);
		for (uint32_t i = 0; i < REQUESTS; i++) {
			uint8_t *slot = slots + i * SLOT;
			if (asks == (i % 4 == 2))
				blank(slot, lens[i]);
			else
				fill(round * REQUESTS + i, slot, lens[i]);
			if (!asks && i % 4 == 0)
				post_receive(link.qp, NULL, i, slot, lens[i]);
		}
		both(round);
		for (uint32_t i = 0; asks && i < REQUESTS; i++) {
			uint8_t *slot = slots + i * SLOT;
			if (i % 4 == 3)
				NEED(post_atomic(&link, IBV_WR_ATOMIC_FETCH_AND_ADD, i, slot, 0, 3, 0) == 0);
			else
				post(&link, (enum ibv_wr_opcode[]){ IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ }[i % 4], i, slot,
				     lens[i]);
		}
		for (uint32_t i = 0; i < REQUESTS; i += asks ? 1 : 4) {
			doing("request %u of round %d", i, round);
			struct ibv_wc wc = completion();
			NEED(wc.status == IBV_WC_SUCCESS);
			EXPECT(wc.wr_id == i && (asks || wc.byte_len == lens[i]));
		}
		both(round);
		for (uint32_t i = 0; i < REQUESTS; i++) {
			uint8_t *slot = slots + i * SLOT;
			doing("data of request %u of round %d, %u bytes", i, round, lens[i]);
			if (i % 4 == 3)
				EXPECT(!asks || *(uint64_t *)slot == 3 * (round * REQUESTS / 4ULL + i / 4));
			else
				EXPECT(is_filled(round * REQUESTS + i, slot, lens[i]) && (asks != (i % 4 == 2) || is_alone(slot, lens[i])));
		}
		EXPECT(asks || *counter == 3 * (round + 1) * REQUESTS / 4ULL);
		both(round);
	}
	disconnect(&link);
}

/* Two queue pairs of the responder share a receive queue. */
static void shared(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = QUEUE, .max_sge = 2 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	NEED(srq);
	struct kind kind = RC;
	kind.srq = srq;
	struct link links[2] = { connect_by(kind), connect_by(kind) };
	for (uint32_t i = 0; i < 32; i++) {
		doing("message %u by SRQ", i);
		uint32_t len = i * 321;
		if (asks) {
			fill(i, memory, len);
		} else {
			blank(memory, len);
			post_receive(NULL, srq, i, memory, len);
		}
		both(i);
		if (asks)
			post(&links[i % 2], i % 3 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM, i, memory, len);
		struct ibv_wc wc = completion();
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.qp_num == links[i % 2].qp->qp_num);
		EXPECT(asks || (wc.wr_id == i && wc.byte_len == len && is_filled(i, memory, len) && is_alone(memory, len)));
		both(i);
	}
	disconnect(&links[0]);
	disconnect(&links[1]);
	EXPECT(ibv_destroy_srq(srq) == 0);
}

/* Datagrams of all lengths; one with another Q_Key, and one that is too long for its receive, do not arrive. */
static void datagrams(void)
{
	struct kind kind = { .type = IBV_QPT_UD };
	struct link link = connect_by(kind);
	struct ibv_ah_attr way = way_to(&link.peer);
	struct ibv_ah *ah = ibv_create_ah(pd, &way);
	NEED(ah);
	uint32_t bytes = 128 << link.mtu, lens[] = { 0, 1, 2, 3, 4, 255, 256, 1000, bytes - 1, bytes };
	for (uint32_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		doing("datagram of %u bytes", lens[i]);
		struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = lens[i], .lkey = mr->lkey };
		struct ibv_send_wr *bad, wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
			.opcode = i % 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, .imm_data = htonl(i),
			.wr.ud = { .ah = ah, .remote_qpn = link.peer.qpn, .remote_qkey = QKEY ^ 1 } };
		blank(memory, GRH + lens[i]);
		if (asks)
			fill(i, memory, lens[i]);
		else
			post_receive(link.qp, NULL, i, memory, GRH + lens[i]);
		both(i);
		if (asks) {
			/* The wrong key first. */
			NEED(ibv_post_send(link.qp, &wr, &bad) == 0);
			EXPECT(completion().status == IBV_WC_SUCCESS);
			wr.wr.ud.remote_qkey = QKEY;
			NEED(ibv_post_send(link.qp, &wr, &bad) == 0);
		}
		struct ibv_wc wc = completion();
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == i);
		if (!asks) {
			EXPECT(wc.byte_len == GRH + lens[i] && wc.src_qp == link.peer.qpn);
			EXPECT(!!(wc.wc_flags & IBV_WC_GRH) == (gid_index >= 0));
			EXPECT(!!(wc.wc_flags & IBV_WC_WITH_IMM) == (i % 2) && (i % 2 == 0 || wc.imm_data == htonl(i)));
			EXPECT(is_filled(i, memory + GRH, lens[i]));
			/* IPv4 in the last 20 bytes: version, and the sender's address. */
			int is_ip4 = link.peer.gid[10] == 0xff && link.peer.gid[11] == 0xff;
			EXPECT(gid_index < 0 || memcmp(memory + (is_ip4 ? 32 : 8), link.peer.gid + (is_ip4 ? 12 : 0), is_ip4 ? 4 : 16) == 0);
			EXPECT(gid_index < 0 || memory[is_ip4 ? 20 : 0] >> 4 == (is_ip4 ? 4 : 6));
			/* And no other came. */
			EXPECT(ibv_poll_cq(cq, 1, &wc) == 0);
		}
		both(i);
	}
	EXPECT(ibv_destroy_ah(ah) == 0);
	disconnect(&link);
}

/* A responder that is not ready: for a while, and for too long. */
static void not_ready(void)
{
	struct link link = connect_by(RC);
	for (int i = 0; i < 3; i++) {
		doing("a responder that is not ready, %d", i);
		/* Before the requester begins: a WRITE is there at once, and only its last packet is sent again. */
		if (asks)
			fill(i, memory, 3000);
		else
			blank(memory, 3000);
		both(i);
		if (asks) {
			post(&link, (enum ibv_wr_opcode[]){ IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND_WITH_IMM }[i], i, memory, 3000);
		} else {
			usleep(200000);
			post_receive(link.qp, NULL, i, memory, 3000);
		}
		struct ibv_wc wc = completion();
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == (unsigned)i);
		both(i);
		EXPECT(asks || is_filled(i, memory, 3000));
		both(i);
	}
	disconnect(&link);
	struct kind kind = RC;
	kind.rnr_retry = 2;
	link = connect_by(kind);
	doing("a responder that is never ready");
	if (asks) {
		post(&link, IBV_WR_SEND, 9, memory, 100);
		EXPECT(completion().status == IBV_WC_RNR_RETRY_EXC_ERR);
		post(&link, IBV_WR_SEND, 10, memory, 100);
		struct ibv_wc wc = completion();
		EXPECT(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 10);
	}
	disconnect(&link);
}

/* Nobody has the queue pair any more. */
static void silent(void)
{
	struct kind kind = RC;
	kind.timeout = 12;
	kind.retries = 2;
	struct link link = connect_by(kind);
	doing("a peer that is gone");
	if (!asks)
		EXPECT(ibv_destroy_qp(link.qp) == 0);
	both(1);
	if (asks) {
		post(&link, IBV_WR_RDMA_WRITE, 1, memory, 5000);
		EXPECT(completion().status == IBV_WC_RETRY_EXC_ERR);
		EXPECT(ibv_destroy_qp(link.qp) == 0);
	}
	both(2);
}

/* Requests that are refused, each on a connection of its own. */
static void refusals(void)
{
	struct ibv_mr *local = ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE);
	NEED(local);
	enum how { KEY, RANGE, LOCAL, NO_RIGHT, MISALIGNED, TOO_LONG };
	static const struct {
		const char *name;
		enum how how;
		enum ibv_wr_opcode opcode;
		/* Of the requester, and of the responder's receive (0: it is flushed). */
		enum ibv_wc_status asked, received;
	} all[] = {
		{ "WRITE by a key that is none", KEY, IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR, 0 },
		{ "READ by a key that is none", KEY, IBV_WR_RDMA_READ, IBV_WC_REM_ACCESS_ERR, 0 },
		{ "atomic by a key that is none", KEY, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_REM_ACCESS_ERR, 0 },
		{ "WRITE past the end", RANGE, IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR, 0 },
		{ "READ past the end", RANGE, IBV_WR_RDMA_READ, IBV_WC_REM_ACCESS_ERR, 0 },
		{ "WRITE to memory for this end alone", LOCAL, IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR, 0 },
		{ "READ of memory for this end alone", LOCAL, IBV_WR_RDMA_READ, IBV_WC_REM_ACCESS_ERR, 0 },
		{ "atomic in memory for this end alone", LOCAL, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_REM_ACCESS_ERR, 0 },
		{ "WRITE by a queue pair without the right", NO_RIGHT, IBV_WR_RDMA_WRITE, IBV_WC_REM_INV_REQ_ERR, 0 },
		{ "READ by a queue pair without the right", NO_RIGHT, IBV_WR_RDMA_READ, IBV_WC_REM_INV_REQ_ERR, 0 },
		{ "atomic by a queue pair without the right", NO_RIGHT, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_REM_INV_REQ_ERR, 0 },
		{ "atomic at an odd address", MISALIGNED, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_REM_INV_REQ_ERR, 0 },
		{ "SEND longer than the receive", TOO_LONG, IBV_WR_SEND, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR },
	};
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct kind kind = RC;
		kind.extra = local->rkey;
		if (all[i].how == NO_RIGHT)
			kind.rights = IBV_ACCESS_LOCAL_WRITE;
		struct link link = connect_by(kind);
		doing("%s", all[i].name);
		blank(memory, 8192);
		if (!asks && all[i].how == TOO_LONG)
			post_receive(link.qp, NULL, 1, memory, 2999);
		else if (!asks)
			post_receive(link.qp, NULL, 1, memory, 100);
		both(i);
		enum ibv_wc_status expected = asks ? all[i].asked : all[i].received ? all[i].received : IBV_WC_WR_FLUSH_ERR;
		if (all[i].how == TOO_LONG && (asks ? link.peer.is_rxe : is_rxe())) {
			/* Its `copy_data` (rxe_mr.c) returns EINVAL, where `send_data_in` (rxe_resp.c) looks for ENOSPC. */
			expected = asks ? IBV_WC_REM_OP_ERR : IBV_WC_LOC_QP_OP_ERR;
			printf("%s: %s, a mistake of rxe\n", all[i].name, ibv_wc_status_str(expected));
		}
		struct ibv_wc wc;
		if (asks) {
			struct link wrong = link;
			uint64_t offset = all[i].how == RANGE ? room - 2999 : all[i].how == MISALIGNED ? 4 : 0;
			wrong.peer.addr += offset;
			if (all[i].how == KEY)
				wrong.peer.rkey ^= 0x5a0000;
			if (all[i].how == LOCAL)
				wrong.peer.rkey = link.peer.extra;
			int posted = 1;
			if (all[i].opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || all[i].opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
				posted = post_atomic(&wrong, all[i].opcode, 1, memory + 4096, 0, 1, 2) == 0;
			else
				post(&wrong, all[i].opcode, 1, memory, 3000);
			/* librxe refuses such an atomic by itself (providers/rxe/rxe.c, `validate_send_wr`). */
			EXPECT(posted || (is_rxe() && all[i].how == MISALIGNED));
			int none;
			swap(&posted, &none, sizeof(none));
			if (posted) {
				post(&link, IBV_WR_SEND, 2, memory, 1);
				wc = completion();
				EXPECT(wc.status == expected && wc.wr_id == 1);
				wc = completion();
				EXPECT(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == 2);
			}
		} else {
			int theirs, none = -1;
			swap(&none, &theirs, sizeof(theirs));
			/* The queue pair has failed, and its receive with it. */
			if (theirs) {
				wc = completion();
				EXPECT(wc.status == expected && wc.wr_id == 1);
			}
			EXPECT(all[i].how == TOO_LONG || (memory[0] == 0xee && memory[2999] == 0xee));
		}
		disconnect(&link);
	}
	EXPECT(ibv_dereg_mr(local) == 0);
}

/* Messages that invalidate a window of the receiver. */
static void invalidation(void)
{
	struct ibv_mr *bindable = ibv_reg_mr(pd, memory, 8192, ALL_RIGHTS | IBV_ACCESS_MW_BIND);
	NEED(bindable);
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	NEED(mw);
	struct link link = connect_by(RC);
	uint32_t own = ibv_inc_rkey(mw->rkey), theirs;
	struct ibv_send_wr *bad, bind = { .wr_id = 1, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED, .bind_mw = {
		.mw = mw, .rkey = own, .bind_info = { .mr = bindable, .addr = (uintptr_t)memory, .length = 8192,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ } } };
	doing("binding a window");
	if (!asks) {
		EXPECT(ibv_post_send(link.qp, &bind, &bad) == 0 && completion().status == IBV_WC_SUCCESS);
		blank(memory, 8192);
		post_receive(link.qp, NULL, 2, memory + 16384, 4000);
		post_receive(link.qp, NULL, 3, memory + 16384, 4000);
	}
	swap(&own, &theirs, sizeof(own));
	struct link by_window = link;
	by_window.peer.rkey = theirs;
	if (asks) {
		fill(5, memory, 5000);
		doing("WRITE to a window");
		post(&by_window, IBV_WR_RDMA_WRITE, 3, memory, 5000);
		EXPECT(completion().status == IBV_WC_SUCCESS);
		doing("SEND with invalidate");
		struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 4000, .lkey = mr->lkey };
		struct ibv_send_wr send = { .wr_id = 4, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_INV,
			.send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = theirs };
		EXPECT(ibv_post_send(link.qp, &send, &bad) == 0 && completion().status == IBV_WC_SUCCESS);
		doing("WRITE to a window that is gone");
		post(&by_window, IBV_WR_RDMA_WRITE, 5, memory, 5000);
		EXPECT(completion().status == IBV_WC_REM_ACCESS_ERR);
	} else {
		doing("SEND with invalidate");
		struct ibv_wc wc = completion();
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.byte_len == 4000);
		EXPECT(wc.invalidated_rkey == own);
		/* rxe's `do_complete` (rxe_resp.c) writes the kernel's flag IB_WC_WITH_INVALIDATE, which means this one to libibverbs. */
		EXPECT(wc.wc_flags & (is_rxe() ? IBV_WC_IP_CSUM_OK : IBV_WC_WITH_INV));
		if (is_rxe())
			printf("SEND with invalidate: wc_flags %#x, a mistake of rxe\n", wc.wc_flags);
		EXPECT(is_filled(5, memory, 5000) && is_filled(5, memory + 16384, 4000));
		EXPECT(completion().status == IBV_WC_WR_FLUSH_ERR);
	}
	disconnect(&link);
	EXPECT(ibv_dealloc_mw(mw) == 0 && ibv_dereg_mr(bindable) == 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "rc", reliable }, { "uc", unreliable }, { "ud", datagrams }, { "atomics", atomics }, { "mixed", mixed }, { "srq", shared },
	{ "rnr", not_ready }, { "silent", silent }, { "refusals", refusals }, { "invalidate", invalidation },
};
enum { CASES = sizeof(cases) / sizeof(*cases) };

int main(int argc, char **argv)
{
	int wanted[CASES] = {};
	for (int option; (option = getopt(argc, argv, "d:g:p:s:m:l")) != -1;) {
		switch (option) {
		case 'd': device_name = optarg; break;
		case 'g': gid_index = atoi(optarg); break;
		case 'p': port = optarg; break;
		case 's': largest = atoi(optarg); break;
		case 'm': only_mtu = atoi(optarg); break;
		case 'l': lossy = 1; break;
		default: return 2;
		}
	}
	for (int i = optind; i < argc; i++) {
		int found = 0;
		for (int j = 0; j < CASES; j++)
			if (strcmp(cases[j].name, argv[i]) == 0)
				found = wanted[j] = 1;
		if (!found && i + 1 < argc) {
			fprintf(stderr, "no such case: %s\n", argv[i]);
			return 2;
		}
		if (!found)
			host = argv[i];
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_device();
	meet();
	for (int turn = 0; turn < 2; turn++) {
		asks = (host != NULL) ^ turn;
		for (int i = 0; i < CASES; i++) {
			if (!wanted[i])
				continue;
			double begin = seconds();
			doing("%s", cases[i].name);
			cases[i].run();
			if (host)
				printf("%s, %s: %.1f s\n", cases[i].name, asks ? "requester" : "responder", seconds() - begin);
		}
	}
	EXPECT(ibv_dereg_mr(mr) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
	return failures != 0;
}

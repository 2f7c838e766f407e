/*
 * Two ends of UCX's protocol layer in one process, each with a device of its own (the program's two arguments, such as
 * mlx5_0:1), that give each other data in every way the layer has. Every byte that arrives is compared, and so is what lies
 * around it, which nobody may have written. The first difference ends the program with exit code 1.
 *
 * No two messages have the same pattern: what an earlier one has left is not mistaken for a later one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

enum { LONGEST = 1 << 20, GUARD = 64, UNTOUCHED = 0xa5, SOME = 24, HELLO = 7, PATIENCE_SECONDS = 100 };

/* Short, copied and by reference, on both sides of a WQEBB, a packet, and where rendezvous begins. */
static const size_t sizes[] = { 0, 1, 8, 63, 64, 65, 200, 1023, 4096, 4097, 10000, 65536, LONGEST };
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

struct end {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;
	ucp_mem_h mapped;
	/* The peer's window, as this end reaches it. */
	ucp_rkey_h rkey;
	/* LONGEST bytes between guards; the window is mapped for the peer. */
	uint8_t *window, *outgoing, *incoming;
};

static struct end ends[2];
static uint64_t compared;
static uint32_t seed;

#define NEED(condition)                                                          \
	do {                                                                     \
		if (!(condition)) {                                              \
			printf("line %d: not so: %s\n", __LINE__, #condition); \
			exit(1);                                                 \
		}                                                                \
	} while (0)

static void well(ucs_status_t status, int line)
{
	if (status != UCS_OK) {
		printf("line %d: %s\n", line, ucs_status_string(status));
		exit(1);
	}
}
#define WELL(call) well(call, __LINE__)

static void progress(void)
{
	ucp_worker_progress(ends[0].worker);
	ucp_worker_progress(ends[1].worker);
}

static void wait_until_done(ucs_status_ptr_t request, int line)
{
	if (!UCS_PTR_IS_PTR(request))
		return well(UCS_PTR_STATUS(request), line);
	while (ucp_request_check_status(request) == UCS_INPROGRESS)
		progress();
	well(ucp_request_check_status(request), line);
	ucp_request_free(request);
}
#define DONE(request) wait_until_done(request, __LINE__)

static const ucp_request_param_t plain;

/* What this end has written is in the peer's memory. */
static void flush(struct end *end)
{
	DONE(ucp_ep_flush_nbx(end->ep, &plain));
}

static uint8_t pattern(uint32_t of, size_t at)
{
	uint32_t mixed = (of * 0x9e3779b1u) ^ ((uint32_t)at * 0x85ebca6bu);
	return (mixed ^ (mixed >> 15)) * 0x2c1b3c6du >> 24;
}

static void fill(uint8_t *to, size_t len, uint32_t of)
{
	for (size_t i = 0; i < len; i++)
		to[i] = pattern(of, i);
}

static void expect(const char *what, const struct end *end, const uint8_t *got, size_t len, uint32_t of)
{
	for (size_t i = 0; i < len; i++)
		if (got[i] != pattern(of, i)) {
			printf("%s of %zu bytes to end %d: byte %zu is %#x, not %#x\n", what, len, (int)(end - ends), i, got[i],
			       pattern(of, i));
			exit(1);
		}
	compared += len;
}

static void expect_untouched(const char *what, const uint8_t *from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (from[i] != UNTOUCHED) {
			printf("%s: %#x is %zu bytes beyond what it may write\n", what, from[i], i);
			exit(1);
		}
}

/* `len` bytes of this pattern are at `at` of the buffer, and nothing is around. */
static void expect_only(const char *what, const struct end *end, const uint8_t *buffer, size_t at, size_t len, uint32_t of)
{
	expect(what, end, buffer + at, len, of);
	expect_untouched(what, buffer - GUARD, GUARD + at);
	expect_untouched(what, buffer + at + len, GUARD);
}

static void wipe(uint8_t *buffer, size_t len)
{
	memset(buffer - GUARD, UNTOUCHED, len + 2 * GUARD);
}

static uint8_t *make_buffer(void)
{
	uint8_t *made = aligned_alloc(4096, 4096 + LONGEST + 4096);
	NEED(made);
	wipe(made + 4096, LONGEST);
	return made + 4096;
}

/* Active messages: what the handler was told last, and whether all of it is there. */
static struct {
	size_t len;
	uint8_t header[HELLO];
	int arrived;
	void *descriptor;
} active[2];

static ucs_status_t on_active(void *arg, const void *header, size_t header_len, void *data, size_t len,
			      const ucp_am_recv_param_t *param)
{
	struct end *end = arg;
	int which = end - ends;
	NEED(header_len == HELLO && len <= LONGEST);
	memcpy(active[which].header, header, HELLO);
	active[which].len = len;
	active[which].arrived = 1;
	if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
		active[which].descriptor = data;
		return UCS_INPROGRESS;
	}
	memcpy(end->incoming, data, len);
	return UCS_OK;
}

static void open_end(struct end *end, const char *device)
{
	ucp_config_t *config;
	WELL(ucp_config_read(NULL, NULL, &config));
	WELL(ucp_config_modify(config, "NET_DEVICES", device));
	ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA |
		UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_AM | UCP_FEATURE_STREAM };
	WELL(ucp_init(&params, config, &end->context));
	ucp_config_release(config);
	ucp_worker_params_t worker = { .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE };
	WELL(ucp_worker_create(end->context, &worker, &end->worker));
	end->window = make_buffer();
	end->outgoing = make_buffer();
	end->incoming = make_buffer();
	ucp_mem_map_params_t map = { .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.address = end->window, .length = LONGEST };
	WELL(ucp_mem_map(end->context, &map, &end->mapped));
	ucp_am_handler_param_t handler = { .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
		UCP_AM_HANDLER_PARAM_FIELD_ARG, .id = 5, .cb = on_active, .arg = end };
	WELL(ucp_worker_set_am_recv_handler(end->worker, &handler));
}

static void connect_end(struct end *end, struct end *peer)
{
	ucp_address_t *address;
	size_t len;
	WELL(ucp_worker_get_address(peer->worker, &address, &len));
	ucp_ep_params_t params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address };
	WELL(ucp_ep_create(end->worker, &params, &end->ep));
	ucp_worker_release_address(peer->worker, address);
	void *packed;
	WELL(ucp_rkey_pack(peer->context, peer->mapped, &packed, &len));
	WELL(ucp_ep_rkey_unpack(end->ep, packed, &end->rkey));
	ucp_rkey_buffer_release(packed);
}

static void close_end(struct end *end)
{
	ucp_rkey_destroy(end->rkey);
	DONE(ucp_ep_close_nbx(end->ep, &plain));
}

static void free_end(struct end *end)
{
	WELL(ucp_mem_unmap(end->context, end->mapped));
	ucp_worker_destroy(end->worker);
	ucp_cleanup(end->context);
	free(end->window - 4096);
	free(end->outgoing - 4096);
	free(end->incoming - 4096);
}

/* A tagged message, to a receive that waits for it, or to one that comes later. */
static void tagged(struct end *from, struct end *to, size_t len, int early, int sync)
{
	uint32_t of = ++seed;
	ucs_status_ptr_t received = NULL, sent;
	fill(from->outgoing, len, of);
	wipe(to->incoming, len);
	if (early)
		received = ucp_tag_recv_nbx(to->worker, to->incoming, len, of, UINT64_MAX, &plain);
	sent = sync ? ucp_tag_send_sync_nbx(from->ep, from->outgoing, len, of, &plain)
		    : ucp_tag_send_nbx(from->ep, from->outgoing, len, of, &plain);
	if (!early) {
		for (int i = 0; i < 200; i++)
			progress();
		received = ucp_tag_recv_nbx(to->worker, to->incoming, len, of, UINT64_MAX, &plain);
	}
	DONE(sent);
	DONE(received);
	expect_only("tagged message", to, to->incoming, 0, len, of);
}

/* One tagged message from three pieces, into two. */
static void scattered(struct end *from, struct end *to, size_t len)
{
	uint32_t of = ++seed;
	size_t first = len / 7, second = len / 3, split = len / 2;
	fill(from->outgoing, len, of);
	wipe(to->incoming, len);
	ucp_dt_iov_t source[] = { { from->outgoing, first }, { from->outgoing + first, second },
		{ from->outgoing + first + second, len - first - second } };
	ucp_dt_iov_t sink[] = { { to->incoming, split }, { to->incoming + split, len - split } };
	ucp_request_param_t lists = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = UCP_DATATYPE_IOV };
	ucs_status_ptr_t received = ucp_tag_recv_nbx(to->worker, sink, 2, of, UINT64_MAX, &lists);
	DONE(ucp_tag_send_nbx(from->ep, source, 3, of, &lists));
	DONE(received);
	expect_only("message in pieces", to, to->incoming, 0, len, of);
}

static void stream(struct end *from, struct end *to, size_t len)
{
	uint32_t of = ++seed;
	size_t got;
	ucp_request_param_t all = { .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL };
	fill(from->outgoing, len, of);
	wipe(to->incoming, len);
	/* Nothing of a stream tells where a message of no bytes was. */
	if (len == 0)
		return;
	ucs_status_ptr_t received = ucp_stream_recv_nbx(to->ep, to->incoming, len, &got, &all);
	DONE(ucp_stream_send_nbx(from->ep, from->outgoing, len, &plain));
	DONE(received);
	expect_only("stream", to, to->incoming, 0, len, of);
}

static void active_message(struct end *from, struct end *to, size_t len)
{
	uint32_t of = ++seed;
	int which = to - ends;
	uint8_t header[HELLO];
	fill(header, HELLO, ~of);
	fill(from->outgoing, len, of);
	wipe(to->incoming, len);
	memset(&active[which], 0, sizeof(active[which]));
	ucs_status_ptr_t sent = ucp_am_send_nbx(from->ep, 5, header, HELLO, from->outgoing, len, &plain);
	while (!active[which].arrived)
		progress();
	if (active[which].descriptor)
		DONE(ucp_am_recv_data_nbx(to->worker, active[which].descriptor, to->incoming, len, &plain));
	DONE(sent);
	NEED(active[which].len == len);
	expect("header of an active message", to, active[which].header, HELLO, ~of);
	expect_only("active message", to, to->incoming, 0, len, of);
}

static void put(struct end *from, struct end *to, size_t len, size_t at)
{
	uint32_t of = ++seed;
	fill(from->outgoing, len, of);
	wipe(to->window, at + len);
	DONE(ucp_put_nbx(from->ep, from->outgoing, len, (uintptr_t)to->window + at, from->rkey, &plain));
	flush(from);
	expect_only("put", to, to->window, at, len, of);
}

static void get(struct end *to, struct end *from, size_t len, size_t at)
{
	uint32_t of = ++seed;
	fill(from->window + at, len, of);
	wipe(to->incoming, at + len);
	DONE(ucp_get_nbx(to->ep, to->incoming + at, len, (uintptr_t)from->window + at, to->rkey, &plain));
	flush(to);
	expect_only("get", to, to->incoming, at, len, of);
}

/* The length of the message with this number, of those that are under way together. */
static size_t mixed(int number)
{
	return 1 + (number * 1237) % 5000;
}

/* Messages and puts of mixed lengths, in both directions at once, without a gap between them where they arrive. */
static void together(int puts)
{
	ucs_status_ptr_t sent[2][SOME], received[2][SOME] = {};
	uint32_t first[2];
	for (int which = 0; which < 2; which++) {
		first[which] = seed + 1;
		seed += SOME;
		size_t at = 0;
		for (int i = 0; i < SOME; at += mixed(i++))
			fill(ends[which].outgoing + at, mixed(i), first[which] + i);
		wipe(ends[which].incoming, at);
		wipe(ends[which].window, at);
	}
	size_t at = 0;
	for (int i = 0; i < SOME; at += mixed(i++))
		for (int which = 0; which < 2; which++) {
			struct end *from = &ends[which], *to = &ends[1 - which];
			uint32_t of = first[which] + i;
			if (puts) {
				uintptr_t target = (uintptr_t)to->window + at;
				sent[which][i] = ucp_put_nbx(from->ep, from->outgoing + at, mixed(i), target, from->rkey, &plain);
			} else {
				received[which][i] = ucp_tag_recv_nbx(to->worker, to->incoming + at, mixed(i), of, UINT64_MAX, &plain);
				sent[which][i] = ucp_tag_send_nbx(from->ep, from->outgoing + at, mixed(i), of, &plain);
			}
		}
	for (int which = 0; which < 2; which++) {
		for (int i = 0; i < SOME; i++) {
			DONE(sent[which][i]);
			DONE(received[which][i]);
		}
		flush(&ends[which]);
	}
	for (int which = 0; which < 2; which++) {
		struct end *to = &ends[1 - which];
		uint8_t *into = puts ? to->window : to->incoming;
		at = 0;
		for (int i = 0; i < SOME; at += mixed(i++))
			expect(puts ? "one of many puts" : "one of many messages", to, into + at, mixed(i), first[which] + i);
		expect_untouched("the first of many", into - GUARD, GUARD);
		expect_untouched("the last of many", into + at, GUARD);
	}
}

/* An atomic operation of `bytes` on what is at the peer's window: what was there, and what is there then. */
static void atomic(struct end *from, struct end *to, size_t bytes, ucp_atomic_op_t op, uint64_t was, uint64_t operand,
		   uint64_t swap, uint64_t then)
{
	uint64_t answer = swap, there = 0, mask = bytes == 8 ? UINT64_MAX : UINT32_MAX;
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
		.datatype = ucp_dt_make_contig(bytes), .reply_buffer = &answer };
	wipe(to->window, 64);
	memcpy(to->window + 24, &was, bytes);
	DONE(ucp_atomic_op_nbx(from->ep, op, &operand, 1, (uintptr_t)to->window + 24, from->rkey, &param));
	flush(from);
	memcpy(&there, to->window + 24, bytes);
	if ((answer & mask) != (was & mask) || there != (then & mask)) {
		printf("atomic %d of %zu bytes by end %d: ", op, bytes, (int)(from - ends));
		printf("answer %#" PRIx64 ", not %#" PRIx64 "; ", answer & mask, was & mask);
		printf("leaves %#" PRIx64 ", not %#" PRIx64 "\n", there, then & mask);
		exit(1);
	}
	expect_untouched("atomic", to->window, 24);
	expect_untouched("atomic", to->window + 24 + bytes, 16);
	compared += 2 * bytes;
}

/* Adds that have no answer, all under way together. */
static void adds(struct end *from, struct end *to)
{
	uint64_t sum = 0x00000000fffffff0, one;
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8) };
	ucs_status_ptr_t added[SOME];
	static uint64_t operands[SOME];
	memcpy(to->window + 32, &sum, 8);
	for (int i = 0; i < SOME; i++) {
		operands[i] = 1 + i * 0x10000000001;
		sum += operands[i];
		added[i] = ucp_atomic_op_nbx(from->ep, UCP_ATOMIC_OP_ADD, &operands[i], 1, (uintptr_t)to->window + 32, from->rkey,
					     &param);
	}
	for (int i = 0; i < SOME; i++)
		DONE(added[i]);
	flush(from);
	memcpy(&one, to->window + 32, 8);
	NEED(one == sum);
	compared += 8;
}

static void atomics(struct end *from, struct end *to)
{
	const uint64_t a = 0xfedcba98fffffff8, b = 0x0123456789abcdef, c = 0x1122334455667788;
	for (size_t bytes = 4; bytes <= 8; bytes += 4) {
		atomic(from, to, bytes, UCP_ATOMIC_OP_ADD, a, b, 0, a + b);
		atomic(from, to, bytes, UCP_ATOMIC_OP_SWAP, a, b, 0, b);
		atomic(from, to, bytes, UCP_ATOMIC_OP_CSWAP, a, a, c, c);
		atomic(from, to, bytes, UCP_ATOMIC_OP_CSWAP, a, b, c, a);
		atomic(from, to, bytes, UCP_ATOMIC_OP_AND, a, b, 0, a & b);
		atomic(from, to, bytes, UCP_ATOMIC_OP_OR, a, b, 0, a | b);
		atomic(from, to, bytes, UCP_ATOMIC_OP_XOR, a, b, 0, a ^ b);
	}
	adds(from, to);
}

static void one_way(struct end *from, struct end *to)
{
	for (int i = 0; i < SIZES; i++) {
		size_t len = sizes[i];
		for (int kind = 0; kind < 4; kind++)
			tagged(from, to, len, kind & 1, kind & 2);
		scattered(from, to, len);
		stream(from, to, len);
		active_message(from, to, len);
		put(from, to, len, 0);
		get(from, to, len, 0);
		if (len + 3 <= LONGEST) {
			put(from, to, len, 3);
			get(from, to, len, 3);
		}
	}
	atomics(from, to);
}

int main(int count, char **arguments)
{
	NEED(count == 3);
	/* A message that never arrives ends the program too. */
	alarm(PATIENCE_SECONDS);
	for (int which = 0; which < 2; which++)
		open_end(&ends[which], arguments[1 + which]);
	for (int which = 0; which < 2; which++)
		connect_end(&ends[which], &ends[1 - which]);
	for (int which = 0; which < 2; which++)
		one_way(&ends[which], &ends[1 - which]);
	together(0);
	together(1);
	for (int which = 0; which < 2; which++)
		close_end(&ends[which]);
	for (int which = 0; which < 2; which++)
		free_end(&ends[which]);
	printf("compared %" PRIu64 " bytes\n", compared);
	return 0;
}

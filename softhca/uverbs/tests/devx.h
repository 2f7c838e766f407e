/*
 * Mailboxes of the device's commands, for the C programs that send some: numbers are big endian, bits are counted from the first.
 */
#include "prelude.h"

/* Sets `width` bits at bit `at`. */
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

/* What every output begins with. */
static inline unsigned status_of(const void *out)
{
	return get(out, 0, 8);
}

static inline unsigned syndrome_of(const void *out)
{
	return get(out, 32, 32);
}

/* Numbers of most objects, in what makes, names and destroys them. */
static inline unsigned number_of(const void *mailbox)
{
	return get(mailbox, 0x48, 24);
}

enum { QUERY_HCA_CAP = 0x100, QUERY_CQ = 0x402, ALLOC_PD = 0x800, DEALLOC_PD = 0x801, NOP = 0x80d };

/* A protection domain made by a command. */
static inline struct mlx5dv_devx_obj *alloc_pd(struct ibv_context *of, unsigned *number)
{
	uint8_t in[16] = {}, out[16] = {};
	set(in, 0, 16, ALLOC_PD);
	struct mlx5dv_devx_obj *made = mlx5dv_devx_obj_create(of, in, sizeof(in), out, sizeof(out));
	*number = number_of(out);
	return made;
}

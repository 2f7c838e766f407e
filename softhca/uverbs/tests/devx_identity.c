/*
 * What commands say of the device and its ports is what verbs say. Commands go through libmlx5; places of fields are those of
 * Linux' include/linux/mlx5/mlx5_ifc.h.
 */
#include "devx.h"

enum {
	QUERY_ISSI = 0x10a,
	QUERY_VPORT_STATE = 0x750,
	QUERY_NIC_VPORT_CONTEXT = 0x754,
	QUERY_ROCE_ADDRESS = 0x760,
	QUERY_HCA_VPORT_CONTEXT = 0x762,
	ALLOC_XRCD = 0x80e,
	ALLOC_TRANSPORT_DOMAIN = 0x816,
	QUERY_LAG = 0x842,
};

enum { GENERAL, ETHERNET, ATOMIC = 3, ROCE = 4, FLOW_TABLE = 7, NOTHING = 10, DEVICE_MEMORY = 0xf };

static uint8_t out[0x1010];

/* A command of 16 bytes with this in its last two words; the errno. */
static int ask(unsigned opcode, unsigned modifier, uint32_t first, uint32_t second, size_t room)
{
	uint8_t in[16] = {};
	set(in, OPCODE, opcode);
	set(in, OP_MOD, modifier);
	set(in, 0x40, 32, first);
	set(in, 0x60, 32, second);
	memset(out, 0x5a, sizeof(out));
	return mlx5dv_devx_general_cmd(context, in, sizeof(in), out, room) ? errno : 0;
}

/* A set of capabilities, as in use. */
static int ask_caps(unsigned set)
{
	return ask(QUERY_HCA_CAP, set << 1 | 1, 0, 0, 0x1010);
}

/* A number of the set that was asked for. */
static uint64_t cap(unsigned at, unsigned width)
{
	return get(out, 0x80 + at, width);
}

static void capabilities(int ethernet)
{
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	EXPECT(ibv_query_device_ex(context, NULL, &attr) == 0);
	EXPECT(ibv_query_port(context, 1, &port) == 0);
	const struct ibv_device_attr *device = &attr.orig_attr;
	EXPECT(ask_caps(GENERAL) == 0);
	/* All processes share them, and each has a part of the numbers. */
	EXPECT(1 << cap(0x9b, 5) >= device->max_qp && device->max_qp > 1 << 13);
	/* Linux reckons with requests of four WQEBBs. */
	EXPECT((1 << cap(0x88, 8)) / 4 == device->max_qp_wr);
	EXPECT(1 << cap(0xdb, 5) == device->max_cq);
	EXPECT((1 << cap(0xc8, 8)) - 1 == device->max_cqe);
	EXPECT(1 << cap(0xea, 6) == device->max_mr);
	EXPECT(1 << cap(0x32b, 5) == device->max_pd);
	EXPECT(1 << cap(0xab, 5) == device->max_srq);
	EXPECT((1 << cap(0x80, 8)) - 1 == device->max_srq_wr);
	EXPECT(1 << cap(0x14a, 6) == device->max_qp_rd_atom);
	EXPECT(1 << cap(0x15a, 6) == device->max_qp_init_rd_atom);
	EXPECT(cap(0x1ab, 5) == device->local_ca_ack_delay);
	EXPECT(cap(0x1b8, 8) == device->phys_port_cnt);
	EXPECT(cap(0x1b6, 2) == (unsigned)ethernet);
	EXPECT(cap(0x4e0, 32) == attr.hca_core_clock);
	EXPECT(1u << cap(0x1c3, 5) <= port.max_msg_sz);
	/* A set is there if the capability says so, and no other is. */
	int has_offloads = cap(0x21c, 1), has_roce = cap(0x21d, 1), has_tables = cap(0x1a6, 1), has_memory = cap(0x1a8, 1);
	EXPECT(has_offloads == ethernet && has_roce == ethernet && has_tables == ethernet && has_memory);
	EXPECT(ask_caps(ATOMIC) == 0 && (cap(0x90, 16) & 15) == 15 && cap(0xb0, 16) == (4 | 8 | 16));
	EXPECT(ask_caps(ETHERNET) == (has_offloads ? 0 : EREMOTEIO));
	EXPECT(ask_caps(ROCE) == (has_roce ? 0 : EREMOTEIO));
	EXPECT_REFUSED(ask_caps(NOTHING), out, BAD_PARAMETER);
	/* libmlx5's steering asks every device for these two (`dr_devx_query_device`). */
	EXPECT(ask_caps(FLOW_TABLE) == 0 && cap(0x200, 1) == has_tables);
	EXPECT(ask_caps(DEVICE_MEMORY) == 0 && cap(0x0, 1) && cap(0xa0, 32) == attr.max_dm_size);
	/* The alignment counts from the smallest allocation. */
	EXPECT(cap(0x2b, 5) == 6);
	struct ibv_alloc_dm_attr wanted = { .length = 64, .log_align_req = 6 + cap(0x38, 8) };
	EXPECT(ibv_free_dm(NEED(ibv_alloc_dm(context, &wanted))) == 0);
	wanted.log_align_req++;
	EXPECT(!ibv_alloc_dm(context, &wanted));
}

static void adapter(void)
{
	struct ibv_device_attr device;
	EXPECT(ibv_query_device(context, &device) == 0);
	EXPECT(ask(QUERY_ADAPTER, 0, 0, 0, 0x110) == 0);
	EXPECT(get(out, 0x80 + 0xc8, 24) == device.vendor_id);
	EXPECT(memcmp(out + 0x100, "SFT000000000", 12) == 0);
	EXPECT(ask(QUERY_ISSI, 0, 0, 0, 0x70) == 0 && get(out, 0x50, 16) == 1);
	EXPECT(ask(QUERY_LAG, 0, 0, 0, 16) == 0 && get(out, 0x40 + 0x1d, 3) == 0);
}

static void port(int ethernet)
{
	struct ibv_port_attr port;
	struct ibv_device_attr device;
	union ibv_gid gid;
	EXPECT(ibv_query_port(context, 1, &port) == 0 && ibv_query_device(context, &device) == 0);
	EXPECT(ask(QUERY_VPORT_STATE, 0, 0, 0, 16) == 0 && get(out, 0x7c, 4) == (port.state == IBV_PORT_ACTIVE));
	EXPECT(ask(QUERY_HCA_VPORT_CONTEXT, 0, 1 << 16, 0, 0x210) == 0);
	EXPECT(get(out, 0x80 + 0x118, 4) == port.state && get(out, 0x80 + 0x300, 16) == port.lid);
	EXPECT(be64toh(device.node_guid) == get(out, 0x80 + 0x1c0, 64));
	EXPECT(ibv_query_gid(context, 1, 0, &gid) == 0);
	if (!ethernet) {
		EXPECT(be64toh(gid.global.interface_id) == get(out, 0x80 + 0x180, 64));
		EXPECT_REFUSED(ask(QUERY_NIC_VPORT_CONTEXT, 0, 0, 0, 0x110), out, BAD_OPERATION);
		return;
	}
	/* The address is in the GID, without ff:fe in its middle and with a bit inverted. */
	uint8_t mac[6] = { gid.raw[8] ^ 2, gid.raw[9], gid.raw[10], gid.raw[13], gid.raw[14], gid.raw[15] };
	EXPECT(ask(QUERY_NIC_VPORT_CONTEXT, 0, 0, 0, 0x110) == 0);
	EXPECT(memcmp(out + 0x10 + 0xf6, mac, 6) == 0);
	struct ibv_gid_entry entries[64];
	int count = ibv_query_gid_table(context, entries, 64, 0);
	EXPECT(count >= 4);
	for (int i = 0; i < count; i++) {
		EXPECT(ask(QUERY_ROCE_ADDRESS, 0, entries[i].gid_index << 16, 0, 0x30) == 0);
		EXPECT(memcmp(out + 0x10, entries[i].gid.raw, 16) == 0 && memcmp(out + 0x22, mac, 6) == 0);
		EXPECT(get(out, 0x80 + 0xd8, 8) == (entries[i].gid_type == IBV_GID_TYPE_ROCE_V2 ? 2 : 0));
	}
	EXPECT(ask(QUERY_ROCE_ADDRESS, 0, 255 << 16, 0, 0x30) == EREMOTEIO);
}

/* Numbers that other objects name. */
static void domains(void)
{
	const unsigned kinds[] = { ALLOC_XRCD, ALLOC_TRANSPORT_DOMAIN };
	for (int i = 0; i < 2; i++) {
		uint8_t in[16] = {}, answers[2][16] = {};
		set(in, OPCODE, kinds[i]);
		struct mlx5dv_devx_obj *objects[2];
		for (int j = 0; j < 2; j++)
			objects[j] = NEED(mlx5dv_devx_obj_create(context, in, sizeof(in), answers[j], sizeof(answers[j])));
		EXPECT(get(answers[0], NUMBER) != get(answers[1], NUMBER));
		for (int j = 0; j < 2; j++)
			EXPECT(mlx5dv_devx_obj_destroy(objects[j]) == 0);
	}
}

int main(int argc, char **argv)
{
	int ethernet = argc > 1 && strcmp(argv[1], "ethernet") == 0;
	start();
	capabilities(ethernet);
	adapter();
	port(ethernet);
	domains();
	return finish();
}

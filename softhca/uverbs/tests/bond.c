/*
 * A bond of two ports, as libmlx5 sees it. The argument is the fabric's directory, in which files pull cables; without one, the
 * device has no bond. Queue pairs get the ports in turns, and send by them; one that is down hands over to the other one.
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 20 };

static struct ibv_cq *cq;
static struct ibv_mr *mr;

/* The port that a queue pair has, and the one by which it sends, as a number of two digits. */
static int ports_of(struct ibv_qp *qp)
{
	uint8_t configured = 0, active = 0;
	EXPECT(mlx5dv_query_qp_lag_port(qp, &configured, &active) == 0);
	return configured * 10 + active;
}

/* A counter of a port of the bond. */
static long counter(int port, const char *name)
{
	char path[512];
	long value = -1;
	snprintf(path, sizeof(path), "%s/class/infiniband/mlx5_0/ports/1/bond/%d/%s", getenv("SYSFS_PATH"), port, name);
	FILE *file = fopen(path, "r");
	if (file) {
		EXPECT(fscanf(file, "%ld", &value) == 1);
		fclose(file);
	}
	return value;
}

/*
 * So many WRITEs have left by each port. Each is two packets, as the queue pair is its own peer: the request and its
 * acknowledgement. Files of sysfs follow in a moment, each on its own.
 */
static void expect_sent(long by_first, long by_second)
{
	time_t end = time(NULL) + PATIENCE_SECONDS;
	long first, second;
	do {
		usleep(1000);
		first = counter(1, "port_xmit_packets") / 2;
		second = counter(2, "port_xmit_packets") / 2;
	} while ((first < by_first || second < by_second) && time(NULL) < end);
	EXPECT(first >= by_first && second >= by_second);
}

/* So many WRITEs have arrived, by whichever port. */
static void expect_received(long writes)
{
	time_t end = time(NULL) + PATIENCE_SECONDS;
	long packets;
	do {
		usleep(1000);
		packets = counter(1, "port_rcv_packets") + counter(2, "port_rcv_packets");
	} while (packets < 2 * writes && time(NULL) < end);
	EXPECT(packets >= 2 * writes);
}

static void write_some(struct ibv_qp *qp, int count)
{
	for (int i = 0; i < count; i++) {
		EXPECT(post_write(qp, mr, memory, memory + 4096, 64, IBV_SEND_SIGNALED) == 0);
		EXPECT(wait_for(cq).status == IBV_WC_SUCCESS);
	}
}

static void with_bond(const char *fabric)
{
	char file[512];
	struct ibv_qp *rc = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC)), *ud = NEED(make_qp(pd, cq, NULL, IBV_QPT_UD));
	struct ibv_qp *raw = NEED(make_qp(pd, cq, NULL, IBV_QPT_RAW_PACKET));
	uint8_t configured, active;
	EXPECT(mlx5dv_query_qp_lag_port(rc, &configured, &active) == EOPNOTSUPP);
	connect_to(rc, rc);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x1111 };
	EXPECT(ibv_modify_qp(raw, &attr, IBV_QP_STATE | IBV_QP_PORT) == 0);
	EXPECT(ibv_modify_qp(ud, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
	EXPECT(ports_of(rc) == 22 && ports_of(raw) == 11 && ports_of(ud) == 22);
	/* Only in RTS, or by the TIS of frames. */
	EXPECT(mlx5dv_modify_qp_lag_port(ud, 1) == EOPNOTSUPP);
	EXPECT(mlx5dv_modify_qp_lag_port(raw, 2) == 0 && ports_of(raw) == 22);
	write_some(rc, 30);
	expect_sent(0, 30);
	EXPECT(counter(1, "port_xmit_packets") == 0);
	EXPECT(mlx5dv_modify_qp_lag_port(rc, 3) != 0 && ports_of(rc) == 22);
	EXPECT(mlx5dv_modify_qp_lag_port(rc, 1) == 0 && ports_of(rc) == 11);
	write_some(rc, 20);
	expect_sent(20, 30);
	/* The cable of port 1. */
	snprintf(file, sizeof(file), "%s/mlx5_0-1.down", fabric);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	for (time_t end = time(NULL) + PATIENCE_SECONDS; ports_of(rc) != 12 && time(NULL) < end;)
		usleep(1000);
	EXPECT(ports_of(rc) == 12);
	long before = counter(1, "port_xmit_packets");
	write_some(rc, 10);
	expect_sent(20, 40);
	EXPECT(counter(1, "port_xmit_packets") == before);
	struct ibv_port_attr port;
	EXPECT(ibv_query_port(context, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE);
	EXPECT(unlink(file) == 0);
	for (time_t end = time(NULL) + PATIENCE_SECONDS; ports_of(rc) != 11 && time(NULL) < end;)
		usleep(1000);
	write_some(rc, 10);
	expect_sent(30, 40);
	expect_received(70);
	EXPECT(ibv_destroy_qp(raw) == 0 && ibv_destroy_qp(ud) == 0 && ibv_destroy_qp(rc) == 0);
}

static void without_bond(void)
{
	struct ibv_qp *rc = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	uint8_t configured, active;
	connect_to(rc, rc);
	EXPECT(mlx5dv_query_qp_lag_port(rc, &configured, &active) == EOPNOTSUPP);
	EXPECT(mlx5dv_modify_qp_lag_port(rc, 1) == EOPNOTSUPP);
	EXPECT(counter(1, "port_xmit_packets") == -1);
	EXPECT(ibv_destroy_qp(rc) == 0);
}

int main(int argc, char **argv)
{
	start();
	cq = NEED(ibv_create_cq(context, 64, NULL, NULL, 0));
	mr = register_memory(pd);
	struct mlx5dv_context device = { .comp_mask = MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS };
	EXPECT(mlx5dv_query_device(context, &device) == 0 && device.num_lag_ports == (argc > 1 ? 2 : 1));
	if (argc > 1)
		with_bond(argv[1]);
	else
		without_bond();
	EXPECT(ibv_dereg_mr(mr) == 0 && ibv_destroy_cq(cq) == 0);
	return finish();
}

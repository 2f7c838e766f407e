/*
 * Queries of a port that older libraries lack, sent as they are: its speed (ibv_query_port_speed, Linux 7.0), and its place in a
 * switch (mlx5dv_query_port). The arguments are a prefix of files that pull the cables, and how many cables the port has: two, if it
 * is a bond.
 */
#include "prelude.h"
#include "command.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 20 };
/* Linux include/uapi/rdma/ib_user_ioctl_cmds.h, mlx5_user_ioctl_cmds.h and mlx5_user_ioctl_verbs.h. */
enum { QUERY_PORT_SPEED = 7, DRIVER = 0x1000, PLACE_BYTES = 40 };
/* Four lanes of 25 Gb/s, in units of 100 Mb/s. */
enum { SPEED = 1000 };

static int query_speed(uint64_t port, int port_bytes, int room, uint64_t *speed)
{
	*speed = 77;
	begin(UVERBS_OBJECT_DEVICE, QUERY_PORT_SPEED);
	attr(0, port_bytes, port);
	attr(1, room, (uintptr_t)speed);
	return give();
}

static int query_place(uint32_t port, int port_bytes, int room, unsigned char *place)
{
	memset(place, 0xa5, PLACE_BYTES + 8);
	begin(UVERBS_OBJECT_DEVICE, DRIVER);
	attr(DRIVER, port_bytes, port);
	attr(DRIVER + 1, room, (uintptr_t)place);
	return give();
}

/* Whether the speed comes to be this. */
static int becomes(int error, uint64_t speed)
{
	uint64_t found;
	for (time_t end = time(NULL) + PATIENCE_SECONDS; time(NULL) < end; usleep(1000))
		if (query_speed(1, 8, 8, &found) == error && found == speed)
			return 1;
	return 0;
}

static char files[2][512];

static void pull(int cable)
{
	int fd = open(files[cable], O_CREAT | O_WRONLY, 0600);
	EXPECT(fd >= 0 && close(fd) == 0);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	start();
	int cables = atoi(argv[2]);
	for (int i = 0; i < 2; i++)
		snprintf(files[i], sizeof(files[i]), "%s%d.down", argv[1], i + 1);

	uint64_t speed;
	EXPECT(query_speed(1, 8, 8, &speed) == 0 && speed == (uint64_t)(cables * SPEED));
	EXPECT(query_speed(0, 8, 8, &speed) == EINVAL && query_speed(2, 8, 8, &speed) == EINVAL);
	EXPECT(query_speed((uint64_t)1 << 32 | 1, 8, 8, &speed) == EINVAL);
	/* The sizes are fixed. */
	EXPECT(query_speed(1, 4, 8, &speed) == EINVAL && query_speed(1, 8, 4, &speed) == EINVAL && speed == 77);
	pull(0);
	if (cables == 2) {
		EXPECT(becomes(0, SPEED));
		pull(1);
		/* Linux knows no speed of a bond without links. */
		EXPECT(becomes(EINVAL, 77));
		EXPECT(unlink(files[1]) == 0);
	} else {
		EXPECT(becomes(0, 0));
	}
	EXPECT(unlink(files[0]) == 0 && becomes(0, cables * SPEED));

	/* The port is in no switch that software manages: nothing is true of it. */
	unsigned char place[PLACE_BYTES + 8], zeros[PLACE_BYTES + 8] = {};
	EXPECT(query_place(1, 4, PLACE_BYTES, place) == 0 && memcmp(place, zeros, PLACE_BYTES) == 0 && place[PLACE_BYTES] == 0xa5);
	EXPECT(query_place(1, 4, PLACE_BYTES + 8, place) == 0 && memcmp(place, zeros, PLACE_BYTES + 8) == 0);
	EXPECT(query_place(1, 4, PLACE_BYTES - 8, place) == EINVAL && query_place(1, 8, PLACE_BYTES, place) == EINVAL);
	EXPECT(query_place(0, 4, PLACE_BYTES, place) == EINVAL && query_place(2, 4, PLACE_BYTES, place) == EINVAL);
	EXPECT(place[0] == 0xa5);
	return finish();
}

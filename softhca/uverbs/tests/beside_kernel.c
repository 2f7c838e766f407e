/*
 * A program's queue for raw packets, and the kernel's network at the other end of the cable.
 *
 *   beside_kernel echo [COMMAND]    answers UDP port 7777 by a queue for raw packets, also for a multicast group. COMMAND is
 *                                   started when the queue receives; without it, ends when both were answered
 *   beside_kernel ask IP INTERFACE  asks with sockets of the kernel, at IP and at the group; the exit code is 0 if both answered
 *
 * Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "frames.h"
#include <net/if.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { PORT = 7777, GROUP_PORT = 7778, ETHERNET_BYTES = 14, IP_BYTES = 20, HEADERS = ETHERNET_BYTES + IP_BYTES + 8, RECEIVES = 16 };
#define GROUP "239.1.2.3"
static const char words[] = "there and back";
static const uint8_t group_mac[6] = { 1, 0, 0x5e, 1, 2, 3 };

extern char **environ;

/* ---- the kernel's end ---- */

/* Sends the words until they come back, with any port of the sender. */
static int answered(int from, int at, struct sockaddr_in to)
{
	struct pollfd ready = { .fd = at, .events = POLLIN };
	char back[sizeof(words)];
	for (int tries = 0; tries < 50; tries++) {
		EXPECT(sendto(from, words, sizeof(words), 0, (struct sockaddr *)&to, sizeof(to)) == sizeof(words));
		if (poll(&ready, 1, 200) == 1 && recv(at, back, sizeof(back), 0) == sizeof(words))
			return memcmp(back, words, sizeof(words)) == 0;
	}
	return 0;
}

static int ask(const char *ip, const char *interface)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = inet_addr(ip) };
	int single = socket(AF_INET, SOCK_DGRAM, 0), group_socket = socket(AF_INET, SOCK_DGRAM, 0);
	EXPECT(answered(single, single, to));
	struct ip_mreqn membership = { .imr_multiaddr.s_addr = inet_addr(GROUP), .imr_ifindex = if_nametoindex(interface) };
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(GROUP_PORT) };
	EXPECT(bind(group_socket, (struct sockaddr *)&here, sizeof(here)) == 0);
	EXPECT(setsockopt(group_socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof(membership)) == 0);
	EXPECT(setsockopt(single, IPPROTO_IP, IP_MULTICAST_IF, &membership, sizeof(membership)) == 0);
	to.sin_addr.s_addr = inet_addr(GROUP);
	EXPECT(answered(single, group_socket, to));
	return failures != 0;
}

/* ---- the program's end ---- */

static uint16_t checksum(const unsigned char *bytes, int len)
{
	uint32_t sum = 0;
	for (int at = 0; at < len; at += 2)
		sum += bytes[at] << 8 | bytes[at + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void swap(unsigned char *a, unsigned char *b, int len)
{
	for (int at = 0; at < len; at++) {
		unsigned char kept = a[at];
		a[at] = b[at];
		b[at] = kept;
	}
}

static int arps, singles, groups;
static uint8_t own_mac[6], own_ip[4];

/* Answers a frame of IPv4 and UDP to the port. */
static void answer(struct frame frame)
{
	unsigned char *ip = frame.bytes + ETHERNET_BYTES, *ports = ip + IP_BYTES;
	if (memcmp(frame.bytes, group_mac, 6) == 0) {
		if (!singles)
			return;
		EXPECT(memcmp(ip + 16, &(in_addr_t){ inet_addr(GROUP) }, 4) == 0);
		groups++;
		memcpy(frame.bytes + 6, own_mac, 6);
		memcpy(ip + 12, own_ip, 4);
		memcpy(ports + 2, &(uint16_t){ htons(GROUP_PORT) }, 2);
		/* No checksum of UDP, and a new one of IP. */
		memset(ports + 6, 0, 2);
		memset(ip + 10, 0, 2);
		uint16_t sum = htons(checksum(ip, IP_BYTES));
		memcpy(ip + 10, &sum, 2);
	} else {
		singles++;
		memcpy(own_mac, frame.bytes, 6);
		memcpy(own_ip, ip + 16, 4);
		swap(frame.bytes, frame.bytes + 6, 6);
		swap(ip + 12, ip + 16, 4);
		swap(ports, ports + 2, 2);
		memset(ports + 6, 0, 2);
	}
	post(&frame);
}

static void take(const unsigned char *bytes, uint32_t len)
{
	if (len >= ETHERNET_BYTES && bytes[12] == 8 && bytes[13] == 6)
		arps++;
	int is_udp = len >= HEADERS && bytes[12] == 8 && bytes[13] == 0 && bytes[14] == 0x45 && bytes[23] == IPPROTO_UDP;
	if (!is_udp || (bytes[36] << 8 | bytes[37]) != PORT)
		return;
	struct frame frame = {};
	EXPECT(len <= sizeof(frame.bytes));
	put(&frame, bytes, len);
	answer(frame);
}

/* A receive with a buffer of its own, by its number. */
static void post_own(struct receiver *to, unsigned number)
{
	struct receiver numbered = { .qp = to->qp, .number = number };
	post_receive(&numbered);
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static int echo(const char *command)
{
	struct receiver everything;
	pid_t child = 0;
	int status = 0, ended = 0;
	begin();
	make_receiver(&everything, 1, 0);
	for (unsigned number = 2; number <= RECEIVES; number++)
		post_own(&everything, number);
	struct flow wanted = flow(0, 0);
	wanted.attr.type = IBV_FLOW_ATTR_ALL_DEFAULT;
	struct ibv_flow *all = start_flow(everything.qp, wanted);
	if (command) {
		char *arguments[] = { "sh", "-c", (char *)command, NULL };
		EXPECT(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0);
	}
	double limit = seconds() + 30, last_frame = seconds();
	while (seconds() < limit && !ended) {
		struct ibv_wc wc;
		if (ibv_poll_cq(received, 1, &wc) == 1) {
			EXPECT(wc.status == IBV_WC_SUCCESS);
			if (wc.wr_id <= RECEIVES) {
				take((unsigned char *)memory + wc.wr_id * ROOM, wc.byte_len);
				post_own(&everything, wc.wr_id);
			}
			last_frame = seconds();
		}
		ended = child ? waitpid(child, &status, WNOHANG) == child : singles && groups && seconds() > last_frame + 1;
	}
	EXPECT(ended && status == 0);
	/* An interface of the host has other receivers of questions, who may have answered before. */
	EXPECT(singles > 0 && groups > 0 && (arps > 0 || !command));
	EXPECT(ibv_destroy_flow(all) == 0);
	destroy_receiver(&everything);
	return end();
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "ask") == 0)
		return ask(argv[2], argv[3]);
	if (argc >= 2 && strcmp(argv[1], "echo") == 0)
		return echo(argv[2]);
	return 2;
}

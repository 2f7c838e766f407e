/*
 * A peer of the example programs `market_data` and `order_entry`: an exchange by the kernel's sockets. Usage:
 *
 *     exchange INTERFACE MESSAGES [VENUE]
 *
 * It publishes messages on the groups 239.1.1.1:5001 and 239.1.2.1:5001, and ends the session. VENUE is a group: it
 * receives the orders that come there to port 7001, one for each price above 895. It compares each byte of them, and
 * fails if one is missing.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { FEED_PORT = 5001, VENUE_PORT = 7001, ABOVE = 895, ORDER = 48, EVERY_US = 1000, FAREWELLS = 20, PATIENCE_MS = 10000 };
/* Ends the session (MoldUDP64). */
enum { END_OF_SESSION = 0xffff };

/* A packet of the feed: the header of MoldUDP64, big endian, and a price. */
struct message {
	char session[10];
	uint64_t number;
	uint16_t count;
	uint64_t price;
} __attribute__((packed));
_Static_assert(sizeof(struct message) == 28, "no padding");

static void need(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "exchange: %s\n", what);
	exit(1);
}

/* Takes the orders that have come, and waits for the next one at most so long. Returns how many have come so far. */
static unsigned take_orders(int venue, int wait_ms)
{
	static unsigned orders;
	unsigned char got[2048], expected[ORDER];
	struct pollfd ready = { .fd = venue, .events = POLLIN };
	while (poll(&ready, 1, wait_ms) > 0) {
		uint32_t number = htobe32(orders);
		ssize_t bytes = recv(venue, got, sizeof(got), 0);
		memset(expected, '.', sizeof(expected));
		memcpy(expected, &number, sizeof(number));
		need(bytes == ORDER && memcmp(got, expected, ORDER) == 0, "an order is not what it should be");
		orders++;
		wait_ms = 0;
	}
	return orders;
}

/* A socket that receives datagrams of a group. */
static int join(const char *group, const char *interface)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(VENUE_PORT) };
	struct ip_mreqn member = { .imr_ifindex = (int)if_nametoindex(interface) };
	int venue = socket(AF_INET, SOCK_DGRAM, 0);
	need(inet_pton(AF_INET, group, &here.sin_addr) == 1, "no such address of a group");
	member.imr_multiaddr = here.sin_addr;
	need(venue >= 0 && bind(venue, (struct sockaddr *)&here, sizeof(here)) == 0, "no socket for orders");
	need(setsockopt(venue, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof(member)) == 0, "not joined");
	return venue;
}

int main(int argc, char **argv)
{
	need(argc == 3 || argc == 4, "usage: exchange INTERFACE MESSAGES [VENUE]");
	uint64_t messages = strtoull(argv[2], NULL, 10);
	struct ip_mreqn by = { .imr_ifindex = (int)if_nametoindex(argv[1]) };
	struct sockaddr_in lines[2] = { { .sin_family = AF_INET, .sin_port = htons(FEED_PORT) } };
	struct timespec pause = { .tv_nsec = EVERY_US * 1000 };
	unsigned signals = 0;
	int feed = socket(AF_INET, SOCK_DGRAM, 0), venue = argc > 3 ? join(argv[3], argv[1]) : -1;
	lines[1] = lines[0];
	lines[0].sin_addr.s_addr = inet_addr("239.1.1.1");
	lines[1].sin_addr.s_addr = inet_addr("239.1.2.1");
	need(feed >= 0 && setsockopt(feed, IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof(by)) == 0, "no socket for the feed");
	for (uint64_t number = 1; number <= messages + FAREWELLS; number++) {
		int is_end = number > messages;
		/* The examples' price: a multiplicative hash of the number. */
		uint64_t price = (number * 0x9e3779b97f4a7c15) >> 54;
		struct message message = { "blueflame ", htobe64(is_end ? messages + 1 : number),
					   htobe16(is_end ? END_OF_SESSION : 1), htobe64(price) };
		for (int line = 0; line < 2; line++)
			need(sendto(feed, &message, sizeof(message), 0, (struct sockaddr *)&lines[line],
				    sizeof(lines[line])) == sizeof(message), "a message does not leave");
		signals += !is_end && price > ABOVE;
		if (venue >= 0)
			take_orders(venue, 0);
		nanosleep(&pause, NULL);
	}
	printf("%llu messages\n", (unsigned long long)messages);
	if (venue < 0)
		return 0;
	unsigned orders = take_orders(venue, 0);
	for (unsigned before = ~0u; orders < signals && orders != before;)
		before = orders, orders = take_orders(venue, PATIENCE_MS);
	printf("%u orders for %u prices above %d\n", orders, signals, ABOVE);
	return orders == signals ? 0 : 1;
}

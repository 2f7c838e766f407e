// Counts the instructions of DPDK's bursts: `rte_eth_rx_burst` and `rte_eth_tx_burst` on port 0, whose frames it
// forwards with the Ethernet addresses swapped. `./run guest` runs it against frame_peer, which checks the frames.
//
// usage: dpdk_bursts EAL-OPTION... -- [frames=N] [rounds=N] [rx-offloads=MASK]
//
// As benches/instructions counts this crate's: a child does the work, and its parent steps it (PTRACE_SINGLESTEP) and
// counts the instructions between two marks. Between bursts the child sleeps, so that all frames have come, and all
// completions, when a burst begins. A burst with another number of frames than `frames` is not counted. DPDK's own
// threads are not stepped. An instruction that repeats itself counts once.
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_version.h>

enum { DESCRIPTORS = 1024, MOST = 64, POOL = 8191 };
/// What comes between two marks.
enum part { NOTHING, RECEIVE, SEND, PARTS };
static const char *const NAMES[PARTS] = {"", "receive", "send"};
/// Rounds before the steps begin: the dynamic linker finds functions, and the pools warm up.
enum { WARM = 4 };
/// How long frames and completions may take to come, in microseconds, and how often nothing may come.
enum { PAUSE = 300000, PATIENCE = 20 };

static unsigned frames = 32, rounds = 8;
static unsigned long long rx_offloads;

static void fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("dpdk_bursts: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	_exit(1);
}

/// Ends one part and begins another: the parent reads the two arguments from registers, and counts the instructions up
/// to the next mark. `n`: the frames of the part that ends.
__attribute__((noinline, noclone)) static void mark(enum part begins, unsigned n)
{
	__asm__ volatile("" : : "r"(begins), "r"(n) : "memory");
}

static void show_modes(void)
{
	struct rte_eth_burst_mode rx, tx;
	if (rte_eth_rx_burst_mode_get(0, 0, &rx) != 0 || rte_eth_tx_burst_mode_get(0, 0, &tx) != 0)
		fail("the driver does not say how it does bursts");
	printf("%s\nreceive: %s\nsend: %s\n", rte_version(), rx.info, tx.info);
}

static void open_port(void)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = {0};
	int node = rte_eth_dev_socket_id(0);
	struct rte_mempool *pool = rte_pktmbuf_pool_create("frames", POOL, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, node);
	if (pool == NULL)
		fail("no memory for frames");
	if (rte_eth_dev_info_get(0, &info) != 0)
		fail("no port");
	// What makes sends cheapest: all frames are of one pool, and have one piece.
	conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	conf.rxmode.offloads = rx_offloads;
	struct rte_eth_txconf tx = info.default_txconf;
	tx.offloads = conf.txmode.offloads;
	struct rte_eth_rxconf rx = info.default_rxconf;
	rx.offloads = conf.rxmode.offloads;
	if (rte_eth_dev_configure(0, 1, 1, &conf) != 0 ||
	    rte_eth_rx_queue_setup(0, 0, DESCRIPTORS, node, &rx, pool) != 0 ||
	    rte_eth_tx_queue_setup(0, 0, DESCRIPTORS, node, &tx) != 0 || rte_eth_dev_start(0) != 0 ||
	    rte_eth_promiscuous_enable(0) != 0)
		fail("the port does not start");
	show_modes();
}

static void swap_addresses(struct rte_mbuf *frame)
{
	struct rte_ether_hdr *header = rte_pktmbuf_mtod(frame, struct rte_ether_hdr *);
	struct rte_ether_addr other = header->src_addr;
	header->src_addr = header->dst_addr;
	header->dst_addr = other;
}

/// The child's work: forwards bursts, as many as `rounds`, and then what is left of them.
static void forward(void)
{
	struct rte_mbuf *burst[MOST];
	for (unsigned round = 0, idle = 0, stepped = 0; round < rounds + WARM && idle < PATIENCE;) {
		if (round == WARM && !stepped++ && (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0 || raise(SIGSTOP) != 0))
			fail("cannot be traced: %s", strerror(errno));
		usleep(PAUSE);
		mark(RECEIVE, 0);
		unsigned n = rte_eth_rx_burst(0, 0, burst, frames);
		mark(NOTHING, n);
		if (n == 0) {
			idle++;
			continue;
		}
		idle = 0;
		for (unsigned i = 0; i < n; i++)
			swap_addresses(burst[i]);
		mark(SEND, 0);
		unsigned sent = rte_eth_tx_burst(0, 0, burst, n);
		mark(NOTHING, sent);
		if (sent != n)
			fail("%u frames of %u were sent", sent, n);
		round += n == frames;
	}
	// The peer wants all of its frames back.
	for (unsigned idle = 0; idle < 3; idle++) {
		usleep(PAUSE);
		unsigned n = rte_eth_rx_burst(0, 0, burst, MOST);
		for (unsigned i = 0; i < n; i++)
			swap_addresses(burst[i]);
		for (unsigned sent = 0; sent < n;)
			sent += rte_eth_tx_burst(0, 0, burst + sent, n - sent);
		if (n != 0)
			idle = 0;
	}
}

/// Steps the child to its end, and prints the instructions of its bursts: the average, as a burst may post receives for
/// several others, the least and the most.
static void follow(pid_t child)
{
	enum { SPACE = 1024 };
	static unsigned long counts[PARTS][SPACE];
	unsigned found[PARTS] = {0};
	unsigned long steps = 0, last = 0;
	enum part part = NOTHING;
	for (;;) {
		int status;
		struct user_regs_struct regs;
		if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) != 0 || waitpid(child, &status, 0) != child)
			fail("cannot step: %s", strerror(errno));
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			break;
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			fail("the child did not end well: %#x", status);
		if (ptrace(PTRACE_GETREGS, child, 0, &regs) != 0)
			fail("cannot read registers: %s", strerror(errno));
		// A repeated instruction is one.
		if (regs.rip == last)
			continue;
		last = regs.rip;
		steps++;
		if (regs.rip != (unsigned long)mark)
			continue;
		if (part != NOTHING && (unsigned)regs.rsi == frames && found[part] < SPACE)
			counts[part][found[part]++] = steps;
		part = (enum part)(unsigned)regs.rdi;
		steps = 0;
	}
	for (part = RECEIVE; part < PARTS; part++) {
		unsigned n = found[part];
		unsigned long sum = 0, least = -1ul, most = 0;
		if (n == 0)
			fail("%s: no burst of %u frames", NAMES[part], frames);
		for (unsigned i = 0; i < n; i++) {
			unsigned long count = counts[part][i];
			sum += count;
			least = count < least ? count : least;
			most = count > most ? count : most;
		}
		printf("%s: %.1f instructions a frame, %.1f to %.1f, in %u bursts of %u\n", NAMES[part],
		       (double)sum / n / frames, (double)least / frames, (double)most / frames, n, frames);
	}
}

int main(int argc, char **argv)
{
	int own = 1;
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	for (int i = own + 1; i < argc; i++)
		if (sscanf(argv[i], "frames=%u", &frames) != 1 && sscanf(argv[i], "rounds=%u", &rounds) != 1 &&
		    sscanf(argv[i], "rx-offloads=%llx", &rx_offloads) != 1)
			fail("what is %s?", argv[i]);
	if (frames == 0 || frames > MOST)
		fail("bursts have 1 to %d frames", MOST);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		if (rte_eal_init(own, argv) < 0)
			fail("DPDK does not start");
		open_port();
		// The peer may begin.
		puts("ready");
		fflush(NULL);
		forward();
		_exit(0);
	}
	int status;
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		fail("the child could not be traced");
	follow(child);
	return 0;
}

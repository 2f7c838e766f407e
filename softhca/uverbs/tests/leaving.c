/*
 * A receiver leaves as soon as it has seen a message. A NIC has acknowledged the message by then, so its sender succeeds.
 * Usage: leaving WAY ROUNDS [BECOMES]. WAY is how the receiver leaves, or `stop`: it is stopped for a time that is far too long
 * for its sender's retries. BECOMES is what becomes of both when they have opened their devices: `full` of open files, another
 * `user`, or in another `root`. Prints what went otherwise than expected; the exit code is 1 then.
 */
#include "prelude.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static const char *becomes = "";

/* The process changes. A device that is open needs no file, and no right. */
static void change(void)
{
	if (strcmp(becomes, "full") == 0)
		while (open("/dev/null", O_RDONLY) >= 0)
			;
	else if (strcmp(becomes, "user") == 0)
		EXPECT(setgid(65534) == 0 && setuid(65534) == 0);
	else if (strcmp(becomes, "root") == 0)
		EXPECT(chroot("/sys/kernel") == 0);
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Opens a device of its own and connects. */
static struct end meet(int talk)
{
	struct ibv_port_attr port;
	union ibv_gid gid;
	struct end here, there;
	start();
	cq = NEED(ibv_create_cq(context, 64, NULL, NULL, 0));
	qp = NEED(make_qp(pd, cq, NULL, IBV_QPT_RC));
	mr = register_memory(pd);
	change();
	EXPECT(ibv_query_port(context, 1, &port) == 0 && ibv_query_gid(context, 1, 0, &gid) == 0);
	here = (struct end){ qp->qp_num, mr->rkey, (uintptr_t)memory,
		{ .dlid = port.lid, .port_num = 1, .is_global = 1, .grh = { .dgid = gid, .hop_limit = 1 } } };
	EXPECT(write(talk, &here, sizeof(here)) == sizeof(here) && read(talk, &there, sizeof(there)) == sizeof(there));
	to_init(qp);
	struct ibv_sge list = { (uintptr_t)memory, 64, mr->lkey };
	struct ibv_recv_wr receive = { .sg_list = &list, .num_sge = 1 }, *bad;
	for (int i = 0; i < 4; i++)
		EXPECT(ibv_post_recv(qp, &receive, &bad) == 0);
	to_rts(qp, there.qpn, there.way);
	EXPECT(write(talk, "", 1) == 1 && read(talk, &(char){ 0 }, 1) == 1);
	return there;
}

/* The status of the next completion; -1 if there is none in `seconds`. */
static int completion(double seconds)
{
	struct ibv_wc wc;
	double end = now() + seconds;
	while (now() < end)
		if (ibv_poll_cq(cq, 1, &wc) > 0)
			return wc.status;
	return -1;
}

/* Ends at once, and yet says what went otherwise. */
static void leave(void)
{
	fflush(stdout);
	_exit(failures != 0);
}

static void become(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
}

/* The receiver. */
static void receive(const char *way, int talk, int by_memory)
{
	meet(talk);
	if (strcmp(way, "stop") == 0)
		raise(SIGSTOP);
	if (by_memory)
		for (double end = now() + 10; ((volatile char *)memory)[63] != 7 && now() < end;)
			;
	else
		EXPECT(completion(10) == IBV_WC_SUCCESS);
	if (strcmp(way, "kill") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(way, "exec") == 0)
		execlp("true", "true", NULL);
	else if (strcmp(way, "exit") == 0)
		exit(failures != 0);
	else if (strcmp(way, "destroy") == 0)
		EXPECT(ibv_destroy_qp(qp) == 0);
	else if (strcmp(way, "deregister") == 0)
		EXPECT(ibv_dereg_mr(mr) == 0);
	else if (strcmp(way, "error") == 0)
		become(IBV_QPS_ERR);
	else if (strcmp(way, "reset") == 0)
		become(IBV_QPS_RESET);
	leave();
}

static void post(enum ibv_wr_opcode opcode, struct end there)
{
	struct ibv_sge list = { (uintptr_t)memory, 64, mr->lkey };
	struct ibv_send_wr request = { .sg_list = &list, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED }, *bad;
	request.wr.rdma.remote_addr = there.address;
	request.wr.rdma.rkey = there.rkey;
	memset(memory, 7, 64);
	EXPECT(ibv_post_send(qp, &request, &bad) == 0);
}

/* One receiver, of one message. The exit code is the sender's. */
static void round_of(const char *way, int by_memory)
{
	int talk[2], status;
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, talk) == 0);
	pid_t sender = fork();
	if (sender != 0) {
		close(talk[0]), close(talk[1]);
		EXPECT(waitpid(sender, &status, 0) == sender && WIFEXITED(status) && WEXITSTATUS(status) == 0);
		return;
	}
	pid_t receiver = fork();
	if (receiver == 0) {
		close(talk[1]);
		receive(way, talk[0], by_memory);
	}
	close(talk[0]);
	if (strcmp(way, "stop") == 0)
		ack_timeout = 8, retry_count = 2;
	struct end there = meet(talk[1]);
	enum ibv_wr_opcode opcode = by_memory ? IBV_WR_RDMA_WRITE : IBV_WR_SEND;
	if (strcmp(way, "stop") == 0) {
		EXPECT(waitpid(receiver, &status, WUNTRACED) == receiver && WIFSTOPPED(status));
		post(opcode, there);
		/* A NIC completes it now; here it may wait. */
		int early = completion(1);
		EXPECT(early == IBV_WC_SUCCESS || early == -1);
		kill(receiver, SIGCONT);
		EXPECT(early == IBV_WC_SUCCESS || completion(10) == IBV_WC_SUCCESS);
		/* A stopped process that is killed is away for good. */
		EXPECT(waitpid(receiver, &status, 0) == receiver);
		post(opcode, there);
		EXPECT(completion(10) == IBV_WC_RETRY_EXC_ERR);
	} else {
		post(opcode, there);
		EXPECT(completion(10) == IBV_WC_SUCCESS);
	}
	leave();
}

int main(int count, char **arguments)
{
	if (count < 3)
		return 2;
	if (count > 3)
		becomes = arguments[3];
	for (int round = 0; round < atoi(arguments[2]); round++) {
		round_of(arguments[1], 0);
		/* Between the data and the acknowledgement, SIGKILL and exec can come. */
		if (strcmp(arguments[1], "kill") != 0 && strcmp(arguments[1], "exec") != 0)
			round_of(arguments[1], 1);
	}
	return failures != 0;
}

/*
 * An MPI program for 2 ranks or more that compares every byte that arrives: messages between all pairs of ranks,
 * collective operations, and puts, gets and atomics in windows. The first difference ends all ranks with exit code 1.
 *
 * MPI libraries like to use shared memory within a host. So rank 0 also checks that the device has sent the messages.
 *
 * No two messages have the same pattern, so leftovers of an earlier one are noticed.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Inline, copied, in several packets, and by rendezvous. */
static const int sizes[] = { 0, 1, 8, 63, 200, 1023, 4097, 20000, 300000 };
enum { SIZES = sizeof(sizes) / sizeof(*sizes), LONGEST = 300000, ROUNDS = 20 };

static int rank, ranks;
/* Bytes: compared, and given to other ranks in messages. */
static uint64_t compared, given;

#define NEED(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("rank %d, line %d: not so: %s\n", rank, __LINE__, #condition);      \
			MPI_Abort(MPI_COMM_WORLD, 1);                                              \
		}                                                                                  \
	} while (0)

/* What the device has sent for all ranks, in bytes. It publishes its counters some milliseconds late. */
static uint64_t sent(void)
{
	FILE *file = fopen("/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "r");
	unsigned long long words = 0;
	NEED(file && fscanf(file, "%llu", &words) == 1);
	fclose(file);
	return 4 * words;
}

/* The pattern of what rank `from` gives rank `to` in step `step`. */
static uint8_t pattern(int from, int to, int step, int at)
{
	uint32_t message = (uint32_t)from * 2654435761u + (uint32_t)to * 40503u + (uint32_t)step * 2246822519u;
	uint32_t mixed = message + (uint32_t)at;
	return (uint8_t)((mixed * 2654435761u) >> 24);
}

static void fill(uint8_t *bytes, int from, int to, int step, int length)
{
	for (int at = 0; at < length; at++)
		bytes[at] = pattern(from, to, step, at);
}

static void compare(const uint8_t *bytes, int from, int to, int step, int length)
{
	for (int at = 0; at < length; at++) {
		if (bytes[at] == pattern(from, to, step, at))
			continue;
		printf("rank %d: byte %d of %d from %d, step %d: not what was sent\n", rank, at, length, from, step);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	compared += (uint64_t)length;
}

static uint8_t *bytes_of(size_t length)
{
	uint8_t *bytes = malloc(length ? length : 1);
	NEED(bytes);
	return bytes;
}

/* Each rank sends to all others and receives from all, at the same time. */
static void messages(void)
{
	uint8_t *outgoing = bytes_of((size_t)ranks * LONGEST), *incoming = bytes_of((size_t)ranks * LONGEST);
	MPI_Request *requests = malloc(2 * (size_t)ranks * sizeof(*requests));
	NEED(requests);
	for (int size = 0; size < SIZES; size++) {
		int length = sizes[size], count = 0;
		for (int peer = 0; peer < ranks; peer++) {
			fill(outgoing + (size_t)peer * LONGEST, rank, peer, size, length);
			/* Every other size is unexpected where it arrives. */
			if (size % 2)
				MPI_Irecv(incoming + (size_t)peer * LONGEST, length, MPI_BYTE, peer, size,
					  MPI_COMM_WORLD, &requests[count++]);
		}
		for (int peer = 0; peer < ranks; peer++)
			MPI_Isend(outgoing + (size_t)peer * LONGEST, length, MPI_BYTE, peer, size, MPI_COMM_WORLD,
				  &requests[count++]);
		given += (uint64_t)length * ((uint64_t)ranks - 1);
		for (int peer = 0; peer < ranks && size % 2 == 0; peer++)
			MPI_Irecv(incoming + (size_t)peer * LONGEST, length, MPI_BYTE, peer, size, MPI_COMM_WORLD,
				  &requests[count++]);
		for (int i = 0; i < count; i++)
			NEED(!MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
		for (int peer = 0; peer < ranks; peer++)
			compare(incoming + (size_t)peer * LONGEST, peer, rank, size, length);
	}
	free(requests);
	free(outgoing);
	free(incoming);
}

static void collectives(void)
{
	static const int lengths[] = { 1, 64, 5000, 40000 };
	uint8_t *outgoing = bytes_of((size_t)ranks * 40000), *incoming = bytes_of((size_t)ranks * 40000);
	for (int step = 0; step < ROUNDS; step++) {
		int length = lengths[step % 4], root = step % ranks;
		for (int peer = 0; peer < ranks; peer++)
			fill(outgoing + (size_t)peer * (size_t)length, rank, peer, 100 + step, length);
		memset(incoming, 0xa5, (size_t)ranks * 40000);
		NEED(!MPI_Alltoall(outgoing, length, MPI_BYTE, incoming, length, MPI_BYTE, MPI_COMM_WORLD));
		for (int peer = 0; peer < ranks; peer++)
			compare(incoming + (size_t)peer * (size_t)length, peer, rank, 100 + step, length);

		fill(incoming, rank, 0, 200 + step, length);
		NEED(!MPI_Bcast(incoming, length, MPI_BYTE, root, MPI_COMM_WORLD));
		compare(incoming, root, 0, 200 + step, length);

		fill(outgoing, rank, 0, 300 + step, length);
		NEED(!MPI_Allgather(outgoing, length, MPI_BYTE, incoming, length, MPI_BYTE, MPI_COMM_WORLD));
		for (int peer = 0; peer < ranks; peer++)
			compare(incoming + (size_t)peer * (size_t)length, peer, 0, 300 + step, length);

		/* The sum over all ranks r of (r + 1) * (i + step). */
		int64_t *numbers = (int64_t *)(void *)outgoing, *sums = (int64_t *)(void *)incoming;
		int count = length / 8 + 1;
		for (int i = 0; i < count; i++)
			numbers[i] = (int64_t)(rank + 1) * (i + step);
		NEED(!MPI_Allreduce(numbers, sums, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
		for (int i = 0; i < count; i++)
			NEED(sums[i] == (int64_t)ranks * (ranks + 1) / 2 * (i + step));
		compared += 8 * (uint64_t)count;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	free(outgoing);
	free(incoming);
}

/*
 * Each rank puts a block into every rank's window, and gets those of its right neighbour. Then all add to a counter
 * of rank 0, and race for a place beside it.
 */
static void windows(void)
{
	enum { BLOCK = 5000 };
	uint8_t *memory, *outgoing = bytes_of((size_t)ranks * BLOCK), *incoming = bytes_of((size_t)ranks * BLOCK);
	MPI_Win window;
	size_t bytes = ((size_t)ranks * BLOCK + 7) / 8 * 8;
	NEED(!MPI_Win_allocate((MPI_Aint)bytes + 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
	for (int step = 0; step < 4; step++) {
		int length = step == 0 ? 8 : step == 1 ? 200 : BLOCK;
		memset(memory, 0xa5, bytes + 16);
		for (int peer = 0; peer < ranks; peer++)
			fill(outgoing + (size_t)peer * BLOCK, rank, peer, 400 + step, length);
		MPI_Win_fence(0, window);
		for (int peer = 0; peer < ranks; peer++)
			NEED(!MPI_Put(outgoing + (size_t)peer * BLOCK, length, MPI_BYTE, peer, (MPI_Aint)rank * BLOCK,
				      length, MPI_BYTE, window));
		MPI_Win_fence(0, window);
		for (int peer = 0; peer < ranks; peer++) {
			compare(memory + (size_t)peer * BLOCK, peer, rank, 400 + step, length);
			for (int at = length; at < BLOCK; at++)
				NEED(memory[(size_t)peer * BLOCK + (size_t)at] == 0xa5);
		}
		int neighbour = (rank + 1) % ranks;
		MPI_Win_fence(0, window);
		for (int peer = 0; peer < ranks; peer++)
			NEED(!MPI_Get(incoming + (size_t)peer * BLOCK, length, MPI_BYTE, neighbour,
				      (MPI_Aint)peer * BLOCK, length, MPI_BYTE, window));
		MPI_Win_fence(0, window);
		for (int peer = 0; peer < ranks; peer++)
			compare(incoming + (size_t)peer * BLOCK, peer, neighbour, 400 + step, length);
	}

	uint64_t *counters = (uint64_t *)(void *)(memory + bytes);
	MPI_Win_fence(0, window);
	counters[0] = counters[1] = 0;
	MPI_Win_fence(0, window);
	MPI_Win_lock_all(0, window);
	uint64_t one = 1, before, last = 0, empty = 0, mine = (uint64_t)rank + 1, found;
	for (int step = 0; step < ROUNDS; step++) {
		NEED(!MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, 0, (MPI_Aint)bytes, MPI_SUM, window));
		MPI_Win_flush(0, window);
		NEED(step == 0 || before > last);
		last = before;
	}
	/* One rank alone finds the empty place. */
	NEED(!MPI_Compare_and_swap(&mine, &empty, &found, MPI_UINT64_T, 0, (MPI_Aint)bytes + 8, window));
	MPI_Win_flush(0, window);
	MPI_Win_unlock_all(window);
	MPI_Barrier(MPI_COMM_WORLD);
	uint64_t first = found == 0, winners = 0, winner = found ? found : mine, highest = 0;
	MPI_Allreduce(&first, &winners, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(&winner, &highest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
	NEED(winners == 1 && winner == highest);
	MPI_Win_fence(0, window);
	if (rank == 0)
		NEED(counters[0] == (uint64_t)ranks * ROUNDS && counters[1] == winner);
	compared += 8 * ROUNDS;
	MPI_Win_free(&window);
	free(outgoing);
	free(incoming);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	NEED(ranks >= 2);
	uint64_t before = sent();
	MPI_Barrier(MPI_COMM_WORLD);
	messages();
	uint64_t given_by_all = 0;
	MPI_Reduce(&given, &given_by_all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	for (int tries = 0; rank == 0 && sent() - before < given_by_all && tries < 200; tries++)
		usleep(10000);
	NEED(rank != 0 || sent() - before >= given_by_all);
	collectives();
	/* Any argument leaves the windows out. */
	if (argc == 1)
		windows();
	uint64_t all = 0;
	MPI_Reduce(&compared, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks compared %llu bytes\n", ranks, (unsigned long long)all);
	MPI_Finalize();
	return 0;
}

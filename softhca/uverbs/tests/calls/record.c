/* Writes down what a program asks of the kernel's RDMA devices and what it is told, one line a call: to be preloaded before
 * everything else. With it, the same program can be compared on a kernel and under the preloaded object of this project.
 *
 *     CALLS=PREFIX LD_PRELOAD=record.so PROGRAM...
 *
 * writes PREFIX.PID. A line is a call, its result or its error, and what it has written, as hexadecimal bytes:
 *
 *     open uverbs0 = ok
 *     ioctl 3.2 [0:8 1:32*01000000... 4096:8 4097:8*...] = 0        object.method [attribute:bytes*written ...]
 *     write 5 24 = 24 -> 0100...                                    command, bytes, and its response
 *     mmap 3 4096 1 = ok                                            offset in pages, bytes, protection
 *     read 16 = 16 ...                                              of an event file
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { FILES = 1024 };
enum kind { NONE, DEVICE, EVENTS };

/* What each descriptor is open for. */
static enum kind kinds[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *log_file;
static pid_t log_owner;

#define REAL(name) \
	static __typeof__(name) *real; \
	if (!real) \
		real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static enum kind kind_of(int fd) { return fd >= 0 && fd < FILES ? kinds[fd] : NONE; }

static void set_kind(int fd, enum kind kind)
{
	if (fd >= 0 && fd < FILES)
		kinds[fd] = kind;
}

/* Begins a line; the caller ends it with end_line. NULL if nothing is to be written down. */
static FILE *begin_line(void)
{
	pthread_mutex_lock(&lock);
	if (log_owner != getpid()) {
		char path[4096];
		const char *prefix = getenv("CALLS");

		log_owner = getpid();
		log_file = NULL;
		if (prefix) {
			snprintf(path, sizeof path, "%s.%d", prefix, log_owner);
			/* Not anew: a child by vfork has this memory. */
			log_file = fopen(path, "ae");
		}
		if (log_file)
			fprintf(log_file, "program %s\n", program_invocation_short_name);
	}
	return log_file;
}

static void end_line(void)
{
	if (log_file) {
		fputc('\n', log_file);
		fflush(log_file);
	}
	pthread_mutex_unlock(&lock);
}

static void hex(FILE *out, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%02x", ((const uint8_t *)bytes)[i]);
}

/* " = result", or the name of the error. */
static void result(FILE *out, long value, int error)
{
	if (value == -1)
		fprintf(out, " = %s", strerrorname_np(error) ? strerrorname_np(error) : "?");
	else
		fprintf(out, " = %ld", value);
}

static int opened(const char *path, int fd, int error)
{
	const char *name = strncmp(path, "/dev/infiniband/", 16) == 0 ? path + 16 : NULL;

	if (!name || strncmp(name, "uverbs", 6) != 0)
		return fd;
	FILE *out = begin_line();

	if (out) {
		fprintf(out, "open uverbs");
		result(out, fd < 0 ? -1 : 0, error);
	}
	end_line();
	set_kind(fd, DEVICE);
	return fd;
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN(name) \
	int name(const char *path, int flags, ...) \
	{ \
		REAL(name); \
		va_list args; \
		va_start(args, flags); \
		mode_t mode = mode_of(flags, args); \
		va_end(args); \
		int fd = real(path, flags, mode), error = errno; \
		fd = opened(path, fd, error); \
		errno = error; \
		return fd; \
	}
OPEN(open)
OPEN(open64)

int close(int fd)
{
	REAL(close);
	enum kind kind = kind_of(fd);

	set_kind(fd, NONE);
	int done = real(fd), error = errno;

	if (kind != NONE) {
		FILE *out = begin_line();

		if (out) {
			fprintf(out, "close %s", kind == DEVICE ? "device" : "events");
			result(out, done, error);
		}
		end_line();
	}
	errno = error;
	return done;
}

int dup(int fd)
{
	REAL(dup);
	int copy = real(fd), error = errno;

	set_kind(copy, kind_of(fd));
	errno = error;
	return copy;
}

#define DUP(name, parameters, arguments) \
	int name parameters \
	{ \
		REAL(name); \
		int done = real arguments, error = errno; \
		if (done >= 0) \
			set_kind(to, kind_of(from)); \
		errno = error; \
		return done; \
	}
DUP(dup2, (int from, int to), (from, to))
DUP(dup3, (int from, int to, int flags), (from, to, flags))

/* Files that the call has opened: of events. */
static void learn_files(const struct ib_uverbs_ioctl_hdr *hdr)
{
	int invoked = -1;

	for (int i = 0; i < hdr->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &hdr->attrs[i];

		if (hdr->object_id == UVERBS_OBJECT_DEVICE && hdr->method_id == UVERBS_METHOD_INVOKE_WRITE) {
			if (attr->attr_id == UVERBS_ATTR_WRITE_CMD)
				invoked = (int)attr->data;
			if (attr->attr_id == UVERBS_ATTR_CORE_OUT && attr->len >= 4) {
				const uint32_t *words = (const uint32_t *)(uintptr_t)attr->data;

				if (invoked == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL || invoked == IB_USER_VERBS_CMD_GET_CONTEXT)
					set_kind((int)words[0], EVENTS);
			}
		}
		if (hdr->object_id == UVERBS_OBJECT_ASYNC_EVENT && hdr->method_id == UVERBS_METHOD_ASYNC_EVENT_ALLOC &&
		    attr->attr_id == UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)
			set_kind((int)attr->data_s64, EVENTS);
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	REAL(ioctl);
	va_list args;

	va_start(args, request);
	void *argument = va_arg(args, void *);

	va_end(args);
	if (kind_of(fd) != DEVICE || request != RDMA_VERBS_IOCTL)
		return real(fd, request, argument);

	struct ib_uverbs_ioctl_hdr *hdr = argument;
	int done = real(fd, request, argument), error = errno;
	FILE *out = begin_line();

	if (out) {
		fprintf(out, "ioctl %u.%u [", hdr->object_id, hdr->method_id);
		for (int i = 0; i < hdr->num_attrs; i++) {
			struct ib_uverbs_attr *attr = &hdr->attrs[i];

			fprintf(out, "%s%u:%u", i ? " " : "", attr->attr_id, attr->len);
			if (hdr->object_id == UVERBS_OBJECT_DEVICE && hdr->method_id == UVERBS_METHOD_INVOKE_WRITE &&
			    attr->attr_id == UVERBS_ATTR_WRITE_CMD)
				fprintf(out, "(%llu)", (unsigned long long)attr->data);
			/* Only outputs get this flag. */
			if (attr->flags & UVERBS_ATTR_F_VALID_OUTPUT) {
				fputc('*', out);
				hex(out, (const void *)(uintptr_t)attr->data, attr->len);
			}
		}
		fprintf(out, "]");
		result(out, done, error);
	}
	if (done == 0)
		learn_files(hdr);
	end_line();
	errno = error;
	return done;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	REAL(write);
	if (kind_of(fd) != DEVICE || n < sizeof(struct ib_uverbs_cmd_hdr))
		return real(fd, bytes, n);

	struct ib_uverbs_cmd_hdr hdr;

	memcpy(&hdr, bytes, sizeof hdr);
	/* The response of a plain command is where its first word says; an extended one has a header of its own. */
	int extended = (hdr.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0;
	size_t response_bytes = extended ? hdr.out_words * 8 : hdr.out_words * 4;
	uint64_t response = 0;

	if (n >= sizeof hdr + 8)
		memcpy(&response, (const uint8_t *)bytes + sizeof hdr, 8);
	ssize_t done = real(fd, bytes, n);
	int error = errno;
	FILE *out = begin_line();

	if (out) {
		fprintf(out, "write %#x %zu", hdr.command, n);
		result(out, done, error);
		if (done >= 0 && response && response_bytes) {
			fprintf(out, " -> ");
			hex(out, (const void *)(uintptr_t)response, response_bytes);
		}
	}
	if (done >= 0 && response && !extended && hdr.command == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL)
		set_kind(*(const int *)(uintptr_t)response, EVENTS);
	end_line();
	errno = error;
	return done;
}

ssize_t read(int fd, void *bytes, size_t n)
{
	REAL(read);
	ssize_t done = real(fd, bytes, n);
	int error = errno;

	if (kind_of(fd) == EVENTS) {
		FILE *out = begin_line();

		if (out) {
			fprintf(out, "read %zu", n);
			result(out, done, error);
			if (done > 0) {
				fputc(' ', out);
				hex(out, bytes, (size_t)done);
			}
		}
		end_line();
	}
	errno = error;
	return done;
}

#define MMAP(name, offset_type) \
	void *name(void *at, size_t n, int protection, int flags, int fd, offset_type offset) \
	{ \
		REAL(name); \
		void *mapped = real(at, n, protection, flags, fd, offset); \
		int error = errno; \
		if (kind_of(fd) == DEVICE) { \
			FILE *out = begin_line(); \
			if (out) { \
				fprintf(out, "mmap %lld %zu %d", (long long)offset / 4096, n, protection); \
				result(out, mapped == MAP_FAILED ? -1 : 0, error); \
			} \
			end_line(); \
		} \
		errno = error; \
		return mapped; \
	}
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

/* What all C programs here begin with: checks that go on when they fail, and say where. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

#define EXPECT(condition)                                                                     \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			printf("line %d: not so: %s (errno %d)\n", __LINE__, #condition, errno); \
			failures++;                                                           \
		}                                                                             \
	} while (0)

/* Without what this makes, nothing else can be tried. */
#define NEED(pointer)                                                             \
	({                                                                        \
		errno = 0;                                                        \
		__typeof__(pointer) made = (pointer);                             \
		if (!made) {                                                      \
			printf("line %d: %s: errno %d\n", __LINE__, #pointer, errno); \
			exit(1);                                                  \
		}                                                                 \
		made;                                                             \
	})

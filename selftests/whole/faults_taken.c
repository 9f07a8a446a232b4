// SPDX-License-Identifier: GPL-2.0

#include <sys/ioctl.h>
#include <sys/mman.h>

#include "faults_taken.h"

struct taken taken = { .fd = -1, .pipes = { -1, -1 } };

#define TAKEN_MARKS	200
#define TAKEN_SLOTS	8
#define TAKEN_STRIDE	4096
#define TAKEN_WINDOW	(TAKEN_SLOTS * TAKEN_STRIDE)

void taken_reset(void)
{
	if (taken.map)
		munmap(taken.map, TAKEN_WINDOW);
	close(taken.fd);
	close(taken.pipes[0]);
	close(taken.pipes[1]);
	taken.map = NULL;
	taken.window.packets = 0;
	taken.fd = taken.pipes[0] = taken.pipes[1] = -1;
	taken.how = TAKE_NONE;
	taken.len = 0;
	memset(&taken.seen, 0, sizeof(taken.seen));
}

/* Fills the tree with TAKEN_MARKS marks and nothing else. */
void taken_marks(void)
{
	int next = 0;

	overwrite_file(TREE, "trace", "");
	packets_mark(TREE, &next, TAKEN_MARKS);
	write_file(TREE, "flush", "1");
	if (pipe(taken.pipes))
		give_up("pipe");
}

/* ---- Reading while an allocation fails: 0 or an errno ---- */

int taken_pipe(const char *file)
{
	ssize_t n;

	taken.how = TAKE_TEXT;
	taken.fd = open(path_of(TREE, file), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (taken.fd < 0)
		return errno;
	while ((n = read(taken.fd, taken.buf + taken.len, 1000)) > 0)
		taken.len += n;
	return n < 0 && errno != EAGAIN ? errno : 0;
}

static int taken_map(void)
{
	/* Far from other mappings, so that the kernel must allocate page tables. */
	taken.map = mmap((void *)(1UL << 38), TAKEN_WINDOW, PROT_READ, MAP_SHARED, taken.fd, 0);
	if (taken.map == MAP_FAILED) {
		taken.map = NULL;
		return errno;
	}
	taken.window = (struct etch_window) {
		.address = (unsigned long)taken.map, .packets = TAKEN_SLOTS,
		.stride = TAKEN_STRIDE,
	};
	if (!ioctl(taken.fd, ETCH_IOC_WINDOW, &taken.window))
		return 0;
	taken.window.packets = 0;
	return errno;
}

int taken_raw(enum take how)
{
	ssize_t n = 0;

	taken.how = how;
	taken.fd = packets_open(TREE, 0, O_NONBLOCK);
	if (taken.fd < 0)
		return errno;
	if (how == TAKE_WINDOW)
		return taken_map();
	do {
		taken.len += n;
		if (how == TAKE_READ)
			n = read(taken.fd, taken.buf + taken.len, 3000);
		else
			n = splice(taken.fd, NULL, taken.pipes[1], NULL, 3000,
				   SPLICE_F_NONBLOCK);
	} while (n > 0);
	return n < 0 && errno != EAGAIN ? errno : 0;
}

/* ---- Afterwards ---- */

/* Reads to the end, or until read() would wait. */
static void taken_more(int fd)
{
	ssize_t n;

	while ((n = read(fd, taken.buf + taken.len, sizeof(taken.buf) - taken.len)) > 0)
		taken.len += n;
}

static void taken_lines(void)
{
	static const char mark[] = "tracing_mark_write: ";
	char *at = taken.buf;

	taken.buf[taken.len] = 0;
	while ((at = strstr(at, mark))) {
		at += strlen(mark);
		packets_mark_seen(&taken.seen, at);
	}
}

static void taken_packets(void)
{
	for (unsigned int i = 0; i < taken.window.packets; i++)
		packets_add(&taken.seen, taken.map + i * TAKEN_STRIDE, TAKEN_STRIDE);
	if (packets_add(&taken.seen, taken.buf, taken.len) != taken.len)
		taken.seen.wrong++;
}

/* Takes the remaining records, and checks that each mark came exactly once. */
void taken_rest(void)
{
	struct packets *seen = &taken.seen;

	if (taken.how == TAKE_SPLICE) {
		taken.len = 0;
		close(taken.pipes[1]);
		taken.pipes[1] = -1;
		taken_more(taken.pipes[0]);
	}
	if (taken.fd < 0)
		taken.fd = taken.how == TAKE_TEXT ?
			   open(TREE "/trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC) :
			   packets_open(TREE, 0, O_NONBLOCK);
	taken_more(taken.fd);
	if (taken.how == TAKE_TEXT)
		taken_lines();
	else
		taken_packets();
	if (seen->marks != TAKEN_MARKS || seen->order || seen->first || seen->wrong) {
		printf("# %u of %d marks, %u out of order, %u packets wrong\n", seen->marks,
		       TAKEN_MARKS, seen->order, seen->wrong);
		taken.bad++;
	}
	taken_reset();
}

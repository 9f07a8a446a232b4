// SPDX-License-Identifier: GPL-2.0
/*
 * Packets from one file to another, without looking at more than their headers.
 *
 *	from --splice--> pipe --splice--> to
 *	                  |
 *	                 tee, of a header
 *	                  v
 *	                 peek
 *
 * Pages go through the pipe by reference. The pump looks at a packet's header before it
 * passes the packet on, so that the metadata and the file that the packet needs are there
 * first: a reader understands every packet that was written, however the recording ends.
 * Only whole packets count as written; the function that opened the file cuts off the rest.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Twice the largest sub-buffer: a packet is never kept waiting by its own pipe. */
#define PUMP_PIPE	(1 << 20)
#define PUMP_COPY	(1 << 16)

/* How often there may be no memory, a hundredth of a second apart. */
#define PUMP_STARVED	1000

/* Bits of the largest sub-buffer: a header that says more is none. */
#define PUMP_PACKET	(8ULL << 19)

static void pump_close_pair(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

int pump_open(struct pump *pump, const char *name, int from)
{
	memset(pump, 0, sizeof(*pump));
	snprintf(pump->name, sizeof(pump->name), "%s", name);
	pump->from = from;
	pump->to = -1;
	if (pipe2(pump->pipe, O_CLOEXEC))
		return fail("no pipe for %s: %m", name);
	if (pipe2(pump->peek, O_CLOEXEC)) {
		fail("no pipe for %s: %m", name);
		pump_close_pair(pump->pipe);
		return -1;
	}
	/* More of it is quicker, but any size works. Page by page, so much finds room. */
	fcntl(pump->pipe[1], F_SETPIPE_SZ, PUMP_PIPE);
	pump->room = fcntl(pump->pipe[1], F_GETPIPE_SZ);
	return 0;
}

void pump_close(struct pump *pump)
{
	pump_close_pair(pump->pipe);
	pump_close_pair(pump->peek);
}

/* What went wrong is said. The rest of the pipe is counted, but goes nowhere. */
static void pump_break(struct pump *pump)
{
	pump->broken = true;
	pump->dropped += pump->header.records;
}

bool pump_header_ok(const struct etch_packet_header *header)
{
	return header->magic == ETCH_PACKET_MAGIC && header->packet_size % 8 == 0 &&
	       header->content_size >= 8 * sizeof(*header) &&
	       header->packet_size >= header->content_size &&
	       header->packet_size <= PUMP_PACKET;
}

/* A packet is next in the pipe. */
static void pump_packet(struct pump *pump)
{
	struct etch_packet_header *header = &pump->header;
	ssize_t n;

	n = tee(pump->pipe[0], pump->peek[1], sizeof(*header), 0);
	if (n == sizeof(*header))
		n = read(pump->peek[0], header, sizeof(*header));
	if (n != sizeof(*header) || !pump_header_ok(header)) {
		if (!pump->broken)
			fail("%s: no packet follows byte %llu; the file ends there",
			     pump->name, pump->bytes);
		header->records = 0;
		header->packet_size = 8 * pump->have;
		pump_break(pump);
	} else if (pump->broken || pump->begin(pump, header)) {
		pump_break(pump);
	}
	pump->left = header->packet_size / 8;
}

/*
 * Used if @to does not support splice(), or if there is no file. Bytes that have been read
 * from the pipe and cannot be written are lost.
 */
static ssize_t pump_copy(struct pump *pump, size_t len)
{
	static _Thread_local char buf[PUMP_COPY];
	ssize_t n = read(pump->pipe[0], buf, len < sizeof(buf) ? len : sizeof(buf));

	if (n > 0 && !pump->broken && write_all(pump->to, buf, n)) {
		pump->have -= n;
		pump->left -= n;
		return -1;
	}
	return n;
}

/* Some bytes of a packet go. */
static int pump_move(struct pump *pump)
{
	size_t len = pump->have < pump->left ? pump->have : pump->left;
	ssize_t n = -1;

	if (!pump->copy && !pump->broken) {
		n = splice(pump->pipe[0], NULL, pump->to, NULL, len, SPLICE_F_MOVE);
		pump->copy = n < 0 && errno == EINVAL;
	}
	if (pump->copy || pump->broken)
		n = pump_copy(pump, len);
	if (n < 0)
		return errno == EINTR ? 0 : -1;
	pump->have -= n;
	pump->left -= n;
	return 0;
}

static void pump_packet_gone(struct pump *pump)
{
	if (pump->broken)
		return;
	pump->packets++;
	pump->bytes += pump->header.packet_size / 8;
	pump->records += pump->header.records;
}

/* Everything in the pipe goes, but for the beginning of a header. */
static enum pump_state pump_drain(struct pump *pump)
{
	while (pump->have && (pump->left || pump->have >= sizeof(pump->header))) {
		if (!pump->left)
			pump_packet(pump);
		if (pump_move(pump)) {
			if (pump->broken)
				return PUMP_FAILED;
			fail("%s cannot be written: %m%s", pump->name, place_advice(errno));
			pump_break(pump);
		}
		if (!pump->left)
			pump_packet_gone(pump);
	}
	return pump->broken ? PUMP_FAILED : PUMP_MOVED;
}

/* Take what there is, without waiting, and pass it on. */
enum pump_state pump_turn(struct pump *pump)
{
	ssize_t n = splice(pump->from, NULL, pump->pipe[1], NULL, pump->room,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (n < 0 && errno == EINTR)
		return PUMP_MOVED;
	if (n < 0 && errno == EAGAIN)
		return PUMP_EMPTY;
	/* The kernel does not insist on memory for a sub-buffer. Nothing is lost by waiting. */
	if (n < 0 && errno == ENOMEM && pump->starved++ < PUMP_STARVED) {
		usleep(10000);
		return PUMP_MOVED;
	}
	if (n < 0) {
		fail("%s cannot be read: %m", pump->name);
		return PUMP_FAILED;
	}
	if (!n && (pump->left || pump->have)) {
		fail("%s was cut off within a packet; the whole ones are kept", pump->name);
		return PUMP_FAILED;
	}
	if (!n)
		return PUMP_ENDED;
	pump->starved = 0;
	pump->have += n;
	return pump_drain(pump);
}

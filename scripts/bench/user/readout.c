// SPDX-License-Identifier: GPL-2.0
/*
 * readout ROUNDS HITS: fill a tracer's buffer with twice as many equal records, and
 * time taking them out through trace_pipe_raw, without waiting, until there is no whole
 * packet (page, in ftrace) any more. Tracers take turns, and so do ways. Prints for each
 *
 *	bench: sample WAY TRACER RECORDS TICKS
 *	bench: bytes WAY TRACER BYTES RECORDS
 *
 * The program counts the records in the data that came out, and takes the rest after it
 * stopped the clock: together they have to be as many as the buffer had, or it is an
 * error. Records that went to /dev/null cannot be counted: they are as many as the rest is
 * short of, and the buffer has to say that all were read.
 *
 * The reader copies the packets that it has mapped.
 *
 * There is one thread, which neither sleeps nor is moved: what passes is CPU time.
 */

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "records.h"

#define MAX_ROUNDS	256
#define WINDOW		64			/* packets that are mapped at once */
#define ROOM		(16 << 20)		/* more than a buffer has */
#define CHUNK		(64 << 10)
#define PLENTY		(1 << 20)		/* more than a pipe takes */

static char room[ROOM];
static size_t filled;				/* bytes in there */
static int channel[2];				/* a pipe */
static int ends[2];				/* a socket's */

/* Read what there is, a chunk at a time. */
static void read_chunks(int fd, size_t chunk)
{
	ssize_t len;

	while ((len = read(fd, room + filled, chunk)) > 0) {
		filled += len;
		if (filled > ROOM - chunk)
			errx(1, "more than %zu bytes came", filled);
	}
	if (len < 0 && errno != EAGAIN)
		err(1, "read");
}

static void make_room(int out)
{
	if (errno != EAGAIN || out != ends[0])
		err(1, "splice out");
	read_chunks(ends[1], CHUNK);
}

static long long splice_all(int raw, int out)
{
	long long bytes = 0;
	ssize_t in, len;

	while ((in = splice(raw, NULL, channel[1], NULL, PLENTY, SPLICE_F_NONBLOCK)) > 0) {
		for (bytes += in; in; in -= len) {
			len = splice(channel[0], NULL, out, NULL, in, 0);
			if (len <= 0) {
				make_room(out);
				len = 0;
			}
		}
	}
	if (in < 0 && errno != EAGAIN)
		err(1, "splice in");
	return bytes;
}

/* The head of the meta page that ftrace maps before its data (6.12: linux/trace_mmap.h). */
struct meta {
	unsigned int		head, len, subbuf, subbufs;
	unsigned long long	lost;
	unsigned int		id, at;
	unsigned long long	flags, entries, overrun, read;
};

#define GET_READER	_IO('R', 0x20)

static void *map(int raw, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, raw, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	return memory;
}

static void keep(const void *from, size_t bytes)
{
	if (filled + bytes > ROOM)
		errx(1, "more than %zu bytes came", filled);
	memcpy(room + filled, from, bytes);
	filled += bytes;
}

/* The packets of a window; its size is theirs. */
static void *map_packets(const struct tracer *tracer, int raw, size_t *bytes)
{
	*bytes = WINDOW * tracer->subbuf;
	return map(raw, *bytes);
}

static void take_packets(const struct tracer *tracer, int raw, const char *memory)
{
	for (;;) {
		struct etch_window window = {
			.address = (unsigned long)memory,
			.packets = WINDOW,
			.stride = tracer->subbuf,
		};

		if (ioctl(raw, ETCH_IOC_WINDOW, &window)) {
			if (errno != EAGAIN)
				err(1, "ETCH_IOC_WINDOW");
			return;
		}
		for (unsigned int i = 0; i < window.packets; i++) {
			const struct etch_packet_header *head =
				(const void *)(memory + i * tracer->subbuf);

			keep(head, head->packet_size / 8);
		}
	}
}

/* All of ftrace's buffer, with the page that tells about it. */
static void *map_pages(int raw, size_t *bytes)
{
	struct meta *meta = map(raw, 4096);

	*bytes = meta->head + (size_t)meta->subbufs * meta->subbuf;
	munmap(meta, 4096);
	return map(raw, *bytes);
}

static void take_pages(int raw, const char *memory)
{
	const volatile struct meta *meta = (const void *)memory;

	do {
		if (ioctl(raw, GET_READER))
			err(1, "GET_READER");
		keep(memory + meta->head + (size_t)meta->id * meta->subbuf, meta->subbuf);
	} while (meta->read + meta->overrun < meta->entries);
}

static int null_open(void)
{
	return open("/dev/null", O_WRONLY);
}

static int file_open(void)
{
	return open("/tmp/readout", O_RDWR | O_CREAT | O_TRUNC, 0600);
}

static int socket_open(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends))
		err(1, "socketpair");
	return ends[0];
}

static void file_collect(int out)
{
	if (lseek(out, 0, SEEK_SET))
		err(1, "lseek");
	read_chunks(out, CHUNK);
	unlink("/tmp/readout");
}

static const struct way {
	const char *name;
	int (*open)(void);			/* where it goes; NULL: read() */
	void (*collect)(int out);		/* what is not in the room yet */
	size_t chunk;				/* of a read(); 0, and no open(): mmap() */
} ways[] = {
	{ "null", .open = null_open },
	{ "file", .open = file_open, .collect = file_collect },
	{ "socket", .open = socket_open },
	{ "read", .chunk = CHUNK },
	{ "mmap", .open = NULL },
};

static long long take(const struct way *way, const struct tracer *tracer, int raw, int out,
		      const char *memory)
{
	long long bytes;

	if (memory) {
		if (tracer->packets)
			take_packets(tracer, raw, memory);
		else
			take_pages(raw, memory);
		return filled;
	}
	if (!way->open) {
		read_chunks(raw, way->chunk);
		return filled;
	}
	bytes = splice_all(raw, out);
	if (out == ends[0])
		read_chunks(ends[1], CHUNK);
	return bytes;
}

/* Takes the records that are in no whole packet, and counts them. */
static long long rest(const struct tracer *tracer, int raw)
{
	filled = 0;
	if (tracer->packets)
		write_in(tracer->folder, "flush", "1");
	read_chunks(raw, CHUNK);
	return count(tracer, room, filled);
}

static long long fill(const struct tracer *tracer, const char *hits)
{
	char line[80];

	choose(tracer);
	empty_buffer(tracer->folder);
	snprintf(line, sizeof(line), "fill 1 %s %s", hits, tracer->event);
	write_file(RUN "/run", line);
	if (figure(tracer->folder, 0, "entries") != 2 * atoll(hits))
		errx(1, "%s has not all of the hits", tracer->name);
	return 2 * atoll(hits);
}

/* All records have to have come out. Returns how many of them @way took. */
static long long check(const struct way *way, const struct tracer *tracer, int raw,
		       long long bytes, long long stored, long long read)
{
	long long records = -1, left;

	if (filled) {
		if ((long long)filled != bytes)
			errx(1, "%s: %lld bytes went in, %zu came out", way->name,
			     bytes, filled);
		records = count(tracer, room, filled);
	}
	left = rest(tracer, raw);
	if (records < 0)
		records = stored - left;
	read = figure(tracer->folder, 0, "read") - read;
	if (records + left != stored || read != stored || !records)
		errx(1, "%s, %s: %lld and %lld records of %lld, %lld read", way->name,
		     tracer->name, records, left, stored, read);
	return records;
}

static void measure(const struct way *way, const struct tracer *tracer, const char *hits,
		    int show)
{
	long long stored = fill(tracer, hits), read = figure(tracer->folder, 0, "read");
	int out = way->open ? way->open() : -1, raw = open_raw(tracer, 0, O_NONBLOCK);
	unsigned long long took;
	long long bytes, records;
	char *memory = NULL;
	size_t mapped = 0;

	if (way->open && out < 0)
		err(1, "%s", way->name);
	if (!way->open && !way->chunk)
		memory = tracer->packets ? map_packets(tracer, raw, &mapped) :
			map_pages(raw, &mapped);
	filled = 0;
	took = ticks();
	bytes = take(way, tracer, raw, out, memory);
	took = ticks() - took;
	if (way->collect)
		way->collect(out);
	if (memory)
		munmap(memory, mapped);
	records = check(way, tracer, raw, bytes, stored, read);
	close(raw);
	if (out >= 0)
		close(out);
	if (out >= 0 && out == ends[0]) {
		close(ends[1]);
		ends[0] = ends[1] = -1;
	}
	if (!show)
		return;
	printf("bench: sample %s %s %lld %llu\n", way->name, tracer->name, records, took);
	printf("bench: bytes %s %s %lld %lld\n", way->name, tracer->name, bytes, records);
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[1]) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (rounds < 1 || rounds > MAX_ROUNDS)
		errx(1, "usage: readout ROUNDS HITS, at most %d", MAX_ROUNDS);
	if (pipe(channel))
		err(1, "pipe");
	memset(room, 1, sizeof(room));		/* no page is to come later */
	ends[0] = ends[1] = -1;
	/* The first round is not counted. */
	for (int round = -1; round < rounds; round++)
		for (unsigned int w = 0; w < ARRAY_SIZE(ways); w++)
			for (unsigned int i = 0; i < ARRAY_SIZE(tracers); i++)
				measure(&ways[w], &tracers[i], argv[2], round >= 0);
	printf("bench: hz %llu\n", ticks_per_second());
	return 0;
}

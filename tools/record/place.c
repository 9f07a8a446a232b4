// SPDX-License-Identifier: GPL-2.0
/*
 * Where a trace goes: a folder of this machine, or a receiver (receive.c).
 *
 * The folder gets "metadata", which is replaced at once by rename(), a file for each CPU
 * that had records, "cpuN", and notes for readers (keep.c), which are replaced as metadata
 * is, in ".etch". The receiver makes the same folder. To it goes, by TCP:
 *
 *	metadata BYTES\n  and so many bytes, each time that there is newer metadata, on the
 *			  first connection; it stays open. Last comes "end\n"
 *	note NAME BYTES\n the same of a file in .etch, behind the first metadata, if the
 *			  receiver has said that it takes it
 *	cpuN\n		  and packets up to the end, on a connection for each file
 *
 * Each thing is answered when it is in its place: "ok BYTES\n", or why it is not. So
 * metadata is there before the packets that need it, and a file is known to be complete.
 *
 * Metadata is answered with "ok BYTES notes NAME...\n": the notes that the receiver takes.
 * Older receivers take none, and do not say so; older recorders read up to BYTES.
 */
#include "record.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define PLACE_NOTES	".etch"
#define PLACE_ANSWER	300	/* bytes of a line */
#define PLACE_PATIENCE	30	/* seconds: a receiver that does nothing for so long has gone */

/* ---- A folder ---- */

static bool folder_is_empty(int dir)
{
	DIR *d = fdopendir(dup(dir));
	struct dirent *entry;
	int entries = 0;

	while (d && (entry = readdir(d)))
		entries += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	if (d)
		closedir(d);
	return d && !entries;
}

int place_folder(struct place *place, const char *path)
{
	place->path = path;
	place->control = -1;
	if (mkdir(path, 0700) && errno != EEXIST)
		return fail("no folder %s can be made: %m", path);
	place->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (place->dir < 0)
		return fail("%s: %m", path);
	if (!folder_is_empty(place->dir)) {
		close(place->dir);
		return fail("%s is there and not empty: remove it, or choose another folder (-o)",
			    path);
	}
	return 0;
}

/* A file of @dir is what it was, or is new and whole. -1 with errno. */
static int folder_replace(struct place *place, int dir, const char *name, const char *text,
			  size_t len)
{
	char new[32];
	bool ok;
	int fd, err;

	snprintf(new, sizeof(new), ".%s.new", name);
	fd = openat(dir, new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ok = fd >= 0 && !write_all(fd, text, len) && !(place->sync && fsync(fd));
	err = errno;
	if (fd >= 0 && close(fd) && ok) {
		err = errno;
		ok = false;
	}
	if (ok && !renameat(dir, new, dir, name))
		return 0;
	err = ok ? errno : err;
	unlinkat(dir, new, 0);
	errno = err;
	return -1;
}

static int folder_metadata(struct place *place, const char *text, size_t len)
{
	if (!folder_replace(place, place->dir, "metadata", text, len))
		return 0;
	return fail("%s/metadata cannot be written: %m%s", place->path, place_advice(errno));
}

static int folder_note(struct place *place, const char *name, const char *text, size_t len)
{
	if (!place->notes) {
		if (mkdirat(place->dir, PLACE_NOTES, 0700) && errno != EEXIST)
			return fail("%s/" PLACE_NOTES " cannot be made: %m", place->path);
		place->notes = openat(place->dir, PLACE_NOTES,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (!folder_replace(place, place->notes, name, text, len))
		return 0;
	return fail("%s/" PLACE_NOTES "/%s cannot be written: %m%s. Readers will show numbers where they show names otherwise",
		    place->path, name, place_advice(errno));
}

static int folder_file_end(struct place *place, const char *name, int fd, unsigned long long bytes)
{
	struct stat st;
	int ret = 0;

	if (fstat(fd, &st) || ((unsigned long long)st.st_size > bytes && ftruncate(fd, bytes)))
		ret = fail("%s/%s ends with a part of a packet that cannot be cut off: %m",
			   place->path, name);
	if (place->sync && fsync(fd))
		ret = fail("%s/%s may not be on the disk: %m", place->path, name);
	if (close(fd))
		ret = fail("%s/%s may not be complete: %m", place->path, name);
	return ret;
}

/* ---- Sockets ---- */

int write_all(int fd, const void *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		len -= n;
	}
	return 0;
}

int read_all(int fd, void *bytes, size_t len)
{
	while (len) {
		ssize_t n = read(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n;
		bytes += n;
		len -= n;
	}
	return 1;
}

/*
 * Reads a line, without its newline. It reads one byte at a time, so that the bytes after the
 * line stay in the socket.
 */
int read_text_line(int fd, char *line, size_t room)
{
	for (size_t i = 0; i < room; i++) {
		int ret = read_all(fd, line + i, 1);

		if (ret <= 0)
			return ret;
		if (line[i] == '\n') {
			line[i] = 0;
			return 1;
		}
	}
	errno = EPROTO;
	return -1;
}

static int address_host(const char *host, unsigned short port, struct sockaddr_storage *addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;

	if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		return 0;
	}
	if (inet_pton(AF_INET6, host, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		return 0;
	}
	return -1;
}

int place_address(const char *text, bool any, struct sockaddr_storage *addr)
{
	char host[INET6_ADDRSTRLEN + 3] = "0.0.0.0", *name = host;
	const char *colon = strrchr(text, ':');
	const char *number = colon ? colon + 1 : text;
	size_t len = colon ? colon - text : 0;
	unsigned long port;
	char *end;

	memset(addr, 0, sizeof(*addr));
	port = strtoul(number, &end, 10);
	if (!colon && !any)
		return fail("'%s' is no address: HOST:PORT is needed", text);
	if (end == number || *end || !port || port > 65535)
		return fail("'%s' does not end with the number of a port", text);
	if (len && len < sizeof(host)) {
		memcpy(host, text, len);
		host[len] = 0;
	}
	if (*name == '[' && host[len - 1] == ']') {
		host[len - 1] = 0;
		name++;
	}
	if (len >= sizeof(host) || (colon && !len) || address_host(name, port, addr))
		return fail("'%.*s' is no address in numbers, like 192.0.2.1 or [2001:db8::1]",
			    (int)len, text);
	return 0;
}

/* A machine that goes down does not say so: it has gone when it has not answered that long. */
void place_keep_asking(int fd)
{
	int on = 1, idle = PLACE_PATIENCE / 3, every = PLACE_PATIENCE / 6, times = 4;
	unsigned int patience = PLACE_PATIENCE * 1000;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof(times));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof(patience));
}

/* There may be no receiver yet: that is found by the first connection. */
static int peer_connect(struct place *place)
{
	int fd = socket(place->peer.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval time = { .tv_sec = PLACE_PATIENCE };

	if (fd < 0)
		return fail("no socket: %m");
	place_keep_asking(fd);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
	if (connect(fd, (struct sockaddr *)&place->peer, sizeof(place->peer))) {
		fail("%s does not answer: %m%s", place->path, place->control < 0 ?
		     ". There, run etch-record -l PORT -o DIR" : place_advice(errno));
		close(fd);
		return -1;
	}
	return fd;
}

/* Nobody is at the other end of a connection. */
static bool peer_closed(int err)
{
	return err == EPIPE || err == ECONNRESET || err == ECONNREFUSED;
}

/* The receiver has to have got @bytes, and to say so. @line: what it says. */
static int peer_answer_line(struct place *place, const char *what, int fd,
			    unsigned long long bytes, char *line)
{
	unsigned long long got;
	int ret = read_text_line(fd, line, PLACE_ANSWER);

	if (!ret)
		errno = ECONNRESET;
	if (ret <= 0) {
		if (fd == place->control && peer_closed(errno))
			place->gone = true;
		return fail("%s does not say that it has %s: %m%s", place->path, what,
			    place_advice(errno));
	}
	if (sscanf(line, "ok %llu", &got) != 1)
		return fail("%s, of %s: %s", place->path, what, line);
	if (got != bytes)
		return fail("%s has %llu bytes of %s, not %llu", place->path, got, what, bytes);
	return 0;
}

static int peer_answer(struct place *place, const char *what, int fd, unsigned long long bytes)
{
	char line[PLACE_ANSWER];

	return peer_answer_line(place, what, fd, bytes, line);
}

int place_receiver(struct place *place, const char *address)
{
	place->path = address;
	place->dir = -1;
	place->control = -1;
	if (place_address(address, false, &place->peer))
		return -1;
	place->control = peer_connect(place);
	return place->control < 0 ? -1 : 0;
}

/*
 * On the first connection. @what begins the line, and is what messages call it. @answer has
 * PLACE_ANSWER bytes.
 */
static int peer_text(struct place *place, const char *what, const char *text, size_t len,
		     char *answer)
{
	char line[64];

	if (place->gone || place->refused)
		return -1;
	snprintf(line, sizeof(line), "%s %zu\n", what, len);
	/* If it cannot be sent, the answer, or that there is none, says why. */
	if (!write_all(place->control, line, strlen(line)))
		write_all(place->control, text, len);
	place->refused = peer_answer_line(place, what, place->control, len, answer);
	return place->refused ? -1 : 0;
}

static const char * const note_names[] = { "formats", "symbols", "tasks", "account", "command" };

#define NOTES	(sizeof(note_names) / sizeof(*note_names))

/* A bit for each note that the receiver takes, by its answer to metadata. */
static unsigned int peer_notes(char *answer)
{
	unsigned int takes = 0;
	char *rest = strstr(answer, " notes "), *word;

	while ((word = strsep(&rest, " ")))
		for (size_t i = 0; i < NOTES; i++)
			if (!strcmp(word, note_names[i]))
				takes |= 1 << i;
	return takes;
}

static int peer_metadata(struct place *place, const char *text, size_t len)
{
	char answer[PLACE_ANSWER];

	if (peer_text(place, "metadata", text, len, answer))
		return -1;
	place->takes = peer_notes(answer);
	return 0;
}

static bool peer_takes(const struct place *place, const char *name)
{
	for (size_t i = 0; i < NOTES; i++)
		if (!strcmp(name, note_names[i]))
			return place->takes & 1 << i;
	return false;
}

static int peer_note(struct place *place, const char *name, const char *text, size_t len)
{
	char what[32], answer[PLACE_ANSWER];

	if (!peer_takes(place, name)) {
		if (!place->lacks_notes)
			say("%s is an older receiver, which keeps no %s: readers of the trace will show numbers where they show names otherwise",
			    place->path, name);
		place->lacks_notes = true;
		return 0;
	}
	snprintf(what, sizeof(what), "note %s", name);
	return peer_text(place, what, text, len, answer);
}

static int peer_file(struct place *place, const char *name)
{
	int fd = place->gone ? -1 : peer_connect(place);
	char line[64];

	if (fd < 0)
		return -1;
	snprintf(line, sizeof(line), "%s\n", name);
	if (!write_all(fd, line, strlen(line)))
		return fd;
	fail("%s cannot be sent to %s: %m%s", name, place->path, place_advice(errno));
	close(fd);
	return -1;
}

static int peer_file_end(struct place *place, const char *name, int fd, unsigned long long bytes)
{
	int ret = -1;

	/* It fails if the other end has gone; the answer says more. */
	shutdown(fd, SHUT_WR);
	if (!place->gone)
		ret = peer_answer(place, name, fd, bytes);
	close(fd);
	return ret;
}

static int peer_end(struct place *place)
{
	int ret = -1;

	if (!place->gone && !place->refused) {
		write_all(place->control, "end\n", 4);
		ret = peer_answer(place, "the end", place->control, 0);
	}
	close(place->control);
	return ret;
}

int place_gone(struct place *place)
{
	if (place->gone || place->refused)
		return -1;
	place->gone = true;
	return fail("%s has closed the connection: the receiver has gone", place->path);
}

/* ---- Either ---- */

const char *place_advice(int err)
{
	if (peer_closed(err))
		return ": the receiver has gone";
	switch (err) {
	case ENOSPC:
	case EDQUOT:
		return ": make room there, or record elsewhere (-o)";
	case EFBIG:
		return ": a file may not grow more; see ulimit -f";
	case EAGAIN:
	case ETIMEDOUT:
		return ": the receiver has taken nothing for too long";
	default:
		return "";
	}
}

int place_metadata(struct place *place, const char *text, size_t len)
{
	return place->dir < 0 ? peer_metadata(place, text, len) :
				folder_metadata(place, text, len);
}

bool place_may_note(const char *name)
{
	for (size_t i = 0; i < NOTES; i++)
		if (!strcmp(name, note_names[i]))
			return true;
	return false;
}

const char *place_note_name(unsigned int i)
{
	return i < NOTES ? note_names[i] : NULL;
}

int place_note(struct place *place, const char *name, const char *text, size_t len)
{
	return place->dir < 0 ? peer_note(place, name, text, len) :
				folder_note(place, name, text, len);
}

int place_file(struct place *place, const char *name)
{
	int fd;

	if (place->dir < 0)
		return peer_file(place, name);
	fd = openat(place->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? fail("%s/%s cannot be made: %m", place->path, name) : fd;
}

int place_file_end(struct place *place, const char *name, int fd, unsigned long long bytes)
{
	return place->dir < 0 ? peer_file_end(place, name, fd, bytes) :
				folder_file_end(place, name, fd, bytes);
}

int place_end(struct place *place)
{
	if (place->dir < 0)
		return peer_end(place);
	if (place->notes > 0) {
		if (place->sync)
			fsync(place->notes);
		close(place->notes);
	}
	if (place->sync && fsync(place->dir))
		return fail("%s may not be on the disk: %m", place->path);
	close(place->dir);
	return 0;
}

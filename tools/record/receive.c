// SPDX-License-Identifier: GPL-2.0
/*
 * The other end of a recording that is sent: one trace into one folder (see place.c).
 *
 * A thread for each connection. The first that sends metadata is the recorder's own; files
 * are taken after that. All is over when that connection is, and the others are, too.
 * Nothing is asked of who connects: listen on an address that only friends can reach.
 */
#include "record.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

#define RECEIVE_TEXT		(256 << 20)	/* bytes, and more is a mistake */
#define RECEIVE_PATIENCE	10		/* seconds for a connection to say what it is */

/**
 * struct receiver - what all connections share
 * @place: the folder
 * @lock: of the rest
 * @list: the connections
 * @began: metadata came
 * @over: the connection of the metadata is closed
 * @failed: something is missing
 * @news: an eventfd: a connection is closed
 */
struct receiver {
	struct place *place;
	pthread_mutex_t lock;
	struct connection *list;
	bool began, over, failed;
	int news;
};

/**
 * struct connection - a thread, and what it reads from
 * @next: in the receiver's list
 * @receiver: the receiver
 * @fd: the socket
 */
struct connection {
	struct connection *next;
	struct receiver *receiver;
	int fd;
};

static void answer(struct connection *c, int ret, unsigned long long bytes)
{
	char line[100];

	snprintf(line, sizeof(line),
		 ret ? "it could not be written whole: see what the receiver says\n" : "ok %llu\n",
		 bytes);
	(void)!write_all(c->fd, line, strlen(line));
}

/* Metadata is in its place. It names the notes that may follow. */
static void answer_with_notes(struct connection *c, unsigned long long bytes)
{
	const char *name;
	char line[200];
	int len = snprintf(line, sizeof(line), "ok %llu notes", bytes);

	for (unsigned int i = 0; (name = place_note_name(i)); i++)
		len += snprintf(line + len, sizeof(line) - len, " %s", name);
	line[len++] = '\n';
	(void)!write_all(c->fd, line, len);
}

/* ---- Metadata ---- */

/* Accepts files from here on. Called before the answer that permits the sender to send them. */
static void receiver_begin(struct receiver *r)
{
	pthread_mutex_lock(&r->lock);
	r->began = true;
	pthread_mutex_unlock(&r->lock);
}

/* Metadata, if @note is empty, or a note of that name. */
static int receive_text(struct connection *c, const char *note, unsigned long long len)
{
	const char *name = *note ? note : "metadata";
	char *text = len <= RECEIVE_TEXT ? malloc(len + 1) : NULL;
	int ret = -1;

	if (!text)
		fail("%s of %llu bytes is too much", name, len);
	else if (read_all(c->fd, text, len) <= 0 && len)
		fail("%s was cut off; the older one is kept", name);
	else if (*note)
		ret = place_note(c->receiver->place, note, text, len);
	else
		ret = place_metadata(c->receiver->place, text, len);
	free(text);
	if (!ret && !*note) {
		receiver_begin(c->receiver);
		answer_with_notes(c, len);
		return 0;
	}
	answer(c, ret, len);
	return ret;
}

/* @line is the first one. */
static int receive_control(struct connection *c, char *line, size_t room)
{
	unsigned long long len;
	char note[32];

	do {
		*note = 0;
		if (!strcmp(line, "end")) {
			answer(c, 0, 0);
			return 0;
		}
		if (sscanf(line, "metadata %llu", &len) != 1 &&
		    (sscanf(line, "note %31s %llu", note, &len) != 2 || !place_may_note(note)))
			return fail("'%s' instead of metadata", line);
		if (receive_text(c, note, len))
			return -1;
	} while (read_text_line(c->fd, line, room) > 0);
	return fail("the recorder has gone without a word: the trace is not complete");
}

/* ---- A file ---- */

static int receive_begin_packet(struct pump *pump, const struct etch_packet_header *header)
{
	return 0;
}

static int receive_packets(struct connection *c, const char *name, int to)
{
	struct pollfd readable = { .fd = c->fd, .events = POLLIN };
	enum pump_state state = PUMP_FAILED;
	struct pump pump;
	int ret;

	if (pump_open(&pump, name, c->fd)) {
		close(to);
		return -1;
	}
	pump.begin = receive_begin_packet;
	pump.to = to;
	do {
		poll(&readable, 1, -1);
		state = pump_turn(&pump);
	} while (state == PUMP_MOVED || state == PUMP_EMPTY);
	ret = place_file_end(c->receiver->place, name, to, pump.bytes);
	if (state != PUMP_ENDED)
		ret = -1;
	answer(c, ret, pump.bytes);
	pump_close(&pump);
	return ret;
}

static int receive_file(struct connection *c, const char *line)
{
	char kind[8], name[32];
	bool began;
	int cpu, to;

	pthread_mutex_lock(&c->receiver->lock);
	began = c->receiver->began;
	pthread_mutex_unlock(&c->receiver->lock);
	if (!began || sscanf(line, "%7[a-z]%d", kind, &cpu) != 2 || cpu < 0 ||
	    (strcmp(kind, "cpu") && strcmp(kind, "user"))) {
		say("a connection that is not a recorder's is closed");
		return 0;
	}
	snprintf(name, sizeof(name), "%s%d", kind, cpu);
	to = place_file(c->receiver->place, name);
	if (to < 0) {
		answer(c, -1, 0);
		return -1;
	}
	return receive_packets(c, name, to);
}

/* ---- Connections ---- */

static void connection_wait_long(struct connection *c, bool yes)
{
	struct timeval time = { .tv_sec = yes ? 0 : RECEIVE_PATIENCE };

	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

static void connection_close(struct connection *c, bool over, bool failed)
{
	struct receiver *r = c->receiver;
	struct connection **at;

	pthread_mutex_lock(&r->lock);
	for (at = &r->list; *at != c; at = &(*at)->next)
		;
	*at = c->next;
	r->over |= over;
	r->failed |= failed;
	close(c->fd);
	/* Under the lock: after it, the waiting thread may have returned, and @r be gone. */
	eventfd_write(r->news, 1);
	pthread_mutex_unlock(&r->lock);
	free(c);
}

static void *connection_run(void *arg)
{
	struct connection *c = arg;
	bool control = false;
	char line[100];
	int ret = 0;

	connection_wait_long(c, false);
	if (read_text_line(c->fd, line, sizeof(line)) > 0) {
		connection_wait_long(c, true);
		pthread_mutex_lock(&c->receiver->lock);
		control = !c->receiver->began && !strncmp(line, "metadata ", 9);
		pthread_mutex_unlock(&c->receiver->lock);
		ret = control ? receive_control(c, line, sizeof(line)) : receive_file(c, line);
	}
	connection_close(c, control, ret);
	return NULL;
}

static void connection_open(struct receiver *r, int socket)
{
	struct connection *c = calloc(1, sizeof(*c));
	int fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC);
	pthread_t thread;

	if (!c || fd < 0) {
		free(c);
		if (fd >= 0)
			close(fd);
		else if (errno != EINTR && errno != ECONNABORTED)
			usleep(100000);	/* it waits until there is room for it */
		return;
	}
	place_keep_asking(fd);
	c->receiver = r;
	c->fd = fd;
	pthread_mutex_lock(&r->lock);
	c->next = r->list;
	r->list = c;
	pthread_mutex_unlock(&r->lock);
	if (pthread_create(&thread, NULL, connection_run, c))
		connection_close(c, false, true);
	else
		pthread_detach(thread);
}

/* For each connection that is still sending, it looks as if the file had ended. */
static void receiver_interrupt(struct receiver *r)
{
	pthread_mutex_lock(&r->lock);
	r->over = true;
	r->failed = true;
	for (struct connection *c = r->list; c; c = c->next)
		shutdown(c->fd, SHUT_RD);
	pthread_mutex_unlock(&r->lock);
}

static bool receiver_done(struct receiver *r)
{
	bool done;

	pthread_mutex_lock(&r->lock);
	done = r->over && !r->list;
	pthread_mutex_unlock(&r->lock);
	return done;
}

static int receiver_listen(const char *address)
{
	struct sockaddr_storage addr;
	int fd, on = 1;

	if (place_address(address, true, &addr))
		return -1;
	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail("no socket: %m");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, SOMAXCONN)) {
		fail("cannot listen on %s: %m", address);
		close(fd);
		return -1;
	}
	return fd;
}

int receive(const char *address, struct place *place)
{
	struct receiver r = { .place = place, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct pollfd fds[3] = {};
	sigset_t signals;

	signals_that_end(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	r.news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fds[0].fd = receiver_listen(address);
	fds[1].fd = r.news;
	fds[2].fd = signalfd(-1, &signals, SFD_CLOEXEC);
	for (int i = 0; i < 3; i++) {
		if (fds[i].fd < 0)
			return -1;
		fds[i].events = POLLIN;
	}
	say("listening on %s", address);
	while (!receiver_done(&r)) {
		struct signalfd_siginfo info;
		eventfd_t count;

		poll(fds, 3, -1);
		if (fds[0].revents)
			connection_open(&r, fds[0].fd);
		if (fds[1].revents)
			eventfd_read(r.news, &count);
		if (fds[2].revents && read(fds[2].fd, &info, sizeof(info)) > 0)
			receiver_interrupt(&r);
	}
	close(fds[0].fd);
	if (place_end(place) || r.failed)
		return fail("the trace in %s is not complete", place->path);
	say("the trace is in %s", place->path);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * One file for one page: see serve.h.
 *
 * Browsers open connections before they need them, so each has a thread of its own, and one
 * that asks for nothing keeps nobody waiting.
 */
#include "verbs/etch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "verbs/serve.h"

#define SERVE_REQUEST	8192	/* bytes of a request's head */
#define SERVE_PATIENCE	30	/* seconds without a byte */

/* Behind the first line of every answer. */
#define SERVE_ALLOW							\
	"Access-Control-Allow-Origin: " SERVE_PAGE "\r\n"		\
	"Access-Control-Allow-Private-Network: true\r\n"		\
	"Access-Control-Allow-Methods: GET\r\n"				\
	"Cache-Control: no-cache\r\n"					\
	"Connection: close\r\n"

/**
 * struct served - the file that browsers ask for
 * @path: its name
 * @fd: the file
 * @size: bytes of it
 * @done: an eventfd: somebody has all of it
 */
struct served {
	const char *path;
	int fd;
	off_t size;
	int done;
};

struct connection {
	const struct served *served;
	int fd;
};

int serve_open(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(SERVE_PORT),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd >= 0 && !bind(fd, (void *)&addr, sizeof(addr)) && !listen(fd, 16))
		return fd;
	trouble("Port %d of this machine, the only one that Perfetto's page looks at: %m%s",
		SERVE_PORT, errno == EADDRINUSE ? ". End the program that uses it" : "");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Reads the head of a request. False: it is none, or does not come. */
static bool read_request(int fd, char *head)
{
	size_t have = 0;
	ssize_t n;

	while (have < SERVE_REQUEST - 1) {
		n = read(fd, head + have, SERVE_REQUEST - 1 - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		have += n;
		head[have] = 0;
		if (strstr(head, "\r\n\r\n"))
			return true;
	}
	return false;
}

static bool send_text(int fd, const char *text)
{
	return send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

static bool send_file(int fd, const struct served *served)
{
	char head[1024];
	off_t at = 0;

	snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\n" SERVE_ALLOW
		 "Content-Type: application/octet-stream\r\nContent-Length: %lld\r\n\r\n",
		 (long long)served->size);
	if (!send_text(fd, head))
		return false;
	while (at < served->size)
		if (sendfile(fd, served->fd, &at, served->size - at) <= 0 && errno != EINTR)
			return false;
	return true;
}

/* Until the other end has closed, too: only then has it got all. */
static bool wait_for_close(int fd)
{
	char rest[512];
	ssize_t n;

	shutdown(fd, SHUT_WR);
	while ((n = read(fd, rest, sizeof(rest))) > 0)
		;
	return !n;
}

/* Whether it asks by @method for the file. */
static bool asks(const char *head, const char *method, const char *path)
{
	size_t len = strlen(method), more = strlen(path);

	return !strncmp(head, method, len) && !strncmp(head + len, path, more) &&
	       strchr(" ?", head[len + more]);
}

/* Whether another site's page asks. Browsers say which, and programs do not. */
static bool foreign(const char *head)
{
	const char *at = strcasestr(head, "\r\nOrigin: ");
	size_t len = strlen(SERVE_PAGE);

	if (!at)
		return false;
	at += strlen("\r\nOrigin: ");
	return strncmp(at, SERVE_PAGE, len) || at[len] != '\r';
}

static void answer(const struct served *served, int fd, const char *head)
{
	if (foreign(head)) {
		send_text(fd, "HTTP/1.1 403 Forbidden\r\n" SERVE_ALLOW
			  "Content-Length: 0\r\n\r\n");
		wait_for_close(fd);
		return;
	}
	if (asks(head, "GET ", served->path)) {
		if (send_file(fd, served) && wait_for_close(fd))
			eventfd_write(served->done, 1);
		return;
	}
	/* The browser asks whether the page may. */
	if (!strncmp(head, "OPTIONS ", 8))
		send_text(fd, "HTTP/1.1 204 No Content\r\n" SERVE_ALLOW "\r\n");
	else
		send_text(fd, "HTTP/1.1 404 Not Found\r\n" SERVE_ALLOW
			  "Content-Length: 0\r\n\r\n");
	wait_for_close(fd);
}

static void *serve_connection(void *arg)
{
	struct connection *c = arg;
	struct timeval patience = { .tv_sec = SERVE_PATIENCE };
	char head[SERVE_REQUEST];

	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (read_request(c->fd, head))
		answer(c->served, c->fd, head);
	close(c->fd);
	free(c);
	return NULL;
}

static void serve_accept(const struct served *served, int listener)
{
	struct connection *c = malloc(sizeof(*c));
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	pthread_t thread;

	if (fd < 0 || !c) {
		if (fd >= 0)
			close(fd);
		free(c);
		return;
	}
	*c = (struct connection){ served, fd };
	if (!pthread_create(&thread, NULL, serve_connection, c)) {
		pthread_detach(thread);
		return;
	}
	close(fd);
	free(c);
}

int serve_until_fetched(int listener, const char *path, int fd)
{
	/* Threads may be left, of connections that ask for nothing. */
	static struct served served;
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct stat st;

	served = (struct served){ .path = path, .fd = fd };
	served.done = eventfd(0, EFD_CLOEXEC);
	if (served.done < 0 || fstat(fd, &st))
		return trouble("The trace cannot be served: %m");
	served.size = st.st_size;
	signal(SIGPIPE, SIG_IGN);
	fds[0].fd = listener;
	fds[1].fd = served.done;
	while (!fds[1].revents) {
		if (poll(fds, 2, -1) > 0 && fds[0].revents)
			serve_accept(&served, listener);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "storm_read.h"

#define READ_BYTES	(1 << 18)
#define WINDOW_SLOTS	4
#define WINDOW_STRIDE	(64 * 1024)
#define WINDOW_BYTES	(WINDOW_SLOTS * WINDOW_STRIDE)

static char read_buf[READ_BYTES + 1];

/* Opens a file, or returns -1 if open() failed with one of the errors @may. */
static int open_any(struct worker *w, const char *tree, const char *file, int flags,
		    const int *may)
{
	int fd = open(path_of(tree, file), O_RDONLY | O_CLOEXEC | flags);

	if (fd < 0)
		worker_did(w, errno, may, path_of(tree, file));
	return fd;
}

/* Reads @times times, or up to the end. */
static void read_any(struct worker *w, const char *tree, const char *file, unsigned int times,
		     const int *may)
{
	int fd = open_any(w, tree, file, O_NONBLOCK, may);
	ssize_t n = 1;

	if (fd < 0)
		return;
	while (times-- && n > 0)
		n = read(fd, read_buf, 1 + dice(READ_BYTES));
	worker_did(w, n < 0 ? errno : 0, may, path_of(tree, file));
	close(fd);
}

void op_read_trace(struct worker *w)
{
	read_any(w, any_tree(), file_or_cpus("trace"), 1 + dice(20), MAY(0));
}

void op_read_pipe(struct worker *w)
{
	read_any(w, loose_tree(), file_or_cpus("trace_pipe"), 1 + dice(5), MAY(EAGAIN));
}

void op_read_lists(struct worker *w)
{
	static const char * const files[] = {
		"metadata", "set_event", "events/enable", "events/sched/enable", "error_log",
		"events/sched/sched_switch/format", "events/sched/sched_switch/id",
		"events/sched/sched_switch/enable", "trace_clock", "buffer_size_kb",
		"buffer_subbuf_size_kb", "buffer_mode", "snapshot", "tracing_on",
	};

	read_any(w, any_tree(), dice(4) ? files[dice(ARRAY_LEN(files))] : file_of_cpu("stats"),
		 1000, MAY(0));
	read_any(w, ETCH, "available_events", 1000, MAY(0));
}

/* Files that may be removed at any time. */
void op_visit(struct worker *w)
{
	static const char * const files[] = {
		"trace", "trace_pipe", "metadata", "events/enable",
		"events/sched/sched_switch/format", "per_cpu/cpu0/stats",
		"per_cpu/cpu0/trace_pipe_raw",
	};

	read_any(w, FLEETING, files[dice(ARRAY_LEN(files))], 1, MAY(ENOENT, ENODEV, EAGAIN));
	read_any(w, ETCH, "events/etch_sample/etch_sample_greet/format", 2,
		 MAY(ENOENT, ENODEV));
}

/* Folders, of which one may go while it is being listed. */
void op_list(struct worker *w)
{
	static const char * const folders[] = {
		ETCH "/instances", ETCH "/events", ETCH "/events/etch_sample", FLEETING,
		FLEETING "/events", FLEETING "/events/sched", FLEETING "/per_cpu",
	};
	const char *folder = folders[dice(ARRAY_LEN(folders))];
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n = fd < 0 ? -1 : 1;

	while (n > 0)
		n = syscall(SYS_getdents64, fd, read_buf, 300 + dice(4000));
	worker_did(w, n < 0 ? errno : 0, MAY(ENOENT), folder);
	if (fd >= 0)
		close(fd);
}

/* The kernel forgets all files and folders that nobody uses. */
void op_forget(struct worker *w)
{
	worker_did(w, write_file("/proc/sys/vm", "drop_caches", "2"), MAY(0), "drop_caches");
}

/* ---- Packets ---- */

/* One read(). Returns bytes, 0 at the end, -1 with errno. */
static ssize_t take_read(struct worker *w, int fd)
{
	size_t have = 0;
	ssize_t n = read(fd, read_buf, READ_BYTES);

	/* Whole packets, and a part of one that did not fit: read its rest. */
	while (n > 0) {
		have += n;
		n = records_add(&w->records, read_buf, have);
		have -= n;
		memmove(read_buf, read_buf + n, have);
		if (!have)
			return 1;
		n = read(fd, read_buf + have, READ_BYTES - have);
	}
	return n;
}

static ssize_t take_splice(struct worker *w, int fd)
{
	size_t have = 0, used;
	int pipes[2];
	ssize_t n, ret;

	if (pipe(pipes))
		worker_fail(w, "pipe: %s", strerror(errno));
	/* A full pipe may hold a part of a packet: go on until its rest came. */
	do {
		ret = splice(fd, NULL, pipes[1], NULL, READ_BYTES / 4, SPLICE_F_NONBLOCK);
		if (ret <= 0)
			break;
		for (n = 0; n < ret; n += used) {
			used = read(pipes[0], read_buf + have, ret - n);
			have += used;
		}
		used = records_add(&w->records, read_buf, have);
		have -= used;
		memmove(read_buf, read_buf + used, have);
	} while (have);
	if (have)
		records_wrong(&w->records, "the end of a packet is missing");
	n = errno;
	close(pipes[0]);
	close(pipes[1]);
	errno = n;
	return ret;
}

static ssize_t take_window(struct worker *w, int fd)
{
	void *map = mmap(NULL, WINDOW_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	struct etch_window window = {
		.address = (unsigned long)map, .packets = WINDOW_SLOTS,
		.stride = WINDOW_STRIDE,
	};
	int ret, err;

	if (map == MAP_FAILED)
		worker_fail(w, "mmap: %s", strerror(errno));
	ret = ioctl(fd, ETCH_IOC_WINDOW, &window);
	err = errno;
	for (unsigned int i = 0; !ret && i < window.packets; i++) {
		struct etch_packet_header *head = map + i * WINDOW_STRIDE;

		if (records_add(&w->records, head, head->packet_size / 8) != head->packet_size / 8)
			records_wrong(&w->records, "half a packet in the window");
	}
	munmap(map, WINDOW_BYTES);
	errno = err;
	return ret ?: (int)window.packets;
}

static ssize_t take_any(struct worker *w, int fd)
{
	switch (dice(3)) {
	case 0:
		return take_read(w, fd);
	case 1:
		return take_splice(w, fd);
	default:
		return take_window(w, fd);
	}
}

/* Beside other taking readers. A file's first packet counts the losses before it. */
void op_take(struct worker *w)
{
	int fd = open_any(w, loose_tree(), file_of_cpu("trace_pipe_raw"), O_NONBLOCK, MAY(0));
	ssize_t n = 1;

	memset(&w->records.seen, 0, sizeof(w->records.seen));
	for (int i = dice(8); i >= 0 && n > 0; i--)
		n = take_any(w, fd);
	worker_did(w, n < 0 ? errno : 0, MAY(EAGAIN), "trace_pipe_raw");
	close(fd);
}

/* The only taking reader of RAW's CPU @arg, until the end. */
void op_collect(struct worker *w)
{
	static int fd = -1;
	ssize_t n;

	if (fd < 0) {
		fd = packets_open(RAW, w->arg, O_NONBLOCK);
		if (fd < 0)
			worker_fail(w, "trace_pipe_raw: %s", strerror(errno));
	}
	n = take_any(w, fd);
	worker_did(w, n < 0 ? errno : 0, MAY(EAGAIN), "trace_pipe_raw");
	/* Tracing may be off for a moment: then there is an end, and more later. */
	w->ended = !n && storm_phase() == STORM_REST;
}

void op_read_snapshot(struct worker *w)
{
	int fd = open_any(w, any_tree(), file_of_cpu("snapshot"), 0, MAY(ENODATA));
	ssize_t n;

	if (fd < 0)
		return;
	memset(&w->records.seen, 0, sizeof(w->records.seen));
	n = take_read(w, fd);
	worker_did(w, n < 0 ? errno : 0, MAY(ESTALE), "snapshot");
	close(fd);
}

/* ---- Waiting ---- */

#define WAIT_MS		100

void op_poll(struct worker *w)
{
	bool text = dice(2);
	struct pollfd p = { .events = POLLIN };

	p.fd = open_any(w, any_tree(), text ? file_or_cpus("trace_pipe") :
					      file_of_cpu("trace_pipe_raw"), 0, MAY(0));
	worker_did(w, poll(&p, 1, dice(WAIT_MS)) < 0 ? errno : 0, MAY(0), "poll");
	if (p.revents & ~(POLLIN | POLLRDNORM | POLLHUP))
		worker_fail(w, "poll: events 0x%x", p.revents);
	close(p.fd);
}

static void be_interrupted(int sig)
{
}

/*
 * Reads that wait until a signal ends them. The signal repeats, because a single one could
 * come before the read waits.
 */
static void wait_any(struct worker *w, const char *tree, const char *file)
{
	struct sigaction action = { .sa_handler = be_interrupted };
	struct itimerval timer = { { 0, WAIT_MS * 1000 }, { 0, WAIT_MS * 1000 } };
	int fd = open_any(w, tree, file, 0, MAY(0));
	ssize_t n = 1;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = dice(8); i >= 0 && n > 0; i--)
		n = read(fd, read_buf, READ_BYTES);
	worker_did(w, n < 0 && errno != EINTR ? errno : 0, MAY(0), path_of(tree, file));
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	close(fd);
}

void op_wait_text(struct worker *w)
{
	wait_any(w, loose_tree(), file_or_cpus("trace_pipe"));
}

void op_wait_packets(struct worker *w)
{
	wait_any(w, loose_tree(), file_of_cpu("trace_pipe_raw"));
}

/* ---- The recorder ---- */

#define RECORDED	"/tmp/etch-storm-record"

/* Where the recorder is: beside the installed test, or in its folder of the build; or NULL. */
const char *storm_recorder(void)
{
	static const char * const paths[] = { "./etch-record", "../record/etch-record" };

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		if (!access(paths[i], X_OK))
			return paths[i];
	return NULL;
}

/* Records for a second, in an instance of its own. Prints the recorder's errors on failure. */
void op_record(struct worker *w)
{
	static const char * const files[] = {
		"metadata", ".metadata.new", ".etch/account", ".etch/command", ".etch/formats",
		".etch/symbols", ".etch/tasks",
	};
	char said[128] = "";
	int status, out[2];
	pid_t pid;

	if (pipe(out))
		worker_fail(w, "pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], 2);
		execl(storm_recorder(), "etch-record", "-q", "-e", "sched", "-d", "1",
		      "-o", RECORDED, NULL);
		_exit(99);
	}
	close(out[1]);
	while (read(out[0], said + strlen(said), sizeof(said) - strlen(said) - 1) > 0)
		;
	close(out[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		worker_fail(w, "etch-record: 0x%x: %s", status, said);
	for (int cpu = 0; cpu < storm->nr_cpus; cpu++) {
		snprintf(said, sizeof(said), "cpu%d", cpu);
		unlink(path_of(RECORDED, said));
	}
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		unlink(path_of(RECORDED, files[i]));
	rmdir(path_of(RECORDED, ".etch"));
	worker_did(w, rmdir(RECORDED) ? errno : 0, MAY(0), "rmdir " RECORDED);
}

/* ---- Text ---- */

/* The state of TEXT's only reader. */
static struct text_seen {
	unsigned long long last;	/* when the newest record was */
	size_t have;			/* bytes of a line in read_buf that has no end yet */
} text_seen;

static void text_line(struct worker *w, char *line)
{
	struct record r;

	if (strstr(line, "[etch: "))
		records_wrong(&w->records, "%s", line);
	if (!text_parse_line(line, &r))
		return;
	w->records.records++;
	if (r.time < text_seen.last)
		records_wrong(&w->records, "%llu behind %llu: %s", r.time, text_seen.last,
			      r.event);
	text_seen.last = r.time;
}

static void text_lines(struct worker *w)
{
	char *line = read_buf, *end;

	read_buf[text_seen.have] = 0;
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		text_line(w, line);
	}
	text_seen.have -= line - read_buf;
	memmove(read_buf, line, text_seen.have);
}

/* The only taking reader of TEXT, until the end. */
void op_collect_text(struct worker *w)
{
	static int fd = -1;
	ssize_t n;

	if (fd < 0) {
		fd = open(TEXT "/trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			worker_fail(w, "trace_pipe: %s", strerror(errno));
	}
	n = read(fd, read_buf + text_seen.have, READ_BYTES - text_seen.have);
	worker_did(w, n < 0 ? errno : 0, MAY(EAGAIN), "trace_pipe");
	if (n > 0) {
		text_seen.have += n;
		text_lines(w);
	}
	w->ended = !n && storm_phase() == STORM_REST;
}

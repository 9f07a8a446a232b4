// SPDX-License-Identifier: GPL-2.0
/*
 * A page of user memory may take any time to arrive: userfaultfd(2), or a file system in
 * user space, delays it. A call that reads into such memory, or writes from it, waits. All
 * other callers go on, also in the same instance. When the page is there, the call succeeds.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "call.h"
#include "etch_test.h"
#include "packets.h"

#define TREE		ETCH "/instances/etch-faulting"
#define OTHER		ETCH "/instances/etch-faulting-too"
#define RAW		"per_cpu/cpu0/trace_pipe_raw"
#define EVENT		"events/sched/sched_process_fork/enable"
#define MARKS		200
#define SLOTS		4

/* Ways to access user memory. Each returns the number of bytes or packets, or -1. */
static ssize_t by_read(const struct call *c)
{
	return read(c->fd, c->data, PAGE);
}

static ssize_t by_write(const struct call *c)
{
	return write(c->fd, c->data, 1);
}

static ssize_t by_window(const struct call *c)
{
	const struct etch_window *window = c->data;

	return ioctl(c->fd, ETCH_IOC_WINDOW, c->data) ?: (ssize_t)window->packets;
}

static ssize_t by_splice(const struct call *c)
{
	return splice(c->fd, NULL, *(int *)c->data, NULL, PAGE, 0);
}

/* The content of the page when it arrives. */
static union {
	char text[LARGEST_PAGE];
	struct etch_window window;
} content;

FIXTURE(faulting) {
	int memory;		/* a userfaultfd: the kernel asks for pages here */
	struct call call;	/* its data is the page */
};

FIXTURE_VARIANT(faulting) {
	const char *tree, *file;
	ssize_t (*how)(const struct call *c);
};

#define CALL(name, of, path, way)	\
FIXTURE_VARIANT_ADD(faulting, name)	\
{					\
	.tree = of, .file = path, .how = way, \
}

CALL(trace, TREE, "trace", by_read);
CALL(trace_of_a_cpu, TREE, "per_cpu/cpu0/trace", by_read);
CALL(trace_pipe, TREE, "trace_pipe", by_read);
CALL(trace_pipe_of_a_cpu, TREE, "per_cpu/cpu0/trace_pipe", by_read);
CALL(raw, TREE, RAW, by_read);
CALL(raw_mapped, TREE, RAW, by_window);
CALL(snapshot, TREE, "per_cpu/cpu0/snapshot", by_read);
CALL(stats, TREE, "per_cpu/cpu0/stats", by_read);
CALL(metadata, TREE, "metadata", by_read);
CALL(set_event, TREE, "set_event", by_read);
CALL(available_events, ETCH, "available_events", by_read);
CALL(format, TREE, "events/sched/sched_process_fork/format", by_read);
CALL(error_log, TREE, "error_log", by_read);
CALL(marker_written, TREE, "trace_marker", by_write);
CALL(setting_written, TREE, "tracing_on", by_write);
CALL(event_written, TREE, EVENT, by_write);
/* Only if the kernel found the records of an earlier one. */
CALL(persist, ETCH, "persist/cpu0", by_read);
CALL(persist_metadata, ETCH, "persist/metadata", by_read);

/* A page that is missing until put_page(). */
static void *page_of(int memory)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	reg.range.start = (unsigned long)page;
	reg.range.len = PAGE;
	if (page == MAP_FAILED || ioctl(memory, UFFDIO_API, &api) ||
	    ioctl(memory, UFFDIO_REGISTER, &reg))
		give_up("userfaultfd");
	return page;
}

/* Fills the tree with packets, an enabled event, and an error in error_log. */
static int fill_tree(void)
{
	int mark = 0, err = packets_tree(TREE);

	packets_mark(TREE, &mark, MARKS);
	write_file(TREE, "trace_clock", "sundial");
	return err ?: write_file(TREE, EVENT, "1") ?: write_file(TREE, "snapshot", "1");
}

FIXTURE_SETUP(faulting)
{
	int mode = variant->how == by_write ? O_WRONLY : O_RDONLY;

	memset(self, 0, sizeof(*self));
	self->memory = -1;
	self->call = (struct call) { .fd = -1, .how = variant->how };
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access(ETCH "/persist/cpu0", F_OK) && !strncmp(variant->file, "persist", 7))
		SKIP(return, "nothing was left in reserved memory: etch_persist=");
	self->memory = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (self->memory < 0 && errno == ENOSYS)
		SKIP(return, "no userfaultfd(2): CONFIG_USERFAULTFD");
	ASSERT_LE(0, self->memory);
	self->call.data = page_of(self->memory);
	rmdir(OTHER);
	ASSERT_EQ(0, fill_tree());
	self->call.fd = open(path_of(variant->tree, variant->file), mode | O_CLOEXEC);
	ASSERT_LE(0, self->call.fd);
}

FIXTURE_TEARDOWN(faulting)
{
	close(self->memory);
	close(self->call.fd);
	rmdir(OTHER);
	rmdir(TREE);
}

/* Whether a call waits for @page. */
static bool is_wanted(int memory, const void *page)
{
	struct uffd_msg message;

	return read(memory, &message, sizeof(message)) == sizeof(message) &&
	       message.event == UFFD_EVENT_PAGEFAULT &&
	       message.arg.pagefault.address / PAGE * PAGE == (unsigned long)page;
}

static int put_page(int memory, void *page)
{
	struct uffdio_copy copy = {
		.dst = (unsigned long)page, .src = (unsigned long)&content, .len = PAGE,
	};

	return ioctl(memory, UFFDIO_COPY, &copy) ? errno : 0;
}

/* Uses another instance and this one. If a step waits, the test's timeout kills it. */
static void others_go_on(struct __test_metadata *_metadata)
{
	static const char * const files[] = {
		"set_event", "trace", "metadata", "per_cpu/cpu0/stats", "error_log",
	};

	ASSERT_EQ(0, mkdir(OTHER, 0700));
	EXPECT_EQ(0, write_file(OTHER, EVENT, "1"));
	EXPECT_EQ(0, rmdir(OTHER));
	EXPECT_EQ(0, write_file(TREE, EVENT, "0"));
	EXPECT_EQ(0, write_file(TREE, EVENT, "1"));
	EXPECT_EQ(0, write_file(TREE, "tracing_on", "0"));
	EXPECT_EQ(0, write_file(TREE, "tracing_on", "1"));
	EXPECT_EQ(0, packets_resize(TREE, 2 * BUFFER_PAGES));
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char *text = read_file(TREE, files[i]);

		EXPECT_NE(NULL, text)
			TH_LOG("%s: %s", files[i], strerror(errno));
		free(text);
	}
	EXPECT_EQ(0, overwrite_file(TREE, "trace", ""));
	EXPECT_EQ(EINVAL, write_file(TREE, "trace_clock", "hourglass"));
	/* For calls that have not taken any record yet. */
	EXPECT_EQ(0, write_file(TREE, "trace_marker", "more"));
	EXPECT_EQ(0, write_file(TREE, "flush", "1"));
}

/* splice() must not wait: it would hold the lock of its pipe, which the other end needs. */
static void splice_does_not_wait(struct __test_metadata *_metadata, int fd)
{
	struct call splices = { .fd = fd, .how = by_splice };
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	splices.data = &pipes[1];
	begin_call(&splices);
	ASSERT_TRUE(call_ends(&splices));
	EXPECT_EQ(-1, splices.ret);
	EXPECT_EQ(EAGAIN, splices.err);
	pthread_join(splices.thread, NULL);
	close(pipes[0]);
	close(pipes[1]);
}

TEST_F_TIMEOUT(faulting, others_go_on, 60)
{
	struct pollfd asks = { .fd = self->call.fd, .events = POLLIN };
	void *map = MAP_FAILED;

	content.text[0] = '1';
	if (self->call.how == by_window) {
		map = mmap(NULL, SLOTS * PAGE, PROT_READ, MAP_SHARED, self->call.fd, 0);
		ASSERT_NE(MAP_FAILED, map);
		content.window = (struct etch_window) {
			.address = (unsigned long)map, .packets = SLOTS, .stride = PAGE,
		};
	}
	begin_call(&self->call);
	ASSERT_TRUE(is_wanted(self->memory, self->call.data));
	others_go_on(_metadata);
	/* poll() on the same file does not wait, either. */
	EXPECT_LE(0, poll(&asks, 1, 0));
	if (self->call.how == by_read && !strcmp(variant->file, RAW))
		splice_does_not_wait(_metadata, self->call.fd);
	ASSERT_EQ(0, put_page(self->memory, self->call.data));
	ASSERT_EQ(0, pthread_join(self->call.thread, NULL));
	EXPECT_LT(0, self->call.ret)
		TH_LOG("%s", strerror(self->call.err));
}

TEST_HARNESS_MAIN

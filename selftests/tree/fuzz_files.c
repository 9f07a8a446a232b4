// SPDX-License-Identifier: GPL-2.0
/*
 * Random input to every writable file, in many ways. A file must accept, and then show, all
 * input that the documentation allows. It must refuse all other input with the errno of the
 * reason and a line in error_log that points at the mistake, and change nothing. The kernel
 * must log nothing meanwhile.
 *
 * ETCH_FUZZ_WRITES in the environment, or etch_test.fuzz_writes=N on the kernel's command
 * line, says how many writes; without it they go on for some seconds. See fuzz.h for the seed.
 */

#include <ctype.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

#include "etch_test.h"
#include "fuzz_oracle.h"
#include "fuzz_way.h"
#include "sample.h"

#define INSTANCE	ETCH "/instances/etch-fuzz"
#define DEFAULT_SECONDS	12
#define BATCH		128
#define SHOWN_MAX	(1 << 17)
#define MARKER_MAX	4096
/* In a small sub-buffer there is less room for it. */
#define MARKER_LEAST	(4096 - 256)
#define MARKER_NUMBER	4

/* A file that can be written. */
struct target {
	char *path;
	const char *tree;	/* whose error_log; NULL: it has none */
	const char *file;	/* its name from there */
	const struct fuzz_file *what;
	bool readable;
};

static struct {
	struct target targets[20000];
	size_t nr;
	size_t settings;	/* how many are no event's, and come first */
	size_t unknown;
} tree;

/* ---- The files ---- */

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct target *t = &tree.targets[tree.nr];
	size_t len = strlen(INSTANCE);

	if (type != FTW_F || !(st->st_mode & 0200) || tree.nr == ARRAY_LEN(tree.targets))
		return 0;
	t->what = fuzz_file_of(path);
	if (!t->what) {
		printf("# nothing is known of %s\n", path);
		tree.unknown++;
		return 0;
	}
	t->path = strdup(path);
	t->readable = st->st_mode & 0400;
	t->tree = strncmp(path, INSTANCE "/", len + 1) ? ETCH : INSTANCE;
	t->file = t->path + strlen(t->tree) + 1;
	if (!strncmp(path, RING_SAMPLE_FILES, strlen(RING_SAMPLE_FILES)))
		t->tree = NULL;
	tree.nr++;
	return 0;
}

static bool is_setting(const struct target *t)
{
	return !strstr(t->path, "/events/");
}

static int settings_first(const void *a, const void *b)
{
	return is_setting(b) - is_setting(a);
}

static void find_targets(void)
{
	tree.nr = 0;
	tree.settings = 0;
	tree.unknown = 0;
	nftw(ETCH, visit, 16, FTW_PHYS);
	nftw(RING_SAMPLE_FILES, visit, 16, FTW_PHYS);
	qsort(tree.targets, tree.nr, sizeof(tree.targets[0]), settings_first);
	while (tree.settings < tree.nr && is_setting(&tree.targets[tree.settings]))
		tree.settings++;
}

/* Most files belong to events, and are all alike: half of the writes go to the others. */
static const struct target *any_target(void)
{
	return &tree.targets[fuzz_below(fuzz_once_in(2) ? tree.nr : tree.settings)];
}

/* ---- Problems ---- */

static struct {
	unsigned long writes, taken, refused, faults;
	unsigned int problems;
} done;

static void print_bytes(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len && i < 300; i++)
		printf(isprint((unsigned char)bytes[i]) && bytes[i] != '\\' ? "%c" : "\\%03o",
		       (unsigned char)bytes[i]);
	printf(len > 300 ? "... (%zu bytes)\n" : "' (%zu bytes)\n", len);
}

static void problem(const struct target *t, const struct fuzz_input *in, const char *fmt, ...)
{
	va_list args;

	if (done.problems++ >= 20)
		return;
	printf("# write %lu: %s: ", done.writes, t->path);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n#   '");
	print_bytes(in->bytes, in->len);
}

/* ---- Checking the result ---- */

static char *shown_before, *shown_after, *shown_log;

static const char *shown(int fd, char *buf)
{
	ssize_t n = pread(fd, buf, SHOWN_MAX - 1, 0);

	buf[n > 0 ? n : 0] = 0;
	return buf;
}

/* Take out what hits change, and no write: notes, and the digits in the file latency. */
static void forget_counts(const struct target *t, char *text)
{
	bool counts = !strcmp(strrchr(t->path, '/'), "/latency");
	const char *from = text;
	bool note = false;
	char *to = text;

	for (; *from; from++) {
		if (from == text || from[-1] == '\n')
			note = *from == '#';
		if (!note && !(counts && isdigit((unsigned char)*from)))
			*to++ = *from;
	}
	*to = 0;
}

/* The last entry's three lines. */
static const char *last_error(const char *log)
{
	const char *last = NULL;

	for (const char *at = log; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : at) {
		if (*at == '[')
			last = at;
	}
	return last;
}

/* The entry is about this file, and has its caret where the mistake is. */
static void check_log(const struct target *t, const struct fuzz_input *in, int at)
{
	static const char command[] = "\n  Command: ";
	const char *entry, *sentence, *line, *caret;
	char where[300];
	int fd = open(path_of(t->tree, "error_log"), O_RDONLY | O_CLOEXEC);

	entry = last_error(shown(fd, shown_log));
	close(fd);
	snprintf(where, sizeof(where), "] %s: error: ", t->file);
	sentence = entry ? strstr(entry, where) : NULL;
	line = sentence ? strstr(sentence, command) : NULL;
	caret = line ? strchr(line + 1, '\n') : NULL;
	if (!caret || caret[1 + strspn(caret + 1, " ")] != '^') {
		problem(t, in, "error_log has no entry of it, but: %s", entry ? entry : "none");
		return;
	}
	/* Farther on, or with bytes that are shown by four, the place is not so easily told. */
	for (int i = 0; i < at; i++) {
		if (!isprint((unsigned char)in->bytes[i]) || in->bytes[i] == '\\')
			return;
	}
	if (at < 0 || at > 60)
		return;
	if (strspn(caret + 1, " ") != strlen(command) - 1 + at)
		problem(t, in, "the mistake is byte %d, error_log says: %s", at, entry);
}

static void check_refused(const struct target *t, const struct fuzz_input *in,
			  const struct fuzz_seen *seen, int err)
{
	done.refused++;
	if (strcmp(shown_before, shown_after))
		problem(t, in, "refused (%s), but it shows '%.100s', no longer '%.100s'",
			strerror(err), shown_after, shown_before);
	if (seen->verdict == FUZZ_TAKEN)
		problem(t, in, "refused: %s", strerror(err));
	if (t->what->kind == FUZZ_STATE && (err == EBADF || err == ENOSPC))
		return;
	/* It is there already, or it is not. */
	if ((t->what->kind == FUZZ_TRIGGER || t->what->kind == FUZZ_CONTEXTS) &&
	    (err == EEXIST || err == ENOENT))
		err = EINVAL;
	/* ftrace's parser has an errno for each mistake. */
	if (t->what->kind == FUZZ_PROBES && err != ENOMEM)
		err = EINVAL;
	if (err == EINVAL && t->tree)
		check_log(t, in, seen->verdict == FUZZ_REFUSED ? seen->at : -1);
	else if (err != EINVAL && err != ENOMEM && (err != ERANGE || t->tree))
		problem(t, in, "strange errno: %s", strerror(err));
}

static void check_taken(const struct target *t, const struct fuzz_input *in,
			const struct fuzz_seen *seen, ssize_t n)
{
	done.taken++;
	if ((size_t)n != in->len)
		problem(t, in, "%zd bytes taken", n);
	if (seen->verdict == FUZZ_REFUSED)
		problem(t, in, "taken, and it shows '%.100s'", shown_after);
	else if (t->readable && !fuzz_shows(seen, t->what->kind, shown_after))
		problem(t, in, "taken, but it shows '%.100s'", shown_after);
}

/* A mark is stored, maybe in part; or tracing is off, or the buffer is full. */
static void check_marker(const struct target *t, const struct fuzz_input *in, ssize_t n)
{
	size_t most = in->len < MARKER_MAX ? in->len : MARKER_MAX;
	bool all = (size_t)n == most || (n > MARKER_LEAST && (size_t)n < most);

	if (n < 0 && errno != EBADF && errno != ENOSPC && errno != ENOMEM)
		problem(t, in, "strange errno: %s", strerror(errno));
	if (n >= 0 && !all)
		problem(t, in, "%zd bytes taken", n);
}

/*
 * Such a mark is stored whole, or lost. One without a number is refused, and one that has no room
 * in a record.
 */
static void check_marker_raw(const struct target *t, const struct fuzz_input *in, ssize_t n)
{
	bool fits = in->len >= MARKER_NUMBER && in->len <= MARKER_MAX;
	bool may_not = !fits || in->len > MARKER_LEAST;

	if (n < 0 && errno != EBADF && errno != ENOSPC && errno != ENOMEM &&
	    !(errno == EINVAL && may_not))
		problem(t, in, "strange errno: %s", strerror(errno));
	if (n >= 0 && (!fits || (size_t)n != in->len))
		problem(t, in, "%zd bytes taken", n);
}

/* If enough bytes for a mark lie before the unmapped page, the mark is stored or lost. */
static bool marker_may(const struct fuzz_input *in, ssize_t n)
{
	bool whole = in->mapped > MARKER_LEAST;

	if (n < 0)
		return errno == EBADF || errno == ENOMEM || (whole && errno == ENOSPC);
	return whole && n > MARKER_LEAST && n <= MARKER_MAX;
}

/* A bad address gives EFAULT, unless the file ignores its input, or refuses it before. */
static void check_fault(const struct target *t, const struct fuzz_input *in, ssize_t n)
{
	done.faults++;
	if (t->what->kind == FUZZ_ANY || !in->len)
		return;
	if (n < 0 && errno == EINVAL && t->what->max && in->len > t->what->max)
		return;
	if (t->what->kind == FUZZ_MARKER && marker_may(in, n))
		return;
	/* It looks at the length first. */
	if (t->what->kind == FUZZ_MARKER_RAW && n < 0 &&
	    (errno == EBADF || errno == ENOMEM || errno == EINVAL))
		return;
	if (n >= 0 || errno != EFAULT)
		problem(t, in, "at a bad address: %zd, %s", n, n < 0 ? strerror(errno) : "taken");
	if (strcmp(shown_before, shown_after))
		problem(t, in, "at a bad address, but it shows '%.100s'", shown_after);
}

/* Must the kernel meet an address that it cannot read, before it takes or refuses the input? */
static bool meets_bad_address(const struct target *t, const struct fuzz_input *in,
			      enum fuzz_way way)
{
	if (way == FUZZ_HALFWAY)
		return !t->what->part || in->mapped < t->what->part;
	return way == FUZZ_NOWHERE;
}

static void check_one(const struct target *t, const struct fuzz_input *in, enum fuzz_way way,
		      ssize_t n)
{
	static struct fuzz_seen seen;
	int err = errno;

	if (meets_bad_address(t, in, way)) {
		check_fault(t, in, n);
	} else if (way == FUZZ_NO_OFFSET && n < 0 && (err == EINVAL || err == ESPIPE)) {
		done.refused++;
		if (strcmp(shown_before, shown_after))
			problem(t, in, "at no offset, but it shows '%.100s'", shown_after);
	} else if (t->what->kind == FUZZ_MARKER) {
		check_marker(t, in, n);
	} else if (t->what->kind == FUZZ_MARKER_RAW) {
		check_marker_raw(t, in, n);
	} else {
		fuzz_see(&seen, t->what, in, shown_before);
		if (n < 0)
			check_refused(t, in, &seen, err);
		else
			check_taken(t, in, &seen, n);
	}
}

static void one_write(void)
{
	static struct fuzz_input in;
	const struct target *t = any_target();
	enum fuzz_way way = fuzz_once_in(2) ? FUZZ_PLAIN : fuzz_below(FUZZ_WAYS);
	bool shows;
	ssize_t n;
	int fd, err;

	fuzz_make(&in);
	if (way == FUZZ_NOTHING || (way == FUZZ_HALFWAY && !in.len)) {
		in.len = 0;
		way = FUZZ_NOTHING;
	}
	fd = open(t->path, fuzz_open_flags(t->readable, way));
	if (fd < 0) {
		problem(t, &in, "open: %s", strerror(errno));
		return;
	}
	/* trace is long and changes by itself; error_log changes with each refused input. */
	shows = t->readable && way != FUZZ_WRITE_ONLY && t->what->kind < FUZZ_TEXT;
	*shown_before = 0;
	*shown_after = 0;
	if (shows)
		shown(fd, shown_before);
	n = fuzz_write(fd, &in, way);
	err = errno;
	done.writes++;
	/* If this descriptor cannot read, another one reads the file. */
	if (shows)
		shown(fd, shown_after);
	close(fd);
	forget_counts(t, shown_before);
	forget_counts(t, shown_after);
	errno = err;
	if (way != FUZZ_WRITE_ONLY || !t->readable)
		check_one(t, &in, way, n);
}

/* ---- Many of them ---- */

/* Files that show a setting, none of which a refused write to another one may change. */
static const char * const settings[] = {
	"tracing_on", "trace_clock", "buffer_mode", "buffer_percent", "buffer_size_kb",
	"per_cpu/cpu0/buffer_size_kb", "buffer_subbuf_size_kb", "set_event",
	"dump_on_oops",
};

static char *all_settings(void)
{
	static const char * const trees[] = { ETCH, INSTANCE };
	char *all = must_alloc(NULL, 4 * SHOWN_MAX), *at = all;

	for (size_t i = 0; i < 2 * ARRAY_LEN(settings); i++) {
		char *text = read_file(trees[i % 2], settings[i / 2]);

		at += sprintf(at, "%s/%s: %.*s\n", trees[i % 2], settings[i / 2],
			      SHOWN_MAX / 8, text ? text : "?");
		free(text);
	}
	return all;
}

static void first_difference(const char *a, const char *b)
{
	size_t at = 0, line = 0;

	while (a[at] && a[at] == b[at]) {
		if (a[at++] == '\n')
			line = at;
	}
	printf("# was '%.*s', is '%.*s'\n", (int)strcspn(a + line, "\n"), a + line,
	       (int)strcspn(b + line, "\n"), b + line);
}

/* A batch of bad input only: it must change nothing at all. */
static void bad_batch(void)
{
	static struct fuzz_input in;
	static struct fuzz_seen seen;
	char *before = all_settings(), *after;

	for (int i = 0; i < BATCH; ) {
		const struct target *t = any_target();
		int fd;

		fuzz_make(&in);
		fuzz_see(&seen, t->what, &in, "");
		/* The choices are not known here: only longer inputs are mistakes. */
		if (seen.verdict != FUZZ_REFUSED ||
		    (t->what->kind == FUZZ_CHOICE && in.len < 16))
			continue;
		fd = open(t->path, O_WRONLY | O_CLOEXEC | (fuzz_once_in(2) ? O_TRUNC : 0));
		if (write(fd, in.bytes, in.len) >= 0)
			problem(t, &in, "taken");
		close(fd);
		done.writes++;
		done.refused++;
		i++;
	}
	after = all_settings();
	if (strcmp(before, after)) {
		done.problems++;
		printf("# bad input, up to write %lu, has changed something:\n", done.writes);
		first_difference(before, after);
	}
	free(before);
	free(after);
}

/* Reads all kinds of files, now and then, in any state. */
static __noreturn void read_for_ever(void)
{
	static const char * const files[] = {
		"trace", "trace_pipe", "metadata", "error_log", "set_event", "snapshot",
		"per_cpu/cpu0/trace", "per_cpu/cpu0/trace_pipe", "per_cpu/cpu0/trace_pipe_raw",
		"per_cpu/cpu0/snapshot", "per_cpu/cpu0/stats", "events/sched/sched_switch/format",
	};
	static char buf[1 << 16];

	for (unsigned int i = 0;; i++) {
		const char *where = i & 1 ? ETCH : INSTANCE;
		int fd = open(path_of(where, files[i / 2 % ARRAY_LEN(files)]),
			      O_RDONLY | O_NONBLOCK | O_CLOEXEC);

		for (int n = 0; n < 4 && fd >= 0 && read(fd, buf, 1 + (i * 7919) % sizeof(buf)) > 0; n++)
			;
		close(fd);
		usleep(10000);
	}
}

/* The kernel's taint flags of trouble: bad pages, oopses, warnings, lockups. */
static unsigned long taint(void)
{
	static const unsigned long trouble = 1 << 5 | 1 << 7 | 1 << 9 | 1 << 14;
	char *text = read_path("/proc/sys/kernel/tainted", NULL);
	unsigned long bits = text ? strtoul(text, NULL, 10) : 0;

	free(text);
	return bits & trouble;
}

/* ---- Before and after ---- */

FIXTURE(fuzz) {
	char subbuf[32], size[32], clock[32];
	unsigned long taint;
};

FIXTURE_SETUP(fuzz)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	rmdir(INSTANCE);
	etch_as_new();
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
	/* Full size before it is kept. */
	ASSERT_EQ(0, write_file(ETCH, "trace_marker", "first"));
	strcpy(self->subbuf, read_line(ETCH, "buffer_subbuf_size_kb"));
	strcpy(self->size, read_line(ETCH, "buffer_size_kb"));
	clock_of(ETCH, self->clock);
	self->taint = taint();
	memset(&done, 0, sizeof(done));
	fuzz_events = list_of(read_file(ETCH, "available_events"));
	ASSERT_LT(0, fuzz_events.nr);
	shown_before = must_alloc(NULL, SHOWN_MAX);
	shown_after = must_alloc(NULL, SHOWN_MAX);
	shown_log = must_alloc(NULL, SHOWN_MAX);
	fuzz_begin();
}

/* The triggers that were set in the main tree. A line that has one can be written behind "!". */
static void take_triggers_away(void)
{
	for (size_t i = 0; i < tree.nr; i++) {
		const struct target *t = &tree.targets[i];
		char *text, *rest, *line;

		if (t->what->kind != FUZZ_TRIGGER || strcmp(t->tree, ETCH))
			continue;
		text = read_file(ETCH, t->file);
		rest = text;
		while (rest && (line = strsep(&rest, "\n")))
			if (*line && *line != '#')
				write_fmt(ETCH, t->file, "!%s", line);
		free(text);
	}
}

FIXTURE_TEARDOWN(fuzz)
{
	rmdir(INSTANCE);
	take_triggers_away();
	ring_sample_unload();
	etch_as_new();
	write_file(ETCH, "trace_clock", self->clock);
	write_file(ETCH, "snapshot", "0");
	write_file(ETCH, "dump_on_oops", "0");
	write_file(ETCH, "buffer_size_kb", self->size);
	write_file(ETCH, "buffer_subbuf_size_kb", self->subbuf);
	write_file(ETCH, "buffer_size_kb", self->size);
}

TEST_F_TIMEOUT(fuzz, every_file_in_many_ways, 7200)
{
	unsigned long writes = test_number("ETCH_FUZZ_WRITES", "fuzz_writes", 0);
	unsigned long said = 0;
	time_t start;
	pid_t reader;
	int err;

	err = ring_sample_load("");
	if (err)
		printf("### without etch-ring-sample: %s\n", strerror(err));
	find_targets();
	ASSERT_LT(100, tree.nr);
	ASSERT_EQ(0, tree.unknown);
	reader = fork();
	if (!reader)
		read_for_ever();
	/* To find the files may take longer than that. */
	start = time(NULL);
	while ((writes ? done.writes < writes : time(NULL) - start < DEFAULT_SECONDS) &&
	       done.problems < 20) {
		for (int i = 0; i < 3 * BATCH; i++)
			one_write();
		bad_batch();
		if (taint() != self->taint)
			break;
		if (done.writes / 100000 != said) {
			said = done.writes / 100000;
			printf("# %lu writes, %ld s\n", done.writes, (long)(time(NULL) - start));
		}
	}
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	EXPECT_EQ(self->taint, taint());
	EXPECT_EQ(0, done.problems);
	/* Each kind of result must have occurred. */
	EXPECT_LE(writes, done.writes);
	EXPECT_LT(done.writes / 40, done.taken);
	EXPECT_LT(done.writes / 40, done.refused);
	EXPECT_LT(done.writes / 200, done.faults);
	printf("# %lu writes to %zu files in %ld s: %lu taken, %lu refused, %lu at bad addresses\n",
	       done.writes, tree.nr, (long)(time(NULL) - start), done.taken, done.refused,
	       done.faults);
}

/* ---- Names of instances ---- */

#define NAMES	100

static void any_name(struct fuzz_input *in)
{
	static const char good[] = "abcXYZ019_-.+:@,%=";

	do {
		in->len = 0;
		if (fuzz_once_in(3)) {
			while (!in->len || !fuzz_once_in(12))
				fuzz_add(in, &good[fuzz_below(sizeof(good) - 1)], 1);
			if (fuzz_once_in(4))
				fuzz_change(in);
		} else {
			fuzz_make(in);
		}
		for (size_t i = 0; i < in->len; i++) {
			if (!in->bytes[i] || in->bytes[i] == '/')
				in->bytes[i] = 'x';
		}
		in->bytes[in->len] = 0;
	} while (in->len > 4000);
}

/* The errno that mkdir of a name must have, if there is none of that name. */
static int name_errno(const char *name)
{
	int err = 0;

	for (const char *at = name; *at; at++) {
		if (!isascii(*at) || (!isalnum(*at) && !strchr("_-.+:@,%=", *at)))
			err = EINVAL;
	}
	if (strlen(name) > NAME_MAX)
		err = ENAMETOOLONG;
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		err = EEXIST;
	return err;
}

TEST_F_TIMEOUT(fuzz, names_of_instances, 600)
{
	static struct fuzz_input in;
	unsigned int made = 0, bad = 0;
	time_t start = time(NULL);
	char path[5000];

	for (int i = 0; i < NAMES && time(NULL) - start < DEFAULT_SECONDS; i++) {
		int err;

		any_name(&in);
		snprintf(path, sizeof(path), ETCH "/instances/%s", in.bytes);
		err = mkdir(path, fuzz_any() & 07777) ? errno : 0;
		EXPECT_EQ(name_errno(in.bytes), err) {
			printf("# '");
			print_bytes(in.bytes, in.len);
		}
		if (err) {
			bad++;
			EXPECT_NE(0, rmdir(path));
			continue;
		}
		made++;
		EXPECT_NE(0, mkdir(path, 0700));
		EXPECT_EQ(0, access(path_of(path, "trace"), R_OK));
		EXPECT_EQ(0, rmdir(path));
	}
	EXPECT_LT(0, made);
	EXPECT_LT(0, bad);
	EXPECT_EQ(self->taint, taint());
	printf("# %u instances came and went, %u names were refused\n", made, bad);
}

/* ---- Calls that these files do not support ---- */

static char *every_file[40000];
static size_t nr_files;

static int visit_all(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (nr_files < ARRAY_LEN(every_file))
		every_file[nr_files++] = strdup(path);
	return 0;
}

/* Any result is good if the kernel survives, except where a check says otherwise. */
static void odd_call(struct __test_metadata *_metadata, const char *path)
{
	static const unsigned int commands[] = {
		0xc010e700, 0x4010e700, 0xc010e701, 0x5401, 0, -1, 0x20, 0xc0185b00,
	};
	int flags = (fuzz_once_in(2) ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC;
	int fd = open(path, flags), pipes[2];
	uint64_t arg[4] = { fuzz_any() & ~4095ULL, fuzz_any(), fuzz_any(), fuzz_any() };
	loff_t at = fuzz_any() >> fuzz_below(64);
	size_t bytes;
	char *map;

	if (fd < 0)
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	switch (fuzz_below(10)) {
	case 0:
		if (fuzz_once_in(2))
			arg[1] = fuzz_below(2000) | (uint64_t)(fuzz_below(200) << 12) << 32;
		EXPECT_NE(0, ioctl(fd, fuzz_of(commands), fuzz_once_in(4) ? fuzz_nowhere() : arg));
		break;
	case 1:
		bytes = 4096 * (1 + fuzz_below(300));
		map = mmap(NULL, bytes, fuzz_below(8),
			   fuzz_once_in(2) ? MAP_SHARED : MAP_PRIVATE, fd, at & ~4095);
		/* Only trace_pipe_raw can be mapped, and its window is empty. */
		if (map != MAP_FAILED) {
			EXPECT_NE(NULL, strstr(path, "trace_pipe_raw")) TH_LOG("%s", path);
			munmap(map, bytes);
		}
		break;
	case 2:
		lseek(fd, at, fuzz_below(6));
		if (read(fd, arg, fuzz_below(sizeof(arg))) < 0)
			break;
		break;
	case 3:
		EXPECT_NE(0, fallocate(fd, fuzz_below(64), 0, at & 0xffff));
		break;
	case 4:
		EXPECT_NE(0, unlink(path));
		EXPECT_NE(0, rename(path, ETCH "/elsewhere"));
		EXPECT_NE(0, link(path, ETCH "/elsewhere"));
		EXPECT_NE(0, symlink(path, ETCH "/elsewhere"));
		EXPECT_NE(0, mkdir(ETCH "/elsewhere", 0700));
		break;
	case 5:
		/* Or there is nothing to read. */
		EXPECT_GE(0, read(fd, (void *)fuzz_nowhere(), 1 + fuzz_below(100000)));
		break;
	case 6:
		if (pread(fd, arg, sizeof(arg), at) < 0)
			break;
		break;
	case 7:
		if (pipe2(pipes, O_NONBLOCK | O_CLOEXEC))
			break;
		splice(fd, fuzz_once_in(4) ? &at : NULL, pipes[1], NULL, fuzz_below(1 << 20),
		       fuzz_below(16));
		splice(pipes[0], NULL, fd, NULL, 4096, SPLICE_F_NONBLOCK);
		close(pipes[0]);
		close(pipes[1]);
		break;
	case 8:
		truncate(path, at);
		if (write(fd, fuzz_nowhere(), 1 << 20) < 0)
			break;
		break;
	default:
		EXPECT_NE(0, fsetxattr(fd, "user.x", arg, 4, 0));
	}
	close(fd);
}

#define CALLS	3000

TEST_F_TIMEOUT(fuzz, calls_of_all_kinds, 600)
{
	char *settings_before = all_settings(), *settings_after;

	nr_files = 0;
	ASSERT_EQ(0, nftw(ETCH, visit_all, 16, FTW_PHYS));
	ASSERT_LT(300, nr_files);
	for (int i = 0; i < CALLS; i++) {
		const char *path = every_file[fuzz_below(nr_files)];

		/* Some have more to be asked for. */
		if (fuzz_once_in(3))
			path = INSTANCE "/per_cpu/cpu0/trace_pipe_raw";
		odd_call(_metadata, path);
	}
	settings_after = all_settings();
	EXPECT_STREQ(settings_before, settings_after);
	EXPECT_EQ(self->taint, taint());
	free(settings_before);
	free(settings_after);
}

TEST_HARNESS_MAIN

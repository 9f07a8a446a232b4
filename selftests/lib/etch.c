// SPDX-License-Identifier: GPL-2.0

#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

#include "etch.h"

void give_up(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("# ");
	vprintf(fmt, args);
	printf(": %s\n", strerror(errno));
	va_end(args);
	fflush(stdout);
	abort();
}

/* How often @file of @tree has @word. */
int times_in(const char *tree, const char *file, const char *word)
{
	char *text = read_file(tree, file), *at = text;
	int nr = 0;

	for (; at && (at = strstr(at, word)); at++)
		nr++;
	free(text);
	return nr;
}

void run_tasks(const char *name, int times)
{
	while (times--) {
		pid_t child = fork();

		if (!child) {
			prctl(PR_SET_NAME, name);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* Pins the calling task, and the tasks that it starts, to @cpu. */
void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		give_up("CPU %d", cpu);
}

void *must_alloc(void *old, size_t bytes)
{
	void *new = realloc(old, bytes);

	if (!new)
		give_up("%zu bytes", bytes);
	return new;
}

bool have_modules(void)
{
	return !access("/proc/modules", F_OK);
}

/* The path of a file of a tree, in one of a few buffers that take turns. */
char *path_of(const char *tree, const char *file)
{
	static char paths[8][512];
	static unsigned int turn;
	char *path = paths[turn++ % ARRAY_LEN(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", tree, file);
	return path;
}

/* The first caller mounts debugfs, if it is not mounted. */
bool have_debugfs(void)
{
	struct statfs fs;

	if (!statfs(DEBUGFS, &fs) && fs.f_type == DEBUGFS_MAGIC)
		return true;
	return !mount("none", DEBUGFS, "debugfs", 0, NULL);
}

/* The first caller mounts the tree, if it is not mounted. */
bool have_etch(void)
{
	if (access(ETCH, F_OK))
		mount("none", "/sys/kernel/debug", "debugfs", 0, NULL);
	return !access(ETCH "/available_events", F_OK);
}

/* Call have_etch() before. */
bool have_text(void)
{
	return !access(ETCH "/trace", F_OK);
}

bool have_ftrace(void)
{
	if (access(FTRACE "/available_events", F_OK))
		mount("none", FTRACE, "tracefs", 0, NULL);
	return !access(FTRACE "/available_events", F_OK);
}

/*
 * Reads an open file to its end, and adds a zero. NULL with errno if reading fails.
 * The caller frees the text.
 */
char *read_all(int fd, size_t *len)
{
	size_t have = 0, room = 1 << 16;
	char *text = must_alloc(NULL, room);
	ssize_t n;

	while ((n = read(fd, text + have, room - have - 1)) > 0) {
		have += n;
		if (room - have < 1 << 14) {
			room *= 2;
			text = must_alloc(text, room);
		}
	}
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[have] = 0;
	if (len)
		*len = have;
	return text;
}

char *read_path(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int saved;
	char *text;

	if (fd < 0)
		return NULL;
	text = read_all(fd, len);
	saved = errno;
	close(fd);
	errno = saved;
	return text;
}

char *read_file(const char *tree, const char *file)
{
	return read_path(path_of(tree, file), NULL);
}

/* A short file, less the newline at its end, in buffers that take turns. */
char *read_line(const char *tree, const char *file)
{
	static char lines[4][4096];
	static unsigned int turn;
	char *line = lines[turn++ % ARRAY_LEN(lines)];
	char *text = read_file(tree, file);

	if (!text) {
		snprintf(line, sizeof(lines[0]), "(%s: %s)", file, strerror(errno));
		return line;
	}
	snprintf(line, sizeof(lines[0]), "%s", text);
	free(text);
	line[strcspn(line, "\n")] = 0;
	return line;
}

/* One write() of so many bytes, none for 0; flags beside O_WRONLY. 0 or an errno. */
int write_bytes(const char *tree, const char *file, int flags, const void *bytes, size_t len)
{
	int fd = open(path_of(tree, file), O_WRONLY | O_CLOEXEC | flags);
	ssize_t n = 0;
	int err = 0;

	if (fd < 0)
		return errno;
	if (len)
		n = write(fd, bytes, len);
	if (n < 0)
		err = errno;
	else if ((size_t)n != len)
		err = EIO;
	close(fd);
	return err;
}

/* As `echo -n text >> file`. 0 or an errno. */
int write_file(const char *tree, const char *file, const char *text)
{
	return write_bytes(tree, file, O_APPEND, text, strlen(text));
}

/* As `echo -n text > file`. 0 or an errno. */
int overwrite_file(const char *tree, const char *file, const char *text)
{
	return write_bytes(tree, file, O_TRUNC, text, strlen(text));
}

/*
 * A parameter of a test: the value of @env in the environment, or of etch_test.NAME=VALUE on
 * the kernel's command line; NULL without either. The next call overwrites it.
 */
const char *test_word(const char *env, const char *name)
{
	static char value[64];
	char word[64], *text = NULL;
	const char *at = getenv(env);

	if (!at) {
		text = read_path("/proc/cmdline", NULL);
		snprintf(word, sizeof(word), "etch_test.%s=", name);
		at = text ? strstr(text, word) : NULL;
		at = at ? at + strlen(word) : NULL;
	}
	snprintf(value, sizeof(value), "%.*s", at ? (int)strcspn(at, " \n") : 0, at ?: "");
	free(text);
	return at ? value : NULL;
}

/* The same as a number; @otherwise without one, or if it is 0. */
unsigned long test_number(const char *env, const char *name, unsigned long otherwise)
{
	const char *word = test_word(env, name);
	unsigned long number = word ? strtoul(word, NULL, 10) : 0;

	return number ? number : otherwise;
}

/* How often to repeat a step that is slow on emulated CPUs: @usual, or fewer if asked. */
unsigned int test_cycles(unsigned int usual)
{
	unsigned long cycles = test_number("ETCH_CYCLES", "cycles", usual);

	return cycles < usual ? cycles : usual;
}

/*
 * For tests that do the same with the files of each event: whether the test looks at @path. That
 * is so for all but the folders of events, and for one of these in N, with N in
 * ETCH_ONE_EVENT_IN in the environment, or etch_test.one_event_in=N on the kernel's command
 * line; by default for all of them. Each run draws others.
 */
bool test_draws(const char *path)
{
	static unsigned long one_in;
	const char *event = strstr(path, "/events/");

	if (!one_in) {
		one_in = test_number("ETCH_ONE_EVENT_IN", "one_event_in", 1);
		srandom(time(NULL));
	}
	event = event ? strchr(event + strlen("/events/"), '/') : NULL;
	if (!event || strchr(event + 1, '/'))
		return true;
	return random() % one_in == 0;
}

int write_fmt(const char *tree, const char *file, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return write_file(tree, file, text);
}

/* The clock that trace_clock shows in brackets. */
const char *clock_of(const char *tree, char name[32])
{
	const char *at = strchr(read_line(tree, "trace_clock"), '[');

	if (!at || sscanf(at, "[%31[^]]]", name) != 1)
		give_up("%s/trace_clock", tree);
	return name;
}

/* The number in the line "name: NUMBER" of @text; -1 without such a line. */
long long number_in(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : at) {
		if (!strncmp(at, name, len) && at[len] == ':')
			return strtoll(at + len + 1, NULL, 10);
	}
	return -1;
}

/* In the line "WHO: N what N what" of @text: the number before @what, or -1. */
long long count_of(const char *text, const char *who, const char *what)
{
	const char *line = strstr(text, who), *end;
	long long value;
	int used;

	if (!line)
		return -1;
	line += strlen(who) + 1;
	end = strchrnul(line, '\n');
	while (line < end && sscanf(line, "%lld%n", &value, &used) == 1) {
		line += used + 1;
		if (!strncmp(line, what, strlen(what)))
			return value;
		line = strchrnul(line, ' ');
	}
	return -1;
}

/* One number of a CPU's stats. */
long long stat_of(const char *tree, int cpu, const char *name)
{
	char file[64], *text;
	long long number;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
	text = read_file(tree, file);
	if (!text)
		return -1;
	number = number_in(text, name);
	free(text);
	return number;
}

int nr_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

/* User-mode Linux, whose uname() says x86_64. */
bool is_um(void)
{
	return !access("/proc/exitcode", F_OK);
}

/* Does this kernel have non-maskable interrupts that its tests know how to send? */
bool have_nmis(void)
{
	struct utsname uts;

	uname(&uts);
	return !strcmp(uts.machine, "x86_64") && !is_um();
}

/*
 * The sum of one number of all CPUs' stats. The program ends if a CPU has no such number:
 * an incomplete sum would prove nothing.
 */
long long stat_sum(const char *tree, const char *name)
{
	long long sum = 0, n;
	int cpu;

	for (cpu = 0; cpu < nr_cpus(); cpu++) {
		n = stat_of(tree, cpu, name);
		if (n < 0) {
			errno = ENOENT;
			give_up("%s: per_cpu/cpu%d/stats: %s", tree, cpu, name);
		}
		sum += n;
	}
	return sum;
}

long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static const char * const etch_lost[] = {
	"lost full", "lost too big", "lost nested", "lost throttled", "lost off",
	"lost no buffer",
};

long long lost_sum(const char *tree)
{
	long long sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(etch_lost); i++)
		sum += stat_sum(tree, etch_lost[i]);
	return sum;
}

unsigned int count_lines(const char *text)
{
	unsigned int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* Lines that are not a comment. */
unsigned int count_records(const char *text)
{
	unsigned int lines = 0;
	const char *at;

	for (at = text; *at; at = strchr(at, '\n') + 1) {
		lines += *at != '#';
		if (!strchr(at, '\n'))
			break;
	}
	return lines;
}

/*
 * Sets the main tree to its state after a boot without parameters, except for the size of
 * its buffers.
 */
void etch_as_new(void)
{
	write_file(ETCH, "tracing_on", "0");
	overwrite_file(ETCH, "set_event", "\n");
	write_file(ETCH, "events/filter", "0");
	write_file(ETCH, "options/event-fork", "0");
	overwrite_file(ETCH, "set_event_pid", "\n");
	overwrite_file(ETCH, "set_event_notrace_pid", "\n");
	overwrite_file(ETCH, "set_event_cgroup", "\n");
	write_file(ETCH, "buffer_mode", "overwrite");
	write_file(ETCH, "buffer_percent", "0");
	overwrite_file(ETCH, "budget", "none");
	overwrite_file(ETCH, "trace", "");
	overwrite_file(ETCH, "error_log", "\n");
	write_file(ETCH, "tracing_on", "1");
}

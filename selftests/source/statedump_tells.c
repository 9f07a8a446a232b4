// SPDX-License-Identifier: GPL-2.0
/*
 * What a dump of the machine's state tells is what other files of the kernel tell.
 */

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "etch_test.h"
#include "sample.h"
#include "state.h"

#define INSTANCE	ETCH "/instances/etch-dump"
#define NAME		"etch-dumper"

FIXTURE(statedump_tells) {
	struct trace trace;
};

FIXTURE_SETUP(statedump_tells)
{
	const char *why = no_statedump();

	if (why)
		SKIP(return, "%s", why);
	rmdir(INSTANCE);
	etch_as_new();
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
	ASSERT_EQ(0, write_file(INSTANCE, "buffer_size_kb", "2048"));
	prctl(PR_SET_NAME, NAME);
}

FIXTURE_TEARDOWN(statedump_tells)
{
	text_free(&self->trace);
	rmdir(INSTANCE);
	etch_as_new();
}

/* The whole of a dump, with all records. */
static const char *end_of(const struct trace *trace)
{
	return trace->nr ? trace->records[trace->nr - 1].text : "";
}

#define DUMP()								\
do {									\
	self->trace = state_dump(INSTANCE);				\
	ASSERT_EQ(0, state_value(end_of(&self->trace), "lost"));	\
} while (0)

/* ---- Tasks ---- */

/* Since boot, in ns: the 22nd field, in hundredths of a second. */
static long long start_of_this_task(void)
{
	char *text = read_path("/proc/self/stat", NULL), *at = strrchr(text, ')');
	long long ticks;

	for (int field = 2; field < 22; field++)
		at = strchr(at + 1, ' ');
	ticks = strtoll(at, NULL, 10);
	free(text);
	return ticks * (1000000000LL / sysconf(_SC_CLK_TCK));
}

TEST_F(statedump_tells, this_task)
{
	const struct record *r;
	long long start;

	DUMP();
	r = state_find(&self->trace, "statedump_task", "tid=%d tgid=%d ppid=%d comm=%s",
		       getpid(), getpid(), getppid(), NAME);
	ASSERT_NE(NULL, r);
	EXPECT_STREQ("R", state_word(r->text, "state"));
	EXPECT_EQ(0, state_value(r->text, "kthread"));
	EXPECT_EQ(120, state_value(r->text, "prio"));
	start = start_of_this_task();
	EXPECT_LE(start, state_value(r->text, "start"));
	EXPECT_GT(start + 1000000000LL, state_value(r->text, "start"));
}

TEST_F(statedump_tells, kernel_threads)
{
	const struct record *r;

	DUMP();
	r = state_find(&self->trace, "statedump_task", "tid=2 tgid=2 ppid=0 comm=kthreadd");
	ASSERT_NE(NULL, r);
	EXPECT_EQ(1, state_value(r->text, "kthread"));
	EXPECT_EQ(NULL, state_find(&self->trace, "statedump_exe", "tgid=2"));
}

/* Each task of /proc was there before, and is there once. Kernel threads come and go. */
TEST_F(statedump_tells, every_process_once)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned int found = 0;

	ASSERT_NE(NULL, proc);
	DUMP();
	while ((entry = readdir(proc))) {
		int pid = atoi(entry->d_name), times = 0;
		char path[64], exe;

		/* Kernel threads have none. */
		snprintf(path, sizeof(path), "/proc/%d/exe", pid);
		if (!pid || readlink(path, &exe, sizeof(exe)) < 0)
			continue;
		for (size_t i = 0; i < self->trace.nr; i++)
			times += !strcmp(self->trace.records[i].event, "statedump_task") &&
				 state_value(self->trace.records[i].text, "tid") == pid;
		EXPECT_EQ(1, times) TH_LOG("pid %d", pid);
		found++;
	}
	closedir(proc);
	EXPECT_LE(2, found);
}

struct thread {
	pthread_barrier_t there, go;
	pid_t tid;
};

static void *thread_run(void *data)
{
	struct thread *t = data;

	t->tid = syscall(SYS_gettid);
	prctl(PR_SET_NAME, "etch-thread");
	pthread_barrier_wait(&t->there);
	pthread_barrier_wait(&t->go);
	return NULL;
}

TEST_F(statedump_tells, threads)
{
	struct thread t;
	pthread_t thread;

	pthread_barrier_init(&t.there, NULL, 2);
	pthread_barrier_init(&t.go, NULL, 2);
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_run, &t));
	pthread_barrier_wait(&t.there);
	DUMP();
	pthread_barrier_wait(&t.go);
	pthread_join(thread, NULL);
	EXPECT_NE(NULL, state_find(&self->trace, "statedump_task",
				   "tid=%d tgid=%d ppid=%d comm=etch-thread", t.tid, getpid(),
				   getppid()));
	/* Its files are the process's. */
	EXPECT_NE(NULL, state_find(&self->trace, "statedump_file", "tid=%d fd=0", getpid()));
	EXPECT_EQ(NULL, state_find(&self->trace, "statedump_file", "tid=%d", t.tid));
	EXPECT_EQ(NULL, state_find(&self->trace, "statedump_exe", "tgid=%d", t.tid));
}

TEST_F(statedump_tells, the_cgroup)
{
	char root[] = "/tmp/etch-cgroup.XXXXXX", group[80], procs[16];
	struct stat st;

	ASSERT_NE(NULL, mkdtemp(root));
	if (mount("none", root, "cgroup2", 0, NULL)) {
		rmdir(root);
		SKIP(return, "no cgroups: CONFIG_CGROUPS");
	}
	snprintf(group, sizeof(group), "%s/etch-dump", root);
	snprintf(procs, sizeof(procs), "%d", getpid());
	EXPECT_EQ(0, mkdir(group, 0700));
	EXPECT_EQ(0, write_file(group, "cgroup.procs", procs));
	EXPECT_EQ(0, stat(group, &st));
	self->trace = state_dump(INSTANCE);
	EXPECT_EQ(0, write_file(root, "cgroup.procs", procs));
	rmdir(group);
	umount(root);
	rmdir(root);
	EXPECT_EQ(st.st_ino, state_value(state_find(&self->trace, "statedump_task", "tid=%d",
						    getpid())->text, "cgroup"));
}

/* ---- Files ---- */

TEST_F(statedump_tells, the_program)
{
	char path[PATH_MAX] = "";
	const struct record *r;
	struct stat st;

	ASSERT_LT(0, readlink("/proc/self/exe", path, sizeof(path) - 1));
	ASSERT_EQ(0, stat("/proc/self/exe", &st));
	DUMP();
	r = state_find(&self->trace, "statedump_exe", "tgid=%d dev=%u,%u inode=%lu path=%s",
		       getpid(), major(st.st_dev), minor(st.st_dev), st.st_ino, path);
	EXPECT_NE(NULL, r);
}

TEST_F(statedump_tells, open_files)
{
	char path[] = "/tmp/etch-dump.XXXXXX", link[64], target[64] = "";
	int fd = mkstemp(path), again = open(path, O_RDONLY | O_NONBLOCK), fds[2];
	const struct record *r;
	struct stat st;

	ASSERT_LE(0, fd);
	ASSERT_LE(0, again);
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(0, fstat(fd, &st));
	DUMP();
	r = state_find(&self->trace, "statedump_file", "tid=%d fd=%d", getpid(), fd);
	ASSERT_NE(NULL, r);
	EXPECT_STREQ(path, state_word(r->text, "path"));
	EXPECT_EQ(st.st_ino, state_value(r->text, "inode"));
	EXPECT_EQ(O_RDWR, strtol(state_word(r->text, "flags"), NULL, 8) & O_ACCMODE);
	r = state_find(&self->trace, "statedump_file", "tid=%d fd=%d", getpid(), again);
	ASSERT_NE(NULL, r);
	EXPECT_EQ(O_RDONLY, strtol(state_word(r->text, "flags"), NULL, 8) & O_ACCMODE);
	EXPECT_EQ(O_NONBLOCK, strtol(state_word(r->text, "flags"), NULL, 8) & O_NONBLOCK);
	r = state_find(&self->trace, "statedump_file", "tid=%d fd=%d", getpid(), fds[1]);
	ASSERT_NE(NULL, r);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fds[1]);
	ASSERT_LT(0, readlink(link, target, sizeof(target) - 1));
	EXPECT_STREQ(target, state_word(r->text, "path"));
	unlink(path);
	close(fd);
	close(again);
	close(fds[0]);
	close(fds[1]);
}

/* ---- Mounts ---- */

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [...] - TYPE SOURCE OPTIONS", of each. */
TEST_F(statedump_tells, mounts)
{
	FILE *info = fopen("/proc/self/mountinfo", "r");
	unsigned int nr = 0, major, minor;
	char line[8192], point[4096], type[64];

	ASSERT_NE(NULL, info);
	DUMP();
	while (fgets(line, sizeof(line), info)) {
		ASSERT_TRUE(sscanf(line, "%*d %*d %u:%u %*s %4095s", &major, &minor, point) == 3);
		ASSERT_TRUE(sscanf(strstr(line, " - "), " - %63s", type) == 1);
		EXPECT_NE(NULL, state_find(&self->trace, "statedump_mount",
					   "dev=%u,%u path=%s type=%s", major, minor, point, type))
			TH_LOG("%s", line);
		nr++;
	}
	fclose(info);
	EXPECT_LT(1, nr);
	EXPECT_EQ(nr, state_value(end_of(&self->trace), "mounts"));
	EXPECT_NE(NULL, state_find(&self->trace, "statedump_mount", "path=/"));
	EXPECT_NE(NULL, state_find(&self->trace, "statedump_mount", "path=%s type=debugfs", DEBUGFS));
}

/* ---- Interrupts ---- */

#define IRQS	"/sys/kernel/irq"

/*
 * How many interrupts have a handler, by the kernel's folder of them, or -1: it has none
 * (CONFIG_SPARSE_IRQ). @found counts those of which the dump says the same.
 */
static int handled_interrupts(const struct trace *dump, int *found)
{
	DIR *irqs = opendir(IRQS);
	struct dirent *irq;
	char file[300], *actions;
	int nr = 0;

	if (!irqs)
		return -1;
	while ((irq = readdir(irqs))) {
		snprintf(file, sizeof(file), "%s/actions", irq->d_name);
		actions = *irq->d_name == '.' ? NULL : read_file(IRQS, file);
		if (actions && *actions) {
			actions[strcspn(actions, "\n")] = 0;
			*found += !!state_find(dump, "statedump_irq", "irq=%s actions=%s",
					       irq->d_name, actions);
			nr++;
		}
		free(actions);
	}
	closedir(irqs);
	return nr;
}

/* "NUMBER: COUNT... CHIP ... ACTION, ACTION", and lines of the architecture's own. */
TEST_F(statedump_tells, interrupts)
{
	FILE *interrupts = fopen("/proc/interrupts", "r");
	int handled, found = 0;
	unsigned int irq, nr = 0;
	char line[4096], first[128];

	ASSERT_NE(NULL, interrupts);
	DUMP();
	while (fgets(line, sizeof(line), interrupts)) {
		const struct record *r;

		if (sscanf(line, " %u:", &irq) != 1)
			continue;
		r = state_find(&self->trace, "statedump_irq", "irq=%u", irq);
		/* Without a handler, it has a line if it ever came. */
		if (!r)
			continue;
		nr++;
		EXPECT_NE(0, *state_word(r->text, "actions")) TH_LOG("%s", line);
		EXPECT_NE(0, *state_word(r->text, "chip")) TH_LOG("%s", line);
		EXPECT_NE(NULL, strstr(line, state_word(r->text, "chip"))) TH_LOG("%s", line);
		snprintf(first, sizeof(first), "%.*s",
			 (int)strcspn(state_word(r->text, "actions"), ","),
			 state_word(r->text, "actions"));
		EXPECT_NE(NULL, strstr(line, first)) TH_LOG("%s", line);
	}
	fclose(interrupts);
	EXPECT_LT(0, nr);
	/* On arm64, those between processors have lines of the architecture's own. */
	handled = handled_interrupts(&self->trace, &found);
	if (handled < 0)
		handled = found = nr;
	EXPECT_EQ(handled, found);
	EXPECT_EQ(handled, state_value(end_of(&self->trace), "irqs"));
	if (is_um()) {
		EXPECT_NE(NULL, state_find(&self->trace, "statedump_irq", "irq=0"));
	}
}

/* ---- Devices ---- */

static long long number_of(const char *folder, const char *name, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return strtoll(read_line(path, file), NULL, 10);
}

TEST_F(statedump_tells, block_devices)
{
	static const char folder[] = "/sys/class/block";
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned int nr = 0;

	DUMP();
	while (dir && (entry = readdir(dir))) {
		const struct record *r;
		char path[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		nr++;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		r = state_find(&self->trace, "statedump_block", "name=%s", entry->d_name);
		ASSERT_NE(NULL, r) TH_LOG("%s", entry->d_name);
		EXPECT_EQ(512 * number_of(folder, entry->d_name, "size"),
			  state_value(r->text, "bytes"));
		EXPECT_EQ(!access(path_of(path, "partition"), F_OK),
			  state_value(r->text, "partition"));
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(state_word(r->text, "dev"), ","),
			 state_word(r->text, "dev"));
		EXPECT_EQ(atoi(path), number_of(folder, entry->d_name, "dev"));
	}
	if (dir)
		closedir(dir);
	EXPECT_EQ(nr, state_value(end_of(&self->trace), "blocks"));
	if (!nr)
		SKIP(return, "no block devices");
}

TEST_F(statedump_tells, network_devices)
{
	static const char folder[] = "/sys/class/net";
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char netns[32] = "";
	unsigned int nr = 0;
	struct stat st;

	DUMP();
	/* Without CONFIG_NET_NS nothing shows the number of the one namespace. */
	if (!stat("/proc/self/ns/net", &st))
		snprintf(netns, sizeof(netns), " netns=%lu", (unsigned long)st.st_ino);
	else
		ASSERT_EQ(ENOENT, errno);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    access(path_of(path_of(folder, entry->d_name), "ifindex"), F_OK))
			continue;
		nr++;
		EXPECT_NE(NULL, state_find(&self->trace, "statedump_netif",
					   "ifindex=%lld name=%s type=%lld%s",
					   number_of(folder, entry->d_name, "ifindex"), entry->d_name,
					   number_of(folder, entry->d_name, "type"), netns))
			TH_LOG("%s", entry->d_name);
	}
	EXPECT_EQ(nr, state_value(end_of(&self->trace), "netifs"));
	if (!dir)
		SKIP(return, "no network: CONFIG_NET");
	closedir(dir);
	EXPECT_NE(NULL, state_find(&self->trace, "statedump_netif", "name=lo type=772"));
}

TEST_F(statedump_tells, modules)
{
	FILE *modules = fopen("/proc/modules", "r");
	char line[4096], name[64];
	unsigned int nr = 0;
	bool ours;

	if (!modules)
		SKIP(return, NO_MODULES);
	ours = sample_path() && !sample_load();
	DUMP();
	rewind(modules);
	while (fgets(line, sizeof(line), modules)) {
		const struct record *r;

		ASSERT_TRUE(sscanf(line, "%63s", name) == 1);
		nr++;
		r = state_find(&self->trace, "statedump_module", "name=%s", name);
		ASSERT_NE(NULL, r) TH_LOG("%s", name);
		EXPECT_LT(0, state_value(r->text, "size"));
	}
	fclose(modules);
	EXPECT_EQ(nr, state_value(end_of(&self->trace), "modules"));
	if (!ours)
		return;
	EXPECT_NE(NULL, state_find(&self->trace, "statedump_module", "name=%s", SAMPLE));
	EXPECT_EQ(0, sample_unload());
	text_free(&self->trace);
	DUMP();
	EXPECT_EQ(NULL, state_find(&self->trace, "statedump_module", "name=%s", SAMPLE));
}

TEST_HARNESS_MAIN

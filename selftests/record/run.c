// SPDX-License-Identifier: GPL-2.0

#include <arpa/inet.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <linux/etch_packet.h>

#include "run.h"

/* ---- Running it ---- */

pid_t start(struct run *run, const char * const argv[])
{
	int out[2];

	if (pipe2(out, O_CLOEXEC))
		give_up("pipe");
	run->pid = fork();
	if (!run->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], 1);
		dup2(out[1], 2);
		if (run->before)
			run->before();
		execv(RECORDER, (char * const *)argv);
		printf("%s: %s\n", RECORDER, strerror(errno));
		_exit(99);
	}
	close(out[1]);
	run->out = out[0];
	return run->pid;
}

/* Waits for the recorder. Returns its exit status, or 256 plus the signal that killed it. */
int finish(struct run *run)
{
	size_t have = strlen(run->said);
	ssize_t n;
	int status;

	while ((n = read(run->out, run->said + have, sizeof(run->said) - have - 1)) > 0)
		have += n;
	run->said[have] = 0;
	close(run->out);
	waitpid(run->pid, &status, 0);
	return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Waits, for 25 seconds at most, until the recorder prints @text. */
bool wait_until_said(struct run *run, const char *text)
{
	struct pollfd p = { .fd = run->out, .events = POLLIN };
	size_t have = strlen(run->said);
	time_t end = time(NULL) + 25, left;

	/* Under KASAN, in QEMU, the kernel takes 12 s to print formats, metadata and symbols. */
	while (!strstr(run->said, text) && (left = end - time(NULL)) > 0 &&
	       poll(&p, 1, left * 1000) == 1) {
		ssize_t n = read(run->out, run->said + have, sizeof(run->said) - have - 1);

		if (n <= 0)
			return false;
		have += n;
		run->said[have] = 0;
	}
	return strstr(run->said, text);
}

/* Waits until the recorder has handled SIGINT and does not block it: a second one kills it. */
bool wait_until_heard(struct run *run)
{
	unsigned long long blocked;
	char path[32], *text, *at;

	snprintf(path, sizeof(path), "/proc/%d/status", run->pid);
	for (int tries = 0; tries < 250; tries++) {
		text = read_path(path, NULL);
		at = text ? strstr(text, "SigBlk:") : NULL;
		blocked = at ? strtoull(at + strlen("SigBlk:"), NULL, 16) : 0;
		free(text);
		if (!at)
			return false;
		if (!(blocked & 1ULL << (SIGINT - 1)))
			return true;
		usleep(100000);
	}
	return false;
}

/* The number in front of " records of N CPU". */
long long said_records(const char *said)
{
	const char *at = strstr(said, " records of ");

	while (at && at > said && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at ? atoll(at) : -1;
}

/* ---- Looking at its trace ---- */

static bool header_ok(const struct etch_packet_header *h, int cpu)
{
	return h->magic == ETCH_PACKET_MAGIC && h->cpu_id == (__u32)cpu &&
	       h->content_size >= sizeof(*h) * 8 && h->packet_size >= h->content_size &&
	       h->packet_size % 8 == 0;
}

/* Each record has a word and a pid, at least. */
static bool content_ok(const struct etch_packet_header *h)
{
	return h->content_size / 8 - sizeof(*h) >= 12ULL * h->records &&
	       h->timestamp_begin <= h->timestamp_end;
}

static void look_at_packets(struct found *found, int cpu, const char *bytes, size_t len)
{
	const struct etch_packet_header *h, *last = NULL;
	size_t at = 0;

	while (at < len) {
		h = (const void *)(bytes + at);
		if (len - at < sizeof(*h) || !header_ok(h, cpu) || !content_ok(h) ||
		    h->packet_size / 8 > len - at ||
		    (last && h->timestamp_begin < last->timestamp_end)) {
			found->broken = true;
			return;
		}
		if (last)
			found->gaps += h->packet_seq_num - last->packet_seq_num - 1;
		if (h->generation > found->newest)
			found->newest = h->generation;
		found->packets++;
		found->records += h->records;
		at += h->packet_size / 8;
		last = h;
	}
	if (last) {
		found->overwritten += last->overwritten;
		found->lost_full += last->lost_full;
	}
}

struct found look_at_trace(const char *trace)
{
	struct found found = {};
	struct dirent *entry;
	DIR *dir = opendir(trace);
	size_t len;
	char *bytes;
	int cpu;

	if (!dir)
		give_up("%s", trace);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "metadata"))
			continue;
		bytes = read_path(path_of(trace, entry->d_name), &len);
		if (!bytes || sscanf(entry->d_name, "cpu%d", &cpu) != 1)
			give_up("%s/%s", trace, entry->d_name);
		found.files++;
		found.bytes += len;
		look_at_packets(&found, cpu, bytes, len);
		free(bytes);
	}
	closedir(dir);
	return found;
}

/*
 * Waits, for 10 seconds at most, until a recorder with an instance of its own has written
 * packets of CPU 0. It flushes them: an idle CPU would keep them for longer.
 */
bool wait_until_written(const struct run *run)
{
	char instance[80], file[100];
	bool there = false;
	struct stat st;

	snprintf(instance, sizeof(instance), ETCH "/instances/record-%d", run->pid);
	snprintf(file, sizeof(file), "%s/cpu0", run->trace);
	for (int i = 0; i < 100; i++) {
		/* The recorder makes the instance, and takes it away. */
		if (!write_file(instance, "flush", "1"))
			there = true;
		else if (there)
			return false;
		usleep(100000);
		if (!stat(file, &st) && st.st_size)
			return true;
	}
	return false;
}

int recorders_instances(void)
{
	DIR *dir = opendir(ETCH "/instances");
	struct dirent *entry;
	int nr = 0;

	while (dir && (entry = readdir(dir)))
		nr += !strncmp(entry->d_name, "record-", 7);
	if (dir)
		closedir(dir);
	return nr;
}

static void remove_folder(const char *folder)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir)))
		unlink(path_of(folder, entry->d_name));
	if (dir)
		closedir(dir);
	rmdir(folder);
}

void remove_trace(const char *trace)
{
	char notes[200];

	snprintf(notes, sizeof(notes), "%s/.etch", trace);
	remove_folder(notes);
	remove_folder(trace);
}

/* ---- A receiver that the test plays ---- */

int listen_as_receiver(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(PORT)),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (void *)&addr, sizeof(addr)) || listen(fd, 1))
		give_up("no socket to listen at");
	return fd;
}

/* Receives metadata, and answers that it did, and that it takes no notes; or answers @no. */
bool take_metadata(int control, const char *no)
{
	FILE *f = fdopen(dup(control), "r");
	bool ok = false;
	char line[64];
	size_t len;
	char *text;

	if (f && fgets(line, sizeof(line), f) && sscanf(line, "metadata %zu", &len) == 1) {
		text = malloc(len);
		ok = text && fread(text, 1, len, f) == len &&
		     (no ? dprintf(control, "%s\n", no) : dprintf(control, "ok %zu\n", len)) > 0;
		free(text);
	}
	if (f)
		fclose(f);
	return ok;
}

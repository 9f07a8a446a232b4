// SPDX-License-Identifier: GPL-2.0
/*
 * A thread for each CPU, which passes its packets on, and the metadata that describes them.
 * Where the kernel has events of programs, one more for each CPU passes on those.
 *
 * A thread copies the metadata at the start, before it passes on a packet that needs newer
 * metadata than the copy, and at the end. So the trace is readable even if the recording is
 * cut off.
 *
 * A thread ends at the end of its CPU's file: tracing is off, and the kernel has handed out
 * the last part-filled sub-buffer. Before the recorder itself has turned tracing off
 * (@ending), the thread goes on after the end of a file: the CPU may not be online yet, or
 * another program may have turned tracing off.
 */
#include "record.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define READER_PATIENCE	1000	/* ms: then packets below the watermark are taken, too */
#define READER_PAUSE	50	/* ms between looks at a file that has nothing to wait for */

/**
 * struct reader - one CPU's thread
 * @all: it and the others
 * @cpu: which
 * @programs: what it passes on are records of programs
 * @pump: between the CPU's trace_pipe_raw or user_pipe_raw and its file
 * @base: what the CPU's account was when it was found
 * @thread: the thread
 */
struct reader {
	struct readers *all;
	int cpu;
	bool programs;
	struct pump pump;
	struct account base;
	pthread_t thread;
};

/* ---- Metadata ---- */

static int uuid_parse(const char *text, unsigned char uuid[ETCH_PACKET_UUID])
{
	for (int i = 0; i < ETCH_PACKET_UUID; i++) {
		char digits[3] = {};
		int used = 0;

		text += *text == '-';
		/* A part: sscanf() measures all of the text that it gets. */
		strncat(digits, text, 2);
		if (sscanf(digits, "%2hhx%n", &uuid[i], &used) != 1 || used != 2)
			return -1;
		text += 2;
	}
	return 0;
}

/* The trace's is the first that is mentioned. */
static int metadata_uuid(const char *text, unsigned char uuid[ETCH_PACKET_UUID])
{
	static const char before[] = "uuid = \"";
	const char *at = strstr(text, before);

	return at ? uuid_parse(at + strlen(before), uuid) : -1;
}

static int metadata_other_trace(void)
{
	return fail("somebody has changed the instance's clock: this trace ends before that");
}

/* Under the lock, or before there are threads. */
static int metadata_copy(struct metadata *md, bool first)
{
	unsigned char uuid[ETCH_PACKET_UUID];
	size_t len;
	char *text = tree_read(md->tree, "metadata", &len);
	int ret = -1;

	if (!text)
		return fail("%s/metadata: %m. This kernel's Etch gives no packets", md->tree->path);
	if (metadata_uuid(text, uuid))
		fail("%s/metadata has no uuid", md->tree->path);
	else if (!first && memcmp(uuid, md->uuid, sizeof(uuid)))
		metadata_other_trace();
	else
		ret = place_metadata(md->place, text, len);
	if (!ret)
		keep_formats(md->kept, text);
	/* Later metadata is refused, too; the old one describes the packets already written. */
	if (!ret)
		memcpy(md->uuid, uuid, sizeof(uuid));
	free(text);
	return ret;
}

/* A packet is about to go: is it described? */
static int metadata_for(struct metadata *md, const struct etch_packet_header *header)
{
	int ret = 0;

	pthread_mutex_lock(&md->lock);
	if (memcmp(header->uuid, md->uuid, sizeof(md->uuid))) {
		ret = metadata_other_trace();
	} else if (!md->known || (__s32)(header->generation - md->generation) > 0) {
		ret = metadata_copy(md, false);
		md->known = !ret;
		md->generation = header->generation;
	}
	pthread_mutex_unlock(&md->lock);
	return ret;
}

/* ---- A thread ---- */

static int reader_begin_packet(struct pump *pump, const struct etch_packet_header *header)
{
	struct readers *all = pump->arg;

	if (metadata_for(&all->metadata, header))
		return -1;
	if (pump->to < 0)
		pump->to = place_file(all->place, pump->name);
	return pump->to < 0 ? -1 : 0;
}

static void readers_tell(struct readers *all, atomic_bool *what)
{
	*what = true;
	eventfd_write(all->news, 1);
}

/* Until there is something to take, or the end is near, or patience is. */
static void reader_wait(struct reader *r)
{
	struct pollfd fds[2] = {
		{ .fd = r->all->end, .events = POLLIN },
		{ .fd = r->pump.from, .events = POLLIN },
	};

	if (!r->all->ending)
		poll(fds, 2, READER_PATIENCE);
	else
		poll(fds + 1, 1, READER_PAUSE);
}

/* The file seems to have ended, but the recording has not; perhaps it has not begun. */
static void reader_wait_for_end(struct reader *r)
{
	struct pollfd end = { .fd = r->all->end, .events = POLLIN };

	if (r->all->begun && tree_is_off(r->all->tree))
		readers_tell(r->all, &r->all->off);
	poll(&end, 1, READER_PAUSE);
}

static void *reader_run(void *arg)
{
	struct reader *r = arg;
	enum pump_state state;
	bool ending;

	for (;;) {
		ending = r->all->ending;
		state = pump_turn(&r->pump);
		if (state == PUMP_FAILED)
			readers_tell(r->all, &r->all->failed);
		if (state == PUMP_FAILED || (state == PUMP_ENDED && ending))
			return NULL;
		/*
		 * If somebody else has turned tracing on again, or the tree is not to be seen
		 * any more, there is no end to wait for.
		 */
		if (state == PUMP_EMPTY && ending && !tree_is_off(r->all->tree))
			return NULL;
		if (state == PUMP_EMPTY)
			reader_wait(r);
		if (state == PUMP_ENDED)
			reader_wait_for_end(r);
	}
}

/* ---- All of them ---- */

int readers_open(struct readers *all, struct tree *tree, struct place *place, struct kept *kept)
{
	memset(all, 0, sizeof(*all));
	all->tree = tree;
	all->place = place;
	all->metadata.tree = tree;
	all->metadata.place = place;
	all->metadata.kept = kept;
	pthread_mutex_init(&all->metadata.lock, NULL);
	all->end = eventfd(0, EFD_CLOEXEC);
	all->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (all->end < 0 || all->news < 0)
		return fail("no eventfd: %m");
	all->ready = !metadata_copy(&all->metadata, true);
	return all->ready ? 0 : -1;
}

static bool readers_have(const struct readers *all, int cpu, bool programs)
{
	for (int i = 0; i < all->nr; i++)
		if (all->list[i]->cpu == cpu && all->list[i]->programs == programs)
			return true;
	return false;
}

static int reader_start(struct readers *all, int cpu, bool programs, int from,
			const struct account *base)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct reader **list = realloc(all->list, (all->nr + 1) * sizeof(*list));
	char name[32];
	int err;

	if (list)
		all->list = list;
	if (!r || !list) {
		free(r);
		return fail("no memory for one more CPU");
	}
	r->all = all;
	r->cpu = cpu;
	r->programs = programs;
	r->base = *base;
	snprintf(name, sizeof(name), "%s%d", programs ? "user" : "cpu", cpu);
	if (pump_open(&r->pump, name, from)) {
		free(r);
		return -1;
	}
	r->pump.begin = reader_begin_packet;
	r->pump.arg = all;
	err = pthread_create(&r->thread, NULL, reader_run, r);
	if (err) {
		pump_close(&r->pump);
		free(r);
		return fail("no thread for %s: %s", name, strerror(err));
	}
	all->list[all->nr++] = r;
	return 0;
}

static int readers_look_for(struct readers *all, int cpu, bool programs)
{
	struct account base = { 0 };
	int from;

	if (readers_have(all, cpu, programs))
		return 0;
	/* Before the file is open. From then on this reader alone takes records. */
	tree_stats(all->tree, cpu, &base);
	from = tree_open_packets(all->tree, cpu, programs);
	/* Not there yet: it is looked for again. Most kernels have no events of programs. */
	if (from < 0 && (errno == ENODEV || errno == ENXIO || (errno == ENOENT && programs)))
		return 0;
	if (from < 0)
		return fail("%s/per_cpu/cpu%d/%s_pipe_raw: %m%s", all->tree->path, cpu,
			    programs ? "user" : "trace",
			    errno == EBUSY ? ". Somebody else reads it" : "");
	if (!reader_start(all, cpu, programs, from, &base))
		return 0;
	close(from);
	return -1;
}

static int readers_look_at(void *arg, int cpu)
{
	return readers_look_for(arg, cpu, false) || readers_look_for(arg, cpu, true) ? -1 : 0;
}

int readers_look(struct readers *all)
{
	return tree_each_cpu(all->tree, readers_look_at, all);
}

int readers_end(struct readers *all)
{
	int ret = 0;

	if (!all->ready)
		return -1;
	all->ending = true;
	eventfd_write(all->end, 1);
	for (int i = 0; i < all->nr; i++) {
		struct pump *pump = &all->list[i]->pump;

		pthread_join(all->list[i]->thread, NULL);
		if (pump->to >= 0 && place_file_end(all->place, pump->name, pump->to, pump->bytes))
			ret = -1;
	}
	pthread_mutex_lock(&all->metadata.lock);
	if (metadata_copy(&all->metadata, false))
		ret = -1;
	pthread_mutex_unlock(&all->metadata.lock);
	return all->failed ? -1 : ret;
}

int readers_alone(struct readers *all)
{
	/* A thread that waits for an answer, which may be why, holds this until it came. */
	pthread_mutex_lock(&all->metadata.lock);
	place_gone(all->place);
	pthread_mutex_unlock(&all->metadata.lock);
	return -1;
}

void readers_progress(const struct readers *all, struct progress *progress)
{
	memset(progress, 0, sizeof(*progress));
	for (int i = 0; i < all->nr; i++) {
		const struct pump *pump = &all->list[i]->pump;

		progress->packets += pump->packets;
		progress->bytes += pump->bytes;
		progress->records += pump->records;
		progress->dropped += pump->dropped;
		if (all->list[i]->programs)
			progress->programs += pump->records + pump->dropped;
		else
			progress->files += pump->packets > 0;
	}
}

/* Less than before: it was emptied, or is another buffer, and has counted from zero. */
static unsigned long long account_since(unsigned long long base, unsigned long long now)
{
	return now >= base ? now - base : now;
}

static bool reader_account(const struct reader *r, struct account *account)
{
	if (r->programs || !tree_stats(r->all->tree, r->cpu, account))
		return false;
	for (int i = 0; i < STATS; i++)
		account->of[i] = account_since(i == ENTRIES ? 0 : r->base.of[i], account->of[i]);
	return true;
}

void readers_account(const struct readers *all, struct account *sum)
{
	struct account account;

	memset(sum, 0, sizeof(*sum));
	for (int i = 0; i < all->nr; i++) {
		if (!reader_account(all->list[i], &account))
			continue;
		for (int j = 0; j < STATS; j++)
			sum->of[j] += account.of[j];
	}
}

void readers_keep_account(const struct readers *all, struct kept *kept)
{
	struct account account;

	for (int i = 0; i < all->nr; i++)
		if (reader_account(all->list[i], &account))
			keep_account(kept, all->list[i]->cpu, &account);
}

void readers_close(struct readers *all)
{
	for (int i = 0; i < all->nr; i++) {
		close(all->list[i]->pump.from);
		pump_close(&all->list[i]->pump);
		free(all->list[i]);
	}
	free(all->list);
	close(all->end);
	close(all->news);
}

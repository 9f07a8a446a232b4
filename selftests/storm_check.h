/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_STORM_CHECK_H
#define _ETCH_STORM_CHECK_H

/* What has to be so when a storm is over. For storm.c alone. */

#include "sample.h"
#include "storm.h"

static inline void expect_all_on_line(struct __test_metadata *_metadata)
{
	EXPECT_EQ(sysconf(_SC_NPROCESSORS_CONF), nr_cpus());
}

/* Each did what it is there for, and no packet of those that it saw was wrong. */
static inline void expect_workers(struct __test_metadata *_metadata)
{
	for (unsigned int i = 0; i < storm->nr; i++) {
		const struct worker *w = &storm->workers[i];

		printf("# %-14s %8llu done, %6llu refused", w->name, w->done, w->refused);
		if (w->records.packets || w->records.records)
			printf(", %llu packets, %llu records", w->records.packets,
			       w->records.records);
		printf("\n");
		EXPECT_STREQ("", w->failed) TH_LOG("%s failed", w->name);
		EXPECT_LE(w->least, w->done) TH_LOG("%s did too little", w->name);
		EXPECT_EQ(0, w->records.wrong) TH_LOG("%s: %s", w->name, w->records.why);
		EXPECT_EQ(w->rest, w->ended) TH_LOG("%s did not come to the end", w->name);
	}
}

static inline void expect_off(struct __test_metadata *_metadata, const char *tree)
{
	EXPECT_EQ(0, write_file(tree, "events/enable", "0"));
	EXPECT_STREQ("0", read_line(tree, "events/enable")) TH_LOG("%s", tree);
	EXPECT_STREQ("", read_line(tree, "set_event")) TH_LOG("%s", tree);
}

static inline void expect_conserved(struct __test_metadata *_metadata, const char *tree)
{
	for (int cpu = 0; cpu < storm->nr_cpus; cpu++) {
		long long written = stat_of(tree, cpu, "written");
		long long read = stat_of(tree, cpu, "read");
		long long overwritten = stat_of(tree, cpu, "overwritten");
		long long entries = stat_of(tree, cpu, "entries");

		EXPECT_LE(0, written);
		EXPECT_EQ(written, read + overwritten + entries)
			TH_LOG("%s: CPU %d: %lld read, %lld overwritten, %lld there", tree, cpu,
			       read, overwritten, entries);
		EXPECT_EQ(0, stat_of(tree, cpu, "lost too big"));
	}
}

/* A CPU that went has begun anew with its stats, if all of its buffer was read. */
static inline bool storm_stays(int cpu)
{
	for (unsigned int i = 0; i < storm->nr; i++)
		if (!strcmp(storm->workers[i].name, "hotplug") && storm->workers[i].arg == cpu)
			return false;
	return true;
}

static inline const struct worker *storm_worker(const char *name, int arg)
{
	for (unsigned int i = 0; i < storm->nr; i++)
		if (!strcmp(storm->workers[i].name, name) && storm->workers[i].arg == arg)
			return &storm->workers[i];
	errno = ENOENT;
	give_up("%s %d", name, arg);
}

/* Whatever was read was given to the only one who took; and the rest is told as lost. */
static inline void expect_packets(struct __test_metadata *_metadata)
{
	for (int cpu = 0; cpu < storm->nr_cpus; cpu++) {
		const struct records *r = &storm_worker("collect", cpu)->records;
		long long lost = stat_of(RAW, cpu, "overwritten") + stat_of(RAW, cpu, "lost full") +
				 stat_of(RAW, cpu, "lost nested");
		long long read = stat_of(RAW, cpu, "read");

		EXPECT_LT(0, r->records);
		EXPECT_EQ(0, stat_of(RAW, cpu, "entries"));
		printf("# CPU %d: %llu records in %llu packets, %llu discarded\n", cpu, r->records,
		       r->packets, r->discarded);
		if (storm_stays(cpu)) {
			EXPECT_EQ(read, r->records);
			EXPECT_EQ(lost, r->discarded);
		} else {
			EXPECT_LE(read, r->records);
			EXPECT_LE(lost, r->discarded);
		}
	}
}

static inline void expect_text(struct __test_metadata *_metadata)
{
	const struct records *r = &storm_worker("collect-text", 0)->records;
	long long read = 0;
	bool stays = true;

	for (int cpu = 0; cpu < storm->nr_cpus; cpu++) {
		EXPECT_EQ(0, stat_of(TEXT, cpu, "entries"));
		read += stat_of(TEXT, cpu, "read");
		stays = stays && storm_stays(cpu);
	}
	EXPECT_LT(0, r->records);
	if (stays) {
		EXPECT_EQ(read, r->records);
	} else {
		EXPECT_LE(read, r->records);
	}
}

/* With tracing on, and the same load as before, nothing comes. */
static inline void expect_sites_off(struct __test_metadata *_metadata,
				    const char * const trees[], size_t nr)
{
	long long before[8];
	size_t i;

	for (i = 0; i < nr; i++) {
		EXPECT_EQ(0, write_file(trees[i], "tracing_on", "1"));
		before[i] = stat_sum(trees[i], "written") + lost_sum(trees[i]);
	}
	for (int cpu = 0; cpu < nr_cpus(); cpu++)
		load_wait(load_start(cpu, 2, NULL));
	for (i = 0; i < nr; i++) {
		EXPECT_EQ(before[i], stat_sum(trees[i], "written") + lost_sum(trees[i]))
			TH_LOG("%s records what is not enabled", trees[i]);
	}
}

/* Settings can be set, and a record gets through, both ways. */
static inline void expect_works(struct __test_metadata *_metadata, const char *tree)
{
	struct records r = {};
	size_t len = 0;
	char *data;
	int fd;

	EXPECT_EQ(0, write_file(tree, "tracing_on", "1"));
	EXPECT_EQ(0, write_file(tree, "buffer_mode", "overwrite"));
	EXPECT_EQ(0, write_file(tree, "buffer_subbuf_size_kb", "8"));
	EXPECT_EQ(0, write_file(tree, "buffer_size_kb", "128"));
	EXPECT_STREQ("128", read_line(tree, "buffer_size_kb"));
	EXPECT_EQ(0, overwrite_file(tree, "trace", ""));
	run_on(0);
	EXPECT_EQ(0, write_file(tree, "trace_marker", "after the storm"));
	data = read_file(tree, "trace");
	EXPECT_EQ(1, count_records(data)) TH_LOG("%s: %s", tree, data);
	free(data);
	EXPECT_EQ(0, write_file(tree, "tracing_on", "0"));
	fd = packets_open(tree, 0, 0);
	data = read_all(fd, &len);
	close(fd);
	EXPECT_EQ(len, records_add(&r, data, len));
	EXPECT_EQ(0, r.wrong) TH_LOG("%s: %s", tree, r.why);
	EXPECT_EQ(1, r.records);
	free(data);
}

/* Nobody holds an instance, or the module. */
static inline void expect_nothing_left(struct __test_metadata *_metadata)
{
	static const char * const trees[] = { ALL, RAW, TEXT };
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		EXPECT_EQ(0, rmdir(trees[i])) TH_LOG("%s: %s", trees[i], strerror(errno));
	}
	EXPECT_EQ(-1, access(FLEETING, F_OK));
	/* Nor the recorder's. */
	EXPECT_EQ(2, stat(ETCH "/instances", &st) ? 0 : st.st_nlink);
	EXPECT_EQ(-1, access("/sys/module/" SAMPLE, F_OK));
	if (!sample_path())
		return;
	EXPECT_EQ(0, sample_load());
	EXPECT_STREQ("0", read_line("/sys/module/" SAMPLE, "refcnt"));
	EXPECT_EQ(0, sample_unload());
}

#endif /* _ETCH_STORM_CHECK_H */

// SPDX-License-Identifier: GPL-2.0
/* See ring_test.h. */

#include <stdarg.h>

#include "ring_test.h"
#include "ring/ring_internal.h"

int tap_nr, tap_failed;
long check_failures;

bool tap(bool ok, const char *fmt, ...)
{
	va_list ap;

	ok = ok && checks_passed();
	printf("%sok %d - ", ok ? "" : "not ", ++tap_nr);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	tap_failed += !ok;
	if (!ok && getenv("TAP_STOP"))
		exit(1);
	return ok;
}

void tap_note(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

int tap_end(void)
{
	tap(!shim_warnings, "no warning from the ring");
	printf("1..%d\n", tap_nr);
	return tap_failed != 0;
}

bool checks_passed(void)
{
	bool ok = !check_failures;

	if (check_failures > 8)
		tap_note("%ld checks failed in all", check_failures);
	check_failures = 0;
	return ok;
}

static u16 rec_sum(const struct rec *rec)
{
	u64 mix = rec->time * 0x9e3779b97f4a7c15ULL + rec->seq * 0x85ebca6bULL +
		  rec->len * 40503ULL + rec->level;

	return mix >> 50;
}

void rec_fill(struct rec *rec, u64 time, int level, u32 seq, unsigned int len)
{
	unsigned int i;

	rec->time = time;
	rec->seq = seq;
	rec->len = len;
	rec->level = level;
	for (i = 0; i < len - REC_MIN; i++)
		rec->body[i] = (u8)(seq + i * 7 + level);
	rec->sum = rec_sum(rec);
}

bool rec_good(const struct rec *rec, unsigned int room)
{
	unsigned int i;

	if (room < REC_MIN || rec->len < REC_MIN || rec->len > room || rec->level >= LEVELS)
		return false;
	for (i = 0; i < rec->len - REC_MIN; i++)
		if (rec->body[i] != (u8)(rec->seq + i * 7 + rec->level))
			return false;
	return rec->sum == rec_sum(rec);
}

bool rec_write(struct etch_ring *r, int level, u32 seq, unsigned int len)
{
	struct rec *rec;
	u64 time;

	rec = rec_reserve(r, len, &time, seq % REC_WAYS);
	if (!rec)
		return false;
	rec_fill(rec, time, level, seq, len);
	etch_ring_commit(r);
	return true;
}

unsigned int tally_view(struct tally *t, const struct etch_view *view, unsigned int max,
			unsigned int *records)
{
	unsigned int at = 0, n = 0;
	u64 before = view->begin;

	/* A sum hides one that is less than nothing, and made good by the next. */
	t->missed += view->missed;
	t->bad += (s64)view->missed < 0;
	t->bad += etch_view_lost(view) < t->last_lost || (uintptr_t)view->data % 4;
	t->last_lost = etch_view_lost(view);
	t->next_block = view->seq;

	while (at < view->len && n < max) {
		const struct rec *rec = view->data + at;

		n++;
		if (!rec_good(rec, view->len - at)) {
			t->bad++;
			at = view->len;
			break;
		}
		t->bad += rec->time < view->begin || rec->time < t->last_time ||
			  rec->seq < t->next[rec->level];
		/* A record with the low bits alone takes the others from the record before. */
		t->bad += rec->time - before >= 1ULL << 48;
		t->last_time = before = rec->time;
		t->gaps += rec->seq - t->next[rec->level];
		t->next[rec->level] = rec->seq + 1;
		at += rec->len;
		if (at < view->len)
			at = ALIGN(at, 4);
	}
	if (max == NOBODY)
		t->bad += n != view->records || at != view->len;
	t->records += n;
	*records = n;
	return at;
}

void tally_subbuf(struct tally *t, const struct etch_ring *r, const struct etch_view *view)
{
	u64 overwritten = etch_ring_overwritten(r);
	s64 gone = view->seq - t->next_block;
	unsigned int records;

	t->bad += gone < 0;
	t->blocks_gone += gone;
	tally_view(t, view, NOBODY, &records);
	t->bad += view->open || view->begin < t->last_end || view->end < view->begin ||
		  (records && t->last_time > view->end) || overwritten < t->missed;
	t->missed = overwritten;
	t->last_end = view->end;
	t->next_block = view->seq + 1;
}

u64 tally_drain(struct tally *t, struct etch_ring *r)
{
	struct etch_view view;
	unsigned int bytes, records;
	u64 sum = 0;

	while (etch_ring_take(r, &view) > 0) {
		bytes = tally_view(t, &view, NOBODY, &records);
		etch_ring_advance_to(r, bytes, records, t->last_time);
		sum += records;
	}
	return sum;
}

bool stats_balance(struct etch_ring *r, struct etch_ring_stats *s)
{
	etch_ring_stats(r, s);
	if (s->written == s->read + s->overwritten + s->entries)
		return true;
	tap_note("written %llu, but read %llu + overwritten %llu + entries %llu",
		 (unsigned long long)s->written, (unsigned long long)s->read,
		 (unsigned long long)s->overwritten, (unsigned long long)s->entries);
	return false;
}

void ring_rebase(struct etch_ring *r, u64 pos)
{
	unsigned int i;

	pos &= ~(r->size * r->nr - 1);
	for (i = 0; i < r->nr; i++)
		r->slots[i] += pos;
	r->start += pos;
	r->pos = pos;
	r->committed = pos;
	r->consumed = pos;
	r->rd = pos;
	r->rd_block = pos;
}

struct etch_ring *ring_make(size_t size, unsigned int subbuf, unsigned int header, bool overwrite)
{
	struct etch_ring_params p = {
		.node = NUMA_NO_NODE, .size = size, .subbuf_size = subbuf,
		.header_size = header, .overwrite = overwrite, .clock = ETCH_CLOCK_COUNTER,
	};

	return etch_ring_create(&p);
}

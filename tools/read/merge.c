// SPDX-License-Identifier: GPL-2.0
/*
 * Several CPUs' streams, in the order of their times.
 *
 * The CPUs' next records are in a heap, the earliest on top. Of records with one time, that of
 * the lower CPU comes first.
 */
#include "read/read.h"

#include <stdlib.h>

static bool lane_before(const struct etch_lane *a, const struct etch_lane *b)
{
	return a->rec.time < b->rec.time ||
	       (a->rec.time == b->rec.time && a->rec.cpu < b->rec.cpu);
}

/* The one at @i may be later than those below it. */
static void heap_sink(struct etch_merge *m, unsigned int i)
{
	struct etch_lane *lane = m->heap[i];

	for (;;) {
		unsigned int child = 2 * i + 1;

		if (child + 1 < m->nr && lane_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (child >= m->nr || !lane_before(m->heap[child], lane))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = lane;
}

bool etch_merge_open(struct etch_merge *m, unsigned int nr_lanes)
{
	*m = (struct etch_merge){ .nr_lanes = nr_lanes };
	m->lanes = calloc(nr_lanes + 1, sizeof(*m->lanes));
	m->heap = calloc(nr_lanes + 1, sizeof(*m->heap));
	return m->lanes && m->heap;
}

void etch_merge_close(struct etch_merge *m)
{
	for (unsigned int i = 0; m->lanes && i < m->nr_lanes; i++)
		etch_stream_close(m->lanes[i].stream);
	free(m->lanes);
	free(m->heap);
}

/* The record on top was returned: the next one of that CPU takes its place. */
static void merge_replace(struct etch_merge *m)
{
	struct etch_lane *top = m->heap[0];

	m->taken = false;
	if (etch_stream_next(top->stream, &top->rec) <= 0) {
		top->waits = false;
		m->heap[0] = m->heap[--m->nr];
	}
	if (m->nr > 1)
		heap_sink(m, 0);
}

void etch_merge_fill(struct etch_merge *m)
{
	if (m->taken)
		merge_replace(m);
	for (unsigned int i = 0; i < m->nr_lanes; i++) {
		struct etch_lane *lane = &m->lanes[i];

		if (!lane->stream || lane->waits || etch_stream_next(lane->stream, &lane->rec) <= 0)
			continue;
		lane->waits = true;
		m->heap[m->nr++] = lane;
	}
	for (unsigned int i = m->nr; i--;)
		heap_sink(m, i);
}

int etch_merge_next(struct etch_merge *m, uint64_t until, struct etch_record *rec)
{
	if (m->taken)
		merge_replace(m);
	if (!m->nr || m->heap[0]->rec.time > until)
		return 0;
	*rec = m->heap[0]->rec;
	m->taken = true;
	return 1;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Looks through the records that an earlier kernel left in a region, and trusts none of its
 * contents. See persist.h.
 *
 * For any contents, this code writes nothing to the region, follows no pointer in it, and
 * reads nothing outside of it. It cannot detect every damage: a changed bit in a number
 * within a record stays.
 */

#include <linux/align.h>
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/crc32.h>
#include <linux/etch.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "persist/persist.h"
#include "ring/ring_internal.h"
#include "ring/ring_look.h"

/* Room for metadata and for the table, in parts of a region, and at most. */
#define ETCH_PERSIST_TEXT_PART	8
#define ETCH_PERSIST_TEXT_MAX	(4 * 1024 * 1024ULL)
#define ETCH_PERSIST_TABLE_PART	64
#define ETCH_PERSIST_TABLE_MAX	(256 * 1024ULL)
#define ETCH_PERSIST_BYTES_MAX	BIT_ULL(40)
#define ETCH_PERSIST_CPUS_MAX	65536

/* A time that is so much later than the one before it was an earlier one. */
#define ETCH_PERSIST_BACK	BIT_ULL(ETCH_TIME_BITS - 1)

u32 etch_persist_sum(const void *from, size_t len)
{
	return crc32_le(~0, from, len);
}

u32 etch_persist_head_sum(const struct etch_persist_head *head)
{
	return etch_persist_sum(head, offsetof(struct etch_persist_head, sum));
}

/* Kernels that agree in this read each other's rings. */
u32 etch_persist_layout(void)
{
	static const u32 layout[] = {
		sizeof(struct etch_ring), offsetof(struct etch_ring, committed),
		offsetof(struct etch_ring, nr), offsetof(struct etch_ring, size),
		offsetof(struct etch_ring, header), offsetof(struct etch_ring, overwritten),
		offsetof(struct etch_ring, lost), offsetof(struct etch_ring, forgotten),
		offsetof(struct etch_ring, rd), offsetof(struct etch_ring, spare),
		offsetof(struct etch_ring, held), offsetof(struct etch_ring, reread),
		sizeof(struct etch_block), offsetof(struct etch_block, begin),
		offsetof(struct etch_block, left), offsetof(struct etch_block, end),
		offsetof(struct etch_block, lost), offsetof(struct etch_block, records),
		sizeof(struct etch_head), ETCH_POS_SHIFT, ETCH_TIME_BITS, ETCH_PACKET_HEADER,
		ETCH_SLOT_START >> 32, (u32)ETCH_SLOT_BLOCK, PAGE_SIZE,
	};

	return etch_persist_sum(layout, sizeof(layout));
}

/* Bytes of a slice in front of its pages. */
static u64 etch_slice_front(u64 nr)
{
	return PAGE_ALIGN(ALIGN(sizeof(struct etch_ring), SMP_CACHE_BYTES) + nr * sizeof(u64) +
			  (nr + 1) * sizeof(struct etch_block));
}

/**
 * etch_persist_shape() - how a region is laid out
 * @shape: gets it
 * @bytes: of the region
 * @subbuf: of a sub-buffer
 * @cpus: how many there can be
 *
 * Context: any.
 * Return: 0, or -EINVAL if that is too small, or no sizes at all.
 */
int etch_persist_shape(struct etch_persist_shape *shape, u64 bytes, u32 subbuf, u32 cpus)
{
	u64 nr;

	memset(shape, 0, sizeof(*shape));
	if (!cpus || cpus > ETCH_PERSIST_CPUS_MAX || !is_power_of_2(subbuf) || subbuf < PAGE_SIZE ||
	    subbuf > ETCH_RING_MAX_SUBBUF || bytes > ETCH_PERSIST_BYTES_MAX)
		return -EINVAL;
	shape->bytes = bytes;
	shape->subbuf = subbuf;
	shape->cpus = cpus;
	shape->text = PAGE_SIZE;
	shape->text_bytes = PAGE_ALIGN(min(bytes / ETCH_PERSIST_TEXT_PART, ETCH_PERSIST_TEXT_MAX));
	shape->table = shape->text + shape->text_bytes;
	shape->table_bytes = PAGE_ALIGN(min(bytes / ETCH_PERSIST_TABLE_PART,
					    ETCH_PERSIST_TABLE_MAX));
	shape->slices = shape->table + shape->table_bytes;
	if (shape->slices >= bytes)
		return -EINVAL;
	shape->slice_bytes = round_down((bytes - shape->slices) / cpus, PAGE_SIZE);
	for (nr = ETCH_RING_MAX_NR; nr >= 2; nr /= 2) {
		if (etch_slice_front(nr) + (nr + 1) * subbuf > shape->slice_bytes)
			continue;
		shape->nr = nr;
		return 0;
	}
	return -EINVAL;
}

/* ---- Where records end ---- */

/*
 * The table: of each event its id, the bytes of its payload, how many fields have their
 * content behind it, and of each of these where its word is and whether that counts
 * from there. All are u16. @at: by id, where it stands in the table, from 1 on.
 */
struct etch_persist_table {
	const u16 *words;
	unsigned int nr;
	u32 *at;
};

static int etch_table_index(struct etch_persist_table *t)
{
	unsigned int i = 0;

	while (i < t->nr) {
		unsigned int dynamic;

		if (t->nr - i < 3)
			return -EINVAL;
		dynamic = t->words[i + 2];
		if (t->words[i] > ETCH_ID_MAX || t->words[i + 1] < sizeof(struct etch_head) ||
		    (t->nr - i - 3) / 2 < dynamic)
			return -EINVAL;
		t->at[t->words[i]] = i + 1;
		i += 3 + 2 * dynamic;
	}
	return 0;
}

/* As etch_record_len(), by the table. */
static unsigned int etch_table_len(const struct etch_persist_table *t, const void *record,
				   unsigned int left)
{
	const struct etch_head *head = record;
	unsigned int size, end, i, nr;
	const u16 *words;

	if (left < sizeof(*head))
		return 0;
	i = t->at[(head->word >> ETCH_TIME_BITS) & ETCH_ID_MAX];
	if (!i)
		return 0;
	words = t->words + i - 1;
	size = words[1];
	nr = words[2];
	end = size;
	if (size > left)
		return 0;
	for (words += 3; nr--; words += 2) {
		unsigned int start, len;
		u32 loc;

		if (words[0] + sizeof(loc) > size)
			return 0;
		memcpy(&loc, record + words[0], sizeof(loc));
		start = (loc & 0xffff) + (words[1] ? words[0] + sizeof(loc) : 0);
		len = loc >> 16;
		if (!len)
			continue;
		if (start < size || start + len > left)
			return 0;
		end = max(end, start + len);
	}
	return end;
}

/* ---- A sub-buffer ---- */

/*
 * Walk the records. @whole: none of them had been read. @last: gets the last one's time.
 * Returns how many there are; 0: this makes no sense.
 */
static unsigned int etch_walk(const struct etch_persist_table *t, const struct etch_view *view,
			      bool whole, u64 *last)
{
	unsigned int at = 0, nr = 0, len, done = 0;
	u64 time;

	*last = view->begin;
	while (at < view->len) {
		const struct etch_head *head = view->data + at;

		len = etch_table_len(t, head, view->len - at);
		if (!len)
			return 0;
		time = etch_time_full(*last, head->word);
		if (time - *last >= ETCH_PERSIST_BACK || head->pid < 0 ||
		    (!view->open && time > view->end))
			return 0;
		*last = time;
		nr++;
		done = at + len;
		at = ALIGN(done, 4);
	}
	if (done != view->len || nr > view->records || (whole && nr != view->records))
		return 0;
	return nr;
}

static void etch_packet_fill(struct etch_persist_packet *packet,
			     const struct etch_persist_head *head,
			     const struct etch_persist_cpu *c, int cpu,
			     const struct etch_view *view)
{
	unsigned int content = ETCH_PACKET_HEADER + view->len;

	packet->data = view->data;
	packet->len = view->len;
	packet->head = (struct etch_packet_header) {
		.magic = ETCH_PACKET_MAGIC,
		.timestamp_begin = view->begin,
		.timestamp_end = view->end,
		.content_size = (u64)content * BITS_PER_BYTE,
		.packet_size = PAGE_ALIGN(content) * BITS_PER_BYTE,
		.packet_seq_num = view->seq + 1,
		.events_discarded = c->overwritten + etch_view_lost(view),
		.overwritten = c->overwritten,
		.lost_full = view->lost[ETCH_LOST_FULL],
		.lost_throttled = view->lost[ETCH_LOST_THROTTLED],
		.lost_nested = view->lost[ETCH_LOST_NESTED],
		.lost_too_big = view->lost[ETCH_LOST_TOO_BIG],
		.cpu_id = cpu,
		.pid = view->pid,
		.generation = head->generation,
		.records = view->records,
	};
	memcpy(packet->head.uuid, head->uuid, sizeof(packet->head.uuid));
}

/* ---- A ring ---- */

/*
 * A copy of the ring whose words that lead anywhere are ours. False: it is none.
 * etch_ring_look_next() does the rest: it believes no index.
 */
static bool etch_slice_ring(const struct etch_persist_shape *shape, void *slice,
			    struct etch_ring *r)
{
	memcpy(r, slice, sizeof(*r));
	if (r->nr != shape->nr || r->size != ETCH_POS(shape->subbuf) ||
	    r->shift != ilog2(shape->subbuf) || r->header != ETCH_PACKET_HEADER)
		return false;
	r->slots = slice + ALIGN(sizeof(*r), SMP_CACHE_BYTES);
	r->blocks = (void *)(r->slots + shape->nr);
	return true;
}

/*
 * @view's data is where it was in the old kernel: find it in the region, inside one of the
 * ring's sub-buffers that was not seen yet.
 */
static bool etch_slice_place(const struct etch_persist_head *head, void *region,
			     const void *slice, struct etch_view *view, unsigned long *seen)
{
	const struct etch_persist_shape *shape = &head->shape;
	u64 pages = slice + etch_slice_front(shape->nr) - region;
	u64 at = (u64)(unsigned long)view->data - head->base;
	u64 off = at - pages;

	if (at < pages || off >= (shape->nr + 1) * shape->subbuf || off % 4)
		return false;
	if (off % shape->subbuf + view->len > shape->subbuf ||
	    off % shape->subbuf < ETCH_PACKET_HEADER)
		return false;
	view->data = region + at;
	return !test_and_set_bit(off / shape->subbuf, seen);
}

static void etch_slice_torn(struct etch_persist_cpu *c, const struct etch_view *view)
{
	c->torn++;
	c->dropped += min_t(u64, view->records, ETCH_POS_COUNT);
}

/* Go through the sub-buffers of a ring; @c->packets has room for all. */
static void etch_slice_walk(const struct etch_persist_head *head, void *region, void *slice,
			    const struct etch_persist_table *table, const struct etch_ring *r,
			    struct etch_persist_cpu *c, int cpu, unsigned long *seen)
{
	u64 last, part, left = 0;
	struct etch_look look;
	struct etch_view view;

	etch_ring_look_begin(r, &look, U64_MAX);
	/* The number of the one that was read in part. */
	part = look.off ? look.seq : U64_MAX;
	while (etch_ring_look_next(r, &look, &view)) {
		u64 told = view.records;

		if (!etch_slice_place(head, region, slice, &view, seen)) {
			etch_slice_torn(c, &view);
			continue;
		}
		view.begin = max(view.begin, left);
		if (!view.open && view.end - view.begin >= ETCH_PERSIST_BACK) {
			etch_slice_torn(c, &view);
			continue;
		}
		view.records = etch_walk(table, &view, view.seq != part, &last);
		if (!view.records) {
			view.records = told;
			etch_slice_torn(c, &view);
			continue;
		}
		if (view.open)
			view.end = last;
		left = view.end;
		c->records += view.records;
		etch_packet_fill(&c->packets[c->nr++], head, c, cpu, &view);
	}
}

static int etch_slice_check(const struct etch_persist_head *head, void *region,
			    const struct etch_persist_table *table, int cpu,
			    struct etch_persist_cpu *c)
{
	const struct etch_persist_shape *shape = &head->shape;
	void *slice = region + shape->slices + cpu * shape->slice_bytes;
	struct etch_ring *r;
	unsigned long *seen;
	int i, ret = -ENOMEM;

	r = kvmalloc(sizeof(*r), GFP_KERNEL);
	seen = kvcalloc(BITS_TO_LONGS(shape->nr + 1), sizeof(*seen), GFP_KERNEL);
	c->packets = kvcalloc(shape->nr + 1, sizeof(*c->packets), GFP_KERNEL);
	if (!r || !seen || !c->packets)
		goto out;
	ret = 0;
	if (!memchr_inv(slice, 0, sizeof(*r)))
		goto out;
	c->damaged = !etch_slice_ring(shape, slice, r);
	if (c->damaged)
		goto out;
	c->overwritten = local_read(&r->overwritten) - r->reread;
	for (i = 0; i < ETCH_LOST_OFF; i++)
		c->lost += local_read(&r->lost[i]) - r->forgotten[i];
	etch_slice_walk(head, region, slice, table, r, c, cpu, seen);
	/* The last committed block is still in its slot, unless it was read. */
	c->damaged = r->committed && !c->nr && !c->torn &&
		     etch_slot_start(*etch_ring_slot(r, etch_ring_block_at(r, r->committed))) !=
		     etch_ring_block_at(r, r->committed);
out:
	kvfree(seen);
	kvfree(r);
	return ret;
}

/* ---- A region ---- */

/* Why nothing can be made of it, or NULL. */
static const char *etch_head_check(const struct etch_persist_head *head, u64 bytes)
{
	struct etch_persist_shape shape;

	if (head->version != ETCH_PERSIST_VERSION)
		return "another version of Etch wrote it";
	if (head->sum != etch_persist_head_sum(head))
		return "its head is damaged";
	if (head->layout != etch_persist_layout())
		return "a kernel wrote it whose rings have another layout";
	if (etch_persist_shape(&shape, bytes, head->shape.subbuf, head->shape.cpus) ||
	    memcmp(&shape, &head->shape, sizeof(shape)))
		return "its shape is not that of a region of this size";
	return NULL;
}

/* What a word of the head says of a part. False: the part is not what it was summed up from. */
static bool etch_part_check(const void *part, u64 room, u64 word, unsigned int *len)
{
	*len = word >> 32;
	return *len <= room && etch_persist_sum(part, *len) == (u32)word;
}

static int etch_cpus_check(void *region, const struct etch_persist_table *table,
			   struct etch_persist_found *found)
{
	unsigned int cpu;
	int ret = 0;

	found->nr_cpus = found->head->shape.cpus;
	found->cpus = kvcalloc(found->nr_cpus, sizeof(*found->cpus), GFP_KERNEL);
	if (!found->cpus)
		return -ENOMEM;
	for (cpu = 0; cpu < found->nr_cpus && !ret; cpu++)
		ret = etch_slice_check(found->head, region, table, cpu, &found->cpus[cpu]);
	return ret;
}

/**
 * etch_persist_check() - what is there in a region?
 * @region: the region
 * @bytes: of it
 * @found: gets what was found, for etch_persist_forget(); it refers to the region
 *
 * Context: process, may sleep.
 * Return: 0, if found->why says that nothing can be made of it, too; -ENOMEM.
 */
int etch_persist_check(void *region, u64 bytes, struct etch_persist_found *found)
{
	const struct etch_persist_head *head = region;
	struct etch_persist_table table = {};
	unsigned int len;
	int ret;

	memset(found, 0, sizeof(*found));
	if (bytes < sizeof(*head) || head->magic != ETCH_PERSIST_MAGIC) {
		found->why = "nothing of Etch's is in it";
		return 0;
	}
	found->any = true;
	found->why = etch_head_check(head, bytes);
	if (found->why)
		return 0;
	found->head = head;
	found->text = region + head->shape.text;
	table.words = region + head->shape.table;
	if (!etch_part_check(found->text, head->shape.text_bytes, head->text, &found->text_len) ||
	    !etch_part_check(table.words, head->shape.table_bytes, head->table, &len)) {
		found->why = "its metadata is damaged";
		return 0;
	}
	table.nr = len / sizeof(*table.words);
	table.at = kvcalloc(ETCH_ID_MAX + 1, sizeof(*table.at), GFP_KERNEL);
	if (!table.at)
		return -ENOMEM;
	if (etch_table_index(&table)) {
		found->why = "its table of events is damaged";
		ret = 0;
	} else {
		ret = etch_cpus_check(region, &table, found);
	}
	kvfree(table.at);
	if (ret)
		etch_persist_forget(found);
	return ret;
}

/**
 * etch_persist_forget() - free what etch_persist_check() needed
 * @found: that
 */
void etch_persist_forget(struct etch_persist_found *found)
{
	unsigned int cpu;

	if (found->cpus)
		for (cpu = 0; cpu < found->nr_cpus; cpu++)
			kvfree(found->cpus[cpu].packets);
	kvfree(found->cpus);
	memset(found, 0, sizeof(*found));
}

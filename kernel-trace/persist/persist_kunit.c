// SPDX-License-Identifier: GPL-2.0
/*
 * What an earlier kernel left, found: whole, in the middle of things, and damaged.
 *
 * A region of ordinary memory is recorded into by an instance as by any kernel, copied, and
 * the copy, which lies elsewhere as it may in a next boot, is looked through. Each record
 * has a number, its complement, and some bytes that depend on it, so it tells itself
 * whether it is right.
 */

#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "persist/persist.h"
#include "ring/ring_internal.h"

/* Some sub-buffers full, and more than a ring has. */
#define ETCH_TEST_RECORDS	(PAGE_SIZE / 10)
#define ETCH_TEST_MANY		(PAGE_SIZE * 5)
#define ETCH_TEST_FLIPS		1500

struct etch_test_kept {
	struct etch_head head;
	u32 number;
	u32 inverse;
	u32 bytes;
	char content[];
} __packed __aligned(4);

#define ETCH_TEST_FIELD(_type, _name, _kind, _size, _elem, _align)	\
	{ .type = _type, .name = _name, .kind = _kind, .size = _size,	\
	  .elem_size = _elem, .align = _align }

static struct etch_field etch_test_kept_fields[] = {
	ETCH_TEST_FIELD("u32", "number", ETCH_FIELD_FIXED, 4, 4, 4),
	ETCH_TEST_FIELD("u32", "inverse", ETCH_FIELD_FIXED, 4, 4, 4),
	ETCH_TEST_FIELD("__data_loc u8[]", "bytes", ETCH_FIELD_DATA_LOC, 4, 1, 1),
};

static struct etch_class etch_test_kept_class = {
	.system = "etch_test",
	.fields = etch_test_kept_fields,
	.nr_fields = ARRAY_SIZE(etch_test_kept_fields),
	.size = sizeof(struct etch_test_kept),
	.print_fmt = "",
};

static struct etch_event etch_test_kept_event = {
	.name = "etch_test_kept",
	.class = &etch_test_kept_class,
	.hidden = true,
};

struct etch_test {
	struct etch_persist p;
	u64 bytes;
	void *copy;
	struct etch_persist_found found;
};

static struct etch_test *etch_test_of(struct kunit *test)
{
	return test->priv;
}

/* ---- A region ---- */

static int etch_persist_test_init(struct kunit *test)
{
	struct etch_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int ret;

	if (!t)
		return -ENOMEM;
	test->priv = t;
	t->bytes = (64 + nr_cpu_ids * 16) * PAGE_SIZE;
	t->p.name = "etch_kunit";
	t->p.memory = vzalloc(t->bytes);
	t->copy = vzalloc(t->bytes);
	t->p.described = kvzalloc(ETCH_ID_MAX + 1, GFP_KERNEL);
	if (!t->p.memory || !t->copy || !t->p.described)
		return -ENOMEM;
	ret = etch_persist_shape(&t->p.shape, t->bytes, PAGE_SIZE, nr_cpu_ids);
	mutex_lock(&etch_mutex);
	ret = ret ?: etch_persist_start(&t->p);
	mutex_unlock(&etch_mutex);
	return ret;
}

static void etch_persist_test_exit(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);

	if (!t)
		return;
	etch_persist_forget(&t->found);
	if (t->p.inst) {
		etch_instance_put(t->p.inst);
		mutex_lock(&etch_mutex);
		KUNIT_EXPECT_EQ(test, 0, etch_instance_destroy(t->p.inst));
		mutex_unlock(&etch_mutex);
	}
	kvfree(t->p.described);
	vfree(t->copy);
	vfree(t->p.memory);
}

static int etch_persist_suite_init(struct kunit_suite *suite)
{
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_event_register(&etch_test_kept_event);
	mutex_unlock(&etch_mutex);
	return ret;
}

static void etch_persist_suite_exit(struct kunit_suite *suite)
{
	mutex_lock(&etch_mutex);
	etch_event_unregister(&etch_test_kept_event);
	mutex_unlock(&etch_mutex);
}

static unsigned int etch_test_content(u32 number)
{
	return number % 13;
}

/* Reserves a record and fills it in. The caller has preemption disabled, and commits. */
static bool etch_test_reserve(struct etch_ring *ring, u32 number)
{
	unsigned int content = etch_test_content(number);
	struct etch_test_kept *record;
	u64 time;

	record = etch_ring_reserve(ring, sizeof(*record) + content, &time);
	if (!record)
		return false;
	record->head.word = (time & ETCH_TIME_MASK) |
			    (u64)etch_test_kept_event.id << ETCH_TIME_BITS;
	record->head.pid = 1;
	record->number = number;
	record->inverse = ~number;
	record->bytes = sizeof(*record) | content << 16;
	memset(record->content, number, content);
	return true;
}

/* Numbers from @from to @to - 1, into CPU 0's ring. */
static void etch_test_write(struct kunit *test, u32 from, u32 to)
{
	struct etch_ring *ring = etch_test_of(test)->p.inst->rings[0];

	for (; from < to; from++) {
		preempt_disable();
		KUNIT_EXPECT_TRUE(test, etch_test_reserve(ring, from));
		etch_ring_commit(ring);
		preempt_enable();
	}
}

static struct etch_persist_found *etch_test_check(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);

	etch_persist_forget(&t->found);
	KUNIT_ASSERT_EQ(test, 0, etch_persist_check(t->copy, t->bytes, &t->found));
	return &t->found;
}

static struct etch_persist_found *etch_test_reboot(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);

	memcpy(t->copy, t->p.memory, t->bytes);
	return etch_test_check(test);
}

/* ---- Findings ---- */

static bool etch_test_right(const struct etch_test_kept *record, unsigned int left)
{
	unsigned int content = etch_test_content(record->number);

	return sizeof(*record) + content <= left && record->inverse == ~record->number &&
	       record->bytes == (sizeof(*record) | content << 16) &&
	       (!content || !memchr_inv(record->content, record->number & 0xff, content));
}

/*
 * Go through CPU 0's packets. @numbers: gets the first and the one behind the last number.
 * Returns how many records are not right, or not behind those before.
 */
static unsigned int etch_test_walk(struct kunit *test, u32 numbers[2])
{
	const struct etch_test *t = etch_test_of(test);
	const struct etch_persist_cpu *c = &t->found.cpus[0];
	unsigned int i, wrong = 0, nr, at, len;
	u32 next = 0;

	numbers[0] = U32_MAX;
	for (i = 0; i < c->nr; i++) {
		const struct etch_persist_packet *packet = &c->packets[i];

		KUNIT_ASSERT_TRUE(test, packet->data >= t->copy &&
				  packet->data + packet->len <= t->copy + t->bytes);
		for (nr = 0, at = 0; nr < packet->head.records; nr++) {
			const struct etch_test_kept *record = packet->data + at;

			KUNIT_ASSERT_LT(test, at, packet->len);
			if (!etch_test_right(record, packet->len - at)) {
				/* Its length was believed; by the table it is one that is there. */
				wrong++;
				next++;
				len = sizeof(*record) + (record->bytes >> 16);
			} else {
				wrong += record->number < next;
				numbers[0] = min(numbers[0], record->number);
				next = record->number + 1;
				len = sizeof(*record) + etch_test_content(record->number);
			}
			at += ALIGN(len, 4);
		}
	}
	numbers[1] = next;
	return wrong;
}

static void etch_test_expect(struct kunit *test, u32 from, u32 to)
{
	const struct etch_persist_cpu *c;
	u32 numbers[2];

	KUNIT_ASSERT_NULL(test, etch_test_of(test)->found.why);
	c = &etch_test_of(test)->found.cpus[0];
	KUNIT_EXPECT_EQ(test, 0, etch_test_walk(test, numbers));
	KUNIT_EXPECT_EQ(test, to - from, c->records);
	KUNIT_EXPECT_EQ(test, from, numbers[0]);
	KUNIT_EXPECT_EQ(test, to, numbers[1]);
	KUNIT_EXPECT_EQ(test, 0, c->torn);
	KUNIT_EXPECT_FALSE(test, c->damaged);
}

static void etch_persist_whole(struct kunit *test)
{
	const struct etch_persist_found *found;
	u64 seq = 0, end = 0;
	unsigned int i;

	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	found = etch_test_reboot(test);
	etch_test_expect(test, 0, ETCH_TEST_RECORDS);
	KUNIT_EXPECT_GT(test, found->cpus[0].nr, 2);
	KUNIT_EXPECT_NOT_NULL(test, strnstr(found->text, "etch_test:etch_test_kept",
					    found->text_len));
	for (i = 0; i < found->cpus[0].nr; i++) {
		const struct etch_packet_header *head = &found->cpus[0].packets[i].head;

		KUNIT_EXPECT_EQ(test, ETCH_PACKET_MAGIC, head->magic);
		KUNIT_EXPECT_EQ(test, ++seq, head->packet_seq_num);
		KUNIT_EXPECT_GE(test, head->timestamp_begin, end);
		KUNIT_EXPECT_GE(test, head->timestamp_end, head->timestamp_begin);
		KUNIT_EXPECT_EQ(test, 0, head->events_discarded);
		end = head->timestamp_end;
	}
}

/* A CPU's file, in pieces of any size: header, records and zeroes of each packet in turn. */
static void etch_persist_file(struct kunit *test)
{
	const struct etch_persist_cpu *c;
	struct etch_persist_place place = {}, again = {};
	size_t bytes = 0, have = 0, piece = 1, n;
	u8 *file, *part;
	unsigned int i;

	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	c = &etch_test_reboot(test)->cpus[0];
	for (i = 0; i < c->nr; i++)
		bytes += c->packets[i].head.packet_size / BITS_PER_BYTE;
	file = kunit_kzalloc(test, bytes + 1, GFP_KERNEL);
	part = kunit_kzalloc(test, bytes + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, file);
	KUNIT_ASSERT_NOT_NULL(test, part);

	KUNIT_EXPECT_EQ(test, bytes, etch_persist_copy(c, &place, file, bytes + 1, 0));
	while ((n = etch_persist_copy(c, &again, part + have, min(piece, bytes + 1 - have),
				      have))) {
		have += n;
		piece = piece * 7 % 1009;
	}
	KUNIT_EXPECT_EQ(test, bytes, have);
	KUNIT_EXPECT_MEMEQ(test, file, part, bytes);

	for (i = 0, have = 0; i < c->nr; i++) {
		const struct etch_persist_packet *packet = &c->packets[i];
		size_t size = packet->head.packet_size / BITS_PER_BYTE;
		size_t content = sizeof(packet->head) + packet->len;

		KUNIT_EXPECT_MEMEQ(test, file + have, &packet->head, sizeof(packet->head));
		KUNIT_EXPECT_MEMEQ(test, file + have + sizeof(packet->head), packet->data,
				   packet->len);
		KUNIT_EXPECT_NULL(test, memchr_inv(file + have + content, 0, size - content));
		have += size;
	}
}

static void etch_persist_empty(struct kunit *test)
{
	const struct etch_persist_found *found = etch_test_reboot(test);

	KUNIT_EXPECT_TRUE(test, found->any);
	KUNIT_ASSERT_NULL(test, found->why);
	KUNIT_EXPECT_EQ(test, 0, found->cpus[0].nr);
	KUNIT_EXPECT_FALSE(test, found->cpus[0].damaged);
}

/* More records than the ring holds: the newest are found; the others are counted. */
static void etch_persist_overwritten(struct kunit *test)
{
	const struct etch_persist_cpu *c;
	u32 numbers[2];

	etch_test_write(test, 0, ETCH_TEST_MANY);
	c = &etch_test_reboot(test)->cpus[0];
	KUNIT_EXPECT_EQ(test, 0, etch_test_walk(test, numbers));
	KUNIT_EXPECT_EQ(test, ETCH_TEST_MANY, numbers[1]);
	KUNIT_EXPECT_EQ(test, ETCH_TEST_MANY, c->records + c->overwritten);
	KUNIT_EXPECT_EQ(test, c->overwritten, numbers[0]);
	KUNIT_EXPECT_EQ(test, c->overwritten, c->packets[0].head.events_discarded);
}

/* A writer dies between reserve and commit: its record is not found, all earlier ones are. */
static void etch_persist_in_flight(struct kunit *test)
{
	struct etch_ring *ring = etch_test_of(test)->p.inst->rings[0];

	etch_test_write(test, 0, 10);
	/* Nobody else writes into this ring: it may be left in flight, for looking allocates. */
	preempt_disable();
	KUNIT_EXPECT_TRUE(test, etch_test_reserve(ring, 10));
	preempt_enable();
	etch_test_reboot(test);
	etch_test_expect(test, 0, 10);
	preempt_disable();
	etch_ring_commit(ring);
	preempt_enable();
	etch_test_reboot(test);
	etch_test_expect(test, 0, 11);
}

/* Records that were read are not found again, though whole sub-buffers stay in the region. */
static void etch_persist_read(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	struct etch_ring *ring = t->p.inst->rings[0];
	void *memory = etch_ring_alloc_subbuf(ring), *own = memory;
	const struct etch_test_kept *record;
	struct etch_view view;
	u32 first;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	mutex_lock(&t->p.inst->read_mutex);
	KUNIT_EXPECT_EQ(test, 1, etch_ring_take_subbuf(ring, &memory, &view));
	KUNIT_EXPECT_PTR_EQ(test, own, memory);
	KUNIT_EXPECT_PTR_EQ(test, view.data, (const void *)own + ETCH_PACKET_HEADER);
	first = view.records;
	record = view.data;
	KUNIT_EXPECT_EQ(test, 0, record->number);
	/* Three of the next one, as text is read. */
	KUNIT_EXPECT_EQ(test, 1, etch_ring_take(ring, &view));
	record = view.data;
	KUNIT_EXPECT_EQ(test, first, record->number);
	etch_ring_advance(ring, ALIGN(sizeof(*record) + etch_test_content(first), 4), 1);
	mutex_unlock(&t->p.inst->read_mutex);
	etch_test_reboot(test);
	etch_test_expect(test, first + 1, ETCH_TEST_RECORDS);
	put_page(virt_to_page(own));
}

/* The part of a sub-buffer that was read gives the time at which the rest begins. */
static void etch_persist_time(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	struct etch_ring *ring = t->p.inst->rings[0];
	const struct etch_persist_cpu *c;
	struct etch_view view;

	etch_test_write(test, 0, 3);
	mutex_lock(&t->p.inst->read_mutex);
	KUNIT_EXPECT_EQ(test, 1, etch_ring_take(ring, &view));
	etch_ring_advance_to(ring, ALIGN(sizeof(struct etch_test_kept) + etch_test_content(0), 4),
			     1, view.begin + 1);
	mutex_unlock(&t->p.inst->read_mutex);
	c = &etch_test_reboot(test)->cpus[0];
	etch_test_expect(test, 1, 3);
	KUNIT_EXPECT_EQ(test, view.begin + 1, c->packets[0].head.timestamp_begin);
}

/* Positions wrap between two sub-buffers: the numbers of packets go on. */
static void etch_persist_wrap(struct kunit *test)
{
	struct etch_ring *ring = etch_test_of(test)->p.inst->rings[0];
	const struct etch_persist_cpu *c;
	unsigned int i;
	u64 pos;

	pos = -2 * ring->size;
	for (i = 0; i < ring->nr; i++)
		ring->slots[i] += pos;
	ring->start += pos;
	ring->pos = pos;
	ring->committed = pos;
	ring->consumed = pos;
	ring->rd = pos;
	ring->rd_block = pos;
	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	KUNIT_ASSERT_LT(test, etch_pos_bytes(ring->pos), pos);
	c = &etch_test_reboot(test)->cpus[0];
	etch_test_expect(test, 0, ETCH_TEST_RECORDS);
	for (i = 1; i < c->nr; i++)
		KUNIT_EXPECT_EQ(test, c->packets[0].head.packet_seq_num + i,
				c->packets[i].head.packet_seq_num);
}

/* ---- Damage ---- */

static void etch_persist_foreign(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	struct etch_persist_head *head = t->copy;
	u64 bytes = t->bytes;

	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	etch_test_reboot(test);
	head->magic ^= 1;
	KUNIT_EXPECT_NOT_NULL(test, etch_test_check(test)->why);
	KUNIT_EXPECT_FALSE(test, t->found.any);

	etch_test_reboot(test);
	head->version++;
	head->sum = etch_persist_head_sum(head);
	KUNIT_EXPECT_NOT_NULL(test, etch_test_check(test)->why);
	KUNIT_EXPECT_TRUE(test, t->found.any);

	etch_test_reboot(test);
	head->layout++;
	head->sum = etch_persist_head_sum(head);
	KUNIT_EXPECT_NOT_NULL(test, etch_test_check(test)->why);

	etch_test_reboot(test);
	head->shape.cpus++;
	head->sum = etch_persist_head_sum(head);
	KUNIT_EXPECT_NOT_NULL(test, etch_test_check(test)->why);

	/* Truncated. */
	etch_test_reboot(test);
	for (t->bytes = 0; t->bytes < bytes; t->bytes += PAGE_SIZE)
		KUNIT_EXPECT_NOT_NULL(test, etch_test_check(test)->why);
	t->bytes = bytes;
}

/* Where something of the region is in its copy. */
static void *etch_test_copied(struct kunit *test, const void *what)
{
	const struct etch_test *t = etch_test_of(test);

	return t->copy + (what - t->p.memory);
}

/* One sub-buffer is left out, and all others are there. */
static void etch_test_expect_torn(struct kunit *test, u32 records)
{
	const struct etch_persist_cpu *c;
	u32 numbers[2];

	c = &etch_test_check(test)->cpus[0];
	KUNIT_EXPECT_EQ(test, 1, c->torn);
	KUNIT_EXPECT_EQ(test, ETCH_TEST_RECORDS - records, c->records);
	KUNIT_EXPECT_EQ(test, 0, etch_test_walk(test, numbers));
}

/* What a sub-buffer is believed for, each broken once, in one that was left. */
static void etch_persist_torn(struct kunit *test)
{
	struct etch_ring *ring = etch_test_of(test)->p.inst->rings[0];
	struct etch_block *block;
	struct etch_head *first;
	u32 records;

	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	KUNIT_ASSERT_GT(test, etch_test_reboot(test)->cpus[0].nr, 2);
	block = etch_test_copied(test, &ring->blocks[1]);
	first = etch_test_copied(test, ring->blocks[1].data + ring->header);
	records = block->records;

	/* More records than there are, and fewer. */
	block->records++;
	etch_test_expect_torn(test, records);
	block->records -= 2;
	etch_test_expect_torn(test, records);

	/* It ends elsewhere. */
	etch_test_reboot(test);
	block->end -= 4;
	etch_test_expect_torn(test, records);

	/* A record from after the sub-buffer was left. */
	etch_test_reboot(test);
	first->word &= ~ETCH_TIME_MASK;
	first->word |= (block->left + NSEC_PER_SEC) & ETCH_TIME_MASK;
	etch_test_expect_torn(test, records);
}

/*
 * Two sub-buffers that say they are in the same place: its records are there once. All are
 * of one moment, for times that went back would be noticed otherwise.
 */
static void etch_persist_twice(struct kunit *test)
{
	struct etch_ring *ring = etch_test_of(test)->p.inst->rings[0];
	struct etch_block *blocks;
	unsigned int at, nr;
	void *data;

	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	KUNIT_ASSERT_GT(test, etch_test_reboot(test)->cpus[0].nr, 2);
	blocks = etch_test_copied(test, ring->blocks);
	data = etch_test_copied(test, ring->blocks[1].data + ring->header);
	for (at = 0, nr = blocks[1].records; nr--;) {
		struct etch_test_kept *record = data + at;

		record->head.word &= ~ETCH_TIME_MASK;
		record->head.word |= blocks[1].left & ETCH_TIME_MASK;
		at += ALIGN(sizeof(*record) + etch_test_content(record->number), 4);
	}
	KUNIT_EXPECT_EQ(test, 0, etch_test_check(test)->cpus[0].torn);
	nr = blocks[2].records;
	blocks[2] = blocks[1];
	etch_test_expect_torn(test, nr);
}

/* The instance's name is taken: then the records stay in the region. */
static void etch_persist_refused(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	struct etch_persist other = t->p;

	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	memcpy(t->copy, t->p.memory, t->bytes);
	other.inst = NULL;
	mutex_lock(&etch_mutex);
	KUNIT_EXPECT_EQ(test, -EEXIST, etch_persist_start(&other));
	mutex_unlock(&etch_mutex);
	KUNIT_EXPECT_EQ(test, 0, memcmp(t->copy, t->p.memory, t->bytes));
}

/* A bit that changes, somewhere in @len bytes from @from on. */
static u64 etch_test_flip(struct etch_test *t, struct rnd_state *rnd, u64 from, u64 len)
{
	u64 bit = (from + prandom_u32_state(rnd) % len) * BITS_PER_BYTE +
		  prandom_u32_state(rnd) % BITS_PER_BYTE;

	((u8 *)t->copy)[bit / BITS_PER_BYTE] ^= BIT(bit % BITS_PER_BYTE);
	return bit;
}

/* Each one alone. Returns how many left something that can be used. */
static unsigned int etch_test_flips(struct kunit *test, u64 from, u64 len, unsigned int may)
{
	struct etch_test *t = etch_test_of(test);
	unsigned int i, wrong, usable = 0;
	struct rnd_state rnd;
	u32 numbers[2];

	prandom_seed_state(&rnd, 20);
	for (i = 0; i < ETCH_TEST_FLIPS; i++) {
		u64 bit = etch_test_flip(t, &rnd, from, len);

		if (!etch_test_check(test)->why) {
			usable++;
			wrong = etch_test_walk(test, numbers);
			if (wrong > may)
				KUNIT_FAIL(test, "bit %llu: %u wrong records", bit, wrong);
		}
		((u8 *)t->copy)[bit / BITS_PER_BYTE] ^= BIT(bit % BITS_PER_BYTE);
	}
	return usable;
}

/* All that has a sum: noticed. */
static void etch_persist_flips_head(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	u32 text;

	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	text = etch_test_reboot(test)->text_len;
	KUNIT_EXPECT_EQ(test, 0, etch_test_flips(test, 0, sizeof(struct etch_persist_head), 0));
	KUNIT_EXPECT_EQ(test, 0, etch_test_flips(test, t->p.shape.text, text, 0));
	KUNIT_EXPECT_EQ(test, 0, etch_test_flips(test, t->p.shape.table, 16, 0));
}

/* The ring's own words, which have none: fewer records may be found, and no wrong ones. */
static void etch_persist_flips_ring(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	u64 front = sizeof(struct etch_ring) + t->p.shape.nr * sizeof(u64) +
		    (t->p.shape.nr + 1) * sizeof(struct etch_block);

	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	etch_test_reboot(test);
	KUNIT_EXPECT_GT(test, etch_test_flips(test, t->p.shape.slices, front, 0), 0);
}

/* Records: the one that it hits may be wrong, all others are right or not there. */
static void etch_persist_flips_records(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	u64 data;

	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	etch_test_reboot(test);
	data = (void *)t->found.cpus[0].packets[0].data - t->copy;
	KUNIT_EXPECT_GT(test, etch_test_flips(test, data, 3 * PAGE_SIZE, 1), 0);
}

/* A ring full of anything, in a region whose sums are right: nothing is read outside. */
static void etch_persist_random(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	struct rnd_state rnd;
	u64 at, round;
	u32 numbers[2];

	prandom_seed_state(&rnd, 30);
	etch_test_write(test, 0, ETCH_TEST_RECORDS);
	for (round = 0; round < 300; round++) {
		etch_test_reboot(test);
		/* Every second round, sizes are left as they are, and one goes deeper. */
		for (at = t->p.shape.slices; at < t->bytes; at += sizeof(u32)) {
			u64 off = at - t->p.shape.slices;

			if (round % 2 && off >= offsetof(struct etch_ring, slots) &&
			    off < offsetof(struct etch_ring, lost))
				continue;
			if (round % 4 < 2 || prandom_u32_state(&rnd) % 64 == 0)
				*(u32 *)(t->copy + at) = prandom_u32_state(&rnd);
		}
		KUNIT_ASSERT_NULL(test, etch_test_check(test)->why);
	}
	/* And nothing but. */
	for (at = sizeof(u64); at < t->bytes; at += sizeof(u32))
		*(u32 *)(t->copy + at) = prandom_u32_state(&rnd);
	KUNIT_EXPECT_NOT_NULL(test, etch_test_check(test)->why);
	etch_test_reboot(test);
	KUNIT_EXPECT_EQ(test, 0, etch_test_walk(test, numbers));
}

static struct kunit_case etch_persist_cases[] = {
	KUNIT_CASE(etch_persist_whole),
	KUNIT_CASE(etch_persist_file),
	KUNIT_CASE(etch_persist_empty),
	KUNIT_CASE(etch_persist_overwritten),
	KUNIT_CASE(etch_persist_in_flight),
	KUNIT_CASE(etch_persist_read),
	KUNIT_CASE(etch_persist_time),
	KUNIT_CASE(etch_persist_wrap),
	KUNIT_CASE(etch_persist_foreign),
	KUNIT_CASE(etch_persist_torn),
	KUNIT_CASE(etch_persist_twice),
	KUNIT_CASE(etch_persist_refused),
	KUNIT_CASE(etch_persist_flips_head),
	KUNIT_CASE(etch_persist_flips_ring),
	KUNIT_CASE(etch_persist_flips_records),
	KUNIT_CASE(etch_persist_random),
	{}
};

static struct kunit_suite etch_persist_suite = {
	.name = "etch_persist",
	.suite_init = etch_persist_suite_init,
	.suite_exit = etch_persist_suite_exit,
	.init = etch_persist_test_init,
	.exit = etch_persist_test_exit,
	.test_cases = etch_persist_cases,
};

kunit_test_suite(etch_persist_suite);

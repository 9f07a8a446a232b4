// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of packets and of the memory that they travel in: pages change hands and are
 * not copied, come back and are lent again, unless somebody else has them.
 */

#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uuid.h>
#include <linux/wait.h>
#include <uapi/linux/etch_packet.h>

#include "ctf/loan.h"
#include "ctf/packet.h"
#include "ctf/raw.h"

#define ETCH_TEST_RECORD	20	/* bytes */

struct etch_packet_test {
	struct etch_instance inst;
	struct etch_ring *rings[1];
	struct etch_stream_base bases[1];
	struct etch_lender *lender;
};

static int etch_packet_init(struct kunit *test)
{
	struct etch_ring_params params = {
		.node = NUMA_NO_NODE,
		.size = 8 * PAGE_SIZE,
		.subbuf_size = 2 * PAGE_SIZE,
		.header_size = ETCH_PACKET_HEADER,
		.overwrite = true,
	};
	struct etch_packet_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->inst.rings = t->rings;
	t->inst.bases = t->bases;
	t->inst.subbuf_bytes = 2 * PAGE_SIZE;
	uuid_gen(&t->inst.uuid);
	mutex_init(&t->inst.read_mutex);
	init_waitqueue_head(&t->inst.wait);
	t->lender = etch_lender_create();
	KUNIT_ASSERT_NOT_NULL(test, t->lender);
	t->rings[0] = etch_ring_create(&params);
	KUNIT_ASSERT_FALSE(test, IS_ERR(t->rings[0]));
	test->priv = t;
	return 0;
}

static void etch_packet_exit(struct kunit *test)
{
	struct etch_packet_test *t = test->priv;

	etch_ring_free(t->rings[0]);
	etch_lender_put(t->lender);
}

/* Returns where the first of @nr records went. */
static void *etch_packet_put(struct etch_ring *ring, unsigned int nr)
{
	void *first = NULL, *record;
	u64 time;

	preempt_disable();
	while (nr--) {
		record = etch_ring_reserve(ring, ETCH_TEST_RECORD, &time);
		if (!record)
			break;
		memset(record, 0xaa, ETCH_TEST_RECORD);
		etch_ring_commit(ring);
		first = first ?: record;
	}
	preempt_enable();
	return first;
}

static void etch_packet_flush(struct etch_ring *ring)
{
	preempt_disable();
	etch_ring_flush(ring);
	preempt_enable();
}

/* Bytes of the next packet, which is then in @loan. */
static unsigned int etch_packet_next(struct etch_packet_test *t, struct etch_loan *loan,
				     struct etch_reported *before)
{
	unsigned int bytes;

	mutex_lock(&t->inst.read_mutex);
	bytes = etch_packet_take(&t->inst, 0, &loan->memory, before);
	mutex_unlock(&t->inst.read_mutex);
	return bytes;
}

static void etch_packet_changes_hands(struct kunit *test)
{
	struct etch_packet_test *t = test->priv;
	struct etch_loan *loan = etch_loan_get(t->lender, t->rings[0], 1);
	void *record, *given;
	struct etch_reported before;

	KUNIT_ASSERT_FALSE(test, IS_ERR(loan));
	given = loan->memory;
	KUNIT_EXPECT_EQ(test, 0, etch_packet_next(t, loan, &before));
	KUNIT_EXPECT_PTR_EQ(test, given, loan->memory);

	record = etch_packet_put(t->rings[0], 3);
	KUNIT_ASSERT_NOT_NULL(test, record);
	etch_packet_flush(t->rings[0]);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, etch_packet_next(t, loan, &before));
	/* The very page that the writer wrote to, */
	KUNIT_EXPECT_PTR_EQ(test, record, loan->memory + ETCH_PACKET_HEADER);
	KUNIT_EXPECT_EQ(test, 1, page_count(virt_to_page(record)));
	/* and the one that we gave is where a later record goes, after one more exchange. */
	etch_packet_put(t->rings[0], 1);
	etch_packet_flush(t->rings[0]);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, etch_packet_next(t, loan, &before));
	record = NULL;
	for (int i = 0; i < 8 && record != given + ETCH_PACKET_HEADER; i++) {
		record = etch_packet_put(t->rings[0], 1);
		etch_packet_flush(t->rings[0]);
	}
	KUNIT_EXPECT_PTR_EQ(test, record, given + ETCH_PACKET_HEADER);
	etch_loan_put(loan);
}

static void etch_packet_says(struct kunit *test)
{
	struct etch_packet_test *t = test->priv;
	struct etch_loan *loan = etch_loan_get(t->lender, t->rings[0], 1);
	const struct etch_packet_header *head;
	struct etch_reported before;
	u64 left, content = ETCH_PACKET_HEADER + 3 * ETCH_TEST_RECORD;

	KUNIT_ASSERT_FALSE(test, IS_ERR(loan));
	t->bases[0] = (struct etch_stream_base) {
		.seq = 100, .overwritten = 10, .lost = { 1, 2, 3 },
		.reported = { .seq = 99, .discarded = 16 },
	};
	etch_packet_put(t->rings[0], 3);
	etch_packet_flush(t->rings[0]);
	KUNIT_ASSERT_LT(test, 0, etch_packet_next(t, loan, &before));
	head = loan->memory;
	KUNIT_EXPECT_EQ(test, ETCH_PACKET_MAGIC, head->magic);
	KUNIT_EXPECT_MEMEQ(test, &t->inst.uuid, head->uuid, sizeof(head->uuid));
	KUNIT_EXPECT_EQ(test, content * BITS_PER_BYTE, head->content_size);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE * BITS_PER_BYTE, head->packet_size);
	KUNIT_EXPECT_EQ(test, 101, head->packet_seq_num);
	KUNIT_EXPECT_EQ(test, 16, head->events_discarded);
	KUNIT_EXPECT_EQ(test, 10, head->overwritten);
	KUNIT_EXPECT_EQ(test, 1, head->lost_full);
	KUNIT_EXPECT_EQ(test, 2, head->lost_nested);
	KUNIT_EXPECT_EQ(test, 3, head->lost_too_big);
	KUNIT_EXPECT_EQ(test, 3, head->records);
	KUNIT_EXPECT_EQ(test, current->pid, head->pid);
	KUNIT_EXPECT_LT(test, head->timestamp_begin, head->timestamp_end);
	KUNIT_EXPECT_EQ(test, 99, before.seq);
	KUNIT_EXPECT_EQ(test, 16, before.discarded);
	left = head->timestamp_end;

	/* Full, this one. */
	etch_packet_put(t->rings[0], 2 * PAGE_SIZE / ETCH_TEST_RECORD);
	KUNIT_ASSERT_EQ(test, 2 * PAGE_SIZE, etch_packet_next(t, loan, &before));
	head = loan->memory;
	KUNIT_EXPECT_EQ(test, 102, head->packet_seq_num);
	KUNIT_EXPECT_EQ(test, 2 * PAGE_SIZE * BITS_PER_BYTE, head->packet_size);
	KUNIT_EXPECT_LE(test, left, head->timestamp_begin);
	KUNIT_EXPECT_EQ(test, 101, before.seq);
	etch_loan_put(loan);
}

/* It is full for the record that does not fit, and cut to the page that it takes. */
static void etch_packet_is_cut(struct kunit *test)
{
	struct etch_packet_test *t = test->priv;
	struct etch_loan *loan = etch_loan_get(t->lender, t->rings[0], 1);
	const struct etch_packet_header *head;
	struct etch_reported before;
	u64 time;

	KUNIT_ASSERT_FALSE(test, IS_ERR(loan));
	etch_packet_put(t->rings[0], 1);
	preempt_disable();
	KUNIT_EXPECT_NOT_NULL(test, etch_ring_reserve(t->rings[0],
						      2 * PAGE_SIZE - ETCH_PACKET_HEADER, &time));
	etch_ring_commit(t->rings[0]);
	preempt_enable();
	KUNIT_ASSERT_EQ(test, PAGE_SIZE, etch_packet_next(t, loan, &before));
	head = loan->memory;
	KUNIT_EXPECT_EQ(test, PAGE_SIZE * BITS_PER_BYTE, head->packet_size);
	KUNIT_EXPECT_EQ(test, 1, head->records);
	etch_loan_put(loan);
}

static void etch_packet_leads(struct kunit *test)
{
	struct etch_packet_header packet = {
		.magic = ETCH_PACKET_MAGIC, .timestamp_begin = 5, .timestamp_end = 9,
		.packet_seq_num = 8, .events_discarded = 30, .overwritten = 29,
		.lost_full = 1, .records = 4, .cpu_id = 3,
	}, *lead = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct etch_reported before = { .seq = 7, .discarded = 30 };

	KUNIT_ASSERT_NOT_NULL(test, lead);
	memset(lead, 0xaa, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, 0, etch_packet_lead(lead, &packet, &before));
	before.discarded = 20;
	before.overwritten = 15;
	before.full = 1;
	before.too_big = 4;
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, etch_packet_lead(lead, &packet, &before));
	KUNIT_EXPECT_EQ(test, 7, lead->packet_seq_num);
	KUNIT_EXPECT_EQ(test, 20, lead->events_discarded);
	KUNIT_EXPECT_EQ(test, 15, lead->overwritten);
	KUNIT_EXPECT_EQ(test, 1, lead->lost_full);
	KUNIT_EXPECT_EQ(test, 0, lead->lost_throttled);
	KUNIT_EXPECT_EQ(test, 0, lead->lost_nested);
	KUNIT_EXPECT_EQ(test, 4, lead->lost_too_big);
	KUNIT_EXPECT_EQ(test, 0, lead->records);
	KUNIT_EXPECT_EQ(test, 5, lead->timestamp_begin);
	KUNIT_EXPECT_EQ(test, 5, lead->timestamp_end);
	KUNIT_EXPECT_EQ(test, ETCH_PACKET_HEADER * BITS_PER_BYTE, lead->content_size);
	KUNIT_EXPECT_NULL(test, memchr_inv(lead + 1, 0, PAGE_SIZE - sizeof(*lead)));
	KUNIT_EXPECT_EQ(test, 3, lead->cpu_id);
	before = (struct etch_reported) { .seq = 6, .discarded = 30 };
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, etch_packet_lead(lead, &packet, &before));
	KUNIT_EXPECT_EQ(test, 6, lead->packet_seq_num);
}

/* The bytes behind the records are zero; older contents do not reach a reader. */
static void etch_packet_has_nothing_else(struct kunit *test)
{
	struct etch_packet_test *t = test->priv;
	const size_t content = ETCH_PACKET_HEADER + ETCH_TEST_RECORD;
	u8 *memory = kunit_kzalloc(test, 2 * PAGE_SIZE, GFP_KERNEL);
	struct etch_view view = { .len = ETCH_TEST_RECORD, .records = 1 };

	KUNIT_ASSERT_NOT_NULL(test, memory);
	memset(memory, 0xaa, 2 * PAGE_SIZE);
	mutex_lock(&t->inst.read_mutex);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, etch_packet_make(&t->inst, 0, memory, &view, 0));
	mutex_unlock(&t->inst.read_mutex);
	KUNIT_EXPECT_NULL(test, memchr_inv(memory + ETCH_PACKET_HEADER, 0xaa, ETCH_TEST_RECORD));
	KUNIT_EXPECT_NULL(test, memchr_inv(memory + content, 0, PAGE_SIZE - content));
	KUNIT_EXPECT_NULL(test, memchr_inv(memory + PAGE_SIZE, 0xaa, PAGE_SIZE));
}

/* What a ring had counted is not lost when it goes. */
static void etch_packet_goes_on(struct kunit *test)
{
	struct etch_packet_test *t = test->priv;
	struct etch_loan *loan = etch_loan_get(t->lender, t->rings[0], 1);
	const struct etch_packet_header *head;
	struct etch_ring_stats stats;
	struct etch_reported before;

	KUNIT_ASSERT_FALSE(test, IS_ERR(loan));
	etch_packet_put(t->rings[0], 40 * PAGE_SIZE / ETCH_TEST_RECORD);
	etch_packet_flush(t->rings[0]);
	KUNIT_ASSERT_LT(test, 0, etch_packet_next(t, loan, &before));
	etch_ring_stats(t->rings[0], &stats);
	KUNIT_ASSERT_LT(test, 0, stats.overwritten);

	mutex_lock(&t->inst.read_mutex);
	etch_stream_rebase(&t->inst, 0, t->rings[0]);
	etch_ring_reset(t->rings[0]);
	mutex_unlock(&t->inst.read_mutex);
	KUNIT_EXPECT_LT(test, 19, t->bases[0].seq);
	etch_packet_put(t->rings[0], 1);
	etch_packet_flush(t->rings[0]);
	KUNIT_ASSERT_LT(test, 0, etch_packet_next(t, loan, &before));
	head = loan->memory;
	KUNIT_EXPECT_EQ(test, t->bases[0].seq + 1, head->packet_seq_num);
	KUNIT_EXPECT_EQ(test, stats.overwritten, head->overwritten);
	KUNIT_EXPECT_EQ(test, stats.overwritten, head->events_discarded);
	etch_loan_put(loan);
}

static bool etch_packet_is_wanted(struct etch_packet_test *t)
{
	bool wanted;

	mutex_lock(&t->inst.read_mutex);
	wanted = etch_packet_wanted(&t->inst, 0);
	mutex_unlock(&t->inst.read_mutex);
	return wanted;
}

/* Records older than a flush are wanted, and no later ones. */
static void etch_packet_is_flushed(struct kunit *test)
{
	struct etch_packet_test *t = test->priv;
	struct etch_loan *loan = etch_loan_get(t->lender, t->rings[0], 1);
	const unsigned int full = 2 * PAGE_SIZE / ETCH_TEST_RECORD;
	struct etch_reported before;

	KUNIT_ASSERT_FALSE(test, IS_ERR(loan));
	KUNIT_EXPECT_FALSE(test, etch_packet_is_wanted(t));
	etch_instance_flush(&t->inst, 0);
	etch_packet_put(t->rings[0], full);
	KUNIT_EXPECT_FALSE(test, etch_packet_is_wanted(t));

	etch_instance_flush(&t->inst, 0);
	etch_packet_put(t->rings[0], full);
	KUNIT_EXPECT_TRUE(test, etch_packet_is_wanted(t));
	KUNIT_EXPECT_LT(test, 0, etch_packet_next(t, loan, &before));
	KUNIT_EXPECT_TRUE(test, etch_packet_is_wanted(t));
	KUNIT_EXPECT_LT(test, 0, etch_packet_next(t, loan, &before));
	KUNIT_EXPECT_FALSE(test, etch_packet_is_wanted(t));

	etch_instance_flush(&t->inst, 0);
	KUNIT_EXPECT_TRUE(test, etch_packet_is_wanted(t));
	mutex_lock(&t->inst.read_mutex);
	etch_stream_rebase(&t->inst, 0, t->rings[0]);
	etch_ring_reset(t->rings[0]);
	mutex_unlock(&t->inst.read_mutex);
	etch_packet_put(t->rings[0], full);
	KUNIT_EXPECT_FALSE(test, etch_packet_is_wanted(t));
	etch_loan_put(loan);
}

static void etch_loan_is_lent_again(struct kunit *test)
{
	struct etch_packet_test *t = test->priv;
	struct etch_loan *a, *b;
	void *memory;

	a = etch_loan_get(t->lender, t->rings[0], 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(a));
	KUNIT_EXPECT_FALSE(test, etch_lender_has_room(t->lender, 1));
	KUNIT_EXPECT_EQ(test, -EAGAIN, PTR_ERR(etch_loan_get(t->lender, t->rings[0], 1)));
	memory = a->memory;

	/* One of two users. */
	refcount_inc(&a->users);
	etch_loan_put(a);
	KUNIT_EXPECT_FALSE(test, etch_lender_has_room(t->lender, 1));
	etch_loan_put(a);
	KUNIT_EXPECT_TRUE(test, etch_lender_has_room(t->lender, 1));
	b = etch_loan_get(t->lender, t->rings[0], 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(b));
	KUNIT_EXPECT_PTR_EQ(test, memory, b->memory);

	/* As a socket does. */
	get_page(virt_to_page(memory));
	etch_loan_put(b);
	a = etch_loan_get(t->lender, t->rings[0], 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(a));
	KUNIT_EXPECT_PTR_NE(test, memory, a->memory);
	put_page(virt_to_page(memory));

	/* A loan outlives who lends. */
	refcount_inc(&t->lender->users);
	etch_lender_put(t->lender);
	KUNIT_EXPECT_EQ(test, 2, refcount_read(&t->lender->users));
	etch_loan_put(a);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&t->lender->users));
}

/* Not if the ring was emptied since: neither what is kept nor what comes back later. */
static void etch_loan_is_of_an_epoch(struct kunit *test)
{
	struct etch_packet_test *t = test->priv;
	struct etch_loan *kept, *late, *next;

	kept = etch_loan_get(t->lender, t->rings[0], 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kept));
	late = etch_loan_get(t->lender, t->rings[0], 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(late));
	etch_loan_put(kept);
	etch_lender_renew(t->lender, 0);
	KUNIT_EXPECT_EQ(test, 1, t->lender->nr_kept);
	etch_lender_renew(t->lender, 1);
	KUNIT_EXPECT_EQ(test, 0, t->lender->nr_kept);
	etch_loan_put(late);
	KUNIT_EXPECT_EQ(test, 0, t->lender->nr_kept);
	KUNIT_EXPECT_TRUE(test, etch_lender_has_room(t->lender, 1));

	next = etch_loan_get(t->lender, t->rings[0], 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(next));
	etch_loan_put(next);
	KUNIT_EXPECT_EQ(test, 1, t->lender->nr_kept);
}

/* A file that is open has a struct address_space of its own, complete with its locks. */
static void etch_raw_has_a_mapping(struct kunit *test)
{
	struct etch_raw *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct inode *inode = kunit_kzalloc(test, sizeof(*inode), GFP_KERNEL);
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_NOT_NULL(test, inode);
	KUNIT_ASSERT_NOT_NULL(test, file);
	etch_raw_map_init(p, inode, file);
	KUNIT_EXPECT_PTR_EQ(test, &p->mapping, file->f_mapping);
	/* A lock that is all zeroes seems to be waited for. */
	KUNIT_EXPECT_FALSE(test, rwsem_is_contended(&p->mapping.invalidate_lock));
	KUNIT_EXPECT_FALSE(test, rwsem_is_contended(&p->mapping.i_mmap_rwsem));
}

/* Someone may be looking at it without a lock: a dump. */
static void etch_loan_is_waited_for(struct kunit *test)
{
	struct etch_packet_test *t = test->priv;
	struct etch_loan *loan;
	struct page *page;

	loan = etch_loan_get(t->lender, t->rings[0], 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(loan));
	page = virt_to_page(loan->memory);

	/* It cannot be kept, because it is in use, and then nobody uses it. */
	rcu_read_lock();
	get_page(page);
	etch_loan_put(loan);
	put_page(page);
	KUNIT_EXPECT_EQ(test, 1, page_count(page));
	rcu_read_unlock();

	/* It is kept until there is no lender. */
	loan = etch_loan_get(t->lender, t->rings[0], 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(loan));
	page = virt_to_page(loan->memory);
	etch_loan_put(loan);
	KUNIT_ASSERT_EQ(test, 1, t->lender->nr_kept);
	rcu_read_lock();
	etch_lender_put(t->lender);
	KUNIT_EXPECT_EQ(test, 1, page_count(page));
	rcu_read_unlock();

	t->lender = etch_lender_create();
	KUNIT_EXPECT_NOT_NULL(test, t->lender);
}

static struct kunit_case etch_packet_cases[] = {
	KUNIT_CASE(etch_packet_changes_hands),
	KUNIT_CASE(etch_packet_says),
	KUNIT_CASE(etch_packet_is_cut),
	KUNIT_CASE(etch_packet_leads),
	KUNIT_CASE(etch_packet_has_nothing_else),
	KUNIT_CASE(etch_packet_goes_on),
	KUNIT_CASE(etch_packet_is_flushed),
	KUNIT_CASE(etch_loan_is_lent_again),
	KUNIT_CASE(etch_loan_is_of_an_epoch),
	KUNIT_CASE(etch_loan_is_waited_for),
	KUNIT_CASE(etch_raw_has_a_mapping),
	{}
};

static struct kunit_suite etch_packet_suite = {
	.name = "etch_packet",
	.init = etch_packet_init,
	.exit = etch_packet_exit,
	.test_cases = etch_packet_cases,
};
kunit_test_suite(etch_packet_suite);

MODULE_DESCRIPTION("Tests of Etch's packets");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * An instance whose rings lie in memory that survives a warm reboot: see persist.h.
 *
 *	reserve_mem=16M:4096:etch etch_persist=etch,sched:*,irq:*
 *
 * The memory is set aside under a name by the kernel's own reserve_mem=, at the same
 * place in each boot as far as it can (nokaslr helps). etch_persist= names the memory and the
 * events to enable at boot. The instance has the name of the memory.
 *
 * Etch first looks through the records that an earlier kernel has left there, and offers them
 * in the folder persist/ (persist_files.c). It does not copy them, so it records nothing there
 * until somebody has written to persist/status. If no records were left, the instance is there
 * at once.
 *
 * An event's description is written to the region before the event is first enabled. An event
 * without room for its description is not enabled, so every record can be decoded. The
 * metadata has no other events than these.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/cpumask.h>
#include <linux/crc32.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <linux/uuid.h>

#include "ctf/ctf.h"
#include "persist/persist.h"

static struct etch_persist_head *etch_persist_head(const struct etch_persist *p)
{
	return p->memory;
}

/* ---- Recording ---- */

/* A part that grows: it is longer from the moment when its word is. */
static void etch_part_grown(u64 *word, const void *part, size_t len)
{
	size_t old = *word >> 32;
	u32 sum = old ? *word : ~0;
	u64 now = (u64)len << 32 | crc32_le(sum, part + old, len - old);

	/*
	 * What it describes is stored before it is described as being there: for the next
	 * kernel, which reads it long after, and needs no acquire.
	 */
	smp_store_release(word, now);
}

static int etch_persist_add_text(struct etch_persist *p, const struct etch_event *event,
				 size_t *len)
{
	void *text = p->memory + p->shape.text;
	size_t used = etch_persist_head(p)->text >> 32;
	struct seq_file m = {
		.buf = text + used,
		.size = p->shape.text_bytes - used,
	};
	int ret;

	ret = etch_metadata_text(&m, p->inst, event);
	if (ret)
		return ret;
	if (seq_has_overflowed(&m))
		return -ENOSPC;
	*len = used + m.count;
	return 0;
}

static int etch_persist_add_words(struct etch_persist *p, const struct etch_event *event,
				  size_t *len)
{
	size_t used = etch_persist_head(p)->table >> 32;
	u16 *words = p->memory + p->shape.table + used, *nr = words + 2;
	const struct etch_class *class = event->class;
	size_t left = (p->shape.table_bytes - used) / sizeof(*words);
	int i;

	if (left < 3 + 2 * (size_t)class->nr_fields)
		return -ENOSPC;
	*words++ = event->id;
	*words++ = class->size;
	*words++ = 0;
	for (i = 0; i < class->nr_fields; i++) {
		const struct etch_field *field = &class->fields[i];

		if (field->kind != ETCH_FIELD_DATA_LOC && field->kind != ETCH_FIELD_REL_LOC)
			continue;
		*words++ = field->offset;
		*words++ = field->kind == ETCH_FIELD_REL_LOC;
		++*nr;
	}
	*len = (void *)words - (p->memory + p->shape.table);
	return 0;
}

/**
 * etch_persist_describe() - have an event described in the region
 * @p: the region, with its instance
 * @event: the event, which is about to be enabled for the first time, or again
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; or -ENOSPC if there is no room, -ENOMEM, or an errno if it cannot be
 * described.
 */
static int etch_persist_describe(struct etch_persist *p, const struct etch_event *event)
{
	struct etch_persist_head *head = etch_persist_head(p);
	size_t text, words;
	int ret;

	lockdep_assert_held(&etch_mutex);
	if (p->described[event->id])
		return 0;
	ret = etch_persist_add_text(p, event, &text);
	ret = ret ?: etch_persist_add_words(p, event, &words);
	if (ret == -ENOSPC && !p->full) {
		pr_warn("%s: no room to describe %s:%s: it is not enabled\n", p->name,
			event->class->system, event->name);
		p->full = true;
	}
	if (ret)
		return ret;
	etch_part_grown(&head->text, p->memory + p->shape.text, text);
	etch_part_grown(&head->table, p->memory + p->shape.table, words);
	p->described[event->id] = true;
	return 0;
}

/* No event is recorded that the next kernel could not read. */
static int etch_persist_admit(struct etch_recorder *rec, const struct etch_event *event)
{
	struct etch_instance *inst = container_of(rec, struct etch_instance, rec);

	return etch_persist_describe(container_of(inst->store, struct etch_persist, store),
				     event);
}

/* ---- The instance ---- */

/**
 * etch_persist_ring() - make a CPU's ring in the region
 * @store: the region's
 * @cpu: the CPU
 * @params: of the ring; its size is what the region gives
 *
 * Context: process, may sleep.
 * Return: the ring or an ERR_PTR(), as etch_ring_create().
 */
static struct etch_ring *etch_persist_ring(struct etch_store *store, int cpu,
					   const struct etch_ring_params *params)
{
	struct etch_persist *p = container_of(store, struct etch_persist, store);
	void *slice = p->memory + p->shape.slices + cpu * p->shape.slice_bytes;

	return etch_ring_create_in(params, slice, p->shape.nr);
}

/* Erases the head and the rings: the region is empty then. */
static void etch_persist_wipe(struct etch_persist *p)
{
	unsigned int cpu;

	memset(p->memory, 0, PAGE_SIZE);
	for (cpu = 0; cpu < p->shape.cpus; cpu++)
		memset(p->memory + p->shape.slices + cpu * p->shape.slice_bytes, 0,
		       sizeof(struct etch_ring));
	memset(p->described, 0, ETCH_ID_MAX + 1);
}

static void etch_persist_head_fill(struct etch_persist *p)
{
	struct etch_persist_head *head = etch_persist_head(p);

	head->version = ETCH_PERSIST_VERSION;
	head->layout = etch_persist_layout();
	head->shape = p->shape;
	head->base = (unsigned long)p->memory;
	export_uuid(head->uuid, &p->inst->uuid);
	head->generation = etch_generation;
	strscpy(head->release, init_utsname()->release);
}

/* The head of the metadata, and the hidden events: those are always there. */
static int etch_persist_describe_all(struct etch_persist *p)
{
	struct etch_persist_head *head = etch_persist_head(p);
	struct etch_event *event;
	size_t text;
	int ret;

	ret = etch_persist_add_text(p, NULL, &text);
	if (ret)
		return ret;
	etch_part_grown(&head->text, p->memory + p->shape.text, text);
	etch_part_grown(&head->table, p->memory + p->shape.table, 0);
	list_for_each_entry(event, &etch_events, node) {
		ret = event->hidden ? etch_persist_describe(p, event) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

static void etch_persist_enable(struct etch_persist *p)
{
	char *list = p->events ? kstrdup(p->events, GFP_KERNEL) : NULL;
	char *rest = list, *name;

	while ((name = strsep(&rest, ","))) {
		int ret = *name ? etch_events_set(&p->inst->rec, name, true) : 0;

		if (ret < 0)
			pr_warn("etch_persist: %s: error %d\n", name, ret);
	}
	kfree(list);
}

/**
 * etch_persist_start() - record into the region; the records found there are lost
 * @p: the region
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0 or a negative errno: then nothing is recorded there. If there is an instance
 * of that name (-EEXIST), or there are as many as can be (-ENOSPC), nothing has changed.
 */
int etch_persist_start(struct etch_persist *p)
{
	struct etch_persist_head *head = etch_persist_head(p);
	struct etch_instance *inst;
	int ret;

	lockdep_assert_held(&etch_mutex);
	if (p->inst)
		return -EBUSY;
	ret = etch_instance_check_new(p->name);
	if (ret)
		return ret;
	etch_persist_forget(&p->found);
	etch_persist_wipe(p);
	p->store.ring = etch_persist_ring;
	inst = etch_instance_create_in(p->name, &p->store, p->shape.subbuf);
	if (IS_ERR(inst))
		return PTR_ERR(inst);
	inst->rec.admit = etch_persist_admit;
	p->inst = inst;
	ret = etch_persist_describe_all(p);
	if (!ret)
		ret = etch_tree_add_instance(inst);
	if (ret) {
		p->inst = NULL;
		etch_instance_destroy(inst);
		return ret;
	}
	/* It stays: nobody removes it. */
	etch_instance_get(inst);
	etch_persist_head_fill(p);
	head->sum = 0;
	head->magic = ETCH_PERSIST_MAGIC;
	head->sum = etch_persist_head_sum(head);
	etch_persist_enable(p);
	return 0;
}

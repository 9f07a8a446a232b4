// SPDX-License-Identifier: GPL-2.0
/*
 * The folder persist/: what an earlier kernel left in reserved memory (persist.h).
 *
 *	status		what was found. Write: forget it, and record there from now on
 *	metadata	what the packets are made of
 *	cpuN		packets, as per_cpu/cpuN/trace_pipe_raw gives them; they stay
 *
 * Copied into one folder, metadata and cpuN are a trace. The records are read where they
 * lie; once they are forgotten, an open file has come to its end.
 */

#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "persist/persist.h"

static struct etch_persist *etch_files_of;

/* ---- status ---- */

static void etch_status_cpu(struct seq_file *m, unsigned int cpu,
			    const struct etch_persist_cpu *c)
{
	seq_printf(m, "cpu%u: %u packets, %llu records, %llu overwritten, %llu lost", cpu, c->nr,
		   c->records, c->overwritten, c->lost);
	if (c->torn)
		seq_printf(m, "; torn and left out: %u packets, told to have %llu records",
			   c->torn, c->dropped);
	seq_puts(m, c->damaged ? "; its ring is damaged\n" : "\n");
}

static void etch_status_found(struct seq_file *m, const struct etch_persist_found *found)
{
	char release[sizeof(found->head->release) + 1] = "";
	u64 packets = 0, records = 0;
	unsigned int cpu;

	if (found->why) {
		seq_printf(m, "state: damaged\nwhy: %s\n", found->why);
		return;
	}
	memcpy(release, found->head->release, sizeof(found->head->release));
	for (cpu = 0; cpu < found->nr_cpus; cpu++) {
		packets += found->cpus[cpu].nr;
		records += found->cpus[cpu].records;
	}
	seq_printf(m, "state: found\nuuid: %pUb\nkernel: %s\nmetadata: %u bytes\n"
		   "packets: %llu\nrecords: %llu\n", found->head->uuid, release,
		   found->text_len, packets, records);
	for (cpu = 0; cpu < found->nr_cpus; cpu++)
		etch_status_cpu(m, cpu, &found->cpus[cpu]);
}

static int etch_status_show(struct seq_file *m, void *v)
{
	const struct etch_persist *p = etch_files_of;

	mutex_lock(&etch_mutex);
	seq_printf(m, "region: %s, %llu bytes\n", p->name, p->shape.bytes);
	if (p->inst)
		seq_printf(m, "state: recording\ninstance: %s\n"
			   "buffer of each CPU: %llu KiB\n%s", p->inst->name,
			   p->shape.nr * p->shape.subbuf >> 10,
			   p->full ? "full: not all events could be described\n" : "");
	else if (p->found.any)
		etch_status_found(m, &p->found);
	else
		seq_puts(m, "state: unused\n");
	mutex_unlock(&etch_mutex);
	return 0;
}

static int etch_status_open(struct inode *inode, struct file *file)
{
	return security_locked_down(LOCKDOWN_TRACEFS) ?:
	       single_open(file, etch_status_show, NULL);
}

/* Any write forgets the found records, and starts to record. */
static ssize_t etch_status_write(struct file *file, const char __user *buf, size_t count,
				 loff_t *pos)
{
	struct etch_persist *p = etch_files_of;
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_persist_start(p);
	if (ret)
		etch_error(etch_instances[ETCH_MAIN], "persist/status", "", 0, ret == -EBUSY ?
			   "There is nothing to forget" : "Nothing can be recorded there");
	mutex_unlock(&etch_mutex);
	return ret ?: count;
}

static const struct file_operations etch_status_fops = {
	.open = etch_status_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = etch_status_write,
	.release = single_release,
};

/* ---- metadata and packets ---- */

static int etch_found_open(struct inode *inode, struct file *file)
{
	return security_locked_down(LOCKDOWN_TRACEFS);
}

/* Copies from the findings, under etch_mutex: up to @count bytes from @pos on. */
typedef size_t (*etch_found_copy)(const struct etch_persist_found *found, struct file *file,
				  struct etch_persist_place *place, void *to, size_t count,
				  loff_t pos);

/*
 * Through a page of our own: user memory may take for ever to be there, and all control
 * would have to wait for that.
 */
static ssize_t etch_found_read(struct file *file, char __user *buf, size_t count, loff_t *pos,
			       etch_found_copy copy)
{
	const struct etch_persist_found *found = &etch_files_of->found;
	void *page = (void *)__get_free_page(GFP_KERNEL);
	struct etch_persist_place place = {};
	size_t done = 0, len, left = 0;

	if (!page)
		return -ENOMEM;
	while (done < count && !left && !fatal_signal_pending(current)) {
		len = min(count - done, PAGE_SIZE);
		mutex_lock(&etch_mutex);
		len = found->cpus ? copy(found, file, &place, page, len, *pos) : 0;
		mutex_unlock(&etch_mutex);
		if (!len)
			break;
		left = copy_to_user(buf + done, page, len);
		done += len - left;
		*pos += len - left;
	}
	free_page((unsigned long)page);
	return done ?: (left ? -EFAULT : 0);
}

static size_t etch_text_copy(const struct etch_persist_found *found, struct file *file,
			     struct etch_persist_place *place, void *to, size_t count,
			     loff_t pos)
{
	if (pos >= found->text_len)
		return 0;
	count = min_t(size_t, count, found->text_len - pos);
	memcpy(to, found->text + pos, count);
	return count;
}

static ssize_t etch_text_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	return etch_found_read(file, buf, count, pos, etch_text_copy);
}

static const struct file_operations etch_text_fops = {
	.open = etch_found_open,
	.read = etch_text_read,
	.llseek = default_llseek,
};

/* A part of a packet: header, records or zeroes, one of them. Returns bytes. */
static size_t etch_packet_piece(const struct etch_persist_packet *packet, size_t at, void *to,
				size_t count)
{
	size_t content = sizeof(packet->head) + packet->len;

	if (at < sizeof(packet->head)) {
		count = min(count, sizeof(packet->head) - at);
		memcpy(to, (void *)&packet->head + at, count);
	} else if (at < content) {
		count = min(count, content - at);
		memcpy(to, packet->data + at - sizeof(packet->head), count);
	} else {
		count = min(count, (size_t)(packet->head.packet_size / BITS_PER_BYTE - at));
		memset(to, 0, count);
	}
	return count;
}

/**
 * etch_persist_copy() - copy a part of a CPU's packets, as its file has them
 * @c: the findings of the CPU
 * @place: where the copy before this one, of a smaller @pos, ended; zeroes for the first
 * @to: where to
 * @count: how many bytes
 * @pos: from which on
 *
 * Context: any; the caller keeps @c valid.
 * Return: how many bytes there were.
 */
size_t etch_persist_copy(const struct etch_persist_cpu *c, struct etch_persist_place *place,
			 void *to, size_t count, loff_t pos)
{
	size_t done = 0;

	while (place->packet < c->nr && done < count) {
		const struct etch_persist_packet *packet = &c->packets[place->packet];
		size_t bytes = packet->head.packet_size / BITS_PER_BYTE;

		while (done < count && pos < place->start + bytes) {
			size_t part = etch_packet_piece(packet, pos - place->start, to + done,
							count - done);

			done += part;
			pos += part;
		}
		if (pos < place->start + bytes)
			break;
		place->packet++;
		place->start += bytes;
	}
	return done;
}

static size_t etch_packets_copy(const struct etch_persist_found *found, struct file *file,
				struct etch_persist_place *place, void *to, size_t count,
				loff_t pos)
{
	const struct etch_view_of *of = file_inode(file)->i_private;

	return of->cpu < found->nr_cpus ?
	       etch_persist_copy(&found->cpus[of->cpu], place, to, count, pos) : 0;
}

static ssize_t etch_packets_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	return etch_found_read(file, buf, count, pos, etch_packets_copy);
}

static const struct file_operations etch_packets_fops = {
	.open = etch_found_open,
	.read = etch_packets_read,
	.llseek = default_llseek,
};

/* ---- The folder ---- */

static const struct etch_control etch_persist_controls[] = {
	{ "status", 0600, .fops = &etch_status_fops },
	{ "metadata", 0400, .fops = &etch_text_fops },
};

static struct etch_files etch_persist_folder = { .folder = "persist" };

/**
 * etch_persist_add_files() - make the folder
 * @p: the region
 *
 * Context: boot; holds etch_mutex.
 * Return: 0 or -ENOMEM.
 */
int __init etch_persist_add_files(struct etch_persist *p)
{
	unsigned int nr = ARRAY_SIZE(etch_persist_controls), cpu;
	unsigned int cpus = p->found.cpus ? p->found.nr_cpus : 0;
	struct etch_control *controls;

	controls = kcalloc(nr + cpus + 1, sizeof(*controls), GFP_KERNEL);
	if (!controls)
		return -ENOMEM;
	memcpy(controls, etch_persist_controls, sizeof(etch_persist_controls));
	for (cpu = 0; cpu < cpus; cpu++) {
		controls[nr + cpu] = (struct etch_control) {
			.name = kasprintf(GFP_KERNEL, "cpu%u", cpu),
			.mode = 0400,
			.cpu = cpu,
			.fops = &etch_packets_fops,
		};
		if (!controls[nr + cpu].name)
			return -ENOMEM;
	}
	etch_files_of = p;
	etch_persist_folder.of_folder = controls;
	etch_tree_offer(&etch_persist_folder);
	return 0;
}

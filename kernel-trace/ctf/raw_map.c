// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of trace_pipe_raw, mapped: for readers who look at records where they are, and
 * want no system call for each packet.
 *
 * A mapping is room for a window, empty at first. Each ETCH_IOC_WINDOW takes away the pages
 * that are in the window, wherever that was, and puts in those of the next packets, as many
 * as there are and fit. The pages are the ring's own, which gets others for them as it does
 * when they are spliced: nothing is copied, the mapping has nothing to do with what the
 * ring consists of at the time, and it can be resized, read and spliced from as if there
 * were none.
 *
 * The page tables have bare page frames, as those of device memory. Such pages can be looked
 * at and copied from, but nobody can get a reference to one: vmsplice(), O_DIRECT and
 * whatever else pins user memory gets EFAULT. So when the window is emptied, the mapping is
 * the last to have known its pages, and the limit on lent memory holds.
 *
 * Without references a page must be in no TLB, either, when its loan comes back. That is so
 * because munmap() flushes them for such a mapping (VM_PFNMAP) before the mapping can no
 * longer be found.
 *
 * Pages leave the page tables as they do when a file is truncated. So an open file has a
 * struct address_space of its own, which knows its mappings, and those of no other open
 * file.
 */

#include <linux/cacheflush.h>
#include <linux/etch_ring.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <uapi/linux/etch_packet.h>

#include "ctf/raw.h"

/* As many as a reader can want to get at once. */
#define ETCH_WINDOW_MAX		1024

static const struct vm_operations_struct etch_raw_vm_ops;

/**
 * etch_raw_map_init() - get ready to be mapped
 * @p: the file, being opened
 * @inode: its inode
 * @file: the same file
 *
 * Context: process.
 */
void etch_raw_map_init(struct etch_raw *p, struct inode *inode, struct file *file)
{
	address_space_init_once(&p->mapping);
	/* An inode's initialisation does this one, not the address_space's. */
	init_rwsem(&p->mapping.invalidate_lock);
	p->mapping.host = inode;
	p->mapping.a_ops = &empty_aops;
	file->f_mapping = &p->mapping;
}

/**
 * etch_raw_mmap() - make room for a window
 * @file: trace_pipe_raw
 * @vma: where
 *
 * Context: process; holds the mmap lock for writing.
 * Return: 0, or -EPERM if somebody wants to write there or have it private.
 */
int etch_raw_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC) || !(vma->vm_flags & VM_MAYSHARE))
		return -EPERM;
	vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
	/* A child would keep pages that are long another packet's. */
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &etch_raw_vm_ops;
	return 0;
}

/* Under p->lock. No process sees the packets any more. */
static void etch_window_hide(struct etch_raw *p)
{
	unmap_mapping_range(&p->mapping, 0, 0, 1);
}

/* Under p->lock. Empty the window. Memory is lent again only when it is mapped nowhere. */
static void etch_window_put(struct etch_raw *p)
{
	unsigned int i, nr = p->nr_window;

	etch_window_hide(p);
	WRITE_ONCE(p->nr_window, 0);
	for (i = 0; i < nr; i++)
		etch_loan_put(p->window[i]);
}

/*
 * Under p->lock. No reader has seen the packets: the next reader of the file gets them, before
 * all others.
 */
static void etch_window_give_back(struct etch_raw *p)
{
	etch_window_hide(p);
	while (p->nr_window) {
		WRITE_ONCE(p->nr_window, p->nr_window - 1);
		list_add(&p->window[p->nr_window]->node, &p->queue);
	}
}

/**
 * etch_raw_unmap() - the file is closed
 * @p: the file
 *
 * Context: process.
 */
void etch_raw_unmap(struct etch_raw *p)
{
	etch_window_put(p);
	kvfree(p->window);
}

/* The mapping that has the window. Under the mmap lock. */
static struct vm_area_struct *etch_window_vma(struct file *file, const struct etch_window *w)
{
	unsigned long bytes = array_size(w->packets, w->stride);
	struct vm_area_struct *vma = vma_lookup(current->mm, w->address);

	if (!vma || vma->vm_ops != &etch_raw_vm_ops || vma->vm_file != file ||
	    bytes > vma->vm_end - w->address)
		return NULL;
	return vma;
}

/*
 * Map a packet, and not what its sub-buffer has behind it: older records may be there. No
 * reference is taken: the loan keeps the pages until they are mapped nowhere.
 */
static int etch_window_show_packet(struct vm_area_struct *vma, unsigned long address,
				   const struct etch_loan *loan)
{
	struct page *page = virt_to_page(loan->memory);
	unsigned int i;
	int ret = 0;

	for (i = 0; i < loan->packet >> PAGE_SHIFT && !ret; i++) {
		flush_dcache_page(page + i);
		ret = vm_fault_to_errno(vmf_insert_pfn(vma, address + i * PAGE_SIZE,
						       page_to_pfn(page + i)), 0);
	}
	return ret;
}

/* Under p->lock and the mmap lock. Map what is in p->window. If it fails, a part of it is. */
static int etch_window_show(struct etch_raw *p, struct vm_area_struct *vma,
			    const struct etch_window *w)
{
	unsigned long address = w->address;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < p->nr_window && !ret; i++) {
		ret = etch_window_show_packet(vma, address, p->window[i]);
		address += w->stride;
	}
	return ret;
}

/* Under p->lock. Take what packets there are into p->window. Returns how many, or an errno. */
static int etch_window_take(struct etch_raw *p, const struct etch_window *w)
{
	int ret = 0;

	while (p->nr_window < w->packets) {
		ret = etch_raw_next(p, true);
		if (ret <= 0)
			break;
		/* The window shows the whole packet, also the part that was read before. */
		if (etch_raw_at_hand(p)->bytes > w->stride) {
			ret = -EINVAL;
			break;
		}
		p->window[p->nr_window] = etch_raw_hand_over(p);
		WRITE_ONCE(p->nr_window, p->nr_window + 1);
	}
	return p->nr_window ?: ret;
}

/* Under p->lock. Empty the window and fill it again. Returns packets or an errno. */
static int etch_window_next(struct file *file, const struct etch_window *w)
{
	bool nonblock = file->f_flags & O_NONBLOCK;
	struct etch_raw *p = file->private_data;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	int ret;

	mmap_read_lock(mm);
	vma = etch_window_vma(file, w);
	mmap_read_unlock(mm);
	if (!vma)
		return -EFAULT;
	etch_window_put(p);

	ret = etch_raw_next(p, nonblock);
	if (ret <= 0)
		return ret;
	/* What another thread has put there meanwhile. */
	etch_window_put(p);
	ret = etch_window_take(p, w);
	if (ret <= 0)
		return ret;
	mmap_read_lock(mm);
	/* It may be another one by now. */
	vma = etch_window_vma(file, w);
	ret = vma ? etch_window_show(p, vma, w) : -EFAULT;
	mmap_read_unlock(mm);
	if (ret)
		etch_window_give_back(p);
	return ret ?: p->nr_window;
}

/* The answer goes to @to. */
static int etch_window_ioctl(struct file *file, struct etch_window *w, void __user *to)
{
	struct etch_raw *p = file->private_data;
	int ret;

	if (!w->packets || w->packets > ETCH_WINDOW_MAX || !w->stride ||
	    !PAGE_ALIGNED(w->stride) || w->stride > ETCH_RING_MAX_SUBBUF ||
	    !PAGE_ALIGNED(w->address))
		return -EINVAL;
	if (mutex_lock_interruptible(&p->lock))
		return -ERESTARTSYS;
	ret = -ENOMEM;
	if (!p->window)
		p->window = kvcalloc(ETCH_WINDOW_MAX, sizeof(*p->window), GFP_KERNEL);
	if (p->window)
		ret = etch_window_next(file, w);
	if (ret >= 0) {
		w->packets = ret;
		ret = copy_to_user(to, w, sizeof(*w)) ? -EFAULT : 0;
		/* The caller did not learn of the packets, so it has not seen them. */
		if (ret)
			etch_window_give_back(p);
	}
	etch_raw_unlock(p);
	return ret;
}

/**
 * etch_raw_ioctl() - ETCH_IOC_WINDOW
 * @file: trace_pipe_raw
 * @cmd: that
 * @arg: address of a struct etch_window
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno: see <uapi/linux/etch_packet.h>.
 */
long etch_raw_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	struct etch_window w;

	if (cmd != ETCH_IOC_WINDOW)
		return -ENOTTY;
	if (copy_from_user(&w, user, sizeof(w)))
		return -EFAULT;
	return etch_window_ioctl(file, &w, user);
}

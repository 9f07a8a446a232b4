// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/etch: where programs register events and get rings.
 *
 * An open file has the gates of one provider, and they last as long as the program has them
 * mapped. A device is beside the tree, not in it, because root gives the tree to those who may
 * see what the system does, and this to those who may tell about themselves.
 */
#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "event/event.h"
#include "user/user.h"

static int etch_user_open(struct inode *inode, struct file *file)
{
	file->private_data = etch_user_gates_alloc();
	return file->private_data ? stream_open(inode, file) : -ENOMEM;
}

static int etch_user_release(struct inode *inode, struct file *file)
{
	guard(mutex)(&etch_mutex);
	etch_user_gates_free(file->private_data);
	return 0;
}

/* ---- Commands ---- */

static int etch_user_register(struct file *file, struct etch_user_register __user *arg)
{
	struct etch_user_register reg;
	char *name, *fields;
	int ret;

	if (copy_from_user(&reg, arg, sizeof(reg)))
		return -EFAULT;
	if (reg.size != sizeof(reg) || reg.cpus)
		return -EINVAL;
	name = strndup_user(u64_to_user_ptr(reg.name), ETCH_USER_NAME);
	if (IS_ERR(name))
		return PTR_ERR(name);
	fields = strndup_user(u64_to_user_ptr(reg.fields), ETCH_USER_FIELDS);
	if (IS_ERR(fields)) {
		kfree(name);
		return PTR_ERR(fields);
	}
	scoped_guard(mutex, &etch_mutex)
		ret = etch_user_event_add(file->private_data, reg.gate, name, fields);
	kfree(fields);
	kfree(name);
	if (ret < 0)
		return ret;
	reg.id = ret;
	reg.cpus = nr_cpu_ids;
	return copy_to_user(arg, &reg, sizeof(reg)) ? -EFAULT : 0;
}

static int etch_user_unregister(const char __user *arg)
{
	char *name = strndup_user(arg, ETCH_USER_NAME);
	int ret;

	if (IS_ERR(name))
		return PTR_ERR(name);
	scoped_guard(mutex, &etch_mutex)
		ret = etch_user_event_remove(name);
	kfree(name);
	return ret;
}

static struct etch_user_ring_of *etch_user_ask(const struct etch_user_attach *attach)
{
	struct etch_instance *inst;

	if (attach->instance >= ETCH_INSTANCES || attach->reserved)
		return ERR_PTR(-EINVAL);
	if (attach->cpu >= nr_cpu_ids || !cpu_possible(attach->cpu))
		return ERR_PTR(-EINVAL);
	guard(mutex)(&etch_mutex);
	inst = etch_instances[ETCH_MAIN + attach->instance];
	if (!inst || !etch_instance_shown(inst))
		return ERR_PTR(-ENOENT);
	return etch_user_attach(inst, attach->cpu, false);
}

static int etch_user_do_attach(struct file *file, struct etch_user_attach __user *arg)
{
	struct etch_user_attach attach;
	struct etch_user_ring_of *ring;
	unsigned long address;

	if (copy_from_user(&attach, arg, sizeof(attach)))
		return -EFAULT;
	ring = etch_user_ask(&attach);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	address = vm_mmap(file, 0, PAGE_ALIGN(ETCH_USER_RING), PROT_READ | PROT_WRITE, MAP_SHARED,
			  (unsigned long)ring->id << PAGE_SHIFT);
	if (IS_ERR_VALUE(address))
		etch_user_abandon(ring);
	etch_user_ring_put(ring);
	if (IS_ERR_VALUE(address))
		return address;
	attach.address = address;
	attach.tid = current->pid;
	/* The mapping stays, even if the program does not get its address. */
	return copy_to_user(arg, &attach, sizeof(attach)) ? -EFAULT : 0;
}

/* The longest record that a block has room for. */
#define ETCH_USER_LONGEST	(ETCH_USER_SUBBUF - sizeof(struct etch_user_block))

static int etch_user_do_write(const struct etch_user_write __user *arg)
{
	struct etch_user_write write;
	struct etch_head *record;
	int ret = -EFAULT;

	if (copy_from_user(&write, arg, sizeof(write)))
		return -EFAULT;
	if (write.len > ETCH_USER_LONGEST - sizeof(*record))
		return -EINVAL;
	/* Zeroed, because up to three bytes behind the record go into the ring with it. */
	record = kzalloc(ALIGN(sizeof(*record) + write.len, 4), GFP_KERNEL_ACCOUNT);
	if (!record)
		return -ENOMEM;
	if (!copy_from_user(record + 1, u64_to_user_ptr(write.fields), write.len))
		ret = etch_user_write(record, write.id, sizeof(*record) + write.len);
	kfree(record);
	return ret;
}

static long etch_user_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *p = (void __user *)arg;

	switch (cmd) {
	case ETCH_USER_IOC_VERSION:
		return ETCH_USER_VERSION;
	case ETCH_USER_IOC_REGISTER:
		return etch_user_register(file, p);
	case ETCH_USER_IOC_UNREGISTER:
		return etch_user_unregister(p);
	case ETCH_USER_IOC_ATTACH:
		return etch_user_do_attach(file, p);
	case ETCH_USER_IOC_THREAD:
		return etch_user_thread();
	case ETCH_USER_IOC_WRITE:
		return etch_user_do_write(p);
	}
	return -ENOTTY;
}

/* ---- Mappings ---- */

/* A child has its parent's gates: they say the same to both. */
static int etch_user_map_gates(const struct etch_user_gates *gates, struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & (VM_WRITE | VM_EXEC) ||
	    vma_pages(vma) != 1)
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	return vm_insert_page(vma, vma->vm_start, virt_to_page(gates->masks));
}

static int etch_user_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (!vma->vm_pgoff)
		return etch_user_map_gates(file->private_data, vma);
	if (vma->vm_pgoff > INT_MAX)
		return -EINVAL;
	return etch_user_map(vma->vm_pgoff, vma);
}

static const struct file_operations etch_user_fops = {
	.owner = THIS_MODULE,
	.open = etch_user_open,
	.release = etch_user_release,
	.unlocked_ioctl = etch_user_ioctl,
	.mmap = etch_user_mmap,
};

static struct miscdevice etch_user_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "etch",
	.mode = 0600,
	.fops = &etch_user_fops,
};

builtin_misc_device(etch_user_device);

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_IMMEDIATE_H
#define _LINUX_IMMEDIATE_H

/*
 * Immediate values: read every day, written once in a blue moon.
 *
 * OVERVIEW
 *
 * An immediate value is an integer of up to 64 bits that the hot side only
 * reads.  It has two faces, for two kinds of reader:
 *
 *	imv_branch(name)	is the value non-zero?  A NOP or a jump, by way of
 *				the kernel's jump labels: no data is loaded.
 *	imv_read(name)		the value itself.
 *
 * and one for whoever changes it:
 *
 *	imv_set(name, value)	may sleep; takes effect on all CPUs before it
 *				returns.
 *
 * USAGE
 *
 *	DEFINE_IMV(u32, packet_budget);		 in one C file
 *	DECLARE_IMV(u32, packet_budget);	 in the header
 *	EXPORT_IMV_GPL(packet_budget);		 if modules read it
 *
 *	if (imv_branch(packet_budget))
 *		charge(imv_read(packet_budget));
 *
 *	imv_set(packet_budget, 64);
 *
 * The value starts as zero.  A signed type keeps its sign.
 *
 * ORDER
 *
 * Going from zero to something, the value is in place before the branch opens;
 * going back to zero, the branch closes first.  Neither tells a reader that is
 * past the branch already: it may still see the old value, or zero.  Such
 * readers are waited for as usual, with the grace period they run under.
 *
 * IMPLEMENTATION
 *
 * The value is stored beside its branch, and imv_read() is one load of it.
 * This is the form that every architecture has.
 *
 * A structure of another subsystem may embed a struct imv and use the
 * functions that take a pointer; tracepoints do.
 */

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/jump_label.h>
#include <linux/types.h>

/**
 * struct imv - an immediate value
 * @branch: open while @value is not zero; first, so that a tracepoint's key and
 *	    the branch of its gate are one
 * @value: the value, converted to 64 bits
 */
struct imv {
	struct static_key branch;
	u64 value;
};

#define IMV_INIT	{ .branch = STATIC_KEY_INIT_FALSE, .value = 0 }

/**
 * DECLARE_IMV() - make an immediate value of another file known
 * @type: its integer type, of at most 64 bits
 * @name: its name
 */
#define DECLARE_IMV(type, name)						\
	typedef type __imv_type_##name;					\
	extern struct imv name

/**
 * DEFINE_IMV() - define an immediate value, zero at first
 * @type: its integer type, of at most 64 bits
 * @name: its name
 */
#define DEFINE_IMV(type, name)						\
	typedef type __imv_type_##name;					\
	static_assert(sizeof(type) <= sizeof(u64));			\
	struct imv name = IMV_INIT

/**
 * EXPORT_IMV_GPL() - let GPL modules read an immediate value
 * @name: its name
 */
#define EXPORT_IMV_GPL(name)	EXPORT_SYMBOL_GPL(name)

/**
 * __imv_read() - read an embedded immediate value
 * @imv: the value
 *
 * Context: any, NMI included.
 * Return: the value as 64 bits.
 */
static __always_inline u64 __imv_read(const struct imv *imv)
{
	return READ_ONCE(imv->value);
}

int __imv_set(struct imv *imv, u64 value);

/**
 * imv_read() - read an immediate value
 * @name: its name
 *
 * Context: any, NMI included.
 * Return: the value, in its own type.
 */
#define imv_read(name)		((__imv_type_##name)__imv_read(&(name)))

/**
 * imv_branch() - is an immediate value other than zero?
 * @name: its name
 *
 * Laid out for the answer no.
 *
 * Context: any, NMI included.
 * Return: true when it is.
 */
#define imv_branch(name)	static_key_false(&(name).branch)

/**
 * imv_set() - change an immediate value
 * @name: its name
 * @val: what it is from now on
 *
 * Calls on the same value are serialised by the caller.
 *
 * Context: process, may sleep; not before jump labels are initialised.
 * Return: 0, or a negative errno and nothing changed.
 */
#define imv_set(name, val)						\
	__imv_set(&(name), (u64)(__imv_type_##name)(val))

#endif /* _LINUX_IMMEDIATE_H */

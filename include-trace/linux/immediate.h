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
 *	imv_read(name)		the value itself: the operand of an instruction that
 *				is patched, or, where the architecture does not do
 *				that for its width, a load.
 *
 * and one to change the value:
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
 * While a set is under way, a reader gets the old value or the new one, never
 * bits of both; two reads by one CPU may get the new one and then, at another
 * site, the old one.
 *
 * WHICH READS ARE PATCHED
 *
 *	x86-64		1, 2 and 4 bytes; 8 are loaded (asm/immediate.h says why)
 *	um		all, if its processor is an x86-64
 *	others		none
 *
 * IMPLEMENTATION
 *
 * A patched read leaves an entry in the table __imv_table: the instruction, the
 * width, the value's struct imv.  kernel/etch/hook/immediate.c goes through the kernel's
 * table and the modules' when values change, and has the architecture patch the
 * sites in batches, ordered by address.  The value itself is kept beside its
 * branch, for modules that come later and for reads that are loads.
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

/**
 * struct imv_site - an instruction whose operand is an immediate value
 * @code: its address, relative to this member
 * @size: width of the value in bytes
 * @imv: the address of its struct imv, relative to this member
 */
struct imv_site {
	s32 code;
	u32 size;
	long imv;
};

/**
 * struct imv_poke - an instruction, and what its operand is to be
 * @addr: the instruction
 * @value: the value, converted to 64 bits
 * @size: how many of its bytes the site is for
 */
struct imv_poke {
	void *addr;
	u64 value;
	u32 size;
};

/**
 * struct imv_change - a value, and what it is to be
 * @imv: the value
 * @value: converted to 64 bits
 */
struct imv_change {
	struct imv *imv;
	u64 value;
};

#ifdef CONFIG_IMV_PATCHED
#include <asm/immediate.h>

/**
 * arch_imv_poke() - give instructions new operands
 * @pokes: the instructions, in the order of their addresses
 * @nr: how many
 *
 * Each of them is executed with its old operand or its new one, by any CPU at
 * any time, and with the new one when this has returned.
 *
 * Context: process, may sleep; holds cpus_read_lock(). At boot: one CPU.
 * Return: 0, or a negative errno and any number of them changed.
 */
int arch_imv_poke(const struct imv_poke *pokes, unsigned int nr);

int imv_text_reserved(void *start, void *end);
#else
#define arch_imv_patches(size)		false
#define arch_imv_read(imv, size)	0UL

static inline int imv_text_reserved(void *start, void *end)
{
	return 0;
}
#endif

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
 * DEFINE_STATIC_IMV() - define an immediate value that only this file knows
 * @type: its integer type, of at most 64 bits
 * @name: its name
 */
#define DEFINE_STATIC_IMV(type, name)					\
	typedef type __imv_type_##name;					\
	static_assert(sizeof(type) <= sizeof(u64));			\
	static struct imv name = IMV_INIT

/**
 * EXPORT_IMV_GPL() - let GPL modules read an immediate value
 * @name: its name
 */
#define EXPORT_IMV_GPL(name)	EXPORT_SYMBOL_GPL(name)

/**
 * __imv_load() - read an embedded immediate value from memory
 * @type: the value's type
 * @imv: pointer to the value
 *
 * What every architecture can do. For the side that changes the value, and for
 * tests.
 *
 * Context: any, NMI included.
 * Return: the value, as a @type.
 */
#define __imv_load(type, imv)	((type)READ_ONCE((imv)->value))

/**
 * __imv_read() - read an embedded immediate value
 * @type: the value's type
 * @imv: pointer to the value; a constant, known when the kernel is linked
 *
 * Context: any, NMI included.
 * Return: the value, as a @type.
 */
#define __imv_read(type, imv)						\
	(arch_imv_patches(sizeof(type)) ?				\
	 (type)arch_imv_read(imv, sizeof(type)) : __imv_load(type, imv))

int __imv_set(struct imv *imv, u64 value);
int imv_set_many(struct imv_change *changes, unsigned int nr);

/**
 * imv_read() - read an immediate value
 * @name: its name
 *
 * Context: any, NMI included.
 * Return: the value, in its own type.
 */
#define imv_read(name)		__imv_read(__imv_type_##name, &(name))

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
 * Before jump labels are initialised the value is noted, for a few values at a
 * time, and set by the early initcalls.
 *
 * Context: process, may sleep; no lock that is taken when a CPU comes or goes.
 * Return: 0, or a negative errno and nothing changed.
 */
#define imv_set(name, val)						\
	__imv_set(&(name), (u64)(__imv_type_##name)(val))

#endif /* _LINUX_IMMEDIATE_H */

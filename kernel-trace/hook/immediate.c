// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate values: changing them. See include/linux/immediate.h.
 *
 * A change has four steps: close the branches of the values that become zero,
 * patch the operands, store the values in memory, open the branches of the values
 * that are no longer zero. Only the second step can fail; then the operands and the
 * branches are put back. Many values are changed at a time, because the cost of
 * patching is the synchronisation of all CPUs, which is the same for one site and
 * for two hundred.
 *
 * Locks: cpus_read_lock(), then imv_mutex, then what jump labels and the
 * architecture take.
 */
#define pr_fmt(fmt) "imv: " fmt

#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/immediate.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sort.h>

#include <asm/sections.h>

#include "hook/immediate_internal.h"

/* As many as are patched in one go; x86's own queue has 256 places. */
#define IMV_BATCH	256

/* Values that were set before jump labels could be. */
#define IMV_EARLY	8

/* One change of anything at a time; guards all that is below. */
static DEFINE_MUTEX(imv_mutex);

static struct static_key *imv_keys[IMV_BATCH];
static unsigned int imv_nr_keys;

static struct imv *imv_early[IMV_EARLY];
static unsigned int imv_nr_early;

/* ---- Branches ---- */

static void imv_flush_keys(bool open)
{
	if (open)
		static_keys_enable_cpuslocked(imv_keys, imv_nr_keys);
	else
		static_keys_disable_cpuslocked(imv_keys, imv_nr_keys);
	imv_nr_keys = 0;
}

/* Have the branches of the values that are zero, or that are not, say so. */
static void imv_switch(const struct imv_change *changes, unsigned int nr, bool open)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!!changes[i].value != open)
			continue;
		imv_keys[imv_nr_keys++] = &changes[i].imv->branch;
		if (imv_nr_keys == IMV_BATCH)
			imv_flush_keys(open);
	}
	imv_flush_keys(open);
}

/* ---- Operands ---- */

#ifdef CONFIG_IMV_PATCHED

static int imv_change_cmp(const void *a, const void *b)
{
	const struct imv_change *x = a, *y = b;

	if (x->imv != y->imv)
		return x->imv < y->imv ? -1 : 1;
	return 0;
}

static struct imv_poke imv_pokes[IMV_BATCH];
static unsigned int imv_nr_pokes;

static unsigned long imv_site_code(const struct imv_site *site)
{
	return (unsigned long)&site->code + site->code;
}

static struct imv *imv_site_imv(const struct imv_site *site)
{
	return (struct imv *)((unsigned long)&site->imv + site->imv);
}

static int imv_poke_cmp(const void *a, const void *b)
{
	const struct imv_poke *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Tests have it fail: no architecture does so when one likes. */
VISIBLE_IF_KUNIT int imv_poke_batch(const struct imv_poke *pokes, unsigned int nr)
{
	KUNIT_STATIC_STUB_REDIRECT(imv_poke_batch, pokes, nr);
	return arch_imv_poke(pokes, nr);
}

static int imv_flush_pokes(void)
{
	unsigned int nr = imv_nr_pokes;

	imv_nr_pokes = 0;
	if (!nr)
		return 0;
	sort(imv_pokes, nr, sizeof(imv_pokes[0]), imv_poke_cmp, NULL);
	return imv_poke_batch(imv_pokes, nr);
}

#ifdef CONFIG_MODULES
/* Modules that have sites. */
static LIST_HEAD(imv_modules);

/* Init code is there while the module is coming. */
static bool imv_module_has(const struct module *mod, unsigned long code)
{
	return mod->state == MODULE_STATE_COMING || within_module_core(code, mod);
}
#else
static bool imv_module_has(const struct module *mod, unsigned long code)
{
	return false;
}
#endif

/* Is the code of the site there, to be executed and to be patched? */
static bool imv_site_lives(const struct imv_site *site, const struct module *mod)
{
	unsigned long code = imv_site_code(site);

	if (mod)
		return imv_module_has(mod, code);
	/* Built-in exit code never is; init code is until it is freed. */
	return kernel_text_address(code);
}

static int imv_poke_site(const struct imv_site *site, u64 value)
{
	imv_pokes[imv_nr_pokes++] = (struct imv_poke) {
		.addr = (void *)imv_site_code(site),
		.value = value,
		.size = site->size,
	};
	return imv_nr_pokes < IMV_BATCH ? 0 : imv_flush_pokes();
}

/* Of the sites of a table, those whose value changes. */
static int imv_poke_table(const struct imv_site *site, const struct imv_site *stop,
			  const struct module *mod, struct imv_change *changes,
			  unsigned int nr, bool back)
{
	for (; site < stop; site++) {
		struct imv_change key = { .imv = imv_site_imv(site) }, *change;
		int ret;

		change = bsearch(&key, changes, nr, sizeof(key), imv_change_cmp);
		if (!change || !imv_site_lives(site, mod))
			continue;
		if (!back && key.imv->value == change->value)
			continue;
		ret = imv_poke_site(site, back ? key.imv->value : change->value);
		if (ret)
			return ret;
	}
	return 0;
}

/* Patch the operands; or, if that has failed half-way, put them @back. */
static int imv_poke(struct imv_change *changes, unsigned int nr, bool back)
{
	int ret;

	sort(changes, nr, sizeof(*changes), imv_change_cmp, NULL);
	ret = imv_poke_table(__start___imv_table, __stop___imv_table, NULL,
			     changes, nr, back);
#ifdef CONFIG_MODULES
	struct module *mod;

	list_for_each_entry(mod, &imv_modules, imv_list) {
		if (ret)
			break;
		ret = imv_poke_table(mod->imv_sites, mod->imv_sites + mod->num_imv_sites,
				     mod, changes, nr, back);
	}
#endif
	return ret ?: imv_flush_pokes();
}

#else
static int imv_poke(struct imv_change *changes, unsigned int nr, bool back)
{
	return 0;
}
#endif /* CONFIG_IMV_PATCHED */

/* ---- Both ---- */

static int imv_change_all(struct imv_change *changes, unsigned int nr)
{
	unsigned int i;
	int ret;

	imv_switch(changes, nr, false);
	ret = imv_poke(changes, nr, false);
	if (ret) {
		/* These operands were patched a moment ago, so patching them back works. */
		WARN_ON(imv_poke(changes, nr, true));
		for (i = 0; i < nr; i++)
			changes[i].value = changes[i].imv->value;
	}
	for (i = 0; i < nr; i++)
		WRITE_ONCE(changes[i].imv->value, changes[i].value);
	imv_switch(changes, nr, true);
	return ret;
}

/* Too early for branches. The value is kept where imv_init_early() finds it. */
VISIBLE_IF_KUNIT int imv_note_early(const struct imv_change *changes, unsigned int nr)
{
	unsigned int i, k;

	if (nr > IMV_EARLY - imv_nr_early)
		return -EAGAIN;
	for (i = 0; i < nr; i++) {
		changes[i].imv->value = changes[i].value;
		for (k = 0; k < imv_nr_early && imv_early[k] != changes[i].imv; k++)
			;
		imv_early[k] = changes[i].imv;
		imv_nr_early = max(imv_nr_early, k + 1);
	}
	return 0;
}

/**
 * imv_set_many() - change immediate values together
 * @changes: the values, each of them once, and what they are from now on; this
 *	     function puts them into another order
 * @nr: how many
 *
 * For each value what imv_set() does, at the cost of one. They do not change in
 * the same instant.
 *
 * Context: process, may sleep; no lock that is taken when a CPU comes or goes.
 * Return: 0; or -EAGAIN, when it is too early in the boot for so many values, or
 * the errno of the architecture's patching, and nothing changed.
 */
int imv_set_many(struct imv_change *changes, unsigned int nr)
{
	guard(cpus_read_lock)();
	guard(mutex)(&imv_mutex);

	if (!static_key_initialized)
		return imv_note_early(changes, nr);
	return imv_change_all(changes, nr);
}

/**
 * __imv_set() - change an embedded immediate value
 * @imv: the value
 * @value: what it is from now on
 *
 * Context: process, may sleep; no lock that is taken when a CPU comes or goes.
 * Return: as imv_set_many().
 */
int __imv_set(struct imv *imv, u64 value)
{
	struct imv_change change = { .imv = imv, .value = value };

	return imv_set_many(&change, 1);
}
EXPORT_SYMBOL_GPL(__imv_set);

/* Set what was noted. */
VISIBLE_IF_KUNIT int imv_set_noted(void)
{
	unsigned int i;
	int ret, err = 0;

	for (i = 0; i < imv_nr_early; i++) {
		struct imv *imv = imv_early[i];
		u64 value = imv->value;

		/* The operands hold zero, and __imv_set() patches only a value that changes. */
		WRITE_ONCE(imv->value, 0);
		ret = __imv_set(imv, value);
		err = err ?: ret;
	}
	imv_nr_early = 0;
	return err;
}

/* Before the initcalls nothing runs that would set one of these anew. */
static int __init imv_init_early(void)
{
	int ret = imv_set_noted();

	if (ret)
		pr_err("a value set early is not in place: error %d\n", ret);
	return ret;
}
early_initcall(imv_init_early);

/* ---- Addresses that other code must not patch ---- */

#ifdef CONFIG_IMV_PATCHED

static bool imv_table_reserved(const struct imv_site *site, const struct imv_site *stop,
			       const struct module *mod, void *start, void *end)
{
	for (; site < stop; site++) {
		unsigned long code = imv_site_code(site);

		if (code <= (unsigned long)end &&
		    code + arch_imv_insn_size(site->size) > (unsigned long)start &&
		    imv_site_lives(site, mod))
			return true;
	}
	return false;
}

/**
 * imv_text_reserved() - are instructions there that imv_set() patches?
 * @start: the first byte asked about
 * @end: the last one
 *
 * Context: any; @start and @end are in the kernel or in one module, which does not
 * go meanwhile.
 * Return: 1 if so, else 0.
 */
int imv_text_reserved(void *start, void *end)
{
	if (imv_table_reserved(__start___imv_table, __stop___imv_table, NULL, start, end))
		return 1;
#ifdef CONFIG_MODULES
	guard(preempt)();
	struct module *mod = __module_text_address((unsigned long)start);

	if (mod)
		return imv_table_reserved(mod->imv_sites,
					  mod->imv_sites + mod->num_imv_sites,
					  mod, start, end);
#endif
	return 0;
}

/* ---- Modules ---- */

#ifdef CONFIG_MODULES

/* A module has come: its instructions say zero. */
static int imv_module_coming(struct module *mod)
{
	const struct imv_site *site, *stop = mod->imv_sites + mod->num_imv_sites;
	int ret = 0;

	for (site = mod->imv_sites; site < stop && !ret; site++) {
		u64 value = imv_site_imv(site)->value;

		if (value)
			ret = imv_poke_site(site, value);
	}
	ret = ret ?: imv_flush_pokes();
	if (ret)
		pr_err("%s: cannot be patched: error %d\n", mod->name, ret);
	else
		list_add(&mod->imv_list, &imv_modules);
	return ret;
}

static int imv_module_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;
	int ret = 0;

	if (!mod->num_imv_sites)
		return NOTIFY_OK;

	guard(cpus_read_lock)();
	guard(mutex)(&imv_mutex);

	if (state == MODULE_STATE_COMING)
		ret = imv_module_coming(mod);
	else if (state == MODULE_STATE_GOING)
		list_del(&mod->imv_list);
	return notifier_from_errno(ret);
}

/* Before the jump labels' (1): values are in place before branches open. */
static struct notifier_block imv_module_nb = {
	.notifier_call = imv_module_notify,
	.priority = 2,
};

static int __init imv_init_modules(void)
{
	return register_module_notifier(&imv_module_nb);
}
early_initcall(imv_init_modules);

#endif /* CONFIG_MODULES */
#endif /* CONFIG_IMV_PATCHED */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the code that describes events uses of the kernel, for a program in user space, on
 * top of what the ring buffer's tests have (../../ring/shim). The headers of the kernel that
 * are not there are empty ones here (see ../Makefile), for this file comes before all.
 */
#ifndef ETCH_FUZZ_SHIM_H
#define ETCH_FUZZ_SHIM_H

#define SHIM_NO_POINTS 1
#include "../../ring/shim/shim.h"
#undef memcpy

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <sys/types.h>

#define CONFIG_64BIT		1
#define CONFIG_CPU_BIG_ENDIAN	0
#define CONFIG_MODULES		1
#define IS_ENABLED(CONFIG_option) (CONFIG_option)

/* types.h, limits.h, minmax.h, align.h, kernel.h */
typedef int16_t s16;
typedef int8_t s8;
typedef s64 ktime_t;
typedef u64 sector_t;
typedef unsigned short umode_t;
typedef unsigned int fmode_t, slab_flags_t, blk_opf_t;
typedef u8 blk_status_t;
typedef unsigned int kuid_t, kgid_t;

#define __force
#define __used			__attribute__((used))
#define __section(name)		__attribute__((section(name)))
#define __user
#define __init
#define __pure			__attribute__((pure))
#define fallthrough		__attribute__((fallthrough))
#define U64_MAX			UINT64_MAX
#define U32_MAX			UINT32_MAX
#define S32_MAX			INT32_MAX
#define S64_MAX			INT64_MAX
#define S64_MIN			INT64_MIN
#define BITS_PER_BYTE		8
#define BITS_PER_LONG_LONG	64
#define TASK_COMM_LEN		16
#define NSEC_PER_SEC		1000000000L
#define NSEC_PER_USEC		1000L
#define is_signed_type(type)	((type)(-1) < (type)1)
#define swap(a, b)		do { __typeof__(a) __t = a; a = b; b = __t; } while (0)
#define do_div(n, by)		({ u32 __rem = (n) % (by); (n) /= (by); __rem; })
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

/* list.h */
struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name)		struct list_head name = { &name, &name }
#define INIT_LIST_HEAD(l)	((l)->next = (l)->prev = (l))
#define list_first_entry(l, type, member) container_of((l)->next, type, member)
#define list_next_entry(p, member) list_first_entry(&(p)->member, __typeof__(*(p)), member)
#define list_empty(l)		((l)->next == (l))
#define list_for_each_entry_reverse(p, l, member)			\
	for (p = container_of((l)->prev, __typeof__(*p), member); &p->member != (l); \
	     p = container_of(p->member.prev, __typeof__(*p), member))
#define list_for_each_entry(p, l, member)				\
	for (p = list_first_entry(l, __typeof__(*p), member); &p->member != (l); \
	     p = list_first_entry(&p->member, __typeof__(*p), member))
#define list_for_each_entry_safe(p, n, l, member)			\
	for (p = list_first_entry(l, __typeof__(*p), member);		\
	     n = list_first_entry(&p->member, __typeof__(*p), member), &p->member != (l); \
	     p = n)

static inline void list_add_tail(struct list_head *new, struct list_head *list)
{
	new->next = list;
	new->prev = list->prev;
	list->prev->next = new;
	list->prev = new;
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

struct hlist_node {
	struct hlist_node *next, **pprev;
};

/* Objects that nobody locks, queues or looks into here. */
struct mutex { int unused; };
struct rw_semaphore { int unused; };
struct delayed_work { int unused; };
struct irq_work { int unused; };
struct rcu_work { int unused; };
struct timer_list { int unused; };
struct rcu_head { int unused; };
#define __rcu
typedef struct { int unused; } wait_queue_head_t;
typedef struct { u8 b[16]; } uuid_t;
struct trace_seq { char *buffer; };

#define DECLARE_PER_CPU(type, name)	extern type name
#define DEFINE_MUTEX(name)	struct mutex name
#define mutex_lock(m)		((void)(m))
#define mutex_unlock(m)		((void)(m))
#define lockdep_assert_held(m)	((void)(m))
#define down_read(sem)		((void)(sem))
#define up_read(sem)		((void)(sem))

struct etch_enum;

struct module {
	const struct etch_enum **etch_enums;
	unsigned int num_etch_enums;
};

#define THIS_MODULE		((struct module *)NULL)
#define MODULE_DESCRIPTION(s)	_Static_assert(1, "")
#define MODULE_LICENSE(s)	_Static_assert(1, "")
#define EXPORT_SYMBOL		EXPORT_SYMBOL_GPL

/*
 * ctype.h: the kernel's letters are those of Latin-1, and its white space has a no-break
 * space. The C library's header may be there already; its functions are not wanted.
 */
static inline bool shim_isupper(unsigned char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7);
}

static inline bool shim_islower(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 0xdf && c != 0xf7);
}

#undef isalpha
#undef isdigit
#undef isalnum
#undef isxdigit
#undef isspace
#undef tolower
#undef toupper
#define isdigit(c)		((c) >= '0' && (c) <= '9')
#define isalpha(c)		(shim_isupper(c) || shim_islower(c))
#define isalnum(c)		(isalpha(c) || isdigit(c))
#define isxdigit(c)		(isdigit(c) || ((c) >= 'a' && (c) <= 'f') || ((c) >= 'A' && (c) <= 'F'))
#define isspace(c)		((c) && strchr(" \t\n\v\f\r\240", (c)))
#define tolower(c)		(shim_isupper(c) ? (c) + ('a' - 'A') : (c))
#define toupper(c)		(shim_islower(c) ? (c) - ('a' - 'A') : (c))

/* string.h, slab.h */
static inline char *skip_spaces(const char *text)
{
	while (isspace(*text))
		text++;
	return (char *)text;
}

static inline int hex_to_bin(unsigned char c)
{
	return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

static inline char *strnstr(const char *text, const char *what, size_t len)
{
	return memmem(text, strnlen(text, len), what, strlen(what));
}

__printf(3, 4)
static inline int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return (size_t)len < size ? len : size ? (int)size - 1 : 0;
}

/* Cut where it has to be; @to is an array. */
static inline void shim_strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	memset(to + len, 0, size - len);
}

#define strscpy(to, from)	shim_strscpy(to, from, sizeof(to))
#define strscpy_pad(to, from)	shim_strscpy(to, from, sizeof(to))
#define strstarts(text, with)	(!strncmp(text, with, strlen(with)))
#define num_possible_cpus()	4U
#define str_true_false(v)	((v) ? "true" : "false")

/* seq_file.h and seq_buf.h: one text each, which either grows or not. */
struct seq_file {
	void *private;
	char *buf;
	size_t size, count;
	bool fixed;		/* then a text that does not fit is marked by count == size */
	int (*show)(struct seq_file *m, void *v);
	const struct seq_operations *op;
};

struct seq_operations {
	void *(*start)(struct seq_file *m, loff_t *pos);
	void (*stop)(struct seq_file *m, void *v);
	void *(*next)(struct seq_file *m, void *v, loff_t *pos);
	int (*show)(struct seq_file *m, void *v);
};

#define SEQ_START_TOKEN		((void *)1)

struct seq_buf {
	struct seq_file text;
};

void seq_write(struct seq_file *m, const void *data, size_t len);
void seq_printf(struct seq_file *m, const char *fmt, ...) __printf(2, 3);
void seq_escape_str(struct seq_file *m, const char *text, unsigned int flags, const char *only);

#define seq_puts(m, s)		seq_write(m, s, strlen(s))

static inline bool seq_has_overflowed(struct seq_file *m)
{
	return m->fixed && m->count == m->size;
}

static inline void seq_putc(struct seq_file *m, char c)
{
	seq_write(m, &c, 1);
}

#define seq_buf_init(s, b, n)	\
	((s)->text = (struct seq_file){ .buf = b, .size = n, .fixed = true })
#define seq_buf_putmem(s, d, n)	seq_write(&(s)->text, d, n)
#define seq_buf_printf(s, ...)	seq_printf(&(s)->text, __VA_ARGS__)
#define seq_buf_used(s)		((s)->text.count)
#define seq_buf_has_overflowed(s) ((s)->text.count == (s)->text.size)

/* fs.h, security.h, uaccess.h: an open file */
struct inode {
	void *i_private;
};

struct super_block;
struct dentry;
struct iattr;
struct mnt_idmap;

struct file {
	void *private_data;
	fmode_t f_mode;
	unsigned int f_flags;
};

struct file_operations {
	struct module *owner;
	int (*open)(struct inode *inode, struct file *file);
	int (*release)(struct inode *inode, struct file *file);
	ssize_t (*read)(struct file *file, char *buf, size_t count, loff_t *pos);
	ssize_t (*write)(struct file *file, const char *buf, size_t count, loff_t *pos);
	loff_t (*llseek)(struct file *file, loff_t offset, int whence);
};

#define seq_read		NULL
#define seq_lseek		NULL
#define FMODE_WRITE		2

int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *p);
int single_release(struct inode *inode, struct file *file);
int seq_open(struct file *file, const struct seq_operations *op);
int seq_release(struct inode *inode, struct file *file);

/* What reading the file to its end gives, with a zero behind; until it is released. */
const char *shim_read(struct file *file);

#define LOCKDOWN_TRACEFS	0
#define security_locked_down(w)	(w)
#define copy_from_user(to, from, n) (memcpy(to, from, n), 0)

/* slab.h, string.h, kstrtox.h, math64.h, sched/clock.h, string_helpers.h, printk.h */
#define kvzalloc(size, gfp)	shim_alloc(64, size)
#define struct_size(p, member, n) (sizeof(*(p)) + (n) * sizeof((p)->member[0]))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define local_clock()		123456789ULL
#define KERN_EMERG
#define printk			shim_print
#define pr_warn			shim_print
#define pr_emerg		shim_print
#define ESCAPE_SPACE		0x01
#define ESCAPE_SPECIAL		0x02
#define ESCAPE_OCTAL		0x08
#define ESCAPE_NAP		0x100

static inline void shim_print(const char *fmt, ...)
{
}

struct va_format {
	const char *fmt;
	va_list *va;
};

char *kvasprintf(gfp_t gfp, const char *fmt, va_list args);
char *kasprintf(gfp_t gfp, const char *fmt, ...) __printf(2, 3);
char *kstrdup(const char *text, gfp_t gfp);
char *kmemdup_nul(const char *text, size_t len, gfp_t gfp);
char *strim(char *text);
int kstrtouint(const char *text, unsigned int base, unsigned int *value);
int kstrtoul(const char *text, unsigned int base, unsigned long *value);
int kstrtoull(const char *text, unsigned int base, unsigned long long *value);
int match_string(const char * const *strings, size_t n, const char *text);
int string_escape_mem(const char *from, size_t len, char *to, size_t size,
		      unsigned int flags, const char *only);
unsigned long long memparse(const char *text, char **end);

static inline u64 div_u64_rem(u64 n, u32 by, u32 *rem)
{
	*rem = n % by;
	return n / by;
}

static inline s64 div_s64_rem(s64 n, s32 by, s32 *rem)
{
	*rem = n % by;
	return n / by;
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 by, u64 div)
{
	return (__uint128_t)a * by / div;
}

/* bug.h: see shim_warnings */
#define WARN_ONCE(c, ...)	WARN_ON_ONCE(c)

/* err.h, kref.h, bitmap.h */
#define PTR_ERR_OR_ZERO(p)	(IS_ERR(p) ? PTR_ERR(p) : 0)

struct kref {
	int count;
};

#define kref_init(r)		((r)->count = 1)
#define kref_get(r)		((r)->count++)
#define kref_put(r, release)	(--(r)->count ? 0 : (release(r), 1))

#define BITS_PER_LONG		64
#define bitmap_zalloc(bits, gfp) \
	((unsigned long *)shim_alloc(64, ALIGN(bits, BITS_PER_LONG) / BITS_PER_BYTE))
#define bitmap_free(map)	shim_free(map)
#define test_bit(n, map)	((map)[(n) / BITS_PER_LONG] >> (n) % BITS_PER_LONG & 1)

static inline void __assign_bit(unsigned int n, unsigned long *map, bool value)
{
	map[n / BITS_PER_LONG] &= ~(1UL << n % BITS_PER_LONG);
	map[n / BITS_PER_LONG] |= (unsigned long)value << n % BITS_PER_LONG;
}

/* sched.h, sched/signal.h: the caller has been killed after so many looks; negative: never */
extern long shim_patience;
#define fatal_signal_pending(task) (shim_patience > 0 ? !--shim_patience : !shim_patience)

/* glob.h: the kernel's own, which is linked */
bool glob_match(const char *pattern, const char *text);
bool glob_match_len(const char *pattern, const char *text, size_t len);

/* tracepoint.h: so few at once that it is not once only */
#define TRACEPOINT_SET_MAX	4

struct tracepoint {
	u64 wanted;
};

struct tracepoint_instances {
	struct tracepoint *tp;
	u64 instances;
	u64 before;
	int ret;
};

void tracepoint_set_instances(struct tracepoint_instances *set, unsigned int nr);

/* cpumask.h, percpu.h: a member that nobody uses here */
typedef unsigned long cpumask_var_t[1];
#define __percpu

/* string.h */
static inline const char *kbasename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* utsname.h, uuid.h, ktime.h, timekeeping.h: whatever who links it wants them to be */
struct new_utsname {
	char sysname[65];
	char nodename[65];
	char release[65];
	char version[65];
	char machine[65];
	char domainname[65];
};

extern struct new_utsname shim_uts;
extern struct rw_semaphore uts_sem;
#define init_utsname()		(&shim_uts)
void uuid_gen(uuid_t *uuid);
ktime_t ktime_mono_to_real(ktime_t mono);

/* notifier.h, panic_notifier.h, kdebug.h: see shim_on_panic */
struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long what, void *data);
	int priority;
};

extern struct notifier_block *shim_on_panic;
#define NOTIFY_DONE		0
#define DIE_OOPS		1
#define panic_notifier_list	shim_on_panic
#define atomic_notifier_chain_register(list, nb) (*(list) = (nb))
#define register_die_notifier(nb) ((void)(nb))

/* What a dump has around it: atomic.h, preempt.h, rcupdate.h, nmi.h, panic.h, trace_seq.h */
typedef struct { int counter; } atomic_t;

#define SHIM_CPU		1
#define atomic_set(v, i)	((v)->counter = (i))
#define atomic_xchg(v, i)	({ int __old = (v)->counter; (v)->counter = (i); __old; })
#define preempt_disable()	((void)0)
#define preempt_enable_no_resched() ((void)0)
#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)
#define rcu_cpu_stall_reset()	((void)0)
#define touch_nmi_watchdog()	((void)0)
#define smp_processor_id()	SHIM_CPU
#define for_each_possible_cpu(cpu) for (cpu = 0; cpu <= SHIM_CPU; cpu++)
#define in_interrupt()		false
#define panic_on_oops		false
#define trace_seq_init(s)	((void)(s))
#define trace_seq_used(s)	((void)(s), 0)

/* init.h: a target calls the functions of parameters, and those of boot, by these names */
#define __ro_after_init
#define __initdata
#define COMMAND_LINE_SIZE	256
#define __setup(word, function)	int (* const shim_##function)(char *) = function
extern int (* const shim_etch_event_setup)(char *text);
extern int (* const shim_etch_buf_size_setup)(char *text);
extern int (* const shim_etch_subbuf_size_setup)(char *text);
extern int (* const shim_etch_dump_setup)(char *text);
extern int (* const shim_etch_dump_lines_setup)(char *text);
#define core_initcall(function)	int (* const shim_##function)(void) = function
#define fs_initcall(function)	int (* const shim_##function)(void) = function
extern int (* const shim_etch_control_offer)(void);
extern int (* const shim_etch_text_offer)(void);
extern int (* const shim_etch_ctf_offer)(void);
extern int (* const shim_etch_dump_init)(void);

#endif /* ETCH_FUZZ_SHIM_H */

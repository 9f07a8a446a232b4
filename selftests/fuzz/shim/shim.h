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
typedef u64 sector_t;
typedef unsigned short umode_t;
typedef unsigned int fmode_t, slab_flags_t, blk_opf_t;
typedef u8 blk_status_t;

#define __force
#define __used			__attribute__((used))
#define __section(name)		__attribute__((section(name)))
#define __user
#define __init
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

#define INIT_LIST_HEAD(l)	((l)->next = (l)->prev = (l))
#define list_first_entry(l, type, member) container_of((l)->next, type, member)
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

/* What is never locked, queued or looked into here. */
struct mutex { int unused; };
struct rw_semaphore { int unused; };
struct delayed_work { int unused; };
typedef struct { int unused; } wait_queue_head_t;
typedef struct { u8 b[16]; } uuid_t;
struct trace_seq { int unused; };

#define DECLARE_PER_CPU(type, name)	extern type name
#define mutex_lock(m)		((void)(m))
#define mutex_unlock(m)		((void)(m))

struct etch_enum;

struct module {
	const struct etch_enum **etch_enums;
	unsigned int num_etch_enums;
};

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
#define isdigit(c)		((c) >= '0' && (c) <= '9')
#define isalpha(c)		(shim_isupper(c) || shim_islower(c))
#define isalnum(c)		(isalpha(c) || isdigit(c))
#define isxdigit(c)		(isdigit(c) || ((c) >= 'a' && (c) <= 'f') || ((c) >= 'A' && (c) <= 'F'))
#define isspace(c)		((c) && strchr(" \t\n\v\f\r\240", (c)))
#define tolower(c)		(shim_isupper(c) ? (c) + ('a' - 'A') : (c))

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

#define strstarts(text, with)	(!strncmp(text, with, strlen(with)))
#define str_true_false(v)	((v) ? "true" : "false")

/* seq_file.h and seq_buf.h: one text each, which either grows or not. */
struct seq_file {
	void *private;
	char *buf;
	size_t size, count;
	bool fixed;		/* then a text that does not fit is marked by count == size */
};

struct seq_buf {
	struct seq_file text;
};

void seq_write(struct seq_file *m, const void *data, size_t len);
void seq_printf(struct seq_file *m, const char *fmt, ...) __printf(2, 3);

#define seq_puts(m, s)		seq_write(m, s, strlen(s))

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

/* fs.h, security.h, uaccess.h: an open file, as far as it takes what is written to it */
struct inode {
	void *i_private;
};

struct file {
	void *private_data;
};

struct file_operations {
	int (*open)(struct inode *inode, struct file *file);
	int (*release)(struct inode *inode, struct file *file);
	ssize_t (*read)(struct file *file, char *buf, size_t count, loff_t *pos);
	ssize_t (*write)(struct file *file, const char *buf, size_t count, loff_t *pos);
	loff_t (*llseek)(struct file *file, loff_t offset, int whence);
};

#define seq_read		NULL
#define seq_lseek		NULL
#define single_open(f, show, p)	((void)(show), 0)
#define single_release(i, f)	((void)(f))
#define LOCKDOWN_TRACEFS	0
#define security_locked_down(w)	(w)
#define copy_from_user(to, from, n) (memcpy(to, from, n), 0)

/* slab.h, string.h, kstrtox.h, math64.h, sched/clock.h, string_helpers.h, printk.h */
#define kvzalloc(size, gfp)	shim_alloc(64, size)
#define struct_size(p, member, n) (sizeof(*(p)) + (n) * sizeof((p)->member[0]))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define local_clock()		123456789ULL
#define pr_warn(...)		((void)0)
#define ESCAPE_SPACE		0x01
#define ESCAPE_SPECIAL		0x02
#define ESCAPE_OCTAL		0x08
#define ESCAPE_NAP		0x100

struct va_format {
	const char *fmt;
	va_list *va;
};

char *kvasprintf(gfp_t gfp, const char *fmt, va_list args);
char *kasprintf(gfp_t gfp, const char *fmt, ...) __printf(2, 3);
char *strim(char *text);
int kstrtoul(const char *text, unsigned int base, unsigned long *value);
int match_string(const char * const *strings, size_t n, const char *text);
int string_escape_mem(const char *from, size_t len, char *to, size_t size,
		      unsigned int flags, const char *only);
unsigned long long memparse(const char *text, char **end);

static inline u64 div_u64_rem(u64 n, u32 by, u32 *rem)
{
	*rem = n % by;
	return n / by;
}

/* init.h: a parameter's function, for who wants to call it */
#define __ro_after_init
#define __initdata
#define COMMAND_LINE_SIZE	256
#define __setup(word, function)	int (* const shim_##function)(char *) = function
extern int (* const shim_etch_event_setup)(char *text);
extern int (* const shim_etch_buf_size_setup)(char *text);
extern int (* const shim_etch_subbuf_size_setup)(char *text);

#endif /* ETCH_FUZZ_SHIM_H */

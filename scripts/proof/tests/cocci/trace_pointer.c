// SPDX-License-Identifier: GPL-2.0
/* What trace_pointer.cocci has to report is marked BAD; it is never compiled. */

TRACE_EVENT(dev_hit,
	TP_PROTO(struct device *dev, const char *text, int n),
	TP_ARGS(dev, text, n),
	TP_STRUCT__entry(
		__field(const char *, text)			/* BAD */
		__field(char *, other)				/* BAD */
		__field_ext(text_t, third, FILTER_OTHER)	/* BAD */
		__field(unsigned long, number)			/* BAD */
		__field(const char *, chosen)			/* BAD */
		__field(const char *, fallback)			/* BAD */
		__field(const char *, cast)			/* BAD */
		__field(int, n)
	),
	TP_fast_assign(
		__entry->text = text;
		__entry->other = n ? "some" : dev->text;
		__entry->third = text;
		__entry->number = (unsigned long)text;
		__entry->chosen = text;
		__entry->fallback = text;
		__entry->cast = (const char *)dev->text;
		__entry->n = n;
	),
	TP_printk("%-8s %.*s %5s" /* ") %s */ " %s 100%% %s %s %s",
		  __entry->text, __entry->n, (__entry->other), __entry->third,
		  (char *)__entry->number, __entry->n ? __entry->chosen : "none",
		  __entry->fallback ?: "none", (const char *)(__entry->cast))
);

DECLARE_EVENT_CLASS(dev_class,
	TP_PROTO(struct device *dev),
	TP_ARGS(dev),
	TP_STRUCT__entry(
		__field(const u8 *, mac)			/* BAD */
		__field(struct in_addr *, addr)			/* BAD */
		__field(void *, bytes)				/* BAD */
		__field(struct dentry *, dentry)		/* BAD */
		__field(struct file *, file)			/* BAD */
		__field(struct device_node *, node)		/* BAD */
		__field(struct fwnode_handle *, fwnode)		/* BAD */
		__field(struct device *, dev)			/* BAD */
		__field(struct device *, parent)		/* BAD */
		__field(int *, numbers)				/* BAD */
		__field(int *, count)				/* BAD */
		__field(void *, object)				/* BAD */
		__field(void *, name)				/* BAD */
		__field(u8 *, hex)				/* BAD */
		__field(void *, printed)			/* BAD */
		__field(const char *, quoted)
	),
	TP_fast_assign(
		dev_fill(__entry, dev);
		__entry->quoted = "quoted";
	),
	TP_printk("%pM %pI4 %*phC %pd %pD4 %pOFf %pfwP %d %s %d %d %d %s %s %p",
		  __entry->mac, __entry->addr, 4, __entry->bytes, __entry->dentry,
		  __entry->file, __entry->node, __entry->fwnode, __entry->dev->id,
		  dev_name(&__entry->parent->dev), __entry->numbers[0], *__entry->count,
		  ((struct object *)__entry->object)->id, dev_name(__entry->name),
		  __print_hex(__entry->hex, 4), __entry->printed)
);

/* The class keeps what this follows. */
DEFINE_EVENT_PRINT(dev_class, dev_printed,
	TP_PROTO(struct device *dev),
	TP_ARGS(dev),
	TP_printk("%s %s %s %s %s", dev_text(dev), __entry->printed, __entry->name,
		  __entry->quoted, dev_end(dev))
);

/* A macro may be more than one argument: from there on it is known from behind only. */
TRACE_EVENT_OTHER(dev_macro,
	TP_PROTO(struct device *dev, const char *text),
	TP_ARGS(dev, text),
	TP_STRUCT__entry(
		DEV_ENTRY
		__field(const char *, before)			/* BAD */
		__field(const char *, after)			/* BAD */
		__field(void *, where)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->before = text;
		__entry->after = text;
		__entry->where = dev;
	),
	TP_printk_dev("%s " DEV_FMT " %p %s",
		      __entry->before, DEV_ARGS, __entry->where, __entry->after)
);

TRACE_EVENT(dev_pair,
	TP_PROTO(struct device *dev),
	TP_ARGS(dev),
	TP_STRUCT__entry(
		__field(void *, where)
	),
	TP_fast_assign(
		__entry->where = dev;
	),
	TP_printk("%d %s %p", DEV_PAIR(dev), __entry->where)
);

#define DEFINE_DEV_EVENT(event)					\
TRACE_EVENT(event,						\
	TP_PROTO(const char *text),				\
	TP_ARGS(text),						\
	TP_STRUCT__entry(					\
		__field(const char *, text)			\
		__field(const char *, old)			\
	),							\
	TP_fast_assign(						\
		__entry->text = "text";				\
		__entry->old = text;				\
	),							\
	TP_printk("%s %p", __entry->text, __entry->old)		\
)

TRACE_EVENT(dev_good,
	TP_PROTO(struct device *dev, const char *text, int n),
	TP_ARGS(dev, text, n),
	TP_STRUCT__entry(
		__string(text, text)
		__array(char, comm, TASK_COMM_LEN)
		__array(u8, mac, ETH_ALEN)
		__dynamic_array(u8, bytes, n)
		__field_struct(struct in6_addr, addr)
		__field(struct resource, res)
		__field(const char *, quoted)
		__field(const char *, chosen)
		__field(const char *, none)
		__field(void *, where)
		__field(struct device *, dev)
		__field(struct page *, page)
		__field(struct device *, err)
		__field(int, n)
	),
	TP_fast_assign(
		__assign_str(text);
		__entry->quoted = "read";
		if (n)
			__entry->quoted = ("wr" "ite");
		__entry->chosen = n > 1 ? "many" : n ? "one" : "none";
		__entry->none = NULL;
		__entry->where = __builtin_return_address(0);
		__entry->dev = dev;
		__entry->page = dev->page;
		__entry->err = dev->err;
		__entry->n = n;
	),
	/* "%s", __entry->dev: in a comment. */
	TP_printk("%s %s %s %pM %*ph %pI6c %pR %s %s %s %pS %p %px %pK %ld %lx %d \"%d%%s\"",
		  __get_str(text), show(__entry->n), __entry->comm, __entry->mac, 4, __get_dynamic_array(bytes),
		  &__entry->addr, &__entry->res, __entry->quoted, __entry->chosen,
		  __entry->none, __entry->where, __entry->dev, __entry->page, __entry->page,
		  PTR_ERR(__entry->err), (unsigned long)__entry->dev,
		  __entry->n * __entry->n, names[__entry->n])
);

void dev_hit(struct device *__entry)
{
	trace_dev_hit(__entry, __entry->text, *__entry->count);
	printk("%s %d\n", __entry->text, __entry->parent->id);
}

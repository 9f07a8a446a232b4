// SPDX-License-Identifier: GPL-2.0
/* What trace_work.cocci has to report is marked BAD; it is never compiled. */

int hits(struct device *dev, int n)
{
	int count = costs_much(dev);				/* BAD */
	int once, sum = 0, chosen, many, i;
	ktime_t start = ktime_get();				/* BAD */
	char text[40];

	once = n + costs_much(dev);				/* BAD */
	for (i = 0; i < n; i++)
		sum += costs_much(dev + i);			/* BAD */
	chosen = n ? costs_much(dev) : 0;			/* BAD */
	many = costs_much(dev) >= n;				/* BAD */
	snprintf(text, sizeof(text), "%d", n);			/* BAD */
	if (n)
		trace_dev_hit(dev, count, once, sum);
	trace_dev_text(text, chosen, many);
	trace_dev_time(dev, start);
	trace_dev_time(dev, ktime_to_ns(ktime_get()) + n);	/* BAD */
	trace_dev_reg(dev, dev_readl(dev, n));			/* BAD */
	trace_dev_reg(dev, dev_read32(dev));			/* BAD */
	return i;
}

void hit_late(struct device *dev)
{
	u64 time, count;

	time = sched_clock();					/* BAD */
	count = costs_much(dev);				/* BAD */
	if (trace_dev_hit_enabled())
		trace_dev_hit(dev, time, count);
}

void hit_asked_for_another(struct device *dev)
{
	int count;

	if (!trace_dev_other_enabled())
		return;
	count = costs_much(dev);				/* BAD */
	trace_dev_hit(dev, count);
}

int good(struct device *dev, int n)
{
	struct thing *thing = container_of(dev, struct thing, dev);
	int ret = dev_send(dev), refs = atomic_read(&dev->refs);
	int used = costs_much(dev), member = dev->member, filled;
	int again, last, first;
	int room = n + sizeof(*dev);
	char text[40];

	filled = costs_much(dev, &n);
	if ((again = costs_much(dev)) > n)
		dev->last = last = costs_much(dev);
	first = dev->first = costs_much(dev);
	trace_dev_hit(dev, thing, ret, refs, used, member, filled, again, last,
		      first, room);
	snprintf(text, sizeof(text), "%d", n);
	trace_dev_text(text, n);
	dev_rename(dev, text);
	n = costs_much(dev);
	dev_hit(dev, n);
	trace_seq_printf(dev->seq, "%llu\n", ktime_get());
	trace_function(dev, ktime_get());
	trace_dev_value(dev, n, dev_id(dev));
	return used;
}

void good_for_the_caller(struct device *dev, char *text)
{
	snprintf(text, 40, "%d", dev->n);
	trace_dev_text(text);
}

void good_asked(struct device *dev)
{
	int count = 0;

	if (trace_dev_hit_enabled()) {
		count = costs_much(dev);
		trace_dev_hit(dev, count, ktime_get());
	}
}

void good_asked_early(struct device *dev)
{
	int count;

	if (!trace_dev_hit_enabled() || !dev)
		return;
	count = costs_much(dev);
	trace_dev_hit(dev, count);
}

void good_asked_by_name(struct device *dev)
{
	u64 start = 0;

	if (tracepoint_enabled(dev_hit))
		start = ktime_get();
	costs_much(dev);
	trace_dev_hit(dev, start);
}

/* A name that another function's variable has as well. */
int good_elsewhere(struct device *dev)
{
	int count = costs_much(dev);

	return count;
}

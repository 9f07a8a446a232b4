// SPDX-License-Identifier: GPL-2.0
/* What trace_args.cocci has to report is marked BAD; it is never compiled. */

int hits(struct device *dev, char *text, int n)
{
	trace_dev_hit(dev, n++);			/* BAD */
	trace_dev_hit(dev, n--);			/* BAD */
	trace_dev_hit(dev, ++n);			/* BAD */
	trace_dev_hit(dev, --n, text);			/* BAD */
	trace_dev_hit(dev->next++, n);			/* BAD */
	trace_dev_hit(dev, n = 1);			/* BAD */
	trace_dev_hit(dev, n |= 1);			/* BAD */
	trace_dev_hit(dev, 2 * (n += 2) + 1);		/* BAD */
	trace_dev_hit(dev, text[n++]);			/* BAD */
	trace_dev_hit(dev, twice(n++));			/* BAD */
	if (n)
		trace_dev_hit(dev, *text++);		/* BAD */
	trace_dev_only(n++);				/* BAD */
	etch_mark("hit", n++);				/* BAD */

	trace_dev_hit(dev, n);
	trace_dev_hit(dev, n + 1);
	trace_dev_hit(dev, n == 1);
	trace_dev_hit(dev, n <= 1 || -n);
	trace_dev_hit(dev, twice(n));
	trace_dev_none();
	etch_mark("hit", n, text[n]);
	n++;
	trace_seq_putc(dev->seq, *text++);
	trace_printk("%d\n", n++);
	log_dev_hit(dev, n++);
	return trace_dev_count(dev);
}

// SPDX-License-Identifier: GPL-2.0
/* What trace_enabled.cocci has to report is marked BAD; it is never compiled. */

void hits(struct device *dev, int n)
{
	if (trace_dev_hit_enabled())			/* BAD */
		trace_dev_hit(dev, n);
	if (trace_dev_hit_enabled()) {			/* BAD */
		trace_dev_hit(dev, n + 1);
	}
	if (trace_dev_none_enabled())			/* BAD */
		trace_dev_none();
	if (n) {
		if (trace_dev_hit_enabled())		/* BAD */
			trace_dev_hit(dev->next, n);
	}

	if (trace_dev_hit_enabled())
		trace_dev_hit(dev, costs_much(dev));
	if (trace_dev_hit_enabled())
		trace_dev_hit(dev, 1 + costs_much(dev));
	if (trace_dev_hit_enabled()) {
		n = costs_much(dev);
		trace_dev_hit(dev, n);
	}
	if (trace_dev_hit_enabled() && n)
		trace_dev_hit(dev, n);
	if (trace_dev_hit_enabled())
		trace_dev_other(dev, n);
	if (trace_dev_hit_enabled())
		dev_hit(dev, n);
	if (trace_dev_hit_enabled())
		trace_dev_hit(dev, n);
	else
		dev_hit(dev, n);
	trace_dev_hit(dev, n);
}

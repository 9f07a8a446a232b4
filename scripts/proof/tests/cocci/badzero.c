// SPDX-License-Identifier: GPL-2.0
/* What badzero.cocci, a rule of the kernel's with parts in OCaml, has to report is marked BAD. */

int zeroes(struct device *dev, int n)
{
	char *text;

	text = kmalloc(n, GFP_KERNEL);
	if (text == 0)				/* BAD */
		return 1;

	if (n == 0)
		return 2;
	text = kstrdup(text, GFP_KERNEL);
	if (!text)
		return 3;
	text = kstrdup(text, GFP_KERNEL);
	return text == 0;			/* BAD */
}

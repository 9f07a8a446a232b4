/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_HIST_PRINT_H
#define _KERNEL_ETCH_HIST_PRINT_H

/* Histograms as text. */

#include <linux/types.h>

struct etch_hist_spec;
struct etch_table;
struct etch_table_view;
struct seq_file;

void etch_hist_print_spec(struct seq_file *m, const struct etch_hist_spec *spec);
void etch_hist_sort(const struct etch_hist_spec *spec, struct etch_table_view *view);
void etch_hist_print_view(struct seq_file *m, const struct etch_hist_spec *spec,
			  const struct etch_table_view *view);

#endif /* _KERNEL_ETCH_HIST_PRINT_H */

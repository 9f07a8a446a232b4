// SPDX-License-Identifier: GPL-2.0
/*
 * The page, around the data. Three files become strings: the HTML, the style, the script.
 * The HTML names the other two, and the data, each on a line of its own: "@style@".
 */
#include "view/view.h"

static const char page_html[] =
#include "view/page.html.inc"
;
static const char page_style[] =
#include "view/page.css.inc"
;
static const char page_script[] =
#include "view/page.js.inc"
;

static bool put_data(FILE *to, struct view *v)
{
	unsigned int len = v->json.len;
	unsigned char head[4] = { len, len >> 8, len >> 16, len >> 24 };
	const struct bytes first = { .at = head, .len = sizeof(head) };

	return view_pack(to, (const struct bytes * const []){ &first, &v->json, &v->records,
							      &v->spans, NULL });
}

/* The line "@name@", and only that. */
static bool is_place(const char *line, const char *name)
{
	return !strncmp(line, name, strlen(name)) && line[strlen(name)] == '\n';
}

bool view_page(FILE *to, struct view *v)
{
	const char *line = page_html, *end;

	for (; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (is_place(line, "@style@"))
			fputs(page_style, to);
		else if (is_place(line, "@script@"))
			fputs(page_script, to);
		else if (is_place(line, "@format@"))
			fprintf(to, "%s\n", VIEW_FORMAT);
		else if (!is_place(line, "@data@"))
			fwrite(line, 1, end + 1 - line, to);
		else if (!put_data(to, v))
			return false;
	}
	return !fflush(to) && !ferror(to);
}

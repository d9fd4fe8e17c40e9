// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include "base/clock.h"
#include "cli/elide.h"
#include "cli/text.h"

#define LEAST_TITLE 8 // columns; with fewer there is none

void progress_init(struct progress *p, const char *title, uint64_t duration_ns, bool quiet)
{
	*p = (struct progress){ .title = title,
				.duration_ns = duration_ns,
				.enabled = terminal_of(stderr).interactive && !quiet };
}

// "2.4/30 s", or "1 m 05 s/2 m 00 s".
static void short_time(struct buf *out, uint64_t elapsed_ns, uint64_t duration_ns)
{
	if (duration_ns != 0 && duration_ns < 60 * NS_PER_SEC) {
		buf_printf(out, "%.1f/%g s", (double)(elapsed_ns / (NS_PER_SEC / 10)) / 10,
			   (double)duration_ns / NS_PER_SEC);
		return;
	}
	text_time(out, elapsed_ns);
	if (duration_ns != 0) {
		buf_char(out, '/');
		text_time(out, duration_ns);
	}
}

static void long_time(struct buf *out, uint64_t elapsed_ns, uint64_t duration_ns)
{
	text_time(out, elapsed_ns);
	if (duration_ns != 0) {
		buf_text(out, " of ");
		text_time(out, duration_ns);
	}
}

static void add_counts(struct buf *out, const struct recording_progress *now)
{
	buf_text(out, "  ");
	text_count(out, now->samples);
	buf_text(out, now->samples == 1 ? " sample  " : " samples  ");
	text_count(out, now->lost);
	buf_text(out, " lost");
}

// The numbers matter most, then whose they are, then how to end it.
void progress_text(struct buf *out, const struct progress *p, const struct recording_progress *now,
		   unsigned columns)
{
	static const struct str head = STR("recording "), tail = STR("   Ctrl-C to stop");
	auto_fini(buf) title = { 0 };
	auto_fini(buf) numbers = { 0 };
	long_time(&numbers, now->elapsed_ns, p->duration_ns);
	add_counts(&numbers, now);
	size_t needed = head.len + 2 + numbers.len;
	if (needed + LEAST_TITLE > columns) {
		numbers.len = 0;
		short_time(&numbers, now->elapsed_ns, p->duration_ns);
		add_counts(&numbers, now);
		text_fit(out, buf_view(&numbers), columns);
		return;
	}
	elide_middle(&title, str_from(p->title), columns - needed);
	buf_str(out, head);
	buf_str(out, buf_view(&title));
	buf_text(out, "  ");
	buf_str(out, buf_view(&numbers));
	if (needed + text_columns(buf_view(&title)) + tail.len <= columns)
		buf_str(out, tail);
}

// Without escape sequences a dumb terminal does not know: spaces wipe what was there.
static void rewrite_line(struct str text, unsigned columns)
{
	auto_fini(buf) line = { 0 };
	buf_char(&line, '\r');
	text_cell(&line, text, columns);
	buf_char(&line, '\r');
	if (!line.failed)
		fwrite(line.at, 1, line.len, stderr);
	fflush(stderr);
}

void progress_show(void *ctx, const struct recording_progress *now)
{
	struct progress *p = ctx;
	if (!p->enabled)
		return;
	auto_fini(buf) text = { 0 };
	// The window may have another size by now. Its last column would begin a new line.
	unsigned columns = terminal_columns(stderr) - 1;
	progress_text(&text, p, now, columns);
	rewrite_line(buf_view(&text), columns);
	p->shown = true;
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		rewrite_line(STR(""), terminal_columns(stderr) - 1);
	p->shown = false;
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include "cli/text.h"

void progress_init(struct progress *p, const char *title, uint64_t duration_ns, bool quiet)
{
	*p = (struct progress){ .terminal = terminal_of(stderr),
				.title = title,
				.duration_ns = duration_ns };
	p->enabled = p->terminal.interactive && !quiet;
}

void progress_text(struct buf *out, const struct progress *p, const struct recording_progress *now,
		   unsigned columns)
{
	auto_fini(buf) line = { 0 };
	buf_printf(&line, "recording %s  ", p->title);
	text_time(&line, now->elapsed_ns);
	if (p->duration_ns != 0) {
		buf_text(&line, " of ");
		text_time(&line, p->duration_ns);
	}
	buf_text(&line, "  ");
	text_count(&line, now->samples);
	buf_text(&line, now->samples == 1 ? " sample  " : " samples  ");
	text_count(&line, now->lost);
	buf_text(&line, " lost");
	struct str tail = STR("   Ctrl-C to stop");
	if (line.len + tail.len <= columns)
		buf_str(&line, tail);
	text_fit(out, buf_view(&line), columns);
}

// Without escape sequences a dumb terminal does not know: spaces wipe what was there.
static void rewrite_line(const struct progress *p, struct str text)
{
	auto_fini(buf) line = { 0 };
	buf_char(&line, '\r');
	text_cell(&line, text, p->terminal.columns - 1);
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
	progress_text(&text, p, now, p->terminal.columns - 1);
	rewrite_line(p, buf_view(&text));
	p->shown = true;
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		rewrite_line(p, STR(""));
	p->shown = false;
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "cli/command.h"
#include "cli/text.h"

#define USUAL_COLUMNS 80
#define LEAST_COLUMNS 40u // below it nothing can be laid out

unsigned terminal_columns(FILE *stream)
{
	struct winsize size;
	bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
	return known ? size.ws_col : USUAL_COLUMNS;
}

struct terminal terminal_of(FILE *stream)
{
	struct terminal t = { .columns = USUAL_COLUMNS };
	int fd = fileno(stream);
	if (fd < 0 || !isatty(fd))
		return t;
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	t.interactive = true;
	t.colour = (!no_color || !*no_color) && term && strcmp(term, "dumb") != 0;
	t.columns = MAX(terminal_columns(stream), LEAST_COLUMNS);
	return t;
}

const char *style_begin(const struct terminal *t, enum style s)
{
	static const char *const sequences[STYLE_COUNT] = {
		[STYLE_PLAIN] = "",         [STYLE_BOLD] = "\x1b[1m",    [STYLE_RED] = "\x1b[31m",
		[STYLE_GREEN] = "\x1b[32m", [STYLE_YELLOW] = "\x1b[33m",
	};
	return t->colour ? sequences[s] : "";
}

const char *style_end(const struct terminal *t)
{
	return t->colour ? "\x1b[0m" : "";
}

struct error *print_buf(FILE *stream, const struct buf *b)
{
	if (b->failed)
		return &error_no_memory;
	if (b->len != 0 && fwrite(b->at, 1, b->len, stream) != b->len)
		return error_sys(errno, "write to %s",
				 stream == stdout ? "standard output" : "standard error");
	return NULL;
}

// Messages quote file names, process names and what the user typed.
static void print_line(const struct terminal *t, enum style style, const char *label,
		       const char *text)
{
	auto_fini(buf) line = { 0 };
	buf_printf(&line, "%s%s%s ", style_begin(t, style), label, style_end(t));
	text_printable(&line, str_from(text));
	buf_char(&line, '\n');
	if (!line.failed)
		fwrite(line.at, 1, line.len, stderr);
}

int report_consume(struct error *consumed)
{
	auto_(error) err = consumed;
	struct terminal t = terminal_of(stderr);
	fflush(stdout); // so that the two streams stay in order where they are one
	print_line(&t, STYLE_RED, "wick:", err->message);
	if (err->hint)
		print_line(&t, STYLE_BOLD, "  hint:", err->hint);
	return err->code == ERROR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

void note(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	autofree char *text = NULL;
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	struct terminal t = terminal_of(stderr);
	if (text)
		print_line(&t, STYLE_BOLD, "wick:", text);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <string.h>

#include "cli/completion.h"
#include "cli/man.h"
#include "cli/options.h"
#include "tests/test.h"

// Every line but a usage line or an example, which are not broken, is within the width.
static bool lines_fit(struct str text, unsigned width)
{
	while (text.len != 0) {
		struct str line = str_split(&text, '\n');
		if (line.len > width && !memmem(line.ptr, line.len, "wick ", 5))
			return false;
		for (size_t i = 0; i < line.len; i++)
			if (line.ptr[i] < ' ' || line.ptr[i] > '~')
				return false;
	}
	return true;
}

TEST(help_keeps_to_the_terminals_width)
{
	static const unsigned widths[] = { 64, 80, 100, 140 };
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		struct terminal t = { .columns = widths[i] };
		auto_fini(buf) text = { 0 };
		help_overview(&text, &t);
		CHECK(lines_fit(buf_view(&text), widths[i]));
		for (size_t j = 0; j < command_count; j++) {
			text.len = 0;
			help_command(&text, &t, commands[j]);
			CHECK(!text.failed && lines_fit(buf_view(&text), widths[i]));
		}
	}
}

TEST(help_man_and_completion_name_every_option)
{
	struct terminal t = { .columns = 80 };
	for (size_t i = 0; i < command_count; i++) {
		const struct option_spec *o;
		auto_fini(buf) help = { 0 };
		auto_fini(buf) man = { 0 };
		help_command(&help, &t, commands[i]);
		man_page(&man, commands[i]);
		for (size_t j = 0; (o = command_option(commands[i], j)); j++) {
			auto_fini(buf) name = { 0 };
			help_option_name(&name, o);
			CHECK(strstr(buf_cstr(&help), buf_cstr(&name)));
			CHECK(strstr(buf_cstr(&man), o->argument ? o->argument : "\\fB\\-\\-"));
		}
	}
	static void (*const shells[])(struct buf *) = { completion_bash, completion_zsh,
							completion_fish };
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		auto_fini(buf) script = { 0 };
		const struct option_spec *o;
		shells[i](&script);
		for (size_t j = 0; (o = command_option(&command_record, j)); j++)
			CHECK(strstr(buf_cstr(&script), o->name));
	}
}

TEST(a_colour_is_only_there_on_a_terminal)
{
	struct terminal plain = { .columns = 80 }, coloured = { .columns = 80, .colour = true };
	auto_fini(buf) a = { 0 };
	auto_fini(buf) b = { 0 };
	help_command(&a, &plain, &command_record);
	help_command(&b, &coloured, &command_record);
	CHECK(!strchr(buf_cstr(&a), '\x1b'));
	CHECK(strchr(buf_cstr(&b), '\x1b'));
}

TEST(the_first_sentence_stands_for_a_help_text)
{
	CHECK(str_eq(first_sentence("One. Two."), STR("One")));
	CHECK(str_eq(first_sentence("Like 0.5 of it."), STR("Like 0.5 of it")));
	CHECK(str_eq(first_sentence(""), STR("")));
}

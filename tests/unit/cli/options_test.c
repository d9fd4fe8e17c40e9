// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/record.h"
#include "cli/values.h"
#include "tests/test.h"

// A command line, cut at its spaces into what main() would get.
struct line {
	char text[128];
	char *words[16];
};

static char **cut(struct line *l, const char *text)
{
	size_t count = 0;
	snprintf(l->text, sizeof(l->text), "%s", text);
	for (char *rest = l->text; rest && count + 1 < ARRAY_SIZE(l->words);)
		l->words[count++] = strsep(&rest, " ");
	l->words[count] = NULL;
	return l->words;
}

struct parsed {
	struct line line;
	struct record_options o;
	struct operands operands;
	struct error *err;
};

static void parsed_fini(struct parsed *p)
{
	vec_fini(&p->o.pids);
	operands_fini(&p->operands);
	error_free(p->err);
}

static void parse(struct parsed *p, const char *text)
{
	p->err = options_parse(&command_record, cut(&p->line, text), &p->o, &p->operands);
}

// The hint of the error that these words must make, or NULL if they make none.
static const char *hint(const struct parsed *p)
{
	return p->err && p->err->code == ERROR_USAGE && p->err->hint ? p->err->hint : NULL;
}

TEST(a_value_follows_its_option_in_four_ways)
{
	static const char *const ways[] = { "-p7", "-p 7", "--pid=7", "--pid 7" };
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		auto_fini(parsed) p = { 0 };
		parse(&p, ways[i]);
		CHECK(!p.err && p.o.pids.len == 1 && p.o.pids.at[0] == 7);
	}
}

TEST(letters_may_share_a_dash_and_the_last_may_take_a_value)
{
	auto_fini(parsed) p = { 0 };
	parse(&p, "-aqd5");
	CHECK(!p.err && p.o.whole_machine && p.o.quiet && p.o.duration_ns == 5000000000);
}

TEST(repeated_pids_add_up)
{
	auto_fini(parsed) p = { 0 };
	parse(&p, "-p 1,2 --pid 3 -p2");
	CHECK(!p.err && p.o.pids.len == 3);
}

TEST(two_dashes_end_the_options_and_begin_the_program)
{
	auto_fini(parsed) p = { 0 };
	parse(&p, "-q -- ls -p -- x");
	CHECK(!p.err && p.o.quiet && p.o.pids.len == 0);
	CHECK(p.operands.program_size == 4 && strcmp(p.operands.program[1], "-p") == 0);
	CHECK(!p.operands.program[4]);
}

TEST(two_dashes_alone_are_a_program_of_no_words)
{
	auto_fini(parsed) p = { 0 };
	parse(&p, "--");
	CHECK(!p.err && p.operands.program && p.operands.program_size == 0);
}

TEST(a_value_may_begin_with_a_dash)
{
	auto_fini(parsed) p = { 0 };
	parse(&p, "-o -");
	CHECK(!p.err && strcmp(p.o.output, "-") == 0);
	auto_fini(parsed) negative = { 0 };
	parse(&negative, "-d -5");
	CHECK(negative.err && strstr(negative.err->message, "-d -5: "));
}

TEST(an_unknown_option_names_the_nearest_one)
{
	static const struct {
		const char *line, *hint;
	} typed[] = {
		{ "--duratoin", "did you mean --duration?" },
		{ "--duratoin=5", "did you mean --duration?" },
		{ "--dur", "did you mean --duration?" }, // the only one that begins so
		{ "-duration", "did you mean --duration?" },
		{ "--no-kernal", "did you mean --no-kernel?" },
		{ "--somewhere-else", "`wick record --help` lists the options" },
		{ "-x", "`wick record --help` lists the options" },
		{ "-qx", "`wick record --help` lists the options" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(typed); i++) {
		auto_fini(parsed) p = { 0 };
		parse(&p, typed[i].line);
		CHECK(hint(&p) && strcmp(hint(&p), typed[i].hint) == 0);
	}
}

TEST(a_missing_value_and_a_value_too_many_are_refused)
{
	auto_fini(parsed) missing = { 0 };
	parse(&missing, "--pid");
	CHECK(missing.err && strstr(missing.err->message, "--pid PID"));
	auto_fini(parsed) letter = { 0 };
	parse(&letter, "-ap");
	CHECK(letter.err && strstr(letter.err->message, "-p needs a value"));
	auto_fini(parsed) flag = { 0 };
	parse(&flag, "--force=yes");
	CHECK(flag.err && strstr(flag.err->message, "--force takes no value"));
	auto_fini(parsed) empty = { 0 };
	parse(&empty, "--output=");
	CHECK(empty.err && empty.err->code == ERROR_USAGE);
}

TEST(a_word_without_its_dashes_shows_how_to_start_a_program)
{
	auto_fini(parsed) p = { 0 };
	parse(&p, "ls -l");
	CHECK(hint(&p) && strstr(hint(&p), "wick record -- ls"));
}

TEST(help_ends_the_reading)
{
	auto_fini(parsed) p = { 0 };
	parse(&p, "-h --nonsense");
	CHECK(!p.err && p.operands.help);
}

TEST(options_may_follow_operands)
{
	struct {
		bool man;
	} o = { 0 };
	struct line line;
	auto_fini(operands) operands = { 0 };
	CHECK_OK(options_parse(&command_help, cut(&line, "record --man"), &o, &operands));
	CHECK(o.man && operands.words.len == 1 && strcmp(operands.words.at[0], "record") == 0);
}

TEST(after_two_dashes_a_dash_begins_no_option)
{
	struct {
		bool man;
	} o = { 0 };
	struct line line;
	auto_fini(operands) operands = { 0 };
	CHECK_OK(options_parse(&command_help, cut(&line, "-- --man"), &o, &operands));
	CHECK(!o.man && operands.words.len == 1);
	CHECK_ERROR(ERROR_USAGE,
		    options_parse(&command_help, cut(&line, "two words"), &o, &operands));
}

TEST(an_unknown_command_names_the_nearest_one)
{
	const struct command *c = NULL;
	CHECK_OK(command_by_name("record", &c));
	CHECK(c == &command_record);
	struct error *err = command_by_name("recrod", &c);
	bool near = err && err->hint && strcmp(err->hint, "did you mean `wick record`?") == 0;
	error_free(err);
	CHECK(near);
	err = command_by_name("doc", &c);
	near = err && err->hint && strcmp(err->hint, "did you mean `wick doctor`?") == 0;
	error_free(err);
	CHECK(near);
}

TEST(every_table_is_complete_and_has_no_option_twice)
{
	for (size_t i = 0; i < command_count; i++) {
		const struct command *c = commands[i];
		const struct option_spec *a, *b;
		CHECK(c->name && c->summary && c->usage && c->description && c->run);
		for (size_t j = 0; (a = command_option(c, j)); j++) {
			CHECK(a->help && a->group && strlen(a->name) < 30);
			CHECK(a->help[strlen(a->help) - 1] == '.');
			CHECK(!a->argument == !a->parse);
			CHECK((a->complete == COMPLETE_CHOICES) == (a->choice != NULL));
			for (size_t k = 0; k < j; k++) {
				b = command_option(c, k);
				CHECK(strcmp(a->name, b->name) != 0);
				CHECK(!a->letter || a->letter != b->letter);
			}
		}
	}
}

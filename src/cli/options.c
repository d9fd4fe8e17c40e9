// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

const struct option_spec option_help = {
	.letter = 'h',
	.name = "help",
	.group = "Other",
	.help = "Show this text.",
};

const struct option_spec *command_option(const struct command *c, size_t i)
{
	size_t own = 0;
	while (c->options && c->options[own].name)
		own++;
	if (i < own)
		return &c->options[i];
	return i == own ? &option_help : NULL;
}

void operands_fini(struct operands *o)
{
	vec_fini(&o->words);
}

static const struct option_spec *by_letter(const struct command *c, char letter)
{
	const struct option_spec *o;
	for (size_t i = 0; (o = command_option(c, i)); i++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static const struct option_spec *by_name(const struct command *c, struct str name)
{
	const struct option_spec *o;
	for (size_t i = 0; (o = command_option(c, i)); i++)
		if (str_eq(str_from(o->name), name))
			return o;
	return NULL;
}

bool option_known(const struct command *c, const char *spelled)
{
	if (spelled[0] != '-' || spelled[1] == '\0')
		return false;
	if (spelled[1] != '-')
		return by_letter(c, spelled[1]) != NULL;
	return by_name(c, (struct str){ spelled + 2, strcspn(spelled + 2, "=") }) != NULL;
}

const char *likely_word(struct str typed, const char *const *words, size_t count)
{
	const char *beginning = NULL;
	size_t beginnings = 0;
	for (size_t i = 0; i < count && typed.len != 0; i++) {
		if (!str_starts(str_from(words[i]), typed))
			continue;
		beginning = words[i];
		beginnings++;
	}
	return beginnings == 1 ? beginning : str_nearest(typed, words, count);
}

static const char *likely_option(const struct command *c, struct str name)
{
	const char *names[64];
	size_t count = 0;
	const struct option_spec *o;
	for (; count < ARRAY_SIZE(names) && (o = command_option(c, count)); count++)
		names[count] = o->name;
	return likely_word(name, names, count);
}

static struct error *unknown_name(const struct command *c, const char *arg, struct str name)
{
	size_t len = strcspn(arg, "=");
	struct error *err = error_new(ERROR_USAGE, "unknown option %.*s", (int)len, arg);
	const char *near = likely_option(c, name);
	if (near)
		return error_hint(err, "did you mean --%s?", near);
	return error_hint(err, "`wick %s --help` lists the options", c->name);
}

// The state of reading one command line.
struct reader {
	const struct command *command;
	char **next; // the word after the one being read
	void *options;
	struct operands *operands;
};

static struct error *apply(struct reader *r, const struct option_spec *o, const char *value,
			   const char *spelled)
{
	if (o == &option_help) {
		r->operands->help = true;
		return NULL;
	}
	void *place = (char *)r->options + o->offset;
	if (!o->parse) {
		*(bool *)place = true;
		return NULL;
	}
	struct error *err = o->parse(value, place);
	return err ? error_wrap(err, "%s %s", spelled, value) : NULL;
}

static struct error *value_missing(const struct option_spec *o, const char *spelled)
{
	struct error *err =
		error_new(ERROR_USAGE, "%s needs a value: %s %s", spelled, spelled, o->argument);
	return o->default_text ? error_hint(err, "without %s it is %s", spelled, o->default_text)
			       : err;
}

static struct error *read_long(struct reader *r, const char *arg)
{
	struct str rest = str_from(arg + 2), name = str_split(&rest, '=');
	const char *value = strchr(arg, '=') ? rest.ptr : NULL;
	const struct option_spec *o = by_name(r->command, name);
	if (!o)
		return unknown_name(r->command, arg, name);
	char spelled[64];
	snprintf(spelled, sizeof(spelled), "--%s", o->name);
	if (!o->argument && value)
		return error_new(ERROR_USAGE, "%s takes no value", spelled);
	if (o->argument && !value && !(value = *r->next++)) {
		r->next--;
		return value_missing(o, spelled);
	}
	return apply(r, o, value, spelled);
}

// Letters in one word: flags, and at most one option with a value, which is the rest of the word or
// the next one.
static struct error *read_letters(struct reader *r, const char *arg)
{
	// "-duration 5" would be read as -d with the value "uration".
	struct str whole = { arg + 1, strcspn(arg + 1, "=") };
	if (whole.len > 1 && by_name(r->command, whole))
		return unknown_name(r->command, arg, whole);
	for (const char *at = arg + 1; *at != '\0'; at++) {
		const struct option_spec *o = by_letter(r->command, *at);
		char spelled[] = { '-', *at, '\0' };
		if (!o)
			return unknown_name(r->command, at == arg + 1 && !at[1] ? arg : spelled,
					    whole);
		if (!o->argument) {
			struct error *err = apply(r, o, /* value= */ NULL, spelled);
			if (err)
				return err;
			continue;
		}
		const char *value = at[1] != '\0' ? at + 1 : *r->next;
		if (!value)
			return value_missing(o, spelled);
		r->next += at[1] == '\0';
		return apply(r, o, value, spelled);
	}
	return NULL;
}

static struct error *read_word(struct reader *r, char *word)
{
	const struct command *c = r->command;
	if (r->operands->words.len < c->max_words)
		return vec_push(&r->operands->words, word) ? NULL : &error_no_memory;
	struct error *err = error_new(ERROR_USAGE, "unexpected argument %s", word);
	if (c->takes_program)
		return error_hint(err, "to start a program, put -- in front of it: wick %s -- %s",
				  c->name, word);
	return error_hint(err, "`wick %s --help` shows how it is called", c->name);
}

struct error *options_parse(const struct command *c, char **argv, void *options,
			    struct operands *ret)
{
	struct reader r = { .command = c, .next = argv, .options = options, .operands = ret };
	bool no_more_options = false;
	while (*r.next && !ret->help) {
		char *arg = *r.next++;
		struct error *err;
		if (!no_more_options && strcmp(arg, "--") == 0) {
			no_more_options = true;
			if (!c->takes_program)
				continue;
			ret->program = r.next;
			while (r.next[ret->program_size])
				ret->program_size++;
			return NULL;
		}
		if (no_more_options || arg[0] != '-' || arg[1] == '\0')
			err = read_word(&r, arg);
		else if (arg[1] == '-')
			err = read_long(&r, arg);
		else
			err = read_letters(&r, arg);
		if (err)
			return err;
	}
	return NULL;
}

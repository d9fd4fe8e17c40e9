// SPDX-License-Identifier: Apache-2.0
#include "format/format.h"

#include <strings.h>

#include "base/buf.h"

const struct format *const formats[] = { &format_html, &format_folded };
const size_t format_count = ARRAY_SIZE(formats);

typedef VEC(const char *) words;

static bool same_word(struct str s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.ptr, word, s.len) == 0;
}

// "use .html? known: .folded, .html". Consumes err and words.
static struct error *hint_with_words(struct error *err, struct str given, words *known,
				     const char *prefix)
{
	auto_fini(buf) text = { 0 };
	auto_fini(buf) lower = { 0 };
	for (size_t i = 0; i < given.len; i++)
		buf_char(&lower, (char)(given.ptr[i] >= 'A' && given.ptr[i] <= 'Z'
						? given.ptr[i] - 'A' + 'a'
						: given.ptr[i]));
	const char *nearest = str_nearest(buf_view(&lower), known->at, known->len);
	if (nearest)
		buf_printf(&text, "did you mean %s%s? ", prefix, nearest);
	buf_text(&text, "known ones: ");
	for (size_t i = 0; i < known->len; i++)
		buf_printf(&text, "%s%s%s", i != 0 ? ", " : "", prefix, known->at[i]);
	vec_fini(known);
	return error_hint(err, "%s", buf_cstr(&text));
}

struct error *format_by_name(struct str name, const struct format **ret)
{
	words known = { 0 };
	for (size_t i = 0; i < format_count; i++) {
		if (same_word(name, formats[i]->name)) {
			vec_fini(&known);
			*ret = formats[i];
			return NULL;
		}
		if (!vec_push(&known, formats[i]->name))
			break;
	}
	struct error *err = error_new(ERROR_USAGE, "there is no format '%.*s'", STR_ARG(name));
	return hint_with_words(err, name, &known, "");
}

// The part after the last dot of the file's name; empty if there is none.
static struct str extension_of(const char *path)
{
	struct str name = str_basename(str_from(path));
	for (size_t i = name.len; i != 0; i--)
		if (name.ptr[i - 1] == '.')
			return str_skip(name, i);
	return (struct str){ "", 0 };
}

struct error *format_by_path(const char *path, const struct format **ret)
{
	struct str extension = extension_of(path);
	words known = { 0 };
	for (size_t i = 0; i < format_count; i++) {
		for (const char *const *e = formats[i]->extensions; *e; e++) {
			if (same_word(extension, *e)) {
				vec_fini(&known);
				*ret = formats[i];
				return NULL;
			}
			if (!vec_push(&known, *e))
				break;
		}
	}
	struct error *err =
		extension.len != 0
			? error_new(ERROR_USAGE, "%s: there is no format for the extension '.%.*s'",
				    path, STR_ARG(extension))
			: error_new(ERROR_USAGE, "%s has no extension to tell its format from",
				    path);
	return hint_with_words(err, extension, &known, ".");
}

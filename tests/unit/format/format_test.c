// SPDX-License-Identifier: Apache-2.0
#include "format/format.h"

#include <errno.h>
#include <fcntl.h>

#include "support.h"
#include "tests/test.h"

TEST(a_path_names_its_format_by_its_extension)
{
	static const struct {
		const char *path;
		const struct format *format;
	} paths[] = {
		{ "a.folded", &format_folded },   { "x/y.d/a.COLLAPSED", &format_folded },
		{ "a.b.txt", &format_folded },    { "/tmp/a.html", &format_html },
		{ "a.folded.Htm", &format_html }, { ".html", &format_html },
	};
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct format *format = NULL;
		CHECK_OK(format_by_path(paths[i].path, &format));
		CHECK(format == paths[i].format);
	}
}

TEST(an_unknown_extension_is_named_with_the_nearest_and_all_known_ones)
{
	const struct format *format = NULL;
	auto_(error) err = format_by_path("out/a.HTNL", &format);
	CHECK(err && err->code == ERROR_USAGE && !format);
	CHECK(strstr(err->message, "out/a.HTNL") && strstr(err->message, "'.HTNL'"));
	CHECK(strstr(err->hint, "did you mean .html?"));
	CHECK(strstr(err->hint, ".folded, .collapsed, .txt"));
	CHECK(strstr(err->hint, ".htm"));
}

TEST(an_extension_like_no_other_gets_the_list_without_a_guess)
{
	const struct format *format = NULL;
	auto_(error) err = format_by_path("profile.speedscope", &format);
	CHECK(err && err->code == ERROR_USAGE);
	CHECK(!strstr(err->hint, "did you mean"));
	CHECK(strstr(err->hint, ".folded"));
}

TEST(a_path_without_an_extension_is_refused)
{
	static const char *const paths[] = { "profile", "dir.html/profile", "-", "", "a." };
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct format *format = NULL;
		CHECK_ERROR(ERROR_USAGE, format_by_path(paths[i], &format));
	}
}

TEST(formats_are_found_by_name)
{
	const struct format *format = NULL;
	for (size_t i = 0; i < format_count; i++) {
		CHECK_OK(format_by_name(str_from(formats[i]->name), &format));
		CHECK(format == formats[i]);
		CHECK(formats[i]->extensions[0] && formats[i]->summary && formats[i]->write);
	}
	auto_(error) err = format_by_name(STR("foldet"), &format);
	CHECK(err && err->code == ERROR_USAGE);
	CHECK(strstr(err->message, "foldet") && strstr(err->hint, "did you mean folded?"));
}

TEST(a_full_disk_is_an_error_with_its_reason)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	CHECK(add(p, push(p, STACK_EMPTY, "main", FRAME_NATIVE), 1));
	for (size_t i = 0; i < format_count; i++) {
		FILE *full = fopen("/dev/full", "w");
		CHECK(full);
		auto_(error) err = formats[i]->write(p, full);
		fclose(full);
		CHECK(err && strstr(err->message, strerror(ENOSPC)));
	}
}

TEST(a_stream_that_cannot_be_written_is_an_error)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	for (size_t i = 0; i < format_count; i++) {
		FILE *readable = fopen("/dev/null", "r");
		CHECK(readable);
		CHECK(add(p, push(p, STACK_EMPTY, "main", FRAME_NATIVE), 1));
		auto_(error) err = formats[i]->write(p, readable);
		fclose(readable);
		CHECK(err && strstr(err->message, strerror(EBADF)));
	}
}

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "tests/test.h"

TEST(error_sys_takes_its_code_from_the_errno)
{
	static const struct {
		int errnum;
		enum error_code code;
	} cases[] = {
		{ ESRCH, ERROR_GONE },         { EPERM, ERROR_DENIED },  { EACCES, ERROR_DENIED },
		{ ENOENT, ERROR_NOT_FOUND },   { EEXIST, ERROR_EXISTS }, { ENOSPC, ERROR_FAILED },
		{ ENOSYS, ERROR_UNSUPPORTED },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_ERROR(cases[i].code, error_sys(cases[i].errnum, "open x"));
}

TEST(error_recode_changes_nothing_but_the_code)
{
	auto_(error) err = error_recode(error_new(ERROR_FAILED, "no %s", "luck"), ERROR_USAGE);
	CHECK(err->code == ERROR_USAGE);
	CHECK(strcmp(err->message, "no luck") == 0);
	CHECK(!err->hint);
}

TEST(error_hint_replaces_an_earlier_hint)
{
	auto_(error) err = error_hint(error_hint(error_new(ERROR_DENIED, "no"), "a"), "b %d", 2);
	CHECK(strcmp(err->hint, "b 2") == 0);
}

TEST(error_no_memory_survives_whatever_is_done_to_it)
{
	struct error *err = error_hint(&error_no_memory, "buy %s", "some");
	err = error_recode(error_wrap(err, "read x"), ERROR_USAGE);
	error_free(err);
	CHECK(err == &error_no_memory);
	CHECK(err->code == ERROR_NO_MEMORY && !err->hint);
	CHECK(strcmp(err->message, "out of memory") == 0);
}

TEST(error_free_accepts_null)
{
	error_free(NULL);
	auto_(error) none = NULL;
	CHECK(!none);
}

TEST(take_moves_ownership_out_of_a_guard)
{
	char *moved = NULL;
	{
		autofree char *text = strdup("kept");
		moved = take(text);
		CHECK(!text);
	}
	bool kept = strcmp(moved, "kept") == 0;
	free(moved);
	CHECK(kept);
}

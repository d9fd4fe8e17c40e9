// SPDX-License-Identifier: Apache-2.0
#include "symbolize/symbolizer.h"

#include <unistd.h>

#include "tests/test.h"

static struct str name_of(const struct profile *p, const struct symbolized *s)
{
	return profile_text(p, p->frames.at[s->frames[0]].name);
}

TEST(generated_code_without_a_name_is_called_by_its_region)
{
	auto_(profile) p = NULL;
	auto_(symbolizer) s = NULL;
	CHECK_OK(profile_new(&p));
	CHECK_OK(symbolizer_new(&(struct symbolizer_opts){ .profile = p }, &s));
	struct symbolized one, other, again;
	symbolize_generated(s, getpid(), 0x7f1234000b, 0x7f12340000, &one);
	symbolize_generated(s, getpid(), 0x7f1235000b, 0x7f12350000, &other);
	symbolize_generated(s, getpid(), 0x7f1234000b, 0x7f12340000, &again);
	CHECK(one.count == 1 && one.unnamed && other.count == 1);
	CHECK(str_eq(name_of(p, &one), STR("[anon 0x7f12340000]+0xb")));
	CHECK(str_eq(name_of(p, &other), STR("[anon 0x7f12350000]+0xb")));
	CHECK(again.frames[0] == one.frames[0]);
	struct str module = profile_text(p, p->frames.at[one.frames[0]].module);
	CHECK(str_eq(module, STR("[anon]")));
}

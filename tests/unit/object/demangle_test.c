// SPDX-License-Identifier: Apache-2.0
#include "object/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tests/test.h"

static bool becomes(const char *mangled, const char *expected)
{
	autofree char *name = demangle(str_from(mangled));
	bool ok = expected ? name && strcmp(name, expected) == 0 : !name;
	if (!ok)
		printf("# %s becomes %s\n", mangled, name ? name : "nothing");
	return ok;
}

TEST(demangle_shows_cplus_without_parameters)
{
	CHECK(becomes("_ZNSt6vectorIiSaIiEE9push_backEOi",
		      "std::vector<int, std::allocator<int> >::push_back"));
	CHECK(becomes("_Z3fooIiEvT_", "foo<int>"));
	CHECK(becomes("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"));
	CHECK(becomes("_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo"));
	CHECK(becomes("_ZNKSt8functionIFviEEclEi", "std::function<void (int)>::operator()"));
	CHECK(becomes("_Z3addii.constprop.0", "add"));
}

TEST(demangle_shows_rust_without_hash)
{
	CHECK(becomes("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
		      "core::fmt::Formatter::pad"));
	CHECK(becomes("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.123",
		      "core::fmt::Formatter::pad"));
	CHECK(becomes("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"));
	CHECK(becomes("_RNvNtCs1234_7mycrate3foo3bar.llvm.123", "mycrate::foo::bar"));
	CHECK(becomes("_RINvNtCs1234_7mycrate3foo3barmE", "mycrate::foo::bar::<u32>"));
}

TEST(demangle_shows_d_and_ada)
{
	CHECK(becomes("_D3std5stdio4File5closeMFNfZv", "std.stdio.File.close"));
	CHECK(becomes("_D3std5stdio__T7writelnTAyaZ7writelnFAyaZv",
		      "std.stdio.writeln!(immutable(char)[]).writeln"));
	CHECK(becomes("ada__text_io__put_line__2", "ada.text_io.put_line"));
	CHECK(becomes("_ada_hello", "hello"));
}

TEST(demangle_leaves_plain_names_alone)
{
	static const char *const plain[] = {
		"main",   "write",     "__libc_start_main", "_start",   "_Zfoo",       "_DYNAMIC",
		"_Debug", "_Renderer", "package__function", "Z3foov",   "_R",          "_Z",
		"_D",     "",          "_ZGVbN4v_sin",      "foo.cold", "system__run", "x@plt"
	};
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		CHECK(becomes(plain[i], NULL));
}

TEST(demangle_reads_only_the_view)
{
	autofree char *name = demangle((struct str){ "_Z3foov_and_more", 7 });
	CHECK(name && strcmp(name, "foo") == 0);
}

// Templates with more letters than libiberty takes on a small stack.
TEST(demangle_keeps_long_templates_whole)
{
	auto_fini(buf) mangled = { 0 };
	buf_text(&mangled, "_Z3fooI");
	for (int i = 0; i < 500; i++)
		buf_printf(&mangled, "8type_%03d", i);
	buf_text(&mangled, "EvT_");
	autofree char *name = demangle(buf_view(&mangled));
	CHECK(name && strlen(name) > 500 * 8);
	CHECK(strncmp(name, "foo<type_000, type_001, ", 24) == 0);
	CHECK(strcmp(name + strlen(name) - 11, " type_499 >") == 0 ||
	      strcmp(name + strlen(name) - 10, " type_499>") == 0);
}

// f<p<a,a>, p<p<a,a>, p<a,a>>, ...>: each level is twice as long as the one before.
TEST(demangle_gives_up_on_names_that_explode)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	auto_fini(buf) mangled = { 0 };
	// S0_ is p, S1_ is a, S2_ is p<a, a>, S3_ is p<S2_, S2_>, ...
	buf_text(&mangled, "_Z1fI1pI1aS1_E");
	for (int i = 2; i < 34; i++)
		buf_printf(&mangled, "S0_IS%c_S%c_E", digits[i], digits[i]);
	buf_text(&mangled, "Evv");
	CHECK(becomes(buf_cstr(&mangled), NULL));
	buf_fini(&mangled);
	mangled = (struct buf){ 0 };
	buf_text(&mangled, "_Z1fI1pI1aS1_E");
	for (int i = 2; i < 4; i++)
		buf_printf(&mangled, "S0_IS%c_S%c_E", digits[i], digits[i]);
	buf_text(&mangled, "Evv");
	autofree char *small = demangle(buf_view(&mangled));
	CHECK(small && strncmp(small, "f<p<a, a>, p<p<a, a>, p<a, a> >, ", 33) == 0);
}

TEST(demangle_survives_deep_and_huge_names)
{
	static const char *const parts[] = { "P",    "A1_", "F",   "M",   "XadL",
					     "DpT_", "I1a", "N1a", "Dv1_" };
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		for (size_t count = 10; count < 70000; count *= 9) {
			auto_fini(buf) mangled = { 0 };
			buf_text(&mangled, "_Z1fI");
			for (size_t k = 0; k < count; k++)
				buf_text(&mangled, parts[i]);
			buf_text(&mangled, "iEvv");
			free(demangle(buf_view(&mangled)));
		}
	}
	auto_fini(buf) d = { 0 }, rust = { 0 };
	buf_text(&d, "_D3fooF");
	buf_text(&rust, "_RNvC1a");
	for (int i = 0; i < 3000; i++) {
		buf_text(&d, "PG3");
		buf_text(&rust, "INvC1a");
		free(demangle(buf_view(&d)));
		free(demangle(buf_view(&rust)));
	}
}

// SPDX-License-Identifier: Apache-2.0
#include "profile/tree.h"
#include "support.h"
#include "tests/test.h"
#include "tests/unit/profile/random_profile.h"

static bool folded_is(const struct profile *p, const char *want)
{
	autofree char *text = written(&format_folded, p);
	if (text && strcmp(text, want) != 0)
		printf("# written:\n%s", text);
	return text && strcmp(text, want) == 0;
}

TEST(folded_has_a_line_for_each_stack_outermost_first)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	uint32_t root = push(p, STACK_EMPTY, "nginx", FRAME_PROCESS);
	uint32_t main = push(p, root, "main", FRAME_NATIVE);
	uint32_t read = push(p, push(p, main, "read", FRAME_NATIVE), "vfs_read", FRAME_KERNEL);
	uint32_t inlined = push(p, main, "loop", FRAME_INLINED);
	uint32_t jit = push(p, main, "tick", FRAME_JIT);
	uint32_t cut = push(p, push(p, root, "[truncated]", FRAME_MARK), "f", FRAME_NATIVE);
	uint32_t stacks[] = { read, main, inlined, jit, jit, cut, read, read };
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		CHECK(add(p, stacks[i], 1));
	CHECK(folded_is(p, "nginx;[truncated];f 1\n"
			   "nginx;main 1\n"
			   "nginx;main;loop_[i] 1\n"
			   "nginx;main;read;vfs_read_[k] 3\n"
			   "nginx;main;tick_[j] 2\n"));
}

TEST(folded_frames_cannot_break_a_line)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	CHECK(add(p, push(p, STACK_EMPTY, "a;b\nc\td\x7f;", FRAME_NATIVE), 1));
	CHECK(add(p, push(p, STACK_EMPTY, "\xc3\xa9\xff z", FRAME_NATIVE), 2));
	CHECK(folded_is(p, "a:b c d : 1\n\u00e9\uFFFD z 2\n"));
}

TEST(folded_shows_lines_and_merges_what_reads_the_same)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	struct frame f = { .name = profile_string(p, STR("f")),
			   .file = profile_string(p, STR("/src/dir/a.c")),
			   .line = 12,
			   .kind = FRAME_INLINED };
	CHECK(add(p, stacks_push(&p->stacks, STACK_EMPTY, profile_frame(p, &f)), 3));
	f.file = profile_string(p, STR("/other/a.c"));
	uint32_t other = stacks_push(&p->stacks, STACK_EMPTY, profile_frame(p, &f));
	CHECK(add(p, other, 4));
	CHECK(add(p, push(p, other, "g", FRAME_NATIVE), 1));
	CHECK(folded_is(p, "f (a.c:12)_[i] 7\nf (a.c:12)_[i];g 1\n"));
}

TEST(folded_counts_samples_without_a_stack_or_a_name)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	CHECK(add(p, STACK_EMPTY, 5));
	CHECK(add(p, push(p, STACK_EMPTY, "", FRAME_NATIVE), 6));
	struct frame in_module = { .module = profile_string(p, STR("libx.so")) };
	CHECK(add(p, stacks_push(&p->stacks, STACK_EMPTY, profile_frame(p, &in_module)), 7));
	CHECK(folded_is(p, "[no stack] 5\n[unknown] 6\nlibx.so 7\n"));
}

TEST(folded_of_an_empty_profile_is_empty)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	CHECK(folded_is(p, ""));
}

// A space sorts before a semicolon, and counts are part of a line: these go between each other.
TEST(folded_is_sorted_as_whole_lines)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	uint32_t a = push(p, STACK_EMPTY, "a", FRAME_NATIVE);
	CHECK(add(p, push(p, a, "x", FRAME_NATIVE), 1));
	CHECK(add(p, a, 7));
	CHECK(add(p, push(p, STACK_EMPTY, "a b", FRAME_NATIVE), 2));
	CHECK(add(p, push(p, STACK_EMPTY, "a 5x", FRAME_NATIVE), 3));
	uint32_t a_7 = push(p, STACK_EMPTY, "a 7", FRAME_NATIVE);
	CHECK(add(p, push(p, a_7, "y", FRAME_NATIVE), 4));
	CHECK(add(p, a_7, 1));
	CHECK(add(p, push(p, STACK_EMPTY, "a!", FRAME_NATIVE), 9));
	CHECK(folded_is(p, "a 5x 3\na 7\na 7 1\na 7;y 4\na b 2\na! 9\na;x 1\n"));
}

// The count of a line, found by reading every sample's stack on its own.
static uint64_t count_naively(const struct profile *p, struct str line)
{
	static const char *const suffixes[FRAME_KIND_COUNT] = {
		[FRAME_KERNEL] = "_[k]", [FRAME_INLINED] = "_[i]", [FRAME_JIT] = "_[j]"
	};
	uint64_t count = 0;
	for (size_t i = 0; i < p->samples.len; i++) {
		char text[2048] = "", longer[2048];
		for (uint32_t n = p->samples.at[i].stack; n != STACK_EMPTY;
		     n = p->stacks.nodes.at[n].parent) {
			const struct frame *f = &p->frames.at[p->stacks.nodes.at[n].item];
			const char *suffix = suffixes[f->kind] ? suffixes[f->kind] : "";
			char where[32] = "";
			if (f->line != 0)
				snprintf(where, sizeof(where), " (a.c:%u)", f->line);
			int len = snprintf(longer, sizeof(longer), "%.*s%s%s%s%s",
					   STR_ARG(profile_text(p, f->name)), where, suffix,
					   text[0] ? ";" : "", text);
			memcpy(text, longer, (size_t)len + 1);
		}
		count += str_eq(line, str_from(text)) ? p->samples.at[i].value : 0;
	}
	return count;
}

static bool random_folded_is_right(uint64_t seed)
{
	auto_(profile) p = random_profile(&(struct random_profile_opts){
		.seed = seed, .functions = 3, .modules = 2, .samples = 150, .depth = 6 });
	autofree char *text = p ? written(&format_folded, p) : NULL;
	struct str rest = str_from(text), before = STR("");
	uint64_t sum = 0, count;
	while (rest.len != 0) {
		struct str line = str_split(&rest, '\n'), stack = line;
		while (stack.ptr[stack.len - 1] != ' ')
			stack.len--;
		if (!str_to_u64(str_skip(line, stack.len), 10, &count))
			return false;
		stack.len--;
		size_t common = MIN(before.len, line.len);
		int order = memcmp(before.ptr, line.ptr, common);
		if (order > 0 || (order == 0 && before.len >= line.len))
			return false;
		if (count == 0 || count != count_naively(p, stack))
			return false;
		sum += count;
		before = line;
	}
	return text && sum == profile_total(p);
}

TEST(folded_agrees_with_counting_every_sample_on_random_profiles)
{
	for (uint64_t seed = 1; seed <= 30; seed++)
		CHECK(random_folded_is_right(seed));
}

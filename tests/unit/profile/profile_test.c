// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <stdio.h>

#include "profile/tree.h"
#include "random_profile.h"
#include "tests/test.h"

TEST(a_stack_pushed_twice_is_one_stack)
{
	auto_fini(stacks) s = { 0 };
	CHECK(stacks_init(&s));
	uint32_t a = stacks_push(&s, STACK_EMPTY, 7);
	uint32_t ab = stacks_push(&s, a, 8);
	CHECK(a != STACK_EMPTY && ab != a);
	CHECK(stacks_push(&s, STACK_EMPTY, 7) == a);
	CHECK(stacks_push(&s, a, 8) == ab);
	CHECK(stacks_push(&s, STACK_EMPTY, 8) != ab);
	CHECK(s.nodes.len == 4);
	CHECK(s.nodes.at[ab].parent == a && s.nodes.at[ab].item == 8);
}

TEST(stacks_keep_every_path_of_a_million_pushes)
{
	auto_fini(stacks) s = { 0 };
	CHECK(stacks_init(&s));
	uint64_t state = 1;
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t items[10], stack = STACK_EMPTY;
		for (unsigned j = 0; j < ARRAY_SIZE(items); j++) {
			items[j] = random_below(&state, 6);
			stack = stacks_push(&s, stack, items[j]);
		}
		for (unsigned j = ARRAY_SIZE(items); j-- != 0; stack = s.nodes.at[stack].parent)
			CHECK(s.nodes.at[stack].item == items[j]);
		CHECK(stack == STACK_EMPTY);
	}
	for (size_t i = 1; i < s.nodes.len; i++)
		CHECK(s.nodes.at[i].parent < i);
}

TEST(equal_strings_frames_and_threads_have_one_number)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	CHECK(profile_string(p, STR("")) == 0);
	CHECK(profile_text(p, 0).len == 0);
	uint32_t name = profile_string(p, STR("main")),
		 with_zero = profile_string(p, STR("main\0x"));
	CHECK(name != 0 && profile_string(p, STR("main")) == name && with_zero != name);
	CHECK(profile_text(p, with_zero).len == 6 && profile_text(p, name).ptr[4] == '\0');

	struct frame f = { .name = name, .kind = FRAME_NATIVE }, other = f;
	uint32_t number = profile_frame(p, &f);
	CHECK(number != 0 && profile_frame(p, &f) == number);
	other.kind = FRAME_INLINED;
	CHECK(profile_frame(p, &other) != number);
	other = f;
	other.line = 1;
	CHECK(profile_frame(p, &other) != number);

	struct thread t = { .pid = 1, .tid = 2, .name = name, .process = name };
	CHECK(profile_thread(p, &t) == 0);
	t.tid = 3;
	CHECK(profile_thread(p, &t) == 1);
	t.tid = 2;
	CHECK(profile_thread(p, &t) == 0);
	CHECK(p->threads.at[1].tid == 3);
}

TEST(a_hundred_thousand_strings_are_told_apart)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	char text[32];
	for (unsigned i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "function_%u", i);
		CHECK(profile_string(p, str_from(text)) == i + 1);
	}
	for (unsigned i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "function_%u", i);
		CHECK(profile_string(p, str_from(text)) == i + 1);
	}
}

TEST(tree_walks_in_prefix_order_with_siblings_by_rank)
{
	auto_fini(stacks) s = { 0 };
	auto_fini(tree) t = { 0 };
	CHECK(stacks_init(&s));
	// Items 0, 1, 2 are ranked 2, 0, 1.
	uint32_t rank[] = { 2, 0, 1 };
	uint32_t c = stacks_push(&s, STACK_EMPTY, 0), a = stacks_push(&s, STACK_EMPTY, 1);
	uint32_t cb = stacks_push(&s, c, 2), b = stacks_push(&s, STACK_EMPTY, 2);
	uint32_t ca = stacks_push(&s, c, 1);
	CHECK(tree_init(&t, &s, rank, ARRAY_SIZE(rank)));
	uint32_t want[] = { a, b, c, ca, cb };
	int64_t depths[] = { 1, 1, 1, 2, 2 }, depth = 0;
	uint32_t node = STACK_EMPTY;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		node = tree_next(&t, node, &depth);
		CHECK(node == want[i] && depth == depths[i]);
	}
	CHECK(tree_next(&t, node, &depth) == STACK_EMPTY);
	t.self[ca] = 3;
	t.self[cb] = 4;
	t.self[c] = 1;
	t.self[b] = 10;
	tree_sum(&t);
	CHECK(t.total[c] == 8 && t.total[STACK_EMPTY] == 18 && t.total[a] == 0);
}

static uint32_t push(struct profile *p, uint32_t stack, const char *name, enum frame_kind kind)
{
	struct frame f = { .name = profile_string(p, str_from(name)), .kind = kind };
	return stacks_push(&p->stacks, stack, profile_frame(p, &f));
}

TEST(functions_count_recursion_once_and_leave_roots_out)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	uint32_t root = push(p, STACK_EMPTY, "server", FRAME_PROCESS);
	uint32_t f = push(p, root, "f", FRAME_NATIVE);
	uint32_t fgf = push(p, push(p, f, "g", FRAME_NATIVE), "f", FRAME_INLINED);
	CHECK(profile_add(p, &(struct sample){ .stack = fgf, .value = 5 }));
	CHECK(profile_add(p, &(struct sample){ .stack = f, .value = 2 }));
	CHECK(profile_add(p, &(struct sample){ .stack = root, .value = 100 }));
	function_totals totals = { 0 };
	CHECK_OK(profile_functions(p, &totals));
	bool right = totals.len == 2 && totals.at[0].self == 7 && totals.at[0].total == 7 &&
		     totals.at[1].self == 0 && totals.at[1].total == 5;
	vec_fini(&totals);
	CHECK(right);
	CHECK(profile_total(p) == 107);
}

TEST(functions_of_an_empty_profile_are_none)
{
	auto_(profile) p = NULL;
	function_totals totals = { 0 };
	CHECK_OK(profile_new(&p));
	CHECK_OK(profile_functions(p, &totals));
	CHECK(totals.len == 0 && profile_total(p) == 0);
	vec_fini(&totals);
}

static bool same_function(const struct profile *p, uint32_t a, uint32_t b)
{
	const struct frame *x = &p->frames.at[a], *y = &p->frames.at[b];
	return x->name == y->name && x->module == y->module && y->kind < FRAME_PROCESS;
}

// The definition, sample by sample and frame by frame.
static void count_naively(const struct profile *p, uint32_t frame, uint64_t *self, uint64_t *total)
{
	*self = *total = 0;
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct sample *s = &p->samples.at[i];
		bool found = false;
		for (uint32_t n = s->stack; n != STACK_EMPTY; n = p->stacks.nodes.at[n].parent)
			found |= same_function(p, frame, p->stacks.nodes.at[n].item);
		*total += found ? s->value : 0;
		*self += same_function(p, frame, p->stacks.nodes.at[s->stack].item) ? s->value : 0;
	}
}

static bool functions_are_right(uint64_t seed)
{
	auto_(profile) p = random_profile(&(struct random_profile_opts){
		.seed = seed, .functions = 6, .modules = 2, .samples = 200, .depth = 12 });
	function_totals totals = { 0 };
	struct error *err = p ? profile_functions(p, &totals) : &error_no_memory;
	bool right = !err;
	uint64_t before = UINT64_MAX, self, total;
	for (size_t i = 0; right && i < totals.len; i++) {
		const struct function_total *t = &totals.at[i];
		count_naively(p, t->frame, &self, &total);
		right = t->self == self && t->total == total && total != 0 && self <= before;
		before = self;
		for (size_t j = 0; j < i; j++)
			right &= !same_function(p, totals.at[j].frame, t->frame);
	}
	// Nothing is missing: every frame with a sample is in one of them.
	for (uint32_t f = 1; right && f < p->frames.len; f++) {
		bool listed = p->frames.at[f].kind >= FRAME_PROCESS;
		for (size_t i = 0; i < totals.len; i++)
			listed |= same_function(p, totals.at[i].frame, f);
		count_naively(p, f, &self, &total);
		right = listed || total == 0;
	}
	vec_fini(&totals);
	error_free(err);
	return right;
}

TEST(functions_agree_with_counting_every_sample_on_random_profiles)
{
	for (uint64_t seed = 1; seed <= 50; seed++)
		CHECK(functions_are_right(seed));
}

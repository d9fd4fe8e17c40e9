// SPDX-License-Identifier: Apache-2.0
// Unwinding at every single instruction: prologues, epilogues, linkage tables, the dynamic linker,
// signal frames and all. The frames outside of what is stepped through must always be the same.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/unit/object/stack_walk.h"
#include "tests/unit/object/varied_work.h"

// Enough for the runtime of a Go program to start, and for all of varied_work() without sanitizers.
#define STEPS_MAX 15000
#define GO_STEPS_MAX 60000
#define GO_WALK_EVERY 8

// How many of the outermost frames two stacks share.
static size_t shared_frames(const struct stack *a, const struct stack *b)
{
	size_t n = 0;
	while (n < a->count && n < b->count && a->pcs[a->count - 1 - n] == b->pcs[b->count - 1 - n])
		n++;
	return n;
}

static void print_stack(struct stack_walk *w, const struct stack *stack)
{
	printf("# %zu frames, ended by kind %u\n", stack->count, stack->end);
	for (size_t i = 0; i < stack->count && i < 30; i++)
		printf("#   %s\n", stack_walk_name(w, stack->pcs[i]));
}

TEST(every_instruction_can_be_unwound_to_the_outermost_frame)
{
	auto_fini(stack_walk) w = { .child = traced_child_new(varied_work, /* argv= */ NULL) };
	if (!w.child) {
		test_skip("tracing a child is not allowed here");
		return;
	}
	CHECK_OK(rules_init(&w.rules));
	// Stopped in raise(), a few frames inside of what calls varied_work().
	struct stack first, stack;
	stack_walk(&w, &first);
	CHECK(first.end == CFA_END && first.count > 5);
	size_t steps = 0, wrong = 0;
	unsigned kinds = 0;
	for (; steps < STEPS_MAX && traced_child_step(w.child); steps++) {
		stack_walk(&w, &stack);
		kinds |= stack.kinds;
		if (stack.end == CFA_END && shared_frames(&first, &stack) + 4 >= first.count)
			continue;
		if (wrong++ < 10)
			print_stack(&w, &stack);
	}
	printf("# %zu instructions\n", steps);
	CHECK(steps > 1000);
	CHECK(kinds >> CFA_SIGNAL & 1);
#ifndef __clang__ // which keeps the frame pointer below the realigned part
	CHECK(kinds >> CFA_DEREF & 1);
#endif
	CHECK(wrong == 0);
}

// Where the go command is: itself a program in Go. NULL if there is none.
static char *find_go(void)
{
	const char *path = getenv("PATH");
	for (struct str rest = str_from(path); rest.len != 0;) {
		char *name = NULL;
		struct str dir = str_split(&rest, ':');
		if (asprintf(&name, "%.*s/go", STR_ARG(dir)) < 0)
			return NULL;
		char *real = access(name, X_OK) == 0 ? realpath(name, NULL) : NULL;
		free(name);
		if (real)
			return real;
	}
	return NULL;
}

TEST(a_go_program_can_be_unwound_through_its_stack_switches)
{
	autofree char *go = find_go();
	char version[] = "version", *argv[] = { go, version, NULL };
	auto_fini(stack_walk) w = { .child = go ? traced_child_new(/* body= */ NULL, argv) : NULL };
	if (!w.child) {
		test_skip("there is no go command, or tracing a child is not allowed here");
		return;
	}
	CHECK_OK(rules_init(&w.rules));
	struct stack stack;
	size_t walks = 0, wrong = 0, deepest = 0;
	for (size_t steps = 0; steps < GO_STEPS_MAX && traced_child_step(w.child); steps++) {
		if (steps % GO_WALK_EVERY != 0)
			continue;
		stack_walk(&w, &stack);
		walks++;
		deepest = MAX(deepest, stack.count);
		if (stack.end != CFA_END && wrong++ < 10)
			print_stack(&w, &stack);
	}
	printf("# %zu walks, %zu wrong, deepest %zu frames\n", walks, wrong, deepest);
	CHECK(walks > 1000 && deepest > 5);
	// The C runtime of a program with cgo has a few functions that nothing is known about.
	CHECK(wrong * 1000 <= walks);
}

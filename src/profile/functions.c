// SPDX-License-Identifier: Apache-2.0
// Totals by function. Samples are added up per stack first and the tree of stacks is walked once,
// so the cost is samples + nodes, whatever the depth.
#include "profile/profile.h"
#include "profile/tree.h"

#define NO_FUNCTION UINT32_MAX

struct functions {
	const struct profile *profile;
	function_totals totals;
	struct map by_name;    // (name, module) → index into totals
	uint32_t *of_frame;    // index into totals, or NO_FUNCTION
	uint32_t *open_frames; // by function: how often it is on the path walked now
};

static void functions_fini(struct functions *f)
{
	vec_fini(&f->totals);
	map_fini(&f->by_name);
	free(f->of_frame);
	free(f->open_frames);
}

static bool is_code(enum frame_kind kind)
{
	return kind != FRAME_PROCESS && kind != FRAME_THREAD && kind != FRAME_MARK;
}

static bool find_functions(struct functions *f)
{
	const struct profile *p = f->profile;
	f->of_frame = calloc(p->frames.len, sizeof(*f->of_frame));
	if (!f->of_frame)
		return false;
	f->of_frame[0] = NO_FUNCTION;
	for (size_t i = 1; i < p->frames.len; i++) {
		const struct frame *frame = &p->frames.at[i];
		f->of_frame[i] = NO_FUNCTION;
		if (!is_code(frame->kind))
			continue;
		bool fresh;
		uint64_t *number =
			map_put(&f->by_name, map_pair(frame->name, frame->module), &fresh);
		if (!number)
			return false;
		if (fresh) {
			*number = f->totals.len;
			if (!vec_push(&f->totals, (struct function_total){ (uint32_t)i, 0, 0 }))
				return false;
		}
		f->of_frame[i] = (uint32_t)*number;
	}
	f->open_frames = calloc(f->totals.len + 1, sizeof(*f->open_frames));
	return f->open_frames != NULL;
}

static uint32_t function_at(const struct functions *f, uint32_t node)
{
	return node == STACK_EMPTY ? NO_FUNCTION
				   : f->of_frame[f->profile->stacks.nodes.at[node].item];
}

static void leave(struct functions *f, uint32_t node)
{
	uint32_t function = function_at(f, node);
	if (function != NO_FUNCTION)
		f->open_frames[function]--;
}

static void enter(struct functions *f, const struct tree *t, uint32_t node)
{
	uint32_t function = function_at(f, node);
	if (function == NO_FUNCTION)
		return;
	f->totals.at[function].self += t->self[node];
	// Only its outermost frame counts: what is below a recursive call is below that already.
	if (f->open_frames[function]++ == 0)
		f->totals.at[function].total += t->total[node];
}

static void walk(struct functions *f, const struct tree *t)
{
	const struct stack_node *nodes = f->profile->stacks.nodes.at;
	uint32_t node = STACK_EMPTY;
	for (;;) {
		int64_t moved = 0;
		uint32_t next = tree_next(t, node, &moved);
		for (; moved < 1; moved++) {
			leave(f, node);
			node = nodes[node].parent;
		}
		if (next == STACK_EMPTY)
			return;
		enter(f, t, next);
		node = next;
	}
}

static int by_self(const void *a, const void *b)
{
	const struct function_total *x = a, *y = b;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

struct error *profile_functions(const struct profile *p, function_totals *ret)
{
	auto_fini(functions) f = { .profile = p };
	auto_fini(tree) t = { 0 };
	if (!find_functions(&f) || !tree_init(&t, &p->stacks, /* rank= */ NULL, p->frames.len))
		return &error_no_memory;
	for (size_t i = 0; i < p->samples.len; i++)
		t.self[p->samples.at[i].stack] += p->samples.at[i].value;
	tree_sum(&t);
	walk(&f, &t);
	// A function can have no sample: its frames may be in the profile without one.
	size_t kept = 0;
	for (size_t i = 0; i < f.totals.len; i++)
		if (f.totals.at[i].total != 0)
			f.totals.at[kept++] = f.totals.at[i];
	f.totals.len = kept;
	vec_sort(&f.totals, by_self);
	*ret = f.totals;
	f.totals = (function_totals){ 0 };
	return NULL;
}

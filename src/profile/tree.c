// SPDX-License-Identifier: Apache-2.0
#include "profile/tree.h"

#include "base/cleanup.h"

static uint32_t rank_of(const struct stacks *s, const uint32_t *rank, size_t node)
{
	uint32_t item = s->nodes.at[node].item;
	return rank ? rank[item] : item;
}

// All nodes but the empty stack, sorted by rank: a counting sort.
static uint32_t *nodes_by_rank(const struct stacks *s, const uint32_t *rank, size_t ranks)
{
	autofree uint32_t *place = calloc(ranks + 1, sizeof(*place));
	autofree uint32_t *sorted = calloc(s->nodes.len, sizeof(*sorted));
	if (!place || !sorted)
		return NULL;
	for (size_t i = 1; i < s->nodes.len; i++)
		place[rank_of(s, rank, i) + 1]++;
	for (size_t i = 1; i <= ranks; i++)
		place[i] += place[i - 1];
	for (size_t i = 1; i < s->nodes.len; i++)
		sorted[place[rank_of(s, rank, i)]++] = (uint32_t)i;
	return take(sorted);
}

bool tree_init(struct tree *t, const struct stacks *s, const uint32_t *rank, size_t ranks)
{
	size_t count = s->nodes.len;
	autofree uint32_t *sorted = nodes_by_rank(s, rank, ranks);
	*t = (struct tree){ .stacks = s,
			    .first_child = calloc(count, sizeof(*t->first_child)),
			    .next_sibling = calloc(count, sizeof(*t->next_sibling)),
			    .self = calloc(count, sizeof(*t->self)),
			    .total = calloc(count, sizeof(*t->total)) };
	if (!sorted || !t->first_child || !t->next_sibling || !t->self || !t->total) {
		tree_fini(t);
		return false;
	}
	// Each goes in front of its siblings, so the last goes first.
	for (size_t i = count - 1; i-- != 0;) {
		uint32_t node = sorted[i], parent = s->nodes.at[node].parent;
		t->next_sibling[node] = t->first_child[parent];
		t->first_child[parent] = node;
	}
	return true;
}

void tree_fini(struct tree *t)
{
	free(t->first_child);
	free(t->next_sibling);
	free(t->self);
	free(t->total);
	*t = (struct tree){ 0 };
}

void tree_sum(struct tree *t)
{
	size_t count = t->stacks->nodes.len;
	memcpy(t->total, t->self, count * sizeof(*t->total));
	// A caller has a lower number than its callees, so theirs are complete when it is its turn.
	for (size_t i = count; i-- > 1;)
		t->total[t->stacks->nodes.at[i].parent] += t->total[i];
}

uint32_t tree_next(const struct tree *t, uint32_t node, int64_t *depth)
{
	int64_t moved = 1;
	uint32_t next = t->first_child[node];
	while (next == 0 && node != STACK_EMPTY) {
		next = t->next_sibling[node];
		node = t->stacks->nodes.at[node].parent;
		moved--;
	}
	if (depth)
		*depth += moved;
	return next;
}

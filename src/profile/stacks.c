// SPDX-License-Identifier: Apache-2.0
#include "profile/stacks.h"

bool stacks_init(struct stacks *s)
{
	*s = (struct stacks){ 0 };
	return vec_push(&s->nodes, (struct stack_node){ STACK_EMPTY, 0 });
}

void stacks_fini(struct stacks *s)
{
	vec_fini(&s->nodes);
	map_fini(&s->children);
}

uint32_t stacks_push(struct stacks *s, uint32_t parent, uint32_t item)
{
	// Room first: a failure after map_put would leave a child that does not exist.
	if (s->nodes.len == s->nodes.cap && !vec_reserve(&s->nodes, 1))
		return STACK_NONE;
	if (s->nodes.len >= STACK_NONE)
		return STACK_NONE;
	bool fresh;
	uint64_t *child = map_put(&s->children, map_pair(parent, item), &fresh);
	if (!child)
		return STACK_NONE;
	if (fresh) {
		*child = s->nodes.len;
		s->nodes.at[s->nodes.len++] = (struct stack_node){ parent, item };
	}
	return (uint32_t)*child;
}

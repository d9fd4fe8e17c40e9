// SPDX-License-Identifier: Apache-2.0
#include "recording/collect.h"

#include "base/clock.h"

// Keys of the index: a kernel address has its top bit set, a file's number is far below 2^23.
#define FILE_SHIFT 40

bool collection_init(struct collection *c)
{
	*c = (struct collection){ .next_to_name = 1 };
	return stacks_init(&c->stacks) && vec_push(&c->locations, (struct location){ 0 });
}

void collection_fini(struct collection *c)
{
	vec_fini(&c->locations);
	map_fini(&c->index);
	map_fini(&c->generated);
	map_fini(&c->marks);
	stacks_fini(&c->stacks);
	vec_fini(&c->samples);
	vec_fini(&c->frames);
}

static uint32_t add(struct collection *c, const struct location *location)
{
	if (!vec_push(&c->locations, *location))
		return 0;
	return (uint32_t)(c->locations.len - 1);
}

static uint32_t find_or_add(struct collection *c, struct map *index, uint64_t key,
			    const struct location *location)
{
	bool fresh;
	uint64_t *slot = map_put(index, key, &fresh);
	if (!slot)
		return 0;
	if (fresh)
		*slot = add(c, location);
	return (uint32_t)*slot;
}

uint32_t collection_file(struct collection *c, uint32_t file, uint64_t offset)
{
	struct location l = { .kind = LOCATION_FILE, .file = file, .offset = offset };
	return find_or_add(c, &c->index, (uint64_t)file << FILE_SHIFT | offset, &l);
}

uint32_t collection_kernel(struct collection *c, uint64_t address)
{
	struct location l = { .kind = LOCATION_KERNEL, .offset = address };
	return find_or_add(c, &c->index, address, &l);
}

uint32_t collection_frame(struct collection *c, uint32_t frame)
{
	struct location l = { .kind = LOCATION_FRAME, .frame_count = 1 };
	uint64_t *known = map_get(&c->marks, frame);
	if (known)
		return (uint32_t)*known;
	l.first_frame = (uint32_t)c->frames.len;
	return vec_push(&c->frames, frame) ? find_or_add(c, &c->marks, frame, &l) : 0;
}

uint32_t collection_generated(struct collection *c, pid_t pid, uint64_t address, uint64_t base)
{
	struct location l = {
		.kind = LOCATION_GENERATED, .pid = pid, .offset = address, .base = base
	};
	uint32_t first = find_or_add(c, &c->generated, address, &l);
	uint32_t last = first;
	for (uint32_t i = first; i != 0; i = c->locations.at[i].next) {
		if (c->locations.at[i].pid == pid && c->locations.at[i].base == base)
			return i;
		last = i;
	}
	if (last == 0)
		return 0;
	uint32_t made = add(c, &l);
	c->locations.at[last].next = made;
	return made;
}

static void name_location(struct collection *c, const struct namer *namer, struct location *l,
			  bool last)
{
	struct symbolized names = { 0 };
	if (l->frame_count != 0)
		return;
	if (l->kind == LOCATION_FILE)
		symbolize_native(namer->symbolizer, namer->object(namer->ctx, l->file),
				 namer->path(namer->ctx, l->file), l->offset, &names);
	else if (l->kind == LOCATION_KERNEL)
		symbolize_kernel(namer->symbolizer, l->offset, &names);
	else if (l->kind == LOCATION_GENERATED)
		symbolize_generated(namer->symbolizer, l->pid, l->offset, l->base, &names);
	if (l->kind == LOCATION_GENERATED && names.unnamed && !last)
		return;
	uint32_t first = (uint32_t)c->frames.len;
	for (size_t i = 0; i < names.count; i++)
		if (!vec_push(&c->frames, names.frames[i]))
			return;
	l->first_frame = first;
	l->frame_count = (uint32_t)names.count;
	l->unnamed = names.unnamed;
}

void collection_name(struct collection *c, const struct namer *namer, uint64_t until, bool last)
{
	if (last)
		c->next_to_name = 1;
	while (c->next_to_name < c->locations.len) {
		name_location(c, namer, &c->locations.at[c->next_to_name++], last);
		if (until != 0 && clock_now() >= until)
			return;
	}
}

// A location's frames on top of a stack of frames.
static uint32_t push_frames(const struct collection *c, struct profile *p, uint32_t stack,
			    const struct location *l)
{
	for (uint32_t i = l->frame_count; i != 0 && stack != STACK_NONE; i--)
		stack = stacks_push(&p->stacks, stack, c->frames.at[l->first_frame + i - 1]);
	return stack;
}

struct error *collection_finish(struct collection *c, struct profile *p, uint64_t start)
{
	autofree uint32_t *stack_of = calloc(c->stacks.nodes.len, sizeof(*stack_of));
	if (!stack_of)
		return &error_no_memory;
	// A caller's node comes before its callees', so one pass does.
	for (size_t i = 1; i < c->stacks.nodes.len; i++) {
		const struct stack_node *node = &c->stacks.nodes.at[i];
		stack_of[i] =
			push_frames(c, p, stack_of[node->parent], &c->locations.at[node->item]);
		if (stack_of[i] == STACK_NONE)
			return &error_no_memory;
	}
	vec_each (s, &c->samples) {
		const struct stack_node *top = &c->stacks.nodes.at[s->stack];
		struct sample sample = { .stack = stack_of[s->stack],
					 .thread = s->thread,
					 .time = s->time > start ? s->time - start : 0,
					 .value = 1 };
		if (!profile_add(p, &sample))
			return &error_no_memory;
		p->info.unknown += c->locations.at[top->item].unnamed;
	}
	vec_each (l, &c->locations)
		p->info.unknown_frames += l->unnamed;
	return NULL;
}

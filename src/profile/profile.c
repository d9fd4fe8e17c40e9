// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

const char *const frame_kind_names[FRAME_KIND_COUNT] = {
	[FRAME_NATIVE] = "native", [FRAME_INLINED] = "inlined", [FRAME_KERNEL] = "kernel",
	[FRAME_JIT] = "jit",       [FRAME_PROCESS] = "process", [FRAME_THREAD] = "thread",
	[FRAME_MARK] = "mark",
};

struct error *profile_new(struct profile **ret)
{
	auto_(profile) p = calloc(1, sizeof(*p));
	if (!p || !stacks_init(&p->stacks))
		return &error_no_memory;
	p->info.event = p->info.unit = p->info.engine = "";
	if (profile_string(p, STR("")) == PROFILE_NONE ||
	    !vec_push(&p->frames, (struct frame){ 0 }))
		return &error_no_memory;
	*ret = take(p);
	return NULL;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	arena_fini(&p->arena);
	vec_fini(&p->strings);
	map_fini(&p->string_index);
	vec_fini(&p->frames);
	map_fini(&p->frame_index);
	stacks_fini(&p->stacks);
	vec_fini(&p->threads);
	map_fini(&p->thread_index);
	vec_fini(&p->samples);
	free(p->info.target);
	free(p->info.engine_reason);
	free(p);
}

// An index maps a thing's hash to its number. When two things have the same hash, the later one is
// under the next free key; nothing is ever taken out, so a walk up the keys finds it.
struct search {
	const struct profile *profile;
	const struct map *index;
	bool (*same)(const struct profile *p, uint32_t number, const void *wanted);
	const void *wanted;
	uint64_t key; // in: the hash; out: where it is, or where it would go
};

static uint32_t search_number(struct search *s)
{
	for (;; s->key++) {
		const uint64_t *number = map_get(s->index, s->key);
		if (!number)
			return PROFILE_NONE;
		if (s->same(s->profile, (uint32_t)*number, s->wanted))
			return (uint32_t)*number;
	}
}

// Numbers what is about to be appended to a vector of `count` things.
static bool index_next(struct map *index, uint64_t key, size_t count)
{
	uint64_t *number = count < PROFILE_NONE ? map_put(index, key, /* ret_new= */ NULL) : NULL;
	if (number)
		*number = count;
	return number != NULL;
}

static bool same_string(const struct profile *p, uint32_t number, const void *wanted)
{
	return str_eq(p->strings.at[number], *(const struct str *)wanted);
}

uint32_t profile_string(struct profile *p, struct str s)
{
	struct search search = { p, &p->string_index, same_string, &s, str_hash(s) };
	uint32_t number = search_number(&search);
	if (number != PROFILE_NONE)
		return number;
	char *copy = arena_copy(&p->arena, s);
	if (!copy || !vec_reserve(&p->strings, 1) ||
	    !index_next(&p->string_index, search.key, p->strings.len))
		return PROFILE_NONE;
	p->strings.at[p->strings.len] = (struct str){ copy, s.len };
	return (uint32_t)p->strings.len++;
}

static bool same_frame(const struct profile *p, uint32_t number, const void *wanted)
{
	const struct frame *a = &p->frames.at[number], *b = wanted;
	return a->name == b->name && a->module == b->module && a->file == b->file &&
	       a->line == b->line && a->kind == b->kind;
}

uint32_t profile_frame(struct profile *p, const struct frame *f)
{
	uint64_t hash = map_mix(map_pair(f->name, f->module));
	hash = map_mix(hash ^ map_pair(f->file, f->line)) + (uint64_t)f->kind;
	struct search search = { p, &p->frame_index, same_frame, f, map_mix(hash) };
	uint32_t number = search_number(&search);
	if (number != PROFILE_NONE)
		return number;
	if (!vec_reserve(&p->frames, 1) || !index_next(&p->frame_index, search.key, p->frames.len))
		return PROFILE_NONE;
	p->frames.at[p->frames.len] = *f;
	return (uint32_t)p->frames.len++;
}

static bool same_thread(const struct profile *p, uint32_t number, const void *wanted)
{
	const struct thread *a = &p->threads.at[number], *b = wanted;
	return a->pid == b->pid && a->tid == b->tid && a->name == b->name &&
	       a->process == b->process;
}

uint32_t profile_thread(struct profile *p, const struct thread *t)
{
	uint64_t hash = map_mix(map_pair(t->pid, t->tid));
	hash = map_mix(hash ^ map_pair(t->name, t->process));
	struct search search = { p, &p->thread_index, same_thread, t, hash };
	uint32_t number = search_number(&search);
	if (number != PROFILE_NONE)
		return number;
	if (!vec_reserve(&p->threads, 1) ||
	    !index_next(&p->thread_index, search.key, p->threads.len))
		return PROFILE_NONE;
	p->threads.at[p->threads.len] = *t;
	return (uint32_t)p->threads.len++;
}

bool profile_add(struct profile *p, const struct sample *s)
{
	return vec_push(&p->samples, *s);
}

uint64_t profile_total(const struct profile *p)
{
	uint64_t total = 0;
	for (size_t i = 0; i < p->samples.len; i++)
		total += p->samples.at[i].value;
	return total;
}

// SPDX-License-Identifier: Apache-2.0
// Random profiles that are the same on every run.
#pragma once

#include <stdio.h>

#include "profile/profile.h"

struct random_profile_opts {
	uint64_t seed;
	unsigned functions; // different names
	unsigned modules;
	unsigned samples;
	unsigned depth; // at most
};

static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % limit);
}

static inline uint32_t random_frame(struct profile *p, const struct random_profile_opts *opts,
				    uint64_t *state)
{
	char name[32], module[32];
	snprintf(name, sizeof(name), "f%u", random_below(state, opts->functions));
	snprintf(module, sizeof(module), "m%u", random_below(state, opts->modules));
	struct frame f = { .name = profile_string(p, str_from(name)),
			   .module = profile_string(p, str_from(module)),
			   .line = random_below(state, 2) * random_below(state, 3),
			   .kind = random_below(state, FRAME_KIND_COUNT) };
	f.file = f.line != 0 ? profile_string(p, STR("src/a.c")) : 0;
	return profile_frame(p, &f);
}

// NULL when there is no memory.
static inline struct profile *random_profile(const struct random_profile_opts *opts)
{
	uint64_t state = opts->seed;
	auto_(profile) p = NULL;
	struct error *err = profile_new(&p);
	error_free(err);
	if (err)
		return NULL;
	for (unsigned i = 0; i < opts->samples; i++) {
		uint32_t stack = STACK_EMPTY;
		for (uint32_t n = 1 + random_below(&state, opts->depth); n != 0; n--)
			stack = stacks_push(&p->stacks, stack, random_frame(p, opts, &state));
		struct sample s = { .stack = stack, .value = random_below(&state, 5) };
		if (!profile_add(p, &s))
			return NULL;
	}
	return take(p);
}

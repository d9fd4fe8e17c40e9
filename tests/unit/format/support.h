// SPDX-License-Identifier: Apache-2.0
// Profiles from a line of text each, and formats written to memory.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "format/format.h"

// Pushes a frame; only name and kind matter.
static inline uint32_t push(struct profile *p, uint32_t stack, const char *name,
			    enum frame_kind kind)
{
	struct frame f = { .name = profile_string(p, str_from(name)), .kind = kind };
	return stacks_push(&p->stacks, stack, profile_frame(p, &f));
}

static inline bool add(struct profile *p, uint32_t stack, uint64_t value)
{
	return profile_add(p, &(struct sample){ .stack = stack, .value = value });
}

// What a format writes, zero-terminated; NULL on failure.
static inline char *written(const struct format *format, const struct profile *p)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	struct error *err = stream ? format->write(p, stream) : &error_no_memory;
	if (stream)
		fclose(stream);
	if (err) {
		free(text);
		text = NULL;
	}
	error_free(err);
	return text;
}

// SPDX-License-Identifier: Apache-2.0
// What was sampled, before it has names: stacks of locations. A location is a place in a file, a
// kernel address, a place in generated code, or a frame that is known already (process, thread,
// mark). Naming is done once a location, when there is time for it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "profile/stacks.h"
#include "symbolize/symbolizer.h"

enum location_kind {
	LOCATION_FRAME,     // .frame
	LOCATION_FILE,      // .file, .offset
	LOCATION_KERNEL,    // .offset is the address
	LOCATION_GENERATED, // .pid, .offset is the address, .base
};

struct location {
	enum location_kind kind;
	uint32_t file;
	uint64_t offset;
	uint64_t base;
	int32_t pid;
	uint32_t next; // another generated one at the same address, in another process; 0 if none
	uint32_t first_frame; // into collection.frames, innermost first
	uint32_t frame_count; // 0 until it is named
	bool unnamed;
};

struct collected_sample {
	uint32_t stack; // of locations
	uint32_t thread;
	uint64_t time;
};

struct collection {
	VEC(struct location) locations; // [0] is unused
	struct map index;               // files and kernel: key → location
	struct map generated;           // address → first location
	struct map marks;               // frame → location
	struct stacks stacks;
	VEC(struct collected_sample) samples;
	VEC(uint32_t) frames;
	uint32_t next_to_name; // locations before this one have names, or were tried
};

bool collection_init(struct collection *c);
void collection_fini(struct collection *c);

// The number of a location, made if it is new; 0 when there is no memory.
uint32_t collection_file(struct collection *c, uint32_t file, uint64_t offset);
uint32_t collection_kernel(struct collection *c, uint64_t address);
uint32_t collection_generated(struct collection *c, pid_t pid, uint64_t address, uint64_t base);
uint32_t collection_frame(struct collection *c, uint32_t frame);

// Who can name a location.
struct namer {
	struct symbolizer *symbolizer;
	struct object *(*object)(void *ctx, uint32_t file);
	const char *(*path)(void *ctx, uint32_t file);
	void *ctx;
};
// Names what has none yet, until a time is reached (0: all of it). Generated code that has no name
// yet may get one later: `last` says that there is no later.
void collection_name(struct collection *c, const struct namer *namer, uint64_t until, bool last);
// Turns it all into samples of the profile.
struct error *collection_finish(struct collection *c, struct profile *profile,
				uint64_t start) must_check;

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The walker's host in the kernel: tables that user space fills, and memory read without faulting.
#pragma once

#include "sampler/bpf/kernel.h"
#include "sampler/bpf/tables.h"
#include "wire/sample.h"

// In the order in which a walk uses them.
struct wire_mapping mappings[TABLE_MAPPINGS];
struct wire_row rows[TABLE_ROWS];
struct wire_rule rules[TABLE_RULES];

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TABLE_PROCESSES);
	__type(key, wu32); // pid
	__type(value, struct wire_process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TABLE_PAGES);
	__type(key, struct wire_page_key);
	__type(value, struct wire_page);
} pages SEC(".maps");

#define STATE_WORDS (sizeof(struct walk_state) / 8)
#define STACK_WORDS (STACK_COPY_MAX / 8)
#define FRAME_WORDS (MAX_KERNEL_FRAMES + MAX_FRAMES)
#define ALL_WORDS (FRAME_WORDS + STATE_WORDS + STACK_WORDS)

// The callers of what is hot are the same in sample after sample. A place in a file has the same
// rule for ever, so that a remembered one never becomes wrong.
struct cached_rule {
	wu64 offset;
	wu32 file; // 0: nothing yet
	struct wire_row row;
	struct wire_rule rule;
};

// A CPU's working memory; the tail is the sample as it is sent.
struct walk_host {
	struct walk_state state;
	struct pt_regs regs;
	wu64 window_at; // window[] is a copy of the target's memory at this address
	wu64 window[8];
	struct wire_mapping place; // the mapping found last: callers are often in the same one
	wu32 mapping_first;
	wu32 mapping_count;
	int end;
	wu32 pad;
	struct cached_rule cache[RULE_CACHE];
	struct wire_sample sample;
	wu64 words[ALL_WORDS];
};

// Keeps an index in bounds in a form that neither the compiler optimises away nor the verifier
// fails to see.
#define MASKED(index, count)                                                                       \
	({                                                                                         \
		wu64 masked_ = (index);                                                            \
		asm volatile("%0 &= %1" : "+r"(masked_) : "i"((count)-1));                         \
		masked_;                                                                           \
	})

struct search {
	wu64 key;
	wu32 low; // the answer is in [low, high)
	wu32 high;
};

static long mapping_search_step(wu32 i, struct search *s)
{
	if (s->high - s->low <= 1)
		return 1;
	wu32 middle = s->low + (s->high - s->low) / 2;
	if (mappings[MASKED(middle, TABLE_MAPPINGS)].start <= s->key)
		s->low = middle;
	else
		s->high = middle;
	return 0;
}

static long row_search_step(wu32 i, struct search *s)
{
	if (s->high - s->low <= 1)
		return 1;
	wu32 middle = s->low + (s->high - s->low) / 2;
	if (rows[MASKED(middle, TABLE_ROWS)].low16 <= s->key)
		s->low = middle;
	else
		s->high = middle;
	return 0;
}

#include "unwind/walk.h"

walk_inline int host_place(struct walk_host *h, wu64 address, struct walk_place *ret)
{
	if (address < h->place.start || address >= h->place.end) {
		if (h->mapping_count == 0)
			return WALK_NEED_MAPPING;
		struct search s = { .key = address,
				    .low = h->mapping_first,
				    .high = h->mapping_first + h->mapping_count };
		bpf_loop(17, mapping_search_step, &s, 0);
		h->place = mappings[MASKED(s.low, TABLE_MAPPINGS)];
		if (address < h->place.start || address >= h->place.end)
			return WALK_NEED_MAPPING;
	}
	ret->file = h->place.file;
	ret->offset = address + h->place.delta;
	return 0;
}

walk_inline int host_rule(struct walk_host *h, const struct walk_place *place, struct wire_row *row,
			  struct wire_rule *rule)
{
	if (place->file == 0) {
		rule->cfa = CFA_NONE;
		return 0;
	}
	wu64 slot = (place->offset ^ place->offset >> 10 ^ (wu64)place->file << 5);
	struct cached_rule *cached = &h->cache[MASKED(slot, RULE_CACHE)];
	if (cached->file == place->file && cached->offset == place->offset) {
		*row = cached->row;
		*rule = cached->rule;
		return 0;
	}
	struct wire_page_key key = { .file = place->file,
				     .page = (wu32)(place->offset >> TEXT_PAGE_SHIFT) };
	struct wire_page *page = bpf_map_lookup_elem(&pages, &key);
	if (!page)
		return WALK_NEED_PAGE;
	struct search s = { .key = place->offset & (TEXT_PAGE_SIZE - 1),
			    .low = page->first,
			    .high = page->first + page->count };
	bpf_loop(17, row_search_step, &s, 0);
	*row = rows[MASKED(s.low, TABLE_ROWS)];
	*rule = rules[MASKED(row->rule, TABLE_RULES)];
	cached->offset = place->offset;
	cached->file = place->file;
	cached->row = *row;
	cached->rule = *rule;
	return 0;
}

walk_inline void host_fetch(struct walk_host *h, wu64 address)
{
	h->window_at = address;
	if (bpf_probe_read_user(h->window, sizeof(h->window), (void *)address) != 0)
		h->window_at = 0;
}

walk_inline int host_word(struct walk_host *h, wu64 address, wu64 *ret)
{
	wu64 index = (address - h->window_at) / 8;
	if (h->window_at != 0 && index < 8 && (address - h->window_at) % 8 == 0) {
		*ret = h->window[MASKED(index, 8)];
		return 0;
	}
	// Memory that is not there at this moment may be so for user space, which can fault it in.
	return bpf_probe_read_user(ret, sizeof(*ret), (void *)address) == 0 ? 0 : WALK_NEED_MEMORY;
}

walk_inline int host_code(struct walk_host *h, const struct walk_place *place, wu64 address,
			  wu64 *ret)
{
	return bpf_probe_read_user(ret, sizeof(*ret), (void *)address) == 0 ? 0 : WALK_NEED_MEMORY;
}

walk_inline int host_expr(struct walk_host *h, const struct walk_place *place, struct walk_state *s)
{
	return WALK_NEED_EXPR;
}

_Static_assert(FRAME_WORDS <= 4096 && ALL_WORDS >= 4096, "the mask in host_emit");
walk_inline int host_emit(struct walk_host *h, wu64 address)
{
	wu64 index = (wu64)h->sample.kernel_frames + h->sample.user_frames;
	if (h->sample.user_frames >= MAX_FRAMES || index >= FRAME_WORDS)
		return WALK_TOO_DEEP;
	h->words[MASKED(index, 4096)] = address;
	h->sample.user_frames++;
	return 0;
}

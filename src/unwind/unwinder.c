// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwinder.h"

#include "base/map.h"
#include "unwind/call_site.h"
#include "unwind/memory.h"

struct unwinder {
	struct unwinder_hooks hooks;
	struct rules rules;
	struct map pages; // (file, page) → index into list, plus one
	VEC(struct row_page) list;
};

struct error *unwinder_new(const struct unwinder_hooks *hooks, struct unwinder **ret)
{
	auto_(unwinder) u = calloc(1, sizeof(*u));
	if (!u)
		return &error_no_memory;
	u->hooks = *hooks;
	struct error *err = rules_init(&u->rules);
	if (err)
		return err;
	*ret = take(u);
	return NULL;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	vec_each (page, &u->list)
		row_page_fini(page);
	vec_fini(&u->list);
	map_fini(&u->pages);
	rules_fini(&u->rules);
	free(u);
}

const struct rules *unwinder_rules(const struct unwinder *u)
{
	return &u->rules;
}

// The rows of a page, made at first need. NULL if there is no such file or no memory.
static const struct row_page *find_page(struct unwinder *u, const struct wire_page_key *key)
{
	uint64_t id = map_pair(key->file, key->page);
	uint64_t *known = map_get(&u->pages, id);
	if (known)
		return *known != 0 ? &u->list.at[*known - 1] : NULL;
	struct object *obj = u->hooks.object(u->hooks.ctx, key->file);
	struct row_page page = { 0 };
	bool made = false;
	if (obj) {
		auto_(error) err = object_row_page(obj, key->page, &u->rules, &page);
		made = !err && page.rows.len != 0;
	}
	uint64_t *slot = map_put(&u->pages, id, NULL);
	if (!slot || !made || !vec_push(&u->list, page)) {
		row_page_fini(&page);
		return NULL;
	}
	*slot = u->list.len;
	return vec_last(&u->list);
}

static const struct wire_row *find_row(const struct row_page *page, uint16_t low16)
{
	size_t low = 0, high = page->rows.len;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (page->rows.at[middle].low16 <= low16)
			low = middle;
		else
			high = middle;
	}
	return &page->rows.at[low];
}

// The walker's host in user space.
struct walk_host {
	struct unwinder *unwinder;
	const struct unwind_input *in;
	struct stack_memory memory;
	wu64 *frames;
	size_t count, max;
};

#include "unwind/walk.h"

static int host_place(struct walk_host *h, wu64 address, struct walk_place *ret)
{
	const struct unwind_input *in = h->in;
	const struct mapping *m = process_mapping(in->process, address, in->time);
	if (!m && h->unwinder->hooks.refresh(h->unwinder->hooks.ctx, in->process))
		m = process_mapping(in->process, address, in->time);
	if (!m)
		return WALK_BAD_PC;
	ret->file = m->file;
	ret->offset = address - m->start + m->offset;
	return 0;
}

static int host_rule(struct walk_host *h, const struct walk_place *place, struct wire_row *row,
		     struct wire_rule *rule)
{
	struct unwinder *u = h->unwinder;
	struct wire_page_key key = { .file = place->file,
				     .page = (wu32)(place->offset >> TEXT_PAGE_SHIFT) };
	const struct row_page *page = place->file == FILE_ANONYMOUS ? NULL : find_page(u, &key);
	*row = (struct wire_row){ 0 };
	if (page) {
		*row = *find_row(page, (uint16_t)place->offset);
		u->hooks.on_page(u->hooks.ctx, &key, page);
	}
	*rule = u->rules.list.at[row->rule < u->rules.list.len ? row->rule : RULE_NONE];
	return 0;
}

static void host_fetch(struct walk_host *h, wu64 address)
{
	(void)h, (void)address; // reading a copy needs no preparation
}

static int host_word(struct walk_host *h, wu64 address, wu64 *ret)
{
	uint64_t value;
	if (!stack_memory_read(&h->memory, address, &value))
		return WALK_BAD_READ;
	*ret = value;
	return 0;
}

// Code does not change: the file has it even when the process is gone.
static int host_code(struct walk_host *h, const struct walk_place *place, wu64 address, wu64 *ret)
{
	struct unwinder *u = h->unwinder;
	struct object *obj =
		place->file == FILE_ANONYMOUS ? NULL : u->hooks.object(u->hooks.ctx, place->file);
	if (obj && object_read(obj, place->offset, ret, sizeof(*ret)))
		return 0;
	return process_memory_read(h->in->process->pid, address, ret, sizeof(*ret)) ? 0
										    : WALK_BAD_READ;
}

static bool read_for_expr(void *ctx, uint64_t address, uint64_t *ret)
{
	return stack_memory_read(ctx, address, ret);
}

static int host_expr(struct walk_host *h, const struct walk_place *place, struct walk_state *s)
{
	struct object *obj = h->unwinder->hooks.object(h->unwinder->hooks.ctx, place->file);
	struct memory_reader reader = { read_for_expr, &h->memory };
	return obj && object_unwind_expr(obj, place->offset, &reader, s) ? 0 : WALK_NO_ROW;
}

static int host_emit(struct walk_host *h, wu64 address)
{
	if (h->count >= h->max)
		return WALK_TOO_DEEP;
	h->frames[h->count++] = address;
	return 0;
}

// A frame whose caller could not be read was not emitted by the walker, which leaves it to a better
// host. There is none after this one.
static void emit_last(struct walk_host *h, const struct walk_state *s, enum walk_end end)
{
	struct walk_place place;
	wu64 address = s->exact ? s->pc : s->pc - 1;
	bool pending = (end == WALK_BAD_READ || end == WALK_BAD_PC) && !h->memory.unproven;
	if (pending && (s->leaf || host_place(h, address, &place) == 0))
		(void)host_emit(h, address);
}

static struct code_place code_place_of(struct walk_host *h, wu64 address)
{
	struct walk_place place;
	if (host_place(h, address, &place) != 0 || place.file == FILE_ANONYMOUS)
		return (struct code_place){ .address = address };
	return (struct code_place){ .object = h->unwinder->hooks.object(h->unwinder->hooks.ctx,
									place.file),
				    .offset = place.offset,
				    .address = address };
}

// A step that had to read a stack as it is now is believed only if the caller it led to does call
// the function it came from.
static int checked_step(struct walk_host *h, struct walk_state *s)
{
	wu64 callee = s->exact ? s->pc : s->pc - 1;
	h->memory.unproven = false;
	int end = walk_step(h, s);
	// Where a caller was found, its return address lay just below its stack pointer.
	if (end == WALK_GO_ON && !s->exact)
		stack_memory_note_return(&h->memory, s->regs[ARCH_REG_SP] - 8);
	if (end != WALK_GO_ON || !h->memory.unproven || s->exact)
		return end;
	struct code_place to = code_place_of(h, s->pc), from = code_place_of(h, callee);
	return call_site_fits(&to, &from) ? WALK_GO_ON : WALK_BAD_READ;
}

enum walk_end unwinder_walk(struct unwinder *u, const struct unwind_input *in, wu64 *frames,
			    size_t *count, size_t max)
{
	struct walk_state state = *in->state;
	struct walk_host host = {
		.unwinder = u, .in = in, .frames = frames, .count = *count, .max = max
	};
	stack_memory_init(&host.memory, in->process->pid, state.regs[ARCH_REG_SP], in->stack);
	int end = WALK_GO_ON;
	for (int i = 0; i <= MAX_FRAMES && end == WALK_GO_ON; i++)
		end = checked_step(&host, &state);
	if (end == WALK_GO_ON)
		end = WALK_TOO_DEEP;
	emit_last(&host, &state, end);
	stack_memory_fini(&host.memory);
	*count = host.count;
	return end;
}

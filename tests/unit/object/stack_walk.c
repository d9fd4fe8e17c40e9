// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/object/stack_walk.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/object/plain_walk.h"

// --- the child's code ---

static void module_fini(struct stack_walk_module *m)
{
	for (size_t i = 0; i < m->pages.len; i++)
		row_page_fini(&m->pages.at[i]);
	vec_fini(&m->pages);
	object_free(m->object);
	buf_fini(&m->image);
	free(m->path);
}

static struct object *open_object(struct stack_walk *w, struct stack_walk_module *m, uint64_t start,
				  uint64_t end)
{
	struct object *obj = NULL;
	struct object_opts opts = { .path = m->path, .root = "" };
	auto_(error) err = NULL;
	if (m->path[0] == '/') {
		err = object_open_consume_fd(open(m->path, O_RDONLY | O_CLOEXEC), &opts, &obj);
	} else if (strcmp(m->path, "[vdso]") == 0) {
		char page[4096];
		for (; start < end; start += sizeof(page))
			if (pread(w->child->memory, page, sizeof(page), (off_t)start) ==
			    sizeof(page))
				buf_add(&m->image, page, sizeof(page));
		err = object_open_memory(buf_view(&m->image), m->path, &obj);
	}
	return obj;
}

static size_t find_module(struct stack_walk *w, const char *path, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < w->modules.len; i++)
		if (strcmp(w->modules.at[i].path, path) == 0)
			return i;
	struct stack_walk_module m = { .path = strdup(path) };
	m.object = open_object(w, &m, start, end);
	if (!m.path || !vec_push(&w->modules, m))
		abort();
	return w->modules.len - 1;
}

static void read_mappings(struct stack_walk *w)
{
	char path[64], line[4096];
	vec_clear(&w->mappings);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)w->child->pid);
	FILE *maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		struct stack_walk_mapping m;
		char perms[8], file[2048] = "";
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %2047[^\n]",
			   &m.start, &m.end, perms, &m.offset, file) < 4 ||
		    perms[2] != 'x')
			continue;
		m.module = find_module(w, file, m.start, m.end);
		if (!vec_push(&w->mappings, m))
			abort();
	}
	if (maps)
		fclose(maps);
}

static const struct stack_walk_mapping *find_mapping(struct stack_walk *w, uint64_t pc)
{
	for (int tries = 0; tries < 2; tries++) {
		vec_each (m, &w->mappings)
			if (pc >= m->start && pc < m->end)
				return m;
		read_mappings(w);
	}
	return NULL;
}

static const struct wire_row *find_row(struct stack_walk *w, struct stack_walk_module *m,
				       uint64_t offset)
{
	uint32_t page = (uint32_t)(offset >> TEXT_PAGE_SHIFT);
	while (m->pages.len <= page)
		if (!vec_push(&m->pages, (struct row_page){ 0 }))
			abort();
	struct row_page *rows = &m->pages.at[page];
	if (rows->rows.len == 0) {
		auto_(error) err = object_row_page(m->object, page, &w->rules, rows);
		if (err)
			abort();
	}
	const struct wire_row *found = rows->rows.at;
	vec_each (row, &rows->rows)
		if (row->low16 <= (offset & (TEXT_PAGE_SIZE - 1)))
			found = row;
	return found;
}

const char *stack_walk_name(struct stack_walk *w, uint64_t pc)
{
	const struct stack_walk_mapping *m = find_mapping(w, pc);
	if (!m)
		return "nowhere";
	const struct stack_walk_module *module = &w->modules.at[m->module];
	struct symbol symbol = { 0 };
	uint64_t offset = pc - m->start + m->offset;
	if (module->object)
		object_symbol(module->object, offset, &symbol);
	snprintf(w->name, sizeof(w->name), "%.*s+%" PRIu64 " (%s+%" PRIx64 ")",
		 STR_ARG(symbol.name), symbol.offset, module->path, offset);
	return w->name;
}

// --- one step of a walk ---

static bool read_word(void *ctx, uint64_t address, uint64_t *ret)
{
	const struct stack_walk *w = ctx;
	return pread(w->child->memory, ret, 8, (off_t)address) == 8;
}

// False at the end, for the reason in ret->end.
static bool walk_on(struct stack_walk *w, struct walk_state *state, struct stack *ret)
{
	uint64_t pc = state->exact ? state->pc : state->pc - 1;
	const struct stack_walk_mapping *m = find_mapping(w, pc);
	struct stack_walk_module *module = m ? &w->modules.at[m->module] : NULL;
	ret->end = CFA_NONE;
	if (!module || !module->object)
		return false;
	uint64_t offset = pc - m->start + m->offset;
	const struct wire_row *row = find_row(w, module, offset);
	const struct wire_rule *rule = &w->rules.list.at[row->rule];
	struct memory_reader reader = { read_word, w };
	ret->end = rule->cfa;
	ret->kinds |= 1u << rule->cfa;
	if (rule->cfa == CFA_EXPR)
		return object_unwind_expr(module->object, offset, &reader, state);
	return plain_walk(rule, row, &reader, state);
}

void stack_walk(struct stack_walk *w, struct stack *ret)
{
	uint64_t regs[TRACED_REGS];
	*ret = (struct stack){ 0 };
	if (!traced_child_regs(w->child, regs))
		return;
	struct walk_state state = { .known = (1u << ARCH_REG_COUNT) - 1, .exact = 1, .leaf = 1 };
	for (unsigned i = 0; i < ARCH_REG_COUNT; i++)
		state.regs[i] = regs[i];
	state.pc = regs[ARCH_REG_RA];
	do
		ret->pcs[ret->count++] = state.pc;
	while (ret->count < STACK_WALK_FRAMES && walk_on(w, &state, ret));
}

void stack_walk_fini(struct stack_walk *w)
{
	vec_each (m, &w->modules)
		module_fini(m);
	vec_fini(&w->modules);
	vec_fini(&w->mappings);
	rules_fini(&w->rules);
	traced_child_free(w->child);
}

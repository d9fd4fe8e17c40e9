// SPDX-License-Identifier: Apache-2.0
#include "symbolize/symbolizer.h"

#include <stdio.h>

#include "base/buf.h"
#include "object/demangle.h"
#include "object/rows.h"
#include "symbolize/kernel.h"
#include "symbolize/perf_map.h"

struct symbolizer {
	struct symbolizer_opts opts;
	struct kallsyms *kernel; // NULL until needed, or if it may not be read
	bool kernel_tried;
	struct map perf_maps; // pid → struct perf_map *, 0 if it writes none
};

struct error *symbolizer_new(const struct symbolizer_opts *opts, struct symbolizer **ret)
{
	struct symbolizer *s = calloc(1, sizeof(*s));
	if (!s)
		return &error_no_memory;
	s->opts = *opts;
	*ret = s;
	return NULL;
}

static struct perf_map *as_perf_map(uint64_t value)
{
	return (struct perf_map *)(uintptr_t)value;
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	kallsyms_free(s->kernel);
	for (struct map_slot *m = map_first(&s->perf_maps); m; m = map_next(&s->perf_maps, m))
		perf_map_free(as_perf_map(m->value));
	map_fini(&s->perf_maps);
	free(s);
}

struct naming {
	struct str name;
	struct str module;
	struct str file;
	uint32_t line;
	enum frame_kind kind;
};

static void add(struct symbolizer *s, struct symbolized *to, const struct naming *n)
{
	struct profile *p = s->opts.profile;
	struct frame frame = { .name = profile_string(p, n->name),
			       .module = profile_string(p, n->module),
			       .file = profile_string(p, n->file),
			       .line = n->line,
			       .kind = n->kind };
	if (frame.name == PROFILE_NONE || frame.module == PROFILE_NONE ||
	    frame.file == PROFILE_NONE)
		return;
	uint32_t number = profile_frame(p, &frame);
	if (number != PROFILE_NONE && to->count < SYMBOLIZED_MAX)
		to->frames[to->count++] = number;
}

static void add_mangled(struct symbolizer *s, struct symbolized *to, struct naming *n)
{
	autofree char *readable = demangle(n->name);
	if (readable)
		n->name = str_from(readable);
	add(s, to, n);
}

// Unnamed code is called by its place in something that has a name.
static void add_offset(struct symbolizer *s, struct symbolized *to, struct naming *n,
		       struct str whole, uint64_t offset)
{
	auto_fini(buf) text = { 0 };
	buf_printf(&text, "%.*s+0x%llx", STR_ARG(whole), (unsigned long long)offset);
	n->name = buf_view(&text);
	to->unnamed = to->count == 0;
	add(s, to, n);
}

// The function itself: its symbol, else what DWARF calls it, else module+offset.
static void add_function(struct symbolizer *s, struct object *obj, uint64_t offset,
			 const struct source_frame *source, struct naming *n, struct symbolized *to)
{
	struct symbol symbol;
	if (obj && object_symbol(obj, offset, &symbol)) {
		n->name = symbol.name;
		add_mangled(s, to, n);
	} else if (source && source->name) {
		n->name = str_from(source->name);
		add_mangled(s, to, n);
	} else {
		// By where it begins, so that a function is one frame wherever in it the samples
		// are.
		uint64_t start = offset;
		if (obj)
			(void)object_function_start(obj, offset, &start);
		uint64_t vaddr = start;
		if (obj)
			(void)object_vaddr(obj, start, &vaddr);
		add_offset(s, to, n, n->module, vaddr);
	}
}

void symbolize_native(struct symbolizer *s, struct object *obj, const char *path, uint64_t offset,
		      struct symbolized *ret)
{
	struct source_frame sources[SYMBOLIZED_MAX];
	struct str module = str_basename(str_from(path));
	size_t count = 0;
	*ret = (struct symbolized){ 0 };
	if (obj && (s->opts.inlines || s->opts.lines))
		count = object_source_frames(obj, offset, s->opts.lines, sources, SYMBOLIZED_MAX);
	for (size_t i = 0; s->opts.inlines && i + 1 < count; i++) {
		struct naming n = { .name = str_from(sources[i].name ? sources[i].name
								     : "[inlined]"),
				    .module = module,
				    .file = str_from(sources[i].file),
				    .line = sources[i].line,
				    .kind = FRAME_INLINED };
		add_mangled(s, ret, &n);
	}
	const struct source_frame *own = count != 0 ? &sources[count - 1] : NULL;
	struct naming n = { .module = module,
			    .file = str_from(own ? own->file : NULL),
			    .line = own ? own->line : 0,
			    .kind = FRAME_NATIVE };
	add_function(s, obj, offset, own, &n, ret);
}

void symbolize_kernel(struct symbolizer *s, uint64_t address, struct symbolized *ret)
{
	struct kernel_symbol symbol;
	struct naming n = { .name = STR("[kernel]"),
			    .module = STR("kernel"),
			    .kind = FRAME_KERNEL };
	*ret = (struct symbolized){ 0 };
	if (!s->kernel_tried) {
		// Where names may not be read, all that can be said is that it was the kernel.
		auto_(error) err = kallsyms_read(&s->kernel);
		s->kernel_tried = true;
	}
	if (s->kernel && kallsyms_find(s->kernel, address, &symbol)) {
		n.name = symbol.name;
		if (symbol.module.len != 0)
			n.module = symbol.module;
	} else {
		ret->unnamed = true;
	}
	add(s, ret, &n);
}

static struct perf_map *perf_map_of(struct symbolizer *s, pid_t pid)
{
	uint64_t *slot = map_put(&s->perf_maps, (uint64_t)pid, NULL);
	if (!slot)
		return NULL;
	struct perf_map *map = as_perf_map(*slot);
	if (!map || perf_map_stale(map)) {
		struct perf_map *newer = NULL;
		auto_(error) err = perf_map_read(pid, &newer);
		if (newer) {
			perf_map_free(map);
			*slot = (uint64_t)(uintptr_t)newer;
			map = newer;
		}
	}
	return map;
}

void symbolize_generated(struct symbolizer *s, pid_t pid, uint64_t address, uint64_t base,
			 struct symbolized *ret)
{
	struct perf_map *map = perf_map_of(s, pid);
	struct naming n = { .name = map ? perf_map_find(map, address) : STR(""),
			    .module = STR("[anon]"),
			    .kind = FRAME_JIT };
	*ret = (struct symbolized){ 0 };
	if (n.name.len != 0) {
		add(s, ret, &n);
		return;
	}
	// Pieces of memory have nothing to do with each other: the same offset in two of them is
	// not the same code.
	char region[32];
	snprintf(region, sizeof(region), "[anon 0x%llx]", (unsigned long long)base);
	add_offset(s, ret, &n, str_from(region), address - base);
}

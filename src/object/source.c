// SPDX-License-Identifier: Apache-2.0
// Inlined functions and lines. Debug information is divided into units, one per source file that
// was compiled. Which unit has an address is indexed once for the whole file, from the units' own
// ranges (.debug_aranges is often left out); a unit is looked into when it is first asked for.
#include <dwarf.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "object/dwarf_file.h"
#include "object/dwarf_scopes.h"
#include "object/object_parts.h"
#include "object/source_path.h"

// Debug information is held in memory. Who asks for lines wants it at nearly any price; where it
// only adds inlined functions to symbols, there is a limit to what that is worth.
#define SIZE_MAX_FOR_LINES (1ull << 30)
#define SIZE_MAX_FOR_INLINING (256ull << 20)
#define UNITS_MAX (1u << 20)
#define UNIT_RANGES_MAX (4u << 20)
// Ranges of different units rarely overlap: how many to try.
#define OVERLAP_MAX 8

struct unit {
	Dwarf_Die die; // its root; of the skeleton if the rest is in a .dwo file
	bool skeleton;
	bool walked;
	struct scopes scopes;
};

struct unit_range {
	uint64_t low, high;
	uint32_t unit;
};

struct source {
	struct dwarf_file *file;
	const struct elf_file *code;
	bool own_root; // the names of .dwo files mean to us what they mean to the process
	VEC(struct unit) units;
	VEC(struct unit_range) ranges;
	struct map paths; // libdw's name of a source file → its whole path
	struct arena path_texts;
};

static void source_free(void *state)
{
	struct source *s = state;
	vec_each (unit, &s->units)
		scopes_fini(&unit->scopes);
	vec_fini(&s->units);
	vec_fini(&s->ranges);
	map_fini(&s->paths);
	arena_fini(&s->path_texts);
	dwarf_file_free(s->file);
	free(s);
}

// --- which unit has an address ---

static int compare_unit_ranges(const void *a_ptr, const void *b_ptr)
{
	const struct unit_range *a = a_ptr, *b = b_ptr;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

// A unit's functions mostly lie side by side: one range for all of them does.
static void merge_ranges(struct source *s)
{
	struct unit_range *last = NULL;
	vec_sort(&s->ranges, compare_unit_ranges);
	vec_each (range, &s->ranges) {
		if (last && last->unit == range->unit)
			last->high = MAX(last->high, range->high);
		else if (!last)
			last = s->ranges.at;
		else
			*++last = *range;
	}
	s->ranges.len = last ? (size_t)(last - s->ranges.at) + 1 : 0;
}

static bool add_unit(struct source *s, Dwarf_Die *die, bool skeleton)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;
	size_t before = s->ranges.len;
	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		struct unit_range range = { low, high, (uint32_t)s->units.len };
		if (!dwarf_range_is_code(s->code, low, high))
			continue;
		if (s->ranges.len >= UNIT_RANGES_MAX || !vec_push(&s->ranges, range))
			return false;
	}
	if (s->ranges.len == before)
		return true;
	return s->units.len < UNITS_MAX &&
	       vec_push(&s->units, (struct unit){ .die = *die, .skeleton = skeleton });
}

static bool index_units(struct source *s)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	while (dwarf_get_units(s->file->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		// libdw would look for the rest of it in our root: a file that is not the
		// process's own.
		bool skeleton = type == DW_UT_skeleton && s->own_root;
		if ((type == DW_UT_compile || skeleton) && !add_unit(s, &die, skeleton))
			return false;
	}
	merge_ranges(s);
	return true;
}

static struct source *source_new(struct object *obj, bool want_lines)
{
	struct object *holder = obj;
	if (!elf_section_find(&obj->elf, ".debug_info"))
		holder = object_debug_file(obj);
	uint64_t size_max = want_lines ? SIZE_MAX_FOR_LINES : SIZE_MAX_FOR_INLINING;
	struct dwarf_file *file = holder ? dwarf_file_new(holder, size_max) : NULL;
	if (!file)
		return NULL;
	struct source *s = calloc(1, sizeof(*s));
	if (!s) {
		dwarf_file_free(file);
		return NULL;
	}
	s->file = file;
	s->code = &obj->elf;
	s->own_root = !*obj->root;
	if (!index_units(s)) {
		source_free(s);
		return NULL;
	}
	return s;
}

// --- the scopes of a unit ---

// libdw opens the .dwo file without looking at what it is: a pipe there would block us.
static bool dwo_is_a_file(Dwarf_Die *skeleton)
{
	Dwarf_Attribute attribute;
	struct stat st;
	const char *name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_dwo_name, &attribute));
	if (!name)
		name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attribute));
	const char *directory = dwarf_formstring(dwarf_attr(skeleton, DW_AT_comp_dir, &attribute));
	if (!name)
		return false;
	auto_fini(buf) path = { 0 };
	if (*name != '/' && directory) {
		buf_text(&path, directory);
		buf_char(&path, '/');
	}
	buf_text(&path, name);
	return stat(buf_cstr(&path), &st) == 0 && S_ISREG(st.st_mode);
}

static void walk_unit_once(struct source *s, struct unit *unit)
{
	Dwarf_Die split = { 0 };
	if (unit->walked)
		return;
	unit->walked = true;
	bool has_split =
		unit->skeleton && dwo_is_a_file(&unit->die) &&
		dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
		split.cu;
	// Out of memory leaves it empty: then the function's symbol is all we know.
	if (!scopes_init(&unit->scopes, has_split ? &split : &unit->die, s->code))
		unit->scopes = (struct scopes){ 0 };
}

static struct unit *find_scope(struct source *s, uint64_t vaddr, uint32_t *ret)
{
	size_t low = 0, high = s->ranges.len; // ranges before low start at or before vaddr
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->ranges.at[middle].low <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i != 0 && i + OVERLAP_MAX > low; i--) {
		const struct unit_range *range = &s->ranges.at[i - 1];
		if (vaddr >= range->high)
			continue;
		struct unit *unit = &s->units.at[range->unit];
		walk_unit_once(s, unit);
		*ret = scopes_find(&unit->scopes, vaddr);
		if (*ret != SCOPE_NONE)
			return unit;
	}
	return NULL;
}

// --- lines ---

static const char *whole_path(struct source *s, struct unit *unit, const char *file)
{
	Dwarf_Attribute attribute;
	if (!file)
		return NULL;
	// libdw's text stays where it is, so its address stands for it.
	uint64_t *path = map_put(&s->paths, (uintptr_t)file, NULL);
	if (!path)
		return file;
	if (*path == 0) {
		const char *directory =
			dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
		*path = (uintptr_t)source_path(&s->path_texts, directory, file);
	}
	return *path != 0 ? (const char *)(uintptr_t)*path : file;
}

static void find_line(struct source *s, struct unit *unit, uint64_t vaddr,
		      struct source_frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, vaddr);
	int number = 0;
	if (!line)
		return;
	frame->file = whole_path(s, unit, dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		frame->line = (uint32_t)number;
}

static void find_call(struct source *s, struct unit *unit, const struct scope *inlined,
		      struct source_frame *frame)
{
	Dwarf_Files *files;
	size_t count;
	frame->line = inlined->call_line;
	if (dwarf_getsrcfiles(&unit->scopes.unit, &files, &count) == 0 &&
	    inlined->call_file < count)
		frame->file =
			whole_path(s, unit, dwarf_filesrc(files, inlined->call_file, NULL, NULL));
}

struct place {
	struct unit *unit;
	uint32_t scope; // the innermost
	uint64_t vaddr;
};

static size_t fill_frames(struct source *s, const struct place *place, bool want_lines,
			  struct source_frame *ret, size_t max)
{
	struct unit *unit = place->unit;
	size_t count = 0;
	uint32_t inner = SCOPE_NONE;
	for (uint32_t scope = place->scope; scope != SCOPE_NONE;
	     inner = scope, scope = unit->scopes.list.at[scope].parent) {
		// With more levels than asked for, the last one stays the function proper.
		struct source_frame *frame = &ret[count < max ? count++ : max - 1];
		*frame = (struct source_frame){ .name = scopes_name(&unit->scopes, scope) };
		if (!want_lines)
			continue;
		if (inner == SCOPE_NONE)
			find_line(s, unit, place->vaddr, frame);
		else
			find_call(s, unit, &unit->scopes.list.at[inner], frame);
	}
	return count;
}

size_t object_source_frames(struct object *obj, uint64_t offset, bool want_lines,
			    struct source_frame *ret, size_t max)
{
	struct object_slot *slot = &obj->parts[OBJECT_PART_SOURCE];
	struct place place;
	if (max == 0 || !object_vaddr(obj, offset, &place.vaddr))
		return 0;
	if (!slot->tried) {
		slot->tried = true;
		slot->free = source_free;
		slot->state = source_new(obj, want_lines);
	}
	struct source *s = slot->state;
	place.unit = s ? find_scope(s, place.vaddr, &place.scope) : NULL;
	return place.unit ? fill_frames(s, &place, want_lines, ret, max) : 0;
}

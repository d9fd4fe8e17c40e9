// SPDX-License-Identifier: Apache-2.0
// Rows of Go functions from Go's own table of stack depths, which knows more than the .debug_frame
// that Go writes: which functions are the outermost ones, and which of them leave their stack.
//
// Go preserves no registers across calls except the frame pointer, which a function with a frame
// saves in the word below its return address. Whether it does is read from its first instructions:
//
//   push %rbp; mov %rsp,%rbp; sub $size,%rsp                        since Go 1.21
//   sub $size,%rsp; mov %rbp,size-8(%rsp); lea size-8(%rsp),%rbp    before
#include <string.h>

#include "base/cleanup.h"
#include "object/gopclntab.h"
#include "object/object_parts.h"
#include "object/rows_fill.h"

#define WORD 8
#define SAVED_FP_WORDS (-2) // from the CFA: below the return address
#define NEVER UINT64_MAX

enum go_kind {
	GO_PLAIN,  // the table of stack depths is true
	GO_ROOT,   // nothing below it on this stack
	GO_SWITCH, // runs its callees on another stack, but its frame pointer stays where it was
	GO_SIGNAL, // returns to what a signal interrupted
	GO_UNSURE,
};

static const struct {
	struct str name;
	enum go_kind kind;
} named[] = {
	{ { "runtime.goexit", 14 }, GO_ROOT },
	{ { "runtime.mstart", 14 }, GO_ROOT },
	{ { "runtime.rt0_go", 14 }, GO_ROOT },
	{ { "_rt0_amd64", 10 }, GO_ROOT },
	{ { "_rt0_amd64_linux", 16 }, GO_ROOT },
	// These leave their stack for another one, and forget the frame pointer.
	{ { "runtime.mcall", 13 }, GO_ROOT },
	{ { "runtime.morestack", 17 }, GO_ROOT },
	{ { "gogo", 4 }, GO_ROOT },
	{ { "runtime.gogo", 12 }, GO_ROOT },
	{ { "runtime.systemstack", 19 }, GO_SWITCH },
	{ { "runtime.asmcgocall", 18 }, GO_SWITCH },
	{ { "runtime.cgocallback", 19 }, GO_SWITCH },
	// Called by the kernel, which has put the other one's address under it.
	{ { "runtime.sigtramp", 16 }, GO_PLAIN },
	{ { "runtime.sigreturn", 17 }, GO_SIGNAL },
	{ { "runtime.sigreturn__sigaction", 28 }, GO_SIGNAL },
	{ { "runtime.clone", 13 }, GO_PLAIN },
};

static enum go_kind kind_of(const struct go_func *func)
{
	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		if (str_eq(func->name, named[i].name))
			return named[i].kind;
	if (func->flags & GO_FUNC_TOP_FRAME)
		return GO_ROOT;
	return func->flags & GO_FUNC_SP_WRITE ? GO_SWITCH : GO_PLAIN;
}

// From where on the caller's frame pointer is saved, and the function's own is set.
struct frame_pointer {
	uint64_t saved;
	uint64_t set;
};

// "mov %rbp,N(%rsp)" or "lea N(%rsp),%rbp" by the second byte: its length, 0 if it is neither.
static size_t frame_pointer_code(const uint8_t *code, uint8_t opcode)
{
	if (code[0] != 0x48 || code[1] != opcode || code[3] != 0x24)
		return 0;
	return code[2] == 0x6c ? 5 : code[2] == 0xac ? 8 : 0;
}

static struct frame_pointer find_frame_pointer(const struct rows_fill *fill,
					       const struct gopclntab *table,
					       const struct go_func *func)
{
	enum { MOV = 0x89, LEA = 0x8d };
	struct frame_pointer fp = { NEVER, NEVER };
	struct go_spans spans = gopclntab_spans(table, func, func->pcsp);
	struct go_span first = { 0 };
	uint8_t code[24] = { 0 }; // one byte before the stack has grown, and what follows
	uint64_t offset;
	while (go_spans_next(&spans, &first) && first.value == 0)
		;
	if (first.value <= 0 || first.start == func->entry ||
	    !object_offset(fill->object, first.start - 1, &offset) ||
	    !elf_read(&fill->object->elf, offset, sizeof(code), code))
		return fp;
	if (code[0] == 0x55 && first.value == WORD) {
		fp.saved = first.start;
		fp.set = memcmp(code + 1, "\x48\x89\xe5", 3) == 0 ? first.start + 3 : NEVER;
		return fp;
	}
	size_t mov = frame_pointer_code(code + 1, MOV);
	size_t lea = frame_pointer_code(code + 1 + mov, LEA);
	if (mov != 0)
		fp.saved = first.start + mov;
	if (mov != 0 && lea != 0)
		fp.set = fp.saved + lea;
	return fp;
}

static struct wire_rule go_rule(bool fp_saved)
{
	struct wire_rule rule = { .cfa = CFA_REG, .cfa_reg = ARCH_REG_SP, .ra = -1 };
	for (unsigned i = 0; i < ARCH_SAVED_COUNT; i++)
		rule.saved[i] = SAVED_UNKNOWN;
	rule.saved[ARCH_SAVED_FP] = fp_saved ? SAVED_FP_WORDS : SAVED_SAME;
	return rule;
}

struct func_rows {
	struct rows_fill *fill;
	struct rows_range wanted;
	uint64_t delta; // from virtual address to file offset
	struct frame_pointer fp;
	enum go_kind kind;
};

// A row for addresses from `start` (virtual) to `end` at which the stack has grown by `depth`.
static void add_depth(struct func_rows *f, uint64_t start, uint64_t end, int32_t depth)
{
	uint64_t from = MAX(start + f->delta, f->wanted.start);
	struct wire_rule rule = go_rule(depth > 0 && start >= f->fp.saved);
	int32_t cfa_offset = depth + WORD;
	if (from >= MIN(end + f->delta, f->wanted.end) || f->fill->err)
		return;
	if (f->kind == GO_SWITCH && depth > 0 && start >= f->fp.set) {
		rule = (struct wire_rule){ .cfa = CFA_FRAME };
		cfa_offset = 0;
	}
	if (depth < 0 || depth > INT32_MAX - WORD)
		rule = (struct wire_rule){ .cfa = CFA_NONE };
	rows_add(f->fill, from, &rule, cfa_offset);
}

// Cuts a span where the frame pointer is saved and set.
static void add_span(struct func_rows *f, const struct go_span *span)
{
	const uint64_t cuts[] = { f->fp.saved, f->fp.set, span->end };
	uint64_t start = span->start;
	for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
		if (cuts[i] <= start || cuts[i] > span->end)
			continue;
		add_depth(f, start, cuts[i], span->value);
		start = cuts[i];
	}
}

static void fill_func(struct rows_fill *fill, const struct gopclntab *table,
		      const struct go_func *func, struct rows_range wanted, uint64_t delta)
{
	static const struct wire_rule whole[] = {
		[GO_ROOT] = { .cfa = CFA_END },
		[GO_SIGNAL] = { .cfa = CFA_SIGNAL },
		[GO_UNSURE] = { .cfa = CFA_NONE },
	};
	struct func_rows f = { fill, wanted, delta, { NEVER, NEVER }, kind_of(func) };
	bool has_depths = f.kind == GO_PLAIN || f.kind == GO_SWITCH;
	if (has_depths)
		f.fp = find_frame_pointer(fill, table, func);
	if (f.kind == GO_SWITCH && f.fp.set == NEVER)
		has_depths = false;
	// What no span covers is padding.
	rows_add(fill, wanted.start, &whole[has_depths || f.kind == GO_SWITCH ? GO_UNSURE : f.kind],
		 0);
	if (!has_depths)
		return;
	struct go_spans spans = gopclntab_spans(table, func, func->pcsp);
	uint64_t end = func->entry;
	for (struct go_span span; go_spans_next(&spans, &span); end = span.end)
		add_span(&f, &span);
	if (end + delta > wanted.start && end + delta < wanted.end)
		rows_add(fill, end + delta, &whole[GO_UNSURE], 0);
}

// Go code is one run of addresses: what holds for the first function holds for all.
static bool find_delta(struct object *obj, const struct gopclntab *table, uint64_t *ret)
{
	struct go_func first;
	uint64_t offset;
	if (!gopclntab_func(table, 0, &first) || !object_offset(obj, first.entry, &offset))
		return false;
	*ret = offset - first.entry;
	return true;
}

// The function, with the byte before it if it is one that the kernel lets a handler return to: its
// address was never called, so looking it up one byte earlier must find it, too.
static bool read_func(const struct gopclntab *table, size_t index, struct go_func *ret)
{
	struct go_func next;
	if (!gopclntab_func(table, index, ret))
		return false;
	if (kind_of(ret) == GO_SIGNAL)
		ret->entry--;
	if (gopclntab_func(table, index + 1, &next) && kind_of(&next) == GO_SIGNAL)
		ret->end--;
	return ret->entry < ret->end;
}

void rows_fill_go(struct rows_fill *fill, struct rows_range range, unsigned stage)
{
	const struct gopclntab *table = object_gopclntab(fill->object);
	uint64_t delta, offset;
	size_t index = 0;
	if (!table || !find_delta(fill->object, table, &delta)) {
		rows_fill_stage(fill, range, stage + 1);
		return;
	}
	gopclntab_find(table, range.start - delta, &index);
	for (; index < gopclntab_count(table) && range.start < range.end && !fill->err; index++) {
		struct go_func func;
		if (!read_func(table, index, &func) ||
		    !object_offset(fill->object, func.entry, &offset) ||
		    offset != func.entry + delta || offset > range.end)
			continue;
		struct rows_range known = { MAX(offset, range.start),
					    MIN(func.end + delta, range.end) };
		if (known.start >= known.end)
			continue;
		if (range.start < known.start)
			rows_fill_stage(fill, (struct rows_range){ range.start, known.start },
					stage + 1);
		if (!fill->err)
			fill_func(fill, table, &func, known, delta);
		range.start = known.end;
	}
	if (range.start < range.end && !fill->err)
		rows_fill_stage(fill, range, stage + 1);
}

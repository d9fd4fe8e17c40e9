// SPDX-License-Identifier: Apache-2.0
// A self-contained page with the flame graph of a profile: all of its nodes, none left out.
// The page itself is web/flamegraph.html; this file writes what differs from profile to profile.
//
// The data is one JSON object. "up", "frame" and "self" are columns with an entry for each node of
// the tree of stacks, in prefix order: how many levels to go up from the node before (0: this is
// its callee), the frame's index, and the value that ends there. Everything from the profile is
// hostile text: see out_json() and out_html().
#include "format/format.h"
#include "format/out.h"
#include "format/page.h"
#include "profile/tree.h"

#define TOP_FUNCTIONS 25

struct page {
	const struct profile *profile;
	uint32_t *rank;  // of a frame among all frames, by name
	uint32_t *order; // the frames in that order
	struct tree tree;
	function_totals functions;
	struct out out;
};

static void page_fini(struct page *page)
{
	free(page->rank);
	free(page->order);
	tree_fini(&page->tree);
	vec_fini(&page->functions);
}

static int compare_text(struct str a, struct str b)
{
	int order = memcmp(a.ptr, b.ptr, MIN(a.len, b.len));
	return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

// By name, then by what tells frames of one name apart, so that the picture is always the same.
static int by_name(const void *a, const void *b, void *context)
{
	const struct profile *p = ((const struct page *)context)->profile;
	const struct frame *x = &p->frames.at[*(const uint32_t *)a];
	const struct frame *y = &p->frames.at[*(const uint32_t *)b];
	int order = x->name == y->name
			    ? 0
			    : compare_text(profile_text(p, x->name), profile_text(p, y->name));
	if (order == 0 && x->module != y->module)
		order = compare_text(profile_text(p, x->module), profile_text(p, y->module));
	if (order == 0 && x->file != y->file)
		order = compare_text(profile_text(p, x->file), profile_text(p, y->file));
	if (order == 0)
		order = (x->line > y->line) - (x->line < y->line);
	return order != 0 ? order : (int)x->kind - (int)y->kind;
}

static struct error *page_init(struct page *page, const struct profile *p)
{
	page->profile = p;
	page->rank = calloc(p->frames.len, sizeof(*page->rank));
	page->order = calloc(p->frames.len, sizeof(*page->order));
	if (!page->rank || !page->order)
		return &error_no_memory;
	for (uint32_t i = 0; i < p->frames.len; i++)
		page->order[i] = i;
	// Frame 0 is unused and stays in front.
	qsort_r(page->order + 1, p->frames.len - 1, sizeof(*page->order), by_name, page);
	for (uint32_t i = 0; i < p->frames.len; i++)
		page->rank[page->order[i]] = i;
	if (!tree_init(&page->tree, &p->stacks, page->rank, p->frames.len))
		return &error_no_memory;
	for (size_t i = 0; i < p->samples.len; i++)
		page->tree.self[p->samples.at[i].stack] += p->samples.at[i].value;
	tree_sum(&page->tree);
	return profile_functions(p, &page->functions);
}

static void member(struct out *o, const char *name)
{
	out_char(o, '"');
	out_text(o, name);
	out_text(o, "\":");
}

static void write_info(struct page *page)
{
	const struct profile_info *info = &page->profile->info;
	struct out *o = &page->out;
	const struct {
		const char *name;
		const char *value;
	} texts[] = {
		{ "target", info->target },
		{ "event", info->event },
		{ "unit", info->unit },
		{ "engine", info->engine },
		{ "engineReason", info->engine_reason },
		{ "version", WICK_VERSION },
	};
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "samples", page->profile->samples.len },
		{ "start", info->start_unix_ns / 1000000 }, // in milliseconds, as JavaScript has it
		{ "duration", info->duration_ns },
		{ "period", info->period },
		{ "lost", info->lost },
		{ "truncated", info->truncated },
		{ "unknown", info->unknown },
		{ "unknownFrames", info->unknown_frames },
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		out_char(o, i == 0 ? '{' : ',');
		member(o, texts[i].name);
		out_json(o, str_from(texts[i].value));
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		out_char(o, ',');
		member(o, numbers[i].name);
		out_u64(o, numbers[i].value);
	}
	out_char(o, '}');
}

static void write_strings(struct page *page)
{
	const struct profile *p = page->profile;
	for (size_t i = 0; i < p->strings.len; i++) {
		out_text(&page->out, i == 0 ? "[" : ",\n");
		out_json(&page->out, p->strings.at[i]);
	}
	out_char(&page->out, ']');
}

static void write_kinds(struct page *page)
{
	for (size_t i = 0; i < FRAME_KIND_COUNT; i++) {
		out_char(&page->out, i == 0 ? '[' : ',');
		out_json(&page->out, str_from(frame_kind_names[i]));
	}
	out_char(&page->out, ']');
}

// Five numbers for each frame, in the order of their ranks: name, module, file, line, kind.
static void write_frames(struct page *page)
{
	const struct profile *p = page->profile;
	out_char(&page->out, '[');
	for (size_t i = 1; i < p->frames.len; i++) {
		const struct frame *f = &p->frames.at[page->order[i]];
		const uint32_t fields[] = { f->name, f->module, f->file, f->line, f->kind };
		for (size_t j = 0; j < ARRAY_SIZE(fields); j++) {
			if (i + j != 1)
				out_char(&page->out, ',');
			out_u64(&page->out, fields[j]);
		}
	}
	out_char(&page->out, ']');
}

struct step {
	uint32_t node;
	uint64_t up;
};

static void write_column(struct page *page, uint64_t (*value)(const struct page *, struct step))
{
	const struct tree *t = &page->tree;
	struct out *o = &page->out;
	struct step step = { 0 };
	out_char(o, '[');
	for (bool first = true;; first = false) {
		int64_t moved = 0;
		step.node = tree_next(t, step.node, &moved);
		if (step.node == STACK_EMPTY)
			break;
		step.up = (uint64_t)(1 - moved);
		if (!first)
			out_char(o, ',');
		out_u64(o, value(page, step));
	}
	out_char(o, ']');
}

static uint64_t up_of(const struct page *page, struct step step)
{
	(void)page;
	return step.up;
}

static uint64_t frame_of(const struct page *page, struct step step)
{
	return page->rank[page->profile->stacks.nodes.at[step.node].item] - 1;
}

static uint64_t self_of(const struct page *page, struct step step)
{
	return page->tree.self[step.node];
}

static void write_data(struct page *page)
{
	struct out *o = &page->out;
	out_text(o, "{\"info\":");
	write_info(page);
	out_text(o, ",\n\"strings\":");
	write_strings(page);
	out_text(o, ",\n\"kinds\":");
	write_kinds(page);
	out_text(o, ",\n\"frames\":");
	write_frames(page);
	out_text(o, ",\n\"noStack\":");
	out_u64(o, page->tree.self[STACK_EMPTY]);
	out_text(o, ",\n\"up\":");
	write_column(page, up_of);
	out_text(o, ",\n\"frame\":");
	write_column(page, frame_of);
	out_text(o, ",\n\"self\":");
	write_column(page, self_of);
	out_char(o, '}');
}

static void write_title(struct page *page)
{
	const char *target = page->profile->info.target;
	out_html(&page->out, target ? str_from(target) : STR("flame graph"));
}

static void write_percent(struct out *o, uint64_t part, uint64_t whole)
{
	char text[32];
	snprintf(text, sizeof(text), "<td>%.2f%%</td>",
		 whole != 0 ? 100.0 * (double)part / (double)whole : 0.0);
	out_text(o, text);
}

// The page may have room for a part of the text only, so all of it is in the tooltip too.
static void write_text_cell(struct out *o, struct str text)
{
	out_text(o, "<td title=\"");
	out_html(o, text);
	out_text(o, "\"><span>");
	out_html(o, text);
	out_text(o, "</span></td>");
}

static void write_top(struct page *page)
{
	const struct profile *p = page->profile;
	struct out *o = &page->out;
	uint64_t whole = page->tree.total[STACK_EMPTY];
	for (size_t i = 0; i < MIN(page->functions.len, (size_t)TOP_FUNCTIONS); i++) {
		const struct function_total *f = &page->functions.at[i];
		out_text(o, "<tr>");
		write_percent(o, f->self, whole);
		write_percent(o, f->total, whole);
		write_text_cell(o, profile_text(p, p->frames.at[f->frame].name));
		write_text_cell(o, profile_text(p, p->frames.at[f->frame].module));
		out_text(o, "</tr>\n");
	}
	if (page->functions.len == 0)
		out_text(o, "<tr><td colspan=\"4\">No samples: the target used too little CPU time "
			    "at this rate, or only waited.</td></tr>\n");
}

static const struct {
	const char *name;
	void (*write)(struct page *page);
} slots[] = {
	{ "title", write_title },
	{ "top", write_top },
	{ "data", write_data },
};

static struct error *write_html(const struct profile *p, FILE *stream)
{
	auto_fini(page) page = { 0 };
	struct error *err = page_init(&page, p);
	if (err)
		return err;
	out_init(&page.out, stream);
	for (size_t i = 0; i < page_piece_count; i++) {
		const struct page_piece *piece = &page_pieces[i];
		out_add(&page.out, piece->text, piece->len);
		for (size_t j = 0; piece->slot && j < ARRAY_SIZE(slots); j++)
			if (strcmp(slots[j].name, piece->slot) == 0)
				slots[j].write(&page);
	}
	return out_finish(&page.out);
}

const struct format format_html = {
	.name = "html",
	.extensions = (const char *const[]){ "html", "htm", NULL },
	.summary = "a flame graph to look at in any browser, in one file",
	.write = write_html,
};

// SPDX-License-Identifier: Apache-2.0
// Folded stacks: "outermost;...;innermost COUNT", one line for each different stack, sorted by
// bytes as `LC_ALL=C sort` would. What flamegraph.pl, inferno, speedscope and others read.
#include "base/buf.h"
#include "format/format.h"
#include "format/out.h"
#include "profile/tree.h"

// FlameGraph's suffixes: its palettes colour by them and its labels leave them out.
static const char *const kind_suffixes[FRAME_KIND_COUNT] = {
	[FRAME_KERNEL] = "_[k]",
	[FRAME_INLINED] = "_[i]",
	[FRAME_JIT] = "_[j]",
};

// Appends text so that it can stand in a line between semicolons.
static void add_clean(struct buf *b, struct str text)
{
	while (text.len != 0) {
		size_t length = utf8_length(text);
		unsigned char c = (unsigned char)*text.ptr;
		if (length == 0)
			buf_text(b, "\uFFFD");
		else if (c < 0x20 || c == 0x7f)
			buf_char(b, ' ');
		else if (c == ';')
			buf_char(b, ':');
		else
			buf_add(b, text.ptr, length);
		text = str_skip(text, length != 0 ? length : 1);
	}
}

static void add_frame(struct buf *b, const struct profile *p, const struct frame *f)
{
	struct str name = profile_text(p, f->name);
	if (name.len == 0)
		name = f->module != 0 ? profile_text(p, f->module) : STR("[unknown]");
	add_clean(b, name);
	if (f->line != 0) {
		buf_text(b, " (");
		add_clean(b, str_basename(profile_text(p, f->file)));
		buf_char(b, ':');
		buf_u64(b, f->line);
		buf_char(b, ')');
	}
	if (kind_suffixes[f->kind])
		buf_text(b, kind_suffixes[f->kind]);
}

// Different frames can read the same, so stacks are put together again by what they read: in a
// profile whose strings are the frames' texts and whose stacks are of those strings.
struct merged {
	struct profile *texts;
	struct tree tree;
};

static void merged_fini(struct merged *m)
{
	tree_fini(&m->tree);
	profile_free(m->texts);
}

// The text of each frame, by frame number.
static uint32_t *text_of_frames(struct merged *m, const struct profile *p)
{
	auto_fini(buf) text = { 0 };
	autofree uint32_t *texts = calloc(p->frames.len, sizeof(*texts));
	if (!texts)
		return NULL;
	for (size_t i = 1; i < p->frames.len; i++) {
		text.len = 0;
		add_frame(&text, p, &p->frames.at[i]);
		texts[i] = text.failed ? PROFILE_NONE : profile_string(m->texts, buf_view(&text));
		if (texts[i] == PROFILE_NONE)
			return NULL;
	}
	return take(texts);
}

// The merged stack of each stack, by stack number.
static uint32_t *merge_stacks(struct merged *m, const struct profile *p)
{
	autofree uint32_t *texts = text_of_frames(m, p);
	autofree uint32_t *stacks = calloc(p->stacks.nodes.len, sizeof(*stacks));
	if (!texts || !stacks)
		return NULL;
	for (size_t i = 1; i < p->stacks.nodes.len; i++) {
		const struct stack_node *node = &p->stacks.nodes.at[i];
		stacks[i] = stacks_push(&m->texts->stacks, stacks[node->parent], texts[node->item]);
		if (stacks[i] == STACK_NONE)
			return NULL;
	}
	// A sample without any frame still counts.
	uint32_t no_stack = profile_string(m->texts, STR("[no stack]"));
	if (no_stack == PROFILE_NONE)
		return NULL;
	stacks[STACK_EMPTY] = stacks_push(&m->texts->stacks, STACK_EMPTY, no_stack);
	return stacks[STACK_EMPTY] != STACK_NONE ? take(stacks) : NULL;
}

static struct error *merge(struct merged *m, const struct profile *p)
{
	struct error *err = profile_new(&m->texts);
	if (err)
		return err;
	autofree uint32_t *stacks = merge_stacks(m, p);
	if (!stacks ||
	    !tree_init(&m->tree, &m->texts->stacks, /* rank= */ NULL, m->texts->strings.len))
		return &error_no_memory;
	for (size_t i = 0; i < p->samples.len; i++)
		m->tree.self[stacks[p->samples.at[i].stack]] += p->samples.at[i].value;
	return NULL;
}

// What is still to be written, innermost last: the line of one stack, or all lines below it.
struct entry {
	struct str text; // of the stack's innermost frame
	uint32_t node;
	bool below;
	size_t prefix; // length of the path in front of it
	uint64_t count;
};

// Byte i of what an entry adds to the lines it stands for: "text COUNT" or "text;". -1 at the end.
static int entry_byte(const struct entry *e, const char *count, size_t i)
{
	if (i < e->text.len)
		return (unsigned char)e->text.ptr[i];
	i -= e->text.len;
	if (e->below)
		return i == 0 ? ';' : -1;
	if (i == 0)
		return ' ';
	return i <= strlen(count) ? (unsigned char)count[i - 1] : -1;
}

// Descending, since the last entry is written first. All lines below one stack begin with the same
// bytes, so they stay together wherever they go.
static int by_line_descending(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	size_t common = MIN(x->text.len, y->text.len);
	int order = memcmp(y->text.ptr, x->text.ptr, common);
	if (order != 0)
		return order;
	char x_count[24], y_count[24];
	snprintf(x_count, sizeof(x_count), "%llu", (unsigned long long)x->count);
	snprintf(y_count, sizeof(y_count), "%llu", (unsigned long long)y->count);
	for (size_t i = common;; i++) {
		int from_x = entry_byte(x, x_count, i), from_y = entry_byte(y, y_count, i);
		if (from_x != from_y || from_x < 0)
			return from_y - from_x;
	}
}

typedef VEC(struct entry) entries;

// Puts the callees of a stack, whose path is `prefix` long, on top of the work to do.
static bool push_callees(entries *work, const struct merged *m, uint32_t node, size_t prefix)
{
	const struct tree *t = &m->tree;
	size_t first = work->len;
	for (uint32_t c = t->first_child[node]; c != 0; c = t->next_sibling[c]) {
		struct entry e = { .text = profile_text(m->texts, t->stacks->nodes.at[c].item),
				   .node = c,
				   .prefix = prefix,
				   .count = t->self[c] };
		if (e.count != 0 && !vec_push(work, e))
			return false;
		e.below = true;
		if (t->first_child[c] != 0 && !vec_push(work, e))
			return false;
	}
	if (work->len - first > 1)
		qsort(work->at + first, work->len - first, sizeof(*work->at), by_line_descending);
	return true;
}

static struct error *write_lines(const struct merged *m, struct out *o, entries *work)
{
	auto_fini(buf) path = { 0 };
	bool ok = push_callees(work, m, STACK_EMPTY, 0);
	while (ok && work->len != 0 && o->errnum == 0) {
		struct entry e = work->at[--work->len];
		path.len = e.prefix;
		buf_str(&path, e.text);
		if (e.below) {
			buf_char(&path, ';');
			ok = !path.failed && push_callees(work, m, e.node, path.len);
			continue;
		}
		ok = !path.failed;
		out_str(o, buf_view(&path));
		out_char(o, ' ');
		out_u64(o, e.count);
		out_char(o, '\n');
	}
	return ok ? out_finish(o) : &error_no_memory;
}

static struct error *write_folded(const struct profile *p, FILE *stream)
{
	auto_fini(merged) m = { 0 };
	struct error *err = merge(&m, p);
	if (err)
		return err;
	struct out o;
	out_init(&o, stream);
	entries work = { 0 };
	err = write_lines(&m, &o, &work);
	vec_fini(&work);
	return err;
}

const struct format format_folded = {
	.name = "folded",
	.extensions = (const char *const[]){ "folded", "collapsed", "txt", NULL },
	.summary = "one line per stack, for flamegraph.pl, inferno, speedscope and text tools",
	.write = write_folded,
};

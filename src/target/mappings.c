// SPDX-License-Identifier: Apache-2.0
#include "target/mappings.h"

// The first mapping that ends after an address, in a list by address.
static size_t first_after(const mapping_vec *list, uint64_t address)
{
	size_t low = 0, high = list->len;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (list->at[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

// The first past mapping that ended after a time.
static size_t past_index(const struct process *p, uint64_t time)
{
	size_t low = 0, high = p->past.len;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (p->past.at[mid].died <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct mapping *process_mapping(const struct process *p, uint64_t address, uint64_t time)
{
	size_t i = first_after(&p->live, address);
	if (i < p->live.len && p->live.at[i].start <= address && p->live.at[i].born <= time)
		return &p->live.at[i];
	for (i = past_index(p, time); i < p->past.len; i++) {
		const struct mapping *m = &p->past.at[i];
		if (m->start <= address && address < m->end && m->born <= time)
			return m;
	}
	return NULL;
}

bool mappings_overlap(const struct process *p, uint64_t start, uint64_t end)
{
	size_t i = first_after(&p->live, start);
	return i < p->live.len && p->live.at[i].start < end;
}

// The same bytes of the same file, as far as they overlap. The offset of memory without a file says
// nothing.
static bool same_content(const struct mapping *a, const struct mapping *b)
{
	return a->file == b->file &&
	       (a->file == FILE_ANONYMOUS || a->offset - a->start == b->offset - b->start);
}

bool mappings_know(const struct process *p, const struct mapping *m)
{
	size_t i = first_after(&p->live, m->start);
	return i < p->live.len && p->live.at[i].start <= m->start && m->end <= p->live.at[i].end &&
	       same_content(&p->live.at[i], m);
}

struct error *mappings_add_past(struct process *p, const struct mapping *m)
{
	// Nobody could ask for it.
	if (m->died <= m->born)
		return NULL;
	if (!vec_reserve(&p->past, 1))
		return &error_no_memory;
	size_t i = past_index(p, m->died);
	memmove(p->past.at + i + 1, p->past.at + i, (p->past.len - i) * sizeof(*m));
	p->past.at[i] = *m;
	p->past.len++;
	return NULL;
}

static struct error *end_mapping(struct process *p, const struct mapping *m, uint64_t time)
{
	struct mapping ended = *m;
	ended.died = time;
	return mappings_add_past(p, &ended);
}

// The part of m in [start, end).
static struct mapping piece(const struct mapping *m, uint64_t start, uint64_t end)
{
	struct mapping part = *m;
	part.start = start;
	part.end = end;
	part.offset += start - m->start;
	return part;
}

// Puts `with` in the place of live.at[first .. last).
static struct error *splice(struct process *p, size_t first, size_t last, const mapping_vec *with)
{
	if (!vec_reserve(&p->live, with->len))
		return &error_no_memory;
	struct mapping *at = p->live.at;
	memmove(at + first + with->len, at + last, (p->live.len - last) * sizeof(*at));
	memcpy(at + first, with->at, with->len * sizeof(*at));
	p->live.len = p->live.len - (last - first) + with->len;
	p->generation++;
	return NULL;
}

struct error *mappings_add(struct process *p, const struct mapping *m)
{
	if (m->start >= m->end || mappings_know(p, m))
		return NULL;
	// What begins before m and what ends after it stays, in pieces. The pieces keep their
	// birth, so that only the covered part needs a past.
	struct mapping pieces[3];
	mapping_vec with = { .at = pieces };
	size_t first = first_after(&p->live, m->start), last = first;
	if (first < p->live.len && p->live.at[first].start < m->start)
		pieces[with.len++] = piece(&p->live.at[first], p->live.at[first].start, m->start);
	pieces[with.len] = *m;
	pieces[with.len++].died = MAPPING_ALIVE;
	for (; last < p->live.len && p->live.at[last].start < m->end; last++) {
		const struct mapping *old = &p->live.at[last];
		struct mapping covered =
			piece(old, MAX(old->start, m->start), MIN(old->end, m->end));
		struct error *err = end_mapping(p, &covered, m->born);
		if (err)
			return err;
	}
	if (last > first && p->live.at[last - 1].end > m->end)
		pieces[with.len++] = piece(&p->live.at[last - 1], m->end, p->live.at[last - 1].end);
	return splice(p, first, last, &with);
}

struct error *mappings_end_all(struct process *p, uint64_t time)
{
	vec_each (m, &p->live) {
		struct error *err = end_mapping(p, m, time);
		if (err)
			return err;
	}
	vec_clear(&p->live);
	p->generation++;
	return NULL;
}

// A piece of a mapping that lies wholly inside one mapping of another list, or outside of all.
struct part {
	struct mapping piece;
	const struct mapping *in; // NULL if outside
	bool same;                // and that has the same content
};

// Walks m from *cursor (m->start at first) to its end.
static bool next_part(const struct mapping *m, uint64_t *cursor, const mapping_vec *others,
		      struct part *ret)
{
	if (*cursor >= m->end)
		return false;
	size_t i = first_after(others, *cursor);
	const struct mapping *other = i < others->len ? &others->at[i] : NULL;
	bool inside = other && other->start <= *cursor;
	uint64_t end = m->end;
	if (other)
		end = MIN(end, inside ? other->end : other->start);
	*ret = (struct part){ .piece = piece(m, *cursor, end),
			      .in = inside ? other : NULL,
			      .same = inside && same_content(m, other) };
	*cursor = end;
	return true;
}

// When this part of memory last changed hands, as far as known.
static uint64_t last_end(const struct process *p, const struct mapping *m, uint64_t since)
{
	for (size_t i = 0; i < p->past.len; i++) {
		const struct mapping *old = &p->past.at[i];
		if (old->start < m->end && m->start < old->end)
			since = MAX(since, old->died);
	}
	return since;
}

// Appends to a list by address; joins what continues the last one, or a growing heap of generated
// code would become a chain of small pieces.
static bool append(mapping_vec *list, const struct mapping *m)
{
	struct mapping *last = list->len != 0 ? vec_last(list) : NULL;
	if (last && last->end == m->start && last->born == m->born && same_content(last, m)) {
		last->end = m->end;
		return true;
	}
	return vec_push(list, *m);
}

// Ends what is live but not in `now`.
static struct error *end_missing(struct process *p, const mapping_vec *now, uint64_t time,
				 bool *changed)
{
	vec_each (m, &p->live) {
		struct part part;
		for (uint64_t cursor = m->start; next_part(m, &cursor, now, &part);) {
			if (part.same)
				continue;
			struct error *err = end_mapping(p, &part.piece, time);
			if (err)
				return err;
			*changed = true;
		}
	}
	return NULL;
}

struct error *mappings_replace(struct process *p, const mapping_vec *now, uint64_t since,
			       uint64_t time, bool *ret_changed)
{
	mapping_vec merged = { 0 };
	bool changed = false, memory = true;
	for (size_t i = 0; i < now->len; i++) {
		const struct mapping *m = &now->at[i];
		struct part part;
		for (uint64_t cursor = m->start; next_part(m, &cursor, &p->live, &part);) {
			if (part.same)
				part.piece.born = part.in->born;
			else
				part.piece.born = part.in ? time : last_end(p, &part.piece, since);
			part.piece.died = MAPPING_ALIVE;
			changed |= !part.same;
			memory = memory && append(&merged, &part.piece);
		}
	}
	struct error *err = memory ? end_missing(p, now, time, &changed) : &error_no_memory;
	if (err || !changed) {
		vec_fini(&merged);
	} else {
		vec_fini(&p->live);
		p->live = merged;
		p->generation++;
	}
	*ret_changed = changed;
	return err;
}

struct error *mappings_inherit(struct process *child, const struct process *parent, uint64_t time)
{
	if (!vec_reserve(&child->live, parent->live.len))
		return &error_no_memory;
	for (size_t i = 0; i < parent->live.len; i++) {
		const struct mapping *m = &parent->live.at[i];
		if (m->born > time)
			continue;
		struct mapping *copy = &child->live.at[child->live.len++];
		*copy = *m;
		copy->born = time;
	}
	// What the parent replaced since.
	for (size_t i = past_index(parent, time); i < parent->past.len; i++) {
		struct mapping copy = parent->past.at[i];
		if (copy.born > time)
			continue;
		copy.born = time;
		struct error *err = mappings_add(child, &copy);
		if (err)
			return err;
	}
	child->generation++;
	return NULL;
}

void mappings_expire(struct process *p, uint64_t before)
{
	size_t drop = past_index(p, before);
	if (drop == 0)
		return;
	p->past.len -= drop;
	memmove(p->past.at, p->past.at + drop, p->past.len * sizeof(*p->past.at));
}

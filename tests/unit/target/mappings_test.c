// SPDX-License-Identifier: Apache-2.0
// The history of mappings against a model that keeps every page at every time.
#include "target/mappings.h"

#include "tests/test.h"

#define PAGES 48
#define STEPS 400
#define PAGE 4096u

// What is at a page: file << 32 | page number in the file; 0 for nothing.
typedef uint64_t model_page;

struct model {
	struct process process;
	model_page at[STEPS][PAGES]; // times count from 1
	unsigned seed;
};

static void model_fini(struct model *m)
{
	vec_fini(&m->process.live);
	vec_fini(&m->process.past);
}

static unsigned pick(struct model *m, unsigned limit)
{
	return (unsigned)rand_r(&m->seed) % limit;
}

static model_page page_of(const struct mapping *m, unsigned page)
{
	if (!m)
		return 0;
	return (uint64_t)m->file << 32 | (m->offset + (uint64_t)page * PAGE - m->start) / PAGE;
}

// Few files and offsets, so that content often repeats.
static struct mapping random_mapping(struct model *m, unsigned step)
{
	unsigned start = pick(m, PAGES), size = 1 + pick(m, PAGES / 4);
	unsigned end = MIN(start + size, (unsigned)PAGES);
	unsigned base = 1000 * pick(m, 2);
	return (struct mapping){ .start = (uint64_t)start * PAGE,
				 .end = (uint64_t)end * PAGE,
				 .offset = ((uint64_t)base + start) * PAGE,
				 .file = 2 + pick(m, 3),
				 .born = step,
				 .died = MAPPING_ALIVE };
}

static void model_put(model_page *at, const struct mapping *m)
{
	for (unsigned page = (unsigned)(m->start / PAGE); page < m->end / PAGE; page++)
		at[page] = page_of(m, page);
}

static struct error *random_add(struct model *m, unsigned step)
{
	struct mapping added = random_mapping(m, step);
	model_put(m->at[step], &added);
	return mappings_add(&m->process, &added);
}

static struct error *random_exec(struct model *m, unsigned step)
{
	memset(m->at[step], 0, sizeof(m->at[step]));
	return mappings_end_all(&m->process, step);
}

// A reading of /proc that shows some of what is known, changed here and there.
static struct error *random_reading(struct model *m, unsigned step)
{
	mapping_vec now = { 0 };
	uint64_t end = 0;
	for (unsigned i = 0; i < 6; i++) {
		struct mapping found = random_mapping(m, step);
		const struct mapping *known =
			process_mapping(&m->process, (uint64_t)pick(m, PAGES) * PAGE, step);
		if (known && pick(m, 2) == 0)
			found = *known;
		if (found.start < end)
			continue;
		end = found.end;
		if (!vec_push(&now, found))
			return &error_no_memory;
	}
	model_page before[PAGES];
	memcpy(before, m->at[step], sizeof(before));
	memset(m->at[step], 0, sizeof(m->at[step]));
	vec_each (one, &now)
		model_put(m->at[step], one);
	bool changed = false;
	struct error *err = mappings_replace(&m->process, &now, /* since= */ step, step, &changed);
	vec_fini(&now);
	if (!err && changed != (memcmp(before, m->at[step], sizeof(before)) != 0))
		return error_new(ERROR_FAILED, "a reading that changed something did not say so");
	return err;
}

static bool model_agrees(const struct model *m, unsigned step)
{
	for (unsigned page = 0; page < PAGES; page++) {
		const struct mapping *found =
			process_mapping(&m->process, (uint64_t)page * PAGE + 17, step);
		if (page_of(found, page) != m->at[step][page])
			return false;
		if (found && (found->born > step || found->died <= step))
			return false;
	}
	return true;
}

static bool in_order(const struct process *p)
{
	for (size_t i = 0; i < p->live.len; i++)
		if (p->live.at[i].start >= p->live.at[i].end ||
		    (i != 0 && p->live.at[i - 1].end > p->live.at[i].start))
			return false;
	for (size_t i = 1; i < p->past.len; i++)
		if (p->past.at[i - 1].died > p->past.at[i].died)
			return false;
	return true;
}

static void run_model(struct model *m)
{
	for (unsigned step = 1; step < STEPS; step++) {
		memcpy(m->at[step], m->at[step - 1], sizeof(m->at[step]));
		unsigned dice = pick(m, 20);
		if (dice == 0)
			CHECK_OK(random_exec(m, step));
		else if (dice < 4)
			CHECK_OK(random_reading(m, step));
		else
			CHECK_OK(random_add(m, step));
		CHECK(in_order(&m->process));
		CHECK(model_agrees(m, step));
	}
	for (unsigned step = 1; step < STEPS; step++)
		CHECK(model_agrees(m, step));
	mappings_expire(&m->process, STEPS / 2);
	for (unsigned step = STEPS / 2; step < STEPS; step++)
		CHECK(model_agrees(m, step));
	struct process child = { 0 };
	CHECK_OK(mappings_inherit(&child, &m->process, STEPS - 50));
	bool same = in_order(&child);
	for (unsigned page = 0; page < PAGES; page++)
		same &= page_of(process_mapping(&child, (uint64_t)page * PAGE, STEPS), page) ==
			m->at[STEPS - 50][page];
	vec_fini(&child.live);
	vec_fini(&child.past);
	CHECK(same);
}

TEST(history_agrees_with_a_model_of_every_page_at_every_time)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		static struct model m;
		m = (struct model){ .seed = seed };
		run_model(&m);
		model_fini(&m);
	}
}

TEST(the_past_can_be_told_late)
{
	struct process p = { 0 };
	struct mapping now = { .start = 0x1000, .end = 0x2000, .file = 2, .born = 50 };
	struct mapping then = { .start = 0x1000, .end = 0x2000, .file = 3, .born = 10, .died = 20 };
	struct mapping never = { .start = 0x1000, .end = 0x2000, .file = 4, .born = 9, .died = 9 };
	auto_(error) err = mappings_add(&p, &now);
	auto_(error) err2 = mappings_add_past(&p, &then);
	auto_(error) err3 = mappings_add_past(&p, &never);
	const struct mapping *m = process_mapping(&p, 0x1800, 15);
	bool right = !err && !err2 && !err3 && m && m->file == 3 && p.past.len == 1 &&
		     !process_mapping(&p, 0x1800, 20) && !process_mapping(&p, 0x1800, 9);
	vec_fini(&p.live);
	vec_fini(&p.past);
	CHECK(right);
}

TEST(new_code_found_where_other_code_was_is_not_older_than_its_end)
{
	struct process p = { 0 };
	struct mapping old = { .start = 0x1000, .end = 0x2000, .file = 2, .born = 10 };
	struct mapping new = { .start = 0x1000, .end = 0x4000, .file = 3 };
	mapping_vec now = { .at = &new, .len = 1 };
	bool changed = false;
	auto_(error) err = mappings_add(&p, &old);
	auto_(error) err2 = mappings_end_all(&p, 20);
	auto_(error) err3 = mappings_replace(&p, &now, /* since= */ 0, /* time= */ 30, &changed);
	const struct mapping *then = process_mapping(&p, 0x1800, 15);
	bool right = !err && !err2 && !err3 && changed && then && then->file == 2 &&
		     process_mapping(&p, 0x1800, 20) && p.live.len == 1;
	vec_fini(&p.live);
	vec_fini(&p.past);
	CHECK(right);
}

TEST(memory_without_a_file_is_the_same_whatever_its_offset)
{
	struct process p = { 0 };
	struct mapping heap = { .start = 0x1000, .end = 0x4000, .born = 10 };
	struct mapping part = { .start = 0x2000, .end = 0x3000, .offset = 0x2000, .born = 20 };
	auto_(error) err = mappings_add(&p, &heap);
	uint32_t generation = p.generation;
	auto_(error) err2 = mappings_add(&p, &part);
	bool right = !err && !err2 && p.generation == generation && p.live.len == 1;
	vec_fini(&p.live);
	vec_fini(&p.past);
	CHECK(right);
}

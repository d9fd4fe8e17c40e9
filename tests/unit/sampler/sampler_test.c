// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "sampler/cpus.h"
#include "sampler/perf_ring.h"
#include "sampler/perf_sample.h"
#include "tests/test.h"

static bool cpus_are(const char *text, size_t count, int last)
{
	cpu_vec cpus = { 0 };
	auto_(error) err = cpus_parse(str_from(text), &cpus);
	bool ok = !err && cpus.len == count && (count == 0 || *vec_last(&cpus) == last);
	vec_fini(&cpus);
	return ok;
}

TEST(cpu_lists_are_read_as_the_kernel_writes_them)
{
	CHECK(cpus_are("0\n", 1, 0));
	CHECK(cpus_are("0-3\n", 4, 3));
	CHECK(cpus_are("0-1,4,6-7\n", 5, 7));
	CHECK(cpus_are("", 0, 0));
	cpu_vec cpus = { 0 };
	CHECK_ERROR(ERROR_MALFORMED, cpus_parse(STR("0-x"), &cpus));
	CHECK_ERROR(ERROR_MALFORMED, cpus_parse(STR("3-1"), &cpus));
	CHECK_ERROR(ERROR_MALFORMED, cpus_parse(STR("0-99999999"), &cpus));
}

struct record {
	_Alignas(8) char bytes[65536];
	size_t len;
};

static void start_record(struct record *r, uint32_t type)
{
	struct perf_event_header h = { .type = type };
	memcpy(r->bytes, &h, sizeof(h));
	r->len = sizeof(h);
}

static void add_u64(struct record *r, uint64_t value)
{
	memcpy(r->bytes + r->len, &value, 8);
	r->len += 8;
}

static const struct perf_event_header *finish(struct record *r)
{
	struct perf_event_header *h = (void *)r->bytes;
	h->size = (uint16_t)r->len;
	return h;
}

TEST(side_events_carry_their_own_time)
{
	static struct record r;
	start_record(&r, PERF_RECORD_FORK);
	add_u64(&r, 7ull << 32 | 42); // pid 42, ppid 7
	add_u64(&r, 7ull << 32 | 42); // tid, ptid
	add_u64(&r, 1);               // the record's own time field
	add_u64(&r, 42);              // trailer: tid
	add_u64(&r, 12345);           // trailer: time
	struct side_event e;
	CHECK(side_event_parse(finish(&r), SIDE_SAMPLE_TYPE, &e));
	CHECK(e.kind == SIDE_FORK && e.pid == 42 && e.parent == 7 && e.time == 12345);
}

TEST(side_events_that_end_early_are_passed_over)
{
	static struct record r;
	struct side_event e;
	for (size_t len = sizeof(struct perf_event_header); len < 80; len += 8) {
		start_record(&r, PERF_RECORD_MMAP2);
		memset(r.bytes + r.len, 'x', 200);
		r.len = len;
		const struct perf_event_header *h = finish(&r);
		bool parsed = side_event_parse(h, SIDE_SAMPLE_TYPE, &e);
		CHECK(!parsed || e.text.ptr + e.text.len <= r.bytes + len);
	}
}

static void sample_record(struct record *r, uint64_t stack_size, uint64_t filled)
{
	start_record(r, PERF_RECORD_SAMPLE);
	add_u64(r, 43ull << 32 | 42); // pid 42, tid 43
	add_u64(r, 1000);             // time
	add_u64(r, 1);                // cpu
	add_u64(r, 3);                // call chain
	add_u64(r, PERF_CONTEXT_KERNEL);
	add_u64(r, 0xffffffff81000010ull);
	add_u64(r, 0xffffffff81000020ull);
	add_u64(r, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i < 17; i++)
		add_u64(r, 0x100 + i);
	add_u64(r, stack_size);
	for (uint64_t i = 0; i < stack_size / 8; i++)
		add_u64(r, i);
	if (stack_size)
		add_u64(r, filled);
}

static const struct perf_sample_shape shape = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
};

TEST(perf_samples_give_registers_by_their_dwarf_numbers_and_the_stack_that_was_filled)
{
	static struct record r;
	static struct perf_sample s;
	sample_record(&r, 64, 24);
	CHECK(perf_sample_parse(finish(&r), &shape, &s));
	CHECK(s.raw.pid == 42 && s.raw.tid == 43 && s.raw.time == 1000 && s.raw.cpu == 1);
	CHECK(s.raw.kernel_count == 2 && s.raw.kernel[1] == 0xffffffff81000020ull);
	CHECK(s.state.pc == 0x108);            // PERF_REG_X86_IP
	CHECK(s.state.regs[X86_RSP] == 0x107); // PERF_REG_X86_SP
	CHECK(s.state.regs[X86_RDX] == 0x103); // PERF_REG_X86_DX
	CHECK(s.state.regs[X86_R15] == 0x110);
	CHECK(s.raw.stack.len == 24);
	CHECK(s.raw.end >= WALK_FINAL_COUNT);
}

TEST(perf_samples_that_end_early_are_refused)
{
	static struct record r;
	static struct perf_sample s;
	sample_record(&r, 64, 64);
	size_t whole = r.len;
	for (size_t len = sizeof(struct perf_event_header); len < whole; len += 8) {
		r.len = len;
		CHECK(!perf_sample_parse(finish(&r), &shape, &s));
	}
	sample_record(&r, 64, 1 << 20); // claims more than there is
	CHECK(perf_sample_parse(finish(&r), &shape, &s) && s.raw.stack.len == 64);
}

static uint64_t order[8];
static size_t ordered;
static void note(void *ctx, const struct side_event *e)
{
	(void)ctx;
	order[ordered++] = e->time;
}

TEST(side_events_of_several_cpus_are_delivered_in_the_order_of_time)
{
	static struct record r;
	struct side_queue q = { 0 };
	static const uint64_t times[] = { 30, 10, 20 };
	for (int i = 0; i < 3; i++) {
		start_record(&r, PERF_RECORD_EXIT);
		for (int j = 0; j < 4; j++)
			add_u64(&r, 1);
		add_u64(&r, times[i]);
		side_queue_add(&q, finish(&r), SIDE_SAMPLE_TYPE);
	}
	ordered = 0;
	side_queue_deliver(&q, &(struct sampler_hooks){ .on_side = note });
	side_queue_fini(&q);
	CHECK(ordered == 3 && order[0] == 10 && order[1] == 20 && order[2] == 30);
}

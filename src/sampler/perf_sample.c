// SPDX-License-Identifier: Apache-2.0
#include "sampler/perf_sample.h"

#include <string.h>

struct cursor {
	const char *at;
	size_t left;
	bool bad;
};

static uint64_t next_u64(struct cursor *c)
{
	uint64_t value = 0;
	if (c->left < sizeof(value)) {
		c->bad = true;
		return 0;
	}
	memcpy(&value, c->at, sizeof(value));
	c->at += sizeof(value);
	c->left -= sizeof(value);
	return value;
}

// Kernel addresses of the call chain; the user's part was excluded.
static void read_chain(struct cursor *c, struct perf_sample *s)
{
	uint64_t count = next_u64(c);
	bool in_kernel = false;
	size_t n = 0;
	for (uint64_t i = 0; i < count && !c->bad; i++) {
		uint64_t address = next_u64(c);
		if (address >= PERF_CONTEXT_MAX) {
			in_kernel = address == PERF_CONTEXT_KERNEL;
			continue;
		}
		if (in_kernel && n < MAX_KERNEL_FRAMES)
			s->kernel[n++] = address;
	}
	s->raw.kernel = s->kernel;
	s->raw.kernel_count = n;
}

static void read_registers(struct cursor *c, struct perf_sample *s)
{
	static const wu8 order[] = ARCH_PERF_REGS;
	uint64_t abi = next_u64(c);
	s->raw.end = WALK_NEED_MEMORY;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE) {
		s->raw.kernel_task = true;
		s->raw.end = WALK_ROOT;
		return;
	}
	for (size_t i = 0; i < sizeof(order); i++) {
		uint64_t value = next_u64(c);
		if (order[i] == ARCH_REG_RA)
			s->state.pc = value;
		else
			s->state.regs[order[i]] = value;
	}
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		s->raw.end = WALK_FOREIGN;
	s->state.known = (1u << ARCH_REG_COUNT) - 1;
	s->state.exact = 1;
	s->state.leaf = 1;
	s->raw.state = &s->state;
}

static void read_stack(struct cursor *c, struct perf_sample *s)
{
	uint64_t size = next_u64(c);
	if (size == 0 || c->bad)
		return;
	if (size + 8 > c->left) {
		c->bad = true;
		return;
	}
	uint64_t filled;
	memcpy(&filled, c->at + size, sizeof(filled));
	s->raw.stack = (struct str){ c->at, filled < size ? filled : size };
}

bool perf_sample_parse(const struct perf_event_header *record,
		       const struct perf_sample_shape *shape, struct perf_sample *ret)
{
	struct cursor c = { (const char *)(record + 1), record->size - sizeof(*record), false };
	ret->raw = (struct raw_sample){ .end = WALK_ROOT };
	memset(&ret->state, 0, sizeof(ret->state));
	uint64_t ids = next_u64(&c);
	ret->raw.pid = (pid_t)(uint32_t)ids;
	ret->raw.tid = (pid_t)(ids >> 32);
	ret->raw.time = next_u64(&c);
	ret->raw.cpu = (uint32_t)next_u64(&c);
	if (shape->sample_type & PERF_SAMPLE_CALLCHAIN)
		read_chain(&c, ret);
	read_registers(&c, ret);
	if (!ret->raw.kernel_task)
		read_stack(&c, ret);
	return !c.bad;
}

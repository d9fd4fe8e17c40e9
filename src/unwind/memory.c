// SPDX-License-Identifier: Apache-2.0
#include "unwind/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/cleanup.h"

// How much of the copy's far end must still be the same in the process.
#define OVERLAP 1024u
// And how many frames must be in that.
#define FRAMES_TO_TRUST 4u
// How far beyond the copy the same stack may reach.
#define BEYOND_MAX (64u << 20)

void stack_memory_init(struct stack_memory *m, pid_t pid, uint64_t start, struct str copy)
{
	uint64_t far_end = start + copy.len - MIN(copy.len, (size_t)OVERLAP);
	*m = (struct stack_memory){ .pid = pid, .start = start, .copy = copy, .far_end = far_end };
}

void stack_memory_fini(struct stack_memory *m)
{
	free(m->block);
	m->block = NULL;
}

bool process_memory_read(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };
	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

void stack_memory_note_return(struct stack_memory *m, uint64_t address)
{
	if (address >= m->far_end && address < m->start + m->copy.len)
		m->returns++;
}

// The frames beyond the copy are older than those in it. For them to have changed since the sample,
// the ones at the copy's far end must have returned. If those bytes are as they were, and several
// frames are in them, nothing did; unless just the same frames were built up there again. (A large
// local variable at the far end would be the same whatever happened.)
static bool still_the_same(const struct stack_memory *m)
{
	unsigned char now[OVERLAP];
	size_t size = MIN(m->copy.len, sizeof(now));
	size_t from = m->copy.len - size;
	return m->returns >= FRAMES_TO_TRUST &&
	       process_memory_read(m->pid, m->start + from, now, size) &&
	       memcmp(now, m->copy.ptr + from, size) == 0;
}

static bool read_block(struct stack_memory *m, uint64_t address, uint64_t *ret)
{
	uint64_t at = address & ~(uint64_t)(LIVE_BLOCK - 1);
	if (address - at > LIVE_BLOCK - 8)
		return process_memory_read(m->pid, address, ret, sizeof(*ret));
	if (!m->block && !(m->block = malloc(LIVE_BLOCK)))
		return false;
	if (m->block_at != at) {
		m->block_at = process_memory_read(m->pid, at, m->block, LIVE_BLOCK) ? at : 0;
		if (m->block_at == 0)
			return false;
	}
	memcpy(ret, m->block + (address - at), sizeof(*ret));
	return true;
}

bool stack_memory_read(struct stack_memory *m, uint64_t address, uint64_t *ret)
{
	uint64_t in_copy = address - m->start;
	if (address >= m->start && m->copy.len >= 8 && in_copy <= m->copy.len - 8) {
		memcpy(ret, m->copy.ptr + in_copy, sizeof(*ret));
		return true;
	}
	// Only what lies beyond the copy is shown to be unchanged by it, not some other stack.
	if (address < m->start || in_copy - m->copy.len > BEYOND_MAX) {
		m->unproven = true;
		return read_block(m, address, ret);
	}
	if (m->live == LIVE_UNTRIED)
		m->live = still_the_same(m) ? LIVE_TRUSTED : LIVE_REFUSED;
	return m->live == LIVE_TRUSTED && read_block(m, address, ret);
}

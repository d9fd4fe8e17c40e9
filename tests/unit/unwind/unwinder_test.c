// SPDX-License-Identifier: Apache-2.0
// The unwinder on a real process: a child that stands still in a known chain of calls, with its
// registers from ptrace and a copy of its stack.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "target/files.h"
#include "target/process.h"
#include "tests/test.h"
#include "unwind/call_site.h"
#include "unwind/memory.h"
#include "unwind/unwinder.h"

#ifdef __clang__
#define noclone // gcc's; clang makes no clones
#endif

#define DEPTH 40

#if defined(__clang__)
#define NEVER_INLINED __attribute__((noinline))
#else
#define NEVER_INLINED __attribute__((noinline, noclone))
#endif

// Not inlined, not turned into a loop, not a tail call.
NEVER_INLINED static int innermost(volatile int *stage)
{
	*stage = 1;
	raise(SIGSTOP);
	while (*stage != 0)
		(*stage)++;
	return *stage;
}

NEVER_INLINED static int descend(int depth, volatile int *stage)
{
	volatile char filler[48 + 16 * (DEPTH % 3)];
	filler[0] = (char)depth;
	int result = depth == 0 ? innermost(stage) : descend(depth - 1, stage);
	return result + filler[0];
}

struct fixture {
	pid_t child;
	struct files *files;
	struct processes *processes;
	struct unwinder *unwinder;
	struct map objects;
	int pages;
};

static struct object *object_of(void *ctx, uint32_t file)
{
	struct fixture *f = ctx;
	bool fresh;
	uint64_t *slot = map_put(&f->objects, file, &fresh);
	if (fresh && file > FILE_VDSO) {
		int fd;
		struct object *obj = NULL;
		auto_(error) err = files_open(f->files, file, &fd);
		if (!err) {
			struct object_opts opts = { .path = files_path(f->files, file),
						    .root = "" };
			auto_(error) bad = object_open_consume_fd(fd, &opts, &obj);
		}
		*slot = (uintptr_t)obj;
	}
	return (struct object *)(uintptr_t)*slot;
}

static bool refresh(void *ctx, struct process *p)
{
	(void)ctx, (void)p;
	return false;
}

static void on_page(void *ctx, const struct wire_page_key *key, const struct row_page *page)
{
	(void)key, (void)page;
	((struct fixture *)ctx)->pages++;
}

static struct error *fixture_open(struct fixture *f)
{
	f->child = fork();
	if (f->child == 0) {
		volatile int stage = 0;
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		_exit(descend(DEPTH, &stage));
	}
	int status;
	waitpid(f->child, &status, 0);
	struct error *err = files_new(&f->files);
	if (!err)
		err = processes_new(f->files, &f->processes);
	if (!err)
		err = unwinder_new(&(struct unwinder_hooks){ object_of, refresh, on_page, f },
				   &f->unwinder);
	return err;
}

static void fixture_fini(struct fixture *f)
{
	kill(f->child, SIGKILL);
	waitpid(f->child, NULL, 0);
	unwinder_free(f->unwinder);
	processes_free(f->processes);
	files_free(f->files);
	for (struct map_slot *o = map_first(&f->objects); o; o = map_next(&f->objects, o))
		object_free((struct object *)(uintptr_t)o->value);
	map_fini(&f->objects);
}

static struct walk_state state_of(pid_t child)
{
	struct user_regs_struct r;
	ptrace(PTRACE_GETREGS, child, 0, &r);
	struct walk_state s = { .pc = r.rip, .known = 0xffff, .exact = 1, .leaf = 1 };
	s.regs[X86_RBX] = r.rbx;
	s.regs[X86_RBP] = r.rbp;
	s.regs[X86_RSP] = r.rsp;
	s.regs[X86_R12] = r.r12;
	s.regs[X86_R13] = r.r13;
	s.regs[X86_R14] = r.r14;
	s.regs[X86_R15] = r.r15;
	return s;
}

// How many frames are in this function, and was the outermost frame reached?
static int walk_and_count(struct fixture *f, size_t copy_size, struct str function,
			  enum walk_end *ret_end)
{
	wu64 frames[MAX_FRAMES];
	size_t count = 0;
	int found = 0;
	struct walk_state state = state_of(f->child);
	autofree char *copy = malloc(copy_size + 1);
	size_t got = 0;
	while (got < copy_size &&
	       process_memory_read(f->child, state.regs[X86_RSP] + got, copy + got, 8))
		got += 8;
	struct process *p = processes_find(f->processes, f->child, clock_now());
	if (!p)
		return -1;
	struct unwind_input in = {
		.process = p, .time = clock_now(), .state = &state, .stack = { copy, got }
	};
	*ret_end = unwinder_walk(f->unwinder, &in, frames, &count, MAX_FRAMES);
	for (size_t i = 0; i < count; i++) {
		const struct mapping *m = process_mapping(p, frames[i], clock_now());
		struct object *obj = m ? object_of(f, m->file) : NULL;
		struct symbol symbol;
		if (obj && object_symbol(obj, frames[i] - m->start + m->offset, &symbol) &&
		    str_eq(symbol.name, function))
			found++;
	}
	return found;
}

TEST(unwinder_walks_a_real_process_from_a_copy_of_its_stack)
{
	__attribute__((cleanup(fixture_fini))) struct fixture f = { 0 };
	CHECK_OK(fixture_open(&f));
	enum walk_end end;
	CHECK(walk_and_count(&f, 65536, STR("descend"), &end) == DEPTH + 1);
	CHECK(end == WALK_ROOT);
	CHECK(f.pages > 0);
}

TEST(unwinder_goes_on_in_the_process_where_the_copy_ends)
{
	__attribute__((cleanup(fixture_fini))) struct fixture f = { 0 };
	CHECK_OK(fixture_open(&f));
	enum walk_end end;
	CHECK(walk_and_count(&f, 1024, STR("descend"), &end) == DEPTH + 1);
	CHECK(end == WALK_ROOT);
}

// A copy of the first 2 KiB of a stack, with so many return addresses at its far end.
static struct stack_memory copied(const unsigned char *stack, const char *copy, int returns)
{
	struct stack_memory m;
	stack_memory_init(&m, getpid(), (uintptr_t)stack, (struct str){ copy, 2048 });
	for (int i = 0; i < returns; i++)
		stack_memory_note_return(&m, (uintptr_t)stack + 1500 + 16 * (unsigned)i);
	return m;
}

TEST(memory_beyond_the_copy_is_refused_when_the_stack_may_have_changed_since)
{
	static unsigned char stack[8192];
	static char copy[2048];
	uint64_t value;
	memset(stack, 7, sizeof(stack));
	memcpy(copy, stack, sizeof(copy));
	struct stack_memory m = copied(stack, copy, 4);
	CHECK(stack_memory_read(&m, (uintptr_t)stack + 16, &value));
	CHECK(stack_memory_read(&m, (uintptr_t)stack + 4096, &value));
	CHECK(value == 0x0707070707070707ull && !m.unproven);
	stack_memory_fini(&m);
	// All the same, but hardly a frame in it: a large variable would look like this.
	m = copied(stack, copy, 3);
	CHECK(!stack_memory_read(&m, (uintptr_t)stack + 4096, &value));
	stack_memory_fini(&m);
	stack[2000] = 8; // near the copy's far end
	m = copied(stack, copy, 4);
	CHECK(stack_memory_read(&m, (uintptr_t)stack + 16, &value));
	CHECK(!stack_memory_read(&m, (uintptr_t)stack + 4096, &value));
	stack_memory_fini(&m);
}

TEST(memory_of_another_stack_is_marked_as_unproven)
{
	static unsigned char stack[4096], other[4096];
	uint64_t value;
	struct str copy = { (const char *)stack, 1024 };
	struct stack_memory m;
	uintptr_t high = MAX((uintptr_t)stack, (uintptr_t)other);
	uintptr_t low = MIN((uintptr_t)stack, (uintptr_t)other);
	stack_memory_init(&m, getpid(), high, copy);
	CHECK(stack_memory_read(&m, high + 8, &value) && !m.unproven);
	CHECK(stack_memory_read(&m, low, &value) && m.unproven);
	stack_memory_fini(&m);
}

// Return addresses of real calls in this program.
static void *volatile last_return;
NEVER_INLINED static void note_return(void)
{
	last_return = __builtin_return_address(0);
}
NEVER_INLINED static void other_function(void)
{
	last_return = NULL;
}

static struct code_place place_of(struct fixture *f, const struct process *p, const void *address)
{
	const struct mapping *m = process_mapping(p, (uintptr_t)address, clock_now());
	if (!m)
		return (struct code_place){ 0 };
	return (struct code_place){ .object = object_of(f, m->file),
				    .offset = (uintptr_t)address - m->start + m->offset,
				    .address = (uintptr_t)address };
}

TEST(a_call_site_fits_only_the_function_it_calls)
{
	__attribute__((cleanup(fixture_fini))) struct fixture f = { 0 };
	CHECK_OK(fixture_open(&f));
	const struct process *p = processes_find(f.processes, getpid(), clock_now());
	CHECK(p);
	other_function();
	note_return();
	struct code_place site = place_of(&f, p, last_return);
	struct code_place called = place_of(&f, p, (const char *)(uintptr_t)note_return + 3);
	struct code_place other = place_of(&f, p, (const char *)(uintptr_t)other_function + 3);
	struct code_place no_call = place_of(&f, p, (const char *)(uintptr_t)note_return + 1);
	CHECK(site.object && called.object);
	CHECK(call_site_fits(&site, &called));
	CHECK(!call_site_fits(&site, &other));
	CHECK(!call_site_fits(&no_call, &called));
}

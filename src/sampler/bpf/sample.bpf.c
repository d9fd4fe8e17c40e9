// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Runs on every tick of the per-CPU sampling event: is it a process we follow? Then the kernel
// stack, the user stack by the walker of unwind/walk.h, and off through the ring buffer. Nothing
// is stopped, nothing is signalled, nothing in the target is written.
//
// What the walker needs (mappings, unwind rows) user space has put into tables. What is not there
// yet is handed over: the sample then carries the registers of the frame that could not be walked
// and a copy of the stack from there on, and user space finishes it and fills the table.
#include "sampler/bpf/host.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// Set before loading.
const volatile wu8 follow_all; // the whole machine
const volatile wu8 follow_children;
const volatile wu8 want_kernel;

// How deep our own pid namespace is: processes are numbered as it sees them.
wu32 ns_level;
// Read by user space.
wu64 samples_lost;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TABLE_FOLLOWED);
	__type(key, wu32); // pid
	__type(value, wu8);
} followed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

// One entry a CPU; user space sets the number of entries. (A per-CPU map's values may not be this
// large.) A tick is not interrupted by another on the same CPU, so it has the memory to itself.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, wu32);
	__type(value, struct walk_host);
} scratch SEC(".maps");

struct walk_loop {
	struct walk_host *host;
};

static long walk_loop_step(wu32 i, struct walk_loop *loop)
{
	struct walk_host *h = loop->host;
	h->end = walk_step(h, &h->state);
	return h->end != WALK_GO_ON;
}

static __always_inline void walk_user(struct walk_host *h, wu32 pid)
{
#define SET_REG(number, field) h->state.regs[number] = h->regs.field;
	ARCH_PT_REGS(SET_REG)
	h->state.pc = ARCH_PT_REGS_PC(&h->regs);
	h->state.known = (1u << ARCH_REG_COUNT) - 1;
	h->state.exact = 1;
	h->state.leaf = 1;
	if (!ARCH_PT_REGS_64BIT(&h->regs)) {
		h->end = WALK_FOREIGN;
		return;
	}
	struct wire_process *process = bpf_map_lookup_elem(&processes, &pid);
	h->mapping_first = process ? process->first : 0;
	h->mapping_count = process ? process->count : 0;
	h->sample.as_of = process ? process->as_of : 0;
	h->place.end = 0;
	h->window_at = 0;
	h->end = WALK_TOO_DEEP;
	struct walk_loop loop = { .host = h };
	bpf_loop(MAX_FRAMES + 1, walk_loop_step, &loop, 0);
	if (h->end == WALK_GO_ON)
		h->end = WALK_TOO_DEEP;
}

// The stack from the state's stack pointer upwards, page by page until one is not there.
struct copy_loop {
	struct walk_host *host;
	wu64 from;
	wu32 word; // index into words[] where the copy starts
	wu32 done; // bytes
};

static long copy_loop_step(wu32 i, struct copy_loop *c)
{
	struct walk_host *h = c->host;
	wu64 from = c->from + c->done;
	wu64 at = (wu64)c->word * 8 + c->done;
	wu64 size = 4096 - (from & 4095);
	if (c->done > STACK_COPY_MAX - 4096 || at > ALL_WORDS * 8 - 4096 || size > 4096)
		return 1;
	if (bpf_probe_read_user((char *)h->words + at, size, (void *)from) != 0)
		return 1;
	c->done += size;
	return 0;
}

// Appends what another host needs to go on; returns the number of words added.
static __always_inline wu32 hand_over(struct walk_host *h, wu32 at)
{
	if (at > FRAME_WORDS)
		return 0;
	__builtin_memcpy(&h->words[at], &h->state, sizeof(h->state));
	struct copy_loop copy = { .host = h,
				  .from = h->state.regs[ARCH_REG_SP],
				  .word = at + STATE_WORDS };
	bpf_loop(STACK_COPY_MAX / 4096 + 1, copy_loop_step, &copy, 0);
	h->sample.stack_size = copy.done & ~7u;
	return STATE_WORDS + copy.done / 8;
}

// A task's number as our own pid namespace sees it; 0 if it does not.
static __always_inline wu32 task_number(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid upid = {};
	if (!pid || BPF_CORE_READ(pid, level) < ns_level)
		return 0;
	// numbers[] are as large as the running kernel says.
	wu32 stride = bpf_core_type_size(struct upid);
	char *first = (char *)pid + bpf_core_field_offset(struct pid, numbers);
	bpf_core_read(&upid, sizeof(upid), first + stride * ns_level);
	return upid.nr;
}

static __always_inline wu32 process_number(struct task_struct *task)
{
	return ns_level == 0 ? (wu32)BPF_CORE_READ(task, tgid)
			     : task_number(BPF_CORE_READ(task, group_leader));
}

static __always_inline void send(struct walk_host *h, wu32 words)
{
	if (words > ALL_WORDS)
		return;
	// User space looks by itself now and then: it is woken only if the ring fills, or to fill a
	// table, so that the next sample can be walked here.
	wu64 flags = BPF_RB_NO_WAKEUP;
	if (h->sample.end >= WALK_FINAL_COUNT ||
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 4)
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&ring, &h->sample, sizeof(h->sample) + words * 8ull, flags) != 0)
		__sync_fetch_and_add(&samples_lost, 1);
}

static __always_inline void fill_header(struct walk_host *h, wu32 pid, wu32 tid, wu32 cpu)
{
	h->sample.time = bpf_ktime_get_ns();
	h->sample.pid = pid;
	h->sample.tid = tid;
	h->sample.cpu = cpu;
	h->sample.kernel_frames = 0;
	h->sample.user_frames = 0;
	h->sample.stack_size = 0;
	h->sample.as_of = 0;
	h->sample.end = WALK_ROOT;
	bpf_get_current_comm(h->sample.comm, sizeof(h->sample.comm));
}

// The interrupted registers. The context only looks like a struct in memory: the verifier makes
// each load of a whole word from it one from where the kernel keeps that register. A helper that is
// given the context's address reads something else.
static __always_inline void read_regs(struct pt_regs *regs, const struct bpf_perf_event_data *ctx)
{
	const volatile wu64 *from = (const volatile wu64 *)&ctx->regs;
	wu64 *to = (wu64 *)regs;
	WALK_UNROLL
	for (wu32 i = 0; i < sizeof(*regs) / sizeof(*to); i++)
		to[i] = from[i];
}

SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	wu64 id = bpf_get_current_pid_tgid();
	if (id == 0)
		return 0; // idle
	wu32 pid = ns_level == 0 ? (wu32)(id >> 32) : process_number(task);
	if (pid == 0 || (!follow_all && !bpf_map_lookup_elem(&followed, &pid)))
		return 0;
	wu32 cpu = bpf_get_smp_processor_id();
	struct walk_host *h = bpf_map_lookup_elem(&scratch, &cpu);
	if (!h)
		return 0;
	fill_header(h, pid, ns_level == 0 ? (wu32)id : task_number(task), cpu);

	read_regs(&h->regs, ctx);
	int in_kernel = !ARCH_PT_REGS_USER_MODE(&h->regs);
	if (in_kernel && want_kernel) {
		long bytes = bpf_get_stack(ctx, h->words, MAX_KERNEL_FRAMES * 8, 0);
		if (bytes > 0)
			h->sample.kernel_frames = bytes / 8;
	}
	wu32 flags = BPF_CORE_READ(task, flags);
	h->sample.kernel_task =
		(flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER | PF_EXITING)) != 0;
	if (!h->sample.kernel_task) {
		if (in_kernel) {
			long entry = bpf_task_pt_regs(bpf_get_current_task_btf());
			bpf_probe_read_kernel(&h->regs, sizeof(h->regs), (void *)entry);
		}
		walk_user(h, pid);
		h->sample.end = h->end;
	}
	wu32 words = h->sample.kernel_frames + h->sample.user_frames;
	if (h->sample.end >= WALK_FINAL_COUNT)
		words += hand_over(h, words);
	send(h, words);
	return 0;
}

// A child is followed from before its first instruction, and nobody for the number of another.
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	wu8 yes = 1;
	wu32 from = process_number(parent), to = process_number(child);
	if (from == to || to == 0)
		return 0; // a thread
	if (follow_children && bpf_map_lookup_elem(&followed, &from))
		bpf_map_update_elem(&followed, &to, &yes, BPF_ANY);
	else
		bpf_map_delete_elem(&followed, &to); // who had the number before is gone
	return 0;
}

// Another program, other mappings: nothing that is known of the old ones may be used on the new.
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	wu32 pid = process_number(task);
	bpf_map_delete_elem(&processes, &pid);
	return 0;
}

// The last thread of a process is about to go. It still has its memory to give back, which is time
// of its own: user space stops following it a while after it learnt of the end.
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	if (BPF_CORE_READ(task, signal, live.counter) != 0)
		return 0;
	wu32 pid = process_number(task);
	bpf_map_delete_elem(&processes, &pid);
	return 0;
}

// Run once, by us, before anything else.
SEC("syscall")
int find_ns_level(void *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	ns_level = BPF_CORE_READ(task, thread_pid, level);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Engine bpf: one sampling event a CPU, a program on it that walks stacks in the kernel, a ring
// buffer of finished samples; and the tables the program works with (bpf_tables.c).
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/vec.h"
#include "sampler/bpf_tables.h"
#include "sampler/cpu_event.h"
#include "sampler/cpus.h"
#include "sampler/family.h"
#include "sampler/probe.h"
#include "sampler/sampler.h"
#include "sampler/side.h"

// Generated from bpf/sample.bpf.c, by a generator that is not as strict as we are.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "sample.skel.h"
#pragma GCC diagnostic pop

struct bpf_sampler {
	struct sampler base;
	struct sampler_hooks hooks;
	struct sample_bpf *skel;
	struct bpf_tables tables;
	struct side *side;
	struct ring_buffer *ring;
	uint64_t side_until; // what processes did up to this time has been delivered
	int epoll_fd;
	VEC(int) events; // one a CPU
};

static struct bpf_sampler *of(struct sampler *s)
{
	return (struct bpf_sampler *)s;
}

static void drain_side(struct bpf_sampler *b)
{
	uint64_t now = clock_now();
	side_drain(b->side, &b->hooks);
	b->side_until = now;
}

// The kernel program wrote it, but it costs nothing to check it all the same.
static bool sample_fits(const struct wire_sample *w, size_t size)
{
	size_t frames = (size_t)w->kernel_frames + w->user_frames;
	size_t need = sizeof(*w) + frames * 8;
	if (w->end >= WALK_FINAL_COUNT)
		need += sizeof(struct walk_state) + w->stack_size;
	return size >= sizeof(*w) && w->end < WALK_END_COUNT && size >= need;
}

static int on_ring(void *ctx, void *data, size_t size)
{
	struct bpf_sampler *b = ctx;
	const struct wire_sample *w = data;
	if (!sample_fits(w, size))
		return 0;
	if (w->time > b->side_until)
		drain_side(b);
	const wu64 *words = (const wu64 *)(w + 1);
	struct raw_sample sample = { .time = w->time,
				     .pid = (pid_t)w->pid,
				     .tid = (pid_t)w->tid,
				     .cpu = w->cpu,
				     .comm = w->comm,
				     .kernel_task = w->kernel_task,
				     .as_of = w->as_of,
				     .kernel = words,
				     .kernel_count = w->kernel_frames,
				     .user = words + w->kernel_frames,
				     .user_count = w->user_frames,
				     .end = w->end };
	if (w->end >= WALK_FINAL_COUNT) {
		sample.state = (const void *)(sample.user + sample.user_count);
		sample.stack = (struct str){ (const char *)(sample.state + 1), w->stack_size };
	}
	b->hooks.on_sample(b->hooks.ctx, &sample);
	return 0;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

printf_like(2, 0) static int to_stderr(enum libbpf_print_level level, const char *format,
				       va_list args)
{
	(void)level;
	return vfprintf(stderr, format, args);
}

static struct error *load(struct bpf_sampler *b, const struct sampler_opts *opts)
{
	libbpf_set_print(getenv("WICK_DEBUG_BPF") ? to_stderr : quiet);
	b->skel = sample_bpf__open();
	if (!b->skel)
		return error_sys(errno, "open the BPF programs");
	b->skel->rodata->follow_all = opts->whole_machine;
	b->skel->rodata->follow_children = opts->children;
	b->skel->rodata->want_kernel = opts->kernel;
	bpf_program__set_autoload(b->skel->progs.on_fork, !opts->whole_machine);
	bpf_map__set_max_entries(b->skel->maps.scratch, (unsigned)cpus_possible());
	int result = sample_bpf__load(b->skel);
	if (result != 0)
		return error_hint(
			error_sys(-result, "load the BPF programs"),
			"WICK_DEBUG_BPF=1 shows what the kernel says; --engine perf works without");
	LIBBPF_OPTS(bpf_test_run_opts, run);
	result = bpf_prog_test_run_opts(bpf_program__fd(b->skel->progs.find_ns_level), &run);
	if (result != 0)
		return error_sys(-result, "run a BPF program");
	result = sample_bpf__attach(b->skel);
	if (result != 0)
		return error_sys(-result, "attach the BPF programs");
	return NULL;
}

// The program on fork is attached by now: from here on the kernel adds the process's children.
static struct error *follow(void *ctx, pid_t target)
{
	struct bpf_sampler *b = ctx;
	const uint8_t yes = 1;
	uint32_t pid = (uint32_t)target;
	if (bpf_map_update_elem(bpf_map__fd(b->skel->maps.followed), &pid, &yes, BPF_ANY) != 0)
		return error_sys(errno, "follow process %u", pid);
	return NULL;
}

static struct error *open_events(struct bpf_sampler *b, uint64_t period_ns)
{
	bool hardware = probe_hardware_cycles();
	cpu_vec cpus = { 0 };
	struct error *err = cpus_online(&cpus);
	vec_each (cpu, &cpus) {
		if (err)
			break;
		struct perf_event_attr attr = { 0 };
		cpu_event_attr(&attr, period_ns, hardware);
		int fd = perf_event_open(&attr, /* pid= */ -1, *cpu, /* group= */ -1, 0);
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0)
			err = error_sys(errno, "sample CPU %d", *cpu);
		else if (!vec_push(&b->events, fd))
			err = &error_no_memory;
		else if (ioctl(fd, PERF_EVENT_IOC_SET_BPF,
			       bpf_program__fd(b->skel->progs.on_tick)) != 0)
			err = error_sys(errno, "attach the BPF program to CPU %d", *cpu);
	}
	vec_fini(&cpus);
	return err;
}

static struct error *watch(struct bpf_sampler *b)
{
	b->ring = ring_buffer__new(bpf_map__fd(b->skel->maps.ring), on_ring, b, /* opts= */ NULL);
	if (!b->ring)
		return error_sys(errno, "map the ring buffer");
	b->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (b->epoll_fd < 0)
		return error_sys(errno, "epoll");
	struct epoll_event event = { .events = EPOLLIN };
	if (epoll_ctl(b->epoll_fd, EPOLL_CTL_ADD, ring_buffer__epoll_fd(b->ring), &event) != 0)
		return error_sys(errno, "watch the ring buffer");
	return side_watch(b->side, b->epoll_fd);
}

static void bpf_free(struct sampler *s)
{
	struct bpf_sampler *b = of(s);
	vec_each (fd, &b->events)
		close(*fd);
	vec_fini(&b->events);
	ring_buffer__free(b->ring);
	if (b->epoll_fd >= 0)
		close(b->epoll_fd);
	side_free(b->side);
	bpf_tables_fini(&b->tables);
	sample_bpf__destroy(b->skel);
	free(b);
}

static struct error *bpf_open(const struct sampler_opts *opts, struct sampler **ret)
{
	struct bpf_sampler *b = calloc(1, sizeof(*b));
	if (!b)
		return &error_no_memory;
	b->base.ops = &sampler_bpf;
	b->hooks = opts->hooks;
	b->epoll_fd = -1;
	auto_(sampler) guard = &b->base;
	struct error *err = side_open(&b->side);
	if (!err)
		err = load(b, opts);
	if (!err)
		err = family_find(opts, follow, b);
	if (!err)
		err = open_events(b, opts->period_ns);
	if (!err)
		err = watch(b);
	if (err)
		return err;
	b->tables = (struct bpf_tables){ .rows = b->skel->bss->rows,
					 .rules = b->skel->bss->rules,
					 .mappings = b->skel->bss->mappings,
					 .pages_fd = bpf_map__fd(b->skel->maps.pages),
					 .processes_fd = bpf_map__fd(b->skel->maps.processes) };
	*ret = take(guard);
	return NULL;
}

static struct error *bpf_start(struct sampler *s)
{
	return perf_events_switch(of(s)->events.at, of(s)->events.len, /* on= */ true);
}

static struct error *bpf_stop(struct sampler *s)
{
	return perf_events_switch(of(s)->events.at, of(s)->events.len, /* on= */ false);
}

static struct error *bpf_poll(struct sampler *s, int timeout_ms)
{
	struct bpf_sampler *b = of(s);
	struct epoll_event event;
	if (epoll_wait(b->epoll_fd, &event, 1, timeout_ms) < 0 && errno != EINTR)
		return error_sys(errno, "wait for samples");
	drain_side(b);
	int result = ring_buffer__consume(b->ring);
	return result < 0 ? error_sys(-result, "read samples") : NULL;
}

static uint64_t bpf_lost(const struct sampler *s)
{
	return __atomic_load_n(&((const struct bpf_sampler *)s)->skel->bss->samples_lost,
			       __ATOMIC_RELAXED);
}

static void publish_rules(struct sampler *s, const struct wire_rule *rules, size_t count)
{
	bpf_tables_put_rules(&of(s)->tables, rules, count);
}

static void publish_page(struct sampler *s, const struct wire_page_key *key,
			 const struct wire_row *rows, size_t count)
{
	bpf_tables_put_page(&of(s)->tables, key, rows, count);
}

static void publish_process(struct sampler *s, const struct published_process *p)
{
	bpf_tables_put_process(&of(s)->tables, p);
}

static bool has_process(struct sampler *s, pid_t pid)
{
	return bpf_tables_has_process(&of(s)->tables, pid);
}

static void forget_process(struct sampler *s, pid_t pid)
{
	bpf_tables_forget_process(&of(s)->tables, pid);
}

static void unfollow(struct sampler *s, pid_t pid)
{
	uint32_t key = (uint32_t)pid;
	bpf_map_delete_elem(bpf_map__fd(of(s)->skel->maps.followed), &key);
}

const struct sampler_ops sampler_bpf = {
	.name = "bpf",
	.open = bpf_open,
	.start = bpf_start,
	.stop = bpf_stop,
	.poll = bpf_poll,
	.lost = bpf_lost,
	.free = bpf_free,
	.publish_rules = publish_rules,
	.publish_page = publish_page,
	.publish_process = publish_process,
	.has_process = has_process,
	.forget_process = forget_process,
	.unfollow = unfollow,
};

// SPDX-License-Identifier: Apache-2.0
#include "recording/recording.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "recording/command.h"
#include "recording/engine.h"
#include "recording/session.h"
#include "target/proc.h"

#define POLL_MS 50
#define OWN_NICE (-10)
#define COMMAND_PATIENCE_MS 1000
#define TERM_PATIENCE_MS 2000
#define TERM_STEP_MS 10
#define PROGRESS_NS (200 * 1000000ull)

struct run {
	const struct recording_opts *opts;
	struct session *session;
	struct command command;
	pid_vec pids;             // the targets themselves
	VEC(struct pollfd) alive; // their pidfds
	struct recording_result result;
};

static void run_fini(struct run *r)
{
	command_fini(&r->command);
	vec_each (p, &r->alive)
		close(p->fd);
	vec_fini(&r->alive);
	vec_fini(&r->pids);
	session_free(r->session);
}
static struct error *no_such_process(pid_t pid, int errnum)
{
	if (errnum == ESRCH)
		return error_hint(error_new(ERROR_GONE, "there is no process %d", pid),
				  "`wick list` shows what runs");
	return error_sys(errnum, "watch process %d", pid);
}

static struct error *watch_target(struct run *r, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return no_such_process(pid, errno);
	if (!vec_push(&r->alive, (struct pollfd){ .fd = fd, .events = POLLIN })) {
		close(fd);
		return &error_no_memory;
	}
	return vec_push(&r->pids, pid) ? NULL : &error_no_memory;
}

static struct error *find_targets(struct run *r)
{
	struct error *err = NULL;
	for (size_t i = 0; i < r->opts->pid_count && !err; i++)
		err = watch_target(r, r->opts->pids[i]);
	if (!err && r->opts->command) {
		err = command_prepare(r->opts->command, &r->command);
		if (!err)
			err = watch_target(r, r->command.pid);
	}
	return err;
}

// For us alone: the command exists already and keeps what it was given.
static void prepare_ourselves(void)
{
	// Files of code stay open, and engine perf needs an event a thread and CPU.
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	// There is little to do, but late it is of less use: samples are lost when their buffer is
	// full, and the kernel walks by mappings that are no longer true. Where it is permitted.
	(void)setpriority(PRIO_PROCESS, 0, OWN_NICE);
}

static struct error *open_sampler(struct run *r)
{
	const struct recording_opts *opts = r->opts;
	struct session *s = r->session;
	struct sampler_opts sampler = { .pids = r->pids.at,
					.pid_count = r->pids.len,
					.whole_machine = opts->whole_machine,
					.children = !opts->no_children,
					.kernel = !opts->no_kernel,
					.period_ns = opts->period_ns,
					.hooks = session_hooks(s) };
	struct error *err =
		engine_open(&sampler, opts->engine, &s->sampler, &s->profile->info.engine_reason);
	if (!err)
		session_publish_all(s);
	return err;
}

static bool targets_gone(struct run *r)
{
	if (r->opts->command)
		return command_ended(&r->command);
	if (r->alive.len == 0)
		return false;
	if (poll(r->alive.at, r->alive.len, 0) <= 0)
		return false;
	vec_each (p, &r->alive)
		if (p->revents == 0)
			return false;
	return true;
}

static void report(struct run *r, uint64_t now, uint64_t *next)
{
	struct session *s = r->session;
	if (!r->opts->on_progress || now < *next)
		return;
	struct recording_progress progress = { .elapsed_ns = now - s->start,
					       .samples = s->collection.samples.len,
					       .lost = s->sampler->ops->lost(s->sampler) };
	r->opts->on_progress(r->opts->ctx, &progress);
	*next = now + PROGRESS_NS;
}

static int time_to_wait(const struct run *r, uint64_t now)
{
	uint64_t end = r->session->start + r->opts->duration_ns;
	if (r->opts->duration_ns == 0)
		return POLL_MS;
	return end > now ? (int)MIN((end - now) / 1000000 + 1, (uint64_t)POLL_MS) : 0;
}

static struct error *sample_until_end(struct run *r)
{
	struct session *s = r->session;
	uint64_t next_report = 0;
	for (;;) {
		uint64_t now = clock_now();
		r->result.stopped = r->opts->stop && *r->opts->stop;
		r->result.targets_exited = targets_gone(r);
		bool over = r->opts->duration_ns != 0 && now >= s->start + r->opts->duration_ns;
		if (r->result.stopped || r->result.targets_exited || over)
			return NULL;
		report(r, now, &next_report);
		struct error *err = s->sampler->ops->poll(s->sampler, time_to_wait(r, now));
		if (err)
			return err;
		session_idle(s);
	}
}

static char *describe_target(const struct run *r)
{
	char *text = NULL;
	if (r->opts->whole_machine)
		return strdup("the whole machine");
	if (r->opts->command)
		return strdup(r->opts->command[0]);
	struct process *p = processes_find(r->session->processes, r->pids.at[0], clock_now());
	int len = r->pids.len > 1
			  ? asprintf(&text, "%zu processes", r->pids.len)
			  : asprintf(&text, "pid %d (%s)", r->pids.at[0], p ? p->comm : "?");
	return len < 0 ? NULL : text;
}

static struct error *take_samples(struct run *r)
{
	struct session *s = r->session;
	struct profile_info *info = &s->profile->info;
	struct timespec wall;
	clock_gettime(CLOCK_REALTIME, &wall);
	info->start_unix_ns = (uint64_t)wall.tv_sec * NS_PER_SEC + (uint64_t)wall.tv_nsec;
	info->event = r->opts->event->name;
	info->unit = r->opts->event->unit;
	info->engine = s->sampler->ops->name;
	info->period = r->opts->period_ns;
	info->target = describe_target(r);
	s->start = clock_now();
	struct error *err = s->sampler->ops->start(s->sampler);
	if (!err && r->opts->command)
		err = command_go(&r->command, r->opts->command[0]);
	if (!err)
		err = sample_until_end(r);
	if (err)
		return err;
	err = s->sampler->ops->stop(s->sampler);
	info->duration_ns = clock_now() - s->start;
	return err ? err : s->sampler->ops->poll(s->sampler, /* timeout_ms= */ 0);
}

// One of the processes that are followed and still there; all of them get the signal.
static pid_t signal_followed(const struct session *s, int signal)
{
	pid_t there = 0;
	for (struct map_slot *f = map_first(&s->followed); f; f = map_next(&s->followed, f))
		if (kill((pid_t)f->key, signal) == 0)
			there = (pid_t)f->key;
	return there;
}

// A program that was started for the recording does not outlive it, nor do its descendants. Ctrl-C
// reaches them too, so they may be about to end by themselves.
static void end_command(struct run *r)
{
	if (!r->opts->command)
		return;
	if (r->result.stopped)
		(void)command_ends_within(&r->command, COMMAND_PATIENCE_MS);
	r->result.command_ended_by_us = !command_ended(&r->command);
	(void)signal_followed(r->session, SIGTERM);
	for (int ms = 0; ms < TERM_PATIENCE_MS; ms += TERM_STEP_MS) {
		bool gone = command_ended(&r->command);
		r->result.command_left = signal_followed(r->session, 0);
		if (gone && r->result.command_left == 0)
			return;
		usleep(TERM_STEP_MS * 1000);
	}
}

struct error *recording_run(const struct recording_opts *opts, struct recording_result *ret)
{
	auto_fini(run) r = { .opts = opts };
	struct error *err = session_new(opts, &r.session);
	if (!err)
		err = find_targets(&r);
	prepare_ourselves();
	if (!err)
		err = open_sampler(&r);
	if (!err)
		err = take_samples(&r);
	if (!err)
		err = session_finish(r.session);
	if (err)
		return err;
	end_command(&r);
	r.result.command_status = command_ended(&r.command) ? r.command.status : -1;
	r.result.profile = take(r.session->profile);
	*ret = r.result;
	return NULL;
}

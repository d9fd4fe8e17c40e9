// SPDX-License-Identifier: Apache-2.0
// What processes did: fork, exec, mmap, exit.
#include "recording/session.h"
#include "target/proc.h"

static bool follows(struct session *s, pid_t pid)
{
	return s->opts->whole_machine || map_get(&s->followed, (uint64_t)pid);
}

static struct error *on_fork(struct session *s, const struct side_event *e)
{
	if (e->pid == e->parent || !follows(s, e->parent))
		return NULL; // a thread, or nobody's child
	if (s->opts->no_children)
		return NULL;
	session_follow(s, e->pid);
	return processes_on_fork(s->processes, e->parent, e->pid, e->time);
}

static struct error *on_mmap(struct session *s, const struct side_event *e)
{
	struct file_sighting sighting = { .dev = e->dev,
					  .ino = e->ino,
					  .path = e->text,
					  .pid = e->pid,
					  .start = e->start,
					  .end = e->end };
	struct mapping m = { .start = e->start,
			     .end = e->end,
			     .offset = e->offset,
			     .born = e->time,
			     .died = MAPPING_ALIVE };
	struct error *err = files_intern(s->files, &sighting, &m.file);
	if (err)
		return err;
	// Its process may not live long enough for the file to be opened later.
	if (m.file > FILE_VDSO)
		files_pin(s->files, m.file);
	return processes_on_mmap(s->processes, e->pid, &m);
}

// The first thread may end before the others: then the process goes on.
static bool is_last_thread(pid_t pid)
{
	pid_vec threads = { 0 };
	auto_(error) err = proc_threads(pid, &threads);
	size_t count = threads.len;
	vec_fini(&threads);
	return count <= 1;
}

static void on_exit_of(struct session *s, const struct side_event *e)
{
	if (e->pid != e->tid || !is_last_thread(e->pid))
		return;
	processes_on_exit(s->processes, e->pid, e->time);
	if (s->sampler->ops->forget_process)
		s->sampler->ops->forget_process(s->sampler, e->pid);
	(void)map_delete(&s->followed, (uint64_t)e->pid);
	(void)vec_push(&s->ended, (struct ended){ e->pid, e->time });
}

static void republish(struct session *s, const struct side_event *e)
{
	const struct sampler_ops *ops = s->sampler->ops;
	if (!ops->has_process || !ops->has_process(s->sampler, e->pid))
		return;
	struct process *p = processes_find(s->processes, e->pid, e->time);
	if (p)
		session_publish(s, p);
}

void session_on_side(void *ctx, const struct side_event *e)
{
	struct session *s = ctx;
	struct error *err = NULL;
	if (e->kind == SIDE_LOST)
		return; // mappings are read again when they are missed
	if (e->kind == SIDE_FORK)
		err = on_fork(s, e);
	else if (!follows(s, e->pid))
		return;
	else if (e->kind == SIDE_EXEC)
		err = processes_on_exec(s->processes, e->pid, e->text, e->time);
	else if (e->kind == SIDE_MMAP)
		err = on_mmap(s, e);
	else if (e->kind == SIDE_COMM && e->pid == e->tid)
		processes_on_comm(s->processes, e->pid, e->text, e->time);
	else if (e->kind == SIDE_EXIT)
		on_exit_of(s, e);
	if (e->kind == SIDE_EXEC || e->kind == SIDE_MMAP)
		republish(s, e);
	error_free(err); // no memory: the process is learnt from /proc when it is sampled
}

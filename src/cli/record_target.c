// SPDX-License-Identifier: Apache-2.0
#include "cli/record_target.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/terminal.h"

#define SLUG_MAX 64

void record_target_fini(struct record_target *t)
{
	vec_fini(&t->pids);
	free(t->title);
	free(t->slug);
}

static struct error *check_one_kind(const struct record_options *o, const struct operands *operands)
{
	const struct {
		bool given;
		const char *spelled;
	} kinds[] = {
		{ o->pids.len != 0, "-p" },
		{ o->name_regex != NULL, "--name" },
		{ o->whole_machine, "-a" },
		{ operands->program != NULL, "a program after --" },
	};
	const char *first = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!kinds[i].given)
			continue;
		if (first)
			return error_hint(error_new(ERROR_USAGE,
						    "%s and %s are two targets; "
						    "choose one",
						    first, kinds[i].spelled),
					  "wick record -p PID records running processes, wick "
					  "record -- COMMAND a program it starts");
		first = kinds[i].spelled;
	}
	if (!first)
		return error_hint(error_new(ERROR_USAGE, "nothing to record: say which processes"),
				  "-p PID, --name REGEX, -a for the whole machine, or -- COMMAND; "
				  "for example: wick record -p 4711 -d 10");
	if (operands->program && operands->program_size == 0)
		return error_hint(error_new(ERROR_USAGE, "no program after --"),
				  "wick record -- ./program ARGUMENT...");
	return NULL;
}

static struct error *check_process(pid_t pid)
{
	struct proc_status status;
	if (pid == getpid())
		return error_new(ERROR_USAGE, "%d is wick itself, which cannot record itself", pid);
	struct error *err = proc_status_read(pid, &status);
	if (err && err->code == ERROR_GONE)
		return error_hint(err, "`wick list` shows what runs");
	if (err)
		return err;
	if (status.state == 'Z' || status.state == 'X')
		return error_new(
			ERROR_GONE,
			"process %d has exited; its parent %d has not taken note of it yet", pid,
			status.parent);
	// A thread has a directory of its own in /proc too, which `ls /proc` does not show.
	if (status.tgid != pid)
		return error_new(ERROR_USAGE, "%d is a thread of process %d; use -p %d", pid,
				 status.tgid, status.tgid);
	return NULL;
}

static void make_slug(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.len && i < SLUG_MAX; i++) {
		char c = s.ptr[i];
		bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
			     (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
		buf_char(out, plain ? c : '_');
	}
}

static struct error *name_target(struct record_target *t, const char *title, const char *slug)
{
	auto_fini(buf) clean = { 0 };
	make_slug(&clean, str_from(slug));
	t->title = strdup(title);
	t->slug = strdup(buf_cstr(&clean));
	return t->title && t->slug && !clean.failed ? NULL : &error_no_memory;
}

static struct error *name_processes(struct record_target *t)
{
	struct proc_status status;
	char title[96], slug[64];
	struct error *err = proc_status_read(t->pids.at[0], &status);
	if (err)
		return err;
	snprintf(slug, sizeof(slug), "%s-%d", status.comm, t->pids.at[0]);
	if (t->pids.len == 1)
		snprintf(title, sizeof(title), "pid %d (%s)", t->pids.at[0], status.comm);
	else
		snprintf(title, sizeof(title), "%zu processes", t->pids.len);
	return name_target(t, title, slug);
}

// The expression may choose more than was meant, so say what it chose.
static void say_found(const struct record_options *o, const pid_vec *pids)
{
	auto_fini(buf) list = { 0 };
	const size_t shown = 20;
	for (size_t i = 0; i < MIN(pids->len, shown); i++) {
		struct proc_status status = { 0 };
		error_free(proc_status_read(pids->at[i], &status));
		buf_printf(&list, "%s%d (%s)", i != 0 ? ", " : "", pids->at[i], status.comm);
	}
	if (pids->len > shown)
		buf_printf(&list, " and %zu more", pids->len - shown);
	note("--name %s is %s", o->name_regex, buf_cstr(&list));
}

static struct error *choose_processes(const struct record_options *o, struct record_target *t)
{
	if (o->name_regex) {
		struct error *err = proc_find(o->name_regex, &t->pids);
		if (err)
			return error_wrap(err, "--name %s", o->name_regex);
		if (!o->quiet)
			say_found(o, &t->pids);
		return name_processes(t);
	}
	for (size_t i = 0; i < o->pids.len; i++) {
		struct error *err = check_process(o->pids.at[i]);
		if (err)
			return err;
		if (!vec_push(&t->pids, o->pids.at[i]))
			return &error_no_memory;
	}
	return name_processes(t);
}

struct error *record_target_choose(const struct record_options *o, const struct operands *operands,
				   struct record_target *ret)
{
	struct error *err = check_one_kind(o, operands);
	if (err)
		return err;
	auto_fini(record_target)
		t = { .whole_machine = o->whole_machine, .program = operands->program };
	if (t.whole_machine) {
		err = name_target(&t, "the whole machine", "all");
	} else if (t.program) {
		struct str base = str_basename(str_from(t.program[0]));
		err = name_target(&t, t.program[0], base.ptr);
	} else {
		err = choose_processes(o, &t);
	}
	if (err)
		return err;
	*ret = t;
	t = (struct record_target){ 0 };
	return NULL;
}

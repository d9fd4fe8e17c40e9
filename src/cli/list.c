// SPDX-License-Identifier: Apache-2.0
// wick list: the processes of this machine, the busiest first, and which of them may be profiled.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/elide.h"
#include "cli/machine.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "cli/values.h"
#include "recording/event.h"
#include "target/proc.h"

#define MEASURED_NS (NS_PER_SEC / 5)
#define NARROW 60 // columns, below which there is only what everybody looks for
#define USER_WIDTH 8
#define CONTAINER_WIDTH 11

struct list_options {
	const char *name_regex;
	bool kernel;
};

// Why a process may not be profiled, or not well. Only one of the reasons can be there at a time.
enum refusal {
	REFUSED_NOT,
	REFUSED_ENGINES, // no engine works here at all
	REFUSED_USER,    // another user's
	REFUSED_MAPS,    // it can be sampled, but its memory map stays unknown
	REFUSAL_COUNT,
};

static const char *const refusal_reasons[REFUSAL_COUNT] = {
	[REFUSED_ENGINES] = "may not be profiled: no engine works here; `wick doctor` says why",
	[REFUSED_USER] = "may not be profiled by you: it belongs to another user, or guards its "
			 "memory; root may, as may CAP_PERFMON with CAP_SYS_PTRACE",
	[REFUSED_MAPS] = "can be sampled, but its memory map may not be read here: its functions "
			 "may stay without names",
};

struct row {
	struct proc_status status;
	uint64_t cpu_before;
	double cpu_percent;
	enum refusal refused;
};
typedef VEC(struct row) row_vec;

// What we may do on this machine.
struct rights {
	bool any_engine;  // works for our own processes
	bool any_process; // may be sampled, whoever's it is
};

struct layout {
	size_t columns;      // of the whole line
	bool narrow;         // there is room for little but the command
	unsigned own_levels; // pid namespaces we are in
	bool containers;     // there is a process in another one, so there is a column for it
};

// Reading the maps needs the same right as sampling does, and asking does nothing to the process.
// Who may sample everything may still be kept from reading them, by a container for one.
static enum refusal refusal_of(const struct row *row, const struct rights *rights)
{
	char path[64];
	if (!rights->any_engine)
		return REFUSED_ENGINES;
	snprintf(path, sizeof(path), "/proc/%d/maps", row->status.pid);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 || (errno != EACCES && errno != EPERM))
		return REFUSED_NOT;
	return rights->any_process ? REFUSED_MAPS : REFUSED_USER;
}

static struct rights rights_here(void)
{
	struct machine m;
	machine_init(&m);
	struct rights rights = { .any_engine = !m.bpf || !m.perf_own };
	// The kernel lets CAP_PERFMON attach events to any process.
	rights.any_process = !m.bpf || (!m.perf_own && machine_can(&m, CAP_PERFMON));
	machine_fini(&m);
	return rights;
}

// Processes come and go while they are read: one that is gone is left out, never an error.
static struct error *read_rows(const pid_vec *pids, bool kernel, row_vec *rows)
{
	struct rights rights = rights_here();
	for (size_t i = 0; i < pids->len; i++) {
		struct row row = { 0 };
		if (pids->at[i] == getpid())
			continue;
		struct error *err = proc_status_read(pids->at[i], &row.status);
		bool ended = row.status.state == 'Z' || row.status.state == 'X';
		if (!err && (ended || (row.status.kernel_thread && !kernel)))
			continue;
		if (!err)
			err = proc_cpu_time(pids->at[i], &row.cpu_before);
		if (err) {
			error_free(err);
			continue;
		}
		row.refused = refusal_of(&row, &rights);
		if (!vec_push(rows, row))
			return &error_no_memory;
	}
	return NULL;
}

static void measure_cpu(row_vec *rows)
{
	uint64_t start = clock_now();
	struct timespec wait = { .tv_nsec = MEASURED_NS };
	while (nanosleep(&wait, &wait) != 0 && errno == EINTR)
		;
	vec_each (row, rows) {
		uint64_t now;
		struct error *err = proc_cpu_time(row->status.pid, &now);
		if (!err && now >= row->cpu_before)
			row->cpu_percent = 100.0 * (double)(now - row->cpu_before) /
					   (double)(clock_now() - start);
		error_free(err);
	}
}

static int busiest_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->cpu_percent != y->cpu_percent)
		return x->cpu_percent < y->cpu_percent ? 1 : -1;
	return (x->status.pid > y->status.pid) - (x->status.pid < y->status.pid);
}

static void add_user(struct buf *out, uid_t uid)
{
	const struct passwd *user = getpwuid(uid);
	char number[16];
	snprintf(number, sizeof(number), "%u", uid);
	text_cell(out, str_from(user ? user->pw_name : number), USER_WIDTH);
}

static void add_events(struct buf *out, const struct row *row)
{
	auto_fini(buf) names = { 0 };
	bool none = row->refused == REFUSED_ENGINES || row->refused == REFUSED_USER;
	for (size_t i = 0; i < event_count && !none; i++)
		buf_printf(&names, "%s%s", i != 0 ? "," : "", events[i].name);
	buf_printf(&names, "%s%s", none ? "no" : "", row->refused != REFUSED_NOT ? " *" : "");
	buf_printf(out, " %-7s", buf_cstr(&names));
}

static bool in_container(const struct proc_status *s, const struct layout *l)
{
	return s->ns_levels > l->own_levels;
}

static void add_container(struct buf *out, const struct proc_status *s, const struct layout *l)
{
	char inside[24] = "-";
	if (!l->containers)
		return;
	if (in_container(s, l))
		snprintf(inside, sizeof(inside), "pid %d", s->ns_pid);
	buf_printf(out, " %-*s", CONTAINER_WIDTH, inside);
}

static void add_details(struct buf *out, const struct row *row, const struct layout *l)
{
	buf_printf(out, "%7u %-7s", row->status.threads,
		   row->status.kernel_thread ? "kernel" : "native");
	add_container(out, &row->status, l);
	add_events(out, row);
	buf_char(out, ' ');
}

static void add_row(struct buf *out, const struct row *row, const struct layout *l)
{
	const struct proc_status *s = &row->status;
	size_t start = out->len;
	buf_printf(out, "%7d ", s->pid);
	if (!l->narrow) {
		add_user(out, s->uid);
		buf_char(out, ' ');
	}
	buf_printf(out, "%5.1f ", row->cpu_percent);
	if (!l->narrow)
		add_details(out, row, l);
	autofree char *command = NULL;
	struct error *err = proc_cmdline(s->pid, &command);
	size_t used = text_columns((struct str){ out->at + start, out->len - start });
	elide_command(out, str_from(!err && command ? command : s->comm),
		      l->columns > used ? l->columns - used : 0);
	error_free(err);
	buf_char(out, '\n');
}

static void add_footnote(struct buf *out, const row_vec *rows, const struct layout *l,
			 const struct terminal *t)
{
	enum refusal refused = REFUSED_NOT;
	for (size_t i = 0; i < rows->len && refused == REFUSED_NOT; i++)
		refused = rows->at[i].refused;
	if (refused == REFUSED_NOT || l->narrow)
		return;
	buf_text(out, "\n* ");
	text_wrap(out, &(struct wrap){ 2, 2, t->columns }, refusal_reasons[refused]);
	buf_char(out, '\n');
}

static struct layout layout_of(const row_vec *rows, const struct terminal *t)
{
	// Into a file or a pipe the command lines go whole.
	struct layout l = { .columns = t->interactive ? t->columns : SIZE_MAX,
			    .narrow = t->interactive && t->columns < NARROW };
	struct proc_status self = { .ns_levels = 1 };
	error_free(proc_status_read(getpid(), &self));
	l.own_levels = self.ns_levels;
	for (size_t i = 0; i < rows->len; i++)
		l.containers |= in_container(&rows->at[i].status, &l);
	return l;
}

static void add_heading(struct buf *out, const struct layout *l)
{
	if (l->narrow) {
		buf_printf(out, "%7s %5s %s", "PID", "CPU %", "COMMAND");
		return;
	}
	buf_printf(out, "%7s %-*s %5s %7s %-7s", "PID", USER_WIDTH, "USER", "CPU %", "THREADS",
		   "RUNTIME");
	if (l->containers)
		buf_printf(out, " %-*s", CONTAINER_WIDTH, "CONTAINER");
	buf_printf(out, " %-7s %s", "EVENTS", "COMMAND");
}

static struct error *print_rows(const row_vec *rows)
{
	struct terminal t = terminal_of(stdout);
	struct layout l = layout_of(rows, &t);
	auto_fini(buf) text = { 0 };
	buf_text(&text, style_begin(&t, STYLE_BOLD));
	add_heading(&text, &l);
	buf_printf(&text, "%s\n", style_end(&t));
	for (size_t i = 0; i < rows->len; i++)
		add_row(&text, &rows->at[i], &l);
	add_footnote(&text, rows, &l, &t);
	return print_buf(stdout, &text);
}

static struct error *list(const struct list_options *o, pid_vec *pids, row_vec *rows)
{
	struct error *err = o->name_regex ? proc_find(o->name_regex, pids) : proc_pids(pids);
	if (err)
		return o->name_regex ? error_wrap(err, "--name %s", o->name_regex) : err;
	err = read_rows(pids, o->kernel, rows);
	if (err)
		return err;
	measure_cpu(rows);
	vec_sort(rows, busiest_first);
	return print_rows(rows);
}

static int run_list(const void *options, const struct operands *operands)
{
	(void)operands;
	pid_vec pids = { 0 };
	row_vec rows = { 0 };
	struct error *err = list(options, &pids, &rows);
	vec_fini(&pids);
	vec_fini(&rows);
	return err ? report_consume(err) : EXIT_DONE;
}

static const struct option_spec list_option_table[] = {
	{ .name = "name",
	  .argument = "REGEX",
	  .group = "Options",
	  .offset = offsetof(struct list_options, name_regex),
	  .parse = parse_text,
	  .help = "Only processes whose name or command line matches the extended regular "
		  "expression." },
	{ .letter = 'k',
	  .name = "kernel",
	  .group = "Options",
	  .offset = offsetof(struct list_options, kernel),
	  .help = "Show the kernel's own threads too." },
	{ 0 },
};

static const struct example list_examples[] = {
	{ "wick list", "everything, the busiest first" },
	{ "wick list --name postgres", "what `wick record --name postgres` would record" },
	{ 0 },
};

const struct command command_list = {
	.name = "list",
	.summary = "show what can be profiled here, the busiest first",
	.usage = (const char *const[]){ "[OPTION...]", NULL },
	.description =
		"Lists the processes of this machine, the busiest first: CPU % is measured over a "
		"fifth of a second and is 100 for one processor. CONTAINER is the number a process "
		"has inside its own pid namespace. EVENTS are the values that `wick record -e` "
		"takes for it; where it may not be profiled, a footnote says why. A terminal of "
		"less "
		"than 60 columns shows the number, CPU % and the command only.",
	.options = list_option_table,
	.examples = list_examples,
	.options_size = sizeof(struct list_options),
	.run = run_list,
};

// SPDX-License-Identifier: Apache-2.0
// wick record: checks everything, records, writes, and says how it went.
#include "cli/record.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/record_target.h"
#include "cli/signals.h"
#include "cli/summary.h"
#include "cli/text.h"
#include "sampler/probe.h"

// Who insisted on an engine that is not permitted is told if the other one would be.
static struct error *name_other_engine(struct error *err, const struct record_options *o)
{
	if (o->engine == ENGINE_AUTO ||
	    (err->code != ERROR_DENIED && err->code != ERROR_UNSUPPORTED))
		return err;
	bool bpf = o->engine == ENGINE_BPF;
	struct error *other = bpf ? probe_perf(o->whole_machine) : probe_bpf();
	bool works = !other;
	error_free(other);
	if (!works)
		return err;
	return error_hint(err, "%s%s--engine %s would work", err->hint ? err->hint : "",
			  err->hint ? "; " : "", engine_names[bpf ? ENGINE_PERF : ENGINE_BPF]);
}

static struct error *record(const struct record_options *o, const struct record_target *target,
			    uint64_t period_ns, struct recording_result *ret)
{
	struct progress progress;
	// A program of ours has the terminal to itself.
	progress_init(&progress, target->title, o->duration_ns, o->quiet || target->program);
	struct error *err = recording_run(
		&(struct recording_opts){
			.pids = target->pids.at,
			.pid_count = target->pids.len,
			.command = target->program,
			.whole_machine = target->whole_machine,
			.event = o->event,
			.period_ns = period_ns,
			.duration_ns = o->duration_ns,
			.engine = o->engine,
			.no_children = o->no_children,
			.no_kernel = o->no_kernel,
			.no_inlines = o->no_inlines,
			.lines = o->lines,
			.threads = o->threads,
			.stop = signals_stop(),
			.on_progress = progress_show,
			.ctx = &progress,
		},
		ret);
	progress_clear(&progress);
	if (!err)
		return NULL;
	if (!strstr(err->message, target->title)) // named already
		err = error_wrap(err, "record %s", target->title);
	return name_other_engine(err, o);
}

static struct error *summarize(const struct record_options *o, const struct record_target *target,
			       const struct output *out, const struct recording_result *result)
{
	// Standard output belongs to the profile, or to a program of ours.
	FILE *stream = out->is_stdout || target->program ? stderr : stdout;
	struct terminal t = terminal_of(stream);
	auto_fini(buf) text = { 0 };
	if (o->quiet && out->is_stdout)
		return NULL;
	if (o->quiet) { // the path alone, for a script to use
		buf_printf(&text, "%s\n", out->path);
		return print_buf(stream, &text);
	}
	struct error *err =
		summary_text(&text, &(struct summary_opts){
					    .result = result,
					    .rows = o->top.given ? o->top.value : SUMMARY_ROWS,
					    .columns = t.interactive ? t.columns : 0,
					    .processes = target->pids.len != 0,
					    .wanted_ns = o->duration_ns,
					    .root = geteuid() == 0,
				    });
	if (err)
		return err;
	if (!out->is_stdout) {
		buf_printf(&text, "%s: %s", out->format == &format_html ? "flame graph" : "profile",
			   style_begin(&t, STYLE_BOLD));
		text_printable(&text, str_from(out->path));
		buf_printf(&text, "%s\n", style_end(&t));
	}
	return print_buf(stream, &text);
}

static struct error *record_and_write(const struct record_options *o,
				      const struct record_target *target, uint64_t period_ns)
{
	auto_fini(output) out = { 0 };
	// Before the file exists, so that no signal can leave it behind.
	signals_catch();
	struct error *err = output_open(&(struct output_opts){ .path = o->output,
							       .format = o->format,
							       .force = o->force,
							       .slug = target->slug,
							       .event = o->event->name },
					&out);
	if (err)
		return err;
	struct recording_result result = { .command_status = -1 };
	err = record(o, target, period_ns, &result);
	if (err)
		return err;
	auto_(profile) profile = result.profile;
	err = output_write(&out, profile);
	return err ? err : summarize(o, target, &out, &result);
}

static struct error *check_output(const struct record_options *o, const struct operands *operands)
{
	if (!operands->program || !o->output || strcmp(o->output, "-") != 0)
		return NULL;
	return error_hint(error_new(ERROR_USAGE,
				    "-o - and a program after -- would both write to standard "
				    "output"),
			  "name a file: -o profile.folded");
}

// All that can be wrong with the request, before anything is touched.
static struct error *check_request(struct record_options *o, const struct operands *operands,
				   uint64_t *ret_period_ns)
{
	struct error *err = check_output(o, operands);
	if (!err && !o->event)
		err = event_by_name(STR("cpu"), &o->event);
	if (!err)
		err = record_period(o, o->event, probe_max_rate(), ret_period_ns);
	if (!err)
		err = output_format(o->output, o->format, &o->format);
	if (err)
		return err;
	if (!o->quiet && !o->rate && !o->interval_ns &&
	    *ret_period_ns > o->event->default_period_ns)
		note("the rate is %llu, the limit of this kernel "
		     "(kernel.perf_event_max_sample_rate)",
		     (unsigned long long)(NS_PER_SEC / *ret_period_ns));
	return NULL;
}

static int run_record(const void *options, const struct operands *operands)
{
	struct record_options o = *(const struct record_options *)options;
	auto_fini(record_target) target = { 0 };
	uint64_t period_ns;
	struct error *err = check_request(&o, operands, &period_ns);
	if (!err)
		err = record_target_choose(&o, operands, &target);
	if (!err)
		err = record_and_write(&o, &target, period_ns);
	return err ? report_consume(err) : EXIT_DONE;
}

static void fini_record(void *options)
{
	struct record_options *o = options;
	vec_fini(&o->pids);
}

static const struct example record_examples[] = {
	{ "wick record -p 4711 -d 10", "a process, for ten seconds" },
	{ "wick record -p 4711,4712 --no-children", "two, without their children" },
	{ "wick record --name '^nginx' -F 999", "all of nginx, until Ctrl-C" },
	{ "wick record -- ./program --its-option", "a program from its start" },
	{ "wick record -a -d 10 -o machine.html", "the machine, into that file" },
	{ "wick record -p 4711 -d 5 -o - | grep malloc", "folded stacks, into a pipe" },
	{ 0 },
};

const struct command command_record = {
	.name = "record",
	.summary = "record where programs spend their time, as a flame graph",
	.usage = (const char *const[]){ "-p PID[,PID...] [OPTION...]", "--name REGEX [OPTION...]",
					"-a [OPTION...]", "[OPTION...] -- COMMAND [ARGUMENT...]",
					NULL },
	.description =
		"Takes samples of the stacks of running programs and writes a flame graph: a web "
		"page that needs nothing but a browser. Works on any native program, without "
		"restarting it and without frame pointers, and follows the processes it starts.\n\n"
		"Ctrl-C ends a recording early; it is still written. A COMMAND that still runs "
		"then, "
		"or when the duration is over, is ended with SIGTERM. When it is done, the hottest "
		"functions are listed, and how good the recording is: samples taken, samples lost, "
		"stacks that do not reach their root (truncated), and samples in code without a "
		"name (unknown). All of that goes to standard output, or to standard error if a "
		"COMMAND or the profile (-o -) has that.\n\n"
		"Today it counts time spent running on a processor: waiting, for a lock or for a "
		"disk, does not show yet. A program in an interpreted language shows as the native "
		"functions of its interpreter.\n\n"
		"A line of folded stacks is the functions from the outermost to the innermost, "
		"with ; between them, a space and the number of samples. Names end in _[k] in the "
		"kernel, in _[i] where the function was inlined, in _[j] where the code was "
		"generated at run time. [truncated] stands for the outer part of a stack that "
		"could "
		"not be found, or that is more than 2,048 frames away.",
	.options = record_option_table,
	.examples = record_examples,
	.options_size = sizeof(struct record_options),
	.takes_program = true,
	.fini = fini_record,
	.run = run_record,
};

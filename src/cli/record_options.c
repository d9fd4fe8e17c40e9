// SPDX-License-Identifier: Apache-2.0
// The options of `wick record`.
#include <string.h>

#include "cli/command.h"
#include "cli/record.h"

static struct error *parse_event(const char *value, void *place)
{
	return event_by_name(str_from(value), place);
}

static struct error *parse_format(const char *value, void *place)
{
	return format_by_name(str_from(value), place);
}

static struct error *parse_engine(const char *value, void *place)
{
	for (int i = 0; i < ENGINE_COUNT; i++) {
		if (strcmp(value, engine_names[i]) != 0)
			continue;
		*(enum engine_choice *)place = i;
		return NULL;
	}
	struct error *err = error_new(ERROR_USAGE, "no such engine; there is auto, bpf and perf");
	const char *near = str_nearest(str_from(value), engine_names, ENGINE_COUNT);
	return near ? error_hint(err, "did you mean %s?", near) : err;
}

static const char *event_choice(size_t i)
{
	return i < event_count ? events[i].name : NULL;
}

static const char *format_choice(size_t i)
{
	return i < format_count ? formats[i]->name : NULL;
}

static const char *engine_choice(size_t i)
{
	return i < ENGINE_COUNT ? engine_names[i] : NULL;
}

#define FIELD(name) offsetof(struct record_options, name)
#define TARGET "Target, one of these"
#define WHAT "What to record"
#define STACK "What a stack shows"
#define OUTPUT "Output"

const struct option_spec record_option_table[] = {
	{ .letter = 'p',
	  .name = "pid",
	  .argument = "PID[,PID...]",
	  .group = TARGET,
	  .offset = FIELD(pids),
	  .parse = parse_pids,
	  .complete = COMPLETE_PID,
	  .help = "Record processes that run already, with all of their threads. May be "
		  "repeated." },
	{ .name = "name",
	  .argument = "REGEX",
	  .group = TARGET,
	  .offset = FIELD(name_regex),
	  .parse = parse_text,
	  .help = "Record every process whose name or command line matches the extended regular "
		  "expression." },
	{ .letter = 'a',
	  .name = "all",
	  .group = TARGET,
	  .offset = FIELD(whole_machine),
	  .help = "Record the whole machine: every process and the kernel." },

	{ .letter = 'e',
	  .name = "event",
	  .argument = "EVENT",
	  .group = WHAT,
	  .offset = FIELD(event),
	  .parse = parse_event,
	  .default_text = "cpu",
	  .complete = COMPLETE_CHOICES,
	  .choice = event_choice,
	  .help = "What a sample stands for. cpu is time spent running on a processor." },
	{ .letter = 'F',
	  .name = "rate",
	  .argument = "HZ",
	  .group = WHAT,
	  .offset = FIELD(rate),
	  .parse = parse_rate,
	  .default_text = "99",
	  .help = "Samples a second for each processor. A fraction like 0.5 is allowed; the limit "
		  "is kernel.perf_event_max_sample_rate." },
	{ .letter = 'i',
	  .name = "interval",
	  .argument = "INTERVAL",
	  .group = WHAT,
	  .offset = FIELD(interval_ns),
	  .parse = parse_interval,
	  .help = "Time between samples instead of a rate: a number with ns, us, ms or s, like "
		  "10ms." },
	{ .letter = 'd',
	  .name = "duration",
	  .argument = "DURATION",
	  .group = WHAT,
	  .offset = FIELD(duration_ns),
	  .parse = parse_duration,
	  .default_text = "until Ctrl-C or until the target exits",
	  .help = "Stop after this time: seconds, or numbers with h, m, s or ms, like 1m30s." },
	{ .name = "engine",
	  .argument = "ENGINE",
	  .group = WHAT,
	  .offset = FIELD(engine),
	  .parse = parse_engine,
	  .default_text = "auto",
	  .complete = COMPLETE_CHOICES,
	  .choice = engine_choice,
	  .help = "Insist on an engine. bpf walks stacks in the kernel, perf copies them out and "
		  "walks them later; auto takes the best one that this machine permits." },
	{ .name = "no-children",
	  .group = WHAT,
	  .offset = FIELD(no_children),
	  .help = "Leave out the processes that the targets have started or will start." },

	{ .name = "no-kernel",
	  .group = STACK,
	  .offset = FIELD(no_kernel),
	  .help = "Leave out kernel functions." },
	{ .name = "no-inline",
	  .group = STACK,
	  .offset = FIELD(no_inlines),
	  .help = "Leave out inlined functions, which debug information tells of." },
	{ .name = "lines",
	  .group = STACK,
	  .offset = FIELD(lines),
	  .help = "Tell apart the source lines of a function, where there is debug information." },
	{ .name = "threads",
	  .group = STACK,
	  .offset = FIELD(threads),
	  .help = "Tell apart the threads of a process." },

	{ .letter = 'o',
	  .name = "output",
	  .argument = "FILE",
	  .group = OUTPUT,
	  .offset = FIELD(output),
	  .parse = parse_text,
	  .complete = COMPLETE_FILE,
	  .default_text = "wick-TARGET-EVENT-TIME.html",
	  .help = "Write to this file; its extension chooses the format. - is standard output, "
		  "with folded stacks unless --format says otherwise; not with a COMMAND, which "
		  "writes there too." },
	{ .name = "format",
	  .argument = "FORMAT",
	  .group = OUTPUT,
	  .offset = FIELD(format),
	  .parse = parse_format,
	  .complete = COMPLETE_CHOICES,
	  .choice = format_choice,
	  .help = "html (a flame graph as a web page) or folded (a line for each stack), whatever "
		  "the extension is." },
	{ .name = "force",
	  .group = OUTPUT,
	  .offset = FIELD(force),
	  .help = "Overwrite the file if it exists; it keeps its permissions." },
	{ .name = "top",
	  .argument = "N",
	  .group = OUTPUT,
	  .offset = FIELD(top),
	  .parse = parse_count,
	  .default_text = "10",
	  .help = "How many functions to list on the terminal when it is done." },
	{ .letter = 'q',
	  .name = "quiet",
	  .group = OUTPUT,
	  .offset = FIELD(quiet),
	  .help = "Print nothing but the name of the file; with a COMMAND, on standard error." },
	{ 0 },
};

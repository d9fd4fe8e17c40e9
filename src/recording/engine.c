// SPDX-License-Identifier: Apache-2.0
#include "recording/engine.h"

#include <string.h>

#include "base/buf.h"
#include "sampler/probe.h"

const char *const engine_names[ENGINE_COUNT] = {
	[ENGINE_AUTO] = "auto",
	[ENGINE_BPF] = "bpf",
	[ENGINE_PERF] = "perf",
};

static struct error *probe_perf_for(bool whole_machine)
{
	return probe_perf(whole_machine);
}

static struct error *probe_bpf_for(bool whole_machine)
{
	(void)whole_machine; // it always samples every CPU
	return probe_bpf();
}

// Best first.
static const struct engine {
	enum engine_choice choice;
	const struct sampler_ops *ops;
	struct error *(*probe)(bool whole_machine);
} engines[] = {
	{ ENGINE_BPF, &sampler_bpf, probe_bpf_for },
	{ ENGINE_PERF, &sampler_perf, probe_perf_for },
};

static struct error *try_engine(const struct engine *e, const struct sampler_opts *opts,
				struct sampler **ret)
{
	struct error *err = e->probe(opts->whole_machine);
	if (err)
		return err;
	struct sampler_opts permitted = *opts;
	permitted.kernel = opts->kernel && probe_kernel_frames();
	return e->ops->open(&permitted, ret);
}

// What is less than it could be, in a sentence or two; NULL if nothing is.
static char *shortcomings(const struct error *better_engine)
{
	auto_fini(buf) text = { 0 };
	if (better_engine)
		buf_printf(&text, "not the best engine: %s", better_engine->message);
	if (better_engine && better_engine->hint)
		buf_printf(&text, " (%s)", better_engine->hint);
	if (!probe_kernel_frames())
		buf_printf(&text,
			   "%stime in the kernel is not sampled "
			   "(run as root, or: sudo sysctl kernel.perf_event_paranoid=1)",
			   text.len ? "; " : "");
	return text.len != 0 ? strdup(buf_cstr(&text)) : NULL;
}

struct error *engine_open(const struct sampler_opts *opts, enum engine_choice choice,
			  struct sampler **ret, char **ret_reason)
{
	auto_(error) first = NULL; // why the best engine could not be used
	struct error *last = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (choice != ENGINE_AUTO && choice != engines[i].choice)
			continue;
		error_free(last);
		last = try_engine(&engines[i], opts, ret);
		if (!last) {
			*ret_reason = shortcomings(first);
			return NULL;
		}
		if (last->code == ERROR_GONE)
			break;
		if (!first) {
			first = last;
			last = NULL;
		}
	}
	return last ? last : take(first);
}

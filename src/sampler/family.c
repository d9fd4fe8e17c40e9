// SPDX-License-Identifier: Apache-2.0
#include "sampler/family.h"

#include <unistd.h>

static struct error *add_from(const struct sampler_opts *opts, const pid_vec *pids, size_t first,
			      family_add add, void *ctx)
{
	for (size_t i = first; i < pids->len; i++) {
		if (pids->at[i] == getpid())
			continue;
		struct error *err = add(ctx, pids->at[i]);
		if (err)
			return err;
		opts->hooks.on_target(opts->hooks.ctx, pids->at[i]);
	}
	return NULL;
}

struct error *family_find(const struct sampler_opts *opts, family_add add, void *ctx)
{
	pid_vec pids = { 0 };
	struct error *err = NULL;
	for (size_t i = 0; i < opts->pid_count && !err; i++)
		if (!vec_push(&pids, opts->pids[i]))
			err = &error_no_memory;
	size_t done = 0;
	while (!err && done < pids.len) {
		err = add_from(opts, &pids, done, add, ctx);
		done = pids.len;
		if (!err && opts->children)
			err = proc_add_descendants(&pids);
	}
	vec_fini(&pids);
	return err;
}

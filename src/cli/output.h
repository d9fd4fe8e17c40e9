// SPDX-License-Identifier: Apache-2.0
// Where a recording goes. Everything that can be wrong with it shows before anything is recorded.
#pragma once

#include <stdbool.h>

#include "base/file.h"
#include "format/format.h"
#include "profile/profile.h"

struct output_opts {
	const char *path;            // "-" is standard output; NULL: choose a name
	const struct format *format; // as output_format() chose it
	bool force;
	const char *slug; // of the target and the event, for the chosen name
	const char *event;
};

struct output {
	struct outfile *file;
	char *path; // as it was given or chosen
	const struct format *format;
	bool is_stdout;
	bool force;
};

// The format for a path (see output_opts) if nobody named one: `named` is NULL then.
struct error *output_format(const char *path, const struct format *named,
			    const struct format **ret) must_check;
struct error *output_open(const struct output_opts *opts, struct output *ret) must_check;
// Writes and names the file. If another file took the name meanwhile, a free one beside it is
// chosen rather than losing the recording: out->path says which.
struct error *output_write(struct output *out, const struct profile *p) must_check;
void output_fini(struct output *out);

// "a-b.html" as "a-b-2.html". Caller frees; NULL without memory.
char *numbered_path(const char *path, unsigned number);

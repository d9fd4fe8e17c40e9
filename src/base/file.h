// SPDX-License-Identifier: Apache-2.0
// Whole files in, whole files out. A file gets its final name when it is complete, so a full disk
// or a killed process never leaves half a file under it. Until then it has no name where the file
// system permits that, else one beside the final one. A file that is replaced hands on its
// permissions, and stays where symbolic links lead to it.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"

// Works for /proc files, whose size is not known in advance.
struct error *file_read(const char *path, struct buf *ret) must_check;
// The same for an open descriptor, from its current position.
struct error *file_read_fd(int fd, const char *name, struct buf *ret) must_check;

struct outfile;

struct outfile_opts {
	const char *path; // "-" is standard output
	bool overwrite;   // else an existing file is ERROR_EXISTS
};
// Creates the file at once, so that every reason not to be able to write shows now.
struct error *outfile_open(const struct outfile_opts *opts, struct outfile **ret) must_check;
FILE *outfile_stream(struct outfile *out);
// The file's name until it is complete; NULL if it has none or is written into directly. For a
// signal handler that has to remove it.
const char *outfile_temporary(const struct outfile *out);
// Flushes and gives the file its final name. Consumes out, also on failure.
struct error *outfile_commit_consume(struct outfile *out) must_check;
// Removes the temporary file.
void outfile_free(struct outfile *out);
GUARD_FREE(outfile)

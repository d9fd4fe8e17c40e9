// SPDX-License-Identifier: Apache-2.0
// Reads the input as /proc/PID/maps and puts line after line into the history of a process.
#include <stdlib.h>

#include "target/files.h"
#include "target/mappings.h"
#include "target/proc.h"
#include "tests/fuzz/fuzz.h"

static void add(struct files *files, struct process *p, const struct maps_line *line, uint64_t time)
{
	struct mapping m = {
		.start = line->start, .end = line->end, .offset = line->offset, .born = time
	};
	struct file_sighting seen = { .dev = line->dev, .ino = line->ino, .path = line->path };
	auto_(error) err = files_intern(files, &seen, &m.file);
	auto_(error) add_err = err ? NULL : mappings_add(p, &m);
	if (err || add_err)
		return;
	const struct mapping *found = process_mapping(p, m.start, time);
	if (!found || found->file != m.file || process_mapping(p, m.end - 1, time) != found)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = { (const char *)data, size };
	auto_(files) files = NULL;
	auto_(error) err = files_new(&files);
	struct process p = { 0 };
	struct maps_line line;
	for (uint64_t time = 1; !err && time < 2000 && maps_next(&rest, &line); time++) {
		if (line.start >= line.end || line.path.len > size)
			abort();
		add(files, &p, &line, time);
	}
	for (size_t i = 1; i < p.live.len; i++)
		if (p.live.at[i - 1].end > p.live.at[i].start)
			abort();
	vec_fini(&p.live);
	vec_fini(&p.past);
	return 0;
}

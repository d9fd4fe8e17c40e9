// SPDX-License-Identifier: Apache-2.0
// Names for generated code that its runtime writes to /tmp/perf-PID.map: "START SIZE NAME", in hex.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

struct perf_map;

// Later lines replace earlier ones they overlap: that is how a JIT reuses memory.
struct error *perf_map_parse(struct str text, struct perf_map **ret) must_check;
// Through the process's own root and pid namespace. ERROR_NOT_FOUND if it writes none;
// one from before the process started is not its own.
struct error *perf_map_read(pid_t pid, struct perf_map **ret) must_check;
void perf_map_free(struct perf_map *m);
GUARD_FREE(perf_map)

struct str perf_map_find(const struct perf_map *m, uint64_t address); // empty if unknown
// The file has grown since it was read.
bool perf_map_stale(const struct perf_map *m);

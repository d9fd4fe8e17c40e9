// SPDX-License-Identifier: Apache-2.0
// What a process has and had mapped: changes to process.live and process.past.
#pragma once

#include "target/process.h"

// Places m over whatever is live there; what is covered ends at m->born, its uncovered pieces go
// on. Nothing changes if m only repeats what is known.
struct error *mappings_add(struct process *p, const struct mapping *m) must_check;
// Adds to the past: what was there until m->died.
struct error *mappings_add_past(struct process *p, const struct mapping *m) must_check;
// All that is live ends.
struct error *mappings_end_all(struct process *p, uint64_t time) must_check;
// Makes `now` (by address, not overlapping) what is live: what is not in it ends at `time`; what is
// new in it is taken to have been there since `since`, or since something else last was in its
// place. *ret_changed tells if anything was different.
struct error *mappings_replace(struct process *p, const mapping_vec *now, uint64_t since,
			       uint64_t time, bool *ret_changed) must_check;
// Gives a new process what another had at a time.
struct error *mappings_inherit(struct process *child, const struct process *parent,
			       uint64_t time) must_check;
// Something is live in this range.
bool mappings_overlap(const struct process *p, uint64_t start, uint64_t end);
// m is, or is part of, what is live there.
bool mappings_know(const struct process *p, const struct mapping *m);
// Forgets what ended before a time.
void mappings_expire(struct process *p, uint64_t before);

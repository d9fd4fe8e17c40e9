// SPDX-License-Identifier: Apache-2.0
// What `wick doctor` looks at. To add a check: one function and one line in the array in
// doctor_checks.c.
#pragma once

#include "base/buf.h"
#include "cli/machine.h"

enum finding_state {
	FINDING_OK,
	FINDING_LIMITED,
	FINDING_NO,
	FINDING_COUNT,
};

struct finding {
	enum finding_state state;
	struct buf found;  // what is there
	struct buf cost;   // what it costs, if not ok
	struct buf change; // the command that changes it, if not ok
};
void finding_fini(struct finding *f);

struct check {
	const char *name;
	void (*run)(const struct machine *m, struct finding *ret);
};
extern const struct check checks[];
extern const size_t check_count;

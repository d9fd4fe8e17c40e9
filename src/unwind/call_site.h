// SPDX-License-Identifier: Apache-2.0
// Is a return address one that a function would really return to? Used where a stack could only be
// read later than its sample, and nothing else shows that it has not changed since.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "object/object.h"

struct code_place {
	struct object *object; // NULL if the code is in no readable file
	uint64_t offset;       // in the file
	uint64_t address;      // in the process
};

// True if the instruction before `returns_to` is a call of the function that contains `callee`, or
// a call whose destination its code does not show.
bool call_site_fits(const struct code_place *returns_to, const struct code_place *callee);

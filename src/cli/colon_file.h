// SPDX-License-Identifier: Apache-2.0
// Files of lines like "Name:   value", as /proc/PID/status is one.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

// The value of the first line with that name, without blanks around it.
bool colon_value(struct str text, const char *name, struct str *ret);
// The same as a whole number.
bool colon_number(struct str text, const char *name, int base, uint64_t *ret);

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

typedef VEC(int) cpu_vec;

// "0-3,8" as /sys writes it. ERROR_MALFORMED if it is anything else.
struct error *cpus_parse(struct str text, cpu_vec *ret) must_check;
struct error *cpus_online(cpu_vec *ret) must_check;
// One more than the highest number a CPU can have.
int cpus_possible(void);

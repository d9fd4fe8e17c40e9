// SPDX-License-Identifier: Apache-2.0
// What a process was called, and when: a sample belongs to the name of its own time.
#pragma once

#include "target/process.h"

// It is called so from this time on, until the next name.
void process_rename(struct process *p, struct str comm, uint64_t since);
// Forgets names that were given up before a time.
void names_expire(struct process *p, uint64_t before);

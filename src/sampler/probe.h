// SPDX-License-Identifier: Apache-2.0
// What this machine lets us use: tried, not guessed. For choosing an engine and for `wick doctor`.
#pragma once

#include <stdint.h>

#include "base/error.h"

// NULL if the engine can be used here; else why not, with what would help in the hint.
struct error *probe_bpf(void) must_check;
// For our own processes (per task) or the whole machine.
struct error *probe_perf(bool whole_machine) must_check;
// kernel.perf_event_max_sample_rate; 0 if it cannot be read.
uint64_t probe_max_rate(void);
// There is a hardware cycle counter.
bool probe_hardware_cycles(void);
// Kernel frames may be sampled by us.
bool probe_kernel_frames(void);

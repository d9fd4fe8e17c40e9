// SPDX-License-Identifier: Apache-2.0
#pragma once

// Calls that between them need every kind of unwind rule: callbacks out of libc, a realigned stack
// with alloca, a signal handler, the vDSO, first calls through the linkage table.
void varied_work(void);

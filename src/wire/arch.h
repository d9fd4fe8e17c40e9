// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0
// What is particular to a processor. One header each; this one chooses.
#pragma once

#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
#include "wire/arch_x86_64.h"
#else
#error "wick runs on x86-64; arm64 needs src/wire/arch_arm64.h"
#endif

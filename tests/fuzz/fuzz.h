// SPDX-License-Identifier: Apache-2.0
// What a fuzzer defines: feeds one input to a parser and returns 0. Crashing, hanging, reading out
// of bounds and leaking are the failures; the tools that run it notice them.
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

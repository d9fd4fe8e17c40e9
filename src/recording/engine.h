// SPDX-License-Identifier: Apache-2.0
// Which engine serves a recording.
#pragma once

#include "recording/recording.h"
#include "sampler/sampler.h"

// Opens the best engine that works here, or the one asked for. *ret_reason (the caller frees it)
// says why a better one did not serve; NULL if the best did.
struct error *engine_open(const struct sampler_opts *opts, enum engine_choice choice,
			  struct sampler **ret, char **ret_reason) must_check;

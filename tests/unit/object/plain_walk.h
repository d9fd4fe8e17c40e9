// SPDX-License-Identifier: Apache-2.0
// What a rule means, in the plainest words: a reading of wire/unwind.h that shares no code with the
// real walker and none with what makes the rules.
#pragma once

#include "object/rows.h"

// Moves *state to the caller. False if the rule does not tell by itself, or memory cannot be read.
bool plain_walk(const struct wire_rule *rule, const struct wire_row *row,
		const struct memory_reader *memory, struct walk_state *state);

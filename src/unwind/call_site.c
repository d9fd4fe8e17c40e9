// SPDX-License-Identifier: Apache-2.0
#include "unwind/call_site.h"

#include <string.h>

#include "base/cleanup.h"

#define LONGEST_CALL 7u

// The bytes before a return address; how many there are.
static size_t code_before(const struct code_place *place, unsigned char *ret)
{
	bool read = place->object && place->offset >= LONGEST_CALL &&
		    object_read(place->object, place->offset - LONGEST_CALL, ret, LONGEST_CALL);
	return read ? LONGEST_CALL : 0;
}

// call *%reg, call *disp(%reg) ...: FF /2, two to seven bytes long (and with a REX prefix before).
static bool is_indirect_call(const unsigned char *end)
{
	for (size_t len = 2; len <= LONGEST_CALL; len++) {
		const unsigned char *at = end - len;
		if (at[0] == 0xff && (at[1] & 0x38) == 0x10)
			return true;
	}
	return false;
}

static bool calls_function_of(const struct code_place *from, int32_t distance,
			      const struct code_place *callee)
{
	uint64_t target = from->address + (uint64_t)(int64_t)distance;
	struct symbol symbol;
	// Through a linkage table it may be any function.
	if (object_symbol(from->object, from->offset + (uint64_t)(int64_t)distance, &symbol) &&
	    str_ends(symbol.name, STR("@plt")))
		return true;
	if (!callee->object || !object_symbol(callee->object, callee->offset, &symbol))
		return true; // it has no symbol: nothing to compare with
	return target == callee->address - symbol.offset;
}

bool call_site_fits(const struct code_place *returns_to, const struct code_place *callee)
{
	unsigned char code[LONGEST_CALL];
	size_t len = code_before(returns_to, code);
	if (len == 0)
		return false;
	int32_t distance;
	memcpy(&distance, code + len - 4, sizeof(distance));
	if (code[len - 5] == 0xe8 && calls_function_of(returns_to, distance, callee))
		return true;
	return is_indirect_call(code + len);
}

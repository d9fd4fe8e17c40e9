// SPDX-License-Identifier: Apache-2.0
#include "base/vec.h"

bool vec_grow(void *items_ptr, size_t *cap, size_t len, size_t more, size_t item_size)
{
	void **items = items_ptr;
	size_t need, bytes;
	if (__builtin_add_overflow(len, more, &need))
		return false;
	if (need <= *cap)
		return true;
	size_t new_cap = *cap < 8 ? 8 : *cap * 2;
	if (new_cap < need)
		new_cap = need;
	if (__builtin_mul_overflow(new_cap, item_size, &bytes))
		return false;
	void *grown = realloc(*items, bytes);
	if (!grown)
		return false;
	*items = grown;
	*cap = new_cap;
	return true;
}

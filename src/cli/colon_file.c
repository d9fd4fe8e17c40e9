// SPDX-License-Identifier: Apache-2.0
#include "cli/colon_file.h"

bool colon_value(struct str text, const char *name, struct str *ret)
{
	while (text.len != 0) {
		struct str value = str_split(&text, '\n');
		if (value.len == 0 || !memchr(value.ptr, ':', value.len))
			continue;
		if (!str_eq(str_split(&value, ':'), str_from(name)))
			continue;
		value = str_trim_start(value);
		while (value.len != 0 && strchr(" \t", value.ptr[value.len - 1]))
			value.len--;
		*ret = value;
		return true;
	}
	return false;
}

bool colon_number(struct str text, const char *name, int base, uint64_t *ret)
{
	struct str value;
	return colon_value(text, name, &value) && str_to_u64(value, base, ret);
}

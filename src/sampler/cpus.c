// SPDX-License-Identifier: Apache-2.0
#include "sampler/cpus.h"

#include <bpf/libbpf.h>

#include "base/file.h"

#define CPU_LIMIT 65536

struct error *cpus_parse(struct str text, cpu_vec *ret)
{
	cpu_vec cpus = { 0 };
	struct str rest = str_split(&text, '\n');
	while (rest.len != 0) {
		struct str range = str_split(&rest, ','), high = range;
		uint64_t from, to;
		struct str low = str_split(&high, '-');
		bool ok = str_to_u64(low, 10, &from);
		to = from;
		if (ok && range.len > low.len)
			ok = str_to_u64(high, 10, &to);
		if (!ok || from > to || to >= CPU_LIMIT) {
			vec_fini(&cpus);
			return error_new(ERROR_MALFORMED, "not a list of CPUs: %.*s",
					 STR_ARG(range));
		}
		for (uint64_t cpu = from; cpu <= to; cpu++) {
			if (!vec_push(&cpus, (int)cpu)) {
				vec_fini(&cpus);
				return &error_no_memory;
			}
		}
	}
	ret->at = cpus.at;
	ret->len = cpus.len;
	ret->cap = cpus.cap;
	return NULL;
}

struct error *cpus_online(cpu_vec *ret)
{
	auto_fini(buf) text = { 0 };
	struct error *err = file_read("/sys/devices/system/cpu/online", &text);
	return err ? err : cpus_parse(buf_view(&text), ret);
}

int cpus_possible(void)
{
	int n = libbpf_num_possible_cpus();
	return n > 0 ? n : 1;
}

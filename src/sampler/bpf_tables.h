// SPDX-License-Identifier: Apache-2.0
// The tables the kernel program walks with, as user space fills them: by writing shared memory,
// then setting the entry that points to it. Space is handed out upwards and never reused while a
// program could still look at it; when it is used up the table is emptied and filled again by need.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/map.h"
#include "sampler/sampler.h"
#include "wire/unwind.h"

struct bpf_tables {
	struct wire_row *rows;         // shared with the kernel
	struct wire_rule *rules;       // shared
	struct wire_mapping *mappings; // shared
	int pages_fd, processes_fd;    // borrowed
	size_t row_count, rule_count, mapping_count;
	struct map pages;     // published: (file, page)
	struct map processes; // published: pid → generation
};

void bpf_tables_fini(struct bpf_tables *t);
void bpf_tables_put_rules(struct bpf_tables *t, const struct wire_rule *rules, size_t count);
void bpf_tables_put_page(struct bpf_tables *t, const struct wire_page_key *key,
			 const struct wire_row *rows, size_t count);
void bpf_tables_put_process(struct bpf_tables *t, const struct published_process *p);
bool bpf_tables_has_process(const struct bpf_tables *t, pid_t pid);
// It is gone, or has become another program.
void bpf_tables_forget_process(struct bpf_tables *t, pid_t pid);

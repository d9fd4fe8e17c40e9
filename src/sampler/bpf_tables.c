// SPDX-License-Identifier: Apache-2.0
#include "sampler/bpf_tables.h"

#include <bpf/bpf.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/bpf/tables.h"

// Waits until no program runs in the kernel that could still look at what was unpublished before:
// this call waits for all that runs with preemption off, and interrupts do.
static void wait_for_readers(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
		usleep(100000);
}

void bpf_tables_fini(struct bpf_tables *t)
{
	map_fini(&t->pages);
	map_fini(&t->processes);
}

void bpf_tables_put_rules(struct bpf_tables *t, const struct wire_rule *rules, size_t count)
{
	if (count > TABLE_RULES)
		count = TABLE_RULES;
	if (count <= t->rule_count)
		return;
	memcpy(t->rules + t->rule_count, rules + t->rule_count,
	       (count - t->rule_count) * sizeof(*rules));
	t->rule_count = count;
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static struct wire_page_key page_key(uint64_t key)
{
	return (struct wire_page_key){ .file = (uint32_t)(key >> 32), .page = (uint32_t)key };
}

static void empty_pages(struct bpf_tables *t)
{
	for (struct map_slot *s = map_first(&t->pages); s; s = map_next(&t->pages, s)) {
		struct wire_page_key key = page_key(s->key);
		bpf_map_delete_elem(t->pages_fd, &key);
	}
	map_clear(&t->pages);
	wait_for_readers();
	t->row_count = 0;
}

void bpf_tables_put_page(struct bpf_tables *t, const struct wire_page_key *key,
			 const struct wire_row *rows, size_t count)
{
	uint64_t id = map_pair(key->file, key->page);
	if (map_get(&t->pages, id) || count == 0 || count > TABLE_ROWS)
		return;
	if (t->row_count + count > TABLE_ROWS || t->pages.count >= TABLE_PAGES)
		empty_pages(t);
	struct wire_page page = { .first = (uint32_t)t->row_count, .count = (uint32_t)count };
	memcpy(t->rows + page.first, rows, count * sizeof(*rows));
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (bpf_map_update_elem(t->pages_fd, key, &page, BPF_ANY) != 0)
		return; // samples go on being finished in user space
	t->row_count += count;
	map_put(&t->pages, id, NULL);
}

static void empty_processes(struct bpf_tables *t)
{
	for (struct map_slot *s = map_first(&t->processes); s; s = map_next(&t->processes, s)) {
		uint32_t pid = (uint32_t)s->key;
		bpf_map_delete_elem(t->processes_fd, &pid);
	}
	map_clear(&t->processes);
	wait_for_readers();
	t->mapping_count = 0;
}

void bpf_tables_put_process(struct bpf_tables *t, const struct published_process *p)
{
	uint32_t key = (uint32_t)p->pid;
	uint64_t *published = map_get(&t->processes, key);
	if (published && *published == p->generation)
		return;
	if (p->count == 0 || p->count > TABLE_MAPPINGS) {
		bpf_tables_forget_process(t, p->pid);
		return;
	}
	if (t->mapping_count + p->count > TABLE_MAPPINGS || t->processes.count >= TABLE_PROCESSES)
		empty_processes(t);
	struct wire_process process = { .first = (uint32_t)t->mapping_count,
					.count = (uint32_t)p->count,
					.as_of = p->as_of };
	memcpy(t->mappings + process.first, p->mappings, p->count * sizeof(*p->mappings));
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (bpf_map_update_elem(t->processes_fd, &key, &process, BPF_ANY) != 0)
		return;
	t->mapping_count += p->count;
	published = map_put(&t->processes, key, NULL);
	if (published)
		*published = p->generation;
}

bool bpf_tables_has_process(const struct bpf_tables *t, pid_t pid)
{
	return map_get(&t->processes, (uint32_t)pid) != NULL;
}

void bpf_tables_forget_process(struct bpf_tables *t, pid_t pid)
{
	uint32_t key = (uint32_t)pid;
	if (map_delete(&t->processes, key))
		bpf_map_delete_elem(t->processes_fd, &key);
}

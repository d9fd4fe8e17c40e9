// SPDX-License-Identifier: Apache-2.0
#include "target/names.h"

// How many names begin at or before a time.
static size_t names_until(const struct process *p, uint64_t time)
{
	size_t count = p->names.len;
	while (count != 0 && p->names.at[count - 1].since > time)
		count--;
	return count;
}

const char *process_comm(const struct process *p, uint64_t time)
{
	size_t count = names_until(p, time);
	// Before its first name it had one that nobody told of.
	return p->names.len == 0 ? p->comm : p->names.at[count != 0 ? count - 1 : 0].comm;
}

void process_rename(struct process *p, struct str comm, uint64_t since)
{
	struct process_name name = { .since = since };
	size_t len = MIN(comm.len, sizeof(name.comm) - 1);
	if (len != 0)
		memcpy(name.comm, comm.ptr, len);
	// Without memory only the history is lost.
	if (vec_reserve(&p->names, 1)) {
		size_t at = names_until(p, since);
		memmove(p->names.at + at + 1, p->names.at + at, (p->names.len - at) * sizeof(name));
		p->names.at[at] = name;
		p->names.len++;
		name = *vec_last(&p->names);
	}
	memcpy(p->comm, name.comm, sizeof(p->comm));
}

void names_expire(struct process *p, uint64_t before)
{
	size_t count = names_until(p, before);
	if (count <= 1)
		return;
	memmove(p->names.at, p->names.at + count - 1,
		(p->names.len - count + 1) * sizeof(*p->names.at));
	p->names.len -= count - 1;
}

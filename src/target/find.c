// SPDX-License-Identifier: Apache-2.0
// Choosing processes: by name, and the descendants of those chosen.
#include <regex.h>

#include "base/map.h"
#include "target/proc.h"

static void regex_guard(regex_t *regex)
{
	regfree(regex);
}

// Puts us and all that led to us into the set: sudo, a shell or make carry our arguments in their
// own command lines and would match whatever we are asked to look for.
static struct error *add_ancestors(struct map *set)
{
	pid_t pid = getpid();
	bool fresh = true;
	while (pid > 0 && fresh) {
		if (!map_put(set, (uint64_t)pid, &fresh))
			return &error_no_memory;
		struct proc_status status;
		auto_(error) err = proc_status_read(pid, &status);
		if (err)
			break;
		pid = status.parent;
	}
	return NULL;
}

static bool matches(const regex_t *regex, pid_t pid)
{
	struct proc_status status;
	auto_(error) err = proc_status_read(pid, &status);
	if (err || status.kernel_thread)
		return false;
	if (regexec(regex, status.comm, 0, NULL, 0) == 0)
		return true;
	autofree char *cmdline = NULL;
	auto_(error) cmdline_err = proc_cmdline(pid, &cmdline);
	return !cmdline_err && regexec(regex, cmdline, 0, NULL, 0) == 0;
}

static struct error *find_all(const regex_t *regex, const struct map *without, pid_vec *ret)
{
	pid_vec all = { 0 }, found = { 0 };
	struct error *err = proc_pids(&all);
	if (err)
		return err;
	vec_each (pid, &all)
		if (!map_get(without, (uint64_t)*pid) && matches(regex, *pid) &&
		    !vec_push(&found, *pid))
			err = &error_no_memory;
	vec_fini(&all);
	if (err) {
		vec_fini(&found);
		return err;
	}
	*ret = found;
	return NULL;
}

struct error *proc_find(const char *expression, pid_vec *ret)
{
	if (expression[0] == '\0')
		return error_new(ERROR_USAGE, "an empty name would match every process");
	__attribute__((cleanup(regex_guard))) regex_t regex = { 0 };
	int code = regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB);
	if (code != 0) {
		char reason[128];
		regerror(code, &regex, reason, sizeof(reason));
		return error_new(ERROR_USAGE, "'%s' is not a regular expression: %s", expression,
				 reason);
	}
	struct map without = { 0 };
	pid_vec found = { 0 };
	struct error *err = add_ancestors(&without);
	if (!err)
		err = find_all(&regex, &without, &found);
	map_fini(&without);
	if (err)
		return err;
	if (found.len == 0) {
		vec_fini(&found);
		return error_hint(error_new(ERROR_NOT_FOUND, "no process matches '%s'", expression),
				  "wick list shows what runs");
	}
	*ret = found;
	return NULL;
}

struct relation {
	pid_t pid, parent;
};
typedef VEC(struct relation) relation_vec;

// What exits while we look is passed over.
static struct error *all_relations(relation_vec *ret)
{
	pid_vec all = { 0 };
	struct error *err = proc_pids(&all);
	if (err)
		return err;
	vec_each (pid, &all) {
		struct proc_status status;
		auto_(error) gone = proc_status_read(*pid, &status);
		if (!gone && !vec_push(ret, (struct relation){ *pid, status.parent }))
			err = &error_no_memory;
	}
	vec_fini(&all);
	return err;
}

static struct error *add_children(const relation_vec *relations, struct map *chosen, pid_vec *pids)
{
	// A child usually has the higher number, so the first pass finds nearly all.
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < relations->len; i++) {
			const struct relation *r = &relations->at[i];
			if (!map_get(chosen, (uint64_t)r->parent) ||
			    map_get(chosen, (uint64_t)r->pid))
				continue;
			if (!map_put(chosen, (uint64_t)r->pid, /* ret_new= */ NULL) ||
			    !vec_push(pids, r->pid))
				return &error_no_memory;
			again = true;
		}
	}
	return NULL;
}

struct error *proc_add_descendants(pid_vec *pids)
{
	relation_vec relations = { 0 };
	struct map chosen = { 0 };
	struct error *err = all_relations(&relations);
	vec_each (pid, pids)
		if (!map_put(&chosen, (uint64_t)*pid, /* ret_new= */ NULL))
			err = err ? err : &error_no_memory;
	if (!err)
		err = add_children(&relations, &chosen, pids);
	map_fini(&chosen);
	vec_fini(&relations);
	return err;
}

// SPDX-License-Identifier: Apache-2.0
#include "recording/session.h"

#include <string.h>

#include "base/clock.h"

#define NAMING_TIME_NS (20 * 1000000ull)
#define FORGET_AFTER_NS (3 * NS_PER_SEC)

static struct object *as_object(uint64_t value)
{
	return (struct object *)(uintptr_t)value;
}

static struct error *open_file(struct session *s, uint32_t file, struct object **ret)
{
	int fd;
	struct error *err = files_open(s->files, file, &fd);
	if (err)
		return err;
	struct object_opts opts = { .path = files_path(s->files, file),
				    .root = files_root(s->files, file) };
	return object_open_consume_fd(fd, &opts, ret);
}

// An object stays open, and so its file's inode number is not given to another one: what was
// sampled is known by that number.
struct object *session_object(void *ctx, uint32_t file)
{
	struct session *s = ctx;
	bool fresh;
	uint64_t *slot = map_put(&s->objects, file, &fresh);
	if (!slot)
		return NULL;
	if (fresh) {
		struct object *obj = NULL;
		auto_(error) err = open_file(s, file, &obj);
		*slot = (uintptr_t)obj;
	}
	return as_object(*slot);
}

static const char *path_of(void *ctx, uint32_t file)
{
	return files_path(((struct session *)ctx)->files, file);
}

static bool refresh(void *ctx, struct process *process)
{
	struct session *s = ctx;
	if (!process_refresh(s->processes, process))
		return false;
	session_publish(s, process);
	return true;
}

static void on_page(void *ctx, const struct wire_page_key *key, const struct row_page *page)
{
	struct session *s = ctx;
	const struct rules *rules = unwinder_rules(s->unwinder);
	if (!s->sampler->ops->publish_page)
		return;
	s->sampler->ops->publish_rules(s->sampler, rules->list.at, rules->list.len);
	s->sampler->ops->publish_page(s->sampler, key, page->rows.at, page->rows.len);
}

struct error *session_new(const struct recording_opts *opts, struct session **ret)
{
	auto_(session) s = calloc(1, sizeof(*s));
	if (!s || !collection_init(&s->collection))
		return &error_no_memory;
	s->opts = opts;
	struct error *err = files_new(&s->files);
	if (!err)
		err = processes_new(s->files, &s->processes);
	if (!err)
		err = profile_new(&s->profile);
	if (!err)
		err = unwinder_new(&(struct unwinder_hooks){ session_object, refresh, on_page, s },
				   &s->unwinder);
	if (!err)
		err = symbolizer_new(&(struct symbolizer_opts){ .profile = s->profile,
								.inlines = !opts->no_inlines,
								.lines = opts->lines },
				     &s->symbolizer);
	if (err)
		return err;
	*ret = take(s);
	return NULL;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	sampler_free(s->sampler);
	collection_fini(&s->collection);
	symbolizer_free(s->symbolizer);
	unwinder_free(s->unwinder);
	for (struct map_slot *o = map_first(&s->objects); o; o = map_next(&s->objects, o))
		object_free(as_object(o->value));
	map_fini(&s->objects);
	map_fini(&s->followed);
	map_fini(&s->threads);
	vec_fini(&s->ended);
	profile_free(s->profile);
	processes_free(s->processes);
	files_free(s->files);
	free(s);
}

void session_follow(struct session *s, pid_t pid)
{
	(void)map_put(&s->followed, (uint64_t)pid, NULL);
}

void session_publish(struct session *s, const struct process *p)
{
	if (!s->sampler->ops->publish_process)
		return;
	VEC(struct wire_mapping) mappings = { 0 };
	vec_each (m, &p->live) {
		struct wire_mapping w = { .start = m->start,
					  .end = m->end,
					  .delta = m->offset - m->start,
					  .file = m->file };
		if (!vec_push(&mappings, w))
			break;
	}
	struct published_process published = { .pid = p->pid,
					       .generation = p->generation,
					       .as_of = p->as_of,
					       .mappings = mappings.at,
					       .count = mappings.len };
	s->sampler->ops->publish_process(s->sampler, &published);
	vec_fini(&mappings);
}

void session_publish_all(struct session *s)
{
	for (struct map_slot *f = map_first(&s->followed); f; f = map_next(&s->followed, f)) {
		struct process *p = processes_find(s->processes, (pid_t)f->key, clock_now());
		if (p)
			session_publish(s, p);
	}
}

static void on_target(void *ctx, pid_t pid)
{
	session_follow(ctx, pid);
}

struct sampler_hooks session_hooks(struct session *s)
{
	return (struct sampler_hooks){ on_target, session_on_sample, session_on_side, s };
}

// What ended before a time will not run any more. Somebody else may have its number by now.
static void unfollow_ended(struct session *s, uint64_t before)
{
	size_t kept = 0;
	vec_each (e, &s->ended) {
		if (e->time >= before)
			s->ended.at[kept++] = *e;
		else if (s->sampler->ops->unfollow && !map_get(&s->followed, (uint64_t)e->pid))
			s->sampler->ops->unfollow(s->sampler, e->pid);
	}
	s->ended.len = kept;
}

void session_idle(struct session *s)
{
	struct namer namer = { s->symbolizer, session_object, path_of, s };
	uint64_t now = clock_now();
	collection_name(&s->collection, &namer, now + NAMING_TIME_NS, /* last= */ false);
	if (now > s->trimmed + FORGET_AFTER_NS) {
		processes_expire(s->processes, now - FORGET_AFTER_NS);
		unfollow_ended(s, now - FORGET_AFTER_NS);
		// What nobody sampled is let go, so that file systems can be unmounted again.
		files_unpin_before(s->files, now - FORGET_AFTER_NS);
		s->trimmed = now;
	}
}

struct error *session_finish(struct session *s)
{
	struct namer namer = { s->symbolizer, session_object, path_of, s };
	collection_name(&s->collection, &namer, /* until= */ 0, /* last= */ true);
	s->profile->info.lost = s->sampler->ops->lost(s->sampler) + s->undelivered;
	return collection_finish(&s->collection, s->profile, s->start);
}

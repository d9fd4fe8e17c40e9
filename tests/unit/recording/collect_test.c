// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "recording/collect.h"
#include "recording/event.h"
#include "tests/test.h"

static struct object *no_object(void *ctx, uint32_t file)
{
	(void)ctx, (void)file;
	return NULL;
}

static const char *path_of(void *ctx, uint32_t file)
{
	(void)ctx;
	return file == 5 ? "/usr/lib/libfive.so" : "/bin/six";
}

TEST(a_location_is_kept_once_whatever_it_is)
{
	struct collection c;
	CHECK(collection_init(&c));
	uint32_t a = collection_file(&c, 5, 0x1000), b = collection_file(&c, 6, 0x1000);
	uint32_t k = collection_kernel(&c, 0xffffffff81000000ull);
	uint32_t g = collection_generated(&c, 42, 0x7f0000001000ull, 0x7f0000000000ull);
	uint32_t h = collection_generated(&c, 43, 0x7f0000001000ull, 0x7f0000000000ull);
	bool distinct = a && b && k && g && h && a != b && b != k && k != g && g != h;
	bool same = a == collection_file(&c, 5, 0x1000) &&
		    k == collection_kernel(&c, 0xffffffff81000000ull) &&
		    g == collection_generated(&c, 42, 0x7f0000001000ull, 0x7f0000000000ull) &&
		    h == collection_generated(&c, 43, 0x7f0000001000ull, 0x7f0000000000ull);
	collection_fini(&c);
	CHECK(distinct);
	CHECK(same);
}

TEST(what_has_no_name_is_shown_by_module_and_offset_and_counted)
{
	struct collection c;
	auto_(profile) p = NULL;
	auto_(symbolizer) s = NULL;
	CHECK_OK(profile_new(&p));
	CHECK_OK(symbolizer_new(&(struct symbolizer_opts){ .profile = p }, &s));
	CHECK(collection_init(&c));
	uint32_t outer = stacks_push(&c.stacks, STACK_EMPTY, collection_file(&c, 6, 0x20));
	uint32_t inner = stacks_push(&c.stacks, outer, collection_file(&c, 5, 0x1234));
	struct thread t = { .pid = 1, .tid = 1 };
	uint32_t thread = profile_thread(p, &t);
	bool pushed = vec_push(&c.samples, (struct collected_sample){ inner, thread, 500 }) &&
		      vec_push(&c.samples, (struct collected_sample){ inner, thread, 700 });
	struct namer namer = { s, no_object, path_of, NULL };
	collection_name(&c, &namer, 0, true);
	struct error *err = collection_finish(&c, p, 400);
	collection_fini(&c);
	CHECK_OK(err);
	CHECK(pushed && p->samples.len == 2 && p->info.unknown == 2 && p->info.unknown_frames == 2);
	CHECK(p->samples.at[0].time == 100 && p->samples.at[1].time == 300);
	const struct stack_node *top = &p->stacks.nodes.at[p->samples.at[0].stack];
	CHECK(str_eq(profile_text(p, p->frames.at[top->item].name), STR("libfive.so+0x1234")));
	const struct stack_node *root = &p->stacks.nodes.at[top->parent];
	CHECK(str_eq(profile_text(p, p->frames.at[root->item].name), STR("six+0x20")));
}

TEST(an_unknown_event_is_refused_with_the_nearest_known_one)
{
	const struct event *event = NULL;
	CHECK_OK(event_by_name(STR("cpu"), &event));
	CHECK(event && strcmp(event->unit, "samples") == 0);
	struct error *err = event_by_name(STR("cpuu"), &event);
	auto_(error) guard = err;
	CHECK(err && err->code == ERROR_USAGE && strstr(err->hint, "cpu"));
}

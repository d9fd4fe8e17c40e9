// SPDX-License-Identifier: Apache-2.0
#include "cli/summary.h"

#include <string.h>

#include "base/clock.h"
#include "cli/text.h"
#include "tests/test.h"

static void add(struct profile *p, const char *const *names, size_t count, unsigned times)
{
	uint32_t stack = STACK_EMPTY;
	for (size_t i = 0; i < count; i++) {
		struct frame f = { .name = profile_string(p, str_from(names[i])),
				   .module = profile_string(p, STR("prog")) };
		stack = stacks_push(&p->stacks, stack, profile_frame(p, &f));
	}
	for (unsigned i = 0; i < times; i++)
		if (!profile_add(p, &(struct sample){ .stack = stack, .value = 1 }))
			return;
}

static struct profile *small_profile(void)
{
	struct profile *p = NULL;
	error_free(profile_new(&p));
	profile_thread(p, &(struct thread){ 0 });
	add(p, (const char *const[]){ "main" }, 1, 250);
	add(p, (const char *const[]){ "main", "evil\x1b[2J\r\nname" }, 2, 750);
	p->info.event = "cpu";
	p->info.unit = "samples";
	p->info.engine = "perf";
	p->info.lost = 12345;
	p->info.truncated = 5;
	p->info.unknown = 100;
	p->info.duration_ns = 3200000000;
	return p;
}

static bool says(struct buf *text, const char *what)
{
	return strstr(buf_cstr(text), what) != NULL;
}

TEST(a_summary_lists_functions_and_says_how_good_it_is)
{
	auto_(profile) p = small_profile();
	struct recording_result result = { .profile = p, .command_status = -1 };
	auto_fini(buf) text = { 0 };
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 10, 80, true, 0, false }));
	CHECK(says(&text, "  75.0 %        750    75.0 %        750  evil\\x1b[2J\\x0d\\x0aname"));
	CHECK(says(&text, "  25.0 %        250   100.0 %      1,000  main  [prog]\n"));
	CHECK(says(&text, "samples 1,000  lost 12,345  truncated 5 (0.5 %)  unknown 100 (10.0 %)\n"
			  "engine perf\n"));
	CHECK(!says(&text, "exited") && !says(&text, "no samples"));
	CHECK(!says(&text, "\x1b") && !says(&text, "\r"));
}

TEST(a_summary_keeps_to_the_terminals_width)
{
	auto_(profile) p = small_profile();
	char name[400];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	add(p, (const char *const[]){ name }, 1, 2000);
	p->info.engine_reason = strdup("bpf: it needs CAP_BPF and CAP_PERFMON, and this process "
				       "has neither of them, nor is it root");
	struct recording_result result = { .profile = p, .command_status = -1 };
	auto_fini(buf) text = { 0 };
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 2, 90, true, 0, false }));
	CHECK(says(&text, "and 1 more\n") && says(&text, "CAP_PERFMON"));
	struct str rest = buf_view(&text);
	while (rest.len != 0)
		CHECK(text_columns(str_split(&rest, '\n')) <= 90);
}

static bool fits(struct buf *text, size_t columns)
{
	for (struct str rest = buf_view(text); rest.len != 0;)
		if (text_columns(str_split(&rest, '\n')) > columns)
			return false;
	return true;
}

TEST(a_long_name_keeps_its_end_and_its_module)
{
	auto_(profile) p = small_profile();
	add(p,
	    (const char *const[]){ "std::_Rb_tree<int, std::pair<int const, std::string>, "
				   "std::less<int> >::_M_erase" },
	    1, 2000);
	struct recording_result result = { .profile = p, .command_status = -1 };
	auto_fini(buf) text = { 0 };
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 10, 80, true, 0, false }));
	CHECK(says(&text, " std::_Rb_tree<…>::_M_erase  [prog]\n") && fits(&text, 80));

	text.len = 0; // into a file: whole
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 10, 0, true, 0, false }));
	CHECK(says(&text, "std::less<int> >::_M_erase  [prog]\n"));

	text.len = 0;
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 10, 40, true, 0, false }));
	CHECK(says(&text, "   self    total  function\n") && fits(&text, 40));
	CHECK(says(&text, "  8.3 %   33.3 %  main  [prog]\n"));
	CHECK(says(&text, "::_M_erase\n"));
}

TEST(a_module_in_brackets_gets_no_more_of_them)
{
	auto_(profile) p = small_profile();
	struct frame f = { .name = profile_string(p, STR("clock_gettime")),
			   .module = profile_string(p, STR("[vdso]")) };
	CHECK(profile_add(p, &(struct sample){ .stack = stacks_push(&p->stacks, STACK_EMPTY,
								    profile_frame(p, &f)),
					       .value = 1 }));
	struct recording_result result = { .profile = p, .command_status = -1 };
	auto_fini(buf) text = { 0 };
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 10, 80, true, 0, false }));
	CHECK(says(&text, "clock_gettime  [vdso]\n"));
}

TEST(what_would_make_a_poor_profile_better_is_told)
{
	auto_(profile) p = small_profile();
	add(p, (const char *const[]){ "prog+0x1234" }, 1, 500);
	p->info.unknown = 500;
	p->info.truncated = 100;
	p->info.engine_reason = strdup("no CAP_BPF; no kernel (do this)");
	struct recording_result result = { .profile = p, .command_status = -1 };
	auto_fini(buf) text = { 0 };
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 10, 0, true, 0, false }));
	CHECK(says(&text, "\nno CAP_BPF\nno kernel (do this)\n"));
	CHECK(says(&text, "most of it in prog: install its debug symbols"));
	CHECK(says(&text, "many stacks are truncated") && says(&text, "2,048 frames"));
	p->info.unknown = 300; // 20 and 5 percent are not yet many
	p->info.truncated = 75;
	text.len = 0;
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 10, 0, true, 0, false }));
	CHECK(!says(&text, "much is unknown") && !says(&text, "many stacks"));
}

TEST(a_summary_without_a_table)
{
	auto_(profile) p = small_profile();
	struct recording_result result = { .profile = p, .command_status = -1 };
	auto_fini(buf) text = { 0 };
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 0, 80, true, 0, false }));
	CHECK(str_starts(buf_view(&text), STR("samples 1,000")));
}

TEST(no_samples_are_explained)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	struct recording_result result = { .profile = p, .command_status = -1 };
	auto_fini(buf) text = { 0 };
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 10, 80, true, 0, false }));
	CHECK(says(&text,
		   "no samples: the target used too little CPU time (a higher rate: -F 4999)"));
	CHECK(says(&text, "only root may sample it"));

	text.len = 0;
	p->info.period = NS_PER_SEC / 4999;
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 10, 0, true, 0, true }));
	CHECK(says(&text, "no samples: the target used too little CPU time for 4999 samples a "
			  "second, or it only waited\n"));
}

TEST(the_end_of_the_target_is_told)
{
	auto_(profile) p = small_profile();
	struct recording_result result = { .profile = p, .command_status = 3 << 8 };
	auto_fini(buf) text = { 0 };
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 0, 80, false, 0, false }));
	CHECK(says(&text, "the program exited with status 3\n"));

	text.len = 0;
	result.command_status = 11; // as waitpid() tells of SIGSEGV
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 0, 80, false, 0, false }));
	CHECK(says(&text, "the program was killed by signal 11 (Segmentation fault)\n"));

	text.len = 0;
	result.command_status = 0;
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 0, 80, false, 0, false }));
	CHECK(!says(&text, "the program"));

	text.len = 0;
	result.command_status = 15;
	result.command_ended_by_us = true;
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 0, 80, false, 0, false }));
	CHECK(says(&text, "the program was still running and was ended\n"));
	CHECK(!says(&text, "signal 15"));

	text.len = 0;
	result.command_status = -1;
	result.command_left = 4711;
	CHECK_OK(summary_text(&text, &(struct summary_opts){ &result, 0, 80, false, 0, false }));
	CHECK(says(&text, "pid 4711 is still running: it did not end on SIGTERM\n"));
	CHECK(!says(&text, "was ended"));

	text.len = 0;
	result.command_ended_by_us = false;
	result.command_left = 0;
	result.targets_exited = true;
	CHECK_OK(summary_text(
		&text, &(struct summary_opts){ &result, 0, 80, true, 60 * NS_PER_SEC, false }));
	CHECK(says(&text, "the target exited after 3.2 s of 1 m 00 s"));
}

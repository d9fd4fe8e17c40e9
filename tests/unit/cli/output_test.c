// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/test.h"

// A directory of its own for a test, removed with all that is in it.
struct scratch {
	char path[64];
};

static void scratch_fini(struct scratch *s)
{
	DIR *dir = opendir(s->path);
	for (const struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(s->path);
}

static struct scratch scratch_new(void)
{
	struct scratch s = { "/tmp/wick-output-XXXXXX" };
	if (!mkdtemp(s.path))
		s.path[0] = '\0';
	return s;
}

static const char *within(const struct scratch *s, const char *name)
{
	static char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", s->path, name);
	return path;
}

static int entries(const struct scratch *s)
{
	int count = -2; // . and ..
	DIR *dir = opendir(s->path);
	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static struct output_opts to(const char *path)
{
	return (struct output_opts){
		.path = path, .format = &format_folded, .slug = "program-42", .event = "cpu"
	};
}

TEST(a_number_goes_before_the_extension)
{
	static const struct {
		const char *path, *numbered;
	} cases[] = {
		{ "a.html", "a-2.html" },
		{ "./a.b.html", "./a.b-2.html" },
		{ "dir.d/file", "dir.d/file-2" },
		{ ".hidden", ".hidden-2" },
		{ "/x/.y/z.folded", "/x/.y/z-2.folded" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *numbered = numbered_path(cases[i].path, 2);
		CHECK(numbered && strcmp(numbered, cases[i].numbered) == 0);
	}
}

TEST(the_format_is_named_or_follows_from_the_extension)
{
	const struct format *f = NULL;
	CHECK_OK(output_format("a.html", /* named= */ NULL, &f));
	CHECK(f == &format_html);
	CHECK_OK(output_format("a.html", &format_folded, &f));
	CHECK(f == &format_folded);
	CHECK_OK(output_format("-", /* named= */ NULL, &f));
	CHECK(f == &format_folded);
	CHECK_OK(output_format("-", &format_html, &f));
	CHECK(f == &format_html);
	CHECK_OK(output_format(/* path= */ NULL, /* named= */ NULL, &f));
	CHECK(f == &format_html);
	CHECK_ERROR(ERROR_USAGE, output_format("a.nonsense", /* named= */ NULL, &f));
}

TEST(a_missing_directory_is_named)
{
	struct output out = { 0 };
	struct output_opts opts = to("/nonexistent/dir/a.folded");
	struct error *err = output_open(&opts, &out);
	CHECK(err);
	bool named = strstr(err->message, "the directory /nonexistent/dir does not exist");
	error_free(err);
	CHECK(named);
	struct output_opts below_a_file = to("/etc/passwd/a.folded");
	CHECK_ERROR(ERROR_NOT_FOUND, output_open(&below_a_file, &out));
}

TEST(an_existing_file_is_refused_without_force)
{
	auto_fini(scratch) dir = scratch_new();
	const char *path = within(&dir, "a.folded");
	close(open(path, O_CREAT | O_WRONLY, 0600));
	struct output_opts opts = to(path);
	CHECK_ERROR(ERROR_EXISTS, output_open(&opts, &(struct output){ 0 }));
	opts.force = true;
	auto_fini(output) out = { 0 };
	CHECK_OK(output_open(&opts, &out));
}

TEST(a_directory_that_may_not_be_written_is_refused)
{
	if (geteuid() == 0) {
		test_skip("root may write anywhere");
		return;
	}
	struct output_opts opts = to("/a.folded");
	CHECK_ERROR(ERROR_DENIED, output_open(&opts, &(struct output){ 0 }));
}

TEST(what_is_never_written_leaves_nothing_behind)
{
	auto_fini(scratch) dir = scratch_new();
	struct output_opts opts = to(within(&dir, "a.folded"));
	struct output out = { 0 };
	CHECK_OK(output_open(&opts, &out));
	CHECK(entries(&dir) == (outfile_temporary(out.file) ? 1 : 0));
	output_fini(&out);
	CHECK(entries(&dir) == 0);
}

TEST(a_recording_is_not_lost_to_a_file_that_took_its_name_meanwhile)
{
	auto_fini(scratch) dir = scratch_new();
	auto_(profile) profile = NULL;
	CHECK_OK(profile_new(&profile));
	struct output_opts opts = to(within(&dir, "a.folded"));
	auto_fini(output) out = { 0 };
	CHECK_OK(output_open(&opts, &out));
	close(open(within(&dir, "a.folded"), O_CREAT | O_WRONLY, 0600));
	close(open(within(&dir, "a-2.folded"), O_CREAT | O_WRONLY, 0600));
	CHECK_OK(output_write(&out, profile));
	CHECK(strcmp(out.path, within(&dir, "a-3.folded")) == 0);
	CHECK(access(out.path, R_OK) == 0 && entries(&dir) == 3);
}

TEST(a_chosen_name_says_target_event_and_time_and_never_overwrites)
{
	auto_fini(scratch) dir = scratch_new();
	autofree char *before = getcwd(NULL, 0);
	CHECK(before && chdir(dir.path) == 0);
	auto_(profile) profile = NULL;
	struct error *err = profile_new(&profile);
	for (int i = 0; !err && i < 3; i++) {
		struct output_opts opts = to(NULL);
		auto_fini(output) out = { 0 };
		err = output_open(&opts, &out);
		if (!err)
			err = output_write(&out, profile);
		if (!err && strncmp(out.path, "wick-program-42-cpu-20", 22) != 0)
			test_fail(__FILE__, __LINE__, out.path);
	}
	CHECK(chdir(before) == 0);
	CHECK_OK(err);
	CHECK(entries(&dir) == 3);
}

TEST(a_full_disk_is_an_error_and_leaves_nothing)
{
	struct output_opts opts = to("/dev/full");
	opts.force = true;
	auto_(profile) profile = NULL;
	CHECK_OK(profile_new(&profile));
	uint32_t frame = profile_frame(
		profile, &(struct frame){ .name = profile_string(profile, STR("main")) });
	uint32_t stack = stacks_push(&profile->stacks, STACK_EMPTY, frame);
	CHECK(profile_thread(profile, &(struct thread){ 0 }) == 0);
	CHECK(profile_add(profile, &(struct sample){ .stack = stack, .value = 1 }));
	auto_fini(output) out = { 0 };
	CHECK_OK(output_open(&opts, &out));
	struct error *err = output_write(&out, profile);
	bool said = err && strstr(err->message, strerror(ENOSPC));
	error_free(err);
	CHECK(said);
	CHECK(access("/dev/full", W_OK) == 0);
}

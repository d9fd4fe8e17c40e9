// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/test.h"

struct scratch {
	char dir[32];
	char path[64]; // in dir
};

static void scratch_fini(struct scratch *s)
{
	unlink(s->path);
	rmdir(s->dir);
}

static bool scratch_init(struct scratch *s)
{
	strcpy(s->dir, "/tmp/wick-test-XXXXXX");
	return mkdtemp(s->dir) && snprintf(s->path, sizeof(s->path), "%s/out", s->dir) > 0;
}

// Writes through an outfile up to the commit, whose error it returns.
static struct error *write_file(const char *path, bool overwrite, const char *text)
{
	struct outfile *out = NULL;
	struct error *err =
		outfile_open(&(struct outfile_opts){ .path = path, .overwrite = overwrite }, &out);
	if (err)
		return err;
	fputs(text, outfile_stream(out));
	return outfile_commit_consume(out);
}

TEST(file_read_reads_a_proc_file_whose_size_is_not_known)
{
	auto_fini(buf) content = { 0 };
	CHECK_OK(file_read("/proc/self/status", &content));
	CHECK(str_starts(buf_view(&content), STR("Name:\tunit-base\n")));
}

TEST(file_read_says_which_file_and_why)
{
	struct buf content = { 0 };
	auto_(error) err = file_read("/nowhere/at/all", &content);
	CHECK(err && err->code == ERROR_NOT_FOUND);
	CHECK(strcmp(err->message, "open /nowhere/at/all: No such file or directory") == 0);
	CHECK(!content.at);
	CHECK_ERROR(ERROR_FAILED, file_read("/", &content));
}

TEST(outfile_refuses_a_directory_and_a_path_through_nothing_at_once)
{
	struct outfile *out = NULL;
	struct outfile_opts opts = { .path = "/tmp", .overwrite = true };
	CHECK_ERROR(ERROR_FAILED, outfile_open(&opts, &out));
	opts.path = "/nowhere/at/all";
	CHECK_ERROR(ERROR_NOT_FOUND, outfile_open(&opts, &out));
	CHECK(!out);
}

TEST(outfile_replaces_a_file_only_when_told_to)
{
	__attribute__((cleanup(scratch_fini))) struct scratch s = { 0 };
	CHECK(scratch_init(&s));
	CHECK_OK(write_file(s.path, false, "one"));
	CHECK_ERROR(ERROR_EXISTS, write_file(s.path, false, "two"));
	CHECK_OK(write_file(s.path, true, "three"));
	auto_fini(buf) content = { 0 };
	CHECK_OK(file_read(s.path, &content));
	CHECK(str_eq(buf_view(&content), STR("three")));
}

TEST(outfile_does_not_replace_a_file_that_appeared_meanwhile)
{
	__attribute__((cleanup(scratch_fini))) struct scratch s = { 0 };
	CHECK(scratch_init(&s));
	struct outfile *out = NULL;
	CHECK_OK(outfile_open(&(struct outfile_opts){ .path = s.path }, &out));
	fputs("late", outfile_stream(out));
	struct error *err = write_file(s.path, false, "early");
	if (err)
		outfile_free(out);
	CHECK_OK(err);
	CHECK_ERROR(ERROR_EXISTS, outfile_commit_consume(out));
	auto_fini(buf) content = { 0 };
	CHECK_OK(file_read(s.path, &content));
	CHECK(str_eq(buf_view(&content), STR("early")));
	CHECK(unlink(s.path) == 0 && rmdir(s.dir) == 0); // nothing else was left behind
}

TEST(outfile_gets_the_permissions_any_new_file_would_get)
{
	__attribute__((cleanup(scratch_fini))) struct scratch s = { 0 };
	CHECK(scratch_init(&s));
	mode_t mask = umask(027);
	struct error *err = write_file(s.path, false, "x");
	umask(mask);
	CHECK_OK(err);
	struct stat st;
	CHECK(stat(s.path, &st) == 0 && (st.st_mode & 0777) == 0640);
}

TEST(outfile_keeps_the_permissions_of_what_it_replaces)
{
	__attribute__((cleanup(scratch_fini))) struct scratch s = { 0 };
	CHECK(scratch_init(&s));
	CHECK_OK(write_file(s.path, false, "one"));
	bool given = geteuid() == 0 && chown(s.path, 65534, 65533) == 0;
	CHECK(chmod(s.path, 0604) == 0);
	CHECK_OK(write_file(s.path, true, "two"));
	struct stat st;
	CHECK(stat(s.path, &st) == 0 && (st.st_mode & 0777) == 0604 && st.st_size == 3);
	CHECK(!given || (st.st_uid == 65534 && st.st_gid == 65533));
	CHECK(unlink(s.path) == 0 && rmdir(s.dir) == 0);
}

TEST(outfile_replaces_what_a_link_leads_to_and_not_the_link)
{
	__attribute__((cleanup(scratch_fini))) struct scratch s = { 0 };
	char link_path[80];
	CHECK(scratch_init(&s));
	CHECK_OK(write_file(s.path, false, "one"));
	snprintf(link_path, sizeof(link_path), "%s/link", s.dir);
	CHECK(symlink("out", link_path) == 0);
	struct error *err = write_file(link_path, true, "two");
	struct stat st;
	bool stays = lstat(link_path, &st) == 0 && S_ISLNK(st.st_mode);
	unlink(link_path);
	CHECK_OK(err);
	CHECK(stays);
	auto_fini(buf) content = { 0 };
	CHECK_OK(file_read(s.path, &content));
	CHECK(str_eq(buf_view(&content), STR("two")));
}

TEST(outfile_leaves_nothing_when_it_is_given_up)
{
	for (int overwrite = 0; overwrite < 2; overwrite++) {
		__attribute__((cleanup(scratch_fini))) struct scratch s = { 0 };
		CHECK(scratch_init(&s));
		struct outfile *out = NULL;
		CHECK_OK(outfile_open(
			&(struct outfile_opts){ .path = s.path, .overwrite = overwrite }, &out));
		// What has a name is told to who has to remove it; what has none is not there.
		const char *temporary = outfile_temporary(out);
		bool told = temporary ? access(temporary, F_OK) == 0 : rmdir(s.dir) == 0;
		outfile_free(out);
		CHECK(told);
		CHECK(!temporary || rmdir(s.dir) == 0);
	}
}

TEST(outfile_names_a_full_disk_however_much_was_written)
{
	struct outfile *out = NULL;
	struct outfile_opts opts = { .path = "/dev/full", .overwrite = true };
	CHECK_OK(outfile_open(&opts, &out));
	for (int i = 0; i < 100000; i++)
		fputs("a line that overflows the buffer\n", outfile_stream(out));
	auto_(error) err = outfile_commit_consume(out);
	CHECK(err && strcmp(err->message, "write /dev/full: No space left on device") == 0);
}

// SPDX-License-Identifier: Apache-2.0
// Runs a fuzzer without libFuzzer, as an ordinary test: every file of a corpus, then mutations of
// them. The mutations come from a fixed seed: the same program and corpus try the same inputs in
// the same order. An input that crashes or hangs is kept in a file, named in the output.
//
//   fuzz-NAME CORPUS      the corpus and its mutations; prints TAP
//   fuzz-NAME FILE        just this input
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"
#include "tests/fuzz/fuzz.h"

#define MUTATIONS 2000 // of each seed, unless time runs out
#define TIME_LIMIT (5 * NS_PER_SEC)
#ifndef HANG_SECONDS
#define HANG_SECONDS 20
#endif
#define INPUT_MAX (1u << 20)

struct seed {
	char *name;
	struct buf bytes;
};

struct corpus {
	VEC(struct seed) seeds;
};

// What is being tried, for the handlers that run when it goes wrong.
static struct {
	const uint8_t *data;
	size_t size;
	char path[512]; // where to keep it
} current;

// Provided by the sanitizers, where they are linked in.
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));
// Asked for by UBSan, whose death has no callback: it shall abort, which is a signal.
__attribute__((visibility("default"))) const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

static void say(const char *text)
{
	ssize_t ignored = write(STDOUT_FILENO, text, strlen(text));
	(void)ignored;
}

static void keep_input(void)
{
	if (!current.data)
		return;
	int fd = open(current.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	ssize_t ignored = write(fd, current.data, current.size);
	(void)ignored;
	close(fd);
	say("# the input is kept in ");
	say(current.path);
	say("\n");
}

static void on_signal(int sig)
{
	say(sig == SIGALRM ? "# an input takes too long\n" : "# crashed\n");
	keep_input();
	_exit(1);
}

static void watch(const char *program)
{
	const char *build = getenv("WICK_BUILD");
	snprintf(current.path, sizeof(current.path), "%s/crash-%s", build ? build : "/tmp",
		 strrchr(program, '/') ? strrchr(program, '/') + 1 : program);
	signal(SIGALRM, on_signal);
	signal(SIGABRT, on_signal);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(keep_input);
		return;
	}
	signal(SIGSEGV, on_signal);
	signal(SIGBUS, on_signal);
}

// The input is a block of exactly its size, so that one byte too far is noticed.
static void try_input(const void *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy)
		abort();
	if (size != 0)
		memcpy(copy, bytes, size);
	current.data = copy;
	current.size = size;
	alarm(HANG_SECONDS);
	LLVMFuzzerTestOneInput(copy, size);
	alarm(0);
	current.data = NULL;
	free(copy);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static size_t below(uint64_t *state, size_t limit)
{
	return limit ? next_random(state) % limit : 0;
}

static void flip_bit(struct buf *b, const struct buf *other, uint64_t *state)
{
	(void)other;
	b->at[below(state, b->len)] ^= (char)(1 << below(state, 8));
}

static void set_byte(struct buf *b, const struct buf *other, uint64_t *state)
{
	static const char bytes[] = "\x00\x01\x7f\x80\xff\n \t-/:09afx";
	(void)other;
	b->at[below(state, b->len)] = bytes[below(state, sizeof(bytes) - 1)];
}

static void set_number(struct buf *b, const struct buf *other, uint64_t *state)
{
	static const uint64_t numbers[] = { 0,          1,          0x7f,       0xff,
					    0x7fff,     0xffff,     0x7fffffff, 0xffffffff,
					    1ull << 32, 1ull << 48, INT64_MAX,  UINT64_MAX };
	(void)other;
	uint64_t number = numbers[below(state, ARRAY_SIZE(numbers))];
	size_t size = (size_t)1 << below(state, 4);
	if (b->len >= size)
		memcpy(b->at + below(state, b->len - size + 1), &number, size);
}

static void truncate_end(struct buf *b, const struct buf *other, uint64_t *state)
{
	(void)other;
	b->len = below(state, b->len);
}

static void remove_range(struct buf *b, const struct buf *other, uint64_t *state)
{
	(void)other;
	size_t from = below(state, b->len);
	size_t size = 1 + below(state, MIN(b->len - from, (size_t)64));
	memmove(b->at + from, b->at + from + size, b->len - from - size);
	b->len -= size;
}

static void repeat_range(struct buf *b, const struct buf *other, uint64_t *state)
{
	(void)other;
	size_t from = below(state, b->len);
	size_t size = 1 + below(state, MIN(b->len - from, (size_t)256));
	autofree char *range = malloc(size);
	if (!range || b->len > INPUT_MAX)
		return;
	memcpy(range, b->at + from, size);
	for (size_t times = 1 + below(state, 8); times != 0; times--)
		buf_add(b, range, size);
}

static void copy_from_other(struct buf *b, const struct buf *other, uint64_t *state)
{
	size_t size = 1 + below(state, MIN(b->len, (size_t)512));
	if (other->len < size)
		return;
	memcpy(b->at + below(state, b->len - size + 1),
	       other->at + below(state, other->len - size + 1), size);
}

// Each changes a buffer that is not empty.
static void (*const mutations[])(struct buf *b, const struct buf *other, uint64_t *state) = {
	flip_bit,     flip_bit,     set_byte,     set_byte,        set_number,
	truncate_end, remove_range, repeat_range, copy_from_other,
};

static void try_mutation(const struct corpus *c, const struct seed *seed, uint64_t *state)
{
	auto_fini(buf) b = { 0 };
	buf_str(&b, buf_view(&seed->bytes));
	for (size_t count = 1 + below(state, 4); count != 0 && b.len != 0; count--) {
		const struct seed *other = &c->seeds.at[below(state, c->seeds.len)];
		mutations[below(state, ARRAY_SIZE(mutations))](&b, &other->bytes, state);
	}
	if (!b.failed)
		try_input(b.at, b.len);
}

// Round by round over all seeds, so that each gets its share of the time. Returns the rounds done.
static int try_mutations(struct corpus *c)
{
	uint64_t state = 0x9e3779b97f4a7c15ull, end = clock_now() + TIME_LIMIT;
	int round = 0;
	for (; round < MUTATIONS && clock_now() < end; round++)
		vec_each (seed, &c->seeds)
			try_mutation(c, seed, &state);
	return round;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct seed *)a)->name, ((const struct seed *)b)->name);
}

static struct error *read_seed(struct corpus *c, const char *path, const char *name)
{
	struct seed seed = { .name = strdup(name) };
	if (!seed.name || !vec_push(&c->seeds, seed))
		return &error_no_memory;
	return file_read(path, &vec_last(&c->seeds)->bytes);
}

static struct error *read_corpus(struct corpus *c, const char *dir)
{
	DIR *d = opendir(dir);
	if (!d)
		return error_sys(errno, "open %s", dir);
	struct error *err = NULL;
	for (struct dirent *entry; !err && (entry = readdir(d));) {
		if (entry->d_name[0] == '.')
			continue;
		auto_fini(buf) path = { 0 };
		buf_printf(&path, "%s/%s", dir, entry->d_name);
		err = read_seed(c, buf_cstr(&path), entry->d_name);
	}
	closedir(d);
	vec_sort(&c->seeds, compare_names);
	return err;
}

static void corpus_fini(struct corpus *c)
{
	vec_each (seed, &c->seeds) {
		free(seed->name);
		buf_fini(&seed->bytes);
	}
	vec_fini(&c->seeds);
}

static int run_corpus(struct corpus *c)
{
	if (c->seeds.len == 0) {
		printf("not ok 1 - the corpus has seeds\n1..1\n");
		return 1;
	}
	size_t count = 0;
	vec_each (seed, &c->seeds) {
		printf("# %s\n", seed->name);
		try_input(seed->bytes.at, seed->bytes.len);
		printf("ok %zu - %s is read without harm\n", ++count, seed->name);
	}
	int rounds = try_mutations(c);
	printf("%sok %zu - %d mutations of each seed are read without harm\n",
	       rounds == 0 ? "not " : "", ++count, rounds);
	printf("1..%zu\n", count);
	return rounds == 0;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s CORPUS|FILE\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	watch(argv[0]);
	__attribute__((cleanup(corpus_fini))) struct corpus corpus = { 0 };
	struct stat st;
	bool is_dir = stat(argv[1], &st) == 0 && S_ISDIR(st.st_mode);
	auto_(error) err =
		is_dir ? read_corpus(&corpus, argv[1]) : read_seed(&corpus, argv[1], argv[1]);
	if (err) {
		printf("Bail out! %s\n", err->message);
		return 1;
	}
	if (is_dir)
		return run_corpus(&corpus);
	try_input(corpus.seeds.at[0].bytes.at, corpus.seeds.at[0].bytes.len);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Loads all of wick's kernel programs, with everything on that can be on, and prints for each one
// what the verifier says at the end: what it did if it is content, else why it is not.
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/unwind.h"

#include "sample.skel.h"

#define PROGRAMS_MAX 16
#define LOG_SIZE (16u << 20) // the way to a complaint is long
#define LOG_LINES 30         // and its end is what counts
// Of the verifier's log: the way to a complaint, and statistics.
#define LOG_LEVEL (1 | 4)

static int to_stderr(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_DEBUG ? 0 : vfprintf(stderr, format, args);
}

static const char *last_lines(const char *text)
{
	const char *at = text + strlen(text);
	for (int lines = 0; at > text; at--)
		if (at[-1] == '\n' && lines++ == LOG_LINES)
			break;
	return at;
}

static struct sample_bpf *open_programs(void)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_level = LOG_LEVEL);
	struct sample_bpf *skel = sample_bpf__open_opts(&opts);
	if (skel) {
		skel->rodata->want_kernel = 1;
		skel->rodata->follow_children = 1;
	}
	return skel;
}

int main(void)
{
	char *logs[PROGRAMS_MAX] = { NULL };
	struct bpf_program *program = NULL;
	size_t count = 0;

	libbpf_set_print(to_stderr);
	struct sample_bpf *skel = open_programs();
	if (!skel)
		return 1;
	while ((program = bpf_object__next_program(skel->obj, program))) {
		if (count == PROGRAMS_MAX || !(logs[count] = calloc(1, LOG_SIZE)))
			return 1;
		bpf_program__set_log_buf(program, logs[count++], LOG_SIZE);
	}
	int result = sample_bpf__load(skel);
	count = 0;
	while ((program = bpf_object__next_program(skel->obj, program)))
		printf("%s: %zu instructions\n%s", bpf_program__name(program),
		       bpf_program__insn_cnt(program), last_lines(logs[count++]));
	return result != 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/object/readelf_frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static const char *const names[READELF_REGS] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
						 "rbp", "rsp", "r8",  "r9",  "r10", "r11",
						 "r12", "r13", "r14", "r15", "ra" };

struct reader {
	struct readelf_frames *frames;
	bool wanted;     // in the section asked for
	bool in_cie;     // else in an FDE
	uint64_t cie;    // its offset
	uint64_t start;  // of the FDE
	uint64_t end;    // of the FDE
	int columns[64]; // register numbers by column after CFA, -1 if of no interest
	size_t column_count;
	size_t first; // the FDE's first row
};

static void read_header(struct reader *r, char *rest)
{
	r->column_count = 0;
	for (char *word; (word = strtok_r(NULL, " \n", &rest)) && r->column_count < 64;) {
		int reg = READELF_REGS - 1;
		while (reg >= 0 && strcmp(names[reg], word) != 0)
			reg--;
		r->columns[r->column_count++] = reg;
	}
}

static void read_row(struct reader *r, uint64_t start, char *rest)
{
	struct readelf_row row = { .start = start, .end = r->end };
	const char *cfa = strtok_r(NULL, " \n", &rest);
	snprintf(row.cfa, sizeof(row.cfa), "%s", cfa ? cfa : "");
	for (size_t i = 0; i < r->column_count; i++) {
		const char *cell = strtok_r(NULL, " \n", &rest);
		// A register prints as "r5 (rdi)".
		if (cell && rest && rest[0] == '(')
			cell = strtok_r(NULL, " ()\n", &rest);
		if (cell && r->columns[i] >= 0)
			snprintf(row.regs[r->columns[i]], READELF_CELL, "%s", cell);
	}
	struct readelf_frames *f = r->frames;
	if (r->in_cie) {
		row.start = r->cie;
		vec_push(&f->cies, row);
		return;
	}
	if (f->rows.len > r->first)
		vec_last(&f->rows)->end = start;
	vec_push(&f->rows, row);
}

// An FDE that changes nothing is printed without a table: its CIE's row holds.
static void finish_fde(struct reader *r)
{
	struct readelf_frames *f = r->frames;
	if (r->in_cie || r->start == r->end || f->rows.len > r->first)
		return;
	vec_each (cie, &f->cies) {
		if (cie->start != r->cie)
			continue;
		struct readelf_row row = *cie;
		row.start = r->start;
		row.end = r->end;
		vec_push(&f->rows, row);
		return;
	}
}

static void read_line(struct reader *r, char *line)
{
	uint64_t offset, cie, start, end;
	int header = 0;
	char *rest = NULL;
	if (sscanf(line, "%" SCNx64 " %*x %*x FDE cie=%" SCNx64 " pc=%" SCNx64 "..%" SCNx64,
		   &offset, &cie, &start, &end) == 4) {
		finish_fde(r);
		r->in_cie = false;
		r->cie = cie;
		r->start = start;
		r->end = end;
		r->first = r->frames->rows.len;
		return;
	}
	if (sscanf(line, "%" SCNx64 " %*x %*x CIE%n", &offset, &header) == 1 && header != 0) {
		finish_fde(r);
		r->in_cie = true;
		r->cie = offset;
		return;
	}
	const char *word = strtok_r(line, " \n", &rest);
	if (!word)
		return;
	if (strcmp(word, "LOC") == 0) {
		strtok_r(NULL, " \n", &rest); // "CFA"
		read_header(r, rest);
	} else if (strlen(word) == 16 && sscanf(word, "%" SCNx64, &start) == 1) {
		read_row(r, start, rest);
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct readelf_row *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

bool readelf_frames_read(const char *path, const char *section, struct readelf_frames *ret)
{
	autofree char *command = NULL, *line = NULL;
	size_t size = 0;
	bool any = false;
	struct reader r = { .frames = ret, .in_cie = true };
	if (asprintf(&command, "LC_ALL=C readelf -W --debug-dump=frames-interp '%s' 2>/dev/null",
		     path) < 0)
		return false;
	FILE *output = popen(command, "r");
	if (!output)
		return false;
	while (getline(&line, &size, output) > 0) {
		if (strncmp(line, "Contents of the ", 16) == 0) {
			finish_fde(&r);
			ret->partial = any;
			any = true;
			r = (struct reader){ .frames = ret, .in_cie = true };
			r.wanted = strncmp(line + 16, section, strlen(section)) == 0 &&
				   line[16 + strlen(section)] == ' ';
		} else if (r.wanted) {
			read_line(&r, line);
		}
	}
	finish_fde(&r);
	vec_sort(&ret->rows, compare_rows);
	pclose(output); // readelf also fails for want of a debug file that it does not need
	return ret->rows.len != 0;
}

void readelf_frames_fini(struct readelf_frames *f)
{
	vec_fini(&f->rows);
	vec_fini(&f->cies);
}

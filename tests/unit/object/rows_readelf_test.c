// SPDX-License-Identifier: Apache-2.0
// Every row of real files against what binutils' readelf makes of the same tables.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "object/rows.h"
#include "tests/test.h"
#include "tests/unit/object/plain_walk.h"
#include "tests/unit/object/readelf_frames.h"

static const uint8_t saved_regs[ARCH_SAVED_COUNT] = ARCH_SAVED_REGS;
static const char *const names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
				     "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15" };

// "c-16": the register is 16 below the CFA.
static bool is_offset(const char *cell, long *ret)
{
	char *end;
	if (cell[0] != 'c')
		return false;
	*ret = strtol(cell + 1, &end, 10);
	return *end == '\0';
}

static bool is_unchanged(const char *cell)
{
	return cell[0] == '\0' || strcmp(cell, "u") == 0 || strcmp(cell, "s") == 0;
}

static bool saved_matches(const struct wire_rule *rule, unsigned i, const char *cell)
{
	long offset;
	bool fp_based = rule->fp_based >> i & 1;
	if (is_offset(cell, &offset))
		return !fp_based && rule->saved[i] * 8 == offset;
	if (strcmp(cell, "exp") == 0)
		return fp_based;
	return is_unchanged(cell) && !fp_based &&
	       (rule->saved[i] == SAVED_SAME || rule->saved[i] == SAVED_UNKNOWN);
}

static bool return_matches(const struct wire_rule *rule, const char *cell)
{
	long offset;
	if (rule->flags & RULE_RA_IN_REG)
		return rule->ra >= 0 && rule->ra < ARCH_REG_COUNT &&
		       strcmp(names[rule->ra], cell) == 0;
	return is_offset(cell, &offset) && rule->ra * 8 == offset;
}

static bool cfa_matches(const struct wire_rule *rule, int32_t cfa_offset, const char *cell)
{
	char text[READELF_CELL];
	if (strcmp(cell, "exp") == 0)
		return rule->cfa == CFA_DEREF || rule->cfa == CFA_PLT ||
		       (rule->cfa == CFA_REG && rule->cfa_reg == ARCH_REG_SP);
	snprintf(text, sizeof(text), "%s+%d", names[rule->cfa_reg], cfa_offset);
	return rule->cfa == CFA_REG && strcmp(text, cell) == 0;
}

// Whether readelf shows anything that a rule cannot say.
static bool is_complicated(const struct readelf_row *row)
{
	bool complicated = strcmp(row->cfa, "exp") == 0 || !is_unchanged(row->regs[ARCH_REG_SP]);
	for (unsigned i = 0; i < ARCH_SAVED_COUNT; i++) {
		const char *cell = row->regs[saved_regs[i]];
		long offset;
		complicated |= !is_unchanged(cell) && !is_offset(cell, &offset);
	}
	return complicated;
}

static bool row_matches(const struct wire_rule *rule, int32_t cfa_offset,
			const struct readelf_row *row)
{
	const char *ra = row->regs[ARCH_REG_RA];
	if (strcmp(ra, "u") == 0)
		return rule->cfa == CFA_END;
	if (rule->cfa == CFA_EXPR || rule->cfa == CFA_SIGNAL)
		return is_complicated(row);
	bool same = cfa_matches(rule, cfa_offset, row->cfa) && return_matches(rule, ra);
	for (unsigned i = 0; i < ARCH_SAVED_COUNT; i++)
		same = same && saved_matches(rule, i, row->regs[saved_regs[i]]);
	return same;
}

struct comparison {
	struct object *object;
	struct rules rules;
	struct row_page page;
	uint64_t page_number;
	bool has_page;
	size_t rows;    // of readelf
	size_t wrong;   // of readelf that differ somewhere
	size_t unlike;  // of readelf for which rule and full table lead to different callers
	size_t outside; // our rows for code that readelf does not know
	size_t kinds[CFA_KIND_COUNT]; // readelf's rows by our kind of CFA
};

static void comparison_fini(struct comparison *c)
{
	row_page_fini(&c->page);
	rules_fini(&c->rules);
	object_free(c->object);
}

// The row that holds at a file offset, and where the next one starts.
static const struct wire_row *row_at(struct comparison *c, uint64_t offset, uint64_t *ret_next)
{
	if (!c->has_page || c->page_number != offset >> TEXT_PAGE_SHIFT) {
		row_page_fini(&c->page);
		c->page_number = offset >> TEXT_PAGE_SHIFT;
		auto_(error) err =
			object_row_page(c->object, (uint32_t)c->page_number, &c->rules, &c->page);
		c->has_page = !err;
		if (err || c->page.rows.len == 0 || c->page.rows.at[0].low16 != 0)
			abort();
	}
	size_t low = 0, high = c->page.rows.len;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;
		if (c->page.rows.at[middle].low16 <= (offset & (TEXT_PAGE_SIZE - 1)))
			low = middle;
		else
			high = middle;
	}
	uint64_t page_start = c->page_number << TEXT_PAGE_SHIFT;
	*ret_next = page_start +
		    (high < c->page.rows.len ? c->page.rows.at[high].low16 : TEXT_PAGE_SIZE);
	return &c->page.rows.at[low];
}

// A target whose memory is different everywhere.
static bool read_anything(void *ctx, uint64_t address, uint64_t *ret)
{
	(void)ctx;
	*ret = map_mix(address * 0x9e3779b97f4a7c15u + 1);
	return true;
}

// Whether the rule leads to the same caller as the file's own table, which we can also run in full.
static bool same_caller(struct comparison *c, uint64_t offset, uint64_t vaddr)
{
	uint64_t next;
	const struct wire_row *row = row_at(c, offset, &next);
	const struct wire_rule *rule = &c->rules.list.at[row->rule];
	const struct memory_reader memory = { read_anything, NULL };
	struct walk_state by_rule = { .pc = vaddr + 0x7f0000000000, .known = 0xffff, .exact = 1 };
	for (unsigned i = 0; i < ARCH_REG_COUNT; i++)
		by_rule.regs[i] = map_mix(offset + i) & ~7ull;
	struct walk_state by_table = by_rule;
	bool found = object_unwind_expr(c->object, offset, &memory, &by_table);
	if (rule->cfa == CFA_END || rule->cfa == CFA_EXPR)
		return found == (rule->cfa == CFA_EXPR);
	if (!plain_walk(rule, row, &memory, &by_rule) || !found)
		return false;
	for (unsigned i = 0; i < ARCH_REG_COUNT; i++)
		if (by_rule.known >> i & 1 &&
		    (!(by_table.known >> i & 1) || by_table.regs[i] != by_rule.regs[i]))
			return false;
	return by_rule.pc == by_table.pc && by_rule.exact == by_table.exact &&
	       !((by_rule.known ^ by_table.known) & (ARCH_SAVED_MASK | 1u << ARCH_REG_SP));
}

static void compare_row(struct comparison *c, const struct readelf_row *row)
{
	uint64_t offset;
	bool same = object_offset(c->object, row->start, &offset);
	if (same && !same_caller(c, offset, row->start) && ++c->unlike <= 10)
		printf("# %" PRIx64 ": rule and table differ\n", row->start);
	uint64_t end = offset + (row->end - row->start);
	unsigned kind = 0;
	while (same && offset < end) {
		const struct wire_row *ours = row_at(c, offset, &offset);
		const struct wire_rule *rule = &c->rules.list.at[ours->rule];
		same = row_matches(rule, ours->cfa_offset, row);
		kind = rule->cfa;
	}
	c->rows++;
	c->kinds[kind]++;
	if (!same && ++c->wrong <= 10)
		printf("# %" PRIx64 "..%" PRIx64 ": readelf says CFA %s, ra %s, rbx %s, rbp %s\n",
		       row->start, row->end, row->cfa, row->regs[ARCH_REG_RA], row->regs[X86_RBX],
		       row->regs[X86_RBP]);
}

// Between two rows of readelf there is nothing, except where the program starts.
static void compare_gap(struct comparison *c, uint64_t start, uint64_t end)
{
	uint64_t offset, from, to;
	if (start >= end || !object_offset(c->object, start, &from) ||
	    !object_offset(c->object, end - 1, &to) || to - from != end - 1 - start)
		return;
	for (offset = from; offset <= to;) {
		uint16_t rule = row_at(c, offset, &offset)->rule;
		if (rule != RULE_NONE && c->rules.list.at[rule].cfa != CFA_END)
			c->outside++;
	}
}

static struct error *compare(const char *path, struct readelf_frames *frames, struct comparison *c)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(errno, "open %s", path);
	struct error *err = object_open_consume_fd(
		fd, &(struct object_opts){ .path = path, .root = "" }, &c->object);
	if (!err)
		err = rules_init(&c->rules);
	if (err)
		return err;
	vec_each (row, &frames->rows) {
		compare_row(c, row);
		if (!frames->partial && row + 1 < frames->rows.at + frames->rows.len)
			compare_gap(c, row->end, row[1].start);
	}
	return NULL;
}

// Compares and fails the test if anything differs; *ret then has what was found.
static void check_file(const char *path, const char *section, struct comparison *ret)
{
	auto_fini(readelf_frames) frames = { 0 };
	if (access(path, R_OK) != 0 || !readelf_frames_read(path, section, &frames)) {
		test_skip("readelf or the file to look at is missing");
		return;
	}
	auto_fini(comparison) c = { 0 };
	CHECK_OK(compare(path, &frames, &c));
	printf("# %s %s: %zu rows, %zu rules, %zu need expressions, %zu other kinds\n", path,
	       section, c.rows, c.rules.list.len, c.kinds[CFA_EXPR],
	       c.rows - c.kinds[CFA_REG] - c.kinds[CFA_EXPR]);
	memcpy(ret->kinds, c.kinds, sizeof(c.kinds));
	ret->rows = c.rows;
	CHECK(c.rows > 0);
	CHECK(c.wrong == 0);
	CHECK(c.unlike == 0);
	CHECK(c.outside == 0);
}

TEST(rows_of_libc_are_those_of_readelf)
{
	struct comparison c = { 0 };
	check_file("/lib/x86_64-linux-gnu/libc.so.6", ".eh_frame", &c);
	if (c.rows == 0)
		return;
	CHECK(c.kinds[CFA_SIGNAL] == 1); // __restore_rt
	CHECK(c.kinds[CFA_PLT] == 1);
	CHECK(c.kinds[CFA_END] > 0);
}

TEST(rows_of_the_dynamic_linker_are_those_of_readelf)
{
	struct comparison c = { 0 };
	check_file("/lib64/ld-linux-x86-64.so.2", ".eh_frame", &c);
}

TEST(rows_of_libstdcxx_are_those_of_readelf)
{
	struct comparison c = { 0 };
	check_file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", ".eh_frame", &c);
}

TEST(rows_of_ourselves_are_those_of_readelf)
{
	struct comparison c = { 0 };
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	CHECK(len > 0);
	self[len] = '\0';
	check_file(self, ".eh_frame", &c);
}

static const char program[] =
	"#include <alloca.h>\n"
	"#include <setjmp.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"static jmp_buf env;\n"
	"__attribute__((noinline, noreturn)) static void leave(int n) { longjmp(env, n); }\n"
	"__attribute__((noinline)) static int vla(int n) {\n"
	"	char a[n]; memset(a, n, n); return puts(a) + a[n / 2]; }\n"
	"__attribute__((noinline)) static int realigned(int n) {\n"
	"	char a[300] __attribute__((aligned(64))); char *p = alloca(n);\n"
	"	memset(a, n, 300); memset(p, n, n); return puts(a) + puts(p); }\n"
	"__attribute__((noinline)) static long many(long a, long b, long c, long d) {\n"
	"	long r = 0; for (long i = 0; i < a; i++) r += labs(a * i) * labs(b + i) - labs(c) "
	"% labs(d + i);\n"
	"	return r > 5 ? many(r % 3, b, c, d) + r : printf(\"%ld %ld %ld %ld\", a, b, c, d); "
	"}\n"
	"int main(int argc, char **argv) {\n"
	"	if (setjmp(env)) return 1;\n"
	"	if (argc > 5) leave(argc);\n"
	"	return vla(argc) + realigned(argc) + many(argc, 3, 4, argv[0][0]) > 7; }\n";

// Compiles the program above with these flags and compares.
static void check_compiled(const char *flags, const char *section, struct comparison *ret)
{
	char path[] = "/tmp/wick-rows-XXXXXX";
	autoclose int fd = mkstemp(path);
	CHECK(fd >= 0);
	autofree char *command = NULL;
	CHECK(asprintf(&command, "gcc %s -w -x c - -o %s 2>/dev/null", flags, path) > 0);
	FILE *compiler = popen(command, "w");
	CHECK(compiler);
	fputs(program, compiler);
	if (pclose(compiler) == 0)
		check_file(path, section, ret);
	else
		test_skip("no gcc, or not these flags");
	unlink(path);
}

TEST(rows_of_optimised_code_are_those_of_readelf)
{
	struct comparison c = { 0 };
	check_compiled("-O2 -fomit-frame-pointer", ".eh_frame", &c);
	if (c.rows == 0)
		return;
	CHECK(c.kinds[CFA_DEREF] > 0 && c.kinds[CFA_EXPR] == 0);
}

TEST(rows_of_code_with_frame_pointers_are_those_of_readelf)
{
	struct comparison c = { 0 };
	check_compiled("-O0 -fno-omit-frame-pointer", ".eh_frame", &c);
}

TEST(rows_of_unoptimised_static_code_are_those_of_readelf)
{
	struct comparison c = { 0 };
	check_compiled("-O1 -static", ".eh_frame", &c);
}

TEST(rows_of_a_linkage_table_with_endbr64_are_those_of_readelf)
{
	struct comparison c = { 0 };
	check_compiled("-O2 -fcf-protection=full -Wl,-z,ibtplt -Wl,-z,lazy", ".eh_frame", &c);
	if (c.rows == 0)
		return;
	CHECK(c.kinds[CFA_PLT] == 1 && c.kinds[CFA_EXPR] == 0);
}

TEST(rows_of_code_with_debug_information_only_are_those_of_readelf)
{
	struct comparison c = { 0 };
	check_compiled("-O2 -g -fno-asynchronous-unwind-tables -fno-exceptions", ".debug_frame",
		       &c);
}

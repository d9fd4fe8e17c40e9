// SPDX-License-Identifier: Apache-2.0
#include "symbolize/perf_map.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/rooted.h"
#include "base/vec.h"
#include "target/proc.h"

#define TEXT_MAX ((size_t)100 << 20)
// Clocks of files and processes do not agree to the second.
#define AGE_SLACK_SECONDS 2
#define LINES_MAX ((size_t)2 << 20)

// A line of the map. Its place in the list is its age.
struct line {
	uint64_t start, end;
	uint32_t name, name_len; // in the text
	uint32_t stored;         // where the name is in the pool, once it is; else NOT_STORED
};
#define NOT_STORED UINT32_MAX

// What is left of a line after later ones took their parts.
struct segment {
	uint64_t start, end;
	uint32_t name, name_len;
};

struct perf_map {
	VEC(struct segment) segments; // by address, not overlapping
	struct buf names;
	int fd;    // -1 if it does not come from a file
	off_t end; // how much of it was there to be read
};

typedef VEC(struct line) line_vec;

static bool parse_hex(struct str s, uint64_t *ret)
{
	if (str_starts(s, STR("0x")) || str_starts(s, STR("0X")))
		s = str_skip(s, 2);
	return str_to_u64(s, 16, ret);
}

static bool parse_line(struct str rest, const char *text, struct line *ret)
{
	struct str start = str_split(&rest, ' '), length = str_split(&rest, ' ');
	uint64_t size;
	if (str_ends(rest, STR("\r")))
		rest.len--;
	if (rest.len == 0 || !parse_hex(start, &ret->start) || !parse_hex(length, &size) ||
	    size == 0 || __builtin_add_overflow(ret->start, size, &ret->end))
		return false;
	ret->name = (uint32_t)(rest.ptr - text);
	ret->name_len = (uint32_t)rest.len;
	ret->stored = NOT_STORED;
	return true;
}

static struct error *too_large(const char *what, size_t limit, const char *unit)
{
	return error_new(ERROR_UNSUPPORTED, "%s has more than %zu %s", what, limit, unit);
}

// Lines that are none are passed over.
static struct error *parse_lines(struct str text, line_vec *ret)
{
	struct str rest = text;
	while (rest.len != 0) {
		struct line line;
		if (!parse_line(str_split(&rest, '\n'), text.ptr, &line))
			continue;
		if (ret->len == LINES_MAX)
			return too_large("the perf map", LINES_MAX, "lines");
		if (!vec_push(ret, line))
			return &error_no_memory;
	}
	return NULL;
}

// A heap of numbers, the highest on top.
typedef VEC(uint32_t) heap;

static bool heap_push(heap *h, uint32_t number)
{
	if (!vec_push(h, number))
		return false;
	for (size_t i = h->len - 1; i != 0 && h->at[(i - 1) / 2] < h->at[i]; i = (i - 1) / 2) {
		uint32_t above = h->at[(i - 1) / 2];
		h->at[(i - 1) / 2] = h->at[i];
		h->at[i] = above;
	}
	return true;
}

static void heap_pop(heap *h)
{
	h->at[0] = h->at[--h->len];
	for (size_t i = 0, child; (child = 2 * i + 1) < h->len; i = child) {
		if (child + 1 < h->len && h->at[child + 1] > h->at[child])
			child++;
		if (h->at[i] >= h->at[child])
			break;
		uint32_t below = h->at[child];
		h->at[child] = h->at[i];
		h->at[i] = below;
	}
}

// Lines become segments by going through all addresses upwards; of the lines that cover an address
// the youngest counts.
struct sweep {
	struct str text;
	line_vec lines;
	VEC(uint32_t) by_start; // line numbers
	heap covering;          // lines that began; some may have ended already
	uint64_t at;
	struct perf_map *map;
};

static void sweep_fini(struct sweep *s)
{
	vec_fini(&s->lines);
	vec_fini(&s->by_start);
	vec_fini(&s->covering);
}

static int compare_starts(const void *a, const void *b, void *lines)
{
	const struct line *x = (const struct line *)lines + *(const uint32_t *)a;
	const struct line *y = (const struct line *)lines + *(const uint32_t *)b;
	return (x->start > y->start) - (x->start < y->start);
}

static bool emit(struct sweep *s, struct line *line, uint64_t start, uint64_t end)
{
	struct perf_map *m = s->map;
	if (line->stored == NOT_STORED) {
		line->stored = (uint32_t)m->names.len;
		buf_add(&m->names, s->text.ptr + line->name, line->name_len);
	}
	struct segment *last = m->segments.len != 0 ? vec_last(&m->segments) : NULL;
	if (last && last->end == start && last->name == line->stored) {
		last->end = end;
		return true;
	}
	struct segment segment = { start, end, line->stored, line->name_len };
	return !m->names.failed && vec_push(&m->segments, segment);
}

static bool sweep_to(struct sweep *s, uint64_t address)
{
	while (s->covering.len != 0 && s->at < address) {
		struct line *youngest = &s->lines.at[s->covering.at[0]];
		if (youngest->end <= s->at) {
			heap_pop(&s->covering);
			continue;
		}
		uint64_t end = MIN(youngest->end, address);
		if (!emit(s, youngest, s->at, end))
			return false;
		s->at = end;
	}
	s->at = address;
	return true;
}

static bool sweep_all(struct sweep *s)
{
	if (!vec_reserve(&s->by_start, s->lines.len))
		return false;
	for (uint32_t i = 0; i < s->lines.len; i++)
		s->by_start.at[s->by_start.len++] = i;
	if (s->by_start.len != 0)
		qsort_r(s->by_start.at, s->by_start.len, sizeof(uint32_t), compare_starts,
			s->lines.at);
	vec_each (number, &s->by_start)
		if (!sweep_to(s, s->lines.at[*number].start) || !heap_push(&s->covering, *number))
			return false;
	return sweep_to(s, UINT64_MAX);
}

struct error *perf_map_parse(struct str text, struct perf_map **ret)
{
	if (text.len > TEXT_MAX)
		return too_large("the perf map", TEXT_MAX, "bytes");
	auto_(perf_map) m = calloc(1, sizeof(*m));
	if (!m)
		return &error_no_memory;
	m->fd = -1;
	__attribute__((cleanup(sweep_fini))) struct sweep s = { .text = text, .map = m };
	struct error *err = parse_lines(text, &s.lines);
	if (err)
		return err;
	if (!sweep_all(&s))
		return &error_no_memory;
	*ret = take(m);
	return NULL;
}

void perf_map_free(struct perf_map *m)
{
	if (!m)
		return;
	vec_fini(&m->segments);
	buf_fini(&m->names);
	close_guard(&m->fd);
	free(m);
}

// Whoever writes to it may go on while it is read.
static struct error *read_all(int fd, const char *path, struct buf *ret)
{
	while (ret->len <= TEXT_MAX) {
		if (!vec_grow(&ret->at, &ret->cap, ret->len, 65536, 1))
			return &error_no_memory;
		ssize_t n = read(fd, ret->at + ret->len, ret->cap - ret->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(errno, "read %s", path);
		if (n == 0)
			return NULL;
		ret->len += (size_t)n;
	}
	return too_large(path, TEXT_MAX, "bytes");
}

// Runtimes leave their maps behind, and pids are used again: what was written before the process
// started is not about it.
static struct error *check_age(pid_t pid, const char *path, const struct stat *st)
{
	struct timespec start;
	struct error *err = proc_start_time(pid, &start);
	if (err)
		return err;
	if (st->st_mtim.tv_sec >= start.tv_sec - AGE_SLACK_SECONDS)
		return NULL;
	return error_new(ERROR_NOT_FOUND, "%s is older than process %d", path, pid);
}

// Everybody can create files in /tmp: only the process itself or root may tell its names.
static struct error *open_map(pid_t pid, const char *path, const struct proc_status *status,
			      int *ret_fd)
{
	char root[32];
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	struct stat st;
	autoclose int fd = rooted_open(root, path, ROOTED_LAST_IS_FILE, &st);
	if (fd == -EINVAL || fd == -ELOOP)
		return error_new(ERROR_DENIED, "%s of process %d is not a plain file", path, pid);
	if (fd < 0)
		return error_sys(-fd, "open %s of process %d", path, pid);
	if (st.st_uid != 0 && st.st_uid != status->uid)
		return error_new(ERROR_DENIED, "%s belongs to user %u, process %d runs as user %u",
				 path, st.st_uid, pid, status->uid);
	if (st.st_size > (off_t)TEXT_MAX)
		return too_large(path, TEXT_MAX, "bytes");
	struct error *err = check_age(pid, path, &st);
	if (!err)
		*ret_fd = take_fd(fd);
	return err;
}

struct error *perf_map_read(pid_t pid, struct perf_map **ret)
{
	struct proc_status status;
	struct error *err = proc_status_read(pid, &status);
	if (err)
		return err;
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", status.ns_pid);
	autoclose int fd = -1;
	auto_fini(buf) text = { 0 };
	err = open_map(pid, path, &status, &fd);
	if (!err)
		err = read_all(fd, path, &text);
	if (err)
		return err;
	// The last line may be half written.
	struct str whole = buf_view(&text);
	while (whole.len != 0 && whole.ptr[whole.len - 1] != '\n')
		whole.len--;
	auto_(perf_map) m = NULL;
	err = perf_map_parse(whole, &m);
	if (err)
		return err;
	m->end = (off_t)text.len;
	m->fd = take_fd(fd);
	*ret = take(m);
	return NULL;
}

struct str perf_map_find(const struct perf_map *m, uint64_t address)
{
	size_t low = 0, high = m->segments.len;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (m->segments.at[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == m->segments.len || m->segments.at[low].start > address)
		return (struct str){ 0 };
	const struct segment *s = &m->segments.at[low];
	return (struct str){ m->names.at + s->name, s->name_len };
}

bool perf_map_stale(const struct perf_map *m)
{
	struct stat st;
	return m->fd >= 0 && fstat(m->fd, &st) == 0 && st.st_size != m->end;
}

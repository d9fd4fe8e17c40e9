// SPDX-License-Identifier: Apache-2.0
// Writes the page of a profile made for the browser tests: make_page NAME > page.html
#include <stdio.h>

#include "format/format.h"

struct stack_spec {
	const char *frames; // outermost first, one a line: see frame()
	uint64_t count;
};

static uint32_t string(struct profile *p, struct str s)
{
	uint32_t number = profile_string(p, s);
	if (number == PROFILE_NONE)
		abort();
	return number;
}

static enum frame_kind kind_of(struct str name)
{
	for (int i = 0; i < FRAME_KIND_COUNT; i++)
		if (str_eq(name, str_from(frame_kind_names[i])))
			return i;
	abort();
}

// kind|name|module|file|line, the last three optional
static uint32_t frame(struct profile *p, struct str spec)
{
	struct str kind = str_split(&spec, '|'), name = str_split(&spec, '|');
	struct str module = str_split(&spec, '|'), file = str_split(&spec, '|');
	uint64_t line = 0;
	if (spec.len != 0 && !str_to_u64(spec, 10, &line))
		abort();
	return profile_frame(p, &(struct frame){ .kind = kind_of(kind),
						 .name = string(p, name),
						 .module = string(p, module),
						 .file = string(p, file),
						 .line = (uint32_t)line });
}

static void add(struct profile *p, uint32_t stack, uint64_t count)
{
	for (; count != 0; count--)
		if (!profile_add(p, &(struct sample){ .stack = stack, .value = 1 }))
			abort();
}

static void add_stacks(struct profile *p, const struct stack_spec *stacks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t stack = STACK_EMPTY;
		for (struct str rest = str_from(stacks[i].frames); rest.len != 0;)
			stack = stacks_push(&p->stacks, stack, frame(p, str_split(&rest, '\n')));
		add(p, stack, stacks[i].count);
	}
}

#define ROOT "process|server\n"
#define MAIN ROOT "native|main|server|src/main.c\n"

// 1,000 samples: main 900 (parse 400, of it recursion 150; render 450), 100 elsewhere.
static void make_known(struct profile *p)
{
	static const struct stack_spec stacks[] = {
		{ MAIN "native|parse_request|server|src/parse.c", 250 },
		{ MAIN "native|parse_request|server|src/parse.c\n"
		       "inlined|parse_header|server|src/parse.c|88\n"
		       "native|parse_request|server|src/parse.c",
		  150 },
		{ MAIN "native|render|server\n"
		       "native|std::vector<int, std::allocator<int> >::push_back(int&&)|"
		       "libstdc++.so.6",
		  200 },
		{ MAIN "native|render|server\nnative|memcpy|libc.so.6", 150 },
		{ MAIN "native|render|server\nnative|write|libc.so.6\n"
		       "kernel|ksys_write|kernel\nkernel|vfs_write|kernel",
		  100 },
		{ MAIN "jit|LazyCompile:~tick app.js:7|perf-42.map", 50 },
		{ ROOT "mark|[truncated]\nnative|libssl.so.3+0x1234|libssl.so.3", 70 },
		{ "process|worker\nnative|render|worker", 30 },
	};
	add_stacks(p, stacks, ARRAY_SIZE(stacks));
	p->info.lost = 12;
	p->info.truncated = 70;
	p->info.unknown = 70;
	p->info.unknown_frames = 1;
	p->info.engine = "perf";
	p->info.engine_reason = strdup("BPF programs are not permitted here");
}

static void make_hostile(struct profile *p)
{
	static const char *const names[] = {
		"</script><img src=x onerror=alert(1)>",
		"<img src=http://127.0.0.1:9/x onerror=alert(2)>",
		"<!--<script>",
		"]]>\"'`&amp;&lt;${alert(3)}",
		"\xff\xfe broken \xe2\x80 utf-8 \xed\xa0\x80",
		"line\nbreak\ttab\x01\x7f\u2028\u2029",
		"\u202e right to left",
		"__proto__",
		"{{slot:data}}",
		"",
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint32_t name = string(p, str_from(names[i]));
		uint32_t f = profile_frame(p, &(struct frame){ .name = name,
							       .module = name,
							       .file = name,
							       .line = 1,
							       .kind = FRAME_NATIVE });
		add(p, stacks_push(&p->stacks, STACK_EMPTY, f), 100);
	}
	p->info.target = strdup("<b id=injected>target</b></title><script>alert(4)</script>");
	p->info.engine_reason = strdup("<i id=injected>reason</i>");
}

// A program as they are: wide boxes of libraries that do nothing themselves, many modules, long
// names of C++.
static void make_modules(struct profile *p)
{
#define CLONE "process|service\nnative|clone3|libc.so.6\nnative|start_thread|libc.so.6\n"
#define RUN CLONE "native|run|service\n"
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	static const struct stack_spec stacks[] = {
		{ RUN "native|std::map<" STRING ", std::vector<" STRING ", std::allocator<" STRING
		      " > >, std::less<" STRING " >, std::allocator<std::pair<" STRING
		      " const, std::vector<" STRING " > > > >::operator[](" STRING "&&)|service",
		  300 },
		{ RUN "native|read|libc.so.6\nkernel|vfs_read|kernel\nkernel|ext4_read|ext4", 120 },
		{ RUN "native|clock_gettime|[vdso]", 2 },
		{ RUN "native|[anon]+0x10|[anon]", 1 },
	};
	add_stacks(p, stacks, ARRAY_SIZE(stacks));
	char spec[256];
	for (unsigned i = 0; i < 30; i++) {
		snprintf(spec, sizeof(spec), RUN "native|work_%u|libplugin_%02u.so.1", i, i);
		add_stacks(p, &(struct stack_spec){ spec, 20 - i / 2 }, 1);
	}
	p->info.unknown = 1;
	p->info.unknown_frames = 3;
}

static void make_empty(struct profile *p)
{
	(void)p;
}

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % limit);
}

// About as many nodes as asked for, in the shape of a large program: few wide stacks at the
// bottom, and a great many narrow ones above.
static void make_large(struct profile *p, size_t nodes)
{
	uint64_t state = 42;
	char spec[96];
	while (p->stacks.nodes.len < nodes) {
		uint32_t stack = STACK_EMPTY;
		uint32_t depth = 10 + random_below(&state, 50);
		for (uint32_t level = 0; level < depth; level++) {
			uint32_t dice = random_below(&state, 100);
			uint32_t choice = dice < 70 ? 0 : dice < 90 ? 1 : 2;
			snprintf(spec, sizeof(spec), "%s|app::stage_%u::Handler<%u>::run|lib%u.so",
				 choice == 2 ? "inlined" : "native", level, choice * 7 % 5,
				 (level / 4 + choice) % 9);
			stack = stacks_push(&p->stacks, stack, frame(p, str_from(spec)));
		}
		add(p, stack, 1);
	}
}

static void make_200k(struct profile *p)
{
	make_large(p, 200000);
}

static void make_860k(struct profile *p)
{
	make_large(p, 860000);
}

// A stack deeper than any canvas is high, and a node with very many callees.
static void make_extreme(struct profile *p)
{
	char spec[64];
	uint32_t stack = STACK_EMPTY;
	for (unsigned i = 0; i < 3000; i++)
		stack = stacks_push(&p->stacks, stack, frame(p, STR("native|recurse|deep")));
	add(p, stack, 1000);
	for (unsigned i = 0; i < 20000; i++) {
		snprintf(spec, sizeof(spec), "native|callee_%05u|wide", i);
		add(p, stacks_push(&p->stacks, STACK_EMPTY, frame(p, str_from(spec))), 1);
	}
}

static const struct {
	const char *name;
	void (*make)(struct profile *p);
} profiles[] = {
	{ "known", make_known },     { "hostile", make_hostile }, { "empty", make_empty },
	{ "200k", make_200k },       { "860k", make_860k },       { "extreme", make_extreme },
	{ "modules", make_modules },
};

int main(int argc, char **argv)
{
	const struct format *format = &format_html;
	auto_(profile) p = NULL;
	auto_(error) err = profile_new(&p);
	for (size_t i = 0; argc > 1 && !err && i < ARRAY_SIZE(profiles); i++) {
		if (strcmp(profiles[i].name, argv[1]) != 0)
			continue;
		p->info.event = "cpu";
		p->info.unit = "samples";
		p->info.engine = "bpf";
		p->info.start_unix_ns = 1700000000000000000;
		p->info.duration_ns = 10000000000;
		p->info.period = 10101010;
		profiles[i].make(p);
		if (!p->info.target)
			p->info.target = strdup("pid 42 (server)");
		if (argc > 2)
			err = format_by_name(str_from(argv[2]), &format);
		if (!err)
			err = format->write(p, stdout);
		if (err)
			fprintf(stderr, "%s\n", err->message);
		return err != NULL;
	}
	fprintf(stderr, "usage: make_page NAME [FORMAT]\n");
	return 2;
}

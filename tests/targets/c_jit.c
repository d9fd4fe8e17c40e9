// SPDX-License-Identifier: Apache-2.0
// Makes two machine-code functions in anonymous memory, the outer of which calls the inner. Both
// keep frame pointers. With the argument "map" they are named in /tmp/perf-PID.map.
#include <string.h>
#include <sys/mman.h>

#include "target.h"

#if !defined(__x86_64__)
#error "machine code for this processor is not written yet"
#endif

static const uint8_t inner[] = {
	0x55,                         // push %rbp
	0x48, 0x89, 0xe5,             // mov %rsp, %rbp
	0xb9, 0xa0, 0x86, 0x01, 0x00, // mov $100000, %ecx
	0xff, 0xc9,                   // dec %ecx
	0x75, 0xfc,                   // jnz .-2
	0x5d,                         // pop %rbp
	0xc3,                         // ret
};

static const uint8_t outer[] = {
	0x55,             // push %rbp
	0x48, 0x89, 0xe5, // mov %rsp, %rbp
	0xff, 0xd7,       // call *%rdi
	0x5d,             // pop %rbp
	0xc3,             // ret
};

#define OUTER_AT 0x1000

FUNCTION void call_jit(const uint8_t *code)
{
	void (*function)(const uint8_t *) = (void (*)(const uint8_t *))(code + OUTER_AT);
	function(code);
	NO_TAIL_CALL();
}

static int write_map(const uint8_t *code)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(path, "w");
	if (!map)
		return 0;
	fprintf(map, "%lx %zx jit_inner\n", (unsigned long)code, sizeof(inner));
	fprintf(map, "%lx %zx jit outer <with blanks>\n", (unsigned long)code + OUTER_AT,
		sizeof(outer));
	return fclose(map) == 0;
}

int main(int argc, char **argv)
{
	uint8_t *code = mmap(NULL, 2 * OUTER_AT, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	memcpy(code, inner, sizeof(inner));
	memcpy(code + OUTER_AT, outer, sizeof(outer));
	if (mprotect(code, 2 * OUTER_AT, PROT_READ | PROT_EXEC) != 0)
		return 1;
	if (argc > 1 && strcmp(argv[1], "map") == 0 && !write_map(code))
		return 1;
	target_ready();
	for (;;)
		call_jit(code);
}

// SPDX-License-Identifier: Apache-2.0
// Functions by address: filled in any order, sorted once, then searched. Names are not copied: they
// stay in the string tables they came from.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

// How much a symbol is worth against another one at the same address: smaller is better.
enum symbol_rank {
	SYMBOL_GLOBAL = 0,
	SYMBOL_LOCAL = 1,
	SYMBOL_WEAK = 2,
	SYMBOL_LABEL = 4,   // added: no type, such as a label in assembly
	SYMBOL_UNSIZED = 8, // added: ends where the next one starts
};

struct symbol_source {
	uint64_t start;
	uint64_t size;   // 0 if not known: up to the next symbol
	uint64_t limit;  // it does not go beyond this address
	uint32_t name;   // offset in the string table
	uint8_t strings; // number of the string table
	uint8_t rank;    // enum symbol_rank
};

struct symbol_entry {
	uint64_t start;
	uint32_t size;
	uint32_t name; // number of the string table in the upper bits, offset in it in the lower
};

#define SYMBOL_STRINGS_MAX 8
#define SYMBOL_NAME_BITS 29

struct symbol_table {
	struct str strings[SYMBOL_STRINGS_MAX];
	uint8_t strings_count;
	VEC(struct symbol_source) sources; // until it is sorted
	VEC(struct symbol_entry) entries;
};

// Registers a string table, which must live as long as the table. False if there are too many.
bool symbol_table_add_strings(struct symbol_table *t, struct str strings, uint8_t *ret);
// False when there is no memory.
bool symbol_table_add(struct symbol_table *t, const struct symbol_source *source);
// Sorts, and keeps the best of several symbols for one address. A symbol without a size ends
// after gap_max bytes at the latest. False when there is no memory.
bool symbol_table_finish(struct symbol_table *t, uint64_t gap_max);
void symbol_table_fini(struct symbol_table *t);

// The symbol that contains an address, or NULL.
const struct symbol_entry *symbol_table_find(const struct symbol_table *t, uint64_t address);
// As in the file, but without a version ("@@GLIBC_2.14").
struct str symbol_table_name(const struct symbol_table *t, const struct symbol_entry *e);

// SPDX-License-Identifier: Apache-2.0
// Names of functions in debug information. A linkage name says all. Functions that no other file
// can refer to (in C++: all that has to do with an anonymous namespace) have only a short name,
// such as "size"; for them the names of what they are declared in are put in front.
#include <dwarf.h>

#include "base/buf.h"
#include "object/dwarf_scopes.h"

// How deep namespaces and classes are nested, and how far an entry refers to others for its name.
#define CONTEXTS_MAX 32
#define REFERENCES_MAX 16

static bool follow_reference(Dwarf_Die *die)
{
	static const unsigned references[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Attribute attribute;
	Dwarf_Die target;
	for (size_t i = 0; i < ARRAY_SIZE(references); i++) {
		if (!dwarf_attr(die, references[i], &attribute) ||
		    !dwarf_formref_die(&attribute, &target))
			continue;
		*die = target;
		return true;
	}
	return false;
}

// A text that an entry has itself or has from what it refers to. libdw's own way of doing this may
// open a .dwo file, which is only done where we know what is opened.
static const char *integrated_string(Dwarf_Die die, unsigned name)
{
	Dwarf_Attribute attribute;
	for (size_t i = 0; i < REFERENCES_MAX; i++) {
		if (dwarf_attr(&die, name, &attribute))
			return dwarf_formstring(&attribute);
		if (!follow_reference(&die))
			break;
	}
	return NULL;
}

// Where a function is declared, as an index of contexts.
static uint32_t find_context(const struct scopes *s, Dwarf_Die die)
{
	uint32_t found = SCOPE_NONE;
	for (size_t i = 0; i < REFERENCES_MAX; i++) {
		const uint64_t *context = die.cu == s->unit.cu
						  ? map_get(&s->declared_in, dwarf_dieoffset(&die))
						  : NULL;
		// The last one counts: a class is declared in more detail than where it is used.
		if (context)
			found = (uint32_t)*context;
		if (!follow_reference(&die))
			break;
	}
	return found;
}

static const char *context_name(const struct scopes *s, uint32_t index)
{
	Dwarf_Die die;
	if (!dwarf_offdie(dwarf_cu_getdwarf(s->unit.cu), s->contexts.at[index].die, &die))
		return "";
	const char *name = integrated_string(die, DW_AT_name);
	if (name)
		return name;
	return dwarf_tag(&die) == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
}

static const char *qualify(struct scopes *s, uint32_t context, const char *name)
{
	uint32_t chain[CONTEXTS_MAX];
	size_t count = 0;
	for (; context != SCOPE_NONE && count < CONTEXTS_MAX;
	     context = s->contexts.at[context].parent)
		chain[count++] = context;
	auto_fini(buf) text = { 0 };
	while (count-- != 0) {
		buf_text(&text, context_name(s, chain[count]));
		buf_text(&text, "::");
	}
	buf_text(&text, name);
	return text.failed ? NULL : arena_copy(&s->names, buf_view(&text));
}

static const char *find_name(struct scopes *s, Dwarf_Die *die)
{
	const char *linkage = integrated_string(*die, DW_AT_linkage_name);
	if (!linkage)
		linkage = integrated_string(*die, DW_AT_MIPS_linkage_name);
	if (linkage)
		return linkage;
	const char *name = integrated_string(*die, DW_AT_name);
	uint32_t context = name ? find_context(s, *die) : SCOPE_NONE;
	return context != SCOPE_NONE ? qualify(s, context, name) : name;
}

const char *scopes_name(struct scopes *s, uint32_t index)
{
	struct scope *scope = &s->list.at[index];
	Dwarf_Die die;
	if (!scope->name && dwarf_offdie(dwarf_cu_getdwarf(s->unit.cu), scope->die, &die))
		scope->name = find_name(s, &die);
	if (!scope->name)
		scope->name = "";
	return *scope->name ? scope->name : NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * C++ names by the demangler of GCC's run-time library, as in deps/cxa.c, but without threads and longjmp: web/site/library.ts calls it, and what
 * it throws when a text gets too long ends it.
 */
#include <stdlib.h>
#include <string.h>

#include "object/demangle/demangle.h"

enum {
	TEXT_MOST = 256 << 10
};

// Calls site_read_name, and returns what it does; 1 if it called page_enough.
__attribute__((import_module("page"), import_name("guard"))) int page_guard(const char *name);
__attribute__((import_module("page"), import_name("enough"))) void page_enough(void);
int site_read_name(const char *name);

// Hands out the text piece by piece. Not 0: the name has none.
int __gcclibcxx_demangle_callback(const char *name, void (*take)(const char *piece, size_t size, void *self),
				  void *self);

static struct {
	char *data;
	size_t size, capacity;
} text;

// Names that refer to their own parts can say a part twice, that one twice, and so on.
static void take_piece(const char *piece, size_t size, void *self)
{
	size_t capacity = text.capacity;
	char *data;

	(void)self;
	if (size > TEXT_MOST - text.size)
		page_enough();
	while (capacity <= text.size + size)
		capacity = capacity ? capacity * 2 : 256;
	if (capacity > text.capacity) {
		data = realloc(text.data, capacity);
		if (!data)
			page_enough();
		text.data = data;
		text.capacity = capacity;
	}
	memcpy(text.data + text.size, piece, size);
	text.size += size;
	text.data[text.size] = 0;
}

__attribute__((export_name("site_read_name"))) int site_read_name(const char *name)
{
	return __gcclibcxx_demangle_callback(name, take_piece, NULL);
}

static char *demangle(const char *name)
{
	text.data = NULL;
	text.size = text.capacity = 0;
	if (!pd_cxx_may_not_end(name) && page_guard(name) == 0)
		return text.data;
	free(text.data);
	return NULL;
}

const struct pd_demangler pd_demangler_cxx = {
	.name = "libsupc++",
	.demangle = demangle,
	.free = free,
};

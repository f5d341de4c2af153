/* SPDX-License-Identifier: MIT */
/*
 * From the names that linkers see to those that people wrote: Rust (both schemes), OCaml, and C++ where a library for it is
 * built in. C++ names come without parameters and return types, Rust names without hashes, and both without what compilers
 * put after the names of parts of functions (".cold").
 */
#ifndef PD_OBJECT_DEMANGLE_DEMANGLE_H
#define PD_OBJECT_DEMANGLE_DEMANGLE_H

#include <stdbool.h>
#include <string.h>

#include "base/text/text.h"

/** Appends the readable form of a name. False, and nothing appended, if the name has none. */
bool pd_demangle(struct pd_text *out, const char *name, size_t length);

/** The parts, for names that are known to be of one kind. */
bool pd_demangle_rust(struct pd_text *out, const char *name, size_t length);
bool pd_demangle_rust_legacy(struct pd_text *out, const char *name, size_t length);
bool pd_demangle_cxx(struct pd_text *out, const char *name, size_t length);

/** Appends the readable C++ name of a function without what follows its name and without its return type. */
void pd_demangle_cxx_strip(struct pd_text *out, const char *text, size_t length);

/** Shortens a readable C++ name, which stands in text from start to its end: see shorten_cxx.c. It never grows. */
void pd_shorten_cxx(struct pd_text *text, size_t start);

enum {
	PD_PUNYCODE_MAX = 128 // characters of a name that is not ASCII
};
/** Decodes Rust's punycode to characters of Unicode and returns their number, or 0 if it cannot be decoded. */
size_t pd_punycode_decode(const char *text, size_t size, uint32_t code_points[PD_PUNYCODE_MAX]);

/** What a foreign library does; demangle is NULL if none is built in. */
struct pd_demangler {
	const char *name;
	char *(*demangle)(const char *name); // NULL if the name has no readable form
	void (*free)(void *text);
};
extern const struct pd_demangler pd_demangler_cxx;

// Whether the library's demangler may come to no end: see deps/cxa.c.
static inline bool pd_cxx_may_not_end(const char *name)
{
	const char *expression = strstr(name, "sr");

	return expression && strpbrk(expression + 2, "CDU");
}

#endif

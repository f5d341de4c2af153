#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes plain.h: all public headers as one header of plain C, for generators of bindings and for editors.

usage: tools/plain.py INCLUDE OUTPUT [DEPFILE]

INCLUDE is the folder with perfdata/. The structs of records, which the headers expand from tables, are written out; so are
numbers of enumerators from tables and values of constants. Comments stay. There are no attributes, no inline functions and no
macros with arguments. DEPFILE gets what the output depends on, for ninja.
"""

import os
import re
import sys
import textwrap

import public

HEAD = """/* SPDX-License-Identifier: MIT */
/*
 * plain.h - all headers of libperfdata as one, in plain C. Made from them by tools/plain.py when the library is built.
 *
 * For generators of bindings and for editors. Programs in C and C++ include perfdata.h, which also has macros and inline
 * functions. What these are in terms of this header:
 *
 *	pd_file_hostname(file)     pd_file_feature(file, PD_FEATURE_HOSTNAME), a struct pd_string; so for each feature
 *	pd_as_mmap2(record)        pd_record_as(record, PD_RECORD_MMAP2), a struct pd_mmap2; so for each type of record
 *	PD_ITEM(type, list, i)     the struct at list.items + i * list.stride bytes
 *	PD_MASK(NAME)              1 << NAME_SHIFT
 *	PD_BITS(word, NAME)        word >> NAME_SHIFT & (1 << NAME_WIDTH) - 1
 *	PD_SAMPLE_ID(sample)       sample->identifier, or sample->id where that is 0
 *
 * Between the two lines that say so are declarations, comments, and constants of the form `#define NAME number`: nothing else.
 * cdef of Python's cffi takes that part unchanged.
 */
#ifndef PERFDATA_PLAIN_H
#define PERFDATA_PLAIN_H

#ifdef PERFDATA_BASE_H
#error "plain.h replaces the other headers of libperfdata"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- declarations begin ---- */
"""
TAIL = """
/* ---- declarations end ---- */

#ifdef __cplusplus
}
#endif
#endif
"""


def comment_of(lines, opening="/**"):
    return f"{opening} " + "\n".join([lines[0], *map(starred, lines[1:])]) + " */\n"


def starred(line):
    return " *" + ("" if not line or line.startswith("\t") else " ") + line


def head_of(header):
    lines = textwrap.wrap(f"{header.name} - {header.purpose}", 120, break_on_hyphens=False)
    return "\n".join(["/*", *map(starred, [*lines, "", *header.about]), " */"]) + "\n"


def function_text(code):
    """A declaration without what compilers are told of it."""
    code = re.sub(r"\bPD_PRINTF\([^)]*\)", "", code)
    comment = re.search(r"/\*.*\*/", code, re.S)
    bare = re.sub(r"\s+", " ", public.without_comments(code).replace("PD_API ", "")).strip().replace(" ;", ";")
    wrapped = "\n".join(textwrap.wrap(bare, 112, subsequent_indent="\t\t", break_long_words=False, break_on_hyphens=False))
    return wrapped + (" " + comment[0] if comment else "")


def item_text(item):
    """An item as plain C; nothing if it is not part of that."""
    if item.kind in ("chapter", "subchapter"):
        line = "--" if item.kind == "subchapter" else "----"
        return f"/* {line} {item.doc[0]} {line} */\n"
    if item.kind == "text":
        return comment_of(item.doc, "/*")
    doc = comment_of(item.doc) if item.doc else ""
    if item.kind in ("inline", "macro"):
        return ""
    if item.kind == "function":
        return doc + function_text(item.code) + "\n"
    if item.kind == "constant":
        value = public.number_of(public.DEFINE.match(item.code)[4])
        if value is None:
            raise public.PublicError(f"{item.name}: not a number")
        return f"{doc}#define {item.name} {value}{'ULL' if value >= 2**32 else 'U' if value >= 2**31 else ''}\n"
    return doc + item.code + "\n"


def plain(headers):
    out = [HEAD]
    for header in headers:
        if header.name == "perfdata.h":
            continue
        out.append("\n" + head_of(header))
        for item in header.items:
            text = item_text(item)
            if text:
                out.append(text if item.is_joined else "\n" + text)
    return "".join(out) + TAIL


def write_depfile(path, output, folder):
    found = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in sorted(names)
             if name.endswith((".h", ".def"))]
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{output}: {' '.join(name.replace(' ', chr(92) + ' ') for name in [public.__file__, folder, *found])}\n")


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__.split("\n\n")[1])
    include, output, *depfile = arguments
    folder = os.path.join(include, "perfdata")
    try:
        text = plain(public.read_headers(folder))
    except public.PublicError as error:
        sys.exit(f"tools/plain.py: {error}")
    with open(output, "w", encoding="utf-8") as f:
        f.write(text)
    if depfile:
        write_depfile(depfile[0], output, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

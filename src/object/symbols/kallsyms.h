/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a running kernel and its modules, as /proc/kallsyms lists them. The kernel takes some 50 ms to print
 * them, so those of its image, which stay what they are until the next boot, can be kept and be all that is known at first
 * (index_file.h).
 */
#ifndef PD_OBJECT_SYMBOLS_KALLSYMS_H
#define PD_OBJECT_SYMBOLS_KALLSYMS_H

#include "object/symbols/symbols.h"

struct pd_index_pages;

/** Code that switches threads, and code that takes locks, which a kernel has in sections of their own: begins and ends. */
enum pd_kernel_section {
	PD_KERNEL_SCHED,
	PD_KERNEL_SCHED_END,
	PD_KERNEL_LOCK,
	PD_KERNEL_LOCK_END,
	PD_KERNEL_SECTIONS
};
extern const char *const pd_kernel_sections[PD_KERNEL_SECTIONS]; // their symbols

struct pd_kallsyms {
	struct pd_symtab
		*table; // an owner of 0 is the kernel, else see pd_kallsyms_module; NULL: not read yet, there is image
	struct pd_index_pages *image; // symbols of [image_from, image_to) that were kept, or NULL
	bool hidden;                  // the kernel showed zeros for addresses: the table is empty
	uint64_t text_addr;           // _text, else _stext: tells how far the kernel was moved; 0 if neither is listed
	uint64_t stext_addr;          // _stext, or 0
	uint64_t first, end;          // of the kernel's own code and variables; 0, 0 if none are listed
	uint64_t image_from,
		image_to; // nothing but the kernel's image stands there; 0, 0 if the list does not say where
	uint64_t sections[PD_KERNEL_SECTIONS]; // 0 for those that are not listed
	size_t bad_lines;
	char **modules;
	size_t module_count;
	size_t module_capacity;
};

/** Reads the text. limit is the most bytes of the table, 0 means 1 GiB. Lines that are none are counted.
 * An empty text
 * is the list of a kernel without symbols. PD_ERROR_FORMAT if there is text, but not one line of the kind. */
enum pd_status pd_kallsyms_read(struct pd_kallsyms *kallsyms_out, const char *text, size_t size, size_t limit,
				struct pd_error *error);
/** Reads a regular file: /proc/kallsyms or a copy of it. */
enum pd_status pd_kallsyms_open(struct pd_kallsyms *kallsyms_out, const char *path, size_t limit,
				struct pd_error *error);
/** The address of a function of the kernel in such a file, which is read no further; 0 if it is not listed, or hidden. _stext stands in for
 * a _text that is missing. */
uint64_t pd_kallsyms_find(const char *path, const char *symbol);
void pd_kallsyms_close(struct pd_kallsyms *kallsyms);

/** Begin of a list: it tells one boot from another, because kernels are moved at each, and lists without addresses. */
enum {
	PD_KALLSYMS_HEAD = 2048
};
/** False if a file has less. */
bool pd_kallsyms_head(const char *path, uint8_t head[PD_KALLSYMS_HEAD]);

/** The module of an owner, without brackets, or NULL for the kernel. */
const char *pd_kallsyms_module(const struct pd_kallsyms *kallsyms, uint16_t owner);

#endif

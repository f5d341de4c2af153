/* SPDX-License-Identifier: MIT */
/*
 * Memory that is not on the copied stack, and is the same in each process: what objects have in segments that nobody writes. Few rules
 * ask for it, so its pages are read when they are wanted. Recordings usually have only the mappings of code; constants of the object
 * whose rule asks are found beside its code.
 */
#include "base/threads.h"
#include "symbol/lookup.h"
#include "unwind/unwinder.h"

enum {
	PAGES_MOST = 64, // of an object
	SECTION_WRITE = 1
};

// ---- pages of a file, with the lock ----

// Objects of bundles may lack the bytes of a section, which stands where it was.
static bool is_hole(const struct pd_elf *elf, uint64_t offset)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		const struct pd_elf_section *s = &elf->sections[i];

		if (s->type == PD_ELF_SECTION_NOBITS && !(s->flags & SECTION_WRITE) &&
		    s->offset < offset + PD_UNWIND_PAGE && (s->offset >= offset || offset - s->offset < s->size))
			return true;
	}
	return false;
}

// One that could not be read has no bytes: it is not read again.
static struct pd_unwind_page *read_page(struct pd_unwind_shared *shared, struct pd_unwind_module *module,
					const struct pd_location *location, uint64_t offset)
{
	struct pd_unwind_page *page = module->page_count < PAGES_MOST ? pd_alloc(sizeof(*page)) : NULL;
	struct pd_found found;

	if (!page)
		return NULL;
	page->offset = offset;
	if (pd_lookup_open_files(shared->symbols, location, &found)) {
		if (found.object && !is_hole(found.object, offset))
			page->size = pd_image_copy(&found.object->image, offset, page->bytes, PD_UNWIND_PAGE);
		pd_found_close(&found);
	}
	page->next = module->pages;
	module->pages = page;
	module->page_count++;
	return page;
}

static const struct pd_unwind_page *page_at(struct pd_unwind_shared *shared, struct pd_unwind_module *module,
					    const struct pd_location *location, uint64_t offset)
{
	for (struct pd_unwind_page *page = module->pages; page; page = page->next)
		if (page->offset == offset)
			return page;
	return read_page(shared, module, location, offset);
}

static bool copy_byte(struct pd_unwind_shared *shared, struct pd_unwind_module *module,
		      const struct pd_location *location, uint64_t offset, uint8_t *byte_out)
{
	const struct pd_unwind_page *page = page_at(shared, module, location, offset - offset % PD_UNWIND_PAGE);

	if (!page || offset % PD_UNWIND_PAGE >= page->size)
		return false;
	*byte_out = page->bytes[offset % PD_UNWIND_PAGE];
	return true;
}

static bool copy_bytes(struct pd_unwind_shared *shared, const struct pd_location *location, uint64_t offset,
		       unsigned size, uint8_t *bytes_out)
{
	struct pd_unwind_module *module = shared->modules[location->object->index];
	bool done = true;

	pthread_mutex_lock(shared->lock);
	for (unsigned i = 0; done && i < size; i++)
		done = copy_byte(shared, module, location, offset + i, &bytes_out[i]);
	pthread_mutex_unlock(shared->lock);
	return done;
}

// ---- where they are ----

static bool is_constant(const struct pd_unwind_module *module, uint64_t offset, unsigned size)
{
	for (size_t i = 0; i < module->segment_count; i++) {
		const struct pd_unwind_segment *s = &module->segments[i];

		if (s->is_constant && offset - s->offset < s->size)
			return s->size - (offset - s->offset) >= size;
	}
	return false;
}

// In a mapping that was recorded.
static bool is_in_mapping(struct pd_unwind_walk *walk, const struct pd_location *location, unsigned size)
{
	const struct pd_mapping *mapping = location->mapping;
	const struct pd_unwind_module *module;

	if (!mapping->by_offset || mapping->anonymous || mapping->prot & PD_MASK(PD_PROT_WRITE))
		return false;
	module = pd_unwind_module_of(walk->unwinder->shared, location, walk->arch);
	return module && is_constant(module, location->offset, size);
}

// Where the object of the present frame has an address, if no mapping says something else of it.
static bool is_in_own_object(struct pd_unwind_walk *walk, uint64_t addr, unsigned size, struct pd_location *location,
			     uint64_t *offset_out)
{
	uint64_t code = walk->frames[walk->count - 1];
	const struct pd_unwind_span *span = pd_unwind_span_at(walk, code);

	if (!span->module ||
	    !pd_state_locate(walk->unwinder->shared->state, walk->pid, PD_CPUMODE_USER, walk->when, code, location) ||
	    !location->mapping->by_offset)
		return false;
	for (size_t i = 0; i < span->module->segment_count; i++) {
		const struct pd_unwind_segment *s = &span->module->segments[i];

		*offset_out = s->offset + (addr + span->bias - s->addr);
		if (addr + span->bias - s->addr < s->size && is_constant(span->module, *offset_out, size))
			return true;
	}
	return false;
}

bool pd_unwind_fetch_constants(void *self, uint64_t addr, unsigned size, uint8_t *bytes_out)
{
	struct pd_unwind_walk *walk = self;
	struct pd_unwind_shared *shared = walk->unwinder->shared;
	struct pd_location location;
	uint64_t offset;

	if (pd_state_locate(shared->state, walk->pid, PD_CPUMODE_USER, walk->when, addr, &location)) {
		if (!is_in_mapping(walk, &location, size))
			return false;
		offset = location.offset;
	} else if (!is_in_own_object(walk, addr, size, &location, &offset)) {
		return false;
	}
	return copy_bytes(shared, &location, offset, size, bytes_out);
}

/* SPDX-License-Identifier: MIT */
/*
 * Addresses: the instruction pointer, the call chain, the data address, and the function and the
 * object at each.
 */
#include "base/text/path.h"
#include "format/chain.h"
#include "samples/samples.h"
#include "state/locate.h"

#include <stdio.h>

#define STARTS(text, prefix) (strncmp((text), "" prefix, sizeof(prefix) - 1) == 0)

/* Memory without a file of its own: an address in it has no offset. */
static bool is_nameless(const struct pd_location *location)
{
	const char *path = location->object->path;

	return location->mapping->anonymous && !STARTS(path, "/memfd:") && !STARTS(path, "anon_inode:") &&
	       !STARTS(path, "[anon") && !STARTS(path, "[uprobes]");
}

/* What user code is called when it was found among the kernel's and the other way round. */
static unsigned other_mode(uint64_t addr, unsigned cpumode)
{
	if (cpumode != PD_CPUMODE_USER && cpumode != PD_CPUMODE_KERNEL)
		return cpumode;
	return addr >> 63 ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
}

/* What symbols say of a location, or, if it is NULL, of an address of the kernel. What they point to stays as it is. */
static struct pd_place ask_symbols(struct pd_samples *samples, const struct pd_shown_sample *hit,
				   const struct pd_location *location, uint64_t addr)
{
	struct pd_place place;

	pd_samples_lock(samples);
	if (location)
		place = pd_symbols_at(samples->symbols, location, hit->when, addr);
	else
		place = pd_symbols_place(samples->symbols, hit->pid, PD_CPUMODE_KERNEL, hit->when, addr);
	pd_samples_unlock(samples);
	return place;
}

static inline bool is_in_stretch(const struct pd_address_range *stretch, uint64_t addr)
{
	return addr - stretch->found.begin < stretch->found.end - stretch->found.begin;
}

/* What is around an address of a process; it becomes the first of those that are kept. */
static __attribute__((noinline)) const struct pd_address_range *
find_stretch(const struct pd_samples *samples, const struct pd_shown_sample *hit, uint64_t addr)
{
	struct pd_address_range *stretches = hit->thread->stretches, stretch;
	const struct pd_map_kind *kind;
	size_t at = 1;

	while (at + 1 < STRETCHES && !is_in_stretch(&stretches[at], addr))
		at++;
	stretch = stretches[at];
	if (!is_in_stretch(&stretch, addr)) {
		pd_state_find_map(samples->state, hit->pid, PD_CPUMODE_USER, hit->when, addr, &stretch.found);
		kind = pd_state_map_kind_of(samples->state, stretch.found.map);
		stretch.unmapped = !kind;
		stretch.known = kind && kind->by_offset;
		stretch.object = stretch.known ? kind->object->index : 0;
		stretch.moved = stretch.known ? pd_state_map_offset(samples->state, &stretch.found, addr) - addr : 0;
	}
	memmove(stretches + 1, stretches, at * sizeof(*stretches));
	stretches[0] = stretch;
	return stretches;
}

/* Chains stay in an object for a while, and come back to few. */
static inline const struct pd_address_range *stretch_of(const struct pd_samples *samples,
							const struct pd_shown_sample *hit, uint64_t addr)
{
	const struct pd_address_range *last = &hit->thread->stretches[0];

	return is_in_stretch(last, addr) ? last : find_stretch(samples, hit, addr);
}

static bool find_location(const struct pd_samples *samples, const struct pd_shown_sample *hit, unsigned cpumode,
			  uint64_t addr, struct pd_location *location_out)
{
	if (cpumode == PD_CPUMODE_USER && hit->thread && hit->thread->has_maps)
		return pd_state_found(samples->state, &stretch_of(samples, hit, addr)->found, addr, location_out);
	return pd_state_locate(samples->state, hit->pid, cpumode, hit->when, addr, location_out);
}

/* The place of an address; *shown_out is the address as call chains show it. *fixed_out says whether it depends on
 * what is mapped alone. */
static struct pd_place locate(struct pd_samples *samples, const struct pd_shown_sample *hit, unsigned cpumode,
			      uint64_t addr, bool anywhere, uint64_t *shown_out, bool *fixed_out)
{
	unsigned other = other_mode(addr, cpumode);
	struct pd_location location;
	struct pd_place place = { .addr = addr, .recorded = addr };
	bool found;

	*shown_out = addr;
	*fixed_out = false; /* what is unmapped is printed faster than kept: there may be any number of them */
	if (cpumode != PD_CPUMODE_USER && cpumode != PD_CPUMODE_KERNEL)
		return place;
	found = find_location(samples, hit, cpumode, addr, &location);
	if (!found && anywhere && other != cpumode)
		found = pd_state_locate(samples->state, hit->pid, other, hit->when, addr, &location);
	if (!found && (cpumode == PD_CPUMODE_KERNEL || (anywhere && other == PD_CPUMODE_KERNEL))) {
		place = ask_symbols(samples, hit, NULL, addr);
		/* Behind what was recorded of it a kernel is as its symbols say, as long as nothing else is mapped. */
		*fixed_out = cpumode == PD_CPUMODE_KERNEL && place.function;
		return place;
	}
	if (!found)
		return place;
	place = ask_symbols(samples, hit, &location, addr);
	/* Users can map what goes by the name of a kernel or a module, where places are addresses. */
	*fixed_out = !location.mapping->anonymous && (cpumode == PD_CPUMODE_KERNEL || !place.dso || !place.dso->kernel);
	/* User code is shown by its place in the file. */
	if (place.dso && !place.dso->kernel && !is_nameless(&location))
		*shown_out = addr - location.mapping->start + location.mapping->pgoff;
	return place;
}

/* Modules have short names in brackets, and paths. */
static const char *dso_name(const struct pd_dso *dso, bool kernel_paths)
{
	if (kernel_paths && dso->kernel && dso->object && dso->object->path[0] == '/')
		return dso->object->path;
	return dso->long_name;
}

static void print_dso(struct pd_samples *samples, const struct pd_place *place)
{
	pd_line_char(&samples->line, '(');
	pd_line_foreign(&samples->line, place->dso ? dso_name(place->dso, samples->options.kernel_paths) : "[unknown]",
			0);
	pd_line_char(&samples->line, ')');
}

static void print_function(struct pd_samples *samples, const struct pd_shown_sample *hit, const struct pd_place *place)
{
	struct pd_line_buffer *line = &samples->line;

	pd_line_char(line, ' ');
	if (!place->function) {
		pd_line_word(line, "[unknown]");
		return;
	}
	pd_line_foreign(line, place->function->name, 0);
	if (hit->shown & FIELD_SYMOFF) {
		pd_line_word(line, "+0x");
		pd_line_hex(line, place->addr - place->function->start, 0, ' ');
	}
}

static void print_names(struct pd_samples *samples, const struct pd_shown_sample *hit, const struct pd_place *place)
{
	if (hit->shown & FIELD_SYM)
		print_function(samples, hit, place);
	if (hit->shown & FIELD_DSO) {
		pd_line_char(&samples->line, ' ');
		print_dso(samples, place);
	}
}

/* Where the code comes from; without debug information the address in its object. */
static void put_source(struct pd_samples *samples, const struct pd_place *place)
{
	struct pd_line_buffer *line = &samples->line;
	struct pd_line source = { 0 };

	pd_line_word(line, "\n  ");
	if (pd_symbols_lines(samples->symbols, place, &source, 1) && source.file && source.line) {
		pd_line_foreign(line, samples->options.source_paths ? source.file : pd_path_leaf(source.file), 0);
		pd_line_char(line, ':');
		pd_line_dec(line, source.line, 0, ' ');
		return;
	}
	pd_line_foreign(line, place->dso->name, 0);
	pd_line_char(line, '[');
	pd_line_hex(line, place->addr, 0, ' ');
	pd_line_char(line, ']');
}

static void print_source(struct pd_samples *samples, const struct pd_place *place)
{
	if (!place->dso)
		return;
	pd_samples_lock(samples);
	put_source(samples, place);
	pd_samples_unlock(samples);
}

/* The place of an address of the kernel in what it is in: its image, or a module. */
static uint64_t offset_in_kernel(struct pd_samples *samples, const struct pd_shown_sample *hit, uint64_t addr)
{
	struct pd_location location;

	if (!pd_state_locate(samples->state, hit->pid, PD_CPUMODE_KERNEL, hit->when, addr, &location))
		return addr;
	return addr - location.mapping->start;
}

void pd_samples_branch_end(struct pd_samples *samples, const struct pd_shown_sample *hit, uint64_t addr, uint32_t field)
{
	struct pd_line_buffer *line = &samples->line;
	struct pd_place place;
	uint64_t shown;
	bool fixed;

	place = locate(samples, hit, hit->cpumode, addr, true, &shown, &fixed);
	if (field == FIELD_BRSTACKOFF && place.dso && place.dso->kernel)
		shown = offset_in_kernel(samples, hit, addr);
	if (field == FIELD_BRSTACKSYM && place.function) {
		pd_line_foreign(line, place.function->name, 0);
		pd_line_word(line, "+0x");
		pd_line_hex(line, place.addr - place.function->start, 0, ' ');
	} else if (field == FIELD_BRSTACKSYM) {
		pd_line_word(line, "[unknown]");
	} else {
		pd_line_word(line, "0x");
		pd_line_hex(line, field == FIELD_BRSTACKOFF ? shown : addr, 0, ' ');
	}
	if (hit->shown & FIELD_DSO)
		print_dso(samples, &place);
}

static struct pd_place place_of(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	uint64_t shown;
	bool fixed;

	return locate(samples, hit, hit->cpumode, hit->brief.ip, false, &shown, &fixed);
}

bool pd_samples_has_place(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	struct pd_place place = place_of(samples, hit);

	return (!samples->selects_place || pd_select_has_place(samples->select, &place)) &&
	       (!samples->options.choose_place || samples->options.choose_place(samples->options.self, &place));
}

const char *pd_samples_name(struct pd_samples *samples, const struct pd_shown_sample *hit, enum pd_filter_ask what)
{
	struct pd_place place = place_of(samples, hit);

	if (what == PD_FILTER_DSO)
		return place.dso ? place.dso->name : NULL;
	return place.function ? place.function->name : NULL;
}

const char *pd_samples_path(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	struct pd_place place = place_of(samples, hit);

	return place.dso ? dso_name(place.dso, true) : NULL;
}

void pd_samples_dso(struct pd_samples *samples, const struct pd_shown_sample *hit, unsigned cpumode, uint64_t addr,
		    bool anywhere)
{
	struct pd_place place;
	uint64_t shown;
	bool fixed;

	place = locate(samples, hit, cpumode, addr, anywhere, &shown, &fixed);
	print_dso(samples, &place);
}

/* Where data are, or where a branch goes to. */
static void print_place(struct pd_samples *samples, const struct pd_shown_sample *hit, uint64_t addr)
{
	struct pd_place place;
	uint64_t shown;
	bool fixed;

	place = locate(samples, hit, hit->cpumode, addr, true, &shown, &fixed);
	print_names(samples, hit, &place);
}

/* Code as it is shown: in a call chain as a line of its own, with a line for each function that is inlined there if the chain was
 * unwound, as perf 6.1 has them; else as what follows the address. */
enum form {
	FORM_ENTRY,
	FORM_PLACE,
	FORM_UNWOUND
};

enum {
	INLINED_MOST = 64
};

static void print_inlined(struct pd_samples *samples, const struct pd_shown_sample *hit, const struct pd_place *place,
			  uint64_t shown)
{
	struct pd_line_buffer *line = &samples->line;
	struct pd_line lines[INLINED_MOST];
	size_t count;

	pd_samples_lock(samples);
	count = pd_symbols_lines(samples->symbols, place, lines, INLINED_MOST);
	for (size_t i = 0; i < count && i < INLINED_MOST; i++) {
		if (!lines[i].inlined)
			break;
		pd_line_char(line, '\t');
		pd_line_addr(line, shown);
		pd_line_char(line, ' ');
		/* with the offset in the function around it */
		pd_line_foreign(line, lines[i].function->name, 0);
		if (hit->shown & FIELD_SYMOFF) {
			pd_line_word(line, "+0x");
			pd_line_hex(line, place->addr - place->function->start, 0, ' ');
		}
		pd_line_word(line, " (inlined)\n");
	}
	pd_samples_unlock(samples);
}

static void print_code(struct pd_samples *samples, const struct pd_shown_sample *hit, enum form form,
		       const struct pd_place *place, uint64_t shown)
{
	struct pd_line_buffer *line = &samples->line;

	if (form == FORM_UNWOUND && place->function && (hit->shown & FIELD_SYM))
		print_inlined(samples, hit, place, shown);
	if (form != FORM_PLACE) {
		pd_line_char(line, '\t');
		pd_line_addr(line, shown);
	}
	print_names(samples, hit, place);
	if (hit->shown & FIELD_SRCLINE)
		print_source(samples, place);
	if (form != FORM_PLACE)
		pd_line_char(line, '\n');
}

/* Code that is not in the table; key is NULL if it is not to come into it. Code that is made at run time may be other
 * code a moment later. */
static __attribute__((noinline)) void make_code(struct pd_samples *samples, const struct pd_shown_sample *hit,
						enum form form, const struct pd_address_key *key, unsigned cpumode,
						uint64_t addr)
{
	struct pd_line_buffer *line = &samples->line;
	uint64_t shown, flushes;
	struct pd_place place;
	size_t start;
	bool fixed;

	place = locate(samples, hit, cpumode, addr, false, &shown, &fixed);
	if (line->used > PD_LINE_CAPACITY / 4 * 3)
		pd_line_flush(line);
	start = line->used;
	flushes = line->flushes;
	print_code(samples, hit, form, &place, shown);
	if (key && fixed && line->flushes == flushes)
		pd_address_texts_put(&samples->frames, key, line->bytes + start, line->used - start);
}

/* Code that no record tells of, as print_code shows it. In profiles without frame pointers that is much. */
static void put_unmapped(struct pd_samples *samples, const struct pd_shown_sample *hit, enum form form, uint64_t addr)
{
#define NAMES(text)                         \
	{                                   \
		sizeof(text) - 1, text "\n" \
	}
	static const struct {
		size_t size;
		char text[PD_LINE_PIECE];
	} names[2][2] = { { NAMES(""), NAMES(" ([unknown])") },
			  { NAMES(" [unknown]"), NAMES(" [unknown] ([unknown])") } };
#undef NAMES
	struct pd_line_buffer *line = &samples->line;
	bool sym = hit->shown & FIELD_SYM, dso = hit->shown & FIELD_DSO;

	if (form == FORM_PLACE)
		pd_line_padded(line, names[sym][dso].text, names[sym][dso].size);
	else
		pd_line_entry(line, addr, names[sym][dso].text, names[sym][dso].size + 1);
}

_Static_assert((int)PD_ADDRESS_PADDING >= (int)PD_LINE_PIECE, "pd_line_padded reads behind texts");

static inline void put_known(struct pd_samples *samples, const struct pd_shown_sample *hit, enum form form,
			     const struct pd_address_key *key, unsigned cpumode, uint64_t addr)
{
	const struct pd_address_text *frame = pd_address_texts_get(&samples->frames, key);

	if (frame)
		pd_line_padded(&samples->line, pd_address_text(frame), frame->size);
	else
		make_code(samples, hit, form, key, cpumode, addr);
}

#define STYLED_FIELDS (FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_SRCLINE)
#define FORM_PLACE_BIT (UINT32_C(1) << 31)
#define FORM_UNWOUND_BIT ((uint32_t)FIELD_COMM) /* which is not among them */

/* The key of code, or false if it is not in the table: the kernel is one for all processes, and what is in a file is the
 * same wherever it is mapped. */
static inline bool find_key(const struct pd_samples *samples, const struct pd_shown_sample *hit, enum form form,
			    unsigned cpumode, uint64_t addr, struct pd_address_key *key_out, bool *unmapped_out)
{
	uint32_t style = (hit->shown & STYLED_FIELDS) | cpumode << 28 | (form == FORM_PLACE) * FORM_PLACE_BIT;
	const struct pd_address_range *stretch;

	if (form == FORM_UNWOUND && cpumode == PD_CPUMODE_USER)
		style |= FORM_UNWOUND_BIT;
	*unmapped_out = false;
	if (!hit->thread)
		return false;
	if (cpumode == PD_CPUMODE_KERNEL) {
		*key_out = pd_address_key(pd_view_kernel(&hit->thread->view), style, addr);
		return true;
	}
	if (cpumode != PD_CPUMODE_USER) {
		*unmapped_out = true;
		return false;
	}
	stretch = stretch_of(samples, hit, addr);
	*key_out = pd_address_key(stretch->object, style, addr + stretch->moved);
	*unmapped_out = stretch->unmapped;
	return stretch->known;
}

static inline void put_code(struct pd_samples *samples, const struct pd_shown_sample *hit, enum form form,
			    unsigned cpumode, uint64_t addr)
{
	struct pd_address_key key;
	bool unmapped;

	if (find_key(samples, hit, form, cpumode, addr, &key, &unmapped))
		put_known(samples, hit, form, &key, cpumode, addr);
	else if (unmapped)
		put_unmapped(samples, hit, form, addr);
	else
		make_code(samples, hit, form, NULL, cpumode, addr);
}

static inline void fetch_code(struct pd_samples *samples, const struct pd_shown_sample *hit, enum form form,
			      unsigned cpumode, uint64_t addr)
{
	struct pd_fetched_code *code = &samples->fetched[samples->fetched_count++];

	code->addr = addr;
	code->cpumode = (uint8_t)cpumode;
	code->slot = NULL;
	if (find_key(samples, hit, form, cpumode, addr, &code->key, &code->unmapped))
		code->slot = pd_address_texts_fetch(&samples->frames, &code->key, &code->tag);
}

/* A chain with a marker that nobody knows is damaged: perf shows nothing of it. */
static size_t good_entries(struct pd_u64s chain, uint64_t most)
{
	unsigned cpumode;
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < chain.count && count < most; i++) {
		if (chain.items[i] < PD_CONTEXT_MAX)
			count++;
		else if (chain.items[i] == (uint64_t)PD_CONTEXT_USER_DEFERRED)
			return i;
		else if (!pd_chain_mode(chain.items[i], &cpumode))
			return 0;
	}
	return i;
}

/* What was recorded, then what is unwound. False if there is nothing to unwind. */
static bool unwind_chain(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	struct pd_unwound unwound;

	if (!hit->style->copied || !samples->unwinder ||
	    !pd_unwinder_decoded(samples->unwinder, hit->record, hit->sample, &unwound))
		return false;
	samples->chain = unwound.chain;
	samples->chain_count = good_entries(unwound.chain, unwound.joined ? samples->options.max_stack : UINT64_MAX);
	return !unwound.joined;
}

static enum form form_of(const struct pd_samples *samples, unsigned cpumode)
{
	return samples->chain_unwound && cpumode == PD_CPUMODE_USER ? FORM_UNWOUND : FORM_ENTRY;
}

static void fetch_chain(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	unsigned cpumode = PD_CPUMODE_USER;
	struct pd_u64s chain;
	size_t i = 0, count;

	samples->chain = hit->brief.callchain;
	samples->chain_count = good_entries(samples->chain, samples->options.max_stack);
	samples->chain_unwound = unwind_chain(samples, hit);
	chain = samples->chain;
	count = samples->chain_count;
	/* these may be shown in another way, or are close at hand anyway */
	if (samples->options.stops_at || samples->stops || samples->frames.mask < FETCHED_FROM_SLOTS)
		count = 0;
	for (; i < count && samples->fetched_count < FETCHED_MOST; i++) {
		if (chain.items[i] >= PD_CONTEXT_MAX)
			pd_chain_mode(chain.items[i], &cpumode);
		else
			fetch_code(samples, hit, form_of(samples, cpumode), cpumode, chain.items[i]);
	}
	samples->chain_fetched = i;
	samples->chain_mode = cpumode;
}

void pd_samples_fetch(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	samples->fetched_count = 0;
	if (hit->style->chain)
		fetch_chain(samples, hit);
	else if (hit->shown & (FIELD_SYM | FIELD_DSO | FIELD_SRCLINE))
		fetch_code(samples, hit, FORM_PLACE, hit->cpumode, hit->brief.ip);
}

void pd_samples_fetch_text(struct pd_samples *samples)
{
	for (size_t i = 0; i < samples->fetched_count; i++) {
		struct pd_fetched_code *code = &samples->fetched[i];

		code->text = code->slot ? pd_address_texts_fetch_text(&samples->frames, code->slot, code->tag) : NULL;
	}
}

static __attribute__((noinline)) void put_unknown(struct pd_samples *samples, const struct pd_shown_sample *hit,
						  enum form form, const struct pd_fetched_code *code)
{
	if (code->slot)
		put_known(samples, hit, form, &code->key, code->cpumode, code->addr);
	else if (code->unmapped)
		put_unmapped(samples, hit, form, code->addr);
	else
		put_code(samples, hit, form, code->cpumode, code->addr);
}

/* Once a text is made another table may take the place of that with the others. */
static inline void put_fetched(struct pd_samples *samples, const struct pd_shown_sample *hit, bool chain)
{
	uint32_t generation = samples->frames.generation;

	for (size_t i = 0; i < samples->fetched_count; i++) {
		const struct pd_fetched_code *code = &samples->fetched[i];

		if (pd_address_text_is_of(code->text, &code->key) && generation == samples->frames.generation)
			pd_line_padded(&samples->line, pd_address_text(code->text), code->text->size);
		else
			put_unknown(samples, hit, chain ? form_of(samples, code->cpumode) : FORM_PLACE, code);
	}
}

void pd_samples_ip(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	pd_line_addr(&samples->line, hit->brief.ip);
	put_fetched(samples, hit, false);
}

static bool ends_chain(struct pd_samples *samples, const struct pd_shown_sample *hit, unsigned cpumode, uint64_t addr)
{
	struct pd_place place;
	uint64_t shown;
	bool fixed;

	if (!samples->options.stops_at && !samples->stops)
		return false;
	place = locate(samples, hit, cpumode, addr, false, &shown, &fixed);
	return (samples->stops && pd_select_has_place(samples->stops, &place)) ||
	       (samples->options.stops_at && samples->options.stops_at(samples->options.self, &place));
}

/* The entries that were not fetched. */
static void put_entries(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	unsigned cpumode = samples->chain_mode;

	for (size_t i = samples->chain_fetched; i < samples->chain_count; i++) {
		uint64_t entry = samples->chain.items[i];

		if (entry >= PD_CONTEXT_MAX) {
			pd_chain_mode(entry, &cpumode);
			continue;
		}
		put_code(samples, hit, form_of(samples, cpumode), cpumode, entry);
		if (ends_chain(samples, hit, cpumode, entry))
			return;
	}
}

void pd_samples_chain(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	put_fetched(samples, hit, true);
	put_entries(samples, hit);
	/* perf shows the unwound stack; its first function is known without unwinding. */
	if (!samples->chain_count && !samples->chain_unwound && hit->style->copied &&
	    pd_sample_needs_unwinding(hit->sample))
		put_code(samples, hit, FORM_ENTRY, hit->cpumode, hit->brief.ip);
}

/* True if addr is an address that the event is about. */
static bool has_place(const struct pd_attr *attr)
{
	switch (attr->type) {
	case PD_TYPE_SOFTWARE:
		return attr->config == PD_SW_PAGE_FAULTS || attr->config == PD_SW_PAGE_FAULTS_MIN ||
		       attr->config == PD_SW_PAGE_FAULTS_MAJ;
	case PD_TYPE_HARDWARE:
		return (attr->config & PD_HW_BRANCH_INSTRUCTIONS) && attr->sample_period == 1;
	}
	return false;
}

void pd_samples_addr(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	pd_line_addr(&samples->line, hit->brief.addr);
	if (has_place(hit->event->attr) && (hit->shown & (FIELD_SYM | FIELD_DSO)))
		print_place(samples, hit, hit->brief.addr);
}

/* SPDX-License-Identifier: MIT */
/* Functions and what was inlined into them: one pass over the tree of a unit. */
#include "object/dwarf/dwarf.h"

#include <string.h>

#include "base/lookup/u64_map.h"

enum {
	DEEPEST = 256, // scopes inside of one another; what is deeper counts as this deep
	ORIGINS = 16,  // steps from code to its declaration
	PATH = 512     // longest scope that is kept in front of a name
};

struct walk {
	struct pd_dwarf *d;
	struct pd_dwarf_unit_head *u;
	struct pd_dwarf_files *files;
	struct pd_unit_maker *maker;
	struct pd_u64_map names; // from twice an offset, and 1 in the other file, to one more than a text
	size_t work;             // ranges that may yet be read, which many functions may share
	uint32_t scope;
	uint32_t scopes[DEEPEST];    // that entries of a depth stand in
	bool declares;               // this pass looks for names of what is declared, the other one for code
	char path[PATH];             // namespaces and classes around the current entry, each with "::" after it
	uint16_t path_size[DEEPEST]; // of it, for entries of a depth
};

// ---- names ----

// The name with its scope of what is declared at an offset, if there is one.
static const char *kept_name(const struct walk *w, uint64_t offset)
{
	uint64_t text_plus_1 = pd_u64_map_find(&w->names, 2 * offset);
	const char *text;

	if (!text_plus_1 || text_plus_1 - 1 == PD_NO_TEXT)
		return NULL;
	text = w->maker->texts + (text_plus_1 - 1);
	return strchr(text, PD_SCOPE_MARK) ? text : NULL;
}

// The linker's name if a declaration on the way has one, else the nearest name of the source.
static const char *find_name(const struct walk *w, struct pd_dwarf_entry *entry)
{
	const struct pd_dwarf_unit_head *u = w->u;
	struct pd_dwarf *d = w->d;
	const char *name = NULL, *kept;

	for (int i = 0; i < ORIGINS; i++) {
		const struct pd_dwarf_value *way = &entry->values[PD_USE_ORIGIN];
		const char *linkage = pd_dwarf_text(d, u, &entry->values[PD_USE_LINKAGE_NAME]);
		const struct pd_dwarf_abbrev *abbrev;
		struct pd_cursor c;
		uint64_t offset;

		if (linkage)
			return linkage;
		if (!name)
			name = pd_dwarf_text(d, u, &entry->values[PD_USE_NAME]);
		if (!way->form)
			way = &entry->values[PD_USE_SPECIFICATION];
		if (!way->form || !pd_dwarf_reference(&d, u, way, &offset))
			break;
		kept = d == w->d ? kept_name(w, offset) : NULL;
		if (kept)
			return kept;
		u = pd_dwarf_unit_at(d, offset);
		if (!u)
			break;
		c = pd_dwarf_cursor(d, PD_DEBUG_INFO, offset);
		c.end = d->image->sections[PD_DEBUG_INFO].data + u->end;
		abbrev = pd_dwarf_abbrev(u, pd_dwarf_uleb(&c));
		if (!abbrev)
			break;
		pd_dwarf_entry(&c, u, abbrev, entry);
	}
	return name;
}

static void add_name(struct walk *w, uint64_t key, uint32_t text)
{
	if (!pd_u64_map_add(&w->names, key, (uint64_t)text + 1))
		w->maker->failed = true;
}

// Many inlined copies have one origin: its name is looked for once.
static uint32_t name_text(struct walk *w, struct pd_dwarf_entry *entry)
{
	const struct pd_dwarf_value *origin = &entry->values[PD_USE_ORIGIN];
	struct pd_dwarf *d = w->d;
	uint64_t offset, text_plus_1;
	uint32_t text;

	if (!origin->form || entry->values[PD_USE_NAME].form || entry->values[PD_USE_LINKAGE_NAME].form ||
	    !pd_dwarf_reference(&d, w->u, origin, &offset))
		return pd_unit_maker_text(w->maker, find_name(w, entry));
	// nothing refers to offset 0, so that no key is 0
	offset = 2 * offset + (d != w->d);
	text_plus_1 = pd_u64_map_find(&w->names, offset);
	if (text_plus_1)
		return (uint32_t)(text_plus_1 - 1);
	text = pd_unit_maker_text(w->maker, find_name(w, entry));
	if (offset)
		add_name(w, offset, text);
	return text;
}

// ---- names without a linker's name ----

static bool is_class(uint32_t tag)
{
	return tag == PD_DWARF_TAG_CLASS || tag == PD_DWARF_TAG_STRUCTURE;
}

static bool has_path(const struct pd_dwarf_abbrev *abbrev, size_t size)
{
	return abbrev->tag == PD_DWARF_TAG_NAMESPACE ||
	       (size && (abbrev->tag == PD_DWARF_TAG_FUNCTION || is_class(abbrev->tag)));
}

// The path of what is in an entry, whose own path has a size. Nothing is known of what is local to functions.
static size_t inner_path(struct walk *w, const struct pd_dwarf_abbrev *abbrev, const struct pd_dwarf_entry *entry,
			 size_t size)
{
	bool is_namespace = abbrev->tag == PD_DWARF_TAG_NAMESPACE;
	const char *name =
		is_namespace || is_class(abbrev->tag) ? pd_dwarf_text(w->d, w->u, &entry->values[PD_USE_NAME]) : NULL;
	size_t length;

	if (is_namespace && !name)
		name = "(anonymous namespace)";
	length = name ? strlen(name) : PATH;
	if (length + 2 >= PATH - size)
		return 0;
	memcpy(w->path + size, name, length);
	memcpy(w->path + size + length, "::", 2);
	return size + length + 2;
}

static void keep_name(struct walk *w, uint64_t offset, uint32_t text)
{
	if (text != PD_NO_TEXT && !pd_u64_map_find(&w->names, 2 * offset))
		add_name(w, 2 * offset, text);
}

/* Compilers give no linker's name to functions that only their file can see. Where such a one is declared, its scope is
 * known: inlined copies, which refer to it, get it from there. */
static void note_declared(struct walk *w, const struct pd_dwarf_entry *entry, uint64_t offset, size_t path_size)
{
	const char *name = pd_dwarf_text(w->d, w->u, &entry->values[PD_USE_NAME]);
	char text[PATH + PATH];

	if (!name || !path_size || strlen(name) >= PATH - 1 || entry->values[PD_USE_LINKAGE_NAME].form)
		return;
	memcpy(text, w->path, path_size);
	text[path_size] = PD_SCOPE_MARK;
	memcpy(text + path_size + 1, name, strlen(name) + 1);
	keep_name(w, offset, pd_unit_maker_text(w->maker, text));
}

// ---- scopes ----

static bool put_span(void *self, uint64_t start, uint64_t end)
{
	struct walk *w = self;

	pd_unit_maker_span(w->maker, start, end, w->scope);
	return !w->maker->failed;
}

static uint32_t put_scope(struct walk *w, struct pd_dwarf_entry *entry, uint32_t parent)
{
	bool inlined = entry->abbrev->tag == PD_DWARF_TAG_INLINED;
	struct pd_unit_scope scope = { .parent = inlined ? parent : PD_NO_SCOPE, .call_file = PD_NO_TEXT };
	const struct pd_dwarf_value *line = &entry->values[PD_USE_CALL_LINE];
	struct pd_dwarf_entry copy = *entry;

	// following its origin changes the entry
	scope.name = name_text(w, &copy);
	if (inlined && entry->values[PD_USE_CALL_FILE].form) {
		scope.call_file = pd_dwarf_file_text(w->files, entry->values[PD_USE_CALL_FILE].number);
		scope.call_line = line->form && line->number <= UINT32_MAX ? (uint32_t)line->number : 0;
	}
	w->scope = pd_unit_maker_scope(w->maker, &scope);
	if (w->scope != PD_NO_SCOPE)
		pd_dwarf_spans(w->d, w->u, entry, &w->work, put_span, w);
	return w->scope;
}

// ---- the tree ----

static bool is_function(const struct pd_dwarf_abbrev *abbrev)
{
	return abbrev->has_code && (abbrev->tag == PD_DWARF_TAG_FUNCTION || abbrev->tag == PD_DWARF_TAG_INLINED);
}

// Tags whose entries can have functions in them.
static bool holds_functions(uint32_t tag)
{
	static const uint8_t tags[] = {
		0x02, 0x0b, 0x11, 0x13, 0x17, 0x1d, 0x1e, 0x22, 0x25, 0x2e, 0x32, 0x38, 0x39, 0x3c, 0x4a,
	};

	for (size_t i = 0; i < sizeof(tags); i++)
		if (tags[i] == tag)
			return true;
	return false;
}

// Where the entry after this one and all that it holds begins, if that is said; it has to be further on.
static const uint8_t *next_of(const struct walk *w, const struct pd_dwarf_value *sibling, const struct pd_cursor *c)
{
	const struct pd_bytes *info = &w->d->image->sections[PD_DEBUG_INFO];
	struct pd_dwarf *d = w->d;
	uint64_t offset;

	if (!sibling->form || !pd_dwarf_reference(&d, w->u, sibling, &offset) || d != w->d ||
	    offset <= (uint64_t)(c->at - info->data) || offset > w->u->end)
		return NULL;
	return info->data + offset;
}

static void skip_entry(const struct walk *w, struct pd_cursor *c, const struct pd_dwarf_abbrev *abbrev)
{
	const struct pd_dwarf_attribute *at = pd_dwarf_attributes(w->u, abbrev);

	if (abbrev->size >= 0) {
		pd_cursor_take(c, (uint64_t)abbrev->size);
		return;
	}
	for (uint32_t i = 0; i < abbrev->count && !c->failed; i++)
		pd_dwarf_skip(c, w->u, &at[i]);
}

static void walk_tree(struct walk *w, struct pd_cursor *c)
{
	struct pd_dwarf_entry entry;
	size_t depth = 0;

	w->scopes[0] = PD_NO_SCOPE;
	while (pd_cursor_left(c) && !w->maker->failed) {
		uint64_t offset = (uint64_t)(c->at - w->d->image->sections[PD_DEBUG_INFO].data),
			 code = pd_dwarf_uleb(c);
		const struct pd_dwarf_abbrev *abbrev = code ? pd_dwarf_abbrev(w->u, code) : NULL;
		uint32_t scope = w->scopes[depth < DEEPEST ? depth : DEEPEST - 1];
		size_t path_size = w->path_size[depth < DEEPEST ? depth : DEEPEST - 1], inner = 0;
		const uint8_t *next = NULL;

		if (!code) {
			if (depth-- <= 1)
				return;
			continue;
		}
		if (!abbrev)
			return;
		if (is_function(abbrev) && !w->declares) {
			pd_dwarf_entry(c, w->u, abbrev, &entry);
			if (!c->failed)
				scope = put_scope(w, &entry, scope);
		} else if (abbrev->has_children && abbrev->has_sibling &&
			   (!holds_functions(abbrev->tag) ||
			    (w->declares && abbrev->has_code && abbrev->tag == PD_DWARF_TAG_FUNCTION))) {
			pd_dwarf_entry(c, w->u, abbrev, &entry);
			next = next_of(w, &entry.values[PD_USE_SIBLING], c);
		} else if (w->declares && has_path(abbrev, path_size)) {
			pd_dwarf_entry(c, w->u, abbrev, &entry);
			if (!c->failed && abbrev->tag == PD_DWARF_TAG_FUNCTION)
				note_declared(w, &entry, offset, path_size);
			else if (!c->failed)
				inner = inner_path(w, abbrev, &entry, path_size);
		} else {
			skip_entry(w, c, abbrev);
		}
		if (next) {
			c->at = next;
		} else if (abbrev->has_children) {
			depth++;
			w->scopes[depth < DEEPEST ? depth : DEEPEST - 1] = scope;
			// only what is in the unit itself, a namespace or a class has a path
			w->path_size[depth < DEEPEST ? depth : DEEPEST - 1] = (uint16_t)inner;
		} else if (!depth) {
			return;
		}
	}
}

static bool has_namespaces(const struct pd_dwarf_unit_head *u)
{
	for (size_t i = 0; u->abbrevs && i < u->abbrevs->count; i++)
		if (u->abbrevs->items[i].tag == PD_DWARF_TAG_NAMESPACE)
			return true;
	return false;
}

void pd_dwarf_scopes(struct pd_dwarf *d, struct pd_dwarf_unit_head *u, struct pd_dwarf_files *files,
		     struct pd_unit_maker *maker)
{
	struct walk w = { .d = d, .u = u, .files = files, .maker = maker, .work = d->image->size };
	struct pd_cursor c = pd_dwarf_cursor(d, PD_DEBUG_INFO, u->tree);

	c.end = d->image->sections[PD_DEBUG_INFO].data + u->end;
	// code may stand in front of what it refers to
	w.declares = has_namespaces(u);
	if (w.declares) {
		struct pd_cursor first = c;

		walk_tree(&w, &first);
		w.declares = false;
	}
	walk_tree(&w, &c);
	pd_u64_map_fini(&w.names);
}

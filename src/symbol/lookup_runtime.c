/* SPDX-License-Identifier: MIT */
/*
 * Code that programs made: jit-PID.dump where the program mapped one, which is how it says that it writes it, and for
 * what is not in it /tmp/perf-PID.map. As others may write into such directories, the files must belong to root or to the user.
 */
#include <errno.h>
#include <string.h>

#include "file/file.h"
#include "symbol/lookup.h"
#include "object/symbols/given.h"
#include "object/runtime/perfmap.h"
#include "object/find/root.h"
#include "state/locate.h"

enum {
	TEXT_LIMIT = 256 << 20
};

// Opens what an archive has, else a regular file of root or the user; says why not.
bool pd_lookup_open_own(const struct pd_symbols *symbols, const char *path, struct pd_image *image, const char **reason)
{
	int fd;

	if (pd_find_in_archives(&symbols->places, path, image))
		return true;
	// numbers of processes say nothing on another machine
	fd = symbols->places.ids_only ? -ENOENT : pd_root_open_own(symbols->places.symfs, path);
	if (fd < 0) {
		*reason = fd == -EPERM ? "is owned neither by root nor by you" : strerror(-fd);
		return false;
	}
	*reason = "not a regular file";
	return pd_image_open_fd(image, fd, path, symbols->limit, NULL) == PD_OK;
}

// Most recordings have no jitdump, and many more mappings than objects.
static bool has_jit_objects(struct pd_symbols *symbols)
{
	const struct pd_object *object;

	while (!symbols->has_jit_objects &&
	       (object = pd_state_object(symbols->state, symbols->objects_searched)) != NULL) {
		symbols->has_jit_objects = pd_jitdump_is(object->path);
		symbols->objects_searched++;
	}
	return symbols->has_jit_objects;
}

// Marks of mappings that came since the last time.
static void find_marks(struct pd_symbols *symbols)
{
	struct pd_mapping map;

	if (!has_jit_objects(symbols))
		return;
	for (; pd_state_get_mapping(symbols->state, symbols->mappings_searched, &map); symbols->mappings_searched++) {
		size_t n = symbols->jit_mark_count;

		if (!map.object || !pd_jitdump_is(map.object->path))
			continue;
		if (n && symbols->jit_marks[n - 1].pid == map.pid && symbols->jit_marks[n - 1].object == map.object)
			continue;
		if (!PD_GROW(symbols->jit_marks, symbols->jit_mark_capacity, n + 1)) {
			symbols->failed = true;
			return;
		}
		symbols->jit_marks[symbols->jit_mark_count++] = (struct pd_jit_mark){ map.pid, map.object };
	}
}

static struct pd_jitdump *open_jitdump(struct pd_symbols *symbols, const char *path, struct pd_text *tried)
{
	struct pd_jitdump *jit = NULL;
	struct pd_image image;
	const char *reason;

	if (pd_lookup_open_own(symbols, path, &image, &reason)) {
		enum pd_status status = pd_jitdump_open_image(&jit, &image, symbols->limit, true, NULL);

		symbols->failed |= status == PD_ERROR_MEMORY;
		reason = "not a jitdump";
	}
	if (jit)
		return jit;
	pd_text_put(tried, path, strlen(path));
	PD_TEXT_LITERAL(tried, ": ");
	pd_text_put(tried, reason, strlen(reason));
	PD_TEXT_LITERAL(tried, "; ");
	return NULL;
}

static void open_dumps(struct pd_symbols *symbols, struct pd_process_dumps *dumps)
{
	size_t count = 0, capacity = 0;
	struct pd_text tried = { 0 };

	for (size_t i = 0; i < symbols->jit_mark_count; i++) {
		const struct pd_jit_mark *mark = &symbols->jit_marks[i];
		struct pd_jitdump *jit = mark->pid == dumps->pid ? open_jitdump(symbols, mark->object->path, &tried) :
								   NULL;

		if (!jit)
			continue;
		if (!PD_GROW(dumps->jits, capacity, count + 2)) {
			pd_jitdump_close(jit);
			symbols->failed = true;
			break;
		}
		dumps->jits[count++] = jit;
		dumps->jits[count] = NULL;
		dumps->detail = count == 1 ? mark->object->path : dumps->detail;
	}
	if (!tried.failed)
		dumps->tried = pd_arena_text(&symbols->kept, tried.size ? tried.data : "", tried.size);
	symbols->failed |= !dumps->tried;
	pd_free(tried.data);
}

// NULL if there is no memory.
static const struct pd_process_dumps *dumps_of(struct pd_symbols *symbols, uint32_t pid)
{
	for (size_t i = 0; i < symbols->dump_count; i++)
		if (symbols->dumps[i].pid == pid)
			return &symbols->dumps[i];
	if (!PD_GROW(symbols->dumps, symbols->dump_capacity, symbols->dump_count + 1)) {
		symbols->failed = true;
		return NULL;
	}
	symbols->dumps[symbols->dump_count] = (struct pd_process_dumps){ .pid = pid };
	open_dumps(symbols, &symbols->dumps[symbols->dump_count]);
	return &symbols->dumps[symbols->dump_count++];
}

const struct pd_process_dumps *pd_lookup_dumps_at(struct pd_symbols *symbols, size_t index)
{
	if (symbols->flags & (PD_SYMBOLS_NO_FILES | PD_SYMBOLS_NO_JITDUMP))
		return NULL;
	find_marks(symbols);
	for (size_t i = 0; i < symbols->jit_mark_count && symbols->dump_count <= index; i++)
		if (!dumps_of(symbols, symbols->jit_marks[i].pid))
			return NULL;
	return index < symbols->dump_count ? &symbols->dumps[index] : NULL;
}

void pd_lookup_dumps_fini(struct pd_symbols *symbols)
{
	for (size_t i = 0; i < symbols->dump_count; i++) {
		for (size_t j = 0; symbols->dumps[i].jits && symbols->dumps[i].jits[j]; j++)
			pd_jitdump_close(symbols->dumps[i].jits[j]);
		pd_free(symbols->dumps[i].jits);
	}
	pd_free(symbols->dumps);
}

static const struct pd_process_dumps *dumps_of_dso(struct pd_symbols *symbols, const struct pd_dso_full *dso)
{
	if (symbols->flags & PD_SYMBOLS_NO_JITDUMP)
		return NULL;
	find_marks(symbols);
	for (size_t i = 0; i < symbols->jit_mark_count; i++)
		if (symbols->jit_marks[i].pid == dso->pid)
			return dumps_of(symbols, dso->pid);
	return NULL;
}

static void load_perfmap(struct pd_symbols *symbols, struct pd_dso_full *dso, const char *tried)
{
	struct pd_image image;
	enum pd_status status;
	const char *reason;
	uint8_t *text;
	size_t size;

	if (!pd_lookup_open_own(symbols, dso->path, &image, &reason)) {
		pd_lookup_report(symbols, dso, PD_DSO_MISSING, "%s%s: %s", tried, dso->path, reason);
		return;
	}
	status = pd_image_read_all(&image, TEXT_LIMIT, &text, &size, NULL);
	pd_image_close(&image);
	if (status == PD_OK) {
		status = pd_perfmap_read(&dso->own_table, (char *)text, size, symbols->limit, NULL, NULL);
		pd_free(text);
	}
	symbols->failed |= status == PD_ERROR_MEMORY;
	dso->table = status == PD_OK ? dso->own_table : NULL;
	if (!dso->table)
		pd_lookup_report(symbols, dso, PD_DSO_MISSING, "%s%s: larger than the limit", tried, dso->path);
	else if (pd_symtab_count(dso->table))
		pd_lookup_report(symbols, dso, PD_DSO_SYMBOLS, "%s", dso->path);
	else
		pd_lookup_report(symbols, dso, PD_DSO_NO_SYMBOLS, "%s has no symbols", dso->path);
}

void pd_lookup_load_runtime(struct pd_symbols *symbols, struct pd_dso_full *dso)
{
	const struct pd_process_dumps *dumps = dumps_of_dso(symbols, dso);

	dso->jits = dumps ? dumps->jits : NULL;
	dso->terms = PD_TERMS_MOVED;
	load_perfmap(symbols, dso, dumps && dumps->tried ? dumps->tried : "");
	if (dso->jits && dso->table && pd_symtab_count(dso->table))
		pd_lookup_report(symbols, dso, PD_DSO_SYMBOLS, "%s; %s", dumps->detail, dso->path);
	else if (dso->jits)
		pd_lookup_report(symbols, dso, PD_DSO_SYMBOLS, "%s", dumps->detail);
}

// ---- names that come with a file ----

void pd_lookup_load_given(struct pd_symbols *symbols, struct pd_dso_full *dso)
{
	struct pd_symtab_maker maker = { .rule = PD_SYMTAB_INNER };
	const struct pd_given_object *object =
		dso->dso.object ? pd_given_names(pd_file_given(symbols->file), dso->dso.object->path, &maker) : NULL;

	if (object) {
		dso->dso.name = object->name;
		dso->dso.long_name = object->long_name;
		if (pd_symtab_make(&maker, &dso->own_table, NULL) < 0)
			symbols->failed = true;
		dso->table = dso->own_table;
	}
	pd_lookup_report(symbols, dso, dso->table ? PD_DSO_SYMBOLS : PD_DSO_NO_SYMBOLS, "the names came with it");
}

/* SPDX-License-Identifier: MIT */
/*
 * Code that programs made: jit-PID.dump where the program mapped one, which is how it says that it writes it, and for
 * what is not in it /tmp/perf-PID.map. As others may write into such directories, the files must belong to root or to the user.
 */
#include <errno.h>
#include <string.h>

#include "symbol/lookup.h"
#include "symbol/perfmap.h"
#include "symbol/root.h"

enum { TEXT_LIMIT = 256 << 20 };

// Opens what an archive has, else a regular file of root or the user; says why not.
bool pd_lookup_open_own(const struct pd_symbols *symbols, const char *path, struct pd_image *image, const char **reason)
{
	int fd;

	if (pd_find_in_archives(&symbols->places, path, image))
		return true;
	// numbers of processes say nothing on another machine
	fd = symbols->places.ids_only ? -ENOENT : pd_root_open_own(symbols->places.symfs, path);
	if (fd < 0) {
		*reason = fd == -EPERM ? "belongs neither to root nor to you" : strerror(-fd);
		return false;
	}
	*reason = "not a regular file";
	return pd_image_open_fd(image, fd, path, symbols->limit, NULL) == PD_OK;
}

// Marks of mappings that came since the last time.
static void find_marks(struct pd_symbols *symbols)
{
	const struct pd_mapping *map;

	for (; (map = pd_world_mapping(symbols->world, symbols->mappings_seen)); symbols->mappings_seen++) {
		size_t n = symbols->jit_mark_count;

		if (!map->object || !pd_jitdump_is(map->object->path))
			continue;
		if (n && symbols->jit_marks[n - 1].pid == map->pid && symbols->jit_marks[n - 1].object == map->object)
			continue;
		if (!PD_GROW(symbols->jit_marks, symbols->jit_mark_capacity, n + 1)) {
			symbols->failed = true;
			return;
		}
		symbols->jit_marks[symbols->jit_mark_count++] = (struct pd_jit_mark){map->pid, map->object};
	}
}

static struct pd_jitdump *open_jitdump(struct pd_symbols *symbols, const char *path, struct pd_text *tried)
{
	struct pd_jitdump *jit = NULL;
	struct pd_image image;
	const char *reason;

	if (pd_lookup_open_own(symbols, path, &image, &reason)) {
		enum pd_status status = pd_jitdump_open_image(&jit, &image, symbols->limit, false, NULL);

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

// The dumps that a process mapped.
static bool open_jitdumps(struct pd_symbols *symbols, struct pd_dso_full *dso, struct pd_text *tried)
{
	size_t count = 0, capacity = 0;

	find_marks(symbols);
	for (size_t i = 0; i < symbols->jit_mark_count; i++) {
		const struct pd_jit_mark *mark = &symbols->jit_marks[i];
		struct pd_jitdump *jit = mark->pid == dso->pid ? open_jitdump(symbols, mark->object->path, tried) : NULL;

		if (!jit)
			continue;
		if (!PD_GROW(dso->jits, capacity, count + 2)) {
			pd_jitdump_close(jit);
			symbols->failed = true;
			break;
		}
		dso->jits[count++] = jit;
		dso->jits[count] = NULL;
		if (count == 1)
			pd_lookup_tell(symbols, dso, PD_DSO_SYMBOLS, "%s", mark->object->path);
	}
	return count > 0;
}

static void load_perfmap(struct pd_symbols *symbols, struct pd_dso_full *dso, const char *tried)
{
	struct pd_image image;
	enum pd_status status;
	const char *reason;
	uint8_t *text;
	size_t size;

	if (!pd_lookup_open_own(symbols, dso->path, &image, &reason)) {
		pd_lookup_tell(symbols, dso, PD_DSO_MISSING, "%s%s: %s", tried, dso->path, reason);
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
		pd_lookup_tell(symbols, dso, PD_DSO_MISSING, "%s%s: larger than the limit", tried, dso->path);
	else if (pd_symtab_count(dso->table))
		pd_lookup_tell(symbols, dso, PD_DSO_SYMBOLS, "%s", dso->path);
	else
		pd_lookup_tell(symbols, dso, PD_DSO_NO_SYMBOLS, "%s has no symbols", dso->path);
}

void pd_lookup_load_runtime(struct pd_symbols *symbols, struct pd_dso_full *dso)
{
	struct pd_text tried = {0};

	bool dumped = !(symbols->flags & PD_SYMBOLS_NO_JITDUMP) && open_jitdumps(symbols, dso, &tried);
	const char *dump = dso->dso.detail;

	dso->terms = PD_TERMS_MOVED;
	pd_text_char(&tried, 0);
	load_perfmap(symbols, dso, tried.failed ? "" : tried.data);
	if (dumped && dso->table && pd_symtab_count(dso->table))
		pd_lookup_tell(symbols, dso, PD_DSO_SYMBOLS, "%s; %s", dump, dso->path);
	else if (dumped)
		pd_lookup_tell(symbols, dso, PD_DSO_SYMBOLS, "%s", dump);
	pd_free(tried.data);
}

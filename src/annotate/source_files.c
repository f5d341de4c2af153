/* SPDX-License-Identifier: MIT */
/* Source files, each read once. Only regular files are, and none that is very large: their paths come from objects. */
#include <string.h>

#include "annotate/inside.h"
#include "object/elf/image.h"

enum {
	LARGEST = 16 << 20
};

struct pd_source_files {
	struct pd_source_file **items;
	size_t count, capacity;
	struct pd_index index;
	struct pd_arena arena;
	uint64_t seed;
};

struct pd_source_files *pd_source_files_new(void)
{
	struct pd_source_files *files = pd_alloc(sizeof(*files));

	if (files)
		files->seed = pd_hash_secret();
	return files;
}

void pd_source_files_free(struct pd_source_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->count; i++) {
		pd_free((void *)files->items[i]->text); // NOLINT: it is this file's
		pd_free(files->items[i]->line_starts);
	}
	pd_free(files->items);
	pd_index_fini(&files->index);
	pd_arena_fini(&files->arena);
	pd_free(files);
}

static void index_lines(struct pd_source_file *file)
{
	size_t capacity = 0;

	for (size_t at = 0; at < file->size;) {
		const char *end = memchr(file->text + at, '\n', file->size - at);

		if (!PD_GROW(file->line_starts, capacity, file->line_count + 1))
			return;
		file->line_starts[file->line_count++] = at;
		at = end ? (size_t)(end - file->text) + 1 : file->size;
	}
}

static void read_file(struct pd_source_file *file)
{
	uint8_t *data;

	if (pd_image_read_file(file->path, LARGEST, &data, &file->size, NULL))
		return;
	file->text = (char *)data;
	index_lines(file);
}

struct pd_source_file *pd_source_file(struct pd_source_files *files, const char *path)
{
	uint64_t hash = pd_hash(files->seed, path, strlen(path));
	struct pd_source_file *file;
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&files->index, hash, &at)) != PD_INDEX_END;)
		if (!strcmp(files->items[i]->path, path))
			return files->items[i];
	file = pd_arena_alloc(&files->arena, sizeof(*file));
	if (!file || !PD_GROW(files->items, files->capacity, files->count + 1))
		return NULL;
	file->path = pd_arena_text(&files->arena, path, strlen(path));
	if (!file->path || !pd_index_add(&files->index, hash, (uint32_t)files->count))
		return NULL;
	files->items[files->count++] = file;
	read_file(file);
	return file;
}

bool pd_source_line(const struct pd_source_file *file, uint32_t line, const char **text_out, size_t *length_out)
{
	const char *end;

	if (!line || line > file->line_count)
		return false;
	*text_out = file->text + file->line_starts[line - 1];
	end = memchr(*text_out, '\n', file->size - file->line_starts[line - 1]);
	*length_out = end ? (size_t)(end - *text_out) : file->size - file->line_starts[line - 1];
	return true;
}

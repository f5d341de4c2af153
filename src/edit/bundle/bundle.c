/* SPDX-License-Identifier: MIT */
/* Bundles: which name each file of a recording and of its objects has, and that each is there once. */
#include "edit/bundle/bundle.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "file/archive.h"
#include "file/file.h"
#include "symbol/sources.h"
#include "unwind/rules/compile.h"
#include "unwind/unwinder.h"
#include "base/lookup/hash.h"

enum {
	STEP = 256 << 10,
	LEVEL_USUAL = 3,
	LEVEL_MOST = 22,
	HEX_SIZE = 2 * 64 + 1
};

struct name {
	const char *text;
	bool is_folder;
};

struct pd_bundle {
	struct pd_tar tar;
	uint32_t flags;
	bool has_stacks; // that were copied, to be unwound
	uint64_t seed;
	struct pd_arena arena;
	struct name *names; // of members and the folders that they are in
	size_t count, capacity;
	struct pd_index index;
	uint8_t *step;
	enum pd_status status; // the first failure
	struct pd_error error;
};

// ---- failure ----

static enum pd_status remember(struct pd_bundle *b, enum pd_status status, struct pd_error *error)
{
	if (status < 0 && b->status >= 0)
		b->status = status;
	if (status < 0 && error)
		*error = b->error;
	return status;
}

static enum pd_status no_memory(struct pd_bundle *b)
{
	return pd_fail_memory(&b->error);
}

// ---- names ----

// False for what leads out of the bundle, or is no name.
static bool is_valid(const char *name)
{
	for (;; name++) {
		size_t length = strcspn(name, "/");

		if (!length || (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.'))))
			return false;
		name += length;
		if (!*name)
			return true;
	}
}

static const struct name *find_name(const struct pd_bundle *b, const char *name, size_t length)
{
	uint64_t hash = pd_hash(b->seed, name, length);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&b->index, hash, &at)) != PD_INDEX_END;)
		if (strncmp(b->names[i].text, name, length) == 0 && !b->names[i].text[length])
			return &b->names[i];
	return NULL;
}

static bool is_taken(const struct pd_bundle *b, const char *name)
{
	return find_name(b, name, strlen(name));
}

// Neither taken, nor below what is no folder.
static bool is_free(const struct pd_bundle *b, const char *name)
{
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		const struct name *folder = find_name(b, name, (size_t)(slash - name));

		if (folder && !folder->is_folder)
			return false;
	}
	return !is_taken(b, name);
}

static bool take_one(struct pd_bundle *b, const char *name, size_t length, bool is_folder)
{
	const char *copy;

	if (find_name(b, name, length))
		return true;
	copy = pd_arena_text(&b->arena, name, length);
	if (!copy || b->count >= UINT32_MAX - 1 || !PD_GROW(b->names, b->capacity, b->count + 1) ||
	    !pd_index_add(&b->index, pd_hash(b->seed, copy, length), (uint32_t)b->count))
		return false;
	b->names[b->count++] = (struct name){ copy, is_folder };
	return true;
}

// The name, and those of the folders that it is in; false without memory.
static bool take_name(struct pd_bundle *b, const char *name)
{
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/'))
		if (!take_one(b, name, (size_t)(slash - name), true))
			return false;
	return take_one(b, name, strlen(name), false);
}

// ---- members ----

// Reads the bytes of a member; false if they are not all there.
typedef bool read_fn(void *self, uint64_t offset, uint8_t *data, size_t size);

static enum pd_status put_stretch(struct pd_bundle *b, const struct pd_stretch *stretch, read_fn *read, void *self)
{
	uint64_t at = stretch->offset, left = stretch->size;
	enum pd_status status = PD_OK;

	while (left && status >= 0) {
		size_t part = left < STEP ? (size_t)left : STEP;

		if (!read(self, at, b->step, part))
			return pd_fail(&b->error, PD_ERROR_SYSTEM, at, "the file was truncated while it was read");
		status = pd_tar_put(&b->tar, b->step, part, &b->error);
		at += part;
		left -= part;
	}
	return status;
}

static enum pd_status put_member(struct pd_bundle *b, const struct pd_tar_member *m, read_fn *read, void *self)
{
	const struct pd_stretch all = { 0, m->size };
	const struct pd_stretch *stretches = m->stretches ? m->stretches : &all;
	size_t count = m->stretches ? m->stretch_count : 1;
	enum pd_status status = take_name(b, m->name) ? PD_OK : no_memory(b);

	if (status >= 0)
		status = pd_tar_begin(&b->tar, m, &b->error);
	for (size_t i = 0; i < count && status >= 0 && !m->target; i++)
		status = put_stretch(b, &stretches[i], read, self);
	return status < 0 ? status : pd_tar_pad(&b->tar, &b->error);
}

// ---- the recording ----

static bool read_source(void *self, uint64_t offset, uint8_t *data, size_t size)
{
	size_t got;

	return pd_source_read(self, offset, data, size, &got, NULL) >= 0 && got == size;
}

static enum pd_status put_part(struct pd_bundle *b, struct pd_source *source, const char *name)
{
	struct pd_tar_member m = { .name = name, .size = source->size, .is_private = true };

	if (!source->seekable)
		return pd_fail(&b->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the recording can be read only once");
	return put_member(b, &m, read_source, source);
}

static enum pd_status put_file(struct pd_bundle *b, struct pd_file *file)
{
	enum pd_status status = PD_OK;
	char name[PATH_MAX];

	if (b->count)
		return pd_fail(&b->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "the recording is not the first member of the bundle");
	b->tar.modified = pd_file_modified(file);
	for (size_t i = 0; i < pd_file_part_count(file) && status >= 0; i++) {
		const struct pd_part *part = pd_file_part(file, i);

		snprintf(name, sizeof(name), "perf.data%s%s", part->name[0] ? "/" : "", part->name);
		status = put_part(b, part->source, name);
	}
	return status;
}

enum pd_status pd_bundle_add_file(struct pd_bundle *bundle, struct pd_file *file, struct pd_error *error)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		bundle->has_stacks |= pd_unwinder_has_stacks(pd_file_event(file, i)->attr);
	return remember(bundle, bundle->status < 0 ? bundle->status : put_file(bundle, file), error);
}

// ---- bytes ----

static bool read_bytes(void *self, uint64_t offset, uint8_t *data, size_t size)
{
	const struct pd_bytes *bytes = self;

	memcpy(data, bytes->data + offset, size);
	return true;
}

static enum pd_status put_bytes(struct pd_bundle *b, const char *name, struct pd_bytes bytes)
{
	const struct pd_tar_member m = { .name = name, .size = bytes.size };

	if (!is_valid(name) || !is_free(b, name))
		return pd_fail(&b->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: duplicate or empty name", name);
	return put_member(b, &m, read_bytes, &bytes);
}

enum pd_status pd_bundle_add_bytes(struct pd_bundle *bundle, const char *name, struct pd_bytes bytes,
				   struct pd_error *error)
{
	return remember(bundle, bundle->status < 0 ? bundle->status : put_bytes(bundle, name, bytes), error);
}

// ---- objects ----

struct adding {
	struct pd_bundle *bundle;
	pd_bundled_fn *each;
	void *self;
	bool is_kernel; // which has no stack that was copied
	enum pd_status status;
};

struct kept_image {
	const struct pd_image *image;
	const struct pd_keep *keep;
};

static bool read_kept(void *self, uint64_t offset, uint8_t *data, size_t size)
{
	const struct kept_image *kept = self;

	if (pd_image_copy(kept->image, offset, data, size) != size)
		return false;
	pd_keep_change(kept->keep, offset, data, size);
	return true;
}

static void put_hex(const struct pd_object_id *id, char out[HEX_SIZE])
{
	out[0] = 0;
	for (size_t i = 0; i < id->size; i++)
		snprintf(out + 2 * i, 3, "%02x", id->bytes[i]);
}

// Names that nobody else may have.
static bool is_ours(const char *name)
{
	static const char *const own[] = { "perf.data", "manifest.json", ".build-id" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		size_t length = strlen(own[i]);

		if (strncmp(name, own[i], length) == 0 && (!name[length] || name[length] == '/'))
			return true;
	}
	return false;
}

// A recorded path as a name: without the slash in front. False if there is none, or it leads out.
static bool name_of_path(const char *path, bool has_id, char out[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	size_t length, tail = sizeof(deleted) - 1;

	path += strspn(path, "/");
	length = strlen(path);
	if (has_id && length > tail && strcmp(path + length - tail, deleted) == 0)
		length -= tail;
	if (length >= PATH_MAX)
		return false;
	memcpy(out, path, length);
	out[length] = 0;
	return is_valid(out) && !is_ours(out);
}

// False if there is none for it.
static bool name_source(const struct pd_symbol_source *s, char out[PATH_MAX])
{
	char hex[HEX_SIZE], path[PATH_MAX];
	const char *slash, *leaf = s->kind == PD_SOURCE_OBJECT ? "elf" : "debug";
	int n;

	put_hex(&s->id, hex);
	if (s->kind == PD_SOURCE_OBJECT && strncmp(s->path, "[vdso", 5) == 0)
		leaf = "vdso";
	if (s->kind == PD_SOURCE_KALLSYMS) {
		n = snprintf(out, PATH_MAX, "%s/%s%skallsyms", s->path, hex, hex[0] ? "/" : "");
	} else if (s->id.size > 1) {
		n = snprintf(out, PATH_MAX, ".build-id/%.2s/%s/%s", hex, hex + 2, leaf);
	} else if (!name_of_path(s->path, false, path)) {
		return false;
	} else if (s->kind == PD_SOURCE_DEBUG) {
		slash = strrchr(path, '/');
		n = snprintf(out, PATH_MAX, "%.*s.debug/%s", (int)(slash ? slash + 1 - path : 0), path,
			     s->link ? s->link : "");
	} else {
		n = snprintf(out, PATH_MAX, "%s", path);
	}
	return n > 0 && n < PATH_MAX && is_valid(out);
}

// to_size: of the part of to that counts.
static enum pd_status put_link(struct pd_bundle *b, const char *name, const char *to, size_t to_size)
{
	struct pd_tar_member m = { .name = name };
	char target[PATH_MAX + 3 * PATH_MAX / 2];
	size_t at = 0;

	if (!is_free(b, name))
		return PD_OK;
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/'))
		at += (size_t)snprintf(target + at, sizeof(target) - at, "../");
	snprintf(target + at, sizeof(target) - at, "%.*s", (int)to_size, to);
	m.target = target;
	return put_member(b, &m, NULL, NULL);
}

// Where the recorded path, or the build id of a kernel, leads to the file.
static enum pd_status put_links(struct pd_bundle *b, const struct pd_symbol_source *s, const char *name)
{
	char link[PATH_MAX], hex[HEX_SIZE];
	const char *slash;

	if (s->kind == PD_SOURCE_KALLSYMS && s->id.size > 1) {
		put_hex(&s->id, hex);
		snprintf(link, sizeof(link), ".build-id/%.2s/%s", hex, hex + 2);
		slash = strrchr(name, '/');
		return put_link(b, link, name, slash ? (size_t)(slash - name) : strlen(name));
	}
	// a vdso with a build id is found by it alone: another process may have one without, of the same name
	if (s->kind != PD_SOURCE_OBJECT || s->id.size <= 1 || strncmp(s->path, "[vdso", 5) == 0 ||
	    !name_of_path(s->path, true, link))
		return PD_OK;
	return put_link(b, link, name, strlen(name));
}

static enum pd_status put_image(struct pd_bundle *b, const struct pd_symbol_source *s, const char *name, bool is_kernel)
{
	struct pd_keep keep = { .stretches = NULL };
	struct kept_image kept = { .image = s->image, .keep = &keep };
	struct pd_tar_member m = { .name = name, .size = s->image->size };
	bool with_code = b->has_stacks && !is_kernel && s->elf && pd_unwind_reads_code(s->elf);
	// what goes by its checksum must stay as it is
	bool is_whole = !s->elf || (b->flags & PD_BUNDLE_FULL) || s->link;
	enum pd_status status;

	if (!is_whole && !pd_keep_make(&keep, s->elf, with_code))
		return no_memory(b);
	if (keep.count != 1 || keep.stretches[0].size != m.size) {
		m.stretches = keep.stretches;
		m.stretch_count = keep.count;
	}
	status = put_member(b, &m, read_kept, &kept);
	pd_keep_fini(&keep);
	return status;
}

static void report_member(const struct adding *a, const struct pd_symbol_source *s, const char *name, uint64_t packed,
			  const char *missing)
{
	static const char *const kinds[] = { [PD_SOURCE_OBJECT] = "object",       [PD_SOURCE_DEBUG] = "debug",
					     [PD_SOURCE_SHARED] = "shared-debug", [PD_SOURCE_KALLSYMS] = "kallsyms",
					     [PD_SOURCE_PERFMAP] = "perf-map",    [PD_SOURCE_JITDUMP] = "jitdump" };
	struct pd_bundled bundled = { .kind = kinds[s->kind],
				      .name = missing ? NULL : name,
				      .from = s->from,
				      .missing = missing,
				      .size = s->image->size,
				      .packed = packed };

	bundled.build_id.size = s->id.size < sizeof(bundled.build_id.bytes) ? s->id.size :
									      sizeof(bundled.build_id.bytes);
	memcpy(bundled.build_id.bytes, s->id.bytes, bundled.build_id.size);
	if (a->each)
		a->each(a->self, &bundled);
}

static bool add_source(void *self, const struct pd_symbol_source *s)
{
	struct adding *a = self;
	struct pd_bundle *b = a->bundle;
	uint64_t before = b->tar.written;
	bool is_new;
	char name[PATH_MAX];

	if (!name_source(s, name)) {
		report_member(a, s, NULL, 0, "no build id, and its path is outside of the bundle");
		return true;
	}
	is_new = !is_taken(b, name);
	if (is_new && !is_free(b, name)) {
		report_member(a, s, NULL, 0, "another file of the bundle has the same name");
		return true;
	}
	if (is_new)
		a->status = put_image(b, s, name, a->is_kernel);
	report_member(a, s, name, is_new ? b->tar.written - before : 0, NULL);
	if (a->status >= 0)
		a->status = put_links(b, s, name);
	return a->status >= 0;
}

enum pd_status pd_bundle_add_dso(struct pd_bundle *bundle, struct pd_symbols *symbols, const struct pd_dso *dso,
				 pd_bundled_fn *each, void *self, struct pd_error *error)
{
	struct adding adding = {
		.bundle = bundle, .each = each, .self = self, .is_kernel = dso->kernel, .status = bundle->status
	};

	if (adding.status >= 0 && !pd_lookup_sources(symbols, dso, add_source, &adding) && adding.status >= 0)
		adding.status = no_memory(bundle);
	return remember(bundle, adding.status, error);
}

// ---- begin and end ----

int pd_bundle_level(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && strcmp(path + length - 4, ".zst") == 0 ? LEVEL_USUAL : 0;
}

enum pd_status pd_bundle_open_fd(int fd, const char *name, const struct pd_bundle_options *options,
				 struct pd_bundle **bundle_out, struct pd_error *error)
{
	struct pd_bundle_options o = { .size = sizeof(o) };
	struct pd_bundle *b;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	if (o.level < 0 || o.level > LEVEL_MOST)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "invalid compression level %d", o.level);
	b = pd_alloc(sizeof(*b));
	if (!b)
		return pd_fail_memory(error);
	b->flags = o.flags;
	b->seed = (uint64_t)(uintptr_t)b;
	b->step = pd_realloc(NULL, STEP);
	name = pd_arena_text(&b->arena, name, strlen(name));
	status = b->step && name ? pd_tar_init(&b->tar, fd, name, o.level, error) : pd_fail_memory(error);
	if (status < 0)
		pd_bundle_abort(b);
	else
		*bundle_out = b;
	return status;
}

enum pd_status pd_bundle_finish(struct pd_bundle *bundle, struct pd_error *error)
{
	enum pd_status status = bundle->status;

	if (status >= 0)
		status = pd_tar_end(&bundle->tar, &bundle->error);
	if (status < 0 && error)
		*error = bundle->error;
	pd_bundle_abort(bundle);
	return status;
}

void pd_bundle_abort(struct pd_bundle *bundle)
{
	if (!bundle)
		return;
	pd_tar_fini(&bundle->tar);
	pd_free(bundle->step);
	pd_free(bundle->names);
	pd_index_fini(&bundle->index);
	pd_arena_fini(&bundle->arena);
	pd_free(bundle);
}

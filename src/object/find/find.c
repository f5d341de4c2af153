/* SPDX-License-Identifier: MIT */
/* Finding objects and their debug files: a list of places in order, the first one that passes its check is used. */
#include "object/find/find.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "object/find/root.h"

enum {
	HEX_SIZE = 2 * 64 + 1
};

static const char deleted[] = " (deleted)";

// A directory, or an archive.
struct place {
	const char *root; // the archive's name
	const struct pd_archive *archive;
};

struct finding {
	const struct pd_find_places *places;
	const struct pd_find_wanted *wanted;
	struct pd_found *found;
	char path[PATH_MAX];            // recorded, without what the kernel put after it; "" if it is none of a file
	char hex[HEX_SIZE];             // build id
	const char *link;               // of the object
	const struct pd_archive *spare; // once it was asked for
	uint32_t link_crc;
};

static void put_hex(const struct pd_object_id *id, char out[HEX_SIZE])
{
	out[0] = 0;
	for (size_t i = 0; i < id->size && i < sizeof(id->bytes); i++)
		snprintf(out + 2 * i, 3, "%02x", id->bytes[i]);
}

// ---- the list of places ----

static void note(struct finding *f, enum pd_find_kind kind, enum pd_find_action action, const char *root,
		 const char *path, const char *format, ...) PD_PRINTF(6, 7);

static void note(struct finding *f, enum pd_find_kind kind, enum pd_find_action action, const char *root,
		 const char *path, const char *format, ...)
{
	struct pd_found *found = f->found;
	char reason[512];
	struct pd_find_try try = { .kind = kind, .action = action, .root = root };
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	try.root = pd_arena_text(&found->texts, root, strlen(root));
	try.path = pd_arena_text(&found->texts, path, strlen(path));
	try.reason = pd_arena_text(&found->texts, reason, strlen(reason));
	if (!try.root || !try.path || !try.reason ||
	    !PD_GROW(found->tries, found->try_capacity, found->try_count + 1)) {
		found->out_of_memory = true;
		return;
	}
	found->tries[found->try_count++] = try;
}

static struct place directory(const char *root)
{
	return (struct place){ .root = root };
}

static struct place archive(const struct pd_archive *archive)
{
	return (struct place){ .root = archive ? pd_archive_name(archive) : NULL, .archive = archive };
}

// Opens a regular file, or notes why not.
static bool open_image(struct finding *f, enum pd_find_kind kind, struct place place, const char *path,
		       struct pd_image *image)
{
	const struct pd_member *member = place.archive ? pd_archive_find(place.archive, path) : NULL;
	const char *root = place.root;
	int fd;

	if (member) {
		pd_image_open_member(image, place.archive, member, f->places->limit);
		return true;
	}
	fd = place.archive ? -ENOENT : pd_root_open(root, path);
	if (fd == -ENOTSUP) {
		note(f, kind, PD_FIND_REFUSED, root, path, "not a regular file");
		return false;
	}
	if (fd < 0) {
		note(f, kind, PD_FIND_MISSING, root, path, "%s", strerror(-fd));
		return false;
	}
	if (pd_image_open_fd(image, fd, "", f->places->limit, NULL)) {
		note(f, kind, PD_FIND_REFUSED, root, path, "not a regular file");
		return false;
	}
	return true;
}

static struct pd_elf *open_elf(struct finding *f, enum pd_find_kind kind, struct place place, const char *path)
{
	struct pd_elf *elf = NULL;
	struct pd_image image;
	struct pd_error error;
	enum pd_status status;

	if (!open_image(f, kind, place, path, &image))
		return NULL;
	status = pd_elf_open_image(&elf, &image, "", f->places->limit, &error);
	f->found->out_of_memory |= status == PD_ERROR_MEMORY;
	if (status) {
		// without a name the message begins with its colon
		const char *text = strncmp(error.message, ": ", 2) == 0 ? error.message + 2 : error.message;

		note(f, kind, PD_FIND_REFUSED, place.root, path, "%s", text);
		return NULL;
	}
	return elf;
}

static void mark_other(struct finding *f)
{
	if (f->found->try_count && !f->found->out_of_memory)
		f->found->tries[f->found->try_count - 1].other_id = true;
}

// False, with a note, if a build id was recorded and this is not it.
static bool check_id(struct finding *f, enum pd_find_kind kind, const char *root, const char *path, struct pd_elf *elf,
		     const struct pd_object_id *wanted)
{
	struct pd_object_id id = { .size = 0 };
	char has[HEX_SIZE], wants[HEX_SIZE];

	if (!wanted->size) {
		note(f, kind, PD_FIND_USED, root, path, "no build id to verify it");
		return true;
	}
	put_hex(wanted, wants);
	if (!pd_elf_id(elf, &id)) {
		f->found->out_of_memory |= elf->image.failed;
		note(f, kind, PD_FIND_REFUSED, root, path, "has no build id, expected %s", wants);
		mark_other(f);
		return false;
	}
	if (!pd_object_id_equal(&id, wanted)) {
		put_hex(&id, has);
		note(f, kind, PD_FIND_REFUSED, root, path, "build id is %s, expected %s", has, wants);
		mark_other(f);
		return false;
	}
	note(f, kind, PD_FIND_USED, root, path, "%s", "");
	return true;
}

// ---- the object ----

static void try_object(struct finding *f, struct place place, const char *path)
{
	struct pd_elf *elf;

	if (!place.root || f->found->object || f->found->out_of_memory)
		return;
	elf = open_elf(f, PD_FIND_OBJECT, place, path);
	if (elf && !check_id(f, PD_FIND_OBJECT, place.root, path, elf, &f->wanted->id)) {
		pd_elf_close(elf);
		elf = NULL;
	}
	f->found->object = elf;
}

// ".build-id/12/3456...", with something after it. False if there is no build id.
static bool id_path(const struct finding *f, const char *suffix, char *out, size_t size)
{
	int n = snprintf(out, size, ".build-id/%.2s/%s%s", f->hex, f->hex[0] ? f->hex + 2 : "", suffix);

	return f->hex[0] && n > 0 && (size_t)n < size;
}

static struct place spare_of(struct finding *f)
{
	if (!f->spare && f->places->spare)
		f->spare = f->places->spare(f->places->spare_self);
	return archive(f->spare);
}

// Paths say little of what is not of this machine.
static bool trusts_paths(const struct finding *f)
{
	return f->path[0] && (!f->places->ids_only || f->wanted->id.size);
}

static bool is_vdso(const struct finding *f)
{
	return strncmp(f->wanted->path, "[vdso", 5) == 0;
}

static const char *cache_name(const struct finding *f)
{
	return is_vdso(f) ? "/vdso" : "/elf";
}

static void find_object_in(struct finding *f, struct place place)
{
	const char *other = is_vdso(f) ? f->wanted->path : f->wanted->name;
	const char *name = f->path[0] ? f->path : other;
	char path[PATH_MAX];

	if (id_path(f, cache_name(f), path, sizeof(path)))
		try_object(f, place, path);
	if (name && name[0])
		try_object(f, place, name);
}

static void find_object(struct finding *f)
{
	const struct pd_find_places *p = f->places;
	char path[PATH_MAX];

	for (size_t i = 0; i < p->archive_count; i++)
		find_object_in(f, archive(p->archives[i]));
	if (trusts_paths(f))
		try_object(f, directory(p->symfs), f->path);
	if (id_path(f, cache_name(f), path, sizeof(path)))
		try_object(f, directory(p->cache), path);
	for (size_t i = 0; i < p->debug_count; i++) {
		if (id_path(f, "", path, sizeof(path)))
			try_object(f, directory(p->debug[i]), path);
		if (trusts_paths(f))
			try_object(f, directory(p->debug[i]), f->path);
	}
	// perf takes it from there, too
	if (strcmp(f->wanted->path, "[vdso]") == 0 && p->symfs && strcmp(p->symfs, "/") != 0)
		try_object(f, directory(p->symfs), f->wanted->path);
	if (!f->found->object && f->hex[0])
		find_object_in(f, spare_of(f));
}

static void try_kallsyms(struct finding *f, struct place place)
{
	char path[PATH_MAX];

	if (!place.root || pd_image_is_open(&f->found->kallsyms) || !id_path(f, "/kallsyms", path, sizeof(path)))
		return;
	if (open_image(f, PD_FIND_KALLSYMS, place, path, &f->found->kallsyms))
		note(f, PD_FIND_KALLSYMS, PD_FIND_USED, place.root, path, "found by build id");
}

static void find_kallsyms(struct finding *f)
{
	if (!strstr(f->wanted->path, "kernel.kallsyms]"))
		return;
	for (size_t i = 0; i < f->places->archive_count; i++)
		try_kallsyms(f, archive(f->places->archives[i]));
	try_kallsyms(f, directory(f->places->cache));
	if (!f->found->object && !pd_image_is_open(&f->found->kallsyms) && f->hex[0])
		try_kallsyms(f, spare_of(f));
}

// ---- the debug file ----

static bool check_crc(struct finding *f, const char *root, const char *path, struct pd_elf *elf)
{
	enum {
		STEP = 64 << 10
	};
	uint8_t *data = pd_alloc(STEP);
	uint32_t crc = 0;

	if (!data) {
		f->found->out_of_memory = true;
		return false;
	}
	for (uint64_t at = 0; at < elf->image.size;) {
		size_t got = pd_image_copy(&elf->image, at, data, STEP);

		if (!got)
			break;
		crc = pd_crc32(crc, data, got);
		at += got;
	}
	pd_free(data);
	if (crc == f->link_crc)
		note(f, PD_FIND_DEBUG, PD_FIND_USED, root, path, "checksum matches");
	else
		note(f, PD_FIND_DEBUG, PD_FIND_REFUSED, root, path, "checksum is %08x, expected %08x", crc,
		     f->link_crc);
	return crc == f->link_crc;
}

static void try_debug(struct finding *f, struct place place, const char *path, bool is_linked)
{
	struct pd_object_id wanted = f->wanted->id, own = { .size = 0 };
	struct pd_elf *elf;
	bool ok;

	if (!place.root || f->found->debug || f->found->out_of_memory)
		return;
	elf = open_elf(f, PD_FIND_DEBUG, place, path);
	if (!elf)
		return;
	if (f->found->object)
		pd_elf_id(f->found->object, &wanted);
	// the checksum is for those that have nothing better
	if (is_linked && (!wanted.size || !pd_elf_id(elf, &own)))
		ok = check_crc(f, place.root, path, elf);
	else
		ok = check_id(f, PD_FIND_DEBUG, place.root, path, elf, &wanted);
	if (ok)
		f->found->debug = elf;
	else
		pd_elf_close(elf);
}

static void try_link(struct finding *f, struct place place, const char *folder)
{
	const char *slash = strrchr(f->path, '/');
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%.*s%s%s", (int)(slash ? slash - f->path + 1 : 0), f->path, folder,
			 f->link);

	if (n > 0 && (size_t)n < sizeof(path))
		try_debug(f, place, path, true);
}

// The cache may have the object as it was before it was stripped.
static void find_full(struct finding *f)
{
	struct pd_found *found = f->found;
	char path[PATH_MAX];

	if (found->debug || !found->object || pd_elf_has_symtab(found->object) ||
	    !id_path(f, "/elf", path, sizeof(path)))
		return;
	try_debug(f, directory(f->places->cache), path, false);
	if (!found->debug || pd_elf_has_symtab(found->debug))
		return;
	pd_elf_close(found->debug);
	found->debug = NULL;
	found->tries[found->try_count - 1].action = PD_FIND_REFUSED;
	found->tries[found->try_count - 1].reason = "has no symbols either";
}

static void find_debug_in(struct finding *f, struct place place)
{
	char path[PATH_MAX];

	if (id_path(f, "/debug", path, sizeof(path)))
		try_debug(f, place, path, false);
	if (f->link)
		try_link(f, place, ".debug/");
}

static void find_debug(struct finding *f)
{
	const struct pd_find_places *p = f->places;
	struct pd_elf *object = f->found->object;
	char path[PATH_MAX];
	struct pd_object_id id = { .size = 0 };

	if (object && pd_elf_has_symtab(object) && !p->always_debug)
		return;
	if (object && !f->hex[0] && pd_elf_id(object, &id))
		put_hex(&id, f->hex);
	if (!object || !f->path[0] || !pd_elf_debuglink(object, &f->link, &f->link_crc) || strchr(f->link, '/'))
		f->link = NULL;
	for (size_t i = 0; i < p->archive_count; i++)
		find_debug_in(f, archive(p->archives[i]));
	if (id_path(f, "/debug", path, sizeof(path)))
		try_debug(f, directory(p->cache), path, false);
	for (size_t i = 0; i < p->debug_count; i++)
		if (id_path(f, ".debug", path, sizeof(path)))
			try_debug(f, directory(p->debug[i]), path, false);
	if (f->link && trusts_paths(f)) {
		try_link(f, directory(p->symfs), "");
		try_link(f, directory(p->symfs), ".debug/");
		for (size_t i = 0; i < p->debug_count; i++)
			try_link(f, directory(p->debug[i]), "");
	}
	if (f->spare)
		find_debug_in(f, archive(f->spare));
}

// ---- all of it ----

// What the kernel calls a file; "[heap]", "anon_inode:x" and the like are none.
static void take_path(struct finding *f)
{
	size_t length = strlen(f->wanted->path), tail = sizeof(deleted) - 1;

	if (f->wanted->path[0] != '/' || f->wanted->path[1] == '/' || length >= sizeof(f->path))
		return;
	memcpy(f->path, f->wanted->path, length + 1);
	// whether another file of that name is the same one, only a build id can tell
	if (length > tail && strcmp(f->path + length - tail, deleted) == 0)
		f->path[f->wanted->id.size ? length - tail : 0] = 0;
}

enum pd_status pd_find(const struct pd_find_places *places, const struct pd_find_wanted *wanted,
		       struct pd_found *found_out, struct pd_error *error)
{
	struct pd_found found = { .kallsyms = { .fd = -1 } };
	struct finding f = { .places = places, .wanted = wanted, .found = &found };

	put_hex(&wanted->id, f.hex);
	take_path(&f);
	find_object(&f);
	find_kallsyms(&f);
	find_debug(&f);
	find_full(&f);
	if (found.out_of_memory) {
		pd_found_close(&found);
		return pd_fail_memory(error);
	}
	*found_out = found;
	return PD_OK;
}

// ---- where it came from ----

// The place of what was found by its path, else where the recorded path leads.
static const struct pd_find_try *try_of_place(const struct pd_found *found, const char *symfs)
{
	enum pd_find_kind kind = found->object || !found->debug ? PD_FIND_OBJECT : PD_FIND_DEBUG;
	const struct pd_find_try *recorded = NULL;

	for (size_t i = 0; i < found->try_count; i++) {
		const struct pd_find_try *try = &found->tries[i];

		if (try->kind == kind && try->action == PD_FIND_USED)
			return try;
		if (!recorded && try->kind == PD_FIND_OBJECT && strcmp(try->root, symfs) == 0)
			recorded = try;
	}
	return recorded;
}

struct pd_file_origin pd_found_origin(struct pd_found *found, const struct pd_find_places *places)
{
	const struct pd_elf *files[] = { found->object, found->debug };
	const struct pd_find_try *try = places->symfs ? try_of_place(found, places->symfs) : NULL;
	struct pd_file_origin origin = { .place = NULL };
	char place[2 * PATH_MAX];
	int n;

	for (size_t i = 0; i < 2; i++) {
		if (files[i] && !files[i]->image.stamp.known)
			return origin;
		if (files[i])
			origin.files[i] = files[i]->image.stamp;
	}
	if (!try)
		return origin;
	n = snprintf(place, sizeof(place), "%s/%s", try->root, try->path);
	if (n > 0 && (size_t)n < sizeof(place))
		origin.place = pd_arena_text(&found->texts, place, (size_t)n);
	return origin;
}

bool pd_find_in_archives(const struct pd_find_places *places, const char *path, struct pd_image *image_out)
{
	for (size_t i = 0; i < places->archive_count; i++) {
		const struct pd_member *member = pd_archive_find(places->archives[i], path);

		if (!member)
			continue;
		pd_image_open_member(image_out, places->archives[i], member, places->limit);
		return true;
	}
	return false;
}

void pd_found_close(struct pd_found *found)
{
	pd_elf_close(found->object);
	pd_elf_close(found->debug);
	pd_image_close(&found->kallsyms);
	pd_free(found->tries);
	pd_arena_fini(&found->texts);
	*found = (struct pd_found){ .kallsyms = { .fd = -1 } };
}

/* SPDX-License-Identifier: MIT */
/* Finding objects and their debug files: a list of places in order, the first one that passes its check is used. */
#include "symbol/find.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "symbol/root.h"

enum { HEX_SIZE = 2 * 64 + 1 };

static const char deleted[] = " (deleted)";

struct finding {
	const struct pd_find_places *places;
	const struct pd_find_wanted *wanted;
	struct pd_found *found;
	char path[PATH_MAX]; // recorded, without what the kernel put behind it; "" if it is none of a file
	char hex[HEX_SIZE];  // build id
	const char *link;    // of the object
	uint32_t link_crc;
};

static void put_hex(const struct pd_object_id *id, char out[HEX_SIZE])
{
	out[0] = 0;
	for (size_t i = 0; i < id->size && i < sizeof(id->bytes); i++)
		snprintf(out + 2 * i, 3, "%02x", id->bytes[i]);
}

// ---- the list of places ----

static void note(struct finding *f, enum pd_find_kind kind, enum pd_find_verdict verdict, const char *root,
		 const char *path, const char *format, ...) PD_PRINTF(6, 7);

static void note(struct finding *f, enum pd_find_kind kind, enum pd_find_verdict verdict, const char *root,
		 const char *path, const char *format, ...)
{
	struct pd_found *found = f->found;
	char reason[512];
	struct pd_find_try try = {.kind = kind, .verdict = verdict, .root = root};
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	try.root = pd_arena_text(&found->texts, root, strlen(root));
	try.path = pd_arena_text(&found->texts, path, strlen(path));
	try.reason = pd_arena_text(&found->texts, reason, strlen(reason));
	if (!try.root || !try.path || !try.reason || !PD_GROW(found->tries, found->try_capacity, found->try_count + 1)) {
		found->out_of_memory = true;
		return;
	}
	found->tries[found->try_count++] = try;
}

// Opens a regular file, or notes why not.
static bool open_image(struct finding *f, enum pd_find_kind kind, const char *root, const char *path,
		       struct pd_image *image)
{
	int fd = pd_root_open(root, path);

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

static struct pd_elf *open_elf(struct finding *f, enum pd_find_kind kind, const char *root, const char *path)
{
	struct pd_elf *elf = NULL;
	struct pd_image image;
	struct pd_error error;
	enum pd_status status;

	if (!open_image(f, kind, root, path, &image))
		return NULL;
	status = pd_elf_open_image(&elf, &image, "", f->places->limit, &error);
	f->found->out_of_memory |= status == PD_ERROR_MEMORY;
	if (status) {
		// without a name the message begins with its colon
		const char *text = strncmp(error.message, ": ", 2) == 0 ? error.message + 2 : error.message;

		note(f, kind, PD_FIND_REFUSED, root, path, "%s", text);
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
	struct pd_object_id id = {.size = 0};
	char has[HEX_SIZE], wants[HEX_SIZE];

	if (!wanted->size) {
		note(f, kind, PD_FIND_USED, root, path, "no build id is known to check it");
		return true;
	}
	put_hex(wanted, wants);
	if (!pd_elf_id(elf, &id)) {
		note(f, kind, PD_FIND_REFUSED, root, path, "has no build id, wanted is %s", wants);
		mark_other(f);
		return false;
	}
	if (!pd_object_id_equal(&id, wanted)) {
		put_hex(&id, has);
		note(f, kind, PD_FIND_REFUSED, root, path, "build id is %s, wanted is %s", has, wants);
		mark_other(f);
		return false;
	}
	note(f, kind, PD_FIND_USED, root, path, "%s", "");
	return true;
}

// ---- the object ----

static bool try_object(struct finding *f, const char *root, const char *path)
{
	struct pd_elf *elf;

	if (!root || f->found->object || f->found->out_of_memory)
		return false;
	elf = open_elf(f, PD_FIND_OBJECT, root, path);
	if (elf && !check_id(f, PD_FIND_OBJECT, root, path, elf, &f->wanted->id)) {
		pd_elf_close(elf);
		elf = NULL;
	}
	f->found->object = elf;
	return elf != NULL;
}

// ".build-id/12/3456...", with something behind it. False if there is no build id.
static bool id_path(const struct finding *f, const char *behind, char *out, size_t size)
{
	int n = snprintf(out, size, ".build-id/%.2s/%s%s", f->hex, f->hex[0] ? f->hex + 2 : "", behind);

	return f->hex[0] && n > 0 && (size_t)n < size;
}

static void find_object(struct finding *f)
{
	const struct pd_find_places *p = f->places;
	bool is_vdso = strncmp(f->wanted->path, "[vdso", 5) == 0;
	char path[PATH_MAX];

	if (f->path[0])
		try_object(f, p->symfs, f->path);
	if (id_path(f, is_vdso ? "/vdso" : "/elf", path, sizeof(path)))
		try_object(f, p->cache, path);
	for (size_t i = 0; i < p->debug_count; i++) {
		if (id_path(f, "", path, sizeof(path)))
			try_object(f, p->debug[i], path);
		if (f->path[0])
			try_object(f, p->debug[i], f->path);
	}
}

static void find_kallsyms(struct finding *f)
{
	char path[PATH_MAX];

	if (!strstr(f->wanted->path, "kernel.kallsyms]") || !f->places->cache ||
	    !id_path(f, "/kallsyms", path, sizeof(path)))
		return;
	if (open_image(f, PD_FIND_KALLSYMS, f->places->cache, path, &f->found->kallsyms))
		note(f, PD_FIND_KALLSYMS, PD_FIND_USED, f->places->cache, path, "its place says the build id");
}

// ---- the debug file ----

static bool check_crc(struct finding *f, const char *root, const char *path, struct pd_elf *elf)
{
	enum { STEP = 64 << 10 };
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
		note(f, PD_FIND_DEBUG, PD_FIND_USED, root, path, "its checksum is right");
	else
		note(f, PD_FIND_DEBUG, PD_FIND_REFUSED, root, path, "checksum is %08x, wanted is %08x", crc, f->link_crc);
	return crc == f->link_crc;
}

static void try_debug(struct finding *f, const char *root, const char *path, bool is_linked)
{
	struct pd_object_id wanted = f->wanted->id, own = {.size = 0};
	struct pd_elf *elf;
	bool ok;

	if (!root || f->found->debug || f->found->out_of_memory)
		return;
	elf = open_elf(f, PD_FIND_DEBUG, root, path);
	if (!elf)
		return;
	if (f->found->object)
		pd_elf_id(f->found->object, &wanted);
	// the checksum is for those that have nothing better
	if (is_linked && (!wanted.size || !pd_elf_id(elf, &own)))
		ok = check_crc(f, root, path, elf);
	else
		ok = check_id(f, PD_FIND_DEBUG, root, path, elf, &wanted);
	if (ok)
		f->found->debug = elf;
	else
		pd_elf_close(elf);
}

static void try_link(struct finding *f, const char *root, const char *folder)
{
	const char *slash = strrchr(f->path, '/');
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%.*s%s%s", (int)(slash ? slash - f->path + 1 : 0), f->path, folder, f->link);

	if (n > 0 && (size_t)n < sizeof(path))
		try_debug(f, root, path, true);
}

// The cache may have the object as it was before it was stripped.
static void find_full(struct finding *f)
{
	struct pd_found *found = f->found;
	char path[PATH_MAX];

	if (found->debug || !found->object || pd_elf_has_symtab(found->object) || !id_path(f, "/elf", path, sizeof(path)))
		return;
	try_debug(f, f->places->cache, path, false);
	if (!found->debug || pd_elf_has_symtab(found->debug))
		return;
	pd_elf_close(found->debug);
	found->debug = NULL;
	found->tries[found->try_count - 1].verdict = PD_FIND_REFUSED;
	found->tries[found->try_count - 1].reason = "has no symbols either";
}

static void find_debug(struct finding *f)
{
	const struct pd_find_places *p = f->places;
	struct pd_elf *object = f->found->object;
	char path[PATH_MAX];
	struct pd_object_id id = {.size = 0};

	if (object && pd_elf_has_symtab(object) && !p->always_debug)
		return;
	if (object && !f->hex[0] && pd_elf_id(object, &id))
		put_hex(&id, f->hex);
	if (id_path(f, "/debug", path, sizeof(path)))
		try_debug(f, p->cache, path, false);
	for (size_t i = 0; i < p->debug_count; i++)
		if (id_path(f, ".debug", path, sizeof(path)))
			try_debug(f, p->debug[i], path, false);
	if (!object || !f->path[0] || !pd_elf_debuglink(object, &f->link, &f->link_crc) || strchr(f->link, '/'))
		return;
	try_link(f, p->symfs, "");
	try_link(f, p->symfs, ".debug/");
	for (size_t i = 0; i < p->debug_count; i++)
		try_link(f, p->debug[i], "");
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
	struct pd_found found = {.kallsyms = {.fd = -1}};
	struct finding f = {.places = places, .wanted = wanted, .found = &found};

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

void pd_found_close(struct pd_found *found)
{
	pd_elf_close(found->object);
	pd_elf_close(found->debug);
	pd_image_close(&found->kallsyms);
	pd_free(found->tries);
	pd_arena_fini(&found->texts);
	*found = (struct pd_found){.kallsyms = {.fd = -1}};
}

// SPDX-License-Identifier: MIT
/*
 * Build ids of objects that were recorded without. What stands in the place of an object may be another one by now, so
 * each way of being sure is used: inodes, times, the machine, where the kernel is.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "symbol/lookup.h"
#include "object/find/root.h"
#include "state/locate.h"

enum {
	NAME_SIZE = 256,
	FOUR_GIB_SHIFT = 32
};

static bool put_why(struct pd_symbols *symbols, const char *format, ...) PD_PRINTF(2, 3);

// Always false, for callers that give up.
static bool put_why(struct pd_symbols *symbols, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(symbols->why, sizeof(symbols->why), format, args);
	va_end(args);
	return false;
}

static bool give(const struct pd_object_id *id, struct pd_build_id *id_out)
{
	id_out->size = id->size < sizeof(id_out->bytes) ? id->size : sizeof(id_out->bytes);
	memcpy(id_out->bytes, id->bytes, id_out->size);
	return id_out->size > 0;
}

// ---- the machine that was recorded ----

static bool is_text(const struct pd_string *recorded, const char *here)
{
	return recorded && strcmp(recorded->value.data ? recorded->value.data : "", here) == 0;
}

// False if the recording says that it was made elsewhere.
static bool may_be_this_host(struct pd_symbols *symbols)
{
	const struct pd_string *host = pd_file_hostname(symbols->file);
	struct utsname here;

	return !host || !host->value.length || uname(&here) < 0 || is_text(host, here.nodename);
}

// Seconds since 1970 at which this system began to run; 0 if that is not known.
static int64_t boot_time(void)
{
	struct timespec now, up;

	if (clock_gettime(CLOCK_REALTIME, &now) < 0 || clock_gettime(CLOCK_BOOTTIME, &up) < 0)
		return 0;
	return (int64_t)now.tv_sec - (int64_t)up.tv_sec;
}

// Whether the kernel that runs here is the one that was recorded; found out once.
static bool is_running_kernel(struct pd_symbols *symbols)
{
	const struct pd_string *release = pd_file_osrelease(symbols->file);
	int64_t modified = pd_file_modified(symbols->file);
	struct utsname here;

	if (symbols->kernel_checked)
		return !symbols->other_kernel;
	symbols->kernel_checked = true;
	if (!symbols->own_machine)
		symbols->other_kernel = "files are looked up below another root";
	else if (!may_be_this_host(symbols))
		symbols->other_kernel = "recorded on another host";
	else if (!release || !release->value.length || uname(&here) < 0)
		symbols->other_kernel = "no kernel release was recorded";
	else if (!is_text(release, here.release))
		symbols->other_kernel = "a different kernel is running";
	else if (modified && modified < boot_time())
		symbols->other_kernel = "recorded before the last boot";
	else if (!pd_lookup_kernel_may_run(symbols))
		symbols->other_kernel = "the running kernel is at a different address";
	return !symbols->other_kernel;
}

// ---- files ----

// Whether a file that has the path now can be the one that was mapped. What is below another root was copied there.
static bool is_same_file(struct pd_symbols *symbols, const struct pd_object *object, const struct stat *about)
{
	int64_t modified = pd_file_modified(symbols->file);
	unsigned maj = major(about->st_dev), min = minor(about->st_dev);

	if (!symbols->own_machine || (symbols->flags & PD_SYMBOLS_ANY_FILE))
		return true;
	if (object->ino && object->ino != about->st_ino)
		return put_why(symbols, "replaced by another file: inode %llu, recorded %llu",
			       (unsigned long long)about->st_ino, (unsigned long long)object->ino);
	// Devices without a major number are those of file systems that tell others to programs.
	if (object->ino && object->maj && maj && (object->maj != maj || object->min != min))
		return put_why(symbols, "replaced by another file: device %u:%u, recorded %u:%u", maj, min, object->maj,
			       object->min);
	if (modified && about->st_mtime > modified)
		return put_why(symbols, "modified after the recording");
	if (!object->ino && !may_be_this_host(symbols))
		return put_why(symbols, "recorded on another host");
	return true;
}

static bool id_of_open(struct pd_symbols *symbols, int fd, struct pd_build_id *id_out)
{
	struct pd_object_id id = { .size = 0 };
	struct pd_elf *elf = NULL;
	struct pd_image image;
	enum pd_status status;
	bool found;

	status = pd_image_open_fd(&image, fd, "", symbols->limit, NULL);
	if (status == PD_OK)
		status = pd_elf_open_image(&elf, &image, "", symbols->limit, NULL);
	symbols->failed |= status == PD_ERROR_MEMORY;
	if (status)
		return put_why(symbols, status == PD_ERROR_MEMORY ? "out of memory" : "not an ELF file");
	found = pd_elf_id(elf, &id) && give(&id, id_out);
	pd_elf_close(elf);
	return found || put_why(symbols, "the file has none");
}

static bool id_of_file(struct pd_symbols *symbols, const struct pd_object *object, struct pd_build_id *id_out)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(object->path), tail = sizeof(deleted) - 1;
	struct stat about;
	int fd;

	if (object->path[0] != '/')
		return put_why(symbols, "not a regular file");
	if (length > tail && strcmp(object->path + length - tail, deleted) == 0)
		return put_why(symbols, "deleted");
	fd = pd_root_open(symbols->places.symfs, object->path);
	if (fd < 0)
		return put_why(symbols, "%s", strerror(-fd));
	if (fstat(fd, &about) < 0 || !is_same_file(symbols, object, &about)) {
		close(fd);
		return false;
	}
	return id_of_open(symbols, fd, id_out);
}

// ---- the kernel and what it brings ----

static bool id_of_kernel(struct pd_symbols *symbols, struct pd_build_id *id_out)
{
	struct pd_object_id id;

	if (!is_running_kernel(symbols))
		return put_why(symbols, "%s", symbols->other_kernel);
	return (pd_lookup_running_id(&id) && give(&id, id_out)) || put_why(symbols, "/sys/kernel/notes has none");
}

static bool id_of_module(struct pd_symbols *symbols, const struct pd_object *object, struct pd_build_id *id_out)
{
	char path[NAME_SIZE + 64], name[NAME_SIZE];
	struct pd_object_id id;
	const char *module;
	size_t length;

	if (is_running_kernel(symbols) && pd_lookup_module(object->path, &module, &length) && length < sizeof(name) &&
	    !memchr(module, '/', length)) {
		for (size_t i = 0; i < length; i++)
			name[i] = module[i] == '-' ? '_' : module[i];
		name[length] = 0;
		snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
		if (pd_lookup_notes_id(path, &id) && give(&id, id_out))
			return true;
	}
	return id_of_file(symbols, object, id_out);
}

// Programs of 32 bits have another one of the same name.
static bool is_of_32_bits(const struct pd_symbols *symbols, const struct pd_object *object)
{
	struct pd_mapping map;

	for (size_t i = 0; pd_state_get_mapping(symbols->state, i, &map); i++)
		if (map.object == object && !(map.end >> FOUR_GIB_SHIFT))
			return true;
	return false;
}

static bool id_of_vdso(struct pd_symbols *symbols, const struct pd_object *object, struct pd_build_id *id_out)
{
	struct pd_object_id id = { .size = 0 };
	struct pd_elf *elf;
	bool found;

	if (!is_running_kernel(symbols))
		return put_why(symbols, "%s", symbols->other_kernel);
	if (is_of_32_bits(symbols, object))
		return put_why(symbols, "a 32-bit program may have a different one of this name");
	elf = pd_lookup_own_vdso();
	found = elf && pd_elf_id(elf, &id) && give(&id, id_out);
	pd_elf_close(elf);
	return found || put_why(symbols, "the file has none");
}

bool pd_symbols_build_id(struct pd_symbols *symbols, const struct pd_object *object, struct pd_build_id *id_out,
			 const char **why_out)
{
	struct pd_object_id recorded = { .size = object->build_id_size };

	*id_out = (struct pd_build_id){ .size = 0 };
	if (why_out)
		*why_out = symbols->why;
	memcpy(recorded.bytes, object->build_id, sizeof(object->build_id));
	if (give(&recorded, id_out))
		return true;
	if (symbols->flags & PD_SYMBOLS_NO_FILES)
		return put_why(symbols, "symbols are not looked up");
	if (object->machine)
		return put_why(symbols, "in a guest");
	if (object->kind == PD_OBJECT_KERNEL)
		return id_of_kernel(symbols, id_out);
	if (object->kind == PD_OBJECT_MODULE)
		return id_of_module(symbols, object, id_out);
	if (object->kind == PD_OBJECT_VDSO)
		return id_of_vdso(symbols, object, id_out);
	if (object->kind == PD_OBJECT_FILE)
		return id_of_file(symbols, object, id_out);
	return put_why(symbols, "not a regular file");
}

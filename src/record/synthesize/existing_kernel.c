/* SPDX-License-Identifier: MIT */
/* The kernel and its modules as maps, which is how readers know where they are. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "record/machine/procfile.h"
#include "record/record.h"

// Where the kernel's code is. The kernel makes its list of symbols anew for every reader, which takes it 50 ms, so it is
// read no further than needed: _text stands near the begin, and /proc/iomem has the size of the code.
struct text {
	uint64_t begin, end; // _text or _stext, _etext
	bool hidden;
	const char *symbol;
};

// "  01000000-02209987 : Kernel code"; 0 if it is not listed, or hidden.
static uint64_t code_size(const char *proc)
{
	struct pd_procfile file = { 0 };
	uint64_t first, last, size = 0;
	char path[512], *at, *line;

	snprintf(path, sizeof(path), "%s/iomem", proc);
	pd_procfile_read(&file, path);
	at = file.size ? file.data : NULL;
	while ((line = pd_procfile_line(&at)) != NULL)
		if (strstr(line, " : Kernel code") && sscanf(line, " %" SCNx64 "-%" SCNx64, &first, &last) == 2 &&
		    last > first)
			size = last + 1 - first;
	pd_procfile_fini(&file);
	return size;
}

static bool take_symbol(struct text *text, char *line)
{
	char *at;
	uint64_t addr = strtoull(line, &at, 16);
	const char *name;

	if (*at != ' ' || !at[1] || at[2] != ' ')
		return true;
	name = at + 3;
	if (strcmp(name, "_text") == 0 || (strcmp(name, "_stext") == 0 && !text->begin)) {
		text->begin = addr;
		text->hidden = !addr;
		text->symbol = name[1] == 't' ? "_text" : "_stext";
	} else if (strcmp(name, "_etext") == 0) {
		text->end = addr;
	}
	// _stext may stand in front of _text, and is taken only where that is missing
	return !text->hidden && !text->end;
}

static void find_text(struct text *text, const char *proc)
{
	char path[512], *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	bool go_on = true;
	FILE *file;
	uint64_t size = code_size(proc);

	*text = (struct text){ 0 };
	snprintf(path, sizeof(path), "%s/kallsyms", proc);
	file = fopen(path, "re");
	while (file && go_on && (length = getline(&line, &capacity, file)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = 0;
		go_on = take_symbol(text, line);
		if (size && text->begin && strcmp(text->symbol, "_text") == 0 && !text->end) {
			text->end = text->begin + size;
			go_on = false;
		}
	}
	free(line);
	if (file)
		fclose(file);
}

static enum pd_status add_map(struct pd_made *made, const struct pd_existing_options *options, uint64_t start,
			      uint64_t size, uint64_t pgoff, const char *name, const uint8_t *build_id,
			      uint8_t build_id_size, struct pd_error *error)
{
	struct pd_str filename = { name, (uint32_t)strlen(name), 0 };

	if (options->build_ids && build_id_size) {
		struct pd_mmap2 map = { .pid = UINT32_MAX,
					.addr = start,
					.len = size,
					.pgoff = pgoff,
					.filename = filename,
					.build_id_size = build_id_size,
					.build_id = { build_id, 20 } };

		return pd_made_add(made, PD_RECORD_MMAP2, PD_CPUMODE_KERNEL | PD_MASK(PD_MISC_MMAP_BUILD_ID), &map,
				   error);
	}
	return pd_made_add(
		made, PD_RECORD_MMAP, PD_CPUMODE_KERNEL,
		&(struct pd_mmap){
			.pid = UINT32_MAX, .addr = start, .len = size, .pgoff = pgoff, .filename = filename },
		error);
}

static enum pd_status add_text(struct pd_made *made, const struct pd_existing_options *options, const char *proc,
			       struct pd_existing_notes *notes, struct pd_error *error)
{
	uint8_t build_id[20], size = 0;
	struct text text;
	char name[64];

	find_text(&text, proc);
	notes->kernel_addresses_hidden = text.hidden;
	if (!text.begin)
		return PD_OK;
	if (options->build_ids)
		pd_build_id_of_kernel(options->sysfs, build_id, &size);
	snprintf(name, sizeof(name), "[kernel.kallsyms]%s", text.symbol);
	return add_map(made, options, text.begin, (text.end ? text.end : UINT64_MAX) - text.begin, text.begin, name,
		       build_id, size, error);
}

// ---- modules ----

// Where modules.dep says that the file of a module is.
static bool find_module(const struct pd_procfile *deps, const char *folder, const char *name, char *path,
			size_t capacity)
{
	size_t length = strlen(name);

	for (const char *line = deps->size ? deps->data : NULL; line && *line;) {
		const char *end = strchr(line, ':'), *base = end;

		if (!end)
			break;
		while (base > line && base[-1] != '/')
			base--;
		if ((size_t)(end - base) > length && base[length] == '.') {
			size_t i = 0;

			while (i < length && (base[i] == name[i] || (base[i] == '-' && name[i] == '_')))
				i++;
			if (i == length) {
				snprintf(path, capacity, "%s/%.*s", folder, (int)(end - line), line);
				return true;
			}
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return false;
}

static enum pd_status add_module(struct pd_made *made, const struct pd_existing_options *options, char *line,
				 const struct pd_procfile *deps, const char *folder, struct pd_error *error)
{
	uint8_t build_id[20], build_id_size = 0;
	char name[64], path[4096];
	uint64_t size, base;

	// name size users list state address
	if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &base) != 3 || !base)
		return PD_OK;
	if (!find_module(deps, folder, name, path, sizeof(path)))
		snprintf(path, sizeof(path), "[%s]", name);
	if (options->build_ids)
		pd_build_id_of_module(options->sysfs, name, build_id, &build_id_size);
	return add_map(made, options, base, size, 0, path, build_id, build_id_size, error);
}

static enum pd_status add_modules(struct pd_made *made, const struct pd_existing_options *options, const char *proc,
				  struct pd_error *error)
{
	struct pd_procfile modules = { 0 }, deps = { 0 };
	struct utsname name;
	char path[512], folder[512];
	enum pd_status status = PD_OK;
	char *at, *line;

	snprintf(path, sizeof(path), "%s/modules", proc);
	if (!pd_procfile_read(&modules, path) || uname(&name) < 0)
		modules.size = 0;
	snprintf(folder, sizeof(folder), "/lib/modules/%s", name.release);
	snprintf(path, sizeof(path), "%.480s/modules.dep", folder);
	if (modules.size)
		pd_procfile_read(&deps, path);
	at = modules.size ? modules.data : NULL;
	while (status >= 0 && (line = pd_procfile_line(&at)) != NULL)
		status = add_module(made, options, line, &deps, folder, error);
	pd_procfile_fini(&modules);
	pd_procfile_fini(&deps);
	return status;
}

enum pd_status pd_existing_kernel(struct pd_made *made, const struct pd_existing_options *options,
				  struct pd_existing_notes *notes, struct pd_error *error)
{
	const char *proc = options->proc ? options->proc : "/proc";
	enum pd_status status = add_text(made, options, proc, notes, error);

	// modules have no addresses either where the kernel hides its own
	return status < 0 || notes->kernel_addresses_hidden ? status : add_modules(made, options, proc, error);
}

/* SPDX-License-Identifier: MIT */
/*
 * Copies of a running kernel's code, each in a folder with its list of symbols: kcore_dir of a recording that perf record --kcore made,
 * and [kernel.kcore] in perf's cache, by build id and time. Such a copy has all that was patched at boot, modules too, at the
 * addresses of the list.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "symbol/lookup.h"

enum {
	PATH_SIZE = 4096
};

static bool open_list(const struct pd_symbols *symbols, const char *folder, struct pd_kallsyms *kallsyms_out)
{
	char path[PATH_SIZE];
	int n = snprintf(path, sizeof(path), "%s/kallsyms", folder);

	if (n < 0 || (size_t)n >= sizeof(path) || pd_kallsyms_open(kallsyms_out, path, symbols->limit, NULL) != PD_OK)
		return false;
	if (!kallsyms_out->hidden)
		return true;
	pd_kallsyms_close(kallsyms_out);
	return false;
}

bool pd_lookup_kcore_recorded(const struct pd_symbols *symbols, char *folder_out, size_t size,
			      struct pd_kallsyms *kallsyms_out)
{
	int n = snprintf(folder_out, size, "%s/kcore_dir", pd_file_name(symbols->file));

	return n > 0 && (size_t)n < size && open_list(symbols, folder_out, kallsyms_out);
}

static bool open_cache(const struct pd_symbols *symbols, const struct pd_object_id *id, char *folder, size_t size,
		       DIR **dir_out)
{
	int n = snprintf(folder, size, "%s/[kernel.kcore]/", symbols->places.cache ? symbols->places.cache : "");

	if (!symbols->places.cache || !id->size || n < 0 || (size_t)n + 2 * (size_t)id->size >= size)
		return false;
	for (size_t i = 0; i < id->size; i++)
		n += snprintf(folder + n, size - (size_t)n, "%02x", id->bytes[i]);
	*dir_out = opendir(folder);
	return *dir_out != NULL;
}

// Of another boot, the kernel was at another address, and modules anywhere.
static bool is_same_boot(const struct pd_kallsyms *kallsyms, const struct pd_mapping *reference)
{
	return !reference || (strcmp(reference->symbol, "_stext") == 0 ? kallsyms->stext_addr : kallsyms->text_addr) ==
				     reference->pgoff;
}

bool pd_lookup_kcore_cached(const struct pd_symbols *symbols, const struct pd_object_id *id,
			    const struct pd_mapping *reference, char *folder_out, size_t size,
			    struct pd_kallsyms *kallsyms_out)
{
	char folder[PATH_SIZE];
	const struct dirent *entry;
	bool found = false;
	DIR *dir;

	if (!open_cache(symbols, id, folder, sizeof(folder), &dir))
		return false;
	while (!found && (entry = readdir(dir)) != NULL) {
		int n = snprintf(folder_out, size, "%s/%s", folder, entry->d_name);

		if (entry->d_name[0] == '.' || n < 0 || (size_t)n >= size ||
		    !open_list(symbols, folder_out, kallsyms_out))
			continue;
		found = is_same_boot(kallsyms_out, reference);
		if (!found)
			pd_kallsyms_close(kallsyms_out);
	}
	closedir(dir);
	return found;
}

const char *pd_lookup_kcore_path(const struct pd_kernel *kernel)
{
	return kernel->kcore_path ? kernel->kcore_path : kernel->is_running ? "/proc/kcore" : NULL;
}

struct pd_elf *pd_lookup_open_kcore(const struct pd_symbols *symbols, const struct pd_kernel *kernel)
{
	const char *path = pd_lookup_kcore_path(kernel);
	struct pd_elf *elf = NULL;

	return path && pd_elf_open(&elf, path, symbols->limit, NULL) == PD_OK ? elf : NULL;
}

/* SPDX-License-Identifier: MIT */
/* What a store is, by its name and by what is there. */
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "store/kinds/kinds.h"

unsigned pd_store_kind_of(const char *path)
{
	size_t length = strlen(path);
	struct stat about;

	if (!strncmp(path, "clickhouse://", 13) || !strncmp(path, "clickhouses://", 14))
		return PD_STORE_SERVER;
	if (length && path[length - 1] == '/')
		return PD_STORE_FOLDER;
	return stat(path, &about) == 0 && S_ISDIR(about.st_mode) ? PD_STORE_FOLDER : 0;
}

bool pd_store_is(const char *path)
{
	unsigned kind = pd_store_kind_of(path);
	char *list = kind == PD_STORE_FOLDER ? pd_store_folder_list(path) : NULL;
	bool is = kind == PD_STORE_FOLDER ? list && pd_store_file_is(list) :
					    kind == PD_STORE_SERVER || pd_store_file_is(path);

	pd_free(list);
	return is;
}

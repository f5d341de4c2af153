/* SPDX-License-Identifier: MIT */
/* What a store is, by its name and by what is there. */
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
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

enum pd_status pd_store_fail_kind(const char *path, struct pd_error *error)
{
	bool is_folder = pd_store_kind_of(path) == PD_STORE_FOLDER;

	return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
		       "%s: recordings are only added here; what is in it is for %s (see docs/store.md)",
		       is_folder ? path : "the server", is_folder ? "programs that read Parquet" : "its own client");
}

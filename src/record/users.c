/* SPDX-License-Identifier: MIT */
/* Whom to record, as users write it: numbers of processes and threads, users by name. */
#include <perfdata/recorder.h>

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static enum pd_status refuse(const char *text, const char *wanted, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is not %s", text, wanted);
}

enum pd_status pd_ids_parse(const char *text, struct pd_u32s *ids_out, struct pd_error *error)
{
	uint32_t *ids = NULL;
	size_t count = 0, capacity = 0;

	for (const char *at = text; *at;) {
		char *end;
		unsigned long id = strtoul(at, &end, 10);
		bool is_wrong = !isdigit((unsigned char)*at) || id > INT32_MAX || (*end && *end != ',');

		if (is_wrong || !PD_GROW(ids, capacity, count + 1)) {
			pd_free(ids);
			return is_wrong ? refuse(text, "a list of numbers: write 12,345", error) :
					  pd_fail_memory(error);
		}
		ids[count++] = (uint32_t)id;
		at = *end ? end + 1 : end;
	}
	if (!count)
		return refuse(text, "a list of numbers: write 12,345", error);
	*ids_out = (struct pd_u32s){ ids, count };
	return PD_OK;
}

void pd_ids_free(struct pd_u32s *ids)
{
	pd_free((void *)ids->items);
	*ids = (struct pd_u32s){ 0 };
}

#ifdef STATIC_PROGRAM
// getpwnam would load modules of this machine's libc, which may be another one.
static bool find_user(const char *name, uint32_t *uid_out)
{
	const struct passwd *user = NULL;
	FILE *file = fopen("/etc/passwd", "re");

	if (!file)
		return false;
	while ((user = fgetpwent(file)) != NULL && strcmp(user->pw_name, name) != 0)
		;
	if (user)
		*uid_out = user->pw_uid;
	fclose(file);
	return user != NULL;
}
#else
static bool find_user(const char *name, uint32_t *uid_out)
{
	struct passwd entry, *user = NULL;
	char strings[4096];

	if (getpwnam_r(name, &entry, strings, sizeof(strings), &user) != 0 || !user)
		return false;
	*uid_out = user->pw_uid;
	return true;
}
#endif

enum pd_status pd_user_parse(const char *text, uint32_t *uid_out, struct pd_error *error)
{
	uint64_t number;

	if (find_user(text, uid_out))
		return PD_OK;
	if (!pd_number_parse(text, &number) || number > UINT32_MAX)
		return refuse(text, "a user of this machine", error);
	*uid_out = (uint32_t)number;
	return PD_OK;
}

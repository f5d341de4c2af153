/* SPDX-License-Identifier: MIT */
#include "record/values.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static bool wrong(const char *option, const char *text, const char *wanted)
{
	return print_error("option --%s: '%s' is not %s", option, text, wanted);
}

bool value_is(const char *option, enum pd_status status, const struct pd_error *error)
{
	if (status < 0)
		print_error("option --%s: %s", option, error->message);
	return status >= 0;
}

bool value_numbers(const char *option, const char *text, uint32_t **numbers_out, size_t *count_out)
{
	uint32_t *numbers = NULL;
	size_t count = 0;

	for (const char *at = text; *at;) {
		char *end;
		unsigned long number = strtoul(at, &end, 10);
		uint32_t *more;

		if (!isdigit((unsigned char)*at) || number > INT32_MAX || (*end && *end != ',')) {
			free(numbers);
			return wrong(option, text, "a list of numbers: write 12,345");
		}
		more = realloc(numbers, (count + 1) * sizeof(*more));
		if (!more) {
			print_error("out of memory");
			free(numbers);
			return false;
		}
		numbers = more;
		numbers[count++] = (uint32_t)number;
		at = *end ? end + 1 : end;
	}
	*numbers_out = numbers;
	*count_out = count;
	return count || wrong(option, text, "a list of numbers: write 12,345");
}

#ifdef STATIC_PROGRAM
// getpwnam would load modules of this machine's libc, which may be another one.
static const struct passwd *user_by_name(const char *name)
{
	const struct passwd *user = NULL;
	FILE *file = fopen("/etc/passwd", "re");

	if (!file)
		return NULL;
	while ((user = fgetpwent(file)) != NULL && strcmp(user->pw_name, name) != 0)
		;
	fclose(file);
	return user;
}
#else
static const struct passwd *user_by_name(const char *name)
{
	return getpwnam(name);
}
#endif

bool value_user(const char *option, const char *text, uint32_t *uid_out)
{
	const struct passwd *user = user_by_name(text);
	uint64_t number;

	if (user) {
		*uid_out = user->pw_uid;
		return true;
	}
	if (!number_parse(text, &number) || number > UINT32_MAX)
		return wrong(option, text, "a user of this machine");
	*uid_out = (uint32_t)number;
	return true;
}

/* The names, as perf has them. */
static bool list_registers(void)
{
	struct utsname host;
	enum pd_arch arch = pd_arch_by_name(uname(&host) == 0 ? host.machine : "x86_64");
	char line[512] = "";
	size_t used = 0;

	for (unsigned i = 0; i < 64; i++) {
		const char *known = pd_register_name(arch, i);

		if (known && used < sizeof(line))
			used += (size_t)snprintf(line + used, sizeof(line) - used, " %s", known);
	}
	return print_error("registers of this machine:%s", line);
}

bool value_registers(const char *option, const char *text, uint64_t *mask_out)
{
	struct pd_error error;

	return (strcmp(text, "?") != 0 && value_is(option, pd_registers_parse(text, mask_out, &error), &error)) ||
	       list_registers();
}

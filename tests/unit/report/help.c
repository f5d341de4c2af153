/* SPDX-License-Identifier: MIT */
/*
 * The help of perfdata report names every sort key of the library, and both of its names.
 * usage: test-unit-report-help PERFDATA
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfdata/report.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if (at > text && !is_word(at[-1]) && !is_word(at[length]))
			return true;
	return false;
}

/* The paragraph about sort keys; empty if there is none. */
static void read_help(const char *program, char *text, size_t size)
{
	const char *wrapper = getenv("MESON_EXE_WRAPPER"); /* for programs of another machine */
	char command[4096], *end;
	size_t length = 0;
	FILE *help;

	snprintf(command, sizeof(command), "%s \"%s\" report --help", wrapper ? wrapper : "", program);
	help = popen(command, "r");
	if (help) {
		length = fread(text, 1, size - 1, help);
		pclose(help);
	}
	text[length] = 0;
	end = strstr(text, "Sort keys: ");
	memmove(text, end ? end : text + length, end ? strlen(end) + 1 : 1);
	end = strstr(text, "\n\n");
	if (end)
		*end = 0;
}

int main(int argc, char **argv)
{
	static char text[1 << 16];
	const struct pd_report_key *key;
	int missing = 0;

	read_help(argc > 1 ? argv[1] : "perfdata", text, sizeof(text));
	for (size_t i = 0; (key = pd_report_key_at(i)) != NULL; i++) {
		/* a column of perf without values */
		if (strcmp(key->name, "ipc_null") == 0)
			continue;
		if (!has_word(text, key->name) || (key->other_name && !has_word(text, key->other_name))) {
			printf("the help of report does not name the sort key %s\n", key->name);
			missing++;
		}
	}
	return missing != 0;
}

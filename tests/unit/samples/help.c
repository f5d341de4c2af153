/* SPDX-License-Identifier: MIT */
/*
 * The help of perfdata script names the fields of the library, all of them and in their order.
 * usage: test-unit-samples-help PERFDATA
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfdata/samples.h>

/* The help, each run of white space as one space. */
static void read_help(const char *program, char *text, size_t size)
{
	const char *wrapper = getenv("MESON_EXE_WRAPPER"); /* for programs of another machine */
	char command[4096];
	size_t length = 0;
	FILE *help;
	int c;

	snprintf(command, sizeof(command), "%s \"%s\" script --help", wrapper ? wrapper : "", program);
	help = popen(command, "r");
	while (help && (c = getc(help)) != EOF && length + 1 < size) {
		c = c == '\n' ? ' ' : c;
		if (c != ' ' || !length || text[length - 1] != ' ')
			text[length++] = (char)c;
	}
	if (help)
		pclose(help);
	text[length] = 0;
}

int main(int argc, char **argv)
{
	static char text[1 << 16], fields[4096] = "with these fields: ";
	const char *field, *doc;

	for (size_t i = 0; (field = pd_samples_field(i, &doc)) != NULL; i++) {
		if (!*doc)
			return 1;
		if (i)
			strcat(fields, pd_samples_field(i + 1, NULL) ? ", " : " and ");
		strcat(fields, field);
	}
	strcat(fields, ".");
	read_help(argc > 1 ? argv[1] : "perfdata", text, sizeof(text));
	if (strstr(text, fields))
		return 0;
	printf("the help of script does not say: %s\n", fields);
	return 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * Writes roff. A word that comes from a table never begins a line without a guard, so that a leading
 * dot or quote is no macro.
 */
#include <perfdata/roff.h>

#include <string.h>

void pd_roff_title(struct pd_text *text, const char *title, unsigned section)
{
	pd_text_printf(text, ".TH \"%s\" %u \"\" \"perfdata %s\" \"perfdata\"\n", title, section, pd_version());
}

void pd_roff_section(struct pd_text *text, const char *name)
{
	pd_text_printf(text, ".SH %s\n", name);
}

void pd_roff_subsection(struct pd_text *text, const char *name)
{
	pd_text_add(text, ".SS ");
	pd_roff_add(text, name);
	pd_text_add(text, "\n");
}

static void add_character(struct pd_text *text, char c)
{
	switch (c) {
	case '\\':
		pd_text_add(text, "\\e");
		break;
	case '-':
		pd_text_add(text, "\\-");
		break;
	case '\'':
		pd_text_add(text, "\\(aq");
		break;
	case '`':
		pd_text_add(text, "\\(ga");
		break;
	case '^':
		pd_text_add(text, "\\(ha");
		break;
	case '~':
		pd_text_add(text, "\\(ti");
		break;
	default:
		pd_text_printf(text, "%c", c);
	}
}

void pd_roff_add(struct pd_text *text, const char *words)
{
	if (words[0] == '.')
		pd_text_add(text, "\\&");
	for (; *words; words++)
		add_character(text, *words);
}

static void add_in_font(struct pd_text *text, char font, const char *words)
{
	pd_text_printf(text, "\\f%c", font);
	pd_roff_add(text, words);
	pd_text_add(text, "\\fR");
}

void pd_roff_bold(struct pd_text *text, const char *words)
{
	add_in_font(text, 'B', words);
}

void pd_roff_italic(struct pd_text *text, const char *words)
{
	add_in_font(text, 'I', words);
}

void pd_roff_paragraphs(struct pd_text *text, const char *words)
{
	while (*words) {
		size_t length = strcspn(words, "\n");

		if (words[0] == '.')
			pd_text_add(text, "\\&");
		for (size_t i = 0; i < length; i++)
			add_character(text, words[i]);
		words += length;
		if (length)
			pd_text_add(text, "\n");
		if (words[0] == '\n' && words[1] == '\n')
			pd_text_add(text, ".PP\n");
		words += strspn(words, "\n");
	}
}

void pd_roff_item(struct pd_text *text)
{
	pd_text_add(text, ".TP\n");
}

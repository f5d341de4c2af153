/* SPDX-License-Identifier: MIT */
/*
 * Files of units that the present one refers to: after link-time optimization, or in what several units have in common, functions are
 * declared elsewhere. Read once for an object.
 */
#include "probe/find/unit.h"

struct pd_probe_others {
	struct pd_unit_maker texts;
	struct pd_dwarf_files files;
};

static void ignore_row(void *self, const struct pd_dwarf_row *row)
{
	(void)self;
	(void)row;
}

static struct pd_probe_others *read_files(struct pd_dwarf *d, struct pd_dwarf_unit_head *head)
{
	struct pd_probe_others *other = pd_alloc(sizeof(*other));
	struct pd_dwarf_entry entry;

	if (!other || !pd_dwarf_unit_entry(d, head, &entry))
		return other;
	other->files = (struct pd_dwarf_files){
		.maker = &other->texts,
		.folder = pd_dwarf_text(d, head, &entry.values[PD_USE_FOLDER]),
		.row = ignore_row,
	};
	if (entry.values[PD_USE_LINES].form)
		pd_dwarf_lines(d, head, entry.values[PD_USE_LINES].number, &other->files);
	other->files.folder = NULL;
	// all paths first, as each may move those before
	for (size_t i = 0; i < other->files.count; i++)
		pd_dwarf_file_text(&other->files, i);
	return other;
}

const char *pd_probe_file_at(const struct pd_unit_maker *texts, struct pd_dwarf_files *files, uint64_t number)
{
	uint32_t text = number < files->count ? pd_dwarf_file_text(files, number) : PD_NO_TEXT;

	return text == PD_NO_TEXT || !texts->texts || !texts->texts[text] ? NULL : texts->texts + text;
}

bool pd_probe_other_file(struct pd_probe_debug *debug, const struct pd_die *die, uint64_t number, const char **file_out)
{
	struct pd_probe_others ***all = &debug->others[die->dwarf == debug->shared];
	size_t at = (size_t)(die->unit - die->dwarf->units);

	if (!*all)
		*all = pd_alloc(die->dwarf->unit_count * sizeof(struct pd_probe_others *));
	if (*all && !(*all)[at])
		(*all)[at] = read_files(die->dwarf, die->unit);
	if (!*all || !(*all)[at] || (*all)[at]->texts.failed)
		return false;
	*file_out = pd_probe_file_at(&(*all)[at]->texts, &(*all)[at]->files, number);
	return true;
}

void pd_probe_others_fini(struct pd_probe_debug *debug)
{
	const struct pd_dwarf *dwarfs[] = { debug->dwarf, debug->shared };

	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; debug->others[k] && i < dwarfs[k]->unit_count; i++) {
			if (!debug->others[k][i])
				continue;
			pd_dwarf_files_fini(&debug->others[k][i]->files);
			pd_unit_maker_fini(&debug->others[k][i]->texts);
			pd_free(debug->others[k][i]);
		}
		pd_free(debug->others[k]);
	}
}

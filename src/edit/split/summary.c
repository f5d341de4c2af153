/* SPDX-License-Identifier: MIT */
/* What a split wrote, in words. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include <perfdata/json.h>

#include "base/text/text.h"
#include "edit/split/split.h"

void pd_split_text(const struct pd_split *split, struct pd_text *text)
{
	size_t files = pd_split_piece_count(split);
	struct pd_split_result result;
	uint64_t all;

	pd_split_count(split, &result);
	all = result.sample_count + result.lost_count;
	if (result.deep_count)
		pd_text_printf(
			text,
			"warning: %zu process%s %d or more ancestors: their files lack mappings inherited from more "
			"distant ones\n",
			result.deep_count, result.deep_count == 1 ? " has" : "es have", PD_SPLIT_MAX_ANCESTORS + 1);
	pd_text_printf(text, "%" PRIu64 " of %" PRIu64 " sample%s in %zu file%s\n", result.sample_count, all,
		       pd_plural(all), files, pd_plural(files));
	if (result.unknown_count)
		pd_text_printf(text, "%" PRIu64 " of them in the file named unknown: %s\n", result.unknown_count,
			       pd_split_unknown_reason(split));
	if (result.lost_count)
		pd_text_printf(text, "%" PRIu64 " sample%s in no file: damaged, or of an unknown event\n",
			       result.lost_count, pd_plural(result.lost_count));
}

// ---- files ----

static void print_piece(const struct pd_split_piece *piece, const char *path, struct pd_text *text)
{
	pd_text_printf(text, "%10" PRIu64 " samples  ", piece->sample_count);
	pd_text_escaped(text, path, strlen(path));
	pd_text_add(text, "\n");
}

static void print_piece_json(const struct pd_split_piece *piece, const char *path, struct pd_text *text)
{
	struct pd_json json = { .text = text };
	struct stat status;

	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "file", path);
	pd_json_number(&json, "samples", piece->sample_count);
	pd_json_number(&json, "bytes",
		       stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

void pd_split_print_pieces(const struct pd_split *split, const struct pd_outfiles *files, bool json,
			   struct pd_text *text)
{
	const struct pd_split_piece *piece;

	for (size_t i = 0; (piece = pd_split_piece(split, i)) != NULL && pd_text_flush_large(text); i++)
		(json ? print_piece_json : print_piece)(piece, pd_outfiles_at(files, i), text);
}

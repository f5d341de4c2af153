/* SPDX-License-Identifier: MIT */
// The files that pieces were written to, as text.
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include <perfdata/json.h>
#include <perfdata/split.h>

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

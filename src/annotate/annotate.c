/* SPDX-License-Identifier: MIT */
/* Annotations: from options to tables of functions. */
#include <string.h>

#include "annotate/inside.h"
#include "blocks/blocks.h"

enum pd_status pd_annotate_percent_parse(const char *word, enum pd_annotate_percent *percent_out,
					 struct pd_error *error)
{
	static const struct {
		const char *name;
		enum pd_annotate_percent percent;
	} words[] = {
		{ "local-period", PD_ANNOTATE_LOCAL_PERIOD },   { "period-local", PD_ANNOTATE_LOCAL_PERIOD },
		{ "global-period", PD_ANNOTATE_GLOBAL_PERIOD }, { "period-global", PD_ANNOTATE_GLOBAL_PERIOD },
		{ "local-hits", PD_ANNOTATE_LOCAL_HITS },       { "hits-local", PD_ANNOTATE_LOCAL_HITS },
		{ "global-hits", PD_ANNOTATE_GLOBAL_HITS },     { "hits-global", PD_ANNOTATE_GLOBAL_HITS },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(word, words[i].name)) {
			*percent_out = words[i].percent;
			return PD_OK;
		}
	}
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
		       "'%s' is none of local-period, global-period, local-hits and global-hits", word);
}

enum pd_status pd_annotate_new(const struct pd_annotate_options *options, struct pd_annotate **annotate_out,
			       struct pd_error *error)
{
	struct pd_annotate *annotate;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_annotate_options.size is not set");
	annotate = pd_alloc(sizeof(*annotate));
	if (!annotate)
		return pd_fail_memory(error);
	if (options)
		memcpy(&annotate->options, options,
		       options->size < sizeof(*options) ? options->size : sizeof(*options));
	annotate->sources = pd_source_files_new();
	if (!annotate->sources) {
		pd_annotate_free(annotate);
		return pd_fail_memory(error);
	}
	*annotate_out = annotate;
	return PD_OK;
}

void pd_annotate_free(struct pd_annotate *annotate)
{
	if (!annotate)
		return;
	pd_annotate_close_objects(annotate);
	pd_source_files_free(annotate->sources);
	for (size_t i = 0; i < annotate->part_count; i++) {
		pd_free(annotate->parts[i].name);
		pd_free(annotate->parts[i].entries);
		pd_free(annotate->parts[i].sums);
		pd_free(annotate->parts[i].totals);
	}
	pd_free(annotate->parts);
	pd_free(annotate->nameless);
	pd_free(annotate->unknown);
	pd_blocks_free(annotate->blocks);
	pd_arena_fini(&annotate->texts);
	pd_free(annotate->hits);
	pd_free(annotate->functions);
	pd_u64_map_fini(&annotate->by_function);
	pd_free(annotate);
}

void pd_annotate_ask(const struct pd_annotate *annotate, struct pd_profile_options *options)
{
	(void)annotate;
	options->by = PD_BY_ADDRESS;
	options->no_unwind = true;
}

// A second pass, as a profile has no branch stacks.
static enum pd_status read_blocks(struct pd_annotate *annotate, struct pd_error *error)
{
	const struct pd_blocks_options options = { .file = annotate->file,
						   .symbols = annotate->symbols,
						   .state = pd_profile_state(annotate->profile),
						   .choose = annotate->options.choose,
						   .filter = annotate->options.filter };

	return pd_blocks_recorded(annotate->file) ? pd_blocks_read(&options, &annotate->blocks, error) : PD_OK;
}

enum pd_status pd_annotate_build(struct pd_annotate *annotate, struct pd_file *file, const struct pd_profile *profile,
				 struct pd_symbols *symbols, struct pd_error *error)
{
	annotate->file = file;
	annotate->profile = profile;
	annotate->symbols = symbols;
	if (!pd_annotate_collect(annotate) || !pd_annotate_tables(annotate))
		return pd_fail_memory(error);
	return read_blocks(annotate, error);
}

struct pd_annotate_base pd_annotate_base(const struct pd_annotate *annotate)
{
	return (struct pd_annotate_base){ &annotate->options, annotate->file, annotate->profile, annotate->symbols };
}

const struct pd_annotate_table *pd_annotate_table(const struct pd_annotate *annotate, size_t index)
{
	return index < annotate->part_count ? &annotate->parts[index].head : NULL;
}

const struct pd_annotate_function *pd_annotate_function(const struct pd_annotate *annotate, size_t table, size_t index)
{
	if (table >= annotate->part_count || index >= annotate->parts[table].head.function_count)
		return NULL;
	return &annotate->parts[table].entries[index].head;
}

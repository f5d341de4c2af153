/* SPDX-License-Identifier: MIT */
// What all parts of a merge ask of a recording, and warnings.
#include "edit/merge/merge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pd_merge_source_free(struct pd_merge_source *source)
{
	for (size_t i = 0; i < source->map_count; i++)
		free(source->maps[i].name);
	pd_free(source->maps);
	pd_free(source->events);
	pd_free(source->ids.items);
	pd_free(source->tracepoints.items);
	pd_free(source->addresses);
	pd_free(source);
}

const char *pd_merge_text(const struct pd_merge_source *source, unsigned feature)
{
	const struct pd_string *text = pd_file_feature(source->file, feature);

	return text && text->value.length ? text->value.data : NULL;
}

bool pd_merge_feature_bytes(const struct pd_merge_source *source, unsigned feature, struct pd_bytes *bytes_out)
{
	*bytes_out = (struct pd_bytes){ 0 };
	return pd_file_feature_bytes(source->file, feature, bytes_out, NULL) == PD_OK;
}

uint64_t pd_merge_shifted(const struct pd_merge_source *source, uint64_t time_ns)
{
	int64_t moved = (int64_t)(time_ns + (uint64_t)source->join.time_ns);

	return moved > 0 ? (uint64_t)moved : 1;
}

bool pd_numbers_add(struct pd_numbers *numbers, uint64_t number)
{
	if (!PD_GROW(numbers->items, numbers->capacity, numbers->count + 1))
		return false;
	numbers->items[numbers->count++] = number;
	return true;
}

void pd_merge_warn(const struct pd_merge *merge, const char *format, ...)
{
	char message[PD_MERGE_TEXT_BYTES];
	va_list args;

	if (!merge->options.warn)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	merge->options.warn(merge->options.self, message);
}

enum pd_status pd_merge_fail(const struct pd_merge *merge, struct pd_error *error, enum pd_status status,
			     const char *format, ...)
{
	char text[PD_MERGE_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (merge->failure)
		memcpy(merge->failure, text, sizeof(text));
	return pd_fail(error, status, PD_NO_OFFSET, "%s", text);
}

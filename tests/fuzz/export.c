/* SPDX-License-Identifier: MIT */
/* Bytes as a file whose samples are exported in every format, twice: the same bytes each time. No objects are opened. */
#include <string.h>

#include "mutate.h"
#include "walk.h"

#include "../unit/exported.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate(data, size, max_size, seed);
}

static void require_no_more_than_read(const struct pd_export *export_)
{
	struct pd_export_result result = pd_export_result(export_);
	struct pd_export_dropped dropped;

	REQUIRE(result.copied_stacks <= result.samples);
	for (size_t i = 0; pd_export_dropped(export_, i, &dropped); i++)
		REQUIRE(dropped.name && dropped.count);
}

// False if the file cannot be exported.
static bool export_once(const uint8_t *data, size_t size, const char *format, struct pd_text *text)
{
	struct exported exported = { .text = text };
	const struct pd_export_options options = exported_options(&exported, format);
	struct walk walk = { 0 };
	struct pd_open_options how = walk_options(&walk);
	struct pd_export *export_ = NULL;
	struct pd_error error;
	enum pd_status status;

	if (pd_file_open_memory(data, size, &how, &exported.file, &error) < 0)
		return false;
	status = pd_export_new(&options, text, &export_, &error);
	REQUIRE(status >= 0 || status == PD_ERROR_MEMORY);
	if (status >= 0)
		status = pd_export_run(export_, exported.file, &error);
	if (status >= 0)
		require_no_more_than_read(export_);
	else if (status != PD_ERROR_NO_MATCH)
		walk_require_error(status, &error);
	REQUIRE(status < 0 || !pd_text_failed(text));
	pd_export_free(export_);
	pd_symbols_free(exported.symbols);
	pd_file_close(exported.file);
	return status >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_export_format format;

	for (size_t i = 0; pd_export_format(i, &format); i++) {
		struct pd_text *one = pd_text_new(), *other = pd_text_new();

		REQUIRE(one && other);
		if (!format.own_file && export_once(data, size, format.name, one)) {
			REQUIRE(export_once(data, size, format.name, other));
			REQUIRE(pd_text_bytes(one).size && pd_text_bytes(one).size == pd_text_bytes(other).size);
			REQUIRE(!memcmp(pd_text_bytes(one).data, pd_text_bytes(other).data, pd_text_bytes(one).size));
		}
		pd_text_free(one);
		pd_text_free(other);
	}
	return 0;
}

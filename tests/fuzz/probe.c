/* SPDX-License-Identifier: MIT */
/* Definitions of probes, ranges of lines, filters and what the kernel lists: each line of the input is one of each. */
#include "probe/set.h"
#include "walk.h"

static void check_definition(struct pd_arena *arena, const char *line)
{
	struct pd_probe_definition d;
	struct pd_error error;
	struct pd_text text = { .data = NULL };
	enum pd_status status = pd_probe_parse(arena, line, &d, &error);

	REQUIRE(status == PD_OK || status == PD_ERROR_ARGUMENT);
	REQUIRE(status == PD_OK || (error.message[0] && error.offset <= strlen(line)));
	if (status == PD_OK) {
		REQUIRE(d.function || d.file);
		REQUIRE(d.argument_count <= PD_PROBE_ARGUMENTS);
		for (size_t i = 0; i < d.argument_count; i++) {
			REQUIRE(d.arguments[i].variable[0]);
			REQUIRE(!d.arguments[i].type || pd_probe_is_type(d.arguments[i].type));
			pd_probe_put_argument(&text, &d.arguments[i]);
		}
		pd_probe_put_place(&text, &d);
	}
	free(text.data);
}

static void check_event(struct pd_arena *arena, const char *line)
{
	struct pd_probe_point point;
	struct pd_text text = { .data = NULL };

	if (pd_probe_parse_event(arena, line, strlen(line), &point)) {
		REQUIRE(point.group && point.event);
		pd_probe_put_point(&text, &point);
	}
	free(text.data);
}

static void check_others(struct pd_arena *arena, const char *line)
{
	struct pd_probe_range range;

	if (pd_probe_parse_range(arena, line, &range, NULL) == PD_OK)
		REQUIRE((range.function || range.file) && range.first <= range.last);
	pd_probe_filter(line, "main");
	REQUIRE(strlen(pd_probe_group(arena, line)) < PD_PROBE_NAME);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_arena arena = { .limit = 0 };
	const char *at = (const char *)data, *end = at + size;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		char *line;

		stop = stop ? stop : end;
		line = pd_arena_text(&arena, at, (size_t)(stop - at));
		REQUIRE(line);
		check_definition(&arena, line);
		check_event(&arena, line);
		check_others(&arena, line);
		at = stop < end ? stop + 1 : end;
	}
	pd_arena_fini(&arena);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Objects with debug information: where probes in them are, and what these read. */
#include "probe/set.h"
#include "walk.h"

static const char *const definitions[] = {
	"*",   "* $vars",       "main",        "f a",
	"*:1", "*@*:2 $params", "sample.c:12", "handle request->id request->parts[1].high text=request->text:string",
};

static void print_all(struct pd_probes *probes)
{
	struct pd_text text = { .data = NULL };

	pd_print_probe_definitions(&text, probes, NULL);
	pd_print_probe_lines(&text, probes, "main", NULL);
	pd_print_probe_lines(&text, probes, "sample.c:1-99", NULL);
	pd_print_probe_variables(&text, probes, "*", NULL);
	pd_print_probe_functions(&text, probes, NULL);
	free(text.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pd_find_places places = { .symfs = NULL };
	struct pd_probes *probes = pd_alloc(sizeof(*probes));
	struct pd_image image;

	REQUIRE(probes);
	pd_image_open_memory(&image, data, size);
	if (pd_elf_open_image(&probes->debug.files.object, &image, "input", 4 << 20, NULL)) {
		pd_free(probes);
		return 0;
	}
	probes->debug.limit = 16 << 20;
	probes->path = probes->where = "/bin/input";
	probes->features = (struct pd_probe_features){ .has_constants = true, .has_hexadecimal = true };
	probes->options.ranges = probes->options.externs = true;
	if (pd_probe_debug_read(&probes->debug, &places, NULL) == PD_OK) {
		for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
			pd_probes_define(probes, definitions[i], NULL);
		print_all(probes);
	}
	pd_probes_close(probes);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Programs that show exported files. */
#include <perfdata/export.h>

static const struct pd_export_viewer viewers[] = {
	{ "speedscope",
	  "speedscope",
	  "speedscope",
	  { NULL },
	  "npm has the program speedscope; its release for offline use is a page (index.html) that opens the file" },
	{ "pprof",
	  "pprof",
	  "pprof",
	  { "-symbolize=none", "-http=localhost:0", NULL },
	  "go tool pprof -symbolize=none -http=localhost:0 FILE shows it in a browser, -top as text" },
	{ "firefox",
	  "firefox",
	  NULL,
	  { NULL },
	  "the Firefox Profiler (profiler.firefox.com, or a copy of it) opens the file; it stays on this machine" },
	{ "perfetto",
	  "perfetto",
	  NULL,
	  { NULL },
	  "the viewer of Perfetto (ui.perfetto.dev, or a copy of it) opens the file; it stays on this machine" },
};

const struct pd_export_viewer *pd_export_viewer(size_t index)
{
	return index < sizeof(viewers) / sizeof(viewers[0]) ? &viewers[index] : NULL;
}

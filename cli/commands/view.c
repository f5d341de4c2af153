/* SPDX-License-Identifier: MIT */
/* perfdata view: a recording as a page for a browser, as one file or from a server on this machine. */
#include "files/analysis.h"
#include "files/outfile.h"
#include "front/browser.h"
#include "front/signals.h"
#include "server/follow.h"
#include "server/server.h"

#include <string.h>
#include <sys/wait.h>

#include <perfdata/viewer.h>

enum {
	RECORDINGS_MOST = 2 /* that are compared */
};

struct values {
	struct analysis_options analysis;
	const char *output, *title;
	struct option_number port;
	bool no_browser, live;
};

static const struct option options[] = {
	STRING("output", 'o', "FILE", output, "write one file with everything in it, that needs no server"),
	STRING("title", 0, "TEXT", title, "title of the page (default: name of the recording)"),
	NUMBER("port", 0, "N", port, "port to serve the page at (default: any)"),
	FLAG("live", 0, live, "record, and follow the recording: perfdata view --live -- RECORD-OPTION... COMMAND"),
	FLAG("no-browser", 0, no_browser, "only print the address"),
	GROUP(waiting_group, analysis.input),
	GROUP(input_group, analysis.input),
	GROUP(select_group, analysis.select),
	GROUP(symbol_group, analysis.symbols),
	GROUP(threads_option, analysis.threads),
	GROUP(unwind_option, analysis.no_unwind),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata view", "perf.data in the browser" },
	{ "perfdata view -o page.html perf.data", "a page to be sent to others" },
	{ "perfdata view --live -- -g make", "make, while it runs" },
	{ "perfdata view --comm make --time 10%-20% build.data", "a part of a recording" },
	{ 0 },
};

/* A recording that is shown. */
struct shown {
	struct input input; /* first: see input_progress */
	const struct values *values;
	struct pd_viewer *view;
};

static struct pd_symbols *open_symbols(void *self, struct pd_file *file, const struct pd_state *state)
{
	const struct shown *shown = self;

	return symbols_open(&shown->values->analysis.symbols, file, state, false);
}

/* A page that is sent to others does not say where the file was. */
static const char *title_of(const struct shown *shown)
{
	const char *slash = strrchr(shown->input.name, '/');

	if (shown->values->title)
		return shown->values->title;
	return slash && slash[1] ? slash + 1 : shown->input.name;
}

static int report_nothing(const struct shown *shown)
{
	if (!pd_viewer_samples_read(shown->view))
		return print_failure(CODE_NO_SAMPLES, "%s: no samples in the file", shown->input.name);
	return print_failure(CODE_NOTHING, "%s: no samples match the filters", shown->input.name);
}

static void take_options(struct shown *shown, struct pd_viewer_options *how)
{
	const struct values *values = shown->values;

	*how = (struct pd_viewer_options){
		.size = sizeof(*how),
		.name = title_of(shown),
		.select = &values->analysis.select,
		.symbols = open_symbols,
		.self = shown,
		.threads = values->analysis.threads,
		.no_unwind = values->analysis.no_unwind,
		.alone = values->output != NULL,
	};
}

static int read_recording(struct shown *shown)
{
	struct pd_viewer_options how;
	struct pd_error error;
	enum pd_status status;

	take_options(shown, &how);
	how.progress = input_progress_go_on;
	status = pd_viewer_new(shown->input.file, &how, &shown->view, &error);
	progress_clear(&shown->input.progress);
	return status == PD_ERROR_NO_MATCH && shown->view ? report_nothing(shown) : code_with_error(status, &error);
}

static int write_page(const struct values *values, const struct call *call, struct shown *shown, size_t count)
{
	struct pd_bytes data[RECORDINGS_MOST];
	struct outfile file;
	struct pd_error error;
	enum pd_status status;
	int code = outfile_open(&file, values->output, call->out, shown->input.name);

	if (code != CODE_OK)
		return code;
	for (size_t i = 0; i < count; i++)
		data[i] = pd_viewer_data(shown[i].view);
	status = pd_viewer_page(file.out->text, title_of(shown), data, count, &error);
	/* What cannot be written is reported when the file is closed. */
	return outfile_close(&file, status == PD_ERROR_OUTPUT ? CODE_OK : code_with_error(status, &error));
}

/* ---- the server ---- */

static struct server *running;

static void on_ending(int number)
{
	(void)number;
	server_stop(running);
}

/* Prints the address, and shows the page until it is closed or a signal comes. */
static void show_page(const struct values *values, struct output *out)
{
	const int ending[] = { SIGNALS_ENDING, 0 };
	const struct sigaction action = { .sa_handler = on_ending };
	const char *address = server_address(running);
	struct browser browser = { 0 };

	signals_handle(ending, &action, SIGNAL_ALWAYS);
	pd_text_printf(out->text, "%s\n", address);
	if (output_flush(out)) {
		if (!values->no_browser && out->terminal)
			browser_start(&browser, address);
		server_run(running);
	}
	browser_forget(&browser);
	signals_release(ending, on_ending);
}

static int serve(const struct values *values, const struct call *call, struct server_options *how)
{
	struct pd_error error;

	how->port = values->port.given ? (unsigned)values->port.value : 0;
	if (server_open(how, &running, &error) < 0)
		return print_failure(CODE_OUTPUT, "%s", error.message);
	show_page(values, call->out);
	server_close(running);
	return CODE_OK;
}

/* ---- recordings that are complete ---- */

static int show_views(const struct values *values, const struct call *call, struct shown *shown, size_t count)
{
	struct pd_viewer *views[RECORDINGS_MOST];
	struct server_options how = { .views = views, .count = count };

	if (values->output)
		return write_page(values, call, shown, count);
	for (size_t i = 0; i < count; i++)
		views[i] = shown[i].view;
	return serve(values, call, &how);
}

static int show(const struct values *values, const struct call *call, struct shown *shown, size_t count)
{
	struct input_options input = values->analysis.input;
	int code = CODE_OK;

	input.keep = true;
	for (size_t i = 0; i < count && code == CODE_OK; i++) {
		struct call one = *call;

		one.words += i;
		one.word_count = call->word_count ? 1 : 0;
		code = input_open(&shown[i].input, &input, &one, NULL, NULL);
		if (code == CODE_OK)
			code = read_recording(&shown[i]);
	}
	if (code == CODE_OK)
		code = show_views(values, call, shown, count);
	for (size_t i = 0; i < count; i++) {
		pd_viewer_free(shown[i].view);
		if (shown[i].input.file)
			code = input_close(&shown[i].input, code);
	}
	return code;
}

/* ---- what is recorded now ---- */

/* Without a recording: the exit code of the recorder, which said why. */
static int code_of_recorder(const struct follow *follow)
{
	int code = WIFEXITED(follow->status) ? WEXITSTATUS(follow->status) : CODE_OK;

	if (code == CODE_NO_COMMAND || (code != CODE_OK && !follow_has_begun(follow)))
		return code;
	return print_failure(CODE_NO_SAMPLES, "%s: nothing was recorded", follow->path);
}

static int show_live(struct shown *shown, const struct call *call)
{
	const char *path = shown->values->analysis.input.path;
	struct pd_viewer_options options;
	struct follow follow = { .options = &options, .recorder = "/proc/self/exe" };
	struct pd_error error;
	int code;

	follow.path = shown->input.name = path ? path : "perf.data";
	take_options(shown, &options);
	if (follow_start(&follow, call->words, call->word_count, &error) < 0)
		return print_failure(CODE_OUTPUT, "%s", error.message);
	code = follow_wait(&follow) ? serve(shown->values, call, &(struct server_options){ .follow = &follow }) :
				      code_of_recorder(&follow);
	follow_stop(&follow);
	follow_fini(&follow);
	return code;
}

/* Whether the options of the recorder, before its command, say where the recording goes. */
static bool names_output(const struct call *call)
{
	for (size_t i = 0; i < call->word_count && call->words[i][0] == '-' && strcmp(call->words[i], "--"); i++)
		if (!strncmp(call->words[i], "-o", 2) || !strncmp(call->words[i], "--output", 8))
			return true;
	return false;
}

/* What is wrong with the options is known before a file is read. */
static int check_options(const struct values *values, const struct call *call)
{
	const char *path = values->analysis.input.path;
	struct pd_select *select = NULL;
	bool right = select_take(&select, &values->analysis.select);

	pd_select_free(select);
	if (!right)
		return CODE_USAGE;
	if (values->output && !strcmp(values->output, "-") && call->out->terminal)
		return print_failure(CODE_USAGE, "refusing to write HTML to a terminal; use -o FILE");
	if (values->port.given && values->port.value > 65535)
		return print_failure(CODE_USAGE, "option --port: a port is from 0 to 65535");
	if (!values->live && call->word_count > RECORDINGS_MOST)
		return print_failure(CODE_USAGE, "unexpected argument '%s' (at most two FILEs are shown)",
				     call->words[RECORDINGS_MOST]);
	if (values->live && (values->output || !call->word_count))
		return print_failure(CODE_USAGE,
				     "--live needs what to record, and cannot be combined with -o: perfdata view "
				     "--live -- -g COMMAND");
	if (values->live && call->before_count)
		return print_failure(CODE_USAGE,
				     "unexpected argument '%s': --live records to the file of -i, or to perf.data",
				     call->words[0]);
	if (values->live && (names_output(call) || (path && !strcmp(path, "-"))))
		return print_failure(CODE_USAGE,
				     "--live records to the file of -i, or to perf.data: give no -o, and no '-'");
	if (values->live && (values->analysis.input.waiting || values->analysis.input.pair))
		return print_failure(CODE_USAGE,
				     "--live cannot be combined with --waiting, which needs a complete recording");
	if (!values->output && !server_is_built())
		return print_failure(
			CODE_USAGE, "this build has no server (libmicrohttpd); use -o FILE for a page that needs none");
	return CODE_OK;
}

static int run_view(const struct call *call)
{
	const struct values *values = call->values;
	struct shown shown[RECORDINGS_MOST] = { { .values = values }, { .values = values } };
	int code = check_options(values, call);

	if (code != CODE_OK)
		return code;
	if (values->live)
		return show_live(&shown[0], call);
	return show(values, call, shown, call->word_count > 1 ? 2 : 1);
}

const struct command cmd_view = {
	.usage = "[OPTION]... [FILE [FILE]]",
	.text = "Show FILE in a browser: a timeline, flame graphs, tables, source and code, all for one selection. Of two FILEs, what changed from "
		"the first to the second.\n"
		"\n"
		"With -o the page is one file that needs no server and loads nothing. Else it is served on this machine only, at an address that "
		"nobody can guess, for as long as it is open or until Ctrl-C; nothing of the file is changed. The browser is started on a "
		"terminal with a display, unless --no-browser is given. The address is printed.\n"
		"\n"
		"With --live, what follows -- are options and the command of perfdata record, and the page follows its recording, which goes "
		"to the file of -i, or perf.data. It is read again whenever that costs less than a third of the time; when the page is closed, the "
		"recorder is stopped.\n"
		"\n"
		"A page of more than two million samples has no sampled addresses, so it shows no code; times are in microseconds above one "
		"million.",
	OWN_TABLES,
	.usual = "output no-browser input time comms event",
	.max_words = (size_t)-1,
	.run = run_view,
};

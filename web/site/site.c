/* SPDX-License-Identifier: MIT */
/*
 * The library for the page that reads dropped files: a module of WebAssembly without main, whose functions web/site/worker.ts calls.
 * Files are opened by path; worker.ts is the file system.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfdata/perfdata.h>

#define EXPORT(name) __attribute__((export_name(#name)))

enum {
	RECORDINGS_MOST = 2, // that are compared
	OBJECTS_MOST = 1000,
	ARCHIVES_MOST = 12, // as in pd_symbols_options
	PARAMETERS_MOST = 16
};

// Told to the page.
__attribute__((import_module("page"), import_name("progress"))) void page_progress(double done, double total);

struct object {
	char *path;
	struct pd_build_id id;
};

struct recording {
	char *path;
	struct pd_file *file;
	struct pd_viewer *view;
};

static struct {
	struct recording recordings[RECORDINGS_MOST];
	struct object objects[OBJECTS_MOST];
	size_t object_count;
	const char *archives[ARCHIVES_MOST];
	size_t archive_count;
	const char *kallsyms, *vmlinux, *root;
	struct pd_text *text; // of answers that are made here
	struct pd_error error;
} site;

// What the last request was answered with; worker.ts reads the members in this order.
struct answer {
	uint32_t code;
	const char *type, *file_name;
	const void *body;
	uint32_t size;
};

static struct answer answer;

// ---- symbols ----

static bool is_debug(const struct object *object)
{
	size_t length = strlen(object->path);

	return length > 6 && strcmp(object->path + length - 6, ".debug") == 0;
}

static const char *fetch(void *self, const uint8_t *build_id, size_t size, bool debug)
{
	const char *other = NULL;

	(void)self;
	for (size_t i = 0; i < site.object_count; i++) {
		const struct object *object = &site.objects[i];

		if (object->id.size != size || memcmp(object->id.bytes, build_id, size) != 0)
			continue;
		if (is_debug(object) == debug)
			return object->path;
		other = object->path;
	}
	return other;
}

static struct pd_symbols *open_symbols(void *self, struct pd_file *file, const struct pd_state *state)
{
	const struct pd_symbols_options options = {
		.size = sizeof(options),
		.symfs = site.root,
		.kallsyms = site.kallsyms ? site.kallsyms : "",
		.vmlinux = site.vmlinux,
		.fetch = fetch,
		.archives = site.archives,
		.archive_count = site.archive_count,
	};
	struct pd_symbols *symbols;

	(void)self;
	return pd_symbols_new(file, state, &options, &symbols, NULL) == PD_OK ? symbols : NULL;
}

// Each of these takes a path that remains valid.

EXPORT(site_kallsyms) void site_kallsyms(const char *path)
{
	site.kallsyms = path;
}

EXPORT(site_vmlinux) void site_vmlinux(const char *path)
{
	site.vmlinux = path;
}

// A folder in which files are found by the paths of the recording.
EXPORT(site_root) void site_root(const char *path)
{
	site.root = path;
}

EXPORT(site_archive) void site_archive(const char *path)
{
	if (site.archive_count < ARCHIVES_MOST)
		site.archives[site.archive_count++] = path;
}

// True if it has a build id, by which it will be found.
EXPORT(site_object) bool site_object(char *path)
{
	struct object object = { path, pd_elf_build_id(path) };

	if (!object.id.size || site.object_count == OBJECTS_MOST)
		return false;
	site.objects[site.object_count++] = object;
	return true;
}

// ---- recordings ----

static bool progress(void *self, uint64_t done, uint64_t total)
{
	(void)self;
	page_progress((double)done, (double)total);
	return true;
}

static enum pd_status open_file(const char *path, pd_problem_fn *problem, struct pd_file **file_out)
{
	const struct pd_open_options options = { .size = sizeof(options), .problem = problem, .keep = true };

	return pd_file_open(path, &options, file_out, &site.error);
}

static enum pd_status open_view(struct recording *recording, const char *name, bool no_data)
{
	const struct pd_viewer_options options = {
		.size = sizeof(options), .name = name, .symbols = open_symbols, .progress = progress, .threads = 1,
		.no_data = no_data,
	};
	enum pd_status status = open_file(recording->path, NULL, &recording->file);

	if (status >= 0)
		status = pd_viewer_new(recording->file, &options, &recording->view, &site.error);
	return status;
}

// 0 if it can be opened as a recording; else an archive of symbols, or nothing.
EXPORT(site_try) int site_try(const char *path)
{
	struct pd_file *file;
	enum pd_status status = open_file(path, NULL, &file);

	if (status >= 0)
		pd_file_close(file);
	return status;
}

// Opens the index-th recording, without data for requests only; both strings remain valid. Returns 0, or a status (enum pd_status): see site_message.
EXPORT(site_open) int site_open(unsigned index, char *path, const char *name, bool no_data)
{
	struct recording *recording = &site.recordings[index];
	enum pd_status status;

	pd_viewer_free(recording->view);
	pd_file_close(recording->file);
	*recording = (struct recording){ .path = path };
	status = open_view(recording, name, no_data);
	// without samples it is a view all the same
	return recording->view ? PD_OK : (int)status;
}

EXPORT(site_message) const char *site_message(void)
{
	return site.error.message;
}

EXPORT(site_data) void site_data(unsigned index)
{
	const struct pd_bytes data = pd_viewer_data(site.recordings[index].view);

	answer = (struct answer){ .code = 200, .body = data.data, .size = (uint32_t)data.size };
}

// ---- what is not asked of a view ----

static bool print_problem(void *self, const struct pd_problem *problem)
{
	struct pd_problem_counts *counts = self;

	pd_print_problem(site.text, problem);
	if (problem->advice && !pd_problem_count(counts, problem->code))
		pd_text_printf(site.text, "        %s\n", problem->advice);
	return true;
}

// As perfdata check prints it.
static enum pd_status check(const struct recording *recording)
{
	static struct pd_problem_counts advised;
	const struct pd_open_options options = { .size = sizeof(options), .problem = print_problem, .self = &advised };
	struct pd_check_result result = { 0 };
	struct pd_file *file;
	enum pd_status status;

	advised = (struct pd_problem_counts){ 0 };
	status = pd_file_open(recording->path, &options, &file, &site.error);
	if (status < 0)
		return status;
	status = pd_check(file, &result, &site.error);
	if (status >= 0)
		pd_print_check(site.text, strrchr(recording->path, '/') + 1, &result);
	pd_file_close(file);
	return status;
}

static void put_check(const struct recording *recording)
{
	struct pd_bytes body;

	if (!site.text)
		site.text = pd_text_new();
	pd_text_clear(site.text);
	if (check(recording) < 0)
		pd_text_printf(site.text, "%s\n", site.error.message);
	body = pd_text_bytes(site.text);
	answer = (struct answer){
		.code = 200, .type = "text/plain; charset=utf-8", .body = body.data, .size = (uint32_t)body.size
	};
}

// ---- requests ----

// words: the path, then names and values, each ended by a NUL.
static size_t split(const char *words, size_t size, struct pd_viewer_parameter *parameters)
{
	const char *at = words + strlen(words) + 1;
	size_t count = 0;

	while (at < words + size && count < PARAMETERS_MOST) {
		parameters[count].name = at;
		at += strlen(at) + 1;
		parameters[count].value = at;
		at += strlen(at) + 1;
		count++;
	}
	return count;
}

EXPORT(site_ask) void site_ask(unsigned index, const char *words, size_t size)
{
	const struct recording *recording = &site.recordings[index];
	struct pd_viewer_parameter parameters[PARAMETERS_MOST];
	size_t count = split(words, size, parameters);
	struct pd_viewer_answer given;

	if (strcmp(words, "check") == 0) {
		put_check(recording);
		return;
	}
	answer = (struct answer){ .code = 500 };
	if (pd_viewer_answer(recording->view, words, parameters, count, &given, &site.error) == PD_OK)
		answer = (struct answer){ given.code, given.type, given.file_name, given.body.data,
					  (uint32_t)given.body.size };
}

EXPORT(site_answer) const struct answer *site_answer(void)
{
	return &answer;
}

EXPORT(site_alloc) void *site_alloc(size_t size)
{
	return malloc(size);
}

EXPORT(site_free) void site_free(void *memory)
{
	free(memory);
}

/* SPDX-License-Identifier: MIT */
/*
 * Kernels. They are moved at each boot, so symbols of another boot are recognised by where their reference symbol was when
 * it was recorded.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "object/index/index_file.h"
#include "object/index/index_pages.h"
#include "state/locate.h"
#include "symbol/lookup.h"

enum {
	TEXT_LIMIT = 256 << 20,
	NOTES_LIMIT = 64 << 10,
	PATH_SIZE = 4096
};

static const char running_list[] = "/proc/kallsyms";

static const char *const image_paths[] = {
	"/boot/vmlinux-%s",        "/usr/lib/debug/boot/vmlinux-%s",        "/lib/modules/%s/build/vmlinux",
	"/lib/modules/%s/vmlinux", "/usr/lib/debug/lib/modules/%s/vmlinux", "/usr/lib/debug/boot/vmlinux-%s.debug",
	"/boot/vmlinux",
};

bool pd_lookup_image_path(size_t index, const char *release, char *path, size_t size)
{
	const char *form = index < sizeof(image_paths) / sizeof(image_paths[0]) ? image_paths[index] : NULL, *hole;
	int n;

	if (!form)
		return false;
	hole = strstr(form, "%s");
	n = hole ? snprintf(path, size, "%.*s%s%s", (int)(hole - form), form, release, hole + 2) :
		   snprintf(path, size, "%s", form);
	if (n <= 0 || (size_t)n >= size)
		path[0] = 0;
	return true;
}

// ---- what was given ----

enum pd_status pd_lookup_kernel_given(struct pd_symbols *symbols, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (symbols->kallsyms_path && symbols->kallsyms_path[0])
		status = pd_kallsyms_open(&symbols->given_kallsyms, symbols->kallsyms_path, symbols->limit, error);
	if (status == PD_OK && symbols->vmlinux_path)
		status = pd_elf_open(&symbols->given_image, symbols->vmlinux_path, symbols->limit, error);
	return status;
}

// ---- where it was ----

// The first mapping of a kernel that says where its symbol was, or NULL.
static const struct pd_mapping *find_reference(const struct pd_symbols *symbols, uint32_t machine)
{
	const struct pd_map_kind *kind;

	for (uint32_t i = 0; (kind = pd_state_map_kind_of(symbols->state, i)); i++)
		if (kind->object && kind->object->kind == PD_OBJECT_KERNEL && kind->object->machine == machine &&
		    kind->symbol && kind->symbol[0] && kind->pgoff)
			return pd_state_mapping(symbols->state, i);
	return NULL;
}

static uint64_t listed_addr(const struct pd_kallsyms *kallsyms, const char *symbol)
{
	if (strcmp(symbol, "_stext") == 0)
		return kallsyms->stext_addr;
	return strcmp(symbol, "_text") == 0 ? kallsyms->text_addr : 0;
}

// ---- the list of symbols ----

static const char *keep_text(struct pd_symbols *symbols, const char *text)
{
	const char *copy = pd_arena_text(&symbols->kept, text, strlen(text));

	return copy ? copy : "";
}

static bool take_kallsyms(struct pd_kernel *kernel, struct pd_kallsyms *kallsyms, const struct pd_mapping *reference,
			  const char *detail)
{
	uint64_t listed = reference ? listed_addr(kallsyms, reference->symbol) : 0;

	kernel->kallsyms = *kallsyms;
	*kallsyms = (struct pd_kallsyms){ 0 };
	kernel->has_kallsyms = true;
	kernel->moved = listed ? reference->pgoff - listed : 0;
	kernel->state = kernel->kallsyms.hidden ? PD_DSO_NO_SYMBOLS : PD_DSO_SYMBOLS;
	kernel->detail = detail;
	return true;
}

bool pd_lookup_notes_id(const char *path, struct pd_object_id *id_out)
{
	uint8_t *notes;
	size_t size;
	bool found;

	if (pd_image_read_file(path, NOTES_LIMIT, &notes, &size, NULL))
		return false;
	// of the machine that reads them
	found = pd_object_id_from_notes(notes, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, id_out);
	pd_free(notes);
	return found;
}

bool pd_lookup_running_id(struct pd_object_id *id_out)
{
	return pd_lookup_notes_id("/sys/kernel/notes", id_out);
}

bool pd_lookup_kernel_may_run(struct pd_symbols *symbols)
{
	const struct pd_mapping *reference = find_reference(symbols, 0);
	struct pd_object_id own = { .size = 0 }, recorded = pd_lookup_kernel_id(symbols, 0);
	uint64_t listed;

	if (recorded.size && pd_lookup_running_id(&own) && !pd_object_id_equal(&own, &recorded))
		return false;
	if (!reference || (strcmp(reference->symbol, "_text") != 0 && strcmp(reference->symbol, "_stext") != 0))
		return true;
	listed = pd_kallsyms_find(running_list, reference->symbol);
	return !listed || listed == reference->pgoff;
}

static void put_line(struct pd_text *tried, const char *text)
{
	if (tried->size)
		PD_TEXT_LITERAL(tried, "; ");
	pd_text_put(tried, text, strlen(text));
}

static bool take_kcore(struct pd_symbols *symbols, struct pd_kernel *kernel, struct pd_kallsyms *kallsyms,
		       const struct pd_mapping *reference, char *folder)
{
	size_t length = strlen(folder);

	memcpy(folder + length, "/kallsyms", sizeof("/kallsyms"));
	take_kallsyms(kernel, kallsyms, reference, keep_text(symbols, folder));
	memcpy(folder + length, "/kcore", sizeof("/kcore"));
	kernel->kcore_path = keep_text(symbols, folder);
	return true;
}

// A copy that was made with the recording.
static bool try_recorded_kcore(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_mapping *reference)
{
	char folder[PATH_SIZE];
	struct pd_kallsyms kallsyms;

	return !kernel->machine &&
	       pd_lookup_kcore_recorded(symbols, folder, sizeof(folder) - sizeof("/kallsyms"), &kallsyms) &&
	       take_kcore(symbols, kernel, &kallsyms, reference, folder);
}

// One that was put into the cache.
static bool try_cached_kcore(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_object_id *id,
			     const struct pd_mapping *reference)
{
	char folder[PATH_SIZE];
	struct pd_kallsyms kallsyms;

	return !kernel->machine &&
	       pd_lookup_kcore_cached(symbols, id, reference, folder, sizeof(folder) - sizeof("/kallsyms"),
				      &kallsyms) &&
	       take_kcore(symbols, kernel, &kallsyms, reference, folder);
}

static bool try_path(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_find_places *places,
		     const char *path, const struct pd_object_id *id, const struct pd_mapping *reference,
		     struct pd_text *tried);

// A list that no build id tells from others is in the archive for this kernel's sake.
static bool try_named_list(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_mapping *reference)
{
	struct pd_kallsyms kallsyms;
	struct pd_image image;
	char path[PATH_SIZE];
	uint8_t *text;
	size_t size;
	bool ok;
	int n = snprintf(path, sizeof(path), "%s/kallsyms", reference ? reference->object->path : "[kernel.kallsyms]");

	if (n < 0 || (size_t)n >= sizeof(path) || !pd_find_in_archives(&symbols->places, path, &image))
		return false;
	ok = pd_image_read_all(&image, TEXT_LIMIT, &text, &size, NULL) == PD_OK;
	pd_image_close(&image);
	if (!ok)
		return false;
	ok = pd_kallsyms_read(&kallsyms, (char *)text, size, symbols->limit, NULL) == PD_OK &&
	     take_kallsyms(kernel, &kallsyms, reference, keep_text(symbols, path));
	pd_free(text);
	return ok;
}

static bool try_archives(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_object_id *id,
			 const struct pd_mapping *reference, struct pd_text *tried)
{
	struct pd_find_places places = { .archive_count = symbols->places.archive_count,
					 .limit = symbols->places.limit };

	if (!places.archive_count)
		return false;
	if (!id->size && kernel->machine)
		return false;
	if (!id->size && try_named_list(symbols, kernel, reference))
		return true;
	memcpy(places.archives, symbols->places.archives, sizeof(places.archives));
	return try_path(symbols, kernel, &places, "[kernel.kallsyms]", id, reference, tried);
}

// ---- the kernel that runs here ----

// The list, or of it what was kept from an earlier run.
static enum pd_status open_running(const struct pd_symbols *symbols, const struct pd_object_id *id,
				   struct pd_kallsyms *kallsyms_out)
{
	uint8_t head[PD_KALLSYMS_HEAD];
	bool is_kept = symbols->index && id->size && pd_kallsyms_head(running_list, head);
	enum pd_status status;

	if (is_kept && pd_index_load_kernel(symbols->index, id, head, symbols->limit, kallsyms_out))
		return PD_OK;
	status = pd_kallsyms_open(kallsyms_out, running_list, symbols->limit, NULL);
	if (status == PD_OK && is_kept)
		pd_index_save_kernel(symbols->index, id, head, kallsyms_out);
	return status;
}

bool pd_lookup_kernel_load_list(struct pd_symbols *symbols, struct pd_kernel *kernel)
{
	struct pd_kallsyms *known = &kernel->kallsyms, list;
	enum pd_status status;

	if (known->table)
		return true;
	if (!kernel->has_kallsyms || kernel->list_failed)
		return false;
	status = pd_kallsyms_open(&list, running_list, symbols->limit, NULL);
	symbols->failed |= status == PD_ERROR_MEMORY;
	kernel->list_failed = status < 0;
	if (status < 0)
		return false;
	known->table = list.table;
	known->modules = list.modules;
	known->module_count = list.module_count;
	known->module_capacity = list.module_capacity;
	return true;
}

const struct pd_symtab *pd_lookup_kernel_table(struct pd_symbols *symbols, struct pd_kernel *kernel, uint64_t addr,
					       uint64_t *numbers_out)
{
	const struct pd_kallsyms *known = &kernel->kallsyms;
	const struct pd_symtab *page;

	*numbers_out = 0;
	if (!kernel->has_kallsyms)
		return kernel->image;
	if (!known->image)
		return known->table;
	if (addr >= known->image_from && addr < known->image_to) {
		page = pd_index_pages_find(known->image, addr, numbers_out);
		if (page || !pd_index_pages_failed(known->image))
			return page;
	}
	*numbers_out = UINT64_C(1) << 32; // those of the image are smaller
	return pd_lookup_kernel_load_list(symbols, kernel) ? known->table : NULL;
}

// If it is the one that was recorded.
static bool try_running(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_object_id *id,
			const struct pd_mapping *reference, struct pd_text *tried)
{
	struct pd_object_id own = { .size = 0 };
	struct pd_kallsyms kallsyms;

	if (!symbols->own_machine || kernel->machine || (symbols->places.ids_only && !id->size))
		return false;
	if (symbols->kallsyms_path && !symbols->kallsyms_path[0])
		return false;
	if (id->size && (!pd_lookup_running_id(&own) || !pd_object_id_equal(&own, id))) {
		put_line(tried, "/proc/kallsyms: the running kernel has a different build id");
		return false;
	}
	if (!id->size && !reference)
		return false;
	if (open_running(symbols, &own, &kallsyms)) {
		put_line(tried, "/proc/kallsyms: cannot be read");
		return false;
	}
	if (kallsyms.hidden)
		put_line(tried, "/proc/kallsyms: the kernel hides its addresses, see kernel.kptr_restrict");
	else if (!id->size && listed_addr(&kallsyms, reference->symbol) != reference->pgoff)
		put_line(tried, "/proc/kallsyms: no build id was recorded, and the kernel is at a different address");
	else
		return kernel->is_running = take_kallsyms(kernel, &kallsyms, reference, running_list);
	pd_kallsyms_close(&kallsyms);
	return false;
}

// ---- images ----

static bool take_image(struct pd_symbols *symbols, struct pd_kernel *kernel, struct pd_elf *object,
		       struct pd_elf *debug, const struct pd_mapping *reference, const char *detail)
{
	const struct pd_elf_symbol_options options = { .data = true, .limit = symbols->limit };
	uint64_t linked;

	if (symbols->flags & PD_SYMBOLS_NO_VMLINUX)
		return false;
	if (pd_elf_symtab(object, debug, &options, &kernel->image, NULL)) {
		symbols->failed = true;
		return false;
	}
	if (reference && ((debug && pd_elf_symbol_addr(debug, reference->symbol, &linked)) ||
			  pd_elf_symbol_addr(object, reference->symbol, &linked)))
		kernel->moved = reference->pgoff - linked;
	kernel->state = pd_symtab_count(kernel->image) ? PD_DSO_SYMBOLS : PD_DSO_NO_SYMBOLS;
	kernel->detail = keep_text(symbols, detail);
	return true;
}

static bool try_given_image(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_object_id *id,
			    const struct pd_mapping *reference, struct pd_text *tried)
{
	struct pd_object_id own = { .size = 0 };

	if (!symbols->given_image || kernel->machine)
		return false;
	if (!id->size || (pd_elf_id(symbols->given_image, &own) && pd_object_id_equal(&own, id)))
		return take_image(symbols, kernel, symbols->given_image, NULL, reference, symbols->vmlinux_path);
	put_line(tried, symbols->vmlinux_path);
	pd_text_put(tried, ": has a different build id", 22);
	kernel->state = PD_DSO_MISMATCH;
	return false;
}

static bool take_found(struct pd_symbols *symbols, struct pd_kernel *kernel, struct pd_found *found,
		       const struct pd_mapping *reference, struct pd_text *tried)
{
	struct pd_elf *object = found->object ? found->object : found->debug;
	char detail[PATH_SIZE] = "an image with its build id";
	struct pd_kallsyms kallsyms;
	uint8_t *text;
	size_t size;
	bool ok;

	for (size_t i = 0; i < found->try_count; i++)
		if (found->tries[i].action == PD_FIND_USED)
			snprintf(detail, sizeof(detail), "%s/%s", found->tries[i].root, found->tries[i].path);
	if (object && take_image(symbols, kernel, object, found->debug, reference, detail))
		return true;
	if (pd_image_is_open(&found->kallsyms) &&
	    pd_image_read_all(&found->kallsyms, TEXT_LIMIT, &text, &size, NULL) == PD_OK) {
		ok = size && pd_kallsyms_read(&kallsyms, (char *)text, size, symbols->limit, NULL) == PD_OK;
		pd_free(text);
		if (ok)
			return take_kallsyms(kernel, &kallsyms, reference, keep_text(symbols, detail));
	}
	if (pd_lookup_tries(tried, found))
		kernel->state = PD_DSO_MISMATCH;
	return false;
}

static bool try_path(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_find_places *places,
		     const char *path, const struct pd_object_id *id, const struct pd_mapping *reference,
		     struct pd_text *tried)
{
	struct pd_find_wanted wanted = { .path = path, .name = path[0] == '[' ? path : NULL, .id = *id };
	struct pd_found found;
	bool ok;

	if (pd_find(places, &wanted, &found, NULL)) {
		symbols->failed = true;
		return false;
	}
	ok = take_found(symbols, kernel, &found, reference, tried);
	pd_found_close(&found);
	if (kernel->image)
		kernel->image_path = keep_text(symbols, path);
	return ok;
}

const char *pd_lookup_kernel_release(const struct pd_symbols *symbols, struct utsname *here)
{
	const struct pd_string *recorded = pd_file_osrelease(symbols->file);

	if (recorded && recorded->value.length)
		return recorded->value.data;
	return uname(here) == 0 ? here->release : "";
}

static bool try_usual_paths(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_object_id *id,
			    const struct pd_mapping *reference, struct pd_text *tried)
{
	const struct pd_find_places places = { .symfs = symbols->places.symfs, .limit = symbols->places.limit };
	struct utsname here;
	const char *release = pd_lookup_kernel_release(symbols, &here);
	char path[PATH_SIZE];

	for (size_t i = 0; release[0] && pd_lookup_image_path(i, release, path, sizeof(path)); i++)
		if (path[0] && try_path(symbols, kernel, &places, path, id, reference, tried))
			return true;
	return false;
}

static bool try_fetch(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_object_id *id,
		      const struct pd_mapping *reference)
{
	struct pd_elf *elf = pd_lookup_fetch(symbols, id, true);
	bool ok = elf && take_image(symbols, kernel, elf, NULL, reference, "downloaded by build id");

	pd_elf_close(elf);
	return ok;
}

// ---- the kernel ----

static void load_kernel(struct pd_symbols *symbols, struct pd_kernel *kernel, const struct pd_object_id *id)
{
	const struct pd_mapping *reference = find_reference(symbols, kernel->machine);
	struct pd_text tried = { 0 };
	bool found = false;

	if (reference)
		kernel->mapping = *reference;
	if (!kernel->machine && symbols->given_kallsyms.table)
		found = take_kallsyms(kernel, &symbols->given_kallsyms, reference, symbols->kallsyms_path);
	found = found || try_given_image(symbols, kernel, id, reference, &tried) ||
		try_archives(symbols, kernel, id, reference, &tried) ||
		try_recorded_kcore(symbols, kernel, reference) || try_running(symbols, kernel, id, reference, &tried) ||
		try_cached_kcore(symbols, kernel, id, reference);
	if (!found && id->size)
		found = try_path(symbols, kernel, &symbols->places, "[kernel.kallsyms]", id, reference, &tried) ||
			(!kernel->machine && try_usual_paths(symbols, kernel, id, reference, &tried)) ||
			try_fetch(symbols, kernel, id, reference);
	pd_text_char(&tried, 0);
	if (!found)
		kernel->detail = tried.failed || tried.size < 2 ? "no matching file found" :
								  keep_text(symbols, tried.data);
	pd_free(tried.data);
}

struct pd_kernel *pd_lookup_kernel_of(struct pd_symbols *symbols, uint32_t machine)
{
	struct pd_kernel *kernel = symbols->kernels;
	struct pd_object_id id;

	while (kernel && kernel->machine != machine)
		kernel = kernel->next;
	if (kernel)
		return kernel;
	kernel = pd_arena_alloc(&symbols->kept, sizeof(*kernel));
	if (!kernel)
		return NULL;
	*kernel = (struct pd_kernel){
		.next = symbols->kernels, .machine = machine, .state = PD_DSO_MISSING, .detail = ""
	};
	symbols->kernels = kernel;
	// all objects are looked at for it, so not each time that a module asks
	id = pd_lookup_kernel_id(symbols, machine);
	load_kernel(symbols, kernel, &id);
	return kernel;
}

struct pd_object_id pd_lookup_kernel_id(const struct pd_symbols *symbols, uint32_t machine)
{
	struct pd_object_id id = { .size = 0 };
	const struct pd_object *object;

	for (size_t i = 0; (object = pd_state_object(symbols->state, i)); i++) {
		if (object->kind != PD_OBJECT_KERNEL || object->machine != machine)
			continue;
		id.size = object->build_id_size;
		memcpy(id.bytes, object->build_id, sizeof(object->build_id));
		if (id.size)
			break;
	}
	return id;
}

void pd_lookup_prepare(struct pd_symbols *symbols)
{
	struct pd_object_id own = { .size = 0 }, id = pd_lookup_kernel_id(symbols, 0);

	if (!(symbols->flags & PD_SYMBOLS_NO_FILES) && symbols->own_machine && id.size && pd_lookup_running_id(&own) &&
	    pd_object_id_equal(&own, &id))
		pd_lookup_kernel_of(symbols, 0);
}

void pd_lookup_load_kernel(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_location *location)
{
	struct pd_kernel *kernel = pd_lookup_kernel_of(symbols, dso->machine);

	(void)location;
	dso->terms = PD_TERMS_MOVED;
	if (!kernel) {
		symbols->failed = true;
		return;
	}
	pd_lookup_report(symbols, dso, kernel->state, "%s", kernel->detail);
	dso->has_pages = kernel->has_kallsyms && kernel->kallsyms.image;
	dso->table = kernel->has_kallsyms ? kernel->kallsyms.table : kernel->image;
	dso->moved = kernel->moved;
	dso->kernel = kernel;
	dso->has_file = kernel->image != NULL;
}

bool pd_lookup_kernel_past_end(struct pd_symbols *symbols, uint64_t addr, struct pd_location *location_out)
{
	const struct pd_kernel *kernel = symbols->kernels;

	if (symbols->flags & PD_SYMBOLS_NO_FILES)
		return false;
	while (kernel && kernel->machine)
		kernel = kernel->next;
	if (!kernel)
		kernel = pd_lookup_kernel_of(symbols, 0);
	if (!kernel || !kernel->mapping.object || !kernel->has_kallsyms || kernel->state != PD_DSO_SYMBOLS)
		return false;
	addr -= kernel->moved;
	if (addr < kernel->kallsyms.first || addr >= kernel->kallsyms.end)
		return false;
	*location_out = (struct pd_location){
		.mapping = &kernel->mapping,
		.object = kernel->mapping.object,
		.offset = addr + kernel->moved,
	};
	return true;
}

static bool find_in_image(const struct pd_symtab *image, const char *name, uint64_t *addr_out)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < pd_symtab_count(image); i++) {
		struct pd_symbol symbol = pd_symtab_at(image, i);

		if (symbol.owner || symbol.name_length != length || memcmp(symbol.name, name, length) != 0)
			continue;
		*addr_out = symbol.start;
		return true;
	}
	return false;
}

bool pd_lookup_kernel_sections(struct pd_symbols *symbols, uint64_t addrs_out[PD_KERNEL_SECTIONS])
{
	struct pd_kernel *kernel = pd_lookup_kernel_of(symbols, 0);
	bool all = kernel && (kernel->image || kernel->has_kallsyms);

	for (unsigned i = 0; all && i < PD_KERNEL_SECTIONS; i++) {
		addrs_out[i] = kernel->kallsyms.sections[i];
		all = kernel->image ? find_in_image(kernel->image, pd_kernel_sections[i], &addrs_out[i]) : addrs_out[i];
		addrs_out[i] += kernel->moved;
	}
	return all;
}

void pd_lookup_kernels_fini(struct pd_symbols *symbols)
{
	for (struct pd_kernel *kernel = symbols->kernels; kernel; kernel = kernel->next) {
		pd_kallsyms_close(&kernel->kallsyms);
		pd_symtab_free(kernel->image);
	}
	pd_kallsyms_close(&symbols->given_kallsyms);
	pd_elf_close(symbols->given_image);
}

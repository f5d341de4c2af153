// SPDX-License-Identifier: MIT
/*
 * A second opinion on unwound stacks: libdwfl (elfutils) gets the same registers, the same stack and the same objects, and what it
 * finds is compared frame by frame. Only which object is mapped where is the library's word.
 *
 * usage: witness FILE [SYMFS [list]]
 *
 * Prints the samples with a copied stack by outcome: equal; longer or shorter (ours, with equal frames before); different. Then how
 * many of those whose copy was long enough end in the outermost function: libdwfl has no word for it. With "list" the frames of
 * each sample that is not equal: ours, then libdwfl's.
 */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <perfdata/perfdata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FRAMES = 1024,
	MODULES = 512,
	REGISTERS = 34,
	NONE = 255
};

// Registers of perf by number of DWARF, from the psABI documents.
struct machine {
	enum pd_arch arch;
	uint8_t pc;    // perf's index
	uint8_t count; // of numbers
	uint8_t sp;    // number
	uint8_t from[REGISTERS];
};

static const struct machine machines[] = {
	{ PD_ARCH_X86, 8, 17, 7, { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 } },
	{ PD_ARCH_ARM64, 32, 32, 31, { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } },
	{ PD_ARCH_RISCV, 0, 32, 2, { NONE, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				     16,   17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } },
	{ PD_ARCH_POWERPC, 32, 32, 1, { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
					16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } },
	{ PD_ARCH_S390, 33, 32, 15, { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				      16, 18, 20, 22, 17, 19, 21, 23, 24, 26, 28, 30, 25, 27, 29, 31 } },
};

struct module {
	const struct pd_object *object;
	uint64_t bias;
	Dwfl_Module *dwfl;
};

enum outcome {
	EQUAL,
	LONGER,
	SHORTER,
	DIFFERENT,
	OUTCOMES
};

struct witness {
	const struct pd_state *state;
	const char *symfs;
	const struct machine *machine;
	bool big, list;
	Dwfl *dwfl;
	uint64_t maps;
	uint32_t pid;
	struct module modules[MODULES];
	size_t module_count;
	struct pd_moment when;
	const struct pd_attr *attr;
	const struct pd_sample *sample;
	uint64_t values[64]; // by perf's index
	uint64_t known;
	uint64_t frames[FRAMES];
	size_t count;
	uint64_t outcomes[OUTCOMES];
	uint64_t cut, long_enough, outermost;
};

static uint64_t load(const struct witness *w, const uint8_t *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)at[w->big ? size - 1 - i : i] << 8 * i;
	return value;
}

// ---- objects ----

// What has to be added to an address of the file, by the segment that the mapping begins in.
static bool find_bias(const char *path, const struct pd_mapping *mapping, uint64_t *bias_out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	size_t count = 0;
	bool found = false;
	GElf_Phdr segment;

	if (elf && elf_getphdrnum(elf, &count) == 0) {
		for (size_t i = 0; i < count && !found; i++) {
			if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
			    !(segment.p_flags & PF_X) || mapping->pgoff < (segment.p_offset & ~UINT64_C(4095)) ||
			    mapping->pgoff >= segment.p_offset + segment.p_filesz)
				continue;
			*bias_out = mapping->start - mapping->pgoff + segment.p_offset - segment.p_vaddr;
			found = true;
		}
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return found;
}

static void report_module(struct witness *w, const struct pd_mapping *mapping)
{
	char path[4096];
	uint64_t bias;

	snprintf(path, sizeof(path), "%s%s%s", w->symfs, mapping->object->path[0] == '/' ? "" : "/",
		 mapping->object->path);
	if (w->module_count == MODULES || !find_bias(path, mapping, &bias))
		return;
	for (size_t i = 0; i < w->module_count; i++)
		if (w->modules[i].object == mapping->object && w->modules[i].bias == bias)
			return;
	w->modules[w->module_count++] =
		(struct module){ mapping->object, bias,
				 dwfl_report_elf(w->dwfl, mapping->object->path, path, -1, bias, true) };
}

// ---- what libdwfl asks for ----

static pid_t next_thread(Dwfl *dwfl, void *self, void **thread)
{
	struct witness *w = self;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = w;
	return 1;
}

static bool read_object(struct witness *w, uint64_t addr, unsigned size, uint64_t *value_out)
{
	Dwfl_Module *module = dwfl_addrmodule(w->dwfl, addr);
	GElf_Addr bias;
	Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	size_t count, file_size;
	const char *file = elf ? elf_rawfile(elf, &file_size) : NULL;
	GElf_Phdr segment;

	if (!file || elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || segment.p_flags & PF_W)
			continue;
		uint64_t at = addr - bias - segment.p_vaddr;

		if (at < segment.p_filesz && segment.p_filesz - at >= size &&
		    segment.p_offset + at + size <= file_size) {
			*value_out = load(w, (const uint8_t *)file + segment.p_offset + at, size);
			return true;
		}
	}
	return false;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *self)
{
	struct witness *w = self;
	const struct pd_user_stack *stack = w->sample->user_stack;
	unsigned size = w->sample->user_regs->abi == PD_REGS_ABI_32 ? 4 : 8;
	uint64_t length = stack->dyn_size < stack->data.size ? stack->dyn_size : stack->data.size;
	uint64_t offset = addr - w->values[w->machine->from[w->machine->sp]];

	(void)dwfl;
	if (offset < length && length - offset >= size) {
		*result = load(w, stack->data.data + offset, size);
		return true;
	}
	return read_object(w, addr, size, result);
}

static bool set_registers(Dwfl_Thread *thread, void *self)
{
	struct witness *w = self;
	const struct machine *m = w->machine;

	dwfl_thread_state_register_pc(thread, w->values[m->pc]);
	for (unsigned i = 0; i < m->count; i++)
		if (m->from[i] != NONE && w->known >> m->from[i] & 1 &&
		    !dwfl_thread_state_registers(thread, (int)i, 1, &w->values[m->from[i]]))
			return false;
	// the link register of PowerPC has a number of its own
	if (m->arch == PD_ARCH_POWERPC && w->known >> 36 & 1)
		return dwfl_thread_state_registers(thread, 65, 1, &w->values[36]);
	return true;
}

static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_build_id_find_elf,
					  .find_debuginfo = dwfl_standard_find_debuginfo };
static const Dwfl_Thread_Callbacks thread_callbacks = { .next_thread = next_thread,
							.memory_read = read_memory,
							.set_initial_registers = set_registers };

static void open_process(struct witness *w, const struct pd_view *view)
{
	const struct pd_mapping *mapping;
	struct pd_location location;

	if (w->dwfl && w->maps == view->maps && w->pid == w->sample->pid)
		return;
	dwfl_end(w->dwfl);
	w->dwfl = dwfl_begin(&callbacks);
	w->module_count = 0;
	w->maps = view->maps;
	w->pid = w->sample->pid;
	for (size_t i = 0; (mapping = pd_state_mapping(w->state, i)); i++)
		if (mapping->object && mapping->executable && mapping->by_offset &&
		    pd_state_locate(w->state, w->pid, PD_CPUMODE_USER, w->when, mapping->start, &location) &&
		    location.mapping == mapping)
			report_module(w, mapping);
	dwfl_report_end(w->dwfl, NULL, NULL);
	dwfl_attach_state(w->dwfl, NULL, (pid_t)w->pid, &thread_callbacks, w);
}

// ---- samples ----

// The address of a call is somewhere in it: the byte before the return address is what is kept.
static int take_frame(Dwfl_Frame *state, void *self)
{
	struct witness *w = self;
	Dwarf_Addr pc;
	bool is_exact;

	if (!dwfl_frame_pc(state, &pc, &is_exact) || w->count == FRAMES)
		return DWARF_CB_ABORT;
	w->frames[w->count++] = is_exact ? pc : pc - 1;
	return DWARF_CB_OK;
}

static int take_thread(Dwfl_Thread *thread, void *self)
{
	dwfl_thread_getframes(thread, take_frame, self);
	return DWARF_CB_OK;
}

static enum outcome compare(const struct witness *w, const struct pd_unwound *ours)
{
	size_t same = 0;

	// trampolines of signals have the address of the call in one and the one after it in the other
	while (same < w->count && same < ours->frame_count && w->frames[same] + 1 - ours->frames[same] <= 1)
		same++;
	if (same < w->count && same < ours->frame_count)
		return DIFFERENT;
	return w->count == ours->frame_count ? EQUAL : same == w->count ? LONGER : SHORTER;
}

static void show(struct witness *w, const struct pd_unwound *ours, enum outcome outcome)
{
	static const char *const words[] = { "equal", "longer", "shorter", "different" };

	printf("%s: pid %" PRIu32 " at %" PRIu64 ", ours: %s\n", words[outcome], w->sample->pid, w->sample->time_ns,
	       pd_unwind_end_name(ours->end));
	for (size_t i = 0; i < ours->frame_count || i < w->count; i++)
		printf("\t%16" PRIx64 " %16" PRIx64 "\n", i < ours->frame_count ? ours->frames[i] : 0,
		       i < w->count ? w->frames[i] : 0);
}

static void take_registers(struct witness *w)
{
	size_t at = 0;

	w->known = w->attr->sample_regs_user;
	for (uint64_t left = w->known; left; left &= left - 1)
		w->values[__builtin_ctzll(left)] =
			at < w->sample->user_regs->regs.count ? w->sample->user_regs->regs.items[at++] : 0;
}

static void judge(struct witness *w, const struct pd_record *record, const struct pd_unwound *ours)
{
	enum outcome outcome;
	struct pd_view view;
	bool cut = ours->end == PD_UNWIND_STACK_END || ours->end == PD_UNWIND_OTHER_STACK;

	w->attr = record->event->attr;
	w->when = pd_record_moment(record);
	take_registers(w);
	pd_state_view(w->state, w->sample->pid, w->sample->tid, w->when, &view);
	open_process(w, &view);
	w->count = 0;
	dwfl_getthreads(w->dwfl, take_thread, w);
	outcome = compare(w, ours);
	w->outcomes[outcome]++;
	w->cut += cut;
	w->long_enough += !cut;
	w->outermost += ours->end == PD_UNWIND_OUTERMOST;
	if (w->list && outcome != EQUAL)
		show(w, ours, outcome);
}

static enum pd_status each_record(struct pd_file *file, struct pd_state *state, struct pd_unwinder *unwinder,
				  struct witness *w, struct pd_error *error)
{
	const struct pd_record *record;
	struct pd_stream *stream = NULL;
	struct pd_unwound unwound;
	enum pd_status status = pd_stream_open(file, NULL, &stream, error);

	while (status == PD_OK && (status = pd_stream_next(stream, &record, error)) == PD_OK) {
		if (!unwinder)
			status = pd_state_take(state, record, error);
		else if (pd_unwinder_sample(unwinder, record, &unwound)) {
			w->sample = pd_as_sample(record);
			judge(w, record, &unwound);
		}
	}
	pd_stream_close(stream);
	return status < 0 ? status : PD_OK;
}

static void print(const struct witness *w)
{
	printf("%" PRIu64 " equal, %" PRIu64 " longer, %" PRIu64 " shorter, %" PRIu64 " different; %" PRIu64
	       " copies too short, of %" PRIu64 " others %" PRIu64 " end in the outermost function\n",
	       w->outcomes[EQUAL], w->outcomes[LONGER], w->outcomes[SHORTER], w->outcomes[DIFFERENT], w->cut,
	       w->long_enough, w->outermost);
}

int main(int argc, char **argv)
{
	static struct witness w;
	struct pd_error error;
	struct pd_file *file = NULL;
	struct pd_state *state = NULL;
	struct pd_symbols *symbols = NULL;
	struct pd_unwinder *unwinder = NULL;
	struct pd_symbols_options options = { .size = sizeof(options), .symfs = argc > 2 ? argv[2] : NULL };
	enum pd_status status = argc > 1 ? pd_file_open(argv[1], NULL, &file, &error) : PD_ERROR_ARGUMENT;

	if (argc < 2)
		return fprintf(stderr, "usage: witness FILE [SYMFS [list]]\n"), 2;
	elf_version(EV_CURRENT);
	if (status == PD_OK && (status = pd_state_new(NULL, &state, &error)) == PD_OK &&
	    (status = each_record(file, state, NULL, NULL, &error)) == PD_OK &&
	    (status = pd_state_take_features(state, file, &error)) == PD_OK &&
	    (status = pd_state_finalize(state, &error)) == PD_OK &&
	    (status = pd_symbols_new(file, state, &options, &symbols, &error)) == PD_OK)
		status = pd_unwinder_new(file, state, symbols, NULL, &unwinder, &error);
	if (status == PD_OK) {
		w = (struct witness){ .state = state, .symfs = argc > 2 ? argv[2] : "", .list = argc > 3 };
		for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
			if (machines[i].arch == pd_file_machine(file))
				w.machine = &machines[i];
		// copies of memory are as they were, and only one of these machines is big-endian
		w.big = w.machine && w.machine->arch == PD_ARCH_S390;
		status = w.machine ? each_record(file, state, unwinder, &w, &error) : PD_ERROR_ARGUMENT;
	}
	if (status == PD_OK)
		print(&w);
	dwfl_end(w.dwfl);
	pd_unwinder_free(unwinder);
	pd_symbols_free(symbols);
	pd_state_free(state);
	pd_file_close(file);
	return status < 0 ? fprintf(stderr, "witness: %s\n", status == PD_ERROR_ARGUMENT ? "cannot" : error.message),
	       1 : 0;
}

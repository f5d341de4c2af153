/* SPDX-License-Identifier: MIT */
/*
 * Disassembly by LLVM's library, which is loaded when code is met that capstone does not know: it is large, and few need it. Seven
 * functions of its C API are used, the same in all versions.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "annotate/notation/disassembler.h"
#include "base/memory.h"

enum {
	IMMEDIATES_AS_HEX = 2,
	TEXT_SIZE = 320
};

struct handle {
	void *context;
	void (*dispose)(void *context);
	size_t (*read)(void *context, uint8_t *code, uint64_t size, uint64_t addr, char *text, size_t text_size);
};

struct target {
	enum pd_isa isa;
	const char *name, *triple, *cpu, *features;
};

// Without features newer instructions are none.
static const struct target targets[] = {
	{ PD_ISA_LOONGARCH64, "LoongArch", "loongarch64", "la464", "+f,+d,+lsx,+lasx,+lbt,+lvz" },
	{ PD_ISA_X86_64, "X86", "x86_64", "", "" },
	{ PD_ISA_ARM64, "AArch64", "aarch64", "", "+v8.7a,+sve2,+mte,+crypto" },
	{ PD_ISA_S390X, "SystemZ", "s390x", "z15", "" },
	{ PD_ISA_RISCV64, "RISCV", "riscv64", "", "+m,+a,+f,+d,+c" },
	{ PD_ISA_PPC64, "PowerPC", "powerpc64le", "", "" },
};

// The newest first: not all have every target.
static const char *const libraries[] = {
	"libLLVM.so.21.1", "libLLVM.so.20.1", "libLLVM.so.19.1", "libLLVM.so.18.1", "libLLVM-17.so.1",
	"libLLVM-16.so.1", "libLLVM-15.so.1", "libLLVM-14.so.1", "libLLVM.so",
};

// C has no conversion between pointers to functions and to data, but the addresses are of one size.
static bool find_call(void *library, const char *name, void *function_out)
{
	void *address = dlsym(library, name);

	memcpy(function_out, &address, sizeof(address));
	return address;
}

static bool initialize(void *library, const struct target *target)
{
	static const char *const parts[] = { "TargetInfo", "TargetMC", "Disassembler" };
	void (*call[sizeof(parts) / sizeof(parts[0])])(void);
	char name[64];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(name, sizeof(name), "LLVMInitialize%s%s", target->name, parts[i]);
		if (!find_call(library, name, &call[i]))
			return false;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		call[i]();
	return true;
}

static bool begin(void *library, const struct target *target, struct handle *handle)
{
	void *(*create)(const char *triple, const char *cpu, const char *features, void *self, int tag, void *operands,
			void *symbols);
	int (*set_options)(void *context, uint64_t options);

	if (!find_call(library, "LLVMCreateDisasmCPUFeatures", &create) ||
	    !find_call(library, "LLVMSetDisasmOptions", &set_options) ||
	    !find_call(library, "LLVMDisasmDispose", &handle->dispose) ||
	    !find_call(library, "LLVMDisasmInstruction", &handle->read) || !initialize(library, target))
		return false;
	handle->context = create(target->triple, target->cpu, target->features, NULL, 0, NULL, NULL);
	if (handle->context)
		set_options(handle->context, IMMEDIATES_AS_HEX);
	return handle->context != NULL;
}

static void close_handle(void *self)
{
	struct handle *handle = self;

	handle->dispose(handle->context);
	pd_free(handle);
}

// The library stays: it cannot be unloaded once its targets are initialized.
static void *open_handle(const struct pd_code_kind *kind)
{
	const struct target *target = NULL;
	struct handle *handle = NULL;

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (targets[i].isa == kind->isa && (!kind->big || kind->isa == PD_ISA_S390X))
			target = &targets[i];
	if (target)
		handle = pd_alloc(sizeof(*handle));
	for (size_t i = 0; handle && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

		if (library && begin(library, target, handle))
			return handle;
		if (library)
			dlclose(library);
	}
	pd_free(handle);
	return NULL;
}

// "\tmnemonic\toperands"
static void read_next(void *self, const uint8_t *code, size_t size, uint64_t addr,
		      struct pd_raw_instruction *instruction_out)
{
	struct handle *handle = self;
	uint8_t bytes[16];
	char text[TEXT_SIZE];
	const char *mnemonic;
	size_t length;

	size = size < sizeof(bytes) ? size : sizeof(bytes);
	memcpy(bytes, code, size);
	instruction_out->size = (unsigned)handle->read(handle->context, bytes, size, addr, text, sizeof(text));
	if (!instruction_out->size)
		return;
	mnemonic = text + strspn(text, " \t");
	length = strcspn(mnemonic, " \t");
	snprintf(instruction_out->mnemonic, sizeof(instruction_out->mnemonic), "%.*s", (int)length, mnemonic);
	snprintf(instruction_out->operands, sizeof(instruction_out->operands), "%s",
		 mnemonic + length + strspn(mnemonic + length, " \t"));
}

static const char *version(void)
{
	return "libLLVM";
}

const struct pd_disassembler pd_disassembler_llvm = {
	.name = "libLLVM",
	.version = version,
	.start = open_handle,
	.close = close_handle,
	.next = read_next,
};

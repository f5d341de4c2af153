/* SPDX-License-Identifier: MIT */
/**
 * format.h - constants, structs and introspection of the perf.data format.
 *
 * Contents: bits and names (table/flag.def), numbers of records and features, a struct for each record, feature and
 * part (table/part.def, sample.def, record.def, simpleperf.def, feature.def), and functions that describe them at run
 * time.
 *
 * Structs hold values in host byte order. Members absent from the file are 0, NULL or empty; attr.sample_type of its
 * event determines which fields a sample has. Structs grow at their end only. Bits that producers declare as C
 * bit-fields (attr flags, branch flags, aux_action) are always numbered as in little-endian files.
 *
 * Sources of the facts: include/uapi/linux/perf_event.h, tools/lib/perf/include/perf/event.h,
 * tools/perf/Documentation/perf.data-file-format.txt of Linux, and record.h of Android's simpleperf.
 *
 * Example:
 *
 *	const struct pd_layout *layout = pd_record_layout(PD_RECORD_MMAP2);
 *
 *	for (size_t i = 0; i < pd_layout_field_count(layout); i++)
 *		printf("%s: %s\n", pd_field_name(pd_layout_field(layout, i)), pd_field_doc(pd_layout_field(layout, i)));
 */
#ifndef PERFDATA_FORMAT_H
#define PERFDATA_FORMAT_H

#include <perfdata/base.h>

#include <perfdata/table/save.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- bits and names ---- */

/*
 * For BIT(ATTR, FREQ, 10, 1, ...) there are PD_ATTR_FREQ_SHIFT (10) and PD_ATTR_FREQ_WIDTH (1), to be used
 * with PD_BITS; for VALUE(CPU_MAP, MASK, 1, ...) there is PD_CPU_MAP_MASK (1).
 */
#define BIT(SET, NAME, position, width, text, values) \
	PD_##SET##_##NAME##_SHIFT = (position), PD_##SET##_##NAME##_WIDTH = (width),
enum pd_bit {
#include <perfdata/table/flag.def>
	PD_BIT_END
};

/** The bit field NAME of a word: PD_BITS(attr->flags, PD_ATTR_PRECISE_IP). */
#define PD_BITS(word, NAME) ((((uint64_t)(word)) >> NAME##_SHIFT) & (~UINT64_C(0) >> (64 - NAME##_WIDTH)))

/** The mask of one bit: PD_MASK(PD_SAMPLE_TYPE_TIME). */
#define PD_MASK(NAME) (UINT64_C(1) << NAME##_SHIFT)

/* Bits 13 to 15 of misc depend on the record type: PD_MISC_MMAP_BUILD_ID_SHIFT ... */
#define MISC_BIT(NAME, position, text) PD_MISC_##NAME##_SHIFT = (position), PD_MISC_##NAME##_WIDTH = 1,
enum pd_misc_bit {
#include <perfdata/table/flag.def>
	PD_MISC_BIT_END
};

#define VALUE(SET, NAME, number, text) PD_##SET##_##NAME = (int)(number),
enum pd_value {
#include <perfdata/table/flag.def>
	PD_VALUE_END
};

/** Call chain entries from this value up are context markers (PD_CONTEXT_KERNEL ...), not addresses. */
#define PD_CONTEXT_MAX ((uint64_t)-4095)

/* ---- numbers ---- */

#define RECORD(NAME, name, number, layout, GROUP, doc) PD_RECORD_##NAME = (number),
#include <perfdata/table/begin.h>
enum pd_record_type {
#include <perfdata/table/layouts.def>
	PD_RECORD_SIMPLEPERF_FIRST = 32768
};
#include <perfdata/table/end.h>

#define FEATURE(NAME, name, number, layout, doc) PD_FEATURE_##NAME = (number),
#include <perfdata/table/begin.h>
enum pd_feature_number {
#include <perfdata/table/layouts.def>
	PD_FEATURE_LIMIT = 256 /* bits of the feature bitmap in the header */
};
#include <perfdata/table/end.h>

/* ---- structs ---- */

#define PD_TYPE_U8 uint8_t
#define PD_TYPE_U16 uint16_t
#define PD_TYPE_U32 uint32_t
#define PD_TYPE_U64 uint64_t
#define PD_TYPE_S32 int32_t
#define PD_TYPE_F64 double
#define PD_ARRAY_U8 struct pd_bytes
#define PD_ARRAY_U16 struct pd_u16s
#define PD_ARRAY_U32 struct pd_u32s
#define PD_ARRAY_U64 struct pd_u64s

/*
 * Members have the names of the fields. Numbers are of the type that holds them; a string is a struct pd_str; an array of
 * numbers is a struct pd_bytes, pd_u16s, pd_u32s or pd_u64s; a list of parts is a struct pd_list, see PD_ITEM; a part is a
 * pointer to its struct, NULL if it is absent. Structs of records and features begin with `rest`: bytes that follow the
 * members known to this version. Structs of records continue with `sample_id`: NULL if the record has none.
 */
#define PART(layout, doc) struct pd_##layout {
#define BOX(layout, doc)     \
	struct pd_##layout { \
		struct pd_bytes rest;
#define BODY(layout, doc)             \
	struct pd_##layout {          \
		struct pd_bytes rest; \
		const struct pd_sample_id *sample_id;
#define END(layout) \
	}           \
	;
#define FIELD(KIND, member, SHOW, WHEN, doc) PD_TYPE_##KIND member;
#define FLAGS(KIND, member, set, WHEN, doc) PD_TYPE_##KIND member;
#define TEXT(KIND, member, WHEN, doc) struct pd_str member;
#define CHARS(member, bytes, FIT, WHEN, doc) struct pd_str member;
#define ARRAY(KIND, member, COUNT, SHOW, WHEN, doc) PD_ARRAY_##KIND member;
#define TRAILING_ARRAY(KIND, member, COUNT, SHOW, WHEN, doc)
#define ONE(layout, member, WHEN, doc) const struct pd_##layout *member;
#define BOXED(layout, member, SIZE, WHEN, doc) const struct pd_##layout *member;
#define LIST(layout, member, COUNT, WHEN, doc) struct pd_list member;
#define RECORDS(member, NAME, doc) struct pd_bytes member;
#define SIZED() uint32_t wire_size;
#define MORE(member, NEED) bool member;
#include <perfdata/table/begin.h>
#include <perfdata/table/part.def>
#undef BODY
#undef TRAILING_ARRAY
#define BODY(layout, doc)                             \
	struct pd_##layout {                          \
		struct pd_bytes rest;                 \
		const struct pd_sample_id *sample_id; \
		struct pd_bytes aux;
#define TRAILING_ARRAY(KIND, member, COUNT, SHOW, WHEN, doc)
#include <perfdata/table/sample.def>
#undef BODY
#define BODY(layout, doc)             \
	struct pd_##layout {          \
		struct pd_bytes rest; \
		const struct pd_sample_id *sample_id;
#include <perfdata/table/record.def>
#include <perfdata/table/simpleperf.def>
#include <perfdata/table/feature.def>
#include <perfdata/table/end.h>

/** Event id of a sample: identifier if recorded, else id; 0 if neither. */
#define PD_SAMPLE_ID(sample) ((sample)->identifier ? (sample)->identifier : (sample)->id)

/* ---- introspection ---- */

/** Layout of a struct: its encoded fields, in order. Static data of the library. */
struct pd_layout;
/** A field of a layout. Static data of the library. */
struct pd_field;

enum pd_record_group {
	PD_GROUP_UNKNOWN,
	PD_GROUP_KERNEL, /* may end with a sample_id */
	PD_GROUP_SAMPLE,
	PD_GROUP_TOOL,      /* written by perf */
	PD_GROUP_SIMPLEPERF /* written by simpleperf, with another header */
};

/** Name of a record type ("MMAP2"), or NULL if this version does not know it. */
PD_API const char *pd_record_name(uint32_t type);
/** One line about a record type, or NULL. */
PD_API const char *pd_record_doc(uint32_t type);
/** The producer of such records. */
PD_API enum pd_record_group pd_record_group(uint32_t type);
/** Layout of the body of a record, or NULL if unknown. */
PD_API const struct pd_layout *pd_record_layout(uint32_t type);
/** The index-th known record type in ascending order; false past the end. */
PD_API bool pd_record_type_at(size_t index, uint32_t *type_out);
/** Number of a record type by its name ("MMAP2", any case); false if there is none. */
PD_API bool pd_record_type_by_name(const char *name, uint32_t *type_out);
/** Adds the types of a list with commas to an array, at *count: names with or without HEADER_, or numbers. Errors:
 * PD_ERROR_ARGUMENT for a name that is none, with a similar one, or more types than capacity. */
PD_API enum pd_status pd_record_types_parse(const char *list, uint32_t *types, size_t capacity, size_t *count,
					    struct pd_error *error);

/** Name of a header feature ("HOSTNAME"), or NULL if this version does not know it. */
PD_API const char *pd_feature_name(unsigned feature);
/** One line about a feature, and the layout of its section; NULL if unknown. */
PD_API const char *pd_feature_doc(unsigned feature);
PD_API const struct pd_layout *pd_feature_layout(unsigned feature);

/** Layout by struct name without pd_ ("mmap2", "branch_stack"), or NULL. */
PD_API const struct pd_layout *pd_layout_by_name(const char *name);
/** The index-th layout, or NULL past the end. */
PD_API const struct pd_layout *pd_layout_at(size_t index);
/** Name of a layout ("mmap2"), and one line about it. */
PD_API const char *pd_layout_name(const struct pd_layout *layout);
PD_API const char *pd_layout_doc(const struct pd_layout *layout);
/** Minimum encoded size in bytes. */
PD_API size_t pd_layout_min_size(const struct pd_layout *layout);
/** Size of the decoded struct in bytes. */
PD_API size_t pd_layout_struct_size(const struct pd_layout *layout);
/** Number of fields, and the index-th; NULL past the end. */
PD_API size_t pd_layout_field_count(const struct pd_layout *layout);
PD_API const struct pd_field *pd_layout_field(const struct pd_layout *layout, size_t index);

/** Name of the member, and one line about it. */
PD_API const char *pd_field_name(const struct pd_field *field);
PD_API const char *pd_field_doc(const struct pd_field *field);
/** Byte offset of the member in the decoded struct. */
PD_API size_t pd_field_offset(const struct pd_field *field);
/** Description of the encoding: "u64", "u64 count, then u64[count]", "text, padded". Like snprintf. */
PD_API size_t pd_field_wire(const struct pd_field *field, char *text, size_t size);
/** Description of the condition for its presence: "always", "sample_type has TIME". Like snprintf. */
PD_API size_t pd_field_when(const struct pd_field *field, char *text, size_t size);
/** C declaration of the member: "uint64_t ip". Like snprintf. */
PD_API size_t pd_field_c(const struct pd_field *field, char *text, size_t size);
/** Name of the set of flags or names of its values ("prot"), or NULL. */
PD_API const char *pd_field_names(const struct pd_field *field);
/** Layout of a nested part or of the items of a list, or NULL. */
PD_API const struct pd_layout *pd_field_part(const struct pd_field *field);

/** A set of flags or named values of flag.def. */
struct pd_names;
/** Set by its name ("sample_type", "cpumode"), or NULL. */
PD_API const struct pd_names *pd_names_by_name(const char *name);
/** The index-th set, or NULL past the end; its name, and one line about it. */
PD_API const struct pd_names *pd_names_at(size_t index);
PD_API const char *pd_names_name(const struct pd_names *names);
PD_API const char *pd_names_doc(const struct pd_names *names);
/** True for flags (bits), false for named values. */
PD_API bool pd_names_are_bits(const struct pd_names *names);
/** The index-th name; false past the end. *value_out is the value, or the position of the lowest bit. */
PD_API bool pd_names_item(const struct pd_names *names, size_t index, const char **text_out, int64_t *value_out,
			  unsigned *width_out, const struct pd_names **values_out);
/** Name of a value ("mask"), or NULL. */
PD_API const char *pd_names_text(const struct pd_names *names, int64_t value);
/** Formats a word: "IP|TID|TIME"; unnamed bits in hexadecimal. Like snprintf. */
PD_API size_t pd_names_print(const struct pd_names *names, uint64_t word, char *text, size_t size);
/** Name of bit 13, 14 or 15 of misc for a record type, or NULL. */
PD_API const char *pd_misc_bit_name(uint32_t type, unsigned bit);

/** Architectures with register names. */
enum pd_arch {
	PD_ARCH_UNKNOWN,
	PD_ARCH_X86,
	PD_ARCH_ARM,
	PD_ARCH_ARM64,
	PD_ARCH_POWERPC,
	PD_ARCH_S390,
	PD_ARCH_RISCV,
	PD_ARCH_MIPS,
	PD_ARCH_LOONGARCH,
	PD_ARCH_CSKY
};
/** Architecture by a name as in the feature ARCH ("x86_64", "aarch64", "arm64"). */
PD_API enum pd_arch pd_arch_by_name(const char *name);
/** Architecture by an ELF e_machine number as in the feature E_MACHINE. */
PD_API enum pd_arch pd_arch_by_elf(uint32_t e_machine);
/** Name of a register as perf prints it ("AX", "x0"), or NULL. */
PD_API const char *pd_register_name(enum pd_arch arch, unsigned number);

#ifdef __cplusplus
}
#endif

#include <perfdata/table/restore.h>
#endif

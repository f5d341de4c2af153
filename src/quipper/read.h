/* SPDX-License-Identifier: MIT */
/* From PerfDataProto to a writer: what its parts share. */
#ifndef PD_QUIPPER_READ_H
#define PD_QUIPPER_READ_H

#include <perfdata/quipper.h>

#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "quipper/decode.h"
#include "quipper/metadata.h"

struct pd_quipper_attr {
	struct pd_attr attr;
	struct pd_u64s ids;
	uint64_t words[PD_WORD_COUNT];
	const char *name; // or NULL
};

// A list of a feature, as it grows.
struct pd_quipper_items {
	void *items;
	size_t count, capacity;
};

struct pd_quipper_reading {
	struct pd_writer *writer;
	const char *name;
	struct pd_quipper_options options;
	struct pd_quipper_result result;
	struct pd_quipper_plan plan;
	struct pd_quipper_decoder decoder;
	struct pd_arena record;  // of the present one
	struct pd_arena lasting; // of events and features
	struct pd_quipper_attr *attrs;
	size_t attr_count, attr_capacity, name_count;
	struct pd_u64_map attr_of; // id to number of its event plus 1
	struct pd_quipper_items lists[PD_QUIPPER_FEATURES], arguments;
	struct pd_cpu_topology *topology;
	struct pd_text *build_ids; // records
	uint64_t mask;
	uint64_t at; // of the present field in the file; PD_NO_OFFSET: it is text
};

enum pd_status pd_quipper_fail(struct pd_quipper_reading *self, const char *why, struct pd_error *error);
// A field of PerfDataProto that is not one of events. Bytes are borrowed until the next.
enum pd_status pd_quipper_take_metadata(struct pd_quipper_reading *self, const struct pd_proto_field *field,
					struct pd_error *error);
// Features, at the end.
enum pd_status pd_quipper_restore(struct pd_quipper_reading *self, struct pd_error *error);

#endif

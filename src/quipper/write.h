/* SPDX-License-Identifier: MIT */
/* From a file to PerfDataProto: what its parts share. */
#ifndef PD_QUIPPER_WRITE_H
#define PD_QUIPPER_WRITE_H

#include <perfdata/quipper.h>

#include "quipper/encode.h"

struct pd_quipper_writing {
	struct pd_file *file;
	struct pd_quipper_options options;
	struct pd_quipper_result result;
	struct pd_quipper_plan plan;
	struct pd_quipper_encoder encoder;
	struct pd_quipper_remap *remap; // or NULL
	struct pd_text *message;        // the one that is written
	struct pd_text *out;
	size_t events; // whose attrs are written
	bool has_names;
	struct pd_text *late; // build ids of records, which are written at the end
	uint64_t mappings, forks, exits;
	bool failed;
};

// Begins and ends a field of PerfDataProto, which is written to self->message.
void pd_quipper_begin(struct pd_quipper_writing *self);
void pd_quipper_end(struct pd_quipper_writing *self, unsigned number);
void pd_quipper_number(struct pd_quipper_writing *self, unsigned number, uint64_t value);
// Everything but the records.
void pd_quipper_attrs(struct pd_quipper_writing *self);
void pd_quipper_metadata(struct pd_quipper_writing *self);
void pd_quipper_keep_build_id(struct pd_quipper_writing *self, const struct pd_build_id_entry *entry);

// remap.c
struct pd_quipper_remap *pd_quipper_remap_new(void);
void pd_quipper_remap_free(struct pd_quipper_remap *remap);
// The record with other addresses, valid until the next one; *is_mapped_out: the address of a sample is in a mapping. NULL if
// there is no memory.
const void *pd_quipper_remap_record(struct pd_quipper_remap *remap, const struct pd_record *record, const void *decoded,
				    bool *is_mapped_out);

#endif

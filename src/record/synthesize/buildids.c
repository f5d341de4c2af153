/* SPDX-License-Identifier: MIT */
/* The feature BUILD_ID: which files were mapped, so that elsewhere the right ones are found. */
#include "record/inside.h"

#include <limits.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "write/write.h"

enum {
	PADDING = 64
};

// The path is padded to a multiple of 64, as perf has it: quipper refuses a file where less than 8 bytes are left over.
static enum pd_status append_build_id(struct pd_write_bytes *bytes, uint16_t misc, const char *path,
				      const uint8_t *build_id, uint8_t size, struct pd_error *error)
{
	size_t length = strlen(path);
	char name[PATH_MAX + PADDING] = ""; // padding is written from memory
	struct pd_header_build_id record = { .pid = UINT32_MAX, .build_id = { build_id, 20 }, .size = size };
	struct pd_made made = { 0 };
	enum pd_status status;

	if (length >= PATH_MAX)
		return PD_OK;
	memcpy(name, path, length);
	record.filename = (struct pd_str){ name, (uint32_t)length, (uint32_t)(length + PADDING) & ~(PADDING - 1u) };
	status = pd_made_add(&made, PD_RECORD_HEADER_BUILD_ID, misc, &record, error);
	if (status >= 0) {
		// the feature has them without a type
		memset(made.data, 0, 4);
		if (!pd_write_put(bytes, made.data, made.size))
			status = pd_fail_memory(error);
	}
	pd_made_fini(&made);
	return status;
}

enum pd_status pd_recorder_add_build_ids(struct pd_recorder *recorder, struct pd_error *error)
{
	const struct pd_ring_counts *counts = &recorder->counts;
	struct pd_write_bytes bytes = { 0 };
	enum pd_status status = PD_OK;
	uint8_t build_id[20], size;

	if (recorder->options.session.build_ids == PD_BUILD_IDS_NONE ||
	    pd_writer_mode(recorder->writer) == PD_MODE_PIPE)
		return PD_OK;
	if (pd_build_id_of_kernel(NULL, build_id, &size))
		status = append_build_id(&bytes, PD_CPUMODE_KERNEL, "[kernel.kallsyms]", build_id, size, error);
	for (size_t i = 0; i < counts->paths.count && status >= 0; i++) {
		memset(build_id, 0, sizeof(build_id));
		if (pd_build_id_of_file(counts->paths.items[i], build_id, &size))
			status =
				append_build_id(&bytes, PD_CPUMODE_USER, counts->paths.items[i], build_id, size, error);
	}
	if (status >= 0 && bytes.size)
		status = pd_writer_set_feature_bytes(recorder->writer, PD_FEATURE_BUILD_ID,
						     (struct pd_bytes){ bytes.data, bytes.size }, error);
	pd_free(bytes.data);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * Bytes read with small limits: the last two bytes say how small. Memory may run out, but nothing else may
 * happen, and a check counts what a walk has counted.
 */
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk walk = { .memory_may_fail = true }, again = { .memory_may_fail = true };
	struct pd_open_options options = walk_options(&walk);
	struct pd_check_result result;
	struct pd_error error;
	struct pd_file *file = NULL;
	enum pd_status walked, status;

	if (size < 2)
		return 0;
	size -= 2;
	options.memory_limit = UINT64_C(64) << (data[size] & 15);
	options.inflate_limit = UINT64_C(1024) << (data[size + 1] & 15);
	walked = walk_memory(data, size, &options, &walk, &error);

	options.self = &again;
	status = pd_file_open_memory(data, size, &options, &file, &error);
	if (status == PD_OK)
		status = pd_check(file, &result, &error);
	pd_file_close(file);
	if (status < 0) {
		walk_require_error(status, &error);
		return 0;
	}
	REQUIRE(walked < 0 || result.record_count == walk.records);
	REQUIRE(result.undecoded_count <= result.record_count &&
		result.sample_count <= result.record_count);
	for (unsigned i = PD_INFO; i <= PD_DAMAGE; i++)
		REQUIRE(result.problem_count[i] == again.told[i]);
	return 0;
}

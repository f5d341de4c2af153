/* SPDX-License-Identifier: MIT */
/*
 * Bytes read with small limits: the last two bytes say how small. What the limits take away has to be said: by an
 * error, a problem, or a text that failed. A check counts what a walk has counted.
 */
#include "walk.h"

static enum pd_status walk_within(const uint8_t *data, size_t size, uint64_t memory, uint64_t inflate,
				  struct walk *walk)
{
	struct pd_open_options options = walk_options(walk);
	struct pd_error error;

	options.memory_limit = memory;
	options.inflate_limit = inflate;
	walk->with_digest = true;
	walk->text_limit = 64 << 10;
	return walk_memory(data, size, &options, walk, &error);
}

static enum pd_status check_within(const uint8_t *data, size_t size, uint64_t memory, uint64_t inflate,
				   struct pd_check_result *result)
{
	struct walk walk = { .memory_may_fail = true };
	struct pd_open_options options = walk_options(&walk);
	struct pd_file *file = NULL;
	struct pd_error error;
	enum pd_status status;

	options.memory_limit = memory;
	options.inflate_limit = inflate;
	status = pd_file_open_memory(data, size, &options, &file, &error);
	if (status == PD_OK)
		status = pd_check(file, result, &error);
	pd_file_close(file);
	if (status < 0)
		walk_require_error(status, &error);
	for (unsigned i = PD_INFO; status >= 0 && i <= PD_DAMAGE; i++)
		REQUIRE(result->problem_count[i] == walk.told[i]);
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk small = { .memory_may_fail = true, .once = true };
	struct walk large = { .memory_may_fail = true, .once = true };
	struct walk timed = { .memory_may_fail = true, .order = PD_ORDER_TIME };
	struct pd_check_result result;
	uint64_t memory, inflate;
	enum pd_status status, whole;

	if (size < 2)
		return 0;
	size -= 2;
	memory = UINT64_C(64) << (data[size] & 15);
	inflate = UINT64_C(1024) << (data[size + 1] & 15);
	status = walk_within(data, size, memory, inflate, &small);
	whole = walk_within(data, size, 64 << 20, 16 << 20, &large);
	if (status >= 0 && !small.memory_failed && small.told_digest == large.told_digest)
		REQUIRE(whole == status && small.records == large.records && small.digest == large.digest);
	// little memory makes short rounds, and so another order
	walk_within(data, size, memory, inflate, &timed);
	if (check_within(data, size, memory, inflate, &result) >= 0 && status >= 0)
		REQUIRE(result.record_count == small.records);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* The record CPU_MAP: the CPUs that were recorded or counted. */
#include "record/inside.h"

#include "base/error.h"

enum {
	ANY_CPU = 0xffff
};

enum pd_status pd_recorder_add_cpus(struct pd_recorder *recorder, struct pd_made *made, struct pd_error *error)
{
	uint16_t *numbers = pd_alloc(recorder->cpus.count * sizeof(*numbers));
	struct pd_cpu_map_data data = { .kind = PD_CPU_MAP_CPUS, .cpus = { numbers, recorder->cpus.count } };
	struct pd_cpu_map map = { .cpus = &data,
				  .rest = pd_made_padding(12 + recorder->cpus.count * sizeof(*numbers)) };
	enum pd_status status;

	if (!numbers)
		return pd_fail_memory(error);
	for (size_t i = 0; i < recorder->cpus.count; i++)
		numbers[i] = recorder->cpus.items[i] < 0 ? ANY_CPU : (uint16_t)recorder->cpus.items[i];
	status = pd_made_add(made, PD_RECORD_CPU_MAP, 0, &map, error);
	pd_free(numbers);
	return status;
}

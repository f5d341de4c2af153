/* SPDX-License-Identifier: MIT */
/* What records are sorted by: their time, or the moment at which perf would hand out those without one. */
#include "stream/cut/pieces.h"

struct pd_key pd_rounds_end(struct pd_rounds *rounds)
{
	struct pd_key key = { rounds->flushed, 1 };

	rounds->flushed = rounds->limit;
	rounds->limit = rounds->newest;
	return key;
}

struct pd_key pd_rounds_take(struct pd_rounds *rounds, const struct pd_record *record)
{
	if (record->type == PD_RECORD_FINISHED_ROUND)
		return pd_rounds_end(rounds);
	if (record->time_ns == PD_NO_TIME)
		return (struct pd_key){ rounds->flushed, 1 };
	if (record->time_ns > rounds->newest)
		rounds->newest = record->time_ns;
	return (struct pd_key){ record->time_ns, 0 };
}

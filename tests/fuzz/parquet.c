/* SPDX-License-Identifier: MIT */
/* Files of Parquet, as a folder that is a store has them: rows of samples, and of frames. */
#include "table/file/parquet.h"

#include "walk.h"

static const struct pd_table_column of_samples[] = {
	{ "time", NULL, PD_COLUMN_S64 },  { "event", NULL, PD_COLUMN_NAME }, { "pid", NULL, PD_COLUMN_S32 },
	{ "stack", NULL, PD_COLUMN_U64 }, { "count", NULL, PD_COLUMN_U64 },
};
static const struct pd_table_column of_frames[] = {
	{ "frame", NULL, PD_COLUMN_U64 },
	{ "function", NULL, PD_COLUMN_NAME },
	{ "line", NULL, PD_COLUMN_U32 },
};
static const struct pd_table tables[] = {
	{ .name = "samples", .columns = of_samples, .column_count = sizeof(of_samples) / sizeof(of_samples[0]) },
	{ .name = "frames", .columns = of_frames, .column_count = sizeof(of_frames) / sizeof(of_frames[0]) },
};

// Each byte of it is there.
static unsigned sum_of(const struct pd_parquet *parquet, const struct pd_table *table)
{
	unsigned sum = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		struct pd_parquet_cell cell;

		pd_parquet_cell(parquet, i, &cell);
		for (size_t k = 0; k < cell.bytes.size; k++)
			sum += ((const uint8_t *)cell.bytes.data)[k];
		sum += (unsigned)cell.number;
	}
	return sum;
}

static void read_as(const struct pd_table *table, const uint8_t *data, size_t size)
{
	struct pd_parquet *parquet;
	struct pd_source source;
	struct pd_error error;
	unsigned sum = 0;
	uint64_t rows = 0;
	enum pd_status status;

	pd_source_open_memory(&source, data, size);
	status = pd_parquet_open(&source, table, &parquet, &error);
	if (status < 0) {
		walk_require_error(status, &error);
		return;
	}
	while ((status = pd_parquet_next(parquet, &error)) == PD_OK) {
		sum += sum_of(parquet, table);
		rows++;
	}
	if (status < 0)
		walk_require_error(status, &error);
	REQUIRE(rows <= 16 * size && (rows || !sum));
	pd_parquet_close(parquet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		read_as(&tables[i], data, size);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* The tables of stores, for people and for the server. */
#include "base/text/text.h"
#include "store/kinds/kinds.h"

static const char *const folder_types[] = {
	[PD_STORE_U32] = "UINT_32", [PD_STORE_S32] = "INT_32",  [PD_STORE_U64] = "UINT_64", [PD_STORE_S64] = "INT_64",
	[PD_STORE_NAME] = "STRING", [PD_STORE_TEXT] = "STRING", [PD_STORE_TIME] = "INT_64", [PD_STORE_CHAIN] = "",
};

static const char *const server_types[] = {
	[PD_STORE_U32] = "UInt32",
	[PD_STORE_S32] = "Int32",
	[PD_STORE_U64] = "UInt64",
	[PD_STORE_S64] = "Int64",
	[PD_STORE_NAME] = "LowCardinality(String)",
	[PD_STORE_TEXT] = "String",
	[PD_STORE_TIME] = "DateTime",
	[PD_STORE_CHAIN] = "Array(UInt64)",
};

// Names and stacks come again with each recording: the same ones are merged.
static const char *const engines[] = {
	[PD_STORE_TABLE_frames] = "ReplacingMergeTree ORDER BY frame",
	[PD_STORE_TABLE_stacks] = "ReplacingMergeTree ORDER BY stack",
	[PD_STORE_TABLE_labels] = "ReplacingMergeTree ORDER BY (key, value, profile)",
	[PD_STORE_TABLE_samples] =
		"MergeTree PARTITION BY toDate(time) ORDER BY (service, event, toStartOfHour(time), stack) TTL time + INTERVAL 30 DAY",
	[PD_STORE_TABLE_profiles] = "ReplacingMergeTree ORDER BY profile",
};

static const char hours[] =
	"CREATE TABLE samples_hour (hour DateTime, service LowCardinality(String), event LowCardinality(String), stack UInt64, count UInt64, "
	"value UInt64) ENGINE = SummingMergeTree PARTITION BY toYYYYMM(hour) ORDER BY (service, event, hour, stack);\n"
	"CREATE MATERIALIZED VIEW samples_hour_mv TO samples_hour AS SELECT toStartOfHour(time) AS hour, service, event, stack, "
	"sum(count) AS count, sum(value) AS value FROM samples GROUP BY hour, service, event, stack;\n";

static const char cluster[] =
	"-- On several servers, the cluster fleet: the tables above on each of them, and these in a database that is named instead. A stack and\n"
	"-- its samples are on one server.\n"
	"-- CREATE DATABASE fleet;\n";

// By what rows are spread over servers.
static const char *const shards[] = {
	[PD_STORE_TABLE_frames] = "frame",
	[PD_STORE_TABLE_stacks] = "stack",
	[PD_STORE_TABLE_labels] = "cityHash64(profile)",
	[PD_STORE_TABLE_samples] = "stack",
	[PD_STORE_TABLE_profiles] = "cityHash64(profile)",
};

static void put_columns(struct pd_text *text, const struct pd_store_part *part, const char *const *types,
			const char *between)
{
	const struct pd_store_column *column;

	for (size_t i = 0; (column = pd_store_part_column(part, i)) != NULL; i++)
		pd_text_printf(text, "%s%s %s", i ? between : "", column->name, types[column->type]);
}

void pd_store_folder_schema(struct pd_text *text)
{
	for (size_t i = 0; i < PD_STORE_TABLES; i++) {
		const struct pd_store_part part = { .table = &pd_store_tables[i], .in = PD_STORE_FOLDER };

		pd_text_printf(text, "%s/%sRECORDING.parquet: ", part.table->name,
			       part.table->by_day ? "date=DATE/service=SERVICE/" : "");
		put_columns(text, &part, folder_types, ", ");
		pd_text_char(text, '\n');
	}
}

void pd_store_server_schema(struct pd_text *text)
{
	for (size_t i = 0; i < PD_STORE_TABLES; i++) {
		const struct pd_store_part part = { .table = &pd_store_tables[i], .in = PD_STORE_SERVER };

		pd_text_printf(text, "CREATE TABLE %s (", part.table->name);
		put_columns(text, &part, server_types, ", ");
		pd_text_printf(text, ") ENGINE = %s;\n", engines[i]);
	}
	pd_text_add(text, hours);
	pd_text_add(text, cluster);
	for (size_t i = 0; i < PD_STORE_TABLES; i++)
		pd_text_printf(
			text,
			"-- CREATE TABLE fleet.%s AS %s ENGINE = Distributed(fleet, currentDatabase(), %s, %s);\n",
			pd_store_tables[i].name, pd_store_tables[i].name, pd_store_tables[i].name, shards[i]);
}

/* SPDX-License-Identifier: MIT */
/* Sort keys of memory accesses and transactions. Values are in perf's order, which is that of the recorded bits. */
#include "format/text/access.h"
#include "report/keys/find.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The profile was asked for it by pd_report_ask. */
static struct pd_access access_of(const struct key_context *context)
{
	struct pd_access access = { .data_src = PD_NO_DATA_SRC };

	if (context->entry->raw.size >= sizeof(access))
		memcpy(&access, context->entry->raw.data, sizeof(access));
	return access;
}

static bool find_count(struct pd_report *report, size_t key, uint32_t count, uint32_t *value_out)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, count);
	return pd_value_find_number(&report->values[key], count, ~(uint64_t)count, text, value_out);
}

bool pd_key_latency(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_count(report, key, access_of(context).latency, value_out);
}

bool pd_key_stage(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_count(report, key, access_of(context).stage, value_out);
}

bool pd_key_code_page_size(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t size = access_of(context).code_page_size;
	struct pd_access_words words = { .length = 0 };

	pd_access_page_size(&words, size);
	return pd_value_find_number(&report->values[key], size, ~size, words.text, value_out);
}

bool pd_key_data_page_size(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t size = access_of(context).data_page_size;
	struct pd_access_words words = { .length = 0 };

	pd_access_page_size(&words, size);
	return pd_value_find_number(&report->values[key], size, size, words.text, value_out);
}

bool pd_key_transaction(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t transaction = access_of(context).transaction;
	struct pd_access_words words = { .length = 0 };

	pd_access_transaction(&words, transaction);
	return pd_value_find_number(&report->values[key], transaction, ~transaction, words.text, value_out);
}

/* As perf: other bits of data_src, which the words have too, distinguish nothing. */
static bool find_part(struct pd_report *report, size_t key, const struct key_context *context, uint64_t bits,
		      void (*add)(struct pd_access_words *words, uint64_t data_src), uint32_t *value_out)
{
	struct pd_access_words words = { .length = 0 };

	add(&words, access_of(context).data_src);
	return pd_value_find_number(&report->values[key], bits, bits, words.text, value_out);
}

bool pd_key_mem(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t bits = PD_BITS(access_of(context).data_src, PD_DATA_SRC_LVL);

	return find_part(report, key, context, bits, pd_access_level, value_out);
}

bool pd_key_snoop(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t bits = PD_BITS(access_of(context).data_src, PD_DATA_SRC_SNOOP);

	return find_part(report, key, context, bits, pd_access_snoop, value_out);
}

bool pd_key_tlb(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t bits = PD_BITS(access_of(context).data_src, PD_DATA_SRC_DTLB);

	return find_part(report, key, context, bits, pd_access_tlb, value_out);
}

bool pd_key_locked(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t bits = PD_BITS(access_of(context).data_src, PD_DATA_SRC_LOCK);

	return find_part(report, key, context, bits, pd_access_lock, value_out);
}

bool pd_key_blocked(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t bits = PD_BITS(access_of(context).data_src, PD_DATA_SRC_BLK);

	return find_part(report, key, context, bits, pd_access_blocked, value_out);
}

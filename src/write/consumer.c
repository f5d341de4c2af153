/* SPDX-License-Identifier: MIT */
/*
 * Output for a reader that knows less than the input has. What the reader does not take is left out, and reported as a
 * problem of the input, each thing once.
 */
#include "write/inside.h"

#include <inttypes.h>
#include <string.h>

static const struct pd_consumer readers[] = {
#define READER(name, attr, flags, sample, record, tool, feature, packing, directory, pipe, orders, doc) \
	{ name, doc, attr, flags, sample, record, tool, feature, packing, directory, pipe, orders },
#include <perfdata/table/reader.def>
#undef READER
};

const struct pd_consumer *pd_consumer_at(size_t index)
{
	return index < sizeof(readers) / sizeof(readers[0]) ? &readers[index] : NULL;
}

const struct pd_consumer *pd_consumer_find(const char *name)
{
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		if (strcmp(readers[i].name, name) == 0)
			return &readers[i];
	return NULL;
}

// ---- the form of the output ----

static enum pd_status refuse(const struct pd_consumer *reader, const char *what, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s does not read %s", reader->name, what);
}

static enum pd_status fit_packing(const struct pd_consumer *reader, struct pd_writer_options *options,
				  struct pd_error *error)
{
	bool keeps = options->packing == PD_PACK_KEEP || options->packing == PD_PACK_SAME;

	if (options->packing == PD_PACK_ZSTD2 && reader->packing != PD_PACK_ZSTD2)
		return refuse(reader, "COMPRESSED2 records", error);
	if (options->packing == PD_PACK_ZSTD && reader->packing == PD_PACK_NONE)
		return refuse(reader, "compressed records", error);
	if (keeps && reader->packing == PD_PACK_NONE)
		options->packing = PD_PACK_NONE;
	else if (keeps && reader->packing == PD_PACK_ZSTD)
		options->packing = PD_PACK_SAME;
	return PD_OK;
}

enum pd_status pd_consumer_fit(const struct pd_consumer *reader, struct pd_writer_options *options,
			       struct pd_error *error)
{
	bool big = options->endian == PD_ENDIAN_BIG;

	if (options->mode == PD_MODE_DIRECTORY && !reader->directory)
		return refuse(reader, "directories", error);
	if (options->mode == PD_MODE_PIPE && !reader->pipe)
		return refuse(reader, "the form of a pipe", error);
	if (big && !reader->both_orders)
		return refuse(reader, "big-endian files", error);
	if (!reader->both_orders)
		options->endian = PD_ENDIAN_LITTLE;
	return fit_packing(reader, options, error);
}

enum pd_status pd_writer_write_for(struct pd_writer *writer, const struct pd_consumer *consumer, struct pd_error *error)
{
	if (writer->source || writer->started)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: the metadata of a file were copied already",
			       writer->name);
	writer->reader = consumer;
	return PD_OK;
}

// ---- what is left out ----

static void report_dropped(struct pd_writer *writer, uint64_t offset, const char *what, const char *why)
{
	if (writer->source)
		pd_file_report(writer->source, PD_PROBLEM_NOT_READ, offset, what, "%s unknown to %s", why,
			       writer->reader->name);
}

static uint64_t low_bits(unsigned count)
{
	return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

void pd_consumer_fit_attr(struct pd_writer *writer, struct pd_attr *attr)
{
	const struct pd_consumer *reader = writer->reader;

	if (!reader)
		return;
	if (attr->flags & ~low_bits(reader->attr_flag_bits))
		report_dropped(writer, PD_NO_OFFSET, "attr.flags", "event flags");
	attr->flags &= low_bits(reader->attr_flag_bits);
	// these say what samples hold: they stay
	if (attr->sample_type & ~low_bits(reader->sample_type_bits))
		report_dropped(writer, PD_NO_OFFSET, "attr.sample_type", "sample fields (kept)");
}

void pd_consumer_cut_attr(struct pd_writer *writer, struct pd_write_event *event)
{
	size_t most = writer->reader ? writer->reader->attr_size : event->attr_size;
	struct pd_buffer buffer = pd_buffer(event->attr + 4, 4, writer->big);
	bool lost = false;

	if (event->attr_size <= most)
		return;
	for (size_t i = most; i < event->attr_size; i++)
		lost |= event->attr[i] != 0;
	if (lost)
		report_dropped(writer, PD_NO_OFFSET, "attr", "values at the end of the attr");
	event->attr_size = most;
	pd_buffer_u32(&buffer, (uint32_t)most);
}

bool pd_consumer_takes_feature(struct pd_writer *writer, unsigned feature)
{
	if (!writer->reader || feature <= writer->reader->last_feature)
		return true;
	report_dropped(writer, PD_NO_OFFSET, pd_feature_name(feature), "header feature");
	return false;
}

bool pd_consumer_takes_record(struct pd_writer *writer, const struct pd_record *record)
{
	const struct pd_consumer *reader = writer->reader;
	uint64_t bit = UINT64_C(1) << (record->type & 63);

	if (!reader || record->type <= reader->last_record ||
	    (record->type >= 64 && record->type <= reader->last_tool_record))
		return true;
	if (!(writer->reported_left_out & bit))
		report_dropped(writer, record->offset, pd_record_name(record->type), "records of a type");
	writer->reported_left_out |= bit;
	return false;
}

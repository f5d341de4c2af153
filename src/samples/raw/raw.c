/* SPDX-License-Identifier: MIT */
/*
 * Records as perf's -D prints them: their bytes, and then what is in them. What is in a sample is in raw_sample.c; what perf script prints
 * of other records, too, is in records.c.
 */
#include "samples/raw/raw.h"

#include <stdio.h>

#include <perfdata/record_stats.h>

#include "format/traits.h"

/* ---- what perf -D alone prints ---- */

static void labelled(struct pd_line_buffer *line, const char *label, uint64_t value)
{
	pd_line_word(line, label);
	pd_line_dec(line, value, 0, ' ');
}

static void labelled_signed(struct pd_line_buffer *line, const char *label, int64_t value)
{
	pd_line_word(line, label);
	pd_line_signed(line, value, 0, ' ');
}

static void labelled_hex(struct pd_line_buffer *line, const char *label, uint64_t value)
{
	pd_line_word(line, label);
	pd_line_hex_marked(line, value);
}

static void print_lost(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_lost *lost = decoded;

	(void)record;
	labelled(line, ": id:", lost->id);
	labelled(line, ": lost:", lost->lost);
	pd_line_char(line, '\n');
}

static void print_lost_samples(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_lost_samples *lost = decoded;
	uint64_t id = UINT64_MAX;

	if (lost->sample_id && record->event) {
		uint64_t has = record->event->attr->sample_type;

		if (has & PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER))
			id = lost->sample_id->identifier;
		else if (has & PD_MASK(PD_SAMPLE_TYPE_ID))
			id = lost->sample_id->id;
	}
	labelled(line, ": id:", id);
	labelled(line, ": lost samples :", lost->lost);
	pd_line_char(line, '\n');
}

static void print_read(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_read *read = decoded;
	const struct pd_counts *counts = read->counts;
	uint64_t has = record->event ? record->event->attr->read_format : 0;

	if (!record->event || !counts)
		return;
	labelled_signed(line, ": ", (int32_t)read->pid);
	labelled_signed(line, " ", (int32_t)read->tid);
	pd_line_char(line, ' ');
	pd_line_foreign(line, record->event->name, 0);
	labelled(line, " ", counts->value);
	if (PD_BITS(has, PD_READ_FORMAT_TOTAL_TIME_ENABLED))
		labelled(line, "\n... time enabled : ", counts->time_enabled_ns);
	if (PD_BITS(has, PD_READ_FORMAT_TOTAL_TIME_RUNNING))
		labelled(line, "\n... time running : ", counts->time_running_ns);
	if (PD_BITS(has, PD_READ_FORMAT_ID))
		labelled(line, "\n... id           : ", counts->id);
	if (PD_BITS(has, PD_READ_FORMAT_LOST))
		labelled(line, "\n... lost         : ", counts->lost);
	pd_line_char(line, '\n');
}

static void print_aux(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_aux *aux = decoded;

	(void)record;
	labelled_hex(line, " offset: ", aux->aux_offset);
	labelled_hex(line, " size: ", aux->aux_size);
	labelled_hex(line, " flags: ", aux->flags);
	pd_line_word(line, " [");
	pd_line_word(line, PD_BITS(aux->flags, PD_AUX_TRUNCATED) ? "T" : "");
	pd_line_word(line, PD_BITS(aux->flags, PD_AUX_OVERWRITE) ? "O" : "");
	pd_line_word(line, PD_BITS(aux->flags, PD_AUX_PARTIAL) ? "P" : "");
	pd_line_word(line, "]\n");
}

static void print_itrace_start(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_itrace_start *start = decoded;

	(void)record;
	labelled(line, " pid: ", start->pid);
	labelled(line, " tid: ", start->tid);
	pd_line_char(line, '\n');
}

static void print_hw_id(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	(void)record;
	labelled_hex(line, " hw_id: ", ((const struct pd_aux_output_hw_id *)decoded)->hw_id);
	pd_line_char(line, '\n');
}

static void print_end(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	(void)record;
	(void)decoded;
	pd_line_char(line, '\n');
}

static void print_id_index(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_id_index *index = decoded;

	(void)record;
	labelled(line, " nr: ", index->nr);
	pd_line_char(line, '\n');
	for (size_t i = 0; i < index->entries.count; i++) {
		const struct pd_id_entry *entry = PD_ITEM(pd_id_entry, index->entries, i);

		labelled(line, " ... id: ", entry->id);
		labelled(line, "  idx: ", entry->idx);
		labelled_signed(line, "  cpu: ", (int64_t)entry->cpu);
		labelled_signed(line, "  tid: ", (int64_t)entry->tid);
		if (i < index->guests.count) {
			const struct pd_id_guest *guest = PD_ITEM(pd_id_guest, index->guests, i);

			labelled(line, "  machine_pid: ", guest->machine_pid);
			labelled(line, "  vcpu: ", guest->vcpu);
		}
		pd_line_char(line, '\n');
	}
}

static void print_auxtrace_info(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	(void)record;
	labelled(line, " type: ", ((const struct pd_auxtrace_info *)decoded)->type);
	pd_line_char(line, '\n');
}

static void print_auxtrace(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_auxtrace *trace = decoded;

	(void)record;
	labelled_hex(line, " size: ", trace->size);
	labelled_hex(line, "  offset: ", trace->offset);
	labelled_hex(line, "  ref: ", trace->reference);
	labelled(line, "  idx: ", trace->idx);
	labelled_signed(line, "  tid: ", (int32_t)trace->tid);
	labelled_signed(line, "  cpu: ", (int32_t)trace->cpu);
	pd_line_char(line, '\n');
}

static void print_auxtrace_error(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_auxtrace_error *error = decoded;

	(void)record;
	pd_line_word(line, error->type == PD_AUXTRACE_ERROR_ITRACE ? " instruction trace" : " unknown");
	labelled(line, " error type ", error->type);
	if (error->fmt && error->time_ns) {
		labelled(line, " time ", error->time_ns / UINT64_C(1000000000));
		pd_line_char(line, '.');
		pd_line_dec(line, error->time_ns % UINT64_C(1000000000), 9, '0');
	}
	if (error->fmt > 1 && error->machine_pid) {
		labelled_signed(line, " machine_pid ", error->machine_pid);
		labelled_signed(line, " vcpu ", error->vcpu);
	}
	labelled_signed(line, " cpu ", (int32_t)error->cpu);
	labelled_signed(line, " pid ", (int32_t)error->pid);
	labelled_signed(line, " tid ", (int32_t)error->tid);
	labelled_hex(line, " ip ", error->ip);
	labelled(line, " code ", error->code);
	pd_line_word(line, ": ");
	pd_line_foreign(line, error->msg.data, 0);
	pd_line_char(line, '\n');
}

static void print_threads(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_thread_map *map = decoded;

	(void)record;
	labelled(line, " nr: ", map->entries.count);
	pd_line_word(line, map->entries.count > 1 ? " threads: " : " thread: ");
	for (size_t i = 0; i < map->entries.count; i++)
		labelled_signed(line, i ? ", " : "", (int32_t)PD_ITEM(pd_thread_map_entry, map->entries, i)->pid);
	pd_line_char(line, '\n');
}

/* CPUs on their way to "0-3,5". */
struct cpu_ranges {
	struct pd_line_buffer *line;
	bool any;
	int64_t first, last; /* of the present range */
};

static void print_range(struct cpu_ranges *ranges)
{
	if (ranges->any && ranges->last != ranges->first)
		labelled_signed(ranges->line, "-", ranges->last);
}

static void add_cpu(void *self, int32_t cpu)
{
	struct cpu_ranges *ranges = self;

	if (ranges->any && cpu == ranges->last + 1) {
		ranges->last = cpu;
		return;
	}
	print_range(ranges);
	labelled_signed(ranges->line, ranges->any ? "," : "", cpu);
	ranges->any = true;
	ranges->first = ranges->last = cpu;
}

static void print_cpu_set(struct pd_line_buffer *line, const struct pd_cpu_map_data *map)
{
	struct cpu_ranges ranges = { .line = line };

	pd_samples_each_cpu(map, add_cpu, &ranges);
	print_range(&ranges);
	pd_line_char(line, '\n');
}

static void print_cpus(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	(void)record;
	pd_line_word(line, ": ");
	print_cpu_set(line, ((const struct pd_cpu_map *)decoded)->cpus);
}

static uint64_t setting(const struct pd_stat_config *config, uint64_t tag)
{
	for (size_t i = 0; i < config->entries.count; i++) {
		const struct pd_stat_config_entry *entry = PD_ITEM(pd_stat_config_entry, config->entries, i);

		if (entry->tag == tag)
			return entry->value;
	}
	return 0;
}

static void print_settings(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	(void)record;
	labelled(line, "\n... aggr_mode ", setting(decoded, PD_STAT_CONFIG_AGGR_MODE));
	labelled(line, "\n... scale     ", setting(decoded, PD_STAT_CONFIG_SCALE));
	labelled(line, "\n... interval  ", setting(decoded, PD_STAT_CONFIG_INTERVAL));
	pd_line_char(line, '\n');
}

static void print_count(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_stat *stat = decoded;

	(void)record;
	labelled(line, "\n... id ", stat->id);
	labelled_signed(line, ", cpu ", (int32_t)stat->cpu);
	labelled_signed(line, ", thread ", (int32_t)stat->thread);
	labelled(line, "\n... value ", stat->value);
	labelled(line, ", enabled ", stat->time_enabled_ns);
	labelled(line, ", running ", stat->time_running_ns);
	pd_line_char(line, '\n');
}

static void print_stat_round(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_stat_round *round = decoded;

	(void)record;
	labelled(line, "\n... time ", round->time_ns);
	pd_line_word(line, round->type == PD_STAT_ROUND_FINAL ? ", type FINAL\n" : ", type INTERVAL\n");
}

static void print_update(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_event_update *update = decoded;
	char number[352]; /* 309 digits and what is around them */

	(void)record;
	labelled(line, "\n... id:    ", update->id);
	pd_line_char(line, '\n');
	if (update->type == PD_EVENT_UPDATE_CPUS && update->cpus) {
		pd_line_word(line, "... ");
		print_cpu_set(line, update->cpus);
		return;
	}
	if (update->type == PD_EVENT_UPDATE_SCALE) {
		pd_line_bytes(line, number, (size_t)snprintf(number, sizeof(number), "... scale: %.6f", update->scale));
	} else if (update->type == PD_EVENT_UPDATE_UNIT) {
		pd_line_word(line, "... unit:  ");
		pd_line_foreign(line, update->unit.data, 0);
	} else if (update->type == PD_EVENT_UPDATE_NAME) {
		pd_line_word(line, "... name:  ");
		pd_line_foreign(line, update->name.data, 0);
	} else {
		pd_line_word(line, "... unknown type");
	}
	pd_line_char(line, '\n');
}

enum {
	TIME_CYCLES_AT = 32, /* in a TIME_CONV record; older ones end there */
};

static void print_time_conv(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_time_conv *conv = decoded;

	labelled(line, "\n... Time Shift      ", conv->time_shift);
	labelled(line, "\n... Time Muliplier  ", conv->time_mult);
	labelled(line, "\n... Time Zero       ", conv->time_zero);
	if (record->bytes.size > TIME_CYCLES_AT) {
		labelled(line, "\n... Time Cycles     ", conv->time_cycles);
		labelled_hex(line, "\n... Time Mask       ", conv->time_mask);
		labelled(line, "\n... Cap Time Zero   ", conv->cap_user_time_zero);
		labelled(line, "\n... Cap Time Short  ", conv->cap_user_time_short);
	}
	pd_line_char(line, '\n');
}

/* What perf's commands do not handle they say. */
enum who {
	NEITHER,
	REPORT, /* handled by perf script only */
	SCRIPT, /* handled by perf report only */
	BOTH,
};

/* Records that are not here have no text but their name: HEADER_ATTR. */
static const struct {
	uint32_t type;
	enum who printed, unhandled; /* by whom */
	void (*print)(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded);
} table[] = {
	{ PD_RECORD_LOST, BOTH, NEITHER, print_lost },
	{ PD_RECORD_LOST_SAMPLES, BOTH, NEITHER, print_lost_samples },
	{ PD_RECORD_READ, BOTH, SCRIPT, print_read },
	{ PD_RECORD_THROTTLE, NEITHER, REPORT, NULL },
	{ PD_RECORD_UNTHROTTLE, NEITHER, REPORT, NULL },
	{ PD_RECORD_AUX, BOTH, NEITHER, print_aux },
	{ PD_RECORD_ITRACE_START, BOTH, NEITHER, print_itrace_start },
	{ PD_RECORD_AUX_OUTPUT_HW_ID, BOTH, NEITHER, print_hw_id },
	{ PD_RECORD_FINISHED_ROUND, BOTH, NEITHER, print_end },
	{ PD_RECORD_ID_INDEX, BOTH, NEITHER, print_id_index },
	{ PD_RECORD_AUXTRACE_INFO, BOTH, NEITHER, print_auxtrace_info },
	{ PD_RECORD_AUXTRACE, BOTH, NEITHER, print_auxtrace },
	{ PD_RECORD_AUXTRACE_ERROR, SCRIPT, REPORT, print_auxtrace_error },
	{ PD_RECORD_THREAD_MAP, BOTH, REPORT, print_threads },
	{ PD_RECORD_CPU_MAP, BOTH, REPORT, print_cpus },
	{ PD_RECORD_STAT_CONFIG, REPORT, REPORT, print_settings },
	{ PD_RECORD_STAT, REPORT, REPORT, print_count },
	{ PD_RECORD_STAT_ROUND, REPORT, REPORT, print_stat_round },
	{ PD_RECORD_EVENT_UPDATE, BOTH, NEITHER, print_update },
	{ PD_RECORD_TIME_CONV, BOTH, BOTH, print_time_conv },
	{ PD_RECORD_FINISHED_INIT, NEITHER, BOTH, NULL },
};

static bool is_by(const struct pd_samples *samples, enum who who)
{
	enum who us = samples->options.raw == PD_RAW_REPORT ? REPORT : SCRIPT;

	return who == BOTH || who == us;
}

static void print_contents(struct pd_samples *samples, const struct pd_record *record)
{
	struct pd_line_buffer *line = &samples->line;
	const void *decoded;

	if (pd_record_decode(record, &decoded, NULL) != PD_OK)
		return;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].type != record->type)
			continue;
		if (is_by(samples, table[i].printed))
			table[i].print(line, record, decoded);
		if (is_by(samples, table[i].unhandled))
			pd_line_word(line, ": unhandled!\n");
		return;
	}
	if (pd_samples_record_text(line, record, decoded))
		pd_line_char(line, '\n');
}

/* ---- what is printed of every record ---- */

/* A pipe has no name, and the files of a directory stand in it. */
static void print_file_name(struct pd_samples *samples, const struct pd_record *record)
{
	const char *part = pd_file_part_name(samples->file, record->part);

	if (pd_file_header(samples->file)->mode == PD_MODE_PIPE) {
		pd_line_word(&samples->line, "pipe");
		return;
	}
	pd_line_foreign(&samples->line, pd_file_name(samples->file), 0);
	if (part && *part) {
		pd_line_char(&samples->line, '/');
		pd_line_foreign(&samples->line, part, 0);
	}
}

static void print_bytes(struct pd_line_buffer *line, struct pd_bytes bytes)
{
	pd_line_word(line, ".\n. ... raw event: size ");
	pd_line_dec(line, bytes.size, 0, ' ');
	pd_line_word(line, " bytes\n");
	for (size_t at = 0; at < bytes.size; at += PD_LINE_OF_BYTES) {
		pd_line_word(line, ".  ");
		pd_samples_bytes(line, bytes, at, ": ");
	}
	pd_line_char(line, '\n');
}

/* What any of the events that are known so far records. Those of a pipe are known after their records, which were read before this one. */
static uint64_t recorded_by_any(struct pd_samples *samples, const struct pd_record *record)
{
	size_t count = pd_file_event_count(samples->file);

	if (pd_file_header(samples->file)->mode == PD_MODE_PIPE && samples->raw_attrs < count)
		count = samples->raw_attrs;
	samples->raw_attrs += record->type == PD_RECORD_HEADER_ATTR;
	for (; samples->raw_events < count; samples->raw_events++)
		samples->raw_types |= pd_file_event(samples->file, samples->raw_events)->attr->sample_type;
	return samples->raw_types;
}

static bool has_trailers(struct pd_samples *samples)
{
	return samples->raw_events && PD_BITS(pd_file_event(samples->file, 0)->attr->flags, PD_ATTR_SAMPLE_ID_ALL);
}

/* CPU and time of a record of the kernel are -1 where it has none; those of others are 0. */
static void print_when(struct pd_samples *samples, const struct pd_record *record)
{
	uint64_t any = recorded_by_any(samples, record);
	struct pd_shown_sample hit = { .cpu = UINT32_MAX, .time_ns = UINT64_MAX };
	uint64_t has = record->event ? record->event->attr->sample_type : 0;
	const void *decoded;

	if (record->type == PD_RECORD_SAMPLE) {
		if (record->event && pd_record_brief(record, &hit.brief)) {
			hit.cpu = hit.brief.cpu;
			hit.time_ns = has & PD_MASK(PD_SAMPLE_TYPE_TIME) ? hit.brief.time_ns : UINT64_MAX;
		}
	} else if (!has_trailers(samples)) {
		pd_line_word(&samples->line, "-1 -1 ");
		return;
	} else if (pd_record_group(record->type) != PD_GROUP_KERNEL) {
		hit.cpu = 0;
		hit.time_ns = 0;
	} else if (pd_record_decode(record, &decoded, NULL) == PD_OK) {
		pd_samples_trailer(&hit, decoded, has);
	}
	if (any & PD_MASK(PD_SAMPLE_TYPE_CPU)) {
		pd_line_dec(&samples->line, hit.cpu, 0, ' ');
		pd_line_char(&samples->line, ' ');
	}
	if (any & PD_MASK(PD_SAMPLE_TYPE_TIME)) {
		pd_line_dec(&samples->line, hit.time_ns, 0, ' ');
		pd_line_char(&samples->line, ' ');
	}
}

/* In a pipe offsets count from the first record. */
static uint64_t offset_of(const struct pd_samples *samples, const struct pd_record *record)
{
	const struct pd_header *header = pd_file_header(samples->file);

	return record->offset - (header->mode == PD_MODE_PIPE ? header->size : 0);
}

void pd_samples_raw(struct pd_samples *samples, const struct pd_record *record)
{
	struct pd_line_buffer *line = &samples->line;
	uint64_t offset = offset_of(samples, record);
	char unknown[32];

	/* those in it are printed */
	if (pd_record_traits(record->type)->set & PD_TRAIT_COMPRESSED)
		return;
	labelled_hex(line, "\n", offset);
	pd_line_char(line, '@');
	print_file_name(samples, record);
	labelled_hex(line, " [", record->bytes.size);
	labelled_signed(line, "]: event: ", (int32_t)record->type);
	pd_line_char(line, '\n');
	print_bytes(line, record->bytes);
	print_when(samples, record);
	labelled_hex(line, "", offset);
	labelled_hex(line, " [", record->bytes.size);
	pd_line_word(line, "]: PERF_RECORD_");
	pd_line_word(line, pd_stats_type_name(record->type, unknown, sizeof(unknown)));
	if (record->type == PD_RECORD_SAMPLE)
		pd_samples_raw_sample(samples, record);
	else
		print_contents(samples, record);
}

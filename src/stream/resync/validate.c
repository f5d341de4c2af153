/* SPDX-License-Identifier: MIT */
/*
 * Whether bytes can be a record of this file. After damage this is the question at every place where a record may begin,
 * and for a careful stream it is the question at every record. The header alone says much: a type that is known, unused bits
 * that are 0, a size that fits. The rest is whether the body has the size that it says itself, and whether ids, times
 * and CPUs are those of the file.
 */
#include <string.h>

#include "format/text/print.h"
#include "format/traits.h"
#include "stream/read/inside.h"

enum {
	UNUSED_MISC = 0x0ff8, // no recorder sets these
	MOST_CPUS = 1 << 16,
	MOST_TASKS = 1 << 22, // PID_MAX_LIMIT
	NEWEST_ATTR = 144,
	MAJOR_BITS = 12, // of a device, in the kernel
	MINOR_BITS = 20,
};

// Records that are near in the file are not further from each other in time: 4.9 hours.
static const uint64_t near_ns = UINT64_C(1) << 44;

// No buffer is larger.
static const uint64_t largest_trace = UINT64_C(1) << 48;

uint32_t pd_record_type_of(const struct pd_file *file, const struct pd_record_head *head)
{
	if (head->type >= PD_OLD_FEATURE_BASE + PD_FEATURE_HOSTNAME &&
	    head->type <= PD_OLD_FEATURE_BASE + PD_FEATURE_GROUP_DESC &&
	    pd_file_quirks(file) & MASK_QUIRKS(OLD_FEATURES))
		return PD_RECORD_OLD_FEATURE;
	return head->type;
}

static bool may_be_odd(uint32_t type)
{
	return pd_record_is(type, PD_TRAIT_UNALIGNED) || type >= PD_RECORD_SIMPLEPERF_FIRST;
}

// Old versions of perf did not set misc in the first records of pipes.
static bool has_valid_misc(const struct pd_file *file, uint32_t type, uint16_t misc)
{
	return (pd_record_is(type, PD_TRAIT_MISC_UNSET) && pd_file_mode(file) == PD_MODE_PIPE) || !(misc & UNUSED_MISC);
}

// Times of a few minutes begin with the types of these, so what follows must not be just anything.
static bool has_valid_size(const struct pd_record_head *head, uint32_t type)
{
	enum {
		LARGEST_EVENT_TYPE = 80
	};

	return (head->size % 8 == 0 || may_be_odd(type)) &&
	       (type != PD_RECORD_HEADER_EVENT_TYPE || head->size <= LARGEST_EVENT_TYPE);
}

bool pd_head_is_plausible(const struct pd_file *file, const struct pd_record_head *head)
{
	uint32_t type = pd_record_type_of(file, head);
	const struct pd_layout *layout = pd_record_layout(type);

	return layout && head->type != PD_RECORD_OLD_FEATURE &&
	       head->size >= PD_RECORD_HEADER_SIZE + (size_t)layout->min_size &&
	       has_valid_misc(file, type, head->misc) && has_valid_size(head, type);
}

static bool is_task(uint32_t number)
{
	return number <= MOST_TASKS || number == UINT32_MAX;
}

static bool is_cpu(uint32_t number)
{
	return number < MOST_CPUS || number == UINT32_MAX;
}

static bool is_near(const struct pd_stream *stream, uint64_t time_ns)
{
	uint64_t near = stream->near_time_ns;

	if (time_ns == PD_NO_TIME || near == PD_NO_TIME || !near)
		return true;
	return time_ns > near ? time_ns - near < near_ns : near - time_ns < near_ns;
}

static bool sample_is_valid(const struct pd_record *record, const struct pd_sample *sample)
{
	uint64_t type = record->event->attr->sample_type;

	if (type & MASK_SAMPLE_TYPE(TID) && (!is_task(sample->pid) || !is_task(sample->tid)))
		return false;
	if (type & MASK_SAMPLE_TYPE(CPU) && (!is_cpu(sample->cpu) || sample->cpu_reserved))
		return false;
	return !(type & MASK_SAMPLE_TYPE(IDENTIFIER)) || !(type & MASK_SAMPLE_TYPE(ID)) ||
	       sample->identifier == sample->id;
}

// perf gives up at a stack with more valid bytes than it has, which simpleperf writes.
static bool stack_is_valid(const struct pd_sample *sample)
{
	return !sample->user_stack || !sample->user_stack->size ||
	       sample->user_stack->dyn_size <= sample->user_stack->size;
}

static bool trailer_is_valid(const struct pd_scratch *scratch, const struct pd_sample_id *id)
{
	uint64_t type = scratch->context.event ? scratch->context.event->words[PD_WORD_TRAILER] : 0;

	if (!id)
		return !type;
	if (type & MASK_TRAILER(TID) && (!is_task(id->pid) || !is_task(id->tid)))
		return false;
	return !(type & MASK_TRAILER(CPU)) || is_cpu(id->cpu);
}

static bool tasks_are_valid(uint32_t pid, uint32_t tid)
{
	return is_task(pid) && is_task(tid);
}

static bool update_is_valid(const struct pd_event_update *update)
{
	enum {
		MOST_SLACK = 256
	}; // perf takes more room than it needs

	return update->type <= PD_EVENT_UPDATE_CPUS && update->rest.size < MOST_SLACK;
}

// The kernel pads names with zeros, one at least.
static bool ends(const struct pd_str *text)
{
	return text->length < text->size;
}

// ---- what a type of record must have: tasks that there can be, a name that ends, a room for a build id ----

static bool task_is_valid(const struct pd_record *record, const void *decoded)
{
	const struct pd_task *task = decoded;

	(void)record;
	return tasks_are_valid(task->pid, task->tid) && tasks_are_valid(task->ppid, task->ptid);
}

static bool mmap_is_valid(const struct pd_record *record, const void *decoded)
{
	const struct pd_mmap *map = decoded;

	(void)record;
	return tasks_are_valid(map->pid, map->tid) && ends(&map->filename);
}

static bool mmap2_is_valid(const struct pd_record *record, const void *decoded)
{
	const struct pd_mmap2 *map = decoded;
	struct pd_mmap2 mended = *map;
	bool is_device = pd_mmap2_recover(record, &mended);

	return tasks_are_valid(map->pid, map->tid) && ends(&map->filename) &&
	       (!is_device || (mended.maj >> MAJOR_BITS == 0 && mended.min >> MINOR_BITS == 0));
}

static bool mmap2_is_usual(const struct pd_record *record, const void *decoded)
{
	const struct pd_mmap2 *map = decoded;

	(void)record;
	return map->addr + map->len >= map->addr && map->prot < 256;
}

static bool comm_is_valid(const struct pd_record *record, const void *decoded)
{
	const struct pd_comm *comm = decoded;

	(void)record;
	return tasks_are_valid(comm->pid, comm->tid) && ends(&comm->comm);
}

static bool build_id_is_valid(const struct pd_record *record, const void *decoded)
{
	const struct pd_header_build_id *id = decoded;
	bool has_size = record->misc & MASK_MISC(BUILD_ID_SIZE);

	return !has_size || id->size <= id->build_id.size;
}

static bool build_id_is_usual(const struct pd_record *record, const void *decoded)
{
	const struct pd_header_build_id *id = decoded;

	(void)record;
	return id->size <= 20 && id->filename.length;
}

static bool auxtrace_is_usual(const struct pd_record *record, const void *decoded)
{
	const struct pd_auxtrace *trace = decoded;

	(void)record;
	return !trace->reserved && is_cpu(trace->cpu) && is_task(trace->tid);
}

static bool attr_is_usual(const struct pd_record *record, const void *decoded)
{
	const struct pd_header_attr *header = decoded;

	(void)record;
	return header->attr->sample_type >> 32 == 0 && header->attr->size < 4096;
}

static bool feature_is_usual(const struct pd_record *record, const void *decoded)
{
	(void)record;
	return ((const struct pd_header_feature *)decoded)->feat_id < PD_FEATURE_LIMIT;
}

static bool update_is_usual(const struct pd_record *record, const void *decoded)
{
	(void)record;
	return update_is_valid(decoded);
}

static bool round_is_usual(const struct pd_record *record, const void *decoded)
{
	(void)record;
	return ((const struct pd_stat_round *)decoded)->type <= 1;
}

// What cannot be (NULL: anything can), and what is unlikely.
static const struct rule {
	uint32_t type;
	bool (*is_valid)(const struct pd_record *record, const void *decoded);
	bool (*is_usual)(const struct pd_record *record, const void *decoded);
} rules[] = {
	{ PD_RECORD_FORK, task_is_valid, NULL },
	{ PD_RECORD_EXIT, task_is_valid, NULL },
	{ PD_RECORD_MMAP, mmap_is_valid, NULL },
	{ PD_RECORD_MMAP2, mmap2_is_valid, mmap2_is_usual },
	{ PD_RECORD_COMM, comm_is_valid, NULL },
	{ PD_RECORD_HEADER_BUILD_ID, build_id_is_valid, build_id_is_usual },
	{ PD_RECORD_AUXTRACE, NULL, auxtrace_is_usual },
	{ PD_RECORD_HEADER_ATTR, NULL, attr_is_usual },
	{ PD_RECORD_HEADER_FEATURE, NULL, feature_is_usual },
	{ PD_RECORD_EVENT_UPDATE, NULL, update_is_usual },
	{ PD_RECORD_STAT_ROUND, NULL, round_is_usual },
};

static const struct rule *rule_of(uint32_t type)
{
	static const struct rule no_rule;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].type == type)
			return &rules[i];
	return &no_rule;
}

// Where there is one event, all is its, and what has no id belongs to the first.
static bool is_known(const struct pd_file *file, uint64_t id)
{
	return !id || pd_file_event_count(file) == 1 || pd_file_find_event(file, id);
}

// perf gives up at an id that no event has. Where events have no ids, these are not looked at.
static bool ids_are_known(const struct pd_file *file, const struct pd_record *record, const void *decoded)
{
	const struct pd_id_index *index = decoded;

	if (!pd_file_has_ids(file))
		return true;
	if (record->type == PD_RECORD_EVENT_UPDATE)
		return is_known(file, ((const struct pd_event_update *)decoded)->id);
	if (record->type == PD_RECORD_STAT)
		return is_known(file, ((const struct pd_stat *)decoded)->id);
	// in old pipes of ChromeOS the type is that of a feature
	if (record->type != PD_RECORD_ID_INDEX || pd_file_mode(file) == PD_MODE_PIPE)
		return true;
	for (size_t i = 0; i < index->entries.count; i++)
		if (!pd_file_find_event(file, PD_ITEM(pd_id_entry, index->entries, i)->id))
			return false;
	return true;
}

// perf reads an id at the end of each record of the kernel and gives up at one that no event has, of files with one event
// too if they have AUX data.
bool pd_stream_knows_end(const struct pd_file *file, const struct pd_record *record)
{
	const struct pd_event_full *full = pd_file_first_event(file);
	uint64_t id;

	if (!full || !full->trailer_size || full->trailer_id == PD_FIELD_MISSING || !pd_file_has_ids(file) ||
	    record->bytes.size < 8 * (size_t)full->trailer_id)
		return true;
	id = pd_load_u64(record->bytes.data + record->bytes.size - 8 * (size_t)full->trailer_id,
			 pd_file_is_swapped(file));
	return !id || pd_file_find_event(file, id);
}

// Some recorders forget the trailer. Where a damaged name runs into it, it only seems so: then there is more after the name
// than padding.
static bool forgot_trailer(const struct pd_file *file, const struct pd_record *record, const void *decoded)
{
	const struct pd_event_full *full = pd_file_first_event(file);

	return !full || !full->trailer_size || pd_mmap2_lacks_prot(record) ||
	       pd_record_is_tight(pd_record_layout(record->type), decoded);
}

// Recorders that are newer than this library have attrs that are so, too.
static bool has_attrs_from(const struct pd_file *file, uint32_t size)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_event(file, i)->attr->size >= size)
			return true;
	return false;
}

// Types that are not known come from recorders that are newer than this library.
static bool may_be_unknown(const struct pd_file *file, uint32_t type)
{
	enum {
		MOST_TYPES = 256
	};

	if (type >= MOST_TYPES)
		return type >= PD_RECORD_SIMPLEPERF_FIRST && type < PD_RECORD_SIMPLEPERF_FIRST + MOST_TYPES;
	return has_attrs_from(file, NEWEST_ATTR);
}

// perf gives up at a form of a set of CPUs that it does not know.
static bool cpus_are_known(const struct pd_file *file, const struct pd_record *record, const void *decoded)
{
	const struct pd_cpu_map *map = decoded;

	return record->type != PD_RECORD_CPU_MAP || map->cpus->kind <= PD_CPU_MAP_RANGE ||
	       has_attrs_from(file, NEWEST_ATTR + 1);
}

// A compressed record is a piece of a stream that another one begins.
static bool compression_is_valid(const struct pd_stream *stream, const struct pd_record *record)
{
	size_t skip = record->type == PD_RECORD_COMPRESSED2 ? 16 : PD_RECORD_HEADER_SIZE;
	const struct pd_codec *codec = pd_codec_by_name("zstd");

	if (record->bytes.size <= skip)
		return false;
	return pd_file_has_compressed(stream->file) || !codec ||
	       (record->bytes.size >= skip + codec->magic_size &&
		!memcmp(record->bytes.data + skip, codec->magic, codec->magic_size));
}

// Some recorders give others more room than they need.
static bool has_padding(uint32_t type)
{
	return type != PD_RECORD_HEADER_BUILD_ID && type != PD_RECORD_EVENT_UPDATE;
}

static enum pd_validity validate_decoded(const struct pd_stream *stream, const struct pd_record *record,
					 const void *decoded)
{
	const struct pd_layout *layout = pd_record_layout(record->type);
	const struct pd_body_head *body = decoded;
	const struct pd_scratch *scratch = record->scratch;
	const struct rule *rule = rule_of(record->type);
	bool kernel = pd_record_group(record->type) == PD_GROUP_KERNEL;

	if (record->type == PD_RECORD_SAMPLE &&
	    !(sample_is_valid(record, decoded) && pd_file_knows_counters(stream->file, record->event->attr->read_format,
									 ((const struct pd_sample *)decoded)->read)))
		return PD_BROKEN;
	// these are in the head of a pipe, and can be of any size
	if (record->type == PD_RECORD_OLD_FEATURE && stream->past_head)
		return PD_BROKEN;
	if (record->type == PD_RECORD_AUXTRACE && ((const struct pd_auxtrace *)decoded)->size > largest_trace)
		return PD_BROKEN;
	if ((rule->is_valid && !rule->is_valid(record, decoded)) || !ids_are_known(stream->file, record, decoded) ||
	    !cpus_are_known(stream->file, record, decoded))
		return PD_BROKEN;
	if (kernel && (!pd_stream_knows_end(stream->file, record) ||
		       (!body->sample_id && !forgot_trailer(stream->file, record, decoded))))
		return PD_BROKEN;
	if (record->type == PD_RECORD_SAMPLE && !stack_is_valid(decoded))
		return stream->tight_stacks ? PD_BROKEN : PD_ODD;
	if (!has_valid_misc(stream->file, record->type, record->misc) ||
	    (record->bytes.size % 8 && !may_be_odd(record->type)))
		return PD_ODD;
	if (body->rest.size >= 8 && record->type != PD_RECORD_EVENT_UPDATE &&
	    record->type != PD_RECORD_HEADER_TRACING_DATA && record->type != PD_RECORD_HEADER_EVENT_TYPE &&
	    record->type != PD_RECORD_HEADER_BUILD_ID && record->type != PD_RECORD_HEADER_ATTR)
		return PD_ODD;
	if (kernel && !trailer_is_valid(scratch, body->sample_id))
		return PD_ODD;
	if (has_padding(record->type) && !pd_record_is_tight(layout, decoded))
		return PD_ODD;
	if (rule->is_usual && !rule->is_usual(record, decoded))
		return PD_STRANGE;
	return is_near(stream, record->time_ns) ? PD_VALID : PD_WILD_TIME;
}

static enum pd_validity validate(struct pd_stream *stream, struct pd_record *record)
{
	const struct pd_file *file = stream->file;
	enum pd_status status;
	const void *decoded;
	bool has_event;

	if (!pd_record_layout(record->type))
		return may_be_unknown(file, record->type) ? PD_ODD : PD_BROKEN;
	has_event = record->event != NULL || !pd_file_event_count(file);
	if (record->type < 64 && record->type && !has_event)
		return PD_BROKEN; // its id is none of the file
	if (pd_record_is(record->type, PD_TRAIT_COMPRESSED))
		return record->inner_offset == PD_NO_OFFSET && compression_is_valid(stream, record) ? PD_VALID :
												      PD_BROKEN;
	// what there is no memory for is not known to be worse than others
	status = pd_record_decode(record, &decoded, NULL);
	if (status < 0)
		return status == PD_ERROR_MEMORY ? PD_VALID : PD_BROKEN;
	return validate_decoded(stream, record, decoded);
}

enum pd_validity pd_stream_validate(struct pd_stream *stream, struct pd_bytes bytes, uint32_t type,
				    uint64_t inner_offset, uint64_t *time_ns_out)
{
	struct pd_record_head head = pd_record_head(bytes.data, stream->swap);
	struct pd_record record = {
		.type = type ? type : pd_record_type_of(stream->file, &head),
		.misc = head.misc,
		.offset = stream->reader.offset,
		.inner_offset = inner_offset,
		.bytes = bytes,
		.scratch = &stream->scratch,
	};
	const struct pd_event_full *event = stream->scratch.context.event;
	bool quiet = stream->quiet, finalized = stream->finalized;
	uint64_t unknown_ids = stream->unknown_ids;
	enum pd_validity validity;

	pd_arena_reset(&stream->scratch.arena);
	// what is only asked is neither reported nor learned
	stream->quiet = stream->finalized = true;
	pd_stream_place(stream, &record);
	stream->quiet = quiet;
	stream->finalized = finalized;
	stream->unknown_ids = unknown_ids;
	validity = validate(stream, &record);
	pd_arena_reset(&stream->scratch.arena);
	stream->scratch.context.event = event;
	stream->scratch.scope_event = NULL;
	if (time_ns_out)
		*time_ns_out = record.time_ns;
	return validity;
}

bool pd_stream_has_other_type(struct pd_stream *stream, struct pd_bytes bytes, uint64_t inner_offset)
{
	static const uint32_t usual[] = {
		PD_RECORD_SAMPLE,  PD_RECORD_MMAP2,      PD_RECORD_MMAP,   PD_RECORD_COMM,
		PD_RECORD_FORK,    PD_RECORD_EXIT,       PD_RECORD_SWITCH, PD_RECORD_SWITCH_CPU_WIDE,
		PD_RECORD_KSYMBOL, PD_RECORD_NAMESPACES, PD_RECORD_CGROUP,
	};

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		const struct pd_layout *layout = pd_record_layout(usual[i]);

		if (bytes.size >= PD_RECORD_HEADER_SIZE + (size_t)layout->min_size &&
		    pd_stream_validate(stream, bytes, usual[i], inner_offset, NULL) == PD_VALID)
			return true;
	}
	return false;
}

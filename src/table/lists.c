/* SPDX-License-Identifier: MIT */
/* Rows of what is known once the file was read: stacks, frames, mappings, threads, events, features. */
#include "table/scan.h"

#include "base/error.h"
#include "file/file.h"
#include "state/locate.h"

enum {
	LINES_MOST = 128 // functions at one address
};

static void end_row(struct pd_scan *scan)
{
	pd_columns_end_row(&scan->batch);
	scan->at++;
}

// ---- stacks ----

static void put_stack_cell(struct pd_scan *scan, size_t column, uint32_t stack)
{
	struct pd_table_set *set = scan->set;
	const struct pd_table_stack *one = &set->strings.stacks[stack];
	uint32_t depth = 0;

	switch (scan->table->sources[column].what) {
	case PD_COL_STACK_STACK:
		pd_put_number(&scan->batch, column, pd_table_stack_id(set, stack));
		break;
	case PD_COL_STACK_PARENT:
		if (one->parent)
			pd_put_number(&scan->batch, column, pd_table_stack_id(set, one->parent));
		break;
	case PD_COL_STACK_FRAME:
		pd_put_number(&scan->batch, column, pd_table_frame_id(set, one->frame));
		break;
	case PD_COL_STACK_DEPTH:
		for (; stack; stack = set->strings.stacks[stack].parent)
			depth++;
		pd_put_number(&scan->batch, column, depth);
		break;
	default:
		pd_table_print_stack(set, stack, pd_put_begin(&scan->batch, column));
		pd_put_end(&scan->batch, column);
		break;
	}
}

// A stack or frame that is asked for by its hash is usually known: a sample has it.
static enum pd_status find_key(struct pd_scan *scan, const struct pd_u64_map *map, uint64_t *known_out,
			       struct pd_error *error)
{
	enum pd_status status = PD_OK;

	*known_out = pd_u64_map_find(map, scan->limits.key);
	if (!*known_out)
		status = scan->set->complete(scan->set, error);
	if (status >= 0 && !*known_out)
		*known_out = pd_u64_map_find(map, scan->limits.key);
	return status;
}

// Stacks or frames: what has numbers in the set, and an id by which others name it.
struct numbered {
	const struct pd_u64_map *number_of; // by id, + 1
	const size_t *count;
	uint64_t first; // number
	uint64_t (*id)(struct pd_table_set *set, uint32_t number);
	enum pd_status (*add)(struct pd_scan *scan, uint32_t number);
};

static enum pd_status scan_one(struct pd_scan *scan, const struct numbered *kind, struct pd_error *error)
{
	uint64_t known;
	enum pd_status status;

	if (scan->at)
		return PD_END;
	status = find_key(scan, kind->number_of, &known, error);
	if (status < 0)
		return status;
	return known ? kind->add(scan, (uint32_t)known - 1) : PD_END;
}

static enum pd_status scan_numbered(struct pd_scan *scan, const struct numbered *kind, struct pd_error *error)
{
	struct pd_table_set *set = scan->set;
	enum pd_status status;

	if (scan->limits.has_key)
		return scan_one(scan, kind, error);
	status = scan->at ? PD_OK : set->complete(set, error);
	if (status < 0)
		return status;
	if (scan->at < kind->first)
		scan->at = kind->first;
	// equal ones at other addresses have the number of the first one
	for (; scan->at < *kind->count; scan->at++) {
		uint64_t id = kind->id(set, (uint32_t)scan->at);

		if (set->strings.failed)
			return pd_fail_memory(error);
		if (pd_u64_map_find(kind->number_of, id) == scan->at + 1)
			return kind->add(scan, (uint32_t)scan->at);
	}
	return PD_END;
}

static enum pd_status add_stack(struct pd_scan *scan, uint32_t stack)
{
	for (size_t i = 0; i < scan->column_count; i++)
		put_stack_cell(scan, scan->columns[i], stack);
	end_row(scan);
	return PD_OK;
}

enum pd_status pd_scan_stacks(struct pd_scan *scan, struct pd_error *error)
{
	struct pd_table_set *set = scan->set;
	const struct numbered stacks = { &set->ids.stack_of, &set->strings.stack_count, 1, pd_table_stack_id,
					 add_stack };

	return scan_numbered(scan, &stacks, error);
}

// ---- frames ----

// The function's own line comes last, behind those of what was inlined.
static bool line_of(const struct pd_scan *scan, const struct pd_table_frame *frame, struct pd_line *line_out)
{
	struct pd_line lines[LINES_MOST];
	size_t count = frame->place.function ? pd_symbols_lines(scan->set->symbols, &frame->place, lines, LINES_MOST) :
					       0;

	if (!count || count > LINES_MOST)
		return false;
	*line_out = lines[count - 1];
	return true;
}

static const char *kind_of(const struct pd_table_frame *frame, const struct pd_table_object *object)
{
	if (!frame->object)
		return "unknown";
	return object->kernel ? "kernel" : "user";
}

static void put_name(struct pd_scan *scan, size_t column, uint32_t string)
{
	if (string)
		pd_put_number(&scan->batch, column, string);
}

static void put_frame_cell(struct pd_scan *scan, size_t column, uint32_t number)
{
	const struct pd_tables *tables = &scan->set->strings;
	const struct pd_table_frame frame = tables->frames[number];
	const struct pd_table_function *function = pd_tables_function_of(tables, frame.first_line);
	const struct pd_table_object *object = &tables->objects[frame.object];
	struct pd_line line;

	switch (scan->table->sources[column].what) {
	case PD_COL_FRAME_FRAME:
		pd_put_number(&scan->batch, column, pd_table_frame_id(scan->set, number));
		break;
	case PD_COL_FRAME_FUNCTION:
		put_name(scan, column, function->name);
		break;
	case PD_COL_FRAME_LINKER:
		put_name(scan, column, function->known ? function->linker : 0);
		break;
	case PD_COL_FRAME_OBJECT:
		put_name(scan, column, object->name);
		break;
	case PD_COL_FRAME_PATH:
		put_name(scan, column, object->path);
		break;
	case PD_COL_FRAME_BUILD_ID:
		put_name(scan, column, object->build_id);
		break;
	case PD_COL_FRAME_KIND:
		pd_scan_put_string(scan, column, kind_of(&frame, object));
		break;
	case PD_COL_FRAME_FILE:
		if (line_of(scan, &frame, &line))
			pd_scan_put_string(scan, column, line.file);
		break;
	default:
		if (line_of(scan, &frame, &line) && line.line)
			pd_put_number(&scan->batch, column, line.line);
		break;
	}
}

static enum pd_status add_frame(struct pd_scan *scan, uint32_t frame)
{
	for (size_t i = 0; i < scan->column_count; i++)
		put_frame_cell(scan, scan->columns[i], frame);
	end_row(scan);
	return PD_OK;
}

enum pd_status pd_scan_frames(struct pd_scan *scan, struct pd_error *error)
{
	struct pd_table_set *set = scan->set;
	const struct numbered frames = { &set->ids.frame_of, &set->strings.frame_count, 0, pd_table_frame_id,
					 add_frame };

	return scan_numbered(scan, &frames, error);
}

// ---- mappings ----

static void put_build_id(struct pd_scan *scan, size_t column, const uint8_t *id, size_t size)
{
	struct pd_text text = { 0 };

	pd_text_hex_bytes(&text, id, size);
	if (size && !text.failed)
		pd_put_number(&scan->batch, column, pd_tables_string(&scan->set->strings, text.data, text.size));
	scan->batch.failed |= text.failed;
	pd_free(text.data);
}

static void put_object_cell(struct pd_scan *scan, size_t column, const struct pd_object *object)
{
	static const char *const kinds[] = { "file", "kernel", "module", "ksymbol", "vdso", "vsyscall", "anon" };

	if (!object)
		return;
	switch (scan->table->sources[column].what) {
	case PD_COL_MAP_PATH:
		pd_scan_put_string(scan, column, object->path);
		break;
	case PD_COL_MAP_KIND:
		pd_scan_put_string(scan, column, kinds[object->kind]);
		break;
	case PD_COL_MAP_BUILD_ID:
		put_build_id(scan, column, object->build_id, object->build_id_size);
		break;
	case PD_COL_MAP_MAJ:
		pd_put_number(&scan->batch, column, object->maj);
		break;
	case PD_COL_MAP_MIN:
		pd_put_number(&scan->batch, column, object->min);
		break;
	default:
		pd_put_number(&scan->batch, column, object->ino);
		break;
	}
}

static void put_map_cell(struct pd_scan *scan, size_t column, const struct pd_mapping *map)
{
	struct pd_columns *batch = &scan->batch;

	switch (scan->table->sources[column].what) {
	case PD_COL_MAP_PID:
		pd_put_number(batch, column, map->pid);
		break;
	case PD_COL_MAP_TID:
		pd_put_number(batch, column, map->tid);
		break;
	case PD_COL_MAP_TIME:
		pd_put_number(batch, column, map->from.time_ns);
		break;
	case PD_COL_MAP_START:
		pd_put_number(batch, column, map->start);
		break;
	case PD_COL_MAP_END:
		pd_put_number(batch, column, map->end);
		break;
	case PD_COL_MAP_PGOFF:
		pd_put_number(batch, column, map->pgoff);
		break;
	case PD_COL_MAP_PROT:
		pd_put_number(batch, column, map->prot);
		break;
	case PD_COL_MAP_FLAGS:
		pd_put_number(batch, column, map->flags);
		break;
	case PD_COL_MAP_EXEC:
		pd_put_number(batch, column, map->executable);
		break;
	default:
		put_object_cell(scan, column, map->object);
		break;
	}
}

enum pd_status pd_scan_maps(struct pd_scan *scan, struct pd_error *error)
{
	struct pd_mapping map;

	(void)error;
	if (!pd_state_get_mapping(scan->set->state, (size_t)scan->at, &map))
		return PD_END;
	for (size_t i = 0; i < scan->column_count; i++)
		put_map_cell(scan, scan->columns[i], &map);
	end_row(scan);
	return PD_OK;
}

// ---- threads ----

static void put_task_cell(struct pd_scan *scan, size_t column, const struct pd_thread *thread)
{
	struct pd_list names = pd_state_thread_names(scan->set->state, thread);
	struct pd_columns *batch = &scan->batch;

	switch (scan->table->sources[column].what) {
	case PD_COL_TASK_PID:
		pd_put_number(batch, column, thread->pid);
		break;
	case PD_COL_TASK_TID:
		pd_put_number(batch, column, thread->tid);
		break;
	case PD_COL_TASK_PPID:
		pd_scan_put_known(scan, column, thread->ppid, thread->ppid != UINT32_MAX);
		break;
	case PD_COL_TASK_PTID:
		pd_scan_put_known(scan, column, thread->ptid, thread->ptid != UINT32_MAX);
		break;
	case PD_COL_TASK_COMM:
		if (names.count)
			pd_scan_put_string(scan, column, PD_ITEM(pd_thread_name, names, names.count - 1)->comm);
		break;
	case PD_COL_TASK_NAMES:
		pd_put_number(batch, column, names.count);
		break;
	case PD_COL_TASK_BEGIN:
		if (thread->begin.time_ns)
			pd_put_number(batch, column, thread->begin.time_ns);
		break;
	default:
		if (thread->end.time_ns != PD_NEVER)
			pd_put_number(batch, column, thread->end.time_ns);
		break;
	}
}

enum pd_status pd_scan_tasks(struct pd_scan *scan, struct pd_error *error)
{
	const struct pd_thread *thread = pd_state_thread(scan->set->state, (size_t)scan->at);

	(void)error;
	if (!thread)
		return PD_END;
	for (size_t i = 0; i < scan->column_count; i++)
		put_task_cell(scan, scan->columns[i], thread);
	end_row(scan);
	return PD_OK;
}

// ---- events ----

static void put_ids(struct pd_scan *scan, size_t column, struct pd_u64s ids)
{
	struct pd_text *text = pd_put_begin(&scan->batch, column);

	pd_text_char(text, '[');
	for (size_t i = 0; i < ids.count; i++) {
		if (i)
			pd_text_char(text, ',');
		pd_text_u64(text, ids.items[i]);
	}
	pd_text_char(text, ']');
	pd_put_end(&scan->batch, column);
}

static void put_event_cell(struct pd_scan *scan, size_t column, const struct pd_event *event)
{
	const struct pd_scope scope = { .words[PD_WORD_QUIRKS] = pd_file_quirks(scan->set->file) };

	switch (scan->table->sources[column].what) {
	case PD_COL_EVENT_NUMBER:
		pd_put_number(&scan->batch, column, event->index);
		break;
	case PD_COL_EVENT_NAME:
		pd_put_number(&scan->batch, column, pd_table_event_name(scan->set, event));
		break;
	case PD_COL_EVENT_VALUE_UNIT:
		pd_scan_put_string(scan, column, pd_table_unit(event));
		break;
	case PD_COL_EVENT_UNIT:
		pd_scan_put_string(scan, column, event->unit);
		break;
	case PD_COL_EVENT_SCALE:
		pd_put_double(&scan->batch, column, event->scale);
		break;
	case PD_COL_EVENT_IDS:
		put_ids(scan, column, event->ids);
		break;
	default:
		pd_scan_put_field(scan, column, &scope, event->attr);
		break;
	}
}

enum pd_status pd_scan_events(struct pd_scan *scan, struct pd_error *error)
{
	const struct pd_event *event = pd_file_event(scan->set->file, (size_t)scan->at);

	(void)error;
	if (!event)
		return PD_END;
	for (size_t i = 0; i < scan->column_count; i++)
		put_event_cell(scan, scan->columns[i], event);
	end_row(scan);
	return PD_OK;
}

// ---- features ----

static void put_feature_cell(struct pd_scan *scan, size_t column, const struct pd_feature_section *section)
{
	const struct pd_layout *layout;
	const void *decoded;

	switch (scan->table->sources[column].what) {
	case PD_COL_FEATURE_NUMBER:
		pd_put_number(&scan->batch, column, section->number);
		break;
	case PD_COL_FEATURE_NAME:
		pd_scan_put_string(scan, column, pd_feature_name(section->number));
		break;
	case PD_COL_FEATURE_OFFSET:
		pd_put_number(&scan->batch, column, section->offset);
		break;
	case PD_COL_FEATURE_SIZE:
		pd_put_number(&scan->batch, column, section->size);
		break;
	default:
		layout = pd_feature_layout(section->number);
		decoded = layout ? pd_file_feature(scan->set->file, section->number) : NULL;
		if (!decoded)
			break;
		pd_json_layout(pd_put_begin(&scan->batch, column), layout, decoded, scan->set->file);
		pd_put_end(&scan->batch, column);
		break;
	}
}

enum pd_status pd_scan_features(struct pd_scan *scan, struct pd_error *error)
{
	struct pd_feature_section section;

	(void)error;
	if (!pd_file_feature_at(scan->set->file, (size_t)scan->at, &section))
		return PD_END;
	for (size_t i = 0; i < scan->column_count; i++)
		put_feature_cell(scan, scan->columns[i], &section);
	end_row(scan);
	return PD_OK;
}

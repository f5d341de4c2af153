/* SPDX-License-Identifier: MIT */
/* Columns and the order of rows: parsed from lists of sort keys, in the places where perf report has them. */
#include "report/keys/field_keys.h"
#include "report/keys/find.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "interval/running.h"

enum {
	MEM_KEYS_BYTES = 256
};

static const char every_field[] = "trace_fields";
static const char default_keys[] = "comm,dso,sym";
/* Those of perf mem report. */
#define MEM_KEYS "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked"
static const char store_keys[] = "mem,sym,dso,symbol_daddr,dso_daddr,tlb,locked";
static const char history_keys[] = "srcline,symbol,dso";
static const char branch_keys[] = "comm,dso_from,symbol_from,symbol_to,cycles";

static enum pd_status append_key(struct pd_report *report, const struct key *key, size_t *index_out,
				 struct pd_error *error)
{
	if (key->head.of_branch && !report->by_branch)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the sort key %s needs --branch-stack",
			       key->head.name);
	for (*index_out = 0; *index_out < report->key_count; ++*index_out)
		if (report->keys[*index_out] == key)
			return PD_OK;
	if (report->key_count == PD_REPORT_KEYS_MAX)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "more than %d sort keys", PD_REPORT_KEYS_MAX);
	report->keys[report->key_count++] = key;
	return PD_OK;
}

static enum pd_status add_key(struct pd_report *report, const char *name, size_t length, size_t *index_out,
			      struct pd_error *error)
{
	const struct key *key = pd_key_by_name(name, length);

	if (key && report->children)
		key = pd_key_of_callers(key);
	if (!key && !report->by_branch)
		key = pd_field_key_by_name(report, report->planned_for, name, length);
	if (!key && pd_key_absent(name, length))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the sort key %.*s of perf is not here: %s",
			       (int)length, name, pd_key_absent(name, length));
	if (!key)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "unknown sort key '%.*s'; perfdata report --help lists them", (int)length, name);
	if (pd_key_is_of_types(key) && pd_key_check_types(report->planned_for, error))
		return PD_ERROR_UNSUPPORTED;
	return append_key(report, key, index_out, error);
}

/* perf 7.2 has a column of the name of a key; it is meant next to one that has no other meaning. */
static bool means_accesses(const char *list)
{
	for (const char *at = list; *at; at += *at != 0) {
		size_t length = strcspn(at, ",{}");

		for (unsigned kind = COLUMN_OP; kind <= COLUMN_DTLB; kind++) {
			const char *name = pd_access_column((enum column_kind)kind)->name;

			if (kind != COLUMN_SNOOP && strlen(name) == length && !memcmp(name, at, length))
				return true;
		}
		at += length;
	}
	return false;
}

/* Columns that need more of samples than their periods. */
static void note_kind(struct pd_report *report, enum column_kind kind)
{
	report->percentiles |= kind >= COLUMN_MEAN && kind <= COLUMN_MAX;
	report->accesses |= column_is_weight(kind) || column_is_access(kind);
	report->named_latency |= counts_latency(kind);
}

static enum pd_status parse_column(struct pd_report *report, const char *name, size_t length, bool accesses,
				   struct column *column, struct pd_error *error)
{
	static const struct {
		const char *name;
		enum column_kind kind;
	} numbers[] = {
		{ "overhead", COLUMN_OVERHEAD }, { "overhead_children", COLUMN_CHILDREN },
		{ "sample", COLUMN_SAMPLES },    { "samples", COLUMN_SAMPLES },
		{ "period", COLUMN_PERIOD },     { "overhead_sys", COLUMN_KERNEL },
		{ "overhead_us", COLUMN_USER },  { "count", COLUMN_SAMPLES },
		{ "total", COLUMN_PERIOD },      { "mean", COLUMN_MEAN },
		{ "p50", COLUMN_P50 },           { "p95", COLUMN_P95 },
		{ "p99", COLUMN_P99 },           { "max", COLUMN_MAX },
		{ "latency", COLUMN_LATENCY },   { "latency_children", COLUMN_LATENCY_CHILDREN },
		{ "weight1", COLUMN_WEIGHT1 },   { "weight2", COLUMN_WEIGHT2 },
		{ "weight3", COLUMN_WEIGHT3 },
	};

	*column = (struct column){ .kind = COLUMN_KEY };
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strlen(numbers[i].name) == length && !memcmp(numbers[i].name, name, length))
			column->kind = numbers[i].kind;
	for (unsigned kind = COLUMN_OP; accesses && kind <= COLUMN_DTLB; kind++) {
		const char *access = pd_access_column((enum column_kind)kind)->name;

		if (strlen(access) == length && !memcmp(access, name, length))
			column->kind = (enum column_kind)kind;
	}
	note_kind(report, column->kind);
	return column->kind != COLUMN_KEY ? PD_OK : add_key(report, name, length, &column->key, error);
}

static bool same_column(const struct column *a, const struct column *b)
{
	return a->kind == b->kind && (a->kind != COLUMN_KEY || a->key == b->key);
}

/* Adds a column that is not there yet. */
static enum pd_status append(struct column_list *list, const struct column *column, struct pd_error *error)
{
	for (size_t i = 0; i < list->count; i++)
		if (same_column(&list->items[i], column))
			return PD_OK;
	if (list->count == PD_REPORT_COLUMNS_MAX)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "more than %d columns", PD_REPORT_COLUMNS_MAX);
	list->items[list->count++] = *column;
	return PD_OK;
}

static enum pd_status append_all(struct column_list *list, const struct column_list *more, struct pd_error *error)
{
	for (size_t i = 0; i < more->count; i++)
		if (append(list, &more->items[i], error) < 0)
			return PD_ERROR_ARGUMENT;
	return PD_OK;
}

static bool has_key(const struct column_list *list, size_t key)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].kind == COLUMN_KEY && list->items[i].key == key)
			return true;
	return false;
}

/* All fields of tracepoints. */
static enum pd_status append_fields(struct pd_report *report, size_t level, struct column_list *list,
				    struct pd_error *error)
{
	const struct key *key;

	for (size_t i = 0; (key = pd_field_key_at(report, report->planned_for, i)) != NULL; i++) {
		struct column column = { .kind = COLUMN_KEY, .level = level };

		if (append_key(report, key, &column.key, error) < 0)
			return PD_ERROR_ARGUMENT;
		if (!has_key(list, column.key) && append(list, &column, error) < 0)
			return PD_ERROR_ARGUMENT;
	}
	return report->field_count ?
		       PD_OK :
		       pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "the sort key %s needs tracepoints of a file: of a pipe their fields are not known before it is read",
			       every_field);
}

/* What else a list of names says. */
struct names {
	bool symbol_first; /* the first one is a function */
	bool ipc;          /* after one of them perf has a column more */
	bool shares;       /* one of them is an overhead */
};

static void note_name(const struct pd_report *report, const struct column *column, const char *name, size_t length,
		      bool first, struct names *names)
{
	const struct key *key = column->kind == COLUMN_KEY ? report->keys[column->key] : NULL;

	names->shares |= pd_column_is_share(column->kind);
	names->ipc |= key && key->ipc_name && strlen(key->ipc_name) == length && !memcmp(key->ipc_name, name, length);
	names->symbol_first |= first && key && (key->has_level || key->ipc_name);
}

/* Adds the columns of a list as -s and -F have it; keys become keys of the report. */
static enum pd_status parse(struct pd_report *report, const char *list, struct column_list *columns,
			    struct names *names, struct pd_error *error)
{
	const bool accesses = means_accesses(list);
	bool inside = false;
	size_t level = 0;

	for (bool first = true; *list; first = false) {
		bool opens = *list == '{';
		size_t length = strcspn(list += opens, ",}");
		struct column column;
		bool all = length == strlen(every_field) && !memcmp(list, every_field, length);

		level = inside ? level : columns->count;
		inside |= opens;
		if (all && append_fields(report, level, columns, error) < 0)
			return PD_ERROR_ARGUMENT;
		length = all ? 0 : length;
		if (length && parse_column(report, list, length, accesses, &column, error) < 0)
			return PD_ERROR_ARGUMENT;
		column.level = level;
		if (length && append(columns, &column, error) < 0)
			return PD_ERROR_ARGUMENT;
		if (length)
			note_name(report, &column, list, length, first, names);
		list += all ? strlen(every_field) : length;
		inside &= *list != '}';
		list += *list == '}';
		list += *list == ',';
	}
	return PD_OK;
}

/* What they recorded says more than where they are. */
static bool only_tracepoints(struct pd_file *file)
{
	size_t count = pd_file_event_count(file);

	for (size_t i = 0; i < count; i++)
		if (pd_file_event(file, i)->attr->type != PD_TYPE_TRACEPOINT)
			return false;
	return count > 0;
}

/* As perf, which has other keys where something is asked for, and then, as after -s, a column more. They are the place for their
 * text. */
static const char *mem_keys(const struct pd_report *report, char keys[MEM_KEYS_BYTES], bool *asked_out)
{
	const struct pd_report_options *options = &report->options;
	bool stores = options->mem_type == PD_REPORT_MEM_STORES;

	*asked_out = !options->sort && (stores || options->mem_phys_addr || options->mem_page_size);
	snprintf(keys, MEM_KEYS_BYTES, "%s%s%s%s", *asked_out && stores ? store_keys : MEM_KEYS,
		 *asked_out ? "" : ",local_ins_lat", *asked_out && options->mem_phys_addr ? ",phys_daddr" : "",
		 *asked_out && options->mem_page_size ? ",data_page_size" : "");
	return keys;
}

/* The keys of -s; those with a + in front follow the default ones. */
static enum pd_status parse_sort(struct pd_report *report, struct pd_file *file, struct column_list *keys,
				 struct names *names, struct pd_error *error)
{
	const char *sort = report->options.sort;
	struct names ignored = { 0 };
	char mem[MEM_KEYS_BYTES];
	bool asked = false;
	const char *usual = report->by_branch              ? branch_keys :
			    report->options.mem_mode       ? mem_keys(report, mem, &asked) :
			    report->options.branch_history ? history_keys :
			    file && only_tracepoints(file) ? "trace" :
							     default_keys;

	/* as if they had been asked for */
	if ((!sort || *sort == '+') && parse(report, usual, keys, usual == history_keys ? names : &ignored, error) < 0)
		return PD_ERROR_ARGUMENT;
	if (sort && parse(report, sort + (*sort == '+'), keys, names, error) < 0)
		return PD_ERROR_ARGUMENT;
	report->symbol_first = sort && *sort != '+' && names->symbol_first;
	/* perf has a column more where a key is called so, not where it is a default key. */
	if (!(names->ipc || asked) || report->by_branch || report->options.no_empty_columns)
		return PD_OK;
	return parse(report, "ipc_null", keys, &ignored, error);
}

/* A column of numbers by which rows are sorted, too. */
static void add_number(struct pd_report *report, enum column_kind kind)
{
	struct column column = { .kind = kind, .implied = kind == COLUMN_OVERHEAD && report->children };

	append(&report->columns, &column, NULL);
	append(&report->order, &column, NULL);
}

/* As perf: rows are not sorted by these. */
static void add_levels(struct pd_report *report)
{
	append(&report->columns, &(struct column){ .kind = COLUMN_KERNEL }, NULL);
	append(&report->columns, &(struct column){ .kind = COLUMN_USER }, NULL);
}

/* Shares of CPU time, and of wall time before or after them. */
static void add_pair(struct pd_report *report, enum column_kind of_cpu, enum column_kind of_wall, bool wanted)
{
	if (wanted && report->options.latency)
		add_number(report, of_wall);
	if (wanted)
		add_number(report, of_cpu);
	if (wanted && report->implied_latency && !report->options.latency)
		add_number(report, of_wall);
}

static void add_numbers(struct pd_report *report)
{
	/* As perf: who sorts by wall time asks for all columns. */
	bool shares = !report->options.sort || !strstr(report->options.sort, "latency");

	add_pair(report, COLUMN_CHILDREN, COLUMN_LATENCY_CHILDREN, shares && report->children);
	add_pair(report, COLUMN_OVERHEAD, COLUMN_LATENCY, shares);
	if (report->options.show_levels)
		add_levels(report);
	if (report->options.show_samples)
		append(&report->columns, &(struct column){ .kind = COLUMN_SAMPLES }, NULL);
	if (report->options.show_period)
		append(&report->columns, &(struct column){ .kind = COLUMN_PERIOD }, NULL);
}

/* As perf: these count after the keys. */
static void order_counts(struct pd_report *report)
{
	if (report->options.show_samples)
		append(&report->order, &(struct column){ .kind = COLUMN_SAMPLES }, NULL);
	if (report->options.show_period)
		append(&report->order, &(struct column){ .kind = COLUMN_PERIOD }, NULL);
}

/* The default columns: shares, then what was requested, then the keys; rows are sorted by them in this order. Columns of
 * -F +LIST stand before the keys, and count last. */
static enum pd_status plan_default(struct pd_report *report, struct pd_file *file, struct pd_error *error)
{
	struct column_list keys = { 0 }, more = { 0 };
	struct names names = { 0 }, ignored = { 0 };
	enum pd_status status = PD_OK;

	add_numbers(report);
	if (report->options.fields)
		status = parse(report, report->options.fields + 1, &more, &ignored, error);
	if (status == PD_OK)
		status = parse_sort(report, file, &keys, &names, error);
	/* As perf: shares that are among the keys have their place in the order there. */
	if (file && names.shares && !report->children)
		report->order.count = 0;
	if (status == PD_OK)
		status = append_all(&report->columns, &more, error);
	if (status == PD_OK)
		status = append_all(&report->columns, &keys, error);
	if (status == PD_OK)
		status = append_all(&report->order, &keys, error);
	if (status == PD_OK)
		order_counts(report);
	return status == PD_OK ? append_all(&report->order, &more, error) : status;
}

/* A part of a name is looked for in the column that shows names. */
static enum pd_status find_symbol_key(struct pd_report *report, struct pd_error *error)
{
	for (; report->symbol_key < report->key_count; report->symbol_key++)
		if (strcmp(report->keys[report->symbol_key]->head.name, "sym") == 0)
			return PD_OK;
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "--symbol-filter needs the sort key sym");
}

/* As perf: rows go by -s if both are given, and the columns of -F come first. */
static enum pd_status plan_columns(struct pd_report *report, struct pd_file *file, struct pd_error *error)
{
	const struct pd_report_options *options = &report->options;
	struct names names = { 0 };

	if (!options->fields || *options->fields == '+')
		return plan_default(report, file, error);
	if (parse(report, options->fields, &report->columns, &names, error) < 0)
		return PD_ERROR_ARGUMENT;
	names = (struct names){ 0 };
	if (!options->sort)
		report->order = report->columns;
	else if (parse_sort(report, file, &report->order, &names, error) < 0)
		return PD_ERROR_ARGUMENT;
	return append_all(&report->columns, &report->order, error);
}

static bool shows_latency(const struct column_list *columns)
{
	bool shows = false;

	for (size_t i = 0; i < columns->count; i++)
		shows = shows || counts_latency(columns->items[i].kind);
	return shows;
}

/* Whether perf record --latency made it, which is what says that this time is of interest. */
static bool is_recorded_for_latency(struct pd_file *file)
{
	const struct pd_cmdline *line = file ? pd_file_cmdline(file) : NULL;

	for (size_t i = 0; line && i < line->arguments.count; i++)
		if (strcmp(PD_ITEM(pd_argument, line->arguments, i)->value.data, "--latency") == 0)
			return true;
	return false;
}

/* As perf: a pattern of parents shows them, behind all others. */
static enum pd_status add_parent(struct pd_report *report, struct pd_error *error)
{
	enum pd_status status = parse(report, "parent", &report->columns, &(struct names){ 0 }, error);

	return status == PD_OK ? parse(report, "parent", &report->order, &(struct names){ 0 }, error) : status;
}

/* What perf says that rows are sorted by, with a key that has no column here; strings of the options are not kept. */
static enum pd_status keep_sort(struct pd_report *report, struct pd_error *error)
{
	const char *sort = report->options.sort, *more = sort && *sort == '+' ? sort : NULL;
	char keys[MEM_KEYS_BYTES];
	bool asked, ipc;
	size_t size;

	mem_keys(report, keys, &asked);
	ipc = asked || (sort && strstr(sort, "symbol"));
	if (!sort || more)
		snprintf(keys + strlen(keys), sizeof(keys) - strlen(keys), "%s%s", asked ? "" : ",local_p_stage_cyc",
			 more && more[1] ? "," : "");
	else
		*keys = 0;
	size = strlen(keys) + (sort ? strlen(sort) : 0) + sizeof(",ipc_null");
	report->sort_text = pd_alloc(size);
	if (!report->sort_text)
		return pd_fail_memory(error);
	snprintf(report->sort_text, size, "%s%s%s", keys, !sort ? "" : more ? more + 1 : sort, ipc ? ",ipc_null" : "");
	return PD_OK;
}

enum pd_status pd_columns_plan(struct pd_report *report, struct pd_file *file, struct pd_error *error)
{
	enum pd_status status;

	report->implied_latency = !report->by_branch && is_recorded_for_latency(file) && pd_running_is_recorded(file);
	status = plan_columns(report, file, error);
	report->by_latency = shows_latency(&report->columns) || shows_latency(&report->order);

	if (status == PD_OK && report->accesses && (report->options.hierarchy || report->by_branch))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "weight1 ... weight3, op, cache, memory, snoop and dtlb are of rows of samples: "
			       "neither --hierarchy nor --branch-stack has them");
	if (status == PD_OK && report->percentiles && report->options.hierarchy)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "mean, p50, p95, p99 and max are of rows, which --hierarchy has none of");
	if (status == PD_OK && report->options.parent)
		status = add_parent(report, error);
	if (status == PD_OK && report->options.mem_mode)
		status = keep_sort(report, error);
	return status == PD_OK && report->options.symbol_part ? find_symbol_key(report, error) : status;
}

static void drop_latency(struct column_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (!counts_latency(list->items[i].kind))
			list->items[kept++] = list->items[i];
	list->count = kept;
}

static bool is_parallel(const struct pd_report *report)
{
	const struct pd_profile_total *total;

	for (size_t i = 0; (total = pd_profile_total(report->profile, i)) != NULL; i++)
		if (total->latency + total->left_latency != (total->period + total->left_period) * PD_LATENCY_UNIT)
			return true;
	return false;
}

void pd_columns_drop_latency(struct pd_report *report)
{
	const struct pd_report_options *options = &report->options;

	if (!report->implied_latency || options->latency || report->named_latency || is_parallel(report))
		return;
	drop_latency(&report->columns);
	drop_latency(&report->order);
	report->by_latency = false;
}

void pd_columns_elide(struct pd_report *report)
{
	const struct {
		const char *key, *only;
	} names[] = { { "comm", report->options.only_comm },
		      { "dso", report->options.only_dso },
		      { "sym", report->options.only_symbol } };
	struct column *columns = report->columns.items;
	size_t keys = 0, left = 0;

	for (size_t i = 0; i < report->columns.count; i++) {
		struct column *column = &columns[i];

		for (size_t k = 0; column->kind == COLUMN_KEY && k < sizeof(names) / sizeof(names[0]); k++)
			if (names[k].only && strcmp(report->keys[column->key]->head.name, names[k].key) == 0) {
				column->elided = true;
				report->elided[column->key] = names[k].only;
			}
		keys += column->kind == COLUMN_KEY;
		left += column->kind == COLUMN_KEY && !column->elided;
	}
	/* As perf: rather all of them than none. */
	for (size_t i = 0; keys && !left && i < report->columns.count; i++)
		columns[i].elided = false;
}

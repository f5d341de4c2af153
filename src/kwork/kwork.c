/* SPDX-License-Identifier: MIT */
// From events to sums.
#include "kwork/kwork.h"

#include <stdio.h>
#include <string.h>

static const struct pd_tracepoint points[] = {
#define CLASS(NAME, name, raise, entry, exit, id, field)                                  \
	{ raise, { id, "?common_pid", field } }, { entry, { id, "?common_pid", field } }, \
		{ exit, { id, "?common_pid", field } },
#include "kwork/classes.def"
};

// Which events begin and end what is measured.
static enum pd_status take_measured(struct pd_kwork *kwork, struct pd_kwork_work *work, enum pd_kwork_step step,
				    uint64_t time_ns, struct pd_error *error)
{
	bool latency = kwork->options.mode == PD_KWORK_LATENCY;
	enum pd_kwork_step begin = latency ? PD_KWORK_RAISE : PD_KWORK_ENTRY;
	struct pd_kwork_open open = { .time_ns = time_ns };

	if (step == begin)
		return pd_kwork_push(kwork, work, step, open, error);
	if (step != begin + 1)
		return PD_OK;
	if (pd_kwork_pop(kwork, work, begin, &open))
		pd_kwork_add_time(work, open.time_ns, time_ns);
	else
		work->left[step]++;
	return PD_OK;
}

static enum pd_status take_shown(struct pd_kwork *kwork, struct pd_kwork_work *work, enum pd_kwork_step step,
				 uint64_t time_ns, struct pd_error *error)
{
	struct pd_kwork_open open = { .time_ns = time_ns }, raised;

	if (step == PD_KWORK_ENTRY && pd_kwork_pop(kwork, work, PD_KWORK_RAISE, &raised))
		open.raised_ns = raised.time_ns;
	if (step != PD_KWORK_EXIT)
		return pd_kwork_push(kwork, work, step, open, error);
	if (pd_kwork_pop(kwork, work, PD_KWORK_ENTRY, &open)) {
		(kwork->options.json ? pd_kwork_json_time : pd_kwork_print_time)(kwork, work, &open, time_ns);
		return pd_text_flush_or_fail(kwork->pairs.sched.text, error);
	}
	work->left[step]++;
	return PD_OK;
}

// What a kind of output does not need is not even looked at, as in perf.
static bool is_needed(const struct pd_kwork *kwork, enum pd_kwork_class of, enum pd_kwork_step step)
{
	if (!kwork->order[of])
		return false;
	if (kwork->options.mode == PD_KWORK_REPORT)
		return step != PD_KWORK_RAISE;
	return kwork->options.mode == PD_KWORK_TIMEHIST || step != PD_KWORK_EXIT;
}

static enum pd_status take_point(struct pd_pairs *pairs, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error)
{
	struct pd_kwork *kwork = (struct pd_kwork *)pairs;
	enum pd_kwork_class of = (enum pd_kwork_class)(sample->which / PD_KWORK_STEPS);
	enum pd_kwork_step step = (enum pd_kwork_step)(sample->which % PD_KWORK_STEPS);
	struct pd_kwork_work *work;

	if (kwork->options.mode == PD_KWORK_TOP)
		return pd_kwork_take_top(kwork, sample, error);
	if (!is_needed(kwork, of, step))
		return PD_OK;
	work = pd_kwork_find(kwork, of, sample->values[PD_KWORK_ID], sample->brief.cpu, error);
	if (!work)
		return error->status;
	if (!pd_kwork_name(kwork, work, sample))
		return pd_fail_memory(error);
	if (!pd_kwork_is_chosen(kwork, work, sample->brief.time_ns))
		return PD_OK;
	return (kwork->options.mode == PD_KWORK_TIMEHIST ? take_shown : take_measured)(kwork, work, step,
										       sample->brief.time_ns, error);
}

static size_t class_count(const struct pd_kwork *kwork)
{
	return kwork->options.mode == PD_KWORK_TOP ? PD_KWORK_CLASSES : PD_KWORK_SCHED;
}

static enum pd_status fail_unknown_class(const struct pd_kwork *kwork, const char *name, size_t length,
					 struct pd_error *error)
{
	char names[64] = "";

	for (size_t i = 0, at = 0; i < class_count(kwork) && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, " %s", pd_kwork_class_name(i));
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "unknown kind of work '%.*s'; there are:%s", (int)length,
		       name, names);
}

static enum pd_status choose_classes(struct pd_kwork *kwork, struct pd_error *error)
{
	const char *list = kwork->options.classes;

	for (unsigned i = 0; !list && i < class_count(kwork); i++)
		kwork->order[i] = i + 1;
	for (unsigned place = 1; list && *(list += strspn(list, ", ")); place++) {
		size_t length = strcspn(list, ", ");
		enum pd_kwork_class i = 0;

		while (i < class_count(kwork) &&
		       (strlen(pd_kwork_class_name(i)) != length || memcmp(pd_kwork_class_name(i), list, length) != 0))
			i++;
		if (i == class_count(kwork))
			return fail_unknown_class(kwork, list, length, error);
		kwork->order[i] = place;
		list += length;
	}
	return PD_OK;
}

static enum pd_status read_all(struct pd_kwork *kwork, struct pd_file *file, struct pd_text *text,
			       struct pd_error *error)
{
	const char *cpus = kwork->options.cpus;
	enum pd_status status = choose_classes(kwork, error);

	if (status >= 0)
		status = pd_kwork_choose_keys(kwork, error);
	if (status >= 0 && cpus && !pd_list_is_right(cpus))
		status = pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is not a list of CPUs such as 0-3,7",
				 cpus);
	if (status < 0)
		return status;
	kwork->pairs.take = take_point;
	kwork->pairs.resolves = kwork->options.mode != PD_KWORK_TOP;
	kwork->pairs.names_only = true;
	kwork->pairs.open = kwork->options.symbols;
	kwork->pairs.time = kwork->options.time;
	// names are those of the first event, as in perf
	kwork->pairs.takes_all = true;
	kwork->pairs.open_self = kwork->options.self;
	kwork->pairs.places.seed = kwork->seed = pd_hash_secret();
	if (kwork->options.mode == PD_KWORK_TIMEHIST && !kwork->options.json)
		pd_kwork_print_head(text);
	return pd_pairs_run(&kwork->pairs, file, text, points, class_count(kwork) * PD_KWORK_STEPS, 0,
			    "no work of the kernel (perfdata kwork record)", error);
}

enum pd_status pd_print_kwork(struct pd_text *text, struct pd_file *file, const struct pd_kwork_options *options,
			      struct pd_error *error)
{
	struct pd_kwork kwork = { 0 };
	struct pd_error own;
	enum pd_status status;

	if (!error)
		error = &own;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_kwork_options.size is 0");
	if (options)
		memcpy(&kwork.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	kwork.json.text = text;
	status = read_all(&kwork, file, text, error);
	if (status >= 0 && (kwork.options.json || kwork.options.mode != PD_KWORK_TIMEHIST)) {
		bool top = kwork.options.mode == PD_KWORK_TOP;

		if (top ? pd_kwork_sum_top(&kwork) : pd_kwork_sort(&kwork))
			(kwork.options.json ? pd_kwork_json : top ? pd_kwork_print_top : pd_kwork_print)(&kwork);
		else
			status = pd_fail_memory(error);
	}
	pd_kwork_works_fini(&kwork);
	pd_pairs_fini(&kwork.pairs);
	return status < 0 ? status : pd_text_flush_or_fail(text, error);
}

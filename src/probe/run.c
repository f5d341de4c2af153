/* SPDX-License-Identifier: MIT */
/* What perf probe does with its options. */
#include <string.h>

#include "probe/set.h"

struct running {
	struct pd_text *text;
	const struct pd_probe_options *options;
	struct pd_probes *probes; // NULL: not needed
	struct pd_error *error;
};

typedef enum pd_status step_fn(const struct running *running, const char *item);

static enum pd_status define(const struct running *r, const char *item)
{
	return pd_probes_define(r->probes, item, r->error);
}

static enum pd_status print_lines(const struct running *r, const char *item)
{
	return pd_print_probe_lines(r->text, r->probes, item, r->error);
}

static enum pd_status print_variables(const struct running *r, const char *item)
{
	return pd_print_probe_variables(r->text, r->probes, item, r->error);
}

static enum pd_status print_functions(const struct running *r, const char *item)
{
	(void)item;
	return pd_print_probe_functions(r->text, r->probes, r->error);
}

static enum pd_status print_events(const struct running *r, const char *item)
{
	return pd_print_probes(r->text, r->options, *item ? item : NULL, r->error);
}

static enum pd_status remove_events(const struct running *r, const char *item)
{
	if (r->options->dry_run)
		return pd_print_probes(r->text, r->options, item, r->error);
	return pd_probes_remove(r->text, r->options, item, r->error);
}

static const struct action {
	const char *name;
	step_fn *run;
	bool needs_object;
} actions[] = {
	{ "add", define, true },           { "definition", define, true },     { "line", print_lines, true },
	{ "vars", print_variables, true }, { "funcs", print_functions, true }, { "list", print_events, false },
	{ "del", remove_events, false },
};

static const struct action *action_of(const char *name)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	return NULL;
}

// ---- adding ----

static enum pd_status add_defined(const struct running *r)
{
	const struct pd_probe_item *last = &r->probes->items[r->probes->count - 1];
	enum pd_status status;

	if (r->options->dry_run) {
		for (size_t i = 0; i < r->probes->count; i++) {
			status = pd_probe_name(r->probes, &r->probes->items[i], NULL, true, r->error);
			if (status)
				return status;
		}
	} else {
		status = pd_probes_add(r->probes, r->error);
		if (status)
			return status;
	}
	pd_print_added_probes(r->text, r->probes);
	pd_text_printf(r->text,
		       "\nYou can now use it in all perf tools, such as:\n\n\tperf record -e %s:%s -aR sleep 1\n\n",
		       last->points[0].group, last->points[0].event);
	return PD_OK;
}

static enum pd_status define_words(const struct running *r, const char *const *words, size_t count)
{
	struct pd_text text = { .data = NULL };
	enum pd_status status;

	for (size_t i = 0; i < count; i++) {
		pd_text_add(&text, words[i]);
		pd_text_char(&text, i + 1 < count ? ' ' : 0);
	}
	status = text.failed ? pd_fail_memory(r->error) : define(r, text.data);
	pd_free(text.data);
	return status;
}

// ---- all of it ----

static enum pd_status run_steps(const struct running *r, const struct action *action, const struct pd_probe_step *steps,
				size_t step_count, const char *const *words, size_t word_count)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < step_count && !status; i++)
		status = action->run(r, steps[i].item);
	if (!status && word_count)
		status = define_words(r, words, word_count);
	if (status || action->run != define)
		return status;
	if (strcmp(action->name, "definition") == 0)
		return pd_print_probe_definitions(r->text, r->probes, r->error);
	return add_defined(r);
}

static enum pd_status choose_action(const struct pd_probe_step *steps, size_t step_count, size_t word_count,
				    const struct action **action_out, struct pd_error *error)
{
	*action_out = word_count ? &actions[0] : step_count ? action_of(steps[0].action) : NULL;
	if (!*action_out)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "nothing to do; give --add, --del, --list, --definition, --line, --vars or --funcs");
	for (size_t i = 0; i < step_count; i++)
		if (strcmp(steps[i].action, (*action_out)->name) != 0)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "--%s and --%s cannot be combined",
				       (*action_out)->name, steps[i].action);
	return PD_OK;
}

static enum pd_status run_action(const struct running *running, const struct action *action,
				 const struct pd_probe_step *steps, size_t step_count, const char *const *words,
				 size_t word_count)
{
	struct running own = *running;
	struct pd_text text = { .data = NULL };
	enum pd_status status;

	if (!running->options->escape)
		return run_steps(running, action, steps, step_count, words, word_count);
	own.text = &text;
	status = run_steps(&own, action, steps, step_count, words, word_count);
	if (text.failed && !status)
		status = pd_fail_memory(running->error);
	pd_text_escaped_lines(running->text, pd_text_bytes(&text));
	pd_free(text.data);
	return status;
}

enum pd_status pd_probe_run(struct pd_text *text, const struct pd_probe_options *options,
			    const struct pd_probe_step *steps, size_t step_count, const char *const *words,
			    size_t word_count, struct pd_error *error)
{
	struct pd_probe_options own;
	struct running running = { .text = text, .options = &own, .error = error };
	const struct action *action;
	enum pd_status status = pd_probe_take_options(options, &own, error);

	if (!status)
		status = choose_action(steps, step_count, word_count, &action, error);
	if (status)
		return status;
	if (action->run == print_functions && steps[0].item[0])
		own.filter = steps[0].item;
	if (action->needs_object)
		status = pd_probes_open(&own, &running.probes, error);
	if (!status)
		status = run_action(&running, action, steps, step_count, words, word_count);
	pd_probes_close(running.probes);
	return status;
}

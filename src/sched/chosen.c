/* SPDX-License-Identifier: MIT */
// Which threads, CPUs and times of timehist are wanted, by perf's rules.
#include "sched/sched.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/number_list.h"

#define NS_PER_S UINT64_C(1000000000)

enum {
	PRIO_MOST = 139
};

static bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

// "12.5", or nothing, which is 0.
static bool read_seconds(const char **at, uint64_t *ns_out)
{
	uint64_t seconds = 0, ns = 0;

	for (; is_digit(**at); ++*at) {
		seconds = 10 * seconds + (uint64_t)(**at - '0');
		if (seconds > UINT64_MAX / NS_PER_S / 10)
			return false;
	}
	if (**at == '.')
		++*at;
	for (uint64_t scale = NS_PER_S / 10; is_digit(**at); ++*at, scale /= 10)
		ns += scale * (uint64_t)(**at - '0');
	*ns_out = seconds * NS_PER_S + ns;
	return true;
}

static enum pd_status read_window(struct pd_sched_window *window, const char *time, struct pd_error *error)
{
	const char *at = time;

	if (read_seconds(&at, &window->from_ns) && *at++ == ',' && read_seconds(&at, &window->to_ns) && !*at &&
	    (!window->to_ns || window->to_ns >= window->from_ns))
		return PD_OK;
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is no part of the time, such as 12.5,13", time);
}

static bool are_prios(const char *list)
{
	for (char *end; *list; list = *end ? end + 1 : end)
		if (strtoul(list, &end, 10) > PRIO_MOST)
			return false;
	return true;
}

enum pd_status pd_sched_choose(struct pd_sched *sched, struct pd_error *error)
{
	const struct pd_timehist_options *options = sched->options;
	const char *const lists[] = { options->pids, options->tids, options->cpus, options->prios };

	sched->chooses = options->pids || options->tids || options->cpus || options->time || options->prios;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (lists[i] && !pd_list_is_right(lists[i]))
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: not a list of numbers", lists[i]);
	if (options->prios && !are_prios(options->prios))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: priorities are 0 to %d", options->prios,
			       PRIO_MOST);
	return options->time ? read_window(&sched->window, options->time, error) : PD_OK;
}

// Of a thread that was switched in, the priority that it had then. What is not known is taken.
static bool has_prio(const struct pd_timehist_options *options, const struct pd_sched_thread *thread, int32_t prio)
{
	int32_t known = thread->has_prio ? thread->prio : prio;

	return !options->prios || known == PD_SCHED_NO_PRIO || pd_list_has(options->prios, (uint32_t)known);
}

bool pd_sched_has_thread(struct pd_sched *sched, const struct pd_sched_thread *thread, int32_t prio)
{
	const struct pd_timehist_options *options = sched->options;
	bool has = (!options->pids || pd_list_has(options->pids, (uint32_t)thread->pid)) &&
		   (!options->tids || pd_list_has(options->tids, (uint32_t)thread->tid)) &&
		   has_prio(options, thread, prio);

	sched->skipped |= !has;
	return has;
}

bool pd_sched_has_cpu(const struct pd_sched *sched, uint32_t cpu)
{
	return !sched->options->cpus || pd_list_has(sched->options->cpus, cpu);
}

bool pd_sched_has_time(const struct pd_sched *sched, uint64_t time_ns)
{
	return time_ns >= sched->window.from_ns && (!sched->window.to_ns || time_ns <= sched->window.to_ns);
}

bool pd_sched_cut_time(const struct pd_sched *sched, uint64_t *before_ns, uint64_t *time_ns)
{
	const struct pd_sched_window *window = &sched->window;

	if (*time_ns < window->from_ns)
		return false;
	// nothing is known of what was before the first switch
	if (window->to_ns && (!*before_ns || *before_ns > window->to_ns))
		return false;
	if (*before_ns && *before_ns < window->from_ns)
		*before_ns = window->from_ns;
	if (window->to_ns && *time_ns > window->to_ns)
		*time_ns = window->to_ns;
	return true;
}

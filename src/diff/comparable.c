/* SPDX-License-Identifier: MIT */
/* What makes recordings hard to compare: another CPU, command, event or rate, and samples that are missing. */
#include "diff/diff.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/path.h"
#include "base/text/text.h"

/* False if there is no memory. */
static bool warn(struct pd_diff *diff)
{
	struct pd_bytes bytes = pd_text_bytes(diff->scratch);
	char *copy = pd_arena_text(&diff->texts, bytes.data, bytes.size);

	if (!copy || pd_text_failed(diff->scratch) ||
	    !PD_GROW(diff->warnings, diff->warning_capacity, diff->warning_count + 1))
		return false;
	diff->warnings[diff->warning_count++] = copy;
	return true;
}

static void begin_warning(struct pd_diff *diff)
{
	const char *name = diff->runs[diff->run_count - 1].name;

	pd_text_clear(diff->scratch);
	pd_text_printf(diff->scratch, "%s: ", name);
}

/* ---- facts ---- */

static bool is_output(const char *word)
{
	return strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0;
}

/* False if there is no memory. */
static bool read_command(struct pd_diff *diff, struct pd_file *file, struct run_facts *facts)
{
	const struct pd_cmdline *line = pd_file_cmdline(file);
	struct pd_bytes bytes;

	pd_text_clear(diff->scratch);
	for (size_t i = 1; line && i < line->arguments.count; i++) {
		const char *word = PD_ITEM(pd_argument, line->arguments, i)->value.data;

		if (is_output(word))
			i++;
		else if (strncmp(word, "--output=", 9) != 0)
			pd_text_printf(diff->scratch, "%s%s", pd_text_bytes(diff->scratch).size ? " " : "",
				       *word ? pd_path_leaf(word) : "''");
	}
	bytes = pd_text_bytes(diff->scratch);
	facts->command = line ? pd_arena_text(&diff->texts, bytes.data, bytes.size) : NULL;
	return !line || (facts->command && !pd_text_failed(diff->scratch));
}

static bool read_facts(struct pd_diff *diff, struct pd_file *file, struct run_facts *facts)
{
	const struct pd_string *cpu = pd_file_cpudesc(file);
	const struct pd_nrcpus *cpus = pd_file_nrcpus(file);

	facts->cpus = cpus ? cpus->online : 0;
	if (cpu) {
		facts->cpu = pd_arena_text(&diff->texts, cpu->value.data, cpu->value.length);
		if (!facts->cpu)
			return false;
	}
	return read_command(diff, file, facts);
}

/* ---- differences ---- */

static bool differ(const char *one, const char *other)
{
	return one && other && strcmp(one, other) != 0;
}

static bool check_facts(struct pd_diff *diff, const struct run_facts *facts)
{
	const struct run_facts *base = diff->facts;
	bool done = true;

	begin_warning(diff);
	if (differ(facts->cpu, base->cpu)) {
		pd_text_printf(diff->scratch, "another CPU: %s (baseline: %s)", facts->cpu, base->cpu);
		done = warn(diff);
		begin_warning(diff);
	}
	if (done && facts->cpus && base->cpus && facts->cpus != base->cpus) {
		pd_text_printf(diff->scratch, "%" PRIu32 " CPUs (baseline: %" PRIu32 ")", facts->cpus, base->cpus);
		done = warn(diff);
		begin_warning(diff);
	}
	if (done && differ(facts->command, base->command)) {
		pd_text_printf(diff->scratch, "another command: %s (baseline: %s)", facts->command, base->command);
		done = warn(diff);
		begin_warning(diff);
	}
	return done;
}

bool pd_diff_check_sampling(struct pd_diff *diff, const struct diff_event *event, bool frequency, uint64_t sampling)
{
	if (frequency == event->frequency && sampling == event->sampling)
		return true;
	begin_warning(diff);
	pd_text_printf(diff->scratch, "%s sampled with a %s of %" PRIu64 " (baseline: %s of %" PRIu64 ")",
		       event->head.name, frequency ? "frequency" : "period", sampling,
		       event->frequency ? "frequency" : "period", event->sampling);
	return warn(diff);
}

static bool check_event(struct pd_diff *diff, struct pd_file *file, const struct diff_event *event)
{
	const struct pd_event *other = pd_diff_event_like(file, event);

	if (other)
		return pd_diff_check_sampling(diff, event, PD_BITS(other->attr->flags, PD_ATTR_FREQ) != 0,
					      other->attr->sample_period);
	begin_warning(diff);
	pd_text_printf(diff->scratch, "no event %s", event->head.name);
	return warn(diff);
}

static bool check_losses(struct pd_diff *diff, const struct pd_profile_losses *losses)
{
	uint64_t lost = losses->lost + losses->lost_samples;
	bool done = true;

	begin_warning(diff);
	if (lost) {
		pd_text_printf(diff->scratch, "%" PRIu64 " records or samples were lost", lost);
		done = warn(diff);
		begin_warning(diff);
	}
	if (done && losses->throttles) {
		pd_text_printf(diff->scratch, "sampling was throttled %" PRIu64 " times", losses->throttles);
		done = warn(diff);
	}
	return done;
}

/* A copy of a run tells nothing of what differs from run to run. */
static bool check_copies(struct pd_diff *diff)
{
	struct diff_run *run = &diff->runs[diff->run_count - 1];
	const char *like = NULL;

	for (size_t i = diff->run_count - 1; i-- > 0;)
		if (pd_diff_is_copy(diff, i, diff->run_count - 1)) {
			run->copy |= diff->runs[i].side == run->side;
			like = diff->runs[i].name;
		}
	if (!like)
		return true;
	begin_warning(diff);
	pd_text_printf(diff->scratch, "the same samples as in %s", like);
	return warn(diff);
}

bool pd_diff_check_run(struct pd_diff *diff, struct pd_file *file, const struct pd_profile_losses *losses)
{
	struct run_facts facts = { 0 };

	diff->runs[diff->run_count - 1].first_ns = losses->first_ns;
	diff->runs[diff->run_count - 1].last_ns = losses->last_ns;
	if (!read_facts(diff, file, &facts) || !check_losses(diff, losses))
		return false;
	for (size_t i = 0; diff->facts && i < diff->event_count; i++)
		if (!check_event(diff, file, &diff->events[i]))
			return false;
	return pd_diff_check_facts(diff, &facts);
}

bool pd_diff_check_facts(struct pd_diff *diff, const struct run_facts *facts)
{
	if (diff->facts)
		return check_facts(diff, facts) && check_copies(diff);
	diff->facts = pd_arena_alloc(&diff->texts, sizeof(*facts));
	if (diff->facts)
		*diff->facts = *facts;
	return diff->facts != NULL;
}

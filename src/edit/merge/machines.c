/* SPDX-License-Identifier: MIT */
/*
 * Which recordings ran in one boot of one machine, and which are pieces of one recording. In a piece events have the ids
 * of the whole; without ids the command and the events have to be the same.
 */
#include "edit/merge/merge.h"

#include <string.h>

enum {
	TASKS_PER_MACHINE = 10000000 // above every pid that Linux gives, and easy to read
};

static bool differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

static bool same_text(const struct pd_merge_source *a, const struct pd_merge_source *b, unsigned feature)
{
	return !differ(pd_merge_text(a, feature), pd_merge_text(b, feature));
}

// True if nothing says that it was another boot: a kernel is mostly placed anew by each.
static bool same_boot(const struct pd_merge_source *a, const struct pd_merge_source *b)
{
	if (!same_text(a, b, PD_FEATURE_HOSTNAME) || !same_text(a, b, PD_FEATURE_OSRELEASE) ||
	    !same_text(a, b, PD_FEATURE_ARCH))
		return false;
	if (!a->map_count || !b->map_count)
		return true;
	return a->maps[0].start == b->maps[0].start && a->maps[0].pgoff == b->maps[0].pgoff;
}

static bool is_same_machine(const struct pd_merge *merge, const struct pd_merge_source *a,
			    const struct pd_merge_source *b)
{
	return merge->options.machines == PD_MERGE_MACHINES_SAME ||
	       (merge->options.machines == PD_MERGE_MACHINES_AUTO && same_boot(a, b));
}

// ---- pieces of one recording ----

static struct pd_attr plain_attr(const struct pd_attr *attr)
{
	struct pd_attr plain = *attr;

	plain.rest = (struct pd_bytes){ 0 };
	plain.wire_size = plain.size = 0;
	return plain;
}

static bool same_attr(const struct pd_attr *a, const struct pd_attr *b)
{
	struct pd_attr left = plain_attr(a), right = plain_attr(b);

	return !memcmp(&left, &right, sizeof(left));
}

static bool share_id(const struct pd_event *event, const struct pd_merge_source *other)
{
	for (size_t i = 0; i < event->ids.count; i++) {
		const struct pd_event *found = pd_file_event_by_id(other->file, event->ids.items[i]);

		if (found && same_attr(found->attr, event->attr))
			return true;
	}
	return false;
}

static bool has_ids(const struct pd_merge_source *source)
{
	for (size_t i = 0; i < pd_file_event_count(source->file); i++)
		if (pd_file_event(source->file, i)->ids.count)
			return true;
	return false;
}

static bool same_bytes(const struct pd_merge_source *a, const struct pd_merge_source *b, unsigned feature)
{
	struct pd_bytes left, right;

	pd_merge_feature_bytes(a, feature, &left);
	pd_merge_feature_bytes(b, feature, &right);
	return left.size == right.size && (!left.size || !memcmp(left.data, right.data, left.size));
}

// The kernel gives an id once in a boot. Without ids the command and the events have to do.
static bool same_session(const struct pd_merge_source *a, const struct pd_merge_source *b)
{
	size_t count = pd_file_event_count(a->file);

	if (has_ids(a) || has_ids(b)) {
		for (size_t i = 0; i < count; i++)
			if (share_id(pd_file_event(a->file, i), b))
				return true;
		return false;
	}
	if (count != pd_file_event_count(b->file) || !same_bytes(a, b, PD_FEATURE_CMDLINE))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!same_attr(pd_file_event(a->file, i)->attr, pd_file_event(b->file, i)->attr))
			return false;
	return true;
}

void pd_merge_find_machines(struct pd_merge *merge)
{
	size_t machines = 0;

	for (size_t i = 0; i < merge->source_count; i++) {
		struct pd_merge_source *source = merge->sources[i];
		size_t same = 0;

		while (same < i && !is_same_machine(merge, merge->sources[same], source))
			same++;
		source->machine = same < i ? merge->sources[same]->machine : machines++;
		for (source->session = 0; source->session < i; source->session++) {
			const struct pd_merge_source *other = merge->sources[source->session];

			if (other->machine == source->machine && same_session(other, source))
				break;
		}
		source->join.size = sizeof(source->join);
		source->join.raw_big_endian = source->raw_big_endian;
		if (!merge->options.keep_pids)
			source->join.tasks = (uint32_t)source->machine * TASKS_PER_MACHINE;
	}
}

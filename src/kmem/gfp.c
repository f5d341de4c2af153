/* SPDX-License-Identifier: MIT */
// What flags of allocations are called: by the formats of the recording, and shorter in tables.
#include "kmem/kmem.h"

#include <stdio.h>
#include <string.h>

enum {
	GFPS_MOST = 1 << 13 // distinct sets of flags; a kernel uses some dozens
};

static const struct {
	const char *name, *compact;
} names[] = {
#define GFP(name, compact) { name, compact },
#include "kmem/gfp.def"
};

static size_t place_of(const struct pd_kmem *kmem, uint32_t flags)
{
	size_t low = 0, high = kmem->gfp_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (kmem->gfps[middle].flags < flags)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const char *compact_of(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == length && !memcmp(names[i].name, name, length))
			return names[i].compact;
	return NULL;
}

// What has no short name is left out.
static const char *make_compact(struct pd_kmem *kmem, const char *name)
{
	struct pd_text short_name = { 0 };
	const char *copy;

	while (*(name += strspn(name, "|"))) {
		size_t length = strcspn(name, "|");
		const char *compact = compact_of(name, length);

		if (compact && short_name.size)
			pd_text_add(&short_name, "|");
		if (compact)
			pd_text_add(&short_name, compact);
		name += length;
	}
	copy = short_name.failed ? NULL : pd_arena_text(&kmem->pairs.sched.arena, short_name.data, short_name.size);
	pd_free(short_name.data);
	return copy;
}

// As the format prints it: "... gfp_flags=GFP_KERNEL|__GFP_ZERO ...".
static const char *name_of(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample, uint32_t flags)
{
	static const char member[] = "gfp_flags=";
	struct pd_text text = { 0 };
	const char *found = NULL, *copy;
	char number[16];
	size_t length;

	if (pd_trace_print(kmem->pairs.points.trace, sample->event, sample->raw, &text) && !text.failed && text.size)
		found = memmem(text.data, text.size, member, sizeof(member) - 1);
	length = (size_t)snprintf(number, sizeof(number), "%#x", flags);
	if (found) {
		found += sizeof(member) - 1;
		length = 0;
		while (found + length < text.data + text.size && found[length] != ' ')
			length++;
	}
	copy = pd_pairs_name(&kmem->pairs, found ? found : number, length);
	pd_free(text.data);
	return copy;
}

enum pd_status pd_kmem_add_gfp(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample, uint32_t flags,
			       struct pd_error *error)
{
	size_t at = place_of(kmem, flags);
	struct pd_kmem_gfp gfp = { .flags = flags };

	if (at < kmem->gfp_count && kmem->gfps[at].flags == flags)
		return PD_OK;
	if (kmem->gfp_count >= GFPS_MOST)
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "more than %d sets of flags of allocations",
			       GFPS_MOST);
	gfp.name = name_of(kmem, sample, flags);
	gfp.compact = gfp.name ? make_compact(kmem, gfp.name) : NULL;
	if (!gfp.compact || !PD_GROW(kmem->gfps, kmem->gfp_capacity, kmem->gfp_count + 1))
		return pd_fail_memory(error);
	memmove(&kmem->gfps[at + 1], &kmem->gfps[at], (kmem->gfp_count - at) * sizeof(gfp));
	kmem->gfps[at] = gfp;
	kmem->gfp_count++;
	if (strlen(gfp.compact) > kmem->gfp_longest)
		kmem->gfp_longest = strlen(gfp.compact);
	return PD_OK;
}

const char *pd_kmem_compact_gfp(const struct pd_kmem *kmem, uint32_t flags)
{
	size_t at = place_of(kmem, flags);

	return at < kmem->gfp_count && kmem->gfps[at].flags == flags ? kmem->gfps[at].compact : "";
}

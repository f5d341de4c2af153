/* SPDX-License-Identifier: MIT */
// What pieces are called: by their key, and unique.
#include "edit/split/split.h"
#include "file/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	NAME_BYTES = 96,
	SUFFIX_BYTES = 48
};

// Nothing that a shell, a terminal or a file system takes for something else.
static void escape_name(char *name, const char *string)
{
	size_t length = 0;

	for (; *string && length < NAME_BYTES - 1; string++) {
		unsigned char c = (unsigned char)*string;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
			     c == '.' || c == '+' || c == '=' || c == ':' || c == ',' || c == '@';

		if ((c == '.' || c == '-') && !length)
			plain = false;
		name[length++] = plain ? (char)c : '_';
	}
	if (!length)
		name[length++] = '_';
	name[length] = 0;
}

static void name_cgroup(const struct pd_split *split, uint64_t id, char *name)
{
	const char *path = pd_state_cgroup(split->state, id);
	char number[32];

	snprintf(number, sizeof(number), "cgroup-%" PRIu64, id);
	if (path && path[0] == '/' && path[1])
		path++;
	else if (path && !strcmp(path, "/"))
		path = "root";
	escape_name(name, path && *path ? path : number);
}

static void name_piece(const struct pd_split *split, const struct pd_split_output *piece, char *name)
{
	if (piece->key == PD_SPLIT_UNKNOWN) {
		escape_name(name, "unknown");
		return;
	}
	switch (split->options.by) {
	case PD_SPLIT_EVENT:
		escape_name(name, pd_file_event(split->file, (size_t)piece->key)->name);
		break;
	case PD_SPLIT_COMM:
		escape_name(name, (const char *)(uintptr_t)piece->key);
		break;
	case PD_SPLIT_CGROUP:
		name_cgroup(split, piece->key, name);
		break;
	case PD_SPLIT_PID:
	case PD_SPLIT_CPU:
		snprintf(name, NAME_BYTES, "%" PRId32, (int32_t)piece->key);
		break;
	default:
		snprintf(name, NAME_BYTES, "%04" PRIu64, piece->key);
		break;
	}
}

static bool is_used(const struct pd_split *split, const struct pd_index *used, const char *name, uint64_t hash)
{
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(used, hash, &at)) != PD_INDEX_END;)
		if (!strcmp(split->pieces[i].shown.name, name))
			return true;
	return false;
}

// Different keys may have equal names: the number of the piece distinguishes them. False if there is no memory.
static bool give_name(struct pd_split *split, struct pd_index *used, size_t index)
{
	char name[NAME_BYTES + SUFFIX_BYTES];
	size_t length;
	uint64_t hash;

	name_piece(split, &split->pieces[index], name);
	length = strlen(name);
	for (unsigned again = 0;; again++) {
		hash = pd_hash(pd_file_secret(split->file), name, strlen(name));
		if (!is_used(split, used, name, hash))
			break;
		snprintf(name + length, SUFFIX_BYTES, again ? "-%zu-%u" : "-%zu", index + 1, again);
	}
	split->pieces[index].shown.name = pd_arena_text(&split->names, name, strlen(name));
	return split->pieces[index].shown.name && pd_index_add(used, hash, (uint32_t)index);
}

enum pd_status pd_split_name_pieces(struct pd_split *split, struct pd_error *error)
{
	struct pd_index used = { 0 };
	bool done = true;

	for (size_t i = 0; i < split->piece_count && done; i++)
		done = give_name(split, &used, i);
	pd_index_fini(&used);
	return done ? PD_OK : pd_fail_memory(error);
}

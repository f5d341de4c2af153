/* SPDX-License-Identifier: MIT */
/* The list of sort keys, keys.def, by index and by name. */
#include "report/keys/find.h"
#include "report/keys/values.h"

#include <string.h>

#define HEAD(...)           \
	{                   \
		__VA_ARGS__ \
	}
#define KEY(function, ...) { .find = pd_key_##function, .head = __VA_ARGS__ },

static const struct key keys[] = {
#include "report/keys/keys.def"
};

static const struct {
	const char *name, *instead;
} absents[] = {
#define ABSENT_KEY(name, instead) { name, instead },
#include "report/keys/absent.def"
};

static bool is_name(const char *known, const char *name, size_t length)
{
	return strlen(known) == length && memcmp(known, name, length) == 0;
}

const char *pd_key_absent(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(absents) / sizeof(absents[0]); i++)
		if (is_name(absents[i].name, name, length))
			return absents[i].instead;
	return NULL;
}

const struct key *pd_key_at(size_t index)
{
	return index < sizeof(keys) / sizeof(keys[0]) ? &keys[index] : NULL;
}

const struct key *pd_key_by_name(const char *name, size_t length)
{
	const struct key *key;

	for (size_t i = 0; (key = pd_key_at(i)) != NULL; i++) {
		if (is_name(key->head.name, name, length) ||
		    (key->head.other_name && is_name(key->head.other_name, name, length)))
			return key;
	}
	return NULL;
}

/* Addresses of samples are known of each one; those of callers are those of their frames. */
const struct key *pd_key_of_callers(const struct key *key)
{
	static const struct key frame_addr = {
		.find = pd_key_frame_addr,
		.head = { "addr", NULL, "Address", "addr", PD_BY_ADDRESS, false, "" },
		.of_frame = true,
		.width = 18,
	};

	return key->find == pd_key_addr ? &frame_addr : key;
}

const struct pd_report_key *pd_report_key_at(size_t index)
{
	const struct key *key = pd_key_at(index);

	return key ? &key->head : NULL;
}

const struct pd_report_key *pd_report_key_by_name(const char *name, size_t length)
{
	const struct key *key = pd_key_by_name(name, length);

	return key ? &key->head : NULL;
}

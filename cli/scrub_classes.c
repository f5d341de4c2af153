/* SPDX-License-Identifier: MIT */
/*
 * The classes of what a recording says: the name and the text of each, and what each level of scrub does with it. A
 * table alone, for every file of scrub; it is what the CLASS lines of scrub.def say.
 */
#include "scrub.h"

const struct scrub_class_line scrub_classes[CLASS_COUNT] = {
	[CLASS_NONE] = { "", "", { 0 } },
#define CLASS(NAME, text, names, addresses, all) \
	[CLASS_##NAME] = { #NAME, text, { ACTION_##names, ACTION_##addresses, ACTION_##all } },
#include "scrub.def"
};

/* SPDX-License-Identifier: MIT */
/*
 * The classes of what a recording says: the name and the text of each, and what each level of scrub does with it. A
 * table alone, for every file of scrub; it is what the CLASS lines of scrub.def say.
 */
#include "edit/scrub/scrub.h"

const struct pd_scrub_class_line pd_scrub_classes[PD_CLASS_COUNT] = {
	[PD_CLASS_NONE] = { "", "", { 0 } },
#define CLASS(NAME, text, names, addresses, all) \
	[PD_CLASS_##NAME] = { #NAME, text, { PD_SCRUB_##names, PD_SCRUB_##addresses, PD_SCRUB_##all } },
#include "edit/scrub/scrub.def"
};

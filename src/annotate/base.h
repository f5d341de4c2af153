/* SPDX-License-Identifier: MIT */
/* What an annotation was built from, for those who add up the same samples in another way. */
#ifndef PD_ANNOTATE_BASE_H
#define PD_ANNOTATE_BASE_H

#include <perfdata/annotate.h>

struct pd_annotate_base {
	const struct pd_annotate_options *options;
	struct pd_file *file;
	const struct pd_profile *profile;
	struct pd_symbols *symbols;
};

/** Valid as long as the annotation. */
struct pd_annotate_base pd_annotate_base(const struct pd_annotate *annotate);
/** The place of an entry's samples; NULL if it is not known. Valid as long as the profile. */
const struct pd_place *pd_annotate_place(const struct pd_annotate *annotate, const struct pd_profile_entry *entry);
/** Whether samples of a place are wanted. */
bool pd_annotate_is_wanted(const struct pd_annotate *annotate, const struct pd_place *place);

#endif

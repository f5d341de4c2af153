/* SPDX-License-Identifier: MIT */
/* What is asked of very many entries of a profile: one thing, of an entry that is there. */
#ifndef PD_PROFILE_ENTRIES_H
#define PD_PROFILE_ENTRIES_H

#include <perfdata/profile.h>

// Which event of the file it is of.
size_t pd_profile_entry_event(const struct pd_profile *profile, size_t index);
size_t pd_profile_entry_stack(const struct pd_profile *profile, size_t index);
uint64_t pd_profile_entry_samples(const struct pd_profile *profile, size_t index);

#endif

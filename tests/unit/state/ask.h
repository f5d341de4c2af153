/* SPDX-License-Identifier: MIT */
/* What tests ask of a state that they made, in one line. */
#ifndef PD_TEST_STATE_ASK_H
#define PD_TEST_STATE_ASK_H

#include "unit/state/make.h"

enum {
	CODE = 4 | 1,
	DATA = 1 | 2
};

static inline void user_map(struct made *made, uint32_t pid, uint64_t addr, uint64_t len, const char *path,
			    uint64_t time)
{
	make_mmap2(made, &(struct made_mmap2){ .misc = MAKE_USER,
					       .pid = pid,
					       .tid = pid,
					       .addr = addr,
					       .len = len,
					       .ino = 7,
					       .prot = CODE,
					       .flags = 2,
					       .path = path,
					       .time = time });
}

// Path of what code of a process stands on, or "".
static inline const char *where(const struct made *made, uint32_t pid, uint64_t time, uint64_t addr)
{
	struct pd_location location;

	return pd_state_locate(made->state, pid, PD_CPUMODE_USER, at(time), addr, &location) ? location.object->path :
											       "";
}

// Each test makes records, then the state; then it looks, and at the end the state goes.
#define STATE(made) CHECK(make_state(&(made), NULL))

#endif

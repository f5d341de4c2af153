/* SPDX-License-Identifier: MIT */
/*
 * Codes that a process put one in the place of another while it ran, as its jitdumps say. Who adds samples up by address
 * must distinguish them. Nothing of it changes once it was made, so several threads may ask.
 */
#ifndef PD_SYMBOL_CODES_H
#define PD_SYMBOL_CODES_H

#include <perfdata/symbol.h>

struct pd_codes;

/** Those of all processes; NULL if nothing was put in the place of anything, and without memory (pd_symbols_failed). The
 * symbols own it, and open the dumps of all processes for it. */
const struct pd_codes *pd_codes_of(struct pd_symbols *symbols);

/** A number that goes up whenever a process put a code in the place of another one. The span shrinks to where it is the
 * same. */
uint32_t pd_codes_turn(const struct pd_codes *codes, uint32_t pid, struct pd_moment when, struct pd_moment *from,
		       struct pd_moment *until);
/** The number of the code at an address among those of the process; 0 if there is none, and if nothing of the process was
 * replaced. */
uint32_t pd_codes_number(const struct pd_codes *codes, uint32_t pid, struct pd_moment when, uint64_t addr);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Which function an address is in, asked while samples are counted: addresses of one function are one frame then, and stacks
 * of the same functions one bucket, so memory grows with what a report shows. An object is loaded when it is first met, by
 * one thread; the symbols of those that are loaded are searched without a lock.
 */
#ifndef PD_PROFILE_COLLECT_FUNCTIONS_H
#define PD_PROFILE_COLLECT_FUNCTIONS_H

#include <pthread.h>

#include <perfdata/profile.h>

#include "profile/frame/ranges.h"

struct pd_dso_full;

struct pd_functions {
	const struct pd_profile_options *options;
	const struct pd_state *state;
	pthread_mutex_t lock;
	bool asked; // for symbols
	struct pd_symbols *symbols;
	size_t first_dso; // those in front were loaded before
	// By object: NULL until it was met, then its dso, or one that stands for "addresses stay as they are". Several threads
	// look at them without the lock.
	const struct pd_dso_full **dsos;
};

// False if addresses are asked for, or there are no symbols.
bool pd_functions_wanted(const struct pd_profile_options *options);
// False if there is no memory.
bool pd_functions_init(struct pd_functions *functions, const struct pd_profile_options *options,
		       const struct pd_state *state);
// What was asked of symbols in an earlier run need not be asked again.
void pd_functions_know(struct pd_functions *functions, bool asked, struct pd_symbols *symbols, size_t first_dso);
// These are the symbols; nobody has asked for a function yet.
void pd_functions_use(struct pd_functions *functions, struct pd_symbols *symbols);
void pd_functions_fini(struct pd_functions *functions);
// What stands for an address.
enum pd_named {
	PD_NAMED_ADDRESS,  // it has to be distinguished from others
	PD_NAMED_FUNCTION, // the function that it is in
	PD_NAMED_NOT       // it is in none
};

// Asks for the memory that finding the function of an address of a file will need, in stages: each needs what the one before
// asked for.
enum {
	PD_FUNCTION_STAGES = 2
};
void pd_functions_prefetch(const struct pd_functions *functions, const struct pd_code_address *address,
			   const struct pd_range *range, unsigned stage);
// What stands for an address of a file, and the number by which its object knows the function. Several threads may ask.
enum pd_named pd_functions_find(struct pd_functions *functions, const struct pd_object *object,
				const struct pd_code_address *address, const struct pd_range *range,
				uint64_t *number_out);

#endif

/* SPDX-License-Identifier: MIT */
/* Conditions on changes, and the changes that are accepted all the same. */
#ifndef PD_DIFF_GATE_H
#define PD_DIFF_GATE_H

#include "diff/diff.h"

enum {
	TERMS_MOST = 16
};

enum quantity {
	QUANTITY_CHANGE,
	QUANTITY_GROWTH,
	QUANTITY_OLD,
	QUANTITY_NEW,
	QUANTITY_RATING /* no number: at least this rating */
};

struct term {
	enum quantity quantity;
	enum pd_diff_rating rating;
	bool below, or_equal;
	double limit;
};

struct accepted {
	const char *pattern; /* of a cell */
	double limit;        /* growth in percent, at most */
};

struct pd_diff_gate {
	struct term terms[TERMS_MOST];
	size_t count;
	struct accepted *accepted;
	size_t accepted_count, accepted_capacity;
	struct pd_arena texts;
};

bool pd_diff_is_accepted(const struct pd_diff_gate *gate, const struct pd_diff *diff, size_t event, size_t row,
			 const struct pd_diff_change *change);

#endif

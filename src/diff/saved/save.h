/* SPDX-License-Identifier: MIT */
/*
 * Saved profiles: lines of fields with tabs between them, the kind of line first. In a field a backslash stands before a backslash, a
 * t (tab), an n (line feed), an r (carriage return), or an x and two digits.
 *
 *	perfdata-profile 1
 *	facts  CPUS CPU COMMAND      an empty text: the recording does not say
 *	keys   KEY...                sort keys
 *	event  TYPE CONFIG freq|period SAMPLING UNIT NAME
 *	run    FIRST_NS LAST_NS NAME
 *	total  EVENT PERIOD SAMPLES EFFECTIVE          of the run above; events count from 0
 *	row    EVENT ADDRESS IDENTITY CELL...          a cell for each key
 *	sum    RUN PERIOD SAMPLES                      of the row above; runs count from 0
 *	end
 */
#ifndef PD_DIFF_SAVED_SAVE_H
#define PD_DIFF_SAVED_SAVE_H

#define SAVED_HEAD "perfdata-profile "
#define SAVED_VERSION "1"

#endif

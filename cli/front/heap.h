/* SPDX-License-Identifier: MIT */
/*
 * The heap of commands that build large tables once, and end. Memory that comes page by page, and goes back to the
 * system whenever a table has grown, was a fifth of the time that a report takes. So it comes in huge pages where the
 * system has them at hand, and stays.
 */
#ifndef CLI_HEAP_H
#define CLI_HEAP_H

/* Before there are other threads. What the system refuses is done without. */
void heap_prepare(void);

#endif

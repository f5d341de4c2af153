/* SPDX-License-Identifier: MIT */
/* Memory that may be large. */
#ifndef CLI_LARGE_H
#define CLI_LARGE_H

#include <stddef.h>

/* As realloc, with huge pages where there are such: what is large is looked into at random, and small pages would cost more
 * than the look. */
void *large_realloc(void *memory, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* Numbers as users list them: "0-3,8". */
#ifndef PD_BASE_TEXT_NUMBER_LIST_H
#define PD_BASE_TEXT_NUMBER_LIST_H

#include <stdbool.h>
#include <stdint.h>

// Whether it is such a list, of numbers of 32 bits.
bool pd_list_is_right(const char *list);
// Whether such a list has a number.
bool pd_list_has(const char *list, uint64_t number);

#endif

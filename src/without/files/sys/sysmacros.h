/* SPDX-License-Identifier: MIT */
/* In place of the system's header where the library is built with -Dfiles=disabled, or for WASI: files have no devices. */
#ifndef PD_WITHOUT_SYSMACROS_H
#define PD_WITHOUT_SYSMACROS_H

#define major(device) 0U
#define minor(device) 0U

#endif

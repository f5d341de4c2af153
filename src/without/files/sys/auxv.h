/* SPDX-License-Identifier: MIT */
/* In place of the system's header where the library is built with -Dfiles=disabled, or for WASI: the process has no vdso. */
#ifndef PD_WITHOUT_AUXV_H
#define PD_WITHOUT_AUXV_H

#define AT_SYSINFO_EHDR 33
#define getauxval(type) 0UL

#endif

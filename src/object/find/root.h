/* SPDX-License-Identifier: MIT */
/*
 * Opens files below a directory as if that were the root of all files: neither ".." nor a symbolic link leads out of
 * it, an absolute link begins at it again. Paths may come out of a hostile file.
 */
#ifndef PD_OBJECT_FIND_ROOT_H
#define PD_OBJECT_FIND_ROOT_H

/** Opens for reading; whoever asks looks at what kind of file it is. Devices, FIFOs and sockets are not opened
 * (-ENOTSUP), since that may do something. Returns a descriptor, or a negative error number. Somebody who changes the
 * directories meanwhile may lead it astray: what is found is still checked. */
int pd_root_open(const char *root, const char *path);
/** The same, but the path itself must not be a symbolic link (-ELOOP), only the directories before it may be: for places
 * where anybody can put one. */
int pd_root_open_itself(const char *root, const char *path);
/** The same, and it must belong to root or to the user (-EPERM). */
int pd_root_open_own(const char *root, const char *path);

#endif

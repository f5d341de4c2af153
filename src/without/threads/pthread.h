/* SPDX-License-Identifier: MIT */
/*
 * In place of the system's header where the library is built with -Dthreads=disabled: there is nobody else to hold a lock,
 * and threads.c creates no thread.
 */
#ifndef PD_WITHOUT_PTHREAD_H
#define PD_WITHOUT_PTHREAD_H

// may define types of these names
#include <sys/types.h>

#define pthread_t int
#define pthread_mutex_t int
#define pthread_mutexattr_t int
#define pthread_cond_t int
#define pthread_attr_t int

#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_COND_INITIALIZER 0
#define PTHREAD_MUTEX_RECURSIVE 0

#define PD_NO_THREADS(name, type)        \
	static inline int name(type *it) \
	{                                \
		(void)it;                \
		return 0;                \
	}
PD_NO_THREADS(pthread_mutexattr_init, pthread_mutexattr_t)
PD_NO_THREADS(pthread_mutexattr_destroy, pthread_mutexattr_t)
PD_NO_THREADS(pthread_mutex_destroy, pthread_mutex_t)
PD_NO_THREADS(pthread_mutex_lock, pthread_mutex_t)
PD_NO_THREADS(pthread_mutex_trylock, pthread_mutex_t)
PD_NO_THREADS(pthread_mutex_unlock, pthread_mutex_t)
PD_NO_THREADS(pthread_cond_destroy, pthread_cond_t)
PD_NO_THREADS(pthread_cond_signal, pthread_cond_t)
PD_NO_THREADS(pthread_cond_broadcast, pthread_cond_t)
#undef PD_NO_THREADS

static inline int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type)
{
	*attr = type;
	return 0;
}

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	(void)attr;
	*mutex = 0;
	return 0;
}

static inline int pthread_cond_init(pthread_cond_t *cond, const void *attr)
{
	(void)attr;
	*cond = 0;
	return 0;
}

// Nobody could wake it: who waits looks again, and does the work itself.
static inline int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	(void)cond;
	(void)mutex;
	return 0;
}

#endif

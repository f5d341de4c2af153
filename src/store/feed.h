/* SPDX-License-Identifier: MIT */
/* Recordings that are added to a store one after another, on a thread of their own, while others are made. */
#ifndef PD_STORE_FEED_H
#define PD_STORE_FEED_H

#include <perfdata/store.h>

struct pd_store_feed;

struct pd_store_fed {
	struct pd_store_fed *next;
	enum pd_status status;
	struct pd_error why; // it is not in the store
	char path[];
};

// The store and what is said of its recordings must remain valid. NULL: there is no memory.
struct pd_store_feed *pd_store_feed_new(const char *store, const struct pd_store_profile *profile);
// False if there is no memory. Without another thread it is added at once.
bool pd_store_feed_add(struct pd_store_feed *feed, const char *path);
// The next file that was added, or was not; it is the caller's, for pd_free. NULL: there is none now. wait: until all are done.
struct pd_store_fed *pd_store_feed_take(struct pd_store_feed *feed, bool wait);
// What still waits is not added. NULL is ignored.
void pd_store_feed_free(struct pd_store_feed *feed);

#endif

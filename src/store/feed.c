/* SPDX-License-Identifier: MIT */
#include "store/feed.h"

#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"

enum {
	NICE = 10 // whoever records comes first
};

struct list {
	struct pd_store_fed *first, *last;
};

struct pd_store_feed {
	const char *store;
	const struct pd_store_profile *profile;
	pthread_mutex_t lock;  // over all below
	pthread_cond_t change; // of the lists, or of ended
	struct list waiting, done;
	bool busy, ended;
	struct pd_worker worker;
};

static void put_last(struct list *list, struct pd_store_fed *fed)
{
	fed->next = NULL;
	if (list->last)
		list->last->next = fed;
	else
		list->first = fed;
	list->last = fed;
}

static struct pd_store_fed *take_first(struct list *list)
{
	struct pd_store_fed *fed = list->first;

	if (!fed)
		return NULL;
	list->first = fed->next;
	if (!list->first)
		list->last = NULL;
	return fed;
}

// With the lock held, which is given back meanwhile.
static void add_first(struct pd_store_feed *feed)
{
	struct pd_store_fed *fed = take_first(&feed->waiting);

	feed->busy = true;
	pthread_mutex_unlock(&feed->lock);
	fed->status = pd_store_add_file(feed->store, fed->path, feed->profile, &fed->why);
	pthread_mutex_lock(&feed->lock);
	feed->busy = false;
	put_last(&feed->done, fed);
	pthread_cond_broadcast(&feed->change);
}

static void work(void *self)
{
	struct pd_store_feed *feed = self;

	// of this thread alone; if it may not, it is as urgent as the others
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	pthread_mutex_lock(&feed->lock);
	while (!feed->ended) {
		if (feed->waiting.first)
			add_first(feed);
		else
			pthread_cond_wait(&feed->change, &feed->lock);
	}
	pthread_mutex_unlock(&feed->lock);
}

struct pd_store_feed *pd_store_feed_new(const char *store, const struct pd_store_profile *profile)
{
	struct pd_store_feed *feed = pd_alloc(sizeof(*feed));

	if (!feed)
		return NULL;
	feed->store = store;
	feed->profile = profile;
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->change, NULL);
	return feed;
}

bool pd_store_feed_add(struct pd_store_feed *feed, const char *path)
{
	size_t size = strlen(path) + 1;
	struct pd_store_fed *fed = pd_alloc(sizeof(*fed) + size);

	if (!fed)
		return false;
	memcpy(fed->path, path, size);
	pthread_mutex_lock(&feed->lock);
	put_last(&feed->waiting, fed);
	if (!feed->worker.started && pd_worker_start(&feed->worker, work, feed) != 0)
		add_first(feed);
	pthread_cond_broadcast(&feed->change);
	pthread_mutex_unlock(&feed->lock);
	return true;
}

struct pd_store_fed *pd_store_feed_take(struct pd_store_feed *feed, bool wait)
{
	struct pd_store_fed *fed;

	pthread_mutex_lock(&feed->lock);
	while (wait && !feed->done.first && (feed->busy || feed->waiting.first))
		pthread_cond_wait(&feed->change, &feed->lock);
	fed = take_first(&feed->done);
	pthread_mutex_unlock(&feed->lock);
	return fed;
}

static void forget(struct list *list)
{
	struct pd_store_fed *fed;

	while ((fed = take_first(list)) != NULL)
		pd_free(fed);
}

void pd_store_feed_free(struct pd_store_feed *feed)
{
	if (!feed)
		return;
	pthread_mutex_lock(&feed->lock);
	feed->ended = true;
	pthread_cond_broadcast(&feed->change);
	pthread_mutex_unlock(&feed->lock);
	pd_worker_join(&feed->worker);
	forget(&feed->waiting);
	forget(&feed->done);
	pthread_cond_destroy(&feed->change);
	pthread_mutex_destroy(&feed->lock);
	pd_free(feed);
}

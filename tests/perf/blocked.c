/* SPDX-License-Identifier: MIT */
/*
 * Threads that are blocked by the kernel, and measure how long. What by is the first argument:
 *
 *   disk       reads and writes past the page cache, and fsync
 *   inversion  a thread of high priority waits for a lock of one of low priority, which a third one keeps from running
 *   locks      one thread holds locks of the kernel while it sleeps or works: the memory map of the process, and the mutex of a pipe
 *
 * Each prints its name, the ns that its waits took, the ns that it ran, and its number. What cannot be done here is a line
 * "skipped: why".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 40,
	WAITERS = 3,
	PAGE = 4096,
	BLOCK = 4 << 20, // a wait is much longer than a switch
	BLOCKS = 20,
	MEMORY = 256 << 20
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// Time in which the thread had its CPU, though its clock stood still: interrupts, and others that the machine's own CPU worked for.
static _Thread_local uint64_t taken_ns;

static uint64_t ran_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) + taken_ns;
}

// Stands still while the thread runs.
static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC) - ran_ns();
}

static long preemptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void run_ms(uint64_t ms)
{
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID), begin = now_ns();
	long before = preemptions();

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - from < ms * 1000000)
		;
	if (preemptions() == before)
		taken_ns += now_ns() - begin;
}

static void report(const char *name, uint64_t waited_ns)
{
	printf("%s %llu %llu %ld\n", name, (unsigned long long)waited_ns, (unsigned long long)ran_ns(),
	       syscall(SYS_gettid));
}

static int skip(const char *why)
{
	printf("skipped: %s: %s\n", why, strerror(errno));
	return 0;
}

static int start_real_time(pthread_t *thread, void *(*run)(void *), void *self, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	errno = pthread_create(thread, &attr, run, self);
	return !errno;
}

// ---- disk ----

static void *uses_disk(void *name)
{
	char path[] = "blocked.XXXXXX",
	     *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int file = mkostemp(path, O_DIRECT);
	uint64_t from;

	if (file < 0) {
		skip("a file that is not cached");
		return NULL;
	}
	unlink(path);
	memset(block, 1, BLOCK);
	prctl(PR_SET_NAME, name);
	from = now_ns();
	for (int i = 0; i < BLOCKS; i++)
		if (pwrite(file, block, BLOCK, (off_t)i * BLOCK) != BLOCK || fsync(file) ||
		    pread(file, block, BLOCK, (off_t)i * BLOCK) != BLOCK)
			return NULL;
	report(name, now_ns() - from);
	return NULL;
}

static int wait_for_disk(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, uses_disk, "w-disk1");
	pthread_create(&threads[1], NULL, uses_disk, "w-disk2");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

// ---- priority inversion ----

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t wake_high, wake_middle, begin;

static void *is_low(void *unused)
{
	uint64_t from;

	(void)unused;
	prctl(PR_SET_NAME, "w-low");
	from = now_ns();
	sem_wait(&begin);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		sem_post(&wake_high);   // it runs at once, until it waits for the lock
		sem_post(&wake_middle); // it runs at once, and is in nobody's way but this one's
		run_ms(1);
		pthread_mutex_unlock(&lock);
		sleep_ms(1);
	}
	report("w-low", now_ns() - from);
	return NULL;
}

static void *is_middle(void *unused)
{
	uint64_t from;

	(void)unused;
	prctl(PR_SET_NAME, "w-middle");
	from = now_ns();
	sem_wait(&begin);
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&wake_middle);
		run_ms(8);
	}
	report("w-middle", now_ns() - from);
	return NULL;
}

static void *is_high(void *unused)
{
	uint64_t from;

	(void)unused;
	prctl(PR_SET_NAME, "w-high");
	from = now_ns();
	sem_wait(&begin);
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&wake_high);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	report("w-high", now_ns() - from);
	return NULL;
}

static int invert(void)
{
	void *(*const runs[])(void *) = { is_low, is_middle, is_high };
	pthread_t threads[3];

	sem_init(&wake_high, 0, 0);
	sem_init(&wake_middle, 0, 0);
	sem_init(&begin, 0, 0);
	// who may start one may start all
	for (int i = 0; i < 3; i++)
		if (!start_real_time(&threads[i], runs[i], NULL, 1 + i))
			return skip("threads with SCHED_FIFO");
	for (int i = 0; i < 3; i++)
		sem_post(&begin);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

// ---- locks of the kernel ----

static volatile int done;
static int ends[2];
static sem_t held;

// With a real-time priority, so that it waits for nothing but the lock: the map of the memory is locked until all of it is copied.
static void *maps(void *name)
{
	uint64_t waited_ns = 0;

	prctl(PR_SET_NAME, name);
	while (!done) {
		uint64_t from;
		void *memory;

		sleep_ms(2);
		from = now_ns();
		memory = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(memory, PAGE);
		waited_ns += now_ns() - from;
	}
	report(name, waited_ns);
	return NULL;
}

static void copy_memory(void)
{
	char *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, MEMORY, MADV_NOHUGEPAGE);
	memset(memory, 1, MEMORY);
	for (int i = 0; i < ROUNDS; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	munmap(memory, MEMORY);
}

static void *writes(void *name)
{
	uint64_t waited_ns = 0;

	prctl(PR_SET_NAME, name);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t from;

		sem_wait(&held);
		from = now_ns();
		if (write(ends[1], name, 1) != 1)
			break;
		waited_ns += now_ns() - from;
	}
	report(name, waited_ns);
	return NULL;
}

// Writes to the pipe what is not there yet, with the lock of the pipe.
static void *holds(void *page)
{
	prctl(PR_SET_NAME, "holder");
	for (int i = 0; i < ROUNDS; i++) {
		if (write(ends[1], page, 1) != 1)
			break;
		madvise(page, PAGE, MADV_DONTNEED);
		sleep_ms(2);
	}
	return NULL;
}

// Gives the page to the holder, some time after others wait for it.
static void *serve(int faults)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct uffd_msg message;
		struct uffdio_zeropage zero = { .range.len = PAGE };

		if (read(faults, &message, sizeof(message)) != sizeof(message))
			break;
		for (int k = 0; k < WAITERS; k++)
			sem_post(&held);
		sleep_ms(8);
		zero.range.start = message.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
		ioctl(faults, UFFDIO_ZEROPAGE, &zero);
	}
	return NULL;
}

static int lock_pipe(void)
{
	static const char *const names[WAITERS] = { "w-pipe1", "w-pipe2", "w-pipe3" };
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register all = { .range = { (uintptr_t)page, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	pthread_t threads[WAITERS + 1];

	if (faults < 0 || ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &all))
		return skip("the lock of a pipe, with userfaultfd");
	if (pipe(ends))
		return 1;
	sem_init(&held, 0, 0);
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&threads[i], NULL, writes, (void *)names[i]);
	pthread_create(&threads[WAITERS], NULL, holds, page);
	serve(faults);
	for (int i = 0; i <= WAITERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int lock_kernel(void)
{
	static const char *const names[WAITERS] = { "w-map1", "w-map2", "w-map3" };
	pthread_t threads[WAITERS];

	for (int i = 0; i < WAITERS; i++)
		if (!start_real_time(&threads[i], maps, (void *)names[i], 1))
			return skip("threads with SCHED_FIFO") || lock_pipe();
	copy_memory();
	done = 1;
	for (int i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
	return lock_pipe();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	sleep_ms(100); // until all is recorded
	if (!strcmp(what, "disk"))
		return wait_for_disk();
	if (!strcmp(what, "inversion"))
		return invert();
	return strcmp(what, "locks") != 0 || lock_kernel();
}

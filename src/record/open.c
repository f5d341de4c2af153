/* SPDX-License-Identifier: MIT */
/*
 * Opening events: each on every thread and CPU. A kernel that does not know something is asked again without it, from
 * the newest to the oldest; what may not be looked at is left out, and what was left out is reported.
 */
#include "record/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "format/encode.h"

enum {
	ATTR_CAPACITY = 256,
	// levels of kernel.perf_event_paranoid from which on users without rights get none of these
	NO_TRACEPOINTS = 0,
	NO_CPUS = 1,
	NO_KERNEL = 2
};

// ---- what older kernels do not know, the newest first ----

struct step {
	const char *what;
	uint64_t flags, sample_type, read_format; // bits that go
	bool asked_for;                           // somebody wants them: they are never there by themselves
};

static const struct step steps[] = {
	{ "counts of lost samples", 0, 0, PD_MASK(PD_READ_FORMAT_LOST) },
	{ "build ids in MMAP2 records", PD_MASK(PD_ATTR_BUILD_ID), 0, 0, true },
	{ "weights in parts", 0, PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT), 0, true },
	{ "sizes of pages", 0, PD_MASK(PD_SAMPLE_TYPE_DATA_PAGE_SIZE) | PD_MASK(PD_SAMPLE_TYPE_CODE_PAGE_SIZE), 0,
	  true },
	{ "cgroups", PD_MASK(PD_ATTR_CGROUP), PD_MASK(PD_SAMPLE_TYPE_CGROUP), 0, true },
	{ "BPF programs", PD_MASK(PD_ATTR_BPF_EVENT), 0, 0 },
	{ "kernel symbol records (KSYMBOL)", PD_MASK(PD_ATTR_KSYMBOL), 0, 0 },
	{ "namespaces", PD_MASK(PD_ATTR_NAMESPACES), 0, 0, true },
	{ "another clock", PD_MASK(PD_ATTR_USE_CLOCKID), 0, 0, true },
	{ "names by exec", PD_MASK(PD_ATTR_COMM_EXEC), 0, 0 },
	{ "maps with inodes", PD_MASK(PD_ATTR_MMAP2), 0, 0 },
	{ "leaving out guests", PD_MASK(PD_ATTR_EXCLUDE_GUEST), 0, 0 },
	{ "timestamps in all records", PD_MASK(PD_ATTR_SAMPLE_ID_ALL), 0, 0 },
};

static void forget_clock(struct pd_attr *attr)
{
	if (!(attr->flags & PD_MASK(PD_ATTR_USE_CLOCKID)))
		attr->clockid = 0;
}

// Takes the next step that changes something. False if none is left.
static bool take_step(struct pd_recorder *recorder)
{
	struct pd_config *config = &recorder->config;

	while (recorder->missing < sizeof(steps) / sizeof(steps[0])) {
		const struct step *step = &steps[recorder->missing++];
		bool changed = false;

		for (size_t i = 0; i < config->event_count; i++) {
			struct pd_attr *attr = &config->events[i].attr;

			changed |= (attr->flags & step->flags) || (attr->sample_type & step->sample_type) ||
				   (attr->read_format & step->read_format);
			attr->flags &= ~step->flags;
			attr->sample_type &= ~step->sample_type;
			attr->read_format &= ~step->read_format;
			forget_clock(attr);
		}
		if (changed) {
			recorder->dropped |= UINT64_C(1) << (step - steps);
			return true;
		}
	}
	return false;
}

// ---- one event ----

static int open_one(struct pd_recorder *recorder, struct pd_rec_event *event, int32_t pid, int32_t cpu, int group,
		    unsigned long flags)
{
	uint8_t bytes[ATTR_CAPACITY] = { 0 };
	struct pd_scope scope = { .arena = NULL };
	struct pd_buffer buffer = pd_buffer(bytes, sizeof(bytes), PD_HOST_BIG);
	int fd, failure;

	pd_encode_attr(&buffer, &scope, &event->attr);
	fd = (int)syscall(SYS_perf_event_open, bytes, pid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);
	failure = fd < 0 ? errno : 0;
	if (recorder->options.attr)
		recorder->options.attr(recorder->options.self, &event->attr, pid, cpu, failure);
	if (failure == E2BIG) {
		// the kernel says what it knows
		uint32_t known = pd_load_u32(bytes + 4, false);

		if (known >= 64 && known < event->attr.size) {
			event->attr.size = known;
			return open_one(recorder, event, pid, cpu, group, flags);
		}
	}
	errno = failure;
	return fd;
}

static int group_of(const struct pd_config *config, size_t index, size_t at)
{
	const struct pd_rec_event *event = &config->events[index];

	return event->leader == index ? -1 : config->events[event->leader].fds[at];
}

static bool raise_files(void)
{
	struct rlimit limit;
	rlim_t wanted;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return false;
	wanted = limit.rlim_cur < limit.rlim_max ? limit.rlim_max : limit.rlim_max * 2;
	limit.rlim_cur = wanted;
	if (wanted > limit.rlim_max)
		limit.rlim_max = wanted;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// What is no longer there is passed over: a thread that ended, a CPU that went.
static bool is_gone(const struct pd_recorder *recorder, int failure)
{
	if (failure == ESRCH)
		return recorder->threads.count > 1 || recorder->options.targets.by_user;
	return failure == ENODEV && recorder->cpus.count > 1 && !recorder->options.targets.cpus;
}

// ---- cgroups: an event is opened on the folder of one, in place of a process ----

static enum pd_status open_cgroup(const char *name, int *fd_out, struct pd_error *error)
{
	// the last one is a plain folder where the others are
	static const char *const mounts[] = { "/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
	char path[4096];

	*fd_out = -1;
	if (!*name)
		return PD_OK;
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]) && *fd_out < 0; i++) {
		snprintf(path, sizeof(path), "%s/%s", mounts[i], name);
		*fd_out = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return *fd_out >= 0 ? PD_OK : pd_fail_system(error, errno, "cgroup %s: not found below /sys/fs/cgroup", name);
}

static enum pd_status open_cgroups(struct pd_recorder *recorder, struct pd_error *error)
{
	const struct pd_targets *targets = &recorder->options.targets;
	enum pd_status status = PD_OK;

	if (!targets->cgroup_count)
		return PD_OK;
	if (!targets->all && !targets->cpus)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "cgroups can be recorded only system-wide; use -a");
	recorder->cgroups = pd_alloc(targets->cgroup_count * sizeof(*recorder->cgroups));
	if (!recorder->cgroups)
		return pd_fail_memory(error);
	for (size_t i = 0; i < targets->cgroup_count; i++)
		recorder->cgroups[i] = -1;
	for (size_t i = 0; i < targets->cgroup_count && status >= 0; i++)
		status = open_cgroup(targets->cgroups[i], &recorder->cgroups[i], error);
	return status;
}

void pd_recorder_close_cgroups(struct pd_recorder *recorder)
{
	for (size_t i = 0; recorder->cgroups && i < recorder->options.targets.cgroup_count; i++)
		if (recorder->cgroups[i] >= 0)
			close(recorder->cgroups[i]);
	pd_free(recorder->cgroups);
	recorder->cgroups = NULL;
}

// One for all events, or each its own; what tracks processes sees all.
static int cgroup_of(const struct pd_recorder *recorder, size_t index)
{
	size_t count = recorder->cgroups ? recorder->options.targets.cgroup_count : 0;

	if (!count || !(recorder->config.events[index].wanted || recorder->config.events[index].offcpu))
		return -1;
	return recorder->cgroups[count == 1 ? 0 : index < count ? index : count - 1];
}

// Counters of a package are on one CPU of it only; what is only measured is at the first place.
static bool counts_on(const struct pd_recorder *recorder, const struct pd_rec_event *event, size_t at)
{
	const char *cpus = event->wanted ? event->wanted->cpus : NULL;
	int32_t cpu = recorder->cpus.items[at % recorder->cpus.count];

	if (!recorder->options.counts)
		return true;
	if (event->wanted && event->wanted->tool)
		return at == 0;
	return !cpus || cpu < 0 || pd_cpus_text_has(cpus, cpu);
}

static enum pd_status open_event(struct pd_recorder *recorder, size_t index, int *errno_out, struct pd_error *error)
{
	struct pd_rec_event *event = &recorder->config.events[index];
	size_t cpu_count = recorder->cpus.count;
	int cgroup = cgroup_of(recorder, index);
	unsigned long flags = cgroup >= 0 ? PERF_FLAG_PID_CGROUP : 0;

	event->fd_count = recorder->threads.count * cpu_count;
	event->fds = pd_alloc(event->fd_count * sizeof(*event->fds));
	event->ids = pd_alloc(event->fd_count * sizeof(*event->ids));
	if (!event->fds || !event->ids) {
		event->fd_count = 0;
		return pd_fail_memory(error);
	}
	for (size_t at = 0; at < event->fd_count; at++)
		event->fds[at] = -1;
	for (size_t at = 0; at < event->fd_count; at++) {
		int32_t pid = recorder->threads.items[at / cpu_count], cpu = recorder->cpus.items[at % cpu_count];
		int group = group_of(&recorder->config, index, at);

		pid = cgroup >= 0 ? cgroup : pid;
		if ((event->leader != index && group < 0) || !counts_on(recorder, event, at))
			continue;
		event->fds[at] = open_one(recorder, event, pid, cpu, group, flags);
		if (event->fds[at] < 0 && errno == EMFILE && raise_files())
			event->fds[at] = open_one(recorder, event, pid, cpu, group, flags);
		if (event->fds[at] >= 0 || is_gone(recorder, errno))
			continue;
		*errno_out = errno;
		return PD_ERROR_SYSTEM;
	}
	return PD_OK;
}

static void close_event(struct pd_rec_event *event)
{
	for (size_t i = 0; i < event->fd_count; i++)
		if (event->fds[i] >= 0)
			close(event->fds[i]);
	pd_free(event->fds);
	pd_free(event->ids);
	event->fds = NULL;
	event->ids = NULL;
	event->fd_count = 0;
}

// ---- what the kernel's answer means ----

static bool is_cycles(const struct pd_attr *attr)
{
	return attr->type == PD_TYPE_HARDWARE && (attr->config & UINT32_MAX) == 0;
}

// Without counters of the hardware, its clock stands for cycles.
static bool take_clock(struct pd_recorder *recorder, struct pd_rec_event *event)
{
	bool no_guest = PD_BITS(event->attr.flags, PD_ATTR_EXCLUDE_GUEST);
	const char *modes = recorder->options.sampling.all_user   ? "uh" :
			    recorder->options.sampling.all_kernel ? "kh" :
								    "";
	char name[32];

	if (recorder->options.counts || !is_cycles(&event->attr))
		return false;
	event->attr.type = PD_TYPE_SOFTWARE;
	event->attr.config = 0;
	recorder->fallback = true;
	// as perf names it: by what it asks for
	snprintf(name, sizeof(name), "cpu-clock:%sppp%s", modes, no_guest ? "H" : "");
	return pd_config_rename(event, "cycles:P", name) && pd_config_rename(event, "cycles", "cpu-clock");
}

static bool lower_precision(struct pd_rec_event *event)
{
	uint64_t precise = PD_BITS(event->attr.flags, PD_ATTR_PRECISE_IP);

	if (!precise)
		return false;
	event->attr.flags -= UINT64_C(1) << PD_ATTR_PRECISE_IP_SHIFT;
	return true;
}

static int64_t paranoid_level(void)
{
	// -1 is a level, too
	return (int64_t)pd_record_number("/proc/sys/kernel/perf_event_paranoid", 2);
}

static bool is_of_cpus(const struct pd_recorder *recorder)
{
	return recorder->options.targets.all || recorder->options.targets.cpus;
}

static bool is_of_tasks(const struct pd_recorder *recorder)
{
	const struct pd_targets *targets = &recorder->options.targets;

	return targets->pids.count || targets->tids.count || targets->by_user;
}

static bool leave_kernel(struct pd_recorder *recorder)
{
	uint64_t bits = PD_MASK(PD_ATTR_EXCLUDE_KERNEL) | PD_MASK(PD_ATTR_EXCLUDE_HV);
	bool changed = false;

	if (is_of_cpus(recorder) || recorder->options.sampling.all_kernel || paranoid_level() < NO_KERNEL)
		return false;
	// what is of the kernel only would count nothing
	for (size_t i = 0; i < recorder->config.event_count; i++)
		if (recorder->config.events[i].attr.flags & PD_MASK(PD_ATTR_EXCLUDE_USER) ||
		    recorder->config.events[i].offcpu)
			return false;
	for (size_t i = 0; i < recorder->config.event_count; i++) {
		struct pd_rec_event *event = &recorder->config.events[i];
		bool had = event->attr.flags & PD_MASK(PD_ATTR_EXCLUDE_KERNEL);

		if (had || event->attr.type == PD_TYPE_TRACEPOINT)
			continue;
		changed = true;
		event->attr.flags |= bits;
		if (!pd_config_modify(event, "u"))
			return false;
	}
	recorder->user_only |= changed;
	return changed;
}

// Whether there is something to be asked for in place of what was refused.
static bool may_ask_again(struct pd_recorder *recorder, size_t index, int failure)
{
	struct pd_rec_event *event = &recorder->config.events[index];

	switch (failure) {
	case EACCES:
	case EPERM:
		return leave_kernel(recorder);
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return take_clock(recorder, event);
	case EOPNOTSUPP:
		return lower_precision(event) || take_clock(recorder, event);
	case EINVAL:
		return take_step(recorder) || lower_precision(event);
	default:
		return false;
	}
}

// Whether the kernel lets this user ask for anything at all: for user space of the thread that asks.
static bool may_open_own(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.disabled = 1,
					.exclude_kernel = 1,
					.exclude_hv = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

// The highest level of kernel.perf_event_paranoid at which users without rights get it.
static int level_needed(const struct pd_recorder *recorder, const struct pd_rec_event *event)
{
	if (event->attr.type == PD_TYPE_TRACEPOINT)
		return NO_TRACEPOINTS - 1;
	if (is_of_cpus(recorder))
		return NO_CPUS - 1;
	return event->attr.flags & PD_MASK(PD_ATTR_EXCLUDE_KERNEL) ? NO_KERNEL : NO_KERNEL - 1;
}

// What is done with events.
static const char *taken(const struct pd_recorder *recorder)
{
	return recorder->options.counts ? "counted" : "recorded";
}

static enum pd_status fail_permission(struct pd_recorder *recorder, const struct pd_rec_event *event, int failure,
				      struct pd_error *error)
{
	int64_t paranoid = paranoid_level();
	int needed = level_needed(recorder, event);
	const char *whom = recorder->options.targets.all  ? "system-wide " :
			   recorder->options.targets.cpus ? "on whole CPUs " :
							    "";

	if (is_of_tasks(recorder) && !is_of_cpus(recorder) && (needed == NO_KERNEL || paranoid <= needed) &&
	    may_open_own())
		return pd_fail_system(error, failure,
				      "processes of other users can be %s only by root or with CAP_PERFMON",
				      taken(recorder));
	if (recorder->options.sampling.off_cpu)
		return pd_fail_system(error, failure,
				      "offcpu-time: no permission to record the kernel %s"
				      "(kernel.perf_event_paranoid is %" PRId64
				      "): become root, give the program CAP_PERFMON, or "
				      "sysctl kernel.perf_event_paranoid=%d",
				      whom, paranoid, is_of_cpus(recorder) ? NO_CPUS - 1 : NO_KERNEL - 1);
	return pd_fail_system(error, failure,
			      "%s cannot be %s %s(kernel.perf_event_paranoid is %" PRId64
			      "): become root, give the program CAP_PERFMON, or sysctl kernel.perf_event_paranoid=%d",
			      event->name, taken(recorder), whom, paranoid, needed);
}

static enum pd_status fail_open(struct pd_recorder *recorder, const struct pd_rec_event *event, int failure,
				struct pd_error *error)
{
	if (failure == EOPNOTSUPP && event->attr.sample_type & PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK))
		return pd_fail_system(error, failure,
				      "%s: branch stacks (-b, -j, --call-graph lbr) are not supported on this machine",
				      event->name);
	switch (failure) {
	case EACCES:
	case EPERM:
		return fail_permission(recorder, event, failure, error);
	case ENOENT:
	case ENXIO:
	case ENODEV:
	case EOPNOTSUPP:
		// the kernel's word for it would be that a file is missing
		return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET,
			       "%s is not supported on this machine; perfdata list lists the events", event->name);
	case EMFILE:
		return pd_fail_system(error, failure,
				      "%s: %zu file descriptors needed for %zu threads on %zu CPUs: raise ulimit -n",
				      event->name, recorder->config.event_count * event->fd_count,
				      recorder->threads.count, recorder->cpus.count);
	case ESRCH:
		return pd_fail_system(error, failure, "the process or thread to be %s has exited", taken(recorder));
	case EBUSY:
		return pd_fail_system(error, failure, "%s: the counter is in use by another process", event->name);
	case ENOSYS:
		return pd_fail_system(error, failure, "this kernel was built without performance events");
	default:
		return pd_fail_system(error, failure, "%s: cannot open the event", event->name);
	}
}

static bool leads_others(const struct pd_config *config, size_t index)
{
	for (size_t i = index + 1; i < config->event_count; i++)
		if (config->events[i].leader == index)
			return true;
	return false;
}

// Counters that cannot tell guests from the rest take no flag about them.
static bool leave_guests(struct pd_recorder *recorder, size_t index, int failure)
{
	struct pd_rec_event *event = &recorder->config.events[index];
	uint64_t flags = PD_MASK(PD_ATTR_EXCLUDE_GUEST) | PD_MASK(PD_ATTR_EXCLUDE_HOST);

	if (!recorder->options.counts || failure != EINVAL || !(event->attr.flags & flags))
		return false;
	close_event(event);
	event->attr.flags &= ~flags;
	return true;
}

// Whether the others are counted without an event that this machine does not know. A group needs its leader.
static bool may_go_without(struct pd_recorder *recorder, size_t index, int failure)
{
	bool unknown = failure == ENOENT || failure == ENXIO || failure == ENODEV || failure == EOPNOTSUPP ||
		       failure == EINVAL;

	if (!recorder->options.counts || !unknown || leads_others(&recorder->config, index))
		return false;
	close_event(&recorder->config.events[index]);
	recorder->config.events[index].refused = true;
	return true;
}

static enum pd_status open_all(struct pd_recorder *recorder, struct pd_error *error)
{
	struct pd_config *config = &recorder->config;

	for (size_t i = 0; i < config->event_count; i++) {
		int failure = 0;
		enum pd_status status = config->events[i].refused ? PD_OK : open_event(recorder, i, &failure, error);

		if (status != PD_ERROR_SYSTEM) {
			if (status < 0)
				return status;
			continue;
		}
		if (leave_guests(recorder, i, failure)) {
			i--;
			continue;
		}
		if (may_go_without(recorder, i, failure))
			continue;
		if (!may_ask_again(recorder, i, failure))
			return fail_open(recorder, &config->events[i], failure, error);
		// the others may have to be asked for less, too
		for (size_t j = 0; j <= i; j++)
			close_event(&config->events[j]);
		i = (size_t)-1;
	}
	return PD_OK;
}

// What is recorded other than it was asked for; if nothing is recorded only the reason is reported.
static void report_what_is_left(struct pd_recorder *recorder)
{
	const struct pd_sampling *sampling = &recorder->options.sampling;
	uint64_t max_rate = recorder->config.max_rate;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (recorder->dropped >> i & 1)
			pd_recorder_report(recorder, steps[i].asked_for ? PD_WARNING : PD_INFO, "old-kernel", NULL,
					   "this kernel does not support %s", steps[i].what);
	if (sampling->freq > max_rate && max_rate)
		pd_recorder_report(recorder, PD_WARNING, "rate", "raise kernel.perf_event_max_sample_rate",
				   "%" PRIu64 " Hz is used instead of %" PRIu64 " Hz", max_rate, sampling->freq);
	if (recorder->fallback)
		pd_recorder_report(
			recorder, PD_INFO, "no-hardware", NULL,
			"no hardware counters available (virtual machine?); using cpu-clock instead of cycles");
	for (size_t i = 0; i < recorder->config.event_count && !recorder->options.counts; i++)
		if (recorder->config.events[i].wanted && recorder->config.events[i].wanted->tool)
			pd_recorder_report(recorder, PD_WARNING, "no-samples", NULL,
					   "%s supports counting only, no samples", recorder->config.events[i].name);
	if (recorder->user_only)
		pd_recorder_report(recorder, PD_WARNING, "paranoid",
				   "sysctl kernel.perf_event_paranoid=1, or give the program CAP_PERFMON",
				   "only user space is %s: kernel.perf_event_paranoid is %" PRId64, taken(recorder),
				   paranoid_level());
}

// ---- ids and filters ----

static enum pd_status take_ids(struct pd_rec_event *event, struct pd_error *error)
{
	for (size_t i = 0; i < event->fd_count; i++)
		if (event->fds[i] >= 0 && ioctl(event->fds[i], PERF_EVENT_IOC_ID, &event->ids[i]) < 0)
			return pd_fail_system(error, errno, "%s: has no id", event->name);
	return PD_OK;
}

static enum pd_status set_filter(struct pd_rec_event *event, struct pd_error *error)
{
	const char *filter = event->wanted ? event->wanted->filter : NULL;

	for (size_t i = 0; filter && i < event->fd_count; i++)
		if (event->fds[i] >= 0 && ioctl(event->fds[i], PERF_EVENT_IOC_SET_FILTER, filter) < 0)
			return pd_fail_system(error, errno, "%s: the kernel rejects the filter '%.100s'", event->name,
					      filter);
	return PD_OK;
}

enum pd_status pd_recorder_open_events(struct pd_recorder *recorder, struct pd_error *error)
{
	enum pd_status status = open_cgroups(recorder, error);

	if (status >= 0)
		status = open_all(recorder, error);
	if (status >= 0)
		report_what_is_left(recorder);
	for (size_t i = 0; i < recorder->config.event_count && status >= 0; i++) {
		status = take_ids(&recorder->config.events[i], error);
		if (status >= 0)
			status = set_filter(&recorder->config.events[i], error);
	}
	return status < 0 || recorder->options.counts ? status : pd_recorder_make_rings(recorder, error);
}

void pd_recorder_enable_all(struct pd_recorder *recorder, bool enable, const char *name)
{
	unsigned long request = enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < recorder->config.event_count; i++) {
		struct pd_rec_event *event = &recorder->config.events[i];

		if (name && *name && strcmp(name, event->name) != 0)
			continue;
		for (size_t at = 0; at < event->fd_count; at++)
			if (event->fds[at] >= 0)
				ioctl(event->fds[at], request, 0);
	}
}

// {value, [enabled,] [running,] id, lost}: without GROUP.
uint64_t pd_recorder_lost_of(struct pd_recorder *recorder, size_t event, size_t descriptor)
{
	const struct pd_rec_event *of = &recorder->config.events[event];
	uint64_t format = of->attr.read_format;
	uint64_t words[8] = { 0 };
	size_t want = 1 + (size_t)__builtin_popcountll(format & ~PD_MASK(PD_READ_FORMAT_GROUP));

	if (!(format & PD_MASK(PD_READ_FORMAT_LOST)) || format & PD_MASK(PD_READ_FORMAT_GROUP) ||
	    of->fds[descriptor] < 0 ||
	    read(of->fds[descriptor], words, sizeof(words)) != (ssize_t)(want * sizeof(words[0])))
		return 0;
	return words[want - 1];
}

/* SPDX-License-Identifier: MIT */
// Processes that have selected samples, and their ancestors, whose mappings and names they inherited.
#include "edit/extract/match.h"

#include "file/file.h"
#include "format/traits.h"

struct processes {
	struct pd_extract *extract;
	struct pd_state *forks; // who forked whom
	struct pd_u64_map *pids;
};

static bool has_pid(const struct pd_u64_map *pids, uint32_t pid)
{
	return pd_u64_map_find(pids, pid) != 0;
}

static enum pd_status add_pid(struct pd_u64_map *pids, uint32_t pid, struct pd_error *error)
{
	return has_pid(pids, pid) || pd_u64_map_add(pids, pid, 1) ? PD_OK : pd_fail_memory(error);
}

static enum pd_status note_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct processes *processes = self;
	struct pd_thread_id thread;
	enum pd_status status;
	bool matches;

	(void)stream;
	if (record->type == PD_RECORD_FORK)
		return pd_state_take(processes->forks, record, error);
	status = pd_extract_matches(processes->extract, record, &matches, error);
	if (status < 0 || !matches)
		return status;
	pd_record_thread(record, &thread);
	return thread.known ? add_pid(processes->pids, thread.pid, error) : PD_OK;
}

static enum pd_status add_parents(const struct processes *processes, struct pd_error *error)
{
	struct pd_u64_map *pids = processes->pids;
	enum pd_status status = PD_OK;
	size_t count;

	do {
		const struct pd_thread *thread;

		count = pids->count;
		for (size_t i = 0; status >= 0 && (thread = pd_state_thread(processes->forks, i)) != NULL; i++)
			if (thread->ppid != UINT32_MAX && has_pid(pids, thread->pid))
				status = add_pid(pids, thread->ppid, error);
	} while (status >= 0 && pids->count > count);
	return status;
}

enum pd_status pd_extract_find_processes(struct pd_extract *extract, struct pd_error *error)
{
	struct pd_extract_match *match = extract->context;
	struct processes processes = { .extract = extract, .pids = &match->pids };
	enum pd_status status = pd_state_new(NULL, &processes.forks, error);

	match->pids.seed = pd_file_secret(extract->file);
	if (status >= 0)
		status = pd_extract_scan(extract, note_record, &processes, error);
	if (status >= 0)
		status = pd_state_finalize(processes.forks, error);
	if (status >= 0)
		status = add_parents(&processes, error);
	pd_state_free(processes.forks);
	return status;
}

bool pd_extract_is_useful(const struct pd_u64_map *pids, const struct pd_record *record)
{
	const struct pd_traits *traits = pd_record_traits(record->type);
	struct pd_thread_id thread;

	if (!(traits->set & (PD_TRAIT_STATE | PD_TRAIT_OF_THREAD)) || (traits->set & PD_TRAIT_KERNEL_STATE))
		return true;
	pd_record_thread(record, &thread);
	return !thread.known || thread.pid == UINT32_MAX || has_pid(pids, thread.pid);
}

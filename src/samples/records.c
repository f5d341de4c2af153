/* SPDX-License-Identifier: MIT */
/*
 * Records that are no samples: what started, ended, was mapped, switched or lost. Each has a line
 * that starts as that of a sample does.
 */
#include "samples/samples.h"
#include "format/traits.h"

#define BIT_OF(record, NAME) (((record)->misc & PD_MASK(PD_MISC_##NAME)) != 0)

static void number(struct pd_line_buffer *line, const char *before, uint64_t value)
{
	pd_line_word(line, before);
	pd_line_dec(line, value, 0, ' ');
}

static void number_signed(struct pd_line_buffer *line, const char *before, uint32_t value)
{
	pd_line_word(line, before);
	pd_line_signed(line, (int32_t)value, 0, ' ');
}

static void marked(struct pd_line_buffer *line, const char *before, uint64_t value)
{
	pd_line_word(line, before);
	pd_line_hex_marked(line, value);
}

/* ---- what is printed after the name of each type ---- */

static void print_comm(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_comm *comm = decoded;

	pd_line_word(line, BIT_OF(record, COMM_EXEC) ? " exec: " : ": ");
	pd_line_foreign(line, comm->comm.data, 0);
	number_signed(line, ":", comm->pid);
	number_signed(line, "/", comm->tid);
}

static void print_task(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_task *task = decoded;

	(void)record;
	number_signed(line, "(", task->pid);
	number_signed(line, ":", task->tid);
	number_signed(line, "):(", task->ppid);
	number_signed(line, ":", task->ptid);
	pd_line_char(line, ')');
}

static void print_range(struct pd_line_buffer *line, uint32_t pid, uint32_t tid, uint64_t addr, uint64_t len,
			uint64_t pgoff)
{
	number_signed(line, " ", pid);
	number_signed(line, "/", tid);
	marked(line, ": [", addr);
	marked(line, "(", len);
	marked(line, ") @ ", pgoff);
}

static void print_mmap(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_mmap *mmap = decoded;

	print_range(line, mmap->pid, mmap->tid, mmap->addr, mmap->len, mmap->pgoff);
	pd_line_word(line, BIT_OF(record, MMAP_DATA) ? "]: r " : "]: x ");
	pd_line_foreign(line, mmap->filename.data, 0);
}

static void print_mmap2(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_mmap2 *mmap2 = decoded;
	struct pd_mmap2 mended = *mmap2;
	bool is_device = pd_mmap2_recover(record, &mended);

	mmap2 = &mended;
	print_range(line, mmap2->pid, mmap2->tid, mmap2->addr, mmap2->len, mmap2->pgoff);
	pd_line_char(line, ' ');
	if (BIT_OF(record, MMAP_BUILD_ID) && !is_device) {
		pd_line_char(line, '<');
		for (size_t i = 0; i < mmap2->build_id_size && i < mmap2->build_id.size; i++)
			pd_line_hex(line, mmap2->build_id.data[i], 2, '0');
		pd_line_char(line, '>');
	} else {
		pd_line_hex(line, mmap2->maj, 2, '0');
		pd_line_char(line, ':');
		pd_line_hex(line, mmap2->min, 2, '0');
		number(line, " ", mmap2->ino);
		number(line, " ", mmap2->ino_generation);
	}
	pd_line_word(line, "]: ");
	pd_line_char(line, PD_BITS(mmap2->prot, PD_PROT_READ) ? 'r' : '-');
	pd_line_char(line, PD_BITS(mmap2->prot, PD_PROT_WRITE) ? 'w' : '-');
	pd_line_char(line, PD_BITS(mmap2->prot, PD_PROT_EXEC) ? 'x' : '-');
	pd_line_char(line, PD_BITS(mmap2->flags, PD_MAP_SHARED) ? 's' : 'p');
	pd_line_char(line, ' ');
	pd_line_foreign(line, mmap2->filename.data, 0);
}

static void print_switch(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_switch_cpu_wide *wide = decoded;
	bool out = BIT_OF(record, SWITCH_OUT);

	pd_line_word(line, !out                               ? " IN         " :
			   BIT_OF(record, SWITCH_OUT_PREEMPT) ? " OUT preempt" :
								" OUT        ");
	if (record->type != PD_RECORD_SWITCH_CPU_WIDE)
		return;
	pd_line_word(line, out ? "  next pid/tid: " : "  prev pid/tid: ");
	pd_line_signed(line, (int32_t)wide->next_prev_pid, 5, ' ');
	pd_line_char(line, '/');
	pd_line_signed_left(line, (int32_t)wide->next_prev_tid, 5);
}

static void print_namespaces(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	const struct pd_namespaces *namespaces = decoded;
	size_t count = namespaces->links.count;

	(void)record;
	number_signed(line, " ", namespaces->pid);
	number_signed(line, "/", namespaces->tid);
	number(line, " - nr_namespaces: ", count);
	pd_line_word(line, "\n\t\t[");
	for (size_t i = 0; i < count; i++) {
		const struct pd_namespace *link = PD_ITEM(pd_namespace, namespaces->links, i);

		if (i && i % 4 == 0)
			pd_line_word(line, "\n\t\t ");
		pd_line_dec(line, i, 0, ' ');
		pd_line_char(line, '/');
		pd_line_word(line, i < sizeof(names) / sizeof(names[0]) ? names[i] : "unknown");
		number(line, ": ", link->dev);
		marked(line, "/", link->inode);
		pd_line_word(line, i + 1 < count ? ", " : "]");
	}
}

static void print_cgroup(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_cgroup *cgroup = decoded;

	(void)record;
	number(line, " cgroup: ", cgroup->id);
	pd_line_char(line, ' ');
	pd_line_foreign(line, cgroup->path.data, 0);
}

static void print_lost(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	(void)record;
	number(line, " lost ", ((const struct pd_lost *)decoded)->lost);
}

static void print_ksymbol(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_ksymbol *ksymbol = decoded;

	(void)record;
	pd_line_word(line, " addr ");
	pd_line_hex(line, ksymbol->addr, 0, ' ');
	number(line, " len ", ksymbol->len);
	number(line, " type ", ksymbol->ksym_type);
	pd_line_word(line, " flags 0x");
	pd_line_hex(line, ksymbol->flags, 0, ' ');
	pd_line_word(line, " name ");
	pd_line_foreign(line, ksymbol->name.data, 0);
}

static void print_bpf(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_bpf_event *bpf = decoded;

	(void)record;
	number(line, " type ", bpf->type);
	number(line, ", flags ", bpf->flags);
	number(line, ", id ", bpf->id);
}

static void print_code(struct pd_line_buffer *line, const char *what, struct pd_bytes bytes)
{
	for (size_t at = 0; at < bytes.size; at += 16) {
		pd_line_char(line, '\n');
		pd_line_foreign(line, what, 21);
		for (size_t i = at; i < at + 16 && i < bytes.size; i++) {
			pd_line_char(line, ' ');
			pd_line_hex(line, bytes.data[i], 2, '0');
		}
	}
}

static void print_poke(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	const struct pd_text_poke *poke = decoded;

	(void)record;
	pd_line_char(line, ' ');
	pd_line_hex(line, poke->addr, 0, ' ');
	number(line, " old len ", poke->old_len);
	number(line, " new len ", poke->new_len);
	print_code(line, "Old bytes:", poke->old_bytes);
	print_code(line, "New bytes:", poke->new_bytes);
}

/* pid and tid stand first in some; the others are of the thread that was running. */
static const struct {
	uint32_t type;
	bool own_tid;
	void (*print)(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded);
} table[] = {
	{ PD_RECORD_COMM, true, print_comm },
	{ PD_RECORD_FORK, true, print_task },
	{ PD_RECORD_EXIT, true, print_task },
	{ PD_RECORD_MMAP, true, print_mmap },
	{ PD_RECORD_MMAP2, true, print_mmap2 },
	{ PD_RECORD_SWITCH, false, print_switch },
	{ PD_RECORD_SWITCH_CPU_WIDE, false, print_switch },
	{ PD_RECORD_NAMESPACES, true, print_namespaces },
	{ PD_RECORD_CGROUP, false, print_cgroup },
	{ PD_RECORD_LOST, false, print_lost },
	{ PD_RECORD_KSYMBOL, false, print_ksymbol },
	{ PD_RECORD_BPF_EVENT, false, print_bpf },
	{ PD_RECORD_TEXT_POKE, false, print_poke },
};

static uint32_t tid_of(const struct pd_record *record, const void *decoded, uint32_t other)
{
	uint32_t pid, tid;

	return pd_record_task(record->type, decoded, &pid, &tid) ? tid : other;
}

/* As perf: of a mapping and of namespaces it is the one of the trailer. */
static uint32_t pid_of(const struct pd_record *record, const void *decoded, uint32_t other)
{
	bool own = record->type == PD_RECORD_COMM || record->type == PD_RECORD_FORK || record->type == PD_RECORD_EXIT;
	uint32_t pid, tid;

	return own && pd_record_task(record->type, decoded, &pid, &tid) ? pid : other;
}

/* Every decoded record of the kernel begins in the same way. */
struct record_head {
	struct pd_bytes rest;
	const struct pd_sample_id *sample_id;
};

void pd_samples_trailer(struct pd_shown_sample *hit, const void *decoded, uint64_t has)
{
	const struct pd_sample_id *id = ((const struct record_head *)decoded)->sample_id;

	if (!id)
		return;
	if (has & PD_MASK(PD_SAMPLE_TYPE_TID)) {
		hit->pid = id->pid;
		hit->tid = id->tid;
	}
	if (has & PD_MASK(PD_SAMPLE_TYPE_CPU))
		hit->cpu = id->cpu;
	if (has & PD_MASK(PD_SAMPLE_TYPE_TIME))
		hit->time_ns = id->time_ns;
}

/* The event that a record without a known id is taken to be of is the first one. */
static const struct pd_event *event_of(const struct pd_samples *samples, const struct pd_record *record)
{
	if (record->event)
		return record->event;
	return pd_file_event_count(samples->file) ? pd_file_event(samples->file, 0) : NULL;
}

static void print_start(struct pd_samples *samples, const struct pd_record *record, const void *decoded)
{
	const struct pd_event *event = event_of(samples, record);
	char unknown[PD_THREAD_NAME_BYTES];
	struct pd_shown_sample hit = { .record = record,
				       .event = event,
				       .when = pd_record_moment(record),
				       .pid = UINT32_MAX,
				       .tid = UINT32_MAX,
				       .cpu = UINT32_MAX,
				       .time_ns = UINT64_MAX };
	uint32_t tid;
	bool wide;

	if (!event)
		return;
	hit.shown = samples->fields[pd_event_kind(event)].shown;
	pd_samples_trailer(&hit, decoded, event->attr->sample_type);
	tid = tid_of(record, decoded, hit.tid);
	if (!PD_BITS(event->attr->flags, PD_ATTR_SAMPLE_ID_ALL)) {
		hit.cpu = 0;
		hit.pid = pid_of(record, decoded, hit.pid);
		hit.tid = tid;
		hit.time_ns = 0;
		if (record->type == PD_RECORD_FORK || record->type == PD_RECORD_EXIT)
			hit.time_ns = ((const struct pd_task *)decoded)->time_ns;
	}
	hit.comm = tid == UINT32_MAX ? ":-1" : pd_state_comm(samples->state, tid, hit.when, unknown);
	wide = !((hit.shown & FIELD_IP) && !samples->options.no_chains &&
		 (event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN)));
	pd_samples_start(samples, &hit, record->type, wide);
}

static size_t row_of(uint32_t type)
{
	size_t row = 0;

	while (row < sizeof(table) / sizeof(table[0]) && table[row].type != type)
		row++;
	return row;
}

bool pd_samples_record_text(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded)
{
	size_t row = row_of(record->type);

	if (row < sizeof(table) / sizeof(table[0]))
		table[row].print(line, record, decoded);
	return row < sizeof(table) / sizeof(table[0]);
}

void pd_samples_record(struct pd_samples *samples, const struct pd_record *record)
{
	struct pd_line_buffer *line = &samples->line;
	const void *decoded;

	if (record->type == PD_RECORD_FINISHED_ROUND) {
		pd_line_word(line, "PERF_RECORD_FINISHED_ROUND\n");
		samples->printed++;
		return;
	}
	if (pd_record_decode(record, &decoded, NULL) != PD_OK)
		return;
	if (row_of(record->type) == sizeof(table) / sizeof(table[0]))
		return;
	print_start(samples, record, decoded);
	pd_line_word(line, "PERF_RECORD_");
	pd_line_word(line, pd_record_name(record->type));
	pd_samples_record_text(line, record, decoded);
	pd_line_char(line, '\n');
	samples->printed++;
}

/* SPDX-License-Identifier: MIT */
/*
 * Code made at run time, for tools that know only files: each function of a jitdump becomes an ELF file, and a map of it
 * at the time at which it was made. Maps wait until the recording has come to their time, so that they break no round.
 */
#include "inject.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "front/unfinished.h"

enum {
	CLOCK_OF_DUMPS = CLOCK_MONOTONIC,
	ID_BYTES = 20,
	PADDING = 8
};

/* A map that waits. */
struct load {
	uint64_t time_ns;
	uint64_t addr, len, pgoff;
	uint32_t pid, tid;
	size_t dump;
	size_t number; /* of the code whose file it is */
	uint32_t maj, min;
	uint64_t ino;
	struct pd_build_id id;
};

/* A dump that was mapped. What its codes are called is made anew for each map. */
struct dump {
	char *path;
	struct pd_jitdump *jit;
	char *folder;  /* as it stands in maps */
	bool *repeats; /* by number: an earlier code has the same index, and so the name */
	uint32_t pid;  /* of the process, as the recording has it */
	size_t event;
	struct pd_sample_id trailer;
	bool has_trailer;
};

struct jit {
	struct dump *dumps;
	size_t dump_count;
	struct load *loads; /* by time */
	size_t load_count, load_room, next;
	const struct pd_time_conv *conv;
	struct pd_time_conv conversion;
	uint64_t files, maps, marks, dropped, lost;
};

/* ---- files ---- */

static bool name_of(const struct dump *dump, const struct pd_jit_code *code, size_t number, char *out, size_t size)
{
	char repeat[32] = "";
	int n;

	if (dump->repeats[number])
		snprintf(repeat, sizeof(repeat), "-%zu", number);
	n = snprintf(out, size, "%s/jitted-%" PRIu32 "-%" PRIu64 "%s.so", dump->folder, code->pid, code->index, repeat);
	return n > 0 && (size_t)n < size;
}

static bool write_bytes(int fd, struct pd_bytes bytes)
{
	while (bytes.size) {
		ssize_t put = write(fd, bytes.data, bytes.size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		bytes.data += put;
		bytes.size -= (size_t)put;
	}
	return true;
}

/* Beside its name first, so that nothing is written through a link that somebody has put there. */
static bool write_file(const char *path, struct pd_bytes bytes, struct stat *about)
{
	char beside[PATH_MAX];
	int n = snprintf(beside, sizeof(beside), "%s.new-%d", path, (int)getpid());
	struct unfinished *unfinished = NULL;
	bool done = false;
	int fd, failure;

	if (n < 0 || (size_t)n >= sizeof(beside)) {
		errno = ENAMETOOLONG;
		return false;
	}
	unfinished_begin();
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	failure = errno;
	if (fd >= 0)
		unfinished = unfinished_add(beside, UNFINISHED_TREE);
	unfinished_end();
	if (fd >= 0) {
		done = write_bytes(fd, bytes) && fstat(fd, about) == 0 && close(fd) == 0 && rename(beside, path) == 0;
		failure = errno;
		if (!done)
			unlink(beside);
		unfinished_done(unfinished);
	}
	errno = failure;
	return done;
}

/* ---- codes ---- */

static int by_index(const void *a, const void *b, void *jit)
{
	const struct pd_jit_code *left = pd_jitdump_code_at(jit, *(const size_t *)a);
	const struct pd_jit_code *right = pd_jitdump_code_at(jit, *(const size_t *)b);

	if (left->index != right->index)
		return left->index > right->index ? 1 : -1;
	return (left->number > right->number) - (left->number < right->number);
}

/* For each code the one whose file it is: itself, or what was moved. NULL if there is no memory. */
static size_t *find_files(struct dump *dump)
{
	size_t count = pd_jitdump_what(dump->jit)->code_count, file = 0;
	size_t *order = calloc(count + 1, sizeof(*order)), *files = calloc(count + 1, sizeof(*files));
	const struct pd_jit_code *before = NULL;

	dump->repeats = calloc(count + 1, sizeof(*dump->repeats));
	if (!order || !files || !dump->repeats) {
		free(order);
		free(files);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_index, dump->jit);
	for (size_t i = 0; i < count; i++) {
		const struct pd_jit_code *code = pd_jitdump_code_at(dump->jit, order[i]);
		bool same = before && before->index == code->index;

		if (!code->moved || !same) {
			file = order[i];
			dump->repeats[file] = same;
		}
		files[order[i]] = file;
		before = code;
	}
	free(order);
	return files;
}

static uint64_t time_of(const struct jit *jit, const struct dump *dump, uint64_t time)
{
	const struct pd_time_conv *conv = &jit->conversion;
	uint64_t shift = conv->time_shift & 63;

	if (!pd_jitdump_what(dump->jit)->arch_timestamps)
		return time;
	if (conv->cap_user_time_short)
		time = conv->time_cycles + ((time - conv->time_cycles) & conv->time_mask);
	return conv->time_zero + (time >> shift) * conv->time_mult +
	       (((time & ((UINT64_C(1) << shift) - 1)) * conv->time_mult) >> shift);
}

static bool put_load(struct inject *inject, const struct load *load)
{
	struct jit *jit = inject->jit;
	struct load *more;

	if (jit->load_count == jit->load_room) {
		jit->load_room = jit->load_room ? 2 * jit->load_room : 256;
		more = realloc(jit->loads, jit->load_room * sizeof(*more));
		if (!more)
			return inject_no_memory(inject);
		jit->loads = more;
	}
	jit->loads[jit->load_count++] = *load;
	return true;
}

/* Writes the file of a code; false, told, if that is not possible. */
static bool make_file(struct inject *inject, struct dump *dump, size_t number, struct load *load)
{
	const struct pd_jit_code *code = pd_jitdump_code_at(dump->jit, number);
	struct pd_jit_object object;
	struct pd_error error;
	char path[PATH_MAX];
	struct stat about;

	if (pd_jitdump_object(dump->jit, code, &object, &error) < 0) {
		inject_tell(inject, true, "%s: %s", dump->path, error.message);
		return false;
	}
	if (!name_of(dump, code, number, path, sizeof(path)) || !write_file(path, object.elf, &about)) {
		inject_tell(inject, true, "%s: %s cannot be written: %s", dump->path, code->name, strerror(errno));
		return false;
	}
	inject->jit->files++;
	load->pgoff = object.text_offset;
	load->maj = major(about.st_dev);
	load->min = minor(about.st_dev);
	load->ino = about.st_ino;
	load->id.size = ID_BYTES;
	memcpy(load->id.bytes, object.build_id, ID_BYTES);
	return true;
}

static void place_load(const struct jit *jit, const struct dump *dump, const struct pd_jit_code *code,
		       struct load *load)
{
	bool own = code->pid == pd_jitdump_what(dump->jit)->pid;

	load->time_ns = time_of(jit, dump, code->time);
	load->addr = code->addr;
	/* What the program mapped behind the code belongs to it. */
	load->len = code->frames_mapped ? ((code->size + 7) & ~UINT64_C(7)) + code->frames_mapped : code->size;
	load->pid = own ? dump->pid : code->pid;
	/* In a container it has other numbers. */
	load->tid = own && dump->pid != code->pid ? dump->pid : code->tid;
}

static int by_time(const void *a, const void *b)
{
	const struct load *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns > right->time_ns ? 1 : -1;
	if (left->dump != right->dump)
		return left->dump > right->dump ? 1 : -1;
	return (left->number > right->number) - (left->number < right->number);
}

static bool make_loads(struct inject *inject, size_t which)
{
	struct jit *jit = inject->jit;
	struct dump *dump = &jit->dumps[which];
	size_t count = pd_jitdump_what(dump->jit)->code_count;
	size_t *files = find_files(dump);
	struct load *made = calloc(count + 1, sizeof(*made));
	bool ok = files && made;

	if (!ok)
		inject_no_memory(inject);
	for (size_t i = 0; i < count && ok; i++) {
		const struct pd_jit_code *code = pd_jitdump_code_at(dump->jit, i);

		if (files[i] == i && !make_file(inject, dump, i, &made[i])) {
			jit->lost++;
			continue;
		}
		made[i] = made[files[i]];
		made[i].dump = which;
		made[i].number = files[i];
		place_load(jit, dump, code, &made[i]);
		if (made[i].pgoff && made[i].len)
			ok = put_load(inject, &made[i]);
	}
	free(made);
	free(files);
	if (jit->load_count > jit->next)
		qsort(jit->loads + jit->next, jit->load_count - jit->next, sizeof(*jit->loads), by_time);
	return ok;
}

/* ---- maps of dumps ---- */

static const char *why_not(const struct inject *inject, const struct pd_record *record, const struct pd_jitdump *jit)
{
	const struct pd_attr *attr = record->event ? record->event->attr : NULL;

	if (pd_jitdump_what(jit)->arch_timestamps)
		return inject->jit->conv ?
			       NULL :
			       "its timestamps are TSC values, and the recording has no TIME_CONV record to convert them";
	if (!attr || !PD_BITS(attr->flags, PD_ATTR_USE_CLOCKID) || attr->clockid != CLOCK_OF_DUMPS)
		return "the recording uses a different clock than jitdumps (perf record -k mono)";
	return NULL;
}

static char *folder_of(const struct inject *inject, const char *path)
{
	const char *slash = strrchr(path, '/'), *folder = inject->values->jit_dir;

	if (folder)
		return realpath(folder, NULL);
	return slash > path ? strndup(path, (size_t)(slash - path)) : strdup(slash ? "/" : ".");
}

static bool open_dump(struct inject *inject, struct dump *dump, const struct pd_record *record, const char *path)
{
	struct pd_error error;
	const char *why;

	if (pd_jitdump_open(inject->values->symfs, path, 0, &dump->jit, &error) < 0) {
		inject_tell(inject, true, "%s", error.message);
		return false;
	}
	why = why_not(inject, record, dump->jit);
	if (why) {
		inject_tell(inject, true, "%s: %s", path, why);
		return false;
	}
	if (pd_jitdump_what(dump->jit)->damage)
		inject_tell(inject, true, "%s: offset %" PRIu64 ": %s", path, pd_jitdump_what(dump->jit)->damage_offset,
			    pd_jitdump_what(dump->jit)->damage);
	dump->folder = folder_of(inject, path);
	dump->path = strdup(path);
	if (!dump->folder || !dump->path) {
		inject_tell(inject, true, "%s: %s", inject->values->jit_dir ? inject->values->jit_dir : path,
			    strerror(errno));
		return false;
	}
	return true;
}

static void close_dump(struct dump *dump)
{
	pd_jitdump_close(dump->jit);
	free(dump->path);
	free(dump->folder);
	free(dump->repeats);
}

static bool is_open(const struct jit *jit, uint32_t pid, const char *path)
{
	for (size_t i = 0; i < jit->dump_count; i++) {
		if (jit->dumps[i].pid == pid && (!path || !strcmp(jit->dumps[i].path, path)))
			return true;
	}
	return false;
}

static enum verdict_of_inject take_mark(struct inject *inject, const struct pd_record *record, uint32_t pid,
					const char *path, const struct pd_sample_id *trailer)
{
	struct jit *jit = inject->jit;
	struct dump dump = { .pid = pid, .event = inject_event(record) };
	struct dump *more;

	if (is_open(jit, pid, path)) {
		jit->marks++;
		return INJECT_DROP;
	}
	if (!open_dump(inject, &dump, record, path)) {
		close_dump(&dump);
		return INJECT_PASS;
	}
	more = realloc(jit->dumps, (jit->dump_count + 1) * sizeof(*more));
	if (!more) {
		close_dump(&dump);
		inject_no_memory(inject);
		return INJECT_FAILED;
	}
	if (trailer) {
		dump.trailer = *trailer;
		dump.has_trailer = true;
	}
	jit->dumps = more;
	jit->dumps[jit->dump_count++] = dump;
	jit->marks++;
	return make_loads(inject, jit->dump_count - 1) ? INJECT_DROP : INJECT_FAILED;
}

/* Memory that programs put code into. */
static bool is_memory(const char *path)
{
	static const char *const beginnings[] = { "//anon", "[anon", "/memfd:", "/dev/zero", "/anon_hugepage", "/SYSV" };

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (!strncmp(path, beginnings[i], strlen(beginnings[i])))
			return true;
	}
	return false;
}

static enum verdict_of_inject take_map(struct inject *inject, const struct pd_record *record, uint32_t pid,
				       const char *path, bool executable, const struct pd_sample_id *trailer)
{
	if (executable && pd_jitdump_is(path))
		return take_mark(inject, record, pid, path, trailer);
	/* It may be told after the code in it, when it becomes executable, and would then hide it. */
	if (executable && is_memory(path) && is_open(inject->jit, pid, NULL)) {
		inject->jit->dropped++;
		return INJECT_DROP;
	}
	return INJECT_PASS;
}

enum verdict_of_inject jit_record(struct inject *inject, struct pd_stream *stream, const struct pd_record *record)
{
	const struct pd_time_conv *conv;
	const struct pd_mmap2 *mmap2;
	const struct pd_mmap *mmap;

	(void)stream;
	if (record->time_ns != PD_NO_TIME && !jit_write(inject, record->time_ns))
		return INJECT_FAILED;
	if (record->type == PD_RECORD_TIME_CONV && (conv = pd_as_time_conv(record))) {
		inject->jit->conversion = *conv;
		inject->jit->conv = &inject->jit->conversion;
	} else if (record->type == PD_RECORD_MMAP2 && (mmap2 = pd_as_mmap2(record))) {
		return take_map(inject, record, mmap2->pid, mmap2->filename.data, mmap2->prot & PD_MASK(PD_PROT_EXEC),
				mmap2->sample_id);
	} else if (record->type == PD_RECORD_MMAP && (mmap = pd_as_mmap(record))) {
		return take_map(inject, record, mmap->pid, mmap->filename.data,
				!(record->misc & PD_MASK(PD_MISC_MMAP_DATA)), mmap->sample_id);
	}
	return INJECT_PASS;
}

/* ---- maps of code ---- */

static bool write_load(struct inject *inject, const struct load *load)
{
	const struct dump *dump = &inject->jit->dumps[load->dump];
	const struct pd_jit_code *code = pd_jitdump_code_at(dump->jit, load->number);
	struct pd_sample_id trailer = dump->trailer;
	uint16_t misc = PD_CPUMODE_USER;
	struct pd_mmap2 map = {
		.pid = load->pid,
		.tid = load->tid,
		.addr = load->addr,
		.len = load->len,
		.pgoff = load->pgoff,
		.maj = load->maj,
		.min = load->min,
		.ino = load->ino,
		.ino_generation = 1,
		.prot = (uint32_t)PD_MASK(PD_PROT_EXEC),
		.flags = (uint32_t)PD_MASK(PD_MAP_SHARED),
		.sample_id = dump->has_trailer ? &trailer : NULL,
	};
	char path[PATH_MAX + PADDING] = ""; /* written with zeros behind it */

	if (!name_of(dump, code, load->number, path, PATH_MAX))
		return true;
	trailer.pid = load->pid;
	trailer.tid = load->tid;
	trailer.time_ns = load->time_ns;
	map.filename = (struct pd_str){ path, (uint32_t)strlen(path), (uint32_t)(strlen(path) + PADDING) & ~7u };
	if (inject->ids && ids_in_maps(inject->values)) {
		misc |= (uint16_t)PD_MASK(PD_MISC_MMAP_BUILD_ID);
		map.build_id_size = load->id.size;
		map.build_id = (struct pd_bytes){ load->id.bytes, ID_BYTES };
	} else if (inject->ids && !ids_add(inject, path, &load->id)) {
		return false;
	}
	inject->jit->maps++;
	return inject_keep(inject, pd_writer_add(inject->target.writer, PD_RECORD_MMAP2, misc, &map, dump->event,
						 &inject->error));
}

bool jit_write(struct inject *inject, uint64_t up_to_ns)
{
	struct jit *jit = inject->jit;

	while (jit->next < jit->load_count && jit->loads[jit->next].time_ns <= up_to_ns) {
		if (!write_load(inject, &jit->loads[jit->next++]))
			return false;
	}
	return true;
}

bool jit_waits(const struct inject *inject)
{
	return inject->jit->next < inject->jit->load_count;
}

/* ---- the begin and the end ---- */

int jit_open(struct inject *inject)
{
	inject->jit = calloc(1, sizeof(*inject->jit));
	if (inject->jit)
		return CODE_FINE;
	complain("out of memory");
	return CODE_UNREADABLE;
}

void jit_close(struct inject *inject)
{
	struct jit *jit = inject->jit;

	if (!jit)
		return;
	for (size_t i = 0; i < jit->dump_count; i++)
		close_dump(&jit->dumps[i]);
	free(jit->dumps);
	free(jit->loads);
	free(jit);
	inject->jit = NULL;
}

void jit_count(const struct inject *inject, struct pd_text *text)
{
	const struct jit *jit = inject->jit;

	if (!jit)
		return;
	pd_text_printf(text,
		       "; %" PRIu64 " map%s added for code in %" PRIu64 " file%s, %" PRIu64
		       " map%s of jitdumps and %" PRIu64 " of anonymous memory dropped",
		       jit->maps, plural(jit->maps), jit->files, plural(jit->files), jit->marks, plural(jit->marks),
		       jit->dropped);
}

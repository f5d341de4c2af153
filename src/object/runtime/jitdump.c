/* SPDX-License-Identifier: MIT */
/*
 * A jitdump is a header and records {id, size, time}. Lines come before the code that they belong to. Programs that run,
 * or were killed, leave a last record that is cut off.
 */
#include "object/runtime/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/lookup/search.h"
#include "base/lookup/u64_map.h"
#include "base/text/path.h"
#include "object/find/root.h"

enum {
	HEADER_SIZE = 40,
	RECORD_SIZE = 16,
	LOAD_SIZE = 40, // after the header of a record, up to the name
	MOVE_SIZE = 48,
	UNWINDING_SIZE = 24,   // after the header of a record, up to the bytes
	NAME_LIMIT = 64 << 10, // most of a load that is looked through for the end of its name
	WINDOW = 256 << 10,
	LINES_LIMIT = 64 << 20, // most of a record of lines
	CANDIDATES = 16384      // most codes at one address that a lookup compares
};

enum record_id {
	CODE_LOAD,
	CODE_MOVE,
	CODE_DEBUG_INFO,
	CODE_CLOSE,
	CODE_UNWINDING
};

static const size_t default_limit = (size_t)1 << 30;
static const uint32_t none = UINT32_MAX;

struct code {
	struct pd_jit_code code;
	size_t name; // in texts
};

struct line {
	uint64_t offset; // from the beginning of the code
	uint32_t line;
	uint32_t column;
	size_t file; // in texts
};

struct pd_jitdump {
	struct pd_jitdump_about about;
	struct code *codes;
	size_t code_capacity;
	struct line *lines;
	size_t line_capacity;
	char *texts;
	size_t text_size, text_capacity;
	// codes by address, and over them a tree of the highest end below each node
	uint32_t *order;
	uint64_t *ends;
	size_t leaves;
	// for objects, if they will be asked for
	struct pd_image image;
	bool kept;
	uint8_t *object;
	size_t object_capacity;
};

struct reading {
	struct pd_jitdump *jit;
	struct pd_image *image;
	size_t limit;
	bool out_of_memory;
	uint8_t *window;
	size_t window_capacity;
	size_t window_size;
	uint64_t window_at;
	struct pd_u64_map by_index; // from the index of a code to one more than the place of the newest one
	// lines, and how to unwind, that wait for their code
	uint64_t lines_addr;
	size_t first_line, line_count;
	uint64_t frames_offset, frames_size, frames_header_size, frames_mapped;
};

// ---- bytes ----

static struct pd_cursor peek(struct reading *r, uint64_t offset, size_t want)
{
	uint64_t into = offset - r->window_at;

	if (offset < r->window_at || into > r->window_size || want > r->window_size - into) {
		r->window_size = 0;
		r->window_at = offset;
		into = 0;
		if (PD_GROW(r->window, r->window_capacity, want > WINDOW ? want : WINDOW))
			r->window_size = pd_image_copy(r->image, offset, r->window, r->window_capacity);
		else
			r->out_of_memory = true;
	}
	if (!r->window)
		return pd_cursor("", 0, r->jit->about.big);
	want = want < r->window_size - into ? want : (size_t)(r->window_size - into);
	return pd_cursor(r->window + into, want, r->jit->about.big);
}

static size_t memory_used(const struct reading *r)
{
	const struct pd_jitdump *jit = r->jit;

	// the order and its tree come to at most 36 bytes for each code
	return jit->about.code_count * (sizeof(*jit->codes) + 36) + jit->line_capacity * sizeof(*jit->lines) +
	       jit->text_capacity + r->by_index.capacity * sizeof(*r->by_index.slots);
}

static bool put_text(struct reading *r, const void *text, size_t size, size_t *at_out)
{
	struct pd_jitdump *jit = r->jit;

	if (!PD_GROW(jit->texts, jit->text_capacity, jit->text_size + size + 1)) {
		r->out_of_memory = true;
		return false;
	}
	if (size)
		memcpy(jit->texts + jit->text_size, text, size);
	jit->texts[jit->text_size + size] = 0;
	*at_out = jit->text_size;
	jit->text_size += size + 1;
	return true;
}

static bool take_text(struct pd_cursor *c, const char **text_out, size_t *length_out)
{
	const uint8_t *at = c->at, *end = pd_cursor_left(c) ? memchr(at, 0, pd_cursor_left(c)) : NULL;

	if (!end)
		return false;
	pd_cursor_take(c, (uint64_t)(end - at) + 1);
	*text_out = (const char *)at;
	*length_out = (size_t)(end - at);
	return true;
}

// ---- codes by their number ----

static void add_code(struct reading *r, const struct code *code)
{
	struct pd_jitdump *jit = r->jit;

	if (!PD_GROW(jit->codes, jit->code_capacity, jit->about.code_count + 1) ||
	    !pd_u64_map_set(&r->by_index, code->code.index, jit->about.code_count + 1)) {
		r->out_of_memory = true;
		return;
	}
	jit->codes[jit->about.code_count++] = *code;
}

// ---- records ----

static bool read_load(struct reading *r, struct pd_cursor *c, uint64_t time, uint64_t offset, uint64_t size)
{
	struct code added = { .code = { .time = time, .end_time = PD_NO_TIME } };
	struct pd_jit_code *code = &added.code;
	const char *name;
	size_t length;

	code->pid = pd_cursor_u32(c);
	code->tid = pd_cursor_u32(c);
	pd_cursor_u64(c); // where the program sees it, which may be another mapping
	code->addr = pd_cursor_u64(c);
	code->size = pd_cursor_u64(c);
	code->index = pd_cursor_u64(c);
	if (c->failed || !take_text(c, &name, &length) || !put_text(r, name, length, &added.name))
		return false;
	if (RECORD_SIZE + LOAD_SIZE + length + 1 <= size)
		code->code_offset = offset + RECORD_SIZE + LOAD_SIZE + length + 1;
	if (r->line_count && r->lines_addr == code->addr) {
		code->first_line = r->first_line;
		code->line_count = r->line_count;
	}
	r->line_count = 0;
	code->frames_offset = r->frames_offset;
	code->frames_size = r->frames_size;
	code->frames_header_size = r->frames_header_size;
	code->frames_mapped = r->frames_mapped;
	r->frames_size = r->frames_header_size = r->frames_mapped = 0;
	add_code(r, &added);
	return true;
}

static bool read_move(struct reading *r, struct pd_cursor *c, uint64_t time)
{
	struct code moved;
	uint64_t new_addr, size, index, from_plus_1;
	uint32_t pid = pd_cursor_u32(c), tid = pd_cursor_u32(c);

	pd_cursor_take(c, 16); // where the program sees it, where it was
	new_addr = pd_cursor_u64(c);
	size = pd_cursor_u64(c);
	index = pd_cursor_u64(c);
	if (c->failed)
		return false;
	from_plus_1 = pd_u64_map_find(&r->by_index, index);
	if (!from_plus_1)
		return true; // what was never loaded has no name
	moved = r->jit->codes[from_plus_1 - 1];
	r->jit->codes[from_plus_1 - 1].code.end_time = time;
	moved.code.time = time;
	moved.code.addr = new_addr;
	moved.code.size = size;
	moved.code.pid = pid;
	moved.code.tid = tid;
	moved.code.moved = true;
	add_code(r, &moved);
	return true;
}

// A file is mostly the one of the line before: said by a mark, or by the same name again.
static bool read_file_name(struct reading *r, struct pd_cursor *c, size_t *file)
{
	const char *name,
		*before = r->jit->about.line_count && *file < r->jit->text_size ? r->jit->texts + *file : NULL;
	size_t length;

	if (!take_text(c, &name, &length))
		return false;
	if (before && length == 1 && (uint8_t)name[0] == 0xff)
		return true;
	if (before && strlen(before) == length && memcmp(before, name, length) == 0)
		return true;
	return put_text(r, name, length, file);
}

static bool read_lines(struct reading *r, struct pd_cursor *c)
{
	struct pd_jitdump *jit = r->jit;
	uint64_t addr = pd_cursor_u64(c), count = pd_cursor_u64(c);
	size_t file = SIZE_MAX;

	r->lines_addr = addr;
	r->first_line = jit->about.line_count;
	r->line_count = 0;
	if (c->failed || !pd_cursor_count(c, count, 17))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		struct line line = { .offset = pd_cursor_u64(c) - addr };

		line.line = pd_cursor_u32(c);
		line.column = pd_cursor_u32(c);
		if (c->failed || !read_file_name(r, c, &file))
			return false;
		line.file = file;
		if (!PD_GROW(jit->lines, jit->line_capacity, jit->about.line_count + 1)) {
			r->out_of_memory = true;
			return false;
		}
		jit->lines[jit->about.line_count++] = line;
		r->line_count++;
	}
	return true;
}

static bool read_unwinding(struct reading *r, struct pd_cursor *c, uint64_t offset, uint64_t size)
{
	r->frames_size = pd_cursor_u64(c);
	r->frames_header_size = pd_cursor_u64(c);
	r->frames_mapped = pd_cursor_u64(c);
	r->frames_offset = offset + RECORD_SIZE + UNWINDING_SIZE;
	// what says of itself that it is more than there is says nothing
	if (c->failed || r->frames_size > size - RECORD_SIZE - UNWINDING_SIZE ||
	    r->frames_header_size > r->frames_size || r->frames_mapped > r->frames_size)
		r->frames_size = r->frames_header_size = r->frames_mapped = 0;
	return !c->failed;
}

static int by_offset(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void sort_lines(struct reading *r)
{
	struct line *lines = r->line_count ? r->jit->lines + r->first_line : NULL;

	for (size_t i = 1; i < r->line_count; i++) {
		if (lines[i].offset < lines[i - 1].offset) {
			qsort(lines, r->line_count, sizeof(*lines), by_offset);
			return;
		}
	}
}

static const char *read_record(struct reading *r, uint32_t id, uint64_t size, uint64_t time, uint64_t offset)
{
	uint64_t most = id == CODE_DEBUG_INFO ? LINES_LIMIT : id == CODE_LOAD ? NAME_LIMIT : MOVE_SIZE;
	uint64_t body = size - RECORD_SIZE;
	struct pd_cursor c;
	bool ok = true;

	if (id == CODE_CLOSE)
		r->jit->about.closed = true;
	if (id > CODE_UNWINDING || id == CODE_CLOSE)
		return NULL; // what is not known yet
	c = peek(r, offset + RECORD_SIZE, (size_t)(body < most ? body : most));
	if (id == CODE_LOAD)
		ok = read_load(r, &c, time, offset, size);
	else if (id == CODE_MOVE)
		ok = read_move(r, &c, time);
	else if (id == CODE_UNWINDING)
		ok = read_unwinding(r, &c, offset, size);
	else if ((ok = read_lines(r, &c)))
		sort_lines(r);
	return ok ? NULL : "a record is truncated or damaged";
}

static void read_records(struct reading *r, uint64_t offset)
{
	struct pd_jitdump_about *about = &r->jit->about;
	const char *damage = NULL;

	while (!damage && !r->out_of_memory && offset < r->image->size) {
		struct pd_cursor c = peek(r, offset, RECORD_SIZE);
		uint32_t id = pd_cursor_u32(&c), size = pd_cursor_u32(&c);
		uint64_t time = pd_cursor_u64(&c);

		about->damage_offset = offset;
		if (c.failed || size < RECORD_SIZE)
			damage = c.failed ? "the header of a record is truncated" :
					    "a record is smaller than its header";
		else if (memory_used(r) > r->limit || about->code_count >= none / 2)
			damage = "larger than the limit";
		else
			damage = read_record(r, id, size, time, offset);
		offset += size;
	}
	about->damage = damage;
	if (!damage)
		about->damage_offset = PD_NO_OFFSET;
}

static enum pd_status read_header(struct reading *r, uint64_t *size_out, struct pd_error *error)
{
	struct pd_jitdump_about *about = &r->jit->about;
	struct pd_cursor c = peek(r, 0, HEADER_SIZE);
	uint32_t version;
	const uint8_t *magic = pd_cursor_take(&c, 4);

	if (!magic || (memcmp(magic, "JiTD", 4) != 0 && memcmp(magic, "DTiJ", 4) != 0))
		return pd_fail(error, PD_ERROR_FORMAT, 0, "not a jitdump file (bad magic number)");
	about->big = magic[0] == 'J';
	c = peek(r, 4, HEADER_SIZE - 4);
	version = pd_cursor_u32(&c);
	*size_out = pd_cursor_u32(&c);
	about->machine = pd_cursor_u32(&c);
	pd_cursor_u32(&c);
	about->pid = pd_cursor_u32(&c);
	about->start_time = pd_cursor_u64(&c);
	about->arch_timestamps = pd_cursor_u64(&c) & 1;
	if (c.failed || *size_out < HEADER_SIZE)
		return pd_fail(error, PD_ERROR_FORMAT, 8, "the jitdump header is truncated");
	if (version != 1)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, 4, "unsupported jitdump version %u", version);
	return PD_OK;
}

// ---- the order of addresses ----

static int by_addr(const void *a, const void *b, void *codes)
{
	const struct code *x = &((const struct code *)codes)[*(const uint32_t *)a];
	const struct code *y = &((const struct code *)codes)[*(const uint32_t *)b];

	if (x->code.addr != y->code.addr)
		return x->code.addr > y->code.addr ? 1 : -1;
	return (x > y) - (x < y);
}

static bool make_order(struct pd_jitdump *jit)
{
	size_t count = jit->about.code_count;

	for (jit->leaves = 1; jit->leaves < count;)
		jit->leaves *= 2;
	jit->order = pd_realloc(NULL, count * sizeof(*jit->order));
	jit->ends = pd_alloc(2 * jit->leaves * sizeof(*jit->ends));
	if (!jit->order || !jit->ends)
		return false;
	for (size_t i = 0; i < count; i++)
		jit->order[i] = (uint32_t)i;
	qsort_r(jit->order, count, sizeof(*jit->order), by_addr, jit->codes);
	for (size_t i = 0; i < count; i++) {
		const struct pd_jit_code *code = &jit->codes[jit->order[i]].code;

		jit->ends[jit->leaves + i] = code->size > UINT64_MAX - code->addr ? UINT64_MAX :
										    code->addr + code->size;
	}
	for (size_t i = jit->leaves - 1; i > 0; i--)
		jit->ends[i] = jit->ends[2 * i] > jit->ends[2 * i + 1] ? jit->ends[2 * i] : jit->ends[2 * i + 1];
	return true;
}

// The last place up to one whose code ends after the address, or SIZE_MAX.
static size_t last_that_covers(const struct pd_jitdump *jit, size_t place, uint64_t addr)
{
	size_t node = jit->leaves + place;

	while (jit->ends[node] <= addr) {
		while (node > 1 && !(node & 1))
			node /= 2;
		if (node <= 1)
			return SIZE_MAX;
		node--;
	}
	while (node < jit->leaves)
		node = 2 * node + (jit->ends[2 * node + 1] > addr);
	return node - jit->leaves;
}

static size_t count_up_to(const struct pd_jitdump *jit, uint64_t addr)
{
	size_t low;

	PD_SEARCH(low, 0, jit->about.code_count, i, jit->codes[jit->order[i]].code.addr <= addr);
	return low;
}

static bool is_there(const struct pd_jit_code *code, int64_t pid, uint64_t time)
{
	if (pid != PD_JIT_ANY_PID && code->pid != (uint64_t)pid)
		return false;
	// at the end of all times is what was not moved away
	return code->time <= time && (code->end_time > time || code->end_time == PD_NO_TIME);
}

// What stands later in the file is newer if the times are the same.
static bool is_newer(const struct pd_jitdump *jit, size_t a, size_t b)
{
	uint64_t a_time = jit->codes[a].code.time, b_time = jit->codes[b].code.time;

	return a_time != b_time ? a_time > b_time : a > b;
}

bool pd_jitdump_find(const struct pd_jitdump *jit, int64_t pid, uint64_t addr, uint64_t time,
		     struct pd_jit_code *code_out)
{
	size_t place = count_up_to(jit, addr), best = SIZE_MAX;

	for (unsigned i = 0; place-- > 0 && i < CANDIDATES; i++) {
		const struct pd_jit_code *code;

		place = last_that_covers(jit, place, addr);
		if (place == SIZE_MAX)
			break;
		code = &jit->codes[jit->order[place]].code;
		if (is_there(code, pid, time) && (best == SIZE_MAX || is_newer(jit, jit->order[place], best)))
			best = jit->order[place];
	}
	if (best == SIZE_MAX)
		return false;
	*code_out = pd_jitdump_code(jit, best);
	return true;
}

bool pd_jitdump_line(const struct pd_jitdump *jit, const struct pd_jit_code *code, uint64_t addr,
		     struct pd_jit_line *line_out)
{
	const struct line *lines;
	uint64_t offset = addr - code->addr;
	size_t low;

	if (!code->line_count)
		return false;
	lines = jit->lines + code->first_line;
	PD_SEARCH(low, 0, code->line_count, i, lines[i].offset <= offset);
	if (!low)
		return false;
	*line_out = (struct pd_jit_line){
		.addr = code->addr + lines[low - 1].offset,
		.line = lines[low - 1].line,
		.column = lines[low - 1].column,
		.file = jit->texts + lines[low - 1].file,
	};
	return true;
}

// ---- opening ----

static void finish_codes(struct pd_jitdump *jit)
{
	for (size_t i = 0; i < jit->about.code_count; i++) {
		jit->codes[i].code.name = jit->texts + jit->codes[i].name;
		jit->codes[i].code.number = i;
	}
}

enum pd_status pd_jitdump_open_image(struct pd_jitdump **jit_out, struct pd_image *image, size_t limit, bool keep,
				     struct pd_error *error)
{
	struct pd_jitdump *jit = pd_alloc(sizeof(*jit));
	struct reading r = { .jit = jit, .image = image, .limit = limit ? limit : default_limit };
	enum pd_status status = jit ? PD_OK : pd_fail_memory(error);
	uint64_t offset = 0;

	if (status == PD_OK)
		status = read_header(&r, &offset, error);
	if (status == PD_OK)
		read_records(&r, offset);
	if (status == PD_OK && (r.out_of_memory || !make_order(jit)))
		status = pd_fail_memory(error);
	pd_free(r.window);
	pd_u64_map_fini(&r.by_index);
	if (status || !keep)
		pd_image_close(image);
	if (status) {
		pd_jitdump_close(jit);
		return status;
	}
	if (keep)
		jit->image = *image;
	jit->kept = keep;
	finish_codes(jit);
	*jit_out = jit;
	return PD_OK;
}

bool pd_jitdump_is(const char *path)
{
	const char *name = pd_path_leaf(path);
	size_t length = strlen(name);

	return strncmp(name, "jit-", 4) == 0 && length > 9 && strcmp(name + length - 5, ".dump") == 0;
}

enum pd_status pd_jitdump_open(const char *root, const char *path, uint64_t memory_limit, struct pd_jitdump **jit_out,
			       struct pd_error *error)
{
	int fd = pd_root_open_own(root ? root : "/", path);
	struct pd_image image;
	enum pd_status status;

	if (fd == -ENOTSUP)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "%s: not a regular file", path);
	if (fd < 0)
		return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s: %s", path,
			       fd == -EPERM ? "is owned neither by root nor by you" : strerror(-fd));
	status = pd_image_open_fd(&image, fd, path, 0, error);
	if (status)
		return status;
	return pd_jitdump_open_image(jit_out, &image, memory_limit < SIZE_MAX ? (size_t)memory_limit : SIZE_MAX, true,
				     error);
}

void pd_jitdump_close(struct pd_jitdump *jit)
{
	if (!jit)
		return;
	pd_free(jit->codes);
	pd_free(jit->lines);
	pd_free(jit->texts);
	pd_free(jit->order);
	pd_free(jit->ends);
	pd_free(jit->object);
	if (jit->kept)
		pd_image_close(&jit->image);
	pd_free(jit);
}

struct pd_jitdump_about pd_jitdump_about(const struct pd_jitdump *jit)
{
	return jit->about;
}

struct pd_jit_code pd_jitdump_code(const struct pd_jitdump *jit, size_t index)
{
	return jit->codes[index].code;
}

const struct pd_jitdump_about *pd_jitdump_what(const struct pd_jitdump *jit)
{
	return &jit->about;
}

const struct pd_jit_code *pd_jitdump_code_at(const struct pd_jitdump *jit, size_t index)
{
	return index < jit->about.code_count ? &jit->codes[index].code : NULL;
}

// ---- for objects ----

struct pd_jit_line pd_jitdump_line_at(const struct pd_jitdump *jit, const struct pd_jit_code *code, size_t index)
{
	const struct line *line = &jit->lines[code->first_line + index];

	return (struct pd_jit_line){
		.addr = line->offset,
		.line = line->line,
		.column = line->column,
		.file = jit->texts + line->file,
	};
}

bool pd_jitdump_bytes(struct pd_jitdump *jit, uint64_t offset, void *data, size_t size)
{
	return jit->kept && pd_image_copy(&jit->image, offset, data, size) == size;
}

uint64_t pd_jitdump_size(const struct pd_jitdump *jit)
{
	return jit->kept ? jit->image.size : 0;
}

uint8_t *pd_jitdump_object_buffer(struct pd_jitdump *jit, size_t size)
{
	return PD_GROW(jit->object, jit->object_capacity, size) ? jit->object : NULL;
}

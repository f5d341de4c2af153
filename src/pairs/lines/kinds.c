/* SPDX-License-Identifier: MIT */
// Kinds of arguments that are no lists of words.
#include <inttypes.h>
#include <string.h>

#include "pairs/lines/lines.h"

#define MOUNT_MASK UINT64_C(0xffff0000)
#define MOUNT_MAGIC UINT64_C(0xc0ed0000)

enum {
	CURRENT_FOLDER = -100,
	ACCESS_BITS = 7,
	FUTEX_ANY = -1,
	SET_MEMORY = 35,
	SET_NAME = 15,
	INET = 2,
	INET6 = 10
};

static void print_hex(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	(void)all;
	pd_put_hex(text, value);
}

// The name of a file is not recorded: its address in short, as perf prints it.
static void print_file(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	print_hex(text, all, (uint32_t)value);
}

static void print_fd(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	(void)all;
	pd_text_s64(text, (int32_t)value);
}

static void print_dir(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	if ((int32_t)value == CURRENT_FOLDER)
		PD_TEXT_LITERAL(text, "CWD");
	else
		print_fd(text, all, value);
}

const char *pd_kind_name(struct pd_sched *sched, uint64_t tid)
{
	uint64_t found = pd_u64_map_find(&sched->map, (uint32_t)tid);
	const struct pd_sched_thread *thread = (const struct pd_sched_thread *)(uintptr_t)found; // NOLINT

	return thread && thread->named ? thread->comm : NULL;
}

void pd_kind_pid(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	bool noted = all->called && all->values[all->call->process % PD_CALL_ARGUMENTS] == value;
	const char *name = noted ? all->called : pd_kind_name(all->sched, value);

	pd_text_s64(text, (int32_t)value);
	if (!name || !*name)
		return;
	PD_TEXT_LITERAL(text, " (");
	pd_text_add(text, name);
	pd_text_char(text, ')');
}

static void print_list(struct pd_text *text, const char *list, uint64_t value)
{
	pd_words_print(text, pd_words_find(list, strlen(list)), value);
}

void pd_kind_open(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	if (!(value & 3))
		pd_text_add(text, (uint32_t)value ? "RDONLY|" : "RDONLY");
	if ((uint32_t)value)
		print_list(text, all->is_arm ? "OPEN_ARM" : "OPEN", value);
}

static void print_access(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	static const char characters[] = { 'X', 'W', 'R' };
	uint32_t rest = (uint32_t)value & ~(uint32_t)ACCESS_BITS;

	for (unsigned i = sizeof(characters); i-- > 0;)
		if (value >> i & 1)
			pd_text_char(text, characters[i]);
	if (!rest)
		return;
	pd_text_char(text, '|');
	print_hex(text, all, rest);
}

static void print_any(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	if ((int32_t)value == FUTEX_ANY)
		PD_TEXT_LITERAL(text, "MATCH_ANY");
	else
		print_hex(text, all, (uint32_t)value);
}

static void print_protocol(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	int32_t family = (int32_t)all->values[0];

	if (family == INET || family == INET6)
		print_list(text, "INTERNET", value);
	else
		print_fd(text, all, value);
}

// What old programs put above the flags is no flag.
static void print_mount(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	(void)all;
	print_list(text, "MOUNT", (value & MOUNT_MASK) == MOUNT_MAGIC ? value & ~MOUNT_MASK : value);
}

static void print_second(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	int32_t option = (int32_t)all->values[0];

	if (option == SET_MEMORY)
		print_list(text, "MEMORY", value);
	else if (option == SET_NAME)
		print_hex(text, all, value);
	else
		pd_text_s64(text, (int64_t)value);
}

static void print_third(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	if ((int32_t)all->values[0] == SET_MEMORY)
		print_hex(text, all, value);
	else
		pd_text_s64(text, (int64_t)value);
}

// ---- commands ----

static const struct {
	const char *name;
	uint8_t type, number;
} ioctls[] = {
#define IOCTL(type, number, NAME) { #NAME, type, number },
#include "pairs/lines/ioctls.def"
};

// A number is a direction (2 bits), the size of what it points to (14), a type (8) and a number (8).
static void print_ioctl(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	static const char *const directions[] = { "NONE", "WRITE", "READ", "READ|WRITE" };
	const uint64_t parts[] = { value >> 8 & 0xff, value & 0xff, value >> 16 & 0x3fff };

	for (size_t i = 0; i < sizeof(ioctls) / sizeof(ioctls[0]); i++) {
		if (ioctls[i].type != parts[0] || ioctls[i].number != parts[1])
			continue;
		pd_text_add(text, ioctls[i].name);
		return;
	}
	pd_text_char(text, '(');
	pd_text_add(text, directions[value >> 30 & 3]);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		PD_TEXT_LITERAL(text, ", ");
		print_hex(text, all, parts[i]);
	}
	pd_text_char(text, ')');
}

// What the third argument of fcntl is for a command; none: a number.
static const struct {
	int32_t command;
	pd_kind_fn *kind;
	const char *list;
} commands[] = {
	{ 2, NULL, "CLOSE" }, // SETFD
	{ 4, pd_kind_open, NULL }, { 5, print_hex, NULL },    { 6, print_hex, NULL },    { 7, print_hex, NULL },
	{ 8, pd_kind_pid, NULL },  { 15, print_hex, NULL },   { 16, print_hex, NULL },   { 1024, NULL, "LEASE" },
	{ 1035, print_hex, NULL }, { 1036, print_hex, NULL }, { 1037, print_hex, NULL }, { 1038, print_hex, NULL },
};

static void print_command_argument(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].command != (int32_t)all->values[1])
			continue;
		if (commands[i].kind)
			commands[i].kind(text, all, value);
		else
			print_list(text, commands[i].list, value);
		return;
	}
	print_fd(text, all, value);
}

static const struct {
	const char *name;
	pd_kind_fn *print;
} kinds[] = {
	{ "HEX", print_hex },
	{ "FILE", print_file },
	{ "FD", print_fd },
	{ "DIR", print_dir },
	{ "PID", pd_kind_pid },
	{ "OPEN", pd_kind_open },
	{ "ACCESS", print_access },
	{ "FUTEX_VAL3", print_any },
	{ "PROTOCOL", print_protocol },
	{ "PRCTL_ARG2", print_second },
	{ "PRCTL_ARG3", print_third },
	{ "IOCTL", print_ioctl },
	{ "FCNTL_ARG", print_command_argument },
	{ "MOUNT_FLAGS", print_mount },
};

pd_kind_fn *pd_kind_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == length && !memcmp(kinds[i].name, name, length))
			return kinds[i].print;
	return NULL;
}

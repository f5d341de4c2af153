/* SPDX-License-Identifier: MIT */
/* perfdata: finds the command, has its options parsed, runs it and ends with its exit code. */
#include "files/input.h"
#include "front/cli.h"
#include "front/pager.h"
#include "front/signals.h"
#include "options/absent.h"
#include "options/describe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct command_line commands[] = {
#define COMMAND(name, object, doc) { #name, &object, doc },
#include "front/commands.def"
};

/* A descriptor that is closed would be given to the file we open, and our output would go there. */
static void fill_closed_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
	}
}

/* ---- closed pipes ---- */

static void on_closed_pipe(int number)
{
	struct pollfd output = { .fd = STDOUT_FILENO, .events = POLLOUT };
	int before = errno;

	if (poll(&output, 1, 0) > 0 && output.revents & (POLLERR | POLLHUP)) {
		pager_end();
		signal_die(number);
	}
	errno = before;
}

/* When the reader of standard output closes the pipe, as head does, the program ends silently, even if its parent
 * ignores SIGPIPE, as some languages do. Other closed pipes, such as that of stderr, do not end it. */
static void end_by_closed_pipes(void)
{
	const struct sigaction action = { .sa_handler = on_closed_pipe, .sa_flags = SA_RESTART };

	signals_handle((const int[]){ SIGPIPE, 0 }, &action, SIGNAL_ALWAYS);
}

static void on_size_limit(int number)
{
	(void)number;
}

/* A file that has reached the limit of its size (ulimit -f) is an error of writing, as a full disk is, and not the end of the
 * program. A handler, as programs that this one starts do not inherit it. */
static void survive_size_limits(void)
{
	const struct sigaction action = { .sa_handler = on_size_limit, .sa_flags = SA_RESTART };

	signals_handle((const int[]){ SIGXFSZ, 0 }, &action, SIGNAL_ALWAYS);
}

/* ---- the command line ---- */

/* A partly parsed command line. */
struct line {
	int argc;
	char **argv;
	int first; /* word after the name of the command */
	const struct parsed *before;
	const struct pd_config *config;
};

static int run_call(const struct call *call)
{
	const struct command *command = call->command;

	if (command->check && !command->check(call))
		return CODE_USAGE;
	return command->run ? command->run(call) : input_print(call);
}

static int run_parsed(const struct command_line *command, const struct line *line, struct parsed *parsed,
		      struct output *out)
{
	const struct program_values *values = line->before->values;
	const struct terminal_options terminal = { .color = parsed->common.color,
						   .paginate = values->paginate,
						   .no_pager = parsed->common.no_pager };
	bool usual = parsed->common.help || !command->command->live;
	int code = CODE_USAGE;

	if (terminal_prepare(out, &terminal, line->config, command->name, usual)) {
		const struct call call = {
			.command = command->command,
			.values = parsed->values,
			.words = parsed->words.items,
			.word_count = parsed->words.count,
			.before_count = parsed->before_count,
			.line = (const char *const *)line->argv,
			.arguments = (const char *const *)line->argv + line->first,
			.out = out,
			.config = line->config,
		};

		code = parsed->common.help ? describe_command(out->text, command, manual_help) : run_call(&call);
	}
	return code;
}

static int run_command(const struct command_line *command, const struct line *line, struct output *out)
{
	struct common_options common = line->before->common;
	struct parsed parsed;
	int code = CODE_USAGE;

	common.help = false; /* it made help the command */
	if (options_parse(command->command, line->argc - line->first, line->argv + line->first, &common, &parsed))
		code = run_parsed(command, line, &parsed, out);
	options_fini(command->command, &parsed);
	return code;
}

/* What can follow the first word of commands of two; false if there are none. */
static bool print_commands_of(const char *word)
{
	char names[256] = "";
	size_t length = strlen(word);
	const struct command_line *line;

	for (size_t i = 0, at = 0; (line = command_at(i)) != NULL; i++)
		if (!strncmp(line->name, word, length) && line->name[length] == '-' && at < sizeof(names))
			at += (size_t)snprintf(names + at, sizeof(names) - at, " %s", line->name + length + 1);
	return *names &&
	       !print_error("perfdata %s needs one of:%s%s", word, names, pd_event_preset_find(word) ? " record" : "");
}

static int unknown_command(const char *word)
{
	struct stat status;

	if (print_commands_of(word) || absent_report(NULL, word, strlen(word)))
		return CODE_USAGE;
	if (stat(word, &status) == 0)
		return print_failure(CODE_USAGE, "'%s' is a file, not a command; try: perfdata info %s", word, word);
	return command_unknown(word, NULL);
}

/* "sched latency" is the command sched-latency. */
static const struct command_line *command_of_words(const char *word, const char *next)
{
	char both[64];
	int length = next ? snprintf(both, sizeof(both), "%s-%s", word, next) : -1;

	return length > 0 && (size_t)length < sizeof(both) ? command_by_name(both) : NULL;
}

/* As with perf, options may stand between both words: "kmem --caller stat". */
static void move_second_word(const struct line *line, const char *word)
{
	char **first = &line->argv[line->first], *second;
	int at = 0, count = line->argc - line->first;

	while (at < count && first[0][0] == '-' && !command_of_words(word, first[at]))
		at++;
	if (!at || at == count)
		return;
	second = first[at];
	memmove(first + 1, first, (size_t)at * sizeof(*first));
	first[0] = second;
}

/* "timechart record -I" is timechart-io record, as is "timechart -I record": options that record has for something else. */
static const char *kind_of_timechart(struct line *line)
{
	static const struct {
		const char *short_name, *name, *preset;
	} kinds[] = { { "-T", "--tasks-only", "timechart-tasks" },
		      { "-P", "--power-only", "timechart-power" },
		      { "-I", "--io-only", "timechart-io" } };
	char **words = line->argv + line->first;
	bool first = line->first + 1 < line->argc && !strcmp(words[0], "record");

	for (size_t i = 0; i < 3 && line->first + 1 < line->argc && (first || !strcmp(words[1], "record")); i++)
		if (!strcmp(words[first], kinds[i].short_name) || !strcmp(words[first], kinds[i].name)) {
			words[1] = words[!first];
			line->first++;
			return kinds[i].preset;
		}
	return "timechart";
}

/* "sched record" is record --for=sched. */
static bool is_preset_of_record(struct line *line, const char *word)
{
	static char option[64];

	if (!strcmp(word, "timechart"))
		word = kind_of_timechart(line);
	if (line->first >= line->argc || strcmp(line->argv[line->first], "record") != 0 || !pd_event_preset_find(word))
		return false;
	snprintf(option, sizeof(option), "--for=%s", word);
	line->argv[line->first] = option;
	return true;
}

/* "store report" is report, which reads stores, too; "sched script" is script. */
static bool is_second_word(const struct line *line, const char *word)
{
	static const char *const commands_of_stores[] = { "report", "flame", "folded", "diff" };
	const char *second = line->first < line->argc ? line->argv[line->first] : "";
	bool found = !strcmp(second, "script") && pd_event_preset_find(word);

	for (size_t i = 0; i < sizeof(commands_of_stores) / sizeof(char *); i++)
		found |= !strcmp(word, "store") && !strcmp(second, commands_of_stores[i]);
	return found;
}

/* Without a command, the help is printed as an error. */
static int help_missing(struct output *out)
{
	out->fd = STDERR_FILENO;
	describe_program(out->text, manual_help_program);
	return CODE_USAGE;
}

/* Whatever names the cache of build ids is found in the environment then, also by programs that are started. */
static void set_buildid_dir(const struct line *line)
{
	const struct program_values *values = line->before->values;
	const char *configured = pd_config_get(line->config, "buildid.dir");

	if (values->buildid_dir)
		setenv("PERF_BUILDID_DIR", values->buildid_dir, 1);
	else if (configured)
		setenv("PERF_BUILDID_DIR", configured, 0);
}

/* The arguments after the options of the program. */
static int run_words(struct line *line, struct output *out)
{
	const struct program_values *values = line->before->values;
	const char *word = "version";
	const struct command_line *of_two;

	set_buildid_dir(line);
	line->first = line->argc - (int)line->before->words.count;
	if (line->before->common.help)
		word = "help";
	else if (!values->version && line->first == line->argc)
		return help_missing(out);
	else if (!values->version)
		word = line->argv[line->first++];
	if (is_preset_of_record(line, word))
		word = "record";
	if (is_second_word(line, word))
		word = line->argv[line->first++];
	move_second_word(line, word);
	of_two = command_of_words(word, line->first < line->argc ? line->argv[line->first] : NULL);
	if (!of_two && !command_by_name(word))
		return unknown_command(word);
	line->first += of_two != NULL;
	return run_command(of_two ? of_two : command_by_name(word), line, out);
}

static int run_line(int argc, char **argv, const struct pd_config *config, struct output *out)
{
	struct parsed before;
	struct line line = { .argc = argc, .argv = argv, .before = &before, .config = config };
	int code = CODE_USAGE;

	if (options_parse(&program, argc - 1, argv + 1, NULL, &before))
		code = run_words(&line, out);
	options_fini(&program, &before);
	return code;
}

int main(int argc, char **argv)
{
	struct pd_config *config;
	struct output out;
	int code, finish;

	commands_set(commands, sizeof(commands) / sizeof(commands[0]));
	fill_closed_descriptors();
	end_by_closed_pipes();
	survive_size_limits();
	if (!output_init(&out, STDOUT_FILENO))
		return print_failure(CODE_OUTPUT, "out of memory");
	config = pd_config_load(getenv("PERF_CONFIG"), getenv("HOME"), print_warning, NULL);
	code = config ? run_line(argc, argv, config, &out) : print_failure(CODE_OUTPUT, "out of memory");
	finish = output_finish(&out);
	output_fini(&out);
	pager_end();
	pd_config_free(config);
	return finish != CODE_OK ? finish : code;
}

/* SPDX-License-Identifier: MIT */
/* The machine, as features: its name, its kernel, its processors and memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "record/machine/procfile.h"
#include "record/record.h"

// A feature that is one text.
static enum pd_status set_text(struct pd_writer *writer, unsigned feature, const char *text, size_t length,
			       struct pd_error *error)
{
	struct pd_string value = { .value = { text, (uint32_t)length, 0 } };

	return length ? pd_writer_set_feature(writer, feature, &value, error) : PD_OK;
}

static enum pd_status set_names(struct pd_writer *writer, struct pd_error *error)
{
	struct utsname name;
	enum pd_status status;

	if (uname(&name) < 0)
		return PD_OK;
	status = set_text(writer, PD_FEATURE_HOSTNAME, name.nodename, strlen(name.nodename), error);
	if (status >= 0)
		status = set_text(writer, PD_FEATURE_OSRELEASE, name.release, strlen(name.release), error);
	if (status >= 0)
		status = set_text(writer, PD_FEATURE_ARCH, name.machine, strlen(name.machine), error);
	return status < 0 ? status : set_text(writer, PD_FEATURE_VERSION, pd_version(), strlen(pd_version()), error);
}

static enum pd_status set_cpus(struct pd_writer *writer, struct pd_error *error)
{
	struct pd_nrcpus cpus = { .available = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
				  .online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN) };

	return pd_writer_set_feature(writer, PD_FEATURE_NRCPUS, &cpus, error);
}

// What stands after "name : " in /proc/cpuinfo, which differs between architectures.
static enum pd_status set_cpu_name(struct pd_writer *writer, const char *proc, struct pd_error *error)
{
	static const char *const names[] = { "model name\t", "Processor\t", "uarch\t", "cpu\t", "vendor_id       " };
	struct pd_procfile info = { 0 };
	enum pd_status status = PD_OK;
	const char *value = NULL;
	char path[512];

	snprintf(path, sizeof(path), "%s/cpuinfo", proc);
	pd_procfile_read(&info, path);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !value; i++)
		value = pd_procfile_value(&info, names[i]);
	if (value)
		status = set_text(writer, PD_FEATURE_CPUDESC, value, strcspn(value, "\n"), error);
	pd_procfile_fini(&info);
	return status;
}

static enum pd_status set_memory(struct pd_writer *writer, const char *proc, struct pd_error *error)
{
	struct pd_procfile info = { 0 };
	struct pd_total_mem memory = { 0 };
	char path[512];
	const char *value;

	snprintf(path, sizeof(path), "%s/meminfo", proc);
	pd_procfile_read(&info, path);
	value = pd_procfile_value(&info, "MemTotal");
	memory.kib = value ? strtoull(value, NULL, 10) : 0;
	pd_procfile_fini(&info);
	return memory.kib ? pd_writer_set_feature(writer, PD_FEATURE_TOTAL_MEM, &memory, error) : PD_OK;
}

static enum pd_status set_command_line(struct pd_writer *writer, const char *const *words, struct pd_error *error)
{
	struct pd_argument *arguments;
	struct pd_cmdline line = { .rest = { 0 } };
	enum pd_status status;
	size_t count = 0;

	while (words && words[count])
		count++;
	if (!count)
		return PD_OK;
	arguments = pd_alloc(count * sizeof(*arguments));
	if (!arguments)
		return pd_fail_memory(error);
	for (size_t i = 0; i < count; i++)
		arguments[i].value = (struct pd_str){ words[i], (uint32_t)strlen(words[i]), 0 };
	line.arguments = (struct pd_list){ arguments, count, sizeof(*arguments) };
	status = pd_writer_set_feature(writer, PD_FEATURE_CMDLINE, &line, error);
	pd_free(arguments);
	return status;
}

enum pd_status pd_machine_features(struct pd_writer *writer, const struct pd_machine_options *options,
				   struct pd_error *error)
{
	const char *proc = options->proc ? options->proc : "/proc";
	enum pd_status status = set_names(writer, error);

	if (status >= 0)
		status = set_cpus(writer, error);
	if (status >= 0)
		status = set_cpu_name(writer, proc, error);
	if (status >= 0)
		status = set_memory(writer, proc, error);
	if (status >= 0)
		status = set_command_line(writer, options->command_line, error);
	if (status >= 0)
		status = pd_machine_cpus(writer, options, error);
	if (status >= 0)
		status = pd_machine_events(writer, options, error);
	if (status >= 0 && options->bpf)
		status = pd_machine_bpf(writer, error);
	if (status >= 0 && options->tracing)
		status = pd_machine_tracing(writer, options, error);
	return status;
}

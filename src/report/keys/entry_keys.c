/* SPDX-License-Identifier: MIT */
/* Sort keys that do not depend on frames: thread, CPU, time, cost ... */
#include "base/text/text.h"
#include "report/keys/find.h"
#include "report/report.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool pd_key_comm(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return pd_value_find_text(&report->values[key], context->entry->comm ? context->entry->comm : "", 0,
				  (uintptr_t)report, value_out);
}

/* Threads of a pool are one. */
bool pd_key_comm_nodigit(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const char *comm = context->entry->comm ? context->entry->comm : "";
	struct pd_text text = { .data = NULL };
	bool found;

	while (*comm) {
		size_t digits = strspn(comm, "0123456789"), others = strcspn(comm + digits, "0123456789");

		if (digits)
			pd_text_add(&text, "<N>");
		pd_text_put(&text, comm + digits, others);
		comm += digits + others;
	}
	pd_text_char(&text, 0);
	found = !text.failed && pd_value_find_text(&report->values[key], text.data, 0, (uintptr_t)report, value_out);
	pd_free(text.data);
	return found;
}

/* The name that a thread had at last. */
static const char *last_name(const struct pd_report *report, uint32_t tid, char *unknown)
{
	struct pd_moment end = { PD_NEVER - 1, UINT64_MAX };

	return pd_state_comm(pd_profile_state(report->profile), tid, end, unknown);
}

static bool find_thread_named(struct pd_report *report, size_t key, uint32_t number, uint32_t tid, uint32_t *value_out)
{
	char unknown[PD_THREAD_NAME_BYTES], text[64];

	if (number == UINT32_MAX)
		return pd_value_find_number(&report->values[key], number, number, "     -1:", value_out);
	snprintf(text, sizeof(text), "%7d:%s", (int32_t)number, last_name(report, tid, unknown));
	return pd_value_find_number(&report->values[key], number, number, text, value_out);
}

/* What perf calls pid is the thread. */
bool pd_key_tid(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_thread_named(report, key, context->entry->tid, context->entry->tid, value_out);
}

bool pd_key_tgid(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_thread_named(report, key, context->entry->pid, context->entry->pid, value_out);
}

bool pd_key_cpu(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	char text[16];

	snprintf(text, sizeof(text), "%.3d", (int32_t)context->entry->cpu);
	return pd_value_find_number(&report->values[key], context->entry->cpu, context->entry->cpu, text, value_out);
}

bool pd_key_parent(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_function *parent = report->by_branch ? NULL : pd_parent_of(report, context->entry);

	return pd_value_find_text(&report->values[key], parent ? parent->name : "[other]", !parent, (uintptr_t)report,
				  value_out);
}

bool pd_key_parallelism(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint32_t number = context->entry->parallelism;
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, number);
	return pd_value_find_number(&report->values[key], number, number, text, value_out);
}

static int socket_of(struct pd_report *report, uint32_t cpu)
{
	const struct pd_cpu_topology *topology = pd_file_cpu_topology(report->file);
	const struct pd_cpu_place *place;

	if (!topology || cpu >= topology->places.count)
		return -1;
	place = PD_ITEM(pd_cpu_place, topology->places, cpu);
	return (int)place->package_id;
}

bool pd_key_socket(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	int socket = socket_of(report, context->entry->cpu);
	uint64_t number = (uint64_t)(int64_t)socket;
	char text[16];

	snprintf(text, sizeof(text), "%.3d", socket);
	return pd_value_find_number(&report->values[key], number, number, text, value_out);
}

bool pd_key_cgroup(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const char *path = pd_state_cgroup(pd_profile_state(report->profile), context->entry->cgroup);

	return pd_value_find_text(&report->values[key], path ? path : "N/A", 0, (uintptr_t)report, value_out);
}

/* As perf: of the namespace of cgroups of the thread, the largest first. */
bool pd_key_cgroup_id(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	struct pd_moment end = { PD_NEVER - 1, UINT64_MAX };
	struct pd_list list = pd_state_namespaces(pd_profile_state(report->profile), context->entry->tid, end);
	struct value_table *table = &report->values[key];
	struct identity id = { 0, 0 };
	char text[64];
	bool fresh;

	if (list.count > PD_NAMESPACE_CGROUP) {
		const struct pd_namespace *link = PD_ITEM(pd_namespace, list, PD_NAMESPACE_CGROUP);

		id = (struct identity){ link->inode, link->dev };
	}
	if (!pd_value_find(table, id, value_out, &fresh))
		return false;
	if (!fresh)
		return true;
	snprintf(text, sizeof(text), "%" PRIu64 "/0x%" PRIx64, id.b, id.a);
	return pd_value_set_text(table, *value_out, (struct pd_bytes){ (const uint8_t *)text, strlen(text) },
				 ~(id.b << 32 | (id.a & UINT32_MAX)));
}

bool pd_key_weight(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, context->entry->weight);
	return pd_value_find_number(&report->values[key], context->entry->weight, ~context->entry->weight, text,
				    value_out);
}

bool pd_key_time(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t ns = context->entry->slice_ns;
	char text[48];

	if (report->options.nanoseconds)
		snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	else
		snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
	return pd_value_find_number(&report->values[key], ns, ns, text, value_out);
}

static bool print_trace(struct pd_report *report, const struct pd_profile_entry *entry, struct pd_text *text)
{
	struct pd_bytes raw = pd_key_raw(report, entry);

	if (entry->event->attr->type != PD_TYPE_TRACEPOINT)
		return false;
	return report->options.raw_trace ? pd_trace_print_fields(report->trace, entry->event, raw, text) :
					   pd_trace_print(report->trace, entry->event, raw, text);
}

/* What a tracepoint recorded, in its own format. */
bool pd_key_trace(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_profile_entry *entry = context->entry;
	struct pd_text *text;
	struct pd_bytes bytes;
	bool done = false;

	if (!pd_report_trace(report, report->file))
		return false;
	text = pd_text_new();
	if (!text)
		return false;
	if (!print_trace(report, entry, text))
		pd_text_add(text, "N/A");
	pd_text_printf(text, "%c", 0);
	bytes = pd_text_bytes(text);
	if (!pd_text_failed(text))
		done = pd_value_find_text(&report->values[key], (const char *)bytes.data, 0, (uintptr_t)report,
					  value_out);
	pd_text_free(text);
	return done;
}

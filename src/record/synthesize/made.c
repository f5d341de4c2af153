/* SPDX-License-Identifier: MIT */
/* Records made from structs, one after another. */
#include "record/record.h"

#include "base/error.h"
#include "format/encode.h"
#include "format/text/print.h"
#include "format/record.h"

enum {
	TAKE_ABOVE = 256 << 10 // bytes
};

// Puts the record after the others if there is room. buffer->need says how much it takes.
static void append_record(struct pd_made *made, uint32_t type, uint16_t misc, void *decoded, struct pd_buffer *buffer)
{
	const struct pd_record_head head = { .type = type, .misc = misc };
	const struct pd_layout *layout = pd_record_layout(type);
	struct pd_scope scope = { .arena = NULL };

	scope.words[PD_WORD_MISC] = misc;
	scope.words[PD_WORD_TRAILER] = made->trailer_bits & PD_TRAILER_BITS;
	*buffer = pd_buffer(made->data ? made->data + made->size : NULL, made->capacity - made->size, PD_HOST_BIG);
	pd_record_put(buffer, &head, layout, pd_record_group(type), &scope, decoded);
}

enum pd_status pd_made_add(struct pd_made *made, uint32_t type, uint16_t misc, void *decoded, struct pd_error *error)
{
	struct pd_sample_id trailer = { 0 }; // as perf has it
	struct pd_body_head *body = decoded;
	const struct pd_sample_id *before = body->sample_id;
	struct pd_buffer buffer;

	if (pd_record_group(type) == PD_GROUP_KERNEL && made->trailer_bits)
		body->sample_id = &trailer;
	append_record(made, type, misc, body, &buffer);
	if (!buffer.failed && pd_buffer_full(&buffer)) {
		if (!PD_GROW(made->data, made->capacity, made->size + buffer.need)) {
			body->sample_id = before;
			return pd_fail_memory(error);
		}
		append_record(made, type, misc, body, &buffer);
	}
	body->sample_id = before;
	if (buffer.failed)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s.%s: %s", pd_record_name(type),
			       buffer.field ? buffer.field : "body", buffer.reason);
	made->size += buffer.need;
	return made->take && made->size > TAKE_ABOVE ? pd_made_flush(made, error) : PD_OK;
}

enum pd_status pd_made_flush(struct pd_made *made, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (made->take && made->size)
		status = made->take(made->self, (struct pd_bytes){ made->data, made->size }, error);
	made->size = 0;
	return status;
}

void pd_made_fini(struct pd_made *made)
{
	pd_free(made->data);
	*made = (struct pd_made){ 0 };
}

/* SPDX-License-Identifier: MIT */
#include "import/input.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum {
	PIECE = 1 << 16,
	LONGEST = 16 << 20, // line
	LARGEST = 256 << 20 // input that is read as a whole
};

void pd_input_init(struct pd_input *self, const struct pd_import_options *options, struct pd_error *error)
{
	*self = (struct pd_input){
		.pull = options->pull, .pull_self = options->self, .name = options->name, .error = error
	};
}

void pd_input_fini(struct pd_input *self)
{
	pd_free(self->data);
}

enum pd_status pd_input_wrong(struct pd_input *self, const char *why)
{
	return pd_fail(self->error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: line %" PRIu64 ": %s", self->name, self->number,
		       why);
}

// More bytes after those that are there. False at the end, or if something is wrong.
static bool read_more(struct pd_input *self, size_t limit)
{
	struct pd_error own;
	size_t got = 0;

	if (self->ended || self->status < 0)
		return false;
	if (self->at) {
		memmove(self->data, self->data + self->at, self->size - self->at);
		self->size -= self->at;
		self->at = 0;
	}
	if (self->size > limit) {
		self->status = pd_fail(self->error, PD_ERROR_LIMIT, PD_NO_OFFSET, "%s: line %" PRIu64 ": too long",
				       self->name, self->number + 1);
		return false;
	}
	if (!PD_GROW(self->data, self->capacity, self->size + PIECE)) {
		self->status = pd_fail_memory(self->error);
		return false;
	}
	self->status = self->pull(self->pull_self, self->data + self->size, self->capacity - self->size, &got,
				  self->error ? self->error : &own);
	self->size += self->status < 0 ? 0 : got;
	self->ended = !got;
	return got && self->status >= 0;
}

bool pd_input_next(struct pd_input *self, const char **line_out, size_t *size_out)
{
	size_t searched = 0, size;
	char *end;

	for (;;) {
		size = self->size - self->at;
		end = size > searched ? memchr(self->data + self->at + searched, '\n', size - searched) : NULL;
		if (end)
			break;
		searched = size;
		if (read_more(self, LONGEST))
			continue;
		if (self->status < 0 || self->size == self->at)
			return false;
		end = self->data + self->size;
		break;
	}
	*line_out = self->data + self->at;
	*size_out = (size_t)(end - *line_out);
	self->at = (size_t)(end - self->data) + (end < self->data + self->size);
	if (*size_out && (*line_out)[*size_out - 1] == '\r')
		--*size_out;
	self->number++;
	return true;
}

bool pd_input_rest(struct pd_input *self, struct pd_bytes *bytes_out)
{
	while (read_more(self, LARGEST))
		;
	*bytes_out = (struct pd_bytes){ 0 };
	if (self->data)
		*bytes_out = (struct pd_bytes){ (const uint8_t *)self->data + self->at, self->size - self->at };
	return self->status >= 0;
}

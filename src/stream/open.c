/* SPDX-License-Identifier: MIT */
/* Opens a stream by its options: in the order of the file (stream.c) or in that of time (order.c). */
#include "stream/order/order.h"
#include "stream/read/inside.h"

#include <string.h>

enum pd_status pd_stream_open_over(struct pd_file *file, enum pd_order order, const struct pd_pieces *pieces,
				   struct pd_stream **stream_out, struct pd_error *error)
{
	struct pd_stream *stream;
	enum pd_status status = pd_stream_new(file, &stream, error);

	if (status == PD_OK && order == PD_ORDER_TIME) {
		status = pd_order_open(stream, pieces, error);
		if (status < 0)
			pd_stream_close(stream);
	}
	if (status < 0)
		return status;
	pd_file_start_pipe(file);
	*stream_out = stream;
	return PD_OK;
}

enum pd_status pd_stream_open(struct pd_file *file, const struct pd_stream_options *options,
			      struct pd_stream **stream_out, struct pd_error *error)
{
	struct pd_stream_options all = { 0 };
	enum pd_status status;

	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	if (all.careful && all.order != PD_ORDER_FILE)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "a careful stream is always in file order");
	status = pd_stream_open_over(file, all.order, NULL, stream_out, error);
	if (status < 0)
		return status;
	(*stream_out)->careful = all.careful;
	(*stream_out)->verify = all.verify;
	return PD_OK;
}

void pd_stream_be_quiet(struct pd_stream *stream)
{
	stream->quiet = true;
}

bool pd_stream_is_quiet(const struct pd_stream *stream)
{
	return stream->quiet;
}

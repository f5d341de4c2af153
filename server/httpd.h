/* SPDX-License-Identifier: MIT */
/*
 * The functions of libmicrohttpd that a server needs. It is loaded when there is something to serve: with the ten libraries that it brings
 * along, loading it took two thirds of the time that any command needs before it does something.
 */
#ifndef PD_SERVER_HTTPD_H
#define PD_SERVER_HTTPD_H

#include <microhttpd.h>

#include <perfdata/base.h>

#define HTTPD_CALLS(CALL)                   \
	CALL(add_response_header)           \
	CALL(create_response_from_buffer)   \
	CALL(create_response_from_callback) \
	CALL(destroy_response)              \
	CALL(get_connection_info)           \
	CALL(get_connection_values)         \
	CALL(lookup_connection_value)       \
	CALL(queue_response)                \
	CALL(resume_connection)             \
	CALL(run_wait)                      \
	CALL(start_daemon)                  \
	CALL(stop_daemon)                   \
	CALL(suspend_connection)

struct httpd {
#define HTTPD_CALL(name) __typeof__(MHD_##name) *name;
	HTTPD_CALLS(HTTPD_CALL)
#undef HTTPD_CALL
};

/* Filled once, by httpd_load. */
extern struct httpd httpd;

/* May be called again. Errors: PD_ERROR_UNSUPPORTED. */
enum pd_status httpd_load(struct pd_error *error);

#endif

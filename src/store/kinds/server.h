/* SPDX-License-Identifier: MIT */
/* A server that is a store: where it is, who asks it, and what it answers. */
#ifndef PD_STORE_KINDS_SERVER_H
#define PD_STORE_KINDS_SERVER_H

#include <perfdata/store.h>

struct pd_store_server;

enum {
	PD_STORE_ANSWER_BYTES = 1 << 26 // what is more of an answer is left out
};

// Looks at the URL and at the credentials, and loads what speaks HTTP; nothing is sent. profile may be NULL. Errors: PD_ERROR_ARGUMENT,
// PD_ERROR_SYSTEM: the file of the credentials; PD_ERROR_UNSUPPORTED, PD_ERROR_MEMORY.
enum pd_status pd_store_server_open(const char *url, const struct pd_store_profile *profile,
				    struct pd_store_server **server_out, struct pd_error *error);
// NULL is ignored.
void pd_store_server_close(struct pd_store_server *server);
// A name of it that can be one of a file.
const char *pd_store_server_name(const struct pd_store_server *server);
// Runs a statement once, with settings ("&name=value"), and with a body or none. Errors: PD_ERROR_OUTPUT: the server refuses it, or there
// is none; PD_ERROR_MEMORY.
enum pd_status pd_store_server_run(struct pd_store_server *server, const char *settings, const char *statement,
				   struct pd_bytes body, struct pd_text *answer, struct pd_error *error);
// Whether the last statement failed because there is no server, or none that takes anything now.
bool pd_store_server_is_gone(const struct pd_store_server *server);
// Waits until what failed may be tried once more, longer at each turn, from 1; false if that makes no sense, or no more.
bool pd_store_server_wait(const struct pd_store_server *server, unsigned turn);

#endif

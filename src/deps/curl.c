/* SPDX-License-Identifier: MIT */
/*
 * HTTP by libcurl, loaded when a store is named that is a server. Its numbers are those that its binary interface keeps. No redirect is
 * followed, and nothing but HTTP is spoken.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "store/kinds/http.h"

enum {
	// options
	WRITE_DATA = 10001,
	URL = 10002,
	ERROR_BUFFER = 10010,
	POST_FIELDS = 10015,
	HEADERS = 10023,
	WRITE_FUNCTION = 20011,
	POST = 47,
	NO_SIGNAL = 99,
	LOW_SPEED_LIMIT = 19,
	LOW_SPEED_TIME = 20,
	CONNECT_TIMEOUT_MS = 156,
	FRESH_CONNECT = 74,
	PROTOCOLS = 181,
	POST_SIZE = 30120,
	// what is asked for
	RESPONSE_CODE = 0x200002,
	// values
	HTTP_AND_HTTPS = 3,
	PATIENCE_MS = 5000, // until there is a connection
	PATIENCE_SECONDS = 60,
	LEAST_SPEED = 16, // bytes a second, for that time
	ERROR_SIZE = 256
};

struct calls {
	int (*global_init)(long flags);
	void *(*init)(void);
	void (*cleanup)(void *easy);
	int (*setopt)(void *easy, int option, ...);
	int (*perform)(void *easy);
	int (*getinfo)(void *easy, int info, ...);
	void *(*append)(void *list, const char *string);
	void (*free_all)(void *list);
	const char *(*strerror)(int code);
};

struct http {
	struct calls calls;
	void *easy;
};

struct answer {
	struct pd_text *text;
	size_t limit;
};

// ---- the library ----

// C has no conversion between pointers to functions and to data, but the addresses are of one size.
static bool find_call(void *library, const char *name, void *function_out)
{
	void *address = dlsym(library, name);

	memcpy(function_out, &address, sizeof(address));
	return address;
}

static bool find_calls(void *library, struct calls *calls)
{
	return find_call(library, "curl_global_init", &calls->global_init) &&
	       find_call(library, "curl_easy_init", &calls->init) &&
	       find_call(library, "curl_easy_cleanup", &calls->cleanup) &&
	       find_call(library, "curl_easy_setopt", &calls->setopt) &&
	       find_call(library, "curl_easy_perform", &calls->perform) &&
	       find_call(library, "curl_easy_getinfo", &calls->getinfo) &&
	       find_call(library, "curl_slist_append", &calls->append) &&
	       find_call(library, "curl_slist_free_all", &calls->free_all) &&
	       find_call(library, "curl_easy_strerror", &calls->strerror);
}

// Debian has it with two libraries for TLS, of one interface. It is never given back: it may have threads.
static enum pd_status load(struct calls *calls, struct pd_error *error)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	enum {
		INIT_ALL = 3
	};
	void *library = NULL;

	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "a server needs libcurl: %s", dlerror());
	if (!find_calls(library, calls) || calls->global_init(INIT_ALL) != 0) {
		dlclose(library);
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "libcurl cannot be initialized");
	}
	dlclose(library);
	return PD_OK;
}

// ---- requests ----

static enum pd_status open_http(void **http_out, struct pd_error *error)
{
	struct http *http = pd_alloc(sizeof(*http));
	enum pd_status status = http ? load(&http->calls, error) : pd_fail_memory(error);

	if (status >= 0) {
		http->easy = http->calls.init();
		status = http->easy ? PD_OK : pd_fail_memory(error);
	}
	if (status < 0)
		pd_free(http);
	else
		*http_out = http;
	return status;
}

static void close_http(void *self)
{
	struct http *http = self;

	if (!http)
		return;
	http->calls.cleanup(http->easy);
	pd_free(http);
}

static size_t take_answer(const char *data, size_t size, size_t count, void *self)
{
	const struct answer *answer = self;
	size_t left = answer->limit - answer->text->size, all = size * count;

	pd_text_put(answer->text, data, all < left ? all : left);
	return answer->text->failed ? 0 : all;
}

static void set_options(const struct http *http, const struct pd_http_request *request, void *headers,
			struct answer *answer, char *why)
{
	int (*set)(void *easy, int option, ...) = http->calls.setopt;

	set(http->easy, URL, request->url);
	set(http->easy, HEADERS, headers);
	set(http->easy, POST, 1L);
	set(http->easy, POST_FIELDS, request->body);
	set(http->easy, POST_SIZE, (int64_t)request->size);
	set(http->easy, WRITE_FUNCTION, take_answer);
	set(http->easy, WRITE_DATA, answer);
	set(http->easy, ERROR_BUFFER, why);
	set(http->easy, NO_SIGNAL, 1L);
	// else it sends once more what fails on an old connection, although the server may have got it
	set(http->easy, FRESH_CONNECT, 1L);
	set(http->easy, PROTOCOLS, (long)HTTP_AND_HTTPS);
	set(http->easy, CONNECT_TIMEOUT_MS, (long)PATIENCE_MS);
	set(http->easy, LOW_SPEED_LIMIT, (long)LEAST_SPEED);
	set(http->easy, LOW_SPEED_TIME, (long)PATIENCE_SECONDS);
}

// A library for TLS may write to a connection that is closed: that is an answer, and no end of the program.
static int perform_quietly(const struct http *http)
{
	const struct timespec at_once = { 0, 0 };
	sigset_t broken, before;
	int code;

	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken, &before);
	code = http->calls.perform(http->easy);
	// one that was blocked before is somebody else's
	if (!sigismember(&before, SIGPIPE))
		while (sigtimedwait(&broken, NULL, &at_once) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

static enum pd_status send(const struct http *http, const struct pd_http_request *request, void *headers,
			   struct pd_text *text, long *code_out, struct pd_error *error)
{
	struct answer answer = { text, request->limit };
	char why[ERROR_SIZE] = "";
	int code;

	pd_text_clear(text);
	set_options(http, request, headers, &answer, why);
	code = perform_quietly(http);
	http->calls.setopt(http->easy, ERROR_BUFFER, NULL);
	if (text->failed)
		return pd_fail_memory(error);
	if (code)
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s", *why ? why : http->calls.strerror(code));
	http->calls.getinfo(http->easy, RESPONSE_CODE, code_out);
	return PD_OK;
}

static enum pd_status post(void *self, const struct pd_http_request *request, struct pd_text *answer, long *code_out,
			   struct pd_error *error)
{
	const struct http *http = self;
	void *headers = NULL;
	enum pd_status status = PD_OK;

	for (size_t i = 0; status >= 0 && request->headers[i]; i++) {
		void *more = http->calls.append(headers, request->headers[i]);

		status = more ? PD_OK : pd_fail_memory(error);
		headers = more ? more : headers;
	}
	if (status >= 0)
		status = send(http, request, headers, answer, code_out, error);
	http->calls.free_all(headers);
	return status;
}

const struct pd_http pd_http_curl = { .name = "libcurl", .open = open_http, .post = post, .close = close_http };

/* SPDX-License-Identifier: MIT */
/* Addresses of networks as the kernel's %pI and %pi print them. */
#include <string.h>

#include "base/cursor.h"
#include "base/text/text.h"
#include "trace/trace.h"

void pd_trace_put_ip4(struct pd_text *text, const uint8_t *b, char kind, char order)
{
	// the fourth character is for numbers that are not in the order of the network
	bool turn = order == 'l' || (order == 'h' && !PD_HOST_BIG);

	for (size_t i = 0; i < 4; i++) {
		unsigned byte = b[turn ? 3 - i : i];

		pd_text_printf(text, kind == 'i' ? "%03u" : "%u", byte);
		if (i < 3)
			pd_text_char(text, '.');
	}
}

// The longest run of zeros of two words or more is left out.
static void put_ip6_short(struct pd_text *text, const uint8_t *b)
{
	bool mapped = !memcmp(b, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12),
	     isatap = !memcmp(b + 10, "\x5e\xfe", 2) && (b[8] | 2) == 2 && !b[9];
	size_t words = mapped || isatap ? 6 : 8, best = 0, best_length = 1;
	bool colon = false;

	for (size_t i = 0; i < words; i++) {
		size_t length = 0;

		while (i + length < words && !b[2 * (i + length)] && !b[2 * (i + length) + 1])
			length++;
		if (length > best_length) {
			best = i;
			best_length = length;
		}
	}
	for (size_t i = 0; i < words; i++) {
		if (best_length > 1 && i == best) {
			pd_text_add(text, colon || !i ? "::" : ":");
			i += best_length - 1;
			colon = false;
			continue;
		}
		if (colon)
			pd_text_char(text, ':');
		pd_text_printf(text, "%x", b[2 * i] * 256u + b[2 * i + 1]);
		colon = true;
	}
	if (words == 6) {
		if (colon)
			pd_text_char(text, ':');
		pd_trace_put_ip4(text, b + 12, 'I', 'n');
	}
}

void pd_trace_put_ip6(struct pd_text *text, const uint8_t *b, const char *more)
{
	if (more[0] == 'I' && more[2] == 'c') {
		put_ip6_short(text, b);
		return;
	}
	for (size_t i = 0; i < 16; i += 2) {
		pd_text_hex_bytes(text, b + i, 2);
		if (more[0] == 'I' && i < 14)
			pd_text_char(text, ':');
	}
}

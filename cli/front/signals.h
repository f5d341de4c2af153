/* SPDX-License-Identifier: MIT */
/*
 * Signals: who handles one says so here, and how it gets along with what was there before. A handler makes system calls and
 * sets flags, nothing else.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <signal.h>

/* Those that end a program from outside. */
#define SIGNALS_ENDING SIGINT, SIGTERM, SIGHUP

enum signal_rule {
	SIGNAL_ALWAYS,
	SIGNAL_UNLESS_IGNORED, /* nohup means it */
	SIGNAL_IF_USUAL        /* where there is no other handler either */
};

/* Handles each of the signals, up to a 0. */
void signals_handle(const int *numbers, const struct sigaction *action, enum signal_rule rule);
/* The signals, up to a 0, whose handler this is do what they usually do. */
void signals_release(const int *numbers, void (*handler)(int));
/* Ends the program as the signal usually does; in its handler, once that has returned if the signal is blocked in it. */
void signal_die(int number);
/* Counting: SIGINT, SIGTERM and SIGHUP call the handler. */
void signals_end_counting(const struct sigaction *action);
/* Recording: the same, and a pipe without a reader is an error of writing. */
void signals_end_recording(const struct sigaction *action);

#endif

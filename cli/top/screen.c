/* SPDX-License-Identifier: MIT */
/* The terminal of perfdata top. It is given back whatever ends the program: signal handlers do it, too. */
#include "top/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "front/signals.h"

static const char enter_text[] = "\033[?1049h\033[?25l\033[H\033[2J";
static const char leave_text[] = "\033[?25h\033[?1049l";

/* Signal handlers need these. */
static struct termios before;
static volatile sig_atomic_t taken, changed;

static void write_terminal(const char *text, size_t size)
{
	ssize_t done = write(STDOUT_FILENO, text, size);

	(void)done;
}

static void take_terminal(void)
{
	struct termios keys = before;

	/* ^C and ^Z stay signals */
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 0;
	keys.c_cc[VTIME] = 0;
	taken = 1;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &keys);
	write_terminal(enter_text, sizeof(enter_text) - 1);
	changed = 1;
}

static void give_back(void)
{
	if (!taken)
		return;
	taken = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	write_terminal(leave_text, sizeof(leave_text) - 1);
}

/* ---- signals ---- */

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, 0 };

/* The handler was for once: the signal does now what it does without one. */
static void on_fatal(int number)
{
	give_back();
	raise(number);
}

void screen_die(int number)
{
	give_back();
	signal_die(number);
}

static void on_stop(int number)
{
	int saved = errno;
	struct sigaction own = { .sa_handler = on_stop };
	sigset_t set;

	give_back();
	signal_die(number);
	sigemptyset(&set);
	sigaddset(&set, number);
	/* here it stands still until SIGCONT comes */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigaction(number, &own, NULL);
	take_terminal();
	errno = saved;
}

static void on_resize(int number)
{
	(void)number;
	changed = 1;
}

static void catch_signals(void)
{
	struct sigaction once = { .sa_handler = on_fatal, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
	struct sigaction stop = { .sa_handler = on_stop }, resize = { .sa_handler = on_resize, .sa_flags = SA_RESTART };

	signals_handle(fatal, &once, SIGNAL_ALWAYS);
	signals_handle((const int[]){ SIGTSTP, 0 }, &stop, SIGNAL_ALWAYS);
	signals_handle((const int[]){ SIGWINCH, 0 }, &resize, SIGNAL_ALWAYS);
}

/* ---- the screen ---- */

static void find_size(struct screen *screen)
{
	struct winsize size;
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col;

	screen->lines = known ? size.ws_row : 24;
	screen->columns = known ? size.ws_col : 80;
}

void screen_open(struct screen *screen)
{
	*screen = (struct screen){ .on = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) };
	if (!screen->on || tcgetattr(STDIN_FILENO, &before) < 0) {
		screen->on = false;
		return;
	}
	catch_signals();
	find_size(screen);
	take_terminal();
}

void screen_close(struct screen *screen)
{
	if (screen->on)
		give_back();
	screen->on = false;
}

bool screen_changed(struct screen *screen)
{
	if (!screen->on || !changed)
		return false;
	changed = 0;
	find_size(screen);
	return true;
}

int screen_key(const struct screen *screen)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char key;

	if (!screen->on || poll(&input, 1, 0) <= 0 || read(STDIN_FILENO, &key, 1) != 1)
		return 0;
	return key;
}

void screen_show(const struct screen *screen, struct pd_bytes text, struct output *out)
{
	const uint8_t *at = text.data, *end = text.data + text.size;

	pd_text_add(out->text, "\033[H");
	for (unsigned line = 0; line < screen->lines && at < end; line++) {
		const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = newline ? (size_t)(newline - at) : (size_t)(end - at);
		unsigned column = 0;

		/* at the end of a line the cursor must not move on: the last one would scroll */
		pd_text_add(out->text, line ? "\r\n" : "");
		pd_text_clipped(out->text, (struct pd_bytes){ at, length }, screen->columns, &column);
		pd_text_add(out->text, "\033[K");
		at += length + (newline != NULL);
	}
	pd_text_add(out->text, "\033[J");
	output_flush(out);
}

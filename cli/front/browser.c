/* SPDX-License-Identifier: MIT */
#include "front/browser.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A page that leads to the address, for this user only. */
static bool write_page(struct browser *browser, const char *address)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	int fd, length;

	snprintf(browser->path, sizeof(browser->path), "%s/perfdata-view-XXXXXX.html",
		 folder && *folder ? folder : "/tmp");
	fd = mkstemps(browser->path, 5);
	if (fd < 0) {
		browser->path[0] = 0;
		return false;
	}
	length = dprintf(fd, "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=%s\">\n", address);
	return close(fd) == 0 && length > 0;
}

/* Twice, so that nobody has to wait for the browser. */
static void start_program(const char *path)
{
	pid_t child = fork();

	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		if (fork() != 0 || setsid() < 0)
			_exit(0);
		if (null >= 0) {
			dup2(null, 0);
			dup2(null, 1);
			dup2(null, 2);
		}
		execlp("xdg-open", "xdg-open", path, (char *)NULL);
		_exit(1);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

void browser_start(struct browser *browser, const char *address)
{
	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return;
	if (write_page(browser, address))
		start_program(browser->path);
}

void browser_forget(struct browser *browser)
{
	if (browser->path[0])
		unlink(browser->path);
	browser->path[0] = 0;
}

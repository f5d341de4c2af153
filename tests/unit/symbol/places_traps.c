/* SPDX-License-Identifier: MIT */
/* Files that set traps where objects, maps and jitdumps are looked for. */
#include "places.h"

#include <sys/socket.h>
#include <sys/un.h>

static void put_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", under(path));
	unlink(under(path));
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		perror(path);
	close(fd);
}

// What stands outside of the root is an object that would fit; nothing of it may be seen.
TEST(test_places__traps)
{
	static const char *const paths[] = {
		"/../secret",
		"/../../../../../../../../../../tmp/x/../secret",
		"/bin/../../secret",
		"/bin/link_out",
		"/bin/link_up",
		"/bin/loop",
		"/bin/fifo",
		"/bin/socket",
		"/bin/folder",
		"/bin/device",
		"/bin/to_device",
		"//../secret",
		"secret",
		"../secret",
		"/proc/self/mem",
		"/bin/empty",
	};
	struct made made = make_begin();
	struct pd_symbols *symbols;

	put_object("secret", NULL, 0x401000);
	make_folders("sys/bin/folder/x");
	symlink(under("secret"), under("sys/bin/link_out"));
	symlink("../../secret", under("sys/bin/link_up"));
	symlink("loop", under("sys/bin/loop"));
	symlink("/dev/zero", under("sys/bin/to_device"));
	mkfifo(under("sys/bin/fifo"), 0600);
	put_socket("sys/bin/socket");
	put_text("sys/bin/empty", "");
	if (mknod(under("sys/bin/device"), S_IFCHR | 0600, 1 << 8 | 5) < 0)
		printf("# devices cannot be made here\n");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		map(&made, 0x10000 * (i + 1), paths[i], NULL);
	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct pd_place place = user_at(symbols, 0x10000 * (i + 1) + 0x40);

		CHECK(place.dso && !place.function);
		CHECK_STR(place.dso->long_name, paths[i]);
		CHECK(place.dso->state == PD_DSO_MISSING && place.dso->detail[0]);
	}
	CHECK(!pd_symbols_failed(symbols));
	pd_symbols_free(symbols);
	make_free(&made);
}

// What makes something at a path. What it leads to stands outside of the root.
static void put_fifo(const char *path)
{
	CHECK(mkfifo(under(path), 0600) == 0);
}

static void put_folder(const char *path)
{
	CHECK(mkdir(under(path), 0700) == 0);
}

static void put_device(const char *path)
{
	if (mknod(under(path), S_IFCHR | 0600, 1 << 8 | 5) < 0)
		printf("# devices cannot be made here\n");
}

static void put_loop(const char *path)
{
	CHECK(symlink(strrchr(path, '/') + 1, under(path)) == 0);
}

static void put_link_to_memory(const char *path)
{
	CHECK(symlink("/proc/self/mem", under(path)) == 0);
}

static void put_link_out(const char *path)
{
	char target[64];

	snprintf(target, sizeof(target), "outside/%s", strrchr(path, '/') + 1);
	CHECK(symlink(under(target), under(path)) == 0);
}

static void put_link_up(const char *path)
{
	char target[64];

	snprintf(target, sizeof(target), "../../../outside/%s", strrchr(path, '/') + 1);
	CHECK(symlink(target, under(path)) == 0);
}

static void (*const traps[])(const char *path) = {
	put_fifo, put_socket, put_folder, put_device, put_loop, put_link_to_memory, put_link_out, put_link_up,
};

// The map of a process is none of these, wherever its folder is.
TEST(test_places__traps_for_maps)
{
	struct made made = make_begin();

	map(&made, 0x10000, "//anon", NULL);
	CHECK(make_state(&made, NULL));
	put_text("outside/perf-100.map", "10000 40 secret\n");
	for (size_t i = 0; i <= sizeof(traps) / sizeof(traps[0]); i++) {
		struct pd_symbols *symbols;
		struct pd_place place;
		char root[16], path[64];

		snprintf(root, sizeof(root), "map%zu", i);
		snprintf(path, sizeof(path), "%s/tmp/perf-100.map", root);
		make_folders(path);
		if (i < sizeof(traps) / sizeof(traps[0])) {
			traps[i](path);
		} else {
			// the folder leads out
			CHECK(rmdir(under("map8/tmp")) == 0 && symlink(under("outside"), under("map8/tmp")) == 0);
		}
		symbols = open_symbols(&made, (struct pd_symbols_options){ .symfs = under(root) });
		CHECK(symbols);
		place = user_at(symbols, 0x10008);
		CHECK(place.dso && !place.function && place.dso->state == PD_DSO_MISSING);
		CHECK(strstr(place.dso->detail, "/tmp/perf-100.map: "));
		CHECK(!pd_symbols_failed(symbols));
		pd_symbols_free(symbols);
	}
	make_free(&made);
}

// A recording names jitdumps by what was mapped, at any path.
TEST(test_places__traps_for_jitdumps)
{
	enum {
		COUNT = sizeof(traps) / sizeof(traps[0])
	};
	static const char *const upward[] = {
		"/../outside/jit-100.dump", "/dumps/../../outside/jit-100.dump", "/dumps/out/jit-100.dump",
		"../outside/jit-100.dump",  "//../outside/jit-100.dump",
	};
	struct made made = make_begin();
	struct pd_symbols *symbols;
	struct pd_place place;
	char path[64];

	put_jitdump("outside/jit-100.dump");
	map(&made, 0x10000, "//anon", NULL);
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(path, sizeof(path), "dump/dumps/%zu/jit-100.dump", i);
		make_folders(path);
		traps[i](path);
		map(&made, 0x90000 + 0x10000 * i, strchr(path, '/'), NULL);
	}
	CHECK(symlink(under("outside"), under("dump/dumps/out")) == 0);
	for (size_t i = 0; i < sizeof(upward) / sizeof(upward[0]); i++)
		map(&made, 0x290000 + 0x10000 * i, upward[i], NULL);
	CHECK(make_state(&made, NULL));
	symbols = open_symbols(&made, (struct pd_symbols_options){ .symfs = under("dump") });
	CHECK(symbols);
	place = pd_symbols_place(symbols, PID, PD_CPUMODE_USER, at(25), 0x10101);
	CHECK(place.dso && !place.function && place.dso->state == PD_DSO_MISSING);
	// each was tried, and refused
	CHECK(strstr(place.dso->detail, "/dumps/0/jit-100.dump: ") &&
	      strstr(place.dso->detail, "/dumps/7/jit-100.dump: "));
	CHECK(strstr(place.dso->detail, "/dumps/out/jit-100.dump: "));
	CHECK(!pd_symbols_failed(symbols));
	pd_symbols_free(symbols);
	// it is one where it may be read
	symbols = open_symbols(&made, (struct pd_symbols_options){ .symfs = under("outside/..") });
	CHECK(symbols);
	place = pd_symbols_place(symbols, PID, PD_CPUMODE_USER, at(25), 0x10101);
	CHECK(place.function);
	CHECK_STR(place.function->name, "after");
	pd_symbols_free(symbols);
	make_free(&made);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(test_places__traps),
		TEST_CASE(test_places__traps_for_maps),
		TEST_CASE(test_places__traps_for_jitdumps),
	};

	return run_places(cases, sizeof(cases) / sizeof(cases[0]));
}

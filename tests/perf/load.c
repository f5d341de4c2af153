// SPDX-License-Identifier: MIT
/*
 * A program to be recorded: opens the library that is named, works in it, closes it and opens it again, so that it is
 * mapped twice.
 * usage: load LIBRARY
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 0; i < 2 && argc > 1; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		void (*work)(uint64_t n);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **)&work = dlsym(library, "library_work");
		for (int k = 0; k < 20; k++)
			work(1000000);
		dlclose(library);
	}
	return 0;
}

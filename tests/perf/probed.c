/* SPDX-License-Identifier: MIT */
/* What probe.py defines probes in: structures, arrays, strings, registers and the stack, inlined functions. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t word;

enum color {
	RED,
	GREEN = 7
};

struct point {
	int x, y;
};

struct item {
	word id;
	enum color color;
	char name[24];
	const char *text;
	unsigned char *bytes;
	struct point points[3];
	struct point *others;
	struct item *next;
	union {
		uint64_t whole;
		struct point part;
	};
	int (*call)(int);
	int16_t table[4][2];
	double number;
	_Bool on;
};

int global_count = 3;
static long file_count;
const char *global_text = "text";
static struct point corner = { 1, 2 };

static inline __attribute__((always_inline)) int small(int number, struct item *item)
{
	int twice = number * 2;

	file_count += twice;
	return twice + (int)item->id;
}

static inline __attribute__((always_inline)) int outer(struct item *item, int depth)
{
	int sum = small(depth, item);

	return sum + small(depth + 1, item);
}

__attribute__((noinline)) static int leaf(int a, unsigned long b, char c, short d)
{
	return a + (int)b + c + d;
}

__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, long h)
{
	volatile int kept = a + b + c + d;

	return kept + e + f + g + (int)h + corner.x;
}

__attribute__((noinline)) int walk(struct item *list, const char *what, size_t length)
{
	int sum = 0;
	char buffer[32];

	snprintf(buffer, sizeof(buffer), "%s", what);
	for (struct item *item = list; item; item = item->next) {
		int depth = (int)item->points[1].y;

		sum += outer(item, depth);
		if (item->on) {
			long inside = sum * 3;

			sum += leaf(sum, (unsigned long)inside, buffer[0], 4);
		}
	}
	return sum + (int)length + many(1, 2, 3, 4, 5, 6, global_count, file_count);
}

__attribute__((noinline)) struct point by_value(struct point point, double factor)
{
	point.x = (int)(point.x * factor);
	return point;
}

int main(int argc, char **argv)
{
	struct item item = { .id = 4, .color = GREEN, .name = "name", .text = global_text, .on = 1 };
	struct point point = by_value(corner, argc);

	item.others = &point;
	item.bytes = (unsigned char *)argv[0];
	return walk(&item, argv[0], strlen(argv[0])) & 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * The yardstick of the benchmark: reads a perf.data and does no more than step from record header to record
 * header, without any library. What a reader takes beyond this is what it costs to know what is in the
 * records. Pieces of 256 KiB stay in the cache: larger ones take up to twice as long. Little-endian files
 * of one part, on a little-endian machine.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK ((size_t)256 << 10)
#define ROOM (CHUNK + 65536)
#define TYPES 128
#define SAMPLE 9

struct head {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
};

struct walk {
	uint8_t *bytes;
	size_t kept; // bytes at the start whose record is not complete
	uint64_t counts[TYPES];
	uint64_t sample_bytes;
};

// Steps over the whole records among the first size bytes; what is left moves to the start.
static int step(struct walk *walk, size_t size)
{
	size_t at = 0;
	struct head head;

	while (size - at >= sizeof(head)) {
		memcpy(&head, walk->bytes + at, sizeof(head));
		if (head.size < sizeof(head))
			return -1;
		if (size - at < head.size)
			break;
		walk->counts[head.type < TYPES ? head.type : 0]++;
		if (head.type == SAMPLE)
			walk->sample_bytes += head.size;
		at += head.size;
	}
	walk->kept = size - at;
	memmove(walk->bytes, walk->bytes + at, walk->kept);
	return 0;
}

static int walk_file(struct walk *walk, int fd)
{
	uint64_t header[13], left;

	if (read(fd, header, sizeof(header)) != (ssize_t)sizeof(header) || memcmp(header, "PERFILE2", 8) ||
	    header[1] < 72)
		return -1;
	if (lseek(fd, (off_t)header[5], SEEK_SET) < 0)
		return -1;
	for (left = header[6]; left;) {
		size_t want = left < CHUNK ? (size_t)left : CHUNK;
		ssize_t got = read(fd, walk->bytes + walk->kept, want);

		if (got <= 0 || step(walk, walk->kept + (size_t)got))
			return -1;
		left -= (uint64_t)got;
	}
	return walk->kept ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct walk walk = { .bytes = malloc(ROOM) };
	uint64_t total = 0;
	int fd, rc;

	if (argc != 2 || !walk.bytes) {
		fprintf(stderr, "usage: walk FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	rc = fd < 0 ? -1 : walk_file(&walk, fd);
	if (rc)
		fprintf(stderr, "walk: %s: not a little-endian perf.data of records only\n", argv[1]);
	for (unsigned i = 0; i < TYPES; i++)
		total += walk.counts[i];
	printf("%" PRIu64 " records, %" PRIu64 " samples, %" PRIu64 " bytes of samples\n", total, walk.counts[SAMPLE],
	       walk.sample_bytes);
	if (fd >= 0)
		close(fd);
	free(walk.bytes);
	return rc ? 1 : 0;
}

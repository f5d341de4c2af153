/* SPDX-License-Identifier: MIT */
/*
 * Reads every record of a perf.data with libperfdata, takes each apart, and says how long that took: the
 * cost of the library without any printing. The sums keep the work from being optimised away and are the
 * same at each run.
 */
#ifndef _GNU_SOURCE // the build sets it too
#define _GNU_SOURCE
#endif
#include <perfdata/perfdata.h>

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

struct tally {
	uint64_t records, samples, bytes, frames, undecoded;
	uint64_t ips; // sum, modulo 2^64
};

// Processor time, which what else runs disturbs least.
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void count(struct tally *tally, const struct pd_record *record)
{
	const void *decoded;
	const struct pd_sample *sample;

	tally->records++;
	tally->bytes += record->bytes.size;
	if (pd_record_decode(record, &decoded, NULL) != PD_OK) {
		tally->undecoded++;
		return;
	}
	if (record->type != PD_RECORD_SAMPLE)
		return;
	sample = decoded;
	tally->samples++;
	tally->ips += sample->ip;
	tally->frames += sample->callchain.count;
}

static enum pd_status decode(struct pd_file *file, struct tally *tally, struct pd_error *error)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status;

	status = pd_stream_open(file, NULL, &stream, error);
	if (status != PD_OK)
		return status;
	while ((status = pd_stream_next(stream, &record, error)) == PD_OK)
		count(tally, record);
	pd_stream_close(stream);
	return status == PD_END ? PD_OK : status;
}

int main(int argc, char **argv)
{
	struct tally tally = { 0 };
	struct pd_error error;
	struct pd_file *file;
	enum pd_status status;
	double seconds = now();

	if (argc != 2) {
		fprintf(stderr, "usage: decode FILE\n");
		return 2;
	}
	status = pd_file_open(argv[1], NULL, &file, &error);
	if (status == PD_OK) {
		status = decode(file, &tally, &error);
		pd_file_close(file);
	}
	seconds = now() - seconds;
	if (status != PD_OK) {
		fprintf(stderr, "decode: %s\n", error.message);
		return 1;
	}
	printf("%" PRIu64 " records, %" PRIu64 " samples, %" PRIu64 " frames, %" PRIu64 " undecoded, ip sum %016" PRIx64
	       "\n",
	       tally.records, tally.samples, tally.frames, tally.undecoded, tally.ips);
	printf("%.3f s of processor time, %.2f GB/s, %.1f ns per sample\n", seconds,
	       (double)tally.bytes / 1e9 / seconds, tally.samples ? seconds * 1e9 / (double)tally.samples : 0.0);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/**
 * perfdata.h - includes all headers of libperfdata.
 *
 *   base.h    status, errors, bytes
 *   format.h  the format: structs, constants, names, introspection
 *   file.h    an open perf.data file: header, events, features, problems
 *   archive.h members of a tar file, such as a bundle
 *   stream.h  records
 *   explain.h what the tables of the format say of a name
 *   roff.h    text for manual pages
 *   text.h    a growing buffer of text, which everything that prints fills
 *   json.h    JSON written into a text
 *   print.h   printing records as text and JSON
 *   config.h  files in the syntax of perf config
 *   header.h  header, events and features as text and JSON
 *   record_stats.h   counts of records and samples
 *   summary.h what a file is and what is in it
 *   objects.h objects with their build ids
 *   samples.h samples as text
 *   check.h   reporting every problem of a file
 *   world.h   threads and mappings at any time
 *   filter.h  filter expressions
 *   select.h  selecting samples with the options of perf
 *   flame.h   flame graphs and folded stacks
 *   jitdump.h JIT-compiled code from jitdump files
 *   trace.h   fields of tracepoints
 *   bundle.h  a recording with its objects and symbols in one tar file
 *   events.h  parsing and listing events
 *   recorder.h  recording events (Linux)
 *   counter.h counting events (Linux)
 *   stat.h    counts with metrics, as perf stat prints them
 *   live.h    profiles of a running recording
 *   report.h  a profile as tables, with call graphs
 *   doctor.h  what is wrong with a recording
 *   writer.h  writing perf.data files
 *   convert.h copying recordings into another form
 *   extract.h  copying a part of a recording
 *   merge.h   merging recordings
 *   scrub.h   anonymizing a recording
 *   split.h   splitting a recording into several
 *   inject.h  adding build ids and JIT-compiled code to a recording
 *   repair.h  recovering damaged files
 *   assemble.h  converting perf.data files to text and back
 */
#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H

#include <perfdata/archive.h>
#include <perfdata/assemble.h>
#include <perfdata/base.h>
#include <perfdata/bundle.h>
#include <perfdata/check.h>
#include <perfdata/config.h>
#include <perfdata/convert.h>
#include <perfdata/counter.h>
#include <perfdata/doctor.h>
#include <perfdata/events.h>
#include <perfdata/extract.h>
#include <perfdata/explain.h>
#include <perfdata/file.h>
#include <perfdata/filter.h>
#include <perfdata/flame.h>
#include <perfdata/format.h>
#include <perfdata/header.h>
#include <perfdata/inject.h>
#include <perfdata/jitdump.h>
#include <perfdata/json.h>
#include <perfdata/live.h>
#include <perfdata/merge.h>
#include <perfdata/objects.h>
#include <perfdata/print.h>
#include <perfdata/profile.h>
#include <perfdata/repair.h>
#include <perfdata/record_stats.h>
#include <perfdata/recorder.h>
#include <perfdata/report.h>
#include <perfdata/roff.h>
#include <perfdata/run.h>
#include <perfdata/samples.h>
#include <perfdata/scrub.h>
#include <perfdata/select.h>
#include <perfdata/split.h>
#include <perfdata/stat.h>
#include <perfdata/stream.h>
#include <perfdata/summary.h>
#include <perfdata/symbol.h>
#include <perfdata/text.h>
#include <perfdata/trace.h>
#include <perfdata/world.h>
#include <perfdata/writer.h>

#endif

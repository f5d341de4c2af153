/* SPDX-License-Identifier: MIT */
/**
 * perfdata.h - all of libperfdata.
 *
 *   base.h    status, error, bytes
 *   format.h  the format: structs, numbers, names, description of itself
 *   file.h    an opened perf.data: header, events, features, problems
 *   archive.h files in a tar file, such as a bundle
 *   stream.h  its records
 *   print.h   records as text and JSON
 *   check.h   every problem of a file
 *   world.h   who ran and what was mapped, at each moment
 *   filter.h  conditions on records, written as text
 *   jitdump.h code that programs made, as they wrote it down
 *   trace.h   what tracepoints recorded, as text
 *   bundle.h  a recording with all that its samples need, in one tar file
 *   events.h  names of events that can be recorded
 *   recorder.h  recording them, on Linux
 *   counter.h counting them
 *   live.h    profiles of a recording that goes on
 *   writer.h  writing a perf.data
 *   repair.h  writing again what can be read of a damaged one
 *   assemble.h  a whole perf.data as text, and back
 */
#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H

#include <perfdata/archive.h>
#include <perfdata/assemble.h>
#include <perfdata/base.h>
#include <perfdata/bundle.h>
#include <perfdata/check.h>
#include <perfdata/counter.h>
#include <perfdata/events.h>
#include <perfdata/file.h>
#include <perfdata/filter.h>
#include <perfdata/format.h>
#include <perfdata/jitdump.h>
#include <perfdata/live.h>
#include <perfdata/print.h>
#include <perfdata/profile.h>
#include <perfdata/repair.h>
#include <perfdata/recorder.h>
#include <perfdata/run.h>
#include <perfdata/stream.h>
#include <perfdata/symbol.h>
#include <perfdata/trace.h>
#include <perfdata/world.h>
#include <perfdata/writer.h>

#endif

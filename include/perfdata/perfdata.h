/* SPDX-License-Identifier: MIT */
/**
 * perfdata.h - includes all headers of libperfdata.
 *
 * A recording is a struct pd_file. From there, the simple calls first:
 *
 *	pd_file_open            then what it says of itself: pd_file_event, pd_file_feature, pd_print_perf_header
 *	pd_stream_next          its records, in file or time order; pd_as_sample and its kin are the structs
 *	pd_samples_run          all of it as text, as perf script prints it
 *	pd_profile_read         its samples added up; with pd_symbols_new and pd_profile_name they have names
 *	pd_report_text          a profile as perf report prints it; pd_report_row and pd_report_cell as data
 *	pd_viewer_flame_page    a profile as a flame graph
 *	pd_export_run           its samples in the formats of viewers and other programs
 *	pd_writer_pass          records into another file, and pd_extract_write, pd_merge_write ... for the usual reasons
 *	pd_recorder_run         a new recording
 *
 * base.h has the conventions: results, ownership, threads, units.
 *
 * reading
 *   base.h          status, errors, bytes
 *   format.h        the format: structs, constants, names, introspection
 *   file.h          an open perf.data file: header, events, features, problems
 *   archive.h       members of a tar file, such as a bundle
 *   stream.h        records
 *   run.h           records on several threads
 *   check.h         reporting every problem of a file
 *   state.h         threads and mappings at any time
 *   trace.h         fields of tracepoints
 *   interval.h      what threads did over time, from context switches
 *   sched.h         switches and wakeups as text
 *   pairs.h         system calls and others from begin to end, as text
 *   why.h           why threads waited: who woke whom
 *   lock.h          waiting for locks of the kernel, as text
 *   mem.h           memory accesses, as text
 *   kmem.h          what was allocated in the kernel, as text
 *   kwork.h         interrupts, softirqs and work queues, as text
 *   timechart.h     what CPUs and threads did over time, as a picture
 *   waiting.h       a recording of switches as one of waiting
 *   jitdump.h       JIT-compiled code from jitdump files
 *   symbol.h        names of addresses
 *   unwind.h        call chains from copied user stacks
 *   debuginfod.h    objects by build id from servers
 * choosing
 *   filter.h        filter expressions
 *   select.h        selecting samples with the options of perf
 * adding up
 *   profile.h       samples added up by event, thread, stack
 *   report.h        a profile as tables, with call graphs
 *   annotate.h      the code of functions with the samples of each instruction
 *   diff.h          recordings compared
 *   flame.h         flame graphs and folded stacks
 *   doctor.h        what is wrong with a recording
 *   live.h          profiles of a running recording
 *   top.h           a table of what runs now
 *   tracer.h        system calls and other events while they happen
 * as text
 *   text.h          a growing buffer of text, which everything that prints fills
 *   json.h          JSON written into a text
 *   roff.h          text for manual pages
 *   config.h        files in the syntax of perf config
 *   print.h         printing records as text and JSON
 *   dump.h          records, or those that are selected, as text and JSON
 *   header.h        header, events and features as text and JSON
 *   record_stats.h  counts of records and samples
 *   summary.h       what a file is and what is in it
 *   objects.h       objects with their build ids
 *   build_id_cache.h  perf's cache of objects, by build id
 *   tasks.h         threads as a tree, and what they had mapped
 *   samples.h       samples as text
 *   table.h         samples, records and tracepoints as columns
 *   sql.h           questions in SQL
 *   store.h         recordings in one database
 *   export.h        samples in the formats of other programs
 *   viewer.h        a recording as a page for a browser
 *   quipper.h       recordings as PerfDataProto, and back
 *   explain.h       what the tables of the format say of a name
 *   vocabulary.h    words of sort keys, fields, metrics ... with what they mean
 * writing
 *   writer.h        writing perf.data files
 *   outfile.h       other files, which appear when they are complete
 *   convert.h       copying recordings into another form
 *   extract.h       copying a part of a recording
 *   merge.h         merging recordings
 *   scrub.h         anonymizing a recording
 *   split.h         splitting a recording into several
 *   inject.h        adding build ids and JIT-compiled code to a recording
 *   repair.h        recovering damaged files
 *   assemble.h      converting perf.data files to text and back
 *   import.h        recordings out of the formats of other programs
 *   bundle.h        a recording with its objects and symbols in one tar file
 * recording
 *   events.h        parsing and listing events
 *   recorder.h      recording events (Linux)
 *   counter.h       counting events (Linux)
 *   probe.h         dynamic tracepoints in programs and the kernel (Linux)
 *   daemon.h        recordings that run in the background (Linux)
 *   stat.h          counts with metrics, as perf stat prints them
 *
 * Each of them has an example at its head. What an example does not declare is there: `file` is a recording, `stream` its records
 * and `record` one of them, `profile` its samples added up, with `symbols`; `writer` writes to another file, `text` is empty, `fd`
 * is open for writing, and `error` says what went wrong.
 */
#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H

#include <perfdata/annotate.h>
#include <perfdata/archive.h>
#include <perfdata/assemble.h>
#include <perfdata/base.h>
#include <perfdata/build_id_cache.h>
#include <perfdata/bundle.h>
#include <perfdata/check.h>
#include <perfdata/config.h>
#include <perfdata/convert.h>
#include <perfdata/counter.h>
#include <perfdata/daemon.h>
#include <perfdata/debuginfod.h>
#include <perfdata/diff.h>
#include <perfdata/doctor.h>
#include <perfdata/dump.h>
#include <perfdata/events.h>
#include <perfdata/explain.h>
#include <perfdata/export.h>
#include <perfdata/extract.h>
#include <perfdata/file.h>
#include <perfdata/filter.h>
#include <perfdata/flame.h>
#include <perfdata/format.h>
#include <perfdata/header.h>
#include <perfdata/import.h>
#include <perfdata/inject.h>
#include <perfdata/interval.h>
#include <perfdata/jitdump.h>
#include <perfdata/json.h>
#include <perfdata/kmem.h>
#include <perfdata/kwork.h>
#include <perfdata/live.h>
#include <perfdata/lock.h>
#include <perfdata/mem.h>
#include <perfdata/merge.h>
#include <perfdata/objects.h>
#include <perfdata/outfile.h>
#include <perfdata/pairs.h>
#include <perfdata/print.h>
#include <perfdata/probe.h>
#include <perfdata/profile.h>
#include <perfdata/quipper.h>
#include <perfdata/record_stats.h>
#include <perfdata/recorder.h>
#include <perfdata/repair.h>
#include <perfdata/report.h>
#include <perfdata/roff.h>
#include <perfdata/run.h>
#include <perfdata/samples.h>
#include <perfdata/sched.h>
#include <perfdata/scrub.h>
#include <perfdata/select.h>
#include <perfdata/split.h>
#include <perfdata/sql.h>
#include <perfdata/stat.h>
#include <perfdata/state.h>
#include <perfdata/store.h>
#include <perfdata/stream.h>
#include <perfdata/summary.h>
#include <perfdata/symbol.h>
#include <perfdata/table.h>
#include <perfdata/tasks.h>
#include <perfdata/text.h>
#include <perfdata/timechart.h>
#include <perfdata/top.h>
#include <perfdata/trace.h>
#include <perfdata/tracer.h>
#include <perfdata/unwind.h>
#include <perfdata/viewer.h>
#include <perfdata/vocabulary.h>
#include <perfdata/waiting.h>
#include <perfdata/why.h>
#include <perfdata/writer.h>

#endif

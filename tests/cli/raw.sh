# SPDX-License-Identifier: MIT
# report -D and script -D: records with their bytes. tests/perf/dumped.py compares them with perf.
for file in hot-group hot-records hot-regs hot-multi hot-stat hot-zstd hot-trace-pipe hot-sigkill; do copy $file.data; done
try report -D --csv hot-group.data
try report -D --json hot-group.data
shell 'perfdata report -D hot-group.data | head -n 60; perfdata report -D hot-group.data | tail -n 30'
shell 'perfdata report -D --header hot-group.data | head -n 2'
# without the bytes
shell 'perfdata report -D hot-records.data | grep -av "^\.  [0-9a-f]*: \|^\. \.\.\. raw\|^\.$" | head -n 70'
shell 'perfdata report -D hot-regs.data | grep -av "^\.  [0-9a-f]*: " | tail -n +100 | head -n 60'
shell 'perfdata report -D hot-stat.data | grep -a "^[-0-9 ]*0x.*PERF_RECORD\|^\.\.\."'
# a place in compressed records is that of these; in a pipe places count from the first record
shell 'perfdata report -D hot-zstd.data | grep -a "@.*event:" | uniq -c | head -n 20'
shell 'perfdata report -D -i - <hot-trace-pipe.data | grep -a "@.*event:" | head -n 5'
# before the lines of script
shell 'perfdata script -D -F comm,time,event hot-multi.data | grep -av "^\.  [0-9a-f]*: " | head -n 60'
# of a selection, too: all records, and the lines that are chosen
shell 'perfdata script -D --event page-faults -F event hot-multi.data | grep -ac "PERF_RECORD_\|^ *page-faults"'
shell 'perfdata script -D hot-sigkill.data | grep -ac PERF_RECORD_SAMPLE; perfdata dump --stats hot-sigkill.data | grep SAMPLE'

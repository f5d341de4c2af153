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
# branches: every kind, flags, and what perf 6.1 does not print, whether it was speculative
cat > kinds.txt <<'TEXT'
header form: file, byte_order: little
event {
	name: "cycles"
	ids: [1]
	type: hardware
	size: 128
	sample_period: 1000
	sample_type: IP|TID|BRANCH_STACK
	branch_sample_type: ANY|TYPE_SAVE
}
SAMPLE ip: 0x401000, pid: 7, tid: 7, branch_stack: {entries: [
	{from: 0x1, to: 0x2, flags: predicted|cycles(9)}
	{from: 0x2, to: 0x3, flags: 0x3}
	{from: 0x3, to: 0x4, flags: 0xe0000c}
	{from: 0x4, to: 0x5, flags: 0xf00000}
	{from: 0x5, to: 0x6, flags: 0x8f00000}
	{from: 0x6, to: 0x7, flags: 0x1cf00000}
	{from: 0x7, to: 0x8, flags: 0x20f00000}
	{from: 0x8, to: 0x9, flags: 0x3100000}
	{from: 0x9, to: 0xa, flags: 0x200000000}
]}
TEXT
shell 'perfdata assemble kinds.txt -o kinds.data && perfdata report -D kinds.data | grep -a "^\.\.\.\.\. "'
shell 'perfdata script -F brstack kinds.data'
# factors as long as they are, lost samples in total only, nothing but records with -q
cat > updates.txt <<'TEXT'
header form: pipe, byte_order: little
event {
	name: "cycles"
	ids: [1]
	type: hardware
	size: 128
	sample_period: 1000
	sample_type: IP|TID|IDENTIFIER
	flags: sample_id_all
}
EVENT_UPDATE type: scale, id: 1, scale: 1e40
SAMPLE identifier: 1, ip: 0x401000, pid: 7, tid: 7
LOST_SAMPLES lost: 3, sample_id: {pid: 7, tid: 7, identifier: 1}
TEXT
shell 'perfdata assemble updates.txt -o updates.data && perfdata report -q -D updates.data | grep -av "^\.  [0-9a-f]*: \|^\. \.\.\. raw\|^\.$"'

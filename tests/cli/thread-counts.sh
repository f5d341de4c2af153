# SPDX-License-Identifier: MIT
# report -T: what READ records say of threads. tests/perf/dumped.py compares it with perf.
cat > counts.txt <<'END'
header form: file, byte_order: little
event {
	name: "cpu-clock"
	ids: [1 2]
	type: software
	size: 128
	sample_period: 1000
	sample_type: IP|TID|TIME|IDENTIFIER
	read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID
	flags: inherit|inherit_stat|sample_id_all
}
event {
	name: "page-faults"
	ids: [3]
	type: software
	size: 128
	config: 0x2
	sample_period: 1000
	sample_type: IP|TID|TIME|IDENTIFIER
	read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID
	flags: inherit|inherit_stat|sample_id_all
}
SAMPLE identifier: 1, ip: 0x401000, pid: 7, tid: 7, time_ns: 0.000000001
READ pid: 123456, tid: 123457, counts: {value: 40, time_enabled_ns: 1, time_running_ns: 1, id: 1}, sample_id: {pid: 7, tid: 7, time_ns: 0.000000003, identifier: 1}
READ pid: 7, tid: 7, counts: {value: 12345678901234567890, time_enabled_ns: 1, time_running_ns: 1, id: 3}, sample_id: {pid: 7, tid: 7, time_ns: 0.000000004, identifier: 3}
READ pid: 123456, tid: 123457, counts: {value: 2, time_enabled_ns: 1, time_running_ns: 1, id: 2}, sample_id: {pid: 7, tid: 7, time_ns: 0.000000005, identifier: 2}
END
shell 'perfdata assemble counts.txt -o counts.data'
shell 'perfdata report -q -T counts.data | tail -n 3'
shell 'perfdata report -q -T -i - <counts.data | tail -n 3'
shell 'perfdata report -q -T --pretty normal counts.data | tail -n 3'
# as perf, whose rows do not end
shell 'perfdata report -q -T --pretty raw counts.data | tail -n 1; echo'
shell 'perfdata report -q -T --pretty raw counts.data | tail -n 2 | head -n 1'
try report -T --pretty long counts.data
shell 'perfdata report -D counts.data | grep -a -A 4 "PERF_RECORD_READ\|PERF_RECORD_SAMPLE"'
try report -T --json counts.data
try report -T --csv counts.data
copy hot.data
shell 'perfdata report -q -T hot.data | tail -n 2'
# a name of an event that is longer than a column may be
shell 'sed "s/page-faults/$(printf %0300d 0)/" counts.txt | perfdata assemble - -o long.data; perfdata report -q -T long.data | tail -n 3 | awk "{ print length(\$0) }"'

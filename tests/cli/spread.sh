# SPDX-License-Identifier: MIT
# A directory of a single file: records of the kernel by CPU, which they or their ids say.
need zstd
cat >cpu.txt <<'END'
event {name: "cycles", ids: [1 2], sample_type: IP|TID|TIME|CPU|IDENTIFIER, flags: sample_id_all}
FINISHED_ROUND
COMM pid: 1, tid: 1, comm: "made", sample_id: {cpu: 0}
COMM pid: 1, tid: 1, comm: "kernel", sample_id: {cpu: 3, time_ns: 1.0}
SAMPLE ip: 1, time_ns: 1.5, cpu: 3
SAMPLE ip: 2, time_ns: 1.2, cpu: 0
SAMPLE ip: 3, time_ns: 1.3, cpu: 259
FINISHED_ROUND
SAMPLE ip: 4, time_ns: 1.4, cpu: -1
END
try assemble -o cpu.data cpu.txt
try convert --to dir -o cpu cpu.data
shell 'perfdata text cpu | sed -n "/^COMM/,\$p"'
shell 'perfdata script -i cpu -F time,ip'
shell 'perfdata convert -z --to dir -o packed cpu.data; ls packed; perfdata text packed | sed -n "/^COMM/,\$p"'
try text --packed -o packed.txt packed
shell 'perfdata assemble --to dir -o again packed.txt && diff -r packed again && echo the same bytes'
# streams of several files are not one
shell 'perfdata assemble --to file -o no.data packed.txt 2>&1 | sed "s/txt:[0-9]*/txt:LINE/"'

# ids of counters that belong to CPUs
cat >ids.txt <<'END'
event {name: "cycles", ids: [8 9 10], sample_type: IP|TID|TIME|IDENTIFIER, flags: sample_id_all}
ID_INDEX entries: [{id: 8, cpu: 1}, {id: 9, cpu: 5}, {id: 10, cpu: -1}]
FINISHED_ROUND
COMM pid: 1, tid: 1, comm: "kernel", sample_id: {time_ns: 1.0, identifier: 9}
SAMPLE ip: 1, time_ns: 1.5, identifier: 9
SAMPLE ip: 2, time_ns: 1.2, identifier: 8
SAMPLE ip: 3, time_ns: 1.3, identifier: 10
FINISHED_ROUND
END
try assemble -o ids.data ids.txt
try convert --to dir -o ids ids.data
shell 'perfdata text ids | sed -n "/^ID_INDEX/,\$p"'
# nothing says a CPU
shell 'grep -v ID_INDEX ids.txt | perfdata assemble -o none.data'
shell 'perfdata convert --to dir -o none none.data; ls none; perfdata dump none | grep -c FINISHED_ROUND'

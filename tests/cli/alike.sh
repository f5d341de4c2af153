# SPDX-License-Identifier: MIT
# Thousands of stacks that look the same, as where nothing has a name: they are one line, wherever the threads part them.
{
	cat <<TEXT
event {
	name: "cycles"
	ids: [1]
	type: software
	sample_period: 1000
	sample_type: IP|TID|TIME|IDENTIFIER
	flags: sample_id_all
}
COMM pid: 100, tid: 100, comm: "first", sample_id: {pid: 100, tid: 100, time_ns: 0.000000001}
COMM pid: 200, tid: 200, comm: "second", sample_id: {pid: 200, tid: 200, time_ns: 0.000000002}
COMM pid: 300, tid: 300, comm: "third", sample_id: {pid: 300, tid: 300, time_ns: 0.000000003}
TEXT
	awk 'function sample(pid, at) { printf "SAMPLE misc: user, identifier: 1, ip: %#x, pid: %d, tid: %d, time_ns: 0.%09d\n", at, pid, pid, ++time + 10 }
		BEGIN {
			for (i = 1; i <= 5000; i++) sample(100, 4096 + i * 16)
			for (i = 1; i <= 1023; i++) sample(200, 4096 + i * 16)
			for (i = 1; i <= 4098; i++) sample(300, 4096 + i * 16)
		}'
} >alike.txt
shell 'perfdata assemble -o alike.data alike.txt && echo made'
for threads in 1 2 3 8; do
	shell "perfdata folded --threads $threads alike.data"
done
# a thousand samples are not 1K yet, as in perf
for count in 999 1000 1001; do
	shell "head -n $((11 + count)) alike.txt | perfdata assemble -o count.data - && perfdata report --no-symbols count.data | grep '^# Samples'"
done

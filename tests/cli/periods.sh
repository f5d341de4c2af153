# SPDX-License-Identifier: MIT
# Periods that add up to more than 64 bits hold: shares are right, sums are divided by a power of two, and that is said.
cat >periods.txt <<'EOT'
event {
	name: "cycles:u"
	ids: [7]
	type: hardware
	sample_period: 4000
	sample_type: IP|TID|TIME|CPU|PERIOD|IDENTIFIER
	flags: mmap|comm|sample_id_all
}
feature ARCH {value: "x86_64"}
feature NRCPUS {available: 1, online: 1}
COMM misc: user|COMM_EXEC, pid: 42, tid: 42, comm: "demo", sample_id: {pid: 42, tid: 42, time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x10000, len: 0x1000, filename: "/usr/bin/one", sample_id: {time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x20000, len: 0x1000, filename: "/usr/lib/two", sample_id: {time_ns: 1.0}
SAMPLE misc: user, ip: 0x10010, pid: 42, tid: 42, time_ns: 1.001, period: 18446744073709551615
SAMPLE misc: user, ip: 0x20010, pid: 42, tid: 42, time_ns: 1.002, period: 9223372036854775808
SAMPLE misc: user, ip: 0x10010, pid: 42, tid: 42, time_ns: 1.003, period: 5000
SAMPLE misc: user, ip: 0x20010, pid: 43, tid: 43, time_ns: 1.004, period: 9223372036854775808
EOT
perfdata assemble -o periods.data periods.txt
try report --no-symbols -s dso periods.data
try report --no-symbols -s dso --threads 4 -q periods.data
try report --no-symbols -s dso --tid 42 periods.data
try folded --no-symbols periods.data
try diff --no-symbols -s dso -p periods.data periods.data
# just as much as a sum holds
shell 'sed "/1.002/d; /1.003/d; /1.004/d" periods.txt | perfdata assemble -o full.data - && perfdata report --no-symbols -s dso full.data'

# SPDX-License-Identifier: MIT
# flame --diff: a page with a graph for each recording, and nothing lost that only one of them has.
make_stacks()
{
	cat <<END
event {
	name: "cycles:u"
	ids: [7]
	type: hardware
	sample_period: 1000
	sample_type: IP|TID|TIME|CALLCHAIN|PERIOD|IDENTIFIER
	flags: mmap|comm|sample_id_all
}
feature ARCH {value: "x86_64"}
COMM misc: user|COMM_EXEC, pid: 42, tid: 42, comm: "<b>\"&", sample_id: {pid: 42, tid: 42, time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x400000, len: 0x1000, filename: "/usr/bin/$1", sample_id: {time_ns: 1.0}
SAMPLE misc: user, ip: 0x400102, pid: 42, tid: 42, time_ns: 1.001, period: 1000, callchain: [user 0x400102]
SAMPLE misc: user, ip: 0x500104, pid: 42, tid: 42, time_ns: 1.002, period: $2, callchain: [user 0x500104]
END
}
make_stacks one 1000 | perfdata assemble -o old.data -
make_stacks two 3000 | perfdata assemble -o new.data -
try flame --no-symbols --weight period --diff old.data -o page.html new.data
shell 'page_text page.html'
shell 'perfdata flame --no-symbols --title T --diff old.data new.data | page_text | grep v=flame'
try flame --diff old.data --format svg -o page.svg new.data
try flame --diff old.data -o old.data new.data
try flame --diff nothing.data -o page.html new.data
# the largest time that there is, and one of half a year
for time in 18446744073.709551615 18000000.5; do
	make_stacks one 1000 | sed "s/time_ns: 1.002/time_ns: $time/" | perfdata assemble -o far.data -
	shell 'perfdata flame --no-symbols far.data | page_text'
done

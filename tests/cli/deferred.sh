# SPDX-License-Identifier: MIT
# Call chains whose user part the kernel records later: joined by number and thread, in every command.
cat >hand.txt <<'END'
header form: file, byte_order: little
event {
	name: "cpu-clock"
	ids: [7]
	type: software
	size: 144
	sample_period: 1
	sample_type: IP|TID|TIME|CALLCHAIN|PERIOD
	read_format: ID|LOST
	flags: freq|sample_id_all|exclude_guest|defer_callchain|defer_output
}
feature ARCH {value: "x86_64"}
COMM pid: 5, tid: 5, comm: "five", sample_id: {pid: 5, tid: 5, time_ns: 1.0}
COMM pid: 6, tid: 6, comm: "six", sample_id: {pid: 6, tid: 6, time_ns: 1.0}
MMAP2 misc: user, pid: 5, tid: 5, addr: 0x1000, len: 0x9000, prot: READ|EXEC, flags: PRIVATE, filename: "/bin/five", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
MMAP2 misc: user, pid: 6, tid: 6, addr: 0x1000, len: 0x9000, prot: READ|EXEC, flags: PRIVATE, filename: "/bin/six", sample_id: {pid: 6, tid: 6, time_ns: 1.1}
SAMPLE misc: kernel, ip: 0xffffffff81000010, pid: 5, tid: 5, time_ns: 2.0, period: 1, callchain: [KERNEL 0xffffffff81000010 USER_DEFERRED 0x100000001]
SAMPLE misc: kernel, ip: 0xffffffff81000020, pid: 5, tid: 5, time_ns: 2.1, period: 1, callchain: [KERNEL 0xffffffff81000020 0xffffffff81000011 USER_DEFERRED 0x100000001]
SAMPLE misc: user, ip: 0x1600, pid: 6, tid: 6, time_ns: 2.2, period: 1, callchain: [USER_DEFERRED 0x100000001]
CALLCHAIN_DEFERRED misc: user, cookie: 0x100000001, callchain: [USER 0x1500 0x1510 0x1520], sample_id: {pid: 5, tid: 5, time_ns: 2.3}
CALLCHAIN_DEFERRED misc: user, cookie: 0x100000001, callchain: [USER 0x1600 0x1610], sample_id: {pid: 6, tid: 6, time_ns: 2.4}
SAMPLE misc: user, ip: 0x1700, pid: 5, tid: 5, time_ns: 2.5, period: 1, callchain: [USER_DEFERRED 0x100000002]
SAMPLE misc: kernel, ip: 0xffffffff81000030, pid: 5, tid: 5, time_ns: 2.6, period: 1, callchain: [KERNEL 0xffffffff81000030 USER_DEFERRED 0x100000003]
CALLCHAIN_DEFERRED misc: user, cookie: 0x100000002, callchain: [USER 0x1700], sample_id: {pid: 5, tid: 5, time_ns: 2.7}
CALLCHAIN_DEFERRED misc: user, cookie: 0x100000003, callchain: [USER 0x1800], sample_id: {pid: 6, tid: 6, time_ns: 2.8}
CALLCHAIN_DEFERRED misc: user, cookie: 0x100000009, callchain: [USER], sample_id: {pid: 6, tid: 6, time_ns: 2.8}
END
shell 'perfdata assemble -o d.data hand.txt && perfdata check d.data'
fields=comm,tid,time,ip
try script -F $fields d.data
# a pipe in a file can be read twice, one that is read once has no later records
addresses="grep -o '^ *[0-9a-f]*'"
shell "perfdata convert -q --to pipe -o d.pipe d.data; cmp <(perfdata script -q -F $fields d.data | $addresses) <(perfdata script -q -F $fields d.pipe | $addresses) && echo the same"
shell "perfdata convert -q -z -o z.data d.data; cmp <(perfdata script -q -F $fields d.data) <(perfdata script -q -F $fields z.data) && echo the same"
shell "cat d.pipe | perfdata script -F $fields -i - | grep -c ' 5[0-9]0'"
try script -F $fields --unwind=no d.data
try script -F $fields --max-stack 2 d.data
try report -g caller,0,callee --no-children -s comm d.data
try folded d.data
shell 'perfdata export --to folded d.data'
shell 'perfdata sql d.data "select count(distinct stack) from samples"'
# copies have both parts; rewritten, samples have all of it
shell "perfdata cut --time 2.05,2.15 -o part.data d.data; perfdata script -F $fields part.data"
shell "perfdata inject --unwind -o joined.data d.data; perfdata dump --stats joined.data | grep -E 'SAMPLE|DEFERRED'"
shell "cmp <(perfdata script -q -F $fields d.data) <(perfdata script -q -F $fields joined.data) && echo the same"
shell 'perfdata dump --header joined.data | grep -c defer'

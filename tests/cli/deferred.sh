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
# a pipe in a file can be read twice; of one that is read once samples wait for their records, as in perf
addresses="grep -o '^ *[0-9a-f]*'"
shell "perfdata convert -q --to pipe -o d.pipe d.data; cmp <(perfdata script -q -F $fields d.data | $addresses) <(perfdata script -q -F $fields d.pipe | $addresses) && echo the same"
shell "perfdata convert -q -z -o z.data d.data; cmp <(perfdata script -q -F $fields d.data) <(perfdata script -q -F $fields z.data) && echo the same"
shell "cat d.pipe | perfdata script -F $fields -i -"
shell "cat d.pipe | perfdata script -q -F $fields --unwind=no -i - | $addresses | cmp - <(perfdata script -q -F $fields --unwind=no d.data | $addresses) && echo the same"
shell "for command in 'report -g caller,0,callee --no-children -s comm' folded 'export --to folded'; do cmp <(cat d.pipe | perfdata \$command -q -i -) <(perfdata \$command -q d.data) && echo the same; done"
shell "cat d.pipe | perfdata sql -q -i - 'select count(distinct stack) from samples'"
shell "cat d.pipe | perfdata convert -q -o e.data -i -; cmp <(perfdata script -q -F $fields d.data) <(perfdata script -q -F $fields e.data) && echo the same"
shell "cat d.pipe | perfdata inject --unwind -q -o e.data -i -; cmp <(perfdata script -q -F $fields d.data | $addresses) <(perfdata script -q -F $fields e.data | $addresses) && echo the same"
# a record that is late, of a thread that ends, and of one that never returns
shell "sed '/tid: 5, time_ns: 2.3/d; s/^.*tid: 6, time_ns: 2.4.*/EXIT pid: 6, ppid: 1, tid: 6, ptid: 1, time_ns: 2.4, sample_id: {pid: 6, tid: 6, time_ns: 2.4}/' hand.txt >less.txt; perfdata assemble less.txt -o - | perfdata convert -q --to pipe -o - - | perfdata script -F $fields -i -"
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
shell "cat d.pipe | perfdata top --input - --batch -g -s comm --no-children | grep -v '^#\\|^ *\$\\|^perfdata top'"

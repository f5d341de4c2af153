# SPDX-License-Identifier: MIT
# Call chains of processors that keep the last calls: the user part is in the branch stack, older calls in the thread's last sample.
cat >hand.txt <<'END'
header form: file, byte_order: little
event {
	name: "cycles"
	ids: [7]
	type: hardware
	size: 128
	sample_period: 1
	sample_type: IP|TID|TIME|CALLCHAIN|BRANCH_STACK
	flags: sample_id_all|exclude_guest
	branch_sample_type: USER|CALL_STACK|NO_FLAGS|NO_CYCLES|HW_INDEX
}
feature ARCH {value: "x86_64"}
feature CPU_PMU_CAPS {
	caps: [
		{name: "max_precise", value: "3"}
		{name: "branches", value: "4"}
	]
}
COMM pid: 5, tid: 5, comm: "five", sample_id: {pid: 5, tid: 5, time_ns: 1.0}
MMAP2 misc: user, pid: 5, tid: 5, addr: 0x1000, len: 0x9000, prot: READ|EXEC, flags: PRIVATE, filename: "/bin/five", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
SAMPLE misc: user, ip: 0x1510, pid: 5, tid: 5, time_ns: 2.0, callchain: [USER 0x1510], branch_stack: {nr: 4, hw_idx: 3, entries: [{from: 0x1401, to: 0x1500} {from: 0x1301, to: 0x1400} {from: 0x1201, to: 0x1300} {from: 0x1101, to: 0x1200}]}
SAMPLE misc: kernel, ip: 0xffffffff81000010, pid: 5, tid: 5, time_ns: 2.1, callchain: [KERNEL 0xffffffff81000010 USER 0x1710], branch_stack: {nr: 4, hw_idx: 1, entries: [{from: 0x1601, to: 0x1700} {from: 0x1501, to: 0x1600} {from: 0x1401, to: 0x1500} {from: 0x1301, to: 0x1400}]}
SAMPLE misc: user, ip: 0x1810, pid: 5, tid: 5, time_ns: 2.2, callchain: [USER 0x1810], branch_stack: {nr: 4, hw_idx: 2, entries: [{from: 0x1701, to: 0x1800} {from: 0x1601, to: 0x1700} {from: 0x1501, to: 0x1600} {from: 0x1401, to: 0x1500}]}
SAMPLE misc: user, ip: 0x1a10, pid: 5, tid: 6, time_ns: 2.3, callchain: [USER 0x1a10], branch_stack: {nr: 1, hw_idx: 2, entries: [{from: 0x1901, to: 0x1a00}]}
SAMPLE misc: user, ip: 0x1a10, pid: 5, tid: 5, time_ns: 2.4, callchain: [USER 0x1a10 0x1333], branch_stack: {nr: 2, hw_idx: 2, entries: [{from: 0x1901, to: 0x1a00} {from: 0x1501, to: 0x1601}]}
SAMPLE misc: user, ip: 0x1b10, pid: 5, tid: 5, time_ns: 2.5, callchain: [USER 0x1b10 0x1333], branch_stack: {nr: 0, hw_idx: -1, entries: []}
END
shell 'perfdata assemble -o l.data hand.txt && perfdata check l.data'
fields=comm,tid,time,ip
try script -F $fields l.data
try script -F $fields --stitch-lbr l.data
try script -F $fields --stitch-lbr --max-stack 5 l.data
try script -F $fields --unwind=no l.data
# one thread or several, files or records inside of others
shell "cmp <(perfdata script -q -F $fields --threads 3 --stitch-lbr l.data) <(perfdata script -q -F $fields --threads 1 --stitch-lbr l.data) && echo the same"
shell "perfdata convert -q -z -o z.data l.data; cmp <(perfdata script -q -F $fields --stitch-lbr l.data) <(perfdata script -q -F $fields --stitch-lbr z.data) && echo the same"
try report --stdio -g caller,0,callee --no-children --no-branch-stack -s comm l.data
try report --stdio -g caller,0,callee --no-children --no-branch-stack -s comm --stitch-lbr l.data
# a processor that is not known keeps nobody knows how many: nothing is added
shell 'grep -v branches hand.txt | perfdata assemble -o n.data; perfdata script -F ip --stitch-lbr n.data | cmp - <(perfdata script -q -F ip l.data) && echo the same'
# live: the head of the pipe says how many the processor keeps
shell "perfdata convert -q --to pipe -o l.pipe l.data; for stitch in '' --stitch-lbr; do cat l.pipe | perfdata top --input - --batch -g -s comm \$stitch --no-children | grep -v '^#\\|^ *\$\\|^perfdata top'; done"
# rewritten, samples have these chains, and no branches
shell "perfdata inject --unwind -o i.data l.data; perfdata check i.data; cmp <(perfdata script -q -F $fields l.data) <(perfdata script -q -F $fields i.data) && echo the same"
shell 'perfdata dump --header i.data | grep -c branch_; perfdata inject --unwind -q -o again.data i.data && cmp i.data again.data && echo nothing left'
# with the older calls, in the order of time
shell "perfdata inject --unwind --stitch-lbr -q -o s.data l.data; perfdata check s.data; cmp <(perfdata script -q -F $fields --stitch-lbr l.data) <(perfdata script -q -F $fields s.data) && echo the same"
shell 'perfdata convert -q --to pipe -o - l.data | perfdata inject --unwind --stitch-lbr -q -i - -o p.data; cmp <(perfdata script -q -F ip s.data) <(perfdata script -q -F ip p.data) && echo the same'
# a thread that moves: its samples are in another order in the file
shell '{ grep -v ^SAMPLE hand.txt; grep ^SAMPLE hand.txt | tac; echo FINISHED_ROUND; } | perfdata assemble -o r.data; perfdata inject --unwind --stitch-lbr -q -o t.data r.data; cmp <(perfdata script -q -F ip s.data) <(perfdata script -q -F ip t.data) && echo the same'
try inject --stitch-lbr -o none.data l.data
# how many are incomplete, and what helps
shell 'perfdata doctor l.data | grep -A 2 calls-full; perfdata flame -o - l.data | page_text | grep -o "[0-9.]* % of samples deeper than the LBR"'

# SPDX-License-Identifier: MIT
# The view of branches: entries of branch stacks are added up in place of samples.

cat > branches.txt <<'END'
event {
	name: "cycles:u"
	ids: [7]
	type: hardware
	sample_period: 4000
	sample_type: IP|TID|TIME|CPU|PERIOD|BRANCH_STACK|IDENTIFIER
	branch_sample_type: USER|ANY
	flags: mmap|comm|sample_id_all
}
feature ARCH {value: "x86_64"}
feature NRCPUS {available: 1, online: 1}
feature BRANCH_STACK {}
COMM misc: user|COMM_EXEC, pid: 42, tid: 42, comm: "demo", sample_id: {pid: 42, tid: 42, time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x400000, len: 0x1000, filename: "/usr/bin/demo", sample_id: {time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x500000, len: 0x1000, filename: "/usr/lib/libdemo.so", sample_id: {time_ns: 1.0}
SAMPLE misc: user, ip: 0x400100, pid: 42, tid: 42, time_ns: 1.001, period: 4000, branch_stack: {entries: [
	{from: 0x400110, to: 0x500100, flags: predicted|cycles(4)}
	{from: 0x500120, to: 0x400114, flags: mispred|in_tx}
	{from: 0x400110, to: 0x500100, flags: predicted|cycles(4)}
]}
SAMPLE misc: user, ip: 0x400180, pid: 42, tid: 43, time_ns: 1.002, period: 4000, branch_stack: {entries: [
	{from: 0x400110, to: 0x500100, flags: predicted|cycles(9)}
	{from: 0x0, to: 0x0, flags: abort}
]}
SAMPLE misc: user, ip: 0x400180, pid: 42, tid: 42, time_ns: 1.003, period: 4000, branch_stack: {entries: []}
END
perfdata assemble -o branches.data branches.txt

try report -q --no-symbols -n branches.data
try report -q --no-symbols -n -s dso_from,dso_to,mispredict,in_tx,abort branches.data
try report -q --no-symbols -s comm,sym,srcline_from,srcline_to branches.data
try report -q --no-symbols -n -s tid,dso_to --tid 43 branches.data
try report -q --no-symbols -n -s tid,dso_to --tid 43 --percentage relative branches.data
try report -q --no-symbols -n -s dso_to --dsos libdemo.so branches.data
try report -q --no-symbols --no-branch-stack -n -s dso branches.data
shell 'perfdata report -q --no-symbols -s symbol_from,cycles --json branches.data | grep -o "\"tables.*"'
try report -q --no-symbols -s dso_from --csv branches.data

# Branches that the recorder makes call chains of are no reason to show them.
sed 's/feature BRANCH_STACK {}//' branches.txt | perfdata assemble -o chains.data -
try report -q --no-symbols -n -s dso chains.data
try report -q --no-symbols -n -s dso_to chains.data
try report -q --no-symbols -n -b -s dso_to chains.data
copy hot.data
try report -b hot.data
try report -b --no-branch-stack branches.data

# In call chains: where branches went and came from, then callers, without those that are among the branches. A loop is there once; the
# second sample has the same as the first one, and makes the averages.
for time in 1 2 3; do
	cat <<-ENDS
		SAMPLE misc: user, ip: 0x400180, pid: 42, tid: 42, time_ns: 2.00$time, period: 1000, callchain: [USER 0x400180 0x400115 0x400210 0x400310 0x400410 0x400510 0x400610 0x400710], branch_stack: {entries: [
			{from: 0x400110, to: 0x400170, flags: predicted|cycles(4)}
			{from: 0x400130, to: 0x400100, flags: predicted|cycles(2)}
			{from: 0x400130, to: 0x400100, flags: predicted|cycles(2)}
			{from: 0x400130, to: 0x400100, flags: mispred|cycles($((time * 2)))}
			{from: 0x400140, to: 0x400120, flags: abort}
		]}
	ENDS
done >history.samples
{ sed '/^SAMPLE/,$d; s/PERIOD|BRANCH_STACK/PERIOD|CALLCHAIN|BRANCH_STACK/' branches.txt && cat history.samples; } | perfdata assemble -o history.data -
try report -q --no-symbols --branch-history history.data
try report -q --no-symbols --branch-history --no-children -s pid history.data
try report -q --no-symbols --branch-history --no-children -s pid -g folded,0,count --max-stack 2 history.data
# as many callers where there are no branches
{
	sed '/^SAMPLE/,$d; s/PERIOD|BRANCH_STACK/PERIOD|CALLCHAIN|BRANCH_STACK/' branches.txt
	cat <<-'ENDS'
		event {name: "task-clock", ids: [8], type: software, config: 1, sample_period: 4000, sample_type: IP|TID|TIME|CPU|PERIOD|CALLCHAIN|IDENTIFIER, flags: sample_id_all}
		SAMPLE misc: user, identifier: 8, ip: 0x400180, pid: 42, tid: 42, time_ns: 2.001, period: 1000, callchain: [USER 0x400180 0x400115 0x400210 0x400310 0x400410]
	ENDS
} | perfdata assemble -o mixed.data -
for order in callee caller; do
	try report -q --no-symbols --branch-history --no-children -s pid -g $order --max-stack 2 mixed.data
done
shell 'perfdata report -q --no-symbols --branch-history --no-children -s pid --json history.data | grep -o "\"callgraph.*"'
try report -q --no-symbols --branch-history -s pid branches.data
try report -q --branch-history -b history.data
try report -q --branch-history hot.data
# not said of branches that the recorder makes call chains of
shell 'perfdata text history.data | sed "s/feature BRANCH_STACK {}//" | perfdata assemble -o silent.data -; perfdata report -q --no-symbols --branch-history --no-children -s pid silent.data | grep -c "(" || :'

# SPDX-License-Identifier: MIT
here=${BASH_SOURCE[0]%/*}

try report --header-only one two
try report one two

# Tables. No objects are opened: what stands beside the tests differs from machine to machine.
for file in hot.data hot-group.data hot-multi.data hot-dir hot-zstd.data; do
	copy $file
	try report --no-symbols --no-children -g none -n $file
done
try report --no-symbols hot.data
try report --no-symbols --percent-limit 20 -g caller hot.data
try report --no-symbols --no-children -g fractal,20 -s comm hot.data
try report --no-symbols --no-children -g folded,5,count -s dso hot.data
try report --no-symbols --no-children -g flat,10,period -s pid,cpu hot.data
try report --no-symbols -g none --percent-limit 5 -s comm,dso --show-total-period hot.data
try report --no-symbols -g none -F sample,overhead,comm hot.data
try report --no-symbols -g none --no-children -s tgid,tid,symbol_size hot.data
try report --no-symbols -g none --no-children -s +time --time-quantum 20ms hot.data
try report --no-symbols -g none --no-children --group hot-multi.data
try report --no-symbols -g none --no-children --no-group hot-group.data
copy hot-trace.data
try report --no-symbols hot-trace.data
try report --no-symbols -q -t , -g none hot.data
try report --no-symbols --csv --no-children -s comm,dso hot-multi.data
try report --no-symbols --json --percent-limit 30 -g caller,30 -s comm hot.data
copy hot-pipe.data
for threads in 2 4 8; do
	cmp <(perfdata report --no-symbols --threads 1 hot.data) <(perfdata report --no-symbols --threads $threads hot.data)
done
cmp <(perfdata report --no-symbols -q hot.data) <(perfdata report --no-symbols -q - <hot.data)
copy hot-pipe.data
cmp <(perfdata report --no-symbols -q hot-pipe.data) <(cat hot-pipe.data | perfdata report --no-symbols -q)

shell 'head -c 3000 hot-pipe.data | perfdata report --no-symbols'

# What is asked for.
try report --no-symbols --no-children -g none --comm hot-child hot.data
try report --no-symbols --no-children -g none --comm hot-child --percentage relative hot.data
try report --no-symbols --no-children -g none --comm hot-child -s comm hot.data
try report --no-symbols --no-children -g none -s comm,symbol,cgroup_id hot.data
try report --no-symbols --no-children -g none -s comm,overhead hot.data
try report --no-symbols --no-children -g graph,0.5,1 -s sym --comm hot-child hot.data
# the limit is a whole number of what was counted: 5500000
try report --no-symbols --no-children -g graph,13.5802469136 -s comm,sym --comm hot-child hot.data
try report --no-symbols --no-children -g graph,1e30 -s comm hot.data
try report --no-symbols --no-children -g none --dsos hot,libc.so.6 -s dso,sym hot.data
try report --no-symbols --no-children -g none --time 0%-10% -s comm hot.data
try report --no-symbols --no-children -g none -U hot.data
try report --no-symbols --no-children -g none -w 12,4,30 hot.data
try report --no-symbols --no-children -g none -n --show-cpu-utilization -s comm hot.data
try report --no-symbols --no-children -g none -F +period -s comm hot.data
try report --no-symbols --no-children -g none -F overhead,dso -s +cpu hot.data
try report --no-symbols --no-children -g none -F overhead,overhead_us,comm hot.data
try report --no-symbols --comm nobody hot.data
try report --no-symbols --cpu 7 hot.data
try report --event page-faults --no-symbols --no-children -g none hot-multi.data

try report --no-symbols --no-children -g none -s time --ns -F sample,time hot.data
try report --no-symbols --no-children -g none -s comm --no-skip-empty hot-multi.data
try report --no-symbols --socket-filter 0 hot.data

try report --tasks hot.data
try report --mmaps hot.data
try report --tasks --json hot.data
try report --mmaps --csv hot.data
# Parents that are each other's, or that nobody knows.
perfdata text data/hot.data | sed 's/^FORK pid: 4402, ppid: 4400, tid: 4402, ptid: 4400/FORK pid: 4402, ppid: 4400, tid: 4402, ptid: 4403/
	s/^FORK pid: 4400, ppid: 4400, tid: 4403, ptid: 4400/FORK pid: 4400, ppid: 4402, tid: 4403, ptid: 4402/' | perfdata assemble -o loop.data
try report --tasks loop.data

try report --no-symbols --no-children -g none -s mem,snoop,tlb,locked,blocked --csv data/hot.data
try report --no-symbols --no-children -g none -s ins_lat,transaction,code_page_size hot.data

# What is wrong.
try report --socket-filter x hot.data
try report --socket-filter 77 --no-symbols hot.data
try report --symbol-filter main -s comm hot.data
try report --symbol-filter no-such-name --no-symbols -s sym hot.data
try report -s nothing hot.data
try report -F overhead,nothing hot.data
try report -w 12,30,no hot.data
try report --itrace hot.data
try report -g sideways hot.data
cmp <(perfdata report --no-symbols -g -i hot.data) <(perfdata report --no-symbols hot.data)
try report --percent-limit much hot.data
try report --percentage all hot.data
try report --time-quantum 5 -s time hot.data
try report -t ab hot.data
echo nothing >symbols
try report --kallsyms symbols hot.data
try report --json --csv hot.data
head -c 1500 hot.data >empty.data
try report --no-symbols empty.data
for file in hot.data hot-stat.data hot-group.data hot-dir hot-sigkill.data hot-pipe.data; do
	copy $file
	try report --header-only -I -i $file
done
try report --header-only hot.data
shell 'cat hot-pipe.data | perfdata report --header-only | tail -n +3'
shell 'perfdata report --header-only -I -i - <data/hot-trace.data | tail -n +3 | head -n 5'

# Every feature; the texts are those of perf 6.1, and of perf 7.2 for the last three.
python3 "$here/header_file.py" made.data
touch -d '2026-01-02 03:04:05 UTC' made.data
try report --header-only --show-info made.data
try report --header-only made.data
python3 "$here/header_file.py" big.data big
touch -d '2026-01-02 03:04:05 UTC' big.data
shell 'cmp <(perfdata report --header-only -I made.data) <(perfdata report --header-only -I big.data)'
python3 "$here/header_file.py" damaged.data damaged
shell 'perfdata report --header-only -q -I damaged.data | tail -n +3'

try report --stats hot-group.data
[ "$(perfdata report --stats hot-pipe.data)" = "$(perfdata dump --stats hot-pipe.data)" ] || echo differs

# What is in no object has the level of what was before it, in each table.
cat > levels.txt <<'END'
event {
	name: "first"
	ids: [1]
	type: software
	sample_period: 1000
	sample_type: IP|TID|TIME|CALLCHAIN|IDENTIFIER
	flags: sample_id_all
}
event {
	name: "second"
	ids: [2]
	type: software
	config: 1
	sample_period: 1000
	sample_type: IP|TID|TIME|CALLCHAIN|IDENTIFIER
	flags: sample_id_all
}
MMAP misc: user, pid: 100, tid: 100, addr: 0x1000000, len: 0x10000, pgoff: 0x0, filename: "/usr/bin/one", sample_id: {pid: 100, tid: 100, time_ns: 0.000001000}
SAMPLE misc: user, identifier: 1, ip: 0x1000100, pid: 100, tid: 100, time_ns: 0.000001020, callchain: [USER 0x1000100 0x7000100]
SAMPLE misc: kernel, identifier: 2, ip: 0xffffffff81000100, pid: 100, tid: 100, time_ns: 0.000001030, callchain: [KERNEL 0xffffffff81000100 USER 0x7000100]
END
perfdata assemble -o levels.data levels.txt
try report -q --no-symbols --children -g none -s sym levels.data

# a list of symbols names functions of other modules behind those of this one: they are not its own
cat >modules.txt <<TEXT
event {
	name: "cycles"
	ids: [1]
	type: software
	sample_period: 1000
	sample_type: IP|TID|TIME|IDENTIFIER
	flags: sample_id_all
}
MMAP misc: kernel, pid: 4294967295, tid: 0, addr: 0xffffffffc0000000, len: 0x3000, pgoff: 0x0, filename: "[mod_a]", sample_id: {pid: 0, tid: 0, time_ns: 0.000001000}
SAMPLE misc: kernel, identifier: 1, ip: 0xffffffffc0000010, pid: 100, tid: 100, time_ns: 0.000001020
SAMPLE misc: kernel, identifier: 1, ip: 0xffffffffc0001010, pid: 100, tid: 100, time_ns: 0.000001030
TEXT
printf 'ffffffffc0000000 t own\t[mod_a]\nffffffffc0000800 t last\t[mod_a]\nffffffffc0001000 t other\t[mod_b]\nffffffffc0002000 t behind\t[mod_b]\n' >symbols
shell 'perfdata assemble -o modules.data modules.txt && perfdata report -q -g none --kallsyms symbols -s dso,sym modules.data'

# What -U hides is not shown as a caller either.
cat > chains.txt <<'TEXT'
event {
	name: "cpu-clock"
	type: software
	sample_period: 1000
	sample_type: IP|TID|TIME|CALLCHAIN
	flags: sample_id_all
}
MMAP misc: kernel, pid: -1, tid: -1, addr: 0xffffffffc0000000, len: 0x3000, pgoff: 0x0, filename: "[mod_a]", sample_id: {pid: 0, tid: 0, time_ns: 0.000001000}
SAMPLE misc: kernel, ip: 0xffffffffc0000010, pid: 100, tid: 100, time_ns: 0.000001020, callchain: [KERNEL 0xffffffffc0000010 0xffffffffc0000810 USER 0x1000 0x2000]
SAMPLE misc: kernel, ip: 0xffffffffc0000010, pid: 100, tid: 100, time_ns: 0.000001030, callchain: [KERNEL 0xffffffffc0000010 0x3000 0xffffffffc0000810]
SAMPLE misc: user, ip: 0x1000, pid: 100, tid: 100, time_ns: 0.000001040, callchain: [USER 0x1000 0x2000]
TEXT
shell 'perfdata assemble -o chains.data chains.txt && perfdata report -q --kallsyms symbols -s dso,sym chains.data'
try report -q --kallsyms symbols -s dso,sym -U chains.data
try report -q --kallsyms symbols -s dso,sym -U -G chains.data
try report -q --kallsyms symbols -s dso,sym -U --no-children chains.data

# Bytes differ from machine to machine.
shell 'perfdata report --stats=profile --no-symbols chains.data | sed -n 1,9p'
shell 'perfdata report --stats=profile --no-symbols --json chains.data | python3 -c "
import json, sys
for profile in json.load(sys.stdin)[\"profiles\"]:
    tables = profile.pop(\"tables\")
    print(profile[\"way\"], profile[\"stacks\"], sum(table[\"bytes\"] for table in tables) == profile[\"bytes\"])"'
try report --stats=records chains.data
try report --stats=stacks chains.data
try report --stats=unwind chains.data
try report --stats=unwind --json chains.data
try report --stats=profile --csv chains.data
# rows as a tree
try report --no-symbols --no-children -g none --hierarchy -s comm,dso,sym --percent-limit 3 hot.data
try report --no-symbols --no-children -g none --hierarchy -s '{comm,dso},sym' -n --percent-limit 6 hot.data
try report --no-symbols --hierarchy -s dso,sym --percent-limit 10 hot.data
try report --no-symbols --no-children -g none --hierarchy --group -s comm,sym hot-group.data
try report --hierarchy -F overhead,sym hot.data
try report --hierarchy --json hot.data
# threads of a pool are one
shell 'perfdata text hot.data | sed "s/\"hot-child\"/\"7w-12 x\"/" | perfdata assemble -o numbered.data -; perfdata report --no-symbols --no-children -g none -s comm_nodigit numbered.data'
# fields of tracepoints
try report --no-symbols -s trace_fields hot-trace.data
# numbers instead of what formats print
shell 'perfdata report --no-symbols --raw-trace -s trace hot-trace.data | head -n 16'
shell 'perfdata report --no-symbols --raw-trace -s trace -i - <data/hot-trace-pipe.data | tail -n 6'
shell 'perfdata report --no-symbols --raw-trace -s prev_state,trace_fields hot-trace.data | head -n 16'
shell 'cmp <(perfdata report -q --no-symbols --raw-trace -s prev_state --json hot-trace.data) <(perfdata report -q --no-symbols -s prev_state/raw --json hot-trace.data | sed s,/raw,,g) && echo the same'
# options that change no text
for option in --disable-order --ignore-vmlinux "--percent-type local-hits" "--samples 3" "--stdio-color never" "--pretty raw"; do
	shell "cmp <(perfdata report -q --no-symbols $option data/hot.data) <(perfdata report -q --no-symbols data/hot.data) && echo the same"
done
shell 'cmp <(perfdata report -q --no-symbols --stdio-color always data/hot.data) <(perfdata report -q --no-symbols --color always data/hot.data) && echo the same'
try report --percent-type hits data/hot.data
try report --samples few data/hot.data
try report --stdio-color sometimes data/hot.data
try report --no-symbols -s switch.prev_state,%1.prev_pid/raw --json hot-trace.data
try report --no-symbols -s next_comm --csv hot-trace.data
try report --no-symbols -s %1.nothing hot-trace.data
try report --no-symbols -s %1x.prev_pid hot-trace.data
# as perf, what is printed of a name ends at a blank; names that differ after it are told apart
shell 'sed "s/hot-child/hot child/g; s/hot-thread/hot thread/g" data/hot-trace.data >blank.data; perfdata report --no-symbols -s prev_comm blank.data'
try report --no-symbols -s prev_comm/raw blank.data
# each column once, and each member once
try report --no-symbols -s trace_fields,trace_fields --csv hot-trace.data
try report --no-symbols -s comm,prev_pid/raw,trace_fields --json hot-trace.data
try report --no-symbols -F 'overhead,{op,cache},sym' hot.data
try diff --no-symbols -s prev_pid hot-trace.data hot-trace.data
try report --no-symbols -s simd hot-trace.data
try report --no-symbols -s type hot-trace.data
try report --no-symbols -s trace_fields data/hot.data

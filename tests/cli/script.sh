# SPDX-License-Identifier: MIT

try script one two
try script -F nothing hot.data
try script -F sw:trace hot.data
try script -F comm,+ip hot.data
try script --reltime --deltatime hot.data
# short names of threads, and no brackets
shell 'perfdata script -q --no-symbols -L -G data/hot.data | head -n 3'
shell 'perfdata script -q --no-symbols -L -F comm,tid,cpu,time,event data/hot-trace.data | head -n 3'
shell 'perfdata script -q --no-symbols --Latency --show-task-events -F comm,pid,tid,time,event data/hot.data | head -n 3'
shell 'cmp <(perfdata script -q --no-symbols -a data/hot.data) <(perfdata script -q --no-symbols data/hot.data) && echo the same'
try script --time 3-4 hot.data
try script --cpu x hot.data
try script --pid a hot.data

# What each option does to the first lines.
first()
{
	shell "perfdata script --no-symbols $* | head -n 4"
}

first data/hot.data
first --ns -F comm,pid,tid,time,ip data/hot.data
first -F +misc,-period,-dso data/hot.data
first --reltime data/hot.data
first --deltatime --ns data/hot.data
first -F comm,bpf-output data/hot.data
first data/hot-group.data
first data/hot-trace.data
first data/hot-pipe.data
shell 'perfdata script --show-task-events --show-mmap-events data/hot.data | grep PERF_RECORD | head -n 8'
shell 'perfdata script --show-round-events data/hot.data | grep -c FINISHED_ROUND'
shell 'perfdata script -F iregs data/hot.data'
shell 'perfdata script -F hw:ip data/hot.data 2>&1 >/dev/null'
shell 'perfdata script -F hw:ip data/hot.data 2>/dev/null | cmp - <(perfdata script data/hot.data)'
shell 'cat data/hot-pipe.data | perfdata script | cmp - <(perfdata script data/hot-pipe.data)'
shell 'cat data/hot-pipe.data | perfdata script --header'
shell 'perfdata script --header-only data/hot.data | cmp - <(perfdata report --header-only data/hot.data)'

# Halves of the time make the whole; so do threads and those that are not there.
shell 'cmp <(perfdata script data/hot.data) <(perfdata script --time 50%/1 data/hot.data; perfdata script --time 50%/2 data/hot.data)'
shell 'cmp <(perfdata script data/hot.data) <(perfdata script --comm hot,hot-thread,hot-child data/hot.data)'
shell 'perfdata script --tid 1 data/hot.data'
shell 'cmp <(perfdata script --no-symbols data/hot.data) <(perfdata script --no-symbols --demangle --no-inline --inline data/hot.data)'
shell 'perfdata script --time 1,2 data/hot.data'

shell 'perfdata script data/hot-stat.data'

# Texts of code are kept by the file and the place in it: the same at other addresses, and not where a user maps what is
# called as the kernel is, whose places are addresses.
cat > places.txt <<'END'
event {
	type: software
	sample_period: 1000
	sample_type: IP|TID|TIME|CALLCHAIN
	flags: sample_id_all
}
MMAP misc: kernel, pid: -1, tid: -1, addr: 0xffffffff81000000, len: 0x1000000, pgoff: 0xffffffff81000000, filename: "[kernel.kallsyms]_text", sample_id: {pid: -1, tid: -1, time_ns: 0.000001000}
MMAP misc: user, pid: 100, tid: 100, addr: 0x1000000, len: 0x10000, pgoff: 0x0, filename: "[kernel.kallsyms]", sample_id: {pid: 100, tid: 100, time_ns: 0.000001000}
MMAP misc: user, pid: 200, tid: 200, addr: 0x2000000, len: 0x10000, pgoff: 0x0, filename: "[kernel.kallsyms]", sample_id: {pid: 200, tid: 200, time_ns: 0.000001000}
MMAP misc: user, pid: 100, tid: 100, addr: 0x5000000, len: 0x10000, pgoff: 0x3000, filename: "/usr/bin/one", sample_id: {pid: 100, tid: 100, time_ns: 0.000001000}
MMAP misc: user, pid: 200, tid: 200, addr: 0x6000000, len: 0x10000, pgoff: 0x3000, filename: "/usr/bin/one", sample_id: {pid: 200, tid: 200, time_ns: 0.000001000}
SAMPLE misc: kernel, ip: 0xffffffff81000100, pid: 100, tid: 100, time_ns: 0.000001010, callchain: [KERNEL 0xffffffff81000100]
SAMPLE misc: user, ip: 0x1000100, pid: 100, tid: 100, time_ns: 0.000001020, callchain: [USER 0x1000100 0x5000100 0x7000100]
SAMPLE misc: user, ip: 0x2000100, pid: 200, tid: 200, time_ns: 0.000001030, callchain: [USER 0x2000100 0x6000100 0x7000100]
SAMPLE misc: user, ip: 0x1000100, pid: 100, tid: 100, time_ns: 0.000001040, callchain: [USER 0x1000100 0x5000100 0x1000104]
END
perfdata assemble -o places.data places.txt
try script --no-symbols -F pid,ip,dso places.data

# Copied stacks as they were recorded: the address of the sample is shown, and it is said that callers are missing.
shell 'perfdata script --no-symbols --unwind=no data/hot-regs.data 2>/dev/null | head -n 3'
shell 'perfdata script --no-symbols --unwind=no data/hot-regs.data 2>&1 >/dev/null'
shell 'perfdata script -q --no-symbols --unwind=no data/hot-regs.data | grep -c "^	"'
shell 'perfdata folded --no-symbols --unwind=no data/hot-regs.data'
shell 'perfdata report --no-symbols --unwind=no data/hot-regs.data | sed -n 1,2p'
shell 'perfdata report --no-symbols --unwind=no --json data/hot-regs.data | grep -o "\"copied_stacks\":[0-9]*"'
shell 'perfdata flame --no-symbols --unwind=no --format svg data/hot-regs.data | grep -o "[^>]*copied[^<]*"'
# without objects, frame pointers lead to the callers
shell 'perfdata script --no-symbols data/hot-regs.data 2>/dev/null | head -n 8'
shell 'perfdata script --no-symbols data/hot-regs.data 2>&1 >/dev/null'
shell 'perfdata folded --no-symbols data/hot-regs.data'
shell 'perfdata report --no-symbols data/hot-regs.data | sed -n 1,2p'
shell 'perfdata report --no-symbols --json data/hot-regs.data | grep -o "\"unwound_stacks\":[^}]*"'
shell 'perfdata flame --no-symbols --format svg data/hot-regs.data | grep -o "[^>]*missing to unwind[^<]*"'
try script --no-symbols --unwind=maybe data/hot-regs.data
try folded --unwind= data/hot-regs.data

# What counts of a pipe are called.
shell 'perfdata text data/hot-stat.data | sed "s/interval, value: 10/interval, value: 0/" | perfdata assemble -o once.data'
shell 'perfdata convert --to pipe -o - once.data | perfdata stat report -i - | grep -m 1 stats'
shell 'perfdata stat report -i once.data | grep -m 1 stats'

# Ends of call chains, and ranges of addresses.
try script --no-symbols --stop-bt file://nowhere data/hot.data
try script --no-symbols --addr-range 16 data/hot.data
try script --no-symbols -S 0x1000 --addr-range none data/hot.data
try script --no-symbols -S 0x1000 --addr-range 16 data/hot.data

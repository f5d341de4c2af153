# SPDX-License-Identifier: MIT
# Conditions: each operator, each kind of name, and what is wrong with those that are none.
count()
{
	printf '%-70s ' "$1"
	perfdata dump --json --where "$1" "data/${2:-hot-records.data}" 2>told | wc -l
	grep -v 'no such record' told
}
shell 'perfdata dump --json data/hot-records.data | wc -l'

# Comparisons, bits, lists.
count 'type == SAMPLE'
count 'type != sample'
count "type == 'SAMPLE'"
count 'type == 9'
count 'sample.cpu < 1'
count 'sample.cpu <= 0'
count 'sample.cpu > 0'
count 'sample.cpu >= 0x1'
count '0 < sample.cpu'
count 'sample.period == 2000000'
count 'sample.period == 2ms'
count 'time < 785.08s'
count 'time < 785080000us'
count 'time >= 785080ms'
count 'mmap2.prot & EXEC'
count 'mmap2.prot & EXEC|WRITE'
count 'mmap2.prot & (EXEC | READ) == 5'
count 'mmap2.prot & 0x4'
count 'misc & MMAP_BUILD_ID'
count 'misc & COMM_EXEC'
count 'sample.cpu in (0, 1)'
count 'type in (COMM, FORK, exit)'
count 'pid == -1'
count 'mmap2.pid < 0'

# Texts and bytes.
count 'mmap2.filename == "/tmp/perfdata-demo/hot"'
count 'mmap2.filename != "/tmp/perfdata-demo/hot"'
count 'mmap2.filename =~ "*.so*"'
count 'mmap2.filename =~ "*/li?c.so.6"'
count "comm.comm in ('hot', 'hot-child')"
count 'comm.comm == "\"hot\""'
count 'mmap2.build_id == "e4f18d9dc1d0e6fc2b17e93e885a647b3c0a6fc1"'
count 'mmap2.build_id =~ "e4f1*"'
count 'event =~ "cpu*"'

# And, or, not.
count 'type == MMAP2 && mmap2.prot & EXEC'
count 'type == COMM || type == FORK'
count 'type == COMM or type == FORK and pid == 1'
count '(type == COMM or type == FORK) and pid == 1'
count '!(type == SAMPLE)'
count 'not type == SAMPLE'
count '!!(type == SAMPLE)'
count '!(sample.cpu == 0)'
count 'sample.cpu != 0'

# What has it, whose it is.
count 'sample.period'
count 'pid'
count 'cpu == 0'
count 'sample_id.cpu == 0'
count 'tid == 4453'
count 'cpumode == user'
count 'cpumode == KERNEL'
count 'size > 100'
count 'offset == 344'

# Parts, lists of parts, parts of words.
count 'namespaces.links.dev == 4'
count 'namespaces.links.count == 7'
count 'id_index.entries.cpu == 1'
count 'attr.flags.freq' hot.data
count 'attr.type == SOFTWARE && attr.sample_type & TIME' hot.data
count 'attr.flags & INHERIT' hot.data
count 'sample.callchain.count > 5' hot.data
count 'callchain.count > 5' hot.data
count 'sample.callchain == USER' hot.data
count 'sample.user_regs.abi == 2' hot-regs.data
count 'sample.user_stack.size == 512' hot-regs.data
count 'sample.read.members.value > 1000' hot-group.data
count 'data_src.lvl & L1' hot.data
count 'sample.data_src.snoop & HIT|MISS' hot.data

# Tracepoints.
count 'sched:sched_switch.prev_pid == 4436' hot-trace.data
count 'trace.prev_pid == 4436' hot-trace.data
count 'trace.prev_comm =~ "hot*" && trace.prev_state' hot-trace.data
count 'trace.prev_pid < trace.next_pid' hot-trace-pipe.data
count 'trace.next_comm == "swapper/0"' hot-trace-pipe.data

# Names of threads.
for condition in 'comm == "hot"' 'comm =~ "*-child" or tid == 4453' 'comm != "hot"' 'dso == "hot"' 'symbol == "x"'; do
	shell "perfdata script --no-symbols -G -F comm data/hot-records.data --where '$condition' | sort | uniq -c"
done
try report --where 'symbol == "x"' data/hot.data
shell 'perfdata report --no-symbols -s comm --stdio --where "comm == \"hot\"" data/hot.data 2>/dev/null | grep -v "^#\|^$"'
try dump --where 'comm == "hot"' data/hot.data

# What is none.
for condition in '' ' ' 'perod > 1' 'sample.perod > 1' 'sampel.period > 1' 'sample.period.x' 'mmap2' 'sample.read' \
	'sample.read.x' 'period >' '> 5' 'period > > 5' 'period > 5 5' '(period > 5' 'period > 5)' 'period == "x"' \
	'comm == 5' 'comm < "x"' 'period =~ 5' 'period =~ "*"' 'type == MMAP3' 'cpumode == usr' 'mmap2.prot & EXE' \
	'period in 5' 'period in ()' 'period in (5' 'period in (5, tid)' 'period in ("x")' '5 == 5' '5' 'comm & 5' \
	'period & tid' 'period & 0' 'period | 1' '"x' 'period > 5x' 'period > 99999999999999999999' 'period > 0x' \
	'time > 99999999999s' 'period @ 5' 'period > -9223372036854775809' 'period > - x' 'sched:sched_switch' \
	'attr.flags.frek' '!' '&& period'; do
	try dump --where "$condition" data/hot.data
done
try dump --where 'trace.prev_pit == 1' data/hot-trace.data
try script --where 'sched:sched_swich.prev_pid == 1' data/hot-trace.data
shell 'perfdata dump --where "$(printf "(%.0s" $(seq 300))" data/hot.data 2>&1 | cut -c 1-90'
shell 'perfdata dump --where "$(printf "period == 1 || %.0s" $(seq 2000))period" data/hot.data | grep -c SAMPLE'

# What no event records is told where nothing was found.
try filter --where 'cpu == 0' -o x.data data/hot.data
shell 'perfdata filter -q --where "period > 1 && sample.addr != 5" -o - - <data/hot-pipe.data | wc -c'
try script --where 'cpu == 0 && period' data/hot.data
try report --where 'sample.weight > 3' data/hot.data
try folded --where 'callchain.count > 3 && comm == "hot" && data_src.lvl & L1' data/hot.data
try script --where 'period == 17' data/hot.data
shell 'perfdata script --no-symbols -G -F comm --where "!(cpu == 0)" data/hot.data | sort | uniq -c'

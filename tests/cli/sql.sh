# SPDX-License-Identifier: MIT
# Questions in SQL.
need sqlite
copy hot.data
copy hot-trace.data
copy hot-group.data
try sql --no-symbols hot.data 'select event, count(*), sum(value), min(time_ns) from samples group by event'
try sql --no-symbols --format csv hot.data 'select type, count(*) n from records group by type order by n desc, type'
try sql --no-symbols --format json hot.data 'select * from samples limit 1'
try sql --no-symbols --format json hot.data 'select * from records where type = "MMAP2" limit 1'
try sql --no-symbols --format csv hot.data 'select comm, pid, tid, begin_ns from tasks'
try sql --no-symbols --format csv hot.data 'select number, name, value_unit, ids, sample_period from events'
try sql --no-symbols --format csv hot.data "select name, size, fields from features where name = 'ARCH'"
try sql --no-symbols --format csv hot-group.data 'select event, count(*), max(value) from counts group by event'
try sql --no-symbols --format csv hot-trace.data 'select sample_comm, prev_comm, prev_pid, next_comm, next_pid from "sched:sched_switch" limit 2'
# conditions that narrow the reading leave the same rows
for condition in 'cpu = 0' 'tid = 4403' 'pid = 4400' 'tid = 1e30' "event = 'cpu-clock'" "event = 'CPU-CLOCK' collate nocase" \
	'tid in (4400, 4403)' 'time_ns between 774449500000 and 774449900000' 'time_ns < 774449100000.5'; do
	try sql --no-symbols --format csv hot-trace.data hot.data "select count(*), (select count(*) from samples where +$condition) same from samples where $condition"
done
shell 'perfdata sql --no-symbols --format csv hot.data "select count(*) = (select count(*) from samples where +time_ns > (select min(time_ns) + 1000000 from samples)) same from samples where time_ns > (select min(time_ns) + 1000000 from samples)"'
shell 'perfdata sql --no-symbols --format csv hot.data "select count(*) n, sum(s.stack = k.stack) joined from samples s join stacks k using (stack)"'
shell 'perfdata sql --no-symbols --format csv hot.data "select address(-1), address(16), stack_text(1), symbol(1), wall_clock(1)"'
# rows in groups, and rows that are sorted for them
shell 'for by in function comm,cpu tid,event stack; do for plus in "" +; do perfdata sql --no-symbols --format csv hot-group.data "select $by, count(*), sum(value), min(time_ns) from samples group by $plus${by/,/,$plus}" | tail -n +2; done | sort | uniq -u; done'
shell 'for order in "comm desc, tid" "comm, tid desc" "tid desc, comm desc" "comm" "tid desc"; do for plus in "" +; do perfdata sql --no-symbols --format csv hot.data "select comm, tid, count(*) from samples group by ${plus}comm, ${plus}tid order by $order"; done; done | md5sum | cut -c 1-8; for order in "comm desc, tid" "comm, tid desc" "tid desc, comm desc" "comm" "tid desc"; do for plus in + +; do perfdata sql --no-symbols --format csv hot.data "select comm, tid, count(*) from samples group by ${plus}comm, ${plus}tid order by $order"; done; done | md5sum | cut -c 1-8'
shell 'perfdata sql --no-symbols --format csv hot.data "select distinct comm from samples"; perfdata sql --no-symbols --format csv hot.data "select comm, cpu, count(*) n from samples group by comm, cpu order by n desc"'
shell 'perfdata sql --no-symbols --format csv hot.data "select char(61) || 1 a, char(45) b, -1 c, char(34) || char(44) d"'
# several files
try sql --no-symbols --format csv hot.data hot-trace.data 'select file, count(*) from samples group by file'
# a plain database
shell 'perfdata sql --no-symbols -o plain.db hot.data && head -c 15 plain.db && ls'
try sql --no-symbols -o hot.data hot-trace.data
# the shell
shell 'printf ".tables\nselect count(*)\nfrom tasks;\n.schema stacks\n.nothing\n@record-types\nselect 1" | perfdata sql --no-symbols hot.data'
shell 'perfdata sql --list | wc -l'
shell 'perfdata sql --no-symbols hot.data .tables | head -n 2'
# nothing opens or writes a file that was not named
for statement in "attach 'x.db' as x" "vacuum into 'x.db'" "select load_extension('x')" "pragma temp_store_directory = '.'" \
	'create virtual table x using perfdata(0)' 'detach main' "pragma journal_mode = wal" 'drop table samples' 'delete from samples'; do
	try sql --no-symbols hot.data "$statement;"
done
ls
# what is wrong
try sql hot.data 'select absent from samples'
try sql hot.data @wakers
try sql hot.data 'select * from "sched:sched_switch"'
try sql hot.data 'select 1; select'
try sql hot.data @top-function
try sql --format xml hot.data 'select 1;'
try sql nothing.data 'select 1;'

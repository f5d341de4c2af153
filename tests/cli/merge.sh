# SPDX-License-Identifier: MIT
# Recordings as one: events, ids, machines, kernels, clocks, tracepoints; and what is refused.
for name in hot.data hot-multi.data hot-pipe.data hot-trace.data hot-stat.data; do
	copy $name
done
# like FILE NEW COMMAND...: a recording that differs by an edit of its text
like()
{
	perfdata text "$1" | sed "${@:3}" | perfdata assemble -o "$2"
}

# Events of one boot: equal ones become one, others are added and get an id at one place.
like hot.data later.data 's/407/507/g; s/408/508/g; s/774\./784./g'
try merge -o same.data hot.data later.data
shell 'perfdata dump --header same.data | grep -A1 -E "^event|sample_type"'
try merge -o both.data hot.data hot-multi.data
shell 'perfdata dump --header both.data | grep -E "^event|  ids|sample_type"'
shell 'perfdata check both.data && perfdata script -G -F comm,event both.data | sort | uniq -c'
# What ran before the later recording began is so from then on.
shell 'perfdata dump --type MMAP,COMM same.data | grep -E "  (addr|comm|sample_id)" | paste - - | sort | uniq -c'

# A piece of a recording, and the whole.
try merge -o twice.data hot.data hot.data
shell 'perfdata split -q --by time=6ms -o parts hot.data; perfdata merge -o whole.data parts/*.data'
shell 'perfdata merge -q -o - hot-pipe.data hot.data | perfdata check -'
shell 'perfdata merge -q -z -o - - hot.data <hot-pipe.data | perfdata script -G -F comm,event - | sort | uniq -c'

# New ids are none that is there, also where a recording has the largest one.
like hot-multi.data largest.data 's/ids: \[461/ids: [18446744073709551615 461/; s/\<459\>/1/g; s/\<460\>/2/g'
like largest.data apart.data 's/"demo"/"other"/; s/v595/v596/'
shell 'perfdata merge -q -o ids.data largest.data apart.data; perfdata dump --header ids.data | grep "  ids"; perfdata check ids.data'

# An id of two events is that of the first one.
like hot-multi.data double.data 's/ids: \[459/ids: [461 459/'
shell 'perfdata merge -q -o ids.data double.data; for file in double.data ids.data; do perfdata script -q -F event $file | sort | uniq -c; done'

# Where a recording has one event, ids are not looked at. Beside another event a changed one would belong to none.
one_event()
{
	echo "event {ids: [$1], sample_type: IP|TID|TIME|ID, flags: sample_id_all, type: 1, config: $1, sample_period: 1}"
	echo 'raw type: 3, body: x"0500000006000000 6162630000000000 0500000006000000 0600000000000000 0'$2'02000000000000"'
	for id in $2 0; do
		echo 'raw type: 9, body: x"1100000000000000 0500000006000000 0700000000000000 0'$id'00000000000000"'
	done
}
one_event 5 9 | perfdata assemble -o changed.data -
one_event 6 6 | perfdata assemble -o other.data -
one_event 5 5 | sed 's/ids: .5., //' | perfdata assemble -o unlisted.data -
for name in changed unlisted; do
	shell "perfdata merge -q -o ids.data $name.data other.data; perfdata check ids.data; perfdata script -q -F event ids.data | sort | uniq -c; perfdata dump --type COMM ids.data | grep -E '^0x|sample_id'"
	shell "perfdata merge -q -o ids.data other.data $name.data; perfdata check ids.data; perfdata script -q -F event ids.data | sort | uniq -c; perfdata dump --type COMM ids.data | grep -E '^0x|sample_id'"
done

# A damaged sample_type: the id is where the first event has it, and not where its own event says.
places()
{
	echo 'event {ids: [5], sample_type: IP|TID|TIME|ID|CPU, type: 1, config: 0, sample_period: 1}'
	echo 'event {ids: [6], sample_type: IP|TID|ID|CPU|0x100000000, type: 1, config: 1, sample_period: 1}'
	for id in 5 6; do
		echo 'raw type: 9, body: x"1100000000000000 0500000006000000 0700000000000000 0'$id'00000000000000 0000000000000000"'
	done
}
places | perfdata assemble -o places.data -
shell 'perfdata merge -q -o ids.data places.data; perfdata check ids.data; perfdata script -q -F event ids.data'

# Other machines: tasks, kernels, clocks.
like hot.data moved.data 's/"demo"/"other"/; s/0xffffffff8/0xffffffff9/g'
try merge -o m.data hot.data moved.data
shell 'perfdata report --no-symbols --sort pid,comm,dso m.data 2>/dev/null | grep -v "^$" | head -n 20'
shell 'perfdata dump --type MMAP,MMAP2 m.data | grep -E "  (pid|addr|filename)" | paste - - - | sort | uniq -c | head -n 4'
like hot.data apart.data 's/"demo"/"other"/; s/v595/v596/; s/0xffffffff8/0xffffffff9/g'
try merge -o a.data hot.data apart.data
shell 'perfdata dump --type MMAP a.data | grep -E "  (addr|filename)"'
try merge -o refused.data --kernels refuse hot.data apart.data
shell 'perfdata merge -q -o a.data --keep-pids hot.data apart.data; perfdata script -G -F pid a.data | sort | uniq -c'
try merge -q --machines same -o a.data hot.data apart.data
try merge --align wall -o refused.data hot.data apart.data
clock='/^event/i feature CLOCK_DATA {version: 1, clockid: 1, wall_clock_ns: WALL, clockid_time_ns: 774.000000000}'
like hot.data noon.data "${clock/WALL/1700000000.000000000}"
like moved.data late.data "${clock/WALL/1700000002.500000000}"
shell 'for align in wall first none; do perfdata merge -q --align $align -o c.data noon.data late.data; perfdata script -G -F comm,time c.data | sed -n "1p;\$p"; done'
shell 'perfdata merge -q --align none --offset late.data=-1.5 -o c.data noon.data late.data; perfdata script -G -F comm,time c.data | head -n 1'

# Tracepoints: the same one by another number, and another one by the same number.
like hot-trace.data number.data 's/"demo"/"other"/; s/"ID: 372/"ID: 99/; s/config: 0x174/config: 0x63/; s/raw: x"7401/raw: x"6300/'
try merge -q -o t.data hot-trace.data number.data
shell 'perfdata dump --header t.data | grep -E "^event|config:"; perfdata script t.data | tail -n 2'
like hot-trace.data form.data 's/"demo"/"other"/; s/prev_prio/prio_prev/g'
try merge -q -o t.data hot-trace.data form.data
shell 'perfdata dump --header t.data | grep -E "^event|config:"; perfdata script t.data | tail -n 2'

# What is refused leaves nothing behind.
try merge -o x.data
try merge hot.data
try merge -o hot.data hot.data hot-multi.data
try merge -o x.data hot.data hot-stat.data
try merge -o x.data hot.data nowhere.data
shell "perfdata merge -o x.data - - <hot.data"
try merge -o x.data --align noon hot.data
try merge -o x.data --offset hot.data hot.data
try merge -o x.data --offset hot.data=soon hot.data
try merge -o x.data --offset cold.data=1 hot.data
shell 'head -c 3000 hot.data >cut.data; perfdata merge -o cut-too.data cut.data hot-multi.data'
shell 'ls | grep -E "x.data|refused|new"'

# Machines are told apart by the numbers of their processes.
shell 'perfdata text data/hot.data | sed "s/^feature HOSTNAME .*/feature HOSTNAME {value: \"other\"}/" | perfdata assemble -o other.data -'
shell 'perfdata merge -q -o fleet.data data/hot.data other.data; perfdata report -q --no-children -g none -s pid fleet.data'
shell 'perfdata report -q --no-children -g none -s pid --where "pid >= 10000000" fleet.data'
shell 'perfdata folded --no-symbols --where "pid < 10000000" fleet.data | cmp - <(perfdata folded --no-symbols data/hot.data) && echo the first one alone'

# The map of the kernel is there once, whoever brings it; an older one that is elsewhere stays.
shell 'perfdata dump --type MMAP data/hot.data | grep -c "filename: \[kernel"; perfdata merge -q -o k.data data/hot.data later.data'
shell 'perfdata dump --type MMAP k.data | grep -c "filename: \[kernel"'
shell 'perfdata merge -q --kernels keep -o kept.data data/hot.data moved.data; perfdata dump --type MMAP kept.data | grep -c "filename: \[kernel"'

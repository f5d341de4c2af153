# SPDX-License-Identifier: MIT
# Conversions: what is there afterwards, and what is refused.
for name in hot.data hot-pipe.data hot-trace.data; do
	copy $name
done
try convert -o file.data hot-pipe.data
shell 'perfdata dump --header file.data | head -n 5'
try convert --to pipe -o pipe.data hot.data
try check pipe.data
shell 'perfdata convert -o - hot.data | cmp - pipe.data && echo the same as to a pipe'
shell 'perfdata convert -i - -o - <pipe.data | cmp - pipe.data && echo a pipe stays as it is'
shell 'perfdata convert -o again.data file.data && cmp file.data again.data && echo canonical'
try convert --byte-order big -o big.data hot.data
shell 'perfdata dump --header big.data | head -n 1'
shell 'diff <(perfdata dump hot.data | sed "s/^0x[0-9a-f]* //") <(perfdata dump big.data | sed "s/^0x[0-9a-f]* //") && echo all records are equal'
try convert --sort -o sorted.data hot.data
shell 'perfdata dump --json --type SAMPLE sorted.data | python3 -c "
import json, sys
times = [json.loads(line)[\"time_ns\"] for line in sys.stdin]
print(len(times), times == sorted(times))"'
try convert --to dir -o made hot.data
shell 'ls made; perfdata check made'

# What is refused leaves everything as it was.
try convert hot.data
try convert -o hot.data hot.data
try convert -o ./hot.data -i hot.data --to pipe
try convert --to dir -o made hot.data
copy hot-trace.data
shell 'cp hot-trace.data switches.data; perfdata convert -q --waiting -o switches.data switches.data; cmp hot-trace.data switches.data'
try report --waiting=1h hot-trace.data
try script --waiting=1h hot-trace.data
shell 'rm hot-trace.data switches.data'
try convert --waiting=20ms-1ms -o x hot.data
try convert --to tape -o x hot.data
try convert --byte-order middle -o x hot.data
try convert -z --no-compress -o x hot.data
try convert --level 23 -o x hot.data
try convert -o nowhere/x hot.data
shell 'perfdata convert --to file -o - hot.data | cat'
shell 'perfdata convert -o /dev/full --to pipe hot.data'
shell 'head -c 3000 hot.data >cut.data; perfdata convert -o x cut.data; perfdata check x'
shell 'ls'

# Of counts in a pipe nothing says that they are counts until the first one comes; a file says it, else perf reads it as
# samples that cannot be told from each other.
shell 'perfdata text data/hot-stat.data | sed "/^feature .*}$/d; /^feature/,/^}/d; s/form: file/form: pipe/" | perfdata assemble -o stat.pipe'
shell 'perfdata convert -o stat.data stat.pipe && perfdata dump --features stat.data | grep ^feature'

# perf takes an id of 0 for the first event: a name that is sent for an event without ids would become that of the first.
shell 'perfdata text data/hot-stat.data | sed "s/ids: .553./ids: []/" | perfdata assemble -o no-ids.data'
shell 'perfdata convert --to pipe -o - no-ids.data | perfdata dump - | grep -A 3 EVENT_UPDATE'

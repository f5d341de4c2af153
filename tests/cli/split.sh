# SPDX-License-Identifier: MIT
# A recording as several: each key, names, what pieces hold, and what is refused.
for name in hot.data hot-multi.data hot-group.data hot-pipe.data hot-trace.data hot-stat.data; do
	copy $name
done
try split --by event -o events hot-multi.data
shell 'perfdata dump --header events/page-faults.data | grep -E "^event|  ids"; perfdata dump --type ID_INDEX events/page-faults.data'
shell 'for f in events/*; do perfdata check $f; done'
try split --by pid -o pid-%s.data hot.data
try split --by comm -o comms/ hot.data
shell 'perfdata dump --type COMM,FORK,MMAP2 comms/hot-child.data | grep -cE "COMM|FORK|MMAP2"; perfdata script -F comm,ip,sym comms/hot-child.data | head -n 3'
try split --by time=6ms -o times --json hot.data
shell 'perfdata info times/0001.data | grep -i sample'
try split --by size=10K -o sizes hot.data
shell 'for f in sizes/*; do [ $(stat -c %s $f) -le 10240 ] && echo small; done; perfdata merge -q -o whole.data sizes/*; perfdata dump --stats whole.data | grep SAMPLE'
try split --by cpu -o cpus hot-trace.data
shell 'perfdata split --by event -o - hot.data'
shell 'perfdata split -q --by comm --to pipe -o pipes/%s hot-multi.data && head -c 16 pipes/hot | od -An -tx1'
shell 'mkdir pipes; perfdata split -q --by comm --to pipe -o pipes/%s hot-multi.data && head -c 16 pipes/hot | od -An -tx1'
shell 'perfdata split -q --by comm --byte-order big -o big hot-multi.data && perfdata script -G -F comm big/hot-child.data | sort | uniq -c'
shell 'perfdata split --by comm -o piped - <hot-pipe.data'
# Names that are no names of files, and equal ones.
shell 'perfdata text hot.data | sed "s/comm: \"hot-child\"/comm: \"..\/a b\"/; s/comm: \"hot-thread\"/comm: \".._a b\"/" | perfdata assemble -o odd.data; perfdata split --by comm -o odd odd.data'

# What is refused leaves nothing behind, and what is there stays.
try split -o x hot.data
try split --by colour -o x hot.data
try split --by time=0 -o x hot.data
try split --by time=5y -o x hot.data
try split --by size=5K -o x hot.data
try split --by event hot.data
try split --by cpu -o x hot.data
try split --by cgroup -o x hot.data
try split --by event -o x hot-stat.data
try split --by event -o x nowhere.data
shell 'ls x'
shell 'cp events/cpu-clock.data before; perfdata split --by event -o events hot-multi.data; cmp before events/cpu-clock.data'
shell 'echo >file; perfdata split --by event -o file hot.data; ls -A | grep new'

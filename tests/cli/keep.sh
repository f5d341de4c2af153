# SPDX-License-Identifier: MIT
# Parts of a recording: what is kept, what is said about it, and what is refused.
for name in hot.data hot-pipe.data hot-records.data hot-zstd.data; do
	copy $name
done
copy hot-dir
samples()
{
	shell "perfdata script --no-symbols -G -F comm,time $* | cat"
}

# Parts of the time: what is before is known, what is behind is not there.
try cut --time 25%/2 -o part.data hot-records.data
samples part.data
shell 'perfdata dump --features part.data | grep -A 2 SAMPLE_TIME'
shell 'perfdata dump --stats part.data'
bytes='perfdata dump --json --hex --type SAMPLE'
shell "for n in 1 2 3 4; do perfdata cut -q --time 25%/\$n -o \$n.data hot-records.data; $bytes \$n.data; done |
	grep -o '\"bytes\":.*' | sort | md5sum"
shell "$bytes hot-records.data | grep -o '\"bytes\":.*' | sort | md5sum"
shell 'perfdata cut --time 785.078,785.08 -o - hot-records.data | perfdata script -G -F time,event --no-symbols'
shell 'perfdata cut --time 785.078,785.08 -o - - <hot-records.data | perfdata dump --features | grep -A 2 SAMPLE_TIME'
try cut --time 1,2 --json -o part.data hot-records.data
try cut --time 12:00,12:01 -o x hot.data
try cut -o x hot.data
try cut --time yesterday -o x hot.data

# Samples that do not say their time, which perf record --no-timestamp makes; SAMPLE_TIME then says none.
printf '%s\n' 'event {' '	name: "cpu-clock"' '	size: 136' '	sample_type: IP|TID' '}' 'SAMPLE ip: 1, pid: 2, tid: 3' \
	'SAMPLE ip: 2, pid: 2, tid: 3' 'feature SAMPLE_TIME {first_ns: none, last_ns: none}' | perfdata assemble -o timeless.data
try cut --time 0%-50% -o x timeless.data
try cut --time 1,2 -o x timeless.data
try script --time 0%-50% timeless.data
try split --by time=1s -o x timeless.data
try head --seconds 1 -o x timeless.data
try tail --seconds 1 -o x timeless.data
try head -n 1 -o x timeless.data

# Some samples only, and only the records that they need.
try filter --comm hot-child -o child.data hot.data
shell 'perfdata dump --stats child.data'
try filter --comm hot-child --prune -o child.data hot.data
try filter --pid 1 --prune -o none.data hot.data
shell 'perfdata dump --stats none.data'
try filter --where 'type in (MMAP2, sample) && cpumode == USER' -o user.data hot.data
try filter --where 'period > 5' --records -o user.data hot.data
shell 'cat hot-pipe.data | perfdata filter --where "time < 775.605s" -o - - | perfdata script -F comm,event --no-symbols -G | sort | uniq -c'
try filter --event none -o x hot.data
try filter --where 'perod > 5' -o x hot.data
try filter --records -o x hot.data
try filter --json -o - hot.data

# One of N.
try sample 1/10 -o tenth.data hot.data
shell 'perfdata script --no-symbols -G -F comm,time,period tenth.data'
try sample -n 10 --seed 3 -o tenth.data hot.data
try sample 1/10 --json -o tenth.data hot-zstd.data
shell 'perfdata dump --header tenth.data | grep -i compr; perfdata check tenth.data'
try sample 1/0 -o x hot.data
try sample 10 -o x hot.data
try sample -o x hot.data
try sample 1/2 hot.data -o x hot-zstd.data
try sample 1/10 -o hot.data hot.data

# The first and the last.
try head -n 3 -o first.data hot-records.data
samples first.data
try tail -n 3 -o last.data hot-records.data
samples last.data
shell 'perfdata head -n 2 -o - - <hot-pipe.data | perfdata script -G -F comm,time --no-symbols | cat'
shell 'cat hot-pipe.data | perfdata head -n 2 -o - - | perfdata script -G -F comm,time --no-symbols | cat'
shell 'cat hot-pipe.data | perfdata tail -n 2 -o - - | perfdata script -G -F comm,time --no-symbols | cat'
try head --seconds 0.005 -o first.data hot-records.data
try tail --seconds 0.005 -o last.data hot-records.data
try tail -n 5 -o last hot-dir
try head -n 0 -o x hot.data
try head --seconds 1 -n 1 -o x hot.data
try head --seconds none -o x hot.data
shell 'ls'

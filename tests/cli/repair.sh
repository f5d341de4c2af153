# SPDX-License-Identifier: MIT
# Repairs: what is got back, what is told, and what is refused.
for name in hot.data hot-pipe.data hot-sigkill.data hot-zstd.data hot-dir; do
	copy $name
done
# damage FILE OFFSET BYTES: writes bytes there.
damage()
{
	python3 -c '
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2]))
    f.write(bytes.fromhex(sys.argv[3]))' "$@"
}

# A sound file stays as it is, whatever is asked of it.
try repair -o same.data hot.data
shell 'perfdata convert -o convert.data hot.data; cmp same.data convert.data && echo as converted'

# The recorder was killed.
try repair -o killed.data hot-sigkill.data
try check killed.data
shell 'perfdata dump --features killed.data | head -n 12'
try evlist killed.data

# The end is missing.
shell 'head -c 9000 hot.data >cut.data; perfdata repair cut.data -o fixed.data; perfdata check fixed.data'
shell 'head -c 4000 hot-zstd.data >cut.data; perfdata repair cut.data -o fixed.data; perfdata check fixed.data'
shell 'head -c 4000 hot-pipe.data | perfdata repair -o fixed.data; perfdata check fixed.data'

# A size leads past ten records; the next one's type is damaged.
shell 'perfdata dump hot.data | grep -n "^0x" | sed -n "40,42p"'
place=$(perfdata dump hot.data | grep '^0x' | sed -n '40s/ .*//p')
cp hot.data size.data
damage size.data $((place + 6)) 9001
try repair -o fixed.data size.data
try check fixed.data
cp hot.data type.data
damage type.data $((place)) ff
try repair -o fixed.data type.data
shell 'perfdata dump fixed.data | grep -c "^0x"; perfdata dump hot.data | grep -c "^0x"'

# The header: sizes, attrs, the bitmap of features, the magic.
cp hot.data header.data
damage header.data 40 ffffffffffffffff
try repair -o fixed.data header.data
cp hot.data header.data
damage header.data 16 1111111111111111111111111111111111111111
try repair -o fixed.data header.data
shell 'diff <(perfdata dump fixed.data) <(perfdata dump hot.data) && echo the same records'
cp hot.data header.data
damage header.data 0 0000
try repair -o fixed.data header.data
cp hot.data header.data
damage header.data 72 ffffffff
try repair -o fixed.data header.data
shell 'perfdata evlist -v fixed.data | cut -c 1-60'

# An attr is damaged: EVENT_DESC has another copy.
cp hot.data attr.data
damage attr.data $((120 + 24)) ffff
try repair -o fixed.data attr.data
shell 'diff <(perfdata dump fixed.data) <(perfdata dump hot.data) && echo the same records'

# A feature is damaged: that one goes.
cp hot.data feature.data
place=$(perfdata dump --features --json hot.data | python3 -c '
import json, sys
for line in sys.stdin:
    feature = json.loads(line)["feature"]
    if feature["name"] == "CMDLINE":
        print(feature["offset"])')
damage feature.data $place ffffffff
try repair -o fixed.data feature.data
try check fixed.data

# Compressed data behind the damage are lost; a part of a directory is missing.
cp hot-zstd.data packed.data
place=$(perfdata dump hot-zstd.data | sed -n 's/^\(0x[0-9a-f]*\) COMPRESSED.*/\1/p' | head -n 1)
damage packed.data $((place + 40)) 0102030405060708090a0b0c0d0e0f
try repair -o fixed.data packed.data
try check fixed.data
shell 'rm hot-dir/data.0; perfdata repair --to dir -o dir hot-dir; ls dir'

# Records that perf gives up at: a name that runs into the id behind it, a set of CPUs of an unknown form, an id of no event.
cp data/hot-multi.data name.data
damage name.data $((0x478 + 92)) $(printf '69%.0s' {1..27})
try repair -o fixed.data name.data
damage name.data $((0x478 + 104)) 00000000000000000000000000000000
try repair -o fixed.data name.data
cp data/hot-stat.data stat.data
damage stat.data $((0x230 + 16)) ffff
try repair -o fixed.data stat.data

# Counts of perf stat: the mark in the header, the sets of CPUs and threads, and one of a CPU that was not counted.
cp data/hot-stat.data stat.data
damage stat.data 72 ffffffff
try repair -o fixed.data stat.data
shell 'perfdata dump --header fixed.data | grep features'
cp data/hot-stat.data stat.data
damage stat.data $((0x290)) $(printf 'ee%.0s' {1..44})
try repair -o fixed.data stat.data
shell 'perfdata dump -t THREAD_MAP,CPU_MAP fixed.data; perfdata dump --stats fixed.data | grep STAT'
try repair -n stat.data
cp data/hot-stat.data stat.data
damage stat.data $((0x2b8 + 8)) 9600
try repair -o fixed.data stat.data
cp data/hot-stat.data stat.data
damage stat.data $((0x308 + 16)) 07000000
try repair -o fixed.data stat.data
try check fixed.data

cp data/hot-stat.data stat.data
place=$(perfdata dump --features --json stat.data | python3 -c '
import json, sys
for line in sys.stdin:
    feature = json.loads(line)["feature"]
    if feature["name"] == "EVENT_DESC":
        print(feature["offset"])')
damage stat.data $((place + 8 + 24 + 4)) ffffffff
damage stat.data $((place + 8 + 40)) 0000000000000000
try repair -o fixed.data stat.data
shell 'diff <(perfdata dump fixed.data) <(perfdata dump data/hot-stat.data) && echo the same records'

# Formats of tracepoints: the fields stay, or are those that all have.
for word in prev_comm=%s 'pid_t prev_pid'; do
	cp data/hot-trace.data trace.data
	damage trace.data "$(grep -abo "$word" trace.data | sed -n '1s/:.*//p')" ff
	try repair -o fixed.data trace.data
	shell 'perfdata script --no-symbols fixed.data | head -n 1'
done

# What would be done, and for programs.
try repair -n size.data
shell 'ls size.data*'
shell 'perfdata repair -q --json -n size.data | python3 -m json.tool'
try repair -q -o fixed.data size.data

# Other forms.
try repair -o pipe.data --to pipe hot-sigkill.data
try check pipe.data
shell 'perfdata repair -o - hot-sigkill.data | perfdata check -i -'

# What is refused.
try repair hot.data
try repair -n -o x hot.data
shell 'perfdata repair --json -o - hot.data | cat'
try repair -o hot.data hot.data
shell 'head -c 12 hot.data >short.data; perfdata repair -o x short.data'
shell 'echo no perf data at all >text; perfdata repair -o x text'
shell 'head -c 200 hot-pipe.data >head.data; perfdata repair -o x head.data'
shell 'head -c 9600 data/hot-trace-pipe.data >head.data; perfdata repair -o x head.data'

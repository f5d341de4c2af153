# SPDX-License-Identifier: MIT
# What is added to a recording. Ids are given, or not found: what this machine has is no matter of these tests.
for name in hot.data hot-pipe.data; do
	copy $name
done
mkdir empty
one=0123456789abcdef0123456789abcdef01234567
paths()
{
	perfdata dump --json -t MMAP,MMAP2 "$1" | python3 -c '
import json, sys
for line in sys.stdin:
    fields = json.loads(line)["fields"]
    print(fields["filename"], fields.get("build_id", "-"))' | sort -u
}
export -f paths

# Nothing is asked for: a copy.
try inject -o copy.data hot.data
shell 'perfdata convert -o again.data hot.data && cmp copy.data again.data && echo as convert'
try inject --to pipe -o copy.pipe hot-pipe.data
shell 'perfdata convert --to pipe -o again.pipe hot-pipe.data && cmp copy.pipe again.pipe && echo as convert'

# Ids.
shell 'paths hot.data'
try inject --buildid-all --symfs empty -o all.data hot.data
try buildid-list all.data
first=$(paths hot-pipe.data | grep -v '^\[' | grep -v ' //' | head -n 1 | cut -d' ' -f1)
echo "$one $first" >known.txt
try inject -b --symfs empty --known-build-ids file://known.txt -q -o known.data hot-pipe.data
shell 'perfdata buildid-list known.data | grep 0123'
try inject --buildid-all --symfs empty --known-build-ids file://known.txt -q --to pipe -o known.pipe hot-pipe.data
shell 'perfdata dump -q -t HEADER_BUILD_ID known.pipe | grep -A5 -B3 0123'
shell 'perfdata inject --mmap2-buildid-all --symfs empty --known-build-ids file://known.txt -q -o - hot-pipe.data >maps.pipe; paths maps.pipe | grep 0123'
shell 'perfdata inject -B --symfs empty -q -o used.data hot.data; diff <(perfdata script hot.data) <(perfdata script used.data) && echo the same samples'
shell 'cat hot-pipe.data | perfdata inject -b -q --symfs empty -i - -o - | perfdata dump --stats | grep -A1 cpu-clock'

# What is refused leaves nothing behind.
shell 'perfdata inject hot.data | cmp - <(perfdata inject -q -o - hot.data) && echo the same'
try inject -b --buildid-all -o x hot.data
try inject --known-build-ids "$one /x" -o x hot.data
try inject -b --known-build-ids nothing -o x hot.data
try inject -b --known-build-ids file://nowhere -o x hot.data
try inject --jit-dir . -o x hot.data
try inject --jit --symfs empty -o x hot.data
try inject -b -o hot.data hot.data
shell 'head -c 3000 hot.data >cut.data; perfdata inject -b --symfs empty -o cut.out cut.data 2>&1 | sort'
shell 'perfdata buildid-list cut.data'
shell 'ls'

# Copied stacks become call chains: what is shown is the same, and needs no unwinding any more.
copy hot-regs.data
try inject --unwind --symfs empty -o chains.data hot-regs.data
try evlist -v chains.data
shell 'diff <(perfdata script -q --no-symbols hot-regs.data) <(perfdata script -q --no-symbols chains.data) && echo the same chains'
shell 'perfdata script --no-symbols chains.data 2>&1 >/dev/null'
shell 'cat hot-regs.data | perfdata inject --convert-callchain -q --symfs empty -i - -o - >chains.pipe; diff <(perfdata script -q --no-symbols chains.pipe) <(perfdata script -q --no-symbols chains.data) && echo the same from a pipe'
shell 'perfdata convert --byte-order big -o big.data hot-regs.data && perfdata inject --unwind -q --symfs empty -o big-chains.data big.data && diff <(perfdata script -q --no-symbols big-chains.data) <(perfdata script -q --no-symbols chains.data) && echo the same in the other byte order'
shell 'perfdata convert -z -o packed.data hot-regs.data && perfdata inject --unwind -q --symfs empty -o packed-chains.data packed.data && diff <(perfdata script -q --no-symbols packed-chains.data) <(perfdata script -q --no-symbols chains.data) && echo the same from compressed records'
shell 'perfdata inject --unwind -q --symfs empty -o again.data chains.data && cmp chains.data again.data && echo nothing left to unwind'
try check chains.data

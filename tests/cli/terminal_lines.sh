# SPDX-License-Identifier: MIT
# Names of source files, which debug information has, are escaped on a terminal in graphs too.
python3 -c 'import pty; pty.openpty()' 2>/dev/null || { echo "no terminal to be had" && exit 77; }
type cc nm >/dev/null 2>&1 || { echo "no compiler to be had" && exit 77; }

name=$(printf 'ev\033il.c')
{
	echo 'int leaf(int n) { return n * 3; }'
	echo 'int caller(int n) { return leaf(n) + leaf(n + 1); }'
} >"$name"
mkdir symfs
cc -g -O0 -fPIC -shared -nostdlib -Wl,--build-id=none -o symfs/odd.so "$name" 2>/dev/null || { echo "the compiler makes no such object" && exit 77; }
at() { printf '%#x' $((0x1000000 + 0x$(nm symfs/odd.so | awk -v name="$1" '$3 == name { print $1 }'))); }

cat >odd.txt <<TEXT
event {
	name: "cycles"
	ids: [1]
	type: software
	sample_period: 1000
	sample_type: IP|TID|TIME|CALLCHAIN|IDENTIFIER
	flags: sample_id_all
}
MMAP misc: user, pid: 100, tid: 100, addr: 0x1000000, len: 0x10000, pgoff: 0x0, filename: "/odd.so", sample_id: {pid: 100, tid: 100, time_ns: 0.000001000}
SAMPLE misc: user, identifier: 1, ip: $(at leaf), pid: 100, tid: 100, time_ns: 0.000001020, callchain: [USER $(at leaf) $(($(at caller) + 8))]
TEXT
shell 'perfdata assemble -o odd.data odd.txt && echo made'
# where it does not go to a terminal, it is what the object has
shell 'perfdata report -q --stdio --no-children --symfs symfs -s sym -g address odd.data | grep -c "ev$(printf "\033")il.c:"'
shell 'python3 -c "import pty; pty.spawn(\"perfdata report -q --stdio --no-children --symfs symfs -s sym -g address odd.data\".split())" | tr -d "\r" | grep -o "[a-z]* ev.*il.c:[0-9]*" | cat -v'

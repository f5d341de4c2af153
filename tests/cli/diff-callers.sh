# SPDX-License-Identifier: MIT
# diff -g: which callers brought the change of a function, as a tree that is cut to what changed.
make_stacks()
{
	cat <<END
event {
	name: "cycles:u"
	ids: [7]
	type: hardware
	sample_period: 1000
	sample_type: IP|TID|TIME|CALLCHAIN|PERIOD|IDENTIFIER
	flags: mmap|comm|sample_id_all
}
feature ARCH {value: "x86_64"}
COMM misc: user|COMM_EXEC, pid: 42, tid: 42, comm: "demo", sample_id: {pid: 42, tid: 42, time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x10000, len: 0x1000, filename: "/usr/bin/leaf", sample_id: {time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x20000, len: 0x1000, filename: "/usr/lib/one", sample_id: {time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x30000, len: 0x1000, filename: "/usr/lib/two", sample_id: {time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x40000, len: 0x1000, filename: "/usr/lib/same", sample_id: {time_ns: 1.0}
SAMPLE misc: user, ip: 0x10010, pid: 42, tid: 42, time_ns: 1.001, period: $1, callchain: [user 0x10010 0x20020 0x30030]
SAMPLE misc: user, ip: 0x10010, pid: 42, tid: 42, time_ns: 1.002, period: $2, callchain: [user 0x10010 0x30030]
SAMPLE misc: user, ip: 0x40010, pid: 42, tid: 42, time_ns: 1.003, period: $3, callchain: [user 0x40010 0x30030]
END
}
make_stacks 2000 2000 4000 | perfdata assemble -o old.data -
make_stacks 8000 2000 10000 | perfdata assemble -o new.data -
try diff -g --no-symbols old.data new.data
try diff -g --no-symbols old.data old.data
try diff -g --no-symbols --percent-limit 20 old.data new.data
try diff -g old.data
try diff --percent-limit 1 old.data new.data
try diff -g nothing.data new.data
# what has no effect on the tree is refused: a gate that never fails is none
try diff -g --fail-on 'change > 1%' old.data new.data
try diff -g -j old.data new.data
try diff -g -s sym old.data new.data

# Of several events one is compared: the first one that has samples, or the one that is named, with its like, which may be another in order.
make_two()
{
	make_stacks "$1" "$2" "$3" | awk -v first="$4" -v second="$5" '
		/^event/ { block = "" ; inside = 1 }
		inside { block = block $0 "\n" }
		inside && /^}/ {
			inside = 0
			other = block
			sub(/cycles:u/, "faults:u", other); sub(/ids: \[7\]/, "ids: [8]", other); sub(/type: hardware/, "type: software\n\tconfig: 2", other)
			printf "%s%s", first == 7 ? block : other, first == 7 ? other : block
			next
		}
		!inside && /^SAMPLE/ { sub(/pid:/, "identifier: 7, pid:"); print; sub(/identifier: 7/, "identifier: 8"); sub(/0x20020 /, ""); print; next }
		!inside' | perfdata assemble -o "$6" -
}
make_two 2000 2000 4000 7 8 two.data
make_two 8000 2000 10000 8 7 swapped.data
try diff -g --no-symbols two.data swapped.data
try diff -g --no-symbols --event faults:u two.data swapped.data
try diff -g --no-symbols two.data new.data
try diff -g --no-symbols --event faults:u two.data two.data
try diff -g --no-symbols swapped.data new.data

# SPDX-License-Identifier: MIT
# Tables of top, of a recording: what options choose and arrange, as report does.
top='perfdata top --batch --no-symbols'
rows()
{
	grep -v '^perfdata top\|^ *$' | sed 's/ *$//'
}
export -f rows
shell "$top --fields overhead,sample,comm -E 3 --input data/hot.data | rows"
shell "$top --fields sample,comm -s comm --input data/hot.data | rows"
shell "$top --fields +period -s comm --input data/hot.data | rows"
shell "$top -w 12,20 -s comm,dso -E 2 --input data/hot.data | rows"
# percentages of all, or of what is shown
for how in absolute relative; do
	shell "$top --percentage $how --dsos hot -s comm --input data/hot.data | rows"
	shell "perfdata report -q --no-symbols -g none --percentage $how --dsos hot -s comm data/hot.data | rows"
done
shell "cmp <($top --force --fields sample,dso --input data/hot.data | rows) <($top --fields sample,dso --input data/hot.data | rows) && echo the same"
# fields of tracepoints as numbers
shell "$top --raw-trace -s trace -E 3 --input data/hot-trace.data | rows"
shell "$top --raw-trace -s trace --json -E 1 --input data/hot-trace.data | grep -o '\"rows\".*prev_state=[^ ]*'"
# samples in what a function called
cat > calls.txt <<'END'
header form: file, byte_order: little
event {
	name: "cpu-clock"
	ids: [1]
	type: software
	size: 128
	sample_period: 1000
	sample_type: IP|TID|TIME|CALLCHAIN|IDENTIFIER
	flags: sample_id_all
}
KSYMBOL misc: kernel, addr: 0xffffffffc0000000, len: 16, ksym_type: bpf, flags: 0, name: "outer", sample_id: {time_ns: 0.0, identifier: 1}
KSYMBOL misc: kernel, addr: 0xffffffffc0000010, len: 16, ksym_type: bpf, flags: 0, name: "inner", sample_id: {time_ns: 0.0, identifier: 1}
SAMPLE misc: kernel, identifier: 1, ip: 0xffffffffc0000011, pid: 7, tid: 7, time_ns: 0.000000001, callchain: [KERNEL 0xffffffffc0000011 0xffffffffc0000001]
SAMPLE misc: kernel, identifier: 1, ip: 0xffffffffc0000002, pid: 7, tid: 7, time_ns: 0.000000002, callchain: [KERNEL 0xffffffffc0000002]
END
perfdata assemble calls.txt -o calls.data
shell 'perfdata top --batch -g -s sym --input calls.data | rows'
shell 'perfdata top --batch -g -s sym --ignore-callees outer --input calls.data | rows'
try top --batch -g --ignore-callees '(' --input calls.data
try top --column-widths wide --input data/hot.data
try top --fields nonsense --input data/hot.data
try top --percentage all --input data/hot.data

# SPDX-License-Identifier: MIT
# Recordings as text: there and back, written by hand, and what is refused.
for name in hot.data hot-pipe.data; do
	copy $name
done
shell 'perfdata convert -o file.data hot.data && perfdata text -o file.txt file.data && perfdata assemble -o made.data file.txt && cmp file.data made.data && echo the same bytes'
shell 'cat hot-pipe.data | perfdata text | perfdata assemble -o - | perfdata text -i - | grep -v ^header >pipe.txt; perfdata text hot-pipe.data | grep -v ^header | cmp - pipe.txt && echo the same text'
shell 'grep -m 1 ^SAMPLE file.txt; grep -A 12 ^event file.txt'
shell 'sed "s/\"hot\"/\"cold\"/g" file.txt | perfdata assemble -o cold.data && perfdata script -i cold.data -F comm | sort | uniq -c'
shell 'perfdata assemble --byte-order big -o big.data file.txt && perfdata text big.data | diff - file.txt | grep "^[<>]"'

# The example of the manual.
shell 'sed -n "/^# Two functions/,/^EXIT/p" "$(readlink -f data)/../../docs/text.md" >hand.txt; wc -l <hand.txt'
try assemble -o hand.data hand.txt
try check hand.data
try script -i hand.data --show-task-events --show-mmap-events
shell 'perfdata text hand.data >again.txt; perfdata assemble -o again.data again.txt && cmp hand.data again.data && echo the same bytes'

# What is left out.
cat >least.txt <<'END'
event {sample_type: TID|STACK_USER|CPU, type: 1, sample_stack_user: 8}
SAMPLE pid: 1, user_stack: {data: "12345678", dyn_size: 8}
SAMPLE cpu: 3
THREAD_MAP entries: [{pid: 1 comm: "a"} {pid: 2}]
FINISHED_ROUND
raw type: 99, body: x"0011 2233"
AUXTRACE size: 3
tail "ab"
tail x"00"
END
shell 'perfdata assemble -o least.data least.txt && perfdata text least.data'

# What is refused, and where.
refuse()
{
	printf '%s\n' "$@" >bad.txt
	cat bad.txt
	try assemble -o bad.data bad.txt
	[ ! -e bad.data ] || echo "bad.data is there"
}
refuse 'SAMPL ip: 1'
refuse 'SAMPLE ip: 1'
refuse 'event {sample_type: IP|TIM}'
refuse 'event {sample_type: IP|TID}' '' 'SAMPLE ip: 1, pdi: 3'
refuse 'event {sample_type: IP|TID}' 'SAMPLE ip: 1, time_ns: 3'
refuse 'event {sample_type: IP}' 'SAMPLE ip: 1, ip: 2'
refuse 'event {sample_type: IP}' 'SAMPLE ip: 0x10000000000000000'
refuse 'event {sample_type: CPU}' 'SAMPLE cpu: 4294967296'
refuse 'event {sample_type: IP}' 'SAMPLE event: 1, ip: 2'
refuse 'event {sample_type: BRANCH_STACK}' 'SAMPLE branch_stack: {nr: 2, entries: [{from: 1}]}'
refuse 'COMM comm: "no end'
refuse 'COMM comm: "a\q"'
refuse 'COMM comm: "a\x00b"'
refuse 'COMM comm: x"00"'
refuse 'COMM comm: "abc"+2'
refuse 'COMM misc: usr'
refuse 'raw type: 99, body: x"0"'
refuse 'feature HOSTNAM {value: "x"}'
refuse 'feature 40 {value: "x"}'
refuse 'feature HOSTNAME {value: "x"}' 'feature HOSTNAME {value: "y"}'
refuse 'feature CMDLINE {' '	arguments: [{value: "a"}, {valu: "b"}]' '}'
refuse 'feature CMDLINE {' '	arguments: ['
refuse 'header form: tape'
refuse 'FINISHED_ROUND' 'header form: file'
refuse 'FINISHED_ROUND }'
refuse 'tail x"00"'
refuse 'AUXTRACE size: 2' 'tail x"00"' 'FINISHED_ROUND'
refuse 'part "data.0"'
refuse 'header form: dir' 'part "../data.0"'
refuse 'header form: pipe' 'HEADER_ATTR ids: [1]'
try assemble hand.txt
try assemble -o hand.txt hand.txt
try assemble -o x nowhere.txt
try text -o hot.data hot.data
# what is read is not written to, in a bundle either
tar cf bundle.tar --transform s/hot.data/perf.data/ hot.data
try text -o bundle.tar bundle.tar
try text -i - -o bundle.tar <bundle.tar
shell 'tar xOf bundle.tar | cmp - hot.data && echo the bundle as it was'
# a program that failed in front of a pipe
try assemble -o x </dev/null
refuse '# nothing' ''
# a signal leaves nothing behind
mkfifo slow
perfdata text -o cut.txt slow 2>/dev/null &
exec 9>slow
cat data/hot-pipe.data >&9
until ls | grep -q 'cut.txt.'; do sleep 0.1; done
kill -TERM $!
wait $! || echo "exit $?"
exec 9>&-
rm slow
shell 'ls'

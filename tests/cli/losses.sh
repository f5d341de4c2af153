# SPDX-License-Identifier: MIT
# Damaged recordings through commands that write: no sample is lost in silence, and the exit code is that of check.
samples()
{
	for path; do
		perfdata check --json "$path" 2>/dev/null | tail -n 1 | grep -Eo '"(samples|undecoded|damage)":[0-9]*' | paste -sd ' '
	done
}
export -f samples

# A recorder that was killed while it wrote AUX data: what is there of them has its true size in the output, else samples
# that come behind would be taken for AUX data.
# cut_in_aux SIZE FILE: AUX data of SIZE bytes, of which 11 are there
cut_in_aux()
{
	{
		perfdata text data/hot.data
		printf 'AUXTRACE size: %s, idx: 1, tid: -1, cpu: 1\ntail "aux data: thirteen"\n' "$1"
	} | perfdata assemble -o whole.data - 2>/dev/null
	head -c "$(($(grep -abo 'aux data' whole.data | cut -d: -f1) + 11))" whole.data >"$2"
}
cut_in_aux 200000000 aux.data
shell 'samples aux.data'
for command in 'convert -q' 'convert -q --sort' 'convert -q --sort --to pipe' 'inject -q -s' 'scrub -q --keep-data aux'; do
	shell "perfdata $command -o out.data aux.data; echo \$?; samples out.data"
done
shell 'perfdata merge -q -o out.data aux.data data/hot-multi.data; echo $?; samples data/hot-multi.data out.data'
shell 'perfdata convert -q --sort -o out.data aux.data; perfdata dump --type AUXTRACE --hex out.data'
# More than the limit of memory.
cut_in_aux 0x1000000000000000 aux.data
for command in 'convert -q --sort' 'inject -q -s'; do
	shell "perfdata $command -o out.data aux.data; echo \$?; samples out.data"
done
shell 'perfdata merge -q -o out.data aux.data data/hot-multi.data; echo $?; samples out.data'
shell 'perfdata split -q --by event -o parts aux.data; echo $?; samples parts/*'

# What no command has to decode is reported all the same: a callchain that counts more than the sample holds.
copy hot.data
cp hot.data chain.data
printf '\177' | dd of=chain.data bs=1 seek=$((0x5a8 + 40)) conv=notrunc status=none
shell 'samples chain.data'
for command in convert 'convert --sort' 'convert --byte-order big' 'cut --time 90%-100%' 'filter --where type==COMM' 'sample 1/9' \
	'tail -n 1' merge inject; do
	shell "perfdata $command -o out.data chain.data; echo \$?; samples out.data"
done
shell 'perfdata scrub -o out.data chain.data 2>&1 | head -n 3; samples out.data'
shell 'perfdata split --by event -o chains chain.data; echo $?; samples chains/*'
shell 'perfdata pack --no-symbols -o out.tar chain.data; echo $?; samples out.tar'
shell 'perfdata info chain.data | grep -E "^(lost|missing)"; perfdata info -q --json chain.data | grep -o "\"problems\":.*"'
# Nothing that repair writes is damaged, and where something was, the code says so.
cut_in_aux 200000000 aux.data
shell 'perfdata repair -q -o out.data aux.data; echo $?; samples out.data'
printf '\1' | dd of=hot.data bs=1 seek=$((0x35)) conv=notrunc status=none
shell 'perfdata repair -o out.data hot.data; echo $?; samples out.data'
# In the other byte order such a sample still says whose it is and when it was.
{
	for id in 1 2; do
		echo "event {ids: [$id], sample_type: IP|TID|TIME|ID|CALLCHAIN, type: 1, config: $id, sample_period: 1}"
	done
	echo 'raw type: 9, body: x"1100000000000000 0500000006000000 0700000000000000 0200000000000000 7f00000000000000"'
} | perfdata assemble -o two.data -
shell 'perfdata convert -q --byte-order big -o out.data two.data; echo $?; perfdata check out.data; perfdata dump --type SAMPLE out.data'

# A sample that cannot be decoded does not seem to be sound in the other byte order: counts of 1 << 56 are not 1 there.
{
	echo 'event {ids: [1], sample_type: IP|TIME|READ, read_format: GROUP, type: 1, config: 1, sample_period: 1}'
	echo 'raw type: 9, body: x"1100000000000000 0700000000000000 0000000000000001 0000000000000000"'
	echo 'raw type: 9, body: x"1100000000000000 0800000000000000 0000000000000000"'
	echo 'raw type: 9, body: x"1100000000000000 0900000000000000 0000000000000001 0000000000000000"'
} | perfdata assemble -o counts.data -
shell 'samples counts.data'
for command in 'convert --byte-order big' 'merge --byte-order big'; do
	shell "perfdata $command -o out.data counts.data; echo \$?; samples out.data; perfdata dump -q --type SAMPLE out.data | grep ^0x"
done
# A sample stays one of its event, whose damaged sample_type has something else where ids are. That is said.
{
	echo 'event {ids: [5], sample_type: IP|TID|TIME|ID|CPU, type: 1, config: 0, sample_period: 1}'
	echo 'event {ids: [6], sample_type: IP|TID|ID|CPU|0x100000000, type: 1, config: 1, sample_period: 1}'
	for id in 5 6 6; do
		echo 'raw type: 9, body: x"1100000000000000 0500000006000000 0700000000000000 0'$id'00000000000000 0000000000000000"'
	done
} | perfdata assemble -o places.data -
shell 'samples places.data; perfdata convert --byte-order big -o out.data places.data; echo $?; samples out.data; perfdata script -q -F event out.data'

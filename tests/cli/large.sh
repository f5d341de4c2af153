# SPDX-License-Identifier: MIT
# Features that are larger than a record of a pipe.
hex()
{
	printf 'x"%s"' "$(printf "%$(($1 * 2))s" '' | tr ' ' 7)"
}
{
	echo 'event {name: "cycles", ids: [1], sample_type: IP|TID|IDENTIFIER}'
	echo 'feature CACHE {version: 1, levels: ['
	for i in $(seq 1000); do
		echo "{level: $i, line_size: 64, sets: 64, ways: 8, type: \"Data\", size: \"32K\", map: \"$i\"}"
	done
	echo ']}'
	echo 'feature BPF_PROG_INFO {programs: ['
	for i in $(seq 5); do
		echo "{info: {type: 1, id: $i}, data: $(hex 20000)}"
	done
	echo ']}'
	echo "feature BPF_BTF {btfs: [{id: 1, data: $(hex 40000)}, {id: 2, data: $(hex 70000)}, {id: 3, data: $(hex 40000)}, {id: 4}]}"
	echo 'SAMPLE ip: 1, pid: 1, tid: 1'
} >large.txt
try assemble -o large.data large.txt
shell 'perfdata dump --features large.data | grep "^feature"'
try convert --to pipe -o pipe.data large.data
try convert --to file -o back.data pipe.data
shell 'perfdata dump --stats pipe.data | grep -i feature'
shell 'perfdata dump --features back.data | grep "^feature"'
# all but the one that is told, and the padding
shell 'diff <(perfdata text large.data) <(perfdata text back.data | sed "s/\"+[0-9]*/\"/g") | cut -c 1-60'
shell 'perfdata convert --to pipe -o again.data back.data; perfdata convert --to file -o back2.data again.data; cmp back.data back2.data && echo the same again'
# Several files as one pipe: what has no place there is told too.
try merge --to pipe -o merged.data large.data
shell 'perfdata split -q --by event -o pieces large.data; cp pieces/*.data one.data; perfdata merge --to pipe -o merged.data one.data large.data'
shell 'perfdata dump --stats merged.data | grep -i feature'

# SPDX-License-Identifier: MIT
# annotate: a program of three functions, one of which has a hostile name; a BPF program that the recording carries; code without symbol.
perfdata version --build | grep -q '^capstone 5' || exit 77

mkdir -p root/usr/bin
# three functions in assembly, and lines of /src/demo.s
base64 -d <<'END' | gzip -d >root/usr/bin/demo
H4sIAAAAAAACA6t39XFjYmRkgAEmBjsGEE+U0QHMd4BJsMCVAMUsgGocGLgYOMFqWRmQgQMKXQM1GkYzCDAMKmB4gPHH//Olvw7vZwfyXrz9////a4YdNkA2
P+sEGgOQ/TrgMAcBDoiDoOFeg8O9ofCo4GDEUA/yAg9IrIFJAkSFw2KRnUkezIep5mRSAVHhnFA+DzMDoyCjgLggoxA/M580nyqfMDBSmfQYmPnseTxFQcIM
DMzWIKV2YAfIgYxjZPzNxwuiQC5hBKGU1Nx8vWIGqB0w28T0gUAlMtIokikJqByqSL+4KJnB3S9UwTFYwUjPxIAhvrgksaiEoTy/KJvBJslOSU062tgwl0D8
MYKd8/E/ujgHOFwZGeA+hIqDwkUIKA4PGai4MDhpMjLUCDqgmCOPQ1wNKt6AJq4NNR8e0jAJsK/zkT0WH59UXAz1dHxqSmJJIpDKS4EEAINecWVuSWISkC4p
gtAZMFZJakUJg15KalJpenxiUWJeemoxjJuZl5YPl0pKKkotg/FyMvNSYWygQdTKP9LQOGCDR4gDImKwpGNGNL4iFjEQaIAKGqCJoxcfBjj0b4AKRhKw3waH
fk5IpmTQIKDfC4d+Q6h+JwL6w6Bi6P4shurXx6EfmWbCYv8KqOABpPzAjChlwPkAlj6ZsejPYMYe/ujuF8ShfwZUMJGAfgDHRa3DgAYAAA==
END
# a jitdump with the function "made"
mkdir -p root/tmp
printf 'DTiJ\x01\0\0\0\x28\0\0\0\x3e\0\0\0\0\0\0\0\x2a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >root/tmp/jit-42.dump
{
	printf '\0\0\0\0\x46\0\0\0\0\xca\x9a\x3b\0\0\0\0\x2a\0\0\0\x2a\0\0\0\0\x10\0\x50\0\0\0\0\0\x10\0\x50\0\0\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf 'made\0\x31\xc0\x01\xf8\xff\xcf\x75\xfa\xc3'
} >>root/tmp/jit-42.dump

cat >demo.txt <<'END'
event {
	name: "cycles:u"
	ids: [7]
	type: hardware
	sample_period: 4000
	sample_type: IP|TID|TIME|CPU|PERIOD|IDENTIFIER
	flags: mmap|comm|sample_id_all
}
feature ARCH {value: "x86_64"}
feature NRCPUS {available: 1, online: 1}
feature BPF_PROG_INFO {
	programs: [
		{
			arrays: JITED_INSNS|JITED_KSYMS|JITED_FUNC_LENS|FUNC_INFO|LINE_INFO|JITED_LINE_INFO|PROG_TAGS
			info: {type: 1, id: 7, tag: x"a04f5eef06a7f555", jited_prog_len: 16, xlated_prog_len: 16, jited_prog_insns: 0x0, xlated_prog_insns: 0x0, load_time: 262156281497, created_by_uid: 0, nr_map_ids: 0, map_ids: 0x0, name: x"636f727075735f300000000000000000", ifindex: 0, gpl_compatible: 0x1, netns_dev: 0, netns_ino: 0, nr_jited_ksyms: 1, nr_jited_func_lens: 1, jited_ksyms: 0x10, jited_func_lens: 0x18, btf_id: 0, func_info_rec_size: 8, func_info: 0x20, nr_func_info: 0, nr_line_info: 0, line_info: 0x20, jited_line_info: 0x20, nr_jited_line_info: 0, line_info_rec_size: 16, jited_line_info_rec_size: 8, nr_prog_tags: 1, prog_tags: 0x20, run_time_ns: 0, run_cnt: 0, recursion_misses: 0, verified_insns: 2, attach_btf_obj_id: 0, attach_btf_id: 0, rest: x"00000000"}
			data: x"0f1f4400006690554889e531c0c9c3cc5cc629c0ffffffff1000000000000000a04f5eef06a7f555"
		}
	]
}
COMM misc: user|COMM_EXEC, pid: 42, tid: 42, comm: "demo", sample_id: {pid: 42, tid: 42, time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x400000, len: 0x1000, pgoff: 0x0, filename: "/usr/bin/demo", sample_id: {time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x50000000, len: 0x1000, pgoff: 0x0, filename: "/tmp/jit-42.dump", sample_id: {time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x50001000, len: 0x1000, pgoff: 0x0, filename: "//anon", sample_id: {time_ns: 1.0}
KSYMBOL misc: kernel, addr: 0xffffffffc029c65c, len: 16, ksym_type: bpf, flags: 0, name: "bpf_prog_a04f5eef06a7f555_demo", sample_id: {time_ns: 1.0}
SAMPLE misc: user, ip: 0x400102, pid: 42, tid: 42, time_ns: 1.001, period: 4000
SAMPLE misc: user, ip: 0x400104, pid: 42, tid: 42, time_ns: 1.002, period: 4000
SAMPLE misc: user, ip: 0x400104, pid: 42, tid: 42, time_ns: 1.003, period: 4000
SAMPLE misc: user, ip: 0x400106, pid: 42, tid: 42, time_ns: 1.004, period: 8000
SAMPLE misc: user, ip: 0x40010e, pid: 42, tid: 42, time_ns: 1.005, period: 4000
SAMPLE misc: user, ip: 0x400150, pid: 42, tid: 42, time_ns: 1.006, period: 4000
SAMPLE misc: user, ip: 0x50001004, pid: 42, tid: 42, time_ns: 1.0065, period: 4000
SAMPLE misc: kernel, ip: 0xffffffffc029c664, pid: 42, tid: 42, time_ns: 1.007, period: 4000
END
perfdata assemble -o demo.data demo.txt

try annotate --symfs root -i demo.data
try annotate --symfs root -i demo.data --stdio work
try annotate --symfs root -i demo.data --no-source -n work
try annotate --symfs root -i demo.data --no-source --show-total-period work
try annotate --symfs root -i demo.data -l work
try annotate --symfs root -i demo.data --no-source --asm-raw --percent-type global-hits work
try annotate --symfs root -i demo.data --source
try annotate --symfs root -i demo.data --source --json
try annotate --symfs root -i demo.data --json
try annotate --symfs root -i demo.data --html
shell 'perfdata annotate --symfs root -i demo.data --html | grep -c "<script\|<b>" || true'
try annotate --symfs root -i demo.data nowhere
try annotate --symfs nowhere -i demo.data -d demo
try annotate -i demo.data --symfs nowhere --skip-missing -d demo
try annotate -n --show-total-period -i demo.data
try annotate --html --json -i demo.data
try annotate --percent-type total -i demo.data
try annotate -M gas -i demo.data

# Branch stacks: the loop of work, three times round and once; a call; a branch that goes back past where the one before went.
sed -e 's/IDENTIFIER$/BRANCH_STACK|IDENTIFIER/; /^	sample_type/a\	branch_sample_type: USER|ANY' \
	-e '/ip: 0x400102/s/$/, branch_stack: {entries: [{from: 0x400106, to: 0x400102, flags: predicted|cycles(3)}, {from: 0x400106, to: 0x400102, flags: mispred|cycles(2)}, {from: 0x400106, to: 0x400102, flags: predicted|cycles(2)}, {from: 0x40010e, to: 0x400100, flags: predicted|cycles(9)}]}/' \
	-e '/ip: 0x40010e/s/$/, branch_stack: {entries: [{from: 0x400108, to: 0x400113, flags: predicted|cycles(4)}, {from: 0x400106, to: 0x400102, flags: predicted|cycles(2)}, {from: 0x40010e, to: 0x400100, flags: predicted|cycles(7)}]}/' \
	-e '/^SAMPLE/{/branch_stack/!s/$/, branch_stack: {entries: []}/}' demo.txt >branches.txt
perfdata assemble -o branches.data branches.txt
try annotate --symfs root -i branches.data -d demo
try annotate --symfs root -i branches.data --stdio work
try annotate --symfs root -i branches.data --stdio --time 1.003,1.006 work
shell 'perfdata annotate --symfs root -i branches.data --json work | grep -o "\"cycles.*\|\"ipc.*"'
shell 'perfdata annotate --symfs root -i branches.data --html work | grep -A5 "Blocks\|IPC<td>Cycle"'
# the same branches in other cycles, and a function without blocks of its own
sed 's/cycles(2)/cycles(12)/g; s/cycles(4)/cycles(3)/; s/ip: 0x400150/ip: 0x400113/' branches.txt | perfdata assemble -o slower.data -
try report -b --symfs root --total-cycles branches.data
try diff --symfs root -c cycles -d demo branches.data slower.data
try diff --symfs root -c cycles -d demo -p -t : branches.data slower.data branches.data
try diff --symfs root -c cycles branches.data demo.data
try diff --symfs root -c cycles --no-symbols branches.data slower.data
# calls that did not return, and branches of one kind: nothing is known of what lies between them
shell 'sed "s/USER|ANY/USER|ANY_CALL|CALL_STACK/" branches.txt | perfdata assemble -o calls.data - && perfdata annotate --symfs root --no-source -i calls.data work'
shell 'sed "s/USER|ANY/USER|COND/" branches.txt | perfdata assemble -o cond.data - && perfdata annotate --symfs root --no-source -i cond.data work'

# The kernel's code out of a copy of kcore: beside the recording, as perf record --kcore makes it, and in the cache, by build id and time.
make_kcore()
{
	printf '\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0\x3e\0\x01\0\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\x38\0\x02\0\x40\0\0\0\0\0'
	printf '\x01\0\0\0\x07\0\0\0\xb0\0\0\0\0\0\0\0\0\0\0\x81\xff\xff\xff\xff\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0'
	printf '\x01\0\0\0\x07\0\0\0\xc0\0\0\0\0\0\0\0\0\0\0\xc0\xff\xff\xff\xff\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0'
	printf '\x31\xc0\x01\xf8\xff\xcf\x75\xfa\xc3\x90\x90\x90\x90\x90\x90\x90\x48\x89\xf8\xc3\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90'
}
mkdir -p kernel.data/kcore_dir
make_kcore >kernel.data/kcore_dir/kcore
printf '%s\n' 'ffffffff81000000 T _text' 'ffffffff81000000 T work' 'ffffffff81000009 T next' 'ffffffffc0000000 t in_module	[demo]' 'ffffffffc0000004 t end_module	[demo]' >kernel.data/kcore_dir/kallsyms
{
	sed -n '/^event/,/^}/p; /^feature ARCH/p' demo.txt
	cat <<'END'
feature BUILD_ID {records: [{misc: kernel, pid: -1, build_id: x"0102030405060708090a0b0c0d0e0f1011121314", filename: "[kernel.kallsyms]"}]}
MMAP misc: kernel, pid: -1, tid: -1, addr: 0xffffffff81000000, len: 0x1000, pgoff: 0xffffffff81000000, filename: "[kernel.kallsyms]_text", sample_id: {time_ns: 1.0}
MMAP misc: kernel, pid: -1, tid: -1, addr: 0xffffffffc0000000, len: 0x1000, pgoff: 0, filename: "[demo]", sample_id: {time_ns: 1.0}
SAMPLE misc: kernel, ip: 0xffffffff81000004, pid: 42, tid: 42, time_ns: 1.001, period: 4000
SAMPLE misc: kernel, ip: 0xffffffffc0000003, pid: 42, tid: 42, time_ns: 1.002, period: 4000
END
} | perfdata assemble -o kernel.data/data -
try annotate -i kernel.data
mkdir -p 'cache/[kernel.kcore]/0102030405060708090a0b0c0d0e0f1011121314'
cp -r kernel.data/kcore_dir 'cache/[kernel.kcore]/0102030405060708090a0b0c0d0e0f1011121314/2026010203040506'
cp -r kernel.data/kcore_dir 'cache/[kernel.kcore]/0102030405060708090a0b0c0d0e0f1011121314/2026010203040507'
# of another boot
sed -i 's/ffffffff81/ffffffff82/' cache/*/*/2026010203040506/kallsyms
try annotate -i kernel.data/data --buildid-dir cache -n
rm -r cache/*/*/2026010203040507
shell 'perfdata annotate -i kernel.data/data --buildid-dir cache 2>&1 | grep -c "no object with its code was found"'

# a sample where nothing is mapped, beside code without symbol
shell 'sed "s/ip: 0x400150/ip: 0x70000000/; s/ip: 0x50001004/ip: 0x50001804/" demo.txt | perfdata assemble -o unmapped.data - && perfdata annotate --symfs root --source -i unmapped.data | tail -n 3'

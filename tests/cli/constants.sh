# SPDX-License-Identifier: MIT
# Unwind rules that read constants of an object, which are not on the copied stack: from its file, if nobody writes there.
# return addresses from words at 0x401800 (mapped with the code), 0x405000 (of the object, in no recorded mapping), 0x40a000 and 0x600000
python3 "${BASH_SOURCE[0]%/*}/object.py" --arm64 root/bin/five 0123456789abcdef outer=1300-1330,frame \
	near=1400-1420,0e001840000000000006 beside=1440-1460,0e105040000000000006 written=1480-14a0,0e00a040000000000006 \
	none=14c0-14e0,0e000060000000000006 short=1500-1520,0e00184000000000009404 cross=1540-1560,0efc4f40000000000006 \
	@1800=1413400000000000 @4ffc=1413400000000000 @5010=1413400000000000 @a000=1413400000000000
cat >hand.txt <<'END'
header form: file, byte_order: little
event {
	name: "cycles"
	ids: [7]
	type: hardware
	size: 128
	sample_period: 1
	sample_type: IP|TID|TIME|CALLCHAIN|REGS_USER|STACK_USER
	flags: sample_id_all|exclude_kernel
	sample_regs_user: 0x1e0000000
	sample_stack_user: 32
}
feature ARCH {value: "aarch64"}
COMM pid: 5, tid: 5, comm: "five", sample_id: {pid: 5, tid: 5, time_ns: 1.0}
MMAP2 misc: user, pid: 5, tid: 5, addr: 0x401000, len: 0x2000, pgoff: 0x1000, prot: READ|EXEC, flags: PRIVATE, filename: "/bin/five", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
MMAP2 misc: user|mmap_data, pid: 5, tid: 5, addr: 0x40a000, len: 0x1000, pgoff: 0xa000, prot: READ|WRITE, flags: PRIVATE, filename: "/bin/five", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
END
# sample TIME ADDRESS: the caller outer has its own at the end of the copy
sample()
{
	echo "SAMPLE misc: user, ip: $2, pid: 5, tid: 5, time_ns: $1, callchain: [], user_regs: {abi: \"64-bit\", regs: [X29:0x7000 LR:0x1 SP:0x7000 PC:$2]}, user_stack: {data: x\"0000000000000000000000000000000000000000000000000000000000000000\", dyn_size: 32}" >>hand.txt
}
sample 2.0 0x401408
sample 2.1 0x401448
sample 2.2 0x401488
sample 2.3 0x4014c8
sample 2.4 0x401508
sample 2.5 0x401548
shell 'perfdata assemble -o c.data hand.txt && perfdata check c.data'
files='--symfs root --buildid-dir none --no-index'
try script $files -F time,ip,sym c.data
# pages that were read once, other threads, the other byte order: the same
shell "cat hand.txt <(grep ^SAMPLE hand.txt | sed 's/time_ns: 2/time_ns: 3/') | perfdata assemble -o d.data; perfdata folded -q --threads 2 $files d.data"
shell "perfdata convert -q --byte-order big -o b.data c.data; cmp <(perfdata script -q $files -F time,ip,sym c.data) <(perfdata script -q $files -F time,ip,sym b.data) && echo the same"
# a bundle has holes where constants were that are not with the code: nothing is known of them
shell "perfdata pack -q --objects=full --symfs root --buildid-dir none -o c.bundle c.data; perfdata pack -q --symfs root --buildid-dir none -o n.bundle c.data; for b in c n; do perfdata folded -q --buildid-dir none --no-index \$b.bundle; done"

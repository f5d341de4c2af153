# SPDX-License-Identifier: MIT
# Frame pointers of arm64 leave out the caller of a function that has no frame: it is in the link register, which rules tell.
python3 "${BASH_SOURCE[0]%/*}/object.py" --arm64 root/bin/five 0123456789abcdef leaf=1100-1120 middle=1200-1230,frame outer=1300-1330,frame
cat >hand.txt <<'END'
header form: file, byte_order: little
event {
	name: "cycles"
	ids: [7]
	type: hardware
	size: 128
	sample_period: 1
	sample_type: IP|TID|TIME|CALLCHAIN|REGS_USER
	flags: sample_id_all|exclude_kernel
	sample_regs_user: 0x40000000
}
feature ARCH {value: "aarch64"}
COMM pid: 5, tid: 5, comm: "five", sample_id: {pid: 5, tid: 5, time_ns: 1.0}
MMAP2 misc: user, pid: 5, tid: 5, addr: 0x400000, len: 0x11000, prot: READ|EXEC, flags: PRIVATE, filename: "/bin/five", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
END
# sample TIME LINK ADDRESS...
sample()
{
	local time=$1 link=$2

	shift 2
	echo "SAMPLE misc: user, ip: $1, pid: 5, tid: 5, time_ns: $time, callchain: [USER $*], user_regs: $link" >>hand.txt
}
# the caller is in the register; it is signed; the chain has it already; it is no code; there are no registers
sample 2.0 '{abi: "64-bit", regs: [LR:0x401210]}' 0x401108 0x401310
sample 2.1 '{abi: "64-bit", regs: [LR:0x00a5000000401210]}' 0x401108 0x401310
sample 2.2 '{abi: "64-bit", regs: [LR:0x401210]}' 0x401108 0x401210 0x401310
sample 2.3 '{abi: "64-bit", regs: [LR:0x500000]}' 0x401108 0x401310
sample 2.4 '{abi: "none"}' 0x401108 0x401310
# a function with a frame: what the register has is of an earlier call
sample 2.5 '{abi: "64-bit", regs: [LR:0x401210]}' 0x401220 0x401310
# the leaf is outermost
sample 2.6 '{abi: "64-bit", regs: [LR:0x401210]}' 0x401108
shell 'perfdata assemble -o l.data hand.txt && perfdata check l.data'
files='--symfs root --buildid-dir none --no-index'
try script $files -F time,ip,sym l.data
try script $files -F time,ip,sym --unwind=no l.data
try folded $files l.data
# other machines have no such register
shell "sed 's/aarch64/riscv64/; s/LR:/t5:/' hand.txt >r.txt; perfdata assemble -o r.data r.txt; perfdata folded $files r.data"
# rewritten, samples have these chains, and no registers
shell "perfdata inject --unwind --symfs root -o i.data l.data; perfdata check i.data; cmp <(perfdata script $files -F time,ip,sym l.data) <(perfdata script $files -F time,ip,sym i.data) && echo the same"
shell 'perfdata dump --header i.data | grep -c -i regs'
shell "perfdata inject --unwind -q --symfs root -o j.data r.data && cmp <(perfdata dump r.data | grep -c user_regs) <(perfdata dump j.data | grep -c user_regs) && echo those of other machines stay"

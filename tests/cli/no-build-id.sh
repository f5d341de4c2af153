# SPDX-License-Identifier: MIT
# Mappings whose device and inode the kernel marks as a build id, because another recorder asks for them: majors of 254, 3, 8 and 0, of
# which the second and third look like a length. Then true build ids, of 20 and of 8 bytes.
cat >hand.txt <<'END'
header form: file, byte_order: little
event {
	name: "cpu-clock"
	ids: [7]
	type: software
	size: 144
	sample_period: 1
	sample_type: IP|TID|TIME|PERIOD
	read_format: ID|LOST
	flags: mmap|mmap2|comm|freq|sample_id_all
}
feature ARCH {value: "x86_64"}
COMM pid: 5, tid: 5, comm: "five", sample_id: {pid: 5, tid: 5, time_ns: 1.0}
MMAP2 misc: user|MMAP_BUILD_ID, pid: 5, tid: 5, addr: 0x1000, len: 0x1000, build_id_size: 254, build_id: x"01000000c5c60300000000000900000000000000", prot: READ|EXEC, flags: PRIVATE, filename: "/bin/virtual", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
MMAP2 misc: user|MMAP_BUILD_ID, pid: 5, tid: 5, addr: 0x2000, len: 0x1000, build_id_size: 3, reserved_1: 1, build_id: x"02000000c5c60300000000000800000000000000", prot: READ|EXEC, flags: PRIVATE, filename: "/bin/nvme", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
MMAP2 misc: user|MMAP_BUILD_ID, pid: 5, tid: 5, addr: 0x3000, len: 0x1000, build_id_size: 8, build_id: x"01000000c5c60300000000000000000000000000", prot: READ|EXEC, flags: PRIVATE, filename: "/bin/disk", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
MMAP2 misc: user|MMAP_BUILD_ID, pid: 5, tid: 5, addr: 0x4000, len: 0x1000, build_id_size: 0, build_id: x"25000000c5c60300000000000000000000000000", prot: READ|EXEC, flags: PRIVATE, filename: "/bin/overlay", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
MMAP2 misc: user|MMAP_BUILD_ID, pid: 5, tid: 5, addr: 0x5000, len: 0x1000, build_id_size: 20, build_id: x"000102030405060708090a0b0c0d0e0f10111213", prot: READ|EXEC, flags: PRIVATE, filename: "/bin/sha1", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
MMAP2 misc: user|MMAP_BUILD_ID, pid: 5, tid: 5, addr: 0x6000, len: 0x1000, build_id_size: 8, build_id: x"c0c1c2c3c4c5c6c7000000000000000000000000", prot: READ|EXEC, flags: PRIVATE, filename: "/bin/short", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
SAMPLE misc: user, ip: 0x1600, pid: 5, tid: 5, time_ns: 2.2, period: 1
END
perfdata assemble -o hand.data hand.txt
try check hand.data
try script --show-mmap-events -F comm,pid,ip,event hand.data
try repair -o fixed.data hand.data
try check fixed.data
shell 'perfdata text fixed.data | grep MMAP2'
try convert --byte-order big -o big.data hand.data
try script --show-mmap-events -F comm,pid,ip,event big.data

# Who changes or exports such a mapping: what is written is a build id or a device, and an inode does not stay where it is hidden.
known='000102030405060708090a0b0c0d0e0f10111213 /bin/virtual,000102030405060708090a0b0c0d0e0f10111213 /bin/nvme'
shell "perfdata inject -q --mmap2-buildid-all --known-build-ids '$known' -o ids.data hand.data 2>&1; perfdata text ids.data | grep -E 'virtual|nvme'"
try script --show-mmap-events -F comm,pid,ip,event ids.data
try scrub -q --key hex:000102030405060708090a0b0c0d0e0f -o hidden.data hand.data
shell 'perfdata text hidden.data | grep MMAP2'
try scrub --verify hand.data hidden.data
try export --to quipper -o hand.pb hand.data
try import --from quipper -o back.data hand.pb
try script --show-mmap-events -F comm,pid,ip,event back.data

# SPDX-License-Identifier: MIT
# Memory accesses: by where the data came from, and one by one.
cat >hand.txt <<'TEXT'
header form: file, byte_order: little
event {
	name: "cpu/mem-loads/P"
	ids: [1]
	type: raw
	config: 0x1cd
	sample_period: 1
	sample_type: IP|TID|TIME|ADDR|ID|CPU|WEIGHT|DATA_SRC|PHYS_ADDR|DATA_PAGE_SIZE
	flags: sample_id_all
}
feature ARCH {value: "x86_64"}
feature NRCPUS {available: 4, online: 4}
feature NUMA_TOPOLOGY {nodes: [{node: 0, cpus: "0-1"} {node: 1, cpus: "2-3"}]}
feature MEM_TOPOLOGY {version: 1, block_size_bytes: 0x8000000, nodes: [{node: 0, size: 64, bitmap_size: 64, bitmap: [0x1]} {node: 1, size: 64, bitmap_size: 64, bitmap: [0x2]}]}
COMM pid: 5, tid: 5, comm: "five", sample_id: {pid: 5, tid: 5, time_ns: 1.0}
MMAP2 misc: user, pid: 5, tid: 5, addr: 0x1000, len: 0x9000, prot: READ|EXEC, flags: PRIVATE, maj: 8, min: 1, ino: 3, filename: "/bin/five", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
MMAP2 misc: user|MMAP_DATA, pid: 5, tid: 5, addr: 0x20000, len: 0x9000, prot: READ|WRITE, flags: PRIVATE, filename: "[heap]", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
MMAP2 misc: user|MMAP_DATA, pid: 5, tid: 5, addr: 0x40000, len: 0x9000, pgoff: 0x1000, prot: READ|WRITE, flags: SHARED, maj: 1, min: 2, ino: 4, filename: "/dev/shm/four", sample_id: {pid: 5, tid: 5, time_ns: 1.1}
SAMPLE misc: user, ip: 0x1510, pid: 5, tid: 5, time_ns: 2.0, addr: 0x20048, id: 1, cpu: 0, weight: 70, data_src: 0x68801042, phys_addr: 0x48, data_page_size: 4096
SAMPLE misc: user, ip: 0x1520, pid: 5, tid: 6, time_ns: 2.1, addr: 0x20050, id: 1, cpu: 2, weight: 30, data_src: 0x68810842, phys_addr: 0x48, data_page_size: 4096
SAMPLE misc: user, ip: 0x1510, pid: 5, tid: 5, time_ns: 2.2, addr: 0x40008, id: 1, cpu: 0, weight: 200, data_src: 0x68880842, phys_addr: 0x8000008, data_page_size: 0x200000
SAMPLE misc: user, ip: 0x1530, pid: 5, tid: 6, time_ns: 2.3, addr: 0x40010, id: 1, cpu: 3, weight: 0, data_src: 0x68801144, phys_addr: 0x8000010, data_page_size: 0x200000
SAMPLE misc: kernel, ip: 0xffffffff81000010, pid: 5, tid: 5, time_ns: 2.4, addr: 0, id: 1, cpu: 1, weight: 9, data_src: 0x5080021
TEXT
shell 'perfdata assemble -o m.data hand.txt && perfdata check m.data'
try mem report m.data
try mem report -t store -p --data-page-size m.data
try mem report -s dcacheline,symbol_iaddr m.data
try mem report -x , -F sample,symbol_daddr,snoop m.data
try mem report -D m.data
try mem report -D -x , -p --data-page-size m.data
try mem report -D -U m.data
# the same table by the options that it stands for, and on any number of threads
shell 'cmp <(perfdata mem report m.data) <(perfdata report --mem-mode -n m.data) && echo the same'
shell 'cmp <(perfdata mem report --threads 3 m.data) <(perfdata mem report --threads 1 m.data) && echo the same'
try report --mem-mode -s mem,dso_daddr --json m.data
try report --mem-mode --branch-stack m.data
try report -s symbol_daddr m.data
try c2c report --stats m.data
try c2c report m.data
try c2c report -d rmt -c pid,tid -N m.data
try c2c report -c pid,none m.data
try c2c report --json m.data
# columns of perf 7.2: what an access was as shares of all, and means of weights
try report --mem-mode -F overhead,op,cache,memory,snoop,dtlb -s comm m.data
try report --mem-mode -F +op,weight1 -s dso m.data
try report --mem-mode -F overhead,snoop m.data
try report --mem-mode -F op,weight1,weight2 -s comm --json m.data
shell 'perfdata report --mem-mode -F snoop,dtlb,weight1 -s comm -t , m.data'
shell 'perfdata report --mem-mode -F dtlb,weight3 -s comm --csv m.data'
try report --hierarchy -F op -s comm m.data
try report --no-symbols -s addr,dso_size,symoff m.data

# SPDX-License-Identifier: MIT
# annotate --data-type: a program with debug information, whose functions access members of a structure; two events in a group, one without samples.
perfdata version --build | grep -q '^capstone 5' || exit 77

mkdir -p root/usr/bin
# struct node {struct node *next; long tag; struct {int low, high;} range; union {long whole; struct point half;} u; char name[8];
# unsigned kind : 4, seen : 12;}, gcc -O2 -g
base64 -d <<'END' | gzip -d >root/usr/bin/demo
H4sIAAAAAAACA61W3W8bRRCfPWfP51zs2LHTxGpoHEpJgdhJ09CmNE1Nv+LwkYLUVOVDjRz7/KEmd8E+NwkSLTT0IaoKReUBFSQqnioBUiXeEEKISJX6gMgLgn+gUh5D
eYmERJi523PsU93wwEre2d9vZ3bmZmfXe/nkK6ckxsBpEowCoSRLWjgp+IXmqgpyw+DB3g8tli6H2pask0tiaUdC0BYEZfzdFvztULJOOu01qLd7/YGZleG/t6ALp655
U9eSykpr94cWvjYW8Yx1reQcnFsa2xu8N/bkAlEnSJ8v4xpV/eWNpXXPSi7h4NR1/yLOp5Z/TS37DRyt3drc3Ewt31v7imRmde17C/+eYg9T7Oe1Hwh9lmKraLH2MYJW
tc9KOzXF6tdF6m42+KRvJEo5s5T9Z7F7gkbeBpbek7Qwm6CcLwCLTFjZXwTWQaMmCDTxom5Cq8Kkvos0NWPMg3RoApyoRm29ICq8+imtRVvypjVaxU5PkJJH4SPk7GXs
BqQNsv0Ru64Ny5uZzoPUa5lIPdifmqSdYRWQLpLLTqkD+0v/YBfzDWJ/owuroinJfL0IbhFoOcEgpHyOsLkdYQB/KnVe9Oyl+vMw+SCJJi8VajP52u8oeaBthcJokncj
8nmcGgvfJ7ZZdmr9uEgZ++IB6kV0nNtLLn2en4SFfFaoXsXU3KQg2aRUQv684N9A/ustvj0n+BDysikArb4qlCoAOz4QfL9UNYSWLnJMqR8Qs3I1OlqMp8EXtDZ1Ejqo
gpii0EfHhLZS1e4saxowrxIUM83VGQqW6+CNbtjrtFhu7AKxdb1V3au2ruzoRmlPGbd8OmW35RM1uaMJzI+b9EIPO6weUsfDwyrWBjIBYnokh/I8Bao6qnoCmIJxkDov
daI/XmsoISOn2HvscpiFMbQw8wRU1Z7uUYhS6pfF/NUTfvUClkozY+PWCmoPjIf70XdLgh2N2oq4lLc3Oh4OsTZvsvPdKOn5Q2xPIKx6und2Ex3EYg2IaPGLW8MMo1Ap
RlIOdtTBUCsqUihtQxSKan/K0Sh9TFi4tcjeaK3LyBB9ubr14e0poA/HYrEzANCRgFrrrZDxPFkLK49aOFo/VWsF962rXIFnad8Y+zvgJ8HsyxoH3YzKQWLdUqu0db/w
LvBJTgXs4LsY75MZ32/yLvkTQvsRHcsh+pLQHkTPyOf4EMrDL/GIXOE7GO9FFJb/4u2M78Lh7nOIviX0HOODSJwx+eAIH5ZNfgbR+Su8eIWfP8ffHuH5EV4e4e+YfHiE
X2U4+RG7IkkYbQSjwdt1k+GtF2zxKjfE/0xEhO2uWYd3V77Du0+Pw7vPm8O7T63Du++aQjFfgBlDz8cqermY17VsjK5jPT2rwXTRLEMprec1wDOsg1kolrJwoahnIVNI
l2wz0p4zLBsjq8F8wZjRYGxiMnZ838HYvsHEYGIgFp81K7p2JK/pWqmYQZguZQpHFoYPxA8MxeL5WPz0YCye0414uryoZwolQzcq5XhFn0dXcTM9PaOVcT6Ti8+VDFPL
mEVDP6Ibuga6tmCCpQBTZTNdMqGQnslBVps1EhnoN2fn+uf7C3FjziwnCOSNmezj/6+Z9Wfz56abV6w5CZybeEDwdGe14Yw73yHBu/e53ZqTqu+MmOB3Cn33/u8RvHvf
YtbbQoIl13ulT+i762Kwgf4hwa+7+FGxjrvunNzqiQG7PugetnfAKqWpqelyWeyFXS9TWjZtplFg2dBfASTKi7NogdIs2bLgjEzazwSuAImsNl3JT6Wt8qvCop4zqlPT
0yXtooNmilgOYpwrUfUKgEvX6lj4f2g7a96Qted5XeCb27wDe8TeeMD1/mSud2fNfte2p4V/d3PeuQOPqOva9nwD++8EeVd6vP2LDewzTba8wx5vf7qBvSoS+ss28b/V
wP4PYX/nEee3thWEvTtP74uD91sD/44sN7CfFI52bWPPqo/u+rYg7IeFoipqxIm/U0hfTe3Utrs+Wx7bJn+hBvYPhf3SNvb/AtC904m4DQAA
END

cat >demo.txt <<'END'
event {name: "cycles:u", ids: [7], type: hardware, sample_period: 4000, sample_type: IP|TID|TIME|PERIOD|IDENTIFIER, flags: mmap|comm|sample_id_all}
event {name: "instructions:u", ids: [8], type: hardware, config: 1, sample_period: 4000, sample_type: IP|TID|TIME|PERIOD|IDENTIFIER, flags: mmap|comm|sample_id_all}
event {name: "dummy:u", ids: [9], type: software, config: 9, sample_period: 1, sample_type: IP|TID|TIME|PERIOD|IDENTIFIER, flags: mmap|comm|sample_id_all}
feature ARCH {value: "x86_64"}
feature CPUID {value: "GenuineIntel,6,207,2"}
COMM misc: user|COMM_EXEC, pid: 42, tid: 42, comm: "demo", sample_id: {pid: 42, tid: 42, time_ns: 1.0}
MMAP misc: user, pid: 42, tid: 42, addr: 0x400000, len: 0x1000, pgoff: 0x0, filename: "/usr/bin/demo", sample_id: {time_ns: 1.0}
SAMPLE event: 0, misc: user, ip: 0x4000f0, pid: 42, tid: 42, time_ns: 1.001, period: 4000
SAMPLE event: 0, misc: user, ip: 0x4000f3, pid: 42, tid: 42, time_ns: 1.002, period: 8000
SAMPLE event: 1, misc: user, ip: 0x4000f3, pid: 42, tid: 42, time_ns: 1.003, period: 4000
SAMPLE event: 0, misc: user, ip: 0x400103, pid: 42, tid: 42, time_ns: 1.004, period: 4000
SAMPLE event: 0, misc: user, ip: 0x400110, pid: 42, tid: 42, time_ns: 1.005, period: 4000
SAMPLE event: 1, misc: user, ip: 0x400115, pid: 42, tid: 42, time_ns: 1.006, period: 4000
SAMPLE event: 0, misc: user, ip: 0x400120, pid: 42, tid: 42, time_ns: 1.007, period: 4000
SAMPLE event: 0, misc: user, ip: 0x400127, pid: 42, tid: 42, time_ns: 1.008, period: 4000
SAMPLE event: 0, misc: user, ip: 0x400132, pid: 42, tid: 42, time_ns: 1.009, period: 4000
SAMPLE event: 0, misc: user, ip: 0x400131, pid: 42, tid: 42, time_ns: 1.010, period: 4000
SAMPLE event: 0, misc: user, ip: 0x70000000, pid: 42, tid: 42, time_ns: 1.011, period: 4000
END
perfdata assemble -o demo.data demo.txt
# what nothing is mapped at, of the kernel and of a program at the same address, which counts once
(grep -v '^SAMPLE' demo.txt; cat <<'END'
SAMPLE event: 0, misc: user, ip: 0x70000000, pid: 42, tid: 42, time_ns: 1.001, period: 4000
SAMPLE event: 0, misc: user, ip: 0x70000010, pid: 42, tid: 42, time_ns: 1.002, period: 4000
SAMPLE event: 0, misc: kernel, ip: 0x70000000, pid: 42, tid: 42, time_ns: 1.003, period: 4000
SAMPLE event: 0, misc: user, ip: 0x70000010, pid: 42, tid: 42, time_ns: 1.004, period: 4000
END
) | perfdata assemble -o unmapped.data -
sed '/^event {name: "cycles/i feature GROUP_DESC {groups: [{name: "{anon_group}", leader_index: 0, nr_members: 3}]}' demo.txt | perfdata assemble -o group.data -

try annotate --symfs root -i demo.data --data-type
try annotate --symfs root -i group.data --data-type
try annotate --symfs root -i group.data --data-type=node --skip-empty -n --type-stat --insn-stat
try annotate --symfs root -i demo.data --data-type --show-total-period --percent-limit 15
try annotate --symfs root -i demo.data --data-type=node see
try annotate --symfs root -i demo.data --data-type=nothing
try annotate --symfs nowhere -i demo.data --data-type --type-stat
try annotate --symfs root -i unmapped.data --data-type --type-stat
try annotate --symfs root -i demo.data --type-stat
try annotate --symfs root -i demo.data --data-type --html
try annotate --symfs root -i group.data --data-type --json --type-stat --insn-stat --skip-empty
try annotate --symfs root -i demo.data --data-type=nothing --json
shell 'sed "s/x86_64/aarch64/" demo.txt | perfdata assemble -o other.data - && perfdata annotate --symfs root -i other.data --data-type'

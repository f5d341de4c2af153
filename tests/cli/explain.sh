# SPDX-License-Identifier: MIT
try explain MMAP
try explain counts
try explain comm HOSTNAME
try explain 3
try explain branch_stack
try explain sample_type
try explain weight_struct
try explain cpumode
try explain truncated-record
try explain mmap2.filename
try explain TRACING_DATA
try explain finished_round
try explain mmap2.nothing
try explain MMPA2
try explain nothing-like-that
try explain --c LOST
try explain --c time_conv
try explain --c sample_type
try explain --json LOST
try explain --json cpumode unfinished
try explain --markdown LOST
try explain --markdown prot unfinished
try explain --man LOST
try explain --man prot unfinished
shell 'perfdata explain | grep -v "^ "'
shell 'perfdata explain | grep " MMAP "'
shell 'perfdata explain --man | head -n 8'
shell 'perfdata explain --markdown | head -n 8'
shell 'perfdata explain --json | python3 -c "import json, sys; print(sum(1 for line in sys.stdin if json.loads(line)) > 200)"'

# SPDX-License-Identifier: MIT
try explain MMAP2
try explain comm HOSTNAME
try explain 3
try explain branch_stack
try explain sample_type
try explain data_src
try explain cpumode
try explain truncated-record
try explain mmap2.filename
try explain TRACING_DATA
try explain finished_round
try explain mmap2.nothing
try explain MMPA2
try explain nothing-like-that
try explain --c LOST
try explain --c attr
try explain --c sample
try explain --c sample_type
try explain --json LOST
try explain --json cpumode unfinished
try explain --markdown LOST
try explain --markdown prot unfinished
try explain --man LOST
try explain --man prot unfinished
try explain
shell 'perfdata explain --man | head -n 8'
shell 'perfdata explain --markdown | head -n 8'
shell 'perfdata explain --json | python3 -c "import json, sys; print(sum(1 for line in sys.stdin if json.loads(line)) > 200)"'

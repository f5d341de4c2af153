# SPDX-License-Identifier: MIT
# What sched says; its text is compared with that of perf in tests/perf.
copy hot.data
try sched
try sched nothing hot.data
try sched latency hot.data
try sched map --cpus x hot.data
try sched timehist hot.data
cp data/hot-trace-pipe.data .
shell 'perfdata sched timehist -q hot-trace-pipe.data | head -n 2'
try sched timehist -s -w hot.data
try sched timehist nothing.data
try sched latency -s size hot-trace-pipe.data
try sched latency -s '' hot-trace-pipe.data
try sched map --color-pids xyz hot-trace-pipe.data
shell 'perfdata sched map -q hot-trace-pipe.data | head -n 3'
shell 'perfdata sched latency -q hot-trace-pipe.data | head -n 5'
# raw data keep their byte order when a file is converted
copy hot-trace.data
shell 'perfdata convert -q --byte-order big -o big.data hot-trace.data && perfdata sched timehist -q big.data >big && perfdata sched timehist -q hot-trace.data | cmp - big && grep -c hot big'
# options may stand before the second word
shell 'perfdata sched -q -p latency hot-trace-pipe.data | cmp - <(perfdata sched latency -p -q hot-trace-pipe.data) && echo same'
try sched -q nothing hot-trace-pipe.data
# which CPUs there are a pipe says behind its events
shell 'perfdata convert -q --to pipe -o trace.pipe hot-trace.data && cmp <(perfdata sched timehist -q -s trace.pipe) <(perfdata sched timehist -q -s hot-trace.data) && echo the same'
# and one of them may have a higher number
shell 'perfdata text hot-trace.data | sed "s/cpu: 1,/cpu: 3,/" | perfdata assemble -o far.data - && perfdata convert -q --to pipe -o far.pipe far.data && cmp <(perfdata sched timehist -q -s far.pipe) <(perfdata sched timehist -q -s far.data) && perfdata sched timehist -q -s far.pipe | tail -1'
try sched timehist --prio 1-140 hot-trace-pipe.data
shell 'perfdata sched timehist -q --show-prio -P --prio 120 hot-trace.data | head -n 6'
shell 'perfdata sched timehist -q --json -P --show-prio hot-trace.data | grep -o "\"pre_migration_ns\":[0-9]*,\"prio\":[0-9]*" | sort | uniq -c'
shell 'perfdata sched latency -q -C 0 hot-trace.data | cmp -s - <(perfdata sched latency -q hot-trace.data); perfdata sched latency -q -p -C 0 hot-trace.data | head -n 6'

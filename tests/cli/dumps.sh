# SPDX-License-Identifier: MIT
# script --per-event-dump: a file for each event.
copy hot-multi.data
try script --per-event-dump hot-multi.data
shell 'for event in cpu-clock page-faults; do perfdata script --event $event hot-multi.data | cmp - hot-multi.data.$event.dump && echo $event; done'
rm -f *.dump
shell 'perfdata script --per-event-dump -q -F comm --show-task-events -i - <hot-multi.data | head -n 2; wc -l *.dump'
rm -f *.dump
mkdir hot-multi.data.cpu-clock.dump
try script --per-event-dump hot-multi.data
shell 'ls -A | grep -v "^data$"'

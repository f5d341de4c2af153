# SPDX-License-Identifier: MIT
# Pictures of time; tests/unit/timechart has what is in them.
copy hot.data
copy hot-trace.data
try timechart hot.data
try timechart --power-only --tasks-only hot-trace.data
try timechart -w 100001 hot-trace.data
try timechart hot-trace.data
shell 'ls; perfdata timechart -o - hot-trace.data | cmp - output.svg && grep -c "<g><title>" output.svg'
shell 'cat hot-trace.data | perfdata timechart -o - -i - | cmp - output.svg'
shell 'perfdata convert -q --byte-order big -o big.data hot-trace.data && perfdata timechart -o - big.data | cmp - output.svg'
shell 'perfdata timechart -w 100 -n 2 -p hot --highlight hot -o - hot-trace.data | grep -v "^[.@]"'
# several lists of threads are one
shell 'cmp <(perfdata timechart -p nobody -p hot,1 -o - hot-trace.data) <(perfdata timechart -p nobody,hot,1 -o - hot-trace.data) && echo the same'

# SPDX-License-Identifier: MIT
here=${BASH_SOURCE[0]%/*}

try report
try report --header-only one two
for file in hot.data hot-stat.data hot-group.data hot-dir hot-sigkill.data hot-pipe.data; do
	copy $file
	try report --header-only -I -i $file
done
try report --header-only hot.data
shell 'cat hot-pipe.data | perfdata report --header-only | tail -n +3'
shell 'perfdata report --header-only -I -i - <data/hot-trace.data | tail -n +3 | head -n 5'

# Every feature; the texts are those of perf 6.1, and of perf 7.2 for the last three.
python3 "$here/header_file.py" made.data
touch -d '2026-01-02 03:04:05 UTC' made.data
try report --header-only --show-info made.data
try report --header-only made.data
python3 "$here/header_file.py" big.data big
touch -d '2026-01-02 03:04:05 UTC' big.data
shell 'cmp <(perfdata report --header-only -I made.data) <(perfdata report --header-only -I big.data)'
python3 "$here/header_file.py" damaged.data damaged
shell 'perfdata report --header-only -q -I damaged.data | tail -n +3'

try report --stats hot-group.data
[ "$(perfdata report --stats hot-pipe.data)" = "$(perfdata dump --stats hot-pipe.data)" ] || echo differs

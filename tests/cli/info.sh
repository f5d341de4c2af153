# SPDX-License-Identifier: MIT
for file in hot.data hot-multi.data hot-group.data hot-trace.data hot-pipe.data hot-trace-pipe.data \
	hot-regs.data hot-records.data hot-stat.data hot-sigkill.data hot-dir; do
	copy $file
	try info $file
done
try info --json hot.data
try info --json hot-dir
try info --header hot.data
[ "$(perfdata info --header hot.data)" = "$(perfdata report --header-only hot.data)" ] || echo differs
[ "$(perfdata info -I hot.data)" = "$(perfdata report --header-only -I hot.data)" ] || echo differs
try info --json --header hot.data

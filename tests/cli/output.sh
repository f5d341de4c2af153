# SPDX-License-Identifier: MIT
# Output that cannot be written.
for command in 'dump data/hot.data' 'info data/hot.data' 'check data/hot.data' explain version help \
	'report --header-only data/hot.data'; do
	shell "perfdata $command >/dev/full"
	shell "perfdata $command >&-"
done

for i in 1 2 3 4 5 6 7 8; do
	cat data/hot-regs.data
done >/dev/null
shell 'perfdata dump --hex data/hot-regs.data | head -n 1; echo ${PIPESTATUS[0]}'
shell 'trap "" PIPE; perfdata dump --hex data/hot-regs.data | head -n 1; echo ${PIPESTATUS[0]}'
shell 'perfdata dump data/hot.data 2>&- | head -n 1'
